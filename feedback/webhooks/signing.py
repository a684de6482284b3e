"""Signatures by the Standard Webhooks scheme, and the secrets they are made with."""

import base64
from datetime import datetime

from django.utils.crypto import salted_hmac
from standardwebhooks.webhooks import Webhook

from feedback.models.webhook import WebhookEndpoint


def secret_of(endpoint: WebhookEndpoint, generation: int | None = None) -> str:
    """The endpoint's secret, `whsec_...`, of the present generation unless another one is named.

    Derived from the installation's key and not stored: a copy of the database signs nothing.
    """
    value = f"{endpoint.key}:{generation or endpoint.secret_generation}"
    digest = salted_hmac("heddle.webhooks", value, algorithm="sha256").digest()
    return "whsec_" + base64.b64encode(digest).decode()


def headers(endpoint: WebhookEndpoint, message_id: str, at: datetime, body: str) -> dict[str, str]:
    """The three headers of one attempt; while secrets overlap it is signed with both, the new one first."""
    generations = [endpoint.secret_generation]
    if endpoint.overlap_until is not None and at < endpoint.overlap_until:
        generations.append(endpoint.secret_generation - 1)
    signatures = [Webhook(secret_of(endpoint, each)).sign(message_id, at, body) for each in generations]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
