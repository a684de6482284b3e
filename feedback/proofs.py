"""Reruns by which somebody decides about a report: forks of the rated thread in which its request is answered again."""

from core.actor import Actor
from core.errors import NotFound
from feedback.models import UserFeedback
from threads import pending
from threads.access import thread_for
from threads.models import Thread


def fork_of(actor: Actor, report: UserFeedback, thread_id: str) -> Thread:
    """A fork of a report's thread at the request of the rated answer, or in that answer, which the actor may read;
    raises `NotFound` for any other thread, and as `thread_for`.
    """
    fork = thread_for(actor, thread_id)
    place = fork.forked_from_message_sequence_num or 0
    if fork.forked_from_id != report.thread_id or place not in answer_of(report):
        raise NotFound("This thread is no fork of the rated one before that answer.")
    return fork


def answer_of(report: UserFeedback) -> range:
    """From the request of the rated answer up to before the rated message: a fork that ends there has another answer
    or none. One query.
    """
    request = pending.last_request(report.thread_id, report.message_sequence_num) or 0
    return range(request, report.message_sequence_num)
