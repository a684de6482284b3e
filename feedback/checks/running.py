"""Running checks: reruns of rated requests, a few at a time, until the batch has ended.

A run is first a row and gets its thread later, so that hundreds can be requested. Waiting runs are started as others
end, by any process that calls `go_on`: a worker, a reader or the sweep. Only a few run at a time, so that people's
turns do not have to wait.
"""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from time import monotonic, sleep
from typing import Any, cast

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F, Min
from django.utils import timezone

from accounts.authentication import actor_of_user
from accounts.orgs import take_turns_with
from accounts.rights import Right, require_admin
from core import ids, sse
from core.actor import Actor
from core.canonical import fingerprint
from core.db import anew, give_connection_back
from core.errors import DomainError, InvalidRequest, NotFound, Unauthorized
from feedback import desk_notices
from feedback.checks import judging
from feedback.models import Check, CheckBatch, CheckRun
from feedback.wire_checks import MOST_RUNS, RunIn
from threads import forked_skills, profiles, reruns, turns
from threads.access import thread_for
from threads.models import Thread
from threads.pending import calls_behind
from threads.wire import RerunIn

logger = logging.getLogger("heddle.checks")
MOST_SECONDS = 60
_LOOK_SECONDS = 0.5
CHOICES = {"skills", "prompt", "tools", "model_profile"}
"""The options of a run that are those of a rerun."""
_WITH_SOURCE = CheckRun.objects.select_related("of__thread").defer(*(f"of__thread__{name}" for name in Thread.HEAVY))


def run(actor: Actor, checks: Sequence[Check], body: RunIn) -> CheckBatch:
    """Run checks, each `body.times` times; returns the new batch.

    At most 500 runs, all or none. Repeating the request within a minute, while the first batch is running, returns that
    batch, so that clients can retry. Raises `InvalidRequest` for more runs, for none, and for an unknown model profile;
    `NotFound` if all of these checks were deleted meanwhile.
    """
    return run_chosen(actor, lambda: checks, body)


def run_chosen(actor: Actor, choose: Callable[[], Sequence[Check]], body: RunIn) -> CheckBatch:
    """`run` for checks that are chosen, or made, in the transaction that lines up their runs."""
    require_admin(actor)
    chosen = body.model_dump(include=CHOICES)
    if body.model_profile is not None:
        profiles.named(body.model_profile)
    with transaction.atomic():
        take_turns_with(actor.user_id)
        checks = choose()
        _require_possible(checks, body)
        asked = fingerprint([sorted(check.key for check in checks), body.times, chosen])
        batch = _asked_before(actor, asked)
        if batch is None:
            options = {**chosen, "model_profile": body.model_profile or ""}
            batch = CheckBatch.objects.create(created_by_id=actor.user_id, times=body.times, asked=asked, **options)
            _line_up(batch, checks)
    come_by(waits=True)
    return batch


def _require_possible(checks: Sequence[Check], body: RunIn) -> None:
    if not checks:
        raise InvalidRequest("There are no checks to run.")
    if len(checks) * body.times > MOST_RUNS:
        wanted = f"{len(checks)} checks" if len(checks) <= MOST_RUNS else f"more than {MOST_RUNS} checks"
        reason = f"{wanted}, {body.times} runs each, are too many; the maximum is {MOST_RUNS} runs per batch"
        raise InvalidRequest.of("times", reason)


def stop(actor: Actor, batch_id: str) -> CheckBatch:
    """Stop a batch: cancel its running runs and delete the waiting ones. Ended runs stay. Can be repeated.

    A check with no started run keeps its earlier state.
    """
    batch = batch_for(actor, batch_id)
    _drop_waiting(batch, by=actor.user_id)
    starter = actor_of_user(batch.created_by)
    for begun in CheckRun.objects.filter(batch=batch, ended_at=None).select_related("fork"):
        with suppress(Unauthorized, NotFound):  # the starter lost their rights, or the fork is gone: it ends by itself
            turns.cancel(starter, cast(Thread, begun.fork))
    come_by(waits=True)
    return batch_for(actor, batch_id)


