"""What every goal type is made of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

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

    def attempt_model(self, goal: GoalData) -> type[BaseModel]:
        """The model that an attempt at this goal must fit."""
        if isinstance(self.attempt, type):
            return self.attempt
        return self.attempt(goal)

    def input_schema(self, goal: GoalData) -> dict[str, Any]:
        """The JSON Schema of the achieve tool's input."""
        return self.attempt_model(goal).model_json_schema()
