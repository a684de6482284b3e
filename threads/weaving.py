"""The weave: a thread in one line of letters, one a step, so that a list can draw it without reading messages.

p person, a agent, t tool result, f fault, c cancelled. The letters are kept by the writer and drawn by
`threads.presenting.cloth`.
"""

from collections.abc import Iterable, Sequence

from django.db.models import Q, QuerySet

from core.prepared import Prepared, Row
from threads.content import BlockDict, MessageSnapshot
from threads.models import Block, Message

LENGTH = 160
PERSON, AGENT, TOOL, FAULT, CANCELLED = "p", "a", "t", "f", "c"
_ENOUGH = LENGTH * 6
"""Blocks that are looked at for a whole weave: later ones would not fit on the line."""


def letters(role: str, blocks: Sequence[BlockDict], *, continues: bool) -> str:
    """The steps that these blocks add; text that continues a message is no new step."""
    steps = (_letter(role, block["content_type"], ending(block)) for block in blocks)
    return _joined(steps, started=continues)


def ending(block: BlockDict) -> str:
    """What is kept of how a block ended: the status of a tool result, and of an error that somebody cancelled."""
    is_cancelled = block["content_type"] == "error" and block.get("error_code") == "cancelled"
    return "cancelled" if is_cancelled else block.get("status", "")


def went_wrong(woven: str) -> bool:
    """Whether the steps hold an error; what was cancelled is one, drawn as what it is."""
    return FAULT in woven or CANCELLED in woven


def of_messages(messages: Iterable[MessageSnapshot]) -> tuple[str, bool]:
    """The weave of whole messages, worked out anew, and whether a fault is in it."""
    woven = _woven(
        (message.role, block["content_type"], ending(block), position)
        for message in messages
        for position, block in enumerate(message.blocks)
    )
    return woven[:LENGTH], went_wrong(woven)


def of_thread(thread_pk: int) -> tuple[str, bool]:
    """The same of a stored thread, without reading what it says."""
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
    # In order: for any one of them PostgreSQL would look through the blocks of all threads.
    return Block.objects.filter(is_faulty, thread=thread_pk).order_by("idx").values_list("idx")[:1]


_STEPS, _ROLES, _FAULTS = (Prepared(rows, int) for rows in (_step_rows, _role_rows, _fault_rows))


def _woven(steps: Iterable[tuple[str, str, str, int]]) -> str:
    """Of each block the role of its message, its kind, its outcome and its place in the message."""
    return "".join(
        _joined([_letter(role, kind, outcome)], started=position > 0) for role, kind, outcome, position in steps
    )


def _letter(role: str, kind: str, outcome: str) -> str:
    if kind == "text":
        return PERSON if role == "user" else AGENT
    if kind == "tool_result":
        return TOOL if outcome == "success" else FAULT
    if kind == "error":
        return CANCELLED if outcome == "cancelled" else FAULT
    return ""


def _joined(steps: Iterable[str], *, started: bool) -> str:
    """Consecutive text is one step; a step of text in a message that has begun is none."""
    woven = ""
    for step in steps:
        is_text = step in (PERSON, AGENT)
        if is_text and (woven[-1:] == step or (started and not woven)):
            continue
        woven += step
    return woven
