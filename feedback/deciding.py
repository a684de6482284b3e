"""What each verb of the desk makes of a report: its legality rule, and the columns that it changes. It stores nothing.

A decision is a mapping of columns to their new values. `feedback.triage` stores it with its history row; the row holds
before and after, so every verb has the same inverse, `feedback.undoing`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from django.utils import timezone
from pydantic import AwareDatetime, BeforeValidator, Field, StringConstraints, model_validator

from accounts.models import User
from core import ids
from core.actor import Actor
from core.errors import Conflict, InvalidRequest, NotFound
from core.wire import Patch, Spelling
from feedback.models import Reply, Triage, UserFeedback
from feedback.taxonomy import Outcome
from feedback.wire import NOTES_LENGTH, TriageIn

REPORT_COLUMNS = ("admin_label", "admin_note", "resolved", "resolved_at", "resolved_by_id")
BESIDE_COLUMNS = ("owner_id", "outcome", "duplicate_of_id", "snoozed_until", "snoozed_until_again")
REPLY_COLUMNS = ("public_status", "public_reply")

LABEL_LENGTH = 60
LABELS_LENGTH = 200
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
UNDO = "undo"
"""No verb of the desk: what took an action back."""

ANSWERS = frozenset({"resolve", "duplicate", "reply"})
"""Verbs that answer to what the submitter says."""

Decision = Mapping[str, Any]
_OneLine = Spelling(r"[^,\r\n]*[^,\s][^,\r\n]*", "must be words on one line, without a comma")
Label = Annotated[str, StringConstraints(min_length=1, max_length=LABEL_LENGTH), _OneLine]
Written = Annotated[str, StringConstraints(min_length=1, max_length=LABELS_LENGTH), _OneLine]
"""A label as it stands on a report: what the wire's own update wrote there may be longer."""


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
        super().__init__(message)
        self.by = by


class LabelIn(Patch):
    """Labels to put on and to take off."""

    add: Annotated[list[Label], Field(max_length=1_000)] = []
    remove: Annotated[list[Written], Field(max_length=1_000)] = []

    @model_validator(mode="after")
    def _something(self) -> "LabelIn":
        if not self.add and not self.remove:
            raise ValueError("add: name a label to add, or one to remove")
        return self


class RenameIn(Patch):
    """A label, and what it is called from now on."""

    label: Label
    to: Label


class NoteIn(Patch):
    """The admins' note; null or blank takes it away."""

    admin_note: Annotated[str, StringConstraints(max_length=NOTES_LENGTH)] | None


class OwnIn(Patch):
    """Who sees to it: an admin's address, `me`, or null for nobody."""

    owner: str | None


def _not_of_another(outcome: Any) -> Any:
    if outcome == Outcome.DUPLICATE:
        raise ValueError("a duplicate is named by the verb duplicate, which says of what")
    return outcome


_Ending = BeforeValidator(_not_of_another)
_ENDINGS = tuple(outcome.value for outcome in Outcome if outcome is not Outcome.DUPLICATE)


class ResolveIn(Patch):
    """How it ended."""

    outcome: Annotated[Literal[_ENDINGS], _Ending] = Outcome.NOTED.value  # type: ignore[valid-type]


class NothingIn(Patch):
    """A verb that says all there is to say."""


class DuplicateIn(Patch):
    """The report that says the same, and stays."""

    duplicate_of: str


class SnoozeIn(Patch):
    """Until a time, or until it happens again."""

    until: Annotated[AwareDatetime, Field(strict=False)] | None = None
    until_again: bool = False

    @model_validator(mode="after")
    def _one_of_them(self) -> "SnoozeIn":
        if (self.until is None) is not self.until_again:
            raise ValueError("until: give either a time or until_again")
        return self


class ReplyIn(Patch):
    """What the submitter is told."""

    public_status: Annotated[Reply.Status, Field(strict=False)] = Reply.Status.ANSWERED
    public_reply: Annotated[str, StringConstraints(max_length=NOTES_LENGTH)] | None = None


def update(actor: Actor, subject: Subject, body: TriageIn) -> Decision:
    """The wire's own triage update (H8): what it spells out, and nothing else."""
    return body.changes()


def label(actor: Actor, subject: Subject, body: LabelIn) -> Decision:
    """Put labels on and take labels off. Case and blanks tell no two apart; what is there stays as it is spelled."""
    gone = {_plain(name).casefold() for name in body.remove}
    there = written_labels(subject.report.admin_label)
    kept = [name for name in there if not gone & {name.casefold(), _short(name).casefold()}]
    held = {name.casefold() for name in kept}
    for name in map(_plain, body.add):
        if name.casefold() not in held:
            held.add(name.casefold())
            kept.append(name)
    text = ", ".join(kept)
    if len(text) > LABELS_LENGTH:
        raise InvalidRequest(f"add: the labels of a report hold at most {LABELS_LENGTH} characters together")
    return {"admin_label": text or None}


