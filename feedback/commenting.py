"""Comments: what admins say to each other about a report, and whom they ask by naming them.

A comment changes nothing of the report: neither its record nor its version. Everything here is for platform admins.
"""

import re
from collections.abc import Iterable
from datetime import timedelta

from django.db import transaction
from django.db.models import Prefetch, Q, QuerySet
from django.utils import timezone

from accounts.models import User
from accounts.rights import require_admin, require_author
from core import ids, notices
from core.actor import Actor
from core.errors import InvalidRequest, NotFound
from core.visible import is_visible
from feedback import triage
from feedback.models import Comment, Mention, UserFeedback
from feedback.undoing import WINDOW
from feedback.wire_desk import CommentIn

MOST = 1_000
"""Most comments on a report."""
_AGAIN = timedelta(minutes=1)
"""How long the same words of the same person count as a repeated request."""
_NAMES = re.compile(r"(?<![\w.+@-])@([\w.+-]+(?:@[\w.-]+)?)")
_MOST_NAMED = 20
"""Most people that one comment asks."""


def listed(actor: Actor, feedback_id: str) -> list[Comment]:
    """The comments on a report with authors and mentions, oldest first; without deleted ones. Three queries."""
    return list(_shown(triage.report_for(actor, feedback_id).pk).filter(deleted_at=None))


def shown(actor: Actor, report: UserFeedback) -> list[Comment]:
    """As `listed`, with those that the actor deleted and can still restore. Two queries."""
    require_admin(actor)
    restorable = Q(author=actor.user_id, deleted_at__gt=timezone.now() - WINDOW)
    return list(_shown(report.pk).filter(Q(deleted_at=None) | restorable))


def add(actor: Actor, feedback_id: str, body: CommentIn) -> Comment:
    """Comment on a report, and ask the admins whom the text names (`@bob`, or `@bob@acme.test`).

    Answers what others asked the actor here. The same text within a minute is a repeated request, and is stored once.
    Raises `InvalidRequest` for a text of which nothing is seen, and for more than `MOST` comments.
    """
    text = _clean(body.text)
    report = triage.report_for(actor, feedback_id)
    with triage.named_reports_stay(), transaction.atomic():
        _hold(report.pk)
        last = Comment.objects.filter(feedback=report).order_by("-pk").first()
        if last is not None and _is_repeated(last, actor, text):
            return _found(last.key)
        if Comment.objects.filter(feedback=report).count() >= MOST:
            raise InvalidRequest(f"text: a report has at most {MOST} comments")
        comment = Comment.objects.create(feedback=report, author_id=actor.user_id, text=text)
        _ask(comment)
        _settle(actor, report.pk)
    return _found(comment.key)


def edit(actor: Actor, feedback_id: str, comment_id: str, body: CommentIn) -> Comment:
    """Change the text of one's own comment. It then asks those whom it names now; who has answered stays so."""
    text = _clean(body.text)
    with transaction.atomic():
        comment = _own(actor, feedback_id, comment_id, "edit a comment")
        if comment.deleted_at is not None:
            raise NotFound.of("comment", comment_id[:80])
        if comment.text != text:
            comment.text, comment.edited_at = text, timezone.now()
            comment.save(update_fields=["text", "edited_at"])
            _ask(comment)
            _announce()
    return _found(comment.key)


def delete(actor: Actor, feedback_id: str, comment_id: str) -> None:
    """Delete one's own comment; nobody is asked by it any more. It can be restored for half an hour."""
    with transaction.atomic():
        comment = _own(actor, feedback_id, comment_id, "delete a comment")
        if comment.deleted_at is None:
            comment.deleted_at = timezone.now()
            comment.save(update_fields=["deleted_at"])
            Mention.objects.filter(comment=comment).delete()
            _announce()


