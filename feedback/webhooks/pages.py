"""The webhook pages of the settings. They use the same functions as the REST routes."""

import json
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import messages as notes
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts import shown_once
from accounts.authentication import page_actor
from accounts.context import MOST_ORGS
from accounts.models import Org
from accounts.orgs import administered_by
from accounts.pages import current_org, required_org, signed_in
from core import bodies, forms, paging
from core.actor import Actor
from core.errors import DomainError, InvalidRequest, Stale
from core.payloads import json_html
from core.versions import seen_by
from feedback.models.webhook import WebhookEndpoint
from feedback.webhooks import deliveries, endpoints, signing
from feedback.webhooks.audience import audience_in, audience_of_endpoint, require_any_audience
from feedback.webhooks.events import EVENTS
from feedback.webhooks.wire import DeliveryOut, WebhookIn, WebhookPatch

PAGE = 50
_SOON = timedelta(minutes=1)
_NEW_SECRET = "webhook_secret"  # noqa: S105 - the name of a cookie
FIELDS = ("url", "events", "org_id", "description", "enabled")
WORDS = {
    "feedback.submitted": "somebody rated an answer",
    "feedback.updated": "a rating was changed",
    "feedback.resolved": "a report was resolved",
    "feedback.reopened": "a report was reopened",
    "feedback.replied": "an admin replied to the submitter",
    "feedback.retracted": "a rating was retracted",
    "check.failing": "a check is newly failing",
    "check.passing": "a check is newly passing",
}
"""The events, for people."""


@signed_in
@require_http_methods(["GET", "POST"])
def webhooks(request: HttpRequest) -> HttpResponse:
    """List the user's webhooks, or create one; the next page shows its secret once."""
    actor = page_actor(request)
    if request.method == "GET":
        org = current_org(request)
        return _list(request, {"events": ["feedback.submitted"], "org_id": org.slug if org else ""})
    require_any_audience(actor)
    typed = _typed(request)
    try:
        bodies.check_storable(typed)
        endpoint = endpoints.create(actor, _org(request, typed["org_id"]), bodies.parse(WebhookIn, typed))
    except InvalidRequest as problem:
        return _list(request, typed, problem)
    return _shown_once(actor, endpoint)


def _org(request: HttpRequest, org_id: str) -> int | None:
    """The org chosen by its id or slug; by default every org (None) for a platform admin, else the user's own org."""
    if org_id:
        # Only among the user's own, or the answer would tell which orgs exist.
        known = next((org.pk for org in _orgs(page_actor(request)) if org.slug == org_id), None)
        return known or endpoints.org_named(page_actor(request), org_id)
    return None if page_actor(request).is_admin else required_org(request).pk


def _list(request: HttpRequest, typed: dict[str, Any], problem: DomainError | None = None) -> HttpResponse:
    actor = page_actor(request)
    orgs = list(_orgs(actor)[:MOST_ORGS])
    visible = endpoints.visible_to(actor)
    rows, token = endpoints.PLACES.page(visible, limit=PAGE, page_token=request.GET.get("after"))
    audience = audience_in(actor, orgs[0].pk if orgs else None)
    context = {
        "endpoints": rows,
        "next_url": paging.next_url(request.GET, token),
        "orgs": orgs,
        "may_make": audience is not None,
        "undo_minutes": f"{settings.HEDDLE.webhook_delay_seconds / 60:g}",
        "choices": _choices(EVENTS[audience] if audience else (), typed["events"]),
        "typed": typed,
        "errors": forms.reasons(problem, FIELDS, otherwise="form") if problem else {},
    }
    return render(request, "webhooks/list.html", context, status=400 if problem else 200)


@signed_in
@require_GET
def webhook(request: HttpRequest, webhook_id: str) -> HttpResponse:
    """One webhook: its settings and its delivery log."""
    actor = page_actor(request)
    endpoint = endpoints.endpoint_for(actor, webhook_id)
    of, _, secret = shown_once.handed_over(request, _NEW_SECRET, to=actor.user_id).partition(" ")
    if of != endpoint.webhook_id:
        secret = ""
    typed = {"url": endpoint.url, "description": endpoint.description, "events": endpoint.events}
    return _one(request, endpoint, typed, secret=secret)


def _is_new(item: DeliveryOut) -> bool:
    """Whether its first attempt is to be expected at any moment."""
    return item.state == "pending" and not item.attempts and item.created > timezone.now() - _SOON


def _one(
    request: HttpRequest,
    endpoint: WebhookEndpoint,
    typed: dict[str, Any],
    problem: DomainError | None = None,
    *,
    secret: str = "",
) -> HttpResponse:
    log = deliveries.listed(endpoint, limit=PAGE, page_token=request.GET.get("after") or None)
    audience = audience_of_endpoint(endpoint)
    context = {
        "endpoint": endpoint,
        "audience": audience,
        "secret": secret,
        "log": log.items,
        "next_try": min((each.next_attempt_at for each in log.items if each.next_attempt_at), default=None),
        "is_awaited": endpoint.is_enabled and any(_is_new(each) for each in log.items),
        "next_url": paging.next_url(request.GET, log.next_token),
        "choices": _choices(EVENTS[audience] if audience else (), typed["events"]),
        "typed": typed,
        "errors": forms.reasons(problem, FIELDS, otherwise="form") if problem else {},
        "is_behind": isinstance(problem, Stale),
        "seen": seen_by(request.POST.get("seen"), endpoint, problem),
    }
    response = render(request, "webhooks/endpoint.html", context, status=problem.status if problem else 200)
    if secret:
        shown_once.forget(response, _NEW_SECRET)
    return response


