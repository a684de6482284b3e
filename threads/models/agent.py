"""Agents: templates from which threads are launched with values filled in (spec 2.6)."""

from typing import ClassVar, Self

from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Org, User
from core import ids
from core.actor import Actor
from core.db import JsonText


class AgentQuerySet(models.QuerySet["Agent"]):
    """Agents limited to what an actor may see."""

    def visible_to(self, actor: Actor) -> Self:
        """The agents of the actor's orgs; for platform admins also those they created."""
        own = Q(created_by=actor.user_id) if actor.is_admin else Q()
        return self.filter(Q(org__in=list(actor.orgs.values())) | own)


class Agent(models.Model):
    """A start request with placeholders, and the variables that fill them."""

    key = models.CharField(max_length=26, unique=True, default=ids.new_key, editable=False)
    org = models.ForeignKey(Org, models.PROTECT, related_name="agents")
    name = models.CharField(max_length=200)
    description = models.TextField(null=True)  # noqa: DJ001 - the wire tells null from ""
    request_template = JsonText()
    variables = JsonText(default=list)
    version = models.PositiveIntegerField(default=1)
    """The number of its latest version, which is what it is now."""
    created = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+", db_index=False)
    modified = models.DateTimeField(default=timezone.now)
    modified_by = models.ForeignKey(User, models.PROTECT, related_name="+", db_index=False)

    objects: ClassVar = AgentQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["org", "name"], name="agent_name_in_org")]

    def __str__(self) -> str:
        return self.name

    @property
    def agent_id(self) -> str:
        """The public id."""
        return ids.AGENT + self.key


class AgentVersion(models.Model):
    """What an agent was made, or changed to; rows are only added."""

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="versions", db_index=False)
    version = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    description = models.TextField(null=True)  # noqa: DJ001 - the wire tells null from ""
    request_template = JsonText()
    variables = JsonText(default=list)
    created = models.DateTimeField()
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+", db_index=False)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["agent", "version"], name="agent_version_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def org_id(self) -> int:
        """The org of its agent."""
        return self.agent.org_id
