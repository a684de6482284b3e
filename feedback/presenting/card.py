"""View models of the open report: its state, its history, and what conflicts with a change."""

from dataclasses import dataclass, field
from datetime import datetime

from core import moments
from feedback.presenting.alike import Alike, Near
from feedback.presenting.folding import is_long
from feedback.presenting.talk import Talk
from feedback.presenting.words import Spelled, categories_line
from feedback.taxonomy import Outcome


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """Who did what to a report: `bob changed the label <before> to <after>`."""

    who: str
    what: str
    at: datetime
    before: str = ""
    after: str = ""
    href: str = ""
    """The comparison of a fork with the rated thread, or a batch of its check."""
    link: str = "compare"
    """The word for that."""
    rerun: str = ""
    """The id of the thread of a rerun, to compare with the rated answer here: it was made, or shows the outcome."""
    undoable: str = ""
    """The id of the action that this tells of, if it is the reader's own and can be undone."""
    extent: int = 1
    """How many reports that action changed."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """A conflicting change: who changed what, what a second press does, and both versions with their names; `column` is
    that of a text, at whose field it is shown.
    """

    who: str
    again: str = ""
    sides: tuple[tuple[str, str], ...] = ()
    column: str = ""


@dataclass(frozen=True)
class ReportCard(Spelled):
    """The report pane. `next_href` is opened after resolving, `here` after saving."""

    feedback_id: str
    sentiment: str
    categories: tuple[str, ...]
    notes: str
    by: str
    created: datetime
    thread_id: str
    thread_title: str
    message_index: int
    next_href: str
    here: str
    org: str = ""
    modified: datetime | None = None
    resolved: bool = False
    resolved_by: str = ""
    resolved_at: datetime | None = None
    is_revisited: bool = False
    """Whether the submitter changed it after it was resolved."""
    labels: tuple[str, ...] = ()
    admin_note: str = ""
    owner: str = ""
    owner_email: str = ""
    is_mine: bool = False
    outcome: str = ""
    proof: str = ""
    """The id of the thread that shows the outcome."""
    duplicate_of: str = ""
    duplicate_count: int = 0
    snoozed_until: datetime | None = None
    snoozed_until_again: bool = False
    is_due: bool = False
    public_status: str = "received"
    public_reply: str = ""
    replied_at: datetime | None = None
    held_by: str = ""
    version: str = ""
    history: tuple[HistoryLine, ...] = ()
    earlier_changes: int = 0
    """How many changes before those of the history are not shown."""
    near: tuple[Near, ...] = ()
    talk: Talk = field(default_factory=Talk)
    may_fork: bool = False
    has_agent: bool = False
    """Whether its thread was launched from an agent, whose prompt may be another one now."""
    note_back: str = ""
    """A note that the reader's undo of something else took back, offered again; `reply_back` likewise."""
    reply_back: str = ""

    @property
    def usual_outcome(self) -> str:
        """Its outcome; of an open one that with which it is resolved unless another is chosen: a reply is an answer."""
        if self.resolved:
            return self.outcome
        return Outcome.ANSWERED if self.public_status == "answered" else Outcome.NOTED

    @property
    def categories_line(self) -> str:
        """The categories in one line."""
        return categories_line(self.categories)

    @property
    def said(self) -> str:
        """The rating in one line: `Negative, slow: It took a minute`."""
        rating = f"{self.word}, {self.categories_line}" if self.categories else self.word
        return f"{rating}: {self.notes}" if self.notes else rating

    @property
    def is_long(self) -> bool:
        """Whether the notes are too long to show in full; then eight lines are shown."""
        return is_long(self.notes)

    @property
    def last_rerun(self) -> str:
        """The id of the thread of the latest rerun, empty without any."""
        return next((each.rerun for each in self.history if each.rerun), "")

    @property
    def is_edited(self) -> bool:
        """Whether the submitter changed the rating."""
        return self.modified is not None and self.modified != self.created

    @property
    def alike(self) -> Alike:
        """The reports like this one."""
        return Alike(self.feedback_id, self.here, self.near, resolved=self.resolved)

    @property
    def outcome_word(self) -> str:
        """The label of the outcome, empty without one."""
        return Outcome(self.outcome).label if self.outcome else ""

    @property
    def state_line(self) -> str:
        """The state in words: `unclaimed`, `owned by bob, snoozed, due`, `resolved by bob, fixed, owned by alice`."""
        if self.resolved:
            by = f" by {self.resolved_by}" if self.resolved_by else ""
            said = f"resolved{by}" + (f", {self.outcome_word.lower()}" if self.outcome else "")
            said = f"{said}, changed since" if self.is_revisited else said
            return f"{said}, {self._owned}" if self.owner not in ("", self.resolved_by) else said
        return f"{self._owned}, {self.snooze}" if self.snooze else self._owned

    @property
    def _owned(self) -> str:
        return "yours" if self.is_mine else f"owned by {self.owner}" if self.owner else "unclaimed"

    @property
    def snooze(self) -> str:
        """Until when it is snoozed; empty if it is not."""
        if self.snoozed_until_again:
            return "snoozed until it happens again"
        if self.snoozed_until is None:
            return ""
        return "snoozed, due" if self.is_due else f"snoozed until {moments.spoken(self.snoozed_until)}"
