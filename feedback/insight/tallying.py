"""Tallies: the figures of days that are over, counted once and read from then on.

A tally is used only where nothing of its day changed since; everything else is counted as it is asked for, so figures
are never stale. The clock of a worker makes tallies; without any, insight is only slower.
"""

import time
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from feedback.insight import counting
from feedback.insight.counting import Counted, Named, Rows, Verdicts
from feedback.insight.period import Period
from feedback.models import Tally, Untallied, UserFeedback

_DAY, _QUARTER = timedelta(days=1), timedelta(minutes=15)
_DAYS_AT_ONCE = 100
_MOST_GAPS = 50
"""With more stretches than that between its tallies a period is counted whole: a query has to stay a short one."""


def catch_up(seconds: float = 0.2) -> int:
    """Count days that are over and have changed, the latest first, for about so long; gives how many."""
    begun, today = time.monotonic(), timezone.now().astimezone(UTC).date()
    waiting = Untallied.objects.filter(day__lt=today).values_list("day", flat=True).distinct().order_by("-day")
    done = 0
    for day in waiting[:_DAYS_AT_ONCE]:
        tally(day)
        done += 1
        if time.monotonic() - begun > seconds:
            break
    return done


def tally(day: date) -> None:
    """Count a day of UTC anew."""
    begins = datetime(day.year, day.month, day.day, tzinfo=UTC)
    quarters = [begins + place * _QUARTER for place in range(1, _DAY // _QUARTER)]
    with transaction.atomic():
        # Of two who count a day, the second waits here: otherwise an older count could be stored over a newer one.
        Tally.objects.bulk_create([Tally(day=day)], ignore_conflicts=True)
        kept = Tally.objects.select_for_update().get(day=day)
        # The marks go first: a change that commits while the rows are read leaves one that this does not take away.
        Untallied.objects.filter(day=day).delete()
        found = counting.counted(UserFeedback.objects.filter(created__gte=begins, created__lt=begins + _DAY), quarters)
        kept.quarters = [
            (place, each.positive, each.negative) for place, each in enumerate(found.over_time) if each.total
        ]
        kept.counts = {name: _spelled(getattr(found, name)) for name in ("categories", "tools", "models")}
        kept.counts["minutes"] = _by_count(found.minutes)
        kept.save()


@dataclass(frozen=True, slots=True)
class Tallied:
    """The reports of a period that have to be counted, and the days of it that need not be."""

    rest: Rows
    days: Sequence[Any] = ()

    def add_to(self, found: Counted, limits: Sequence[datetime]) -> None:
        """Add these days to what was counted between the limits, each of which begins a quarter of an hour."""
        for day, quarters, counts in self.days:
            begins = datetime(day.year, day.month, day.day, tzinfo=UTC)
            for place, positive, negative in quarters:
                found.over_time[bisect_right(limits, begins + place * _QUARTER)].add(positive, negative)
            for name in ("categories", "tools", "models"):
                _add(getattr(found, name), counts[name])
            for count, minutes in counts["minutes"].items():
                found.minutes.update(minutes * int(count))

    def added_to(self, found: Verdicts) -> Verdicts:
        """What was counted by sentiment, and these days."""
        for _, quarters, *_ in self.days:
            for _, positive, negative in quarters:
                found.add(positive, negative)
        return found


def tallied(period: Period, *columns: str) -> Tallied:
    """What is known of all reports in a period with two ends; `columns` are asked for beside sentiment. One query."""
    assert period.begins and period.ends
    first = (period.begins + _DAY - timedelta.resolution).astimezone(UTC).date()
    last = period.ends.astimezone(UTC).date() - _DAY
    changed = Untallied.objects.filter(day=OuterRef("day"))
    rows = Tally.objects.filter(~Exists(changed), day__gte=first, day__lte=last).order_by("day")
    days = list(rows.values_list("day", "quarters", *columns))
    gaps, reached = [], period.begins
    for day, *_ in days:
        begins = datetime(day.year, day.month, day.day, tzinfo=UTC)
        if begins > reached:
            gaps.append((reached, begins))
        reached = begins + _DAY
    if reached < period.ends:
        gaps.append((reached, period.ends))
    if len(gaps) > _MOST_GAPS:
        return Tallied(counting.within(UserFeedback.objects.all(), period))
    rest = Q(*(Q(created__gte=begins, created__lt=ends) for begins, ends in gaps), _connector=Q.OR)
    return Tallied(UserFeedback.objects.filter(rest) if gaps else UserFeedback.objects.none(), days)


def suits(limits: Sequence[datetime]) -> bool:
    """Whether tallies can be told apart at these limits: clocks of a century ago were set to the second."""
    return not any(limit.minute % 15 or limit.second for limit in limits)


def _spelled(named: Named) -> dict[str, tuple[int, int, int]]:
    return {name: (each.positive, each.negative, each.failed) for name, each in named.items()}


def _by_count(minutes: Counter[int]) -> dict[int, list[int]]:
    """The minutes that so many reports took, by how many they were: short to store, and quick to count again."""
    found: dict[int, list[int]] = defaultdict(list)
    for taken, count in minutes.items():
        found[count].append(taken)
    return found


def _add(named: Named, more: dict[str, tuple[int, int, int]]) -> None:
    for name, each in more.items():
        named[name].add(*each)
