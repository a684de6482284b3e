"""Messages and their blocks. Blocks are append-only: a streamed fragment is its own block."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

from accounts.models import User
from core.db import JsonText
from threads.models.thread import Thread


class Message(models.Model):
    """A message's index, role and status. `revision` is that of its last change of any kind."""

    class Role(models.TextChoices):
        USER = "user"
        ASSISTANT = "assistant"
        ROBOTO = "roboto"

    class Status(models.TextChoices):
        """The status on the wire. `not_started` exists there, but no message has it."""

        NOT_STARTED = "not_started"
        GENERATING = "generating"
        COMPLETED = "completed"
        FAILED = "failed"
        CANCELLED = "cancelled"

    thread = models.ForeignKey(Thread, models.CASCADE, related_name="messages", db_index=False)
    idx = models.PositiveIntegerField()
    role = models.CharField(max_length=10, choices=Role)
    status = models.CharField(max_length=12, choices=Status)
    created = models.DateTimeField(default=timezone.now)
    author = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+", db_index=False)
    # The user who sent it through the API, whose client already shows it (spec 4.6 item 9).
    echo_to = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+", db_index=False)
    first_revision = models.PositiveBigIntegerField()
    revision = models.PositiveBigIntegerField()
    block_count = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["thread", "idx"], name="message_place")]
        # For deltas: changes since a revision.
        indexes: ClassVar = [models.Index(fields=["thread", "revision"], name="message_since")]

    def __str__(self) -> str:
        return f"{self.thread_id}/{self.idx}"


class Block(models.Model):
    """One content block. Text is stored in `text`, every other block as JSON in `data`.

    Raw payloads of tools are in a separate column `raw`, so that no read leaks them by forgetting to remove them
    (spec 3.3, H4).

    A block refers to (thread, idx) and not to the message's row, so that a fork copies each table with one statement
    without translating keys.
    """

    thread = models.ForeignKey(Thread, models.CASCADE, related_name="blocks", db_index=False)
    idx = models.PositiveIntegerField()
    position = models.PositiveIntegerField()
    revision = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=16)
    text = models.TextField(default="")
    data = JsonText(null=True)
    raw = JsonText(null=True)
    outcome = models.CharField(max_length=10, default="", help_text="status of a tool result")
    tool_use_id = models.CharField(max_length=200, null=True)  # noqa: DJ001

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["thread", "idx", "position"], name="block_place"),
        ]
        indexes: ClassVar = [
            # For tool detail: a use and its result by id.
            models.Index(
                fields=["thread", "tool_use_id"],
                condition=models.Q(tool_use_id__isnull=False),
                name="block_tool_use",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.thread_id}/{self.idx}/{self.position} {self.kind}"
