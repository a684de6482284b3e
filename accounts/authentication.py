"""Find the actor for a bearer token or a browser session."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from django.contrib.auth import get_user
from django.db import DatabaseError
from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.models import ApiToken, Membership, Org, User, display_name
from accounts.rights import require_admin
from core import ids
from core.actor import Actor
from core.errors import InvalidRequest, NoOrgProvided, NotFound, NotSignedIn, Unauthorized
from core.prepared import Prepared, Question, takes_along

_FIELDS = (
    "id",
    "revoked_at",
    "expires_at",
    "last_used_at",
    "scope",
    "user_id",
    "user__email",
    "user__name",
    "user__is_staff",
    "user__is_active",
    "user__memberships__org_id",
    "user__memberships__org__key",
    "user__memberships__is_default",
)
_TOKEN = Prepared(lambda digest: ApiToken.objects.filter(hash=digest).values_list(*_FIELDS), str)
_MEMBERSHIPS = Prepared(
    lambda user: Membership.objects.filter(user=user).values_list("org_id", "org__key", "is_default"), int
)
_USED_AT_MOST_EVERY = timedelta(minutes=1)


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer <token>`. Unknown and revoked tokens get the same answer, so tokens cannot be probed."""

    def authenticate(self, request: Request) -> tuple[Actor, None] | None:
        secret = _bearer(request.META.get("HTTP_AUTHORIZATION", ""))
        if not secret:
            return None
        ahead = request.parser_context["view"].next_questions() if takes_along() else ()
        actor, token_id = _found(secret, ahead=ahead)
        if token_id:
            request._request.afterwards = [partial(_note_use, token_id)]  # type: ignore[attr-defined]
        return actor, None

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def _found(secret: str, *, ahead: Sequence[Question]) -> tuple[Actor, int | None]:
    """The actor for a token, and the token's row id if its use must be recorded; raises `NotSignedIn`.

    One query; `ahead` as in `together`.
    """
    rows = _TOKEN.rows(ApiToken.hash_of(secret), ahead=ahead)
    if not rows:
        raise NotSignedIn("This token is not valid.")
    token_id, revoked_at, expires_at, used_at, scope, user_id, email, name, is_staff, is_active = rows[0][:10]
    now = datetime.now(UTC)
    if revoked_at or not is_active or (expires_at and expires_at <= now):
        raise NotSignedIn("This token is not valid.")
    is_noted = used_at is not None and now - used_at <= _USED_AT_MOST_EVERY
    actor = Actor(
        user_id=user_id,
        email=email,
        name=display_name(name, email),
        is_admin=is_staff,
        orgs=_orgs([row[10:] for row in rows]),
        may_write=scope == ApiToken.Scope.WRITE,
    )
    return actor, None if is_noted else token_id


def _note_use(token_id: int) -> None:
    """Record the use of a token. Runs after the response was sent, so reads never wait for it or fail with it."""
    with suppress(DatabaseError):
        ApiToken.objects.filter(pk=token_id).update(last_used_at=datetime.now(UTC))


def actor_of_user(user: User) -> Actor:
    """The actor for a signed-in user, or for a worker's job on their behalf. A disabled account is never an admin."""
    rows = _MEMBERSHIPS.rows(user.pk)
    return Actor(
        user_id=user.pk,
        email=user.email,
        name=user.display_name,
        is_admin=user.is_staff and user.is_active,
        orgs=_orgs(rows),
    )


def actor_of_email(email: str) -> Actor:
    """The actor for a user named on the command line; raises `NotFound`."""
    user = User.objects.filter(email=email.strip().lower(), is_active=True).first()
    if user is None:
        raise NotFound.of("active user", email)
    return actor_of_user(user)


def page_actor(request: HttpRequest) -> Actor:
    """The actor of a page request, built once per request; raises `NotSignedIn`."""
    actor: Actor | None = getattr(request, "actor", None)
    if actor is None:
        user = request.user
        if not isinstance(user, User):
            raise NotSignedIn("Sign in to see this page.")
        actor = actor_of_user(user)
        request.actor = actor  # type: ignore[attr-defined]
    return actor


def admin_actor(request: HttpRequest) -> Actor:
    """The actor of a page for platform admins only; raises `NotSignedIn`, then `Unauthorized`."""
    actor = page_actor(request)
    require_admin(actor)
    return actor


def actor_again(actor: Actor) -> Actor:
    """The actor as they are now; raises `NotSignedIn` if the account was disabled or deleted."""
    user = User.objects.filter(pk=actor.user_id, is_active=True).first()
    if user is None:
        raise NotSignedIn("This account is disabled.")
    return actor_of_user(user)


def token_actor_again(request: Request) -> Actor:
    """The current actor of an API request that has been open for a while; raises `NotSignedIn` if the token was revoked
    or has expired, or the account was disabled.
    """
    return _found(_bearer(request.META.get("HTTP_AUTHORIZATION", "")), ahead=())[0]


def page_actor_again(request: HttpRequest) -> Actor:
    """The current actor of a page request that has been open for a while.

    Raises `NotSignedIn` if the session has ended or the account was disabled.
    """
    anew = HttpRequest()
    anew.session = type(request.session)(request.session.session_key)
    user = get_user(anew)
    if not isinstance(user, User):
        raise NotSignedIn("Sign in to see this page.")
    return actor_of_user(user)


def org_of(actor: Actor, public_id: str | None) -> int:
    """The row id of the org a request acts in (spec 1.2).

    The named org if the actor is a member (admins: any existing org), else their only or default org. Otherwise raises
    `NoOrgProvided`.
    """
    if public_id:
        return _named_org(actor, public_id)
    if len(actor.orgs) == 1:
        return next(iter(actor.orgs.values()))
    default = Membership.objects.filter(user=actor.user_id, is_default=True).values_list("org_id", flat=True).first()
    if default is not None:
        return default
    raise NoOrgProvided("Name the org to act in with the header X-Roboto-Org-Id: you have no single or default org.")


def _named_org(actor: Actor, public_id: str) -> int:
    if public_id in actor.orgs:
        return actor.orgs[public_id]
    if actor.is_admin:
        key = ids.key_of(public_id, ids.ORG)
        org_id = Org.objects.filter(key=key).values_list("id", flat=True).first() if key else None
        if org_id is None:
            raise InvalidRequest(f"X-Roboto-Org-Id: there is no org {public_id[:80]}")
        return org_id
    raise Unauthorized("You are not a member of that org.")


def _orgs(rows: list[Any]) -> dict[str, int]:
    """Row ids by public id, the default org first."""
    ordered = sorted((row for row in rows if row[0] is not None), key=lambda row: (not row[2], row[0]))
    return {ids.ORG + key: org_id for org_id, key, _ in ordered}


def _bearer(header: str) -> str:
    kind, _, secret = header.partition(" ")
    return secret.strip() if kind.lower() == "bearer" else ""
