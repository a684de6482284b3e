"""Thread titles: default titles and renaming."""

from collections.abc import Iterable, Sequence
from typing import Any

from accounts.rights import Right
from core.actor import Actor
from core.visible import is_visible
from threads import transcript
from threads.access import require
from threads.content import MessageSnapshot, TextBlock
from threads.dialects import ParsedMessage
from threads.directives import without
from threads.models import Thread
from threads.models.thread import TITLE_LENGTH
from threads.wire import MessageIn

_READ = 100_000
"""Characters of a text that a title is looked for in: a directive may be long, and words follow it."""


def of_text(said: str) -> str | None:
    """The first line of which anything is seen, without directives to the simulator.

    Cut at a word to the maximum length of a title; lists shorten it further as needed.
    """
    for line in without(said[:_READ]).splitlines():
        words = " ".join(line.split()).lstrip("#>*- ")
        if is_visible(words):
            if len(words) <= TITLE_LENGTH:
                return words
            return words[: TITLE_LENGTH - 1].rsplit(" ", 1)[0].rstrip(",;:.") + "…"
    return None


def of_request(messages: Sequence[MessageIn], declared: Sequence[dict[str, Any]]) -> str | None:
    """A title from the first user text, else from the first goal."""
    for message in messages:
        if message.role == "user":
            for block in message.content:
                if isinstance(block, TextBlock) and (title := of_text(block.text)):
                    return title
    return declared[0]["goal_type"].replace("_", " ").capitalize() if declared else None


def of_messages(messages: Iterable[MessageSnapshot | ParsedMessage]) -> str | None:
    """A title from the first text of a person of which anything is seen."""
    said = (
        block["text"]
        for message in messages
        if message.role == "user"
        for block in message.blocks
        if block["content_type"] == "text"
    )
    return next((title for text in said if (title := of_text(text))), None)


def retitle(actor: Actor, thread: Thread, title: str) -> None:
    """Rename a thread (H11)."""
    require(actor, thread, Right.DESCRIBE)
    with transcript.writing(thread.pk) as writer:
        writer.retitle(title)
