"""The link by which somebody new chooses a password. There is no mail: an admin of their org hands it over."""

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from accounts.models import Membership, User


class _Tokens(PasswordResetTokenGenerator):
    """Django's tokens, good once and for three days; they end as well when the account comes to reach further.

    Who made the link knows it. It may open no org, and no right of the platform, that was not theirs to give.
    """

    key_salt = "accounts.invitations"

    def _make_hash_value(self, user: AbstractBaseUser, timestamp: int) -> str:
        assert isinstance(user, User)
        orgs = Membership.objects.filter(user=user).order_by("org_id").values_list("org_id", flat=True)
        return f"{super()._make_hash_value(user, timestamp)}{list(orgs)}{user.is_staff}{user.is_active}"


tokens = _Tokens()


def path_for(user: User) -> str:
    """A path that lets its holder choose this person's password, once."""
    return reverse("accounts:welcome", args=[urlsafe_base64_encode(force_bytes(user.pk)), tokens.make_token(user)])
