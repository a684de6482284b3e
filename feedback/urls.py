"""The feedback pages."""

from django.urls import path

from feedback import (
    pages_batches,
    pages_checks,
    pages_comments,
    pages_desk,
    pages_export,
    pages_judging,
    pages_labels,
    pages_rating,
    pages_rerun,
)
from feedback.insight import pages as insight
from feedback.webhooks import pages as webhooks

app_name = "feedback"
urlpatterns = [
    path("feedback/", pages_desk.desk, name="desk"),
    path("feedback/bulk/", pages_desk.act_on_all, name="bulk"),
    path("feedback/bulk/<str:bulk_id>/stop/", pages_desk.stop, name="stop"),
    path("feedback/checks/", pages_checks.checks, name="checks"),
    path("feedback/checks/run/", pages_checks.run, name="run_checks"),
    path("feedback/checks/runs/<str:run_id>/", pages_judging.run, name="run"),
    path("feedback/checks/batches/", pages_batches.all_batches, name="batches"),
    path("feedback/checks/batches/<str:batch_id>/", pages_batches.one_batch, name="batch"),
    path("feedback/checks/batches/<str:batch_id>/fix/", pages_batches.fix, name="fix_batch"),
    path("feedback/checks/batches/<str:batch_id>/leave/", pages_batches.leave, name="leave_batch"),
    path("feedback/checks/batches/<str:batch_id>/judge/", pages_judging.first, name="judge_batch"),
    path("feedback/checks/batches/<str:batch_id>/stop/", pages_batches.stop, name="stop_batch"),
    path("feedback/insight/", insight.insight, name="insight"),
    path("feedback/count/", pages_desk.count, name="count"),
    path("feedback/export/", pages_export.export, name="export"),
    path("feedback/live/<int:since>/", pages_desk.live, name="live"),
    path("feedback/originals/", pages_desk.originals_for_all, name="all_originals"),
    path("feedback/terms/", pages_desk.terms, name="terms"),
    path("feedback/undo/", pages_desk.undo, name="undo"),
    path("feedback/views/", pages_desk.keep_view, name="views"),
    path("feedback/<str:feedback_id>/", pages_desk.act, name="triage"),
    path("feedback/<str:feedback_id>/check/", pages_checks.of_report, name="check"),
    path("feedback/<str:feedback_id>/comments/", pages_comments.comments, name="comments"),
    path("feedback/<str:feedback_id>/originals/", pages_desk.originals, name="originals"),
    path("feedback/<str:feedback_id>/rerun/", pages_rerun.rerun, name="rerun"),
    path("feedback/<str:feedback_id>/rerun/<str:thread_id>/stop/", pages_rerun.stop, name="stop_rerun"),
    path("feedback/<str:feedback_id>/lease/", pages_desk.lease, name="lease"),
    path("threads/<str:thread_id>/messages/<int:index>/rate/", pages_rating.rate, name="rate"),
    path("settings/labels/", pages_labels.labels, name="labels"),
    path("settings/labels/change/", pages_labels.change, name="label_change"),
    path("settings/labels/drop/", pages_labels.drop, name="label_drop"),
    path("settings/webhooks/", webhooks.webhooks, name="webhooks"),
    path("settings/webhooks/<str:webhook_id>/", webhooks.webhook, name="webhook"),
    path("settings/webhooks/<str:webhook_id>/change/", webhooks.change, name="webhook_change"),
    path("settings/webhooks/<str:webhook_id>/rotate/", webhooks.rotate, name="webhook_rotate"),
    path("settings/webhooks/<str:webhook_id>/test/", webhooks.test, name="webhook_test"),
    path("settings/webhooks/<str:webhook_id>/delete/", webhooks.delete, name="webhook_delete"),
    path(
        "settings/webhooks/<str:webhook_id>/deliveries/<str:delivery_id>/",
        webhooks.delivery,
        name="webhook_delivery",
    ),
    path(
        "settings/webhooks/<str:webhook_id>/deliveries/<str:delivery_id>/replay/",
        webhooks.replay,
        name="webhook_replay",
    ),
    path("threads/<str:thread_id>/messages/<int:index>/retract/", pages_rating.retract, name="retract"),
]
