"""Which tool uses of a thread are open. They stand in its last assistant message and nowhere else (spec 4.5)."""

from datetime import datetime

from core.prepared import Prepared, PreparedRow
from threads import client_tools
from threads.content import BlockDict
from threads.models import Block, Message, Thread


def open_uses(thread: Thread) -> list[BlockDict]:
    """The unanswered tool uses of the last assistant message, in order."""
    asking = _asking(thread)
    if asking is None:
        return []
    rows = _BLOCKS.rows(thread.pk, asking.idx)
    answered = {data["tool_use_id"] for kind, data in rows if kind == "tool_result"}
    return [data for kind, data in rows if kind == "tool_use" and data["tool_use_id"] not in answered]


def pending_client_uses(thread: Thread) -> list[BlockDict]:
    """Those of them that a client has to answer."""
    uses = [use for use in open_uses(thread) if not use["answered_by_server"]]
    names = client_tools.names_of(thread) if uses else frozenset()
    return [use for use in uses if use["tool_name"] in names]


def asked_at(thread: Thread) -> datetime | None:
    """When the message with those uses was begun."""
    asking = _asking(thread)
    return asking.created if asking else None


def answered_message(thread: Thread) -> Message | None:
    """The roboto message that collects the results of those uses, if it has been begun."""
    last = last_message(thread.pk)
    return last if last is not None and last.role == Message.Role.ROBOTO and last.idx else None


def _asking(thread: Thread) -> Message | None:
    """The assistant message at the end, or right before the last message: its results, or the next user's words."""
    return next((message for message in _LAST.all(thread.pk) if message.role == Message.Role.ASSISTANT), None)


def last_message(thread_pk: int) -> Message | None:
    """The last message of a thread, of whatever role."""
    return _LAST.first(thread_pk)


_LAST = PreparedRow(lambda thread: Message.objects.filter(thread=thread).order_by("-idx")[:2], Message, int)
_BLOCKS = Prepared(
    lambda thread, first: (
        Block.objects.filter(thread=thread, idx__gte=first).order_by("idx", "position").values_list("kind", "data")
    ),
    int,
    int,
)
