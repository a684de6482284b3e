"""Request and response models of the desk's routes, for admins only; they contain the record of spec 3.10 unchanged."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from core.wire import UNCHANGED, Page, Patch, Wire
from feedback.deciding import VERBS
from feedback.querying import parse
from feedback.wire import NOTES_LENGTH, TriagedOut
from feedback.wire_checks import MOST_RUNS, RunIn

MOST_TICKED = 5_000
"""Most reports that a bulk takes by id; more need a query."""


class SaidOut(Wire):
    """A comment on an exported report."""

    author: str
    """Email address of its author."""
    created: datetime
    text: str


class ExportedOut(TriagedOut):
    """A report with its triage data, reply and comments, as exported."""

    comments: list[SaidOut]
    """What admins said to each other about it, oldest first."""


class QuotedOut(ExportedOut):
    """`ExportedOut` with the request and the rated answer."""

    request: str
    """Text of the user's request."""
    answer: str
    """Text of the rated answer."""
    model_profile: str
    """The model profile that answered; empty if unknown."""
    error_code: str
    """The error that the turn ended with; empty without one."""
    tools: list[str]
    """Names of the tools used for the answer."""


class DeskRecordOut(TriagedOut):
    """`TriagedOut` with its presence lease and version."""

    lease: str | None
    """Email address of the admin who has the report open; of several, the first."""
    version: str
    """Send it as `If-Match` to refuse a change if the report has changed since."""


class ChangeOut(Wire):
    """One change in a report's history. People are email addresses, reports are ids."""

    action_id: str
    """Shared by all changes of one action, such as a bulk."""
    verb: str
    """The action, or `undo`, `again`, `retract`, `follow` or `rename` for changes that follow from another event."""
    at: datetime
    actor: str
    """Email address of the person who caused the change."""
    before: dict[str, Any]
    """The changed fields with their old values."""
    after: dict[str, Any]
    """The changed fields with their new values."""
    undoes: str | None
    """The `action_id` that this change undoes."""


class ActIn(Patch):
    """One action with its arguments."""

    verb: Annotated[str, Field(json_schema_extra={"enum": [*VERBS]})]
    """What to do."""
    arguments: dict[str, Any] = {}
    """The arguments of the verb, such as `{"outcome": "fixed"}`."""


class ActedOut(Wire):
    """The result of an action."""

    action_id: str | None
    """Send it to undo the action within 30 minutes; null if nothing changed."""
    report: DeskRecordOut


class SeveralIn(Patch):
    """Several reports: those named, or all that match a query."""

    feedback_ids: Annotated[list[str], Field(max_length=MOST_TICKED)] | None = None
    """Ids of the reports; give either these or `query`."""
    query: str | None = None
    """A search query; it means all reports that match it now."""
    all: bool = False
    """Required as true if the query matches every report; alone, it stands for such a query."""

    @model_validator(mode="after")
    def _of_some(self) -> "SeveralIn":
        """Refuse an empty list, which is more likely a mistake than intended, and named ones besides all."""
        if self.feedback_ids is not None and not self.feedback_ids:
            raise ValueError("feedback_ids: must name at least one report")
        if self.feedback_ids is not None and self.all:
            raise ValueError("all: give either feedback_ids or all")
        return self

    @model_validator(mode="after")
    def _all_on_purpose(self) -> "SeveralIn":
        """Refuse a query for everything without `all`: an empty variable in a client must not act on all reports."""
        if self.query is not None and not self.all and parse(self.query).is_everything:
            raise ValueError('query: matches every report. If you mean that, also send "all": true')
        return self

    @property
    def asked(self) -> str | None:
        """The query; `all` alone stands for the one that matches every report."""
        return "" if self.all and self.feedback_ids is None and self.query is None else self.query


class BulkIn(ActIn, SeveralIn):
    """One action for several reports."""


class RerunAllIn(RunIn, SeveralIn):
    """Reports whose requests are answered again, and how."""

    feedback_ids: Annotated[list[str], Field(max_length=MOST_RUNS)] | None = None
    """Ids of the reports; give either these or `query`. Together they may have at most 500 runs."""


