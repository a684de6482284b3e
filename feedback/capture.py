"""Submitting and retracting feedback: one row per thread, message and person (spec 2.5)."""

from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial

from django.db import transaction
from django.utils import timezone

from accounts.rights import Right
from core import ids
from core.actor import Actor
from core.db import again, is_named_elsewhere
from core.errors import InvalidRequest, NotFound
from core.prepared import Question
from core.prepared_writes import PreparedInsert
from core.rows import new
from feedback import desk_notices, inheriting, projecting, taxonomy, webhooks
from feedback.deciding import is_revisited
from feedback.models import Retraction, Triage, UserFeedback
from feedback.wire import FeedbackIn, ReplyOut, UserFeedbackOut
from threads.access import LAST, MessageStanding, Standing, require, staying
from threads.content import TERMINAL
from threads.models import Message, Thread


def submit(actor: Actor, message: MessageStanding, body: FeedbackIn) -> UserFeedbackOut:
    """Rate a message, or change the actor's rating of it (T7).

    Resubmitting overwrites the rating and keeps id and creation time (B112); triage data stays (B132). Sending the same
    again changes nothing and triggers no event. An index past the end is not found (B121); a message that is not a
    finished answer is an invalid request (B120, B124).
    """
    require(actor, message.thread, Right.RATE)
    require_rateable(message)
    now = timezone.now()
    report = new(
        UserFeedback,
        thread_id=message.thread.pk,
        message_sequence_num=message.idx,
        org_id=message.thread.org_id,
        created=now,
        created_by_id=actor.user_id,
        modified=now,
        modified_by_id=actor.user_id,
        sentiment=body.sentiment.value,
        categories=body.clean_categories,
        category_bits=taxonomy.bits(body.clean_categories),
        notes=body.clean_notes,
    )
    # Events are stored in the same transaction. Without webhooks the insert is alone and needs only one round trip.
    wanted = webhooks.wanted(message.thread.key)
    with staying(message.thread.pk), transaction.atomic() if wanted else nullcontext():
        # One statement: of two concurrent submissions, the second becomes an edit of the first.
        _REPORTS.insert(report)
        said = None
        if report.modified == now or (report.modified > now and is_revisited(report)):
            said = webhooks.SUBMITTED if report.created == now else webhooks.UPDATED
        if said in wanted:
            webhooks.write_down(said, report, actor_id=actor.user_id)
        if said == webhooks.UPDATED:  # an admin may have it open
            desk_notices.announce()
    return projecting.submitted_record(report, message.thread, actor)


def questions_of(thread_id: str) -> Sequence[Question]:
    """The queries that `submit` starts with, if any."""
    key = ids.key_of(thread_id, *ids.THREAD_SPELLINGS)
    return webhooks.thread_questions_of(key) if key else ()


def own(actor: Actor, thread: Thread) -> list[UserFeedbackOut]:
    """The actor's own reports in a thread, in the order of its messages (H5)."""
    rows = UserFeedback.objects.filter(thread=thread, created_by=actor.user_id)
    return projecting.user_records(rows.order_by("message_sequence_num"))


def replies(actor: Actor, thread: Thread) -> list[ReplyOut]:
    """The replies to the actor's own reports in a thread, in the order of its messages. One query."""
    rows = UserFeedback.objects.filter(thread=thread, created_by=actor.user_id)
    return projecting.reply_records(rows.order_by("message_sequence_num"))


def retract(actor: Actor, thread: Thread | Standing, index: int) -> None:
    """Delete the actor's own report with its triage data; rating again creates a new report.

    A `Retraction` remains, so that admins see that there was a report. If it was open, its earliest duplicate replaces
    it. Raises `NotFound` if the actor has not rated that message.
    """
    require(actor, thread, Right.RATE)
    pk = _own_pk(actor, thread, index)
    # Rows that name the report are added without its lock, such as leases.
    if not again(partial(_take_back, actor, pk), is_named_elsewhere):
        raise NotFound(_NOT_RATED.format(index=index))  # the same request was sent twice, and the other one was first


def take_back_all(actor: Actor, thread: Thread) -> None:
    """Retract every report on a thread that is being deleted, in its transaction, with the webhook events."""
    for pk in UserFeedback.objects.filter(thread=thread).order_by("pk").values_list("pk", flat=True):
        _take_back(actor, pk)


def require_rateable(message: MessageStanding) -> None:
    """Refuse a message that is not a finished answer; failed answers can be rated (B123)."""
    if message.role is None:
        raise NotFound(f"This thread has no message {message.idx}." if message.idx >= 0 else _NO_SUCH)
    if message.role != Message.Role.ASSISTANT:
        raise InvalidRequest(f"message_sequence_num: message {message.idx} is not an answer of the agent")
    if message.status not in TERMINAL:
        raise InvalidRequest(f"message_sequence_num: message {message.idx} is still being written")


def require_rated(actor: Actor, thread: Thread | Standing, index: int) -> None:
    """Raise `NotFound` if the actor has not rated this message."""
    _own_pk(actor, thread, index)


def _take_back(actor: Actor, pk: int) -> bool:
    """Delete a report with its triage data; False if it was already gone."""
    with transaction.atomic():
        _locked(pk)  # first waits for a concurrent change that makes another report its duplicate, then reads again
        locked = _locked(pk)
        report = next((each for each in locked if each.pk == pk), None)
        if report is None:
            return False
        inheriting.pass_on(actor, report, [each for each in locked if each.pk != pk])
        webhooks.hold(report)
        webhooks.announce_retraction(report, actor_id=actor.user_id)
        Retraction.objects.create(key=report.key)
        report.delete()
        desk_notices.announce()
    return True


def _own_pk(actor: Actor, thread: Thread | Standing, index: int) -> int:
    if index < 0:
        raise NotFound(_NO_SUCH)
    own = UserFeedback.objects.filter(thread=thread.pk, created_by=actor.user_id)
    found = own.filter(message_sequence_num=index) if index <= LAST else own.none()
    pk = found.values_list("pk", flat=True).first()
    if pk is None:
        raise NotFound(_NOT_RATED.format(index=index))
    return pk


def _locked(pk: int) -> list[UserFeedback]:
    """A report and its duplicates, locked in order of row id like a bulk, so that they cannot deadlock."""
    pks = [pk, *Triage.objects.filter(duplicate_of=pk).values_list("pk", flat=True)]
    return list(UserFeedback.objects.select_for_update().filter(pk__in=pks).order_by("pk"))


_NO_SUCH = "This thread has no such message."
_NOT_RATED = "You have not rated message {index}."
_REPORTS = PreparedInsert(
    UserFeedback,
    unique=("thread", "message_sequence_num", "created_by"),
    update=("sentiment", "categories", "category_bits", "notes"),
    stamp="modified",
    # An edit may have waited for whoever resolved the report: it is later nevertheless, or nobody would look at it. Not
    # just after that time, which the submitter may not know.
    stamp_after="resolved_at",
    kept=("key", "created", "modified", "resolved_at"),
)
