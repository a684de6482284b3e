"""What an empty view says: that it is empty, what is left elsewhere, and what its reader did today."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from django.urls import reverse
from django.utils import timezone

from core.actor import Actor
from core.paging import COUNT_LIMIT
from feedback.models import TriageChange, UserFeedback
from feedback.presenting import Choice
from feedback.saved_views import BUILT_IN


@dataclass(frozen=True, slots=True)
class Idle:
    """A sentence, the views where something is left (`are yours`), how many the reader resolved today, where to go."""

    title: str
    detail: str = ""
    left: tuple[Choice, ...] = ()
    resolved_today: int = 0
    href: str = ""
    action: str = ""


def idle(actor: Actor, views: Sequence[Choice], tz: tzinfo) -> Idle | None:
    """What to say where a view that is built in is empty, or the whole desk; None for another query. Two queries."""
    if not UserFeedback.objects.exists():
        detail = "Who reads an agent's answer rates it with the thumbs below it; each rating arrives here."
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
    return Idle(empty.nothing, "" if left else "Nothing waits for you.", left, _resolved_today(actor, tz))


def _resolved_today(actor: Actor, tz: tzinfo) -> int:
    """Of what one changed lately; so that it reads that much and no more, whatever others did."""
    midnight = timezone.now().astimezone(tz).replace(hour=0, minute=0, second=0, microsecond=0)
    lately = TriageChange.objects.filter(actor=actor.user_id).order_by("-id").values("feedback_id")[:COUNT_LIMIT]
    mine = UserFeedback.objects.filter(resolved_by=actor.user_id, resolved_at__gte=midnight)
    return mine.filter(pk__in=lately).count()
