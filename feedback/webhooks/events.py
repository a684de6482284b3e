"""The webhook events and the models of their messages."""

from collections.abc import Collection
from datetime import datetime
from typing import Final

from accounts.rights import Audience
from core.wire import Wire
from feedback.models import Check
from feedback.wire import ToldFeedbackOut, TriagedOut, UserFeedbackOut
from feedback.wire_checks import KeptCheckOut

SUBMITTED: Final = "feedback.submitted"
UPDATED: Final = "feedback.updated"
RESOLVED: Final = "feedback.resolved"
REOPENED: Final = "feedback.reopened"
REPLIED: Final = "feedback.replied"
"""An admin replied to the submitter; also sent to org admins."""
RETRACTED: Final = "feedback.retracted"
"""The submitter retracted the report, and its data is deleted. Sent at once."""
FAILING: Final = "check.failing"
PASSING: Final = "check.passing"
"""A check of the report changed its result. Sent at once, because it cannot be undone."""
TEST: Final = "webhook.test"
"""A test message, sent on request whatever events the webhook wants."""

OPENNESS: Final = (RESOLVED, REOPENED)
WITH_OPENNESS: Final = frozenset(
    {"resolved_at", "resolved_by_id", "outcome", "proof", "duplicate_of_id", "snoozed_until", "snoozed_until_again"}
)
"""Columns that resolving and reopening change, too, and then tell."""
TOLD_BY_UPDATE: Final = frozenset({"admin_label", "admin_note", "owner_id"}) | WITH_OPENNESS
"""The columns of triage of which `feedback.updated` tells."""
OUTCOMES: Final = (FAILING, PASSING)
EVENT_OF_OUTCOME: Final[dict[str, str]] = {Check.State.PASSING: PASSING, Check.State.FAILING: FAILING}
OPPOSITES: Final = {name: pair for pair in (OPENNESS, OUTCOMES) for name in pair}
"""Events that cancel each other; wanting one of them requires tracking both."""
EVENTS: Final[dict[Audience, tuple[str, ...]]] = {
    Audience.TRIAGE: (SUBMITTED, UPDATED, RESOLVED, REOPENED, REPLIED, RETRACTED, *OUTCOMES),
    Audience.ORG: (SUBMITTED, UPDATED, REPLIED, RETRACTED),
}
"""The events that each audience may receive."""


def told_by_update(after: Collection[str]) -> frozenset[str]:
    """The columns of a change of triage of which `feedback.updated` tells: of what comes with resolving or reopening,
    their own events do.
    """
    return TOLD_BY_UPDATE.intersection(after) - (WITH_OPENNESS if "resolved" in after else frozenset())


class RetractedData(Wire):
    """The report to delete, without its content."""

    feedback_id: str
    thread_id: str
    message_sequence_num: int
    org_id: str


class TestData(Wire):
    """The data of a test message."""

    webhook_id: str


class _Told(Wire):
    id: str
    type: str
    timestamp: datetime
    """When it happened; the header has the time of sending."""


class ToldOrg(_Told):
    """An event for org admins. Its model lists the fields, so triage data cannot get in by accident."""

    data: UserFeedbackOut


class ToldTriage(_Told):
    """An event for platform admins."""

    actor: str
    data: TriagedOut


class ToldCheck(_Told):
    """A check whose result changed, for platform admins; as it is when the event is sent, with its latest runs."""

    actor: str
    data: KeptCheckOut


class ToldReply(_Told):
    """A reply to the submitter, for org admins; it does not name its author."""

    data: ToldFeedbackOut


class ToldRetraction(_Told):
    """A retracted report, the same for every audience."""

    data: RetractedData


class ToldTest(_Told):
    """A test message."""

    data: TestData
