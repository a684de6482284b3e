"""OpenAI chat messages (spec 9).

Tool calls are a field of the assistant message, after its text, and each result is a separate message.
"""

import re
from collections.abc import Iterator

from threads import content
from threads.content import BlockDict, JsonObject, MessageSnapshot
from threads.dialects.canonical import DialectError, Sheet, exact_value, quoted, text_of
from threads.dialects.reading import (
    TIME_KEYS,
    Draft,
    choice,
    message_time,
    placed_parts,
    record,
    string,
    token,
)
from threads.dialects.writing import Export, said, spoken

SYSTEM_ROLES = ("system", "developer")
TOOL_ROLES = ("tool", "function")
ROLES = (*SYSTEM_ROLES, "user", "assistant", *TOOL_ROLES)
FIELDS = frozenset({"role", "content", *TIME_KEYS})
ASSISTANT_FIELDS = FIELDS | {"tool_calls", "function_call", "refusal"}
TOOL_FIELDS = FIELDS | {"tool_call_id", "name"}
_FAILURE = re.compile(r"\s*error:", re.IGNORECASE)
_OF_A_FAILURE = frozenset({"error", "message", "code", "status", "type", "detail", "details"})


def read(draft: Draft, index: int, message: JsonObject) -> None:
    """Read one chat message into the draft (B172, B176)."""
    path = f"messages.{index}"
    role = choice(message.get("role"), f"{path}.role", ROLES)
    if role in TOOL_ROLES:
        _read_result(draft, index, message, role)
    elif role == "assistant":
        _read_assistant(draft, index, message)
    else:
        draft.unkept(message, path, FIELDS)
        _read_words(draft, index, message, role)


def write(export: Export, sheet: Sheet) -> list[JsonObject]:
    """The thread as chat messages, with the system prompt as the first one (B172, B174)."""
    written: list[JsonObject] = [] if sheet.system is None else [{"role": "system", "content": sheet.system}]
    for message in sheet.messages:
        blocks = export.portable(message)
        if message.role == "roboto":
            after_results = bool(written) and written[-1]["role"] == "tool"
            written += _results(export, message.index, blocks, after_results=after_results)
        elif message.role == "assistant":
            written.append(_assistant(export, message, blocks))
        else:
            written.append({"role": "user", "content": _user_content(blocks)})
    return written


def _read_words(draft: Draft, index: int, message: JsonObject, role: str) -> None:
    if role in SYSTEM_ROLES:
        draft.system_message(index, message.get("content"), role)
        return
    blocks = _texts(draft, message.get("content"), f"messages.{index}.content")
    draft.add(index, "user", blocks, message_time(message, index))


def _read_assistant(draft: Draft, index: int, message: JsonObject) -> None:
    path = f"messages.{index}"
    draft.unkept(message, path, ASSISTANT_FIELDS)
    blocks = _texts(draft, message.get("content"), f"{path}.content")
    if message.get("refusal") is not None:
        blocks += _refusal(draft, message["refusal"], f"{path}.refusal")
    if len(blocks) > 1:
        draft.warn(f"{path}.content", f"has {len(blocks)} texts; shown and exported as one")
    if message.get("tool_calls") is not None:
        blocks += _calls(draft, message["tool_calls"], f"{path}.tool_calls")
    if message.get("function_call") is not None:
        blocks.append(_legacy_call(draft, index, message["function_call"]))
    draft.add(index, "assistant", blocks, message_time(message, index))


def _read_result(draft: Draft, index: int, message: JsonObject, role: str) -> None:
    path = f"messages.{index}"
    draft.unkept(message, path, TOOL_FIELDS)
    legacy = role == "function"
    use_id = _legacy_id(draft, index, message) if legacy else token(message.get("tool_call_id"), f"{path}.tool_call_id")
    named = message.get("name")
    name = draft.name_of(use_id) if named is None else token(named, f"{path}.name")
    payload, raw = draft.payload(message.get("content"), f"{path}.content")
    status = "error" if _tells_failure(payload) else "success"
    block = content.tool_result(name, use_id, status, payload, raw=raw)
    draft.result(block, path)
    draft.add_results(index, [block], message_time(message, index))


def _tells_failure(payload: object) -> bool:
    """Whether a result says of itself that its tool failed, which the format has no place for: a text that begins with
    `Error:`, or an object with an `error` and nothing but what describes it.
    """
    if isinstance(payload, str):
        return _FAILURE.match(payload) is not None
    return isinstance(payload, dict) and bool(payload.get("error")) and payload.keys() <= _OF_A_FAILURE


def _texts(draft: Draft, value: object, path: str) -> list[BlockDict]:
    if isinstance(value, list):
        return [block for _, block in placed_parts(value, path, lambda part, at: _part(draft, part, at))]
    return [] if value is None or string(value, path) == "" else [content.text(string(value, path))]


