"""The feedback routes under /v1."""

from django.urls import path

from feedback import api, api_finding

urlpatterns = [
    path("ai/admin/feedback", api.AllFeedback.as_view()),
    path("ai/admin/feedback/terms", api_finding.QueryTerms.as_view()),
    path("ai/admin/feedback/<str:feedback_id>/similar", api_finding.SimilarReports.as_view()),
    path("ai/admin/feedback/<str:feedback_id>", api.OneFeedback.as_view()),
]
for root in ("ai/threads", "ai/chats"):
    urlpatterns += [
        path(f"{root}/<str:thread_id>/messages/<str:index>/feedback", api.MessageFeedback.as_view()),
        path(f"{root}/<str:thread_id>/feedback", api.OwnFeedback.as_view()),
    ]
