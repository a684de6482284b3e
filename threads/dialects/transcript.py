"""Exports a thread as plain text. Messages are indented, so that no line can be mistaken for the next speaker."""

import re
from collections.abc import Iterator

from threads.content import BlockDict, MessageSnapshot
from threads.dialects.canonical import Sheet
from threads.dialects.telling import SPEAKERS, called_with, failure, minute, outcome, returned, shown_blocks, state
from threads.dialects.writing import Export

INDENT = "    "
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")


def write(export: Export, sheet: Sheet) -> str:
    """The whole thread, one paragraph per message."""
    paragraphs = [_head(sheet)]
    if sheet.system is not None:
        paragraphs.append(f"System prompt\n{_indented(sheet.system)}")
    paragraphs += ["\n".join(_lines(export, message)) for message in sheet.messages]
    return "\n\n".join(paragraphs) + "\n"


def _head(sheet: Sheet) -> str:
    return "\n".join(_one_line(line) for line in (sheet.title, f"Thread {sheet.thread_id}") if line)


def _lines(export: Export, message: MessageSnapshot) -> Iterator[str]:
    yield f"[{message.index}] {SPEAKERS[message.role]}, {minute(message.created)}{state(message)}"
    for block in shown_blocks(export, message):
        yield _indented(_text_of(export, message.index, block))


def _text_of(export: Export, index: int, block: BlockDict) -> str:
    match block["content_type"]:
        case "tool_use":
            return f"-> {block['tool_name']} {called_with(export, index, block)}"
        case "tool_result":
            return f"<- {block['tool_name']} ({outcome(block)}) {returned(block)}".rstrip()
        case "error":
            return f"!! {failure(block)}"
    return str(block["text"])


def _indented(text: str) -> str:
    """Indent every line, for all kinds of line breaks, and escape control characters."""
    return "\n".join(f"{INDENT}{CONTROL.sub(_visible, line)}".rstrip() for line in text.splitlines())


def _one_line(text: str) -> str:
    return CONTROL.sub(_visible, " ".join(text.split()))


def _visible(found: re.Match[str]) -> str:
    return f"\\x{ord(found.group()):02x}"
