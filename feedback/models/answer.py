"""Data of rated answers, stored with the report so that the desk can query it without reading threads."""

from typing import ClassVar

from django.db import models

from feedback.models.report import UserFeedback


class RatedAnswer(models.Model):
    """The model that answered and how its turn ended. Extracted after the report is stored."""

    feedback = models.OneToOneField(UserFeedback, models.CASCADE, primary_key=True, related_name="answer")
    model_profile = models.CharField(max_length=100, default="")
    error_code = models.CharField(max_length=60, default="")

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["model_profile", "-feedback"], name="answer_model"),
            models.Index(fields=["error_code", "-feedback"], condition=~models.Q(error_code=""), name="answer_error"),
        ]

    def __str__(self) -> str:
        return f"answer of {self.feedback_id}"


class RatedTool(models.Model):
    """A tool that was used in the turn of a rated answer."""

    feedback = models.ForeignKey(UserFeedback, models.CASCADE, related_name="tools", db_index=False)
    tool_name = models.CharField(max_length=200)
    failed = models.BooleanField(default=False)
    """Whether any of its results was an error."""

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["feedback", "tool_name"], name="rated_tool_once")]
        indexes: ClassVar = [
            models.Index(fields=["tool_name", "-feedback"], name="rated_tool_of"),
            models.Index(fields=["tool_name", "-feedback"], condition=models.Q(failed=True), name="rated_tool_failed"),
        ]

    def __str__(self) -> str:
        return f"{self.tool_name} in {self.feedback_id}"


class Undigested(models.Model):
    """A report whose answer is not digested yet, or was digested before its turn ended.

    A trigger adds the row with the report; the digest deletes it.
    """

    feedback = models.OneToOneField(UserFeedback, models.CASCADE, primary_key=True, related_name="undigested")

    def __str__(self) -> str:
        return f"undigested {self.feedback_id}"


class Reworded(models.Model):
    """A report whose notes, admin note or comments changed since they were indexed.

    A trigger adds the row with the change; the digest deletes it.
    """

    feedback = models.OneToOneField(UserFeedback, models.CASCADE, primary_key=True, related_name="reworded")

    def __str__(self) -> str:
        return f"reworded {self.feedback_id}"
