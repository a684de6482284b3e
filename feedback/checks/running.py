"""Running checks: reruns of what was complained about, a few at once, until a whole batch has ended.

A run is a row first and a thread later, so that hundreds can be asked for: what waits is begun as others end, by
whoever comes by, a worker, a reader or the sweep. Turns of people never stand behind more than a few of them.
"""

import logging
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from time import monotonic, sleep
from typing import Any, cast

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F, Min
from django.utils import timezone

from accounts.authentication import actor_of_user
from accounts.models import User
from accounts.rights import Right, require_admin
from core import ids, sse
from core.actor import Actor
from core.canonical import fingerprint
from core.errors import DomainError, InvalidRequest, NotFound, Unauthorized
from feedback.checks import judging
from feedback.checks.wire import MOST_RUNS, RunIn
from feedback.models import Check, CheckBatch, CheckRun
from threads import lending, profiles, reruns, turns
from threads.access import thread_for
from threads.models import Thread
from threads.pending import calls_behind
from threads.wire import RerunIn

logger = logging.getLogger("heddle.checks")
MOST_SECONDS = 60
_LOOK_SECONDS = 0.5
_CHOICES = {"skills", "tools", "model_profile"}
_WITH_SOURCE = CheckRun.objects.select_related("of__thread").defer(*(f"of__thread__{name}" for name in Thread.HEAVY))


def run(actor: Actor, checks: Sequence[Check], body: RunIn) -> CheckBatch:
    """Have checks run, each as often as the body says; the batch under which all of it is found.

    All of them are asked for or none, 500 runs at most. The same asked again by the same person within a minute, while
    the first is under way, is that one: a client repeats what it got no answer to. Raises `InvalidRequest` for more,
    for none, and for an unknown model profile.
    """
    require_admin(actor)
    if not checks:
        raise InvalidRequest("There is no such check to run.")
    if len(checks) * body.times > MOST_RUNS:
        wanted = f"{len(checks)} checks" if len(checks) <= MOST_RUNS else f"more than {MOST_RUNS} checks"
        reason = f"{wanted}, each {body.times} times, are too many: at most {MOST_RUNS} runs are asked for together"
        raise InvalidRequest.of("times", reason)
    chosen = body.model_dump(include=_CHOICES)
    if body.model_profile is not None:
        profiles.named(body.model_profile)
    asked = fingerprint([sorted(check.key for check in checks), body.times, chosen])
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=actor.user_id)  # of two that come at once, one is the first
        batch = _asked_before(actor, asked)
        if batch is None:
            chosen["model_profile"] = body.model_profile or ""
            batch = CheckBatch.objects.create(created_by_id=actor.user_id, times=body.times, asked=asked, **chosen)
            _line_up(batch, checks)
    come_by(waits=True)
    return batch


def stop(actor: Actor, batch_id: str) -> CheckBatch:
    """Stop what is under way of a batch, and forget what waits; what has ended stays. Twice is once.

    A check of which nothing had begun is where it was before.
    """
    batch = batch_for(actor, batch_id)
    waits = CheckRun.objects.filter(batch=batch, ended_at=None, fork=None)
    with transaction.atomic():
        CheckBatch.objects.select_for_update(of=("self",), no_key=True).get(pk=batch.pk)  # nobody begins one meanwhile
        for check_pk in sorted(set(waits.values_list("of", flat=True))):
            check = judging.locked(check_pk)
            waits.filter(of=check_pk).delete()
            if check is not None:
                judging.tell(check, by=actor.user_id)
    starter = actor_of_user(batch.created_by)
    for begun in CheckRun.objects.filter(batch=batch, ended_at=None).select_related("fork"):
        with suppress(Unauthorized):  # whoever lost their rights meanwhile: it ends by itself
            turns.cancel(starter, cast(Thread, begun.fork))
    come_by(waits=True)
    return batch_for(actor, batch_id)


def batch_for(actor: Actor, batch_id: str) -> CheckBatch:
    """The batch with that id, for an admin; raises `Unauthorized`, then `NotFound`."""
    require_admin(actor)
    batches = CheckBatch.objects.select_related("created_by")
    found = batches.filter(key=ids.key_of(batch_id, ids.BATCH) or "").first()
    if found is None:
        raise NotFound.of("batch", batch_id[:80])
    return found


