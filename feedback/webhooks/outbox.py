"""The outbox: an event is written in the transaction of the change, if a webhook wants it. `settling` does the rest."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from core import jobs
from core.prepared import Prepared, Question
from core.prepared_writes import PreparedInsert
from feedback.models import UserFeedback
from feedback.models.webhook import WebhookDelivery, WebhookEndpoint, WebhookEvent
from feedback.webhooks.events import OPENNESS, OPPOSITES, UPDATED
from feedback.webhooks.handing_out import of_orgs
from threads.models import Thread

SETTLE = "feedback.settle"
SETTLE_DUE = "feedback.settle_due"


def announce(event: str, report: UserFeedback, *, actor_id: int, by_triage: bool = False) -> None:
    """Record an event about a report; call it inside the transaction of the change.

    `by_triage` distinguishes an admin's `feedback.updated` from the submitter's; resolving and reopening always are
    triage. If no enabled webhook wants it, nothing is written; this costs one query.
    """
    asked = OPPOSITES.get(event, (event,))
    if not _names(questions_of(report.key)).isdisjoint(asked):
        write_down(event, report, actor_id=actor_id, is_triage=by_triage or event in OPENNESS)


def announce_updates(reports: Sequence[int], beside: UserFeedback, *, actor_id: int) -> None:
    """Record that triage changed reports of the org of `beside`, after their changes are in the history; call it inside
    that transaction. The number of queries is constant.
    """
    if reports and UPDATED in _names(questions_of(beside.key)):
        _write([_triage_event(UPDATED, report, actor_id) for report in reports])


def write_down(event: str, report: UserFeedback, *, actor_id: int, is_triage: bool = False) -> None:
    """Write an event that some webhook wants. Triage is due after the undo window, the rest at once."""
    if is_triage:
        _write([_triage_event(event, report.pk, actor_id)])
        return
    now = timezone.now()
    row = _EVENTS.insert(WebhookEvent(name=event, report_id=report.pk, actor_id=actor_id, at=now, due_at=now))
    jobs.enqueue_on_commit(SETTLE, row.pk)


def questions_of(report_key: str) -> Sequence[Question]:
    """The queries that `announce` starts with."""
    return [(_WANTED_OF_REPORT, (report_key,))]


def wanted(thread_key: str) -> frozenset[str]:
    """The events about reports on a thread that some enabled webhook wants."""
    return _names(thread_questions_of(thread_key))


def thread_questions_of(thread_key: str) -> Sequence[Question]:
    """The queries of `wanted`."""
    return [(_WANTED_OF_THREAD, (thread_key,))]


def hold(report: UserFeedback) -> None:
    """Lock the events of a locked report, and then their deliveries, as those do who settle and send them: otherwise
    they would add rows to what is being deleted.
    """
    events = list(
        WebhookEvent.objects.select_for_update().filter(report=report).order_by("pk").values_list("pk", flat=True)
    )
    if events:
        deliveries = WebhookDelivery.objects.select_for_update().filter(event__in=events)
        list(deliveries.order_by("pk").values_list("pk", flat=True))


def _triage_event(event: str, report: int, actor_id: int) -> WebhookEvent:
    now = timezone.now()
    due_at = now + timedelta(seconds=settings.HEDDLE.webhook_delay_seconds)
    return WebhookEvent(name=event, report_id=report, actor_id=actor_id, is_triage=True, at=now, due_at=due_at)


def _write(events: Sequence[WebhookEvent]) -> None:
    """Write events of triage."""
    _EVENTS.insert_all(events)
    if not settings.HEDDLE.webhook_delay_seconds:
        jobs.enqueue_once_on_commit(SETTLE_DUE, 0)  # one for each report of a large bulk would hold up all turns


def _names(questions: Sequence[Question]) -> frozenset[str]:
    return frozenset(name for query, given in questions for (names,) in query.rows(*given) for name in names)


def _wanted_of(rows: QuerySet[Any, Any]) -> QuerySet[WebhookEndpoint, tuple[list[str]]]:
    return of_orgs(rows.values_list("org")).filter(is_enabled=True).values_list("events")


_WANTED_OF_REPORT = Prepared(lambda key: _wanted_of(UserFeedback.objects.filter(key=key)), str)
_WANTED_OF_THREAD = Prepared(lambda key: _wanted_of(Thread.objects.filter(key=key)), str)
_EVENTS = PreparedInsert(WebhookEvent)