@anew
def _drop_waiting(batch: CheckBatch, *, by: int) -> None:
    waits = CheckRun.objects.filter(batch=batch, ended_at=None, fork=None)
    with transaction.atomic():
        CheckBatch.objects.select_for_update(of=("self",), no_key=True).get(pk=batch.pk)  # no run is started meanwhile
        checks = sorted(set(waits.values_list("of", flat=True)))
        judging.hold_reports(checks)
        for check_pk in checks:
            check = judging.locked(check_pk)
            waits.filter(of=check_pk).delete()
            if check is not None:
                judging.tell(check, by=by)


def waiting_runs(check: Check) -> int:
    """Number of its runs that are not started yet."""
    return CheckRun.objects.filter(of=check, ended_at=None, fork=None).count()


def batch_for(actor: Actor, batch_id: str) -> CheckBatch:
    """The batch with that id, for an admin; raises `Unauthorized`, then `NotFound`."""
    require_admin(actor)
    batches = CheckBatch.objects.select_related("created_by")
    found = batches.filter(key=ids.key_of(batch_id, ids.BATCH) or "").first()
    if found is None:
        raise NotFound.of("batch", batch_id[:80])
    return found


def seconds_of(value: str | None) -> float:
    """The value of `wait` in seconds, 0 to 60, default 0; raises `InvalidRequest`."""
    if value is None:
        return 0
    if not (value.isascii() and value.isdecimal() and len(value) <= 2 and int(value) <= MOST_SECONDS):
        raise InvalidRequest.of("wait", f"must be a whole number of seconds from 0 to {MOST_SECONDS}")
    return int(value)


def wait_for(actor: Actor, batch_id: str, seconds: float) -> None:
    """Wait until a batch has ended, at most so many seconds; calls `go_on` meanwhile and holds no database connection.

    Like a stream, a wait occupies one of the server's threads and one of the slots for streams; without a free slot it
    returns at once.
    """
    come_by()
    with sse.place() as may_wait:
        until = monotonic() + (seconds if may_wait else 0)
        while batch_for(actor, batch_id).ended_at is None and monotonic() < until:
            give_connection_back()
            sleep(_LOOK_SECONDS)
            come_by()


def come_by(*, waits: bool = False) -> None:
    """Call `go_on` from a request for something else, which must not fail if the database is busy."""
    try:
        go_on(waits=waits)
    except OperationalError:
        logger.warning("check.not_gone_on", exc_info=True)


def go_on(*, waits: bool = True) -> None:
    """Judge ended runs, start waiting ones, and close finished batches. One query if there is nothing to do.

    With `waits`, wait for another process that is doing the same, because it may have counted before our change;
    readers do not wait.
    """
    if not CheckBatch.objects.filter(ended_at=None).exists():
        return
    judging.settle()
    while _begin_next(waits=waits):
        pass


def _asked_before(actor: Actor, asked: str) -> CheckBatch | None:
    recent = timezone.now() - timedelta(seconds=turns.REPLAY_SECONDS)
    mine = CheckBatch.objects.filter(created_by=actor.user_id, asked=asked, ended_at=None, created__gte=recent)
    return mine.order_by("-id").first()


def _line_up(batch: CheckBatch, checks: Sequence[Check]) -> None:
    """Create the rows of all runs: every check once before any check a second time. Those that were deleted since they
    were read are left out; raises `NotFound` if all were.
    """
    of_these = Check.objects.filter(pk__in=[check.pk for check in checks], dropped_at=None)
    # In a fixed order, so that two batches of the same checks do not deadlock.
    held = set(of_these.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))
    if not held:
        raise NotFound.of("check", checks[0].check_id)
    there = [check for check in checks if check.pk in held]
    CheckRun.objects.bulk_create(CheckRun(of=check, batch=batch) for _ in range(batch.times) for check in there)
    of_these.update(state=Check.State.RUNNING)


