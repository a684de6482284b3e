"""The weave: a thread's activity as a string with one letter per step, so that lists need not read messages.

p user, a agent, t tool result, f fault, c cancelled. `threads.transcript` maintains the string, and
`threads.presenting.cloth` draws it.
"""

from collections.abc import Iterable, Sequence

from django.db.models import Q, QuerySet

from core.prepared import Prepared
from core.statements import Row
from threads.content import BlockDict, MessageSnapshot
from threads.models import Block, Message

LENGTH = 160
PERSON, AGENT, TOOL, FAULT, CANCELLED = "p", "a", "t", "f", "c"
_ENOUGH = LENGTH * 6
"""Number of blocks read to rebuild a weave: later ones would not fit."""


def letters(role: str, blocks: Sequence[BlockDict], *, continues: bool) -> str:
    """The steps that these blocks add; text that continues a message is not a new step."""
    places = enumerate(blocks, start=int(continues))
    return _woven((role, block["content_type"], ending(block), position) for position, block in places)


def ending(block: BlockDict) -> str:
    """The stored outcome of a block: the status of a tool result, or `cancelled` for a cancellation error."""
    is_cancelled = block["content_type"] == "error" and block.get("error_code") == "cancelled"
    return "cancelled" if is_cancelled else block.get("status", "")


def went_wrong(woven: str) -> bool:
    """Whether the steps contain an error or a cancellation."""
    return FAULT in woven or CANCELLED in woven


def of_messages(messages: Iterable[MessageSnapshot]) -> tuple[str, bool]:
    """The weave of complete messages, and whether it contains an error."""
    woven = _woven(
        (message.role, block["content_type"], ending(block), position)
        for message in messages
        for position, block in enumerate(message.blocks)
    )
    return woven[:LENGTH], went_wrong(woven)


def of_thread(thread_pk: int) -> tuple[str, bool]:
    """Like `of_messages`, for a stored thread, without reading its content."""
    roles: dict[int, str] = dict(_ROLES.rows(thread_pk))
    steps = _STEPS.rows(thread_pk)
    woven = _woven((roles.get(idx, ""), kind, outcome, position) for idx, position, kind, outcome in steps)
    has_more = len(steps) == _ENOUGH
    return woven[:LENGTH], went_wrong(woven) or (has_more and _FAULTS.first(thread_pk) is not None)


def _step_rows(thread_pk: int) -> QuerySet[Block, Row]:
    blocks = Block.objects.filter(thread=thread_pk).order_by("idx", "position")
    return blocks.values_list("idx", "position", "kind", "outcome")[:_ENOUGH]


def _role_rows(thread_pk: int) -> QuerySet[Message, Row]:
    return Message.objects.filter(thread=thread_pk).order_by("idx").values_list("idx", "role")[:_ENOUGH]


def _fault_rows(thread_pk: int) -> QuerySet[Block, Row]:
    is_faulty = Q(kind="error") | Q(kind="tool_result") & ~Q(outcome="success")
    # Ordered, because otherwise PostgreSQL would scan the blocks of all threads for one match.
    return Block.objects.filter(is_faulty, thread=thread_pk).order_by("idx").values_list("idx")[:1]


_STEPS, _ROLES, _FAULTS = (Prepared(rows, int) for rows in (_step_rows, _role_rows, _fault_rows))


def _woven(steps: Iterable[tuple[str, str, str, int]]) -> str:
    """The letters of blocks, given as role of the message, kind, outcome and position in the message."""
    return "".join(
        _letter(role, kind, outcome)
        for role, kind, outcome, position in steps
        if kind != "text" or position == 0  # text that continues a message is not a new step
    )


def _letter(role: str, kind: str, outcome: str) -> str:
    if kind == "text":
        return PERSON if role == "user" else AGENT
    if kind == "tool_result":
        return TOOL if outcome == "success" else FAULT
    if kind == "error":
        return CANCELLED if outcome == "cancelled" else FAULT
    return ""
