"""Anthropic messages (spec 9): blocks have a `type`, and results are in user messages."""

from threads import content
from threads.content import BlockDict, JsonObject
from threads.dialects.canonical import Sheet, quoted
from threads.dialects.reading import (
    TIME_KEYS,
    Draft,
    choice,
    flag,
    message_time,
    placed_parts,
    reserved,
    string,
    token,
)
from threads.dialects.writing import Export, speeches, spoken

ROLES = ("user", "assistant", "system")
FIELDS = frozenset({"role", "content", *TIME_KEYS})


def read(draft: Draft, index: int, message: JsonObject) -> None:
    """Read one message into the draft; results in a user message become a separate message (B172, B173)."""
    path = f"messages.{index}"
    role = choice(message.get("role"), f"{path}.role", ROLES)
    draft.unkept(message, path, FIELDS)
    if role == "system":
        draft.system_message(index, message.get("content"))
        return
    placed = _blocks(draft, message.get("content"), f"{path}.content", role)
    if role == "user":
        draft.split(index, placed, message_time(message, index))
    else:
        draft.add(index, "assistant", [block for _, block in placed], message_time(message, index))


def write(export: Export, sheet: Sheet) -> list[JsonObject]:
    """The thread as messages, without the system prompt, which is separate in a request (B172, B173, B174)."""
    return [
        {"role": role, "content": _content([_block_out(export, index, block) for block in blocks])}
        for index, role, blocks in speeches(export, sheet.messages)
    ]


def _blocks(draft: Draft, value: object, path: str, role: str) -> list[tuple[str, BlockDict]]:
    if isinstance(value, str):
        return [(path, content.text(value))] if value else []
    return placed_parts(value, path, lambda part, at: _block(draft, part, at, role))


def _block(draft: Draft, part: JsonObject, path: str, role: str) -> BlockDict | None:
    kind = string(part.get("type"), f"{path}.type")
    if kind == "text":
        draft.unkept(part, path, frozenset({"type", "text"}))
        return draft.text(part.get("text"), f"{path}.text")
    if kind == "tool_use":
        reserved(role, "assistant", path)
        return _use(draft, part, path)
    if kind == "tool_result":
        reserved(role, "user", path)
        return _result(draft, part, path)
    draft.drop(part, path, f"block of type {quoted(kind)}")
    return None


def _use(draft: Draft, part: JsonObject, path: str) -> BlockDict:
    draft.unkept(part, path, frozenset({"type", "id", "name", "input"}))
    use_id, name = token(part.get("id"), f"{path}.id"), token(part.get("name"), f"{path}.name")
    given, raw = draft.arguments(part.get("input"), f"{path}.input")
    return draft.use(content.tool_use(name, use_id, given, raw=raw), path)


def _result(draft: Draft, part: JsonObject, path: str) -> BlockDict:
    draft.unkept(part, path, frozenset({"type", "tool_use_id", "content", "is_error"}))
    use_id = token(part.get("tool_use_id"), f"{path}.tool_use_id")
    status = "error" if flag(part.get("is_error"), f"{path}.is_error") else "success"
    payload, raw = draft.payload(part.get("content"), f"{path}.content")
    return draft.result(content.tool_result(draft.name_of(use_id), use_id, status, payload, raw=raw), path)


def _content(parts: list[JsonObject]) -> str | list[JsonObject]:
    """Write a single text as a plain string; both forms mean the same."""
    if len(parts) == 1 and parts[0]["type"] == "text":
        return str(parts[0]["text"])
    return parts


def _block_out(export: Export, index: int, block: BlockDict) -> JsonObject:
    if block["content_type"] == "tool_use":
        given = export.arguments(index, block)
        return {"type": "tool_use", "id": block["tool_use_id"], "name": block["tool_name"], "input": given}
    if block["content_type"] == "tool_result":
        return _result_out(export, index, block)
    return {"type": "text", "text": spoken(block)}


def _result_out(export: Export, index: int, block: BlockDict) -> JsonObject:
    export.implied_name(index, block)
    text = export.result_text(index, block, null=None)
    failed = {"is_error": True} if block["status"] == "error" else {}
    said = {} if text is None else {"content": text}
    return {"type": "tool_result", "tool_use_id": block["tool_use_id"], **said, **failed}
