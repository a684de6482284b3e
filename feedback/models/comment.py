"""What admins say to each other about a report. Its submitter never sees it, and the wire's record does not hold it."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

from accounts.models import User
from core import ids
from feedback.models.report import UserFeedback


class Comment(models.Model):
    """One comment. A deleted one stays for half an hour, so that its author can restore it."""

    key = models.CharField(max_length=26, unique=True, default=ids.new_key, editable=False)
    feedback = models.ForeignKey(UserFeedback, models.CASCADE, related_name="comments")
    author = models.ForeignKey(User, models.PROTECT, related_name="+", db_index=False)
    text = models.TextField()
    created = models.DateTimeField(default=timezone.now)
    modified = models.DateTimeField(default=timezone.now)
    """When it was last written, edited, deleted or restored."""
    edited_at = models.DateTimeField(null=True)
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [
            models.Index(fields=["modified"], name="comment_modified"),
            models.Index(fields=["author", "-feedback"], name="comment_by"),
            models.Index(fields=["deleted_at"], condition=models.Q(deleted_at__isnull=False), name="comment_deleted"),
        ]

    def __str__(self) -> str:
        return f"comment {self.key} on {self.feedback_id}"

    @property
    def comment_id(self) -> str:
        """The public id."""
        return ids.COMMENT + self.key


class Mention(models.Model):
    """An admin whom a comment asks or answers; pending until they comment on the report, too, or acknowledge it."""

    comment = models.ForeignKey(Comment, models.CASCADE, related_name="mentions", db_index=False)
    feedback = models.ForeignKey(UserFeedback, models.CASCADE, related_name="mentions")
    person = models.ForeignKey(User, models.CASCADE, related_name="+", db_index=False)
    is_pending = models.BooleanField(default=True)
    is_answer = models.BooleanField(default=False)
    """The comment answers a question of theirs, and does not name them."""

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["comment", "person"], name="mention_once")]
        indexes: ClassVar = [
            models.Index(fields=["person", "-feedback"], condition=models.Q(is_pending=True), name="mention_pending"),
        ]

    def __str__(self) -> str:
        return f"{self.person_id} in {self.comment_id}"

    @classmethod
    def waiting_for(cls, person: int) -> "models.QuerySet[Mention]":
        """What waits for somebody (row id); a deleted comment asks nobody."""
        return cls._default_manager.filter(person=person, is_pending=True, comment__deleted_at=None)
