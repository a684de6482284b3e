"""What every goal type is made of."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from core.rendering import json_text, one_line

GoalData = Mapping[str, Any]


class GoalRefused(Exception):
    """An attempt that does not achieve its goal; the text tells the agent why."""


class Declaration(BaseModel):
    """What a caller declares. Unknown keys are ignored, types are not coerced."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class Attempt(BaseModel):
    """What the agent hands in, at the top level of the achieve call's input."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


def no_further_rule(goal: GoalData, attempt: Any) -> None:
    """For types whose attempts are judged by their structure alone."""


@dataclass(frozen=True, slots=True)
class Point:
    """A part of a goal as readers are told it: an item checked, a value produced. `done` is None where it is open."""

    name: str
    words: str
    done: bool | None = None

    @classmethod
    def of(cls, name: str, value: Any, *, done: bool | None = None) -> "Point":
        """Of any value, in one line."""
        return cls(one_line(name, 100), "" if value is None else one_line(json_text(value), 300), done)


Points = Callable[[GoalData, Any, bool], Iterator[Point]]
"""The points of a goal, from its declaration, what was handed in last and whether that achieved it. What did not may be
anything, and nothing at all where nobody tried."""


def fields_handed_in(goal: GoalData, handed: Any, achieved: bool) -> Iterator[Point]:
    """For types that have nothing to check off: what was handed in, field by field."""
    fields = handed.items() if isinstance(handed, dict) else ()
    yield from (Point.of(name.replace("_", " "), value, done=achieved) for name, value in fields)


def named_entries(handed: Any, field: str, name: str) -> dict[str, dict[str, Any]]:
    """The objects in a list that was handed in, by the field that names each; whatever looks otherwise is left out."""
    entries = handed.get(field) if isinstance(handed, dict) else None
    found = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    return {entry[name]: entry for entry in found if isinstance(entry.get(name), str)}


@dataclass(frozen=True)
class GoalType:
    """One type of goal. `attempt` is a model, or makes one from the declaration where its shape depends on that."""

    name: str
    declaration: type[Declaration]
    attempt: type[BaseModel] | Callable[[GoalData], type[BaseModel]]
    instruction: Callable[[GoalData], str]
    example: Callable[[GoalData], dict[str, Any]]
    """A valid input, by which the simulator achieves the goal."""
    check: Callable[[GoalData, Any], None] = no_further_rule
    points: Points = fields_handed_in
    """What a reader is told of it beside the turn that declared it."""

    def attempt_model(self, goal: GoalData) -> type[BaseModel]:
        """The model that an attempt at this goal must fit."""
        if isinstance(self.attempt, type):
            return self.attempt
        return self.attempt(goal)

    def input_schema(self, goal: GoalData) -> dict[str, Any]:
        """The JSON Schema of the achieve tool's input."""
        return self.attempt_model(goal).model_json_schema()
