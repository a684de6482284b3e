"""One action on many reports: at once when they are few, by a worker when they are many.

Every report that stays as it was is named with its reason.
"""

import logging
import time
import traceback
from collections.abc import Callable, Sequence
from copy import copy
from datetime import timedelta
from functools import partial
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.authentication import actor_of_user
from accounts.rights import require_admin
from core import ids, jobs, notices
from core.actor import Actor
from core.db import anew
from core.errors import Conflict, DomainError, InvalidRequest, NotFound
from core.grammar import spelled
from core.wire import Exact
from feedback import renaming, triage, undoing
from feedback.deciding import RENAME, UNDO, UPDATE, Verb, verb_named
from feedback.models import Bulk, BulkFailure, TriageChange, UserFeedback
from feedback.querying import Query, matching, named, parse, understood
from feedback.wire_desk import MOST_TICKED

AT_ONCE = 200
"""More reports than these are left to a worker."""
CHUNK = 100
_LEASE = timedelta(seconds=60)
TASK = "feedback.bulk"
_NOT_OF_A_REPORT = (DomainError, OperationalError, InterfaceError)
"""What ends a whole chunk: its author may not go on, or the database is away or busy."""
logger = logging.getLogger("heddle.feedback")


def act_on_all(
    actor: Actor, verb: Verb, body: Exact, *, feedback_ids: Sequence[str] | None = None, query: str | None = None
) -> Bulk:
    """Do one thing to reports that were ticked, or to all that match a query now.

    Up to 200 it is done in one transaction when this returns; more are queued for a worker, and the row tells how far
    it is. What arrives later is not meant. Raises `InvalidRequest` for neither or both, or for a query with a problem.
    """
    require_admin(actor)
    if (feedback_ids is None) is (query is None):
        raise InvalidRequest("feedback_ids: give either feedback_ids or a query")
    if verb is UPDATE:
        raise InvalidRequest("verb: is not one of the desk's")
    bulk = Bulk(verb=verb.name, arguments=body.model_dump(mode="json", exclude_unset=True), created_by_id=actor.user_id)
    if feedback_ids is not None:
        if len(feedback_ids) > MOST_TICKED:
            raise InvalidRequest(f"feedback_ids: must be at most {MOST_TICKED}; use a query for more")
        ticked = {ids.key_of(feedback_id, ids.FEEDBACK) or feedback_id for feedback_id in feedback_ids}
        known = dict(UserFeedback.objects.filter(key__in=ticked).values_list("key", "pk"))
        bulk.chosen, bulk.total = sorted(known.values()), len(ticked)
        return _begin(actor, bulk, unknown=sorted(ticked - known.keys()))
    return _begin(actor, _of_query(actor, bulk, understood(query or "", field="query").canonical))


@anew
def change_label(
    actor: Actor, name: str, *, to: str | None = None, merge: bool = False, description: str | None = None
) -> tuple[renaming.Renaming, Bulk | None]:
    """Say what a label is for, and call it otherwise; None leaves.

    All its reports follow with a line of history each, and saved views that name it. Up to 200 reports do so in one
    transaction when this returns; more are left to a worker, and `label:` finds each of them under one of both names
    until then. A name that another label has is refused (`renaming.IsThere`) unless a `merge` was asked for. It stands
    in no undo: a renaming is renamed back, of a merge nobody knows what was whose. No bulk comes of it where the label
    keeps its name.
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
    """Take an action back (within 30 minutes), report by report; what somebody changed since stays, and is named.

    Where that was stopped it goes on with the rest.
    """
    require_admin(actor)
    with triage.named_reports_stay(), transaction.atomic():
        _hold(action)
        undoing.require_undoable(actor, action)
        _stop(Bulk.objects.filter(key=action))
        left = undoing.left_of(action)
        first, total = left.first(), left.count()
        after = first.pk - 1 if first else None
        return _begin(actor, Bulk(verb=UNDO, undoes=action, after=after, created_by_id=actor.user_id, total=total))


def cancel(actor: Actor, bulk_id: str) -> Bulk:
    """Stop a bulk that is still running; what it did stays, and can be undone."""
    bulk = bulk_for(actor, bulk_id)
    if not _stop(Bulk.objects.filter(pk=bulk.pk)):
        raise Conflict("It is over already.")
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
    """The actor's bulks that the desk tells of: those under way, and what ended while it can be undone. One query."""
    lately = Q(finished_at__gt=timezone.now() - undoing.WINDOW)
    return list(Bulk.objects.filter(Q(state__in=Bulk.OPEN) | lately, created_by=actor.user_id).order_by("id"))


