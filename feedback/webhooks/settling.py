"""Settling events that are due: whether each still holds, and then a delivery for each webhook that it is for."""

import logging
import threading
from datetime import datetime, timedelta

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from core import jobs
from feedback.models import Bulk, TriageChange
from feedback.models.webhook import WebhookEvent
from feedback.webhooks.events import UPDATED
from feedback.webhooks.handing_out import hand_out, wanting
from feedback.webhooks.news import is_outdated, still_holds
from feedback.webhooks.outbox import SETTLE_DUE

logger = logging.getLogger("heddle.webhooks")
_AT_ONCE = 100
_settling = threading.Lock()
_is_asked = threading.Event()
"""Whether more may have become due since the job of this process looked."""


def settle(event_id: int) -> None:
    """Settle an event that is due, after the earlier ones of its report; of two concurrent calls, one does it.

    Its deliveries are created in the same transaction, so that it is settled with all of them or with none.
    """
    # Each event has a job of its own, and the later one may run first. An earlier one that is being settled just now is
    # waited for, so that a report's messages are created in the order of its events.
    earlier = WebhookEvent.objects.filter(
        report__events=event_id,
        pk__lt=event_id,
        settled_at=None,
        due_at__lte=timezone.now(),
    )
    for pk in [*earlier.order_by("pk").values_list("pk", flat=True), event_id]:
        _settle(pk)


def due() -> list[int]:
    """Events that are due, at most as many as one job settles: those of submitters and checks before those of triage,
    of which a bulk leaves thousands; each oldest first.
    """
    found = list[int]()
    for rows in due_events():
        found += rows.order_by("due_at", "id").values_list("pk", flat=True)[: _AT_ONCE - len(found)]
    return found


def due_events() -> list[QuerySet[WebhookEvent]]:
    """Events that are due, each kind in the order of its index: those of submitters and checks, and those of triage."""
    rows = WebhookEvent.objects.filter(settled_at=None, due_at__lte=timezone.now())
    # `in`, because Django writes NOT for a comparison with False, for which SQLite has no index.
    return [rows.filter(is_triage__in=[is_triage]) for is_triage in (False, True)]


def settle_due() -> None:
    """Settle what is due, in the order of `due`, in one job of a process, which goes on behind the other jobs.

    With a job for each event, the end of a large bulk would hold up all turns. An event that fails is left to the next
    sweep.
    """
    _is_asked.set()
    if not _settling.acquire(blocking=False):
        return
    try:
        _is_asked.clear()
        found = due()
        failed = [event_id for event_id in found if not _is_settled(event_id)]
    finally:
        _settling.release()
    if _is_asked.is_set() or len(found) == _AT_ONCE > len(failed):
        jobs.enqueue(SETTLE_DUE, 0)


def _settle(event_id: int) -> None:
    now = timezone.now()
    with transaction.atomic():
        waiting = WebhookEvent.objects.select_for_update(of=("self",)).select_related("report__thread", "actor")
        event = waiting.filter(pk=event_id, settled_at=None, due_at__lte=now).first()
        if event is None:
            return
        if event.is_triage and settings.HEDDLE.webhook_delay_seconds and (due_at := _held_until(event)) > now:
            WebhookEvent.objects.filter(pk=event.pk).update(due_at=due_at)
            return
        event.settled_at, event.is_told = now, still_holds(event)
        event.save(update_fields=["settled_at", "is_told"])
        if event.is_told:
            hand_out(event)
        elif event.is_triage and is_outdated(event):
            _correct(event, now)


def _held_until(event: WebhookEvent) -> datetime:
    """Until when the action of an event can be undone: a bulk as a whole, from its end, and not while it is undone."""
    own = TriageChange.objects.filter(feedback=event.report_id, at__lte=event.at).order_by("-pk").first()
    if own is None:
        return event.due_at
    delay = timedelta(seconds=settings.HEDDLE.webhook_delay_seconds)
    bulks = Bulk.objects.filter(Q(key=own.action) | Q(undoes=own.action, state__in=Bulk.OPEN))
    ends = bulks.values_list("finished_at", flat=True)
    return max((end or timezone.now()) + delay for end in ends) if ends else event.due_at


def _correct(event: WebhookEvent, now: datetime) -> None:
    """Tell what is so after an event that is not told, if anybody wants that."""
    update = WebhookEvent(name=UPDATED, report=event.report, actor=event.actor, is_triage=True, at=event.at)
    if wanting(update):
        update.due_at = update.settled_at = now
        update.is_told = True
        update.save(force_insert=True)
        hand_out(update)


def _is_settled(event_id: int) -> bool:
    try:
        settle(event_id)
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        logger.exception("webhook.event_failed", extra={"row": event_id})
        return False
    return True