def _begin_next(*, waits: bool) -> bool:
    """Start one waiting run if allowed; returns whether to try another one.

    The open batches are locked meanwhile, so that two processes do not use the same free slot. The batch with the
    fewest running runs is next, so that a single run does not wait for hundreds.
    """
    with transaction.atomic():
        rows = CheckBatch.objects.select_for_update(of=("self",), no_key=True, skip_locked=not waits)
        batches = {batch.pk: batch for batch in rows.filter(ended_at=None).select_related("created_by").order_by("pk")}
        if not waits and len(batches) < CheckBatch.objects.filter(ended_at=None).count():
            return False
        open_runs = CheckRun.objects.filter(ended_at=None, batch__in=batches)
        waiting = dict(open_runs.filter(fork=None).values_list("batch").annotate(first=Min("pk")))
        under_way = Counter(open_runs.filter(fork__isnull=False).values_list("batch", flat=True))
        over = batches.keys() - waiting.keys() - under_way.keys()
        if over:
            CheckBatch.objects.filter(pk__in=over).update(ended_at=timezone.now())
            desk_notices.announce()
        if not waiting or under_way.total() >= settings.HEDDLE.check_runs:
            return False
        next_batch = min(waiting, key=lambda pk: (under_way[pk], pk))
        _begin(_WITH_SOURCE.get(pk=waiting[next_batch]), batches[next_batch])
    return True


def _begin(run: CheckRun, batch: CheckBatch) -> None:
    """Start a run, unless its check was deleted; a run that cannot be started ends with the reason."""
    if run.of.dropped_at is not None:
        check = judging.locked(run.of_id)
        run.delete()
        if check is not None:
            judging.tell(check, by=batch.created_by_id)
        return
    try:
        with transaction.atomic():
            _rerun(run, batch)
    except (OperationalError, InterfaceError):  # the database is away, or two were in each other's way: next time
        raise
    except Exception as problem:  # a run that cannot be started must not block all others
        if not isinstance(problem, DomainError):
            logger.exception("check.not_begun", extra={"run": run.pk})
        judging.break_off(run.pk, problem.message if isinstance(problem, DomainError) else "It could not be started.")


def _rerun(run: CheckRun, batch: CheckBatch) -> None:
    actor = actor_of_user(batch.created_by)
    require_admin(actor)
    source = thread_for(actor, run.of.thread.thread_id, Right.FORK)
    again = {name: getattr(batch, name) or None for name in CHOICES}
    again["message_sequence_num"] = run.of.message_sequence_num
    made = reruns.rerun(actor, source, RerunIn.model_validate(again))
    columns = ("forked_from_message_sequence_num", "model_profile", "available_skills")
    fork = Thread.objects.by_public_id(made.thread_id).only(*columns).get()
    is_first = not CheckRun.objects.filter(of=run.of_id, batch=batch, fork__isnull=False).exists()
    if is_first:
        Check.objects.filter(pk=run.of_id).update(outcome_before=F("outcome"))
    run.fork, run.model_profile = fork, profiles.named(fork.model_profile).id
    upto = fork.forked_from_message_sequence_num or 0
    run.skill_versions = _skill_versions(fork, _rated_with(actor, source, upto) if batch.skills == "latest" else None)
    run.save(update_fields=["fork", "model_profile", "skill_versions"])


def _skill_versions(fork: Thread, had: Mapping[str, int] | None) -> list[dict[str, Any]]:
    """The skills that the agent of a run may load, and those preloaded for it, each with the version of the rated
    answer (`had`, by id); None if that had the same.
    """
    shown = forked_skills.shown(calls_behind(fork.pk, fork.forked_from_message_sequence_num or 0))
    found = {**forked_skills.kept(fork.available_skills or ()), **shown.offered, **shown.invoked}
    return [
        {
            "skill_id": skill.skill_id,
            "name": skill.name,
            "version": skill.version,
            "was": skill.version if had is None else had.get(skill.skill_id),
        }
        for skill in found.values()
    ]


def _rated_with(actor: Actor, source: Thread, upto: int) -> dict[str, int]:
    had = reruns.skills_of(actor, source, upto)
    return {skill_id: skill.version for skill_id, skill in {**had.offered, **had.invoked}.items()}
