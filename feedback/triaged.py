"""A report with what admins made of it, which other modules store beside it."""

from accounts.models import User
from core.prepared import PreparedRow
from core.rows import loaded
from feedback import projecting
from feedback.label_text import written_labels
from feedback.models import Reply, Triage, UserFeedback
from feedback.wire import TriagedOut

PERSON = ("id", "email", "name")
"""The columns of a user that records and pages show."""


def record(report: UserFeedback) -> TriagedOut:
    """A report with its triage data and reply; raises `NotFound` if it was retracted meanwhile."""
    full = projecting.full_record_of(report.pk)
    triage, reply = beside(report)
    return TriagedOut(
        **full.model_dump(),
        labels=written_labels(full.admin_label),
        owner=triage.owner.email if triage.owner else None,
        outcome=triage.outcome,
        duplicate_of=triage.duplicate_of.feedback_id if triage.duplicate_of else None,
        snoozed_until=triage.snoozed_until,
        snoozed_until_again=triage.snoozed_until_again,
        proof=triage.proof,
        public_status=reply.public_status if reply else Reply.Status.RECEIVED.value,
        public_reply=reply.public_reply if reply else None,
        replied_at=reply.replied_at if reply and projecting.is_told(reply.public_status) else None,
    )


def beside(report: UserFeedback) -> tuple[Triage, Reply | None]:
    """A report's triage row with the owner and the report that it names (an empty row if there is none), and its
    reply. One trip to the database.
    """
    triage = _TRIAGE.first(report.pk, ahead=_REPLY.questions(report.pk))
    reply = _REPLY.first(report.pk)
    if triage is None:
        return Triage(), reply
    email, name, key = triage.beside  # type: ignore[attr-defined]
    if triage.owner_id:
        triage.owner = loaded(User, PERSON, (triage.owner_id, email, name))
    if triage.duplicate_of_id:
        triage.duplicate_of = loaded(UserFeedback, ("id", "key"), (triage.duplicate_of_id, key))
    return triage, reply


_TRIAGE = PreparedRow(
    lambda report: Triage.objects.filter(feedback=report),
    Triage,
    int,
    beside=("owner__email", "owner__name", "duplicate_of__key"),
)
_REPLY = PreparedRow(lambda report: Reply.objects.filter(feedback=report), Reply, int)
