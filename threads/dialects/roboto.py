"""Heddle's own records (spec 3.2, 3.3): checked on import and sanitised on export, but not converted."""

from datetime import UTC

from pydantic import ValidationError

from core.bodies import reason_of
from threads.content import BLOCK, BlockDict, JsonObject, MessageSnapshot, without_answerer
from threads.dialects.canonical import MAX_DEPTH, DialectError, Sheet, dotted, flaw
from threads.dialects.reading import TIME_KEYS, Draft, choice, message_time, placed_parts, token, under
from threads.dialects.writing import Export

ROLES = ("user", "assistant", "roboto")
FIELDS = frozenset({"role", "content", "status", *TIME_KEYS})
RAW_FIELDS = ("raw_request", "raw_response")


def read(draft: Draft, index: int, message: JsonObject) -> None:
    """Read one message record into the draft; `content_type` may be absent, statuses become `completed`."""
    path = f"messages.{index}"
    role = choice(message.get("role"), f"{path}.role", ROLES)
    draft.unkept(message, path, FIELDS)
    if message.get("status", "completed") != "completed":
        draft.warn(f"{path}.status", "is not kept; imported messages are completed")
    placed = placed_parts(message.get("content"), f"{path}.content", lambda part, at: _block(draft, part, at))
    blocks = [block for _, block in placed]
    if role == "user":
        draft.add(index, "user", blocks, message_time(message, index))
    else:
        draft.add(index, "assistant" if role == "assistant" else "roboto", blocks, message_time(message, index))


def write(export: Export, sheet: Sheet) -> list[JsonObject]:
    """The thread as message records without raw payloads (B180)."""
    return [_message_out(export, message) for message in sheet.messages]


def _block(draft: Draft, part: JsonObject, path: str) -> BlockDict | None:
    block = _checked(part, path)
    draft.unkept(part, path, frozenset(block))
    match block["content_type"]:
        case "text":
            return draft.text(block["text"], f"{path}.text")
        case "tool_use":
            return draft.use(_use(draft, block, path), path)
        case "tool_result":
            return draft.result(_result(draft, block, path), path)
        case "client_context":
            draft.unkept(part["context"], f"{path}.context", frozenset(block["context"]))
    return _shallow(block, path)


def _checked(part: JsonObject, path: str) -> BlockDict:
    try:
        return BLOCK.validate_python(part).model_dump()
    except ValidationError as refused:
        first = refused.errors(include_url=False)[0]
        raise DialectError(under(path, dotted(first["loc"][1:])), reason_of(first)) from refused


def _use(draft: Draft, block: BlockDict, path: str) -> BlockDict:
    _named(block, path)
    if block["input"] is None:
        return _shallow(block, path)
    given, raw = draft.arguments(block["input"], f"{path}.input")
    return _shallow({**block, "input": given, "raw_request": raw or block["raw_request"]}, path)


def _result(draft: Draft, block: BlockDict, path: str) -> BlockDict:
    _named(block, path)
    return _shallow({**block, "payload": draft.shallow(block["payload"], f"{path}.payload")}, path)


def _named(block: BlockDict, path: str) -> None:
    token(block["tool_use_id"], f"{path}.tool_use_id")
    token(block["tool_name"], f"{path}.tool_name")


def _shallow(block: BlockDict, path: str) -> BlockDict:
    """The block; raises if it is nested too deeply: raw payloads and viewing contexts have no text form."""
    for key, value in block.items():
        if found := flaw(value, deepest=MAX_DEPTH):
            raise DialectError(under(f"{path}.{key}", dotted(found[0])), found[1])
    return block


def _message_out(export: Export, message: MessageSnapshot) -> JsonObject:
    return {
        "role": message.role,
        "content": [_block_out(export, message.index, block) for block in message.blocks],
        "status": message.status,
        "created": message.created.astimezone(UTC).isoformat(),
    }


def _block_out(export: Export, index: int, block: BlockDict) -> JsonObject:
    if block["content_type"] == "tool_use":
        export.withheld_arguments(index, block)
    return {key: None if key in RAW_FIELDS else value for key, value in without_answerer(block).items()}
