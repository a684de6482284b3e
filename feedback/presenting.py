"""View models of feedback: taxonomy words, desk rows, the report, the rating form. Plain data, no ORM."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlencode
from zlib import crc32

from core import fulltext, moments
from core.paging import COUNT_LIMIT
from core.templatetags.ui import thousands
from feedback.taxonomy import Category, Outcome, Sentiment, fitting, group_of
from threads.presenting.articles import Mark, Sentimental

_LINE, _LINES = 50, 14
"""About how many letters fit in a line of the report pane, and how many lines are shown without folding."""


def _is_long(text: str) -> bool:
    return sum(1 + len(line) // _LINE for line in text.split("\n")) > _LINES


def category_word(category: str) -> str:
    """The label of a category."""
    return Category(category).label if category in Category.values else category.replace("_", " ")


def outcome_word(outcome: str) -> str:
    """The label of an outcome."""
    return Outcome(outcome).label


def categories_line(categories: tuple[str, ...]) -> str:
    """Categories in one line, lower case, as the desk and the rated message show them."""
    return ", ".join(category_word(category).lower() for category in categories)


def many_reports(count: int) -> str:
    """A number of reports, for people: `1 report`, `1 284 reports` with a thin space."""
    return f"{thousands(count)} report{'' if count == 1 else 's'}"


def outcomes() -> list[tuple[str, str, bool, str]]:
    """The outcomes to choose from: name, label, whether it is the default, and its letter in a menu. Duplicates have
    their own form.
    """
    offered = [each for each in Outcome if each != Outcome.DUPLICATE]
    by_use = sorted(offered, key=Outcome.NOTED.__ne__)
    lettered = dict(zip(by_use, letters(each.label for each in by_use), strict=True))
    return [(each.value, each.label, each == Outcome.NOTED, lettered[each]) for each in offered]


def letters(words: Iterable[str], *, taken: str = "") -> list[str]:
    """For each item of a menu the key that chooses it: the first letter or digit of its words that none before it has;
    empty if there is none.
    """
    used, found = set(taken), []
    for each in words:
        free = (
            letter for letter in fulltext.plain(each) if letter.isascii() and letter.isalnum() and letter not in used
        )
        found.append(next(free, ""))
        used.add(found[-1])
    return found


class _Spelled(Sentimental):
    __slots__ = ()

    @property
    def word(self) -> str:
        """The word next to the icon."""
        return Sentiment(self.sentiment).label


@dataclass(frozen=True)
class ReportRow(_Spelled):
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


@dataclass(frozen=True, slots=True)
class PageBeside:
    """The next or previous page; `on` is its address with the nearest report open."""

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
    """The comparison of a fork with the rated thread, or a batch of its check."""
    link: str = "compare"
    """The word for that."""
    rerun: str = ""
    """The id of the thread of a rerun, to compare with the rated answer here: it was made, or shows the outcome."""
    undoable: str = ""
    """The id of the action that this tells of, if it is the reader's own and can be undone."""
    extent: int = 1
    """How many reports that action changed."""


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
        return _is_long(self.text)


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


@dataclass(frozen=True)
class Near(_Spelled):
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


@dataclass(frozen=True, slots=True)
class Conflict:
    """A conflicting change: who changed what, what a second press does, and both versions with their names; `column` is
    that of a text, at whose field it is shown.
    """

    who: str
    again: str = ""
    sides: tuple[tuple[str, str], ...] = ()
    column: str = ""


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


