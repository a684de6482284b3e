"""The events, as data, and what a receiver reads of one."""

from datetime import datetime
from typing import Final

from accounts.rights import Audience
from core.wire import Wire
from feedback.wire import FullFeedbackOut, ToldFeedbackOut, UserFeedbackOut

SUBMITTED: Final = "feedback.submitted"
UPDATED: Final = "feedback.updated"
RESOLVED: Final = "feedback.resolved"
REOPENED: Final = "feedback.reopened"
REPLIED: Final = "feedback.replied"
"""What an admin told the submitter: made by triage, and meant for others."""
TEST: Final = "webhook.test"
"""Sent when somebody asks for it, whatever an endpoint wants."""

OPENNESS: Final = (RESOLVED, REOPENED)
"""Each undoes the other, so that whoever is told of one has to be asked about both."""
EVENTS: Final[dict[Audience, tuple[str, ...]]] = {
    Audience.TRIAGE: (SUBMITTED, UPDATED, RESOLVED, REOPENED, REPLIED),
    Audience.ORG: (SUBMITTED, UPDATED, REPLIED),
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


class ToldReply(_Told):
    """What the submitter was told, the same for every audience: it does not say who wrote it."""

    data: ToldFeedbackOut


class ToldTest(_Told):
    """A test."""

    data: TestData
