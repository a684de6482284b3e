"""Submitting feedback: one row for each thread, message and person (spec 2.5). And taking it back."""

from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial

from django.db import transaction
from django.utils import timezone

from accounts.rights import Right
from core import ids, notices
from core.actor import Actor
from core.db import again, is_named_elsewhere
from core.errors import InvalidRequest, NotFound
from core.prepared import PreparedInsert, Question
from feedback import inheriting, projecting, taxonomy, triage, webhooks
from feedback.models import Retraction, Triage, UserFeedback
from feedback.wire import FeedbackIn, ReplyOut, UserFeedbackOut
from threads.access import MessageStanding, Standing, require, staying
from threads.content import TERMINAL
from threads.models import Message, Thread


def submit(actor: Actor, message: MessageStanding, body: FeedbackIn) -> UserFeedbackOut:
    """Rate a message, or change one's rating of it (T7).

    Resubmitting overwrites what the person says and keeps id and birth (B112); what admins made of it stays (B132). The
    same sent again is no edit: it changes nothing and nobody is told.
    An index past the end is not found (B121); a message that is no finished answer is an invalid request (B120, B124).
    """
    require(actor, message.thread, Right.RATE)
    require_rateable(message)
    now = timezone.now()
    report = UserFeedback(
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
    # What is to be told is stored with it. Where nobody listens it is alone: a transaction of its own, and one trip.
    wanted = webhooks.wanted(message.thread.key)
    with staying(message.thread.pk), transaction.atomic() if wanted else nullcontext():
        # One statement: of two submissions that run beside each other, the second becomes an edit of the first.
        _REPORTS.insert(report)
        said = None
        if report.modified == now:
            said = webhooks.SUBMITTED if report.created == now else webhooks.UPDATED
        if said in wanted:
            webhooks.write_down(said, report, actor_id=actor.user_id)
        if said == webhooks.UPDATED:  # somebody may have it open
            transaction.on_commit(lambda: notices.publish(triage.NOTICE))
    return projecting.submitted_record(report, message.thread, actor)


def questions_of(thread_id: str) -> Sequence[Question]:
    """What `submit` asks first, if anything."""
    key = ids.key_of(thread_id, *ids.THREAD_SPELLINGS)
    return webhooks.thread_questions_of(key) if key else ()


def own(actor: Actor, thread: Thread) -> list[UserFeedbackOut]:
    """The actor's own reports in a thread, in the order of its messages (H5)."""
    rows = UserFeedback.objects.filter(thread=thread, created_by=actor.user_id)
    return projecting.user_records(rows.order_by("message_sequence_num"))


def replies(actor: Actor, thread: Thread) -> list[ReplyOut]:
    """What the actor was told of each own report in a thread, in the order of its messages. One query."""
    rows = UserFeedback.objects.filter(thread=thread, created_by=actor.user_id)
    return projecting.reply_records(rows.order_by("message_sequence_num"))


def retract(actor: Actor, thread: Thread | Standing, index: int) -> None:
    """Take one's own report back, with all that admins keep beside it; who rates anew makes a new one.

    That it was there stays as a `Retraction`, so that admins are told. Where it was open, its earliest duplicate takes
    its place. Raises `NotFound` where the actor has rated no such message.
    """
    require(actor, thread, Right.RATE)
    pk = _own_pk(actor, thread, index)
    # What hangs on the report grows without its lock: an attempt of a webhook, a lease.
    if not again(partial(_take_back, actor, pk), is_named_elsewhere):
        raise NotFound(_NOT_RATED.format(index=index))  # the same request, sent twice: the other was quicker


def take_back_all(actor: Actor, thread: Thread) -> None:
    """Take back every report on a thread that is deleted, in its transaction: whoever was told is told to forget."""
    for pk in UserFeedback.objects.filter(thread=thread).order_by("pk").values_list("pk", flat=True):
        _take_back(actor, pk)


def require_rateable(message: MessageStanding) -> None:
    """Only a finished answer can be rated, a failed one included (B123)."""
    if message.role is None:
        raise NotFound(f"This thread has no message {message.idx}." if message.idx >= 0 else _NO_SUCH)
    if message.role != Message.Role.ASSISTANT:
        raise InvalidRequest(f"message_sequence_num: message {message.idx} is no answer of the agent")
    if message.status not in TERMINAL:
        raise InvalidRequest(f"message_sequence_num: message {message.idx} is still being written")


def require_rated(actor: Actor, thread: Thread | Standing, index: int) -> None:
    """Raise `NotFound` where the actor has not rated this message."""
    _own_pk(actor, thread, index)


def _take_back(actor: Actor, pk: int) -> bool:
    """Delete a report with what is kept beside it; False where it was gone already."""
    with transaction.atomic():
        _locked(pk)  # waits for whoever makes another one its duplicate just now, which is seen afterwards only
        locked = _locked(pk)
        report = next((each for each in locked if each.pk == pk), None)
        if report is None:
            return False
        inheriting.pass_on(actor, report, [each for each in locked if each.pk != pk])
        webhooks.announce_retraction(report, actor_id=actor.user_id)
        Retraction.objects.create(key=report.key)
        report.delete()
        transaction.on_commit(lambda: notices.publish(triage.NOTICE))
    return True


def _own_pk(actor: Actor, thread: Thread | Standing, index: int) -> int:
    if index < 0:
        raise NotFound(_NO_SUCH)
    own = UserFeedback.objects.filter(thread=thread.pk, created_by=actor.user_id)
    found = own.filter(message_sequence_num=index) if index < 2**31 else own.none()
    pk = found.values_list("pk", flat=True).first()
    if pk is None:
        raise NotFound(_NOT_RATED.format(index=index))
    return pk


def _locked(pk: int) -> list[UserFeedback]:
    """A report and its duplicates, locked by row id as a bulk does it: two that meet there do not deadlock."""
    pks = [pk, *Triage.objects.filter(duplicate_of=pk).values_list("pk", flat=True)]
    return list(UserFeedback.objects.select_for_update().filter(pk__in=pks).order_by("pk"))


_NO_SUCH = "This thread has no such message."
_NOT_RATED = "You have not rated message {index}."
_REPORTS = PreparedInsert(
    UserFeedback,
    unique=("thread", "message_sequence_num", "created_by"),
    update=("sentiment", "categories", "category_bits", "notes"),
    stamp="modified",
    kept=("key", "created", "modified"),
)
