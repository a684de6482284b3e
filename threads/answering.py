"""Answering client tools by hand: the pending tool uses as forms, and a sent form as a submission (T5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils import timezone
from django.utils.safestring import SafeString

from core import bodies, forms
from core.errors import InvalidRequest
from core.payloads import json_html
from core.storable import MAX_INTEGER
from core.wording import one_line
from threads import client_tools, pending
from threads.models import Thread
from threads.status import ThreadStatus
from threads.wire import ToolResultsIn

_TITLES = {"success": "result", "error": "error", "declined": "reason"}
"""The key under which a text is submitted, by status: an output must be an object (spec 3.6)."""


@dataclass(frozen=True, slots=True)
class Typed:
    """The fields that a form sent."""

    tool_use_id: str = ""
    tool_name: str = ""
    status: str = ""
    kind: str = "text"
    output: str = ""

    @classmethod
    def of(cls, data: Mapping[str, str]) -> "Typed":
        return cls(**{name: forms.lines(data.get(name, "")) for name in cls.__slots__})


@dataclass(frozen=True, slots=True)
class Asked:
    """A pending tool use with its form."""

    tool_use_id: str
    tool_name: str
    shown_name: str
    description: str
    arguments: SafeString | None
    kind: str = "text"
    output: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Asking:
    """All pending tool uses of a thread; `late` is a submitted result whose tool use is no longer pending."""

    uses: tuple[Asked, ...] = ()
    late: Typed | None = None


def asking(thread: Thread, typed: Typed | None = None, error: str = "") -> Asking:
    """The client tool uses pending in a thread, with the input for one of them that was not accepted."""
    uses = pending.pending_client_uses(thread) if thread.status == ThreadStatus.CLIENT_TOOL_TURN else []
    words = client_tools.descriptions_of(thread) if uses else {}
    found = tuple(_asked(use, words.get(use["tool_name"], ""), typed, error) for use in uses)
    is_late = typed is not None and typed.tool_use_id not in {use.tool_use_id for use in found}
    return Asking(found, typed if is_late else None)


def submission(thread: Thread, typed: Typed) -> ToolResultsIn:
    """The request body of a sent form; raises `InvalidRequest`. The runtime is the time since the tool was called.

    A result of nothing is refused: the button was pressed too early, and a sent result cannot be taken back.
    """
    if typed.status == "success" and not typed.output.strip():
        raise InvalidRequest("output: write a result, or send {} as JSON")
    since = pending.asked_at(thread)
    took = (timezone.now() - since).total_seconds() * 1000 if since else 0
    result = {
        "tool_use_id": typed.tool_use_id,
        "tool_name": typed.tool_name,
        "status": typed.status,
        "runtime_ms": min(max(0, round(took)), MAX_INTEGER),
        "output": _output(typed),
    }
    bodies.check_storable(result)
    return bodies.parse(ToolResultsIn, {"tool_results": [result]})


def _output(typed: Typed) -> dict[str, Any] | None:
    """An object as typed; any other value under a key that fits the status; None for an empty field."""
    value = forms.json_of("output", typed.output) if typed.kind == "json" else typed.output if typed.output else None
    if value is None or isinstance(value, dict):
        return value
    return {_TITLES.get(typed.status, "result"): value}


def _asked(use: Mapping[str, Any], description: str, typed: Typed | None, error: str) -> Asked:
    mine = typed if typed is not None and typed.tool_use_id == use["tool_use_id"] else None
    return Asked(
        tool_use_id=use["tool_use_id"],
        tool_name=use["tool_name"],
        shown_name=one_line(use["tool_name"], 64),
        description=description,
        arguments=json_html(use["input"]) if use.get("input") else None,
        kind="json" if mine and mine.kind == "json" else "text",
        output=mine.output if mine else "",
        error=error if mine else "",
    )
