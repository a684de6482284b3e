"""Standard Webhooks signatures and their secrets.

Secrets are derived from the installation's key and not stored, so a copy of the database cannot sign. Only a generation
number is stored; rotating a secret increments it.
"""

import base64
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from django.utils.crypto import salted_hmac
from standardwebhooks.webhooks import Webhook

MOST_SECRETS: Final = 5
"""Most secrets that sign at once: each adds a signature to a header."""


def secret_of(salt: str, key: str, generation: int) -> str:
    """The secret `whsec_...` of a receiver in a generation; `salt` separates the kinds of receivers."""
    digest = salted_hmac(salt, f"{key}:{generation}", algorithm="sha256").digest()
    return "whsec_" + base64.b64encode(digest).decode()


class Rotation(NamedTuple):
    """The secrets of one receiver: the current generation, until when older ones sign too, and the oldest of those
    (None: the previous one).
    """

    generation: int
    overlap_until: datetime | None
    oldest: int | None

    def signing(self, at: datetime) -> list[int]:
        """The generations that sign at that time, the current one first."""
        if self.overlap_until is None or at >= self.overlap_until:
            return [self.generation]
        oldest = self.generation - 1 if self.oldest is None else self.oldest
        return list(range(self.generation, max(oldest, self.generation - MOST_SECRETS + 1) - 1, -1))

    def rotated(self, now: datetime, overlap_hours: float) -> "Rotation":
        """With a new secret. Those that sign now go on until the overlap ends: whoever rotates again before that, or
        repeats a request whose answer was lost, cuts off no receiver. 0 hours end them all.
        """
        if not overlap_hours:
            return Rotation(self.generation + 1, None, None)
        ends = [now + timedelta(hours=overlap_hours), self.overlap_until or now]
        return Rotation(self.generation + 1, max(ends), self.signing(now)[-1])


def headers(secrets: Sequence[str], message_id: str, at: datetime, body: str) -> dict[str, str]:
    """The three headers of a delivery attempt, with a signature for each secret."""
    signatures = [Webhook(each).sign(message_id, at, body) for each in secrets]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
