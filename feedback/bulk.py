"""One action on many reports: in the request if they are few, by a worker if they are many.

Every report that could not be changed is recorded with the reason.
"""

import logging
import time
import traceback
from collections.abc import Callable, Sequence
from copy import copy
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.authentication import actor_of_user
from accounts.rights import require_admin
from core import ids, jobs, notices, stopping
from core.actor import Actor
from core.db import anew
from core.errors import Conflict, DomainError, InvalidRequest, NotFound, Unavailable
from core.grammar import spelled
from core.prepared import Prepared, PreparedRow
from core.wire import Exact
from feedback import digesting, following, projecting, renaming, triage, undoing
from feedback.deciding import REDO, RENAME, UNDO, UPDATE, ResolvedAlready, Verb, require_possible, verb_named
from feedback.fixing import FIX
from feedback.models import Bulk, BulkFailure, Retraction, TriageChange, UserFeedback
from feedback.querying import Query, matching, named, parse, understood
from feedback.undo_chunk import Chunk
from feedback.wire_desk import MOST_TICKED

AT_ONCE = 200
"""Most reports that are changed in the request; more are left to a worker."""
CHUNK = 100
TASK = "feedback.bulk"
_NOT_OF_A_REPORT = (DomainError, OperationalError, InterfaceError)
"""Errors that end a whole chunk: its author lost the right, or the database is unavailable or busy."""
_NOT_OF_THE_DESK = {verb.name: verb for verb in (RENAME, FIX)}
"""Verbs of bulks that are no action of the desk."""
logger = logging.getLogger("heddle.feedback")


def act_on_all(
    actor: Actor, verb: Verb, body: Exact, *, feedback_ids: Sequence[str] | None = None, query: str | None = None
) -> Bulk:
    """Apply one action to ticked reports, or to all that match a query now.

    Up to 200 are done in one transaction when this returns; more are queued for a worker, and the row shows the
    progress. Reports that arrive later are not included, and the original of duplicates is left out. Raises
    `InvalidRequest` for neither or both, for an invalid query, and for arguments that fit no report.
    """
    require_admin(actor)
    require_either(feedback_ids, query)
    if verb is UPDATE:
        raise InvalidRequest("verb: is not an action of the desk")
    require_possible(actor, body)
    bulk = Bulk(verb=verb.name, arguments=body.model_dump(mode="json", exclude_unset=True), created_by_id=actor.user_id)
    if feedback_ids is not None:
        if len(feedback_ids) > MOST_TICKED:
            raise InvalidRequest(f"feedback_ids: must be at most {MOST_TICKED}; use a query for more")
        ticked = {report_key(place, feedback_id) for place, feedback_id in enumerate(feedback_ids)}
        ticked -= _originals(bulk)
        known = dict(UserFeedback.objects.filter(key__in=ticked).values_list("key", "pk"))
        bulk.chosen, bulk.total = sorted(known.values()), len(ticked)
        return _begin(actor, bulk, unknown=sorted(ticked - known.keys()))
    asked = understood(query or "", field="query")
    bulk.below = _latest()  # before the digest, which knows nothing of later reports
    if asked.is_digested:
        digesting.finish()
    return _begin(actor, _of_query(actor, bulk, asked.canonical))


@anew
def change_label(
    actor: Actor, name: str, *, to: str | None = None, merge: bool = False, description: str | None = None
) -> tuple[renaming.Renaming, Bulk | None]:
    """Rename, merge or describe a label; None leaves a value.

    All its reports follow with a history row each, and so do saved views that name it. Up to 200 reports are done in
    one transaction when this returns; more are left to a worker, and until then `label:` finds each of them under one
    of the two names. The name of another label is refused (`renaming.IsThere`) unless `merge` is true. It cannot be
    undone: a renaming can be renamed back, but after a merge nobody knows which report had which label. Returns no bulk
    if the name does not change.
    """
    require_admin(actor)
    with triage.named_reports_stay(), transaction.atomic():
        begun = renaming.begin(actor, name, to, merge=merge, description=description)
        if begun.is_nothing:
            return begun, None
        body = begun.body.model_dump(mode="json")
        bulk = Bulk(verb=RENAME.name, arguments=body, created_by_id=actor.user_id)
        return begun, _begin(actor, _of_query(actor, bulk, spelled(named("label", begun.label.name))))


