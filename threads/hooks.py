"""What the feedback app tells this one about ratings, registered when Django is ready."""

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
    """What a list says of the ratings of one thread."""

    negative: int = 0
    positive: int = 0
    answered: int | None = None
    """The first message whose rating, one of the reader's own, an admin answered, and they have not seen it."""


MessageMarks = Callable[[Actor, Thread], Mapping[int, Mark]]
"""The ratings of a thread that the actor may see, by message."""
ThreadRatings = Callable[[Actor, Sequence[int]], Mapping[int, Ratings]]
"""The ratings that the actor may see in each of these threads."""
Rated = Callable[[Actor, str], Q]
"""Threads with a rating of this sentiment that the actor may see; of any sentiment for an empty one."""
ReportHref = Callable[[Actor, int, int], str]
"""Where a complaint about an answer is seen to, for whoever sees to it: the thread's row id, one of its messages."""
Replies = Callable[[Actor, Thread], Mapping[int, datetime]]
"""When the actor was last told something of an own rating in the thread, by message."""
Answered = Callable[[Actor], Q]
"""Threads in which a rating of the actor's was answered, and they have not seen it."""
Runs = Callable[[Actor], Q]
"""Threads of the actor's that only show how a check went."""
Deleted = Callable[[Actor, Thread], None]
"""A locked thread is about to go for ever."""
Left = Callable[[int], None]
"""A turn on a fork goes no further: the thread's row id. Called inside the transaction that ends it."""
Saw = Callable[[Actor, Thread, datetime], None]
"""The actor has seen what they were told of their ratings in the thread up to a moment."""


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
    """Called once by the app that knows about ratings."""
    _registered.message_marks, _registered.thread_ratings = message_marks, thread_ratings
    _registered.rated, _registered.replies = rated, replies
    _registered.answered, _registered.saw = answered, saw
    _registered.report_href, _registered.runs = report_href, runs
    _registered.fork_left, _registered.deleted = fork_left, deleted


def message_marks(actor: Actor, thread: Thread) -> Mapping[int, Mark]:
    """The ratings to show beside the messages of a thread."""
    return _registered.message_marks(actor, thread)


def thread_ratings(actor: Actor, thread_ids: Sequence[int]) -> Mapping[int, Ratings]:
    """What a list shows of ratings."""
    return _registered.thread_ratings(actor, thread_ids)


def rated(actor: Actor, sentiment: str) -> Q:
    """The condition of threads that show such a rating in a list."""
    return _registered.rated(actor, sentiment)


def wake_readers(thread_pk: int) -> None:
    """Let open pages of a thread look whether a rating was answered."""
    notices.publish(transcript.subject(thread_pk))


def replies(actor: Actor, thread: Thread) -> Mapping[int, datetime]:
    """When the reader was told something of their ratings."""
    return _registered.replies(actor, thread)


def answered(actor: Actor) -> Q:
    """The condition of threads that say in a list that the reader was answered."""
    return _registered.answered(actor)


def saw(actor: Actor, thread: Thread, until: datetime) -> None:
    """Remember that the reader has seen what they were told up to a moment."""
    _registered.saw(actor, thread, until)


def report_href(actor: Actor, thread_pk: int, index: int) -> str:
    """The address of a complaint about what was answered from a message on; empty where the actor sees to none."""
    return _registered.report_href(actor, thread_pk, index)


def runs(actor: Actor) -> Q:
    """The condition of threads that only show how a check went."""
    return _registered.runs(actor)


def fork_left(thread_pk: int) -> None:
    """Say that a turn on a fork goes no further."""
    _registered.fork_left(thread_pk)


def deleted(actor: Actor, thread: Thread) -> None:
    """Have what others keep of a thread go with it."""
    _registered.deleted(actor, thread)
