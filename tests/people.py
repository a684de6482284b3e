"""The four people of every test: two colleagues, a stranger, and a platform admin."""

import secrets
from dataclasses import dataclass

from django.contrib.auth.hashers import make_password

from accounts.authentication import actor_of_user
from accounts.models import TOKEN_PREFIX, ApiToken, Membership, Org, User, mint
from accounts.orgs import add_member
from core.actor import Actor

PASSWORD = "a-password-for-tests"


@dataclass(frozen=True)
class Person:
    """Somebody with a token."""

    user: User
    token: str

    @property
    def actor(self) -> Actor:
        return actor_of_user(self.user)


@dataclass(frozen=True)
class People:
    """alice and bob share acme; eve is alone in globex; admin belongs to no org."""

    acme: Org
    globex: Org
    alice: Person
    bob: Person
    eve: Person
    admin: Person

    def named(self, name: str) -> Person:
        return getattr(self, name)


def gather() -> People:
    """Make everybody, in one statement for each table: nearly every test begins with this.

    They are what the verbs of accounts make of them one after the other; tests/accounts holds the one against the
    other.
    """
    acme, globex = Org.objects.bulk_create(Org(slug=slug, name=slug.capitalize()) for slug in ("acme", "globex"))
    alice, bob, eve, admin = User.objects.bulk_create(
        User(email=email, password=make_password(PASSWORD), name=_name(email), is_staff=email.startswith("admin"))
        for email in ("alice@acme.test", "bob@acme.test", "eve@globex.test", "admin@heddle.test")
    )
    Membership.objects.bulk_create(
        Membership(user=user, org=org, is_default=True) for user, org in ((alice, acme), (bob, acme), (eve, globex))
    )
    everybody = [Person(user, TOKEN_PREFIX + secrets.token_urlsafe(32)) for user in (alice, bob, eve, admin)]
    ApiToken.objects.bulk_create(
        ApiToken(user=each.user, name="tests", hint=each.token[:9], hash=ApiToken.hash_of(each.token))
        for each in everybody
    )
    return People(acme, globex, *everybody)


def second_admin() -> Person:
    """A colleague of the platform admin, for what two do at once."""
    return one("bea@heddle.test", None, is_staff=True)


def long_named() -> Person:
    """A platform admin, member of one org, with names as long as life has them."""
    org = Org.objects.create(slug="acme-research-berlin", name="Acme Research Berlin")
    maxi = one("maxi@heddle.test", org, is_staff=True)
    User.objects.filter(pk=maxi.user.pk).update(name="Maximiliana Featherstonehaugh-Cholmondeley")
    return maxi


def one(email: str, org: Org | None, **fields: bool) -> Person:
    """A person by the verbs of accounts."""
    user = User.objects.create_user(email, PASSWORD, name=_name(email), **fields)
    if org is not None:
        add_member(org, user)
    return Person(user, mint(user, "tests")[1])


def _name(email: str) -> str:
    return email.partition("@")[0].capitalize()
