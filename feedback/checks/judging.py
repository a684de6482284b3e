"""Verdicts on runs, read from transcripts, and the resulting state of each check."""

import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any, cast

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.rights import require_admin
from catalogue import naming
from core import ids
from core.actor import Actor
from core.errors import Conflict, NotFound
from feedback import access, desk_notices, webhooks
from feedback.checks import expecting
from feedback.models import Check, CheckRun
from feedback.taxonomy import Sentiment
from threads import figures
from threads.models import Thread, Turn
from threads.status import ThreadStatus, TurnState

_AT_ONCE = 200
_WITH_FORK = CheckRun.objects.select_related("fork").defer(*(f"fork__{column}" for column in Thread.HEAVY))
_RUNS = _WITH_FORK.select_related("of", "batch__created_by", "judged_by")
_WITH_BOTH = _WITH_FORK.select_related("of__thread").defer(*(f"of__thread__{column}" for column in Thread.HEAVY))
logger = logging.getLogger("heddle.checks")


@dataclass(frozen=True, slots=True)
class Reading:
    """The findings of a transcript for `wanted` expectations. Expressions can be slow, so they are evaluated before any
    lock; the result is valid if the expectations are still the same under the lock.
    """

    wanted: list[dict[str, Any]]
    findings: list[dict[str, Any]]
    verdict: CheckRun.Verdict | None
    """None without expectations."""
    answer: expecting.Answer


def run_for(actor: Actor, run_id: str) -> CheckRun:
    """The run with that id, for an admin; raises `Unauthorized`, then `NotFound`, also if its check was deleted."""
    require_admin(actor)
    found = _RUNS.filter(key=ids.key_of(run_id, ids.RUN) or "", of__dropped_at=None).first()
    if found is None:
        raise NotFound.of("run", run_id[:80])
    return found


def judge(actor: Actor, run_id: str, verdict: str | None, *, seen: str | None = None) -> CheckRun:
    """Set a person's verdict on a run; None restores that of the expectations.

    `seen` is who had judged it when the actor looked (an address, empty for nobody). Raises `Conflict` if somebody else
    judged it since, for a run that has not ended or was never started, and if the expectations change at that moment.
    """
    found = run_for(actor, run_id)
    if found.ended_at is None:
        raise Conflict("This run has not ended yet.")
    if found.fork is None:
        raise Conflict("This run was never started.")
    reading = None if verdict else _read(found, found.of.wanted, expecting.deadline())
    with transaction.atomic():
        check = locked(found.of_id)
        judged = _RUNS.filter(pk=found.pk).first()
        if check is None or judged is None:
            raise NotFound.of("run", run_id[:80])
        judged.of = check
        other = judged.judged_by
        if seen is not None and other is not None and other.pk != actor.user_id and other.email != seen:
            raise Conflict(f"{other.display_name} judged just now that it {judged.verdict}. Press again to overrule.")
        if reading is None:
            judged.verdict, judged.judged_by_id = verdict, actor.user_id
        elif reading.wanted == check.wanted:
            judged.verdict = reading.verdict or _as_rated(check, judged.is_alike)
            judged.findings, judged.judged_by_id = reading.findings, None
        else:
            raise Conflict("The expectations were changed just now. Reload and try again.")
        judged.problem = ""
        judged.save(update_fields=["verdict", "findings", "judged_by", "problem"])
        tell(check, by=actor.user_id)
    return judged


def settle() -> None:
    """Judge every run whose answer has ended or waits for a client tool, which nobody answers in a run.

    Stops after some time and leaves the rest to the next call. A run that cannot be judged becomes `broken`, so that it
    does not block others.
    """
    until = expecting.deadline()
    ended = CheckRun.objects.filter(ended_at=None, fork__isnull=False).exclude(fork__status=ThreadStatus.ROBOTO_TURN)
    for pk in list(ended.order_by("pk").values_list("pk", flat=True)[:_AT_ONCE]):
        try:
            _settle(pk)
        except (OperationalError, InterfaceError):  # the database is unavailable or busy: try again next time
            raise
        except Exception:
            logger.exception("check.not_judged", extra={"run": pk})
            break_off(pk, "It could not be judged.")
        if monotonic() > until:
            return