def seconds_of(value: str | None) -> float:
    """How long somebody is ready to wait: 0 to 60 seconds, none where nothing is said; raises `InvalidRequest`."""
    if value is None:
        return 0
    if not (value.isascii() and value.isdecimal() and len(value) <= 2 and int(value) <= MOST_SECONDS):
        raise InvalidRequest.of("wait", f"must be a whole number of seconds from 0 to {MOST_SECONDS}")
    return int(value)


def wait_for(actor: Actor, batch_id: str, seconds: float) -> None:
    """Wait until a batch is over, or for so long; whoever waits helps it on and holds no connection meanwhile.

    A wait takes one of the server's threads as a stream does, and one of the same places; where there is none it is
    over at once.
    """
    come_by()
    with sse.place() as may_wait:
        until = monotonic() + (seconds if may_wait else 0)
        while batch_for(actor, batch_id).ended_at is None and monotonic() < until:
            sse.give_connection_back()
            sleep(_LOOK_SECONDS)
            come_by()


def come_by(*, waits: bool = False) -> None:
    """`go_on` for who is there for something else, which must not fail by it: what is in the way now is not later."""
    try:
        go_on(waits=waits)
    except OperationalError:
        logger.warning("check.not_gone_on", exc_info=True)


def go_on(*, waits: bool = True) -> None:
    """Decide on what has ended, begin what may begin, and close batches of which nothing is left. One query where there
    is nothing to do.

    Who brings news `waits` for whoever is at it just now, and may have counted before them; a reader goes by.
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
    """The rows of all runs: each check once before any of them a second time."""
    rows = [CheckRun(of=check, batch=batch) for _ in range(batch.times) for check in checks]
    CheckRun.objects.bulk_create(rows)
    of_these = Check.objects.filter(pk__in=[check.pk for check in checks])
    # In order, so that two batches of the same checks do not wait for each other.
    list(of_these.select_for_update(no_key=True).order_by("pk").values_list("pk"))
    of_these.update(state=Check.State.RUNNING)


def _begin_next(*, waits: bool) -> bool:
    """Begin one run that waits, if one may; tells whether another may be looked for.

    Whoever begins holds the open batches meanwhile, so that two who come at once do not both find the same room. The
    batch with the fewest under way is next: a single run does not stand behind hundreds.
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
        CheckBatch.objects.filter(pk__in=over).update(ended_at=timezone.now())
        if not waiting or under_way.total() >= settings.HEDDLE.check_runs:
            return False
        next_batch = min(waiting, key=lambda pk: (under_way[pk], pk))
        _begin(_WITH_SOURCE.get(pk=waiting[next_batch]), batches[next_batch])
    return True


def _begin(run: CheckRun, batch: CheckBatch) -> None:
    """Have the request answered again, unless its check was dropped; what cannot be begun has ended, and says why."""
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
    except Exception as problem:  # one that nobody can begin must not keep all others waiting
        if not isinstance(problem, DomainError):
            logger.exception("check.not_begun", extra={"run": run.pk})
        judging.break_off(run.pk, problem.message if isinstance(problem, DomainError) else "It could not be begun.")


def _rerun(run: CheckRun, batch: CheckBatch) -> None:
    actor = actor_of_user(batch.created_by)
    require_admin(actor)
    source = thread_for(actor, run.of.thread.thread_id, Right.FORK)
    chosen = {"skills": batch.skills, "tools": batch.tools, "model_profile": batch.model_profile or None}
    again = {"message_sequence_num": run.of.message_sequence_num, **chosen}
    made = reruns.rerun(actor, source, RerunIn.model_validate(again))
    columns = ("forked_from_message_sequence_num", "model_profile", "available_skills")
    fork = Thread.objects.by_public_id(made.thread_id).only(*columns).get()
    if not CheckRun.objects.filter(of=run.of_id, batch=batch, fork__isnull=False).exists():  # the first one
        Check.objects.filter(pk=run.of_id).update(outcome_before=F("outcome"))
    run.fork, run.model_profile = fork, profiles.named(fork.model_profile).id
    run.skill_versions = _skill_versions(fork)
    run.save(update_fields=["fork", "model_profile", "skill_versions"])


def _skill_versions(fork: Thread) -> list[dict[str, Any]]:
    """What the agent of a run may load by itself, and what was taken up for it."""
    shown = lending.shown(calls_behind(fork.pk, fork.forked_from_message_sequence_num or 0))
    found = {**lending.kept(fork.available_skills or ()), **shown.offered, **shown.invoked}
    return [{name: getattr(skill, name) for name in ("skill_id", "name", "version")} for skill in found.values()]
