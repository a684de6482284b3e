"""Webhooks, their events (the outbox), deliveries and attempts."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

from accounts.models import Org, User
from accounts.rights import Audience
from core import ids
from core.db import JsonText
from core.signing import Rotation


class WebhookEndpoint(models.Model):
    """A webhook. No secret is stored: it is derived from the key and the generation, see `signing`."""

    key = models.CharField(max_length=26, unique=True, default=ids.new_key, editable=False)
    owner = models.ForeignKey(User, models.PROTECT, related_name="webhooks")
    org = models.ForeignKey(Org, models.PROTECT, null=True, related_name="webhooks", help_text="none: every org")
    url = models.CharField(max_length=2000)
    description = models.CharField(max_length=200, blank=True)
    events = JsonText(default=list)
    is_enabled = models.BooleanField(default=True)
    disabled_at = models.DateTimeField(null=True)
    disabled_reason = models.CharField(max_length=200, blank=True)
    failing_since = models.DateTimeField(null=True)
    failed_at = models.DateTimeField(null=True, help_text="when a message failed last; none once one was delivered")
    secret_generation = models.PositiveIntegerField(default=1)
    overlap_until = models.DateTimeField(null=True, help_text="until when older secrets sign too")
    oldest_generation = models.PositiveIntegerField(null=True, help_text="the oldest of these; none: the previous one")
    lease_until = models.DateTimeField(null=True, help_text="some worker is sending to it; one at a time does")
    created = models.DateTimeField(default=timezone.now)
    modified = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.webhook_id

    @property
    def rotation(self) -> Rotation:
        """Its secrets."""
        return Rotation(self.secret_generation, self.overlap_until, self.oldest_generation)

    @property
    def webhook_id(self) -> str:
        """The public id."""
        return ids.WEBHOOK + self.key


class WebhookEvent(models.Model):
    """The outbox: an event of a report, written with the change. Whether to send it is settled when it is due."""

    key = models.CharField(max_length=26, unique=True, default=ids.new_key, editable=False)
    name = models.CharField(max_length=40)
    report = models.ForeignKey("feedback.UserFeedback", models.CASCADE, related_name="events", db_index=False)
    actor = models.ForeignKey(User, models.PROTECT, related_name="+", db_index=False)
    is_triage = models.BooleanField(default=False)
    at = models.DateTimeField(default=timezone.now)
    due_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True)
    is_told = models.BooleanField(null=True, help_text="none until it is settled")

    class Meta:
        indexes: ClassVar = [
            # For settling: what is due, first what submitters did. And old settled ones.
            models.Index(
                fields=["is_triage", "due_at", "id"],
                condition=models.Q(settled_at__isnull=True),
                name="webhook_event_due",
            ),
            models.Index(
                fields=["settled_at"], condition=models.Q(settled_at__isnull=False), name="webhook_event_settled"
            ),
            models.Index(fields=["report", "id"], name="webhook_event_report"),
        ]

    def __str__(self) -> str:
        return self.event_id

    @property
    def event_id(self) -> str:
        """The public id, sent as `webhook-id`."""
        return ids.EVENT + self.key


class WebhookDelivery(models.Model):
    """One message to one webhook. The body is made once, so that every attempt and replay sends the same."""

    class State(models.TextChoices):
        PENDING = "pending"
        DELIVERED = "delivered"
        FAILED = "failed"
        DROPPED = "dropped", "dropped: its owner may no longer be told"

    key = models.CharField(max_length=26, unique=True, default=ids.new_key, editable=False)
    endpoint = models.ForeignKey(WebhookEndpoint, models.CASCADE, related_name="deliveries", db_index=False)
    event = models.ForeignKey(WebhookEvent, models.CASCADE, null=True, related_name="deliveries")
    message_id = models.CharField(max_length=40)
    name = models.CharField(max_length=40)
    audience = models.CharField(max_length=10, choices=[(each.value, each.value) for each in Audience])
    body = models.TextField()
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    tries = models.PositiveIntegerField(default=0, help_text="since it was queued or replayed last")
    next_at = models.DateTimeField(default=timezone.now)
    goes_first = models.BooleanField(
        default=False, help_text="before the webhook's others: a submitter did it, or somebody waits for it"
    )
    created = models.DateTimeField(default=timezone.now, db_index=True)
    settled_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["endpoint", "event"], name="webhook_told_once"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["endpoint", "-id"], name="webhook_delivery_log"),
            models.Index(fields=["next_at"], condition=models.Q(state="pending"), name="webhook_delivery_due"),
            # For sending: what is due for a webhook, in its order.
            models.Index(
                fields=["endpoint", "-goes_first", "next_at", "id"],
                condition=models.Q(state="pending"),
                name="webhook_delivery_next",
            ),
            # Recent results, for metrics.
            models.Index(fields=["settled_at", "state"], name="webhook_delivery_settled"),
        ]

    def __str__(self) -> str:
        return self.delivery_id

    @property
    def delivery_id(self) -> str:
        """The public id."""
        return ids.DELIVERY + self.key


class WebhookAttempt(models.Model):
    """One attempt of a delivery and its result. Never modified."""

    delivery = models.ForeignKey(WebhookDelivery, models.CASCADE, related_name="attempts")
    at = models.DateTimeField(default=timezone.now)
    milliseconds = models.PositiveIntegerField()
    status = models.PositiveSmallIntegerField(null=True, help_text="none where no answer came")
    error = models.CharField(max_length=300, blank=True)
    response = models.TextField(blank=True, help_text="its beginning")

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.status or self.error}"


class WebhookTold(models.Model):
    """What stays of a report's deliveries when they leave the log: that the webhook was sent it.

    Its retraction has to reach whoever holds its data, however old that is.
    """

    endpoint = models.ForeignKey(WebhookEndpoint, models.CASCADE, related_name="told", db_index=False)
    report = models.ForeignKey("feedback.UserFeedback", models.CASCADE, related_name="told")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["endpoint", "report"], name="webhook_told_of"),
        ]

    def __str__(self) -> str:
        return f"{self.endpoint_id} {self.report_id}"
