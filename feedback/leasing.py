"""Who has a report open. A lease tells others for two minutes; it never keeps anybody from saving."""

from collections.abc import Iterable
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from core import notices
from core.actor import Actor
from core.prepared import PreparedInsert
from feedback import triage
from feedback.models import Lease

LEASE = timedelta(minutes=2)
_LEASES = PreparedInsert(Lease, unique=("feedback",), update=("holder", "until"))


def hold(actor: Actor, feedback_id: str) -> str | None:
    """Take or renew a lease; the name of whoever holds it while it is somebody else's, who then keeps it."""
    report = triage.report_for(actor, feedback_id)
    now = timezone.now()
    other = Lease.objects.filter(feedback=report, until__gt=now).exclude(holder=actor.user_id).select_related("holder")
    if held := other.first():
        return held.holder.display_name
    is_new = not Lease.objects.filter(feedback=report, until__gt=now).exists()
    # Two who come at the same moment: the later statement wins, and the next look of the earlier one tells them.
    with triage.named_reports_stay(), transaction.atomic():
        _LEASES.insert(Lease(feedback=report, holder_id=actor.user_id, until=now + LEASE))
    if is_new:
        notices.publish(triage.NOTICE)
    return None


def release(actor: Actor, feedback_id: str) -> None:
    """Give a lease back, if it is one's own."""
    report = triage.report_for(actor, feedback_id)
    if Lease.objects.filter(feedback=report, holder=actor.user_id).delete()[0]:
        notices.publish(triage.NOTICE)


def present(actor: Actor) -> dict[str, str]:
    """Who else has what open now: names by report id. One query."""
    rows = Lease.objects.filter(until__gt=timezone.now()).exclude(holder=actor.user_id)
    return {
        row.feedback.feedback_id: row.holder.display_name for row in rows.select_related("holder", "feedback")[:200]
    }


def holders(actor: Actor, report_pks: Iterable[int]) -> dict[int, str]:
    """Who else has these reports open, by row id. One query."""
    rows = Lease.objects.filter(feedback__in=list(report_pks), until__gt=timezone.now()).exclude(holder=actor.user_id)
    return {row.feedback_id: row.holder.display_name for row in rows.select_related("holder")}
