"""The list page's search line: words, and fields of the form `name:value`."""

import re
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q

from threads.models import Subject, Thread
from threads.reading import says
from threads.status import ThreadStatus

_TOKEN = re.compile(r"[a-z]+:\S+")
_IS = {
    "private": Q(visibility="private"),
    "shared": Q(visibility="org"),
    "fork": Q(forked_from__isnull=False),
    "answering": Q(status=ThreadStatus.ROBOTO_TURN),
}
# Exists, not a join: a thread with many forks or subjects stands in the list once.
_HAS = {
    "error": Q(has_error=True),
    "goal": Q(goal_count__gt=0),
    "fork": Q(Exists(Thread.objects.filter(forked_from=OuterRef("pk")))),
}


@dataclass(frozen=True, slots=True)
class Found:
    """What a search line means; `unknown` are the tokens that were not understood, and so not applied."""

    condition: Q
    unknown: tuple[str, ...]


def parse(line: str) -> Found:
    """Read a search line. Everything in it is one condition; a token that means nothing is named, never dropped."""
    condition, words, unknown = Q(), [], []
    for part in line.split():
        field = _field(part) if _TOKEN.fullmatch(part.lower()) else None
        if field is not None:
            condition &= field
        elif _TOKEN.fullmatch(part.lower()) and not part.lower().startswith(("http:", "https:")):
            unknown.append(part)
        else:
            words.append(part)
    if words:
        condition &= says(" ".join(words))
    return Found(condition, tuple(unknown))


def _field(token: str) -> Q | None:
    name, _, value = token.partition(":")
    match name.lower():
        case "owner":
            return Q(created_by__email__istartswith=value) | Q(created_by__name__iexact=value)
        case "model":
            return Q(model_profile__iexact=value)
        case "is":
            return _IS.get(value.lower())
        case "has":
            return _HAS.get(value.lower())
        case "agent":
            return Q(created_from_agent_id=value)
        case "about":
            return Q(Exists(Subject.objects.filter(thread=OuterRef("pk"), association_id=value)))
        case "id":
            return Q(key=value.partition("_")[2] or value) | Q(import_id=value)
    return None


VIEWS: dict[str, Q] = {
    "all": Q(),
    "answering": Q(status=ThreadStatus.ROBOTO_TURN),
    "tool_pending": Q(status=ThreadStatus.CLIENT_TOOL_TURN),
    "goals_failed": Q(status=ThreadStatus.GOALS_FAILED),
    "private": Q(visibility="private"),
    "forks": Q(forked_from__isnull=False),
}
