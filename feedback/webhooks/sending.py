"""Sending deliveries: one worker at a time per webhook, what submitters did first, else in the order of the events.

The database row is the source of truth. A worker holds a webhook by a lease and stores the result after each attempt;
if it dies in between, the delivery is unchanged and sent again with the same `webhook-id`. A failure ends the round:
other messages to that webhook wait for the next sweep, so a server that hangs costs one timeout, not one per message. A
process uses at most half of its worker threads for sending, so that turns continue. One that was told to stop begins no
further message; another process, or the next one, goes on.
"""

import logging
import random
import threading
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import DateTimeField, F, Q, QuerySet, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from core import jobs, outbound, stopping
from core.errors import DomainError
from feedback.models.webhook import WebhookAttempt, WebhookDelivery, WebhookEndpoint, WebhookEvent
from feedback.webhooks import audience, handing_out, outbox, retractions, settling, signing
from feedback.webhooks.events import RETRACTED

logger = logging.getLogger("heddle.webhooks")
State = WebhookDelivery.State
SAME_HEADERS = {"Content-Type": "application/json", "User-Agent": f"Heddle/{settings.VERSION}"}
KEPT_BYTES = 2048
_GONE = 410
_PRUNED_AT_ONCE = 1000
_slots = threading.BoundedSemaphore(max(1, settings.HEDDLE.turns // 2))


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one attempt."""

    milliseconds: int
    status: int | None = None
    error: str = ""
    response: str = ""

    @property
    def is_success(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


def deliver(endpoint_id: int) -> None:
    """Send a webhook its due messages one by one. Does nothing if another worker is doing it or no slot is free.

    Then it is the turn of one that found no slot meanwhile. In a process that was told to stop, what is left is queued
    once: the embedded worker would take it again and again.
    """
    if stopping.has_begun() or not _slots.acquire(blocking=False):
        return
    try:
        while _round(endpoint_id):
            pass
    finally:
        _slots.release()
    if waiting := _waiting():
        jobs.enqueue(handing_out.DELIVER, waiting)


def sweep(*, orphans: bool = False) -> int:
    """Queue due events and webhooks with due messages, and delete old rows; returns the number of webhooks.

    `orphans`: this is the only process and has just started, so nothing is being sent and all leases are stale.
    """
    if orphans:
        WebhookEndpoint.objects.exclude(lease_until=None).update(lease_until=None)
    if settling.due():
        jobs.enqueue(outbox.SETTLE_DUE, 0)
    waiting = _due().values("endpoint")
    # Slots are few, and a server that hangs occupies one for long: so working webhooks come first, and of those that
    # fail the one that was tried longest ago, which may have recovered.
    found = WebhookEndpoint.objects.filter(pk__in=waiting).order_by(F("failed_at").asc(nulls_first=True), "pk")
    endpoints = list(found.values_list("pk", flat=True))
    for endpoint_id in endpoints:
        jobs.enqueue(handing_out.DELIVER, endpoint_id)
    _forget()
    return len(endpoints)


def _round(endpoint_id: int) -> bool:
    """Lease the webhook and send what is due; returns whether more became due while the lease was released."""
    lease = _claimed(endpoint_id)
    if lease is None:
        return False
    try:
        while not stopping.has_begun() and (delivery := _next(endpoint_id)):
            lease = _renewed(endpoint_id, lease)
            if lease is None or not _sent(delivery, lease):
                return False
    finally:
        _released(endpoint_id, lease)
    # A queue message that arrived while the lease was held did nothing.
    return not stopping.has_begun() and _due().filter(endpoint=endpoint_id).exists()


def _claimed(endpoint_id: int) -> datetime | None:
    is_free = Q(lease_until=None) | Q(lease_until__lt=timezone.now())
    return _leased(WebhookEndpoint.objects.filter(is_free, pk=endpoint_id, is_enabled=True))


def _renewed(endpoint_id: int, lease: datetime) -> datetime | None:
    return _leased(WebhookEndpoint.objects.filter(pk=endpoint_id, lease_until=lease))


def _released(endpoint_id: int, lease: datetime | None) -> None:
    if lease is not None:
        WebhookEndpoint.objects.filter(pk=endpoint_id, lease_until=lease).update(lease_until=None)


def _leased(rows: QuerySet[WebhookEndpoint]) -> datetime | None:
    seconds = settings.HEDDLE.webhook_timeout_seconds + settings.HEDDLE.lease_seconds
    until = timezone.now() + timedelta(seconds=seconds)
    return until if rows.update(lease_until=until) else None


def _due() -> QuerySet[WebhookDelivery]:
    return WebhookDelivery.objects.filter(state=State.PENDING, next_at__lte=timezone.now(), endpoint__is_enabled=True)


def _waiting() -> int | None:
    """The webhook with the oldest due message that nobody is sending; a failing one waits for the sweep."""
    is_free = Q(endpoint__lease_until=None) | Q(endpoint__lease_until__lt=timezone.now())
    rows = _due().filter(is_free, endpoint__failing_since=None)
    return rows.order_by("next_at", "pk").values_list("endpoint", flat=True).first()


def _next(endpoint_id: int) -> WebhookDelivery | None:
    rows = _due().filter(endpoint=endpoint_id).select_related("endpoint__owner", "event__report__thread")
    return rows.order_by("-goes_first", "next_at", "pk").first()


def _sent(delivery: WebhookDelivery, lease: datetime) -> bool:
    """Make one attempt and store the result; False if it failed.

    If the lease was lost meanwhile, only the attempt is stored: what became of the message, the other worker knows.

    Messages the owner may not receive are dropped. If they may receive nothing at all, the webhook is disabled.
    """
    if audience.audience_of_endpoint(delivery.endpoint) is None:
        disable(delivery.endpoint, "not_allowed", "Its owner may no longer receive this org's reports.")
        return False
    if not audience.may_be_told(delivery):
        _settled(delivery, State.DROPPED)
        return True
    outcome = _attempt(delivery)
    with transaction.atomic():
        held = WebhookDelivery.objects.select_for_update().filter(pk=delivery.pk).only("next_at").first()
        if held is None:
            return False  # deleted meanwhile, together with its webhook
        _noted(delivery, outcome)
        is_ours = WebhookEndpoint.objects.filter(pk=delivery.endpoint_id, lease_until=lease).exists()
        # One that was replayed meanwhile is sent again with all its retries.
        if is_ours and held.next_at == delivery.next_at:
            _concluded(delivery, outcome)
    logger.info(
        "webhook.attempted",
        extra={
            "webhook": delivery.endpoint.webhook_id,
            "delivery": delivery.delivery_id,
            "status": outcome.status,
            "ms": outcome.milliseconds,
            "state": delivery.state,
        },
    )
    return outcome.is_success


def _attempt(delivery: WebhookDelivery) -> Outcome:
    at, seconds = timezone.now(), settings.HEDDLE.webhook_timeout_seconds
    headers = SAME_HEADERS | signing.headers(delivery.endpoint, delivery.message_id, at, delivery.body)
    try:
        answer = outbound.send(
            "POST",
            delivery.endpoint.url,
            content=delivery.body.encode(),
            headers=headers,
            seconds=seconds,
            limit=KEPT_BYTES,
        )
    except DomainError as problem:
        spent = timezone.now() - at
        return Outcome(round(spent.total_seconds() * 1000), error=problem.reason[:300])
    error = "Redirects are not followed." if 300 <= answer.status < 400 else ""
    # PostgreSQL cannot store NUL.
    told = answer.body.decode(errors="replace").replace("\x00", "\ufffd")
    return Outcome(answer.milliseconds, answer.status, error, told)


def _noted(delivery: WebhookDelivery, outcome: Outcome) -> None:
    """Store the attempt."""
    WebhookAttempt.objects.create(
        delivery=delivery,
        milliseconds=outcome.milliseconds,
        status=outcome.status,
        error=outcome.error,
        response=outcome.response,
    )


def _concluded(delivery: WebhookDelivery, outcome: Outcome) -> None:
    """Update the delivery and its webhook after an attempt."""
    now, endpoint = timezone.now(), delivery.endpoint
    delivery.tries += 1
    if outcome.is_success:
        _settled(delivery, State.DELIVERED)
        failing = WebhookEndpoint.objects.filter(pk=endpoint.pk).exclude(failing_since=None)
        failing.update(failing_since=None, failed_at=None)
        return
    pauses = settings.HEDDLE.webhook_retry_seconds
    if delivery.tries > len(pauses):
        _settled(delivery, State.FAILED)
    else:
        # Jitter, so that receivers that failed together are not retried together.
        pause = pauses[delivery.tries - 1] * random.uniform(1, 1.2)  # noqa: S311
        delivery.next_at = now + timedelta(seconds=pause)
        delivery.save(update_fields=["tries", "next_at"])
    since = Coalesce("failing_since", Value(now, output_field=DateTimeField()))
    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(failing_since=since, failed_at=now)
    if outcome.status == _GONE:
        disable(endpoint, "gone", "It responded 410 Gone.")
    elif endpoint.failing_since and now - endpoint.failing_since > _patience():
        disable(endpoint, "failing", f"No message was delivered since {endpoint.failing_since:%d %B %Y %H:%M} UTC.")


def disable(endpoint: WebhookEndpoint, code: str, reason: str) -> None:
    """Disable a webhook until somebody enables it again; its due messages wait. The log gets the code of the reason."""
    WebhookEndpoint.objects.filter(pk=endpoint.pk, is_enabled=True).update(
        is_enabled=False, disabled_at=timezone.now(), disabled_reason=reason
    )
    logger.warning("webhook.disabled", extra={"webhook": endpoint.webhook_id, "code": code})


def _settled(delivery: WebhookDelivery, state: State) -> None:
    delivery.state, delivery.settled_at = state, timezone.now()
    columns = {name: getattr(delivery, name) for name in ("state", "settled_at", "tries")}
    WebhookDelivery.objects.filter(pk=delivery.pk).update(**columns)  # not saved: it may be deleted meanwhile


def _patience() -> timedelta:
    return timedelta(days=settings.HEDDLE.webhook_disable_days)


def _forget() -> None:
    """Delete rows older than the log's retention, a limited number at a time; a retraction not before it is settled."""
    limit = timezone.now() - timedelta(days=settings.HEDDLE.webhook_log_days)
    is_old = Q(settled_at__lt=limit) | Q(created__lt=limit) & ~Q(name=RETRACTED)
    if old := _some(WebhookDelivery.objects.filter(is_old)):
        with transaction.atomic():
            retractions.remember_told(old)
            WebhookDelivery.objects.filter(pk__in=old).delete()
    # Not before its deliveries, which would go with it and not be remembered.
    if old := _some(WebhookEvent.objects.filter(settled_at__lt=limit, deliveries=None)):
        WebhookEvent.objects.filter(pk__in=old).delete()


def _some(rows: QuerySet[Any]) -> list[int]:
    return list(rows.values_list("pk", flat=True)[:_PRUNED_AT_ONCE])
