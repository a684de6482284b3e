"""What pages of threads show of ratings and replies; `feedback.hooks` offers it to `threads`."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from django.db.models import Case, Count, Exists, F, Min, OuterRef, Q, QuerySet, Subquery, When
from django.urls import reverse

from accounts.models import display_name
from core import ids
from core.actor import Actor
from core.prepared import Prepared
from core.statements import Row
from core.wording import one_line
from feedback import projecting
from feedback.models import CheckRun, Reply, UserFeedback
from feedback.presenting.links import href
from feedback.presenting.words import categories_line
from threads.hooks import Ratings
from threads.models import Message, Thread
from threads.presenting.articles import Mark, OtherMark, Told

_OTHERS = 5
"""Most ratings of one message that are shown beside the first."""


def message_marks(actor: Actor, thread: Thread) -> dict[int, Mark]:
    """Ratings by message of a thread: the actor's own; for admins, else the latest of each message, with the others in
    short and whether each is resolved.
    """
    rows = _MARKS.rows(thread.pk) if actor.is_admin else _OWN_MARKS.rows(thread.pk, actor.user_id)
    rated: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        rated[row[1]].append(row)
    return {index: _mark(actor, thread, of_message[::-1]) for index, of_message in rated.items()}


def _mark(actor: Actor, thread: Thread, rows: Sequence[Row]) -> Mark:
    """The mark of a message from its ratings, the latest first; non-admins have one at most."""
    first = next((row for row in rows if row[_AUTHOR] == actor.user_id), rows[0])
    key, _, sentiment, categories, notes, modified, is_resolved, author_id, name, email, *reply = first
    mark = Mark(sentiment, tuple(categories), notes or "", display_name(name, email), author_id == actor.user_id)
    if mark.mine:
        mark = replace(mark, told=_told(modified, *reply))
    if not actor.is_admin:
        return mark
    others = [row for row in rows if row is not first]
    more = max(len(others) - _OTHERS, 0)
    return replace(
        mark,
        report_href=_at_the_desk(key),
        is_resolved=is_resolved,
        others=tuple(map(_other, others[:_OTHERS])),
        more=more,
        all_href=reverse("feedback:desk") + href({"q": f"thread:{thread.thread_id}"}) if more else "",
    )


def _other(row: Row) -> OtherMark:
    key, _, sentiment, categories, notes, _, is_resolved, _, name, email, *_ = row
    words = one_line(notes or categories_line(tuple(categories)), 100)
    return OtherMark(sentiment, words, display_name(name, email), _at_the_desk(key), is_resolved)


def report(actor: Actor, thread_pk: int, index: int, *, fork: str = "", named: str = "") -> Mark | None:
    """The report on the answer from message `index` on, for admins; it links to the desk's last list with that report,
    and with a thread `fork` beside the answer.

    Of several that for whose check the fork was made, or the one `named`, or whose proof the fork is; else an open one,
    a negative one, the latest. Answers to later requests do not count.
    """
    if not actor.is_admin:
        return None
    later = Message.objects.filter(thread=thread_pk, role=Message.Role.USER, idx__gt=index)
    rows = UserFeedback.objects.filter(thread=thread_pk, message_sequence_num__gte=index)
    rows = rows.exclude(Exists(later.filter(idx__lte=OuterRef("message_sequence_num"))))
    run = CheckRun.objects.filter(fork__key=ids.key_of(fork, *ids.THREAD_SPELLINGS) or "")
    meant = Case(
        When(pk=Subquery(run.values("of__feedback")[:1]), then=3),
        When(key=ids.key_of(named, ids.FEEDBACK) or "", then=2),
        When(triage__proof=fork, then=1),
        default=0,
    )
    found = rows.select_related("created_by").order_by(meant.desc(), "resolved", "sentiment", "-pk").first()
    if found is None:
        return None
    return Mark(
        sentiment=found.sentiment,
        categories=tuple(found.categories),
        notes=found.notes or "",
        by=found.created_by.display_name,
        mine=found.created_by_id == actor.user_id,
        report_href=reverse("feedback:desk") + href({"back": found.feedback_id, "compare": fork}),
    )


def _at_the_desk(key: str) -> str:
    return reverse("feedback:desk") + href({"q": "", "item": ids.FEEDBACK + key})


def _told(
    rated_at: datetime, status: str | None, words: str | None, at: datetime | None, seen_at: datetime | None
) -> Told:
    """What the submitter sees of the triage: the `Reply` and nothing else."""
    if status is None or at is None or not projecting.is_told(status):
        return Told(Reply.Status.RECEIVED.label, rated_at)
    is_news = status == Reply.Status.ANSWERED and (seen_at is None or seen_at < at)
    return Told(Reply.Status(status).label, at, words or "", is_news=is_news)


def replied(actor: Actor, thread: Thread) -> dict[int, datetime]:
    """When each of the actor's own reports in a thread that says more than received got its reply, by message. One
    query.
    """
    rows = Reply.objects.filter(feedback__thread=thread, feedback__created_by=actor.user_id)
    rows = rows.exclude(public_status=Reply.Status.RECEIVED)  # one that was taken back keeps its time
    return dict(rows.values_list("feedback__message_sequence_num", "replied_at"))


def _marks(thread_pk: int, *author: int) -> QuerySet[UserFeedback, Row]:
    rows = UserFeedback.objects.filter(thread=thread_pk).order_by("modified")
    rows = rows.filter(created_by=author[0]) if author else rows
    return rows.values_list(
        *("key", "message_sequence_num", "sentiment", "categories", "notes", "modified", "resolved"),
        *("created_by_id", "created_by__name", "created_by__email"),
        *("reply__public_status", "reply__public_reply", "reply__replied_at", "reply__seen_at"),
    )


_AUTHOR = 7
"""The place of the author's id in such a row."""
_MARKS, _OWN_MARKS = Prepared(_marks, int), Prepared(_marks, int, int)


