"""Where in a thread the first thing is that a term of a query asks for: a tool use, an error, or a goal."""

from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Min, Q, TextField
from django.db.models.functions import Cast
from django.db.models.lookups import IStartsWith

from core.db import dump
from core.payloads import gist
from core.wording import one_line
from threads import searching
from threads.models import Block, Goal, Thread
from threads.presenting.calls import reason_of
from threads.presenting.words import GOAL_WORDS, goal_title

Term = tuple[str, str]
"""The name and the value of a field."""
IS_FAULT = Q(kind="error") & ~Q(outcome="cancelled") | Q(kind="tool_result", outcome="error")
"""The condition for blocks that are an error; a cancellation is not."""
_LINE = 160


def is_place(name: str, value: str) -> bool:
    """Whether a term asks for something that has a place in a thread."""
    return name in ("tool", "failed", "goal") or (name, value) == ("has", "error")


def first(threads: Collection[int], terms: Sequence[Term], after: int = -1) -> dict[int, tuple[int, str]]:
    """The first place in each of these threads, by row id, behind a message: its message, and a line about it.

    At most three queries: two for blocks and one for goals.
    """
    if not threads:
        return {}
    found = _first_blocks(threads, _blocks(terms), after)
    for pk, place in _first_goals(threads, [value for name, value in terms if name == "goal"], after).items():
        found[pk] = min(place, found.get(pk, place))
    return found


def calls(thread: Thread, index: int, terms: Iterable[Term]) -> set[tuple[str, str | None]]:
    """The tool uses and results of a message that these terms ask for: kind and tool use id. One query."""
    conditions = _blocks(terms)
    if not conditions:
        return set()
    rows = Block.objects.filter(reduce(or_, conditions), thread=thread, idx=index)
    return set(rows.values_list("kind", "tool_use_id"))


def _blocks(terms: Iterable[Term]) -> list[Q]:
    """The conditions for the blocks of each term that asks for some."""
    found = []
    for name, value in terms:
        match name:
            case "tool":
                found.append(_of_tool("tool_use", value))
            case "failed":
                found.append(Q(outcome="error") & _of_tool("tool_result", value))
            case "has":
                found.append(IS_FAULT)
    return found


def _of_tool(kind: str, name: str) -> Q:
    """Blocks of the tool that a typed name means. A stored block begins with its name."""
    stored = Cast("data", TextField())
    names, are_beginnings = searching.tool_names_of(name)
    end = '"}' if are_beginnings else "}"
    beginnings = (dump({"content_type": kind, "tool_name": each}).removesuffix(end) for each in names)
    return Q(kind=kind) & reduce(or_, (Q(IStartsWith(stored, each)) for each in beginnings))


def _first_blocks(threads: Collection[int], conditions: Sequence[Q], after: int) -> dict[int, tuple[int, str]]:
    if not conditions:
        return {}
    blocks = Block.objects.filter(reduce(or_, conditions), thread__in=threads, idx__gt=after)
    ids = blocks.values_list("thread").annotate(first=Min("id")).values_list("first", flat=True)
    rows = Block.objects.filter(pk__in=list(ids)).values_list("thread", "idx", "kind", "data")
    return {pk: (idx, _line_of(kind, data)) for pk, idx, kind, data in rows}


def _line_of(kind: str, data: Any) -> str:
    if kind == "error":
        return one_line(data["error_message"] or data.get("error_code") or "Generation failed", _LINE)
    said = reason_of(data) if kind == "tool_result" else gist(data.get("input"))
    return one_line(": ".join(filter(None, (data["tool_name"], said))), _LINE)


def _first_goals(threads: Collection[int], statuses: Sequence[str], after: int) -> dict[int, tuple[int, str]]:
    if not statuses:
        return {}
    goals = Goal.objects.filter(thread__in=threads, status__in=statuses, message_sequence_num__gt=after)
    rows = goals.order_by("-message_sequence_num", "-id")  # the first overwrites those behind it
    return {
        pk: (idx, f"{goal_title(goal_type)}: {GOAL_WORDS[status].word}")
        for pk, idx, goal_type, status in rows.values_list("thread", "message_sequence_num", "goal_type", "status")
    }
