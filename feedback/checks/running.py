"""Running checks: reruns of what was complained about, and what is made of their answers."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.rights import Right, require_admin
from core import ids
from core.actor import Actor
from core.errors import Conflict, InvalidRequest, NotFound
from feedback.checks import expecting
from feedback.checks.wire import MOST_RUNS, RunIn
from feedback.models import Check, CheckRun
from threads import profiles, reruns
from threads.access import thread_for
from threads.content import LOAD_SKILL
from threads.models import Thread
from threads.pending import calls_behind
from threads.status import ThreadStatus
from threads.wire import RerunIn

_AT_ONCE = 200
_WITH_FORK = CheckRun.objects.select_related("fork").defer(*(f"fork__{column}" for column in Thread.HEAVY))


def run(actor: Actor, checks: Sequence[Check], body: RunIn) -> str:
    """Run checks, each as often as the body says; the batch under which all of it is found.

    All of them are started or none, 100 at most. Raises `InvalidRequest` for more, for none, and for an unknown model
    profile.
    """
    require_admin(actor)
    if not checks:
        raise InvalidRequest("There is no such check to run.")
    if len(checks) * body.times > MOST_RUNS:
        wanted = f"{len(checks)} checks" if len(checks) <= MOST_RUNS else f"more than {MOST_RUNS} checks"
        reason = f"{wanted}, each {body.times} times, are too many: at most {MOST_RUNS} runs are started together"
        raise InvalidRequest.of("times", reason)
    if body.model_profile is not None:
        profiles.named(body.model_profile)
    batch = ids.new_key()
    with transaction.atomic():
        for check in checks:
            source = thread_for(actor, check.thread.thread_id, Right.FORK)
            for _ in range(body.times):
                _begin(actor, check, source, body, batch)
        Check.objects.filter(pk__in=[check.pk for check in checks]).update(state=Check.State.RUNNING)
    return batch


def judge(actor: Actor, run_id: str, verdict: str | None) -> CheckRun:
    """Say what a run came to, where nothing is expected or the expectations are wrong; None leaves it to them again.

    Raises `Conflict` for a run that is under way.
    """
    require_admin(actor)
    key = ids.key_of(run_id, ids.RUN) or ""
    with transaction.atomic():
        found = CheckRun.objects.filter(key=key, of__dropped_at=None).first()
        if found is None:
            raise NotFound.of("run", run_id[:80])
        check = locked(found.of_id)
        judged = _WITH_FORK.select_related("created_by").get(pk=found.pk)
        if judged.ended_at is None:
            raise Conflict("This run is still under way.")
        judged.of = check
        judged.judged_by_id = None if verdict is None else actor.user_id
        if verdict is None:
            _hold_against(judged)
        else:
            judged.verdict = verdict
        judged.save(update_fields=["verdict", "findings", "judged_by"])
        _tell(check)
    return judged


def settle() -> None:
    """Decide on every run whose answer has ended, or waits for a client, which a run has none of. One query where there
    is none.
    """
    ended = CheckRun.objects.filter(ended_at=None).exclude(fork__status=ThreadStatus.ROBOTO_TURN)
    for pk, check_pk in ended.order_by("pk").values_list("pk", "of")[:_AT_ONCE]:
        with transaction.atomic():
            check = locked(check_pk)
            run = _WITH_FORK.get(pk=pk)
            if run.ended_at is not None:  # another process saw it as well
                continue
            run.of, run.ended_at = check, timezone.now()
            _hold_against(run)
            run.save(update_fields=["ended_at", "verdict", "findings"])
            _tell(check)


def judge_anew(check: Check) -> None:
    """Hold the runs of its latest batch against what a locked check expects now, but for those that people judged."""
    for run in _latest(check):
        if run.ended_at is not None and run.judged_by_id is None:
            run.of = check
            _hold_against(run)
            run.save(update_fields=["verdict", "findings"])
    _tell(check)


def locked(check_pk: int) -> Check:
    """A check, for as long as the transaction lasts nobody else's to write."""
    return Check.objects.select_for_update(of=("self",), no_key=True).get(pk=check_pk)


def _begin(actor: Actor, check: Check, source: Thread, body: RunIn, batch: str) -> None:
    chosen = body.model_dump(include={"skills", "tools", "model_profile"})
    again = RerunIn(message_sequence_num=check.message_sequence_num, **chosen)
    made = reruns.rerun(actor, source, again)
    columns = ("forked_from_message_sequence_num", "model_profile", "available_skills")
    fork = Thread.objects.by_public_id(made.thread_id).only(*columns).get()
    CheckRun.objects.create(
        of=check,
        fork=fork,
        batch=batch,
        skills=body.skills,
        tools=body.tools,
        model_profile=profiles.named(fork.model_profile).id,
        skill_versions=_skill_versions(fork),
        created_by_id=actor.user_id,
    )


def _skill_versions(fork: Thread) -> list[dict[str, Any]]:
    """What the agent of a run may load by itself, and what was taken up for it."""
    answered = calls_behind(fork.pk, fork.forked_from_message_sequence_num or 0)
    results = (block for block in answered if block["content_type"] == "tool_result")
    taken_up = [block["payload"] for block in results if block["tool_name"] == LOAD_SKILL]
    found = {skill["skill_id"]: skill for skill in (*(fork.available_skills or ()), *taken_up)}
    return [{name: skill[name] for name in ("skill_id", "name", "version")} for skill in found.values()]


def _hold_against(run: CheckRun) -> None:
    """What the transcript of a run says of each expectation, and the verdict: none where nothing is expected."""
    answer = expecting.answer_of(run.fork, run.fork.forked_from_message_sequence_num or 0)
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


def _latest(check: Check) -> list[CheckRun]:
    """The runs of its latest batch."""
    newest = check.runs.order_by("-id").values("batch")[:1]
    return list(_WITH_FORK.filter(of=check, batch=newest))


def _tell(check: Check) -> None:
    """Where a check stands after its latest batch."""
    check.state = _state_of(_latest(check))
    check.save(update_fields=["state"])


def _state_of(runs: Sequence[CheckRun]) -> Check.State:
    if not runs:
        return Check.State.UNTRIED
    if any(run.ended_at is None for run in runs):
        return Check.State.RUNNING
    verdicts = {run.verdict for run in runs}
    if CheckRun.Verdict.FAILED in verdicts:
        return Check.State.FAILING
    return Check.State.PASSING if verdicts == {CheckRun.Verdict.PASSED} else Check.State.UNDECIDED
