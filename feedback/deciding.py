"""What each verb of the desk makes of a report: its legality rule, and the columns that it changes. It stores nothing.

A decision is a mapping of columns to their new values. `feedback.triage` stores it with its history row; the row holds
before and after, so every verb has the same inverse, `feedback.undoing`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from accounts.models import User
from core import ids
from core.actor import Actor
from core.errors import Conflict, InvalidRequest, NotFound
from core.wire import Exact, Nothing
from feedback import following, label_text
from feedback.label_text import LABELS_LENGTH
from feedback.models import Reply, Triage, UserFeedback
from feedback.taxonomy import Outcome
from feedback.wire import TriageIn
from feedback.wire_verbs import (
    DuplicateIn,
    LabelIn,
    NoteIn,
    OwnIn,
    RenameIn,
    ReplyIn,
    ResolveIn,
    SnoozeIn,
)

REPORT_COLUMNS = ("admin_label", "admin_note", "resolved", "resolved_at", "resolved_by_id")
BESIDE_COLUMNS = ("owner_id", "outcome", "duplicate_of_id", "snoozed_until", "snoozed_until_again")
REPLY_COLUMNS = ("public_status", "public_reply")

SNOOZE_AT_MOST = timedelta(days=366)
_WITHOUT_A_ROW = {
    "owner_id": None,
    "outcome": None,
    "duplicate_of_id": None,
    "snoozed_until": None,
    "snoozed_until_again": False,
    "public_status": Reply.Status.RECEIVED.value,
    "public_reply": None,
}

AGAIN = "again"
"""No verb of the desk: somebody reported the same, so what was put off until then is due."""
RETRACT = "retract"
"""No verb of the desk: what a submitter's taking back did to reports that were duplicates of theirs."""
FOLLOW = "follow"
"""No verb of the desk: what became of the duplicates of a report that was made a duplicate itself."""
UNDO = "undo"
"""No verb of the desk: what took an action back."""

ANSWERS = frozenset({"resolve", "duplicate", "reply"})
"""Verbs that answer to what the submitter says."""

Decision = Mapping[str, Any]
_AWAKE: Decision = {"snoozed_until": None, "snoozed_until_again": False}
OPEN: Decision = {"resolved": False, **_AWAKE}
"""Open again, to be seen to now. Only an undo brings a snooze back, because it spells out what was before."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A report with what stands beside it, as a verb finds it, under the report's lock: `subject["owner_id"]`."""

    report: UserFeedback
    beside: Triage | None = None
    reply: Reply | None = None

    def __getitem__(self, column: str) -> Any:
        if column in REPORT_COLUMNS:
            return getattr(self.report, column)
        row = self.beside if column in BESIDE_COLUMNS else self.reply
        return _WITHOUT_A_ROW[column] if row is None else getattr(row, column)


class ResolvedAlready(Conflict):
    """What was to be closed is: `by` is the row id of who did it."""

    def __init__(self, message: str, *, by: int | None) -> None:
        super().__init__(message, details=[])  # a name at its beginning is no field, whatever it holds
        self.by = by


def update(actor: Actor, subject: Subject, body: TriageIn) -> Decision:
    """The wire's own triage update (H8): what it spells out, and what opening again takes along."""
    changes = body.changes()
    opens = changes.get("resolved") is False and subject.report.resolved
    return {**changes, **OPEN} if opens else changes


def label(actor: Actor, subject: Subject, body: LabelIn) -> Decision:
    """Put labels on and take labels off."""
    text = label_text.changed(subject.report.admin_label, add=body.add, remove=body.remove)
    if len(text) > LABELS_LENGTH:
        raise InvalidRequest(f"add: the labels of a report hold at most {LABELS_LENGTH} characters together")
    return {"admin_label": text or None}


def rename(actor: Actor, subject: Subject, body: RenameIn) -> Decision:
    """Call a label otherwise; where the report has the other one already, that one stays."""
    text = label_text.renamed(subject.report.admin_label, body.label, body.to)
    if len(text) > LABELS_LENGTH:
        raise InvalidRequest(f"The labels of a report hold at most {LABELS_LENGTH} characters together.")
    return {"admin_label": text or None}


def note(actor: Actor, subject: Subject, body: NoteIn) -> Decision:
    """Write the admins' note."""
    return {"admin_note": body.admin_note if body.admin_note and body.admin_note.strip() else None}


def own(actor: Actor, subject: Subject, body: OwnIn) -> Decision:
    """Take a report, give it to another admin, or let go of it."""
    return {"owner_id": _admin(actor, body.owner) if body.owner else None}


def resolve(actor: Actor, subject: Subject, body: ResolveIn) -> Decision:
    """Done with an outcome. What is resolved already was resolved by somebody, and stays theirs."""
    _require_open(subject)
    return {"resolved": True, "outcome": body.outcome}


