"""Triage: applies admins' actions to reports and records each change with the values before and after."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Model
from django.utils import timezone
from pydantic import BaseModel

from accounts.rights import require_admin
from core import ids
from core.actor import Actor
from core.db import anew
from core.prepared import PreparedRow
from core.prepared_writes import PreparedInsert, PreparedUpdate
from core.rows import new
from feedback import access, desk_notices, following, labelling, likeness, projecting, versions, webhooks
from feedback.deciding import (
    AGAIN,
    ANSWERS,
    BESIDE_COLUMNS,
    FOLLOW,
    REPLY_COLUMNS,
    REPORT_COLUMNS,
    UPDATE,
    Decision,
    Subject,
    Verb,
    named_by,
    require_open,
    spelled,
)
from feedback.models import Reply, Triage, TriageChange, UserFeedback
from feedback.wire import FullFeedbackOut, TriageIn
from feedback.wire_verbs import DuplicateIn
from threads import hooks as threads_hooks

Row = TypeVar("Row", bound=Model)
_TRIAGED = PreparedUpdate(UserFeedback, *(column.removesuffix("_id") for column in REPORT_COLUMNS))
_CHANGES = PreparedInsert(TriageChange)
_BESIDE = PreparedInsert(Triage, unique=("feedback",), update=[name.removesuffix("_id") for name in BESIDE_COLUMNS])
_REPLIES = PreparedInsert(Reply, unique=("feedback",), update=REPLY_COLUMNS)
_TRIAGE = PreparedRow(lambda key: Triage.objects.filter(feedback__key=key), Triage, str)
_REPLY = PreparedRow(lambda key: Reply.objects.filter(feedback__key=key), Reply, str)
# No verb changes a key, so inserting rows that reference the report, such as a lease, need not wait for this lock.
_LOCKED = PreparedRow(
    lambda key: UserFeedback.objects.select_for_update(of=("self",), no_key=True).filter(key=key),
    UserFeedback,
    str,
    beside=projecting.TRIAGED_BESIDE,
)


def update(actor: Actor, feedback_id: str, body: TriageIn, *, expected: str | None = None) -> FullFeedbackOut:
    """Apply a triage update (H8). `modified` belongs to the submitter and stays (B131); repeating one changes nothing.

    Raises `Stale` if `expected` is given and is not the report's current version.
    """
    report, _ = act(actor, feedback_id, (UPDATE, body), expected=expected)
    return projecting.triaged_record(report, actor)


@anew
def act(
    actor: Actor,
    feedback_id: str,
    *steps: tuple[Verb, BaseModel],
    expected: str | None = None,
    seen: str | None = None,
    seen_texts: Mapping[str, str] = MappingProxyType({}),
    action: str | None = None,
) -> tuple[UserFeedback, str | None]:
    """Apply one or several verbs to a report as one action, or as a part of `action`: lock, decide, store, record,
    announce.

    Returns the report and the action's key in history, None if nothing changed. `expected` is the version that the
    report must have. `seen` is the version that the actor saw: it conflicts only with later changes of the columns
    written here. `seen_texts` are such versions of single columns: a draft may be older than its page. Raises `Stale`.
    """
    action, changed = action or ids.new_key(), False
    with access.named_reports_stay(), transaction.atomic():
        report = _locked(actor, feedback_id, steps)
        versions.require(report, expected)
        for verb, body in steps:
            subject = subject_of(report, verb)
            if seen and verb.is_of_open:
                require_open(subject)
            decision = verb.decide(actor, subject, body)
            written = [] if verb.merges else [column for column, now in decision.items() if subject[column] != now]
            versions.require_unseen(actor, report, seen, written, is_of_words=verb.name in ANSWERS)
            for column in seen_texts.keys() & written:
                versions.require_unseen(actor, report, seen_texts[column], [column], is_of_draft=True)
            changed |= apply(actor, subject, verb.name, decision, action=action)
        if changed:
            desk_notices.announce()
    return report, action if changed else None


def wake_again(pks: Iterable[int], because: int) -> None:
    """Make reports due that are snoozed until it happens again, because another report says the same.

    Call it inside a transaction. History names the submitter of that report, because no admin decided it.
    """
    cause = UserFeedback.objects.select_related("created_by").get(pk=because)
    submitter = Actor(cause.created_by_id, cause.created_by.email, cause.created_by.display_name)
    for report in access.locked(list(pks)).filter(resolved=False):
        subject = subject_of(report)
        if not subject["snoozed_until_again"]:  # an admin changed it before we got the lock
            continue
        due = {"snoozed_until": timezone.now(), "snoozed_until_again": False}
        apply(submitter, subject, AGAIN, due, action=ids.new_key())
    desk_notices.announce()


def hold_for(body: BaseModel, subjects: Callable[[], Iterable[int]]) -> None:
    """Lock the other reports that a verb names and changes; `subjects` gives row ids of its own reports."""
    if isinstance(body, DuplicateIn) and (of := named_by(body)):
        following.hold(subjects(), named=[of.pk])


def _locked(actor: Actor, feedback_id: str, steps: Iterable[tuple[Verb, BaseModel]]) -> UserFeedback:
    """`access.report_for` with a lock; the queries that the verbs start with are sent along."""
    require_admin(actor)
    key = ids.key_of(feedback_id, ids.FEEDBACK) or ""
    for _, body in steps:
        hold_for(body, lambda: UserFeedback.objects.filter(key=key).values_list("pk", flat=True))
    replied = () if all(verb is UPDATE for verb, _ in steps) else _REPLY.questions(key)
    ahead = [*_TRIAGE.questions(key), *replied, *webhooks.questions_of(key)]
    return access.there(_LOCKED.first(key, ahead=ahead), key, feedback_id)


def subject_of(report: UserFeedback, verb: Verb | None = None) -> Subject:
    """A locked report with its triage row and reply. The wire's own update reads these only to reopen."""
    if verb is UPDATE:
        return Subject(report, _TRIAGE.first(report.key) if report.resolved else None)
    return Subject(report, _TRIAGE.first(report.key), _REPLY.first(report.key))


