"""Create orgs, set their policies, and check who administers them."""

import re
from collections.abc import Collection, Mapping

from django.db import transaction
from django.db.models import QuerySet

from accounts.models import Membership, Org, User
from accounts.rights import may_administer, require_keeper
from core import bodies, ids
from core.actor import Actor
from core.errors import InvalidRequest, NotFound, Unauthorized

_SHORT_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")


def org_named(slug: str) -> Org:
    """The org with that slug; raises `NotFound`, or `InvalidRequest` for text that cannot be stored."""
    org = _there(slug)
    if org is None:
        raise NotFound.of("org", slug)
    return org


def the_only_or(slug: str | None) -> Org:
    """The org with that slug, or without one the only org; raises as `org_named`, and `InvalidRequest` if not one."""
    if slug is not None:
        return org_named(slug)
    orgs = list(Org.objects.all()[:2])
    if len(orgs) != 1:
        raise InvalidRequest("There is not exactly one org. Name it with --org.")
    return orgs[0]


def found_org(slug: str, *, name: str = "") -> Org:
    """The org with that slug, created if missing; raises `InvalidRequest` for an invalid slug."""
    check_short_name(slug)
    return Org.objects.get_or_create(slug=slug, defaults={"name": name or slug})[0]


def check_short_name(slug: str) -> None:
    """Raise `InvalidRequest` for a slug that no org has and a new one may not have.

    Lower case only, because the query field `org:` searches in lower case.
    """
    if not _SHORT_NAME.fullmatch(slug) and _there(slug) is None:
        raise InvalidRequest(
            f"org: {slug[:80]!r} is not a valid short name: use lower-case letters, digits and dashes, at most 60"
        )


def _there(slug: str) -> Org | None:
    bodies.check_storable({"org": slug})  # PostgreSQL rejects some texts in queries
    return Org.objects.filter(slug=slug).first()


def set_policy(slug: str, policy: str, on: bool) -> Org:
    """Switch a policy of an org on or off; raises `NotFound` and `InvalidRequest`."""
    org = org_named(slug)
    if policy not in Org.POLICIES:
        raise InvalidRequest(f"policy: must be one of {', '.join(Org.POLICIES)}")
    return _set(org, {policy: on})


def org_for(actor: Actor, org_id: str) -> Org:
    """The org with that public id, if the actor may act in it; else raises `NotFound`."""
    found = open_to(actor).filter(key=ids.key_of(org_id, ids.ORG) or "").first()
    if found is None:
        raise NotFound.of("org", org_id[:80])
    return found


def change_policies(actor: Actor, org: Org, changes: Mapping[str, bool]) -> Org:
    """Set some policies of an org; raises `Unauthorized`."""
    require_administering(actor, org)
    return _set(org, changes)


def settle_policies(actor: Actor, slug: str, on: Collection[str], *, was: Collection[str]) -> Org:
    """Switch policies on or off that differ in `on` and `was`, what was on when they were shown; what somebody else
    changed since stays. Raises `NotFound`, `Unauthorized`, `InvalidRequest`.
    """
    org = org_named(slug)
    require_administering(actor, org)
    if unknown := sorted({*on, *was} - set(Org.POLICIES)):
        raise InvalidRequest(f"policy: {unknown[0][:80]} is not one of {', '.join(Org.POLICIES)}")
    return _set(org, {policy: policy in on for policy in Org.POLICIES if (policy in on) != (policy in was)})


def _set(org: Org, policies: Mapping[str, bool]) -> Org:
    for policy, on in policies.items():
        setattr(org, policy, on)
    if policies:
        org.save(update_fields=[*policies])
    return org


def add_member(org: Org, user: User, *, role: str = "member") -> Membership:
    """Make a user a member; their first org becomes their default. Repeating changes nothing."""
    with transaction.atomic():
        take_turns_with(user.pk)
        is_first = not Membership.objects.filter(user=user).exists()
        given = {"role": role, "is_default": is_first}
        return Membership.objects.get_or_create(user=user, org=org, defaults=given)[0]


def take_turns_with(user_id: int) -> None:
    """Lock a user inside a transaction, so that what is done with their account at once comes one after the other."""
    User.objects.select_for_update(no_key=True).filter(pk=user_id).first()


def open_to(actor: Actor) -> QuerySet[Org]:
    """The orgs in which an actor may act, by slug: all of them for platform admins."""
    rows = Org.objects.order_by("slug")
    return rows if actor.is_admin else rows.filter(memberships__user=actor.user_id)


def administered_by(user_id: int) -> list[Org]:
    """The orgs in which a user has the role admin, by slug. Platform admins do not need the role."""
    rows = Org.objects.filter(memberships__user=user_id, memberships__role=Membership.Role.ADMIN)
    return list(rows.order_by("slug"))


def administers(actor: Actor, org_id: int | None) -> bool:
    """Whether the actor has the role admin in the org; False for None. One query."""
    its_admins = Membership.objects.filter(org=org_id, role=Membership.Role.ADMIN)
    return org_id is not None and its_admins.filter(user=actor.user_id).exists()


def may_change(actor: Actor, org: Org) -> bool:
    """Whether the actor may change the members and policies of an org."""
    return may_administer(actor, administers=administers(actor, org.pk))


def require_administering(actor: Actor, org: Org) -> None:
    """Raise `Unauthorized` unless the actor may change the org."""
    if not may_change(actor, org):
        raise Unauthorized(f"Only admins of {org.slug} and platform admins may do this.")


def require_keeper_of(
    actor: Actor, org_id: int | None, created_by: int | None, what: str, deed: str = "change its target"
) -> None:
    """Raise `Unauthorized` unless the actor may set the target of a server's or tool's calls, or delete stored data.

    See docs/decisions/013-tools-elsewhere.md.
    """
    require_keeper(actor, created_by, what, deed, administers=administers(actor, org_id))
