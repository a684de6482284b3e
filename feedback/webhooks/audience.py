"""What the owner of a webhook may receive now; checked when it is created, when an event is due and when it is sent."""

from accounts import orgs
from accounts.authentication import actor_of_user
from accounts.rights import Audience, Right, audience_of
from core.actor import Actor
from core.errors import Unauthorized
from feedback.models.webhook import WebhookDelivery, WebhookEndpoint, WebhookEvent
from feedback.webhooks.events import EVENTS, REPLIED
from threads.access import may

WHOSE = "Only org admins and platform admins can have webhooks of an org."


def audience_in(actor: Actor, org_id: int | None) -> Audience | None:
    """What somebody may receive about an org's reports (`org_id` None: every org's); None: nothing."""
    return audience_of(actor, administers=orgs.administers(actor, org_id))


def require_audience(actor: Actor, org_id: int | None) -> Audience:
    """What the actor may receive about an org; raises `Unauthorized` if that is nothing."""
    found = audience_in(actor, org_id)
    if found is None:
        raise Unauthorized(WHOSE)
    return found


def require_any_audience(actor: Actor) -> None:
    """Refuse anyone who may receive nothing about any org, before their request body is read."""
    if audience_of(actor, administers=bool(orgs.administered_by(actor.user_id))) is None:
        raise Unauthorized(WHOSE)


def audience_of_endpoint(endpoint: WebhookEndpoint) -> Audience | None:
    """What the webhook's owner may receive now; None if they lost the right or were disabled."""
    return audience_in(actor_of_user(endpoint.owner), endpoint.org_id) if endpoint.owner.is_active else None


def audience_for(endpoint: WebhookEndpoint, event: WebhookEvent) -> Audience | None:
    """The projection in which this webhook may receive this event; None: not at all.

    An org admin receives ratings and public replies, and only of threads that they may read: a private thread stays
    private (B28, B146), and triage data is for platform admins (B133).
    """
    report = event.report
    if endpoint.org_id not in (None, report.org_id):
        return None
    found = audience_of_endpoint(endpoint)
    if found is None or event.name not in EVENTS[found]:
        return None
    if found is Audience.TRIAGE:
        return found
    is_theirs = event.name == REPLIED or not event.is_triage
    return found if is_theirs and may(actor_of_user(endpoint.owner), report.thread, Right.READ) else None


def may_be_told(delivery: WebhookDelivery) -> bool:
    """Whether the webhook's owner may receive this message now; one without an event is a test or a retraction."""
    if delivery.event is None:
        return True
    found = audience_for(delivery.endpoint, delivery.event)
    return found is Audience.TRIAGE or found == delivery.audience
