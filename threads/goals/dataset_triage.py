"""Goal type dataset_triage: a decision on every label of a vocabulary."""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

from core.wire import Spelling
from threads.goals.base import Attempt, Declaration, ElsewhereId, GoalData, GoalRefused, GoalType, Point, named_entries

Key = Annotated[str, Spelling(r"[a-zA-Z0-9_\-]+", "must be letters, digits, - and _ only")]
Description = Annotated[str, StringConstraints(max_length=500)]


class DatasetTriage(Declaration):
    goal_type: Literal["dataset_triage"] = "dataset_triage"
    dataset_id: ElsewhereId
    label_vocabulary: Annotated[dict[Key, Description], Field(min_length=1, max_length=50)]

    @field_validator("label_vocabulary")
    @classmethod
    def _described(cls, value: dict[str, str]) -> dict[str, str]:
        for label, description in value.items():
            if not description.strip():
                raise ValueError(f"the description of {label} must not be blank")
        return value


class Decision(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    label: str
    applies: bool
    justification: str
    confidence: Annotated[float, Field(ge=0, le=1)]

    @field_validator("justification")
    @classmethod
    def _justified(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("must not be blank, even if the label does not apply")
        return value


class Triage(Attempt):
    label_decisions: Annotated[list[Decision], Field(min_length=1)]


def _check(goal: GoalData, attempt: Triage) -> None:
    """Require every label exactly once, and no other (B107)."""
    counts = Counter(decision.label for decision in attempt.label_decisions)
    if unknown := sorted(counts.keys() - goal["label_vocabulary"].keys()):
        raise GoalRefused(f"label_decisions: {', '.join(unknown)} is not in the vocabulary")
    if twice := sorted(label for label, count in counts.items() if count > 1):
        raise GoalRefused(f"label_decisions: {', '.join(twice)} is decided more than once")
    if missing := sorted(goal["label_vocabulary"].keys() - counts.keys()):
        raise GoalRefused(f"label_decisions: {', '.join(missing)} is not decided")


def _instruction(goal: GoalData) -> str:
    labels = "; ".join(f"{label}: {meaning}" for label, meaning in goal["label_vocabulary"].items())
    return f"Decide for dataset {goal['dataset_id']} which labels apply. Every label exactly once. Labels: {labels}"


def _example(goal: GoalData) -> dict[str, Any]:
    return {
        "label_decisions": [
            {"label": label, "applies": place == 0, "justification": "Simulated decision.", "confidence": 0.5}
            for place, label in enumerate(goal["label_vocabulary"])
        ]
    }


def _points(goal: GoalData, handed: Any, achieved: bool) -> Iterator[Point]:
    """Every label, with its decision and reason, or with its description if undecided."""
    decided = named_entries(handed, "label_decisions", "label")
    for label, meaning in goal["label_vocabulary"].items():
        decision = decided.get(label)
        if decision is None:
            yield Point.of(label, meaning)
        else:
            verdict = "applies" if decision.get("applies") is True else "does not apply"
            yield Point.of(label, f"{verdict}: {decision.get('justification') or ''}", done=achieved)


GOAL = GoalType("dataset_triage", DatasetTriage, Triage, _instruction, _example, _check, _points)
