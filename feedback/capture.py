"""Submitting feedback: one row for each thread, message and person (spec 2.5)."""

from django.db import transaction
from django.utils import timezone

from core.actor import Actor
from core.errors import InvalidRequest, NotFound
from core.prepared import Prepared, PreparedInsert
from feedback import projecting, taxonomy, webhooks
from feedback.models import UserFeedback
from feedback.wire import FeedbackIn, UserFeedbackOut
from threads.access import Standing
from threads.content import TERMINAL
from threads.models import Message, Thread


def submit(actor: Actor, thread: Thread | Standing, index: int, body: FeedbackIn) -> UserFeedbackOut:
    """Rate a message, or change one's rating of it (T7).

    Resubmitting overwrites what the person says and keeps id and birth (B112); what admins made of it stays (B132).
    An index past the end is not found (B121); a message that is no finished answer is an invalid request (B120, B124).
    """
    with transaction.atomic():
        require_rateable(thread, index)
        now = timezone.now()
        report = UserFeedback(
            thread_id=thread.pk,
            message_sequence_num=index,
            org_id=thread.org_id,
            created=now,
            created_by_id=actor.user_id,
            modified=now,
            modified_by_id=actor.user_id,
            sentiment=body.sentiment.value,
            categories=body.clean_categories,
            category_bits=taxonomy.bits(body.clean_categories),
            notes=body.clean_notes,
        )
        # One statement: of two submissions that run beside each other, the second becomes an edit of the first.
        _REPORTS.insert(report)
        record = projecting.user_record(report.pk)
        said = webhooks.SUBMITTED if record.modified == record.created else webhooks.UPDATED
        webhooks.announce(said, report.pk, actor_id=actor.user_id)
        return record


def own(actor: Actor, thread: Thread) -> list[UserFeedbackOut]:
    """The actor's own reports in a thread, in the order of its messages (H5)."""
    rows = UserFeedback.objects.filter(thread=thread, created_by=actor.user_id)
    return projecting.user_records(rows.order_by("message_sequence_num"))


def require_rateable(thread: Thread | Standing, index: int) -> None:
    """Only a finished answer can be rated, a failed one included (B123)."""
    found = _PLACE.first(thread.pk, index) if 0 <= index < 2**31 else None
    if found is None:
        raise NotFound(f"This thread has no message {index}.")
    role, status = found
    if role != Message.Role.ASSISTANT:
        raise InvalidRequest(f"message_sequence_num: message {index} is no answer of the agent")
    if status not in TERMINAL:
        raise InvalidRequest(f"message_sequence_num: message {index} is still being written")


_PLACE = Prepared(
    lambda pk, index: Message.objects.filter(thread=pk, idx=index).values_list("role", "status"), int, int
)
_REPORTS = PreparedInsert(
    UserFeedback,
    unique=("thread", "message_sequence_num", "created_by"),
    update=("sentiment", "categories", "category_bits", "notes", "modified", "modified_by"),
)
