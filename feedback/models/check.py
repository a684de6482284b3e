"""Checks: complaints that are kept as tests, and each time that one was run."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

from accounts.models import User
from core import ids
from core.db import JsonText
from feedback.models.report import UserFeedback
from threads.models import Thread


class Check(models.Model):
    """What must hold when a request is answered again.

    It outlives the report that it was made of: whoever takes a rating back does not take back what was learned from it.
    Dropped, it is out of all lists, and back with its runs as soon as it is kept again.
    """

    class State(models.TextChoices):
        UNTRIED = "untried"
        RUNNING = "running"
        PASSING = "passing"
        FAILING = "failing"
        UNDECIDED = "undecided"

    key = models.CharField(max_length=26, unique=True, default=ids.new_key, editable=False)
    feedback = models.OneToOneField(UserFeedback, models.SET_NULL, null=True, related_name="kept_check")
    thread = models.ForeignKey(Thread, models.CASCADE, related_name="checks")
    message_sequence_num = models.PositiveIntegerField()
    title = models.CharField(max_length=120)
    expectations = JsonText(default=list)
    state = models.CharField(max_length=10, choices=State, default=State.UNTRIED)
    outcome = models.CharField(max_length=10, blank=True)
    """What it was last that can be told, passing or failing, whatever it is now."""
    outcome_before = models.CharField(max_length=10, blank=True)
    """The same before its latest batch."""
    created = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    modified = models.DateTimeField(default=timezone.now)
    """When somebody said last what it expects."""
    modified_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    dropped_at = models.DateTimeField(null=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["state", "-id"], condition=models.Q(dropped_at__isnull=True), name="check_state"),
        ]

    def __str__(self) -> str:
        return f"{self.title}: {self.state}"

    @property
    def check_id(self) -> str:
        """The public id."""
        return ids.CHECK + self.key


class CheckBatch(models.Model):
    """All that was asked to run together, with the same choices; held against another it shows what a change did."""

    key = models.CharField(max_length=26, unique=True, default=ids.new_key, editable=False)
    created = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    skills = models.CharField(max_length=10)
    tools = models.CharField(max_length=10)
    model_profile = models.CharField(max_length=80, blank=True)
    """Empty: that of each thread."""
    times = models.PositiveSmallIntegerField(default=1)
    ended_at = models.DateTimeField(null=True)
    asked = models.CharField(max_length=80, blank=True)
    """The digest of what was asked, which recognises a request that is sent again."""

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["id"], condition=models.Q(ended_at__isnull=True), name="batch_open"),
        ]

    def __str__(self) -> str:
        return self.batch_id

    @property
    def batch_id(self) -> str:
        """The public id."""
        return ids.BATCH + self.key


class CheckRun(models.Model):
    """One rerun for a check. It waits for its turn while it has no `fork`; `verdict` is null while nobody can tell:
    it waits, it is under way, or people have to look.
    """

    class Verdict(models.TextChoices):
        PASSED = "passed"
        FAILED = "failed"
        BROKEN = "broken"

    FIGURES: ClassVar = ("seconds", "input_tokens", "output_tokens", "cost")
    """What it took, by column."""
    key = models.CharField(max_length=26, unique=True, default=ids.new_key, editable=False)
    of = models.ForeignKey(Check, models.CASCADE, related_name="runs", db_index=False)
    batch = models.ForeignKey(CheckBatch, models.CASCADE, related_name="runs")
    """The state of a check is that of its runs in its latest batch."""
    fork = models.OneToOneField(Thread, models.CASCADE, related_name="+", null=True)
    model_profile = models.CharField(max_length=80, blank=True)
    skill_versions = JsonText(default=list)
    """Which versions of which skills the agent had: id, name and version of each."""
    created = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)
    verdict = models.CharField(max_length=10, choices=Verdict, null=True)  # noqa: DJ001
    findings = JsonText(default=list)
    """Of each expectation whether it held, and what was found instead."""
    problem = models.CharField(max_length=200, blank=True)
    """Why it was never begun, or could not be judged."""
    seconds = models.FloatField(null=True)
    """How long its turn was worked on."""
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(max_digits=20, decimal_places=10, null=True)
    judged_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    """Who said so, where it was a person."""

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["of", "-id"], name="run_of_check"),
            models.Index(fields=["id"], condition=models.Q(ended_at__isnull=True), name="run_open"),
        ]

    def __str__(self) -> str:
        return f"{self.of_id}: {self.verdict}"

    @classmethod
    def of_thread(cls) -> models.Exists:
        """The condition of threads that are runs."""
        return models.Exists(cls.objects.filter(fork=models.OuterRef("pk")))

    @property
    def run_id(self) -> str:
        """The public id."""
        return ids.RUN + self.key
