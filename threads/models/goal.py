"""Goals of turns, and client tools."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

from core.db import JsonText
from threads.models.thread import Thread
from threads.models.turn import Turn
from threads.status import GoalStatus


class Goal(models.Model):
    """A declared goal; `goal_data` is the exact declaration (B102), `result` the input that achieved it."""

    thread = models.ForeignKey(Thread, models.CASCADE, related_name="goals")
    turn = models.ForeignKey(Turn, models.CASCADE, null=True, related_name="goals")
    goal_type = models.CharField(max_length=40)
    goal_data = JsonText()
    status = models.CharField(max_length=10, choices=GoalStatus, default=GoalStatus.PENDING)
    message_sequence_num = models.PositiveIntegerField()
    created = models.DateTimeField(default=timezone.now)
    concluded_at = models.DateTimeField(null=True)
    achieve_tool_use_id = models.CharField(max_length=200, null=True)  # noqa: DJ001
    result = JsonText(null=True)
    attempt_count = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.goal_type} of {self.thread_id}: {self.status}"


class ClientTool(models.Model):
    """A tool that the thread's client runs. Declared once, usable in every later turn (B47, B49)."""

    thread = models.ForeignKey(Thread, models.CASCADE, related_name="client_tools")
    name = models.CharField(max_length=64)
    description = models.TextField()
    input_schema = JsonText()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["thread", "name"], name="client_tool_once")]

    def __str__(self) -> str:
        return self.name
