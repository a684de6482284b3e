"""The events, as data, and what a receiver reads of one."""

from datetime import datetime
from typing import Final

from accounts.rights import Audience
from core.wire import Wire
from feedback.wire import FullFeedbackOut, UserFeedbackOut

SUBMITTED: Final = "feedback.submitted"
UPDATED: Final = "feedback.updated"
RESOLVED: Final = "feedback.resolved"
REOPENED: Final = "feedback.reopened"
TEST: Final = "webhook.test"
"""Sent when somebody asks for it, whatever an endpoint wants."""

OPENNESS: Final = (RESOLVED, REOPENED)
"""Each undoes the other, so that whoever is told of one has to be asked about both."""
EVENTS: Final[dict[Audience, tuple[str, ...]]] = {
    Audience.TRIAGE: (SUBMITTED, UPDATED, RESOLVED, REOPENED),
    Audience.ORG: (SUBMITTED, UPDATED),
}
"""What each audience may ask for."""


class TestData(Wire):
    """What a test tells."""

    webhook_id: str


class _Told(Wire):
    id: str
    type: str
    timestamp: datetime
    """When it happened; when it was sent stands in the header."""


class ToldOrg(_Told):
    """An event for an org's admins. The projection names its fields, so triage cannot get in by being forgotten."""

    data: UserFeedbackOut


class ToldTriage(_Told):
    """An event for platform admins."""

    actor: str
    data: FullFeedbackOut


class ToldTest(_Told):
    """A test."""

    data: TestData
