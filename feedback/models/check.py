"""Checks (regression tests made from reports), their batches and runs."""

from typing import Any, ClassVar

from django.db import models
from django.utils import timezone

from accounts.models import User
from core import ids
from core.db import JsonText
from feedback.models.report import UserFeedback
from threads.models import Thread


class Check(models.Model):
    """Expectations for the answer to a request when it is run again.

    It outlives its report: retracting a rating does not delete the check. Deleting a check only hides it; creating it
    again restores it with its runs. A report that is rerun together with others and has no check gets one that is not
    kept: it holds the runs, and no list shows it until somebody creates it.
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
    """The last decided result, passing or failing, even if the state is another one now."""
    outcome_before = models.CharField(max_length=10, blank=True)
    """`outcome` before its latest batch."""
    created = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    modified = models.DateTimeField(default=timezone.now)
    """When the expectations last changed."""
    modified_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    is_kept = models.BooleanField(default=True)
    """Whether it is a check for people, in lists, marks, queries and webhooks."""
    dropped_at = models.DateTimeField(null=True)
    """When it was deleted; its runs are not shown then."""

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["state", "-id"], condition=models.Q(is_kept=True), name="check_kept"),
        ]

    def __str__(self) -> str:
        return f"{self.title}: {self.state}"

    @property
    def wanted(self) -> list[dict[str, Any]]:
        """The expectations that judge its runs."""
        return [] if self.is_aside else self.expectations

    @property
    def is_aside(self) -> bool:
        """Whether it only holds the runs of a report that was rerun together with others."""
        return not self.is_kept and self.dropped_at is None

    @property
    def check_id(self) -> str:
        """The public id."""
        return ids.CHECK + self.key


class CheckBatch(models.Model):
    """Runs that were requested together, with the same options. Comparing two batches shows the effect of a change."""

    key = models.CharField(max_length=26, unique=True, default=ids.new_key, editable=False)
    created = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    skills = models.CharField(max_length=10)
    prompt = models.CharField(max_length=10, default="recorded")
    tools = models.CharField(max_length=10)
    model_profile = models.CharField(max_length=80, blank=True)
    """Empty: that of each thread."""
    times = models.PositiveSmallIntegerField(default=1)
    ended_at = models.DateTimeField(null=True)
    asked = models.CharField(max_length=80, blank=True)
    """A fingerprint of the request, to recognize a repeated one."""

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
    """One rerun for a check. Without a `fork` it waits to start. `verdict` is null while it waits or runs, and if a
    person has to judge it.
    """

    class Verdict(models.TextChoices):
        PASSED = "passed"
        FAILED = "failed"
        BROKEN = "broken"

    FIGURES: ClassVar = ("seconds", "input_tokens", "output_tokens", "cost")
    """Columns with the time, tokens and cost of the run."""
    key = models.CharField(max_length=26, unique=True, default=ids.new_key, editable=False)
    of = models.ForeignKey(Check, models.CASCADE, related_name="runs", db_index=False)
    batch = models.ForeignKey(CheckBatch, models.CASCADE, related_name="runs")
    """A check's state comes from its runs in its latest batch."""
    fork = models.OneToOneField(Thread, models.CASCADE, related_name="+", null=True)
    model_profile = models.CharField(max_length=80, blank=True)
    skill_versions = JsonText(default=list)
    """The skills that the agent had: id, name and version of each."""
    created = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)
    verdict = models.CharField(max_length=10, choices=Verdict, null=True)  # noqa: DJ001
    findings = JsonText(default=list)
    """For each expectation, whether it was met and what was found."""
    is_alike = models.BooleanField(null=True)
    """Whether the answer has the words and calls of the rated one; null until it is whole."""
    problem = models.CharField(max_length=200, blank=True)
    """Why it could not be started or judged, or why its answer is not whole."""
    seconds = models.FloatField(null=True)
    """Processing time of its turn."""
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(max_digits=20, decimal_places=10, null=True)
    judged_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    """The person who gave the verdict; null if the expectations decided."""

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["of", "-id"], name="run_of_check"),
            models.Index(fields=["id"], condition=models.Q(ended_at__isnull=True), name="run_open"),
        ]

    def __str__(self) -> str:
        return f"{self.of_id}: {self.verdict}"

    @classmethod
    def of_thread(cls) -> models.Exists:
        """The condition for threads that are runs of checks."""
        return models.Exists(cls.objects.filter(fork=models.OuterRef("pk")))

    @property
    def run_id(self) -> str:
        """The public id."""
        return ids.RUN + self.key
