"""What a model request is made of and what happens while it runs."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as offered to a model. `example` is the input that the simulator uses."""

    name: str
    description: str
    input_schema: dict[str, Any]
    example: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class TextFragment:
    """A piece of the answer; fragments are joined without a separator."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call by the model. `arguments` is None if the model wrote anything but a JSON object."""

    name: str
    arguments: dict[str, Any] | None
    verbatim: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of an answer or of a partial answer. `cost` is in US dollars, None if unknown."""

    input_tokens: int = 0
    output_tokens: int = 0
    model: str = ""
    """The model that answered, as named by the provider."""
    cost: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """The request is complete, with its usage."""

    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Broken:
    """The request failed, with a code for programs and a sentence for people.

    `can_retry`: the same request may succeed soon, after `retry_after` seconds if the provider gave a number.
    `can_fall_back`: another model may succeed. `usage` is None if the answer had not begun. `cause` describes a wrong
    configuration and is only for the operator.
    """

    code: str
    message: str
    can_retry: bool = False
    can_fall_back: bool = False
    retry_after: float | None = None
    usage: Usage | None = None
    cause: str = ""


ModelEvent = TextFragment | ToolCall | Finished | Broken
