"""How a bulk is carried out: chunk by chunk, each in one transaction with the progress, by whoever has the lease.

Every report that could not be changed is recorded with the reason.
"""

import logging
import time
import traceback
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.authentication import actor_of_user
from accounts.rights import require_admin
from core import ids, jobs, stopping
from core.actor import Actor
from core.db import anew
from core.errors import Conflict, DomainError, Unavailable
from feedback import access, desk_notices, digesting, following, renaming, triage, undoing
from feedback.deciding import REDO, RENAME, ResolvedAlready, verb_named
from feedback.fixing import FIX
from feedback.models import Bulk, BulkFailure, TriageChange, UserFeedback
from feedback.querying import matching, parse
from feedback.undo_chunk import Chunk

CHUNK = 100
TASK = "feedback.bulk"
_NOT_OF_A_REPORT = (DomainError, OperationalError, InterfaceError)
"""Errors that end a whole chunk: its author lost the right, or the database is unavailable or busy."""
_NOT_OF_THE_DESK = {verb.name: verb for verb in (RENAME, FIX)}
"""Verbs of bulks that are no action of the desk."""
logger = logging.getLogger("heddle.feedback")


def advance(bulk_pk: int) -> None:
    """Run a bulk to its end, in chunks, each in its own transaction together with the progress.

    If a worker dies, only its current chunk is lost; the sweep queues the bulk again, and it continues after the last
    complete chunk. A process that was told to stop begins no further one: the bulk is queued for another process.
    """
    if stopping.has_begun() or not _claim(bulk_pk):
        return
    query = Bulk.objects.values_list("query", flat=True).get(pk=bulk_pk)
    is_digested = parse(query or "").is_digested
    try:
        while True:
            if is_digested:
                digesting.finish(_lease_end().timestamp() - time.time())
            if not _advance_chunk(_author(bulk_pk), bulk_pk):
                break
            desk_notices.publish()
            if stopping.has_begun():
                _hand_over(bulk_pk)
                return
    except Unavailable:  # the sweep goes on with it
        raise
    except DomainError:  # its author is no longer an admin
        stop(Bulk.objects.filter(pk=bulk_pk))
    desk_notices.publish()


def sweep(*, orphans: bool = False) -> None:
    """Queue bulks again that no worker is running; with `orphans`, no worker is running any."""
    if orphans:
        Bulk.objects.filter(state=Bulk.State.RUNNING).update(lease_until=timezone.now())
    stuck = Q(state=Bulk.State.QUEUED, created__lt=timezone.now() - timedelta(seconds=10)) | Q(
        state=Bulk.State.RUNNING, lease_until__lt=timezone.now()
    )
    for pk in Bulk.objects.filter(stuck).values_list("pk", flat=True):
        jobs.enqueue(TASK, pk)


def stop(rows: QuerySet[Bulk]) -> bool:
    """Cancel those that have not ended; returns whether there were any."""
    ended = rows.filter(state__in=Bulk.OPEN).update(state=Bulk.State.CANCELLED, finished_at=timezone.now())
    if ended:
        desk_notices.announce()
    return bool(ended)


@anew
def advance_once(actor: Actor, bulk_pk: int, size: int) -> bool:
    """Run one chunk of at most `size`; returns whether more is left."""
    with transaction.atomic():
        bulk = Bulk.objects.select_for_update().get(pk=bulk_pk)
        if bulk.state != Bulk.State.RUNNING:
            return False
        chunk = _undone(actor, bulk, size) if bulk.undoes else _acted(actor, bulk, size)
        bulk.total = max(bulk.total, bulk.done_count + bulk.failed_count)  # others came to match since the click
        if chunk < size:
            bulk.state, bulk.finished_at, bulk.lease_until = Bulk.State.DONE, timezone.now(), None
            if bulk.verb == RENAME.name:
                renaming.finish(bulk)
        else:
            bulk.lease_until = _lease_end()
        bulk.save()
        return bulk.state == Bulk.State.RUNNING


