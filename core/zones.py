"""Time zones by IANA name, and the viewer's zone, which the browser sends in a cookie."""

import re
from zoneinfo import ZoneInfo

from django.http import HttpRequest

COOKIE = "tz"
UTC = ZoneInfo("UTC")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}")


def named(name: str) -> ZoneInfo:
    """The zone with that name, which may be untrusted input; raises `ValueError` if there is none."""
    if not _NAME.fullmatch(name):
        raise ValueError("must be the name of a time zone, like Europe/Berlin")
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # also raised for a folder of zones
        raise ValueError(f"there is no time zone {name}") from None


def of(request: HttpRequest) -> ZoneInfo:
    """The viewer's time zone from the browser's cookie, else UTC."""
    try:
        return named(request.COOKIES.get(COOKIE, ""))
    except ValueError:
        return UTC