@anew
def undo(actor: Actor, action: str) -> Bulk:
    """Undo an action (within 30 minutes), report by report; reports changed since stay as they are and are listed.

    A stopped undo continues with the rest. An undo is redone: what it took back is done again, now, by the actor.
    """
    require_admin(actor)
    with triage.named_reports_stay(), transaction.atomic():
        _hold(action)
        undoing.require_undoable(actor, action)
        _stop(Bulk.objects.filter(key=action))
        left = undoing.left_of(action)
        first, total = left.first(), left.count()
        bulk = Bulk(verb=REDO if undoing.is_undo(action) else UNDO, undoes=action, created_by_id=actor.user_id)
        bulk.after, bulk.total = first.pk - 1 if first else None, total
        bulk.arguments = {"origin": undoing.origin_of(action)}
        return _begin(actor, bulk)


def cancel(actor: Actor, bulk_id: str) -> Bulk:
    """Stop a running bulk; changes made so far stay and can be undone."""
    bulk = bulk_for(actor, bulk_id)
    if not _stop(Bulk.objects.filter(pk=bulk.pk)):
        raise Conflict("This bulk has already ended.")
    bulk.refresh_from_db()
    return bulk


def bulk_for(actor: Actor, bulk_id: str) -> Bulk:
    """A bulk by its id, for admins."""
    require_admin(actor)
    found = Bulk.objects.filter(key=ids.key_of(bulk_id, ids.BULK) or "").first()
    if found is None:
        raise NotFound.of("bulk", bulk_id[:80])
    return found


def shown(actor: Actor) -> list[Bulk]:
    """The actor's bulks that the desk shows: running ones, and ended ones that can still be undone. One query."""
    return _SHOWN.all(actor.user_id, timezone.now() - undoing.WINDOW)


def _shown(user_id: int, begin: datetime) -> QuerySet[Bulk]:
    is_shown = Q(state__in=Bulk.OPEN) | Q(finished_at__gt=begin)
    return Bulk.objects.filter(is_shown, created_by=user_id).order_by("id")


_SHOWN = PreparedRow(_shown, Bulk, int, datetime, without=("chosen",))


def is_running(actor: Actor) -> bool:
    """Whether a worker has a bulk of the actor to do."""
    return bool(_RUNNING.first(actor.user_id))


_RUNNING = Prepared(
    lambda user_id: Bulk.objects.filter(state__in=Bulk.OPEN, created_by=user_id).values_list("pk")[:1], int
)


def still_found(actor: Actor, bulk_id: str, query: Query) -> list[str]:
    """Ids of the reports ticked for the actor's bulk that a query still finds."""
    own = Bulk.objects.filter(key=ids.key_of(bulk_id, ids.BULK) or "", created_by=actor.user_id).first()
    found = matching(actor, query).filter(pk__in=own.chosen or []) if own else UserFeedback.objects.none()
    return [report.feedback_id for report in found.only("key")]


def as_of() -> int:
    """A timestamp in milliseconds, taken before bulks are read: of two states, the later one is current."""
    return time.time_ns() // 1_000_000


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
            notices.publish(triage.NOTICE)
            if stopping.has_begun():
                _hand_over(bulk_pk)
                return
    except Unavailable:  # the sweep goes on with it
        raise
    except DomainError:  # its author is no longer an admin
        _stop(Bulk.objects.filter(pk=bulk_pk))
    notices.publish(triage.NOTICE)


