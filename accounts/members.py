"""Org membership: list, add, change roles, remove. An org with admins always keeps one who can sign in."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import BooleanField, Case, Exists, F, OuterRef, Q, QuerySet, Value, When

from accounts.models import ApiToken, Membership, Org, User, display_name
from accounts.naming import check_one_line
from accounts.orgs import add_member, org_named, require_administering, take_turns_with
from accounts.rights import may_act_in, require_member
from core import bodies, paging
from core.actor import Actor
from core.errors import InvalidRequest, NotFound
from core.prepared import Prepared
from core.wording import isolated

_NAMED = 3
"""How many admins a sentence names."""
_PLACES = paging.Places("members", (str,))


def of(actor: Actor, org: Org) -> QuerySet[Membership]:
    """The members of an org by email, each with `is_invited`; raises `Unauthorized` for non-members."""
    require_member(actor, org.pk)
    return _rows().filter(org=org).order_by("user__email")


def page(actor: Actor, org: Org, *, limit: int, page_token: str | None) -> tuple[list[Membership], str | None]:
    """A page of `of`, and the token of the next page."""
    rows = of(actor, org).annotate(email=F("user__email"))
    return _PLACES.page(rows, limit=limit, page_token=page_token, by="email", ascending=True)


def admins_of(org_id: int) -> str:
    """The names of an org's admins who can sign in: up to three, and how many there are besides; "" if it has none.

    One query. Platform admins, who may do the same, are not among them.
    """
    names = [isolated(display_name(name, email)) for name, email in _ADMINS.rows(org_id)]
    if not names:
        return ""
    *shown, last = names if len(names) <= _NAMED else [*names[:_NAMED], _others(len(names) - _NAMED)]
    return f"{', '.join(shown)} and {last}" if shown else last


def member_for(actor: Actor, org: Org, email: str) -> Membership:
    """The member of an org with that email address, for its members; raises `NotFound`."""
    found = of(actor, org).filter(user__email=email.strip().lower()).first()
    if found is None:
        raise NotFound("There is no such member.")
    return found


def add(actor: Actor, slug: str, email: str, *, name: str = "", role: str = Membership.Role.MEMBER) -> Membership:
    """Add a user to an org by email; a new account is created without a password.

    An existing account keeps its name, password and tokens. Only a platform admin can add one that is in use elsewhere.
    Raises `NotFound`, `Unauthorized` and `InvalidRequest`.
    """
    with _changing(actor, org_named(slug).pk) as org:
        _check_role(role)
        user = _person(email.strip().lower(), name.strip())
        take_turns_with(user.pk)
        if Membership.objects.filter(org=org, user=user).exists():
            raise InvalidRequest("email: is already a member")
        if not (actor.is_admin or _is_theirs_to_add(org, user)):
            raise InvalidRequest("email: has an account elsewhere. Only a platform admin can add it to another org")
        if not user.is_active:
            raise InvalidRequest("email: belongs to a disabled account")
        return _member(add_member(org, user, role=role).pk)


def change_role(actor: Actor, member_id: int, role: str) -> Membership:
    """Change the role of a member. Repeating changes nothing."""
    with _changing(actor, _org_of(actor, member_id)):
        return _given(_member(member_id), role)


def set_role(slug: str, email: str, role: str) -> Membership:
    """Change a role from the command line, by org slug and email; raises `NotFound` and `InvalidRequest`."""
    bodies.check_storable({"email": email})
    with _one_at_a_time(org_named(slug).pk) as org:
        member = _rows().filter(org=org, user__email=email.strip().lower()).first()
        if member is None:
            raise NotFound(f"{email} is not a member of {slug}.")
        return _given(member, role)


def remove(actor: Actor, member_id: int) -> Membership:
    """Remove a member from an org. What they wrote stays; they and their tokens lose access."""
    with _changing(actor, _org_of(actor, member_id)):
        take_turns_with(_member(member_id).user_id)
        member = _member(member_id)
        _keep_an_admin(member)
        Membership.objects.filter(pk=member_id).delete()
        User.objects.filter(pk=member.user_id).update(put_out_of=member.org_id)
        if member.is_default:
            # Otherwise requests without an org header would fail although there is an org to choose.
            oldest = Membership.objects.filter(user=member.user_id).order_by("pk").values_list("pk", flat=True).first()
            Membership.objects.filter(pk__in=[oldest] if oldest else []).update(is_default=True)
        return member


def invited(actor: Actor, member_id: int) -> User:
    """The user of a pending invitation, for whom a new link can be made.

    Raises `InvalidRequest` for others: the link would give away an account that is in use.
    """
    with _changing(actor, _org_of(actor, member_id)):
        member = _member(member_id)
        if not getattr(member, "is_invited", False):
            raise InvalidRequest("Only new users who never signed in and are in no other org can get a link.")
        return member.user


def left_without_admin(user_id: int) -> list[Org]:
    """The orgs in which a user has the role admin and no admin can sign in, by slug."""
    rows = Org.objects.filter(memberships__user=user_id, memberships__role=Membership.Role.ADMIN)
    return list(rows.exclude(Exists(_admins().filter(org=OuterRef("pk")))).order_by("slug"))


def _admins() -> QuerySet[Membership]:
    """The admins of orgs who can sign in, which somebody who is only invited cannot yet."""
    return Membership.objects.filter(~_invited(), role=Membership.Role.ADMIN, user__is_active=True)


def _rows() -> QuerySet[Membership]:
    """Memberships with `is_invited`."""
    told = Case(When(_invited(), then=Value(True)), default=Value(False), output_field=BooleanField())
    return Membership.objects.select_related("user", "org").annotate(is_invited=told)


def _invited() -> Q:
    """Memberships of somebody who is only invited: never signed in, and has no password, token or other org."""
    of_theirs = {"user": OuterRef("user")}
    return Q(
        ~Exists(ApiToken.objects.filter(**of_theirs)),
        ~Exists(Membership.objects.filter(**of_theirs).exclude(org=OuterRef("org"))),
        user__password__startswith=UNUSABLE_PASSWORD_PREFIX,
        user__last_login=None,
        user__is_staff=False,
        user__is_active=True,
    )


def _others(number: int) -> str:
    return "1 other" if number == 1 else f"{number} others"


_ADMINS = Prepared(
    lambda org: _admins().filter(org=org).order_by("pk").values_list("user__name", "user__email"),
    int,
)
"""The admins of an org, oldest first. Prepared, because every reader of a thread's head may ask at the same moment."""