def restore(actor: Actor, feedback_id: str, comment_id: str) -> Comment:
    """Restore one's own deleted comment; it asks again. One that is not deleted stays as it is."""
    with transaction.atomic():
        comment = _own(actor, feedback_id, comment_id, "restore a comment")
        if comment.deleted_at is not None:
            comment.deleted_at = None
            comment.save(update_fields=["deleted_at"])
            _ask(comment)
            _announce()
    return _found(comment.key)


def acknowledge(actor: Actor, feedback_id: str) -> None:
    """Say that what others asked the actor on this report needs no answer."""
    report = triage.report_for(actor, feedback_id)
    with transaction.atomic():
        _settle(actor, report.pk)


def sweep() -> None:
    """Forget deleted comments that can no longer be restored."""
    Comment.objects.filter(deleted_at__lte=timezone.now() - WINDOW).delete()


def _shown(report_pk: int) -> QuerySet[Comment]:
    named = Mention.objects.select_related("person").order_by("pk")
    rows = Comment.objects.filter(feedback=report_pk).select_related("author")
    return rows.prefetch_related(Prefetch("mentions", named)).order_by("pk")


def _found(key: str) -> Comment:
    comment = Comment.objects.select_related("author").prefetch_related("mentions__person").filter(key=key).first()
    if comment is None:
        raise NotFound.of("comment", ids.COMMENT + key)
    return comment


def _own(actor: Actor, feedback_id: str, comment_id: str, what: str) -> Comment:
    """The actor's own comment on that report, locked; one that only its author can restore is not there for others."""
    report = triage.report_for(actor, feedback_id)
    rows = Comment.objects.select_for_update(of=("self",), no_key=True).filter(feedback=report)
    comment = rows.filter(key=ids.key_of(comment_id, ids.COMMENT) or "").first()
    is_gone = comment is None or (comment.deleted_at is not None and comment.deleted_at <= timezone.now() - WINDOW)
    if comment is None or is_gone or (comment.deleted_at is not None and comment.author_id != actor.user_id):
        raise NotFound.of("comment", comment_id[:80])
    require_author(actor, comment.author_id, what)
    return comment


def _hold(report_pk: int) -> None:
    """Let repeated requests wait for each other, and keep the report."""
    UserFeedback.objects.select_for_update(no_key=True).only("pk").filter(pk=report_pk).first()


def _is_repeated(last: Comment, actor: Actor, text: str) -> bool:
    is_same = last.author_id == actor.user_id and last.text == text and last.deleted_at is None
    return is_same and last.created > timezone.now() - _AGAIN


def _clean(text: str) -> str:
    clean = "\n".join(line.rstrip() for line in text.splitlines()).strip()
    if not is_visible(clean):
        raise InvalidRequest("text: must have at least one visible character")
    return clean


def _ask(comment: Comment) -> None:
    """Make the mentions of a comment those that its text names; who was asked before keeps their state."""
    wanted = {person.pk for person in _named(comment.text)} - {comment.author_id}
    there = set(Mention.objects.filter(comment=comment).values_list("person", flat=True))
    Mention.objects.filter(comment=comment, person__in=there - wanted).delete()
    Mention.objects.bulk_create(
        Mention(comment=comment, feedback_id=comment.feedback_id, person_id=pk) for pk in sorted(wanted - there)
    )


def _named(text: str) -> Iterable[User]:
    """The admins whom a text names, by address or the part before its @; a part that several have names all of them."""
    names = {name.rstrip(".").lower() for name in _NAMES.findall(text)}
    named = Q(pk__in=[])
    for name in sorted(names)[: 5 * _MOST_NAMED]:
        named |= Q(email=name) if "@" in name else Q(email__startswith=f"{name}@")
    return User.objects.admins().filter(named).only("pk").order_by("pk")[:_MOST_NAMED] if names else ()


def _settle(actor: Actor, report_pk: int) -> None:
    """What others asked the actor on a report is answered."""
    Mention.objects.filter(feedback=report_pk, person=actor.user_id, is_pending=True).update(is_pending=False)
    _announce()


def _announce() -> None:
    transaction.on_commit(lambda: notices.publish(triage.NOTICE))
