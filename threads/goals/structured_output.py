"""Goal type structured_output: a value that fits a JSON Schema of the caller. It is stored with the goal."""

import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, field_validator

from catalogue import schemas
from threads.goals.base import Attempt, Declaration, GoalData, GoalRefused, GoalType, Point


class StructuredOutput(Declaration):
    goal_type: Literal["structured_output"] = "structured_output"
    output_schema: dict[str, Any]
    instruction: Annotated[str, StringConstraints(min_length=1, max_length=4000)] | None = None

    @field_validator("output_schema")
    @classmethod
    def _is_schema(cls, value: dict[str, Any]) -> dict[str, Any]:
        if problem := schemas.problem_of_schema(value):
            raise ValueError(problem)
        return value


class Output(Attempt):
    value: Any = Field(description="The answer; must be valid against the schema given in the goal.")


def _check(goal: GoalData, attempt: Output) -> None:
    if problem := schemas.problem_of_value(attempt.value, goal["output_schema"], "value"):
        raise GoalRefused(problem)


def _instruction(goal: GoalData) -> str:
    wish = f" {goal['instruction']}" if goal.get("instruction") else ""
    schema = json.dumps(goal["output_schema"], ensure_ascii=False)
    return f"Answer with a value that is valid against this JSON Schema: {schema}.{wish}"


def _example(goal: GoalData) -> dict[str, Any]:
    return {"value": schemas.example_of(goal["output_schema"])}


def _points(goal: GoalData, handed: Any, achieved: bool) -> Iterator[Point]:
    """The fields of the submitted value, or those of the schema."""
    value = handed.get("value") if isinstance(handed, dict) else None
    if isinstance(value, dict):
        yield from (Point.of(name, each, done=achieved) for name, each in value.items())
    elif value is not None:
        yield Point.of("value", value, done=achieved)
    else:
        asked = goal["output_schema"].get("properties")
        yield from (Point.of(name, None) for name in (asked if isinstance(asked, dict) else ()))


GOAL = GoalType("structured_output", StructuredOutput, Output, _instruction, _example, _check, _points)
