"""Counts the figures in the database, with a few GROUP BYs for any number of reports."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import accumulate
from typing import Any

from django.db.models import Case, Count, F, IntegerField, Max, Min, Q, QuerySet, Value, When
from django.db.models.expressions import Combinable
from django.db.models.lookups import LessThan

from core import ids
from feedback.insight.period import Period, Span, spans
from feedback.models import UserFeedback
from feedback.querying.durations import Took
from feedback.taxonomy import BIT
from threads.models import Agent

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

    @property
    def total(self) -> int:
        """Both sentiments together."""
        return self.positive + self.negative

    def add(self, positive: int = 0, negative: int = 0, failed: int = 0) -> None:
        """Add these numbers."""
        self.positive += positive
        self.negative += negative
        self.failed += failed


Named = dict[str, Verdicts]
Minutes = Sequence[tuple[int, int]]
"""Pairs of minutes (ascending) and the number of reports that took so long."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Counts that are additive: those of two days add up to those of both."""

    over_time: list[Verdicts]
    categories: Named
    tools: Named
    models: Named
    minutes: Counter[int]
    """Whole minutes to resolve, of resolved reports."""


def within(rows: Rows, period: Period) -> Rows:
    """The reports created in a period."""
    bounds = {"created__gte": period.begins, "created__lt": period.ends}
    return rows.filter(**{lookup: moment for lookup, moment in bounds.items() if moment is not None})


def covered(rows: Rows, period: Period, now: datetime) -> list[Span]:
    """The spans of a plot over a period; an open end means the first report, or the last report or today."""
    first, last = period.first, period.last
    if first is None or last is None:
        # One query each: for both at once SQLite would scan all reports instead of reading an end of the index.
        oldest, newest = (rows.order_by().aggregate(at=each("created"))["at"] for each in (Min, Max))
        first = first or (oldest and _day(oldest, period))
        last = last or max(_day(now, period), _day(newest or now, period))
    return spans(first, last) if first else []


def verdicts(rows: Rows) -> Verdicts:
    """Count reports by sentiment."""
    found = Verdicts()
    for sentiment, count in rows.values_list("sentiment").annotate(count=Count("*")).order_by():
        found.add(**{sentiment: count})
    return found


def counted(rows: Rows, limits: Sequence[datetime]) -> Counted:
    """Count reports by everything additive; over time between the ascending limits."""
    moments, categories = over_time(rows, limits)
    return Counted(moments, categories, by_tool(rows), by_model(rows), minutes_to_resolve(rows))


def over_time(rows: Rows, limits: Sequence[datetime]) -> tuple[list[Verdicts], Named]:
    """Count by sentiment between the limits, and by category and sentiment, in one query."""
    counted = [Verdicts() for _ in range(len(limits) + 1)]
    named: Named = defaultdict(Verdicts)
    place = bucket(F("created"), limits)
    grouped = rows.annotate(place=place).values_list("place", "sentiment", "category_bits").annotate(count=Count("*"))
    for at, sentiment, bits, count in grouped.order_by():
        counted[at].add(**{sentiment: count})
        for category, bit in BIT.items():
            if bits & bit:
                named[category].add(**{sentiment: count})
    return counted, named


def by_tool(rows: Rows) -> Named:
    """Count by tool and sentiment, and the tool's errors. Names are compared ignoring case, as in queries."""
    gave_error = Q(tools__failed=True)
    grouped = rows.filter(tools__tool_name__gt="").values_list("tools__tool_name", "sentiment")
    found = list(grouped.annotate(count=Count("*"), failed=Count("pk", filter=gave_error)).order_by())
    if twice := _namesakes(name for name, *_ in found):
        # An answer with two spellings counts once.
        one = Case(*(When(tools__tool_name=each, then=Value(name)) for each, name in twice.items()))
        several = rows.filter(tools__tool_name__in=twice).annotate(name=one).values_list("name", "sentiment")
        once, failed = Count("pk", distinct=True), Count("pk", distinct=True, filter=gave_error)
        found = [row for row in found if row[0] not in twice]
        found += several.annotate(count=once, failed=failed).order_by()
    counted: Named = defaultdict(Verdicts)
    for name, sentiment, count, failed_count in found:
        counted[name].add(**{sentiment: count}, failed=failed_count)
    return counted


