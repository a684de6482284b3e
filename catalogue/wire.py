"""What the skill routes take and give (spec 2.7, 3.11)."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from core.wire import Body, Page, Spelling, Wire

Name = Annotated[
    str, StringConstraints(max_length=120), Spelling(r"[A-Za-z0-9_-]+", "must be letters, digits, - and _ only")
]
Description = Annotated[str, StringConstraints(max_length=500)]
Text = Annotated[str, StringConstraints(max_length=1_000_000)]
Access = Literal["private", "org", "org-editable"]
Tags = Annotated[list[Annotated[str, StringConstraints(min_length=1, max_length=120)]], Field(max_length=200)]


class SkillIn(Body):
    name: Name
    accessibility: Access = "private"
    description: Description
    body: Text
    tags: Tags = []
    relevant_topics: Tags = []


class SkillPatch(Body):
    name: Name | None = None
    accessibility: Access | None = None
    put_tags: Tags = []
    remove_tags: Tags = []


class VersionIn(Body):
    description: Description
    body: Text
    relevant_topics: Tags = []


class VersionPatch(Body):
    description: Description | None = None
    body: Text | None = None
    relevant_topics: Tags | None = None


class PinVersionIn(Body):
    ai_version: Annotated[int, Field(ge=1, le=2**31 - 1)] | None


class SkillOut(Wire):
    skill_id: str
    org_id: str
    accessibility: str
    name: str
    tags: list[str]
    created: datetime
    created_by: str
    modified: datetime


class VersionOut(Wire):
    skill_id: str
    version: int
    description: str
    body: str
    relevant_topics: list[str]
    created: datetime
    modified: datetime


class SubscriptionOut(Wire):
    user_id: str
    skill_id: str
    ai_version: int | None
    subscribed: datetime


class SummaryOut(Wire):
    """A skill with its highest version and the caller's subscription."""

    skill: SkillOut
    latest_version: VersionOut
    subscription: SubscriptionOut | None


class SummaryPageOut(Page[SummaryOut]):
    """A page of skills."""
