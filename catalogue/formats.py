"""The five enforced formats (catalogue 3.1). `jsonschema` needs unmaintained packages for most of them."""

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from catalogue import patterns

_INSTANT = r"^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)\Z"
_URI = r"^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+\Z"


def fits(is_one: Callable[[str], bool], value: Any) -> bool:
    """Whether a value has the format; formats apply to strings only."""
    try:
        return not isinstance(value, str) or is_one(value)
    except ValueError:
        return False


def _is_date(text: str) -> bool:
    return text[4:8:3] == "--" and len(text) == 10 and date.fromisoformat(text) is not None  # no week, no bare digits


def _is_instant(text: str) -> bool:
    """RFC 3339: date, time with seconds, offset; a leap second is checked as second 59."""
    if not patterns.matches(_INSTANT, text):
        return False
    return datetime.fromisoformat(f"{text[:17]}{'59' if text[17:19] == '60' else text[17:19]}+00:00") is not None


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
