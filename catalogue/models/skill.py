"""Skills: texts that an agent can be given, in versions, shared or private (spec 2.7, 3.11)."""

from typing import ClassVar, Self

from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Org, User
from core import ids
from core.actor import Actor
from core.db import JsonText


class Accessibility(models.TextChoices):
    PRIVATE = "private"
    ORG = "org"
    ORG_EDITABLE = "org-editable"


SHARED = (Accessibility.ORG, Accessibility.ORG_EDITABLE)


class SkillQuerySet(models.QuerySet["Skill"]):
    """Scope comes first."""

    def visible_to(self, actor: Actor) -> Self:
        """One's own private skills, and the shared ones of one's orgs; an admin's own in any org they acted in."""
        own = Q(created_by=actor.user_id)
        if not actor.is_admin:
            own &= Q(accessibility=Accessibility.PRIVATE)
        return self.filter(own | Q(org__in=list(actor.orgs.values()), accessibility__in=SHARED))

    def usable_in(self, org_id: int, actor: Actor) -> Self:
        """Those of them that work in an org may use: private ones, and its shared ones (2.7). What another org shared
        stays out of its threads, which its other members read.
        """
        return self.visible_to(actor).filter(Q(accessibility=Accessibility.PRIVATE) | Q(org=org_id))


class Skill(models.Model):
    """A skill; what it says stands in its versions."""

    key = models.CharField(max_length=26, unique=True, default=ids.new_key, editable=False)
    org = models.ForeignKey(Org, models.PROTECT, related_name="skills")
    created_by = models.ForeignKey(User, models.PROTECT, related_name="skills")
    accessibility = models.CharField(max_length=12, choices=Accessibility, default=Accessibility.PRIVATE)
    name = models.CharField(max_length=120)
    tags = JsonText(default=list)
    created = models.DateTimeField(default=timezone.now)
    modified = models.DateTimeField(default=timezone.now)

    objects: ClassVar = SkillQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            # Shared names are one namespace an org, private ones one an author; the two may overlap.
            models.UniqueConstraint(
                fields=["org", "name"], condition=Q(accessibility__in=["org", "org-editable"]), name="skill_name_in_org"
            ),
            models.UniqueConstraint(
                fields=["created_by", "name"], condition=Q(accessibility="private"), name="skill_name_of_author"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def skill_id(self) -> str:
        """The public id."""
        return ids.SKILL + self.key


class SkillVersion(models.Model):
    """What a skill says, under a number."""

    skill = models.ForeignKey(Skill, models.CASCADE, related_name="versions")
    version = models.PositiveIntegerField()
    description = models.CharField(max_length=500)
    body = models.TextField()
    relevant_topics = JsonText(default=list)
    created = models.DateTimeField(default=timezone.now)
    modified = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["skill", "version"], name="skill_version_once")]

    def __str__(self) -> str:
        return f"{self.skill} v{self.version}"


class SkillSubscription(models.Model):
    """Somebody's interest in a skill, and the version that agents may use of it for them."""

    user = models.ForeignKey(User, models.CASCADE, related_name="skill_subscriptions")
    skill = models.ForeignKey(Skill, models.CASCADE, related_name="subscriptions")
    ai_version = models.PositiveIntegerField(null=True)
    subscribed = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["user", "skill"], name="skill_subscription_once")]

    def __str__(self) -> str:
        return f"{self.user_id} on {self.skill_id}"
