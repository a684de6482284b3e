"""What the feedback app tells this one about ratings, registered when Django is ready."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from core import notices
from core.actor import Actor
from threads import transcript
from threads.models import Thread
from threads.presenting.articles import Mark

MessageMarks = Callable[[Actor, Thread], Mapping[int, Mark]]
"""The ratings of a thread that the actor may see, by message."""
ThreadCounts = Callable[[Actor, Sequence[int]], Mapping[int, tuple[int, int]]]
"""How many negative and positive ratings the actor may see in each of these threads."""
Rated = Callable[[Actor, str], Q]
"""Threads with a rating of this sentiment that the actor may see; of any sentiment for an empty one."""
Replies = Callable[[Actor, Thread], Mapping[int, datetime]]
"""When the actor was last told something of an own rating in the thread, by message."""


@dataclass
class _Hooks:
    message_marks: MessageMarks = lambda actor, thread: {}
    thread_counts: ThreadCounts = lambda actor, thread_ids: {}
    rated: Rated = lambda actor, sentiment: Q(pk__in=[])
    replies: Replies = lambda actor, thread: {}


_registered = _Hooks()


def register(message_marks: MessageMarks, thread_counts: ThreadCounts, rated: Rated, replies: Replies) -> None:
    """Called once by the app that knows about ratings."""
    _registered.message_marks, _registered.thread_counts = message_marks, thread_counts
    _registered.rated, _registered.replies = rated, replies


def message_marks(actor: Actor, thread: Thread) -> Mapping[int, Mark]:
    """The ratings to show beside the messages of a thread."""
    return _registered.message_marks(actor, thread)


def thread_counts(actor: Actor, thread_ids: Sequence[int]) -> Mapping[int, tuple[int, int]]:
    """Negative and positive counts to show in a list."""
    return _registered.thread_counts(actor, thread_ids)


def rated(actor: Actor, sentiment: str) -> Q:
    """The condition of threads that show such a rating in a list."""
    return _registered.rated(actor, sentiment)


def wake_readers(thread_pk: int) -> None:
    """Let open pages of a thread look whether a rating was answered."""
    notices.publish(transcript.subject(thread_pk))


def replies(actor: Actor, thread: Thread) -> Mapping[int, datetime]:
    """When the reader was told something of their ratings."""
    return _registered.replies(actor, thread)
