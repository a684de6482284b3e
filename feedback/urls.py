"""The feedback pages."""

from django.urls import path

from feedback import pages
from feedback.webhooks import pages as webhooks

app_name = "feedback"
urlpatterns = [
    path("feedback/", pages.desk, name="desk"),
    path("feedback/<str:feedback_id>/", pages.act, name="triage"),
    path("threads/<str:thread_id>/messages/<int:index>/rate/", pages.rate, name="rate"),
    path("settings/webhooks/", webhooks.webhooks, name="webhooks"),
    path("settings/webhooks/<str:webhook_id>/", webhooks.webhook, name="webhook"),
    path("settings/webhooks/<str:webhook_id>/change/", webhooks.change, name="webhook_change"),
    path("settings/webhooks/<str:webhook_id>/rotate/", webhooks.rotate, name="webhook_rotate"),
    path("settings/webhooks/<str:webhook_id>/test/", webhooks.test, name="webhook_test"),
    path("settings/webhooks/<str:webhook_id>/delete/", webhooks.delete, name="webhook_delete"),
    path(
        "settings/webhooks/<str:webhook_id>/deliveries/<str:delivery_id>/replay/",
        webhooks.replay,
        name="webhook_replay",
    ),
]
