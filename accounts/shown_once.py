"""Secrets that the next page shows once: the secret of a new token or webhook, an invitation link.

They travel in a short-lived cookie of the person's own browser. A session is a row of the database: a secret would be
readable there, and stay if nobody follows the redirect.
"""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.cache import add_never_cache_headers

_SECONDS = 60
_PATH = "/settings/"


def hand_over(response: HttpResponse, name: str, secret: str, *, to: int) -> None:
    """Send a secret along to the page that shows it to this user (row id)."""
    response.set_signed_cookie(
        name,
        secret,
        salt=_salt(name, to),
        max_age=_SECONDS,
        path=_PATH,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def handed_over(request: HttpRequest, name: str, *, to: int) -> str:
    """The secret that came with the request; empty without one, after a minute, and for another user."""
    return str(request.get_signed_cookie(name, default="", salt=_salt(name, to), max_age=_SECONDS))


def forget(response: HttpResponse, name: str) -> None:
    """End the cookie with the page that shows its secret, which no cache may keep."""
    response.delete_cookie(name, path=_PATH, samesite="Lax")
    add_never_cache_headers(response)


def _salt(name: str, user_id: int) -> str:
    return f"accounts.shown_once.{name}.{user_id}"
