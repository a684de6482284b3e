"""Titles: what a thread is called when nobody gives it a name."""

import re
from collections.abc import Sequence
from typing import Any

from accounts.rights import Right
from core.actor import Actor
from threads import transcript
from threads.access import require
from threads.content import TextBlock
from threads.models import Thread
from threads.models.thread import TITLE_LENGTH
from threads.wire import MessageIn

_DIRECTIVE = re.compile(r"\[\[.*?\]\]", re.DOTALL)


def of_text(said: str) -> str | None:
    """The first line with words in it; directives to the simulator are no words.

    As long as a title may be, cut at a word: lists shorten it to the room that they have.
    """
    for line in _DIRECTIVE.sub(" ", said[:4000]).splitlines():
        words = " ".join(line.split()).lstrip("#>*- ")
        if words:
            if len(words) <= TITLE_LENGTH:
                return words
            return words[: TITLE_LENGTH - 1].rsplit(" ", 1)[0].rstrip(",;:.") + "…"
    return None


def of_request(messages: Sequence[MessageIn], declared: Sequence[dict[str, Any]]) -> str | None:
    """From the first words of the person, else from the first goal."""
    for message in messages:
        if message.role == "user":
            for block in message.content:
                if isinstance(block, TextBlock) and (title := of_text(block.text)):
                    return title
    return declared[0]["goal_type"].replace("_", " ").capitalize() if declared else None


def retitle(actor: Actor, thread: Thread, title: str) -> None:
    """Give a thread another title (H11)."""
    require(actor, thread, Right.DESCRIBE)
    with transcript.writing(thread.pk) as writer:
        writer.retitle(title)
