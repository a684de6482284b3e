"""Time zones by their IANA names: the one that a name says, and the viewer's, as the browser tells it in a cookie."""

import re
from zoneinfo import ZoneInfo

from django.http import HttpRequest

COOKIE = "tz"
UTC = ZoneInfo("UTC")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}")


def named(name: str) -> ZoneInfo:
    """The zone with that name; raises `ValueError` where there is none. The name may come from anywhere."""
    if not _NAME.fullmatch(name):
        raise ValueError("must be the name of a time zone, like Europe/Berlin")
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # a folder of zones is found as well, and is none
        raise ValueError(f"there is no time zone {name}") from None


def of(request: HttpRequest) -> ZoneInfo:
    """Where the days of this viewer begin: what their browser said, else UTC."""
    try:
        return named(request.COOKIES.get(COOKIE, ""))
    except ValueError:
        return UTC