def reopen(actor: Actor, subject: Subject, body: Nothing) -> Decision:
    """Open again: outcome and duplicate go with the resolution, and so does what it was put off until before."""
    if not subject.report.resolved:
        raise Conflict("This report is open.")
    return OPEN


def duplicate(actor: Actor, subject: Subject, body: DuplicateIn) -> Decision:
    """Resolved as the same complaint as another report of its org: of a duplicate, as what that is a duplicate of.

    Its own duplicates follow. All that it names is locked before (`following.hold`).
    """
    _require_open(subject)
    of = named_by(body)
    if of is None:
        raise NotFound.of("report", body.duplicate_of[:80])
    root = following.root_of(of.pk)
    if of.pk == subject.report.pk:
        raise InvalidRequest("duplicate_of: a report is no duplicate of itself")
    if root == subject.report.pk:
        raise InvalidRequest("duplicate_of: is a duplicate of this report itself")
    if of.org_id != subject.report.org_id:
        raise InvalidRequest("duplicate_of: is a report of another org")
    return {"resolved": True, "outcome": Outcome.DUPLICATE.value, "duplicate_of_id": root}


def named_by(body: DuplicateIn) -> UserFeedback | None:
    """The report that another one is to be a duplicate of."""
    return UserFeedback.objects.filter(key=ids.key_of(body.duplicate_of, ids.FEEDBACK) or "").first()


def snooze(actor: Actor, subject: Subject, body: SnoozeIn) -> Decision:
    """Out of sight until a time, or until the same thing is reported again."""
    _require_open(subject)
    if body.until is not None:
        require_ahead(body.until)
    return {"snoozed_until": body.until, "snoozed_until_again": body.until_again}


def require_ahead(until: datetime) -> None:
    """Refuse a time until which no report may be put off."""
    if not timezone.now() < until <= timezone.now() + SNOOZE_AT_MOST:
        raise InvalidRequest("until: must be in the future, and within a year")


def wake(actor: Actor, subject: Subject, body: Nothing) -> Decision:
    """Back in sight."""
    if subject["snoozed_until"] is None and not subject["snoozed_until_again"]:
        raise Conflict("This report is not snoozed.")
    return _AWAKE


def reply(actor: Actor, subject: Subject, body: ReplyIn) -> Decision:
    """Tell the submitter, in words meant for them. An answer needs words; `received` takes back what was said."""
    words = body.public_reply if body.public_reply and body.public_reply.strip() else None
    if body.public_status == Reply.Status.ANSWERED and words is None:
        raise InvalidRequest("public_reply: an answer needs words")
    if body.public_status == Reply.Status.RECEIVED:
        words = None
    return {"public_status": body.public_status.value, "public_reply": words}


@dataclass(frozen=True, slots=True)
class Verb:
    """One thing that an admin may do to a report."""

    name: str
    takes: type[Exact]
    decide: Callable[[Actor, Subject, Any], Decision]
    merges: bool = False
    """What it writes is added to what others wrote meanwhile, so that no two of them conflict."""


UPDATE = Verb("update", TriageIn, update)
RENAME = Verb("rename", RenameIn, rename)
"""No verb of the desk: what the renaming of a label does to each report."""
VERBS: dict[str, Verb] = {
    verb.name: verb
    for verb in (
        Verb("label", LabelIn, label, merges=True),
        Verb("note", NoteIn, note),
        Verb("own", OwnIn, own),
        Verb("resolve", ResolveIn, resolve),
        Verb("reopen", Nothing, reopen),
        Verb("duplicate", DuplicateIn, duplicate),
        Verb("snooze", SnoozeIn, snooze),
        Verb("wake", Nothing, wake),
        Verb("reply", ReplyIn, reply),
    )
}


def verb_named(name: str) -> Verb:
    """The verb with that name; any other name is an invalid request that says which there are."""
    if name not in VERBS:
        raise InvalidRequest(f"verb: must be one of {', '.join(VERBS)}")
    return VERBS[name]


def spelled(column: str, value: Any) -> Any:
    """A column's value as history keeps it: JSON."""
    return value.isoformat() if isinstance(value, datetime) else value


def read_back(column: str, value: Any) -> Any:
    """What `spelled` wrote."""
    return datetime.fromisoformat(value) if value and column in ("resolved_at", "snoozed_until") else value


def _require_open(subject: Subject) -> None:
    if subject.report.resolved:
        by = subject.report.resolved_by
        who = by.display_name if by else "Somebody"
        raise ResolvedAlready(f"{who} resolved this report already.", by=by.pk if by else None)


def _admin(actor: Actor, owner: str) -> int:
    if owner == "me":
        return actor.user_id
    found = User.objects.admins().filter(email=owner.strip().lower()).values_list("pk", flat=True)
    if not found:
        raise InvalidRequest(f"owner: {owner[:80]} is no admin")
    return found[0]
