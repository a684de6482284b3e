"""The delivery log: reading it, replaying a message, sending a test."""

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.rights import Audience
from core import ids, jobs, paging
from core.actor import Actor
from core.errors import InvalidRequest, NotFound
from feedback.models.webhook import WebhookAttempt, WebhookDelivery, WebhookEndpoint
from feedback.webhooks import audience, endpoints, handing_out, sending
from feedback.webhooks.events import TEST, TestData, ToldTest
from feedback.webhooks.wire import AttemptOut, DeliveryOut, DeliveryPageOut, SentDeliveryOut

_PLACES = paging.Places("deliveries")
_UNKNOWN = "This webhook has no such delivery."
State = WebhookDelivery.State


def listed(endpoint: WebhookEndpoint, *, limit: int, page_token: str | None) -> DeliveryPageOut:
    """One page of a webhook's log, newest first."""
    rows = WebhookDelivery.objects.filter(endpoint=endpoint).defer("body").prefetch_related("attempts")
    found, next_token = _PLACES.page(rows, limit=limit, page_token=page_token)
    return DeliveryPageOut(items=[out(each) for each in found], next_token=next_token)


def delivery_for(endpoint: WebhookEndpoint, delivery_id: str) -> WebhookDelivery:
    """One delivery of a webhook; raises `NotFound`."""
    rows = WebhookDelivery.objects.select_related("endpoint__owner", "event__report__thread")
    found = rows.filter(endpoint=endpoint, key=ids.key_of(delivery_id, ids.DELIVERY) or "").first()
    if found is None:
        raise NotFound(_UNKNOWN)
    return found


def replay(endpoint: WebhookEndpoint, delivery: WebhookDelivery) -> WebhookDelivery:
    """Send a message again now: the same bytes with the same `webhook-id` and a new series of retries."""
    _require_enabled(endpoint)
    again = {"state": State.PENDING, "tries": 0, "settled_at": None, **_before_all_others(endpoint)}
    with transaction.atomic():
        if not WebhookDelivery.objects.filter(pk=delivery.pk).update(**again):
            raise NotFound(_UNKNOWN)  # it was pruned from the log just now
        jobs.enqueue_on_commit(handing_out.DELIVER, endpoint.pk)
    delivery.refresh_from_db(fields=again)
    return delivery


def test(endpoint: WebhookEndpoint) -> WebhookDelivery:
    """Send a test message, to see whether it arrives and is accepted."""
    _require_enabled(endpoint)
    message_id = ids.EVENT + ids.new_key()
    told = ToldTest(id=message_id, type=TEST, timestamp=timezone.now(), data=TestData(webhook_id=endpoint.webhook_id))
    with transaction.atomic():
        endpoints.hold(endpoint)
        delivery = WebhookDelivery.objects.create(
            endpoint=endpoint,
            message_id=message_id,
            name=TEST,
            audience=Audience.ORG,
            body=told.model_dump_json(),
            **_before_all_others(endpoint),
        )
        jobs.enqueue_on_commit(handing_out.DELIVER, endpoint.pk)
    return delivery


def _before_all_others(endpoint: WebhookEndpoint) -> dict[str, Any]:
    """A place before all waiting messages: a round stops at the first failure, and somebody waits for this one."""
    waiting = endpoint.deliveries.filter(state=State.PENDING).order_by("next_at")
    first, now = waiting.values_list("next_at", flat=True).first(), timezone.now()
    return {"next_at": min(first - timedelta(microseconds=1), now) if first else now, "goes_first": True}


def out(delivery: WebhookDelivery) -> DeliveryOut:
    """A delivery for the log, without its body."""
    return DeliveryOut(
        delivery_id=delivery.delivery_id,
        message_id=delivery.message_id,
        event=delivery.name,
        state=delivery.state,
        created=delivery.created,
        next_attempt_at=delivery.next_at if delivery.state == State.PENDING else None,
        attempts=[_attempt(each) for each in delivery.attempts.all()],
    )


def sent(actor: Actor, delivery: WebhookDelivery) -> SentDeliveryOut:
    """A delivery with its message, as far as the actor may read that now: what was told once may be private since."""
    is_readable = actor.is_admin or audience.may_be_told(delivery)
    return SentDeliveryOut(
        **out(delivery).model_dump(),
        headers=sending.SAME_HEADERS | {"webhook-id": delivery.message_id},
        body=delivery.body if is_readable else None,
    )


def _attempt(row: WebhookAttempt) -> AttemptOut:
    return AttemptOut(
        at=row.at,
        duration_ms=row.milliseconds,
        status=row.status,
        error=row.error or None,
        response=row.response,
    )


def _require_enabled(endpoint: WebhookEndpoint) -> None:
    if not endpoint.is_enabled:
        raise InvalidRequest("The webhook is disabled. Enable it first.")
