"""Reruns by which somebody decides about a report: forks of the rated thread in which its request is answered again."""

from typing import cast

from django.db.models import Q, QuerySet

from core import ids
from core.actor import Actor
from core.errors import InvalidRequest, NotFound
from feedback.models import CheckBatch, CheckRun, UserFeedback
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


def require_batch(batch_id: str) -> CheckBatch:
    """The batch with that id; raises `InvalidRequest` if there is none."""
    found = CheckBatch.objects.filter(key=ids.key_of(batch_id, ids.BATCH) or "").first()
    if found is None:
        raise InvalidRequest.of("batch_id", f"there is no batch {batch_id[:80]}")
    return found


def fixed_by(batch: CheckBatch) -> QuerySet[UserFeedback]:
    """The open reports that a batch proves fixed: all runs of each passed, and one has another answer than the rated
    one, or a person said of it that it passed.
    """
    # By the runs of the batch: asked of each open report whether it has some, SQLite would go through all reports.
    runs = CheckRun.objects.filter(batch=batch, of__feedback__isnull=False).values("of__feedback")
    shown = runs.filter(Q(is_alike=False) | Q(judged_by__isnull=False))
    others = runs.exclude(verdict=CheckRun.Verdict.PASSED)
    return UserFeedback.objects.filter(pk__in=shown, resolved=False).exclude(pk__in=others)


def passed_in(report: UserFeedback, batch_id: str) -> Thread:
    """The thread of a report's latest run in a batch; raises `InvalidRequest` unless all of its runs there passed."""
    runs = CheckRun.objects.filter(batch=require_batch(batch_id), of__feedback=report).select_related("fork")
    found = list(runs.order_by("pk"))
    if not found or any(run.verdict != CheckRun.Verdict.PASSED or run.fork is None for run in found):
        raise InvalidRequest("Not all of its runs in this batch passed.")
    return cast(Thread, found[-1].fork)


def answer_of(report: UserFeedback) -> range:
    """From the request of the rated answer up to before the rated message: a fork that ends there has another answer
    or none. One query.
    """
    request = pending.last_request(report.thread_id, report.message_sequence_num) or 0
    return range(request, report.message_sequence_num)
