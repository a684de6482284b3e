"""What the feedback app tells this app about ratings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

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


class AgentRatings(NamedTuple):
    """The ratings of answers in the threads that were launched from one version of an agent."""

    negative: int
    total: int
    href: str
    """The address of the reports about them."""


class Answered(Protocol):
    """Condition for threads in which the actor's rating got a reply; with `unseen`, one that they have not seen yet."""

    def __call__(self, actor: Actor, *, unseen: bool) -> Q: ...


class Report(Protocol):
    """The report about the answer at or after a message."""

    def __call__(self, actor: Actor, thread_pk: int, index: int, *, fork: str = "", named: str = "") -> Mark | None: ...


@dataclass(frozen=True)
class Feedback:
    """What that app answers; by default, that there are no ratings."""

    message_marks: Callable[[Actor, Thread], Mapping[int, Mark]] = lambda actor, thread: {}
    """The ratings of a thread that the actor may see, by message index."""
    thread_ratings: Callable[[Actor, Sequence[int]], Mapping[int, Ratings]] = lambda actor, thread_pks: {}
    """The ratings that the actor may see in each of these threads, by row id."""
    rated: Callable[[Actor, str], Q] = lambda actor, sentiment: Q(pk__in=[])
    """Condition for threads with a rating of this sentiment (empty: any) that the actor may see."""
    replies: Callable[[Actor, Thread], Mapping[int, datetime]] = lambda actor, thread: {}
    """When the actor's ratings in the thread last got a visible change, by message index."""
    answered: Answered = lambda actor, *, unseen: Q(pk__in=[])
    saw: Callable[[Actor, Thread, datetime], None] = lambda actor, thread, until: None
    """Remembers that the actor has seen the news about their ratings in the thread up to a moment."""
    report: Report = lambda actor, thread_pk, index, *, fork="", named="": None
    """The report about the answer at or after a message, with its URL, there with the thread `fork` beside the answer;
    of several the one that this was made for, or the one `named`. None if the actor may not see one.
    """
    reports_of_agent: Callable[[Actor, str], str] = lambda actor, agent_id: ""
    """The address of the reports about an agent's answers; empty if the actor may not see them."""
    ratings_of_agent: Callable[[Actor, str], Mapping[int, AgentRatings]] = lambda actor, agent_id: {}
    """The ratings of an agent's answers by the version that their thread was launched from, without those that have
    none; empty if the actor may not see them.
    """
    runs: Callable[[Actor], Q] = lambda actor: Q(pk__in=[])
    """Condition for runs of checks, whoever started them, if the actor is a platform admin; for others nothing."""
    run_panel: Callable[[Actor, Thread], str] = lambda actor, thread: ""
    """The address of a panel to judge a fork that is an ended run of a check; empty for others."""
    fork_left: Callable[[int], None] = lambda thread_pk: None
    """Called for a fork whose turn has ended or waits, inside that transaction."""
    deleted: Callable[[Actor, Thread], None] = lambda actor, thread: None
    """Called before a locked thread is deleted, to delete what is stored about it."""


feedback = Feedback()
"""Replaced once by the feedback app, when Django is ready."""


def wake_readers(thread_pk: int) -> None:
    """Let open pages of a thread check for replies to ratings."""
    notices.publish(readers_of(thread_pk))


def readers_of(thread_pk: int) -> str:
    """The subject of notices that a thread has changed."""
    return transcript.subject(thread_pk)
