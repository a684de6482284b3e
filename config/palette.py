"""The command palette: everything that has a name, from one field. What a page can do, its script adds."""

from collections.abc import Iterator, Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_GET
from django_htmx.middleware import HtmxDetails

import accounts.destinations
import catalogue.destinations
import feedback.destinations
import threads.destinations
from accounts.authentication import page_actor
from accounts.pages import current_org, signed_in
from core.destinations import Destination, fits

MOST_CHARACTERS = 200
_MOST_WORDS = 10
_ORDER = ("View", "Page", "Label", "Thread", "Report", "Agent", "Tool", "Skill", "World", "Search")


@signed_in
@require_GET
def palette(request: HttpRequest) -> HttpResponse:
    """The places that fit the typed words: the list alone for the palette, a page without scripts."""
    typed = request.GET.get("q", "")[:MOST_CHARACTERS]
    places = _ranked(_all(request, typed.split()[:_MOST_WORDS]), typed.strip().casefold())
    context = {"places": places, "typed": typed}
    if HtmxDetails(request):  # without the request, to skip the queries of the page frame
        return HttpResponse(render_to_string("_places.html", context))
    return render(request, "palette.html", context)


def _all(request: HttpRequest, words: Sequence[str]) -> Iterator[Destination]:
    actor, org = page_actor(request), current_org(request)
    yield from feedback.destinations.destinations(actor, words)
    yield from threads.destinations.destinations(actor, org, words)
    yield from catalogue.destinations.destinations(actor, org, words)
    yield from accounts.destinations.destinations(words)
    if fits(words, "REST API documentation docs schema openapi"):
        yield Destination("Page", "REST API", reverse("docs"), "keys")


def _ranked(found: Iterator[Destination], typed: str) -> list[Destination]:
    """Names that begin with what was typed first, then by kind; the searches of the lists are last."""

    def rank(place: Destination) -> tuple[bool, bool, int]:
        return place.kind == "Search", not place.title.casefold().startswith(typed), _ORDER.index(place.kind)

    return sorted(found, key=rank)
