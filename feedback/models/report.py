"""Reports (ratings of answers), with the columns of the wire's record, and the replies to submitters."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

from accounts.models import Org, User
from core import ids
from core.db import JsonText
from feedback.taxonomy import Sentiment
from threads.models import Thread


class UserFeedback(models.Model):
    """One person's rating of one message. The columns from `admin_label` on are for admins only."""

    key = models.CharField(max_length=26, unique=True, default=ids.new_key, editable=False)
    thread = models.ForeignKey(Thread, models.CASCADE, related_name="feedback", db_index=False)
    message_sequence_num = models.PositiveIntegerField()
    org = models.ForeignKey(Org, models.PROTECT, related_name="feedback", db_index=False)
    created = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(User, models.PROTECT, related_name="feedback")
    modified = models.DateTimeField(default=timezone.now)
    modified_by = models.ForeignKey(User, models.PROTECT, related_name="+", db_index=False)
    sentiment = models.CharField(max_length=10, choices=Sentiment)
    categories = JsonText(default=list)
    category_bits = models.PositiveIntegerField(default=0)
    notes = models.TextField(null=True)  # noqa: DJ001 - the wire tells null from ""

    admin_label = models.CharField(max_length=200, null=True)  # noqa: DJ001
    admin_note = models.TextField(null=True)  # noqa: DJ001
    resolved = models.BooleanField(default=False)
    resolved_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+", db_index=False)
    resolved_at = models.DateTimeField(null=True)
    owned_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+", db_index=False, editable=False)
    """A copy of `Triage.owner`, kept by a trigger, so that unclaimed reports are found by an index."""

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["thread", "message_sequence_num", "created_by"], name="feedback_once_a_person"
            ),
            models.CheckConstraint(
                condition=models.Q(resolved=False, resolved_at__isnull=True, resolved_by__isnull=True)
                | models.Q(resolved=True, resolved_at__isnull=False, resolved_by__isnull=False),
                name="feedback_stamped_when_resolved",
            ),
        ]
        indexes: ClassVar = [
            # The desk, newest first: all reports, by state, and by state and sentiment. The key sorts by age.
            models.Index(fields=["resolved", "-id"], name="feedback_state"),
            models.Index(fields=["resolved", "sentiment", "-id"], name="feedback_state_tone"),
            models.Index(fields=["sentiment", "-id"], name="feedback_tone"),
            models.Index(fields=["org", "-id"], name="feedback_org"),
            # Filters by time of rating; it covers what Insight reads, which then reads no rows.
            models.Index(
                fields=["created", "sentiment", "category_bits", "resolved", "resolved_at"], name="feedback_insight"
            ),
            # Open reports by age.
            models.Index(fields=["created"], condition=models.Q(resolved=False), name="feedback_waiting"),
            # Filters by time of resolution.
            models.Index(
                fields=["resolved_at"], condition=models.Q(resolved_at__isnull=False), name="feedback_resolved_at"
            ),
            # Unclaimed reports and those of one owner, however many others there are.
            models.Index(fields=["owned_by", "resolved", "-id"], name="feedback_owned"),
            # All are rare, so these indexes are small.
            models.Index(
                fields=["modified"], condition=models.Q(modified__gt=models.F("created")), name="feedback_edited"
            ),
            models.Index(fields=["-id"], condition=models.Q(admin_note__isnull=False), name="feedback_noted"),
            models.Index(
                fields=["-id"], condition=models.Q(modified__gt=models.F("resolved_at")), name="feedback_revisited"
            ),
        ]

    def __str__(self) -> str:
        return self.feedback_id

    @property
    def feedback_id(self) -> str:
        """The public id."""
        return ids.FEEDBACK + self.key


class Reply(models.Model):
    """The reply to the submitter. No row: the status is `received`.

    It is separate from `Triage`, so that reading it for a submitter cannot expose internal triage data.
    """

    class Status(models.TextChoices):
        RECEIVED = "received", "Received"
        LOOKED_AT = "looked_at", "Looked at"
        ANSWERED = "answered", "Answered"

    feedback = models.OneToOneField(UserFeedback, models.CASCADE, primary_key=True, related_name="reply")
    public_status = models.CharField(max_length=10, choices=Status, default=Status.RECEIVED)
    public_reply = models.TextField(null=True)  # noqa: DJ001 - the wire tells null from ""
    replied_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(null=True)
    """When the submitter last saw it; a later reply is shown as new."""

    def __str__(self) -> str:
        return f"{self.public_status} {self.feedback_id}"


class Retraction(models.Model):
    """A retracted report: only that it existed, without its content."""

    key = models.CharField(max_length=26, unique=True, editable=False)
    retracted_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return ids.FEEDBACK + self.key
