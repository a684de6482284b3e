"""Conditions on what the index of threads holds: words of messages and calls, and used tools."""

from collections.abc import Sequence
from contextlib import suppress
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from django.db import OperationalError
from django.db.models import Min, Model, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.db.models.lookups import GreaterThan

from core import fulltext, related
from core.actor import Actor
from threads import indexing
from threads.lists import says
from threads.models import Block, Message, Thread, UsedTool

_LETTERS = 3
_NEWEST, _NAMES = 2_000, 200


def refresh() -> None:
    """Index what has ended since, before a search. It writes, so it must not run in a read-only transaction."""
    with suppress(OperationalError):  # the database file is locked: use what is indexed so far
        indexing.index()


def anywhere(text: str) -> Q:
    """Threads with this text in the title, or its words in a message, where the last one may go on.

    A text without words is looked for in all that people wrote, which takes long with very many threads.
    """
    phrase = begun(text)
    return Q(title__icontains=text) | messages(phrase) if phrase else says(text)


def messages(phrase: str, *columns: str) -> Q:
    """Threads with these words next to each other in a message; columns as in the index."""
    hits = indexing.INDEX.hits(fulltext.plain(phrase), *columns)
    found = Message.objects.filter(hits.condition)
    if hits.are_few:
        return Q(pk__in=found.values("thread"))
    # Not EXISTS, for which PostgreSQL would collect all hits before it looks at the first thread; and not IS NULL,
    # which it takes for rare, so that it would go through all threads for the opposite.
    first = Subquery(found.filter(thread=OuterRef("pk")).values("pk")[:1])
    return Q(GreaterThan(Coalesce(first, 0), 0))


def used(tool_name: str, *, failed: bool = False) -> Q:
    """Threads that used this tool, as `tools_meant`; with `failed`, those where it returned an error."""
    rows = UsedTool.objects.filter(tool_name__in=tools_meant(UsedTool, tool_name))
    return related.having(rows.filter(failed=True) if failed else rows, by="thread")


class ToolNames(NamedTuple):
    """What a typed name of a tool means: whole names, or their beginnings."""

    names: frozenset[str]
    are_beginnings: bool


def tool_names_of(typed: str) -> ToolNames:
    """The names that a typed one means. A qualified name also means the tool under the name that its server gives it;
    a `*` stands for the rest of the name, and behind a server's name for all of its tools.
    """
    own = typed.partition("__")[2]
    names = frozenset({typed, own} if own.rstrip("*") else {typed})
    if not typed.endswith("*"):
        return ToolNames(names, are_beginnings=False)
    return ToolNames(frozenset(each.rstrip("*") for each in names), are_beginnings=True)


def may_be_several(typed: str) -> bool:
    """Whether a typed name may mean tools of other names."""
    names, are_beginnings = tool_names_of(typed)
    return are_beginnings or len(names) > 1


def tools_meant(used: type[Model], typed: str) -> list[str]:
    """The values of a table's column `tool_name` that a typed name means (`tool_names_of`), ignoring case."""
    names, are_beginnings = tool_names_of(typed)
    if are_beginnings:
        beginnings = tuple(each.lower() for each in names)
        return [name for name in related.names(used, "tool_name") if name.lower().startswith(beginnings)]
    return [same for name in names for same in related.spellings(used, "tool_name", name)]


def newest(actor: Actor) -> QuerySet[Thread, Any]:
    """Row ids of the newest threads that the actor may see, as a subquery."""
    return Thread.objects.visible_to(actor).order_by("-created", "-id").values("pk")[:_NEWEST]


def tool_names(actor: Actor, *, failed: bool = False) -> list[str]:
    """The tools of the newest threads that the actor may see; with `failed`, those that returned an error."""
    rows = UsedTool.objects.filter(thread__in=newest(actor))
    if failed:
        rows = rows.filter(failed=True)
    return list(rows.values_list("tool_name", flat=True).distinct().order_by("tool_name")[:_NAMES])


def first_messages(
    threads: Sequence[int], phrases: Sequence[tuple[str, ...]], after: int = -1
) -> list[tuple[int, int, str, str]]:
    """In each of these threads the first message behind another with one of the phrases: thread, index, text, and what
    its tools were sent and returned.

    Each phrase with the columns of the index to look in, if not in all. Two queries, and one for each phrase.
    """
    if not threads or not phrases:
        return []
    said = reduce(or_, (indexing.INDEX.hits(fulltext.plain(each), *columns).condition for each, *columns in phrases))
    found = Message.objects.filter(said, thread__in=threads, idx__gt=after)
    at = dict(found.values_list("thread").annotate(first=Min("idx")).values_list("thread", "first"))
    if not at:
        return []
    shown = reduce(or_, (Q(thread=thread, idx=idx) for thread, idx in at.items()))
    blocks = Block.objects.filter(shown, kind__in=("text", "tool_use", "tool_result"))
    texts: dict[int, tuple[list[str], list[str]]] = {thread: ([], []) for thread in at}
    for thread, kind, text, data in blocks.order_by("idx", "position").values_list("thread", "kind", "text", "data"):
        words, calls = texts[thread]
        if data is None:
            words.append(text)
        else:
            calls.append(called(kind, data))
    return [(thread, at[thread], "".join(words), "\n".join(calls)) for thread, (words, calls) in texts.items()]


def called(kind: str, data: Any) -> str:
    """The text of a tool use or result: the tool's name, and what is searched."""
    return f"{data['tool_name']}:\n{indexing.exchanged(kind, data)}"


def begun(text: str) -> str:
    """The phrase for a text typed into a search field, whose last word may go on; empty without a word.

    Not that of one or two Latin letters, or of so few digits alone: it begins half of all words, which takes an index
    as long as reading them. Digits behind other words may go on, because a date is followed by its time: in
    2024-05-06T13:25 the third word is 06t13.
    """
    words = fulltext.plain(text).rstrip("*").split()
    if not words:
        return ""
    *before, last = words
    is_short = last.isascii() and len(last) < _LETTERS and not (before and last.isdigit())
    return text.rstrip("*") + "*" * (not is_short)
