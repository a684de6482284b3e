"""The list's query line: the grammar of the desk with fields of threads, what a line means, and how it may go on."""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from core import grammar, moments
from core.actor import Actor
from core.grammar import All, Either, Field, Node, Not, Text, Unknown
from core.rendering import one_line
from threads import hooks, profiles
from threads.models import Goal, Subject, Thread
from threads.reading import says
from threads.status import GoalStatus, ThreadStatus


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asks, when, and where their days begin."""

    actor: Actor
    now: datetime
    tz: tzinfo


@dataclass(frozen=True, slots=True)
class ThreadField:
    """One field. `clean` gives the one spelling of a value, or raises `ValueError` with what would be right."""

    name: str
    takes: str
    condition: Callable[[str, Asking], Q]
    clean: Callable[[str], str]
    offered: Callable[[], Sequence[str]]
    """The values that are worth offering."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A part of a line that is not understood, and why. Where something near was probably meant, `meant` is that, and
    `mended` the line with it.
    """

    text: str
    reason: str
    meant: str = ""
    mended: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What a line means. With a problem it means nothing: no thread is found, and `rest` is the line without them."""

    condition: Q
    problems: tuple[Problem, ...] = ()
    rest: str = ""


def find(actor: Actor, line: str, *, tz: tzinfo = UTC) -> Found:
    """Read a line. It never fails: what is not understood is a problem with its text and a reason, never dropped."""
    root = _checked(grammar.read(line), line)
    if unknown := _unknown_in(root):
        return Found(Q(pk__in=[]), tuple(_problem(leaf, line) for leaf in unknown), _without(line, root))
    return Found(_condition(root, Asking(actor, timezone.now(), tz)))


def understood(actor: Actor, line: str | None) -> Q:
    """The condition of a line that a program sends; raises `InvalidRequest` that names every term it does not know."""
    root = _checked(grammar.read(line or ""), line or "")
    if unknown := _unknown_in(root):
        raise grammar.refusal([(each, _meant_by(each)) for each in unknown])
    return _condition(root, Asking(actor, timezone.now(), UTC))


def narrowed(line: str, view: str) -> str:
    """A line within a view besides; the line as it is where there is no such view."""
    if view not in _VIEW_TERMS:
        return line
    return grammar.spelled(All((_VIEW_TERMS[view], *(part for part in _parts(line) if part != _VIEW_TERMS[view]))))


def views(line: str) -> dict[str, tuple[str, bool]]:
    """For every view the line that looks for the same in it and in no other, and whether the line is narrowed to it.

    All threads are looked for by nothing.
    """
    parts = _parts(line)
    others = [part for part in parts if part not in _VIEW_TERMS.values()]
    found = {name: (grammar.spelled(All((term, *others))), term in parts) for name, term in _VIEW_TERMS.items()}
    return {"all": ("", not parts), **found}


def _parts(line: str) -> tuple[Node, ...]:
    """What has to hold, each in its one spelling."""
    root = _checked(grammar.read(line), line)
    return root.parts if isinstance(root, All) else (root,)


def _unknown_in(root: Node) -> list[Unknown]:
    return [leaf for leaf in grammar.leaves(root) if isinstance(leaf, Unknown)]


def terms(line: str) -> list[str]:
    """The line as it may go on: with a field, or with a value of the field that is being typed."""
    typed = _LAST.search(line)
    assert typed is not None  # it finds the empty end as well
    name, colon, value = typed[0].lower().partition(":")
    known = FIELDS.get(name)
    if colon:
        offered = [f"{name}:{each}" for each in known.offered() if each.startswith(value)] if known else []
    else:
        offered = [f"{each}:" for each in FIELDS if each.startswith(name)]
    return [line[: typed.start()] + each for each in offered if each != typed[0]]


