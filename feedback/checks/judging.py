"""What the runs of a check came to: verdicts, read from transcripts, and where the check stands with them."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any, cast

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.rights import require_admin
from core import ids
from core.actor import Actor
from core.errors import Conflict, NotFound
from feedback import webhooks
from feedback.checks import expecting
from feedback.models import Check, CheckRun, UserFeedback
from threads.models import Thread, Turn
from threads.status import ThreadStatus

_AT_ONCE = 200
_WITH_FORK = CheckRun.objects.select_related("fork").defer(*(f"fork__{column}" for column in Thread.HEAVY))
logger = logging.getLogger("heddle.checks")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a transcript says of what is expected. Expressions take their time, so it is read before anything is locked,
    and holds if the same is expected then.
    """

    wanted: list[dict[str, Any]]
    findings: list[dict[str, Any]]
    verdict: CheckRun.Verdict | None
    """None where nothing is expected."""
    turn: Turn | None


def judge(actor: Actor, run_id: str, verdict: str | None) -> CheckRun:
    """Say what a run came to, where nothing is expected or the expectations are wrong; None leaves it to them again.

    Raises `Conflict` for a run that waits, is under way or was never begun, and where the expectations that it is left
    to are changed just then.
    """
    require_admin(actor)
    rows = _WITH_FORK.select_related("of", "batch__created_by")
    judged = rows.filter(key=ids.key_of(run_id, ids.RUN) or "", of__dropped_at=None).first()
    if judged is None:
        raise NotFound.of("run", run_id[:80])
    if judged.ended_at is None:
        raise Conflict("This run is still under way.")
    if judged.fork is None:
        raise Conflict("This run was never begun.")
    reading = None if verdict else _read(judged, judged.of.expectations, expecting.deadline())
    with transaction.atomic():
        check = locked(judged.of_id)
        judged = rows.filter(pk=judged.pk).first()
        if check is None or judged is None:
            raise NotFound.of("run", run_id[:80])
        judged.of = check
        if reading is None:
            judged.verdict, judged.judged_by_id = verdict, actor.user_id
        elif reading.wanted == check.expectations:
            judged.verdict, judged.findings, judged.judged_by_id = reading.verdict, reading.findings, None
        else:
            raise Conflict("Somebody changed just now what is expected. Look again.")
        judged.problem = ""
        judged.save(update_fields=["verdict", "findings", "judged_by", "problem"])
        tell(check, by=actor.user_id)
    return judged


def settle() -> None:
    """Decide on every run whose answer has ended, or waits for a client, which a run has none of.

    What takes long is left to whoever comes next. A run that cannot be decided on has broken off, and keeps no other
    waiting.
    """
    until = expecting.deadline()
    ended = CheckRun.objects.filter(ended_at=None, fork__isnull=False).exclude(fork__status=ThreadStatus.ROBOTO_TURN)
    for pk in list(ended.order_by("pk").values_list("pk", flat=True)[:_AT_ONCE]):
        try:
            _settle(pk)
        except (OperationalError, InterfaceError):  # the database is away, or two were in each other's way: next time
            raise
        except Exception:
            logger.exception("check.not_judged", extra={"run": pk})
            break_off(pk, "It could not be judged.")
        if monotonic() > until:
            return


def _settle(pk: int) -> None:
    run = _WITH_FORK.select_related("of").filter(pk=pk, ended_at=None).first()
    if run is None:
        return
    reading = _read(run, run.of.expectations, expecting.deadline())
    with transaction.atomic():
        check = locked(run.of_id)
        run = CheckRun.objects.select_related("batch").filter(pk=pk, ended_at=None).first()
        # Another process saw it as well, it was deleted, or something else is expected now: that is for the next look.
        if check is None or run is None or reading.wanted != check.expectations:
            return
        run.ended_at, run.verdict, run.findings = timezone.now(), reading.verdict, reading.findings
        if reading.turn is not None:
            _count(run, reading.turn)
        run.save(update_fields=["ended_at", "verdict", "findings", *CheckRun.FIGURES])
        tell(check, by=run.batch.created_by_id)


def break_off(run_pk: int, problem: str) -> None:
    """End a run of which nothing comes, and say why, unless it was deleted just now."""
    with transaction.atomic():
        run = CheckRun.objects.select_related("batch").filter(pk=run_pk).first()
        check = locked(run.of_id) if run else None
        if run is None or check is None:
            return
        ended = {"ended_at": timezone.now(), "verdict": CheckRun.Verdict.BROKEN, "problem": problem[:200]}
        CheckRun.objects.filter(pk=run_pk, ended_at=None).update(**ended)
        tell(check, by=run.batch.created_by_id)