def still_found(actor: Actor, bulk_id: str, query: Query) -> list[str]:
    """Ids of the reports that were ticked for the actor's bulk and that a query still finds."""
    own = Bulk.objects.filter(key=ids.key_of(bulk_id, ids.BULK) or "", created_by=actor.user_id).first()
    found = matching(actor, query).filter(pk__in=own.chosen or []) if own else UserFeedback.objects.none()
    return [report.feedback_id for report in found.only("key")]


def as_of() -> int:
    """The moment before a look at bulks, in milliseconds: of two pictures of them, the later one holds."""
    return time.time_ns() // 1_000_000


def advance(bulk_pk: int) -> None:
    """Carry a bulk to its end, chunk by chunk, each in a transaction of its own together with how far it came.

    A worker that dies costs the chunk it was at; the sweep sends another one, which goes on behind the last whole one.
    """
    if not _claim(bulk_pk):
        return
    try:
        while _advance_behind(_author(bulk_pk), bulk_pk):
            notices.publish(triage.NOTICE)
    except DomainError:  # its author is no admin any more
        _stop(Bulk.objects.filter(pk=bulk_pk))
    notices.publish(triage.NOTICE)


def sweep(*, orphans: bool = False) -> None:
    """Queue again what no worker is at; with `orphans` none is at any."""
    if orphans:
        Bulk.objects.filter(state=Bulk.State.RUNNING).update(lease_until=timezone.now())
    stuck = Q(state=Bulk.State.QUEUED, created__lt=timezone.now() - timedelta(seconds=10)) | Q(
        state=Bulk.State.RUNNING, lease_until__lt=timezone.now()
    )
    for pk in Bulk.objects.filter(stuck).values_list("pk", flat=True):
        jobs.enqueue(TASK, pk)


def _of_query(actor: Actor, bulk: Bulk, query: str) -> Bulk:
    """A bulk of all reports that match a query now."""
    bulk.query = query
    bulk.below = UserFeedback.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    bulk.total = matching(actor, parse(query)).order_by().count()
    return bulk


@anew
def _begin(actor: Actor, bulk: Bulk, *, unknown: Sequence[str] = ()) -> Bulk:
    bulk = copy(bulk)  # a second try begins with what was given
    with triage.named_reports_stay(), transaction.atomic():
        bulk.failed_count = len(unknown)
        bulk.state = Bulk.State.QUEUED if bulk.total > AT_ONCE else Bulk.State.RUNNING
        bulk.save()
        # Cut where they are told and not where they are looked for: the beginning of an id may be another report's.
        gone = [BulkFailure(bulk=bulk, feedback_key=key[:26], reason="There is no such report.") for key in unknown]
        BulkFailure.objects.bulk_create(gone)
        if bulk.state == Bulk.State.QUEUED:
            jobs.enqueue_on_commit(TASK, bulk.pk)
            return bulk
        while _advance_once(actor, bulk.pk, AT_ONCE):
            pass  # as many as are done at once, and a look whether there are more
        bulk.refresh_from_db()
        transaction.on_commit(lambda: notices.publish(triage.NOTICE))
    return bulk


def _hold(action: str) -> None:
    """Of two who take the same back at once, the second one finds that the first does. The chunk that a worker is at is
    waited for, and taken back with the others.

    What was no bulk is held by its reports, in the order in which they are held when it is taken back: by its changes,
    it would stand in the way of a submitter who takes a report back.
    """
    if not Bulk.objects.select_for_update(no_key=True).filter(key=action).values_list("pk"):
        changes = list(undoing.changes_of(action))
        undoing.hold_for(changes)
        reports = UserFeedback.objects.select_for_update(no_key=True)
        list(reports.filter(pk__in=[change.feedback_id for change in changes[:1]]).values_list("pk"))


def _claim(bulk_pk: int) -> bool:
    free = Q(state=Bulk.State.QUEUED) | Q(state=Bulk.State.RUNNING, lease_until__lt=timezone.now())
    claimed = Bulk.objects.filter(free, pk=bulk_pk).update(
        state=Bulk.State.RUNNING, lease_until=timezone.now() + _LEASE
    )
    return bool(claimed)


def _author(bulk_pk: int) -> Actor:
    """Whoever asked for it, with the right that they have now: raises `Unauthorized` where they have lost it."""
    actor = actor_of_user(Bulk.objects.select_related("created_by").get(pk=bulk_pk).created_by)
    require_admin(actor)
    return actor


def _stop(rows: QuerySet[Bulk]) -> bool:
    """End those that are not over; whether there was one."""
    ended = rows.filter(state__in=Bulk.OPEN).update(state=Bulk.State.CANCELLED, finished_at=timezone.now())
    if ended:
        transaction.on_commit(lambda: notices.publish(triage.NOTICE))
    return bool(ended)


