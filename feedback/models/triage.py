"""The desk's data: triage, history, labels, leases, views and bulks. None of it is in the wire's record."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

from accounts.models import User
from core import ids
from core.db import JsonText
from feedback.models.report import UserFeedback
from feedback.taxonomy import Outcome


class Triage(models.Model):
    """Triage data of a report. Created by the first verb that needs it; no row means all defaults."""

    feedback = models.OneToOneField(UserFeedback, models.CASCADE, primary_key=True, related_name="triage")
    owner = models.ForeignKey(User, models.PROTECT, null=True, related_name="+", db_index=False)
    outcome = models.CharField(max_length=14, choices=Outcome, null=True)  # noqa: DJ001
    duplicate_of = models.ForeignKey(UserFeedback, models.SET_NULL, null=True, related_name="duplicates")
    snoozed_until = models.DateTimeField(null=True)
    snoozed_until_again = models.BooleanField(default=False)
    proof = models.CharField(max_length=40, null=True)  # noqa: DJ001
    """The public id of the rerun that shows its outcome. The thread may be gone: what was decided by it stays."""

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["owner", "-feedback"], condition=models.Q(owner__isnull=False), name="triage_owner"),
            # Includes the report, so that due reports are counted and collected from the index alone.
            models.Index(
                fields=["snoozed_until", "feedback"],
                condition=models.Q(snoozed_until__isnull=False),
                name="triage_snoozed",
            ),
            models.Index(
                fields=["feedback"], condition=models.Q(snoozed_until_again=True), name="triage_snoozed_again"
            ),
            models.Index(fields=["feedback"], condition=models.Q(proof__isnull=False), name="triage_proof"),
            models.Index(
                fields=["outcome", "-feedback"], condition=models.Q(outcome__isnull=False), name="triage_outcome"
            ),
        ]

    def __str__(self) -> str:
        return f"triage of {self.feedback_id}"


class TriageChange(models.Model):
    """One change of a report in its history: who, when, and the values before and after. Never modified.

    The actor is an admin; for `again` it is who reported the same, for `retract` who retracted the original report.

    It is deleted when the report is retracted. All changes of one click share one `action`, for one report or
    thousands. An undo is an action, too; its `undoes` names the undone action.
    """

    feedback = models.ForeignKey(UserFeedback, models.CASCADE, related_name="changes")
    at = models.DateTimeField(default=timezone.now)
    actor = models.ForeignKey(User, models.PROTECT, related_name="+")
    before = JsonText()
    after = JsonText()
    verb = models.CharField(max_length=12, default="update")
    action = models.CharField(max_length=26, default=ids.new_key)
    undoes = models.CharField(max_length=26, null=True)  # noqa: DJ001

    class Meta:
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [
            models.Index(fields=["action", "id"], name="change_action"),
            # Somebody's latest action, for undo.
            models.Index(fields=["actor", "-id"], name="change_by"),
            models.Index(fields=["undoes"], condition=models.Q(undoes__isnull=False), name="change_undoes"),
        ]

    def __str__(self) -> str:
        return f"{self.verb} of {self.feedback_id} by {self.actor_id}"


class Label(models.Model):
    """A label for reports. Created by its first use; names are compared ignoring case."""

    name = models.CharField(max_length=60)
    folded = models.CharField(max_length=180, unique=True, editable=False)
    """The case-folded name; databases differ in how they fold non-ASCII letters."""
    description = models.CharField(max_length=200, default="")
    created = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")

    def __str__(self) -> str:
        return self.name


class Labelled(models.Model):
    """One label on one report: the labels in `admin_label`, one by one, for searching and counting.

    The column is the source of truth, because the wire writes it as one text (spec 3.10); every verb that changes it
    updates these rows.
    """

    feedback = models.ForeignKey(UserFeedback, models.CASCADE, related_name="labelled", db_index=False)
    label = models.ForeignKey(Label, models.CASCADE, related_name="labelled", db_index=False)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["feedback", "label"], name="labelled_once")]
        indexes: ClassVar = [models.Index(fields=["label", "-feedback"], name="labelled_with")]

    def __str__(self) -> str:
        return f"{self.label_id} on {self.feedback_id}"


class Lease(models.Model):
    """Somebody has a report open until then; of several leases the first is shown. It never prevents saving."""

    feedback = models.ForeignKey(UserFeedback, models.CASCADE, related_name="leases", db_index=False)
    holder = models.ForeignKey(User, models.CASCADE, related_name="+")
    until = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["feedback", "holder"], name="lease_once")]
        indexes: ClassVar = [models.Index(fields=["until"], name="lease_until")]

    def __str__(self) -> str:
        return f"{self.holder_id} on {self.feedback_id}"


class SavedView(models.Model):
    """A named query, private or shared with all admins."""

    key = models.CharField(max_length=26, unique=True, default=ids.new_key, editable=False)
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=2000)
    is_shared = models.BooleanField(default=False)
    created = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(User, models.CASCADE, related_name="+")

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["created_by", "name"], name="view_once")]

    def __str__(self) -> str:
        return self.name


class Bulk(models.Model):
    """One action on many reports. A small one is done in the transaction that creates it, a large one by a worker.

    `after` is the row id of the last processed report (for an undo: change), so that another worker can continue after
    it.
    """

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        CANCELLED = "cancelled"

    OPEN = (State.QUEUED, State.RUNNING)
    """States of a bulk that has not ended."""

    key = models.CharField(max_length=26, unique=True, default=ids.new_key, editable=False)
    verb = models.CharField(max_length=12)
    arguments = JsonText(default=dict)
    query = models.CharField(max_length=2000, null=True)  # noqa: DJ001 - null where reports were ticked
    chosen = JsonText(null=True)
    """Row ids, if reports were ticked."""
    below = models.BigIntegerField(null=True)
    """Only reports up to this row id, so that those that arrive after the click are not included."""
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    total = models.PositiveIntegerField(default=0)
    done_count = models.PositiveIntegerField(default=0)
    failed_count = models.PositiveIntegerField(default=0)
    after = models.BigIntegerField(null=True)
    undoes = models.CharField(max_length=26, null=True)  # noqa: DJ001
    lease_until = models.DateTimeField(null=True)
    created = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=["state", "lease_until"],
                condition=models.Q(state__in=("queued", "running")),
                name="bulk_open",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.verb} of {self.total} reports: {self.state}"

    @property
    def bulk_id(self) -> str:
        """The public id."""
        return ids.BULK + self.key

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.state not in self.OPEN

    @property
    def dealt_with(self) -> int:
        """Number of reports processed so far."""
        return self.done_count + self.failed_count


class BulkFailure(models.Model):
    """A report that a bulk could not change, and why."""

    bulk = models.ForeignKey(Bulk, models.CASCADE, related_name="failures")
    feedback_key = models.CharField(max_length=26)
    reason = models.CharField(max_length=300)
    is_as_wanted = models.BooleanField(default=False, help_text="somebody had already done the same to the report")

    def __str__(self) -> str:
        return f"{self.feedback_key}: {self.reason}"
