"""What tests of webhooks share: endpoints made through the API, and doing what a worker would."""

from typing import Any

from accounts.models import Membership
from core import bodies
from feedback import triage
from feedback.models.webhook import WebhookEndpoint
from feedback.webhooks import sending, settling
from feedback.wire import TriageIn
from tests.conftest import Api, data_of
from tests.people import Person

ALL = [
    *("feedback.submitted", "feedback.updated", "feedback.resolved", "feedback.reopened"),
    *("feedback.replied", "feedback.retracted", "check.failing", "check.passing"),
]
SAID = ALL[:2]


def make_org_admin(person: Person) -> None:
    """The person is an admin of their orgs."""
    Membership.objects.filter(user=person.user).update(role=Membership.Role.ADMIN)


def endpoint(api: Api, url: str, *events: str, **more: Any) -> dict[str, Any]:
    """A webhook, as the answer to its making shows it."""
    return data_of(api.post("/v1/webhooks", {"url": url, "events": [*events] or SAID, **more}))


def work() -> None:
    """Do what a worker would: settle what is due, and send it."""
    for event_id in settling.due():
        settling.settle(event_id)
    for endpoint_id in WebhookEndpoint.objects.order_by("pk").values_list("pk", flat=True):
        sending.deliver(endpoint_id)


def triaged(feedback_id: str, admin: Person, **changes: Any) -> None:
    """What an admin makes of a report, through the verb of the wire (H8)."""
    triage.update(admin.actor, feedback_id, bodies.parse(TriageIn, changes))
