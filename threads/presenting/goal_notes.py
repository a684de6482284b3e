"""A goal beside the article that declared it."""

from dataclasses import dataclass

from threads.goals import Point
from threads.presenting.words import GOAL_WORDS, Word, counted, goal_title


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at a goal: the call that made it, and what it answered."""

    anchor: str
    outcome: Word
    words: str


@dataclass(frozen=True, slots=True)
class GoalNote:
    """A goal beside the article that declared it. `present` fills in the attempts, and why it failed where it did."""

    goal_type: str
    target: str
    status: str
    index: int
    achieve_tool_use_id: str | None = None
    points: tuple[Point, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    reason: str = ""

    @property
    def summary(self) -> str:
        """What it is about, how often it was tried, and why it failed where it did."""
        tried = len(self.attempts)
        attempts = counted(tried, "attempt") if tried else "No attempt" if self.status == "failed" else ""
        return " · ".join(filter(None, (self.target, ", ".join(filter(None, (attempts, self.reason))))))

    @property
    def points_line(self) -> str:
        """The points in a few words, for the fold."""
        if not self.points:
            return "What was tried"
        return f"{sum(point.done is True for point in self.points)} of {len(self.points)} done"

    @property
    def title(self) -> str:
        """What is to be achieved."""
        return goal_title(self.goal_type)

    @property
    def word(self) -> Word:
        """How far it has come."""
        return GOAL_WORDS[self.status]