# Exists, not a join: a thread with many forks, goals or subjects stands in the list once.
_WENT_WRONG = ("failed", "cancelled")
_STATUS = {
    "idle": Q(status=ThreadStatus.USER_TURN) & ~Q(last_outcome__in=_WENT_WRONG),
    "answering": Q(status=ThreadStatus.ROBOTO_TURN),
    "tool_pending": Q(status=ThreadStatus.CLIENT_TOOL_TURN),
    "goals_failed": Q(status=ThreadStatus.GOALS_FAILED),
    **{outcome: Q(status=ThreadStatus.USER_TURN, last_outcome=outcome) for outcome in _WENT_WRONG},
}
"""By the words that the rows say, as `words.thread_word` finds them."""
_HAS = {
    "error": Q(has_error=True),
    "goal": Q(goal_count__gt=0),
}


def _is(value: str, asking: Asking) -> Q:
    match value:
        case "mine":
            return Q(created_by=asking.actor.user_id)
        case "fork":
            return Q(forked_from__isnull=False)
        case "answering":
            return _STATUS[value]
        case "run":
            return hooks.runs(asking.actor)
    return Q(visibility="private" if value == "private" else "org")


def _has(value: str, asking: Asking) -> Q:
    if value == "feedback":
        return hooks.rated(asking.actor, "")
    if value == "answer":
        return hooks.answered(asking.actor)
    if value == "fork":  # one that its reader may see: nobody learns that an admin forked a private thread
        return Q(Exists(Thread.objects.visible_to(asking.actor).filter(forked_from=OuterRef("pk"))))
    return _HAS[value]


def _goal(value: str, asking: Asking) -> Q:
    # The count comes first: most threads have no goal, and are not asked for one.
    return Q(goal_count__gt=0) & Q(Exists(Goal.objects.filter(thread=OuterRef("pk"), status=value)))


def _owner(value: str, asking: Asking) -> Q:
    if value == "me":
        return Q(created_by=asking.actor.user_id)
    return Q(created_by__email__istartswith=value) | Q(created_by__name__iexact=value)


def _created(value: str, asking: Asking) -> Q:
    stretch = moments.stretch(value, now=asking.now, tz=asking.tz)
    bounds = {"created__gte": stretch.first, "created__lt": stretch.end}
    return Q(**{lookup: moment for lookup, moment in bounds.items() if moment is not None})


def _chosen(name: str, condition: Callable[[str, Asking], Q], values: Sequence[str]) -> ThreadField:
    takes = f"{', '.join(values[:-1])} or {values[-1]}"

    def clean(value: str) -> str:
        said = value.lower().replace("-", "_").replace(" ", "_")
        if said not in values:
            raise ValueError(f"must be {takes}")
        return said

    return ThreadField(name, takes, condition, clean, lambda: values)


def _named(
    name: str, takes: str, condition: Callable[[str, Asking], Q], offered: Callable[[], Sequence[str]] = tuple
) -> ThreadField:
    return ThreadField(name, takes, condition, str.strip, offered)


def _timed(name: str, *, dates: bool) -> ThreadField:
    takes = f"{moments.DATES}, or {moments.AGES}" if dates else moments.AGES
    return ThreadField(name, takes, _created, lambda value: moments.clean(value, dates=dates), lambda: _DAYS)


_DAYS = ("<1d", "<7d", "<30d", ">30d")
FIELDS: dict[str, ThreadField] = {
    each.name: each
    for each in (
        _chosen("status", lambda value, asking: _STATUS[value], tuple(_STATUS)),
        _chosen("is", _is, ("mine", "private", "shared", "fork", "run", "answering")),
        _chosen("has", _has, ("error", "goal", "fork", "feedback", "answer")),
        _chosen("sentiment", lambda value, asking: hooks.rated(asking.actor, value), ("negative", "positive")),
        _chosen("goal", _goal, GoalStatus.values),
        _timed("created", dates=True),
        _timed("age", dates=False),
        _named("owner", "me, a name, or the beginning of an e-mail address", _owner, lambda: ("me",)),
        _named(
            "model",
            "a model profile",
            lambda value, asking: Q(model_profile__iexact=value),
            lambda: [each.id for each in profiles.all_profiles()],
        ),
        _named("agent", "the id of an agent", lambda value, asking: Q(created_from_agent_id=value)),
        _named(
            "about",
            "the id of what a thread is about",
            lambda value, asking: Q(Exists(Subject.objects.filter(thread=OuterRef("pk"), association_id=value))),
        ),
        _named(
            "id",
            "the id of a thread, here or where it came from",
            lambda value, asking: Q(key=value.partition("_")[2] or value) | Q(import_id=value),
        ),
    )
}
VIEWS = {
    "all": "",
    "mine": "is:mine",
    "answering": "status:answering",
    "tool_pending": "status:tool_pending",
    "failed": "status:failed",
    "goals_failed": "status:goals_failed",
    "rated_badly": "sentiment:negative",
    "private": "is:private",
    "forks": "is:fork",
}
"""The views above the list, as lines: a term each, and all threads."""
_VIEW_TERMS = {name: grammar.read(line) for name, line in VIEWS.items() if line}
UNASKED = "-is:run"
"""What the list is narrowed to where nothing is asked for: a batch of runs would fill its first pages."""

