"""Search queries of the thread list: the desk's grammar with thread fields, their conditions and suggestions."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from itertools import islice

from django.db.models import Exists, OuterRef, Q, TextField
from django.db.models.functions import Cast
from django.db.models.lookups import IContains, IRegex
from django.utils import timezone
from django.utils.text import get_text_list

from accounts.naming import called
from core import fulltext, grammar, ids, moments, sorting, vocabulary
from core.actor import Actor
from core.db import dump
from core.destinations import pasted
from core.grammar import All, Either, Field, Leaf, Node, Not, Text, Unknown
from core.sorting import SORT, is_sort
from core.vocabulary import Clean
from core.wording import one_line
from threads import hooks, launches, places, profiles, searching
from threads.models import Agent, Goal, Subject, Thread
from threads.ordering import NEWEST, ORDERS, Order
from threads.status import BAD_OUTCOMES, GoalStatus, ThreadStatus


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asks, when, and in which time zone."""

    actor: Actor
    now: datetime
    tz: tzinfo


@dataclass(frozen=True, slots=True)
class ThreadField:
    """One search field."""

    name: str
    takes: str
    condition: Callable[[str, Asking], Q]
    clean: Clean
    offered: Callable[[], Sequence[str]]
    """The values to suggest to everyone."""
    known_to: Callable[[Actor], Sequence[str]] | None = None
    """Those that depend on who asks."""


@dataclass(frozen=True, slots=True)
class Problem:
    """An invalid term of a query, and why. If there is a likely correction, `meant` is that term and `mended` the
    corrected query.
    """

    text: str
    reason: str
    meant: str = ""
    mended: str = ""


