"""What the two export formats for people share."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from threads import content
from threads.content import BlockDict, MessageSnapshot
from threads.dialects.canonical import text_of
from threads.dialects.writing import Export

SPEAKERS = {"user": "User", "assistant": "Assistant", "roboto": "Tools"}


def shown_blocks(export: Export, message: MessageSnapshot) -> Iterator[BlockDict]:
    """The blocks to show, with fragments of an answer joined and without viewing contexts."""
    for block in merged(message.blocks):
        if block["content_type"] == "client_context":
            export.lost(message.index, "its client_context block is left out")
        elif block["content_type"] != "text" or block["text"]:
            yield block


def merged(blocks: Sequence[BlockDict]) -> list[BlockDict]:
    """The blocks with neighbouring texts joined: a streamed answer is stored in fragments."""
    whole: list[BlockDict] = []
    for block in blocks:
        if whole and whole[-1]["content_type"] == block["content_type"] == "text":
            whole[-1] = content.text(whole[-1]["text"] + block["text"])
        else:
            whole.append(block)
    return whole


def minute(created: datetime) -> str:
    """A creation time in UTC, to the minute."""
    return created.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def state(message: MessageSnapshot) -> str:
    """The status of a message that is not completed."""
    return "" if message.status == "completed" else f", {message.status}"


def called_with(export: Export, index: int, block: BlockDict) -> str:
    """The arguments of a use as text."""
    verbatim = export.verbatim(block)
    if verbatim is not None:
        return verbatim
    export.withheld_arguments(index, block)
    return text_of(block["input"] or {}, block["raw_request"], "arguments")


def outcome(block: BlockDict) -> str:
    """The status and runtime of a tool use."""
    return f"{block['status']}, {block['runtime_ms']} ms" if block["runtime_ms"] else str(block["status"])


def returned(block: BlockDict) -> str:
    """The payload of a result as text."""
    payload = block["payload"]
    if payload is None:
        return ""
    return payload if isinstance(payload, str) else text_of(payload, block["raw_response"], "content")


def failure(block: BlockDict) -> str:
    """An error and its code."""
    return f"{block['error_message']} ({block['error_code']})" if block["error_code"] else str(block["error_message"])
