"""Request and response bodies of imports and exports (spec 9)."""

from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from core.wire import Exact, Wire
from threads.content import JsonObject

MOST_CONVERSATIONS = 500
"""Conversations, or documents with traces, in one request; traces may hold as many conversations together."""

# The values are checked one by one by `threads.dialects`, which names what is wrong in each.
_CONVERSATION = {
    "type": "object",
    "required": ["id", "messages"],
    "properties": {
        "id": {"type": ["string", "integer"]},
        "messages": {"type": "array", "minItems": 1, "items": {"type": "object"}},
        "metadata": {"type": ["object", "null"]},
        "title": {"type": ["string", "null"]},
    },
}
_TRACE = {
    "type": "object",
    "required": ["resourceSpans"],
    "properties": {"resourceSpans": {"type": "array", "items": {"type": "object"}}},
}
_OTHER = {"description": "Anything else, which fails alone, or is unchanged if its id was imported before."}
_Conversation = Annotated[Any, WithJsonSchema({"anyOf": [_CONVERSATION, _TRACE, _OTHER]})]


class ConversationsIn(Exact):
    """An import of conversations (spec 9)."""

    format: Literal["openai", "anthropic", "data_harness", "roboto", "otel"]
    conversations: Annotated[list[_Conversation], Field(min_length=1, max_length=MOST_CONVERSATIONS)]
    """Objects with `id`, `messages` and optionally `system`, `metadata`, `created` and `title`; in the format `otel`
    also traces (OTLP in JSON, `resourceSpans`), from which conversations are put together."""
    visibility: Literal["private", "org"] = "private"
    owner: str | None = None
    """E-mail address of the owner; only platform admins may name somebody else. Default: the caller."""


class ImportItemOut(Wire):
    """The result of importing one conversation (B178): a bad one may have no id."""

    id: str | None
    """Id of the conversation in the request."""
    thread_id: str | None
    outcome: Literal["created", "unchanged", "failed"]
    """`unchanged`: a conversation with this id was imported before."""
    warnings: list[str]
    """What could not be kept, each with its path."""
    errors: list[JsonObject]
    """Objects with `path` and `reason`."""
    index: int
    """Position in `conversations`, from 0; for a conversation out of traces that of the first trace."""


class ImportOut(Wire):
    """The results of an import, in the order of the request."""

    items: list[ImportItemOut]
    counts: dict[str, int]
    """Number of conversations by outcome."""


class ExportOut(Wire):
    """A thread in another system's format (spec 9)."""

    format: str
    system: str | None
    """The system prompt."""
    messages: list[JsonObject]
    losses: list[str]
    """What the format cannot hold, each with the index of its message, or `metadata` for what an import kept there."""
