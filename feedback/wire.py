"""Request and response models of the feedback routes (spec 2.5, 3.10), with one projection per audience.

`UserFeedbackOut` names its fields one by one, so that a column added for admins can never reach a submitter by
accident. `FullFeedbackOut` adds the admins' five.
"""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from core.visible import is_visible
from core.wire import UNCHANGED, Body, Page, Patch, Wire
from feedback.taxonomy import FITTING, NEEDS_NOTES, Category, Sentiment

NOTES_LENGTH = 20_000


def _seen_or_none(text: str) -> str | None:
    return text if is_visible(text) else None


AdminNote = Annotated[str, StringConstraints(max_length=NOTES_LENGTH), AfterValidator(_seen_or_none)] | None
"""A note among admins; null, and one of which nothing is seen, removes it."""


class FeedbackIn(Body):
    """A rating. Duplicate categories are merged, blank notes count as none; each category must fit the sentiment."""

    sentiment: Annotated[Sentiment, Field(strict=False)]
    categories: Annotated[list[Annotated[Category, Field(strict=False)]], Field(max_length=100)] = []
    """Reasons for the rating; each must fit the sentiment."""
    notes: Annotated[str, StringConstraints(max_length=NOTES_LENGTH)] | None = None
    """What the submitter wrote about the answer; required with the category `other`."""

    @model_validator(mode="after")
    def _fits(self) -> "FeedbackIn":
        for category in self.categories:
            if category not in FITTING[self.sentiment]:
                raise ValueError(f"categories: {category} does not fit {self.sentiment} feedback")
        if NEEDS_NOTES in self.categories and self.clean_notes is None:
            raise ValueError("notes: are required with the category other")
        return self

    @property
    def clean_notes(self) -> str | None:
        """The notes, None if nothing of them is seen."""
        return _seen_or_none(self.notes or "")

    @property
    def clean_categories(self) -> list[str]:
        """The categories, sorted and without duplicates (B116)."""
        return sorted({category.value for category in self.categories})


class TriageIn(Patch):
    """A triage update: an absent key leaves the value, null clears it; unknown keys are refused (B127, B128)."""

    admin_label: Annotated[str, StringConstraints(max_length=200)] | None = UNCHANGED
    """The labels as one text, separated by commas."""
    admin_note: AdminNote = UNCHANGED
    """A note among admins; the submitter never sees it."""
    resolved: bool = UNCHANGED


class UserFeedbackOut(Wire):
    """A report as its submitter sees it. The admins' keys are absent, not null (B111)."""

    feedback_id: str
    thread_id: str
    message_sequence_num: int
    """Position of the rated answer in its thread, counted from 0."""
    org_id: str
    created: datetime
    created_by: str
    """Email address of the submitter."""
    modified: datetime
    """When the submitter last changed the rating; triage does not change it."""
    modified_by: str
    """Email address of the submitter."""
    sentiment: str
    """`positive` or `negative`."""
    categories: list[str]
    """Reasons for the rating, sorted."""
    notes: str | None
    """What the submitter wrote about the answer."""


class ToldFeedbackOut(UserFeedbackOut):
    """`UserFeedbackOut` with the reply to the submitter."""

    public_status: str
    """`looked_at` or `answered`; `received` if the reply was withdrawn."""
    public_reply: str | None
    """Text of the reply."""
    replied_at: datetime | None
    """When the reply was last changed; null if it was withdrawn."""


class ReplyOut(Wire):
    """The admins' reply to a report, as its submitter sees it."""

    feedback_id: str
    message_sequence_num: int
    """Position of the rated answer in its thread, counted from 0."""
    public_status: str
    """`received` (no reply yet), `looked_at` or `answered`."""
    public_reply: str | None
    """Text of the reply."""
    replied_at: datetime | None
    """When the reply was last changed; null while the status is `received`."""


class FullFeedbackOut(UserFeedbackOut):
    """A report as admins see it (B126)."""

    admin_label: str | None
    """The labels as one text, separated by commas."""
    admin_note: str | None
    """A note among admins; the submitter never sees it."""
    resolved: bool
    resolved_by: str | None
    """Email address of the admin who resolved it."""
    resolved_at: datetime | None


class TriagedOut(FullFeedbackOut):
    """A report with its triage data and reply."""

    labels: list[str]
    """The labels of `admin_label`, one by one."""
    owner: str | None
    """Email address of the admin who claimed the report; null if unclaimed."""
    outcome: str | None
    """How it was resolved: `fixed`, `answered`, `not_reproduced`, `as_intended`, `duplicate` or `noted`."""
    duplicate_of: str | None
    """Id of the original report."""
    snoozed_until: datetime | None
    """Snoozed until then; a time in the past means that the report is due."""
    snoozed_until_again: bool
    """Snoozed until somebody reports the same again."""
    proof: str | None
    """Id of the thread that shows the outcome, a rerun of the rated request; it may have been deleted since."""
    public_status: str
    """What the submitter sees: `received`, `looked_at` or `answered`."""
    public_reply: str | None
    """Text of the reply to the submitter."""
    replied_at: datetime | None
    """When the reply was last changed; null without one."""


class FeedbackPageOut(Page[FullFeedbackOut]):
    """A page of reports."""
