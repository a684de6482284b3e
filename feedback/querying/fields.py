"""The fields of the query language: allowed values, help text and condition. To add one, add an entry here."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from django.utils.text import get_text_list

from core import fulltext, moments, vocabulary
from core.grammar import Field
from core.sorting import SORT
from core.vocabulary import Clean
from feedback.models import Check
from feedback.querying import conditions, durations
from feedback.querying.conditions import Condition
from feedback.querying.ordering import ORDERS
from feedback.taxonomy import Category, Outcome, Sentiment
from threads.searching import may_be_several
from threads.status import GoalStatus


@dataclass(frozen=True, slots=True)
class QueryField:
    """One field."""

    name: str
    help: str
    takes: str
    condition: Condition
    clean: Clean
    values: tuple[str, ...] = ()
    """All allowed values, or those worth suggesting if it takes others, too."""
    is_digested: bool | tuple[str, ...] = False
    """Whether it (or which of its values) needs data from the digest, such as the search index."""
    literally: Condition | None = None
    """The condition for a value in quotes, if that means a name instead."""
    is_more: Callable[[str], bool] | None = None
    """Whether a value without quotes means more than a name; by default one of its `values` does."""

    def meaning(self, *, literal: bool) -> Condition:
        """The condition for a value without or with quotes."""
        return self.literally if literal and self.literally else self.condition

    def is_literal(self, value: str) -> bool:
        """Whether this value must be quoted to mean a name."""
        if value == ANY and self.name in HAS:
            with suppress(ValueError):
                return self.clean(value) == value
            return False
        is_more = self.is_more or self._is_value
        return self.literally is not None and is_more(value)

    def _is_value(self, name: str) -> bool:
        return name.lower() in self.values

    def offered(self) -> tuple[str, ...]:
        """The values worth suggesting."""
        return self.values

    def needs_digest(self, value: str) -> bool:
        """Whether this value needs data from the digest."""
        return self.is_digested if isinstance(self.is_digested, bool) else value in self.is_digested


def term_of(name: str, value: str) -> Field:
    """A term for a name, quoted if the name is also a keyword of the field."""
    return Field(name, value, FIELDS[name].is_literal(value))


def _chosen(
    name: str,
    text: str,
    condition: Condition,
    values: Sequence[str],
    digested: tuple[str, ...] = (),
    *,
    also: Mapping[str, str] | None = None,
) -> QueryField:
    """A field with fixed values; `also` maps further spellings to values."""
    takes = get_text_list(list(values), "or")
    return QueryField(name, text, takes, condition, vocabulary.choice(values, also), tuple(values), digested)


def _named(
    name: str,
    text: str,
    takes: str,
    condition: Condition,
    *,
    values: tuple[str, ...] = (),
    also: Mapping[str, str] | None = None,
    digested: bool = False,
    literally: Condition | None = None,
    is_more: Callable[[str], bool] | None = None,
) -> QueryField:
    def clean(value: str) -> str:
        said = (also or {}).get(value.lower(), value.lower())
        return said if said in values else value

    return QueryField(name, text, takes, condition, clean, values, digested, literally, is_more)


def _tool(name: str, text: str, condition: Condition, literally: Condition) -> QueryField:
    """A field for the name of a tool. In quotes it is the name alone, without what a server's name and a `*` add."""
    return _named(
        name, text, "the name of a tool", condition, digested=True, literally=literally, is_more=may_be_several
    )


def _timed(name: str, text: str, condition: Condition, values: tuple[str, ...], *, dates: bool = True) -> QueryField:
    takes = f"{moments.DATES}, or {moments.AGES}" if dates else moments.AGES
    return QueryField(name, text, takes, condition, lambda value: moments.clean(value, dates=dates), values)


def _worded(name: str, text: str, column: str) -> QueryField:
    return QueryField(name, text, "words", conditions.text_in(column), fulltext.clean, is_digested=True)