def sweep(*, orphans: bool = False) -> None:
    """Queue bulks again that no worker is running; with `orphans`, no worker is running any."""
    if orphans:
        Bulk.objects.filter(state=Bulk.State.RUNNING).update(lease_until=timezone.now())
    stuck = Q(state=Bulk.State.QUEUED, created__lt=timezone.now() - timedelta(seconds=10)) | Q(
        state=Bulk.State.RUNNING, lease_until__lt=timezone.now()
    )
    for pk in Bulk.objects.filter(stuck).values_list("pk", flat=True):
        jobs.enqueue(TASK, pk)


def require_either(feedback_ids: Sequence[str] | None, query: str | None) -> None:
    """Refuse both and neither, where several reports are chosen by their ids or by a query."""
    if (feedback_ids is None) is (query is None):
        raise InvalidRequest("feedback_ids: give either feedback_ids or a query")


def report_key(place: int, feedback_id: str) -> str:
    """The key in the id of a report that is the one at `place` of several; raises `InvalidRequest` for any other id."""
    key = ids.key_of(feedback_id, ids.FEEDBACK)
    if key is None:
        raise InvalidRequest.of(f"feedback_ids.{place}", f"{feedback_id[:80]} is no report id")
    return key


def _of_query(actor: Actor, bulk: Bulk, query: str) -> Bulk:
    """Prepare a bulk for all reports that match a query now."""
    bulk.query = query
    bulk.below = _latest() if bulk.below is None else bulk.below
    bulk.total = _rest(actor, bulk).order_by().count()
    return bulk


def _latest() -> int:
    return UserFeedback.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


@anew
def _begin(actor: Actor, bulk: Bulk, *, unknown: Sequence[str] = ()) -> Bulk:
    bulk = copy(bulk)  # a second try begins with what was given
    with triage.named_reports_stay(), transaction.atomic():
        bulk.failed_count = len(unknown)
        bulk.state = Bulk.State.QUEUED if bulk.total > AT_ONCE else Bulk.State.RUNNING
        bulk.save()
        # Ids are cut only for this message, not for the lookup: a cut id could match another report.
        retracted = set(Retraction.objects.filter(key__in=unknown).values_list("key", flat=True)) if unknown else ()
        BulkFailure.objects.bulk_create(
            BulkFailure(
                bulk=bulk,
                feedback_key=key[:26],
                reason=projecting.GONE if key in retracted else "There is no such report.",
            )
            for key in unknown
        )
        if bulk.state == Bulk.State.QUEUED:
            if bulk.verb != RENAME.name:
                renaming.hold_still(bulk.query or "")
            jobs.enqueue_on_commit(TASK, bulk.pk)
            return bulk
        while _advance_once(actor, bulk.pk, AT_ONCE):
            pass  # the reports, and then a check whether there are more
        bulk.refresh_from_db()
        triage.announce()
    return bulk


def _hold(action: str) -> None:
    """Lock an action before its undo, so that a second undo at the same time sees the first. A chunk that a worker is
    running is waited for, and undone with the others.

    An action that is not a bulk is locked by its reports, in the order in which the undo locks them. Locking its
    changes instead would block a submitter who retracts a report.
    """
    if not Bulk.objects.select_for_update(no_key=True).filter(key=action).values_list("pk"):
        changes = list(undoing.changes_of(action))
        undoing.hold_for(changes)
        reports = UserFeedback.objects.select_for_update(no_key=True)
        list(reports.filter(pk__in={change.feedback_id for change in changes}).order_by("pk").values_list("pk"))


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


def _stop(rows: QuerySet[Bulk]) -> bool:
    """Cancel those that have not ended; returns whether there were any."""
    ended = rows.filter(state__in=Bulk.OPEN).update(state=Bulk.State.CANCELLED, finished_at=timezone.now())
    if ended:
        triage.announce()
    return bool(ended)