def _part(draft: Draft, part: JsonObject, path: str) -> BlockDict | None:
    kind = string(part.get("type"), f"{path}.type")
    if kind == "text":
        draft.unkept(part, path, frozenset({"type", "text"}))
        return draft.text(part.get("text"), f"{path}.text")
    if kind == "refusal":
        return next(iter(_refusal(draft, part.get("refusal"), f"{path}.refusal")), None)
    if kind in ("tool_use", "tool_result"):
        # Dropped as other parts are, the conversation would lose its tools, and the right import would find it there.
        raise DialectError(path, f"is a part of type {quoted(kind)}: import these messages with the format anthropic")
    draft.drop(part, path, f"part of type {quoted(kind)}")
    return None


def _refusal(draft: Draft, value: object, path: str) -> list[BlockDict]:
    block = draft.text(value, path)
    if block:
        draft.warn(path, "is a refusal; kept as text")
    return [block] if block else []


def _calls(draft: Draft, value: object, path: str) -> list[BlockDict]:
    return [block for _, block in placed_parts(value, path, lambda call, at: _call(draft, call, at))]


def _call(draft: Draft, call: JsonObject, path: str) -> BlockDict | None:
    kind = call.get("type", "function")
    if kind != "function":
        draft.drop(call, path, f"tool call of type {quoted(kind)}")
        return None
    draft.unkept(call, path, frozenset({"id", "type", "function", "index"}))
    return _use(draft, token(call.get("id"), f"{path}.id"), call.get("function"), path, f"{path}.function")


def _use(draft: Draft, use_id: str, called: object, path: str, place: str) -> BlockDict:
    function = record(called, place)
    draft.unkept(function, place, frozenset({"name", "arguments"}))
    name = token(function.get("name"), f"{place}.name")
    given, raw = _arguments(draft, function.get("arguments"), f"{place}.arguments")
    return draft.use(content.tool_use(name, use_id, given, raw=raw), path)


def _arguments(draft: Draft, value: object, path: str) -> tuple[JsonObject | None, JsonObject | None]:
    if isinstance(value, dict):
        draft.warn(path, "is an object instead of JSON text")
        return draft.arguments(value, path)
    return draft.arguments_text(string(value, path), path)


def _legacy_call(draft: Draft, index: int, called: object) -> BlockDict:
    path = f"messages.{index}.function_call"
    draft.warn(path, "is a tool call in the old format; its id is generated")
    return _use(draft, _made_up(index), called, path, path)


def _legacy_id(draft: Draft, index: int, message: JsonObject) -> str:
    """The id for a result in the old format, which has only a name: the latest open call of that name."""
    path = f"messages.{index}"
    name = token(message.get("name"), f"{path}.name")
    draft.warn(path, "is a tool result in the old format; its id is generated")
    return draft.latest_open(name) or _made_up(index)


def _made_up(index: int) -> str:
    return f"function_call_{index}"


def _user_content(blocks: list[BlockDict]) -> str | list[JsonObject]:
    if len(blocks) > 1:
        return [{"type": "text", "text": spoken(block)} for block in blocks]
    return said(blocks)


def _assistant(export: Export, message: MessageSnapshot, blocks: list[BlockDict]) -> JsonObject:
    uses, words = _parted(blocks)
    if words + uses != blocks:
        export.lost(message.index, "the order of its texts and tool uses is not kept; text comes first")
    if not uses:
        return {"role": "assistant", "content": said(words)}
    calls = [_call_out(export, message.index, block) for block in uses]
    return {"role": "assistant", "content": said(words) or None, "tool_calls": calls}


def _parted(blocks: list[BlockDict]) -> tuple[list[BlockDict], list[BlockDict]]:
    acts = [block for block in blocks if block["content_type"] in ("tool_use", "tool_result")]
    return acts, [block for block in blocks if block["content_type"] in ("text", "error")]


def _call_out(export: Export, index: int, block: BlockDict) -> JsonObject:
    arguments = export.verbatim(block)
    if arguments is None:
        arguments = text_of(export.arguments(index, block), block["raw_request"], "arguments")
    return {
        "id": block["tool_use_id"],
        "type": "function",
        "function": {"name": block["tool_name"], "arguments": arguments},
    }


def _results(export: Export, index: int, blocks: list[BlockDict], *, after_results: bool) -> Iterator[JsonObject]:
    results, words = _parted(blocks)
    if after_results and results:
        export.lost(index, "its results are merged with those of the message before")
    if not blocks:
        export.lost(index, "is left out, because it has no content to export")
    yield from (_result_out(export, index, block) for block in results)
    if words:
        yield {"role": "user", "content": _user_content(words)}


def _result_out(export: Export, index: int, block: BlockDict) -> JsonObject:
    text = export.result_text(index, block)
    exact = exact_value(text or "")
    failed = block["status"] == "error"
    if failed is not _tells_failure(text if exact is None else exact):
        status = "error" if failed else "success"
        export.lost(index, f"the {status} status of the result of {block['tool_name']} is not kept")
    named = {} if export.nameless(block) else {"name": block["tool_name"]}
    return {"role": "tool", "tool_call_id": block["tool_use_id"], **named, "content": text}
