"""Standard Webhooks signatures and their secrets.

Secrets are derived from the installation's key and not stored, so a copy of the database cannot sign. Only a generation
number is stored; rotating a secret increments it.
"""

import base64
from collections.abc import Sequence
from datetime import datetime

from django.utils.crypto import salted_hmac
from standardwebhooks.webhooks import Webhook


def secret_of(salt: str, key: str, generation: int) -> str:
    """The secret `whsec_...` of a receiver in a generation; `salt` separates the kinds of receivers."""
    digest = salted_hmac(salt, f"{key}:{generation}", algorithm="sha256").digest()
    return "whsec_" + base64.b64encode(digest).decode()


def generations(generation: int, overlap_until: datetime | None, at: datetime) -> list[int]:
    """The generations that sign at that time: the current one, followed by the previous one while they overlap."""
    is_both = overlap_until is not None and at < overlap_until
    return [generation, generation - 1] if is_both else [generation]


def headers(secrets: Sequence[str], message_id: str, at: datetime, body: str) -> dict[str, str]:
    """The three headers of a delivery attempt, with a signature for each secret."""
    signatures = [Webhook(each).sign(message_id, at, body) for each in secrets]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
