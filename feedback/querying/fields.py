"""Every field of the query language: what it takes, what it is for, what it means. A new one is one entry here."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from django.utils.text import get_text_list

from core import moments
from core.grammar import Field, near, spelled
from feedback.models import Check
from feedback.querying import conditions, durations, words
from feedback.querying.conditions import Condition
from feedback.querying.ordering import ORDERS, SORT
from feedback.taxonomy import Category, Outcome, Sentiment
from threads.status import GoalStatus


@dataclass(frozen=True, slots=True)
class QueryField:
    """One field. `clean` gives the one spelling of a value, or raises `ValueError` with what would be right."""

    name: str
    help: str
    takes: str
    condition: Condition
    clean: Callable[[str], str]
    values: tuple[str, ...] = ()
    """All that it takes, or what is worth offering where it takes more."""
    is_digested: bool | tuple[str, ...] = False
    """Whether it, or which of its values, asks for what the digest works out, the words of the index among it."""
    literally: Condition | None = None
    """What one of its `values` means in quotes, where that is something else: a name."""

    def meaning(self, *, literal: bool) -> Condition:
        """What a value means, as it is or in quotes."""
        return self.literally if literal and self.literally else self.condition

    def is_literal(self, value: str) -> bool:
        """Whether this value has to stand in quotes to be a name."""
        return self.literally is not None and value.lower() in self.values

    def needs_digest(self, value: str) -> bool:
        """Whether this value asks for what the digest works out."""
        return self.is_digested if isinstance(self.is_digested, bool) else value in self.is_digested


def named(name: str, value: str) -> Field:
    """The field asked for a name, which stands in quotes where it could be a sign as well."""
    return Field(name, value, FIELDS[name].is_literal(value))


def nearest(name: str) -> str:
    """What would be right in place of a name that is no field."""
    close = near(name, FIELDS)
    better = f"did you mean {close}:?" if close else f"the fields are {', '.join(FIELDS)}."
    return f"There is no field {name}; {better} Quote it to look for the words."


def meant(name: str, value: str) -> str:
    """The term that was probably meant by one that is not understood; empty where nothing is near."""
    known = FIELDS.get(near(name, FIELDS))
    if known is None:
        return ""
    for each in filter(None, (value, near(value.lower(), known.values))):
        with suppress(ValueError):
            return spelled(Field(known.name, known.clean(each)))
    return ""


def _chosen(
    name: str, text: str, condition: Condition, values: Sequence[str], digested: tuple[str, ...] = ()
) -> QueryField:
    takes = get_text_list(list(values), "or")

    def clean(value: str) -> str:
        said = value.lower().replace("-", "_").replace(" ", "_")
        begun = [each for each in values if each.startswith(said)]
        if said not in values and len(begun) != 1:
            raise ValueError(f"must be {takes}")
        return said if said in values else begun[0]

    return QueryField(name, text, takes, condition, clean, tuple(values), digested)


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
) -> QueryField:
    def clean(value: str) -> str:
        if not value.strip():
            raise ValueError(f"must be {takes}")
        said = (also or {}).get(value.lower(), value.lower())
        return said if said in values else value

    return QueryField(name, text, takes, condition, clean, values, digested, literally)


def _timed(name: str, text: str, condition: Condition, values: tuple[str, ...], *, dates: bool = True) -> QueryField:
    takes = f"{moments.DATES}, or {moments.AGES}" if dates else moments.AGES
    return QueryField(name, text, takes, condition, lambda value: moments.clean(value, dates=dates), values)


def _worded(name: str, text: str, column: str) -> QueryField:
    return QueryField(name, text, "words", conditions.text_in(column), words.clean, is_digested=True)


IS = ("open", "resolved", "unclaimed", "mine", "snoozed", "due", "duplicate", "edited", "answered")
HAS = ("owner", "label", "note", "notes", "reply", "tool", "goal", "fork", "error", "duplicates", "check")
_AGES = ("<1d", "<7d", "<30d", ">30d")
_DAYS = ("today", "yesterday", *_AGES)
RELATIVE = ("created", "resolved", "edited")
"""The fields that take days."""
_PERSON = "me, an e-mail address, or what stands before its @"
FIELDS: dict[str, QueryField] = {
    each.name: each
    for each in (
        _chosen("is", "The state of a report. Unclaimed: open, nobody's, not snoozed.", conditions.state, IS),
        _chosen(
            "has",
            "What is there beside a report; fork: somebody forked its thread.",
            conditions.having,
            HAS,
            ("tool", "error"),
        ),
        _chosen("sentiment", "Whether the answer was rated good or bad.", conditions.sentiment, Sentiment.values),
        _chosen("category", "What was good or bad of it.", conditions.category, Category.values),
        _named(
            "label",
            "A label that admins gave; none: without any, in quotes a label called so.",
            "none, or the name of a label",
            conditions.label,
            values=("none",),
            literally=conditions.label_named,
        ),
        _named(
            "owner",
            "Who takes care of it.",
            f"none, {_PERSON}",
            conditions.owner,
            values=("me", "none"),
            also={"nobody": "none"},
        ),
        _chosen("outcome", "How it was resolved.", conditions.outcome, Outcome.values),
        _chosen("check", "How the check that was kept of it went last.", conditions.check, Check.State.values),
        _named("model", "The model profile that answered.", "a model profile", conditions.model, digested=True),
        _named("tool", "A tool that was used for the answer.", "the name of a tool", conditions.tool, digested=True),
        _named("failed", "A tool that gave an error.", "the name of a tool", conditions.failed, digested=True),
        _named("error", "The error that the turn ended with.", "an error code", conditions.error, digested=True),
        _named("thread", "The thread of the answer.", "the id of a thread", conditions.thread),
        _named("org", "The org of the thread.", "the short name or the id of an org", conditions.org),
        _named("by", "Who rated the answer.", _PERSON, conditions.submitter, values=("me",)),
        _timed("created", "When it was rated; <7d is less than seven days ago.", conditions.created, _DAYS),
        _timed("resolved", "When it was resolved last.", conditions.resolved, _DAYS),
        QueryField(
            "took",
            "How long after its rating it was resolved last.",
            moments.AGES,
            durations.took,
            lambda value: moments.clean(value, dates=False),
            ("<1h", "<1d", ">7d"),
        ),
        _timed("edited", "When the submitter changed it last.", conditions.edited, _DAYS),
        _timed(
            "age", "How long ago it was rated; >7d is more than seven days.", conditions.created, _AGES, dates=False
        ),
        _chosen("goal", "A goal of the thread in this state.", conditions.goal, GoalStatus.values),
        _chosen("fork", "Whether the thread is a fork.", conditions.fork, ("yes", "no")),
        _worded("note", "Words of the admins' note.", "note"),
        _worded("notes", "Words of the submitter.", "notes"),
        _worded("text", "Words of the rated answer.", "answer"),
        _chosen(SORT, "Which reports come first; newest where nothing is said.", conditions.anything, list(ORDERS)),
    )
}
