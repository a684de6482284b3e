"""Threads, with their owner, visibility, status and the revision that orders all changes."""

from datetime import datetime
from typing import ClassVar, Self

from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Org, User
from catalogue.models import World
from core import ids
from core.actor import Actor
from core.db import JsonText
from threads.status import BAD_OUTCOMES, ThreadStatus, Visibility

TITLE_LENGTH = 200
IMPORT_ID_LENGTH = 200


class ThreadQuerySet(models.QuerySet["Thread"]):
    """Threads limited to what an actor may read; every list of threads starts with one of these."""

    def readable_by(self, actor: Actor) -> Self:
        """What the actor may read without admin rights: own threads and those shared in their orgs (B149)."""
        orgs = list(actor.orgs.values())
        own = Q(created_by=actor.user_id)
        if not actor.is_admin:
            own &= Q(org__in=orgs)
        return self.filter(own | Q(org__in=orgs, visibility=Visibility.ORG))

    def visible_to(self, actor: Actor) -> Self:
        """Everything the actor may read; admins read all threads (B30)."""
        return self.all() if actor.is_admin else self.readable_by(actor)

    def by_public_id(self, public_id: str) -> Self:
        """The thread with that id in any of its forms (B27), or none."""
        key = ids.key_of(public_id, *ids.THREAD_SPELLINGS)
        return self.filter(key=key) if key else self.none()

    def imported_as(self, import_id: str) -> Self:
        """The threads that had that id where they were imported from; each owner may have one."""
        return self.filter(import_id=import_id) if len(import_id) <= IMPORT_ID_LENGTH else self.none()

    def named(self, public_id: str) -> Self:
        """The thread with that id, else those that were imported under it (1.7)."""
        return self.imported_as(public_id) if self.is_imported_id(public_id) else self.by_public_id(public_id)

    def is_imported_id(self, public_id: str) -> bool:
        """Whether an id looks like one of a thread and is that of none, so that only an import can have had it."""
        looks_so = public_id.startswith(ids.THREAD_SPELLINGS) and len(public_id) <= IMPORT_ID_LENGTH
        return looks_so and not self.by_public_id(public_id).exists()


