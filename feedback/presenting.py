"""How feedback looks: the words of the taxonomy, desk rows, the report, the rating form. Plain data, no ORM."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlencode

from core import moments
from core.templatetags.ui import thousands
from feedback.taxonomy import Category, Outcome, Sentiment, fitting, group_of
from threads.presenting.articles import Mark, Sentimental

_LINE, _LINES = 50, 14
"""About how many letters a line of the report holds, and how many lines stand there without a fold."""


def category_word(category: str) -> str:
    """One category, for people."""
    return Category(category).label if category in Category.values else category.replace("_", " ")


def outcome_word(outcome: str) -> str:
    """One outcome, for people."""
    return Outcome(outcome).label


def categories_line(categories: tuple[str, ...]) -> str:
    """Categories in one line, lower case, as the desk and the rated message show them."""
    return ", ".join(category_word(category).lower() for category in categories)


def many_reports(count: int) -> str:
    """A number of reports, for people: `1 report`, `1 284 reports` with a thin space."""
    return f"{thousands(count)} report{'' if count == 1 else 's'}"


def outcomes() -> list[tuple[str, str, bool]]:
    """How reports may be resolved: name, word, and which one a key takes. A duplicate says of what, elsewhere."""
    return [(each.value, each.label, each == Outcome.NOTED) for each in Outcome if each != Outcome.DUPLICATE]


class _Spelled(Sentimental):
    __slots__ = ()

    @property
    def word(self) -> str:
        """The word beside the glyph."""
        return Sentiment(self.sentiment).label


@dataclass(frozen=True)
class ReportRow(_Spelled):
    """One report in the desk's list: dye and shape of the thumb, category, the person's words, then where."""

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
    label: str = ""
    owner: str = ""
    is_mine: bool = False
    held_by: str = ""
    is_snoozed: bool = False
    is_due: bool = False
    is_current: bool = False
    has_left: bool = False
    """It is open, but the query does not find it, or not on this page."""
    is_elsewhere: bool = False
    """It has left this page only: the query finds it."""

    @property
    def categories_line(self) -> str:
        """The categories, or the sentiment where none was given."""
        return categories_line(self.categories) or self.word.lower()

    @property
    def is_read(self) -> bool:
        """Whether somebody has seen to it: such a row steps back."""
        return self.has_left or self.resolved or self.is_snoozed or bool(self.owner and not self.is_mine)


@dataclass(frozen=True, slots=True)
class PageBeside:
    """The page after this one or before it; `on` is the same with its report open that is next to this page."""

    href: str
    on: str = ""


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """Who did what to a report: `bob changed the label <before> to <after>`."""

    who: str
    what: str
    at: datetime
    before: str = ""
    after: str = ""
    href: str = ""
    """Where what came of it is compared with what was rated."""


@dataclass(frozen=True)
class Near(_Spelled):
    """Another report that looks like the open one and why, or that was looked for and where it is."""

    feedback_id: str
    sentiment: str
    words: str
    reasons: tuple[str, ...]
    created: datetime
    href: str
    resolved: bool = False
    is_alike: bool = False
    is_of_org: bool = True
    """Whether it is of the open one's org: only such a report can be its original."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two people at one report: who changed what, what a second press does, and both versions with their names."""

    who: str
    again: str = ""
    sides: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class ReportCard(_Spelled):
    """The report beside the conversation. `next_href` is where resolving goes on to, `here` where saving stays."""

    feedback_id: str
    sentiment: str
    categories: tuple[str, ...]
    notes: str
    by: str
    created: datetime
    thread_id: str
    thread_title: str
    message_index: int
    next_href: str
    here: str
    org: str = ""
    modified: datetime | None = None
    resolved: bool = False
    resolved_by: str = ""
    resolved_at: datetime | None = None
    labels: tuple[str, ...] = ()
    admin_note: str = ""
    owner: str = ""
    owner_email: str = ""
    is_mine: bool = False
    outcome: str = ""
    duplicate_of: str = ""
    duplicate_count: int = 0
    snoozed_until: datetime | None = None
    snoozed_until_again: bool = False
    is_due: bool = False
    public_status: str = "received"
    public_reply: str = ""
    replied_at: datetime | None = None
    held_by: str = ""
    version: str = ""
    history: tuple[HistoryLine, ...] = ()
    near: tuple[Near, ...] = ()
    may_fork: bool = False

    @property
    def categories_line(self) -> str:
        """The categories in one line."""
        return categories_line(self.categories)

    @property
    def said(self) -> str:
        """The rating in one line, as somebody read it: `Negative, slow: It took a minute`."""
        rating = f"{self.word}, {self.categories_line}" if self.categories else self.word
        return f"{rating}: {self.notes}" if self.notes else rating

    @property
    def is_long(self) -> bool:
        """Whether the words fill so many lines that some of them are folded away: eight are shown."""
        return sum(1 + len(line) // _LINE for line in self.notes.split("\n")) > _LINES

    @property
    def is_edited(self) -> bool:
        """Whether the submitter came back to it."""
        return self.modified is not None and self.modified != self.created

    @property
    def open_together(self) -> int:
        """How many open reports one press resolves: this one and those whose likeness is hardly chance."""
        return (not self.resolved) + sum(near.is_alike and not near.resolved for near in self.near)

    @property
    def outcome_word(self) -> str:
        """How it was resolved, for people."""
        return Outcome(self.outcome).label if self.outcome else ""

    @property
    def state_line(self) -> str:
        """Where it stands: `unclaimed, yours to take`, `bob has it, snoozed, due`, `resolved by bob, fixed`."""
        if self.resolved:
            by = f" by {self.resolved_by}" if self.resolved_by else ""
            return f"resolved{by}" + (f", {self.outcome_word.lower()}" if self.outcome else "")
        owner = "yours" if self.is_mine else f"{self.owner} has it" if self.owner else "unclaimed"
        return f"{owner}, {self._snooze}" if self._snooze else owner if self.owner else f"{owner}, yours to take"

    @property
    def _snooze(self) -> str:
        """How long it is put off; empty where it is not."""
        if self.snoozed_until_again:
            return "snoozed until it happens again"
        if self.snoozed_until is None:
            return ""
        return "snoozed, due" if self.is_due else f"snoozed until {moments.spoken(self.snoozed_until)}"


@dataclass(frozen=True, slots=True)
class Choice:
    """A place as a link: a view, a pane. `count` of None is not known; what `is_aside` stands in the menu alone."""

    word: str
    href: str
    is_current: bool = False
    count: int | None = None
    is_shared: bool = False
    is_aside: bool = False
    view_id: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Token:
    """One term of the query line with links that take it out, or back into the field; a wrong one says why.

    Where something near was probably meant, `meant` is that term and `meant_href` the query with it.
    """

    text: str
    href: str
    edit_href: str
    reason: str = ""
    meant: str = ""
    meant_href: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """What is said of a query that names nobody, and the query with the name that was probably meant."""

    words: str
    meant: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class DeskBar:
    """The desk's query as links and words: `views` along the list, `tokens` that take themselves out, panes."""

    query: str
    tokens: tuple[Token, ...]
    views: tuple[Choice, ...]
    panes: tuple[Choice, ...]
    here: str
    pane: str
    notes: tuple[Note, ...] = ()
    total: int | None = None
    """How many reports match, counted up to a thousand; None where the query is not understood."""
    order: str = "newest"
    """Which of them come first."""
    other_order: Choice | None = None
    """The same reports the other way round."""

    @property
    def ways(self) -> tuple[str, str]:
        """What reports there are on the page before, and on the one behind."""
        return {"newest": ("Newer", "Older"), "oldest": ("Older", "Newer")}.get(self.order, ("Previous", "Next"))

    @property
    def top(self) -> str:
        """The list from its first report on."""
        return href({"q": self.query})

    @property
    def strip(self) -> list[Choice]:
        """The views that stand in line: those that say what there is to do, and the one that is looked at.

        A line that is too narrow for all of them leaves out the last, so that one stands behind the two used most.
        """
        first = [view for view in self.views if not view.is_aside][:2]
        looked_at = [view for view in self.views if view.is_current and view not in first]
        return [
            *first,
            *looked_at,
            *(view for view in self.views if not view.is_aside and view not in first + looked_at),
        ]

    @property
    def wrong(self) -> list[Token]:
        """The tokens that are not understood."""
        return [token for token in self.tokens if token.reason]

    @property
    def view(self) -> Choice | None:
        """The view that the query is, rather one that the reader may change."""
        current = [view for view in self.views if view.is_current]
        return max(current, key=lambda view: bool(view.view_id), default=None)


_PANES = {"list": "List", "talk": "Conversation", "report": "Report"}


def pane_of(query: Mapping[str, str]) -> str:
    """The pane that a phone shows: the one asked for, else the conversation of an open report, else the list."""
    asked = query.get("pane", "")
    return asked if asked in _PANES else "talk" if query.get("item") else "list"


def panes(query: Mapping[str, str]) -> tuple[Choice, ...]:
    """The panes as links that keep everything else."""
    current = pane_of(query)
    return tuple(
        Choice(word, href({**query, "pane": name}), name == current, name=name) for name, word in _PANES.items()
    )


def href(query: Mapping[str, str]) -> str:
    """A query as a link on the same page; empty values are left out, but for an empty `q`: it asks for everything."""
    return "?" + urlencode({key: value for key, value in query.items() if value or key == "q"})


@dataclass(frozen=True)
class RateForm:
    """The form of one rating; `errors` are sentences by field, `action` receives it, cancelling goes `back`."""

    index: int
    action: str
    back: str
    sentiment: str = ""
    categories: tuple[str, ...] = ()
    notes: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)
    is_taken_back: bool = False
    """It holds what was said until just now, and is not said any more."""

    @property
    def groups(self) -> list[tuple[str, list[tuple[str, str, bool]]]]:
        """Categories by the sentiment they fit: name, word, and whether it is picked."""
        return [
            (
                group,
                [(each.value, each.label, each in self.categories) for each in Category if group_of(each) == group],
            )
            for group in ("negative", "positive", "both")
        ]

    @classmethod
    def of(cls, mark: Mark | None, *, index: int, action: str, back: str, sentiment: str = "") -> "RateForm":
        """The form as it opens: what was said before, with the sentiment that was pressed just now."""
        if mark is None:
            return cls(index, action, back, sentiment)
        verdict = sentiment or mark.sentiment
        return cls(index, action, back, verdict, fitting(verdict, mark.categories), mark.notes)
