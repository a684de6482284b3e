"""Hands an event out: a delivery for each webhook that wants it and whose owner may receive it, with its message."""

from typing import Any

from django.db.models import Q, QuerySet

from accounts.rights import Audience
from core import jobs
from feedback import check_records, projecting, triaged
from feedback.models import Check
from feedback.models.webhook import WebhookDelivery, WebhookEndpoint, WebhookEvent
from feedback.webhooks.audience import audience_for
from feedback.webhooks.events import (
    OUTCOMES,
    REPLIED,
    RETRACTED,
    SUBMITTED,
    UPDATED,
    ToldCheck,
    ToldOrg,
    ToldReply,
    ToldTriage,
)

DELIVER = "feedback.deliver"
_BY_SUBMITTERS = (SUBMITTED, UPDATED, RETRACTED)
"""Sent before what the desk does. `feedback.updated` is the submitter's unless it is triage."""


def hand_out(event: WebhookEvent) -> None:
    """Create a delivery for each webhook that wants the event and whose owner may receive it.

    One that was disabled before the event gets nothing. One that was disabled since, gets it when it is enabled again.
    """
    if event.name == UPDATED and not event.is_triage:
        _bring_forward(event)
    for endpoint in wanting(event):
        was_enabled = endpoint.is_enabled or (endpoint.disabled_at and endpoint.disabled_at > event.at)
        audience = audience_for(endpoint, event) if was_enabled else None
        if audience is not None:
            deliver(endpoint, event, audience, _body(event, audience))


def wanting(event: WebhookEvent) -> list[WebhookEndpoint]:
    """The webhooks that want the event, disabled ones included."""
    found = of_orgs([event.report.org_id]).select_related("owner").order_by("pk")
    return [endpoint for endpoint in found if event.name in endpoint.events]


def deliver(endpoint: WebhookEndpoint, event: WebhookEvent, audience: str, body: str) -> None:
    """Create the delivery of one message to a webhook."""
    WebhookDelivery.objects.create(
        endpoint=endpoint,
        event=event if event.pk else None,
        message_id=event.event_id,
        name=event.name,
        audience=audience,
        body=body,
        goes_first=event.name in _BY_SUBMITTERS and not event.is_triage,
    )
    jobs.enqueue_on_commit(DELIVER, endpoint.pk)


def of_orgs(orgs: QuerySet[Any, Any] | list[int]) -> QuerySet[WebhookEndpoint]:
    """The webhooks of some orgs, and those of all orgs."""
    return WebhookEndpoint.objects.filter(Q(org=None) | Q(org__in=orgs))


def _bring_forward(event: WebhookEvent) -> None:
    """Let what is pending of a report go first with what its submitter did after it, so that its order stays."""
    earlier = WebhookEvent.objects.filter(report=event.report_id, pk__lt=event.pk)
    before = list(earlier.values_list("pk", flat=True))
    WebhookDelivery.objects.filter(event__in=before, state=WebhookDelivery.State.PENDING).update(goes_first=True)


def _body(event: WebhookEvent, audience: Audience) -> str:
    """The message: the report as it is now, in the projection of the audience."""
    head = {"id": event.event_id, "type": event.name, "timestamp": event.at}
    if event.name == REPLIED and audience is Audience.ORG:
        return ToldReply(**head, data=projecting.told_record(event.report_id)).model_dump_json()
    if audience is Audience.ORG:
        return ToldOrg(**head, data=projecting.user_record(event.report_id)).model_dump_json()
    if event.name in OUTCOMES:
        (check,) = check_records.records(check_records.with_names(Check.objects.filter(feedback=event.report_id)))
        return ToldCheck(**head, actor=event.actor.email, data=check).model_dump_json()
    told = ToldTriage(**head, actor=event.actor.email, data=triaged.record(event.report))
    return told.model_dump_json()