@dataclass(frozen=True, slots=True)
class Sought:
    """What a query looks for inside threads: `words` are the texts that a thread may be found by, and `phrases` those
    for its index, with their columns. `terms` are those that ask for something else with a place in a thread.
    """

    line: str = ""
    """The query as it was typed; empty if it looks for nothing of that kind."""
    words: tuple[str, ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()
    terms: tuple[places.Term, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """The condition and the order of a query. With problems it matches nothing, and `rest` is the query without the
    invalid terms.

    `is_asked` is whether it asks for anything besides the order.
    """

    condition: Q
    order: Order = NEWEST
    is_asked: bool = True
    problems: tuple[Problem, ...] = ()
    rest: str = ""
    sought: Sought = Sought()


def find(actor: Actor, line: str, *, tz: tzinfo = UTC) -> Found:
    """Parse a query. Never fails: each invalid term becomes a problem with its text and a reason.

    A query that asks for nothing finds all but the runs of checks.
    """
    root = _checked(line)
    if unknown := _unknown_in(root):
        problems = (_problem(leaf, line, leaf.reason, _meant(leaf)) for leaf in unknown)
        return Found(Q(pk__in=[]), problems=tuple(problems), rest=_without(root))
    is_asked = _asks(root)
    condition = _fresh(root if is_asked else grammar.read(_UNASKED), Asking(actor, timezone.now(), tz))
    return Found(condition, _order(root), is_asked, sought=_inside(root, line))


def sought(line: str) -> Sought:
    """What a query looks for inside threads; nothing if a term of it is invalid. No query to the database."""
    root = _checked(line)
    return Sought() if _unknown_in(root) else _inside(root, line)


def _inside(root: Node, line: str) -> Sought:
    leaves = list(_sought(root))
    words = [leaf.text.rstrip("*") for leaf in leaves if isinstance(leaf, Text)]
    phrases = [phrase for leaf in leaves if (phrase := _phrase(leaf))]
    terms = [(leaf.name, leaf.value) for leaf in leaves if isinstance(leaf, Field)]
    placed = [term for term in terms if places.is_place(*term)]
    is_inside = bool(words or phrases or placed)
    return Sought(line, tuple(words), tuple(phrases), tuple(placed)) if is_inside else Sought()


def _phrase(leaf: Leaf) -> tuple[str, ...] | None:
    """The phrase for the index of texts, with its columns; None for a term that no text is found by."""
    match leaf:
        case Text(text=text):
            return (begun,) if (begun := searching.begun(text)) else None
        case Field(name=name, value=value) if name in _SAID:
            return value, name
    return None


_ADVISED = 6
"""The most terms of a query that advice is sought for."""


def advice(actor: Actor, line: str) -> list[Problem]:
    """For a query that found nothing: its tools that recent threads did not use, each with one that they did, and its
    words that are only in the metadata of recent threads. Of a long query the first terms: each is asked for by itself.
    """
    leaves = islice(_sought(_checked(line)), _ADVISED)
    return [found for leaf in leaves if (found := _unused(actor, leaf, line) or _elsewhere(actor, leaf, line))]


def _unused(actor: Actor, leaf: Leaf, line: str) -> Problem | None:
    if not isinstance(leaf, Field) or leaf.name not in _TOOLS or leaf.value.endswith("*"):
        return None
    known = {name.lower(): name for name in searching.tool_names(actor, failed=leaf.name == "failed")}
    own = leaf.value.lower().partition("__")[2] or leaf.value.lower()
    if not known.keys().isdisjoint({own, leaf.value.lower()}):
        return None
    close = known.get(grammar.near(own, known))
    return _problem(leaf, line, _UNUSED[leaf.name], grammar.spelled(Field(leaf.name, close)) if close else "")


def _elsewhere(actor: Actor, leaf: Leaf, line: str) -> Problem | None:
    if not isinstance(leaf, Text):
        return None
    text = leaf.text.rstrip("*")
    # Metadata has no index, and nobody waits for what was merely not found to be looked for in everything.
    recent = searching.newest(actor)
    is_there = Thread.objects.filter(_meta(text, Asking(actor, timezone.now(), UTC)), pk__in=recent).exists()
    return _problem(leaf, line, _IN_METADATA, grammar.spelled(Field("meta", text))) if is_there else None


def understood(actor: Actor, line: str | None) -> tuple[Q, Order]:
    """The condition and the order of a query sent by a program; raises `InvalidRequest` that names every invalid
    term.
    """
    root = _checked(line or "")
    if unknown := _unknown_in(root):
        raise grammar.refusal([(each, _meant(each)) for each in unknown])
    return _fresh(root, Asking(actor, timezone.now(), UTC)), _order(root)


def narrowed(line: str, view: str) -> str:
    """The query narrowed to a view; unchanged if there is no such view."""
    if view not in _VIEW_TERMS:
        return line
    return grammar.spelled(All((_VIEW_TERMS[view], *(part for part in _parts(line) if part != _VIEW_TERMS[view]))))


def views(line: str) -> dict[str, tuple[str, bool]]:
    """For each view, the same query in that view only, and whether the given query is narrowed to it.

    The view of all threads is the query that has no other term than the order.
    """
    parts = _parts(line)
    others = [part for part in parts if part not in _VIEW_TERMS.values()]
    found = {name: (grammar.spelled(All((term, *others))), term in parts) for name, term in _VIEW_TERMS.items()}
    everything = tuple(filter(is_sort, parts))
    return {"all": (grammar.spelled(All(everything)), len(everything) == len(parts)), **found}


def is_view(line: str) -> bool:
    """Whether a query is one of the views and nothing more, in whatever order."""
    parts = [part for part in _parts(line) if not is_sort(part)]
    return not parts or (len(parts) == 1 and parts[0] in _VIEW_TERMS.values())


def orders(line: str) -> dict[str, tuple[str, bool]]:
    """For each order, the same query in that order, and whether that is its order. The default order is not written."""
    root = _checked(line)
    others = [part for part in sorting.parts_of(root) if not is_sort(part)]
    said = {name: () if name == NEWEST.name else (Field(SORT, name),) for name in ORDERS}
    return {name: (grammar.spelled(All((*others, *term))), name == _order(root).name) for name, term in said.items()}


def _parts(line: str) -> tuple[Node, ...]:
    """The terms that must all match, normalised."""
    return sorting.parts_of(_checked(line))


def _asks(root: Node) -> bool:
    return not all(map(is_sort, sorting.parts_of(root)))


def _order(root: Node) -> Order:
    return ORDERS[sorting.order_of(root, NEWEST.name)]


def _meant(leaf: Unknown) -> str:
    """What was probably meant by an invalid term; empty if nothing is similar."""
    return "" if sorting.is_misplaced(leaf, ORDERS) else vocabulary.meant(leaf, FIELDS)


def _unknown_in(root: Node) -> list[Unknown]:
    return [leaf for leaf in grammar.leaves(root) if isinstance(leaf, Unknown)]


def terms(actor: Actor, line: str) -> list[str]:
    """Completions of a query: a field, or a value of the field being typed."""
    typed = _LAST.search(line)
    assert typed is not None  # it also matches the empty end
    name, colon, value = typed[0].lower().partition(":")
    known = FIELDS.get(name)
    if colon:
        values = known.known_to(actor) if known and known.known_to else known.offered() if known else ()
        offered = [f"{name}:{each}" for each in values if each.lower().startswith(value)]
    else:
        offered = [f"{each}:" for each in FIELDS if each.startswith(name)]
    return [line[: typed.start()] + each for each in offered if each != typed[0]]


# Exists, not a join: a thread with many forks, goals or subjects is listed once.
_STATUS = {
    "idle": Q(status=ThreadStatus.USER_TURN) & ~Q(last_outcome__in=BAD_OUTCOMES),
    "answering": Q(status=ThreadStatus.ROBOTO_TURN),
    "tool_pending": Q(status=ThreadStatus.CLIENT_TOOL_TURN),
    "goals_failed": Q(status=ThreadStatus.GOALS_FAILED),
    **{outcome: Q(status=ThreadStatus.USER_TURN, last_outcome=outcome) for outcome in BAD_OUTCOMES},
}
"""By the status shown in the list (`words.thread_word`)."""
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
            return hooks.feedback.runs(asking.actor)
    return Q(visibility="private" if value == "private" else "org")


def _has(value: str, asking: Asking) -> Q:
    if value == "feedback":
        return hooks.feedback.rated(asking.actor, "")
    if value == "answer":
        return hooks.feedback.answered(asking.actor, unseen=True)
    if value == "reply":
        return hooks.feedback.answered(asking.actor, unseen=False)
    if value == "fork":  # only a visible one: nobody learns that an admin forked a private thread
        return Q(Exists(Thread.objects.visible_to(asking.actor).filter(forked_from=OuterRef("pk"))))
    return _HAS[value]


def _goal(value: str, asking: Asking) -> Q:
    # The count comes first: most threads have no goal, so the subquery is skipped.
    return Q(goal_count__gt=0) & Q(Exists(Goal.objects.filter(thread=OuterRef("pk"), status=value)))


def _owner(value: str, asking: Asking) -> Q:
    if value == "me":
        return Q(created_by=asking.actor.user_id)
    return Q(created_by__email__istartswith=value) | Q(created_by__in=called(value))


def _agent(value: str, asking: Asking) -> Q:
    return launches.launched(value, Agent.objects.visible_to(asking.actor)) or Q(pk__in=[])


def _meta(value: str, asking: Asking) -> Q:
    """Threads with the text in their imported metadata, ignoring case, if the actor may read that."""
    stored = Cast("metadata", TextField())
    found = IContains(stored, dump(value)[1:-1]) if value.isascii() else IRegex(stored, "".join(map(_spelled, value)))
    said = Q(metadata__isnull=False) & Q(found)
    return said if asking.actor.is_admin else said & Q(created_by=asking.actor.user_id)


def _spelled(character: str) -> str:
    """The expression for a character in stored JSON, which escapes all but ASCII, so that each case has its own."""
    cases = dict.fromkeys((character, character.lower(), character.upper()))
    return f"(?:{'|'.join(re.escape(dump(each)[1:-1]) for each in cases)})"


def _created(value: str, asking: Asking) -> Q:
    stretch = moments.stretch(value, now=asking.now, tz=asking.tz)
    bounds = {"created__gte": stretch.first, "created__lt": stretch.end}
    return Q(**{lookup: moment for lookup, moment in bounds.items() if moment is not None})


def _chosen(name: str, condition: Callable[[str, Asking], Q], values: Sequence[str]) -> ThreadField:
    return ThreadField(name, get_text_list(list(values), "or"), condition, vocabulary.choice(values), lambda: values)


def _named(
    name: str, takes: str, condition: Callable[[str, Asking], Q], offered: Callable[[], Sequence[str]] = tuple
) -> ThreadField:
    return ThreadField(name, takes, condition, str.strip, offered)


def _tool(name: str, *, failed: bool) -> ThreadField:
    return ThreadField(
        name,
        "the name of a tool",
        lambda value, asking: searching.used(value, failed=failed),
        str.strip,
        tuple,
        lambda actor: searching.tool_names(actor, failed=failed),
    )


def _words(column: str) -> ThreadField:
    return ThreadField(column, "words", lambda value, asking: searching.messages(value, column), fulltext.clean, tuple)


def _timed(name: str, *, dates: bool) -> ThreadField:
    takes = f"{moments.DATES}, or {moments.AGES}" if dates else moments.AGES
    return ThreadField(name, takes, _created, lambda value: moments.clean(value, dates=dates), lambda: _DAYS)


_DAYS = ("<1d", "<7d", "<30d", ">30d")
FIELDS: dict[str, ThreadField] = {
    each.name: each
    for each in (
        _chosen("status", lambda value, asking: _STATUS[value], tuple(_STATUS)),
        _chosen("is", _is, ("mine", "private", "shared", "fork", "run", "answering")),
        _chosen("has", _has, ("error", "goal", "fork", "feedback", "answer", "reply")),
        _chosen("sentiment", lambda value, asking: hooks.feedback.rated(asking.actor, value), ("negative", "positive")),
        _chosen("goal", _goal, GoalStatus.values),
        _timed("created", dates=True),
        _timed("age", dates=False),
        _named("owner", "me, a name, or the start of an e-mail address", _owner, lambda: ("me",)),
        _named(
            "model",
            "a model profile",
            lambda value, asking: Q(model_profile__iexact=value),
            lambda: [each.id for each in profiles.all_profiles()],
        ),
        _words("text"),
        _words("call"),
        _tool("tool", failed=False),
        _tool("failed", failed=True),
        _named("agent", "the name or id of an agent, or name@3 for one version", _agent),
        _named(
            "about",
            "the id of a subject",
            lambda value, asking: Q(Exists(Subject.objects.filter(thread=OuterRef("pk"), association_id=value))),
        ),
        _named(
            "id",
            "the id of a thread, or its id before the import",
            lambda value, asking: Q(key=value.partition("_")[2] or value) | Q(import_id=value),
        ),
        _named("meta", "text in the metadata that a thread was imported with", _meta),
        _chosen(SORT, lambda value, asking: Q(), tuple(ORDERS)),
    )
}
_SAID = ("text", "call")
_TOOLS = ("tool", "failed")
_UNUSED = {"tool": "No recent thread used this tool.", "failed": "In no recent thread this tool returned an error."}
_IN_METADATA = "Only the metadata that threads were imported with contains this."
_INDEXED = (*_SAID, *_TOOLS)
VIEWS = {
    "all": "",
    "mine": "is:mine",
    "replies": "has:reply",
    "answering": "status:answering",
    "tool_pending": "status:tool_pending",
    "failed": "status:failed",
    "goals_failed": "status:goals_failed",
    "rated_negative": "sentiment:negative",
    "private": "is:private",
    "forks": "is:fork",
}
"""The views above the list as queries: one term each, and all threads."""
_VIEW_TERMS = {name: grammar.read(line) for name, line in VIEWS.items() if line}
_UNASKED = "-is:run"
"""The condition of the list without a query: a batch of check runs would otherwise fill its first pages."""

_LAST = re.compile(r'[^\s()"-][^\s()"]*$|$')


def _checked(line: str) -> Node:
    """The tree of a query with every value normalised, and an `Unknown` in place of each invalid term."""

    def checked(leaf: Leaf) -> Leaf:
        match leaf:
            case Text(text=text) if key := pasted([text], *ids.THREAD_SPELLINGS):
                return Field("id", ids.THREAD + key, start=leaf.start, end=leaf.end)
            case Text(text=text) if not text.strip(" *"):
                return grammar.unknown(leaf, line, "has no text to search for")
            case Field():
                return vocabulary.checked(leaf, line, FIELDS)
        return leaf

    return sorting.once(grammar.replaced(grammar.read(line), checked), line)


def _problem(leaf: Leaf, line: str, reason: str, meant: str) -> Problem:
    text = leaf.text if isinstance(leaf, Unknown) else grammar.spelled(leaf)
    mended = line[: leaf.start] + meant + line[leaf.end :] if meant else ""
    return Problem(one_line(text, 80), reason, meant, mended)


def _sought(node: Node) -> Iterator[Leaf]:
    """The terms that a thread is found by, not those that exclude it."""
    match node:
        case All(parts=parts) | Either(parts=parts):
            for part in parts:
                yield from _sought(part)
        case Text() | Field() | Unknown():
            yield node


def _without(root: Node) -> str:
    """The query without the invalid terms."""
    kept: Iterable[Node] = (
        part for part in sorting.parts_of(root) if not any(isinstance(leaf, Unknown) for leaf in grammar.leaves(part))
    )
    return grammar.spelled(All(tuple(kept)))


def _fresh(root: Node, asking: Asking) -> Q:
    """The condition of a query, with an index that is up to date if it needs one."""
    if any(not isinstance(leaf, Field) or leaf.name in _INDEXED for leaf in grammar.leaves(root)):
        searching.refresh()
    return _condition(root, asking)


def _condition(node: Node, asking: Asking) -> Q:
    match node:
        case Text(text=text):
            return searching.anywhere(text.rstrip("*"))
        case Field(name=name, value=value):
            return FIELDS[name].condition(value, asking)
        case Not(part=part):
            return ~_condition(part, asking)
        case All(parts=parts):
            return Q(*(_condition(part, asking) for part in parts))
        case Either(parts=parts):
            return Q(*(_condition(part, asking) for part in parts), _connector=Q.OR)
        case Unknown():
            raise AssertionError("a query with problems is not compiled")
