"""The outbox: what happened is written with the change itself, and settled when it is due.

Settling asks whether it is still true, for whom it is, and makes one delivery for each of them.
"""

import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.rights import Audience
from core import jobs
from core.prepared import Prepared, PreparedInsert, Question
from feedback import projecting
from feedback.checks import records
from feedback.models import Check, Reply, UserFeedback
from feedback.models.webhook import WebhookDelivery, WebhookEndpoint, WebhookEvent
from feedback.webhooks.audience import audience_for
from feedback.webhooks.events import (
    EVENT_OF_OUTCOME,
    OPENNESS,
    OPPOSITES,
    OUTCOMES,
    REPLIED,
    RETRACTED,
    RetractedData,
    ToldCheck,
    ToldOrg,
    ToldReply,
    ToldRetraction,
    ToldTriage,
)
from threads.models import Thread

logger = logging.getLogger("heddle.webhooks")
SETTLE = "feedback.settle"
DELIVER = "feedback.deliver"


def announce(event: str, report: UserFeedback, *, actor_id: int, by_triage: bool = False) -> None:
    """Say that something happened to a report: call it inside the transaction that makes it so.

    `by_triage` tells an admin's `feedback.updated` from the submitter's; resolving and reopening always are triage.
    Where no enabled endpoint wants it, nothing is written, at the cost of one look.
    """
    asked = OPPOSITES.get(event, (event,))
    if not _names(questions_of(report.key)).isdisjoint(asked):
        write_down(event, report, actor_id=actor_id, is_triage=by_triage or event in OPENNESS)


def write_down(event: str, report: UserFeedback, *, actor_id: int, is_triage: bool = False) -> None:
    """The same of what somebody is known to want. Triage is told after the undo window, the rest at once."""
    now = timezone.now()
    delay = timedelta(seconds=settings.HEDDLE.webhook_delay_seconds if is_triage else 0)
    row = WebhookEvent(
        name=event, report_id=report.pk, actor_id=actor_id, is_triage=is_triage, at=now, due_at=now + delay
    )
    _EVENTS.insert(row)
    if not delay:
        jobs.enqueue_on_commit(SETTLE, row.pk)


def questions_of(report_key: str) -> Sequence[Question]:
    """What `announce` asks first."""
    return [(_WANTED_OF_REPORT, (report_key,))]


def wanted(thread_key: str) -> frozenset[str]:
    """The events about reports on a thread that some enabled endpoint wants."""
    return _names(thread_questions_of(thread_key))


def thread_questions_of(thread_key: str) -> Sequence[Question]:
    """What `wanted` asks."""
    return [(_WANTED_OF_THREAD, (thread_key,))]


def _names(questions: Sequence[Question]) -> frozenset[str]:
    return frozenset(name for query, given in questions for (names,) in query.rows(*given) for name in names)


def announce_retraction(report: UserFeedback, *, actor_id: int) -> None:
    """Say that a report is taken back: call it inside the transaction and before the report goes.

    Its outbox and its deliveries go with it, so this is handed out here and hangs on nothing. It is for whoever may be
    told of the report, and for whoever was told of it when they might: they hold what is to be forgotten.
    """
    event = WebhookEvent(name=RETRACTED, report=report, actor_id=actor_id)
    wanting = _wanting(event)
    if not wanting:
        return
    said = RetractedData(
        feedback_id=report.feedback_id,
        thread_id=report.thread.thread_id,
        message_sequence_num=report.message_sequence_num,
        org_id=report.org.org_id,
    )
    body = ToldRetraction(id=event.event_id, type=RETRACTED, timestamp=event.at, data=said).model_dump_json()
    for endpoint in wanting:
        sent = endpoint.deliveries.filter(event__report=report, attempts__isnull=False)  # answered or not
        told = sent.order_by("pk").values_list("audience", flat=True).first()
        if audience := audience_for(endpoint, event) or told:
            _deliver(endpoint, event, audience, body)


def _listening(orgs: QuerySet[Any, Any] | list[int]) -> QuerySet[WebhookEndpoint]:
    return WebhookEndpoint.objects.filter(Q(org=None) | Q(org__in=orgs), is_enabled=True)


def _wanted_of(rows: QuerySet[Any, Any]) -> QuerySet[WebhookEndpoint, tuple[list[str]]]:
    return _listening(rows.values_list("org")).values_list("events")


_WANTED_OF_REPORT = Prepared(lambda key: _wanted_of(UserFeedback.objects.filter(key=key)), str)
_WANTED_OF_THREAD = Prepared(lambda key: _wanted_of(Thread.objects.filter(key=key)), str)
_EVENTS = PreparedInsert(WebhookEvent)


