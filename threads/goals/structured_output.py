"""An answer that fits a JSON Schema given by the caller. The value is kept with the goal."""

import json
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, field_validator

from catalogue import schemas
from threads.goals.base import Attempt, Declaration, GoalData, GoalRefused, GoalType

MAX_SCHEMA_BYTES = 64 * 1024


class StructuredOutput(Declaration):
    goal_type: Literal["structured_output"] = "structured_output"
    output_schema: dict[str, Any]
    instruction: Annotated[str, StringConstraints(min_length=1, max_length=4000)] | None = None

    @field_validator("output_schema")
    @classmethod
    def _is_schema(cls, value: dict[str, Any]) -> dict[str, Any]:
        if len(json.dumps(value)) > MAX_SCHEMA_BYTES:
            raise ValueError("must not be larger than 64 KiB")
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


GOAL = GoalType("structured_output", StructuredOutput, Output, _instruction, _example, _check)