ID, ORG = "id", "org"
ANY = "*"
"""The value for any, of a field that `has` has."""
IS = (
    "open",
    "resolved",
    "unclaimed",
    "mine",
    "snoozed",
    "due",
    "duplicate",
    "edited",
    "revisited",
    "answered",
    "asked",
)
HAS = (
    "owner",
    "label",
    "outcome",
    "note",
    "notes",
    "reply",
    "tool",
    "goal",
    "fork",
    "error",
    "duplicates",
    "check",
    "comment",
    "proof",
)
_AGES = ("<1d", "<7d", "<30d", ">30d")
_DAYS = (*moments.RELATIVE, *_AGES)
DATED = ("created", "resolved", "edited")
"""The fields that take dates."""
_PERSON = "me, an email address, the part before its @, or a name"
FIELDS: dict[str, QueryField] = {
    each.name: each
    for each in (
        _chosen(
            "is",
            "The state of a report. Unclaimed: open, without owner, not snoozed; revisited: its submitter changed it "
            "after it was resolved; asked: a comment asks or answers you, and waits for you.",
            conditions.state,
            IS,
            also={"unresolved": "open", "closed": "resolved", "done": "resolved", "unassigned": "unclaimed"},
        ),
        _chosen(
            "has",
            "What a report has; fork: its thread was forked.",
            conditions.having,
            HAS,
            ("tool", "error"),
        ),
        _chosen(
            "sentiment",
            "Whether the answer was rated positive or negative.",
            conditions.sentiment,
            Sentiment.values,
            also={"good": "positive", "up": "positive", "bad": "negative", "down": "negative"},
        ),
        _chosen("category", "A reason given for the rating.", conditions.category, Category.values),
        _named(
            "label",
            "A label; none: without label (quoted: a label called none).",
            "none, or the name of a label",
            conditions.label,
            values=("none",),
            literally=conditions.label_named,
        ),
        _named(
            "owner",
            "The admin who claimed it.",
            f"none, {_PERSON}",
            conditions.owner,
            values=("me", "none"),
            also={"nobody": "none"},
        ),
        _chosen("outcome", "How it was resolved; none: without saying.", conditions.outcome, (*Outcome.values, "none")),
        _chosen("check", "The latest result of its check.", conditions.check, Check.State.values),
        _named("model", "The model profile that answered.", "a model profile", conditions.model, digested=True),
        _tool("tool", "A tool that was used for the answer.", conditions.tool, conditions.tool_named),
        _tool("failed", "A tool that returned an error.", conditions.failed, conditions.failed_named),
        _named("error", "The error that the turn ended with.", "an error code", conditions.error, digested=True),
        _named(
            "agent",
            "The agent that the thread was launched from.",
            "the name or id of an agent, or name@3 for one version",
            conditions.agent,
        ),
        _named("thread", "The thread of the answer.", "the id of a thread", conditions.thread),
        _named(ID, "A report by its id, or all of a thread.", "the id of a report or a thread", conditions.identified),
        _named("original", "The report that it is a duplicate of.", "the id of a report", conditions.original),
        _named(ORG, "The org of the thread.", "the short name or id of an org", conditions.org),
        _named("by", "Who rated the answer.", _PERSON, conditions.submitter, values=("me",)),
        _named("commented", "An admin who commented on it.", _PERSON, conditions.commented, values=("me",)),
        _timed("created", "When it was rated; <7d: less than seven days ago.", conditions.created, _DAYS),
        _timed("resolved", "When it was last resolved.", conditions.resolved, _DAYS),
        QueryField(
            "took",
            "Time from rating to the last resolution.",
            moments.AGES,
            durations.took,
            lambda value: moments.clean(value, dates=False),
            ("<1h", "<1d", ">7d"),
        ),
        _timed("edited", "When the submitter last changed it.", conditions.edited, _DAYS),
        _timed("age", "How long ago it was rated; >7d: more than seven days.", conditions.created, _AGES, dates=False),
        _chosen("goal", "The thread has a goal in this state.", conditions.goal, GoalStatus.values),
        _chosen("fork", "Whether the thread is a fork.", conditions.fork, ("yes", "no")),
        _worded("note", "Words in the admin note or the comments.", "note"),
        _worded("notes", "Words in the submitter's notes.", "notes"),
        _worded("text", "Words in the rated answer.", "answer"),
        _chosen(
            SORT,
            "The sort order; newest by default.",
            conditions.anything,
            list(ORDERS),
            also={"created": "newest", "desc": "newest", "asc": "oldest", "updated": "edited"},
        ),
    )
}
