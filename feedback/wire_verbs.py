"""The arguments of each verb of the desk, for one report and for bulks."""

from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BeforeValidator, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from core.visible import is_visible
from core.wire import Patch, Seen, Spelling
from feedback.label_text import LABEL_LENGTH, LABELS_LENGTH
from feedback.models import Reply
from feedback.taxonomy import Outcome
from feedback.wire import NOTES_LENGTH, AdminNote

_OneLine = Spelling(r"[^,\r\n]*[^,\s\x00-\x1f\x7f-\x9f][^,\r\n]*", "must be text on one line, without a comma")


Label = Annotated[str, StringConstraints(min_length=1, max_length=LABEL_LENGTH), _OneLine, Seen]
Written = Annotated[str, StringConstraints(min_length=1, max_length=LABELS_LENGTH), _OneLine]
"""A label that is already on a report; the wire's own update may have written a longer one."""


class LabelIn(Patch):
    """Labels to add and to remove."""

    add: Annotated[list[Label], Field(max_length=1_000)] = []
    remove: Annotated[list[Written], Field(max_length=1_000)] = []

    @model_validator(mode="after")
    def _something(self) -> "LabelIn":
        if not self.add and not self.remove:
            raise ValueError("add: name a label to add, or one to remove")
        return self


class RenameIn(Patch):
    """A label and its new name."""

    label: Label
    to: Label


class NoteIn(Patch):
    """The admin note; null or blank removes it."""

    admin_note: AdminNote


class OwnIn(Patch):
    """The new owner."""

    owner: Annotated[str, StringConstraints(min_length=1)] | None
    """An admin's email address, `me`, or null to release the report."""


def _not_of_another(outcome: Any) -> Any:
    if outcome == Outcome.DUPLICATE:
        raise ValueError("use the verb duplicate, which names the original")
    return outcome


_Ending = BeforeValidator(_not_of_another)
_ENDINGS = tuple(outcome.value for outcome in Outcome if outcome is not Outcome.DUPLICATE)


Proof = Annotated[str, StringConstraints(max_length=80)]
"""Id of the thread that shows the outcome: a rerun of the rated request."""


class ResolveIn(Patch):
    """How the report was resolved."""

    outcome: Annotated[Literal[_ENDINGS], _Ending] = Outcome.NOTED.value  # type: ignore[valid-type]
    proof: Proof | None = None


class OutcomeIn(Patch):
    """The new outcome of a resolved report."""

    outcome: Annotated[Literal[_ENDINGS], _Ending]  # type: ignore[valid-type]
    proof: Proof | None = None


Said = Annotated[str, StringConstraints(max_length=NOTES_LENGTH), Seen]
"""The words of a reply."""


class FixIn(Patch):
    """How reports end that a batch of runs proved fixed: each by its own run."""

    batch_id: Annotated[str, StringConstraints(max_length=80)]
    public_reply: Said | None = None
    """A reply to each submitter."""
    shows_answer: bool = False
    """Whether each submitter gets the new answer to their request, after the reply if there is one."""


class DuplicateIn(Patch):
    """The original of a duplicate."""

    duplicate_of: str
    """Id of another report of the same org; if that is a duplicate itself, its original is used."""


def _written(value: Any) -> Any:
    """A time as text. Of a number, pydantic would guess whether it counts seconds or milliseconds."""
    if isinstance(value, (int, float)) or (isinstance(value, str) and "-" not in value[1:]):
        raise PydanticCustomError("datetime_parsing", "is not a time")
    return value


class SnoozeIn(Patch):
    """Until a time, or until the same is reported again; give one of the two."""

    until: Annotated[AwareDatetime, BeforeValidator(_written), Field(strict=False)] | None = None
    """A time with a zone, within a year."""
    until_again: bool = False
    """Until somebody reports the same again."""

    @model_validator(mode="after")
    def _one_of_them(self) -> "SnoozeIn":
        if (self.until is None) is not self.until_again:
            raise ValueError("until: give either until or until_again")
        return self


class ReplyIn(Patch):
    """A reply to the submitter."""

    public_status: Annotated[Reply.Status, Field(strict=False)] = Reply.Status.ANSWERED
    """`answered` needs a text; the others have none, and `received` withdraws the reply."""
    public_reply: Annotated[str, StringConstraints(max_length=NOTES_LENGTH)] | None = None

    @model_validator(mode="after")
    def _says_something(self) -> "ReplyIn":
        if self.public_status == Reply.Status.ANSWERED and not is_visible(self.public_reply or ""):
            raise ValueError("public_reply: is required with the status answered")
        if self.public_status != Reply.Status.ANSWERED and is_visible(self.public_reply or ""):
            raise ValueError(f"public_reply: is sent only with the status answered, not {self.public_status}")
        return self
