"""All access rules: which relation to a thread, org or platform grants which right (spec 2).

Rights are defined only here. `threads.access` determines the relations of a caller to a thread.
"""

from enum import StrEnum

from core.actor import Actor
from core.errors import Unauthorized


class Relation(StrEnum):
    """The relation of an actor to a thread."""

    CREATOR = "creator"
    ADMIN = "admin"
    MEMBER = "member"
    """A member of the thread's org, if the thread is visible to the org."""


class Right(StrEnum):
    """An action on a thread."""

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
    """See what its turns used: models, tokens, time and cost."""


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
"""Rights that an org's policy grants to one more relation."""

NEEDS_POLICY: dict[Right, str] = {Right.RESCOPE: "visibility_may_change"}
"""Rights that nobody has unless the org's policy is on."""


def require_admin(actor: Actor, deed: str = "do this") -> None:
    """Raise `Unauthorized` unless the actor is a platform admin: for triage and data of other orgs (B133). `deed` says
    what nobody else can do.
    """
    if not actor.is_admin:
        raise Unauthorized(f"Only platform admins can {deed}.")


def may_act_in(actor: Actor, org_id: int) -> bool:
    """Whether the actor may act in an org: its members and platform admins."""
    return actor.is_admin or actor.belongs_to(org_id)


def require_member(actor: Actor, org_id: int) -> None:
    """Raise `Unauthorized` unless the actor may act in the org."""
    if not may_act_in(actor, org_id):
        raise Unauthorized("You are not a member of that org.")


def may_administer(actor: Actor, *, administers: bool) -> bool:
    """Whether the actor may change an org's members, roles and policies; `administers`: has the role admin in it."""
    return actor.is_admin or administers


class Audience(StrEnum):
    """The audience of a webhook. It determines the events and the form of the records."""

    TRIAGE = "triage"
    """Platform admins: the full record and all events."""
    ORG = "org"
    """Org admins: ratings on threads that they may read, without any triage data (B111, B133)."""


def audience_of(actor: Actor, *, administers: bool) -> Audience | None:
    """The audience of an actor for the reports of an org; None if they may see nothing."""
    if actor.is_admin:
        return Audience.TRIAGE
    return Audience.ORG if administers else None


def may_keep_webhook(actor: Actor, owner: int) -> bool:
    """Whether the actor may see, change and delete a webhook: its owner and platform admins."""
    return actor.is_admin or owner == actor.user_id


def may_change_view(actor: Actor, created_by: int, *, is_orphaned: bool) -> bool:
    """Whether the actor may change or delete a saved view of the desk: their own, and a shared one whose creator is no
    admin any more.
    """
    return created_by == actor.user_id or is_orphaned


def require_maker(actor: Actor, created_by: int | None) -> None:
    """Raise `Unauthorized` unless the actor created the tool or is a platform admin (C51)."""
    if not actor.is_admin and created_by != actor.user_id:
        raise Unauthorized("Only the creator of this tool and platform admins can delete it.")


def require_author(actor: Actor, created_by: int | None, what: str) -> None:
    """Raise `Unauthorized` unless the actor wrote it; `what` is what nobody else may do with it (K7, K8)."""
    if created_by != actor.user_id:
        raise Unauthorized(f"Only the author can {what}.")


def may_keep(actor: Actor, created_by: int | None, *, administers: bool) -> bool:
    """Whether the actor may set the target and headers of calls, or delete stored data: its creator, org admins and
    platform admins.
    """
    return actor.is_admin or administers or created_by == actor.user_id


def require_keeper(actor: Actor, created_by: int | None, what: str, deed: str, *, administers: bool) -> None:
    """Raise `Unauthorized` unless the actor may keep it; `what` and `deed` name it and what was asked for."""
    if not may_keep(actor, created_by, administers=administers):
        raise Unauthorized(f"Only the creator of this {what}, admins of its org and platform admins can {deed}.")
