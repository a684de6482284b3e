"""Goal types, one small module each, registered here (spec 3.8).

A type defines its declaration, the input that achieves it, rules that depend on the declaration, the instruction for
the agent, and what readers see. The runner does everything else (tool names, attempts, re-prompts, states).
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from core import bodies
from core.errors import InvalidRequest
from threads.goals import checklist, create_events, dataset_summary, dataset_triage, structured_output
from threads.goals.base import GoalRefused, GoalType, Point
from threads.models import Goal

MAX_PER_TURN = 5

REGISTRY: Mapping[str, GoalType] = {
    kind.name: kind
    for kind in (
        dataset_summary.GOAL,
        dataset_triage.GOAL,
        create_events.GOAL,
        structured_output.GOAL,
        checklist.GOAL,
    )
}

SDK_GOALS = frozenset({dataset_summary.GOAL.name, dataset_triage.GOAL.name, create_events.GOAL.name})
"""The types that the public SDK can read; the others are only for plain HTTP and the pages."""


def declared(value: Any, field: str) -> dict[str, Any]:
    """Check a declaration and return its complete goal data with `goal_type` (B102); raises `InvalidRequest`."""
    if not isinstance(value, dict):
        raise InvalidRequest(f"{field}: must be an object")
    kind = REGISTRY.get(str(value.get("goal_type", "")))
    if kind is None:
        raise InvalidRequest(f"{field}.goal_type: must be one of {', '.join(sorted(REGISTRY))}")
    try:
        checked = kind.declaration.model_validate(value)
    except ValidationError as problem:
        raise bodies.invalid(problem, field) from None
    return {"goal_type": kind.name, **checked.model_dump(mode="json")}


def by_tool(of_turn: Iterable[Goal]) -> dict[str, Goal]:
    """The goals of one turn in order of declaration, by the name of the tool that achieves each.

    The name is `achieve_<type>`, with _2, _3 and so on for further goals of the same type (spec 4.3).
    """
    found: dict[str, Goal] = {}
    counts: Counter[str] = Counter()
    for goal in of_turn:
        counts[goal.goal_type] += 1
        count = counts[goal.goal_type]
        found[f"achieve_{goal.goal_type}" + (f"_{count}" if count > 1 else "")] = goal
    return found


def is_tool_name(name: str) -> bool:
    """Whether a goal of some type may get a tool of this name (see `named`)."""
    return _TOOL_NAME.fullmatch(name) is not None


_TOOL_NAME = re.compile(rf"achieve_(?:{'|'.join(REGISTRY)})(?:_[2-{MAX_PER_TURN}])?")


def check_attempt(goal_data: Mapping[str, Any], arguments: Any) -> dict[str, Any]:
    """The checked input of an achieve call; raises `GoalRefused` with a reason for the agent."""
    kind = REGISTRY[goal_data["goal_type"]]
    try:
        attempt = kind.attempt_model(goal_data).model_validate(arguments)
    except ValidationError as problem:
        raise GoalRefused(bodies.invalid(problem).message) from None
    kind.check(goal_data, attempt)
    return attempt.model_dump(mode="json")


def points(goal_data: Mapping[str, Any], handed: Any, *, achieved: bool) -> tuple[Point, ...]:
    """The points of a goal that readers see; empty for a type that is no longer registered."""
    kind = REGISTRY.get(goal_data["goal_type"])
    return tuple(kind.points(goal_data, handed, achieved)) if kind else ()


__all__ = [
    "MAX_PER_TURN",
    "REGISTRY",
    "SDK_GOALS",
    "GoalRefused",
    "GoalType",
    "Point",
    "by_tool",
    "check_attempt",
    "declared",
    "is_tool_name",
    "points",
]
