"""Presence: who has a report open. A lease is shown to others for two minutes; it never prevents saving."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import display_name
from core import ids
from core.actor import Actor
from core.prepared import Prepared
from core.prepared_writes import PreparedInsert
from feedback import access, desk_notices
from feedback.models import Lease

LEASE = timedelta(minutes=2)
_LEASES = PreparedInsert(Lease, unique=("feedback", "holder"), update=("until",))


def take(actor: Actor, feedback_id: str) -> str | None:
    """Take or renew a lease; returns the name of another admin who has the report open, of several the first."""
    report = access.report_for(actor, feedback_id)
    now = timezone.now()
    there = Lease.objects.filter(feedback=report)
    there.filter(until__lte=now).delete()  # after expiry, a returning admin is last in order
    is_new = not there.filter(holder=actor.user_id).exists()
    with access.named_reports_stay(), transaction.atomic():
        _LEASES.insert(Lease(feedback=report, holder_id=actor.user_id, until=now + LEASE))
    if is_new:
        desk_notices.publish()
    return holders(actor).get(report.pk)


def release(actor: Actor, feedback_id: str) -> None:
    """Release the actor's lease, if there is one."""
    report = access.report_for(actor, feedback_id)
    if Lease.objects.filter(feedback=report, holder=actor.user_id).delete()[0]:
        desk_notices.publish()


def present(actor: Actor) -> dict[str, str]:
    """Names of others who have reports open now, by report id. One query."""
    return {ids.FEEDBACK + key: name for _, key, name in _others(actor)}


def holders(actor: Actor) -> dict[int, str]:
    """Names of others who have reports open now, by row id. One query."""
    return {pk: name for pk, _, name in _others(actor)}


def held(actor: Actor) -> set[int]:
    """The reports (row ids) that the actor has open. One query."""
    return set(Lease.objects.filter(holder=actor.user_id, until__gt=timezone.now()).values_list("feedback", flat=True))


def _others(actor: Actor) -> list[tuple[int, str, str]]:
    """Reports (row id and key) and who has them open, latest first, so that in a dict the earliest of a report wins.

    There are as many as open windows of admins.
    """
    rows = _OTHERS.rows(actor.user_id, timezone.now())
    return [(pk, key, display_name(name, email)) for pk, key, name, email in rows]


def _leases_of_others(user_id: int, now: datetime) -> QuerySet[Lease, Any]:
    rows = Lease.objects.filter(until__gt=now).exclude(holder=user_id).order_by("-pk")
    return rows.values_list("feedback", "feedback__key", "holder__name", "holder__email")


_OTHERS = Prepared(_leases_of_others, int, datetime)
