"""The single truth for "may": which relation to a thing, or to the platform, carries which right (spec 2).

A right is looked up here and nowhere else. The relations of a caller to a thread are worked out in `threads.access`.
"""

from enum import StrEnum

from core.actor import Actor
from core.errors import Unauthorized


class Relation(StrEnum):
    """How an actor stands to a thread."""

    CREATOR = "creator"
    ADMIN = "admin"
    MEMBER = "member"
    """A member of the thread's org, where the thread is visible to the org."""


class Right(StrEnum):
    """What somebody may want to do with a thread."""

    READ = "read"
    SEND = "send"
    CANCEL = "cancel"
    FORK = "fork"
    RATE = "rate"
    PIN = "pin"
    RESCOPE = "rescope"
    DESCRIBE = "describe"
    RAW = "raw"
    FIGURES = "figures"
    """What its turns used: models, tokens, time and cost."""


_ANY = frozenset(Relation)
_CREATOR = frozenset({Relation.CREATOR})
RIGHTS: dict[Right, frozenset[Relation]] = {
    Right.READ: _ANY,
    Right.RATE: _ANY,
    Right.PIN: _ANY,
    Right.SEND: _CREATOR,
    Right.CANCEL: _CREATOR,
    Right.DESCRIBE: _CREATOR,
    Right.RESCOPE: _CREATOR,
    Right.FORK: frozenset({Relation.CREATOR, Relation.ADMIN}),
    Right.RAW: frozenset({Relation.CREATOR, Relation.ADMIN}),
    Right.FIGURES: frozenset({Relation.CREATOR, Relation.ADMIN}),
}

WIDENED_BY_POLICY: dict[Right, tuple[str, Relation]] = {Right.FORK: ("members_may_fork", Relation.MEMBER)}
"""A right that an org's policy gives to one more relation."""

NEEDS_POLICY: dict[Right, str] = {Right.RESCOPE: "visibility_may_change"}
"""A right that nobody has unless the org's policy is on."""


def require_admin(actor: Actor) -> None:
    """Triage and everything that shows other orgs: platform admins only (B133)."""
    if not actor.is_admin:
        raise Unauthorized("Only platform admins may do this.")


def require_member(actor: Actor, org_id: int) -> None:
    """Who else is in an org: its members, and platform admins."""
    if not (actor.is_admin or actor.belongs_to(org_id)):
        raise Unauthorized("You are no member of that org.")


def may_administer(actor: Actor, *, administers: bool) -> bool:
    """Whether who administers an org, or not, may change its members, their roles and its policies."""
    return actor.is_admin or administers


class Audience(StrEnum):
    """Who is told of a report by a webhook, and so of which of its events and in which of its projections."""

    TRIAGE = "triage"
    """Platform admins: the full record, and everything that happens to it."""
    ORG = "org"
    """An org's admins: what submitters said on threads that they may read, and nothing of triage (B111, B133)."""


def audience_of(actor: Actor, *, administers: bool) -> Audience | None:
    """What an actor may be told of the reports of an org, which they `administer` or not; None is nothing at all."""
    if actor.is_admin:
        return Audience.TRIAGE
    return Audience.ORG if administers else None


def require_maker(actor: Actor, created_by: int | None, what: str) -> None:
    """Deleting what a whole org uses: who made it, and platform admins (C51)."""
    if not actor.is_admin and created_by != actor.user_id:
        raise Unauthorized(f"Only who made this {what} and platform admins may delete it.")


def may_keep(actor: Actor, created_by: int | None, *, administers: bool) -> bool:
    """Whether somebody may say where a call goes and what it carries there: its maker, the org's admins, and ours."""
    return actor.is_admin or administers or created_by == actor.user_id


def require_keeper(actor: Actor, created_by: int | None, what: str, *, administers: bool) -> None:
    """Raise `Unauthorized` for who may not change where a call goes and what it carries there."""
    if not may_keep(actor, created_by, administers=administers):
        raise Unauthorized(
            f"Only who made this {what}, admins of its org and platform admins may change where it leads."
        )
