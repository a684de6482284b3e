"""The skill and tool routes under /v1. A skill's name may hold any character, a slash included (spec 1.2)."""

from django.urls import path

from catalogue import api, api_calls, api_compliance, api_tools, api_worlds

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
    path("catalogue/tools/import", api_tools.Import.as_view()),
    path("catalogue/tools", api_tools.Tools.as_view()),
    path("catalogue/tools/<str:qualified_name>", api_tools.OneTool.as_view()),
    path("catalogue/tools/<str:qualified_name>/versions", api_tools.ToolVersions.as_view()),
    path("catalogue/servers", api_tools.Servers.as_view()),
    path("catalogue/servers/<str:server>", api_tools.OneServer.as_view()),
    path("catalogue/servers/<str:server>/manifest", api_tools.Manifest.as_view()),
    path("catalogue/tools/<str:qualified_name>/validate", api_calls.Validate.as_view()),
    path("catalogue/tools/<str:qualified_name>/build-input", api_calls.BuildInput.as_view()),
    path("catalogue/tools/<str:qualified_name>/call", api_calls.CallTool.as_view()),
    path("catalogue/calls/<str:call_id>", api_calls.OneCall.as_view()),
    path("catalogue/results/validate", api_calls.JudgeResult.as_view()),
    path("catalogue/results/convert", api_calls.ConvertResult.as_view()),
    path("catalogue/data", api_calls.StoreData.as_view()),
    path("catalogue/data/<str:ref_id>", api_calls.OneData.as_view()),
    path("catalogue/compliance", api_compliance.Compliance.as_view()),
    path("catalogue/worlds", api_worlds.Worlds.as_view()),
    path("catalogue/worlds/<str:world_id>", api_worlds.OneWorld.as_view()),
    path("catalogue/worlds/<str:world_id>/tools", api_worlds.WorldTools.as_view()),
    path("catalogue/worlds/<str:world_id>/call", api_worlds.WorldCall.as_view()),
    path("catalogue/worlds/<str:world_id>/fixtures", api_worlds.WorldFixtures.as_view()),
    path("catalogue/worlds/<str:world_id>/fixtures/recorded", api_worlds.RecordedFixtures.as_view()),
    path("catalogue/worlds/<str:world_id>/state", api_worlds.WorldState.as_view()),
    path("catalogue/worlds/<str:world_id>/calls", api_worlds.WorldCalls.as_view()),
    path("catalogue/worlds/<str:world_id>/reset", api_worlds.WorldReset.as_view()),
]
