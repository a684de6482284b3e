"""Triage: what admins make of a report. Each change is recorded with what was before and after."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from pydantic import BaseModel

from accounts.rights import require_admin
from core import ids, notices
from core.actor import Actor
from core.errors import Conflict, NotFound
from core.prepared import PreparedInsert, PreparedRow, PreparedUpdate
from feedback import labelling, projecting, versions
from feedback.deciding import (
    BESIDE_COLUMNS,
    REPLY_COLUMNS,
    REPORT_COLUMNS,
    UPDATE,
    Decision,
    Subject,
    Verb,
    spelled,
)
from feedback.models import Reply, Retraction, Triage, TriageChange, UserFeedback
from feedback.wire import FullFeedbackOut, TriageIn
from threads import hooks as threads_hooks

NOTICE = "desk"
"""The subject of notices about the desk."""
_FOUND = PreparedRow(lambda key: UserFeedback.objects.filter(key=key), UserFeedback, str)
_TRIAGED = PreparedUpdate(UserFeedback, *(column.removesuffix("_id") for column in REPORT_COLUMNS))
_CHANGES = PreparedInsert(TriageChange)
_BESIDE = PreparedInsert(Triage, unique=("feedback",), update=[name.removesuffix("_id") for name in BESIDE_COLUMNS])
_REPLIES = PreparedInsert(Reply, unique=("feedback",), update=(*REPLY_COLUMNS, "replied_at"))
# No admin's verb changes a key, so rows that name the report, a lease for one, need not wait for it.
_LOCKED = PreparedRow(
    lambda key: UserFeedback.objects.select_for_update(no_key=True).filter(key=key), UserFeedback, str
)


def report_for(actor: Actor, feedback_id: str, *, lock: bool = False) -> UserFeedback:
    """The report with that id, for an admin; raises `Unauthorized`, then `NotFound`."""
    require_admin(actor)
    key = ids.key_of(feedback_id, ids.FEEDBACK) or ""
    report = (_LOCKED if lock else _FOUND).first(key)
    if report is None:
        if Retraction.objects.filter(key=key).exists():
            raise NotFound("The submitter took this report back.")
        raise NotFound(f"There is no report {feedback_id[:80]}.")
    return report


def update(actor: Actor, feedback_id: str, body: TriageIn, *, expected: str | None = None) -> FullFeedbackOut:
    """Apply a triage update (H8). `modified` is the submitter's and stays (B131); repeating one changes nothing.

    With `expected`, a version that is no longer the report's is refused as `Stale`.
    """
    report, _ = act(actor, feedback_id, (UPDATE, body), expected=expected)
    return read(report)


def act(
    actor: Actor,
    feedback_id: str,
    *steps: tuple[Verb, BaseModel],
    expected: str | None = None,
    seen: str | None = None,
) -> tuple[UserFeedback, str | None]:
    """Do one thing to one report, or several in one go: lock, decide, store, record, announce.

    Gives the report and the action under which history has it, None where nothing changed. `expected` is the version
    that the whole report must have. `seen` is the version that the actor decided by: only a change since then of what
    is written here stands against it. Both raise `Stale`.
    """
    action, changed = ids.new_key(), False
    with named_reports_stay(), transaction.atomic():
        report = report_for(actor, feedback_id, lock=True)
        versions.require(report, expected)
        for verb, body in steps:
            subject = subject_of(report, verb)
            decision = verb.decide(actor, subject, body)
            versions.require_unseen(
                report, seen, [column for column, now in decision.items() if subject[column] != now]
            )
            changed |= apply(actor, subject, verb.name, decision, action=action) is not None
        if changed:
            transaction.on_commit(lambda: notices.publish(NOTICE))
    return report, action if changed else None


@contextmanager
def named_reports_stay() -> Iterator[None]:
    """Around a transaction that names another report, or one that it did not lock: its submitter may take it back
    just then, which the database notices at the commit.
    """
    try:
        yield
    except IntegrityError:
        raise Conflict("A submitter took this report back just now, or the one that it names.") from None


def subject_of(report: UserFeedback, verb: Verb | None = None) -> Subject:
    """A locked report with what stands beside it. The wire's own update asks for none of that unless it reopens."""
    if verb is UPDATE and not report.resolved:
        return Subject(report, Triage(feedback=report), Reply(feedback=report))
    beside = Triage.objects.filter(pk=report.pk).first() or Triage(feedback=report)
    reply = None if verb is UPDATE else Reply.objects.filter(pk=report.pk).first()
    return Subject(report, beside, reply or Reply(feedback=report))


def apply(
    actor: Actor,
    subject: Subject,
    verb: str,
    decision: Decision,
    *,
    action: str,
    undoes: str | None = None,
) -> TriageChange | None:
    """Store a decision about a locked report with its history row; None where it changes nothing.

    Resolving stamps time and admin, reopening clears both and what the resolution said; stamps of a report that is
    resolved stay (B129). A decision that spells them out, as an undo does, has its way.
    """
    report, now = subject.report, timezone.now()
    after = {column: value for column, value in decision.items() if subject[column] != value}
    if not after:
        return None
    stamps: dict[str, Any] = {}
    if after.get("resolved") is True:
        stamps = {"resolved_at": now, "resolved_by_id": actor.user_id}
    elif after.get("resolved") is False:
        cleared = ("resolved_at", "resolved_by_id", "outcome", "duplicate_of_id")
        after |= {column: None for column in cleared if subject[column] is not None and column not in after}
    change = TriageChange(
        feedback=report,
        at=now,
        actor_id=actor.user_id,
        before={column: spelled(column, subject[column]) for column in after},
        after={column: spelled(column, value) for column, value in after.items()},
        verb=verb,
        action=action,
        undoes=undoes,
    )
    _store(subject, {**stamps, **after}, now)
    if "admin_label" in after:
        labelling.follow(actor, report)
    return _CHANGES.insert(change)


def _store(subject: Subject, after: Decision, now: datetime) -> None:
    for column, value in after.items():
        owner: Any = subject.reply if column in REPLY_COLUMNS else subject.beside
        setattr(subject.report if column in REPORT_COLUMNS else owner, column, value)
    if _touches(after, REPORT_COLUMNS):
        _TRIAGED.update(subject.report)
    if _touches(after, BESIDE_COLUMNS):
        _BESIDE.insert(subject.beside)
    if _touches(after, REPLY_COLUMNS):
        subject.reply.replied_at = now
        _REPLIES.insert(subject.reply)
        transaction.on_commit(partial(threads_hooks.wake_readers, subject.report.thread_id))


def _touches(after: Decision, columns: Iterable[str]) -> bool:
    return any(column in after for column in columns)


def read(report: UserFeedback) -> FullFeedbackOut:
    """The full record of a report (H7)."""
    return projecting.full_record_of(report.pk)
