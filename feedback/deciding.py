"""What each verb of the desk does: when it is allowed, and which columns it changes. Nothing is stored here.

A decision is a mapping of columns to their new values. `feedback.triage` stores it with a history row, which holds the
values before and after, so that `feedback.undoing` can undo every verb in the same way.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone

from accounts.models import User
from core import ids
from core.actor import Actor
from core.errors import Conflict, InvalidRequest, NotFound, Unauthorized
from core.wire import Exact, Nothing
from feedback import following, label_text, proofs
from feedback.models import Reply, Retraction, Triage, UserFeedback
from feedback.projecting import is_told
from feedback.taxonomy import Outcome
from feedback.wire import TriageIn
from feedback.wire_verbs import (
    DuplicateIn,
    LabelIn,
    NoteIn,
    OutcomeIn,
    OwnIn,
    RenameIn,
    ReplyIn,
    ResolveIn,
    SnoozeIn,
)

REPORT_COLUMNS = ("admin_label", "admin_note", "resolved", "resolved_at", "resolved_by_id")
BESIDE_COLUMNS = ("owner_id", "outcome", "duplicate_of_id", "snoozed_until", "snoozed_until_again", "proof")
REPLY_COLUMNS = ("public_status", "public_reply", "replied_at")

SNOOZE_AT_MOST = timedelta(days=366)
_WITHOUT_A_ROW = {
    "owner_id": None,
    "outcome": None,
    "duplicate_of_id": None,
    "snoozed_until": None,
    "snoozed_until_again": False,
    "proof": None,
    "public_status": Reply.Status.RECEIVED.value,
    "public_reply": None,
    "replied_at": None,
}

AGAIN = "again"
"""System event, not available as an action: a snoozed report is due because the same was reported again."""
RETRACT = "retract"
"""System event, not available as an action: the original of a duplicate was retracted."""
FOLLOW = "follow"
"""System event, not available as an action: the original of a duplicate became a duplicate itself."""
UNDO = "undo"
"""System event, not available as an action: an action was undone."""
REDO = "redo"
"""Verb of a bulk that undoes an undo. Its changes are actions again, with the verbs that were undone."""

ANSWERS = frozenset({"resolve", "duplicate", "reply"})
"""Verbs that depend on what the submitter wrote."""

_TIMES = frozenset({"resolved_at", "snoozed_until", "replied_at"})
Decision = Mapping[str, Any]
_NOT_SNOOZED: Decision = {"snoozed_until": None, "snoozed_until_again": False}
OPEN: Decision = {"resolved": False, **_NOT_SNOOZED}
"""Open and not snoozed. Only an undo restores a snooze, because it writes the earlier values."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A locked report with its triage row and reply; read columns with `subject["owner_id"]`."""

    report: UserFeedback
    beside: Triage | None = None
    reply: Reply | None = None

    def __getitem__(self, column: str) -> Any:
        if column in REPORT_COLUMNS:
            return getattr(self.report, column)
        row = self.beside if column in BESIDE_COLUMNS else self.reply
        if column == "replied_at" and self.reply and not is_told(self.reply.public_status):
            row = None  # that of a withdrawn reply stays, with the time at which that happened
        return _WITHOUT_A_ROW[column] if row is None else getattr(row, column)


class ResolvedAlready(Conflict):
    """The report is already resolved; `by` is the row id of the user who did it."""

    def __init__(self, message: str, *, by: int | None) -> None:
        super().__init__(message, details=[])  # the message begins with a person's name, which is not a field
        self.by = by


def update(actor: Actor, subject: Subject, body: TriageIn) -> Decision:
    """The triage update of the wire (H8): the given columns, plus the effects of reopening."""
    changes = body.changes()
    opens = changes.get("resolved") is False and subject.report.resolved
    return {**changes, **OPEN} if opens else changes


def label(actor: Actor, subject: Subject, body: LabelIn) -> Decision:
    """Add and remove labels."""
    text = label_text.changed(subject.report.admin_label, add=body.add, remove=body.remove)
    return _labelled(text, field="add")


def rename(actor: Actor, subject: Subject, body: RenameIn) -> Decision:
    """Rename a label; if the report already has the new one, only that stays."""
    text = label_text.renamed(subject.report.admin_label, body.label, body.to)
    return _labelled(text)


