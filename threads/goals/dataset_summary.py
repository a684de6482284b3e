"""Goal type dataset_summary: a summary of a dataset."""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from threads.goals.base import Attempt, Declaration, ElsewhereId, GoalData, GoalType


class DatasetSummary(Declaration):
    goal_type: Literal["dataset_summary"] = "dataset_summary"
    dataset_id: ElsewhereId
    summary_format_spec_prompt: Annotated[str, Field(min_length=1, max_length=4000)] | None = None


class Summary(Attempt):
    summary: str = Field(description="The whole summary, not blank.")

    @field_validator("summary")
    @classmethod
    def _said_something(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("must not be blank")
        return value


def _instruction(goal: GoalData) -> str:
    wish = goal.get("summary_format_spec_prompt")
    return f"Summarise dataset {goal['dataset_id']}." + (f" Format: {wish}" if wish else "")


def _example(goal: GoalData) -> dict[str, Any]:
    return {"summary": f"Simulated summary of dataset {goal['dataset_id'] or '(unnamed)'}: nothing unusual was found."}


GOAL = GoalType("dataset_summary", DatasetSummary, Summary, _instruction, _example)
