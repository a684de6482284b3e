"""Conditions on what the index of threads holds: words of messages, and used tools."""

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import reduce
from operator import or_

from django.db import OperationalError
from django.db.models import Min, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.db.models.lookups import GreaterThan

from core import fulltext, related
from core.actor import Actor
from threads import indexing
from threads.lists import says
from threads.models import Block, Message, Thread, UsedTool

_LETTERS = 3
_NEWEST, _NAMES = 2_000, 200
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Letters of scripts that put no spaces between words, so that the index has whole sentences as words."""


def refresh() -> None:
    """Index what has ended since, before a search. It writes, so it must not run in a read-only transaction."""
    with suppress(OperationalError):  # the database file is locked: use what is indexed so far
        indexing.index()


def anywhere(text: str) -> Q:
    """Threads with this text in the title, or words beginning with it in a message. The last word may go on.

    What people wrote in a script without spaces is read through instead, which takes long with very many threads.
    """
    phrase = begun(text)
    found = Q(title__icontains=text) if is_indexed(text) else says(text)
    return found | messages(phrase) if phrase else found


def messages(phrase: str, *columns: str) -> Q:
    """Threads with these words next to each other in a message; columns as in the index."""
    hits = indexing.INDEX.hits(phrase, *columns)
    found = Message.objects.filter(hits.condition)
    if hits.are_few:
        return Q(pk__in=found.values("thread"))
    # Not EXISTS, for which PostgreSQL would collect all hits before it looks at the first thread; and not IS NULL,
    # which it takes for rare, so that it would go through all threads for the opposite.
    first = Subquery(found.filter(thread=OuterRef("pk")).values("pk")[:1])
    return Q(GreaterThan(Coalesce(first, 0), 0))


def used(tool_name: str, *, failed: bool = False) -> Q:
    """Threads that used this tool, ignoring case; with `failed`, those where it returned an error."""
    rows = UsedTool.objects.filter(tool_name__in=related.spellings(UsedTool, "tool_name", tool_name))
    return related.having(rows.filter(failed=True) if failed else rows, by="thread")


def tool_names(actor: Actor, *, failed: bool = False) -> list[str]:
    """The tools of the newest threads that the actor may see; with `failed`, those that returned an error."""
    newest = Thread.objects.visible_to(actor).order_by("-created", "-id").values("pk")[:_NEWEST]
    rows = UsedTool.objects.filter(thread__in=newest)
    if failed:
        rows = rows.filter(failed=True)
    return list(rows.values_list("tool_name", flat=True).distinct().order_by("tool_name")[:_NAMES])


def first_messages(threads: Sequence[int], phrases: Sequence[tuple[str, ...]]) -> list[tuple[int, int, str]]:
    """In each of these threads the first message with one of the phrases: thread, index, and text.

    Each phrase with the columns of the index to look in, if not in all. Two queries, and one for each phrase.
    """
    if not threads or not phrases:
        return []
    said = reduce(or_, (indexing.INDEX.hits(*each).condition for each in phrases))
    places = Message.objects.filter(said, thread__in=threads).values_list("thread").annotate(first=Min("idx"))
    at = dict(places.values_list("thread", "first"))
    if not at:
        return []
    found = reduce(or_, (Q(thread=thread, idx=idx) for thread, idx in at.items()))
    blocks = Block.objects.filter(found, kind="text").order_by("thread", "idx", "position")
    texts: dict[int, list[str]] = {}
    for thread, text in blocks.values_list("thread", "text"):
        texts.setdefault(thread, []).append(text)
    return [(thread, at[thread], "".join(parts)) for thread, parts in texts.items()]


def is_indexed(text: str) -> bool:
    """Whether the index finds this text wherever it begins a word."""
    return fulltext.has_word(text) and not _UNSPACED.search(text)


def begun(text: str) -> str:
    """The phrase for a text typed into a search field, whose last word may go on; empty without a word.

    Not that of one or two Latin letters: it begins half of all words, which takes an index as long as reading them.
    """
    words = fulltext.split(text)
    if not words:
        return ""
    is_short = words[-1].isascii() and len(words[-1]) < _LETTERS
    return text.rstrip("*") + "*" * (not is_short)
