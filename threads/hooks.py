"""What the feedback app tells this app about ratings; registered at startup."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import Q

from core import notices
from core.actor import Actor
from threads import transcript
from threads.models import Thread
from threads.presenting.articles import Mark


class Ratings(NamedTuple):
    """The ratings of one thread, as the list shows them."""

    negative: int = 0
    positive: int = 0
    answered: int | None = None
    """The first message that the reader rated and got a reply about that they have not seen yet."""


MessageMarks = Callable[[Actor, Thread], Mapping[int, Mark]]
"""The ratings of a thread that the actor may see, by message index."""
ThreadRatings = Callable[[Actor, Sequence[int]], Mapping[int, Ratings]]
"""The ratings that the actor may see in each of these threads."""
Rated = Callable[[Actor, str], Q]
"""Condition for threads with a rating of this sentiment (empty: any) that the actor may see."""
ReportHref = Callable[[Actor, int, int], str]
"""The URL of the report about an answer, given the thread's row id and a message index; empty if not visible."""
Replies = Callable[[Actor, Thread], Mapping[int, datetime]]
"""When the actor's ratings in the thread last got a visible change, by message index."""
Answered = Callable[[Actor], Q]
"""Condition for threads in which the actor's rating got a reply that they have not seen yet."""
Runs = Callable[[Actor], Q]
"""Condition for the actor's threads that are runs of checks."""
Deleted = Callable[[Actor, Thread], None]
"""Called before a locked thread is permanently deleted."""
Left = Callable[[int], None]
"""Called with the row id of a fork whose turn has ended or waits, inside that transaction."""
Saw = Callable[[Actor, Thread, datetime], None]
"""Called when the actor has seen the news about their ratings in the thread up to a moment."""


@dataclass
class _Hooks:
    message_marks: MessageMarks = lambda actor, thread: {}
    thread_ratings: ThreadRatings = lambda actor, thread_ids: {}
    rated: Rated = lambda actor, sentiment: Q(pk__in=[])
    replies: Replies = lambda actor, thread: {}
    answered: Answered = lambda actor: Q(pk__in=[])
    saw: Saw = lambda actor, thread, until: None
    report_href: ReportHref = lambda actor, thread_pk, index: ""
    runs: Runs = lambda actor: Q(pk__in=[])
    fork_left: Left = lambda thread_pk: None
    deleted: Deleted = lambda actor, thread: None


_registered = _Hooks()


def register(
    message_marks: MessageMarks,
    thread_ratings: ThreadRatings,
    rated: Rated,
    replies: Replies,
    answered: Answered,
    saw: Saw,
    report_href: ReportHref,
    runs: Runs,
    fork_left: Left,
    deleted: Deleted,
) -> None:
    """Register the functions; called once by the feedback app."""
    _registered.message_marks, _registered.thread_ratings = message_marks, thread_ratings
    _registered.rated, _registered.replies = rated, replies
    _registered.answered, _registered.saw = answered, saw
    _registered.report_href, _registered.runs = report_href, runs
    _registered.fork_left, _registered.deleted = fork_left, deleted


def message_marks(actor: Actor, thread: Thread) -> Mapping[int, Mark]:
    """The ratings to show with the messages of a thread, by message index."""
    return _registered.message_marks(actor, thread)


def thread_ratings(actor: Actor, thread_ids: Sequence[int]) -> Mapping[int, Ratings]:
    """The ratings to show in a list, by the thread's row id."""
    return _registered.thread_ratings(actor, thread_ids)


def rated(actor: Actor, sentiment: str) -> Q:
    """The condition for threads that show a rating of this sentiment in a list."""
    return _registered.rated(actor, sentiment)


def wake_readers(thread_pk: int) -> None:
    """Let open pages of a thread check for replies to ratings."""
    notices.publish(transcript.subject(thread_pk))


def replies(actor: Actor, thread: Thread) -> Mapping[int, datetime]:
    """When the reader's ratings last got a visible change, by message index."""
    return _registered.replies(actor, thread)


def answered(actor: Actor) -> Q:
    """The condition for threads with a reply that the reader has not seen yet."""
    return _registered.answered(actor)


def saw(actor: Actor, thread: Thread, until: datetime) -> None:
    """Remember that the reader has seen the news about their ratings up to a moment."""
    _registered.saw(actor, thread, until)


def report_href(actor: Actor, thread_pk: int, index: int) -> str:
    """The URL of the report about the answer at or after a message; empty if the actor may not see one."""
    return _registered.report_href(actor, thread_pk, index)


def runs(actor: Actor) -> Q:
    """The condition for threads that are runs of checks."""
    return _registered.runs(actor)


def fork_left(thread_pk: int) -> None:
    """Report that the turn of a fork has ended or waits."""
    _registered.fork_left(thread_pk)


def deleted(actor: Actor, thread: Thread) -> None:
    """Delete what other apps store about a thread."""
    _registered.deleted(actor, thread)
