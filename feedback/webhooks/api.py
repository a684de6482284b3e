"""The webhook routes."""

from django.http import HttpResponse
from django.utils.cache import add_never_cache_headers
from rest_framework.request import Request

from accounts.authentication import org_of
from core import paging
from core.api import Endpoint, data, dated, describe, record
from core.wire import Nothing
from feedback.models.webhook import WebhookEndpoint
from feedback.webhooks import deliveries, endpoints
from feedback.webhooks.audience import require_any_audience
from feedback.webhooks.wire import (
    DeliveryOut,
    DeliveryPageOut,
    RotateIn,
    SentDeliveryOut,
    WebhookIn,
    WebhookOut,
    WebhookPageOut,
    WebhookPatch,
    WebhookSecretOut,
)


class WebhookDoor(Endpoint):
    """A URL of one webhook."""

    def webhook(self) -> WebhookEndpoint:
        """The webhook of the URL; another person's is not found."""
        return endpoints.endpoint_for(self.actor, self.kwargs["webhook_id"])


class Webhooks(Endpoint):
    @describe(gives=WebhookPageOut, query=("limit", "page_token"), summary="List webhooks")
    def get(self, request: Request) -> HttpResponse:
        limit = paging.limit_of(self.query("limit"))
        return record(endpoints.listed(self.actor, limit=limit, page_token=self.query("page_token")))

    @describe(takes=WebhookIn, gives=WebhookSecretOut, summary="Create a webhook (returns its secret once)")
    def post(self, request: Request) -> HttpResponse:
        require_any_audience(self.actor)
        body = self.parse(WebhookIn)
        header = request.META.get("HTTP_X_ROBOTO_ORG_ID")
        if body.org_id:
            org_id: int | None = endpoints.org_named(self.actor, body.org_id)
        else:
            org_id = None if self.actor.is_admin and not header else org_of(self.actor, header)
        return _shown_once(endpoints.out_with_secret(endpoints.create(self.actor, org_id, body)))


def _shown_once(webhook: WebhookSecretOut) -> HttpResponse:
    """A response with the secret, which no cache may store."""
    response = record(webhook)
    add_never_cache_headers(response)
    return response


class OneWebhook(WebhookDoor):
    @describe(gives=WebhookOut, has_etag=True, summary="Get a webhook")
    def get(self, request: Request, webhook_id: str) -> HttpResponse:
        return dated(endpoints.out(self.webhook()))

    @describe(
        takes=WebhookPatch,
        gives=WebhookOut,
        has_version=True,
        has_etag=True,
        summary="Change, enable or disable a webhook",
    )
    def patch(self, request: Request, webhook_id: str) -> HttpResponse:
        webhook, seen = self.webhook(), request.headers.get("If-Match")
        return dated(endpoints.out(endpoints.update(self.actor, webhook, self.parse(WebhookPatch), seen=seen)))

    @describe(summary="Delete a webhook and its log")
    def delete(self, request: Request, webhook_id: str) -> HttpResponse:
        endpoints.delete(self.actor, self.webhook())
        return data(None)


class RotateSecret(WebhookDoor):
    @describe(takes=RotateIn, gives=WebhookSecretOut, summary="Rotate the secret (returns the new one once)")
    def post(self, request: Request, webhook_id: str) -> HttpResponse:
        webhook = self.webhook()
        rotated = endpoints.rotate(self.actor, webhook, overlap_hours=self.parse(RotateIn).overlap_hours)
        return _shown_once(endpoints.out_with_secret(rotated))


class Test(WebhookDoor):
    @describe(takes=Nothing, gives=DeliveryOut, summary="Send a test message")
    def post(self, request: Request, webhook_id: str) -> HttpResponse:
        webhook = self.webhook()
        self.parse(Nothing)
        return record(deliveries.out(deliveries.test(webhook)))


class Deliveries(WebhookDoor):
    @describe(gives=DeliveryPageOut, query=("limit", "page_token"), summary="List a webhook's deliveries, newest first")
    def get(self, request: Request, webhook_id: str) -> HttpResponse:
        webhook = self.webhook()
        limit = paging.limit_of(self.query("limit"))
        return record(deliveries.listed(webhook, limit=limit, page_token=self.query("page_token")))


class OneDelivery(WebhookDoor):
    @describe(gives=SentDeliveryOut, summary="Get a delivery with the message that was sent")
    def get(self, request: Request, webhook_id: str, delivery_id: str) -> HttpResponse:
        return record(deliveries.sent(self.actor, deliveries.delivery_for(self.webhook(), delivery_id)))


class Replay(WebhookDoor):
    @describe(takes=Nothing, gives=DeliveryOut, summary="Send a message again")
    def post(self, request: Request, webhook_id: str, delivery_id: str) -> HttpResponse:
        webhook = self.webhook()
        delivery = deliveries.delivery_for(webhook, delivery_id)
        self.parse(Nothing)
        return record(deliveries.out(deliveries.replay(webhook, delivery)))
