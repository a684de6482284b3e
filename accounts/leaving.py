"""Taking away what somebody has: tokens, the rights of a platform admin, the whole account. Nothing they wrote goes."""

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import transaction
from django.utils import timezone

from accounts.models import ApiToken, User
from accounts.orgs import take_turns_with


def revoke_tokens(user: User) -> int:
    """Revoke all tokens of somebody, with effect from their next request; how many there were."""
    return ApiToken.objects.filter(user=user, revoked_at=None).update(revoked_at=timezone.now())


def dismiss(user: User) -> None:
    """Make a platform admin a plain person. What they are in their orgs stays."""
    User.objects.filter(pk=user.pk).update(is_staff=False, is_superuser=False)


def switch_off(user: User) -> int:
    """Close an account: no sign-in, no session, no token, and nothing more by its webhooks; how many tokens there were.

    Repeating is how to be sure.
    """
    return _settle(user, is_active=False)


def switch_on(user: User) -> None:
    """Let somebody sign in again, with their password. Sessions and tokens of before stay ended.

    One that is on already loses nothing.
    """
    if not User.objects.filter(pk=user.pk, is_active=True).exists():
        _settle(user, is_active=True)


def _settle(user: User, *, is_active: bool) -> int:
    """Both ways end what there is: a request that was under way may have made a token or a session behind the first."""
    with transaction.atomic():
        take_turns_with(user.pk)
        count = revoke_tokens(user)
        if not is_active:
            User.objects.filter(pk=user.pk).update(is_active=False)
    # A session holds its person inside, signed and packed, so each has to be opened: seconds for a hundred thousand.
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        if session.get_decoded().get(SESSION_KEY) == str(user.pk):
            session.delete()
    if is_active:
        User.objects.filter(pk=user.pk).update(is_active=True)
    return count
