"""Founding orgs and settling their policies."""

from accounts.models import Membership, Org, User
from core.errors import InvalidRequest, NotFound


def org_named(slug: str) -> Org:
    """The org with that short name; raises `NotFound`."""
    org = Org.objects.filter(slug=slug).first()
    if org is None:
        raise NotFound(f"There is no org {slug}.")
    return org


def set_policy(slug: str, policy: str, on: bool) -> Org:
    """Switch one policy of an org; raises `NotFound` and `InvalidRequest`."""
    org = org_named(slug)
    if policy not in Org.POLICIES:
        raise InvalidRequest(f"policy: must be one of {', '.join(Org.POLICIES)}")
    setattr(org, policy, on)
    org.save(update_fields=[policy])
    return org


def add_member(org: Org, user: User, *, role: str = "member") -> Membership:
    """Make a person a member; their first org becomes their default. Repeating changes nothing."""
    is_first = not Membership.objects.filter(user=user).exists()
    member, _ = Membership.objects.get_or_create(user=user, org=org, defaults={"role": role, "is_default": is_first})
    return member


def set_role(slug: str, email: str, role: str) -> Membership:
    """Give a member of an org a role in it; raises `NotFound`. What an org's admin may do more stands in `rights`."""
    org = org_named(slug)
    member = Membership.objects.filter(org=org, user__email=email.strip().lower()).select_related("user", "org").first()
    if member is None:
        raise NotFound(f"{email} is no member of {slug}.")
    member.role = role
    member.save(update_fields=["role"])
    return member


def administered_by(user_id: int) -> list[Org]:
    """The orgs whose admin somebody is, by short name. This is a role in an org; a platform admin needs none."""
    rows = Org.objects.filter(memberships__user=user_id, memberships__role=Membership.Role.ADMIN)
    return list(rows.order_by("slug"))
