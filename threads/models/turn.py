"""Turns: rows that workers claim, keep alive and finish. A queue message carries only the id."""

from datetime import datetime
from typing import ClassVar

from django.db import models
from django.utils import timezone

from accounts.models import User
from core.db import JsonText
from threads.models.thread import Thread
from threads.status import OPEN_TURN, TurnState


class Turn(models.Model):
    """The agent's work from a stored request until the thread is idle again.

    `attempt` is a fencing number: a worker writes only while the row has the attempt it claimed, so a worker presumed
    dead cannot add anything after its successor has begun.
    """

    thread = models.ForeignKey(Thread, models.CASCADE, related_name="turns")
    requested_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    state = models.CharField(max_length=10, choices=TurnState, default=TurnState.QUEUED)
    attempt = models.PositiveIntegerField(default=0)
    losses = models.PositiveSmallIntegerField(default=0)
    """Number of claims whose lease expired: their workers died, or were cut off."""
    worker = models.CharField(max_length=120, default="")
    lease_until = models.DateTimeField(null=True)
    queued_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True)
    first_text_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    waits = JsonText(default=list)
    """Waits for client tools: beginning and end of each in milliseconds after `started_at`; the end may be to come."""
    reprompts = models.PositiveSmallIntegerField(default=0)
    requests = models.PositiveSmallIntegerField(default=0)
    """Number of model answers, complete or interrupted."""
    retries = models.PositiveSmallIntegerField(default=0)
    """Number of requests that were sent again, to the same profile or its fallback."""
    profile = models.CharField(max_length=100, default="")
    """The profile that answered last."""
    model = models.CharField(max_length=200, default="")
    """Its model, as named by the provider."""
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(max_digits=20, decimal_places=10, null=True)
    """In US dollars; null if any part of it is unknown."""
    answer_idx = models.PositiveIntegerField(null=True)
    """The message that ended the turn."""
    error_code = models.CharField(max_length=60, default="")
    replays_calls = models.BooleanField(default=False)
    """Whether calls return their recorded results (a rerun); new calls are made only if the tool is read-only."""
    # Identifies a repeated POST (spec 1.5).
    request_hash = models.CharField(max_length=64, default="")
    requested_at = models.DateTimeField(default=timezone.now)
    # Whether the response to that POST was sent; if not, the sender will repeat it.
    is_told = models.BooleanField(default=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["thread"], condition=models.Q(state__in=OPEN_TURN), name="turn_one_open"),
        ]
        indexes: ClassVar = [
            # The sweep: what is queued or running, oldest first.
            models.Index(fields=["state", "lease_until"], condition=models.Q(state__in=OPEN_TURN), name="turn_open"),
        ]

    def __str__(self) -> str:
        return f"turn {self.pk} of {self.thread_id}"

    def wait(self, at: datetime) -> None:
        """Note that it waits for client tools from a moment on."""
        self.waits = [*self.waits, [self.lasted_ms(at), None]]

    def go_on(self, at: datetime) -> None:
        """Note that its wait ended at a moment; nothing for a wait whose beginning an older version did not note."""
        self.waits = [[since, self.lasted_ms(at) if end is None else end] for since, end in self.waits]

    def lasted_ms(self, until: datetime) -> int:
        """Milliseconds from its start until a moment, waits included; 0 if it has not started."""
        return 0 if self.started_at is None else max(0, round((until - self.started_at).total_seconds() * 1000))

    def waited_ms(self, until: datetime) -> int:
        """Milliseconds until a moment in which it waited for client tools."""
        last = self.lasted_ms(until)
        return sum(max(0, min(last if end is None else end, last) - since) for since, end in self.waits)