def settle(event_id: int) -> None:
    """Decide what becomes of an event that is due; of two who try, one does.

    Its deliveries are made in the same transaction, so that an event is settled with all of them or with none.
    """
    now = timezone.now()
    with transaction.atomic():
        waiting = WebhookEvent.objects.select_for_update(of=("self",)).select_related("report__thread", "actor")
        event = waiting.filter(pk=event_id, settled_at=None, due_at__lte=now).first()
        if event is None:
            return
        event.settled_at, event.is_told = now, _stands(event)
        event.save(update_fields=["settled_at", "is_told"])
        if event.is_told:
            _hand_out(event)


def due() -> list[int]:
    """Events whose time has come, the oldest first."""
    rows = WebhookEvent.objects.filter(settled_at=None, due_at__lte=timezone.now())
    return list(rows.order_by("id").values_list("pk", flat=True)[:1000])


def _stands(event: WebhookEvent) -> bool:
    """Whether there is still something to tell."""
    if event.name in OPPOSITES:
        return _is_so(event) and _is_news(event)
    if event.is_triage:
        # The later one carries all of it, and is told when it can no longer be undone. It may have been already: of two
        # that are due, a worker may come to the later one first.
        later = _of_report(event).filter(name=event.name, is_triage=True, pk__gt=event.pk)
        return not later.exists() and (event.name != REPLIED or _was_told(event))
    return True


def _was_told(event: WebhookEvent) -> bool:
    """Whether the submitter is told anything now: an answer may have been taken back within the window."""
    return projecting.is_told(Reply.objects.filter(pk=event.report_id).values_list("public_status", flat=True).first())


def _is_so(event: WebhookEvent) -> bool:
    """Whether the report, or its check, is still what this event made of it."""
    if event.name in OUTCOMES:
        check = Check.objects.filter(feedback=event.report_id, dropped_at=None).first()
        return check is not None and EVENT_OF_OUTCOME.get(check.outcome) == event.name
    return event.report.resolved == (event.name == OPENNESS[0])


def _is_news(event: WebhookEvent) -> bool:
    """Whether it is not what was told last, and nothing undid it since.

    Resolved and reopened within the window is no news, and neither is the reopening that undid it: what counts is
    what was told last. Where nothing was told yet, the first event shows what the report was before it.
    """
    history = _of_report(event).filter(name__in=OPPOSITES[event.name])
    if history.filter(pk__gt=event.pk).exists():
        return False
    if event.name in OUTCOMES:  # written only when it turned, and nobody undoes that
        return True
    told = history.filter(pk__lt=event.pk, is_told=True).order_by("-pk").first()
    if told is not None:
        return told.name != event.name
    first = history.order_by("pk").first()
    return first is not None and first.name == event.name


def _of_report(event: WebhookEvent) -> QuerySet[WebhookEvent]:
    return WebhookEvent.objects.filter(report=event.report_id)


def _hand_out(event: WebhookEvent) -> None:
    """One delivery for each endpoint that wants it and whose owner may be told."""
    for endpoint in _wanting(event):
        audience = audience_for(endpoint, event)
        if audience is not None:
            _deliver(endpoint, event, audience, _body(event, audience))


def _wanting(event: WebhookEvent) -> list[WebhookEndpoint]:
    enabled = _listening([event.report.org_id]).select_related("owner").order_by("pk")
    return [endpoint for endpoint in enabled if event.name in endpoint.events]


def _deliver(endpoint: WebhookEndpoint, event: WebhookEvent, audience: str, body: str) -> None:
    WebhookDelivery.objects.create(
        endpoint=endpoint,
        event=event if event.pk else None,
        message_id=event.event_id,
        name=event.name,
        audience=audience,
        body=body,
    )
    jobs.enqueue_on_commit(DELIVER, endpoint.pk)


def _body(event: WebhookEvent, audience: Audience) -> str:
    """What is sent: the report as it is now, in the projection of the audience."""
    head = {"id": event.event_id, "type": event.name, "timestamp": event.at}
    if event.name == REPLIED:
        return ToldReply(**head, data=projecting.told_record(event.report_id)).model_dump_json()
    if audience is Audience.ORG:
        return ToldOrg(**head, data=projecting.user_record(event.report_id)).model_dump_json()
    if event.name in OUTCOMES:
        (check,) = records.check_records(records.with_names(Check.objects.filter(feedback=event.report_id)))
        return ToldCheck(**head, actor=event.actor.email, data=check).model_dump_json()
    told = ToldTriage(**head, actor=event.actor.email, data=projecting.full_record_of(event.report_id))
    return told.model_dump_json()
