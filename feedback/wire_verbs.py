"""What each verb of the desk takes: the arguments of an action, for one report as for many."""

from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BeforeValidator, Field, StringConstraints, model_validator

from core.wire import Patch, Spelling
from feedback.label_text import LABEL_LENGTH, LABELS_LENGTH
from feedback.models import Reply
from feedback.taxonomy import Outcome
from feedback.wire import NOTES_LENGTH

_OneLine = Spelling(r"[^,\r\n]*[^,\s][^,\r\n]*", "must be words on one line, without a comma")
Label = Annotated[str, StringConstraints(min_length=1, max_length=LABEL_LENGTH), _OneLine]
Written = Annotated[str, StringConstraints(min_length=1, max_length=LABELS_LENGTH), _OneLine]
"""A label as it stands on a report: what the wire's own update wrote there may be longer."""


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
