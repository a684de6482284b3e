"""The four people of every test: two colleagues, a stranger, and a platform admin."""

from dataclasses import dataclass

from accounts.authentication import actor_of_user
from accounts.models import Org, User, mint
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
    """Make everybody."""
    acme, globex = (Org.objects.create(slug=slug, name=slug.capitalize()) for slug in ("acme", "globex"))
    alice, bob = _person("alice@acme.test", acme), _person("bob@acme.test", acme)
    eve, admin = _person("eve@globex.test", globex), _person("admin@heddle.test", None, is_staff=True)
    return People(acme, globex, alice, bob, eve, admin)


def second_admin() -> Person:
    """A colleague of the platform admin, for what two do at once."""
    return _person("bea@heddle.test", None, is_staff=True)


def _person(email: str, org: Org | None, **fields: bool) -> Person:
    user = User.objects.create_user(email, PASSWORD, name=email.partition("@")[0].capitalize(), **fields)
    if org is not None:
        add_member(org, user)
    return Person(user, mint(user, "tests")[1])
