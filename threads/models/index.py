"""What is searched for in threads, extracted from their messages after these have ended."""

from typing import ClassVar

from django.db import models

from threads.models.thread import Thread


class Unindexed(models.Model):
    """A thread with messages that are not indexed yet, from this one on.

    The transcript's writer adds the row with the messages, and the index deletes it.
    """

    thread = models.OneToOneField(Thread, models.CASCADE, primary_key=True, related_name="unindexed")
    from_idx = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"unindexed {self.thread_id} from {self.from_idx}"


class UsedTool(models.Model):
    """A tool that was used in a thread."""

    thread = models.ForeignKey(Thread, models.CASCADE, related_name="tools", db_index=False)
    tool_name = models.CharField(max_length=200)
    failed = models.BooleanField(default=False)
    """Whether any of its results was an error."""

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["thread", "tool_name"], name="used_tool_once")]
        indexes: ClassVar = [
            models.Index(fields=["tool_name", "-thread"], name="used_tool_of"),
            models.Index(fields=["tool_name", "-thread"], condition=models.Q(failed=True), name="used_tool_failed"),
        ]

    def __str__(self) -> str:
        return f"{self.tool_name} in {self.thread_id}"
