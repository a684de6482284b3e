"""The feedback routes under /v1."""

from django.urls import path

from feedback import api, api_desk

_DESK = "ai/admin/feedback"
urlpatterns = [
    path(_DESK, api.AllFeedback.as_view()),
    path(f"{_DESK}/bulk", api_desk.Bulks.as_view()),
    path(f"{_DESK}/bulk/<str:bulk_id>", api_desk.OneBulk.as_view()),
    path(f"{_DESK}/bulk/<str:bulk_id>/cancel", api_desk.CancelBulk.as_view()),
    path(f"{_DESK}/export", api_desk.Export.as_view()),
    path(f"{_DESK}/labels", api_desk.Labels.as_view()),
    path(f"{_DESK}/labels/<str:name>", api_desk.OneLabel.as_view()),
    path(f"{_DESK}/undo", api_desk.Undo.as_view()),
    path(f"{_DESK}/views", api_desk.Views.as_view()),
    path(f"{_DESK}/views/<str:view_id>", api_desk.OneView.as_view()),
    path(f"{_DESK}/<str:feedback_id>", api.OneFeedback.as_view()),
    path(f"{_DESK}/<str:feedback_id>/actions", api_desk.Actions.as_view()),
    path(f"{_DESK}/<str:feedback_id>/history", api_desk.History.as_view()),
    path(f"{_DESK}/<str:feedback_id>/lease", api_desk.OneLease.as_view()),
    path(f"{_DESK}/<str:feedback_id>/triage", api_desk.Triage.as_view()),
]
for root in ("ai/threads", "ai/chats"):
    urlpatterns += [
        path(f"{root}/<str:thread_id>/messages/<str:index>/feedback", api.MessageFeedback.as_view()),
        path(f"{root}/<str:thread_id>/feedback", api.OwnFeedback.as_view()),
        path(f"{root}/<str:thread_id>/feedback/replies", api.OwnReplies.as_view()),
    ]
