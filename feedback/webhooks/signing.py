"""Secrets of webhooks and signatures of messages, by `core.signing`."""

from datetime import datetime

from core import signing
from feedback.models.webhook import WebhookEndpoint


def secret_of(endpoint: WebhookEndpoint, generation: int | None = None) -> str:
    """The webhook's secret, `whsec_...`, by default of the current generation."""
    return signing.secret_of("heddle.webhooks", endpoint.key, generation or endpoint.secret_generation)


def headers(endpoint: WebhookEndpoint, message_id: str, at: datetime, body: str) -> dict[str, str]:
    """The three headers of one attempt; while secrets overlap, it is signed with all, the newest first."""
    secrets = [secret_of(endpoint, each) for each in endpoint.rotation.signing(at)]
    return signing.headers(secrets, message_id, at, body)
