"""The feedback routes under /v1."""

from django.urls import path

from feedback import api, api_desk, api_finding
from feedback.insight import api as insight
from feedback.webhooks import api as webhooks

_DESK = "ai/admin/feedback"
urlpatterns = [
    path(_DESK, api.AllFeedback.as_view()),
    path(f"{_DESK}/bulk", api_desk.Bulks.as_view()),
    path(f"{_DESK}/bulk/<str:bulk_id>", api_desk.OneBulk.as_view()),
    path(f"{_DESK}/bulk/<str:bulk_id>/cancel", api_desk.CancelBulk.as_view()),
    path(f"{_DESK}/insight", insight.Insight.as_view()),
    path(f"{_DESK}/export", api_desk.Export.as_view()),
    path(f"{_DESK}/labels", api_desk.Labels.as_view()),
    path(f"{_DESK}/labels/<str:name>", api_desk.OneLabel.as_view()),
    path(f"{_DESK}/terms", api_finding.QueryTerms.as_view()),
    path(f"{_DESK}/undo", api_desk.Undo.as_view()),
    path(f"{_DESK}/views", api_desk.Views.as_view()),
    path(f"{_DESK}/views/<str:view_id>", api_desk.OneView.as_view()),
    path(f"{_DESK}/<str:feedback_id>", api.OneFeedback.as_view()),
    path(f"{_DESK}/<str:feedback_id>/actions", api_desk.Actions.as_view()),
    path(f"{_DESK}/<str:feedback_id>/history", api_desk.History.as_view()),
    path(f"{_DESK}/<str:feedback_id>/lease", api_desk.OneLease.as_view()),
    path(f"{_DESK}/<str:feedback_id>/similar", api_finding.SimilarReports.as_view()),
    path(f"{_DESK}/<str:feedback_id>/triage", api_desk.Triage.as_view()),
]
for root in ("ai/threads", "ai/chats"):
    urlpatterns += [
        path(f"{root}/<str:thread_id>/messages/<str:index>/feedback", api.MessageFeedback.as_view()),
        path(f"{root}/<str:thread_id>/feedback", api.OwnFeedback.as_view()),
        path(f"{root}/<str:thread_id>/feedback/replies", api.OwnReplies.as_view()),
    ]
urlpatterns += [
    path("webhooks", webhooks.Webhooks.as_view()),
    path("webhooks/<str:webhook_id>", webhooks.OneWebhook.as_view()),
    path("webhooks/<str:webhook_id>/rotate-secret", webhooks.RotateSecret.as_view()),
    path("webhooks/<str:webhook_id>/test", webhooks.Test.as_view()),
    path("webhooks/<str:webhook_id>/deliveries", webhooks.Deliveries.as_view()),
    path("webhooks/<str:webhook_id>/deliveries/<str:delivery_id>/replay", webhooks.Replay.as_view()),
]
