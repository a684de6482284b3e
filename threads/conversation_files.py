"""Conversations in a file: JSON Lines (one per line), or one JSON conversation, or a list of them."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import Any

from core import bodies
from core.canonical import fingerprint


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line that is not JSON, and why."""

    reason: str


def whole(first_line: bytes, read: Callable[[], bytes]) -> list[Any] | None:
    """The conversations of a file that is one JSON value; None if each line is a conversation.

    `read` gives all of the file. It is called only if the first line is not a conversation: JSON Lines may be larger
    than memory.
    """
    if isinstance(_value(first_line), dict):
        return None
    value = _value(read())
    if isinstance(value, list):
        return [_with_id(each) for each in value]
    return [_with_id(value)] if isinstance(value, dict) else None


def of_line(line: bytes) -> Any:
    """The value of a line; an `Unreadable` if it is not JSON."""
    try:
        # Not left to `json`, which takes the first line of a file in UTF-16 for what it is, and no other.
        return _with_id(json.loads(line.rstrip().decode("utf-8-sig")))
    except RecursionError:
        return Unreadable("is nested too deeply")
    except json.JSONDecodeError as problem:
        return Unreadable(f"is not valid JSON at column {problem.colno} ({problem.msg})")
    except UnicodeDecodeError as problem:
        return Unreadable(f"is not UTF-8 text at byte {problem.start + 1}")
    except ValueError:
        return Unreadable(bodies.TOO_LONG)


def of_text(text: bytes, *, most: int) -> list[tuple[str, Any]]:
    """The first values of a text, each with its place: `line 3`, or `conversation 3` in one JSON value.

    No more lines are split off than are wanted: a text of short ones would take a hundred times its size.
    """
    values = whole(next(_lines(text), (0, b""))[1], lambda: text)
    if values is None:
        return [(f"line {number}", of_line(line)) for number, line in islice(_lines(text), most)]
    return [(f"conversation {number}", value) for number, value in enumerate(values[:most], 1)]


def _with_id(value: Any) -> Any:
    """A conversation without an id gets one of its content, by which importing it again changes nothing."""
    if not isinstance(value, dict) or "messages" not in value or value.get("id") is not None:
        return value
    try:
        return {**value, "id": fingerprint(value)}
    except (ValueError, RecursionError):  # it cannot be stored, and its import says why
        return value


def _lines(text: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers."""
    return ((number, line) for number, line in enumerate(BytesIO(text), 1) if line.strip())


def _value(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
