"""Callbacks that other apps register for the catalogue's pages when Django is ready."""

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


Titles = Callable[[Actor, Collection[str]], Mapping[str, str]]
"""Titles by public id, of those threads that the actor may read."""
Mentions = Callable[[Actor, int, Collection[str]], Sequence[Mention] | None]
"""The latest reports of an org on answers that used one of these tools; None if the actor may not see reports."""


Players = Callable[[], QuerySet[Any]]
"""Threads that run in worlds, as rows with a column `world`."""


@dataclass
class _Hooks:
    titles: Titles = lambda actor, thread_ids: {}
    mentions: Mentions = lambda actor, org_id, names: None
    players: Players = Call.objects.none


_registered = _Hooks()


def register_threads(titles: Titles, players: Players) -> None:
    """Register the functions of the threads app."""
    _registered.titles, _registered.players = titles, players


def register_reports(mentions: Mentions) -> None:
    """Register the function of the feedback app."""
    _registered.mentions = mentions


def titles(actor: Actor, thread_ids: Collection[str]) -> Mapping[str, str]:
    """Titles of threads that the actor may read."""
    return _registered.titles(actor, thread_ids)


def mentions(actor: Actor, org_id: int, names: Collection[str]) -> Sequence[Mention] | None:
    """Reports on answers that used one of these tools."""
    return _registered.mentions(actor, org_id, names)


def threads_in_worlds() -> QuerySet[Any]:
    """Threads whose worlds must not be deleted."""
    return _registered.players()
