"""The outbox: events are written in the transaction of the change, and settled when they are due.

Settling checks whether an event still holds and who may receive it, and creates one delivery for each webhook.
"""

import logging
import threading
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.rights import Audience
from core import jobs
from core.prepared import Prepared, PreparedInsert, Question
from feedback import projecting, triaged
from feedback.checks import records
from feedback.models import Bulk, Check, Reply, TriageChange, UserFeedback
from feedback.models.webhook import WebhookDelivery, WebhookEndpoint, WebhookEvent, WebhookTold
from feedback.webhooks.audience import audience_for
from feedback.webhooks.events import (
    EVENT_OF_OUTCOME,
    OPENNESS,
    OPPOSITES,
    OUTCOMES,
    REPLIED,
    RETRACTED,
    SUBMITTED,
    UPDATED,
    WITH_OPENNESS,
    RetractedData,
    ToldCheck,
    ToldOrg,
    ToldReply,
    ToldRetraction,
    ToldTriage,
    told_by_update,
)
from threads.models import Thread

logger = logging.getLogger("heddle.webhooks")
SETTLE = "feedback.settle"
SETTLE_DUE = "feedback.settle_due"
DELIVER = "feedback.deliver"
_AT_ONCE = 100
_settling = threading.Lock()
_is_asked = threading.Event()
"""Whether more may have become due since the job of this process looked."""
_BY_SUBMITTERS = (SUBMITTED, UPDATED, RETRACTED)
"""Sent before what the desk does. `feedback.updated` is the submitter's unless it is triage."""
_REPLY = ("public_status", "public_reply")
"""The columns of which `feedback.replied` tells."""


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


def _triage_event(event: str, report: int, actor_id: int) -> WebhookEvent:
    now = timezone.now()
    due_at = now + timedelta(seconds=settings.HEDDLE.webhook_delay_seconds)
    return WebhookEvent(name=event, report_id=report, actor_id=actor_id, is_triage=True, at=now, due_at=due_at)


def _write(events: Sequence[WebhookEvent]) -> None:
    """Write events of triage."""
    _EVENTS.insert_all(events)
    if not settings.HEDDLE.webhook_delay_seconds:
        jobs.enqueue_once_on_commit(SETTLE_DUE, 0)  # one for each report of a large bulk would hold up all turns


def questions_of(report_key: str) -> Sequence[Question]:
    """The queries that `announce` starts with."""
    return [(_WANTED_OF_REPORT, (report_key,))]


def wanted(thread_key: str) -> frozenset[str]:
    """The events about reports on a thread that some enabled webhook wants."""
    return _names(thread_questions_of(thread_key))


def thread_questions_of(thread_key: str) -> Sequence[Question]:
    """The queries of `wanted`."""
    return [(_WANTED_OF_THREAD, (thread_key,))]


def _names(questions: Sequence[Question]) -> frozenset[str]:
    return frozenset(name for query, given in questions for (names,) in query.rows(*given) for name in names)


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


