"""The skill routes under /v1. A name may hold any character, a slash included (spec 1.2)."""

from django.urls import path

from catalogue import api, api_calls

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
    path("catalogue/tools/<str:qn>/validate", api_calls.Validate.as_view()),
    path("catalogue/tools/<str:qn>/build-input", api_calls.BuildInput.as_view()),
    path("catalogue/tools/<str:qn>/call", api_calls.CallTool.as_view()),
    path("catalogue/calls/<str:call_id>", api_calls.OneCall.as_view()),
    path("catalogue/results/validate", api_calls.JudgeResult.as_view()),
    path("catalogue/results/convert", api_calls.ConvertResult.as_view()),
    path("catalogue/data", api_calls.StoreData.as_view()),
    path("catalogue/data/<str:ref_id>", api_calls.OneData.as_view()),
]
