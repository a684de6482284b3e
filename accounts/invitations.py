"""Links with which new users choose a password. Heddle sends no mail: an org admin passes the link on."""

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from accounts.models import Membership, User


class _Tokens(PasswordResetTokenGenerator):
    """Django's tokens, valid once and for three days; they also expire when the account gains access.

    The creator knows the link, so it must not give access to orgs or platform rights that they could not grant.
    """

    key_salt = "accounts.invitations"

    def _make_hash_value(self, user: AbstractBaseUser, timestamp: int) -> str:
        assert isinstance(user, User)
        orgs = Membership.objects.filter(user=user).order_by("org_id").values_list("org_id", flat=True)
        return f"{super()._make_hash_value(user, timestamp)}{list(orgs)}{user.is_staff}{user.is_active}"


tokens = _Tokens()


def path_for(user: User) -> str:
    """A path that lets anyone who has it choose this user's password, once."""
    return reverse("accounts:welcome", args=[urlsafe_base64_encode(force_bytes(user.pk)), tokens.make_token(user)])