class Thread(models.Model):
    """One conversation with an agent. Only `threads.transcript` changes its messages, status and title."""

    key = models.CharField(max_length=64, unique=True, default=ids.new_key, editable=False)
    org = models.ForeignKey(Org, models.PROTECT, related_name="threads", db_index=False)
    created_by = models.ForeignKey(User, models.PROTECT, related_name="threads", db_index=False)
    created = models.DateTimeField(default=timezone.now)
    modified = models.DateTimeField(default=timezone.now)
    title = models.CharField(max_length=TITLE_LENGTH, null=True)  # noqa: DJ001 - the wire tells null from ""
    status = models.CharField(max_length=20, choices=ThreadStatus)
    visibility = models.CharField(max_length=10, choices=Visibility, default=Visibility.PRIVATE)
    model_profile = models.CharField(max_length=80, null=True)  # noqa: DJ001
    system_prompt = models.TextField(null=True)  # noqa: DJ001
    client_context = JsonText(null=True)
    analysis_scope = JsonText(null=True)
    available_skills = JsonText(null=True)
    forked_from = models.ForeignKey("self", models.SET_NULL, null=True, related_name="forks")
    forked_from_message_sequence_num = models.PositiveIntegerField(null=True)
    created_from_agent_id = models.CharField(max_length=80, null=True)  # noqa: DJ001
    created_from_agent_version = models.PositiveIntegerField(null=True)
    """The agent's version then; null if it was not launched, or before versions were kept."""
    launch_values = JsonText(null=True)
    """The values of the agent's variables, by name; null if it was not launched, or before they were kept."""
    created_from_trigger_id = models.CharField(max_length=80, null=True)  # noqa: DJ001
    origin = models.CharField(max_length=20, null=True)  # noqa: DJ001
    import_id = models.CharField(max_length=IMPORT_ID_LENGTH, null=True)  # noqa: DJ001
    metadata = JsonText(null=True)
    # The world that simulates its tools; a world with threads is never deleted.
    world = models.ForeignKey(World, models.PROTECT, null=True, related_name="threads")

    # The number of the last change, and of the last change of each part that is sent whole (spec 4.4).
    revision = models.PositiveBigIntegerField(default=0)
    title_revision = models.PositiveBigIntegerField(default=0)
    goals_revision = models.PositiveBigIntegerField(default=0)
    rewind_revision = models.PositiveBigIntegerField(default=0)

    # Derived from the messages, so that lists need not read them.
    message_count = models.PositiveIntegerField(default=0)
    weave = models.CharField(max_length=160, default="")
    has_error = models.BooleanField(default=False)
    goal_count = models.PositiveSmallIntegerField(default=0)
    achieved_goal_count = models.PositiveSmallIntegerField(default=0)
    last_outcome = models.CharField(max_length=10, default="")

    objects: ClassVar = ThreadQuerySet.as_manager()
    HEAVY: ClassVar = (
        "system_prompt",
        "client_context",
        "analysis_scope",
        "available_skills",
        "launch_values",
        "metadata",
    )
    """Columns that may be large and are rarely needed."""

    class Meta:
        indexes: ClassVar = [
            # For lists, newest first: own threads, own threads in one org, shared threads of an org, and for admins
            # all threads of an org or of all orgs. Both foreign keys lead one of them and need no index of their own.
            models.Index(fields=["created_by", "-created", "-id"], name="thread_own"),
            models.Index(fields=["created_by", "org", "-created", "-id"], name="thread_own_in_org"),
            models.Index(fields=["org", "visibility", "-created", "-id"], name="thread_shared"),
            models.Index(fields=["org", "-created", "-id"], name="thread_of_org"),
            models.Index(fields=["-created", "-id"], name="thread_all"),
            # The threads of an agent, for lists and for the desk.
            models.Index(
                fields=["created_from_agent_id"], condition=Q(created_from_agent_id__isnull=False), name="thread_agent"
            ),
            # Lookup by the original id of an imported thread.
            models.Index(fields=["import_id"], condition=Q(import_id__isnull=False), name="thread_import_id"),
        ]
        constraints: ClassVar = [
            # A repeated import changes nothing (B177).
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
    def agent_key(self) -> str:
        """The key of the agent that it was launched from, which may be gone; empty for none."""
        return ids.key_of(self.created_from_agent_id or "", ids.AGENT) or ""

    @property
    def imported_at(self) -> datetime | None:
        """When it was imported, if it was: then its id was made."""
        return None if self.import_id is None else ids.moment_of(self.key)

    @property
    def is_read_only(self) -> bool:
        """Whether another surface owns the thread and is the only one that can add to it (B161)."""
        return self.origin not in (None, "api")

    @property
    def ended_badly(self) -> bool:
        """Whether its last turn failed, was stopped, or left goals open."""
        if self.status == ThreadStatus.USER_TURN:
            return self.last_outcome in BAD_OUTCOMES
        return self.status == ThreadStatus.GOALS_FAILED


class Rewind(models.Model):
    """Messages from `from_idx` on were removed; readers with an older revision drop them (spec 4.4)."""

    thread = models.ForeignKey(Thread, models.CASCADE, related_name="rewinds")
    revision = models.PositiveBigIntegerField()
    from_idx = models.PositiveIntegerField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["thread", "revision"], name="rewind_since")]

    def __str__(self) -> str:
        return f"{self.thread_id} back to {self.from_idx}"


class Pin(models.Model):
    """A thread pinned to the top of a user's list."""

    user = models.ForeignKey(User, models.CASCADE, related_name="pins")
    thread = models.ForeignKey(Thread, models.CASCADE, related_name="pins")
    pinned_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["user", "thread"], name="pin_once")]
        # A user's pins in list order, so that queries start from the pins.
        indexes: ClassVar = [models.Index(fields=["user", "-pinned_at", "-thread"], name="pin_in_order")]

    def __str__(self) -> str:
        return f"{self.user_id} pins {self.thread_id}"


class Subject(models.Model):
    """An external entity that a thread is about, with a note (B163)."""

    thread = models.ForeignKey(Thread, models.CASCADE, related_name="subjects")
    association_id = models.CharField(max_length=200)
    note = models.CharField(max_length=2000)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["thread", "association_id"], name="subject_once"),
        ]
        # For threads about an entity.
        indexes: ClassVar = [models.Index(fields=["association_id", "thread"], name="subject_of")]

    def __str__(self) -> str:
        return self.association_id
