"""What the feedback routes take and give (spec 2.5, 3.10): two projections, the second made from the first.

`UserFeedbackOut` names its fields one by one, so a column added for admins can never reach a submitter by being
forgotten. `FullFeedbackOut` is that and the admins' five.
"""

from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints, model_validator

from core.wire import Body, Page, Patch, Wire
from feedback.taxonomy import FITTING, NEEDS_NOTES, Category, Sentiment

NOTES_LENGTH = 20_000


class FeedbackIn(Body):
    """A rating. Categories are a set; blank notes are none; each category fits the sentiment."""

    sentiment: Annotated[Sentiment, Field(strict=False)]
    categories: Annotated[list[Annotated[Category, Field(strict=False)]], Field(max_length=100)] = []
    notes: Annotated[str, StringConstraints(max_length=NOTES_LENGTH)] | None = None

    @model_validator(mode="after")
    def _fits(self) -> "FeedbackIn":
        for category in self.categories:
            if category not in FITTING[self.sentiment]:
                raise ValueError(f"categories: {category} does not go with {self.sentiment} feedback")
        if NEEDS_NOTES in self.categories and self.clean_notes is None:
            raise ValueError("notes: are needed with the category other")
        return self

    @property
    def clean_notes(self) -> str | None:
        """The notes, None when nothing is written in them."""
        return self.notes if self.notes and self.notes.strip() else None

    @property
    def clean_categories(self) -> list[str]:
        """Sorted, each once (B116)."""
        return sorted({category.value for category in self.categories})


class TriageIn(Patch):
    """A triage update: absent leaves, null clears, a value overwrites; nothing else may be in it (B127, B128)."""

    admin_label: Annotated[str, StringConstraints(max_length=200)] | None = None
    admin_note: Annotated[str, StringConstraints(max_length=NOTES_LENGTH)] | None = None
    resolved: bool = False


class UserFeedbackOut(Wire):
    """A report as its submitter sees it. The admins' keys are absent, not null (B111)."""

    feedback_id: str
    thread_id: str
    message_sequence_num: int
    org_id: str
    created: datetime
    created_by: str
    modified: datetime
    modified_by: str
    sentiment: str
    categories: list[str]
    notes: str | None


class ToldFeedbackOut(UserFeedbackOut):
    """The same with what its submitter was told."""

    public_status: str
    public_reply: str | None
    replied_at: datetime


class ReplyOut(Wire):
    """What a submitter is told of a report, written for them on purpose. `replied_at` is null until there is any."""

    feedback_id: str
    message_sequence_num: int
    public_status: str
    public_reply: str | None
    replied_at: datetime | None


class FullFeedbackOut(UserFeedbackOut):
    """A report as admins see it (B126)."""

    admin_label: str | None
    admin_note: str | None
    resolved: bool
    resolved_by: str | None
    resolved_at: datetime | None


class FeedbackPageOut(Page[FullFeedbackOut]):
    """A page of reports."""