def _settle(pk: int) -> None:
    run = _WITH_BOTH.filter(pk=pk, ended_at=None).first()
    if run is None:
        return
    reading = _read(run, run.of.wanted, expecting.deadline())
    is_alike = _is_alike(run, reading.answer)
    with transaction.atomic():
        check = locked(run.of_id)
        run = CheckRun.objects.select_related("batch").filter(pk=pk, ended_at=None).first()
        # Judged by another process, deleted, or the expectations changed: leave it to the next call.
        if check is None or run is None or reading.wanted != check.wanted:
            return
        run.ended_at, run.findings, run.is_alike = timezone.now(), reading.findings, is_alike
        run.verdict = reading.verdict or _as_rated(check, is_alike)
        run.problem = _broken_by(reading.answer)
        if reading.answer.turn is not None:
            _count(run, reading.answer.turn)
        run.save(update_fields=["ended_at", "verdict", "findings", "is_alike", "problem", *CheckRun.FIGURES])
        tell(check, by=run.batch.created_by_id)


def _broken_by(answer: expecting.Answer) -> str:
    """Why an answer is not whole, as a sentence; empty if it is."""
    turn = answer.turn
    match turn and turn.state:
        case TurnState.DONE:
            return ""
        case TurnState.CANCELLED:
            return "It was stopped."
        case TurnState.FAILED if turn and turn.error_code:
            return f"It broke off: {turn.error_code.replace('_', ' ')}."
        case TurnState.WAITING:
            return "It waits for a client tool, which nobody answers in a run."
    return "It broke off."


def _as_rated(check: Check, is_alike: bool | None) -> CheckRun.Verdict | None:
    """Of a rerun that is of no check: the rated answer once more is as good as it was rated. Whether another one is
    better, a person says.
    """
    if not check.is_aside or not is_alike or check.feedback is None:
        return None
    is_good = check.feedback.sentiment == Sentiment.POSITIVE
    return CheckRun.Verdict.PASSED if is_good else CheckRun.Verdict.FAILED


def break_off(run_pk: int, problem: str) -> None:
    """End a run as `broken` with the reason, unless it was deleted."""
    with transaction.atomic():
        run = CheckRun.objects.select_related("batch").filter(pk=run_pk).first()
        check = locked(run.of_id) if run else None
        if run is None or check is None:
            return
        ended = {"ended_at": timezone.now(), "verdict": CheckRun.Verdict.BROKEN, "problem": problem[:200]}
        CheckRun.objects.filter(pk=run_pk, ended_at=None).update(**ended)
        tell(check, by=run.batch.created_by_id)


def readings(check: Check, wanted: list[dict[str, Any]]) -> dict[int, Reading]:
    """Findings of the latest batch's runs for new expectations, by row id of the run; for `judge_anew`."""
    until = expecting.deadline()
    return {run.pk: _read(run, wanted, until) for run in _open_to_expectations(check)}


def undecided(batch_pk: int) -> QuerySet[CheckRun]:
    """The runs of a batch that a person has to judge."""
    return CheckRun.objects.filter(
        batch=batch_pk, verdict=None, ended_at__isnull=False, fork__isnull=False, of__dropped_at=None
    )


def judge_anew(check: Check, found: Mapping[int, Reading], *, by: int) -> None:
    """Judge the latest batch's runs by a locked check's new expectations, except those that people judged.

    Runs that ended since `readings` are evaluated here under the lock; that is rare, and never many.
    """
    until = expecting.deadline()
    for run in _open_to_expectations(check):
        reading = found.get(run.pk) or _read(run, check.wanted, until)
        run.verdict, run.findings = reading.verdict, reading.findings
        run.save(update_fields=["verdict", "findings"])
    tell(check, by=by)


def forget(thread: Thread) -> None:
    """Remove the run of a thread that is being deleted, and update its check's state."""
    for run in CheckRun.objects.filter(fork=thread).select_related("batch"):
        check = locked(run.of_id)
        run.delete()
        if check is not None:
            tell(check, by=run.batch.created_by_id)


