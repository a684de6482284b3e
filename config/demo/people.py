"""The demo's orgs and users. Anyone who can run its commands can print their passwords and tokens."""

import base64
import hashlib
import hmac
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import check_password, make_password
from django.core.management.base import CommandError
from django.db.models import QuerySet

from accounts.authentication import actor_of_user
from accounts.models import TOKEN_PREFIX, ApiToken, Org, User, keep
from accounts.orgs import add_member, found_org
from core.actor import Actor

ORGS = {"acme": "Acme Bikes", "globex": "Globex Parking"}
PEOPLE: dict[str, tuple[str, ...]] = {
    "alice": ("alice@acme.test", "Alice Moreno", "acme"),
    "bob": ("bob@acme.test", "Bob Okafor", "acme"),
    "eve": ("eve@globex.test", "Eve Lindqvist", "globex"),
    "admin": ("admin@heddle.test", "Ines Admin"),
}
"""Address and name of each user, and the org if they are in one."""
PASSWORD = "warp-and-weft"  # noqa: S105


@dataclass(frozen=True, slots=True)
class Cast:
    """Row ids of the orgs by slug, and the users as actors by name."""

    orgs: dict[str, int]
    actors: dict[str, Actor]


def are_here() -> bool:
    """Whether the org acme and all demo users exist."""
    return Org.objects.filter(slug="acme").exists() and _known().count() == len(PEOPLE)


def gather() -> Cast:
    """Create the orgs and users; raise `CommandError` if one of their names is taken."""
    if _known().exists() or Org.objects.filter(slug__in=ORGS).exists():
        raise CommandError("The demo was not loaded: some of its orgs or people are here, and they are not the demo's.")
    orgs = {slug: found_org(slug, name=name) for slug, name in ORGS.items()}
    # Hash once: hashing is slow on purpose, and a published password needs no separate salt.
    password = make_password(PASSWORD)
    actors = {name: actor_of_user(_person(name, orgs, password)) for name in PEOPLE}
    return Cast({slug: org.pk for slug, org in orgs.items()}, actors)


def credentials() -> dict[str, Any] | None:
    """The URL, acme's id, and all tokens and passwords; None if no demo is loaded.

    A token that works no longer is None: it is not replaced, because somebody may have revoked it for a reason.
    """
    if not are_here():
        return None
    return {
        "url": settings.HEDDLE.address,
        "org_id": Org.objects.get(slug="acme").org_id,
        "tokens": _working({name: token_of(name) for name in PEOPLE}),
        "passwords": dict.fromkeys(PEOPLE, PASSWORD),
    }


def with_known_password() -> list[str]:
    """The addresses of the demo's people who could sign in here with the password that everybody knows."""
    people = [user for user in _known().filter(is_active=True).order_by("email") if user.has_usable_password()]
    # They share one hash for as long as nobody changed it, and checking one is slow on purpose.
    known = {stored: check_password(PASSWORD, stored) for stored in {user.password for user in people}}
    return [user.email for user in people if known[user.password]]


def token_of(name: str) -> str:
    """A user's token, derived so that it can be printed again although only its hash is stored."""
    derived = hmac.digest(settings.SECRET_KEY.encode(), f"demo token {name}".encode(), hashlib.sha256)
    return TOKEN_PREFIX + base64.urlsafe_b64encode(derived).decode().rstrip("=")


def _working(tokens: dict[str, str]) -> dict[str, str | None]:
    """The tokens with which one can sign in; None for the others."""
    hashes = {name: ApiToken.hash_of(token) for name, token in tokens.items()}
    stored = ApiToken.objects.filter(hash__in=hashes.values(), user__is_active=True)
    usable = {token.hash for token in stored if token.is_usable}
    return {name: token if hashes[name] in usable else None for name, token in tokens.items()}


def _known() -> QuerySet[User]:
    return User.objects.filter(email__in=[email for email, *_ in PEOPLE.values()])


def _person(name: str, orgs: dict[str, Org], password: str) -> User:
    email, full_name, *slugs = PEOPLE[name]
    user = User.objects.create(email=email, name=full_name, password=password, is_staff=not slugs)
    for slug in slugs:
        add_member(orgs[slug], user)
    keep(user, "demo", token_of(name))
    return user