def rename(actor: Actor, subject: Subject, body: RenameIn) -> Decision:
    """Call a label otherwise; where the report has the other one already, that one stays. All else of the text too."""
    old, new = body.label.casefold(), body.to.casefold()
    kept, is_there = [], False
    for part in (subject.report.admin_label or "").split(","):
        folded = _short(_plain(part)).casefold()
        if folded not in (old, new):
            kept.append(part)
        elif not is_there:
            is_there = True
            blank = part[: len(part) - len(part.lstrip())]
            kept.append(blank + body.to if folded == old else part)
    text = ",".join(kept)
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


def reopen(actor: Actor, subject: Subject, body: NothingIn) -> Decision:
    """Open again: outcome and duplicate go with the resolution."""
    if not subject.report.resolved:
        raise Conflict("This report is open.")
    return {"resolved": False}


def duplicate(actor: Actor, subject: Subject, body: DuplicateIn) -> Decision:
    """Resolved as the same complaint as another report of its org. Of a duplicate's duplicate only the first stays."""
    _require_open(subject)
    # Locked, so that of two admins who name each other's report at once only one is heard.
    named = UserFeedback.objects.select_for_update(no_key=True)
    of = named.filter(key=ids.key_of(body.duplicate_of, ids.FEEDBACK) or "").first()
    if of is None:
        raise NotFound.of("report", body.duplicate_of[:80])
    root = Triage.objects.filter(pk=of.pk).values_list("duplicate_of", flat=True).first() or of.pk
    if root == subject.report.pk:
        raise InvalidRequest("duplicate_of: a report is no duplicate of itself")
    if of.org_id != subject.report.org_id:
        raise InvalidRequest("duplicate_of: is a report of another org")
    return {"resolved": True, "outcome": Outcome.DUPLICATE.value, "duplicate_of_id": root}


def snooze(actor: Actor, subject: Subject, body: SnoozeIn) -> Decision:
    """Out of sight until a time, or until the same thing is reported again."""
    _require_open(subject)
    if body.until is not None and not timezone.now() < body.until <= timezone.now() + SNOOZE_AT_MOST:
        raise InvalidRequest("until: must be in the future, and within a year")
    return {"snoozed_until": body.until, "snoozed_until_again": body.until_again}


def wake(actor: Actor, subject: Subject, body: NothingIn) -> Decision:
    """Back in sight."""
    if subject["snoozed_until"] is None and not subject["snoozed_until_again"]:
        raise Conflict("This report is not snoozed.")
    return {"snoozed_until": None, "snoozed_until_again": False}


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
    takes: type[Patch]
    decide: Callable[[Actor, Subject, Any], Decision]


UPDATE = Verb("update", TriageIn, update)
RENAME = Verb("rename", RenameIn, rename)
"""No verb of the desk: what the renaming of a label does to each report."""
VERBS: dict[str, Verb] = {
    verb.name: verb
    for verb in (
        Verb("label", LabelIn, label),
        Verb("note", NoteIn, note),
        Verb("own", OwnIn, own),
        Verb("resolve", ResolveIn, resolve),
        Verb("reopen", NothingIn, reopen),
        Verb("duplicate", DuplicateIn, duplicate),
        Verb("snooze", SnoozeIn, snooze),
        Verb("wake", NothingIn, wake),
        Verb("reply", ReplyIn, reply),
    )
}


def verb_named(name: str) -> Verb:
    """The verb with that name; any other name is an invalid request that says which there are."""
    if name not in VERBS:
        raise InvalidRequest(f"verb: must be one of {', '.join(VERBS)}")
    return VERBS[name]


def written_labels(admin_label: str | None) -> list[str]:
    """The labels in the wire's one text: parted by commas, each once, in the order they stand, each as it is written.

    The wire's own update (H8) takes any text, so one of them may be longer than the desk's verb takes.
    """
    return _each_once(map(_plain, (admin_label or "").split(",")))


def labels_of(admin_label: str | None) -> list[str]:
    """The same by the names under which labels are found and counted: of a longer one, its beginning."""
    return _each_once(map(_short, written_labels(admin_label)))


def _each_once(names: Iterable[str]) -> list[str]:
    found: dict[str, str] = {}
    for name in filter(None, names):
        found.setdefault(name.casefold(), name)
    return list(found.values())


def _short(name: str) -> str:
    return name[:LABEL_LENGTH].strip()


def _plain(name: str) -> str:
    return " ".join(name.split())


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