def _labelled(text: str, *, field: str = "") -> Decision:
    """A report's labels; raises `InvalidRequest` if they are too long, in `field` if they come from one."""
    if label_text.is_too_long(text):
        reason = f"all labels of a report together may have at most {label_text.LABELS_LENGTH} characters"
        raise InvalidRequest(f"{field}: {reason}" if field else f"{reason.capitalize()}.")
    return {"admin_label": text or None}


def note(actor: Actor, subject: Subject, body: NoteIn) -> Decision:
    """Set or clear the admin note."""
    return {"admin_note": body.admin_note}


def own(actor: Actor, subject: Subject, body: OwnIn) -> Decision:
    """Claim a report, assign it to another admin, or release it."""
    return {"owner_id": _admin(actor, body.owner) if body.owner else None}


def resolve(actor: Actor, subject: Subject, body: ResolveIn) -> Decision:
    """Resolve with an outcome. Refused if it is already resolved, so that the first resolution stays, unless the
    submitter changed the rating since; a duplicate then stays one.
    """
    if not is_revisited(subject.report):
        require_open(subject)
        return {"resolved": True, "outcome": body.outcome, "proof": _proof(actor, subject, body.proof)}
    is_copy = bool(subject["duplicate_of_id"])
    outcome = {} if is_copy else {"outcome": body.outcome, "proof": _proof(actor, subject, body.proof)}
    return {**outcome, "resolved_at": timezone.now(), "resolved_by_id": actor.user_id}


def is_revisited(report: UserFeedback) -> bool:
    """Whether the submitter changed the rating after it was resolved."""
    return report.resolved_at is not None and report.modified > report.resolved_at


def resolves_again(after: Decision) -> bool:
    """Whether a change resolved a report that was resolved already."""
    return "resolved_at" in after and "resolved" not in after


def outcome(actor: Actor, subject: Subject, body: OutcomeIn) -> Decision:
    """Change the outcome of a resolved report, and what shows it; who resolved it and when stays."""
    if not subject.report.resolved:
        raise Conflict("This report is open. Resolve it with an outcome.")
    if subject["duplicate_of_id"] is not None:
        raise Conflict("This report is a duplicate. Reopen it to give it another outcome.")
    return {"outcome": body.outcome, "proof": _proof(actor, subject, body.proof)}


def _proof(actor: Actor, subject: Subject, thread_id: str | None) -> str | None:
    if thread_id is None:
        return None
    try:
        return proofs.fork_of(actor, subject.report, thread_id).thread_id
    except (NotFound, Unauthorized):
        raise InvalidRequest("proof: is no fork of the rated thread before the rated answer") from None


def reopen(actor: Actor, subject: Subject, body: Nothing) -> Decision:
    """Reopen; also clears outcome, what shows it, duplicate link and snooze."""
    if not subject.report.resolved:
        raise Conflict("This report is already open.")
    return OPEN


def duplicate(actor: Actor, subject: Subject, body: DuplicateIn) -> Decision:
    """Resolve as a copy of another report of its org; if that one is itself a duplicate, of its original.

    Its own duplicates follow. All reports that it names are locked before (`following.hold`).
    """
    require_open(subject)
    of = _original(body)
    root = following.root_of(of.pk)
    if of.pk == subject.report.pk:
        raise InvalidRequest("duplicate_of: a report cannot be a duplicate of itself")
    if root == subject.report.pk:
        raise InvalidRequest("duplicate_of: is itself a duplicate of this report")
    if of.org_id != subject.report.org_id:
        raise InvalidRequest("duplicate_of: is in another org")
    return {"resolved": True, "outcome": Outcome.DUPLICATE.value, "duplicate_of_id": root}


def named_by(body: DuplicateIn) -> UserFeedback | None:
    """The report named as the original, None if there is none with that id."""
    return UserFeedback.objects.filter(key=ids.key_of(body.duplicate_of, ids.FEEDBACK) or "").first()


def _original(body: DuplicateIn) -> UserFeedback:
    if of := named_by(body):
        return of
    if Retraction.objects.filter(key=ids.key_of(body.duplicate_of, ids.FEEDBACK) or "").exists():
        raise InvalidRequest("duplicate_of: its submitter retracted that report")
    raise InvalidRequest(f"duplicate_of: there is no report {body.duplicate_of[:80]}")


def snooze(actor: Actor, subject: Subject, body: SnoozeIn) -> Decision:
    """Snooze until a time, or until the same is reported again."""
    require_open(subject)
    if body.until is not None:
        require_ahead(body.until)
    return {"snoozed_until": body.until, "snoozed_until_again": body.until_again}


