"""Creating, changing and deleting webhooks, and rotating their secrets. Rights are in `audience`."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import Org
from accounts.orgs import take_turns_with
from accounts.rights import Audience, may_keep_webhook
from core import db, ids, jobs, outbound, paging
from core.actor import Actor
from core.db import again, is_named_elsewhere
from core.errors import InvalidRequest, NotFound, Unauthorized
from core.versions import require_seen
from feedback.models.webhook import WebhookEndpoint
from feedback.webhooks import handing_out, signing
from feedback.webhooks.audience import WHOSE, audience_of_endpoint, require_audience
from feedback.webhooks.events import EVENTS
from feedback.webhooks.wire import WebhookIn, WebhookOut, WebhookPageOut, WebhookPatch, WebhookSecretOut

MOST = 20
"""Most webhooks of one person."""
PLACES = paging.Places("webhooks")
_UNSEEN = "There is no such webhook, or you may not see it."


def visible_to(actor: Actor) -> QuerySet[WebhookEndpoint]:
    """The actor's own webhooks; platform admins see everybody's."""
    rows = WebhookEndpoint.objects.select_related("owner", "org")
    return rows if actor.is_admin else rows.filter(owner=actor.user_id)


def endpoint_for(actor: Actor, webhook_id: str) -> WebhookEndpoint:
    """The webhook with that id; raises `NotFound`, also for another person's."""
    found = visible_to(actor).filter(key=ids.key_of(webhook_id, ids.WEBHOOK) or "").first()
    if found is None:
        raise NotFound(_UNSEEN)
    return found


def _require_seen_by(actor: Actor, endpoint: WebhookEndpoint) -> None:
    """Whoever sees a webhook may change it; for anybody else there is none."""
    if not may_keep_webhook(actor, endpoint.owner_id):
        raise NotFound(_UNSEEN)


def listed(actor: Actor, *, limit: int, page_token: str | None) -> WebhookPageOut:
    """One page, newest first."""
    found, next_token = PLACES.page(visible_to(actor), limit=limit, page_token=page_token)
    return WebhookPageOut(items=[out(each) for each in found], next_token=next_token)


def org_named(actor: Actor, org_id: str) -> int:
    """The row id of the org with that public id; only platform admins are told that there is none."""
    found = Org.objects.filter(key=ids.key_of(org_id, ids.ORG) or "").values_list("pk", flat=True).first()
    if found is None and not actor.is_admin:
        raise Unauthorized(WHOSE)  # as for an org of others
    if found is None:
        raise InvalidRequest(f"org_id: there is no org {org_id[:80]}")
    return found


def create(actor: Actor, org_id: int | None, body: WebhookIn) -> WebhookEndpoint:
    """Create an enabled webhook; checks the right first and raises `Unauthorized`."""
    _check(require_audience(actor, org_id), body.events, body.url)
    with transaction.atomic():
        take_turns_with(actor.user_id)  # or more would fit
        if WebhookEndpoint.objects.filter(owner=actor.user_id).count() >= MOST:
            raise InvalidRequest(f"You already have {MOST} webhooks. Delete one first.")
        return WebhookEndpoint.objects.create(
            owner_id=actor.user_id,
            org_id=org_id,
            url=body.url,
            description=body.description,
            events=sorted(set(body.events)),
        )


def update(actor: Actor, endpoint: WebhookEndpoint, body: WebhookPatch, *, seen: str | None = None) -> WebhookEndpoint:
    """Change a webhook. Enabling sends what is due; it is refused if the owner lost the right.

    `seen` is the version that the editor knows, or an If-Match; raises `Stale` for another one.
    """
    _require_seen_by(actor, endpoint)
    changes = body.changes()
    audience = audience_of_endpoint(endpoint)
    for name in ("enabled", "events"):
        if changes.get(name) and audience is None:
            raise InvalidRequest(f"{name}: its owner may no longer receive this org's reports")
    _check(audience, changes.get("events"), changes.get("url"))
    now = timezone.now()
    written: dict[str, Any] = {name: changes[name] for name in ("url", "description") if name in changes}
    if "events" in changes:
        written["events"] = sorted(set(changes["events"]))
    written["modified"] = now
    with transaction.atomic():
        held = hold(endpoint)
        require_seen(held, seen, "webhook")
        if (enabled := changes.get("enabled", held.is_enabled)) != held.is_enabled:
            written |= {"is_enabled": enabled, "disabled_at": None if enabled else now}
            written |= {"disabled_reason": "", "failing_since": None, "failed_at": None}
        for name, value in written.items():
            setattr(held, name, value)
        # Only these columns, so that concurrent changes of others without a lock also take effect.
        held.save(update_fields=written)
        jobs.enqueue_on_commit(handing_out.DELIVER, held.pk)
    return held


def delete(actor: Actor, endpoint: WebhookEndpoint) -> None:
    """Delete a webhook with its log; messages that are due are not sent."""
    _require_seen_by(actor, endpoint)
    # Something may be queued for it, or an attempt be stored, after its rows were collected.
    again(partial(_delete, endpoint.pk), is_named_elsewhere)


def _delete(pk: int) -> None:
    with transaction.atomic():
        WebhookEndpoint.objects.filter(pk=pk).delete()


def rotate(actor: Actor, endpoint: WebhookEndpoint, *, overlap_hours: float = 24) -> WebhookEndpoint:
    """Make a new secret. Those that sign now go on until the overlap ends; with 0 hours they stop now."""
    _require_seen_by(actor, endpoint)
    now = timezone.now()
    with transaction.atomic():
        held = hold(endpoint)
        held.secret_generation, held.overlap_until, held.oldest_generation = held.rotation.rotated(now, overlap_hours)
        held.modified = now
        held.save(update_fields=["secret_generation", "overlap_until", "oldest_generation", "modified"])
    return held


def hold(endpoint: WebhookEndpoint) -> WebhookEndpoint:
    """The webhook, read again and locked until the commit; raises `NotFound` if it was deleted."""
    rows = WebhookEndpoint.objects.select_for_update(of=("self",), no_key=True).select_related("owner", "org")
    return db.held(rows, endpoint.pk, NotFound(_UNSEEN))


def out(endpoint: WebhookEndpoint) -> WebhookOut:
    """The wire record of a webhook."""
    return WebhookOut(
        webhook_id=endpoint.webhook_id,
        org_id=endpoint.org.org_id if endpoint.org else None,
        url=endpoint.url,
        description=endpoint.description,
        events=endpoint.events,
        enabled=endpoint.is_enabled,
        disabled_at=endpoint.disabled_at,
        disabled_reason=endpoint.disabled_reason or None,
        failing_since=endpoint.failing_since,
        secret_overlap_until=endpoint.overlap_until,
        created=endpoint.created,
        created_by=endpoint.owner.email,
        modified=endpoint.modified,
    )


def out_with_secret(endpoint: WebhookEndpoint) -> WebhookSecretOut:
    """`out` with the secret, for the one response that shows it."""
    return WebhookSecretOut(**out(endpoint).model_dump(), secret=signing.secret_of(endpoint))


def _check(audience: Audience | None, events: Sequence[str] | None, url: str | None) -> None:
    """Refuse events that the owner may not receive, and URLs that are not allowed."""
    allowed = EVENTS[audience] if audience else ()
    if wrong := sorted(set(events or ()) - set(allowed)):
        raise InvalidRequest(f"events: {', '.join(wrong)} can be sent to platform admins only")
    if url is not None:
        outbound.check_url(url)
