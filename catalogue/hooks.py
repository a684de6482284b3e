"""What higher apps tell the catalogue's pages, registered when Django is ready."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from catalogue.models import Call
from core.actor import Actor


@dataclass(frozen=True, slots=True)
class Mention:
    """A report on an answer that a tool had a part in."""

    href: str
    sentiment: str
    words: str
    at: datetime
    failed: bool
    """Whether the tool answered with an error there."""


Titles = Callable[[Actor, Collection[str]], Mapping[str, str]]
"""The titles of those of these threads that the actor may read, by public id."""
Mentions = Callable[[Actor, int, Collection[str]], Sequence[Mention] | None]
"""The latest reports of an org that mention a tool by one of these names; None for those who may see no reports."""


Players = Callable[[], QuerySet[Any]]
"""The threads that are played in worlds, as rows that name theirs as `world`."""


@dataclass
class _Hooks:
    titles: Titles = lambda actor, thread_ids: {}
    mentions: Mentions = lambda actor, org_id, names: None
    players: Players = Call.objects.none


_registered = _Hooks()


def register_threads(titles: Titles, players: Players) -> None:
    """Called once by the app that knows threads."""
    _registered.titles, _registered.players = titles, players


def register_reports(mentions: Mentions) -> None:
    """Called once by the app that knows reports."""
    _registered.mentions = mentions


def titles(actor: Actor, thread_ids: Collection[str]) -> Mapping[str, str]:
    """Threads that may be linked to."""
    return _registered.titles(actor, thread_ids)


def mentions(actor: Actor, org_id: int, names: Collection[str]) -> Sequence[Mention] | None:
    """Reports that may be linked to."""
    return _registered.mentions(actor, org_id, names)


def threads_in_worlds() -> QuerySet[Any]:
    """The threads that keep a world from being cleared."""
    return _registered.players()
