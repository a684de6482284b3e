"""What comes out of a model while it answers: a closed family."""

from dataclasses import dataclass
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
class Finished:
    """The request is over; what it used."""

    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Broken:
    """The model failed, with a code for programs and a sentence for people."""

    code: str
    message: str


ModelEvent = TextFragment | ToolCall | Finished | Broken
