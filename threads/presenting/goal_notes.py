"""View models of goals."""

from dataclasses import dataclass

from threads.goals import Point
from threads.presenting.words import GOAL_WORDS, Word, counted, goal_title


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a goal: the message and the anchor of its call, and its outcome."""

    index: int
    anchor: str
    outcome: Word
    words: str


@dataclass(frozen=True, slots=True)
class GoalNote:
    """A goal, shown with the article that declared it. `present` adds the attempts and the reason of a failure."""

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
        """The target, the number of attempts, and the reason if it failed."""
        tried = len(self.attempts)
        attempts = counted(tried, "attempt") if tried else "No attempt" if self.status == "failed" else ""
        return " · ".join(filter(None, (self.target, ", ".join(filter(None, (attempts, self.reason))))))

    @property
    def points_line(self) -> str:
        """The points in a few words, for the folded line."""
        if not self.points:
            return "Attempts"
        return f"{sum(point.done is True for point in self.points)} of {len(self.points)} done"

    @property
    def title(self) -> str:
        """The type of the goal as a title."""
        return goal_title(self.goal_type)

    @property
    def word(self) -> Word:
        """The word for its status."""
        return GOAL_WORDS[self.status]
