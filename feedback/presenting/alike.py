"""View models of the reports like one, and of what can be done with all of them."""

from dataclasses import dataclass
from datetime import datetime

from feedback.presenting.words import Spelled


@dataclass(frozen=True)
class Near(Spelled):
    """A report similar to the open one with the reasons, or a search result with where it matches and its thread.

    Without notes (`words`), `answer` is how the rated answer begins.
    """

    feedback_id: str
    sentiment: str
    words: str
    reasons: tuple[str, ...]
    created: datetime
    href: str
    resolved: bool = False
    answer: str = ""
    is_alike: bool = False
    is_of_org: bool = True
    """Whether it is in the same org as the open report; only then can it be the original."""
    taken: str = ""
    """Why it is not done with others at one press: `owned by Bea`, `snoozed`."""


@dataclass(frozen=True)
class Alike:
    """The reports like one, and what can be done with all of them."""

    feedback_id: str
    here: str
    near: tuple[Near, ...]
    resolved: bool = False

    @property
    def open_together(self) -> int:
        """Number of open reports that "resolve together" resolves: this one and `near_together`."""
        return (not self.resolved) + len(self.near_together)

    @property
    def duplicates_together(self) -> int:
        """How many of `near_together` could all become duplicates of this one; 0 if one could not."""
        alike = self.near_together
        return len(alike) if all(near.is_of_org for near in alike) else 0

    @property
    def near_together(self) -> list[Near]:
        """The open reports that are alike, and that nobody else owns or put off."""
        return [near for near in self._alike if not near.taken]

    @property
    def copies(self) -> list[Near]:
        """The open reports that are alike and could become duplicates of this one, one by one."""
        return [near for near in self._alike if near.is_of_org]

    @property
    def _alike(self) -> list[Near]:
        return [near for near in self.near if near.is_alike and not near.resolved]