def by_model(rows: Rows) -> Named:
    """Count by model profile and sentiment."""
    return _by(rows.filter(answer__model_profile__gt=""), "answer__model_profile")


def by_agent(rows: Rows) -> Named:
    """Count by the version of an agent that the thread was launched from, `name@version`, and sentiment: by the agents'
    names of today, or the ids of those that are gone. One query, and one more if there are any.
    """
    agent, version = "thread__created_from_agent_id", "thread__created_from_agent_version"
    launched = rows.filter(**{f"{version}__isnull": False}).values_list(agent, version, "sentiment")
    found = list(launched.annotate(count=Count("*")).order_by())
    keys = {ids.key_of(agent_id, ids.AGENT) or "" for agent_id, *_ in found}
    names = {ids.AGENT + key: name for key, name in Agent.objects.filter(key__in=keys).values_list("key", "name")}
    counted: Named = defaultdict(Verdicts)
    for agent_id, number, sentiment, count in found:
        counted[f"{names.get(agent_id, agent_id)}@{number}"].add(**{sentiment: count})
    return counted


def by_label(rows: Rows) -> Named:
    """Count by current label and sentiment."""
    return _by(rows.filter(labelled__isnull=False), "labelled__label__name")


def by_outcome(rows: Rows) -> Named:
    """Count resolved reports by outcome and sentiment."""
    return _by(rows.filter(resolved=True, triage__outcome__isnull=False), "triage__outcome")


def _by(rows: Rows, column: str) -> Named:
    counted: Named = defaultdict(Verdicts)
    for name, sentiment, count in rows.values_list(column, "sentiment").annotate(count=Count("*")).order_by():
        counted[name].add(**{sentiment: count})
    return counted


def folded(named: Named) -> Named:
    """Merge names that differ only in case."""
    twice = _namesakes(named)
    found: Named = defaultdict(Verdicts)
    for name, each in named.items():
        found[twice.get(name, name)].add(each.positive, each.negative, each.failed)
    return found


def backlog(rows: Rows, now: datetime) -> list[int]:
    """Count open reports by age, between the `AGES`, youngest first."""
    places = [now - age + _MICROSECOND for age in reversed(AGES)]
    open_ones = rows.filter(resolved=False).annotate(place=bucket(F("created"), places))
    counted = dict(open_ones.values_list("place").annotate(count=Count("*")).order_by())
    return [counted.get(at, 0) for at in range(len(places), -1, -1)]


def minutes_to_resolve(rows: Rows) -> Counter[int]:
    """Count resolved reports by whole minutes to resolve."""
    counted = rows.filter(resolved_at__isnull=False).annotate(minutes=Took() / Value(60))
    return Counter(dict(counted.values_list("minutes").annotate(count=Count("*")).order_by()))


def time_to_resolve(minutes: Minutes) -> list[int]:
    """Counts between the `LENGTHS`, quickest first."""
    limits = [length // timedelta(minutes=1) for length in LENGTHS]
    found = [0] * (len(limits) + 1)
    for taken, count in minutes:
        found[bisect_right(limits, taken)] += count
    return found


def quantile(minutes: Minutes, percent: int) -> int | None:
    """The whole minutes within which `percent` of the reports were resolved."""
    ends = list(accumulate(count for _, count in minutes))
    return minutes[bisect_left(ends, -(-ends[-1] * percent // 100))][0] if ends else None


def bucket(column: Combinable, limits: Sequence[Any]) -> Combinable:
    """The index of a value between ascending limits: how many limits are not above it.

    A binary search in SQL, so that a hundred limits cost seven comparisons. The limits are computed in Python from the
    viewer's days, so no database needs to know time zones.
    """

    def ladder(low: int, high: int) -> Combinable:
        if low == high:
            return Value(low)
        middle = (low + high) // 2
        lower = When(LessThan(column, limits[middle]), then=ladder(low, middle))
        return Case(lower, default=ladder(middle + 1, high), output_field=IntegerField())

    return ladder(0, len(limits))


def _namesakes(names: Iterable[str]) -> dict[str, str]:
    """Maps names that differ only in case to one common spelling."""
    alike: dict[str, set[str]] = defaultdict(set)
    for name in names:
        alike[name.lower()].add(name)
    return {name: min(group) for group in alike.values() if len(group) > 1 for name in group}


def _day(moment: datetime, period: Period) -> date:
    return moment.astimezone(period.tz).date()