def locked(check_pk: int) -> Check | None:
    """A check, locked for the transaction; None if its thread was deleted.

    Its report is locked first, in the same order as when that is retracted, because webhook events of the check
    reference the report.
    """
    hold_reports([check_pk])
    return Check.objects.select_for_update(of=("self",), no_key=True).filter(pk=check_pk).first()


def hold_reports(checks: Collection[int]) -> None:
    """Lock the reports of several checks before any of those is `locked`, in the order in which bulks lock reports."""
    named = Check.objects.filter(pk__in=checks).values("feedback")
    list(access.locked(named).values_list("pk"))


def tell(check: Check, *, by: int) -> None:
    """Update a locked check's state from its latest batch, and announce a change from passing to failing or back."""
    check.state = state_of(_latest(check))
    event = webhooks.EVENT_OF_OUTCOME.get(check.state)
    desk_notices.announce()
    if event is not None:
        has_turned = check.outcome and check.outcome != check.state
        check.outcome = check.state
        if has_turned and check.is_kept and check.feedback is not None:
            webhooks.announce(event, check.feedback, actor_id=by)
    check.save(update_fields=["state", "outcome"])


def _count(run: CheckRun, turn: Turn) -> None:
    """Copy time, tokens and cost of its turn."""
    worked_ms = figures.worked_ms(turn, turn.finished_at)
    if worked_ms is not None:
        run.seconds = worked_ms / 1000
    run.input_tokens, run.output_tokens, run.cost = turn.input_tokens, turn.output_tokens, turn.cost


def _read(run: CheckRun, wanted: list[dict[str, Any]], until: float) -> Reading:
    """The findings and the verdict of a started run."""
    fork = cast(Thread, run.fork)
    answer = expecting.answer_of(fork, fork.forked_from_message_sequence_num or 0)
    found = expecting.findings(wanted, answer, until=until)
    told = [
        {"expectation": each, "holds": finding.holds, "found": finding.found}
        for each, finding in zip(wanted, found, strict=True)
    ]
    verdict = CheckRun.Verdict.PASSED if all(each.holds for each in found) else CheckRun.Verdict.FAILED
    if not answer.is_whole:  # so the complete answer is unknown
        verdict = CheckRun.Verdict.BROKEN
    return Reading(wanted, told, verdict if wanted or not answer.is_whole else None, answer)


def _is_alike(run: CheckRun, answer: expecting.Answer) -> bool | None:
    """Whether the answer of a run has the words and calls of the rated one; None if it is not whole."""
    if not answer.is_whole:
        return None
    rated = expecting.answer_of(run.of.thread, cast(Thread, run.fork).forked_from_message_sequence_num or 0)
    return (answer.words, _work(answer)) == (rated.words, _work(rated))


def _work(answer: expecting.Answer) -> list[tuple[object, object]]:
    """Its calls, by the tools' own names, which are stored with or without their servers'; without those of the
    runtime: skills that are loaded, goals that are achieved.
    """
    calls = [(naming.read(name), name, given) for name, given in answer.calls if not naming.is_of_runtime(name)]
    return [(read.name if read else name, given) for read, name, given in calls]


def _open_to_expectations(check: Check) -> QuerySet[CheckRun]:
    return _WITH_FORK.filter(
        pk__in=_latest(check), ended_at__isnull=False, fork__isnull=False, judged_by=None, problem=""
    )


def _latest(check: Check) -> QuerySet[CheckRun]:
    """The runs of a check's latest batch."""
    return CheckRun.objects.filter(of=check, batch=check.runs.order_by("-id").values("batch")[:1])


def state_of(found: Iterable[CheckRun]) -> Check.State:
    """The state of a check from its runs in one batch."""
    runs = list(found)
    if not runs:
        return Check.State.UNTRIED
    if any(run.ended_at is None for run in runs):
        return Check.State.RUNNING
    verdicts = {run.verdict for run in runs}
    if CheckRun.Verdict.FAILED in verdicts:
        return Check.State.FAILING
    return Check.State.PASSING if verdicts == {CheckRun.Verdict.PASSED} else Check.State.UNDECIDED
