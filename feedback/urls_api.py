"""The feedback routes under /v1."""

from django.urls import include, path

from feedback import api, api_checks, api_desk, api_finding
from feedback.insight import api as insight
from feedback.webhooks import api as webhooks

of_a_thread = [
    path("messages/<str:index>/feedback", api.MessageFeedback.as_view()),
    path("feedback", api.OwnFeedback.as_view()),
    path("feedback/replies", api.OwnReplies.as_view()),
]
_OF_THE_DESK = (
    ("bulk", api_desk.Bulks),
    ("bulk/<str:bulk_id>", api_desk.OneBulk),
    ("bulk/<str:bulk_id>/cancel", api_desk.CancelBulk),
    ("insight", insight.Insight),
    ("export", api_desk.Export),
    ("labels", api_desk.Labels),
    ("labels/<path:name>", api_desk.OneLabel),
    ("rerun", api_checks.RerunReports),
    ("terms", api_finding.QueryTerms),
    ("undo", api_desk.Undo),
    ("views", api_desk.Views),
    ("views/<str:view_id>", api_desk.OneView),
    ("<str:feedback_id>", api.OneFeedback),
    ("<str:feedback_id>/actions", api_desk.Actions),
    ("<str:feedback_id>/check", api_checks.CheckOfReport),
    ("<str:feedback_id>/comments", api_desk.Comments),
    ("<str:feedback_id>/comments/acknowledge", api_desk.AcknowledgeComments),
    ("<str:feedback_id>/comments/<str:comment_id>", api_desk.OneComment),
    ("<str:feedback_id>/comments/<str:comment_id>/restore", api_desk.RestoreComment),
    ("<str:feedback_id>/history", api_desk.History),
    ("<str:feedback_id>/lease", api_desk.OneLease),
    ("<str:feedback_id>/similar", api_finding.SimilarReports),
    ("<str:feedback_id>/triage", api_desk.Triage),
)
_CHECKS = (
    ("run", api_checks.RunChecks),
    ("batches", api_checks.Batches),
    ("batches/<str:batch_id>", api_checks.OneBatch),
    ("batches/<str:batch_id>/fix", api_checks.FixBatch),
    ("batches/<str:batch_id>/stop", api_checks.StopBatch),
    ("batches/<str:batch_id>/against/<str:against>", api_checks.CompareBatches),
    ("runs/<str:run_id>/verdict", api_checks.VerdictOfRun),
    ("<str:check_id>", api_checks.OneCheck),
    ("<str:check_id>/runs", api_checks.RunsOfCheck),
)

of_the_desk = [path(tail, view.as_view()) for tail, view in _OF_THE_DESK]

urlpatterns = [
    path("ai/admin/feedback", api.AllFeedback.as_view()),
    path("ai/admin/checks", api_checks.Checks.as_view()),
    path("ai/admin/checks/", include([path(tail, view.as_view()) for tail, view in _CHECKS])),
    path("webhooks", webhooks.Webhooks.as_view()),
    path("webhooks/<str:webhook_id>", webhooks.OneWebhook.as_view()),
    path("webhooks/<str:webhook_id>/rotate-secret", webhooks.RotateSecret.as_view()),
    path("webhooks/<str:webhook_id>/test", webhooks.Test.as_view()),
    path("webhooks/<str:webhook_id>/deliveries", webhooks.Deliveries.as_view()),
    path("webhooks/<str:webhook_id>/deliveries/<str:delivery_id>", webhooks.OneDelivery.as_view()),
    path("webhooks/<str:webhook_id>/deliveries/<str:delivery_id>/replay", webhooks.Replay.as_view()),
]
