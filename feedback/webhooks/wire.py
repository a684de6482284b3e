"""Request and response models of the webhook routes."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from core.wire import UNCHANGED, Exact, Page, Patch, Spelling, Wire

EventName = Literal[
    "feedback.submitted",
    "feedback.updated",
    "feedback.resolved",
    "feedback.reopened",
    "feedback.replied",
    "feedback.retracted",
    "check.failing",
    "check.passing",
]
Url = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]
Events = Annotated[list[EventName], Field(min_length=1, max_length=20)]
Description = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=200), Spelling(r"[^\r\n]*", "must be one line")
]


class WebhookIn(Exact):
    """A new webhook."""

    url: Url
    events: Events
    """The events to send."""
    org_id: str | None = None
    """Only events of this org. Default: every org for platform admins, else the org of the request."""
    description: Description = ""


class WebhookPatch(Patch):
    """A change; an absent key leaves the value."""

    url: Url = UNCHANGED
    events: Events = UNCHANGED
    description: Description = UNCHANGED
    enabled: bool = UNCHANGED
    """Enabling also clears `disabled_reason` and `failing_since`."""


class RotateIn(Exact):
    """Options for a new secret."""

    overlap_hours: Annotated[float, Field(ge=0, le=168)] = 24
    """How long messages are also signed with the old secret; 0 if it leaked."""


class WebhookOut(Wire):
    """A webhook, without its secret."""

    webhook_id: str
    org_id: str | None
    """Null: every org."""
    url: str
    description: str
    events: list[str]
    enabled: bool
    disabled_at: datetime | None
    disabled_reason: str | None
    """Why it was disabled automatically."""
    failing_since: datetime | None
    """Time of the first failed attempt since the last success; null if the latest attempt succeeded."""
    secret_overlap_until: datetime | None
    """Until then messages are also signed with the previous secret."""
    created: datetime
    created_by: str
    """Email address of its owner."""
    modified: datetime


class WebhookSecretOut(WebhookOut):
    """`WebhookOut` with its secret, which is shown only in this response."""

    secret: str
    """Key for checking signatures, `whsec_...`."""


class WebhookPageOut(Page[WebhookOut]):
    """A page of webhooks."""


class AttemptOut(Wire):
    """One attempt to deliver a message."""

    at: datetime
    duration_ms: int
    """In milliseconds."""
    status: int | None
    """HTTP status; null if there was no response."""
    error: str | None
    """Why it failed, if not by its status."""
    response: str
    """The first 2 kB of the response body."""


class DeliveryOut(Wire):
    """One message to one webhook."""

    delivery_id: str
    message_id: str
    """Sent as the header `webhook-id`; the same for every attempt."""
    event: str
    """Name of the event."""
    state: str
    """`pending`, `delivered`, `failed` or `dropped` (its owner may no longer receive it)."""
    created: datetime
    next_attempt_at: datetime | None
    """Null unless pending."""
    attempts: list[AttemptOut]
    """Oldest first."""


class SentDeliveryOut(DeliveryOut):
    """A delivery with what is sent."""

    headers: dict[str, str]
    """Those that every attempt sends; each adds its own `webhook-timestamp` and `webhook-signature`."""
    body: str | None
    """The exact body. Null if the owner of the webhook may no longer receive it."""


class DeliveryPageOut(Page[DeliveryOut]):
    """A page of the delivery log."""
