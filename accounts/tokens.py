"""API tokens: creating, listing and revoking one's own."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import ApiToken, User, mint
from accounts.naming import check_one_line
from accounts.orgs import take_turns_with
from core import paging
from core.errors import InvalidRequest, NotFound

MOST = 100
"""Most active tokens of one person."""
LIFETIMES = {"30": "in 30 days", "90": "in 90 days", "365": "in a year", "": "never"}
"""When a new token may expire: in so many days, in words."""
PLACES = paging.Places("tokens")


def active(user_id: int) -> QuerySet[ApiToken]:
    """Somebody's tokens that are not revoked, newest first."""
    return ApiToken.objects.filter(user=user_id, revoked_at=None).order_by("-pk")


def create(user: User, name: str, *, scope: str, days: str) -> str:
    """Create a token and return its secret, which cannot be retrieved later. Raises `InvalidRequest`."""
    if not 1 <= len(name) <= 80 or "\x00" in name:
        raise InvalidRequest.of("name", "must have 1 to 80 characters")
    check_one_line("name", name)
    if scope not in ApiToken.Scope.values:
        raise InvalidRequest("scope: must be write or read")
    if days not in LIFETIMES:
        raise InvalidRequest(f"expires: must be one of {', '.join(filter(None, LIFETIMES))} days, or empty")
    with transaction.atomic():
        take_turns_with(user.pk)  # or more would fit
        if active(user.pk).count() >= MOST:
            raise InvalidRequest.of("name", f"cannot be added: you have {MOST} active tokens; revoke one first")
        return mint(user, name, scope=scope, expires_at=_end(days))[1]


def revoke(user_id: int, token_id: int) -> str:
    """Revoke an own token, which stops working with the next request; returns its name. Raises `NotFound`."""
    mine = active(user_id).filter(pk=token_id)
    name = mine.values_list("name", flat=True).first()
    if name is None or not mine.update(revoked_at=timezone.now()):
        raise NotFound("You have no active token with this ID.")
    return name


def _end(days: str) -> datetime | None:
    return timezone.now() + timedelta(days=int(days)) if days else None