@contextmanager
def _one_at_a_time(org_id: int) -> Iterator[Org]:
    """Lock the org: otherwise two admins could remove each other at the same time."""
    with transaction.atomic():
        yield Org.objects.select_for_update(no_key=True).get(pk=org_id)


@contextmanager
def _changing(actor: Actor, org_id: int) -> Iterator[Org]:
    with _one_at_a_time(org_id) as org:
        require_administering(actor, org)
        yield org


def _given(member: Membership, role: str) -> Membership:
    _check_role(role)
    if role != Membership.Role.ADMIN:
        _keep_an_admin(member)
    member.role = role
    member.save(update_fields=["role"])
    return member


def _person(email: str, name: str) -> User:
    found = User.objects.filter(email=email).first()
    if found is not None:
        return found
    check_one_line("name", name)
    try:
        with transaction.atomic():
            return User.objects.create_user(email, None, name=name)
    except ValidationError as problem:
        reasons = problem.message_dict.items()
        details = [{"field": field, "reason": said[0]} for field, said in reasons]
        raise InvalidRequest(f"{details[0]['field']}: {details[0]['reason']}", details=details) from None
    except IntegrityError:  # created concurrently by an admin of another org
        return User.objects.get(email=email)


def _is_theirs_to_add(org: Org, user: User) -> bool:
    """Whether an org admin may add an account: it is in no org, and either never used or last removed from this org.

    Email addresses are never verified: another org's admin may know the password of any account they created.
    """
    has_not_begun = Q(password__startswith=UNUSABLE_PASSWORD_PREFIX, last_login=None, tokens=None, is_staff=False)
    return User.objects.filter(has_not_begun | Q(put_out_of=org), pk=user.pk, memberships=None).exists()


def _org_of(actor: Actor, member_id: int) -> int:
    """The org of a membership; `NotFound` for actors outside of that org."""
    org_id = Membership.objects.filter(pk=member_id).values_list("org_id", flat=True).first()
    if org_id is None or not may_act_in(actor, org_id):
        raise NotFound("There is no such member.")
    return org_id


def _member(member_id: int) -> Membership:
    member = _rows().filter(pk=member_id).first()
    if member is None:  # removed concurrently
        raise NotFound("There is no such member.")
    return member


def _check_role(role: str) -> None:
    if role not in Membership.Role.values:
        raise InvalidRequest(f"role: must be one of {', '.join(Membership.Role.values)}")


def _keep_an_admin(member: Membership) -> None:
    """Refuse to take away the only admin who can sign in."""
    if list(_admins().filter(org=member.org_id).values_list("pk", flat=True)[:2]) == [member.pk]:
        raise InvalidRequest("This is the only admin of the org. Make another member an admin first.")