def _advance_behind(actor: Actor, bulk_pk: int) -> bool:
    """One chunk of a worker's; whether more is left.

    Nobody waits for it who could be told of a defect, and it would be met again with each sweep. So a chunk that meets
    one is done again report by report, each in a transaction of its own, because some things are only noticed at the
    commit: those that have it are named, all others are done. Where all of them have it, it is none of the reports'.
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
    """Name the report that has a defect and leave it; False where there is none left that could have it."""
    with transaction.atomic():
        bulk = Bulk.objects.select_for_update().get(pk=bulk_pk)
        rows: QuerySet[Any, tuple[int, str]]
        if bulk.undoes:
            rows = undoing.changes_of(bulk.undoes, after=bulk.after or 0).values_list("pk", "feedback__key")
        else:
            rows = _rest(actor, bulk).order_by("pk").values_list("pk", "key")
        if bulk.state != Bulk.State.RUNNING or (found := rows.first()) is None:
            return False
        bulk.after, key = found
        logger.error("bulk.passed_by", extra={"feedback_id": ids.FEEDBACK + key, **_outcome(problem)})
        _left(bulk, key, "Something went wrong with this report; the server's log says where.")
        bulk.save()
    return True


def _outcome(problem: Exception) -> dict[str, str]:
    """What failed and where, without its words, which may hold what was said."""
    frame = traceback.extract_tb(problem.__traceback__)[-1]
    return {"kind": type(problem).__name__, "at": f"{frame.filename}:{frame.lineno}"}


@anew
def _advance_once(actor: Actor, bulk_pk: int, size: int) -> bool:
    """One chunk; whether more is left."""
    with transaction.atomic():
        bulk = Bulk.objects.select_for_update().get(pk=bulk_pk)
        if bulk.state != Bulk.State.RUNNING:
            return False
        chunk = _undone(actor, bulk, size) if bulk.undoes else _acted(actor, bulk, size)
        if chunk < size:
            bulk.state, bulk.finished_at, bulk.lease_until = Bulk.State.DONE, timezone.now(), None
            if bulk.verb == RENAME.name:
                renaming.finish(bulk)
        else:
            bulk.lease_until = timezone.now() + _LEASE
        bulk.save()
        return bulk.state == Bulk.State.RUNNING


def _acted(actor: Actor, bulk: Bulk, size: int) -> int:
    verb = RENAME if bulk.verb == RENAME.name else verb_named(bulk.verb)
    body = verb.takes.model_validate(bulk.arguments)
    triage.hold_for(body, lambda: _rest(actor, bulk).order_by("pk").values_list("pk", flat=True)[:size])
    found = list(
        _rest(actor, bulk)
        .select_for_update(of=("self",), no_key=True)
        .select_related("resolved_by")
        .order_by("pk")[:size]
    )

    def work(report: UserFeedback) -> None:
        subject = triage.subject_of(report)
        triage.apply(actor, subject, verb.name, verb.decide(actor, subject, body), action=bulk.key)

    for report in found:
        _counted(bulk, report.key, partial(work, report))
        bulk.after = report.pk
    return len(found)


def _undone(actor: Actor, bulk: Bulk, size: int) -> int:
    changes = list(undoing.changes_of(bulk.undoes or "", after=bulk.after or 0)[:size])
    undoing.hold_for(changes)

    def work(change: TriageChange) -> None:
        stayed = undoing.undo_one(actor, change, action=bulk.key)
        if stayed:
            raise Conflict(f"{undoing.columns_line(stayed)}: changed since, and left as it is")

    for change in changes:
        _counted(bulk, change.feedback.key, partial(work, change))
        bulk.after = change.pk
    return len(changes)


def _counted(bulk: Bulk, key: str, work: Callable[[], None]) -> None:
    """A refusal is that report's own and keeps no other from being done; verbs decide before they write."""
    try:
        work()
    except DomainError as problem:
        _left(bulk, key, problem.message)
    else:
        bulk.done_count += 1


def _left(bulk: Bulk, key: str, reason: str) -> None:
    bulk.failed_count += 1
    BulkFailure.objects.create(bulk=bulk, feedback_key=key, reason=reason[:300])


def _rest(actor: Actor, bulk: Bulk) -> QuerySet[UserFeedback]:
    """Reports still to be dealt with. Of a query, those that match now: what no longer does has been seen to."""
    rows = UserFeedback.objects.all()
    if bulk.chosen is not None:
        rows = rows.filter(pk__in=bulk.chosen)
    else:
        rows = matching(actor, parse(bulk.query or "")).filter(pk__lte=bulk.below)
    return rows.filter(pk__gt=bulk.after or 0)