@signed_in
@require_POST
def change(request: HttpRequest, webhook_id: str) -> HttpResponse:
    """Save URL, description and events, or enable or disable the webhook, depending on `verb`.

    Saving does not overwrite unseen what somebody else saved meanwhile.
    """
    actor = page_actor(request)
    endpoint = endpoints.endpoint_for(actor, webhook_id)
    verb = request.POST.get("verb", "save")
    if verb not in ("save", "enable", "disable"):
        raise InvalidRequest("verb: must be save, enable or disable")
    typed = _typed(request)
    changes = (
        {name: typed[name] for name in ("url", "description", "events")}
        if verb == "save"
        else {"enabled": verb == "enable"}
    )
    try:
        bodies.check_storable(changes)
        endpoints.update(actor, endpoint, bodies.parse(WebhookPatch, changes), seen=request.POST.get("seen") or None)
    except (InvalidRequest, Stale) as problem:
        held = endpoints.endpoint_for(actor, webhook_id)
        shown = typed if verb == "save" else {"url": held.url, "description": held.description, "events": held.events}
        return _one(request, held, shown, problem)
    notes.success(request, {"save": "Saved.", "enable": "Enabled.", "disable": "Disabled."}[verb])
    return redirect("feedback:webhook", webhook_id)


@signed_in
@require_POST
def rotate(request: HttpRequest, webhook_id: str) -> HttpResponse:
    """Make a new secret, shown once; the old one also signs for another day, unless `end_now` is set."""
    actor = page_actor(request)
    endpoint = endpoints.endpoint_for(actor, webhook_id)
    return _shown_once(actor, endpoints.rotate(actor, endpoint, overlap_hours=0 if request.POST.get("end_now") else 24))


@signed_in
@require_POST
def test(request: HttpRequest, webhook_id: str) -> HttpResponse:
    """Send a test message."""
    endpoint = endpoints.endpoint_for(page_actor(request), webhook_id)
    deliveries.test(endpoint)
    notes.success(request, "Test queued. Its result appears among the deliveries.")
    return redirect("feedback:webhook", webhook_id)


@signed_in
@require_GET
def delivery(request: HttpRequest, webhook_id: str, delivery_id: str) -> HttpResponse:
    """One delivery: the message, its attempts and what was answered."""
    actor = page_actor(request)
    endpoint = endpoints.endpoint_for(actor, webhook_id)
    item = deliveries.sent(actor, deliveries.delivery_for(endpoint, delivery_id))
    is_due = item.next_attempt_at is not None and item.next_attempt_at <= timezone.now()
    context = {
        "endpoint": endpoint,
        "item": item,
        "body_html": "" if item.body is None else json_html(json.loads(item.body)),
        "is_awaited": endpoint.is_enabled and is_due,
    }
    return render(request, "webhooks/delivery.html", context)


@signed_in
@require_POST
def replay(request: HttpRequest, webhook_id: str, delivery_id: str) -> HttpResponse:
    """Send a message again."""
    endpoint = endpoints.endpoint_for(page_actor(request), webhook_id)
    deliveries.replay(endpoint, deliveries.delivery_for(endpoint, delivery_id))
    notes.success(request, "Queued again. Its result appears among the attempts.")
    return redirect("feedback:webhook_delivery", webhook_id, delivery_id)


@signed_in
@require_POST
def delete(request: HttpRequest, webhook_id: str) -> HttpResponse:
    """Delete a webhook with its log."""
    actor = page_actor(request)
    endpoints.delete(actor, endpoints.endpoint_for(actor, webhook_id))
    notes.success(request, "Webhook deleted.")
    return redirect("feedback:webhooks")


def _typed(request: HttpRequest) -> dict[str, Any]:
    return {name: request.POST.get(name, "") for name in ("url", "description", "org_id")} | {
        "events": request.POST.getlist("events")
    }


def _shown_once(actor: Actor, endpoint: WebhookEndpoint) -> HttpResponse:
    """Go to the page of a webhook, which shows its new secret once."""
    response = redirect("feedback:webhook", endpoint.webhook_id)
    secret = f"{endpoint.webhook_id} {signing.secret_of(endpoint)}"
    shown_once.hand_over(response, _NEW_SECRET, secret, to=actor.user_id)
    return response


def _orgs(actor: Actor) -> "list[Org] | QuerySet[Org]":
    """The orgs that somebody may create a webhook for; a platform admin may also choose every org."""
    return Org.objects.order_by("slug") if actor.is_admin else administered_by(actor.user_id)


def _choices(names: tuple[str, ...], picked: list[str]) -> list[tuple[str, str, bool]]:
    return [(name, WORDS[name], name in picked) for name in names]
