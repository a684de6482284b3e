"""View model of the desk's query: its terms, with the views, panes and counts beside it."""

from dataclasses import dataclass

from core.paging import COUNT_LIMIT
from feedback.presenting.links import Choice, href


@dataclass(frozen=True, slots=True)
class Token:
    """One term of the query with links to remove or edit it; `reason` says why an invalid one is invalid.

    If a similar term was probably meant, `meant` is that term and `meant_href` the query with it.
    """

    text: str
    href: str
    edit_href: str
    reason: str = ""
    meant: str = ""
    meant_href: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """A remark on a name in the query that does not exist, and the query with the name that was probably meant."""

    words: str
    meant: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class DeskBar:
    """The desk's query for the templates: `tokens` (its terms), `views`, `panes`, counts and links."""

    query: str
    tokens: tuple[Token, ...]
    views: tuple[Choice, ...]
    panes: tuple[Choice, ...]
    here: str
    pane: str
    notes: tuple[Note, ...] = ()
    total: int | None = None
    """Number of matching reports, counted up to 1,000; None if the query is invalid."""
    state: str = ""
    """What all reports of the query are, `open` or `resolved`; empty if it finds both."""
    order: str = "newest"
    """The name of the sort order."""
    other_order: Choice | None = None
    """Link to the same reports in the opposite order."""

    @property
    def has_more(self) -> bool:
        """Whether there are more reports than were counted."""
        return self.total == COUNT_LIMIT

    @property
    def ways(self) -> tuple[str, str]:
        """Words for the reports on the previous and the next page."""
        return {"newest": ("Newer", "Older"), "oldest": ("Older", "Newer")}.get(self.order, ("Previous", "Next"))

    @property
    def top(self) -> str:
        """Link to the first page of the list."""
        return href({"q": self.query})

    @property
    def strip(self) -> list[Choice]:
        """The views shown as tabs: those with work to do, and the current one.

        A narrow screen hides the last ones, so the current view comes third, after the two used most, and then those
        that are mostly empty.
        """
        first = [view for view in self.views if not view.is_aside][:2]
        looked_at = [view for view in self.views if view.is_current and view not in first]
        looked_at += [view for view in self.views if view.is_rare and not view.is_aside and view not in looked_at]
        return [
            *first,
            *looked_at,
            *(view for view in self.views if not view.is_aside and view not in first + looked_at),
        ]

    @property
    def wrong(self) -> list[Token]:
        """The invalid terms."""
        return [token for token in self.tokens if token.reason]

    @property
    def view(self) -> Choice | None:
        """The saved view that this query is, if any; preferably one that the reader may change."""
        current = [view for view in self.views if view.is_current]
        return max(current, key=lambda view: bool(view.view_id), default=None)
