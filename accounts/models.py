"""Users, orgs, memberships and API tokens."""

import hashlib
import secrets
from datetime import datetime
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.core.validators import RegexValidator
from django.db import models
from django.utils import timezone

from core import ids

TOKEN_PREFIX = "hdl_"  # noqa: S105


class UserManager(BaseUserManager["User"]):
    """Creates users; Django's own command calls `create_superuser`."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        user = self.model(email=self.normalize_email(email).lower(), **fields)
        user.set_password(password)
        user.full_clean(exclude=["password"])
        user.save()
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    def admins(self) -> "models.QuerySet[User]":
        """Platform admins who can sign in: those who may triage."""
        return self.filter(is_staff=True, is_active=True)


class User(AbstractBaseUser, PermissionsMixin):
    """A user. The API identifies users by email address, which must not contain a colon (spec 1.7)."""

    email = models.EmailField(unique=True, validators=[RegexValidator(r"^[^:]+$", "must not hold a colon")])
    name = models.CharField(max_length=120, blank=True)
    is_staff = models.BooleanField(default=False, help_text="platform admin: triages feedback, reads every thread")
    is_active = models.BooleanField(default=True)
    created = models.DateTimeField(default=timezone.now, editable=False)
    put_out_of = models.ForeignKey("Org", models.SET_NULL, null=True, editable=False, related_name="+")
    """The org that last removed the user and may add them again."""

    objects: ClassVar[UserManager] = UserManager()
    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"

    def __str__(self) -> str:
        return self.email

    @property
    def display_name(self) -> str:
        """The name, or else the part of the address before the @."""
        return display_name(self.name, self.email)


def display_name(name: str, email: str) -> str:
    """The display name, from the columns of a user."""
    return name or email.partition("@")[0]


class Org(models.Model):
    """A tenant. Non-members see nothing of it; its policies extend what its members may do."""

    key = models.CharField(max_length=26, unique=True, default=ids.new_key, editable=False)
    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    members_may_fork = models.BooleanField(default=False)
    visibility_may_change = models.BooleanField(default=False)
    created = models.DateTimeField(default=timezone.now, editable=False)

    POLICIES: ClassVar[tuple[str, ...]] = ("members_may_fork", "visibility_may_change")

    def __str__(self) -> str:
        return self.slug

    @property
    def org_id(self) -> str:
        """The public id."""
        return ids.ORG + self.key


class Membership(models.Model):
    """A user's membership in an org."""

    class Role(models.TextChoices):
        MEMBER = "member"
        ADMIN = "admin"

    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    org = models.ForeignKey(Org, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role, default=Role.MEMBER)
    is_default = models.BooleanField(default=False)
    created = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "org"], name="membership_once"),
            models.UniqueConstraint(
                fields=["user"], condition=models.Q(is_default=True), name="membership_one_default"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.org}"


class ApiToken(models.Model):
    """An API token. Only its hash is stored; the secret has 256 random bits, so a plain hash is enough."""

    class Scope(models.TextChoices):
        WRITE = "write", "read and write"
        READ = "read", "read only"

    user = models.ForeignKey(User, models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=80)
    hint = models.CharField(max_length=12, editable=False, help_text="the first characters, to recognise it by")
    hash = models.CharField(max_length=64, unique=True, editable=False)
    scope = models.CharField(max_length=10, choices=Scope, default=Scope.WRITE)
    created = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.hint}… of {self.user}"

    @staticmethod
    def hash_of(secret: str) -> str:
        """The stored hash of a token."""
        return hashlib.sha256(secret.encode()).hexdigest()

    @property
    def is_usable(self) -> bool:
        """Whether the token is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > timezone.now())


def mint(user: User, name: str, *, scope: str = "write", expires_at: datetime | None = None) -> tuple[ApiToken, str]:
    """Create a token; returns it with its secret, which cannot be retrieved later."""
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    return keep(user, name, secret, scope=scope, expires_at=expires_at), secret


def keep(user: User, name: str, secret: str, *, scope: str = "write", expires_at: datetime | None = None) -> ApiToken:
    """Store a token for a given secret, which must have at least as many random bits as a minted one."""
    return ApiToken.objects.create(
        user=user, name=name, hint=secret[:9], hash=ApiToken.hash_of(secret), scope=scope, expires_at=expires_at
    )
