"""The texts of an empty view: that it is empty, which views are not, and what the reader resolved today."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from django.urls import reverse
from django.utils import timezone

from core import moments
from core.actor import Actor
from core.paging import COUNT_LIMIT
from feedback.models import TriageChange, UserFeedback
from feedback.presenting.links import Choice, href
from feedback.querying import Query
from feedback.saved_views import BUILT_IN, count

_TERMS = 6
"""Terms that are tried without when a query finds nothing."""


@dataclass(frozen=True, slots=True)
class Idle:
    """A title, the views that are not empty (`are yours`), the number the reader resolved today, and a link."""

    title: str
    detail: str = ""
    left: tuple[Choice, ...] = ()
    resolved_today: int = 0
    href: str = ""
    action: str = ""


def idle(actor: Actor, views: Sequence[Choice], tz: tzinfo) -> Idle | None:
    """The texts for an empty built-in view or an empty desk; None for other queries. Two queries."""
    if not UserFeedback.objects.exists():
        detail = "Readers rate an agent's answer with the thumbs below it; each rating appears here."
        return Idle("Nothing has been rated yet.", detail, href=reverse("threads:list"), action="Open the threads")
    built_in = list(zip(BUILT_IN, views, strict=False))
    empty = next((each for each, choice in built_in if choice.is_current), None)
    if empty is None:
        return None
    left = tuple(
        replace(choice, word=f"{'is' if choice.count == 1 else 'are'} {each.word}")
        for each, choice in built_in
        if choice.count
    )
    title, said = ("All done here.", f"{empty.nothing} ") if empty.is_work else (empty.nothing, "")
    return Idle(title, said if left else f"{said}Nothing is waiting for you.", left, _resolved_today(actor, tz))


def wider(actor: Actor, query: Query) -> list[Choice]:
    """For a query that finds nothing: what it finds without one of its terms. One count for each of the first terms."""
    terms = list(enumerate(query.terms))[:_TERMS]
    rest = [(term.text, query.without(place).text) for place, term in terms] if len(query.terms) > 1 else []
    found = ((text, line, count(actor, line)) for text, line in rest)
    return [Choice(text, href({"q": line}), count=number) for text, line, number in found if number]


def _resolved_today(actor: Actor, tz: tzinfo) -> int:
    """Counts only among the actor's latest changes, so that the cost is bounded."""
    today = moments.stretch("today", now=timezone.now(), tz=tz)
    lately = TriageChange.objects.filter(actor=actor.user_id).order_by("-id").values("feedback_id")[:COUNT_LIMIT]
    mine = UserFeedback.objects.filter(resolved_by=actor.user_id, resolved_at__gte=today.first)
    return mine.filter(pk__in=lately).count()
