"""The figures, counted by the database: a handful of GROUP BYs, however many reports there are."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import accumulate
from typing import Any

from django.db.models import Case, Count, F, IntegerField, Max, Min, Q, QuerySet, Value, When
from django.db.models.expressions import Combinable
from django.db.models.lookups import LessThan

from feedback.insight.period import Period, Span, edges, spans
from feedback.models import UserFeedback
from feedback.querying.durations import Took
from feedback.taxonomy import BIT

Rows = QuerySet[UserFeedback]
AGES = tuple(timedelta(days=days) for days in (1, 3, 7, 30, 90))
LENGTHS = tuple(timedelta(minutes=minutes) for minutes in (5, 15, 60, 120, 240, 480, 960, 1440, 2880, 10080, 43200))
_MICROSECOND = timedelta(microseconds=1)


@dataclass(slots=True)
class Verdicts:
    """Reports by sentiment."""

    positive: int = 0
    negative: int = 0
    failed: int = 0

    def add(self, sentiment: str, count: int) -> None:
        """So many more with this sentiment."""
        setattr(self, sentiment, getattr(self, sentiment) + count)


Named = dict[str, Verdicts]
Minutes = list[tuple[int, int]]
"""Ascending minutes, each with how many reports took so long."""


def within(rows: Rows, period: Period) -> Rows:
    """Those that came in a period."""
    bounds = {"created__gte": period.begins, "created__lt": period.ends}
    return rows.filter(**{lookup: moment for lookup, moment in bounds.items() if moment is not None})


def covered(rows: Rows, period: Period, now: datetime) -> list[Span]:
    """The spans of a plot over a period; where it is open, from the first report to the last, or to today."""
    first, last = period.first, period.last
    if first is None or last is None:
        oldest, newest = rows.aggregate(first=Min("created"), last=Max("created")).values()
        first = first or (oldest and _day(oldest, period))
        last = last or max(_day(now, period), _day(newest or now, period))
    return spans(first, last) if first else []


def verdicts(rows: Rows) -> Verdicts:
    """All of them by sentiment."""
    found = Verdicts()
    for sentiment, count in rows.values_list("sentiment").annotate(count=Count("*")).order_by():
        found.add(sentiment, count)
    return found


def over_time(rows: Rows, found: Sequence[Span], period: Period) -> tuple[list[Verdicts], Named]:
    """By span and sentiment, and by category and sentiment, in one go."""
    counted = [Verdicts() for _ in found]
    named: Named = defaultdict(Verdicts)
    place = bucket(F("created"), edges(found, period.tz))
    grouped = rows.annotate(place=place).values_list("place", "sentiment", "category_bits").annotate(count=Count("*"))
    for at, sentiment, bits, count in grouped.order_by():
        counted[at].add(sentiment, count)
        for category, bit in BIT.items():
            if bits & bit:
                named[category].add(sentiment, count)
    return counted, named


def by_tool(rows: Rows) -> Named:
    """By tool and sentiment, and how often it gave an error. A tool's name is the same in capitals, as in queries."""
    gave_error = Q(tools__failed=True)
    grouped = rows.filter(tools__tool_name__gt="").values_list("tools__tool_name", "sentiment")
    found = list(grouped.annotate(count=Count("*"), failed=Count("pk", filter=gave_error)).order_by())
    if twice := _namesakes(name for name, *_ in found):
        # Two spellings in one answer are one report.
        one = Case(*(When(tools__tool_name=each, then=Value(name)) for each, name in twice.items()))
        several = rows.filter(tools__tool_name__in=twice).annotate(name=one).values_list("name", "sentiment")
        once, failed = Count("pk", distinct=True), Count("pk", distinct=True, filter=gave_error)
        found = [row for row in found if row[0] not in twice]
        found += several.annotate(count=once, failed=failed).order_by()
    counted: Named = defaultdict(Verdicts)
    for name, sentiment, count, failed_count in found:
        counted[name].add(sentiment, count)
        counted[name].failed += failed_count
    return counted


def by_model(rows: Rows) -> Named:
    """By model profile and sentiment, spelled alike but for capitals being the same."""
    named = rows.filter(answer__model_profile__gt="")
    found = list(named.values_list("answer__model_profile", "sentiment").annotate(count=Count("*")).order_by())
    twice = _namesakes(name for name, *_ in found)
    counted: Named = defaultdict(Verdicts)
    for name, sentiment, count in found:
        counted[twice.get(name, name)].add(sentiment, count)
    return counted


def backlog(rows: Rows, now: datetime) -> list[int]:
    """Open ones by age, between the `AGES`, the youngest first."""
    places = [now - age + _MICROSECOND for age in reversed(AGES)]
    open_ones = rows.filter(resolved=False).annotate(place=bucket(F("created"), places))
    counted = dict(open_ones.values_list("place").annotate(count=Count("*")).order_by())
    return [counted.get(at, 0) for at in range(len(places), -1, -1)]


def minutes_to_resolve(rows: Rows) -> Minutes:
    """Resolved ones by the whole minutes that it took."""
    counted = rows.filter(resolved_at__isnull=False).annotate(minutes=Took() / Value(60))
    return sorted(counted.values_list("minutes").annotate(count=Count("*")).order_by())


def time_to_resolve(minutes: Minutes) -> list[int]:
    """How many lie between the `LENGTHS`, the quickest first."""
    limits = [length // timedelta(minutes=1) for length in LENGTHS]
    found = [0] * (len(limits) + 1)
    for taken, count in minutes:
        found[bisect_right(limits, taken)] += count
    return found


def quantile(minutes: Minutes, percent: int) -> int | None:
    """The whole minutes within which so many of a hundred were resolved."""
    ends = list(accumulate(count for _, count in minutes))
    return minutes[bisect_left(ends, -(-ends[-1] * percent // 100))][0] if ends else None


def bucket(column: Combinable, limits: Sequence[Any]) -> Combinable:
    """The place of a value between ascending limits: how many of them are not above it.

    A ladder of comparisons that is halved at each step, so that a hundred limits cost seven of them, and the limits
    are those of the viewer's days: no database is asked what it knows of time zones.
    """

    def ladder(low: int, high: int) -> Combinable:
        if low == high:
            return Value(low)
        middle = (low + high) // 2
        lower = When(LessThan(column, limits[middle]), then=ladder(low, middle))
        return Case(lower, default=ladder(middle + 1, high), output_field=IntegerField())

    return ladder(0, len(limits))


def _namesakes(names: Iterable[str]) -> dict[str, str]:
    """Names that differ in capitals alone, each with the one that stands for all of them."""
    alike: dict[str, set[str]] = defaultdict(set)
    for name in names:
        alike[name.lower()].add(name)
    return {name: min(group) for group in alike.values() if len(group) > 1 for name in group}


def _day(moment: datetime, period: Period) -> date:
    return moment.astimezone(period.tz).date()