def announce_retraction(report: UserFeedback, *, actor_id: int) -> None:
    """Announce that a report is retracted; call it inside the transaction, before the report is deleted.

    Its outbox rows and deliveries are deleted with it, so these deliveries are created here without an event row. They
    go to webhooks that may receive the report now, and to those that received it earlier and have to delete its data.
    To a disabled webhook it is sent when that is enabled again: what it received earlier may no longer be in its log.
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
        audience = audience_for(endpoint, event)
        if audience or _has_told(endpoint, report):
            _deliver(endpoint, event, audience or Audience.ORG, body)


def _has_told(endpoint: WebhookEndpoint, report: UserFeedback) -> bool:
    sent = _sent(endpoint.deliveries.filter(event__report=report))
    return sent.exists() or endpoint.told.filter(report=report).exists()


def remember_told(deliveries: list[int]) -> None:
    """Remember which webhooks were sent which reports; call it inside the transaction that deletes the deliveries."""
    reports = UserFeedback.objects.filter(events__deliveries__in=deliveries).values("pk")
    # Locked, so that none is retracted meanwhile.
    rows = UserFeedback.objects.select_for_update(no_key=True).filter(pk__in=reports).order_by("pk")
    held = list(rows.values_list("pk", flat=True))
    sent = _sent(WebhookDelivery.objects.filter(pk__in=deliveries, event__report__in=held))
    pairs = sent.values_list("endpoint", "event__report").distinct()
    WebhookTold.objects.bulk_create(
        [WebhookTold(endpoint_id=endpoint, report_id=report) for endpoint, report in pairs], ignore_conflicts=True
    )


def _sent(rows: QuerySet[WebhookDelivery]) -> QuerySet[WebhookDelivery]:
    """Those that were attempted, with or without a response."""
    return rows.filter(attempts__isnull=False)


def _of_orgs(orgs: QuerySet[Any, Any] | list[int]) -> QuerySet[WebhookEndpoint]:
    return WebhookEndpoint.objects.filter(Q(org=None) | Q(org__in=orgs))


def _wanted_of(rows: QuerySet[Any, Any]) -> QuerySet[WebhookEndpoint, tuple[list[str]]]:
    return _of_orgs(rows.values_list("org")).filter(is_enabled=True).values_list("events")


_WANTED_OF_REPORT = Prepared(lambda key: _wanted_of(UserFeedback.objects.filter(key=key)), str)
_WANTED_OF_THREAD = Prepared(lambda key: _wanted_of(Thread.objects.filter(key=key)), str)
_EVENTS = PreparedInsert(WebhookEvent)


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
        event.settled_at, event.is_told = now, _still_holds(event)
        event.save(update_fields=["settled_at", "is_told"])
        if event.is_told:
            _hand_out(event)
        elif event.is_triage and _is_outdated(event):
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


def _is_settled(event_id: int) -> bool:
    try:
        settle(event_id)
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        logger.exception("webhook.event_failed", extra={"row": event_id})
        return False
    return True


def _still_holds(event: WebhookEvent) -> bool:
    """Whether the event should still be sent."""
    if event.name in OPPOSITES:
        return _is_so(event) and _is_news(event)
    if event.is_triage:
        # A later event of the same name contains all changes, and is sent when they can no longer be undone. It may be
        # settled already, because workers may settle two due events in either order.
        later = _of_report(event).filter(name=event.name, is_triage=True, pk__gt=event.pk)
        return not later.exists() and (event.name != REPLIED or _is_told(event)) and not _was_taken_back(event)
    return True


def _was_taken_back(event: WebhookEvent) -> bool:
    """Whether all that it would tell is as it was before it, and as each message said that was sent since.

    A message says what is so when its event is settled, and one of another kind may have told of a label that was taken
    back afterwards.
    """
    sent = _of_report(event).filter(is_told=True, pk__lt=event.pk).exclude(name__in=OUTCOMES)
    if event.name == REPLIED:  # the only one that tells org admins of a reply
        sent = sent.filter(name=REPLIED)
    same = sent.filter(name=event.name).order_by("-pk").first()
    untold = _of_report(event).filter(name=event.name, is_triage=True, pk__gt=same.pk if same else 0)
    changes = list(TriageChange.objects.filter(feedback=event.report_id).order_by("pk"))
    begin = untold.order_by("pk").values_list("at", flat=True)[0]
    first = sum(change.at <= begin for change in changes) - 1  # the change of an event is written just before it
    if first < 0:
        return False
    since = sent.filter(settled_at__gte=same.settled_at if same else changes[first].at).order_by("settled_at")
    moments = [each.settled_at for each in since if each.settled_at]
    later = [[change for change in changes if change.at > moment] for moment in moments]
    now = _after(changes)
    return any(_told_columns(event.name, each) for each in changes[first:]) and not any(
        _differ(event.name, each, now) for each in (changes[first:], *later)
    )


def _told_columns(name: str, change: TriageChange) -> Collection[str]:
    """The columns of a change of which an event with this name tells."""
    if name == REPLIED:
        return [column for column in _REPLY if column in change.after]
    return told_by_update(change.after)


def _differ(name: str, changes: Sequence[TriageChange], now: Mapping[str, Any]) -> bool:
    """Whether something of which an event with this name tells was something else before the changes.

    What was changed about a resolution is not told any more once that is not so any more: its own events are.
    """
    all_before = _before(changes)
    is_turned = "resolved" in all_before and all_before["resolved"] != now["resolved"]
    before = {
        column: each.before[column]
        for each in reversed(changes)
        for column in _told_columns(name, each)
        if not (is_turned and column in WITH_OPENNESS)
    }
    return any(now[column] != value for column, value in before.items())


def _before(changes: Sequence[TriageChange]) -> dict[str, Any]:
    """What the columns were before the changes that changed them."""
    return {column: value for each in reversed(changes) for column, value in each.before.items()}


def _after(changes: Sequence[TriageChange]) -> dict[str, Any]:
    return {column: value for each in changes for column, value in each.after.items()}


def _is_outdated(event: WebhookEvent) -> bool:
    """Whether the last message about a report says something that was taken back since, and no event will tell that.

    Any message has the whole record, with triage that can still be undone: the undo and what it undoes cancel each
    other, so that whoever mirrors the record would keep it for good. Looked at once nothing else is pending.
    """
    if _of_report(event).filter(is_triage=True, settled_at=None).exclude(pk=event.pk).exists():
        return False
    sent = _of_report(event).filter(is_told=True).exclude(name__in=OUTCOMES).order_by("-settled_at")
    moment = sent.values_list("settled_at", flat=True).first()
    if moment is None:
        return False
    changes = list(TriageChange.objects.filter(feedback=event.report_id, at__gt=moment).order_by("pk"))
    return _before(changes) != _after(changes)


def _correct(event: WebhookEvent, now: datetime) -> None:
    """Tell what is so after an event that is not told, if anybody wants that."""
    update = WebhookEvent(name=UPDATED, report=event.report, actor=event.actor, is_triage=True, at=event.at)
    if _wanting(update):
        update.due_at = update.settled_at = now
        update.is_told = True
        update.save(force_insert=True)
        _hand_out(update)


def _is_told(event: WebhookEvent) -> bool:
    """Whether the submitter has a reply, or had one that was sent; one withdrawn within the undo window was not."""
    status = Reply.objects.filter(pk=event.report_id).values_list("public_status", flat=True).first()
    sent = _of_report(event).filter(name=REPLIED, is_told=True, pk__lt=event.pk)
    return projecting.is_told(status) or sent.exists()


def _is_so(event: WebhookEvent) -> bool:
    """Whether the report or its check still has the state of this event."""
    if event.name in OUTCOMES:
        check = Check.objects.filter(feedback=event.report_id, is_kept=True).first()
        return check is not None and EVENT_OF_OUTCOME.get(check.outcome) == event.name
    return event.report.resolved == (event.name == OPENNESS[0])


def _is_news(event: WebhookEvent) -> bool:
    """Whether it differs from what was last sent, and nothing reversed it since.

    A report that is resolved and reopened within the window sends neither event. What counts is what was last sent; if
    nothing was sent yet, the first event shows what the report was before it.
    """
    history = _of_report(event).filter(name__in=OPPOSITES[event.name])
    if history.filter(pk__gt=event.pk).exists():
        return False
    if event.name in OUTCOMES:  # written only on a change, which cannot be undone
        return True
    told = history.filter(pk__lt=event.pk, is_told=True).order_by("-pk").first()
    if told is not None:
        # The same once more: the other one was taken back within the window, or fell in a time without webhooks.
        return told.name != event.name or not history.filter(pk__gt=told.pk).exclude(name=event.name).exists()
    first = history.order_by("pk").first()
    return first is not None and first.name == event.name


def _of_report(event: WebhookEvent) -> QuerySet[WebhookEvent]:
    return WebhookEvent.objects.filter(report=event.report_id)


def _hand_out(event: WebhookEvent) -> None:
    """Create a delivery for each webhook that wants the event and whose owner may receive it.

    One that was disabled before the event gets nothing. One that was disabled since, gets it when it is enabled again.
    """
    if event.name == UPDATED and not event.is_triage:
        _bring_forward(event)
    for endpoint in _wanting(event):
        was_enabled = endpoint.is_enabled or (endpoint.disabled_at and endpoint.disabled_at > event.at)
        audience = audience_for(endpoint, event) if was_enabled else None
        if audience is not None:
            _deliver(endpoint, event, audience, _body(event, audience))


def _bring_forward(event: WebhookEvent) -> None:
    """Let what is pending of a report go first with what its submitter did after it, so that its order stays."""
    earlier = list(_of_report(event).filter(pk__lt=event.pk).values_list("pk", flat=True))
    WebhookDelivery.objects.filter(event__in=earlier, state=WebhookDelivery.State.PENDING).update(goes_first=True)


def _wanting(event: WebhookEvent) -> list[WebhookEndpoint]:
    """The webhooks that want the event, disabled ones included."""
    found = _of_orgs([event.report.org_id]).select_related("owner").order_by("pk")
    return [endpoint for endpoint in found if event.name in endpoint.events]


def _deliver(endpoint: WebhookEndpoint, event: WebhookEvent, audience: str, body: str) -> None:
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


def _body(event: WebhookEvent, audience: Audience) -> str:
    """The message: the report as it is now, in the projection of the audience."""
    head = {"id": event.event_id, "type": event.name, "timestamp": event.at}
    if event.name == REPLIED and audience is Audience.ORG:
        return ToldReply(**head, data=projecting.told_record(event.report_id)).model_dump_json()
    if audience is Audience.ORG:
        return ToldOrg(**head, data=projecting.user_record(event.report_id)).model_dump_json()
    if event.name in OUTCOMES:
        (check,) = records.check_records(records.with_names(Check.objects.filter(feedback=event.report_id)))
        return ToldCheck(**head, actor=event.actor.email, data=check).model_dump_json()
    told = ToldTriage(**head, actor=event.actor.email, data=triaged.record(event.report))
    return told.model_dump_json()
