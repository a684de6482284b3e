"""OpenTelemetry messages, as the GenAI conventions spell them in `gen_ai.input.messages` (decision 020).

A message has parts; a tool call and its response are parts of messages of their own. The conventions have no place for
a failed response and for its time: `is_error` and `runtime_ms` beside it are Heddle's.
"""

from typing import Any

from threads import content
from threads.content import BlockDict, JsonObject, MessageSnapshot
from threads.dialects.canonical import Sheet, json_text, quoted, spelling, text_of
from threads.dialects.reading import (
    TIME_KEYS,
    Draft,
    choice,
    flag,
    message_time,
    milliseconds,
    placed_parts,
    reserved,
    string,
    token,
)
from threads.dialects.writing import Export, spoken

Payload = str | JsonObject | list[Any] | None
ROLES = ("system", "user", "assistant", "tool")
FIELDS = frozenset({"role", "parts", "finish_reason", *TIME_KEYS})
CALL_FIELDS = frozenset({"type", "id", "name", "arguments"})
RESPONSE_FIELDS = frozenset({"type", "id", "name", "response", "result", "is_error", "runtime_ms"})
ORDINARY_ENDS = (None, "stop", "tool_call", "tool_calls")
"""Finish reasons that say no more than the parts do."""


def read(draft: Draft, index: int, message: JsonObject) -> None:
    """Read one message into the draft; responses in a user message become a separate message (B172, B173)."""
    path = f"messages.{index}"
    role = choice(message.get("role"), f"{path}.role", ROLES)
    draft.unkept(message, path, FIELDS)
    if message.get("finish_reason") not in ORDINARY_ENDS:
        draft.warn(f"{path}.finish_reason", f"{quoted(message['finish_reason'])} is not kept")
    placed = placed_parts(message.get("parts"), f"{path}.parts", lambda part, at: _block(draft, part, at, role))
    blocks, created = [block for _, block in placed], message_time(message, index)
    if role == "system":
        draft.system_message(index, "\n".join(block["text"] for block in blocks))
    elif role == "assistant":
        draft.add(index, "assistant", blocks, created)
    elif role == "tool":
        draft.add_results(index, blocks, created)
    else:
        draft.split(index, placed, created)


def write(export: Export, sheet: Sheet) -> list[JsonObject]:
    """The thread as messages, without the system prompt, which has an attribute of its own (B172, B173, B174)."""
    written: list[JsonObject] = []
    for message in sheet.messages:
        blocks = export.portable(message)
        if message.role == "roboto":
            written += _responses(export, message.index, blocks, after_responses=_ends_in_responses(written))
        else:
            written.append(_message(message.role, [_part(export, message, block) for block in blocks]))
    return written


def _block(draft: Draft, part: JsonObject, path: str, role: str) -> BlockDict | None:
    kind = string(part.get("type"), f"{path}.type")
    if kind == "text" and role != "tool":
        draft.unkept(part, path, frozenset({"type", "content"}))
        return draft.text(part.get("content"), f"{path}.content")
    if kind == "tool_call":
        reserved(role, "assistant", path)
        return _use(draft, part, path)
    if kind == "tool_call_response":
        reserved(role, "user" if role == "user" else "tool", path)
        return _result(draft, part, path)
    draft.drop(part, path, f"part of type {quoted(kind)}")
    return None


def _use(draft: Draft, part: JsonObject, path: str) -> BlockDict:
    draft.unkept(part, path, CALL_FIELDS)
    name = token(part.get("name"), f"{path}.name")
    if part.get("id") is None:
        draft.warn(path, "is a tool call without id; its id is generated")
        use_id = f"tool_call_{len(draft.names)}"
    else:
        use_id = token(part["id"], f"{path}.id")
    given, raw = _arguments(draft, part.get("arguments"), f"{path}.arguments")
    return draft.use(content.tool_use(name, use_id, given, raw=raw), path)


def _arguments(draft: Draft, value: object, path: str) -> tuple[JsonObject | None, JsonObject | None]:
    """The conventions allow any value: an object, its JSON text, or whatever the model wrote instead."""
    if value is None:
        return {}, None
    if isinstance(value, dict):
        return draft.arguments(value, path)
    return draft.arguments_text(value if isinstance(value, str) else json_text(value), path)


def _result(draft: Draft, part: JsonObject, path: str) -> BlockDict:
    draft.unkept(part, path, RESPONSE_FIELDS)
    use_id = _answered(draft, part, path)
    name = draft.name_of(use_id) if part.get("name") is None else token(part["name"], f"{path}.name")
    status = "error" if flag(part.get("is_error"), f"{path}.is_error") else "success"
    runtime = milliseconds(part.get("runtime_ms"), f"{path}.runtime_ms")
    key = "response" if part.get("response") is not None else "result"  # what the conventions called it first
    payload, raw = _payload(draft, part.get(key), f"{path}.{key}")
    return draft.result(content.tool_result(name, use_id, status, payload, runtime_ms=runtime, raw=raw), path)


def _answered(draft: Draft, part: JsonObject, path: str) -> str:
    """The use that a response answers: without an id the first open one, of its name if it has one."""
    if part.get("id") is not None:
        return token(part["id"], f"{path}.id")
    draft.warn(path, "is a tool response without id; taken for that of the first open tool call")
    name = None if part.get("name") is None else token(part["name"], f"{path}.name")
    return draft.first_open(name) or "tool_call_unknown"


def _payload(
    draft: Draft, value: object, path: str
) -> tuple[str | JsonObject | list[object] | None, JsonObject | None]:
    if value is None or isinstance(value, str):
        return draft.payload(value, path)
    kept = draft.shallow(value, path)
    return (kept, None) if isinstance(kept, str | dict | list) else (json_text(kept), None)


def _message(role: str, parts: list[JsonObject]) -> JsonObject:
    return {"role": role, "parts": parts}


def _part(export: Export, message: MessageSnapshot, block: BlockDict) -> JsonObject:
    if block["content_type"] != "tool_use":
        return {"type": "text", "content": spoken(block)}
    given: object = export.verbatim(block)
    if given is None:
        given = export.arguments(message.index, block)
        text = text_of(given, block["raw_request"], "arguments")
        given = text if spelling("arguments", text, given) else given
    return {"type": "tool_call", "id": block["tool_use_id"], "name": block["tool_name"], "arguments": given}


def _responses(export: Export, index: int, blocks: list[BlockDict], *, after_responses: bool) -> list[JsonObject]:
    results = [block for block in blocks if block["content_type"] == "tool_result"]
    words = [block for block in blocks if block["content_type"] != "tool_result"]
    if after_responses and results:
        export.lost(index, "its results are merged with those of the message before")
    if not blocks:
        export.lost(index, "is left out, because it has no content to export")
    written = [_message("tool", [_response(export, index, block) for block in results])] if results else []
    if words:
        written.append(_message("user", [{"type": "text", "content": spoken(block)} for block in words]))
    return written


def _response(export: Export, index: int, block: BlockDict) -> JsonObject:
    export.implied_name(index, block)
    run: JsonObject = {"is_error": True} if block["status"] == "error" else {}
    if block["runtime_ms"]:
        run["runtime_ms"] = block["runtime_ms"]
    text = export.result_text(index, block, null=None)
    return {"type": "tool_call_response", "id": block["tool_use_id"], "response": text, **run}


def _ends_in_responses(written: list[JsonObject]) -> bool:
    return bool(written) and written[-1]["role"] == "tool"