def _advance_chunk(actor: Actor, bulk_pk: int) -> bool:
    """Run one chunk in a worker; returns whether more is left.

    An unexpected error would return with each sweep, and nobody waits who could see it. So the chunk is repeated report
    by report, each in its own transaction, because some errors occur only at the commit: reports that fail are
    recorded, all others are done. If all of them fail, the cause is not in the reports, and the bulk is stopped.
    """
    try:
        return _advance_once(actor, bulk_pk, CHUNK)
    except _NOT_OF_A_REPORT:
        raise
    except Exception as problem:
        logger.warning("bulk.chunk_failed", extra={"bulk": bulk_pk, **_outcome(problem)})
    passed_by = 0
    for _ in range(CHUNK):
        try:
            if not _advance_once(actor, bulk_pk, 1):
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
    _stop(Bulk.objects.filter(pk=bulk_pk))
    return False


def _pass_by(actor: Actor, bulk_pk: int, problem: Exception) -> bool:
    """Record the next report as failed and skip it; False if no report is left."""
    with transaction.atomic():
        bulk = Bulk.objects.select_for_update().get(pk=bulk_pk)
        rows: QuerySet[Any, tuple[int, str]]
        if bulk.undoes:
            rows = undoing.first_changes(bulk.undoes, after=bulk.after or 0).values_list("pk", "feedback__key")
        else:
            rows = _rest(actor, bulk).order_by("pk").values_list("pk", "key")
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


@anew
def _advance_once(actor: Actor, bulk_pk: int, size: int) -> bool:
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


def _acted(actor: Actor, bulk: Bulk, size: int) -> int:
    verb = _NOT_OF_THE_DESK.get(bulk.verb) or verb_named(bulk.verb)
    body = verb.takes.model_validate(bulk.arguments)
    # Chosen once: a report that comes to match while others are waited for is not locked with its duplicates.
    chosen = list(_rest(actor, bulk).order_by("pk").values_list("pk", flat=True)[:size])
    triage.hold_for(body, lambda: chosen)
    rows = UserFeedback.objects.select_for_update(of=("self",), no_key=True).select_related("resolved_by")
    found = list(rows.filter(pk__in=chosen).order_by("pk"))

    decide = verb.of_many(actor, found, body)

    def work(report: UserFeedback) -> None:
        subject = triage.subject_of(report)
        for name, decision in decide(subject):
            triage.apply(actor, subject, name, decision, action=bulk.key)

    # While it waited for their locks, others may have changed them, so that they no longer match.
    still = set(_rest(actor, bulk).filter(pk__in=[each.pk for each in found]).values_list("pk", flat=True))
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
    return UserFeedback.objects.filter(key=key, triage__duplicate_of__key__in=_originals(bulk)).exists()


def _left(bulk: Bulk, key: str, reason: str, *, is_as_wanted: bool = False) -> None:
    bulk.failed_count += 1
    BulkFailure.objects.create(bulk=bulk, feedback_key=key, reason=reason[:300], is_as_wanted=is_as_wanted)


def _rest(actor: Actor, bulk: Bulk) -> QuerySet[UserFeedback]:
    """Reports still to be processed. For a query, those that still match; others were handled by somebody else."""
    rows = UserFeedback.objects.all()
    if bulk.chosen is not None:
        rows = rows.filter(pk__in=bulk.chosen)
    else:
        rows = matching(actor, parse(bulk.query or "")).filter(pk__lte=bulk.below)
    rows = rows.filter(pk__gt=bulk.after or 0)
    return rows.exclude(key__in=originals) if (originals := _originals(bulk)) else rows


def _originals(bulk: Bulk) -> set[str]:
    """The key of the report that its reports become duplicates of, and that of its own original; none for other
    actions.
    """
    named = UserFeedback.objects.filter(key=ids.key_of(bulk.arguments.get("duplicate_of") or "", ids.FEEDBACK) or "")
    if bulk.verb != "duplicate" or (of := named.values_list("pk", "key").first()) is None:
        return set()
    return {of[1], *UserFeedback.objects.filter(pk=following.root_of(of[0])).values_list("key", flat=True)}
