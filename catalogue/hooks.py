"""What higher apps tell the catalogue's pages."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from catalogue.models import Call
from core.actor import Actor


@dataclass(frozen=True, slots=True)
class Mention:
    """A report on an answer for which a tool was called."""

    href: str
    sentiment: str
    words: str
    at: datetime
    failed: bool
    """Whether that call failed."""


@dataclass(frozen=True)
class Threads:
    """What the threads app answers; by default, that there are none."""

    titles: Callable[[Actor, Collection[str]], Mapping[str, str]] = lambda actor, thread_ids: {}
    """Titles by public id, of those threads that the actor may read."""
    in_worlds: Callable[[], QuerySet[Any]] = Call.objects.none
    """Threads that run in worlds, which must not be deleted, as rows with a column `world`."""


@dataclass(frozen=True)
class Feedback:
    """What the feedback app answers."""

    mentions: Callable[[Actor, int, Collection[str]], Sequence[Mention] | None] = lambda actor, org_id, names: None
    """The latest reports of an org on answers that used one of these tools; None if the actor may not see reports."""


threads, feedback = Threads(), Feedback()
"""Each replaced once by its app, when Django is ready."""
