"""Reports: what a person said of an answer, what admins made of it, and who changed what."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

from accounts.models import Org, User
from core import ids
from core.db import JsonText
from feedback import webhook_models  # noqa: F401 - Django looks for models here
from feedback.taxonomy import Sentiment
from threads.models import Thread


class UserFeedback(models.Model):
    """One person's rating of one message. The columns from `admin_label` on are the admins' alone."""

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
            # The desk, newest first: everything, by state, and by state and sentiment. The key sorts by birth.
            models.Index(fields=["resolved", "-id"], name="feedback_state"),
            models.Index(fields=["resolved", "sentiment", "-id"], name="feedback_state_tone"),
            models.Index(fields=["sentiment", "-id"], name="feedback_tone"),
            models.Index(fields=["org", "-id"], name="feedback_org"),
        ]

    def __str__(self) -> str:
        return self.feedback_id

    @property
    def feedback_id(self) -> str:
        """The public id."""
        return ids.FEEDBACK + self.key


class TriageChange(models.Model):
    """One thing that an admin did to a report: who, when, what was before and after. Never changed, never deleted."""

    feedback = models.ForeignKey(UserFeedback, models.CASCADE, related_name="changes")
    at = models.DateTimeField(default=timezone.now)
    actor = models.ForeignKey(User, models.PROTECT, related_name="+")
    before = JsonText()
    after = JsonText()

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.actor_id} on {self.feedback_id}"
