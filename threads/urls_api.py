"""The thread and agent routes under /v1, including the route names from before 2026-05-20 (spec 1.6)."""

from django.urls import path

from threads import api, api_agents

_OF_A_THREAD = (
    ("delta", api.Delta),
    ("messages", api.Messages),
    ("tool-results", api.ToolResults),
    ("fork", api.Fork),
    ("rerun", api.Rerun),
    ("visibility", api.VisibilityOf),
    ("pin", api.PinOf),
    ("cancel", api.Cancel),
    ("again", api.Again),
    ("subjects", api.Subjects),
    ("export", api.Export),
    ("agent", api_agents.LaunchedFrom),
    ("tools/<path:tool_use_id>", api.ToolDetail),
)
of_a_thread = [path(tail, view.as_view()) for tail, view in _OF_A_THREAD]

urlpatterns = []
for root in ("ai/threads", "ai/chats"):
    urlpatterns += [
        path(root, api.Threads.as_view()),
        path(f"{root}/search", api.Search.as_view()),
        path(f"{root}/import", api.Import.as_view()),
        path(f"{root}/<str:thread_id>", api.OneThread.as_view()),
    ]
urlpatterns += [
    path("ai/model-profiles", api.ModelProfiles.as_view()),
    path("ai/agents", api_agents.Agents.as_view()),
    # A name may contain any character, including a slash (spec 1.2).
    path("ai/agents/name/<path:name>", api_agents.ByName.as_view()),
    path("ai/agents/<str:agent_id>", api_agents.OneAgent.as_view()),
    path("ai/agents/<str:agent_id>/launch", api_agents.Launch.as_view()),
    path("ai/agents/<str:agent_id>/versions", api_agents.Versions.as_view()),
    path("ai/agents/<str:agent_id>/versions/<str:version>", api_agents.OneVersion.as_view()),
    path("ai/agents/<str:agent_id>/versions/<str:version>/restore", api_agents.Restore.as_view()),
]
