"""The skill and tool routes under /v1. A skill's name may hold any character, a slash included (spec 1.2)."""

from django.urls import path

from catalogue import api, api_calls, api_connections, api_tools

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
    path("catalogue/servers/<str:server>/connection", api_connections.Connection.as_view()),
    path("catalogue/servers/<str:server>/connection/rotate-secret", api_connections.RotateSecret.as_view()),
    path("catalogue/servers/<str:server>/refresh", api_connections.Refresh.as_view()),
    path("catalogue/tools/<str:qualified_name>/validate", api_calls.Validate.as_view()),
    path("catalogue/tools/<str:qualified_name>/build-input", api_calls.BuildInput.as_view()),
    path("catalogue/tools/<str:qualified_name>/call", api_calls.CallTool.as_view()),
    path("catalogue/calls/<str:call_id>", api_calls.OneCall.as_view()),
    path("catalogue/results/validate", api_calls.JudgeResult.as_view()),
    path("catalogue/results/convert", api_calls.ConvertResult.as_view()),
    path("catalogue/data", api_calls.StoreData.as_view()),
    path("catalogue/data/<str:ref_id>", api_calls.OneData.as_view()),
]
