"""Conversations in a file: JSON Lines (one per line), or one JSON conversation, or a list of them."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line that is not JSON, and why."""

    reason: str


def whole(first_line: bytes, everything: Iterable[bytes]) -> list[Any] | None:
    """The conversations of a file that is one JSON value; None if each line is a conversation.

    `everything` is read only if the first line is not a conversation: JSON Lines may be larger than memory.
    """
    if isinstance(_value(first_line), dict):
        return None
    value = _value(b"".join(everything))
    if isinstance(value, list):
        return value
    return [value] if isinstance(value, dict) else None


def of_line(line: bytes) -> Any:
    """The value of a line; an `Unreadable` if it is not JSON."""
    try:
        return json.loads(line)
    except RecursionError:
        return Unreadable("is nested too deeply")
    except ValueError as problem:
        return Unreadable(f"is not valid JSON ({problem})")


def of_text(text: bytes) -> list[tuple[str, Any]]:
    """Everything in a text that is in memory, each with its place: `line 3`, or `conversation 3` in one JSON value."""
    lines = [(number, line) for number, line in enumerate(text.split(b"\n"), 1) if line.strip()]
    values = whole(lines[0][1] if lines else b"", [text])
    if values is None:
        return [(f"line {number}", of_line(line)) for number, line in lines]
    return [(f"conversation {number}", value) for number, value in enumerate(values, 1)]


def _value(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
