"""What the webhook routes take and give."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from core.wire import Exact, Page, Patch, Spelling, Wire

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
    """A new endpoint. `org_id` null is every org for a platform admin, and the request's org for everybody else."""

    url: Url
    events: Events
    org_id: str | None = None
    description: Description = ""


class WebhookPatch(Patch):
    """A change: an absent key leaves the value. Enabling forgets why it was disabled."""

    url: Url = ""
    events: Events = Field(default_factory=list)
    description: Description = ""
    enabled: bool = True


class RotateIn(Exact):
    """How long the old secret signs as well; 0 for one that has got about."""

    overlap_hours: Annotated[float, Field(strict=False, ge=0, le=168)] = 24


class WebhookOut(Wire):
    """An endpoint, without its secret."""

    webhook_id: str
    org_id: str | None
    url: str
    description: str
    events: list[str]
    enabled: bool
    disabled_at: datetime | None
    disabled_reason: str | None
    failing_since: datetime | None
    secret_overlap_until: datetime | None
    created: datetime
    created_by: str
    modified: datetime


class WebhookSecretOut(WebhookOut):
    """The same with its secret, which is shown this once."""

    secret: str


class WebhookPageOut(Page[WebhookOut]):
    """A page of endpoints."""


class AttemptOut(Wire):
    """One request; `status` is null where no answer came, `response` holds the first 2 kB of it."""

    at: datetime
    duration_ms: int
    status: int | None
    error: str | None
    response: str


class DeliveryOut(Wire):
    """One message for one endpoint, with its attempts, oldest first. `message_id` is sent as `webhook-id`."""

    delivery_id: str
    message_id: str
    event: str
    state: str
    created: datetime
    next_attempt_at: datetime | None
    attempts: list[AttemptOut]


class DeliveryPageOut(Page[DeliveryOut]):
    """A page of the delivery log."""
