"""Exports a thread as Markdown, for reading and pasting elsewhere.

Message text is in block quotes: a heading or an unclosed fence in a message ends with its quote and cannot be mistaken
for the next speaker.
"""

import re
from collections.abc import Iterator

from threads.content import BlockDict, MessageSnapshot
from threads.dialects.canonical import Sheet
from threads.dialects.telling import SPEAKERS, called_with, failure, minute, outcome, returned, shown_blocks, state
from threads.dialects.writing import Export

LINE_END = re.compile(r"\r\n|\r|\n")
SPECIAL = re.compile(r"([\\`*_\[\]<>#&])")


def write(export: Export, sheet: Sheet) -> str:
    """The whole thread, one section per message."""
    sections = [f"# {_inline(sheet.title or sheet.thread_id)}", f"Thread {_code(sheet.thread_id)}"]
    if sheet.system is not None:
        sections += ["## System prompt", _quote(sheet.system)]
    for message in sheet.messages:
        sections += _section(export, message)
    return "\n\n".join(sections) + "\n"


def _section(export: Export, message: MessageSnapshot) -> Iterator[str]:
    yield f"## {SPEAKERS[message.role]}"
    yield f"*{message.index}, {minute(message.created)}{state(message)}*"
    for block in shown_blocks(export, message):
        yield from _block(export, message.index, block)


def _block(export: Export, index: int, block: BlockDict) -> Iterator[str]:
    match block["content_type"]:
        case "text":
            yield _quote(block["text"])
        case "tool_use":
            yield f"**Calls** {_code(block['tool_name'])}"
            yield _fenced(called_with(export, index, block), "json")
        case "tool_result":
            yield f"**Result of** {_code(block['tool_name'])}: {outcome(block)}"
            yield _fenced(returned(block), "" if isinstance(block["payload"], str) else "json")
        case "error":
            yield "**Error**"
            yield _quote(failure(block))


def _quote(text: str) -> str:
    return "\n".join(f"> {line}" if line else ">" for line in LINE_END.split(text))


def _fenced(text: str, language: str) -> str:
    """A code block with a fence longer than any in the text, so that the text cannot close it."""
    runs = re.findall(r"`+", text)
    fence = "`" * max(3, 1 + max(map(len, runs), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def _code(text: str) -> str:
    """Inline code on one line, whatever the text contains."""
    runs = re.findall(r"`+", text)
    ticks = "`" * (1 + max(map(len, runs), default=0))
    return f"{ticks} {_one_line(text)} {ticks}" if runs else f"{ticks}{_one_line(text)}{ticks}"


def _inline(text: str) -> str:
    return SPECIAL.sub(r"\\\1", _one_line(text))


def _one_line(text: str) -> str:
    return " ".join(text.split())
