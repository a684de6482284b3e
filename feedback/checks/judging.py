"""What the runs of a check came to: verdicts, read from transcripts, and where the check stands with them."""

from collections.abc import Iterable
from typing import cast

from django.db import transaction
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


def judge(actor: Actor, run_id: str, verdict: str | None) -> CheckRun:
    """Say what a run came to, where nothing is expected or the expectations are wrong; None leaves it to them again.

    Raises `Conflict` for a run that waits, is under way or was never begun.
    """
    require_admin(actor)
    key = ids.key_of(run_id, ids.RUN) or ""
    with transaction.atomic():
        found = CheckRun.objects.filter(key=key, of__dropped_at=None).first()
        if found is None:
            raise NotFound.of("run", run_id[:80])
        check = locked(found.of_id)
        judged = _WITH_FORK.select_related("batch__created_by").get(pk=found.pk)
        if judged.ended_at is None:
            raise Conflict("This run is still under way.")
        if judged.fork is None:
            raise Conflict("This run was never begun.")
        judged.of = check
        judged.judged_by_id = None if verdict is None else actor.user_id
        if verdict is None:
            _hold_against(judged)
        else:
            judged.verdict = verdict
        judged.save(update_fields=["verdict", "findings", "judged_by"])
        tell(check, by=actor.user_id)
    return judged


def settle() -> None:
    """Decide on every run whose answer has ended, or waits for a client, which a run has none of."""
    ended = CheckRun.objects.filter(ended_at=None, fork__isnull=False).exclude(fork__status=ThreadStatus.ROBOTO_TURN)
    for pk, check_pk in ended.order_by("pk").values_list("pk", "of")[:_AT_ONCE]:
        with transaction.atomic():
            check = locked(check_pk)
            run = _WITH_FORK.select_related("batch").filter(pk=pk, ended_at=None).first()
            if run is None:  # another process saw it as well, or it was deleted
                continue
            run.of, run.ended_at = check, timezone.now()
            answer = _hold_against(run)
            if answer.turn is not None:
                _count(run, answer.turn)
            run.save(update_fields=["ended_at", "verdict", "findings", *_FIGURES])
            tell(check, by=run.batch.created_by_id)


def judge_anew(check: Check, *, by: int) -> None:
    """Hold the runs of its latest batch against what a locked check expects now, but for those that people judged."""
    for run in _WITH_FORK.filter(pk__in=_latest(check), ended_at__isnull=False, fork__isnull=False, judged_by=None):
        run.of = check
        _hold_against(run)
        run.save(update_fields=["verdict", "findings"])
    tell(check, by=by)


def forget(thread: Thread) -> None:
    """The thread of a run is deleted: its check stands where its other runs leave it."""
    for run in CheckRun.objects.filter(fork=thread).select_related("batch"):
        check = locked(run.of_id)
        run.delete()
        tell(check, by=run.batch.created_by_id)


def locked(check_pk: int) -> Check:
    """A check, for as long as the transaction lasts nobody else's to write.

    Its report comes first, as where that is taken back: who listens for the check writes a row that names the report.
    """
    report = Check.objects.filter(pk=check_pk).values("feedback")
    list(UserFeedback.objects.select_for_update(no_key=True).filter(pk__in=report).values_list("pk"))
    return Check.objects.select_for_update(of=("self",), no_key=True).get(pk=check_pk)


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


_FIGURES = ("seconds", "input_tokens", "output_tokens", "cost")


def _count(run: CheckRun, turn: Turn) -> None:
    """What it took."""
    if turn.started_at and turn.finished_at:
        run.seconds = (turn.finished_at - turn.started_at).total_seconds()
    run.input_tokens, run.output_tokens, run.cost = turn.input_tokens, turn.output_tokens, turn.cost


def _hold_against(run: CheckRun) -> expecting.Answer:
    """What the transcript of a begun run says of each expectation, and the verdict: none where nothing is expected."""
    fork = cast(Thread, run.fork)
    answer = expecting.answer_of(fork, fork.forked_from_message_sequence_num or 0)
    wanted = run.of.expectations
    found = expecting.findings(wanted, answer)
    run.findings = [
        {"expectation": each, "holds": finding.holds, "found": finding.found}
        for each, finding in zip(wanted, found, strict=True)
    ]
    if not answer.is_whole:  # which says nothing about what would have been answered
        run.verdict = CheckRun.Verdict.BROKEN
    elif not wanted:
        run.verdict = None
    else:
        run.verdict = CheckRun.Verdict.PASSED if all(each.holds for each in found) else CheckRun.Verdict.FAILED
    return answer


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
