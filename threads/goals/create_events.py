"""Goal type create_events: events on the time line of a dataset."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from threads.goals.base import Attempt, Declaration, ElsewhereId, GoalData, GoalRefused, GoalType, Point

Key = Annotated[str, StringConstraints(max_length=100)]
Description = Annotated[str, StringConstraints(max_length=500)]
TARGET_PREFIXES = ("ds_", "fl_", "tp_", "mp_")


class CreateEvents(Declaration):
    goal_type: Literal["create_events"] = "create_events"
    dataset_id: ElsewhereId
    event_vocabulary: Annotated[dict[Key, Description], Field(min_length=1, max_length=50)]
    tag_vocabulary: Annotated[dict[Key, Description], Field(max_length=50)] = {}
    collection_id: ElsewhereId | None = None
    event_focus_prompt: Annotated[str, Field(min_length=1, max_length=4000)] | None = None

    @field_validator("event_vocabulary", "tag_vocabulary")
    @classmethod
    def _named_and_described(cls, value: dict[str, str]) -> dict[str, str]:
        if any(not name.strip() for name in value):
            raise ValueError("a name must not be blank")
        if blank := [name for name, meaning in value.items() if not meaning.strip()]:
            raise ValueError(f"the description of {blank[0]} must not be blank")
        return value


class Event(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    name: str
    start_time: int = Field(description="nanoseconds since the epoch")
    end_time: int = Field(description="nanoseconds since the epoch, not before start_time")
    description: str | None = None
    tags: list[str] = []
    target_id: str = Field(description="what the event is about: ds_..., fl_..., tp_... or mp_...")

    @model_validator(mode="after")
    def _in_order(self) -> "Event":
        if self.end_time < self.start_time:
            raise ValueError("end_time must not be before start_time")
        return self


class Events(Attempt):
    events: list[Event]


def _check(goal: GoalData, attempt: Events) -> None:
    """Require declared names and tags, and targets inside the dataset (B108)."""
    for place, event in enumerate(attempt.events):
        if event.name not in goal["event_vocabulary"]:
            raise GoalRefused(f"events.{place}.name: {event.name} is not in the event vocabulary")
        if strange := [tag for tag in event.tags if tag not in goal["tag_vocabulary"]]:
            raise GoalRefused(f"events.{place}.tags: {strange[0]} is not in the tag vocabulary")
        if not event.target_id.startswith(TARGET_PREFIXES):
            raise GoalRefused(f"events.{place}.target_id: must begin with one of {', '.join(TARGET_PREFIXES)}")
        if event.target_id.startswith("ds_") and event.target_id != goal["dataset_id"]:
            raise GoalRefused(f"events.{place}.target_id: is another dataset than {goal['dataset_id']}")


def _instruction(goal: GoalData) -> str:
    names = "; ".join(f"{name}: {meaning}" for name, meaning in goal["event_vocabulary"].items())
    tags = ", ".join(goal["tag_vocabulary"]) or "none"
    focus = f" Focus: {goal['event_focus_prompt']}" if goal.get("event_focus_prompt") else ""
    return f"Create the events of dataset {goal['dataset_id']}. Event names: {names}. Tags: {tags}.{focus}"


def _example(goal: GoalData) -> dict[str, Any]:
    target = goal["dataset_id"] if goal["dataset_id"].startswith("ds_") else "fl_simulated"
    event = {"name": next(iter(goal["event_vocabulary"])), "start_time": 0, "end_time": 1, "target_id": target}
    return {"events": [{**event, "description": "Simulated event.", "tags": list(goal["tag_vocabulary"])[:1]}]}


def _points(goal: GoalData, handed: Any, achieved: bool) -> Iterator[Point]:
    """The submitted events, or the requested kinds of events if there are none."""
    events = handed.get("events") if isinstance(handed, dict) else None
    found = [event for event in events if isinstance(event, dict)] if isinstance(events, list) else []
    for event in found:
        yield Point.of(str(event.get("name")), event.get("description") or event.get("target_id"), done=achieved)
    if not found:
        yield from (Point.of(name, meaning) for name, meaning in goal["event_vocabulary"].items())


GOAL = GoalType("create_events", CreateEvents, Events, _instruction, _example, _check, _points)