def readings(check: Check, wanted: list[dict[str, Any]]) -> dict[int, Reading]:
    """What the runs of its latest batch say of what a check is to expect, by their row ids; for `judge_anew`."""
    until = expecting.deadline()
    return {run.pk: _read(run, wanted, until) for run in _open_to_expectations(check)}


def judge_anew(check: Check, found: Mapping[int, Reading], *, by: int) -> None:
    """Hold the runs of its latest batch against what a locked check expects now, but for those that people judged.

    One that has ended since the others were read is read here, under the lock: hardly ever, and never many.
    """
    until = expecting.deadline()
    for run in _open_to_expectations(check):
        reading = found.get(run.pk) or _read(run, check.expectations, until)
        run.verdict, run.findings = reading.verdict, reading.findings
        run.save(update_fields=["verdict", "findings"])
    tell(check, by=by)


def forget(thread: Thread) -> None:
    """The thread of a run is deleted: its check stands where its other runs leave it."""
    for run in CheckRun.objects.filter(fork=thread).select_related("batch"):
        check = locked(run.of_id)
        run.delete()
        if check is not None:
            tell(check, by=run.batch.created_by_id)


def locked(check_pk: int) -> Check | None:
    """A check, for as long as the transaction lasts nobody else's to write; None where its thread was deleted just now.

    Its report comes first, as where that is taken back: who listens for the check writes a row that names the report.
    """
    report = Check.objects.filter(pk=check_pk).values("feedback")
    list(UserFeedback.objects.select_for_update(no_key=True).filter(pk__in=report).values_list("pk"))
    return Check.objects.select_for_update(of=("self",), no_key=True).filter(pk=check_pk).first()


def tell(check: Check, *, by: int) -> None:
    """Write down where a locked check stands after its latest batch, and tell whoever listens if somebody turned it."""
    check.state = state_of(_latest(check))
    event = webhooks.EVENT_OF_OUTCOME.get(check.state)
    if event is not None:
        has_turned = check.outcome and check.outcome != check.state
        check.outcome = check.state
        if has_turned and check.feedback is not None:
            webhooks.announce(event, check.feedback, actor_id=by)
    check.save(update_fields=["state", "outcome"])


def _count(run: CheckRun, turn: Turn) -> None:
    """What it took."""
    if turn.started_at and turn.finished_at:
        run.seconds = (turn.finished_at - turn.started_at).total_seconds()
    run.input_tokens, run.output_tokens, run.cost = turn.input_tokens, turn.output_tokens, turn.cost


def _read(run: CheckRun, wanted: list[dict[str, Any]], until: float) -> Reading:
    """What the transcript of a begun run says of each expectation, and the verdict."""
    fork = cast(Thread, run.fork)
    answer = expecting.answer_of(fork, fork.forked_from_message_sequence_num or 0)
    found = expecting.findings(wanted, answer, until=until)
    told = [
        {"expectation": each, "holds": finding.holds, "found": finding.found}
        for each, finding in zip(wanted, found, strict=True)
    ]
    verdict = CheckRun.Verdict.PASSED if all(each.holds for each in found) else CheckRun.Verdict.FAILED
    if not answer.is_whole:  # which says nothing about what would have been answered
        verdict = CheckRun.Verdict.BROKEN
    return Reading(wanted, told, verdict if wanted or not answer.is_whole else None, answer.turn)


def _open_to_expectations(check: Check) -> QuerySet[CheckRun]:
    return _WITH_FORK.filter(
        pk__in=_latest(check), ended_at__isnull=False, fork__isnull=False, judged_by=None, problem=""
    )


def _latest(check: Check) -> QuerySet[CheckRun]:
    """The runs of its latest batch."""
    return CheckRun.objects.filter(of=check, batch=check.runs.order_by("-id").values("batch")[:1])


def state_of(found: Iterable[CheckRun]) -> Check.State:
    """What the runs of a check in one batch come to."""
    runs = list(found)
    if not runs:
        return Check.State.UNTRIED
    if any(run.ended_at is None for run in runs):
        return Check.State.RUNNING
    verdicts = {run.verdict for run in runs}
    if CheckRun.Verdict.FAILED in verdicts:
        return Check.State.FAILING
    return Check.State.PASSING if verdicts == {CheckRun.Verdict.PASSED} else Check.State.UNDECIDED
