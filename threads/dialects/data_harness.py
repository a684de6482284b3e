"""data_harness messages (spec 9): blocks have no type and differ by their keys."""

from threads import content
from threads.content import BlockDict, JsonObject
from threads.dialects.canonical import DialectError, Sheet
from threads.dialects.reading import TIME_KEYS, Draft, choice, flag, message_time, placed_parts, reserved, string, token
from threads.dialects.writing import Export, speeches, spoken

ROLES = ("user", "assistant")
FIELDS = frozenset({"role", "content", *TIME_KEYS})
USE_FIELDS = frozenset({"tool_use_id", "tool_name", "tool_input"})
RESULT_FIELDS = frozenset({"tool_use_id", "content", "is_error"})


def read(draft: Draft, index: int, message: JsonObject) -> None:
    """Read one message into the draft; results in a user message become a separate message (B172, B173)."""
    path = f"messages.{index}"
    role = choice(message.get("role"), f"{path}.role", ROLES)
    draft.unkept(message, path, FIELDS)
    placed = placed_parts(message.get("content"), f"{path}.content", lambda part, at: _block(draft, part, at, role))
    if role == "user":
        draft.split(index, placed, message_time(message, index))
    else:
        draft.add(index, "assistant", [block for _, block in placed], message_time(message, index))


def write(export: Export, sheet: Sheet) -> list[JsonObject]:
    """The thread as messages, with every field of `Message` and its blocks present (B171)."""
    return [
        {"role": role, "content": [_block_out(export, index, block) for block in blocks]}
        for index, role, blocks in speeches(export, sheet.messages)
    ]


def _block(draft: Draft, part: JsonObject, path: str, role: str) -> BlockDict | None:
    if "text" in part:
        draft.unkept(part, path, frozenset({"text"}))
        return draft.text(part["text"], f"{path}.text")
    if "tool_input" in part:
        reserved(role, "assistant", path)
        return _use(draft, part, path)
    if "tool_use_id" in part and "content" in part:
        reserved(role, "user", path)
        return _result(draft, part, path)
    raise DialectError(path, "is not text, a tool use or a tool result")


def _use(draft: Draft, part: JsonObject, path: str) -> BlockDict:
    draft.unkept(part, path, USE_FIELDS)
    use_id = token(part.get("tool_use_id"), f"{path}.tool_use_id")
    name = token(part.get("tool_name"), f"{path}.tool_name")
    given, raw = draft.arguments(part["tool_input"], f"{path}.tool_input")
    return draft.use(content.tool_use(name, use_id, given, raw=raw), path)


def _result(draft: Draft, part: JsonObject, path: str) -> BlockDict:
    draft.unkept(part, path, RESULT_FIELDS)
    use_id = token(part["tool_use_id"], f"{path}.tool_use_id")
    status = "error" if flag(part.get("is_error"), f"{path}.is_error") else "success"
    payload, raw = draft.payload(string(part["content"], f"{path}.content"), f"{path}.content")
    return draft.result(content.tool_result(draft.name_of(use_id), use_id, status, payload, raw=raw), path)


def _block_out(export: Export, index: int, block: BlockDict) -> JsonObject:
    if block["content_type"] == "tool_use":
        given = export.arguments(index, block)
        return {"tool_use_id": block["tool_use_id"], "tool_name": block["tool_name"], "tool_input": given}
    if block["content_type"] == "tool_result":
        return _result_out(export, index, block)
    return {"text": spoken(block)}


def _result_out(export: Export, index: int, block: BlockDict) -> JsonObject:
    export.implied_name(index, block)
    text = export.result_text(index, block)
    return {"tool_use_id": block["tool_use_id"], "content": text, "is_error": block["status"] == "error"}