_LAST = re.compile(r'[^\s()"-][^\s()"]*$|$')


def _checked(node: Node, line: str) -> Node:
    """The tree with every value in its one spelling, and an `Unknown` in place of each that is none."""
    match node:
        case Text(text=text) if not text.strip(" *"):
            return grammar.unknown(node, line, "holds nothing to look for")
        case Field(name=name) if name not in FIELDS:
            near = grammar.near(name, FIELDS)
            better = f"did you mean {near}:?" if near else f"the fields are {', '.join(FIELDS)}."
            return grammar.unknown(node, line, f"There is no field {name}; {better} Quote it to look for the words.")
        case Field(name=name, value=value):
            try:
                if cleaned := FIELDS[name].clean(value):
                    return Field(name, cleaned, start=node.start, end=node.end)
                return grammar.unknown(node, line, f"needs a value without a blank before it: {FIELDS[name].takes}")
            except ValueError as problem:
                return grammar.unknown(node, line, str(problem))
        case Not(part=part):
            return Not(_checked(part, line), start=node.start, end=node.end)
        case All(parts=parts):
            return All(tuple(_checked(part, line) for part in parts), start=node.start, end=node.end)
        case Either(parts=parts):
            return Either(tuple(_checked(part, line) for part in parts), start=node.start, end=node.end)
    return node


def _problem(leaf: Unknown, line: str) -> Problem:
    meant = _meant_by(leaf)
    mended = line[: leaf.start] + meant + line[leaf.end :] if meant else ""
    return Problem(one_line(leaf.text, 80), leaf.reason, meant, mended)


def _meant_by(leaf: Unknown) -> str:
    asked = grammar.read(leaf.text)
    return _meant(asked.name, asked.value) if isinstance(asked, Field) else ""


def _meant(name: str, value: str) -> str:
    """The term that was probably meant by one that is not understood; empty where nothing is near."""
    known = FIELDS.get(grammar.near(name, FIELDS))
    if known is None:
        return ""
    for each in filter(None, (value, grammar.near(value.lower(), known.offered()))):
        with suppress(ValueError):
            return grammar.spelled(Field(known.name, known.clean(each)))
    return ""


def _without(line: str, root: Node) -> str:
    """The line less every part of it that has to hold and is not understood."""
    parts = root.parts if isinstance(root, All) else (root,)
    kept: Iterable[Node] = (
        part for part in parts if not any(isinstance(leaf, Unknown) for leaf in grammar.leaves(part))
    )
    return grammar.spelled(All(tuple(kept)))


def _condition(node: Node, asking: Asking) -> Q:
    match node:
        case Text(text=text):
            return says(text.rstrip("*"))
        case Field(name=name, value=value):
            return FIELDS[name].condition(value, asking)
        case Not(part=part):
            return ~_condition(part, asking)
        case All(parts=parts):
            return Q(*(_condition(part, asking) for part in parts))
        case Either(parts=parts):
            return Q(*(_condition(part, asking) for part in parts), _connector=Q.OR)
        case Unknown():
            raise AssertionError("a line with problems is not compiled")
