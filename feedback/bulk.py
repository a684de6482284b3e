"""One action on many reports: in the request if they are few, by a worker (`feedback.bulk_work`) if they are many."""

import time
from collections.abc import Sequence
from copy import copy
from datetime import datetime

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.rights import require_admin
from core import ids, jobs
from core.actor import Actor
from core.db import anew
from core.errors import Conflict, InvalidRequest, NotFound
from core.grammar import spelled
from core.prepared import Prepared, PreparedRow
from core.wire import Exact
from feedback import access, bulk_work, desk_notices, digesting, projecting, renaming, undoing
from feedback.deciding import REDO, RENAME, UNDO, UPDATE, Verb, require_possible
from feedback.models import Bulk, BulkFailure, Retraction, UserFeedback
from feedback.querying import Query, matching, term_of, understood
from feedback.wire_desk import MOST_TICKED

AT_ONCE = 200
"""Most reports that are changed in the request; more are left to a worker."""


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
        ticked -= bulk_work.originals(bulk)
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
    with access.named_reports_stay(), transaction.atomic():
        begun = renaming.begin(actor, name, to, merge=merge, description=description)
        if begun.is_nothing:
            return begun, None
        body = begun.body.model_dump(mode="json")
        bulk = Bulk(verb=RENAME.name, arguments=body, created_by_id=actor.user_id)
        return begun, _begin(actor, _of_query(actor, bulk, spelled(term_of("label", begun.label.name))))


@anew
def undo(actor: Actor, action: str) -> Bulk:
    """Undo an action (within 30 minutes), report by report; reports changed since stay as they are and are listed.

    A stopped undo continues with the rest. An undo is redone: what it took back is done again, now, by the actor.
    """
    require_admin(actor)
    with access.named_reports_stay(), transaction.atomic():
        _hold(action)
        undoing.require_undoable(actor, action)
        bulk_work.stop(Bulk.objects.filter(key=action))
        left = undoing.left_of(action)
        first, total = left.first(), left.count()
        bulk = Bulk(verb=REDO if undoing.is_undo(action) else UNDO, undoes=action, created_by_id=actor.user_id)
        bulk.after, bulk.total = first.pk - 1 if first else None, total
        bulk.arguments = {"origin": undoing.origin_of(action)}
        return _begin(actor, bulk)


def cancel(actor: Actor, bulk_id: str) -> Bulk:
    """Stop a running bulk; changes made so far stay and can be undone."""
    bulk = bulk_for(actor, bulk_id)
    if not bulk_work.stop(Bulk.objects.filter(pk=bulk.pk)):
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
    bulk.total = bulk_work.rest(actor, bulk).order_by().count()
    return bulk


def _latest() -> int:
    return UserFeedback.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


@anew
def _begin(actor: Actor, bulk: Bulk, *, unknown: Sequence[str] = ()) -> Bulk:
    bulk = copy(bulk)  # a second try begins with what was given
    with access.named_reports_stay(), transaction.atomic():
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
            jobs.enqueue_on_commit(bulk_work.TASK, bulk.pk)
            return bulk
        while bulk_work.advance_once(actor, bulk.pk, AT_ONCE):
            pass  # the reports, and then a check whether there are more
        bulk.refresh_from_db()
        desk_notices.announce()
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
        list(access.locked({change.feedback_id for change in changes}).values_list("pk"))
