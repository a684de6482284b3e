"""What the desk's own routes take and give. Admins only; the wire's record (spec 3.10) is part of it, unchanged."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from core.wire import Patch, Wire
from feedback.querying import parse
from feedback.wire import FullFeedbackOut

MOST_TICKED = 5_000
"""More reports than these are named by a query."""


class ExportedOut(FullFeedbackOut):
    """A report with all that admins keep beside it, as it goes into a file."""

    labels: list[str]
    owner: str | None
    outcome: str | None
    duplicate_of: str | None
    snoozed_until: datetime | None
    snoozed_until_again: bool
    public_status: str
    public_reply: str | None
    replied_at: datetime | None


class QuotedOut(ExportedOut):
    """The same with what was asked and answered: the text of the request and of the rated answer, and what made it."""

    request: str
    answer: str
    model_profile: str
    error_code: str
    tools: list[str]


class DeskRecordOut(ExportedOut):
    """The same at the desk: `lease` is who has it open, `version` what If-Match takes."""

    lease: str | None
    version: str


class ChangeOut(Wire):
    """One line of a report's history. People are addresses, reports are ids."""

    action_id: str
    verb: str
    at: datetime
    actor: str
    before: dict[str, Any]
    after: dict[str, Any]
    undoes: str | None


class ActIn(Patch):
    """One verb with its arguments."""

    verb: str
    arguments: dict[str, Any] = {}


class ActedOut(Wire):
    """What came of it. `action_id` takes it back within 30 minutes; null where nothing changed."""

    action_id: str | None
    report: DeskRecordOut


class BulkIn(ActIn):
    """One verb for many reports: those named, or all that match a query. Every report there is takes `all` as well."""

    feedback_ids: Annotated[list[str], Field(max_length=MOST_TICKED)] | None = None
    query: str | None = None
    all: bool = False

    @model_validator(mode="after")
    def _of_some(self) -> "BulkIn":
        """An empty list is more often a mistake than a wish."""
        if self.feedback_ids is not None and not self.feedback_ids:
            raise ValueError("feedback_ids: must name at least one report")
        return self

    @model_validator(mode="after")
    def _all_on_purpose(self) -> "BulkIn":
        """An empty query means every report of every org, and a program's empty variable seldom does."""
        if self.query is not None and not self.all and parse(self.query).is_everything:
            raise ValueError(
                'query: leaves nothing out, which means every report. Send "all": true with it to mean that'
            )
        return self


class UndoIn(Patch):
    """The action to take back."""

    action_id: str


class FailureOut(Wire):
    """A report that a bulk left as it was, and why."""

    feedback_id: str
    reason: str


class BulkOut(Wire):
    """One action on many reports. `skipped_count` is of those that no longer matched when their turn came, and of a
    cancelled one of all that it never reached; 0 until it is over.
    """

    bulk_id: str
    action_id: str
    verb: str
    state: Literal["queued", "running", "done", "cancelled"]
    total: int
    done_count: int
    failed_count: int
    skipped_count: int
    failures: list[FailureOut]
    created: datetime
    finished_at: datetime | None


class LeaseOut(Wire):
    """Who has the report open: null is nobody else."""

    held_by: str | None


class ViewIn(Patch):
    """A query with a name."""

    name: str
    query: str
    is_shared: bool = False


class ViewPatch(Patch):
    """A change to one's own view."""

    name: str | None = None
    query: str | None = None
    is_shared: bool | None = None


class ViewOut(Wire):
    """A saved view; `view_id` is null for those that are built in. `count` stops at a thousand."""

    view_id: str | None
    name: str
    query: str
    is_shared: bool
    created_by: str | None
    count: int | None


class LabelNameIn(Patch):
    """A new label."""

    name: str
    description: Annotated[str, StringConstraints(max_length=200)] = ""


class LabelPatch(Patch):
    """What a label is for, and what it is called from now on: every report that carries it follows.

    A name that another label has is a conflict, unless `merge` says that both become one, which cannot be taken back.
    """

    name: str | None = None
    description: Annotated[str, StringConstraints(max_length=200)] | None = None
    merge: bool = False

    @model_validator(mode="after")
    def _something(self) -> "LabelPatch":
        if self.name is None and self.description is None:
            raise ValueError("name: give a name, a description, or both")
        return self


class LabelOut(Wire):
    """A label, and how many reports carry it."""

    name: str
    description: str
    report_count: int


class ChangedLabelOut(LabelOut):
    """A label as it is now. `bulk_id` is the renaming of its reports, maybe still under way; null without one."""

    bulk_id: str | None
