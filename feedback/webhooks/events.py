"""The events, as data, and what a receiver reads of one."""

from datetime import datetime
from typing import Final

from accounts.rights import Audience
from core.wire import Wire
from feedback.checks.wire import KeptCheckOut
from feedback.models import Check
from feedback.wire import FullFeedbackOut, ToldFeedbackOut, UserFeedbackOut

SUBMITTED: Final = "feedback.submitted"
UPDATED: Final = "feedback.updated"
RESOLVED: Final = "feedback.resolved"
REOPENED: Final = "feedback.reopened"
REPLIED: Final = "feedback.replied"
"""What an admin told the submitter: made by triage, and meant for others."""
RETRACTED: Final = "feedback.retracted"
"""The submitter took the report back: it is gone, and so is what was said. Told at once."""
FAILING: Final = "check.failing"
PASSING: Final = "check.passing"
"""A check of the report turned. Told at once: nobody undoes what a run showed."""
TEST: Final = "webhook.test"
"""Sent when somebody asks for it, whatever an endpoint wants."""

OPENNESS: Final = (RESOLVED, REOPENED)
OUTCOMES: Final = (FAILING, PASSING)
EVENT_OF_OUTCOME: Final[dict[str, str]] = {Check.State.PASSING: PASSING, Check.State.FAILING: FAILING}
OPPOSITES: Final = {name: pair for pair in (OPENNESS, OUTCOMES) for name in pair}
"""Each undoes the other, so that whoever is told of one has to be asked about both."""
EVENTS: Final[dict[Audience, tuple[str, ...]]] = {
    Audience.TRIAGE: (SUBMITTED, UPDATED, RESOLVED, REOPENED, REPLIED, RETRACTED, *OUTCOMES),
    Audience.ORG: (SUBMITTED, UPDATED, REPLIED, RETRACTED),
}
"""What each audience may ask for."""


class RetractedData(Wire):
    """Which report is to be forgotten, and nothing of it."""

    feedback_id: str
    thread_id: str
    message_sequence_num: int
    org_id: str


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


class ToldCheck(_Told):
    """A check that turned, for platform admins: as it is when it is told, with its latest runs."""

    actor: str
    data: KeptCheckOut


class ToldReply(_Told):
    """What the submitter was told, the same for every audience: it does not say who wrote it."""

    data: ToldFeedbackOut


class ToldRetraction(_Told):
    """A report that is gone, the same for every audience."""

    data: RetractedData


class ToldTest(_Told):
    """A test."""

    data: TestData
