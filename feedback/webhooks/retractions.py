"""A retraction is told at once, also to webhooks that were sent the report earlier."""

from django.db.models import QuerySet

from accounts.rights import Audience
from feedback import access
from feedback.models import UserFeedback
from feedback.models.webhook import WebhookDelivery, WebhookEndpoint, WebhookEvent, WebhookTold
from feedback.webhooks.audience import audience_for
from feedback.webhooks.events import RETRACTED, RetractedData, ToldRetraction
from feedback.webhooks.handing_out import deliver, wanting


def announce_retraction(report: UserFeedback, *, actor_id: int) -> None:
    """Announce that a report is retracted; call it inside the transaction, before the report is deleted.

    Its outbox rows and deliveries are deleted with it, so these deliveries are created here without an event row. They
    go to webhooks that may receive the report now, and to those that received it earlier and have to delete its data.
    To a disabled webhook it is sent when that is enabled again: what it received earlier may no longer be in its log.
    """
    event = WebhookEvent(name=RETRACTED, report=report, actor_id=actor_id)
    endpoints = wanting(event)
    if not endpoints:
        return
    said = RetractedData(
        feedback_id=report.feedback_id,
        thread_id=report.thread.thread_id,
        message_sequence_num=report.message_sequence_num,
        org_id=report.org.org_id,
    )
    body = ToldRetraction(id=event.event_id, type=RETRACTED, timestamp=event.at, data=said).model_dump_json()
    for endpoint in endpoints:
        audience = audience_for(endpoint, event)
        if audience or _has_told(endpoint, report):
            deliver(endpoint, event, audience or Audience.ORG, body)


def remember_told(deliveries: list[int]) -> None:
    """Remember which webhooks were sent which reports; call it inside the transaction that deletes the deliveries."""
    reports = UserFeedback.objects.filter(events__deliveries__in=deliveries).values("pk")
    # Locked, so that none is retracted meanwhile.
    held = list(access.locked(reports).values_list("pk", flat=True))
    sent = _sent(WebhookDelivery.objects.filter(pk__in=deliveries, event__report__in=held))
    pairs = sent.values_list("endpoint", "event__report").distinct()
    WebhookTold.objects.bulk_create(
        [WebhookTold(endpoint_id=endpoint, report_id=report) for endpoint, report in pairs], ignore_conflicts=True
    )


def _has_told(endpoint: WebhookEndpoint, report: UserFeedback) -> bool:
    sent = _sent(endpoint.deliveries.filter(event__report=report))
    return sent.exists() or endpoint.told.filter(report=report).exists()


def _sent(rows: QuerySet[WebhookDelivery]) -> QuerySet[WebhookDelivery]:
    """Those that were attempted, with or without a response."""
    return rows.filter(attempts__isnull=False)
