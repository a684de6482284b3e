"""URL roots; each app has its own URL module."""

from django.urls import include, path, re_path
from django.views.generic import RedirectView

from config import docs, operations
from config.palette import palette
from core.api import UnknownUrl
from feedback.urls_api import of_a_thread as feedback_of_a_thread
from feedback.urls_api import of_the_desk
from threads.urls_api import of_a_thread

_OF_A_THREAD = [*feedback_of_a_thread, *of_a_thread]

urlpatterns = [
    # Tried in this order: routes that programs poll come first.
    path("v1/ai/threads/<str:thread_id>/", include(_OF_A_THREAD)),
    path("v1/ai/admin/feedback/", include(of_the_desk)),
    path("v1/ai/chats/<str:thread_id>/", include(_OF_A_THREAD)),
    path("v1/", include("threads.urls_api")),
    path("v1/", include("feedback.urls_api")),
    path("v1/", include("catalogue.urls_api")),
    path("v1/", include("accounts.urls_api")),
    path("", RedirectView.as_view(pattern_name="threads:list"), name="home"),
    path("", include("accounts.urls")),
    path("", include("threads.urls")),
    path("", include("catalogue.urls")),
    path("", include("feedback.urls")),
    path("go/", palette, name="palette"),
    path("livez", operations.livez),
    path("readyz", operations.readyz),
    path("metrics", operations.metrics),
    # With and without the slash: no route under /v1 redirects (B170).
    path("v1/schema", docs.schema),
    path("v1/schema/", docs.schema, name="schema"),
    path("v1/docs", docs.browse),
    path("v1/docs/", docs.browse, name="docs"),
    re_path(r"^v1(?:/|$)", UnknownUrl.as_view()),
]

handler400 = "core.problems.refused"
handler403 = "core.problems.refused"
handler404 = "core.problems.not_found"
handler500 = "core.problems.crashed"
