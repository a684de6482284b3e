"""The feedback pages."""

from django.urls import path

from feedback import pages

app_name = "feedback"
urlpatterns = [
    path("feedback/", pages.desk, name="desk"),
    path("feedback/<str:feedback_id>/", pages.act, name="triage"),
    path("threads/<str:thread_id>/messages/<int:index>/rate/", pages.rate, name="rate"),
]
