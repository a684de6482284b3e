"""Reports as a file, from a browser."""

from functools import partial

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_GET

from accounts.authentication import admin_actor, page_actor_again
from accounts.pages import signed_in
from core import zones
from feedback import exporting
from feedback.querying import parse


@signed_in
@require_GET
def export(request: HttpRequest) -> HttpResponseBase:
    """Download the reports that match the desk's query `q`."""
    actor = admin_actor(request)
    given = {name: request.GET.get(name) for name in exporting.PARAMETERS}
    given["q"] = parse(given["q"] or "").anchored(zones.of(request)).text
    return exporting.download(actor, given, partial(page_actor_again, request))
