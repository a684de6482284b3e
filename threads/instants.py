"""Converts nanoseconds since the epoch to and from written times, without loss."""

import re
from datetime import UTC, datetime, timedelta, tzinfo

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = 1_000_000_000
_FRACTION = re.compile(r"(?<=:\d\d)[.,](\d{1,9})(?=$|[Zz+-])")


def nanoseconds(text: str) -> int:
    """Parse a typed time: ISO 8601, in UTC by default, or the number of nanoseconds; raises `ValueError`."""
    text = text.strip()
    if re.fullmatch(r"-?[0-9]{1,30}", text) and not re.fullmatch(r"[0-9]{4}|[0-9]{8}", text):
        return int(text)
    fraction = _FRACTION.search(text)
    instant = datetime.fromisoformat(_FRACTION.sub("", text))
    instant = instant if instant.tzinfo else instant.replace(tzinfo=UTC)
    seconds = (instant - _EPOCH) // timedelta(seconds=1)
    return seconds * _SECOND + (int(fraction[1].ljust(9, "0")) if fraction else 0)


def local(text: str) -> str | None:
    """A time for a `datetime-local` input, in UTC and whole seconds; None if it cannot show that time."""
    found = re.fullmatch(r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2})(:[0-9]{2})?Z?", text.strip())
    if found is None:
        return None if text.strip() else ""
    try:
        datetime.fromisoformat(found[1] + (found[2] or ""))
    except ValueError:
        return None
    return found[1] + (found[2] or ":00")


def words(number: int, tz: tzinfo) -> str:
    """A time in zone `tz`: `1 Jan 2026, 14:05 CET`; empty if only the number is exact."""
    seconds, fraction = divmod(number, _SECOND)
    try:
        there = (_EPOCH + timedelta(seconds=seconds)).astimezone(tz)
    except OverflowError:
        return ""
    clock = f"{there:%H:%M:%S}" if there.second else f"{there:%H:%M}"
    return "" if fraction else f"{there.day} {there:%b} {there.year}, {clock} {there:%Z}"


def instant(number: int | None) -> str:
    """A time as `nanoseconds` reads it; the number itself beyond the range of the calendar."""
    if number is None:
        return ""
    seconds, fraction = divmod(number, _SECOND)
    try:
        told = (_EPOCH + timedelta(seconds=seconds)).replace(tzinfo=None).isoformat()
    except OverflowError:
        return str(number)
    return f"{told}.{fraction:09d}".rstrip("0") + "Z" if fraction else f"{told}Z"