def saw(actor: Actor, thread: Thread, until: datetime) -> None:
    """Mark replies to the actor's reports in a thread as seen up to a moment; later ones stay unseen."""
    mine = Reply.objects.filter(feedback__thread=thread, feedback__created_by=actor.user_id)
    mine.filter(replied_at__lte=until).update(seen_at=until)


def thread_ratings(actor: Actor, thread_ids: Sequence[int]) -> dict[int, Ratings]:
    """Negative and positive ratings in each thread (the actor's own, for admins all), and the first of the actor's own
    with an unseen reply.
    """
    rows = UserFeedback.objects.filter(thread__in=thread_ids)
    if not actor.is_admin:
        rows = rows.filter(created_by=actor.user_id)
    counted = rows.values("thread").annotate(
        negative=Count("pk", filter=Q(sentiment="negative")),
        positive=Count("pk", filter=Q(sentiment="positive")),
        answered=Min("message_sequence_num", filter=_with_news(actor)),
    )
    return {row["thread"]: Ratings(row["negative"], row["positive"], row["answered"]) for row in counted}


def threads_answered(actor: Actor, *, unseen: bool) -> Q:
    """Threads in which the actor's own report got a reply; with `unseen`, one that they have not seen."""
    replied_to = _with_news(actor) if unseen else _answered(actor)
    return Q(pk__in=UserFeedback.objects.filter(replied_to).values("thread"))


def _answered(actor: Actor) -> Q:
    """The actor's own reports with a reply."""
    return Q(created_by=actor.user_id, reply__public_status=Reply.Status.ANSWERED)


def _with_news(actor: Actor) -> Q:
    """Those with a reply that they have not seen."""
    is_news = Q(reply__seen_at__isnull=True) | Q(reply__seen_at__lt=F("reply__replied_at"))
    return _answered(actor) & is_news


def threads_rated(actor: Actor, sentiment: str) -> Q:
    """Threads with a rating of this sentiment (any if empty): by the actor, for admins by anyone.

    One person's ratings are few, so they lead to their threads. Everybody's are many, so it is quicker to walk down the
    newest threads and check each.
    """
    rows = UserFeedback.objects.filter(sentiment=sentiment) if sentiment else UserFeedback.objects.all()
    if actor.is_admin:
        return Q(Exists(rows.filter(thread=OuterRef("pk"))))
    return Q(pk__in=rows.filter(created_by=actor.user_id).values("thread"))
