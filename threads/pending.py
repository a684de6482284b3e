"""Which tool uses of a thread have no result yet (spec 4.5).

Those of a turn are all in its last assistant message. Those from a fork, an import or a seed can be anywhere, and get
an error result when the next turn begins.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import cast

from django.db.models import Exists, OuterRef

from core.prepared import Prepared, PreparedRow
from threads import client_tools
from threads.access import LAST
from threads.content import BlockDict
from threads.models import Block, Message, Thread


def open_uses(thread: Thread) -> list[BlockDict]:
    """The unanswered tool uses of the last assistant message, in order."""
    asking = _asking(thread)
    if asking is None:
        return []
    rows = _BLOCKS.rows(thread.pk, asking.idx)
    return unanswered(data for kind, data in rows if kind in ("tool_use", "tool_result"))


def unanswered(blocks: Iterable[BlockDict]) -> list[BlockDict]:
    """The tool uses among some blocks that have no result among them, in order."""
    held = list(blocks)
    answered = {block["tool_use_id"] for block in held if block["content_type"] == "tool_result"}
    return [block for block in held if block["content_type"] == "tool_use" and block["tool_use_id"] not in answered]


def left_open(thread_pk: int) -> list[BlockDict]:
    """Every tool use of an idle thread without a later result, in order."""
    return [data for (data,) in _LEFT_OPEN.rows(thread_pk)]


def last_request(thread_pk: int, upto: int = LAST) -> int | None:
    """The index of the last user message up to index `upto`; None if there is none."""
    said = Message.objects.filter(thread=thread_pk, role=Message.Role.USER, idx__lte=upto).order_by("-idx")
    return said.values_list("idx", flat=True).first()


def next_request(thread_pk: int, idx: int) -> int | None:
    """The index of the first user message after index `idx`; None if there is none."""
    said = Message.objects.filter(thread=thread_pk, role=Message.Role.USER, idx__gt=idx).order_by("idx")
    return said.values_list("idx", flat=True).first()


def calls_behind(thread_pk: int, upto: int) -> list[BlockDict]:
    """Tool uses and results between the request at index `upto` and the next request, in order."""
    end = next_request(thread_pk, upto)
    found = Block.objects.filter(thread=thread_pk, idx__gt=upto, kind__in=("tool_use", "tool_result"))
    rows = (found if end is None else found.filter(idx__lt=end)).order_by("idx", "position")
    return [cast(BlockDict, data) for data in rows.values_list("data", flat=True)]


def pending_client_uses(thread: Thread) -> list[BlockDict]:
    """The open tool uses that the client has to answer."""
    uses = [use for use in open_uses(thread) if not use["answered_by_server"]]
    names = client_tools.names_of(thread) if uses else frozenset()
    return [use for use in uses if use["tool_name"] in names]


def asked_at(thread: Thread) -> datetime | None:
    """When the message with the open tool uses was created."""
    asking = _asking(thread)
    return asking.created if asking else None


def answered_message(thread: Thread) -> Message | None:
    """The roboto message that collects the results of the open tool uses, if it exists yet."""
    last = last_message(thread.pk)
    return last if last is not None and last.role == Message.Role.ROBOTO and last.idx else None


def _asking(thread: Thread) -> Message | None:
    """The last assistant message, if nothing but its results follows."""
    return next((message for message in _LAST.all(thread.pk) if message.role == Message.Role.ASSISTANT), None)


def last_message(thread_pk: int) -> Message | None:
    """The last message of a thread, of any role."""
    return _LAST.first(thread_pk)


_LAST = PreparedRow(lambda thread: Message.objects.filter(thread=thread).order_by("-idx")[:2], Message, int)
_LEFT_OPEN = Prepared(
    lambda thread: (
        Block.objects.filter(thread=thread, kind="tool_use", tool_use_id__isnull=False)
        .exclude(
            Exists(
                Block.objects.filter(
                    thread=OuterRef("thread"),
                    tool_use_id=OuterRef("tool_use_id"),
                    kind="tool_result",
                    idx__gte=OuterRef("idx"),
                )
            )
        )
        .order_by("idx", "position")
        .values_list("data")
    ),
    int,
)
_BLOCKS = Prepared(
    lambda thread, first: (
        Block.objects.filter(thread=thread, idx__gte=first).order_by("idx", "position").values_list("kind", "data")
    ),
    int,
    int,
)
