"""Tallies: stored figures of past days, so that Insight need not count them again.

A tally is used only if nothing of its day changed since; everything else is counted on demand, so figures are never
stale. The scheduler makes tallies; without them, Insight is only slower.
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
"""With more gaps between tallies, a whole period is counted, because the query would become too long."""


def catch_up(seconds: float = 0.2) -> int:
    """Count past days that have changed, latest first, for about so long; returns how many."""
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
    """Count a UTC day again and store its tally."""
    begins = datetime(day.year, day.month, day.day, tzinfo=UTC)
    quarters = [begins + place * _QUARTER for place in range(1, _DAY // _QUARTER)]
    with transaction.atomic():
        # A second process that counts this day waits here; otherwise an older count could overwrite a newer one.
        Tally.objects.bulk_create([Tally(day=day)], ignore_conflicts=True)
        kept = Tally.objects.select_for_update().get(day=day)
        # Marks are deleted before counting: a change that commits during the count leaves a new mark.
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
    """The reports of a period that must be counted, and the days with a valid tally."""

    rest: Rows
    days: Sequence[Any] = ()

    def add_to(self, found: Counted, limits: Sequence[datetime]) -> None:
        """Add the tallied days to counts between the limits, each of which is the start of a quarter hour."""
        for day, quarters, counts in self.days:
            begins = datetime(day.year, day.month, day.day, tzinfo=UTC)
            for place, positive, negative in quarters:
                found.over_time[bisect_right(limits, begins + place * _QUARTER)].add(positive, negative)
            for name in ("categories", "tools", "models"):
                _add(getattr(found, name), counts[name])
            for count, minutes in counts["minutes"].items():
                found.minutes.update(minutes * int(count))

    def added_to(self, found: Verdicts) -> Verdicts:
        """Add the tallied days to counts by sentiment; returns them."""
        for _, quarters, *_ in self.days:
            for _, positive, negative in quarters:
                found.add(positive, negative)
        return found


def tallied(period: Period, *columns: str) -> Tallied:
    """The valid tallies of a closed period; `columns` are read in addition to sentiment. One query."""
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
    """Whether all limits are on a quarter hour; a century ago, time zones had offsets in seconds."""
    return not any(limit.minute % 15 or limit.second for limit in limits)


def _spelled(named: Named) -> dict[str, tuple[int, int, int]]:
    return {name: (each.positive, each.negative, each.failed) for name, each in named.items()}


def _by_count(minutes: Counter[int]) -> dict[int, list[int]]:
    """Minutes grouped by number of reports: short to store and quick to add up."""
    found: dict[int, list[int]] = defaultdict(list)
    for taken, count in minutes.items():
        found[count].append(taken)
    return found


def _add(named: Named, more: dict[str, tuple[int, int, int]]) -> None:
    for name, each in more.items():
        named[name].add(*each)
