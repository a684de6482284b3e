"""URL roots; each app has its own URL module."""

from django.urls import include, path, re_path
from django.views.generic import RedirectView

from config import docs, operations
from core.api import UnknownUrl
from feedback.urls_api import of_messages

urlpatterns = [
    # Tried in this order: what programs ask again and again comes first.
    path("v1/ai/threads/<str:thread_id>/messages/", include(of_messages)),
    path("v1/", include("threads.urls_api")),
    path("v1/", include("feedback.urls_api")),
    path("v1/", include("catalogue.urls_api")),
    path("", RedirectView.as_view(pattern_name="threads:list"), name="home"),
    path("", include("accounts.urls")),
    path("", include("threads.urls")),
    path("", include("catalogue.urls")),
    path("", include("feedback.urls")),
    path("livez", operations.livez),
    path("readyz", operations.readyz),
    path("metrics", operations.metrics),
    path("v1/schema/", docs.schema, name="schema"),
    path("v1/docs/", docs.browse, name="docs"),
    re_path(r"^v1/", UnknownUrl.as_view()),
]

handler400 = "core.problems.bad_request"
handler403 = "core.problems.forbidden"
handler404 = "core.problems.not_found"
handler500 = "core.problems.crashed"