@dataclass(frozen=True)
class ReportCard(_Spelled):
    """The report pane. `next_href` is opened after resolving, `here` after saving."""

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
    is_revisited: bool = False
    """Whether the submitter changed it after it was resolved."""
    labels: tuple[str, ...] = ()
    admin_note: str = ""
    owner: str = ""
    owner_email: str = ""
    is_mine: bool = False
    outcome: str = ""
    proof: str = ""
    """The id of the thread that shows the outcome."""
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
    talk: Talk = Talk()
    may_fork: bool = False
    has_agent: bool = False
    """Whether its thread was launched from an agent, whose prompt may be another one now."""
    note_back: str = ""
    """A note that the reader's undo of something else took back, offered again; `reply_back` likewise."""
    reply_back: str = ""

    @property
    def usual_outcome(self) -> str:
        """Its outcome; of an open one that with which it is resolved unless another is chosen: a reply is an answer."""
        if self.resolved:
            return self.outcome
        return Outcome.ANSWERED if self.public_status == "answered" else Outcome.NOTED

    @property
    def categories_line(self) -> str:
        """The categories in one line."""
        return categories_line(self.categories)

    @property
    def said(self) -> str:
        """The rating in one line: `Negative, slow: It took a minute`."""
        rating = f"{self.word}, {self.categories_line}" if self.categories else self.word
        return f"{rating}: {self.notes}" if self.notes else rating

    @property
    def is_long(self) -> bool:
        """Whether the notes are too long to show in full; then eight lines are shown."""
        return _is_long(self.notes)

    @property
    def last_rerun(self) -> str:
        """The id of the thread of the latest rerun, empty without any."""
        return next((each.rerun for each in self.history if each.rerun), "")

    @property
    def is_edited(self) -> bool:
        """Whether the submitter changed the rating."""
        return self.modified is not None and self.modified != self.created

    @property
    def alike(self) -> Alike:
        """The reports like this one."""
        return Alike(self.feedback_id, self.here, self.near, resolved=self.resolved)

    @property
    def outcome_word(self) -> str:
        """The label of the outcome, empty without one."""
        return Outcome(self.outcome).label if self.outcome else ""

    @property
    def state_line(self) -> str:
        """The state in words: `unclaimed`, `owned by bob, snoozed, due`, `resolved by bob, fixed, owned by alice`."""
        if self.resolved:
            by = f" by {self.resolved_by}" if self.resolved_by else ""
            said = f"resolved{by}" + (f", {self.outcome_word.lower()}" if self.outcome else "")
            said = f"{said}, changed since" if self.is_revisited else said
            return f"{said}, {self._owned}" if self.owner not in ("", self.resolved_by) else said
        return f"{self._owned}, {self.snooze}" if self.snooze else self._owned

    @property
    def _owned(self) -> str:
        return "yours" if self.is_mine else f"owned by {self.owner}" if self.owner else "unclaimed"

    @property
    def snooze(self) -> str:
        """Until when it is snoozed; empty if it is not."""
        if self.snoozed_until_again:
            return "snoozed until it happens again"
        if self.snoozed_until is None:
            return ""
        return "snoozed, due" if self.is_due else f"snoozed until {moments.spoken(self.snoozed_until)}"


@dataclass(frozen=True, slots=True)
class Choice:
    """A link to a view or pane. `count` is None if unknown; with `is_aside` it is only in the menu."""

    word: str
    href: str
    is_current: bool = False
    count: int | None = None
    is_shared: bool = False
    is_aside: bool = False
    is_rare: bool = False
    view_id: str = ""
    name: str = ""
    letter: str = ""
    """Its key in the open menu, if it has no number."""


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


_PANES = {"list": "List", "talk": "Conversation", "report": "Report"}


def pane_of(query: Mapping[str, str]) -> str:
    """The pane that a phone shows: the requested one, else the conversation of an open report, else the list."""
    asked = query.get("pane", "")
    return asked if asked in _PANES else "talk" if query.get("item") else "list"


def panes(query: Mapping[str, str]) -> tuple[Choice, ...]:
    """Links to the panes that keep all other keys of the address."""
    current = pane_of(query)
    return tuple(
        Choice(word, href({**query, "pane": name}), name == current, name=name) for name, word in _PANES.items()
    )


def href(query: Mapping[str, str]) -> str:
    """A query string for a link; empty values are left out except `q`, where empty means all reports."""
    return "?" + urlencode({key: value for key, value in query.items() if value or key == "q"})


@dataclass(frozen=True)
class RateForm:
    """The rating form; `errors` are sentences by field, `action` is the form's URL, `back` that of Cancel."""

    index: int
    action: str
    back: str
    sentiment: str = ""
    categories: tuple[str, ...] = ()
    notes: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)
    is_taken_back: bool = False
    """It holds the rating that was just retracted."""
    is_change: bool = False
    """It changes a rating that stands, and takes its place until it is saved."""
    seen: str = ""
    """A checksum of the rating that it was opened with; empty if there was none."""
    is_pressed: bool = False
    """The sentiment was pressed just now, so that of a draft does not count."""

    @property
    def title(self) -> str:
        """Its heading."""
        return "Change your rating" if self.is_change else f"Rate message {self.index}"

    @property
    def is_chosen(self) -> bool:
        """Whether the sentiment is given, so that the notes come next."""
        return self.sentiment in Sentiment.values

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
        """The form as it opens: the earlier rating, with the sentiment that was just clicked."""
        if mark is None:
            return cls(index, action, back, sentiment, is_pressed=bool(sentiment))
        verdict = sentiment or mark.sentiment
        seen = checksum(mark.sentiment, mark.categories, mark.notes)
        categories = fitting(verdict, mark.categories)
        pressed = bool(sentiment)
        return cls(index, action, back, verdict, categories, mark.notes, is_change=True, seen=seen, is_pressed=pressed)


def checksum(sentiment: str, categories: Iterable[str], notes: str) -> str:
    """A checksum of a rating, to recognise it by."""
    return f"{crc32(repr((sentiment, sorted(categories), notes)).encode()):x}"