def apply(
    actor: Actor,
    subject: Subject,
    verb: str,
    decision: Decision,
    *,
    action: str,
    undoes: str | None = None,
) -> bool:
    """Store a decision about a locked report with its history row; returns False if it changes nothing.

    Resolving sets time and admin, replying the time; reopening clears both, the outcome with its proof, and the
    duplicate link. A report that is already resolved keeps its time and admin (B129). A decision that contains these
    columns, as an undo does, overrides this.
    """
    report, now = subject.report, timezone.now()
    after = {column: value for column, value in decision.items() if subject[column] != value}
    if not after:
        return False
    if after.get("resolved") is True:
        after = {"resolved_at": now, "resolved_by_id": actor.user_id, **after}
    elif after.get("resolved") is False:
        cleared = ("resolved_at", "resolved_by_id", "outcome", "proof", "duplicate_of_id")
        after |= {column: None for column in cleared if subject[column] is not None and column not in after}
    told = after
    if _of(after, REPLY_COLUMNS):
        # The row of a withdrawn reply has the time at which that happened; to everybody else it has none.
        is_told = projecting.is_told(after.get("public_status", subject["public_status"]))
        after, told = {"replied_at": now, **after}, {"replied_at": now if is_told else None, **after}
    change = new(
        TriageChange,
        feedback_id=report.pk,
        at=now,
        actor_id=actor.user_id,
        before={column: spelled(subject[column]) for column in told},
        after={column: spelled(value) for column, value in told.items()},
        verb=verb,
        action=action,
        undoes=undoes,
    )
    for event in _events(after):
        webhooks.announce(event, report, actor_id=actor.user_id, by_triage=True)
    if _of(after, REPLY_COLUMNS):
        webhooks.announce(webhooks.REPLIED, report, actor_id=actor.user_id, by_triage=True)
    _store(subject, after)
    if "admin_label" in after:
        labelling.follow(actor, report)
    _CHANGES.insert_all([change])
    if root := after.get("duplicate_of_id"):
        moved = following.lead(actor.user_id, of=report.pk, to=root, verb=FOLLOW, action=action, undoes=undoes)
        webhooks.announce_updates(moved, report, actor_id=actor.user_id)
        if undoes is None:
            _wake_original(root, report)
    return True


def _wake_original(root: int, copy: UserFeedback) -> None:
    """Wake an original that is snoozed until it happens again: a copy that was rated after that says that it did."""
    if not Triage.objects.filter(pk=root, snoozed_until_again=True).exists():
        return
    since = likeness.asleep_since([root]).get(root)
    if since is None or since <= copy.created:
        wake_again([root], copy.pk)


def _events(after: Decision) -> list[str]:
    found = [webhooks.UPDATED] if webhooks.told_by_update(after) else []
    if "resolved" in after:
        found.append(webhooks.RESOLVED if after["resolved"] else webhooks.REOPENED)
    return found


def _store(subject: Subject, after: Decision) -> None:
    if written := _of(after, REPORT_COLUMNS):
        _TRIAGED.update(_with(subject.report, written))
    if written := _of(after, BESIDE_COLUMNS):
        _BESIDE.insert_all([_with(subject.beside or Triage(feedback=subject.report), written)])
    if written := _of(after, REPLY_COLUMNS):
        if written.get("replied_at") is None:  # back to no reply at all, whose row stays
            written.pop("replied_at", None)
        _REPLIES.insert_all([_with(subject.reply or Reply(feedback=subject.report), written)])
        transaction.on_commit(partial(threads_hooks.wake_readers, subject.report.thread_id))


def _of(after: Decision, columns: Iterable[str]) -> dict[str, Any]:
    return {column: after[column] for column in columns if column in after}


def _with(row: Row, written: dict[str, Any]) -> Row:
    for column, value in written.items():
        setattr(row, column, value)
    return row
