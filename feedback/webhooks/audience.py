"""What the owner of an endpoint may be told, as of now: asked when it is made, filled and sent to."""

from accounts import orgs
from accounts.authentication import actor_of_user
from accounts.rights import Audience, Right, audience_of
from core.actor import Actor
from core.errors import Unauthorized
from feedback.models.webhook import WebhookEndpoint, WebhookEvent
from feedback.webhooks.events import EVENTS, REPLIED
from threads.access import may

_WHOSE = "Webhooks of an org are for its admins, and for platform admins."


def audience_in(actor: Actor, org_id: int | None) -> Audience | None:
    """What somebody may be told of an org's reports; None for the org means every org's."""
    return audience_of(actor, administers=orgs.administers(actor, org_id))


def require_audience(actor: Actor, org_id: int | None) -> Audience:
    """What the actor may be told of an org; raises `Unauthorized` where that is nothing."""
    found = audience_in(actor, org_id)
    if found is None:
        raise Unauthorized(_WHOSE)
    return found


def require_maker(actor: Actor) -> None:
    """Refuse whoever may be told of no org at all, before anything that they sent is looked at."""
    if audience_of(actor, administers=bool(orgs.administered_by(actor.user_id))) is None:
        raise Unauthorized(_WHOSE)


def audience_of_endpoint(endpoint: WebhookEndpoint) -> Audience | None:
    """What the endpoint's owner may be told now; None where they have lost it, or were switched off."""
    return audience_in(actor_of_user(endpoint.owner), endpoint.org_id) if endpoint.owner.is_active else None


def audience_for(endpoint: WebhookEndpoint, event: WebhookEvent) -> Audience | None:
    """In which projection this event may be told to this endpoint; None is not at all.

    An org's admin hears of what its submitters said and were told, and only where they could read the thread
    themselves: a private thread stays private (B28, B146), and triage stays the platform admins' (B133).
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
