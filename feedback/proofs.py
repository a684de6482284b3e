"""Reruns by which somebody decides about a report: forks of the rated thread before the rated answer."""

from core.actor import Actor
from core.errors import NotFound
from feedback.models import UserFeedback
from threads.access import thread_for
from threads.models import Thread


def fork_of(actor: Actor, report: UserFeedback, thread_id: str) -> Thread:
    """A fork of a report's thread before the rated answer, which the actor may read; raises `NotFound` for any other
    thread, and as `thread_for`.
    """
    fork = thread_for(actor, thread_id)
    at = fork.forked_from_message_sequence_num or 0
    if fork.forked_from_id != report.thread_id or at >= report.message_sequence_num:
        raise NotFound("This thread is no fork of the rated one before that answer.")
    return fork