def require_ahead(until: datetime) -> None:
    """Refuse a time that a report may not be snoozed until."""
    if not timezone.now() < until <= timezone.now() + SNOOZE_AT_MOST:
        raise InvalidRequest("until: must be in the future and within a year")


def wake(actor: Actor, subject: Subject, body: Nothing) -> Decision:
    """End a snooze."""
    if subject["snoozed_until"] is None and not subject["snoozed_until_again"]:
        raise Conflict("This report is not snoozed.")
    return _NOT_SNOOZED


def reply(actor: Actor, subject: Subject, body: ReplyIn) -> Decision:
    """Reply to the submitter; the status `received` withdraws the reply."""
    words = body.public_reply if body.public_status == Reply.Status.ANSWERED else None
    return {"public_status": body.public_status.value, "public_reply": words}


def require_possible(actor: Actor, body: Exact) -> None:
    """Refuse arguments that fit no report, as the verb would, before it is tried on many."""
    match body:
        case OwnIn(owner=str(owner)) if owner:
            _admin(actor, owner)
        case SnoozeIn(until=datetime() as until):
            require_ahead(until)
        case DuplicateIn():
            _original(body)


Decisions = Callable[[Subject], Sequence[tuple[str, Decision]]]
"""The decisions about a report, each with the verb by which history names it; no two write the same columns."""


def _not_decided(actor: Actor, subject: Subject, body: Any) -> Decision:
    raise InvalidRequest("verb: is an action on several reports")


@dataclass(frozen=True, slots=True)
class Verb:
    """An action that an admin may take on a report."""

    name: str
    takes: type[Exact]
    decide: Callable[[Actor, Subject, Any], Decision] = _not_decided
    merges: bool = False
    """What it writes is added to what others wrote meanwhile, so that no two of them conflict."""
    is_of_open: bool = False
    """Pages offer it only for open reports: pressed there, it was meant for one."""
    together: Callable[[Actor, Sequence[UserFeedback], Any], Decisions] | None = None
    """Of an action on several reports: reads once what it needs of all of them."""

    def of_many(self, actor: Actor, reports: Sequence[UserFeedback], body: Exact) -> Decisions:
        """What it decides about each of several reports."""
        if self.together is not None:
            return self.together(actor, reports, body)
        return lambda subject: [(self.name, self.decide(actor, subject, body))]


UPDATE = Verb("update", TriageIn, update)
RENAME = Verb("rename", RenameIn, rename)
"""System event, not available as an action: a label of the report was renamed."""
VERBS: dict[str, Verb] = {
    verb.name: verb
    for verb in (
        Verb("label", LabelIn, label, merges=True),
        Verb("note", NoteIn, note),
        Verb("own", OwnIn, own, is_of_open=True),
        Verb("resolve", ResolveIn, resolve),
        Verb("outcome", OutcomeIn, outcome),
        Verb("reopen", Nothing, reopen),
        Verb("duplicate", DuplicateIn, duplicate),
        Verb("snooze", SnoozeIn, snooze),
        Verb("wake", Nothing, wake),
        Verb("reply", ReplyIn, reply),
    )
}


def verb_named(name: str) -> Verb:
    """The verb with that name; raises `InvalidRequest` that lists the verbs for any other."""
    if name not in VERBS:
        raise InvalidRequest(f"verb: must be one of {', '.join(VERBS)}")
    return VERBS[name]


def spelled(value: Any) -> Any:
    """A column's value as JSON, for history; times as in all records."""
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value


def read_back(column: str, value: Any) -> Any:
    """The inverse of `spelled`."""
    return datetime.fromisoformat(value) if value and column in _TIMES else value


def require_open(subject: Subject) -> None:
    """Refuse a resolved report, and say whose resolution it is."""
    if subject.report.resolved:
        by = subject.report.resolved_by
        who = by.display_name if by else "Somebody"
        raise ResolvedAlready(f"{who} already resolved this report.", by=by.pk if by else None)


def _admin(actor: Actor, owner: str) -> int:
    if owner == "me":
        return actor.user_id
    found = User.objects.admins().filter(email=owner.strip().lower()).values_list("pk", flat=True)
    if not found:
        raise InvalidRequest(f"owner: {owner[:80]} is not an admin")
    return found[0]