def rest(actor: Actor, bulk: Bulk) -> QuerySet[UserFeedback]:
    """Reports still to be processed. For a query, those that still match; others were handled by somebody else."""
    rows = UserFeedback.objects.all()
    if bulk.chosen is not None:
        rows = rows.filter(pk__in=bulk.chosen)
    else:
        rows = matching(actor, parse(bulk.query or "")).filter(pk__lte=bulk.below)
    rows = rows.filter(pk__gt=bulk.after or 0)
    return rows.exclude(key__in=named) if (named := originals(bulk)) else rows


def originals(bulk: Bulk) -> set[str]:
    """The key of the report that its reports become duplicates of, and that of its own original; none for other
    actions.
    """
    named = UserFeedback.objects.filter(key=ids.key_of(bulk.arguments.get("duplicate_of") or "", ids.FEEDBACK) or "")
    if bulk.verb != "duplicate" or (of := named.values_list("pk", "key").first()) is None:
        return set()
    return {of[1], *UserFeedback.objects.filter(pk=following.root_of(of[0])).values_list("key", flat=True)}


def _claim(bulk_pk: int) -> bool:
    free = Q(state=Bulk.State.QUEUED) | Q(state=Bulk.State.RUNNING, lease_until__lt=timezone.now())
    claimed = Bulk.objects.filter(free, pk=bulk_pk).update(state=Bulk.State.RUNNING, lease_until=_lease_end())
    return bool(claimed)


def _hand_over(bulk_pk: int) -> None:
    """Let another process claim a running bulk, at once or with the sweep."""
    Bulk.objects.filter(pk=bulk_pk, state=Bulk.State.RUNNING).update(lease_until=timezone.now())
    jobs.enqueue(TASK, bulk_pk)


def _lease_end() -> datetime:
    return timezone.now() + timedelta(seconds=settings.HEDDLE.lease_seconds)


def _author(bulk_pk: int) -> Actor:
    """The bulk's author with their current rights; raises `Unauthorized` if they are no longer an admin."""
    actor = actor_of_user(Bulk.objects.select_related("created_by").get(pk=bulk_pk).created_by)
    require_admin(actor)
    return actor


def _advance_chunk(actor: Actor, bulk_pk: int) -> bool:
    """Run one chunk in a worker; returns whether more is left.

    An unexpected error would return with each sweep, and nobody waits who could see it. So the chunk is repeated report
    by report, each in its own transaction, because some errors occur only at the commit: reports that fail are
    recorded, all others are done. If all of them fail, the cause is not in the reports, and the bulk is stopped.
    """
    try:
        return advance_once(actor, bulk_pk, CHUNK)
    except _NOT_OF_A_REPORT:
        raise
    except Exception as problem:
        logger.warning("bulk.chunk_failed", extra={"bulk": bulk_pk, **_outcome(problem)})
    passed_by = 0
    for _ in range(CHUNK):
        try:
            if not advance_once(actor, bulk_pk, 1):
                return False
        except _NOT_OF_A_REPORT:
            raise
        except Exception as problem:
            if not _pass_by(actor, bulk_pk, problem):
                break
            passed_by += 1
    else:
        if passed_by < CHUNK:
            return True
    stop(Bulk.objects.filter(pk=bulk_pk))
    return False


def _pass_by(actor: Actor, bulk_pk: int, problem: Exception) -> bool:
    """Record the next report as failed and skip it; False if no report is left."""
    with transaction.atomic():
        bulk = Bulk.objects.select_for_update().get(pk=bulk_pk)
        rows: QuerySet[Any, tuple[int, str]]
        if bulk.undoes:
            rows = undoing.first_changes(bulk.undoes, after=bulk.after or 0).values_list("pk", "feedback__key")
        else:
            rows = rest(actor, bulk).order_by("pk").values_list("pk", "key")
        if bulk.state != Bulk.State.RUNNING or (found := rows.first()) is None:
            return False
        bulk.after, key = found
        logger.error("bulk.passed_by", extra={"feedback_id": ids.FEEDBACK + key, **_outcome(problem)})
        _left(bulk, key, "Unexpected error with this report; see the server's log.")
        bulk.save()
    return True


