"""The base classes of goal types."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints

from core.payloads import json_text
from core.wording import one_line

GoalData = Mapping[str, Any]
ElsewhereId = Annotated[str, StringConstraints(max_length=200)]
"""The id of something that Heddle does not know; may be empty."""


class GoalRefused(Exception):
    """An attempt did not achieve its goal; the message tells the agent why."""


class Declaration(BaseModel):
    """A goal as a caller declares it. Unknown keys are ignored, types are not coerced."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class Attempt(BaseModel):
    """The input of the achieve call."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


def no_further_rule(goal: GoalData, attempt: Any) -> None:
    """The check of types for which a valid structure is enough."""


@dataclass(frozen=True, slots=True)
class Point:
    """A part of a goal as readers see it: a checklist item, a value. `done` is None while it is open."""

    name: str
    words: str
    done: bool | None = None

    @classmethod
    def of(cls, name: str, value: Any, *, done: bool | None = None) -> "Point":
        """A point for any value, in one line."""
        return cls(one_line(name, 100), "" if value is None else one_line(json_text(value), 300), done)


Points = Callable[[GoalData, Any, bool], Iterator[Point]]
"""Makes the points of a goal from its declaration, the last input and whether that achieved it. An input that did not
can be anything, or None if there was no attempt."""


def fields_handed_in(goal: GoalData, handed: Any, achieved: bool) -> Iterator[Point]:
    """For types without items: the fields of the input."""
    fields = handed.items() if isinstance(handed, dict) else ()
    yield from (Point.of(name.replace("_", " "), value, done=achieved) for name, value in fields)


def named_entries(handed: Any, field: str, name: str) -> dict[str, dict[str, Any]]:
    """The objects in a list of the input, by the field that names each; anything else is left out."""
    entries = handed.get(field) if isinstance(handed, dict) else None
    found = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    return {entry[name]: entry for entry in found if isinstance(entry.get(name), str)}


@dataclass(frozen=True)
class GoalType:
    """One type of goal. `attempt` is a model, or a function that makes one from the declaration."""

    name: str
    declaration: type[Declaration]
    attempt: type[BaseModel] | Callable[[GoalData], type[BaseModel]]
    instruction: Callable[[GoalData], str]
    example: Callable[[GoalData], dict[str, Any]]
    """A valid input, with which the simulator achieves the goal."""
    check: Callable[[GoalData, Any], None] = no_further_rule
    points: Points = fields_handed_in
    """What readers see with the turn that declared the goal."""

    def attempt_model(self, goal: GoalData) -> type[BaseModel]:
        """The model for attempts at this goal."""
        if isinstance(self.attempt, type):
            return self.attempt
        return self.attempt(goal)

    def input_schema(self, goal: GoalData) -> dict[str, Any]:
        """The JSON Schema of the achieve tool's input."""
        return self.attempt_model(goal).model_json_schema()
