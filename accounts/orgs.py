"""Founding orgs and settling their policies."""

import re
from collections.abc import Collection

from django.db import transaction
from django.db.models import Exists, OuterRef

from accounts.models import Membership, Org, User
from accounts.rights import may_administer
from core import bodies
from core.actor import Actor
from core.errors import InvalidRequest, NotFound, Unauthorized

_SHORT_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")


def org_named(slug: str) -> Org:
    """The org with that short name; raises `NotFound`, and `InvalidRequest` for what can be no name."""
    org = _there(slug)
    if org is None:
        raise NotFound.of("org", slug)
    return org


def found_org(slug: str, *, name: str = "") -> Org:
    """The org with that short name, made where there is none; raises `InvalidRequest` for one that none may have."""
    check_short_name(slug)
    return Org.objects.get_or_create(slug=slug, defaults={"name": name or slug})[0]


def check_short_name(slug: str) -> None:
    """Raise `InvalidRequest` for the short name of no org that is none a new one may have.

    Small letters: the desk's `org:` looks for them whatever was typed.
    """
    if not _SHORT_NAME.fullmatch(slug) and _there(slug) is None:
        raise InvalidRequest(
            f"org: {slug[:80]!r} is no short name: small letters, digits and dashes, 60 at most, no dash first"
        )


def _there(slug: str) -> Org | None:
    bodies.check_storable({"org": slug})  # PostgreSQL cannot even be asked for some texts
    return Org.objects.filter(slug=slug).first()


def set_policy(slug: str, policy: str, on: bool) -> Org:
    """Switch one policy of an org; raises `NotFound` and `InvalidRequest`."""
    org = org_named(slug)
    if policy not in Org.POLICIES:
        raise InvalidRequest(f"policy: must be one of {', '.join(Org.POLICIES)}")
    setattr(org, policy, on)
    org.save(update_fields=[policy])
    return org


def settle_policies(actor: Actor, slug: str, on: Collection[str]) -> Org:
    """Switch those policies of an org on and its others off; raises `NotFound`, `Unauthorized`, `InvalidRequest`."""
    org = org_named(slug)
    require_administering(actor, org)
    if unknown := sorted(set(on) - set(Org.POLICIES)):
        raise InvalidRequest(f"policy: {unknown[0][:80]} is none of {', '.join(Org.POLICIES)}")
    for policy in Org.POLICIES:
        setattr(org, policy, policy in on)
    org.save(update_fields=Org.POLICIES)
    return org


def add_member(org: Org, user: User, *, role: str = "member") -> Membership:
    """Make a person a member; their first org becomes their default. Repeating changes nothing."""
    with transaction.atomic():
        take_turns_with(user.pk)
        is_first = not Membership.objects.filter(user=user).exists()
        given = {"role": role, "is_default": is_first}
        return Membership.objects.get_or_create(user=user, org=org, defaults=given)[0]


def take_turns_with(user_id: int) -> None:
    """One change of somebody's orgs at a time, inside a transaction: one of them is their default, and only one."""
    User.objects.select_for_update(no_key=True).filter(pk=user_id).first()


def administered_by(user_id: int) -> list[Org]:
    """The orgs whose admin somebody is, by short name. This is a role in an org; a platform admin needs none."""
    rows = Org.objects.filter(memberships__user=user_id, memberships__role=Membership.Role.ADMIN)
    return list(rows.order_by("slug"))


def left_without_admin(user_id: int) -> list[Org]:
    """Of the orgs that somebody administers those that have nobody else who could, by short name."""
    others = Membership.objects.filter(org=OuterRef("pk"), role=Membership.Role.ADMIN, user__is_active=True)
    rows = Org.objects.filter(memberships__user=user_id, memberships__role=Membership.Role.ADMIN)
    return list(rows.exclude(Exists(others.exclude(user=user_id))).order_by("slug"))


def administers(actor: Actor, org_id: int | None) -> bool:
    """Whether somebody is an admin of that org, by role; None is no org, and has none. One query."""
    its_admins = Membership.objects.filter(org=org_id, role=Membership.Role.ADMIN)
    return org_id is not None and its_admins.filter(user=actor.user_id).exists()


def may_change(actor: Actor, org: Org) -> bool:
    """Whether somebody may change an org: who is in it, and its policies."""
    return may_administer(actor, administers=administers(actor, org.pk))


def require_administering(actor: Actor, org: Org) -> None:
    """Raise `Unauthorized` for who may not change an org."""
    if not may_change(actor, org):
        raise Unauthorized(f"Only admins of {org.slug} and platform admins may do this.")
