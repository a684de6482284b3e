"""What comes out of a model while it answers: a closed family."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any


@dataclass(frozen=True, slots=True)
class TextFragment:
    """A piece of the answer; fragments concatenate without a separator."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call the model wants made. `arguments` is None where it wrote something that is no JSON object."""

    name: str
    arguments: dict[str, Any] | None
    verbatim: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer, or the part of it that came, used. `cost` is None where nobody can tell."""

    input_tokens: int = 0
    output_tokens: int = 0
    model: str = ""
    """The model that answered, by the name that the provider gave it."""
    cost: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """The request is over; what it used."""

    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Broken:
    """The model failed, with a code for programs and a sentence for people.

    `can_retry`: the same request may do better in a moment, `retry_after` seconds if the provider said how many.
    `can_fall_back`: another model may do better. `usage` is None where the answer had not begun. `cause` is for the
    operator alone: what is wrong with the configuration, no reader's business.
    """

    code: str
    message: str
    can_retry: bool = False
    can_fall_back: bool = False
    retry_after: float | None = None
    usage: Usage | None = None
    cause: str = ""


ModelEvent = TextFragment | ToolCall | Finished | Broken
