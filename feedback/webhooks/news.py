"""Whether an event is still news when it is due, by the state then and by what was sent last."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.db.models import QuerySet

from feedback import projecting
from feedback.models import Check, Reply, TriageChange
from feedback.models.webhook import WebhookEvent
from feedback.webhooks.events import (
    EVENT_OF_OUTCOME,
    OPENNESS,
    OPPOSITES,
    OUTCOMES,
    REPLIED,
    WITH_OPENNESS,
    told_by_update,
)

_REPLY = ("public_status", "public_reply")
"""The columns of which `feedback.replied` tells."""


def still_holds(event: WebhookEvent) -> bool:
    """Whether the event should still be sent."""
    if event.name in OPPOSITES:
        return _is_so(event) and _is_news(event)
    if event.is_triage:
        # A later event of the same name contains all changes, and is sent when they can no longer be undone. It may be
        # settled already, because workers may settle two due events in either order.
        later = _of_report(event).filter(name=event.name, is_triage=True, pk__gt=event.pk)
        return not later.exists() and (event.name != REPLIED or _is_told(event)) and not _was_taken_back(event)
    return True


def is_outdated(event: WebhookEvent) -> bool:
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
