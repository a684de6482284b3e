"""Conditions on what the index of threads holds: words of answers, and used tools."""

from collections.abc import Sequence
from contextlib import suppress
from functools import reduce
from operator import or_

from django.db import OperationalError
from django.db.models import Exists, Min, OuterRef, Q

from core import fulltext, related
from threads import indexing
from threads.models import Block, Message, UsedTool

_LETTERS = 3


def refresh() -> None:
    """Index what has ended since, before a search. It writes, so it must not run in a read-only transaction."""
    with suppress(OperationalError):  # the database file is locked: use what is indexed so far
        indexing.index()


def answers(phrase: str) -> Q:
    """Threads with these words next to each other in an answer."""
    hits = indexing.INDEX.hits(phrase)
    found = Message.objects.filter(hits.condition)
    if hits.are_few:
        return Q(pk__in=found.values("thread"))
    return Q(Exists(found.filter(thread=OuterRef("pk"))))


def used(tool_name: str, *, failed: bool = False) -> Q:
    """Threads that used this tool, ignoring case; with `failed`, those where it returned an error."""
    rows = UsedTool.objects.filter(tool_name__in=related.spellings(UsedTool, "tool_name", tool_name))
    return related.having(rows.filter(failed=True) if failed else rows, by="thread")


def first_answers(threads: Sequence[int], phrases: Sequence[str]) -> list[tuple[int, int, str]]:
    """In each of these threads the first answer with one of the phrases: thread, index, and text.

    Two queries, and one for each phrase.
    """
    if not threads or not phrases:
        return []
    said = reduce(or_, (indexing.INDEX.hits(each).condition for each in phrases))
    places = Message.objects.filter(said, thread__in=threads).values_list("thread").annotate(first=Min("idx"))
    at = dict(places.values_list("thread", "first"))
    if not at:
        return []
    of_answers = reduce(or_, (Q(thread=thread, idx=idx) for thread, idx in at.items()))
    blocks = Block.objects.filter(of_answers, kind="text").order_by("thread", "idx", "position")
    texts: dict[int, list[str]] = {}
    for thread, text in blocks.values_list("thread", "text"):
        texts.setdefault(thread, []).append(text)
    return [(thread, at[thread], "".join(parts)) for thread, parts in texts.items()]


def begun(text: str) -> str:
    """The phrase for a text typed into a search field, whose last word may go on; empty without a word.

    Not that of one or two Latin letters: it begins half of all words, which takes an index as long as reading them.
    """
    words = fulltext.split(text)
    if not words:
        return ""
    is_short = words[-1].isascii() and len(words[-1]) < _LETTERS
    return text.rstrip("*") + "*" * (not is_short)
