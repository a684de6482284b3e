"""What all dialects share: input and output types, and the test for data that can be stored exactly."""

import json
import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from core.canonical import canonical_json
from threads.content import BlockDict, JsonObject, MessageSnapshot, Role

MAX_DEPTH = 100
"""Maximum nesting of arguments, results and metadata; anything deeper stays text."""
MAX_CONVERSATION_DEPTH = 500
"""Maximum nesting of a conversation; the JSON encoder itself fails not far above this."""
MAX_INTEGER_BITS = 10_000
"""Not every reader can convert longer integers to decimal text."""
UNKNOWN_TOOL = "unknown"
"""The tool name of a result without a name and without a known use."""

Path = tuple[str | int, ...]


class DialectError(ValueError):
    """A conversation that cannot be read, or an unknown format (B178)."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


@dataclass(frozen=True, slots=True)
class ParsedMessage:
    """One message as it will be stored."""

    role: Role
    blocks: list[BlockDict]
    created: datetime | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation in canonical form. Each warning begins with the path that it is about."""

    origin_id: str
    system: str | None
    messages: tuple[ParsedMessage, ...]
    metadata: JsonObject
    created: datetime | None
    title: str | None
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rendered:
    """A thread in a dialect: as `messages` in formats for programs, as `text` in formats for people."""

    format: str
    system: str | None
    messages: list[JsonObject] = field(default_factory=list)
    text: str = ""
    losses: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Sheet:
    """The thread to render."""

    thread_id: str
    title: str | None
    system: str | None
    messages: Sequence[MessageSnapshot]


def dotted(path: Path) -> str:
    """A path as text; hostile keys are shortened and escaped so that it can be logged and stored."""
    return ".".join(_legible(str(key)) for key in path)


def quoted(value: object) -> str:
    """A short, printable form of an unexpected value."""
    if isinstance(value, str):
        return ascii(value if len(value) <= 40 else f"{value[:37]}...")
    if isinstance(value, int | float | None):
        return json.dumps(value)[:40]
    return "an object" if isinstance(value, dict) else "a list"


def flaw(value: object, *, deepest: int) -> tuple[Path, str] | None:
    """Where and why `value` is not plain data that can be stored exactly; None if it is."""
    waiting: deque[tuple[object, Path]] = deque([(value, ())])
    while waiting:
        item, path = waiting.popleft()
        if reason := _flaw_of(item, depth=len(path), deepest=deepest):
            return path, reason
        for key, child in _children(item):
            if isinstance(child, dict | list):
                waiting.append((child, (*path, key)))
            elif reason := _scalar_flaw(child):
                return (*path, key), reason
    return None


def exact_value(text: str) -> JsonObject | list[Any] | None:
    """The object or array in a JSON text, or None if the value would not mean exactly the same (B175).

    Differences in white space and character escapes do not matter. Text with repeated keys, numbers that no float or
    integer can hold, NaN, characters that cannot be stored or deep nesting stays text.
    """
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unrepeated,
            parse_float=_exact_float,
            parse_int=_exact_int,
            parse_constant=_no_constant,
        )
    except (ValueError, ArithmeticError, RecursionError):
        return None
    return value if isinstance(value, dict | list) and flaw(value, deepest=MAX_DEPTH) is None else None


def exact_object(text: str) -> JsonObject | None:
    """Like `exact_value`, for objects only."""
    value = exact_value(text)
    return value if isinstance(value, dict) else None


def json_text(value: object) -> str:
    """A value that is nested too deeply to be stored, as JSON text."""
    return json.dumps(value, ensure_ascii=False)


def spelling(key: str, text: str, value: object) -> JsonObject | None:
    """The raw payload that keeps the JSON text of an imported value, if `text_of` would write another text."""
    return None if text == canonical_json(value) else {key: text}


def text_of(value: object, raw: object, key: str) -> str:
    """A value as JSON: the text that it was imported as (B172), else canonical (spec 9).

    The text shows no more than the value, so it is for every reader, although it is stored with the raw payloads.
    """
    canonical = canonical_json(value)
    text = raw[key] if isinstance(raw, dict) and set(raw) == {key} else None
    is_spelling = isinstance(text, str) and canonical_json(exact_value(text)) == canonical
    return str(text) if is_spelling else canonical


def verbatim_arguments(use: BlockDict) -> str | None:
    """The arguments of a tool use as the model wrote them, if they could not be stored as an object (B176)."""
    raw = use["raw_request"]
    if use["input"] is not None or not isinstance(raw, dict) or set(raw) != {"arguments"}:
        return None
    return raw["arguments"] if isinstance(raw["arguments"], str) else None


def _legible(key: str) -> str:
    cut = key if len(key) <= 40 else f"{key[:37]}..."
    return cut if cut.isascii() and cut.isprintable() else ascii(cut)


def _flaw_of(item: object, *, depth: int, deepest: int) -> str | None:
    if not isinstance(item, dict | list):
        return _scalar_flaw(item)
    if depth >= deepest:
        return f"is nested deeper than {deepest} levels"
    return _key_flaw(item) if isinstance(item, dict) else None


def _key_flaw(item: dict[Any, object]) -> str | None:
    for key in item:
        reason = _text_flaw(key) if isinstance(key, str) else "is not text"
        if reason:
            return f"has a key that {reason}"
    return None


def _children(item: object) -> Iterator[tuple[str | int, object]]:
    if isinstance(item, dict):
        yield from item.items()
    elif isinstance(item, list):
        yield from enumerate(item)


def _scalar_flaw(value: object) -> str | None:
    if isinstance(value, str):
        return _text_flaw(value)
    if isinstance(value, bool | dict | list | None):
        return None
    if isinstance(value, int):
        return "is an integer with too many digits" if value.bit_length() > MAX_INTEGER_BITS else None
    if isinstance(value, float):
        return None if math.isfinite(value) else "is not a JSON number"
    return "is not JSON"


def _text_flaw(text: str) -> str | None:
    if "\0" in text:
        return "contains a NUL character"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "contains half a surrogate pair"
    return None


def _unrepeated(pairs: list[tuple[str, object]]) -> JsonObject:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("repeated")
    return value


def _exact_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value) or Decimal(text) != Decimal(repr(value)):
        raise ValueError(text)
    return value


def _exact_int(text: str) -> int:
    if text == "-0":
        raise ValueError(text)
    return int(text)


def _no_constant(text: str) -> float:
    raise ValueError(text)
