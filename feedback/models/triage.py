"""The desk: what admins keep beside a report, who changed what, who has it open. None of it is on the wire's record."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

from accounts.models import User
from core import ids
from core.db import JsonText
from feedback.models.report import UserFeedback
from feedback.taxonomy import Outcome


class Triage(models.Model):
    """What admins keep beside a report. Made by the first verb that needs it: no row means nothing was decided."""

    feedback = models.OneToOneField(UserFeedback, models.CASCADE, primary_key=True, related_name="triage")
    owner = models.ForeignKey(User, models.PROTECT, null=True, related_name="+", db_index=False)
    outcome = models.CharField(max_length=14, choices=Outcome, null=True)  # noqa: DJ001
    duplicate_of = models.ForeignKey(UserFeedback, models.SET_NULL, null=True, related_name="duplicates")
    snoozed_until = models.DateTimeField(null=True)
    snoozed_until_again = models.BooleanField(default=False)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["owner", "-feedback"], condition=models.Q(owner__isnull=False), name="triage_owner"),
            # With its report, so that what is due is counted and collected without a look at any row.
            models.Index(
                fields=["snoozed_until", "feedback"],
                condition=models.Q(snoozed_until__isnull=False),
                name="triage_snoozed",
            ),
            models.Index(
                fields=["feedback"], condition=models.Q(snoozed_until_again=True), name="triage_snoozed_again"
            ),
            models.Index(
                fields=["outcome", "-feedback"], condition=models.Q(outcome__isnull=False), name="triage_outcome"
            ),
        ]

    def __str__(self) -> str:
        return f"triage of {self.feedback_id}"


class TriageChange(models.Model):
    """One thing that was done to a report: who, when, what was before and after. Never changed.

    The actor is an admin. Of `again` it is who reported the same, of `retract` who took back what this one was a
    duplicate of.

    It goes with a report that its submitter takes back. Everything that one click did carries one `action`, be it one
    report or thousands; an undo is an action too and names the one that it takes back.
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
            # What somebody did last, to take it back.
            models.Index(fields=["actor", "-id"], name="change_by"),
            models.Index(fields=["undoes"], condition=models.Q(undoes__isnull=False), name="change_undoes"),
        ]

    def __str__(self) -> str:
        return f"{self.verb} of {self.feedback_id} by {self.actor_id}"


class Label(models.Model):
    """A word that admins put on reports. It is made by its first use; case does not tell two apart."""

    name = models.CharField(max_length=60)
    folded = models.CharField(max_length=180, unique=True, editable=False)
    """The name without its case; databases disagree about what that is beyond ASCII."""
    description = models.CharField(max_length=200, default="")
    created = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")

    def __str__(self) -> str:
        return self.name


class Labelled(models.Model):
    """That a report carries a label: the words of `admin_label`, one by one, for finding and counting.

    The column is the truth, because the wire writes it as one text (spec 3.10); these rows follow it in the same verb.
    """

    feedback = models.ForeignKey(UserFeedback, models.CASCADE, related_name="labelled", db_index=False)
    label = models.ForeignKey(Label, models.CASCADE, related_name="labelled", db_index=False)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["feedback", "label"], name="labelled_once")]
        indexes: ClassVar = [models.Index(fields=["label", "-feedback"], name="labelled_with")]

    def __str__(self) -> str:
        return f"{self.label_id} on {self.feedback_id}"


class Lease(models.Model):
    """That somebody has a report open, until when; of several the first is told. It never keeps anybody from saving."""

    feedback = models.ForeignKey(UserFeedback, models.CASCADE, related_name="leases", db_index=False)
    holder = models.ForeignKey(User, models.CASCADE, related_name="+")
    until = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["feedback", "holder"], name="lease_once")]
        indexes: ClassVar = [models.Index(fields=["until"], name="lease_until")]

    def __str__(self) -> str:
        return f"{self.holder_id} on {self.feedback_id}"


class SavedView(models.Model):
    """A query with a name: one's own, or shared with all who work at the desk."""

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
    """One action on many reports. A small one is done when its row is there; a worker walks through a large one.

    `after` is the row id of the last report that was dealt with, of an undo that of the last change, so a worker that
    takes over goes on behind it.
    """

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        CANCELLED = "cancelled"

    OPEN = (State.QUEUED, State.RUNNING)
    """Somebody works on it, or will."""

    key = models.CharField(max_length=26, unique=True, default=ids.new_key, editable=False)
    verb = models.CharField(max_length=12)
    arguments = JsonText(default=dict)
    query = models.CharField(max_length=2000, null=True)  # noqa: DJ001 - null where reports were ticked
    chosen = JsonText(null=True)
    """Row ids, where reports were ticked."""
    below = models.BigIntegerField(null=True)
    """Only reports up to this row id: what arrives after the click was not meant."""
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
        """Whether nobody works on it any more."""
        return self.state in (self.State.DONE, self.State.CANCELLED)

    @property
    def dealt_with(self) -> int:
        """Reports that were reached so far."""
        return self.done_count + self.failed_count


class BulkFailure(models.Model):
    """A report that a bulk left as it was, and why."""

    bulk = models.ForeignKey(Bulk, models.CASCADE, related_name="failures")
    feedback_key = models.CharField(max_length=26)
    reason = models.CharField(max_length=300)

    def __str__(self) -> str:
        return f"{self.feedback_key}: {self.reason}"
