"""Times in queries: days, months, years, and ages that count back from now."""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo

from core import zones

_AGE = re.compile(r"(\d{1,5})(m|h|d|w)")
_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_RANGE = re.compile(r"(<=|>=|<|>)?(.+)")
_ZONED = re.compile(r"([^\[]*)\[([^\[\]]*)\]")
_FAR = timedelta(days=36500)
AGES = "an age like 7d, 12h, 30m or 2w"
RELATIVE = ("today", "yesterday", "this-week", "last-week", "this-month", "last-month")
"""Days, weeks and months by how far they are back from now. A week begins with Monday."""
DATES = f"a day, month or year from 1970 to 2200, like 2026-05-01, 2026-05 or 2026, {', '.join(RELATIVE)}"


@dataclass(frozen=True, slots=True)
class Stretch:
    """From `first` up to but not including `end`; None means unlimited."""

    first: datetime | None = None
    end: datetime | None = None


def clean(value: str, *, dates: bool = True) -> str:
    """The canonical text of a time range; raises `ValueError` with what would be valid.

    Days may name their time zone, `2026-05-01[Europe/Berlin]`, so that they mean the same to everybody.
    """
    if zoned := _ZONED.fullmatch(value):
        said = clean(zoned[1], dates=dates)
        if _AGE.search(said):
            raise ValueError("an age has no time zone: remove the brackets")
        return f"{said}[{zones.named(zoned[2]).key}]"
    said = _closed(value.lower())
    ends = said.split("..") if ".." in said else [_split(said)[1]]
    kinds = {_kind(end, dates) for end in ends}
    if len(ends) > 2 or len(kinds) > 1 or None in kinds:
        takes = f"{DATES}, or {AGES}" if dates else AGES
        raise ValueError(f"must be {takes}, optionally after <, <=, > or >=, or a range A..B")
    return said


def _closed(said: str) -> str:
    """A range that is open at one end, as the sign that means the same: `2026-05..` is `>=2026-05`."""
    first, dots, end = said.partition("..")
    if dots and bool(first) is not bool(end):
        return f">={first}" if first else f"<={end}"
    return said


def spoken(at: datetime) -> str:
    """A time for a sentence, in its own zone: `24 Nov 09:00 CET`; with the year unless it is the current one."""
    year = "" if at.year == datetime.now(at.tzinfo).year else f" {at.year}"
    return f"{at.day} {at:%b}{year} {at:%H:%M %Z}"


def coming(at: datetime) -> str:
    """A time to come in short, in its own zone: `Tue 09:00`, from a week on `7 Dec`, in another year `7 Dec 2027`."""
    if is_within_a_week(at):
        return f"{at:%a %H:%M}"
    return f"{at.day} {at:%b}" if at.year == datetime.now(at.tzinfo).year else f"{at.day} {at:%b %Y}"


def is_within_a_week(at: datetime) -> bool:
    """Whether the day of the week names a time to come, in its own zone."""
    return at.date() - datetime.now(at.tzinfo).date() < timedelta(days=7)


def stretch(value: str, *, now: datetime, tz: tzinfo) -> Stretch:
    """The times that a cleaned range means. A longer age is further back: `<7d` means younger than seven days.

    A day, month or year is all of it, in `tz` or the zone it names; an age alone means "at most that old".
    """
    if zoned := _ZONED.fullmatch(value):
        return stretch(zoned[1], now=now, tz=zones.named(zoned[2]))
    if ".." in value:
        one, other = value.split("..")
        if _AGE.fullmatch(one):
            return Stretch(min(_back(one, now), _back(other, now)), _after(max(_back(one, now), _back(other, now))))
        first, end = (_days(each, tz, now) for each in (one, other))
        return Stretch(first[0], end[1]) if first[0] < end[1] else Stretch(end[0], first[1])
    sign, said = _split(value)
    if _AGE.fullmatch(said):
        moment = _back(said, now)
        match sign:
            case ">":
                return Stretch(None, moment)
            case ">=":
                return Stretch(None, _after(moment))
            case "<":
                return Stretch(_after(moment), None)
        return Stretch(moment, None)
    begins, ends = _days(said, tz, now)
    match sign:
        case ">":
            return Stretch(ends, None)
        case ">=":
            return Stretch(begins, None)
        case "<":
            return Stretch(None, begins)
        case "<=":
            return Stretch(None, ends)
    return Stretch(begins, ends)


def lengths(value: str) -> list[tuple[str, timedelta]]:
    """The bounds of a cleaned range of ages as durations: comparisons that must all be true."""
    if ".." in value:
        one, other = sorted(_length(age) for age in value.split(".."))
        return [(">=", one), ("<=", other)]
    sign, said = _split(value)
    return [(sign or "<=", _length(said))]


def in_zone(value: str, tz: tzinfo) -> str:
    """A cleaned range with its time zone `tz`, so that it means the same everywhere."""
    return value if _AGE.search(value) or _ZONED.fullmatch(value) else f"{value}[{tz}]"


def _split(said: str) -> tuple[str, str]:
    found = _RANGE.fullmatch(said)
    return (found[1] or "", found[2]) if found else ("", "")


def _kind(end: str, dates: bool) -> str | None:
    if _AGE.fullmatch(end):
        return "age"
    if dates and end in RELATIVE:
        return "date"
    found = _DATE.fullmatch(end) if dates else None
    if found is None:
        return None
    year, month, day = int(found[1]), int(found[2] or 1), int(found[3] or 1)
    is_real = 1970 <= year <= 2200 and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]
    return "date" if is_real else None


def _back(age: str, now: datetime) -> datetime:
    return now - _length(age)


def _length(age: str) -> timedelta:
    found = _AGE.fullmatch(age)
    assert found is not None
    return min(timedelta(**{_UNITS[found[2]]: int(found[1])}), _FAR)


def _after(moment: datetime) -> datetime:
    """The next moment at the precision of the databases."""
    return moment + timedelta(microseconds=1)


def _days(said: str, tz: tzinfo, now: datetime) -> tuple[datetime, datetime]:
    """The start and the end of a day, week, month or year."""
    if said in RELATIVE:
        return _relative(said, now.astimezone(tz).date(), tz)
    year, month, day = (int(part) for part in (*said.split("-"), "0", "0")[:3])
    begins = datetime(year, month or 1, day or 1, tzinfo=tz)
    if day:
        next_day = begins.replace(tzinfo=None) + timedelta(days=1)
        return begins, next_day.replace(tzinfo=tz)
    if month:
        return begins, datetime(year + month // 12, month % 12 + 1, 1, tzinfo=tz)
    return begins, datetime(year + 1, 1, 1, tzinfo=tz)


def _relative(name: str, today: date, tz: tzinfo) -> tuple[datetime, datetime]:
    back = name in ("yesterday", "last-week", "last-month")
    if name.endswith("month"):
        month = today.year * 12 + today.month - 1 - back
        first, end = (date(each // 12, each % 12 + 1, 1) for each in (month, month + 1))
    else:
        length = 7 if name.endswith("week") else 1
        first = today - timedelta(days=length * back + (today.weekday() if length == 7 else 0))
        end = first + timedelta(days=length)
    begins, ends = (datetime(each.year, each.month, each.day, tzinfo=tz) for each in (first, end))
    return begins, ends
