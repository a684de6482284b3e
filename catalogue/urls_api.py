"""The skill routes under /v1. A name may hold any character, a slash included (spec 1.2)."""

from django.urls import path

from catalogue import api

urlpatterns = [
    path("skills", api.Skills.as_view()),
    path("skills/create", api.Create.as_view()),
    path("skills/tags", api.Tags.as_view()),
    path("skills/name/<path:name>", api.ByName.as_view()),
    path("skills/id/<str:skill_id>", api.OneSkill.as_view()),
    path("skills/id/<str:skill_id>/summary", api.Summary.as_view()),
    path("skills/id/<str:skill_id>/versions", api.Versions.as_view()),
    path("skills/id/<str:skill_id>/versions/<str:version>", api.OneVersion.as_view()),
    path("skills/id/<str:skill_id>/subscribe", api.Subscription.as_view()),
]
