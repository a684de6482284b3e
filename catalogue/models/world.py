"""Synthetic worlds: tools that answer without anything behind them, and what they remember (catalogue 3.8)."""

from datetime import datetime
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Org, User
from core import ids
from core.actor import Actor
from core.db import JsonText


class WorldQuerySet(models.QuerySet["World"]):
    """Scope comes first."""

    def visible_to(self, actor: Actor) -> Self:
        """Those of one's orgs; admins see all."""
        return self.all() if actor.is_admin else self.filter(org__in=list(actor.orgs.values()))

    def in_status(self, status: str, now: datetime) -> Self:
        """Those that are active, closed or expired at this instant."""
        if status == World.Status.CLOSED:
            return self.exclude(closed_at=None)
        is_over = Q(expires_at__lte=now)
        return self.filter(is_over if status == World.Status.EXPIRED else ~is_over, closed_at=None)


class World(models.Model):
    """A place where tools are played. Whatever changes in it holds this row."""

    class Mode(models.TextChoices):
        """What an answer is made from; each uses what the one before it does."""

        SCHEMA_ONLY = "schema_only"
        EXAMPLES = "examples"
        STATEFUL = "stateful"

    class Status(models.TextChoices):
        ACTIVE = "active"
        CLOSED = "closed"
        EXPIRED = "expired"

    key = models.CharField(max_length=26, unique=True, default=ids.new_key, editable=False)
    org = models.ForeignKey(Org, models.PROTECT, related_name="+")
    created_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    name = models.CharField(max_length=100, default="", help_text="what people call it, empty where nobody said")
    mode = models.CharField(max_length=12, choices=Mode)
    seed = models.BigIntegerField()
    seed_given = models.BooleanField()
    failure_profile = JsonText(null=True)
    strict_fixtures = models.BooleanField(default=False)
    ttl_seconds = models.PositiveIntegerField()
    step_count = models.PositiveIntegerField(default=0)
    revision = models.PositiveBigIntegerField(
        default=0, help_text="raised by every change of what its answers are made from: entities, tools, fixtures"
    )
    history = JsonText(default=list, help_text="the last actions on what it remembers")
    created = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)

    objects: ClassVar = WorldQuerySet.as_manager()

    class Meta:
        indexes: ClassVar = [
            # The list of an org, newest first.
            models.Index(fields=["org", "-id"], name="world_list"),
            # What the sweep clears: those that have been over for long.
            models.Index(fields=["expires_at"], name="world_over"),
        ]

    def __str__(self) -> str:
        return self.world_id

    @property
    def world_id(self) -> str:
        """The public id."""
        return ids.WORLD + self.key

    @property
    def status(self) -> str:
        """As it is now: nobody has to write down that one has expired."""
        if self.closed_at is not None:
            return self.Status.CLOSED
        return self.Status.EXPIRED if self.expires_at <= timezone.now() else self.Status.ACTIVE


class WorldTool(models.Model):
    """A tool as a world took it: a copy, so a later import changes no answer. `server` is empty for an inline one."""

    world = models.ForeignKey(World, models.CASCADE, related_name="tools")
    server = models.CharField(max_length=64, default="")
    name = models.CharField(max_length=128)
    qualified_name = models.CharField(max_length=194)
    folded = models.CharField(max_length=194, help_text="under which it is found and unique")
    version = models.PositiveIntegerField(default=1)
    description = models.TextField(default="")
    input_schema = JsonText()
    output_schema = JsonText(null=True)
    param_order = JsonText(default=list)
    idempotent = models.BooleanField(default=False)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["world", "folded"], name="world_tool_once")]

    def __str__(self) -> str:
        return self.qualified_name


class WorldFixture(models.Model):
    """An answer given verbatim, or a failure in its place.

    `match` is the fingerprint of its input, empty where it is the tool's default.
    """

    world = models.ForeignKey(World, models.CASCADE, related_name="fixtures")
    tool = models.CharField(max_length=194, help_text="the folded name of the tool")
    match = models.CharField(max_length=71, default="")
    input = JsonText(null=True)
    output = JsonText(null=True)
    error = JsonText(null=True, help_text="code and message where the call fails")

    class Meta:
        # The fixtures of a tool, and the one that fits an input.
        indexes: ClassVar = [models.Index(fields=["world", "tool", "match"], name="world_fixture_of")]

    def __str__(self) -> str:
        return f"{self.tool} in {self.world_id}"


class WorldEntity(models.Model):
    """Something a stateful world remembers. A dropped one stays as a mark, so that it is not made up again."""

    world = models.ForeignKey(World, models.CASCADE, related_name="entities")
    noun = models.CharField(max_length=128)
    entity_id = models.CharField(max_length=200)
    data: Any = JsonText(default=dict)
    is_dropped = models.BooleanField(default=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["world", "noun", "entity_id"], name="world_entity_once")
        ]

    def __str__(self) -> str:
        return f"{self.noun} {self.entity_id}"


class WorldAnswer(models.Model):
    """The answer that an idempotency key of a world stands for."""

    world = models.ForeignKey(World, models.CASCADE, related_name="answers")
    key = models.CharField(max_length=200)
    fingerprint = models.CharField(max_length=71)
    answer = JsonText()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["world", "key"], name="world_answer_once")]

    def __str__(self) -> str:
        return self.key
