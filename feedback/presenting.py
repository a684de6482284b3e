"""How feedback looks: the words of the taxonomy, desk rows, the report, the rating form. Plain data, no ORM."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlencode

from threads.presenting import Mark, Sentimental

SENTIMENT_WORDS = {"positive": "Positive", "negative": "Negative"}
"""Sentiments, for people (spec 3.10)."""

CATEGORY_WORDS: dict[str, dict[str, str]] = {
    "negative": {
        "incorrect": "Incorrect",
        "incomplete": "Incomplete",
        "tool_failure": "Tool failure",
        "refused_valid_request": "Refused valid request",
        "formatting": "Formatting",
        "slow": "Slow",
        "unsafe": "Unsafe",
    },
    "positive": {"correct": "Correct", "helpful": "Helpful", "good_tool_use": "Good tool use"},
    "both": {"other": "Other"},
}
"""Categories by the sentiment they fit (spec 3.10); `other` fits both and needs words."""

_ALL_CATEGORIES = {name: word for group in CATEGORY_WORDS.values() for name, word in group.items()}


def category_word(category: str) -> str:
    """One category, for people."""
    return _ALL_CATEGORIES.get(category, category.replace("_", " "))


def categories_line(categories: tuple[str, ...]) -> str:
    """Categories in one line, lower case, as the desk and the rated message show them."""
    return ", ".join(category_word(category).lower() for category in categories)


def fitting(sentiment: str, categories: Iterable[str]) -> tuple[str, ...]:
    """Categories without those of the other verdict: a form hides them, so nobody who sent them meant them."""
    other = {"positive": "negative", "negative": "positive"}.get(sentiment, "")
    return tuple(category for category in categories if category not in CATEGORY_WORDS.get(other, {}))


class _Spelled(Sentimental):
    __slots__ = ()

    @property
    def word(self) -> str:
        """The word beside the glyph."""
        return SENTIMENT_WORDS[self.sentiment]


@dataclass(frozen=True)
class ReportRow(_Spelled):
    """One report in the desk's list: dye and shape of the thumb, category, the person's words, then where."""

    feedback_id: str
    sentiment: str
    categories: tuple[str, ...]
    notes: str
    thread_title: str
    by: str
    created: datetime
    href: str
    resolved: bool = False
    label: str = ""
    is_current: bool = False

    @property
    def categories_line(self) -> str:
        """The categories, or the sentiment where none was given."""
        return categories_line(self.categories) or self.word.lower()


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """Who did what to a report: `bob changed the label <before> to <after>`."""

    who: str
    what: str
    at: datetime
    before: str = ""
    after: str = ""


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
    admin_label: str = ""
    admin_note: str = ""
    history: tuple[HistoryLine, ...] = ()
    may_fork: bool = False

    @property
    def categories_line(self) -> str:
        """The categories in one line."""
        return categories_line(self.categories)

    @property
    def is_edited(self) -> bool:
        """Whether the submitter came back to it."""
        return self.modified is not None and self.modified != self.created


@dataclass(frozen=True, slots=True)
class Choice:
    """A filter as a link: it sets, or takes out, one key of the query."""

    word: str
    href: str
    is_current: bool = False
    count: int | None = None


@dataclass(frozen=True, slots=True)
class DeskFilters:
    """The desk's query as links: `views` along the list, `tokens` that take themselves out, `categories` to add."""

    views: tuple[Choice, ...]
    tokens: tuple[Choice, ...]
    categories: tuple[Choice, ...]
    panes: tuple[Choice, ...]
    here: str
    pane: str


FILTER_KEYS = ("sentiment", "category", "resolved", "thread")
_PANES = {"list": "List", "talk": "Conversation", "report": "Report"}
_VIEWS: dict[str, dict[str, str]] = {
    "Open": {"resolved": "false"},
    "Negative": {"resolved": "false", "sentiment": "negative"},
    "Positive": {"resolved": "false", "sentiment": "positive"},
    "Resolved": {"resolved": "true"},
    "All": {"resolved": "any"},
}


def desk_filters(query: Mapping[str, str], *, counts: Mapping[str, int] | None = None) -> DeskFilters:
    """The filters of the desk for a query of sentiment, category, resolved (false, true, any), thread, item and pane.

    The desk opens on what is open, so the caller puts `resolved` in where the address is silent. A view replaces
    sentiment and state and keeps the rest; a token takes out its own key; changing a filter always lets go of the page
    and the open item. `counts` are by the word of a view.
    """
    held = {key: query[key] for key in FILTER_KEYS if query.get(key)}
    pane = query.get("pane", "") if query.get("pane") in _PANES else "talk" if query.get("item") else "list"
    return DeskFilters(
        views=tuple(_view(word, keys, held, counts or {}) for word, keys in _VIEWS.items()),
        tokens=tuple(
            Choice(f"{key}:{value}", href(_without(held, key)), True)
            for key, value in held.items()
            if (key, value) != ("resolved", "any")
        ),
        categories=tuple(
            Choice(word, href({**held, "category": name}), held.get("category") == name)
            for name, word in _ALL_CATEGORIES.items()
        ),
        panes=tuple(Choice(word, href({**query, "pane": name}), name == pane) for name, word in _PANES.items()),
        here=href({**query}),
        pane=pane,
    )


def href(query: Mapping[str, str]) -> str:
    """A query as a link on the same page; empty values are left out."""
    return "?" + urlencode({key: value for key, value in query.items() if value})


def _view(word: str, keys: Mapping[str, str], held: Mapping[str, str], counts: Mapping[str, int]) -> Choice:
    kept = {key: value for key, value in held.items() if key in ("category", "thread")}
    is_current = {key: value for key, value in held.items() if key not in kept} == keys
    return Choice(word, href({**kept, **keys}), is_current, counts.get(word))


def _without(held: Mapping[str, str], key: str) -> dict[str, str]:
    """A query without one key; without a state it has to say any, or the desk would open on what is open again."""
    rest = {name: value for name, value in held.items() if name != key}
    return {**rest, "resolved": "any"} if key == "resolved" else rest


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

    @property
    def groups(self) -> list[tuple[str, list[tuple[str, str, bool]]]]:
        """Categories by the sentiment they fit: name, word, and whether it is picked."""
        return [
            (group, [(name, word, name in self.categories) for name, word in names.items()])
            for group, names in CATEGORY_WORDS.items()
        ]

    @classmethod
    def of(cls, mark: Mark | None, *, index: int, action: str, back: str, sentiment: str = "") -> "RateForm":
        """The form as it opens: what was said before, with the sentiment that was pressed just now."""
        if mark is None:
            return cls(index, action, back, sentiment)
        verdict = sentiment or mark.sentiment
        return cls(index, action, back, verdict, fitting(verdict, mark.categories), mark.notes)
