"""Content blocks, the parts of a message (spec 3.3).

A block has the same form everywhere: the dict on the wire is the dict that dialects read and pages show. The models
below validate incoming blocks and rebuild stored ones.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, TypeAdapter

from core.wire import Body

Role = Literal["user", "assistant", "roboto"]
MessageStatus = Literal["not_started", "generating", "completed", "failed", "cancelled"]
ResultStatus = Literal["success", "error", "declined"]
JsonObject = dict[str, Any]
BlockDict = dict[str, Any]
"""A block as plain data; `content_type` is always present."""

MAX_NAME: Final = 200
"""Maximum length of tool names and tool use ids in all input: the width of their columns."""

LOAD_SKILL = "load_skill"
"""The tool with which an agent loads a skill."""

UNANSWERED = "This call was never answered."
"""The text for a call without a result, for the model, and in the transcript after a later turn begins."""

TERMINAL: frozenset[str] = frozenset({"completed", "failed", "cancelled"})

Strings = Annotated[list[str], Field(max_length=10_000)]


class _Block(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class TextBlock(_Block):
    content_type: Literal["text"] = "text"
    text: str


class ToolUseBlock(_Block):
    content_type: Literal["tool_use"] = "tool_use"
    tool_name: str
    tool_use_id: str
    """Id of this call; its result has the same."""
    input: JsonObject | None = None
    """The arguments; null if the model wrote anything but a JSON object."""
    raw_request: JsonObject | None = None
    """The request as sent to the tool; only in tool details."""
    answered_by_server: bool = False
    """Whether the server answers the call with an error itself, because it cannot be made."""


def _payload(value: object) -> object:
    """Checked before the union, each of whose members would report an error under its own name."""
    if isinstance(value, str | dict | list | None):
        return value
    raise ValueError("must be text, a JSON object, a list or null")


class ToolResultBlock(_Block):
    content_type: Literal["tool_result"] = "tool_result"
    tool_name: str
    tool_use_id: str
    runtime_ms: int
    """Runtime in milliseconds; 0 if unknown."""
    status: ResultStatus
    payload: Annotated[str | JsonObject | list[Any] | None, BeforeValidator(_payload)] = None
    raw_response: JsonObject | None = None
    """The response as received from the tool; outside of tool details null unless equal to `payload`."""


class ErrorBlock(_Block):
    content_type: Literal["error"] = "error"
    error_message: str
    error_code: str | None = None


class ViewingContext(Body):
    """What the user's screen shows (spec 3.9). For information only: it grants no access and limits nothing."""

    dataset_ids: Strings = []
    file_ids: Strings = []
    collection_ids: Strings = []
    device_ids: Strings = []
    device_type_ids: Strings = []
    session_ids: Strings = []
    view_ids: Strings = []
    table_state: JsonObject | None = None
    display_time_anchor_ns: int | None = None
    """Nanoseconds since 1970-01-01 UTC."""
    display_time_anchor_label: str | None = None
    visualizer_state: JsonObject | None = None
    misc_context: JsonObject | None = None


class ClientContextBlock(_Block):
    content_type: Literal["client_context"] = "client_context"
    context: ViewingContext


def _kind(value: object) -> str | None:
    """The kind of an incoming block, from its `content_type` or else from its keys (spec 3.3).

    A plain union would turn `{"text": 5}` into a model without required fields, so the kind is decided before any
    field is validated. None means that the block has no known shape.
    """
    if isinstance(value, BaseModel):
        return cast(str, value.content_type)  # type: ignore[attr-defined]
    if not isinstance(value, dict):
        return None
    inferred = (
        "text" if "text" in value
        else "tool_result" if "runtime_ms" in value and "status" in value
        else "tool_use" if "tool_name" in value
        else "error" if "error_message" in value
        else "client_context" if "context" in value
        else None
    )  # fmt: skip
    given = value.get("content_type", inferred)
    return inferred if given == inferred else None


Block = Annotated[
    Annotated[TextBlock, Tag("text")]
    | Annotated[ToolUseBlock, Tag("tool_use")]
    | Annotated[ToolResultBlock, Tag("tool_result")]
    | Annotated[ErrorBlock, Tag("error")]
    | Annotated[ClientContextBlock, Tag("client_context")],
    Discriminator(
        _kind,
        custom_error_type="unknown_block",
        custom_error_message="is not a known content block, or its content_type does not fit its fields",
    ),
]

BLOCK: TypeAdapter[Block] = TypeAdapter(Block)


def text(value: str) -> BlockDict:
    """A text block."""
    return {"content_type": "text", "text": value}


def tool_use(
    name: str, use_id: str, arguments: JsonObject | None, *, raw: JsonObject | None = None, refused: bool = False
) -> BlockDict:
    """A tool use; `refused` marks an impossible call, which the server answers with an error."""
    return {
        "content_type": "tool_use",
        "tool_name": name,
        "tool_use_id": use_id,
        "input": arguments,
        "raw_request": raw,
        "answered_by_server": refused,
    }


def tool_result(
    name: str,
    use_id: str,
    status: str,
    payload: str | JsonObject | list[Any] | None,
    *,
    runtime_ms: int = 0,
    raw: JsonObject | None = None,
) -> BlockDict:
    """A tool result."""
    return {
        "content_type": "tool_result",
        "tool_name": name,
        "tool_use_id": use_id,
        "runtime_ms": runtime_ms,
        "status": status,
        "payload": payload,
        "raw_response": raw,
    }


CLIENT_PREFIX: Final = "client_"
"""What the names of client tools begin with in the SDK (spec 3.6)."""


def with_answerer(block: BlockDict, clients: Collection[str] = ()) -> BlockDict:
    """A block from a seed or an import as it is stored: a result of a client tool or of `load_skill` names who
    answered, as in a turn, so that every reader gets its payload as raw response too (spec 3.3); older SDKs know only
    the raw response, which is its payload then.

    `clients`: the client tools that are known by name.
    """
    if block["content_type"] != "tool_result":
        return block
    name = block["tool_name"]
    if name != LOAD_SKILL and name not in clients and not name.startswith(CLIENT_PREFIX):
        return block
    payload = block["payload"] if block.get("payload") is not None else block.get("raw_response")
    return {**block, "payload": payload, "answered_by": "skill" if name == LOAD_SKILL else "client"}


TOLD = frozenset({"client", "skill", "refusal", "told record"})
"""Who answered a call whose client takes the result from the raw response, which equals the payload then (spec 3.3)."""
RECORDED = frozenset({"record", "told record"})


def without_answerer(block: BlockDict) -> BlockDict:
    """A stored block without `answered_by`, which is internal and not part of any record."""
    return {key: value for key, value in block.items() if key != "answered_by"}


def error(message: str, code: str | None = None) -> BlockDict:
    """An error block."""
    return {"content_type": "error", "error_message": message, "error_code": code}


@dataclass(slots=True)  # frozen, each would take three times as long to make; a long thread has thousands
class MessageSnapshot:
    """One stored message; pages, dialects and the wire all start from this.

    `index` is the message_sequence_num; `blocks` are unsanitised block dicts in order. A streamed answer consists of
    several text blocks that are joined without a separator.
    """

    index: int
    role: Role
    status: MessageStatus
    created: datetime
    blocks: list[BlockDict]
    author: str | None = None
