"""View model of a report in the desk's list."""

from dataclasses import dataclass
from datetime import datetime

from feedback.presenting.words import Spelled, categories_line


@dataclass(frozen=True)
class ReportRow(Spelled):
    """One report in the desk's list: thumb icon, categories, notes, thread and state.

    Without notes, `answer` is how the rated answer begins.
    """

    feedback_id: str
    sentiment: str
    categories: tuple[str, ...]
    notes: str
    thread_title: str
    org: str
    by: str
    created: datetime
    href: str
    resolved: bool = False
    outcome: str = ""
    """How it was resolved, in words, unless that is the default."""
    is_revisited: bool = False
    """Whether the submitter changed it after it was resolved."""
    label: str = ""
    owner: str = ""
    is_mine: bool = False
    held_by: str = ""
    snoozed: str = ""
    """Until when it is snoozed, in words: `until Tue 09:00`, `until again`."""
    is_due: bool = False
    is_current: bool = False
    has_left: bool = False
    """It is open, but the query does not find it on this page."""
    answer: str = ""
    is_elsewhere: bool = False
    """The query still finds it, on another page."""
    found: str = ""
    """Where the words of the query are, if they are not in the notes, which the row shows."""
    waits: str = ""
    """`asks you` or `answers you` if a comment on it waits for the reader."""
    check: str = ""
    """Whether its check is `passing`, `failing` or `running`; empty for any other state, and without a check."""

    @property
    def categories_line(self) -> str:
        """The categories, or the sentiment if there are none."""
        return categories_line(self.categories) or self.word.lower()

    @property
    def is_read(self) -> bool:
        """Whether it needs no attention now; such a row is dimmed."""
        is_done = self.resolved and not self.is_revisited
        return self.has_left or is_done or bool(self.snoozed) or bool(self.owner and not self.is_mine)
