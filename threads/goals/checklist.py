"""Goal type checklist: every named item must be reported done, with evidence."""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

from threads.goals.base import Attempt, Declaration, GoalData, GoalRefused, GoalType, Point, named_entries

Key = Annotated[str, StringConstraints(max_length=100)]
Description = Annotated[str, StringConstraints(max_length=500)]


class Checklist(Declaration):
    goal_type: Literal["checklist"] = "checklist"
    items: Annotated[dict[Key, Description], Field(min_length=1, max_length=50)]

    @field_validator("items")
    @classmethod
    def _named(cls, value: dict[str, str]) -> dict[str, str]:
        if any(not name.strip() for name in value):
            raise ValueError("an item's name must not be blank")
        return value


class Item(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    item: str
    done: bool
    evidence: str = Field(description="What shows that the item is done.")


class Report(Attempt):
    report: Annotated[list[Item], Field(min_length=1)]


def _check(goal: GoalData, attempt: Report) -> None:
    counts = Counter(entry.item for entry in attempt.report)
    if unknown := sorted(counts.keys() - goal["items"].keys()):
        raise GoalRefused(f"report: {', '.join(unknown)} is not on the checklist")
    if missing := sorted(goal["items"].keys() - counts.keys()):
        raise GoalRefused(f"report: {', '.join(missing)} is missing")
    if twice := sorted(name for name, count in counts.items() if count > 1):
        raise GoalRefused(f"report: {', '.join(twice)} is reported more than once")
    for entry in attempt.report:
        if not entry.done:
            raise GoalRefused(f"report: {entry.item} is not done")
        if not entry.evidence.strip():
            raise GoalRefused(f"report: {entry.item} has no evidence")


def _instruction(goal: GoalData) -> str:
    items = "; ".join(f"{name}: {meaning}" for name, meaning in goal["items"].items())
    return f"Do everything on this checklist, then report every item as done, with evidence: {items}"


def _example(goal: GoalData) -> dict[str, Any]:
    return {"report": [{"item": name, "done": True, "evidence": "Simulated evidence."} for name in goal["items"]]}


def _points(goal: GoalData, handed: Any, _achieved: bool) -> Iterator[Point]:
    """Every item of the list, with the evidence if reported done, else with its requirement."""
    reported = named_entries(handed, "report", "item")
    for name, meaning in goal["items"].items():
        entry = reported.get(name, {})
        done = entry.get("done") is True
        yield Point.of(name, entry.get("evidence") if done else meaning, done=done if entry else None)


GOAL = GoalType("checklist", Checklist, Report, _instruction, _example, _check, _points)
