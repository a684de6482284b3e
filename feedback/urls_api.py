"""The feedback routes under /v1."""

from django.urls import path

from feedback import api
from feedback.webhooks import api as webhooks

urlpatterns = [
    path("ai/admin/feedback", api.AllFeedback.as_view()),
    path("ai/admin/feedback/<str:feedback_id>", api.OneFeedback.as_view()),
]
for root in ("ai/threads", "ai/chats"):
    urlpatterns += [
        path(f"{root}/<str:thread_id>/messages/<str:index>/feedback", api.MessageFeedback.as_view()),
        path(f"{root}/<str:thread_id>/feedback", api.OwnFeedback.as_view()),
    ]
urlpatterns += [
    path("webhooks", webhooks.Webhooks.as_view()),
    path("webhooks/<str:webhook_id>", webhooks.OneWebhook.as_view()),
    path("webhooks/<str:webhook_id>/rotate-secret", webhooks.RotateSecret.as_view()),
    path("webhooks/<str:webhook_id>/test", webhooks.Test.as_view()),
    path("webhooks/<str:webhook_id>/deliveries", webhooks.Deliveries.as_view()),
    path("webhooks/<str:webhook_id>/deliveries/<str:delivery_id>/replay", webhooks.Replay.as_view()),
]
