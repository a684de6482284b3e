"""Reruns by which somebody decides about a report: forks of the rated thread in which its request is answered again."""

from collections import defaultdict
from collections.abc import Collection
from typing import cast

from django.db.models import Q, QuerySet

from core import ids
from core.actor import Actor
from core.errors import InvalidRequest, NotFound
from feedback.models import CheckBatch, CheckRun, TriageChange, UserFeedback
from feedback.taxonomy import Sentiment
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
    """The open reports that a batch proves fixed (`Proofs`)."""
    # By the runs of the batch: asked of each open report whether it has some, SQLite would go through all reports.
    runs = CheckRun.objects.filter(batch=batch, of__feedback__isnull=False).values("of__feedback")
    shown = runs.filter(Q(is_alike=False) | Q(judged_by__isnull=False))
    rows = UserFeedback.objects.filter(pk__in=shown, resolved=False, sentiment=Sentiment.NEGATIVE)
    rows = rows.filter(modified__lt=batch.created).exclude(pk__in=runs.exclude(verdict=CheckRun.Verdict.PASSED))
    rows = rows.exclude(pk__in=_failed_later(batch).filter(of__feedback__in=shown).values("of__feedback"))
    return rows.exclude(pk__in=_reopened(batch).filter(feedback__in=shown).values("feedback"))


class Proofs:
    """What a batch shows of some reports: fixed is what was rated negative, if all its runs passed, one of them has
    another answer than the rated one or a person said of it that it passed, none failed in a later batch, and neither
    was the rating changed since, nor the report reopened. Four queries, however many reports there are.
    """

    def __init__(self, batch_id: str, pks: Collection[int]) -> None:
        self.batch = require_batch(batch_id)
        runs = CheckRun.objects.filter(batch=self.batch, of__feedback__in=pks).select_related("fork", "of")
        self._runs: dict[int | None, list[CheckRun]] = defaultdict(list)
        for run in runs.order_by("pk"):
            self._runs[run.of.feedback_id].append(run)
        failed = _failed_later(self.batch).filter(of__feedback__in=pks)
        self._failed = set(failed.values_list("of__feedback", flat=True))
        self._reopened = set(_reopened(self.batch).filter(feedback__in=pks).values_list("feedback", flat=True))

    def passed(self, pk: int) -> bool:
        """Whether all runs of a report passed."""
        runs = self._runs[pk]
        return bool(runs) and all(run.verdict == CheckRun.Verdict.PASSED and run.fork for run in runs)

    def lack(self, report: UserFeedback) -> str:
        """Why a report is not proved fixed, as a sentence; empty if it is. Whether it is open does not matter."""
        if not self.passed(report.pk):
            return "Not all of its runs in this batch passed."
        if report.sentiment != Sentiment.NEGATIVE:
            return "It was rated positive."
        if report.modified >= self.batch.created:
            return "Its submitter changed it after this batch had begun."
        if report.pk in self._failed:
            return "It failed in a later batch."
        if report.pk in self._reopened:
            return "It was reopened after this batch had begun."
        return "" if self._shown(report) else "The answer is the rated one, and nobody said of it that it passed."

    def of(self, report: UserFeedback) -> Thread:
        """The latest run that shows that a report is fixed; raises `InvalidRequest` with the reason if it does not."""
        if lack := self.lack(report):
            raise InvalidRequest(lack)
        return cast(Thread, self._shown(report)[-1])

    def _shown(self, report: UserFeedback) -> list[Thread | None]:
        runs = self._runs[report.pk]
        return [run.fork for run in runs if run.is_alike is False or run.judged_by_id is not None]


def _failed_later(batch: CheckBatch) -> QuerySet[CheckRun]:
    return CheckRun.objects.filter(batch__gt=batch.pk, verdict=CheckRun.Verdict.FAILED)


def _reopened(batch: CheckBatch) -> QuerySet[TriageChange]:
    return TriageChange.objects.filter(verb="reopen", at__gt=batch.created)


def answer_of(report: UserFeedback) -> range:
    """From the request of the rated answer up to before the rated message: a fork that ends there has another answer
    or none. One query.
    """
    request = pending.last_request(report.thread_id, report.message_sequence_num) or 0
    return range(request, report.message_sequence_num)
