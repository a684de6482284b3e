"""The thread pages."""

from django.urls import path

from threads import pages, pages_agents, pages_calls, pages_importing, pages_list, pages_rerunning, pages_start, stream

app_name = "threads"
urlpatterns = [
    path("threads/", pages_list.threads, name="list"),
    path("threads/start/", pages_start.start, name="start"),
    path("threads/import/", pages_importing.import_threads, name="import"),
    path("threads/running/", pages_list.running, name="running"),
    path("threads/terms/", pages_list.terms, name="terms"),
    path("threads/<str:thread_id>/", pages.detail, name="detail"),
    path("threads/<str:thread_id>/next/", pages_list.next_hit, name="next_hit"),
    path("threads/<str:thread_id>/live/", stream.live, name="live"),
    path("threads/<str:thread_id>/answer/", pages.answer, name="answer"),
    path("threads/<str:thread_id>/send/", pages.send, name="send"),
    path("threads/<str:thread_id>/again/", pages.again, name="again"),
    path("threads/<str:thread_id>/cancel/", pages.cancel, name="cancel"),
    path("threads/<str:thread_id>/fork/", pages.fork, name="fork"),
    path("threads/<str:thread_id>/rerun/", pages_rerunning.rerun, name="rerun"),
    path("threads/<str:thread_id>/pin/", pages.pin, name="pin"),
    path("threads/<str:thread_id>/visibility/", pages.visibility, name="visibility"),
    path("threads/<str:thread_id>/title/", pages.title, name="title"),
    path("threads/<str:thread_id>/compare/", pages.compare, name="compare"),
    path("threads/<str:thread_id>/export/", pages.export, name="export"),
    path("threads/<str:thread_id>/calls/<path:tool_use_id>/", pages_calls.call, name="call"),
    path("agents/", pages_agents.agent_list, name="agents"),
    path("agents/new/", pages_agents.new, name="agent_new"),
    path("agents/<str:agent_id>/", pages_agents.detail, name="agent"),
    path("agents/<str:agent_id>/edit/", pages_agents.edit, name="agent_edit"),
    path("agents/<str:agent_id>/compare/", pages_agents.compare, name="agent_compare"),
    path("agents/<str:agent_id>/restore/", pages_agents.restore, name="agent_restore"),
    path("agents/<str:agent_id>/delete/", pages_agents.delete, name="agent_delete"),
    path("agents/<str:agent_id>/launch/", pages_agents.launch, name="agent_launch"),
]
