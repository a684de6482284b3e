"""Periods of days, and their division into spans for plots. Days begin in the viewer's time zone."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from core import moments, zones
from core.errors import InvalidRequest

DEFAULT = "30d"
ALL = "all"
_DAYS = re.compile(r"([1-9]\d{0,3})d")
_DATE = re.compile(r"(?:19[7-9]\d|2[01]\d\d|2200)-\d\d-\d\d")
"""A day of the years that a query may name."""
_OLDEST = date(1970, 1, 1)
"""The earliest of them."""
_DAY = timedelta(days=1)
_MOST_DAYS, _MOST_WEEKS, _MOST_MONTHS = 92, 53 * 7, 6 * 366
"""Most days of a period for a plot by days, by weeks and by months; a longer one is plotted by years."""


@dataclass(frozen=True, slots=True)
class Span:
    """From the beginning of one day to the end of another."""

    first: date
    last: date


@dataclass(frozen=True, slots=True)
class Period:
    """The days from `first` to `last`, both included; None is open."""

    first: date | None
    last: date | None
    tz: ZoneInfo

    @property
    def begins(self) -> datetime | None:
        """When it begins."""
        return beginning(self.first, self.tz) if self.first else None

    @property
    def ends(self) -> datetime | None:
        """When it ends: the first moment of the next day."""
        return beginning(self.last + _DAY, self.tz) if self.last else None

    @property
    def before(self) -> "Period | None":
        """The previous period of the same length; None if this one is open."""
        if self.first is None or self.last is None:
            return None
        return Period(self.first - (self.last - self.first) - _DAY, self.first - _DAY, self.tz)

    @property
    def term(self) -> str:
        """The query term for it, empty if it is open on both sides."""
        if self.first is None:
            return _created(f"<={self.last}", self.tz) if self.last else ""
        return _created(f">={self.first}", self.tz) if self.last is None else term(Span(self.first, self.last), self.tz)


def period_of(since: str | None, until: str | None, tz: str | ZoneInfo | None, now: datetime) -> Period:
    """The requested period; raises `InvalidRequest` that names the wrong parameter.

    `since` is a date, a number of days up to `until` like 30d (the default), or all. `until` is a date, by default
    today (with all: open).
    """
    zone = tz if isinstance(tz, ZoneInfo) else _zone(tz)
    last = _date("until", until) if until else None
    since = since or DEFAULT
    if since == ALL:
        return Period(None, last, zone)
    last = last or now.astimezone(zone).date()
    if counted := _DAYS.fullmatch(since):
        return Period(max(last - timedelta(days=int(counted[1]) - 1), _OLDEST), last, zone)
    first = _date("since", since)
    if first > last:
        raise InvalidRequest(f"until: {last} is before {first}")
    return Period(first, last, zone)


def beginning(day: date, tz: ZoneInfo) -> datetime:
    """The first moment of a day, as in the query language; if midnight is skipped, the moment the clocks change."""
    return datetime(day.year, day.month, day.day, tzinfo=tz).astimezone(UTC)


def term(span: Span, tz: ZoneInfo) -> str:
    """The query term for these days."""
    return _created(f"{span.first}" if span.first == span.last else f"{span.first}..{span.last}", tz)


def spans(first: date, last: date) -> list[Span]:
    """Days, weeks from Monday, months or years that exactly cover these days: about a hundred spans in a century."""
    length = (last - first).days + 1
    found, begins = [], first
    while begins <= last:
        if length <= _MOST_DAYS:
            ends = begins
        elif length <= _MOST_WEEKS:
            ends = begins + timedelta(days=6 - begins.weekday())
        elif length <= _MOST_MONTHS:
            ends = (begins.replace(day=28) + timedelta(days=4)).replace(day=1) - _DAY
        else:
            ends = begins.replace(month=12, day=31)
        found.append(Span(begins, min(ends, last)))
        begins = ends + _DAY
    return found


def edges(found: Sequence[Span], tz: ZoneInfo) -> list[datetime]:
    """The beginning of each span except the first."""
    return [beginning(span.first, tz) for span in found[1:]]


def _created(value: str, tz: ZoneInfo) -> str:
    return f"created:{moments.in_zone(value, tz)}"


def _zone(name: str | None) -> ZoneInfo:
    try:
        return zones.named(name) if name else zones.UTC
    except ValueError as problem:
        raise InvalidRequest(f"tz: {problem}") from None


def _date(name: str, value: str) -> date:
    try:
        if _DATE.fullmatch(value):
            return date.fromisoformat(value)
    except ValueError:
        pass
    also = ", a number of days like 30d, or all" if name == "since" else ""
    raise InvalidRequest(f"{name}: must be a date from 1970 to 2200, like 2026-05-01{also}")
