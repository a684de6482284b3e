"""The thread: who owns it, who may see it, whose turn it is, and the revision that orders all its changes."""

from typing import ClassVar, Self

from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Org, User
from catalogue.models import World
from core import ids
from core.actor import Actor
from core.db import JsonText
from threads.status import ThreadStatus, Visibility

TITLE_LENGTH = 200


class ThreadQuerySet(models.QuerySet["Thread"]):
    """Scope comes first: every list of threads starts with one of these."""

    def readable_by(self, actor: Actor) -> Self:
        """What the actor may read without being asked as an admin: own threads and the orgs' `org` ones (B149)."""
        orgs = list(actor.orgs.values())
        own = Q(created_by=actor.user_id)
        if not actor.is_admin:
            own &= Q(org__in=orgs)
        return self.filter(own | Q(org__in=orgs, visibility=Visibility.ORG))

    def visible_to(self, actor: Actor) -> Self:
        """What the actor may read at all; admins read everything (B30)."""
        return self.all() if actor.is_admin else self.readable_by(actor)

    def by_public_id(self, public_id: str) -> Self:
        """The thread with that id in any of its spellings (B27), or none."""
        key = ids.key_of(public_id, *ids.THREAD_SPELLINGS)
        return self.filter(key=key) if key else self.none()


class Thread(models.Model):
    """One conversation with an agent. Only `threads.transcript` changes what a reader sees of it."""

    key = models.CharField(max_length=64, unique=True, default=ids.new_key, editable=False)
    org = models.ForeignKey(Org, models.PROTECT, related_name="threads", db_index=False)
    created_by = models.ForeignKey(User, models.PROTECT, related_name="threads", db_index=False)
    created = models.DateTimeField(default=timezone.now)
    modified = models.DateTimeField(default=timezone.now)
    title = models.CharField(max_length=TITLE_LENGTH, null=True)  # noqa: DJ001 - the wire tells null from ""
    status = models.CharField(max_length=20, choices=ThreadStatus)
    visibility = models.CharField(max_length=10, choices=Visibility, default=Visibility.PRIVATE)
    activity = models.CharField(max_length=200, null=True)  # noqa: DJ001
    model_profile = models.CharField(max_length=80, null=True)  # noqa: DJ001
    system_prompt = models.TextField(null=True)  # noqa: DJ001
    client_context = JsonText(null=True)
    analysis_scope = JsonText(null=True)
    available_skills = JsonText(null=True)
    forked_from = models.ForeignKey("self", models.SET_NULL, null=True, related_name="forks")
    forked_from_message_sequence_num = models.PositiveIntegerField(null=True)
    created_from_agent_id = models.CharField(max_length=80, null=True)  # noqa: DJ001
    created_from_trigger_id = models.CharField(max_length=80, null=True)  # noqa: DJ001
    origin = models.CharField(max_length=20, null=True)  # noqa: DJ001
    import_id = models.CharField(max_length=200, null=True)  # noqa: DJ001
    metadata = JsonText(null=True)
    # Where its tools are played instead of run; a world that a thread is in is never deleted.
    world = models.ForeignKey(World, models.PROTECT, null=True, related_name="threads")

    # The order of all changes, and where the parts that are sent whole changed last (spec 4.4).
    revision = models.PositiveBigIntegerField(default=0)
    title_revision = models.PositiveBigIntegerField(default=0)
    goals_revision = models.PositiveBigIntegerField(default=0)
    rewind_revision = models.PositiveBigIntegerField(default=0)

    # Kept beside the messages so that a list never looks into them.
    message_count = models.PositiveIntegerField(default=0)
    weave = models.CharField(max_length=160, default="")
    has_error = models.BooleanField(default=False)
    goal_count = models.PositiveSmallIntegerField(default=0)
    achieved_goal_count = models.PositiveSmallIntegerField(default=0)
    last_outcome = models.CharField(max_length=10, default="")

    objects: ClassVar = ThreadQuerySet.as_manager()
    HEAVY: ClassVar = ("system_prompt", "client_context", "analysis_scope", "available_skills", "metadata")
    """Columns that may be long and that most readers of a row do not need."""

    class Meta:
        indexes: ClassVar = [
            # Lists, newest first: own threads, those in one org, an org's shared ones, and for admins all of an org
            # or all there are. Both foreign keys begin one of them, and need no index of their own.
            models.Index(fields=["created_by", "-created", "-id"], name="thread_own"),
            models.Index(fields=["created_by", "org", "-created", "-id"], name="thread_own_in_org"),
            models.Index(fields=["org", "visibility", "-created", "-id"], name="thread_shared"),
            models.Index(fields=["org", "-created", "-id"], name="thread_of_org"),
            models.Index(fields=["-created", "-id"], name="thread_all"),
            # Look-up by the id a thread had where it came from.
            models.Index(fields=["import_id"], condition=Q(import_id__isnull=False), name="thread_import_id"),
        ]
        constraints: ClassVar = [
            # An import that is repeated changes nothing (B177).
            models.UniqueConstraint(
                fields=["org", "created_by", "import_id"],
                condition=Q(import_id__isnull=False),
                name="thread_import_once",
            ),
        ]

    def __str__(self) -> str:
        return self.thread_id

    @property
    def thread_id(self) -> str:
        """The public id."""
        return ids.THREAD + self.key

    @property
    def is_read_only(self) -> bool:
        """Whether another surface owns it: then only that surface adds to it (B161)."""
        return self.origin not in (None, "api")

    @property
    def ended_badly(self) -> bool:
        """Whether its last turn is over and came to nothing: it failed, was stopped, or left goals open."""
        if self.status == ThreadStatus.USER_TURN:
            return self.last_outcome in ("failed", "cancelled")
        return self.status == ThreadStatus.GOALS_FAILED


class Rewind(models.Model):
    """A turn was taken back from `from_idx` on; readers with an older revision drop what they hold (spec 4.4)."""

    thread = models.ForeignKey(Thread, models.CASCADE, related_name="rewinds")
    revision = models.PositiveBigIntegerField()
    from_idx = models.PositiveIntegerField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["thread", "revision"], name="rewind_since")]

    def __str__(self) -> str:
        return f"{self.thread_id} back to {self.from_idx}"


class Pin(models.Model):
    """A thread on top of somebody's list."""

    user = models.ForeignKey(User, models.CASCADE, related_name="pins")
    thread = models.ForeignKey(Thread, models.CASCADE, related_name="pins")
    pinned_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["user", "thread"], name="pin_once")]
        # Somebody's pins in the order of their list, so that they lead to their threads.
        indexes: ClassVar = [models.Index(fields=["user", "-pinned_at", "-thread"], name="pin_in_order")]

    def __str__(self) -> str:
        return f"{self.user_id} pins {self.thread_id}"


class Subject(models.Model):
    """An outside entity that a thread is about, with a note (B163)."""

    thread = models.ForeignKey(Thread, models.CASCADE, related_name="subjects")
    association_id = models.CharField(max_length=200)
    note = models.CharField(max_length=2000)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["thread", "association_id"], name="subject_once"),
        ]
        # Threads about this entity.
        indexes: ClassVar = [models.Index(fields=["association_id", "thread"], name="subject_of")]

    def __str__(self) -> str:
        return self.association_id
