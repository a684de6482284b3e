"""Calls of tools, and what tools put aside."""

from datetime import datetime
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Org, User
from catalogue import naming
from catalogue.models.world import World
from core import ids
from core.actor import Actor
from core.db import JsonText


class CallQuerySet(models.QuerySet["Call"]):
    """Scope comes first."""

    def visible_to(self, actor: Actor) -> Self:
        """Those of one's orgs. What an agent called holds raw payloads: only who asked it and admins see it."""
        if actor.is_admin:
            return self.all()
        return self.filter(Q(org__in=list(actor.orgs.values())) & (Q(thread_id="") | Q(created_by=actor.user_id)))


class Call(models.Model):
    """A call of a tool, stored before it is made: one without an outcome may have had its effect or not.

    In a thread, a tool that may be repeated has a row for each attempt after a crash, every other one has a single row
    for its use. A call from outside has one row, without thread and use.
    """

    class Outcome(models.TextChoices):
        """What became of it. UNKNOWN: nobody lived to tell."""

        SUCCESS = "success"
        ERROR = "error"
        UNKNOWN = "unknown"

    key = models.CharField(max_length=26, unique=True, default=ids.new_key, editable=False)
    org = models.ForeignKey(Org, models.PROTECT, null=True, related_name="+")
    created_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    # NULLs are distinct from each other, so calls from outside do not meet the rule on uses.
    tool_use_id = models.CharField(max_length=80, null=True)  # noqa: DJ001
    attempt = models.PositiveSmallIntegerField()
    thread_id = models.CharField(max_length=80)
    server = models.CharField(max_length=64, default="")
    tool = models.CharField(max_length=200)
    version = models.PositiveIntegerField()
    begun = models.DateTimeField(default=timezone.now)
    outcome = models.CharField(max_length=10, choices=Outcome, default="")
    runtime_ms = models.PositiveIntegerField(null=True)
    arguments = JsonText(null=True)
    answer = JsonText(null=True, help_text="the response, as it was given and is given again")
    idempotency_key = models.CharField(max_length=200, null=True)  # noqa: DJ001 - null where none was given
    fingerprint = models.CharField(max_length=71, default="", help_text="of the request that the key stands for")
    world = models.ForeignKey(World, models.PROTECT, null=True, related_name="calls", db_index=False)
    world_facts = JsonText(null=True, help_text="how the world came to the answer")

    objects: ClassVar = CallQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["tool_use_id", "attempt"], name="call_attempt_once"),
            models.UniqueConstraint(fields=["org", "created_by", "idempotency_key"], name="call_idempotency_key_once"),
        ]
        indexes: ClassVar = [
            # The log of a world, in order; most calls are of none.
            models.Index(fields=["world", "id"], condition=Q(world__isnull=False), name="call_of_world"),
            # The latest calls of a tool in an org, and how many there were in a window.
            models.Index(fields=["org", "server", "tool", "-begun"], name="call_of_tool"),
            # What the sweep clears, the oldest first.
            models.Index(
                fields=["begun"], condition=Q(world__isnull=True, idempotency_key__isnull=True), name="call_to_clear"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tool} for {self.tool_use_id}, attempt {self.attempt}"

    @property
    def call_id(self) -> str:
        """The public id."""
        return ids.CALL + self.key

    @property
    def qualified_name(self) -> str:
        """Of the tool; one that only a world had may stand on no server."""
        return naming.join(self.server, self.tool) if self.server else self.tool


class DataRefQuerySet(models.QuerySet["DataRef"]):
    """Scope comes first, and what has expired is not there."""

    def visible_in(self, org_ids: list[int], now: datetime) -> Self:
        """What was put aside in these orgs and is still kept."""
        return self.filter(org__in=org_ids, expires_at__gt=now)

    def visible_to(self, actor: Actor, now: datetime) -> Self:
        """What was put aside in the actor's orgs, for platform admins in any, and is still kept."""
        return self.filter(expires_at__gt=now) if actor.is_admin else self.visible_in([*actor.orgs.values()], now)


class DataRef(models.Model):
    """A payload that is fetched by its id, so that a model sees a line instead of megabytes."""

    ref_id = models.CharField(max_length=15, unique=True)
    org = models.ForeignKey(Org, models.PROTECT, related_name="+")
    created_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    summary = models.TextField()
    data = JsonText()
    size_bytes = models.PositiveIntegerField()
    created = models.DateTimeField(default=timezone.now)
    # Indexed for the few that are cleared away with each one that is stored.
    expires_at = models.DateTimeField(db_index=True)

    objects: ClassVar = DataRefQuerySet.as_manager()

    def __str__(self) -> str:
        return self.ref_id


class DemoCount(models.Model):
    """How often a demo tool was called: the state that shows whether one ran."""

    org = models.ForeignKey(Org, models.CASCADE, related_name="+")
    name = models.CharField(max_length=200)
    count = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar[list[Any]] = [models.UniqueConstraint(fields=["org", "name"], name="demo_count_once")]

    def __str__(self) -> str:
        return f"{self.name}: {self.count}"
