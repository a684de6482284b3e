"""Request and response models of the routes for orgs, members and tokens."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from core.wire import UNCHANGED, Exact, Page, Patch, Wire

Role = Literal["member", "admin"]
Email = Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=254)]


class OrgOut(Wire):
    """An org that the caller may act in."""

    org_id: str
    slug: str
    """Short name, unique."""
    name: str
    members_may_fork: bool
    """Policy: members may fork any thread shared with the org."""
    visibility_may_change: bool
    """Policy: owners may share a thread with the org, or make it private."""


class OrgPageOut(Page[OrgOut]):
    """A page of orgs."""


class OrgPatch(Patch):
    """A change of policies; an absent key leaves the value."""

    members_may_fork: bool = UNCHANGED
    visibility_may_change: bool = UNCHANGED


class MemberIn(Exact):
    """A new member. An email address without an account creates one, without a password."""

    email: Email
    name: Annotated[str, Field(max_length=150)] = ""
    """Name of a new account; an existing one keeps its own."""
    role: Role = "member"


class MemberPatch(Patch):
    """A change of a member."""

    role: Role = UNCHANGED


class MemberOut(Wire):
    """A member of an org."""

    email: str
    name: str
    role: Role
    is_invited: bool
    """Whether the account was never used, so that an invitation link can be made."""
    created: datetime


class MemberPageOut(Page[MemberOut]):
    """A page of members."""


class InvitedOut(MemberOut):
    """A member with the path of the page on which a new user chooses a password, only in this response."""

    invitation_path: str | None
    """To be opened at Heddle's address, once, within three days. Null for an account that is in use."""


class TokenOut(Wire):
    """An API token, without its secret."""

    token_id: int
    name: str
    hint: str
    """The first characters of the secret."""
    scope: Literal["write", "read"]
    created: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    """To the minute."""


class TokenPageOut(Page[TokenOut]):
    """A page of tokens."""
