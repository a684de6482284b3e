"""What the dialects of results share: what is lost, who called, and how JSON stands in a text."""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pydantic import Field

from catalogue.record import Loss, LossReason
from catalogue.results import Failure, ToolResult, problem_of
from core.errors import InvalidRequest
from core.wire import Exact


class Context(Exact):
    """Which call a result belongs to; several dialects name it in the result itself."""

    tool_use_id: str | None = Field(None, max_length=200)
    tool_name: str | None = Field(None, max_length=200)


def refused(reason: str) -> InvalidRequest:
    """A result that is none of its dialect."""
    return InvalidRequest(f"result: {reason}", details={"reason": "invalid_result", "field": "result"})


def object_of(value: Any) -> dict[str, Any]:
    """The value as an object. Raises `InvalidRequest` for anything else."""
    if not isinstance(value, dict):
        raise refused("must be a JSON object")
    return value


def loss(path: str, reason: LossReason = "no_slot", detail: str = "") -> Loss:
    """Something that the other dialect has no place for, or another one; nothing brings it back."""
    return Loss(path=path, reason=reason, detail=detail, preserved=False)


def at(*parts: str) -> str:
    """The JSON pointer to a place."""
    return "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in parts)


def strangers(source: Mapping[str, Any], known: Collection[str], *within: str) -> list[Loss]:
    """A loss for each value of an object that its dialect does not know."""
    return [
        loss(at(*within, key), detail="is not known") for key in source if key not in known and source[key] is not None
    ]


def misfit(given: Any, found: Any, *place: str) -> list[Loss]:
    """A loss where something was given of which nothing could be made."""
    return [loss(at(*place), detail="is not of its kind")] if given is not None and found is None else []


UNSAID, NO_MESSAGE = "EXECUTION_ERROR", "unknown error"
"""The code and the message of a failure that has none."""


def replaced(given: Any, *place: str) -> list[Loss]:
    """A loss where an empty text was given and `UNSAID` or `NO_MESSAGE` is read instead."""
    return [loss(at(*place), "defaulted", "is empty")] if given == "" else []


def message_of(text: str, content: Any) -> tuple[str, list[Loss]]:
    """The message of a failure that is the text of a content. A loss if there is a content and no text in it."""
    is_silent = not text and content not in (None, [])
    return text or NO_MESSAGE, [loss(at("content"), "defaulted", "has no text")] if is_silent else []


def told(result: ToolResult, *paths: str) -> Iterator[Loss]:
    """A loss for each of these places that holds anything."""
    whole = result.model_dump()
    for path in paths:
        held: Any = whole
        for part in path.removeprefix("/").split("/"):
            held = (held or {}).get(part)
        nothing: tuple[Any, ...] = (None, [], {}) if path.startswith("/metadata/") else (None,)
        if held not in nothing:
            yield loss(path)


def custom_without(result: ToolResult, *slots: str) -> Iterator[Loss]:
    """A loss for each custom value but those in `slots`, which the dialect has a place for."""
    return (loss(at("metadata", "custom", name)) for name in result.metadata.custom if name not in slots)


def name_in(result: ToolResult, slot: str, given: str | None) -> tuple[str, list[Loss]]:
    """An id or a name that the result itself has: the given one, else the custom value. A loss if that is another."""
    custom = result.metadata.custom.get(slot)
    name = given or str(custom or "")
    reason: LossReason = "no_slot" if given else "flattened"
    return name, [] if custom in (None, name) else [loss(at("metadata", "custom", slot), reason)]


def failure_text(error: Failure) -> str:
    """`CODE: message`, with what may help on a line of its own."""
    return f"{error.code}: {error.message}" + (f"\n{error.suggestion}" if error.suggestion else "")


def value_of_text(text: str) -> Any:
    """What a text stands for: an object or a list where it is the JSON of one that can be kept, itself otherwise."""
    if text[:1] not in ("{", "["):
        return text
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict | list) and problem_of(value) is None else text


def text_of_content(content: Any) -> tuple[str, list[Loss]]:
    """The text of a content that is a text or a list of blocks, and a loss for all that is no text in it."""
    if isinstance(content, str):
        return content, []
    if not isinstance(content, list):
        raise refused("content must be text or a list of blocks")
    texts: list[str] = []
    losses: list[Loss] = []
    for place, block in enumerate(content):
        where = f"content[{place}]"
        if not (isinstance(block, dict) and isinstance(block.get("text"), str)):
            losses.append(loss(at(where), detail="is not text"))
            continue
        texts.append(block["text"])
        known = ("type", "text") if block.get("type", "text") == "text" else ("text",)
        losses += strangers(block, known, where)
    return "\n".join(texts), losses


def time_of(value: Any) -> float | None:
    """A duration in milliseconds, or None for anything that is none."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value < 1e15 else None


def count_of(value: Any) -> int | None:
    """A whole number that is not negative, or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def text_or_none(value: Any) -> str | None:
    """A text, or None."""
    return value if isinstance(value, str) else None


def texts_or_none(value: Any) -> list[str] | None:
    """A list of texts, or None."""
    return value if isinstance(value, list) and all(isinstance(each, str) for each in value) else None


def object_or_none(value: Any) -> dict[str, Any] | None:
    """An object, or None."""
    return value if isinstance(value, dict) else None


def _no_constant(name: str) -> None:
    raise ValueError(name)
