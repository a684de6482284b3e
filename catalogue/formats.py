"""The five enforced formats (catalogue 3.1). `jsonschema` needs unmaintained packages for most of them."""

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from catalogue import patterns

_INSTANT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}):([0-9]{2})(?:\.[0-9]+)?"
    r"(?:[Zz]|([+-](?:[01][0-9]|2[0-3]):[0-5][0-9]))"
)
_URI = r"^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+\Z"


def fits(is_one: Callable[[str], bool], value: Any) -> bool:
    """Whether a value has the format; formats apply to strings only."""
    try:
        return not isinstance(value, str) or is_one(value)
    except (ValueError, OverflowError):
        return False


def _is_date(text: str) -> bool:
    return text[4:8:3] == "--" and len(text) == 10 and date.fromisoformat(text) is not None  # no week, no bare digits


def _is_instant(text: str) -> bool:
    """RFC 3339: date, time with seconds, offset; a second 60 only where leap seconds are, at the end of a UTC day."""
    found = _INSTANT.fullmatch(text)
    if found is None:
        return False
    day, minute, second, offset = found.groups()
    is_leap = second == "60"
    moment = datetime.fromisoformat(f"{day}T{minute}:{'59' if is_leap else second}")
    return not is_leap or (moment - _offset(offset or "+00:00")).strftime("%H:%M") == "23:59"


def _offset(text: str) -> timedelta:
    hours, minutes = int(text[1:3]), int(text[4:])
    return timedelta(hours=hours, minutes=minutes) * (-1 if text[0] == "-" else 1)


def _is_email(text: str) -> bool:
    try:
        validate_email(text)
    except ValidationError:
        return False
    return True


def _is_uri(text: str) -> bool:
    parts = urlsplit(text)
    has_rest = bool(parts.netloc or parts.path)
    return patterns.matches(_URI, text) and has_rest and (parts.port or 0) >= 0


def _is_uuid(text: str) -> bool:
    return len(text) == 36 and str(UUID(text)) == text.lower()


FORMATS: Final[Mapping[str, Callable[[str], bool]]] = {
    "date": _is_date,
    "date-time": _is_instant,
    "email": _is_email,
    "uri": _is_uri,
    "uuid": _is_uuid,
}