class UndoIn(Patch):
    """The action to undo."""

    action_id: str
    """From the response of an action or bulk, or from the history. That of an undo redoes what it took back."""


class FailureOut(Wire):
    """A report that a bulk could not change, and why."""

    feedback_id: str
    reason: str


class BulkOut(Wire):
    """One action on many reports; up to 200 are changed at once, more by a worker."""

    bulk_id: str
    action_id: str | None
    """Send it to undo the whole bulk within 30 minutes. Null if it has ended and changed nothing."""
    verb: str
    state: Literal["queued", "running", "done", "cancelled"]
    total: int
    """Number of reports, or of changes to undo."""
    done_count: int
    failed_count: int
    skipped_count: int
    """Reports that no longer matched, or that a cancelled bulk did not reach; 0 until it has ended."""
    failures: list[FailureOut]
    """The first 200 reports that could not be changed."""
    created: datetime
    finished_at: datetime | None


class CommentPatch(Patch):
    """The new text of your own comment."""

    text: Annotated[str, StringConstraints(max_length=NOTES_LENGTH)]
    """What to say. Up to 20 admins whom it names by address, the part before its @, or a word of the name, as
    `@bea@heddle.test` or `@bea`, are asked to answer."""


class SeenIn(Patch):
    """What you have read."""

    seen: str | None = None
    """Id of the last comment that you have read, empty if none: what others asked you later still waits for your
    answer. If it is absent or null, you have read all."""


class CommentIn(SeenIn, CommentPatch):
    """A comment for other admins. It answers what they asked you on this report."""


class CommentOut(Wire):
    """A comment that admins see; the submitter never does."""

    comment_id: str
    author: str
    """Email address of its author."""
    text: str
    created: datetime
    edited_at: datetime | None
    """When its author last changed it; null if never."""
    mentions: list[str]
    """Email addresses of the admins whom it names, and so asks."""
    answers: list[str]
    """Email addresses of those whose questions it answers, if it does not name them."""
    pending: list[str]
    """Those of both who have neither commented here since nor acknowledged it."""


class LeaseOut(Wire):
    """Who else has the report open."""

    held_by: str | None
    """Name of the other admin; null if nobody else has it open."""


class ViewIn(Patch):
    """A query with a name."""

    name: str
    query: str
    """A search query."""
    is_shared: bool = False
    """Whether all admins see it."""


class ViewPatch(Patch):
    """A change to your own view."""

    name: str = UNCHANGED
    query: str = UNCHANGED
    is_shared: bool = UNCHANGED


class ViewOut(Wire):
    """A saved or built-in view."""

    view_id: str | None
    """Null for built-in views."""
    name: str
    query: str
    is_shared: bool
    created_by: str | None
    """Email address of its author; null for built-in views."""
    count: int | None
    """Number of matching reports, at most 1000; null if the query is no longer valid, and for saved views in a list."""


class LabelNameIn(Patch):
    """A new label."""

    name: str
    """1 to 60 characters without a comma."""
    description: Annotated[str, StringConstraints(max_length=200)] = ""
    """What the label is for."""


class LabelPatch(Patch):
    """A new name or description of a label; all its reports follow a new name."""

    name: str = UNCHANGED
    """1 to 60 characters without a comma. The name of another label is a conflict, unless `merge` is true."""
    description: Annotated[str, StringConstraints(max_length=200)] = UNCHANGED
    """What the label is for."""
    merge: bool = False
    """Merge into the label of that name if there is one. This cannot be undone."""

    @model_validator(mode="after")
    def _something(self) -> "LabelPatch":
        if not self.model_fields_set & {"name", "description"}:
            raise ValueError("name: give a name, a description, or both")
        return self


class LabelOut(Wire):
    """A label."""

    name: str
    description: str
    """What the label is for."""
    report_count: int
    """Number of reports with this label."""


class LabelPageOut(Page[LabelOut]):
    """A page of labels."""


class ChangedLabelOut(LabelOut):
    """A label after a change."""

    bulk_id: str | None
    """The bulk that renames the label on its reports, possibly still running; null if the name did not change."""