def _outcome(problem: Exception) -> dict[str, str]:
    """The kind and place of an error, without its message, which may contain users' texts."""
    frame = traceback.extract_tb(problem.__traceback__)[-1]
    return {"kind": type(problem).__name__, "at": f"{frame.filename}:{frame.lineno}"}


def _acted(actor: Actor, bulk: Bulk, size: int) -> int:
    verb = _NOT_OF_THE_DESK.get(bulk.verb) or verb_named(bulk.verb)
    body = verb.takes.model_validate(bulk.arguments)
    # Chosen once: a report that comes to match while others are waited for is not locked with its duplicates.
    chosen = list(rest(actor, bulk).order_by("pk").values_list("pk", flat=True)[:size])
    triage.hold_for(body, lambda: chosen)
    found = list(access.locked(chosen, "resolved_by"))

    decide = verb.of_many(actor, found, body)

    def work(report: UserFeedback) -> None:
        subject = triage.subject_of(report)
        for name, decision in decide(subject):
            triage.apply(actor, subject, name, decision, action=bulk.key)

    # While it waited for their locks, others may have changed them, so that they no longer match.
    still = set(rest(actor, bulk).filter(pk__in=[each.pk for each in found]).values_list("pk", flat=True))
    for report in found:
        if report.pk in still:
            _counted(bulk, report.key, partial(work, report))
    bulk.after = chosen[-1] if chosen else bulk.after
    return len(chosen)


def _undone(actor: Actor, bulk: Bulk, size: int) -> int:
    action = bulk.undoes or ""
    firsts = undoing.first_changes(action, after=bulk.after or 0).values_list("pk", "feedback")[:size]
    reached = {report: pk for pk, report in firsts}
    changes = undoing.changes_to_undo(action, reached)
    undoing.hold_for(changes)
    held = Chunk(changes)

    back = undoing.redo_one if bulk.verb == REDO else undoing.undo_one

    def work(of_report: Sequence[tuple[TriageChange, TriageChange]]) -> None:
        stayed = [column for change, now in of_report for column in back(actor, change, now, held, action=bulk.key)]
        if stayed:
            raise Conflict(f"{undoing.columns_line(stayed)}: changed since, so not {bulk.verb}ne")

    # An action may have changed a report more than once: what is counted are reports.
    of_reports: dict[str, list[tuple[TriageChange, TriageChange]]] = {}
    for change, now in zip(changes, renaming.followed(changes), strict=True):
        of_reports.setdefault(change.feedback.key, []).append((change, now))
    for key, of_report in of_reports.items():
        _counted(bulk, key, partial(work, of_report))
    undoing.forget_labels(held)
    bulk.after = max(reached.values(), default=bulk.after)
    return len(reached)


def _counted(bulk: Bulk, key: str, work: Callable[[], None]) -> None:
    """Run one report and count it. A refusal concerns only that report, because verbs decide before they write."""
    try:
        work()
    except DomainError as problem:
        _left(bulk, key, problem.message, is_as_wanted=_is_as_wanted(bulk, key, problem))
    else:
        bulk.done_count += 1


def _is_as_wanted(bulk: Bulk, key: str, problem: DomainError) -> bool:
    """Whether the refused report already was what the action makes of it."""
    if not isinstance(problem, ResolvedAlready):
        return False
    if bulk.verb != "duplicate":
        return bulk.verb in ("resolve", FIX.name)
    return UserFeedback.objects.filter(key=key, triage__duplicate_of__key__in=originals(bulk)).exists()


def _left(bulk: Bulk, key: str, reason: str, *, is_as_wanted: bool = False) -> None:
    bulk.failed_count += 1
    BulkFailure.objects.create(bulk=bulk, feedback_key=key, reason=reason[:300], is_as_wanted=is_as_wanted)
