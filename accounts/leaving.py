"""Revoke tokens, remove platform-admin rights, disable accounts. What the user wrote is kept."""

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import transaction
from django.utils import timezone

from accounts.models import ApiToken, User
from accounts.orgs import take_turns_with


def revoke_tokens(user: User) -> int:
    """Revoke all tokens of a user, effective with the next request; returns their number."""
    return ApiToken.objects.filter(user=user, revoked_at=None).update(revoked_at=timezone.now())


def dismiss(user: User) -> None:
    """Remove platform-admin rights. Roles in orgs are kept."""
    User.objects.filter(pk=user.pk).update(is_staff=False, is_superuser=False)


def switch_off(user: User) -> int:
    """Disable an account: ends sign-in, sessions, tokens and its webhooks; returns the number of tokens revoked.

    Safe to repeat.
    """
    return _settle(user, is_active=False)


def switch_on(user: User) -> None:
    """Enable an account again, with its old password. Ended sessions and revoked tokens stay so.

    Does nothing if the account is enabled.
    """
    if not User.objects.filter(pk=user.pk, is_active=True).exists():
        _settle(user, is_active=True)


def _settle(user: User, *, is_active: bool) -> int:
    """Revoke tokens and end sessions in both directions: a concurrent request may have created one while disabling."""
    with transaction.atomic():
        take_turns_with(user.pk)
        count = revoke_tokens(user)
        if not is_active:
            User.objects.filter(pk=user.pk).update(is_active=False)
    # The user is inside the encoded session, so every session has to be decoded: seconds for a hundred thousand.
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        if session.get_decoded().get(SESSION_KEY) == str(user.pk):
            session.delete()
    if is_active:
        User.objects.filter(pk=user.pk).update(is_active=True)
    return count
