"""Signatures by the Standard Webhooks scheme, and the secrets they are made with.

A secret is derived from the installation's key and not stored: a copy of the database signs nothing. What is stored is
a generation, which goes up by one when a secret is changed.
"""

import base64
from collections.abc import Sequence
from datetime import datetime

from django.utils.crypto import salted_hmac
from standardwebhooks.webhooks import Webhook


def secret_of(salt: str, key: str, generation: int) -> str:
    """The secret `whsec_...` of one receiver in one generation; `salt` tells the kinds of receivers apart."""
    digest = salted_hmac(salt, f"{key}:{generation}", algorithm="sha256").digest()
    return "whsec_" + base64.b64encode(digest).decode()


def generations(generation: int, overlap_until: datetime | None, at: datetime) -> list[int]:
    """Which secrets sign at that time: the present one, and while they overlap the one before it after that."""
    is_both = overlap_until is not None and at < overlap_until
    return [generation, generation - 1] if is_both else [generation]


def headers(secrets: Sequence[str], message_id: str, at: datetime, body: str) -> dict[str, str]:
    """The three headers of one attempt, with a signature for each secret."""
    signatures = [Webhook(each).sign(message_id, at, body) for each in secrets]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
