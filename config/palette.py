"""The command palette: everything that has a name, from one field."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
from core.wording import isolated, one_line

_MOST_CHARACTERS, _MOST_WORDS, _MOST_ACTS = 200, 10, 100
_EVERYWHERE = "? All keys"
"""What every page can do that runs scripts."""
_ELSEWHERE = frozenset("*123456789")
"""Keys of views, which are among the places, and of all that match, which is ticked where its number is seen."""
_VIEW = "View:"
"""How the keys of saved views begin, which are among the places."""
_ALSO = {"out": "log out logout", "?": "help keyboard shortcuts"}
"""Other words for what every page can do, by key."""
_ORDER = ("Page", "View", "Label", "Thread", "Report", "Check", "Batch", "Agent", "Tool", "Skill", "World", "Search")


@dataclass(frozen=True, slots=True)
class Act:
    """Something that the page can do, with the key that does it."""

    key: str
    name: str

    @property
    def shown(self) -> str:
        """The key as it stands on buttons: `⇧E` for `E`. What has a name instead, such as `pin`, shows none."""
        return f"⇧{self.key}" if self.key.isupper() else self.key if len(self.key) == 1 else ""


@signed_in
@require_GET
def palette(request: HttpRequest) -> HttpResponse:
    """What fits the typed words: the list alone for the palette, a page without scripts.

    `acts` are the keys of the page, each with its button's caption, separated by tabs: `e Resolve & next`. What is in a
    menu has a name instead of a key, after that of the menu if its caption does not say it, and then its letter in the
    open menu, or `none`: `Snooze:tomorrow t Tomorrow t`.
    """
    typed = request.GET.get("q", "")[:_MOST_CHARACTERS].strip()
    words = typed.split()[:_MOST_WORDS]
    acts = [act for act in _acts(request.GET.get("acts")) if fits(words, f"{act.name} {_ALSO.get(act.key, '')}")]
    if not words:  # what is in menus is found by its words; it would hide the places
        acts = [act for act in acts if act.shown]
    acts.sort(key=lambda act: not act.name.casefold().startswith(typed.casefold()))
    here = HtmxDetails(request).current_url_abs_path or ""
    places = _ranked(_all(request, words), typed.casefold(), here)
    nothing = not acts and all(place.kind == "Search" for place in places)
    context = {"acts": acts, "places": places, "nothing": nothing, "typed": typed}
    if HtmxDetails(request):  # without the request, to skip the queries of the page frame
        announced = _announced(acts, places, nothing=nothing) if typed else ""
        return HttpResponse(render_to_string("_found.html", context | {"announced": announced}))
    return render(request, "palette.html", context)


def _announced(acts: Sequence[Act], places: Sequence[Destination], *, nothing: bool) -> str:
    """How much is found, and what Enter takes of it."""
    number = "Nothing" if nothing else f"{len(acts) + len(places)}"
    if acts:
        taken = f" Enter: {isolated(acts[0].name)}."
    elif places:
        leads = ":" if places[0].kind == "Search" else " goes to"
        taken = f" Enter{leads} {isolated(one_line(places[0].title, 80))}."
    else:
        taken = ""
    return f"{number} found.{taken}"


def _acts(sent: str | None) -> Iterator[Act]:
    """One action for each key, the first that was named. Captions end with what a button shows: a count, its key."""
    seen = set[str]()
    if sent is None:
        return
    lines = [" ".join(line.split()) for line in sent.split("\t") if not line.startswith(_VIEW)]
    for line in [*lines[:_MOST_ACTS], _EVERYWHERE]:
        key, _, caption = line.partition(" ")
        if ":" in key:
            letter, _, caption = caption.partition(" ")
            key, caption = f"{key} {letter}", caption.removesuffix(f" {letter}")
        act = Act(key, caption)
        name = re.sub(r" \d+$", "", act.name.removesuffix(f" {act.shown}"))
        if name and key not in seen and key not in _ELSEWHERE:
            seen.add(key)
            yield Act(key, f"{key.partition(':')[0]}: {name}" if ":" in key else name)


def _all(request: HttpRequest, words: Sequence[str]) -> Iterator[Destination]:
    actor, org = page_actor(request), current_org(request)
    yield from threads.destinations.destinations(actor, org, words)
    yield from catalogue.destinations.destinations(actor, org, words)
    yield from feedback.destinations.destinations(actor, words)
    yield from accounts.destinations.destinations(words)
    if fits(words, "REST API documentation docs schema openapi"):
        yield Destination("Page", "REST API", reverse("docs"), "keys")


def _ranked(found: Iterator[Destination], typed: str, here: str) -> list[Destination]:
    """Names that begin with what was typed first, then by kind; the searches of the lists are last, and of these that
    of the page first.
    """

    def rank(place: Destination) -> tuple[bool, bool, int]:
        if place.kind == "Search":
            return True, not here.startswith(place.url.partition("?")[0]), 0
        return False, not place.title.casefold().startswith(typed), _ORDER.index(place.kind)

    return sorted(found, key=rank)
