"""Keyset cursors: where a page ended, so that rows never jump or repeat while others write."""

import base64
import hashlib
import hmac
import json
from typing import Any

from django.conf import settings
from django.http import QueryDict

from core.errors import InvalidRequest

MAX_LIMIT = 200
DEFAULT_LIMIT = 50


def next_url(query: QueryDict, token: str | None, **more: str) -> str:
    """Where a list page goes on: its own address with the cursor as `after`; empty where it ends."""
    if token is None:
        return ""
    onward = query.copy()
    for name, value in {"after": token, **more}.items():
        onward[name] = value  # `update` would add to what is there
    return f"?{onward.urlencode()}"


def encode(*position: str | int) -> str:
    """An opaque, signed, URL-safe token for a position."""
    body = json.dumps(position, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(_mac(body) + body).decode().rstrip("=")


def decode(token: str, *kinds: type) -> list[Any]:
    """The position inside a token made by `encode`, its parts of these kinds; anything else is an invalid request.

    The token of another list is signed as well: a name in the place of a row's number is told apart by its kind.
    """
    try:
        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        if hmac.compare_digest(raw[:10], _mac(raw[10:])):
            position = json.loads(raw[10:])
            if isinstance(position, list) and [type(part) for part in position] == [*kinds]:
                return position
    except (ValueError, UnicodeError):
        pass
    raise InvalidRequest("page_token: is not a token of this list")


def limit_of(value: object) -> int:
    """A page size from 1 to 200, 50 when none is given."""
    if value in (None, ""):
        return DEFAULT_LIMIT
    try:
        limit = int(str(value))
    except ValueError:
        limit = 0
    if isinstance(value, bool) or not 1 <= limit <= MAX_LIMIT:
        raise InvalidRequest(f"limit: must be a whole number from 1 to {MAX_LIMIT}")
    return limit


def _mac(body: bytes) -> bytes:
    return hmac.new(settings.SECRET_KEY.encode(), body, hashlib.sha256).digest()[:10]
