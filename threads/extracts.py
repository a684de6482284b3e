"""Which messages of a long thread a page shows: both ends, the last request, and the place that is looked at.

Composing and drawing ten thousand messages takes seconds, and a browser minutes. What lies between the ranges is
counted by the database and shown as one line. Ranges begin and end where articles do, so that an article is the same
whether it is shown with the whole thread, in an extract, or by a live update.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from django.db.models import Count, Exists, Min, OuterRef, Q

from threads import pending
from threads.access import LAST
from threads.models import Block, Message, Thread
from threads.places import IS_FAULT
from threads.presenting.articles import Gap, Mark
from threads.presenting.composing import beginnings

LONG = 600
"""A thread with more messages is shown in extracts."""
_STEP = 64
"""Messages that are searched for the beginning of an article; a longer article reaches from request to request."""

Range = tuple[int, int]
"""The first and the last message, both included."""


class Reach(NamedTuple):
    """How many messages are shown, at least: at the beginning, at the end, and on each side of a place."""

    begin: int
    end: int
    before: int
    after: int


PAGE = Reach(begin=39, end=160, before=80, after=160)
"""Of a thread's page."""
EXCERPT = Reach(begin=0, end=0, before=30, after=20)
"""Of the desk: the neighbours of a message, and its request."""


def ranges(thread: Thread, reach: Reach, places: Iterable[int | None] = ()) -> list[Range]:
    """The ranges of a thread to show, in order and apart; a single one if it is short. The number of queries depends
    only on the number of `places`: the messages that are looked at. Those that do not exist are ignored, and None.
    """
    count = thread.message_count
    if count <= LONG:
        return [(0, LAST)]
    wanted: list[Range] = []
    if reach.begin:
        wanted.append((0, reach.begin))
    for at in {place for place in places if place is not None and 0 <= place < count}:
        wanted.append((max(0, at - reach.before), at + reach.after))
        if (asked := pending.last_request(thread.pk, at)) is not None:
            wanted.append((asked, asked))
    if reach.end:
        # A live update begins at the last request, whose goals it shows; so that has a place on the page.
        asked = pending.last_request(thread.pk)
        wanted += [(count - reach.end, LAST), *([(asked, asked)] if asked is not None else [])]
    if not wanted:  # a place that does not exist, and no ends
        wanted.append((0, reach.after))
    return _apart([_aligned(thread.pk, each, count) for each in wanted])


def gaps(thread: Thread, shown: list[Range], marks: Mapping[int, Mark]) -> list[Gap]:
    """What lies before, between and behind ranges, counted; one query for each."""
    ends = [-1, *(last for _, last in shown)]
    begins = [*(first for first, _ in shown), thread.message_count]
    between = zip(ends, begins, strict=True)
    return [_gap(thread.pk, end + 1, begin - 1, marks) for end, begin in between if begin > end + 1]


def _gap(thread_pk: int, first: int, last: int, marks: Mapping[int, Mark]) -> Gap:
    found = Block.objects.filter(thread=thread_pk, idx__range=(first, last)).aggregate(
        calls=Count("pk", filter=Q(kind="tool_use")),
        faults=Count("pk", filter=IS_FAULT),
        fault=Min("idx", filter=IS_FAULT),
    )
    rated = [index for index in marks if first <= index <= last]
    return Gap(
        index=first,
        last=last,
        call_count=found["calls"],
        faults=found["faults"],
        first_fault=found["fault"],
        ratings=len(rated),
        first_rating=min(rated, default=None),
    )


def _apart(found: list[Range]) -> list[Range]:
    """The ranges in order, joined where they touch."""
    joined: list[Range] = []
    for first, last in sorted(found):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return joined


def _aligned(thread_pk: int, wanted: Range, count: int) -> Range:
    first, last = wanted
    begins = [each for each in _begins(thread_pk, first - _STEP, first) if each <= first] if first else [0]
    start = begins[-1] if begins else pending.last_request(thread_pk, first) or 0
    if last >= count - 1:
        return start, LAST
    after = [each for each in _begins(thread_pk, last, last + _STEP) if each > last]
    following = after[0] if after else pending.next_request(thread_pk, last)
    return start, LAST if following is None or following >= count else following - 1


def _begins(thread_pk: int, first: int, last: int) -> list[int]:
    """The beginnings of articles among some messages, as far as the messages tell."""
    text = Block.objects.filter(thread=OuterRef("thread"), idx=OuterRef("idx"), kind="text")
    rows = Message.objects.filter(thread=thread_pk, idx__range=(max(0, first), last)).order_by("idx")
    return beginnings(rows.values_list("idx", "role", "status", Exists(text)))
