"""View models of the comments on a report."""

from dataclasses import dataclass
from datetime import datetime

from feedback.presenting.folding import is_long


@dataclass(frozen=True, slots=True)
class Said:
    """A comment: who said what to whom. `is_deleted` only of the reader's own, which can be restored."""

    comment_id: str
    who: str
    text: str
    pieces: tuple[tuple[str, bool], ...]
    """The text; true for pieces that name whom it asks."""
    at: datetime
    edited_at: datetime | None = None
    is_mine: bool = False
    is_deleted: bool = False
    whom: str = ""
    """Whom it asks or answers: `asks you and Bea`, once they have answered `asked Bea`, `answers you`."""
    waits: str = ""
    """`asked you` or `answered you` if it waits for the reader."""
    version: str = ""

    @property
    def is_long(self) -> bool:
        """Whether it is too long to show in full; then eight lines are shown."""
        return is_long(self.text)


@dataclass(frozen=True, slots=True)
class Talk:
    """The last comments on a report, oldest first, and how many came before them."""

    said: tuple[Said, ...] = ()
    earlier: int = 0

    @property
    def count(self) -> int:
        """Number of comments."""
        return self.earlier + sum(not each.is_deleted for each in self.said)

    @property
    def last(self) -> str:
        """The id of the last comment, empty without any."""
        return self.said[-1].comment_id if self.said else ""

    @property
    def waiting(self) -> str:
        """The id of the first comment shown that waits for the reader, empty without any."""
        return next((each.comment_id for each in self.said if each.waits), "")

    @property
    def waits(self) -> str:
        """Whose comments wait for the reader: `Ines and Bea asked you`, `Bea answered you`."""
        waiting = [each for each in self.said if each.waits]
        if not waiting:
            return ""
        questions = [each for each in waiting if each.waits == "asked you"] or waiting
        return f"{' and '.join(dict.fromkeys(each.who for each in questions))} {questions[0].waits}"
