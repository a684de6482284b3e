"""What the dialects of results share: what is lost, who called, and how JSON stands in a text."""

import json
from collections.abc import Iterator
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


def told(result: ToolResult, *paths: str) -> Iterator[Loss]:
    """A loss for each of these places that holds anything."""
    whole = result.model_dump()
    for path in paths:
        held: Any = whole
        for part in path.removeprefix("/").split("/"):
            held = (held or {}).get(part)
        if held not in (None, [], {}):
            yield loss(path)


def custom_without(result: ToolResult, *slots: str) -> Iterator[Loss]:
    """A loss for each custom value but those in `slots`, which the dialect has a place for."""
    return (loss(f"/metadata/custom/{name}") for name in result.metadata.custom if name not in slots)


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


def text_of_content(content: Any) -> str:
    """The text of a content that is a text or a list of blocks."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise refused("content must be text or a list of blocks")
    return "\n".join(str(block["text"]) for block in content if isinstance(block, dict) and "text" in block)


def time_of(value: Any) -> float | None:
    """A duration in milliseconds, or None for anything that is none."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value < 1e15 else None


def count_of(value: Any) -> int | None:
    """A whole number that is not negative, or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _no_constant(name: str) -> None:
    raise ValueError(name)
