"""The thread pages."""

from django.urls import path

from threads import pages, stream

app_name = "threads"
urlpatterns = [
    path("threads/", pages.threads, name="list"),
    path("threads/start/", pages.start, name="start"),
    path("threads/<str:thread_id>/", pages.detail, name="detail"),
    path("threads/<str:thread_id>/live/", stream.live, name="live"),
    path("threads/<str:thread_id>/send/", pages.send, name="send"),
    path("threads/<str:thread_id>/cancel/", pages.cancel, name="cancel"),
    path("threads/<str:thread_id>/fork/", pages.fork, name="fork"),
    path("threads/<str:thread_id>/pin/", pages.pin, name="pin"),
    path("threads/<str:thread_id>/visibility/", pages.visibility, name="visibility"),
    path("threads/<str:thread_id>/title/", pages.title, name="title"),
    path("threads/<str:thread_id>/compare/", pages.compare, name="compare"),
    path("threads/<str:thread_id>/export/", pages.export, name="export"),
    path("threads/<str:thread_id>/calls/<path:tool_use_id>/", pages.call, name="call"),
]
