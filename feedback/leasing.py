"""Presence: who has a report open. A lease is shown to others for two minutes; it never prevents saving."""

from collections.abc import Iterable
from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from core import notices
from core.actor import Actor
from core.prepared import PreparedInsert
from feedback import triage
from feedback.models import Lease

LEASE = timedelta(minutes=2)
_LEASES = PreparedInsert(Lease, unique=("feedback", "holder"), update=("until",))


def hold(actor: Actor, feedback_id: str) -> str | None:
    """Take or renew a lease; returns the name of another admin who has the report open, of several the first."""
    report = triage.report_for(actor, feedback_id)
    now = timezone.now()
    there = Lease.objects.filter(feedback=report)
    there.filter(until__lte=now).delete()  # after expiry, a returning admin is last in order
    is_new = not there.filter(holder=actor.user_id).exists()
    with triage.named_reports_stay(), transaction.atomic():
        _LEASES.insert(Lease(feedback=report, holder_id=actor.user_id, until=now + LEASE))
    if is_new:
        notices.publish(triage.NOTICE)
    return holders(actor, [report.pk]).get(report.pk)


def release(actor: Actor, feedback_id: str) -> None:
    """Release the actor's lease, if there is one."""
    report = triage.report_for(actor, feedback_id)
    if Lease.objects.filter(feedback=report, holder=actor.user_id).delete()[0]:
        notices.publish(triage.NOTICE)


def present(actor: Actor) -> dict[str, str]:
    """Names of others who have reports open now, by report id. One query."""
    return {
        row.feedback.feedback_id: row.holder.display_name for row in _others(actor).select_related("feedback")[:200]
    }


def holders(actor: Actor, report_pks: Iterable[int]) -> dict[int, str]:
    """Names of others who have these reports open, by row id. One query."""
    rows = _others(actor).filter(feedback__in=list(report_pks))
    return {row.feedback_id: row.holder.display_name for row in rows}


def _others(actor: Actor) -> QuerySet[Lease]:
    """The leases of others, latest first, so that in a dict the earliest of a report wins."""
    rows = Lease.objects.filter(until__gt=timezone.now()).exclude(holder=actor.user_id)
    return rows.select_related("holder").order_by("-pk")
