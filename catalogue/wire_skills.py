"""Wire models of the skill routes (spec 2.7, 3.11)."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from core.storable import MAX_INTEGER
from core.wire import UNCHANGED, Body, Change, Page, Spelling, Wire

Name = Annotated[
    str, StringConstraints(max_length=120), Spelling(r"[A-Za-z0-9_-]+", "must be letters, digits, - and _ only")
]
Description = Annotated[str, StringConstraints(max_length=500)]
Text = Annotated[str, StringConstraints(max_length=1_000_000)]
Access = Literal["private", "org", "org-editable"]
Tags = Annotated[list[Annotated[str, StringConstraints(min_length=1, max_length=120)]], Field(max_length=200)]


class SkillIn(Body):
    """A new skill, with its version 1."""

    name: Name
    """How agents refer to the skill; unique per org, and per user if private."""
    accessibility: Access = "private"
    """`private`: only the author. `org`: its members can use it. `org-editable`: subscribers can also edit it."""
    description: Description
    """Agents decide by this text whether to load the skill."""
    body: Text
    """The text of the skill, in Markdown."""
    tags: Tags = []
    relevant_topics: Tags = []
    """Topics for which the skill is useful."""


class SkillPatch(Change, Body):
    """Changes of a skill; absent fields stay unchanged."""

    name: Name = UNCHANGED
    accessibility: Access = UNCHANGED
    """Only the author can change it. `private` ends all other subscriptions."""
    put_tags: Tags = []
    """Tags to add."""
    remove_tags: Tags = []
    """Tags to remove."""


class VersionIn(Body):
    """A new version of a skill."""

    description: Description
    """Agents decide by this text whether to load the skill."""
    body: Text
    """The text of the skill, in Markdown."""
    relevant_topics: Tags = []


class VersionPatch(Change, Body):
    """An edit of a version in place; absent fields stay unchanged."""

    description: Description = UNCHANGED
    """Agents decide by this text whether to load the skill."""
    body: Text = UNCHANGED
    """The text of the skill, in Markdown."""
    relevant_topics: Tags = UNCHANGED


class PinVersionIn(Body):
    """The choice of a version for agents."""

    ai_version: Annotated[int, Field(ge=1, le=MAX_INTEGER)] | None
    """The version that agents may load on demand in your threads; null for none."""


class SkillOut(Wire):
    """A skill without its versions."""

    skill_id: str
    org_id: str
    accessibility: str
    name: str
    tags: list[str]
    created: datetime
    created_by: str
    """Email of the author."""
    modified: datetime
    """Time of the last change of name, visibility or tags."""


class VersionOut(Wire):
    """A version of a skill."""

    skill_id: str
    version: int
    description: str
    body: str
    relevant_topics: list[str]
    created: datetime
    modified: datetime
    """Time of the last edit of this version."""


class SubscriptionOut(Wire):
    """The caller's subscription to a skill."""

    user_id: str
    """Email of the subscriber."""
    skill_id: str
    ai_version: int | None
    """The version that agents may load on demand; null for none."""
    subscribed: datetime


class SummaryOut(Wire):
    """A skill with its latest version and the caller's subscription."""

    skill: SkillOut
    latest_version: VersionOut
    subscription: SubscriptionOut | None
    """Null if the caller is not subscribed."""


class SummaryPageOut(Page[SummaryOut]):
    """A page of skills."""
