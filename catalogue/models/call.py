"""Calls of server tools."""

from typing import ClassVar

from django.db import models
from django.utils import timezone


class Call(models.Model):
    """A call of a server tool, stored before it is made: one without an outcome may have had its effect or not.

    A tool that may be repeated has a row for each attempt, every other one has a single row for its use.
    """

    class Outcome(models.TextChoices):
        """What became of it. UNKNOWN: nobody lived to tell."""

        SUCCESS = "success"
        ERROR = "error"
        UNKNOWN = "unknown"

    tool_use_id = models.CharField(max_length=80)
    attempt = models.PositiveSmallIntegerField()
    thread_id = models.CharField(max_length=80)
    tool = models.CharField(max_length=200)
    version = models.PositiveIntegerField()
    begun = models.DateTimeField(default=timezone.now)
    outcome = models.CharField(max_length=10, choices=Outcome, default="")
    runtime_ms = models.PositiveIntegerField(null=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["tool_use_id", "attempt"], name="call_attempt_once")]

    def __str__(self) -> str:
        return f"{self.tool} for {self.tool_use_id}, attempt {self.attempt}"
