"""Importing and exporting threads in other systems' message formats, called dialects (spec 9).

Each dialect is one small module that converts to and from one canonical form, and every loss is reported. Plain data
in and out: nothing here uses the database, and invalid input raises only `DialectError`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from threads.content import BLOCK, BlockDict, JsonObject, MessageSnapshot
from threads.dialects import anthropic, data_harness, markdown, openai, otel, roboto, spans, traces, transcript
from threads.dialects.canonical import Conversation, DialectError, ParsedMessage, Rendered, Sheet
from threads.dialects.reading import DROPPED_PARTS, LATER_SYSTEM, Draft
from threads.dialects.spans import Span
from threads.dialects.writing import Export

__all__ = [
    "EXPORT_FORMATS",
    "FORMATS",
    "Conversation",
    "DialectError",
    "ParsedMessage",
    "Rendered",
    "detected",
    "gathered",
    "parse",
    "render",
]

Reader = Callable[[Draft, int, JsonObject], None]
Writer = Callable[[Export, Sheet], list[JsonObject]]
Printer = Callable[[Export, Sheet], str]
Place = TypeVar("Place")

_READERS: dict[str, Reader] = {
    "openai": openai.read,
    "anthropic": anthropic.read,
    "data_harness": data_harness.read,
    "roboto": roboto.read,
    "otel": otel.read,
}
_WRITERS: dict[str, Writer] = {
    "openai": openai.write,
    "anthropic": anthropic.write,
    "data_harness": data_harness.write,
    "roboto": roboto.write,
    "otel": otel.write,
}
_PRINTERS: dict[str, Printer] = {"markdown": markdown.write, "transcript": transcript.write}

FORMATS: tuple[str, ...] = tuple(_READERS)
"""The formats that can be imported."""
EXPORT_FORMATS: tuple[str, ...] = (*_WRITERS, *_PRINTERS)
"""The formats that can be exported: the same, and two for people."""


def gathered(format: str, given: Iterable[tuple[Place, object]]) -> Iterator[tuple[Place, object]]:
    """The conversations of an import, each with its place: where it was found, or where the first trace was.

    In the format `otel`, traces are taken apart and put together as conversations, which come last. A trace that cannot
    be read, or the first one if none has messages, is passed on: `parse` refuses it with the reason.
    """
    first: tuple[Place, object] | None = None
    found: list[Span] = []
    for place, value in given:
        if format != "otel" or not isinstance(value, dict) or not spans.is_trace(value):
            yield place, value
            continue
        try:
            found += spans.read(value)
        except DialectError:
            yield place, value
        else:
            first = first or (place, value)
    if first is None:
        return
    conversations = list(traces.conversations(found))
    yield from ((first[0], each) for each in conversations) if conversations else [first]


def parse(format: str, conversation: object) -> Conversation:
    """Read a conversation `{id, messages, system?, metadata?, created?, title?}` (B172-B176).

    Raises `DialectError` with the path of anything that cannot be read (B178); smaller problems become warnings.
    """
    reader = _READERS.get(format)
    if reader is None:
        raise DialectError("format", f"must be one of {', '.join(FORMATS)}")
    if format == "otel" and isinstance(conversation, dict) and spans.is_trace(conversation):
        spans.read(conversation)
        raise DialectError("resourceSpans", traces.NO_MESSAGES)
    draft = Draft.of(conversation)
    if isinstance(conversation, traces.Gathered):
        conversation.warn(draft)
    for index, message in draft.source():
        reader(draft, index, message)
    return draft.finish()


def detected(conversations: Sequence[object]) -> str:
    """The format in which conversations read best: with the fewest errors, then the fewest warnings.

    All are looked at: the first may be plain text, which is the same in several formats.
    """
    if any(isinstance(each, dict) and spans.is_trace(each) for each in conversations):
        return "otel"
    return min(FORMATS, key=lambda format: _losses(format, conversations))


def _losses(format: str, conversations: Sequence[object]) -> tuple[int, int]:
    errors = warnings = 0
    for each in conversations:
        try:
            warnings += len(parse(format, each).warnings)
        except DialectError:
            errors += 1
    return errors, warnings


def render(
    format: str,
    *,
    thread_id: str,
    title: str | None,
    system: str | None,
    messages: Sequence[MessageSnapshot],
    with_verbatim: bool,
    metadata: JsonObject | None = None,
) -> Rendered:
    """Write a thread in a dialect and list the losses (B171-B176); raw payloads are never included (B180).

    `with_verbatim`: the reader may see raw requests, which hold arguments that are not a JSON object.
    `metadata`: of the thread, for the losses; nothing of it is written.
    """
    export, sheet = Export(with_verbatim), Sheet(thread_id, title, system, [_whole(message) for message in messages])
    export.losses += _beside_the_messages(metadata or {})
    if format in _WRITERS:
        written = _WRITERS[format](export, sheet)
        return Rendered(format, system, messages=written, losses=export.losses)
    if format in _PRINTERS:
        return Rendered(format, system, text=_PRINTERS[format](export, sheet), losses=export.losses)
    raise DialectError("format", f"must be one of {', '.join(EXPORT_FORMATS)}")


def _beside_the_messages(metadata: JsonObject) -> Iterator[str]:
    """What an import could keep in the metadata only."""
    for key in (LATER_SYSTEM, DROPPED_PARTS):
        items = metadata.get(key)
        if isinstance(items, list) and items:
            count = "1 item" if len(items) == 1 else f"{len(items)} items"
            yield f"metadata: {key} has {count} of the import that no message holds"


def _whole(message: MessageSnapshot) -> MessageSnapshot:
    """The message with exactly the known fields in every block."""
    return replace(message, blocks=[_spelled_out(block) for block in message.blocks])


def _spelled_out(block: BlockDict) -> BlockDict:
    if block["content_type"] == "client_context":  # an earlier version stored anything that a client sent
        return block
    return BLOCK.validate_python(block).model_dump()
