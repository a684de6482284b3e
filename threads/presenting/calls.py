"""View models of tool calls: outcome, reason, input and output."""

from dataclasses import dataclass
from typing import TypedDict

from django.utils.safestring import SafeString

from core.payloads import json_html, json_size, json_text
from core.wording import one_line, size_text, took
from threads.content import RECORDED, BlockDict
from threads.presenting.words import CALL_WORDS, Word, counted


@dataclass(frozen=True, slots=True)
class Payload:
    """Input or output of a call as HTML."""

    title: str
    words: str
    html: SafeString


@dataclass(frozen=True, slots=True)
class CallDetail:
    """A call with its payloads, loaded when it is unfolded. `is_raw`: raw payloads are included.

    `differs_raw`: there are raw payloads that differ from input and output.
    """

    tool_name: str
    tool_use_id: str
    outcome: Word
    runtime: str
    payloads: tuple[Payload, ...]
    index: int
    is_raw: bool = False
    differs_raw: bool = False


class CallIo(TypedDict):
    """What threads/_call_io.html shows, and the URL of the same as a page."""

    call: CallDetail
    call_url: str
    raw_url: str
    tool_url: str
    try_url: str


def call_detail(
    use: BlockDict, result: BlockDict | None, *, index: int, raw: bool = False, thread_status: str = "user_turn"
) -> CallDetail:
    """Input and output of one call; with `raw` also raw payloads that differ from them (spec 3.5)."""
    waiting = {"roboto_turn": "running", "client_tool_turn": "waiting"}.get(thread_status, "unanswered")
    answered = output_of(result) if result else None
    sent_raw, answered_raw = use.get("raw_request"), result.get("raw_response") if result else None
    payloads = [_payload("Input", use.get("input")), _payload("Output", answered)]
    raw_payloads = [
        _payload("Raw request", sent_raw if sent_raw != use.get("input") else None),
        _payload("Raw response", answered_raw if answered_raw != answered else None),
    ]
    return CallDetail(
        tool_name=one_line(use["tool_name"], 64) or "unnamed tool",
        tool_use_id=use["tool_use_id"],
        outcome=outcome_of(result) if result else CALL_WORDS[waiting],
        runtime=runtime_of(result),
        payloads=tuple(payload for payload in (payloads + raw_payloads if raw else payloads) if payload),
        index=index,
        is_raw=raw,
        differs_raw=any(raw_payloads),
    )


def _payload(title: str, value: object) -> Payload | None:
    if value is None:
        return None
    if isinstance(value, str):
        extent = counted(value.count("\n") + 1, "line")
    elif isinstance(value, list):
        extent = counted(len(value), "item")
    else:
        extent = counted(len(value), "field") if isinstance(value, dict) else ""
    return Payload(title, ", ".join(filter(None, (extent, size_text(json_size(value))))), json_html(value))


def outcome_of(result: BlockDict) -> Word:
    """The word for the outcome of a call."""
    return CALL_WORDS.get(result["status"], CALL_WORDS["unanswered"])


def runtime_of(result: BlockDict | None) -> str:
    """The runtime of a call in words, or that its result is a recorded one.

    A runtime of 0 is unknown unless the call was measured here (spec 3.3).
    """
    if result is not None and result.get("answered_by") in RECORDED:
        return "as recorded"
    if result is None or not (result["runtime_ms"] or result.get("answered_by") == "server"):
        return ""
    return took(result["runtime_ms"])


def sizes_of(asked: object, result: BlockDict | None) -> str:
    """The sizes of input and output in words, for a folded call."""
    sent = f"input {size_text(json_size(asked))}" if asked is not None else "no input"
    if result is None:
        return sent
    output = output_of(result)
    return f"{sent}, output {size_text(json_size(output))}" if output is not None else f"{sent}, no output"


def reason_of(result: BlockDict | None) -> str:
    """The reason why a call failed, in one line; empty for a success."""
    if result is None or result["status"] == "success":
        return ""
    output = output_of(result)
    if isinstance(output, dict):
        output = next((output[name] for name in ("error", "message", "reason", "detail") if output.get(name)), output)
    return one_line(json_text(output), 160) if output is not None else ""


def output_of(result: BlockDict) -> object:
    """The output of a tool: the payload, else the raw response (spec 3.3)."""
    return result["payload"] if result.get("payload") is not None else result.get("raw_response")
