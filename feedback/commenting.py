"""Comments: what admins say to each other about a report, and whom they ask by naming them.

A comment changes nothing of the report: neither its record nor its version. Everything here is for platform admins.
Every change locks the report first, as the digest and a retraction do: otherwise the words of one that changes while
the report is indexed would stay in the index, and on PostgreSQL a retraction would end in a deadlock.
"""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Prefetch, Q, QuerySet
from django.utils import timezone

from accounts.models import User
from accounts.rights import require_admin, require_author
from core import ids
from core.actor import Actor
from core.errors import Conflict, InvalidRequest, NotFound
from core.prepared import Prepared
from core.visible import is_visible
from feedback import access, desk_notices, projecting
from feedback.models import Comment, Mention, UserFeedback
from feedback.undoing import WINDOW
from feedback.wire_desk import CommentIn, CommentPatch, SeenIn

MOST = 1_000
"""Most comments on a report."""
MOST_ASKED = 20
"""Most people that one comment asks."""
_NONE = "There is no such comment."
_AGAIN = timedelta(minutes=1)
"""How long the same words of the same person count as a repeated request."""
_SPARE = timedelta(minutes=1)
"""How much longer than it can be restored a deleted comment stays, for a restoration that has begun."""
_NAMES = re.compile(r"(?<![\w.+@/-])@([\w.!#$%&'*+=?^~-]++@[\w.-]++|[\w.+-]++(?![/@]))")
"""What follows an @: an email address, or the part before its @. No part of an address, a path or a package."""


def listed(actor: Actor, feedback_id: str) -> list[Comment]:
    """The comments on a report with authors and mentions, oldest first; without deleted ones. Three queries."""
    return list(_of(access.report_for(actor, feedback_id).pk).filter(deleted_at=None))


def shown(actor: Actor, report: UserFeedback, most: int | None) -> tuple[list[Comment], int]:
    """As `listed`, with those that the actor deleted and can still restore; only the last ones if there are more than
    `most` and none of the others waits for the actor, and how many come before them. At most six queries.
    """
    require_admin(actor)
    if not _COMMENTED.rows(report.pk):
        return [], 0
    rows = _of(report.pk).filter(_is_there_for(actor)).order_by("-pk")
    found = list(rows if most is None else rows[: most + 1])
    if most is None or len(found) <= most:
        return found[::-1], 0
    if Mention.waiting_for(actor.user_id).filter(feedback=report, comment__lte=found[most].pk).exists():
        return shown(actor, report, None)
    return found[most - 1 :: -1], rows.count() - most


_COMMENTED = Prepared(lambda report: Comment.objects.filter(feedback=report).values_list("pk")[:1], int)


def strangers(text: str) -> list[str]:
    """What the @ of a text name, as far as no admin is called so."""
    return _named(text)[1]


def called_in(text: str) -> list[str]:
    """Who would be asked by a comment of this text, by the names that they are shown by. One query, of a text with an
    @.
    """
    return [each.display_name for each in _named(text)[0]]


def names(text: str) -> set[str]:
    """What the @ of a text name, in lower case: an address, the part before its @, or a word of a name."""
    return {name.lower() for _, name in _calls(text)}


def pieces(text: str, people: Iterable[User]) -> list[tuple[str, bool]]:
    """The text in pieces, in order; true for those that name one of these people, with their @."""
    known, found, end = list(people), [], 0
    for begin, name in _calls(text):
        if any(_is_called(each, name.lower()) for each in known):
            found.append((text[end:begin], False))
            end = begin + len(f"@{name}")
            found.append((text[begin:end], True))
    return [each for each in [*found, (text[end:], False)] if each[0]]


def add(actor: Actor, feedback_id: str, body: CommentIn) -> Comment:
    """Comment on a report, and ask the admins whom the text names (`@bea`, `@bea@heddle.test`).

    Answers what others asked the actor here, up to the comment `body.seen` if that is given; who asked is told. The
    same text within a minute is a repeated request, and is stored once. Raises `InvalidRequest` for a text of which
    nothing is seen, and for more than `MOST` comments.
    """
    text = _clean(body.text)
    report = access.report_for(actor, feedback_id)
    with transaction.atomic():
        _hold(report.pk)
        there = Comment.objects.filter(feedback=report)
        last = there.filter(author=actor.user_id).order_by("-pk").first()
        if last is not None and _is_repeated(last, text):
            return _found(last)
        if there.count() >= MOST:
            raise InvalidRequest(f"text: a report has at most {MOST} comments")
        comment = Comment.objects.create(feedback=report, author_id=actor.user_id, text=text)
        asked = _ask(comment)
        answered = _settle(actor, report.pk, body.seen) - asked - {actor.user_id}
        Mention.objects.bulk_create(
            Mention(comment=comment, feedback=report, person_id=pk, is_answer=True) for pk in sorted(answered)
        )
        desk_notices.announce()
    return _found(comment)


def edit(actor: Actor, feedback_id: str, comment_id: str, body: CommentPatch, *, read: str | None = None) -> Comment:
    """Change the text of one's own comment. It then asks those whom it names now; who has answered stays so.

    `read` is the version (`version_of`) that was edited; any other raises `Conflict`.
    """
    text = _clean(body.text)
    with transaction.atomic():
        comment = _held(actor, feedback_id, comment_id, "edit a comment")
        if comment.deleted_at is not None:
            raise NotFound(_NONE)
        if comment.text != text:
            if read is not None and read != version_of(comment):
                raise Conflict("You changed this comment in another window. Press again to replace it.", details=[])
            now = timezone.now()
            _save(comment, now, text=text, edited_at=now)
            _ask(comment)
            desk_notices.announce()
    return _found(comment)


def delete(actor: Actor, feedback_id: str, comment_id: str) -> None:
    """Delete one's own comment; nobody is asked by it any more. It can be restored for half an hour."""
    with transaction.atomic():
        comment = _held(actor, feedback_id, comment_id, "delete a comment")
        if comment.deleted_at is None:
            now = timezone.now()
            _save(comment, now, deleted_at=now)
            desk_notices.announce()


def restore(actor: Actor, feedback_id: str, comment_id: str) -> Comment:
    """Restore one's own deleted comment; it asks again who has not answered. Any other stays as it is."""
    with transaction.atomic():
        comment = _held(actor, feedback_id, comment_id, "restore a comment")
        if comment.deleted_at is not None:
            _save(comment, timezone.now(), deleted_at=None)
            desk_notices.announce()
    return _found(comment)


def acknowledge(actor: Actor, feedback_id: str, body: SeenIn) -> None:
    """Say that what others asked the actor here needs no answer, up to the comment `body.seen` if that is given."""
    report = access.report_for(actor, feedback_id)
    with transaction.atomic():
        _hold(report.pk)
        _settle(actor, report.pk, body.seen)
        desk_notices.announce()


def own(actor: Actor, feedback_id: str, comment_id: str, what: str = "change a comment") -> Comment:
    """The actor's own comment on that report, also a deleted one; raises `NotFound`, and `Unauthorized` for another
    person's, which says `what` only its author may do.
    """
    rows = Comment.objects.filter(_is_there_for(actor), feedback=access.report_for(actor, feedback_id))
    comment = rows.filter(key=ids.key_of(comment_id, ids.COMMENT) or "").first()
    if comment is None:
        raise NotFound(_NONE)
    require_author(actor, comment.author_id, what)
    return comment


def version_of(comment: Comment) -> str:
    """What changes with the text of a comment."""
    return comment.edited_at.isoformat() if comment.edited_at else ""


def pending(actor: Actor) -> set[int]:
    """The questions (row ids of mentions) that wait for the actor's answer. One query, of an index."""
    return set(Mention.waiting_for(actor.user_id).values_list("pk", flat=True))


def waiting(actor: Actor) -> dict[int, str]:
    """The reports (row ids) whose comments wait for the actor: `asks you`, or `answers you`. One query."""
    return {pk: "answers you" if is_answer else "asks you" for pk, is_answer in _WAITING.rows(actor.user_id)}


def _waiting(user_id: int) -> QuerySet[Mention, Any]:
    return Mention.waiting_for(user_id).order_by("-is_answer").values_list("feedback", "is_answer")


_WAITING = Prepared(_waiting, int)


def sweep() -> None:
    """Forget deleted comments that can no longer be restored."""
    Comment.objects.filter(deleted_at__lte=timezone.now() - WINDOW - _SPARE).delete()


def _save(comment: Comment, now: datetime, **changes: Any) -> None:
    for column, value in (changes | {"modified": now}).items():
        setattr(comment, column, value)
    comment.save(update_fields=[*changes, "modified"])


def _of(report_pk: int) -> QuerySet[Comment]:
    named = Mention.objects.select_related("person").order_by("pk")
    rows = Comment.objects.filter(feedback=report_pk).select_related("author")
    return rows.prefetch_related(Prefetch("mentions", named)).order_by("pk")


def _found(comment: Comment) -> Comment:
    found = _of(comment.feedback_id).filter(pk=comment.pk).first()
    if found is None:  # it was retracted with its report meanwhile
        raise NotFound(projecting.GONE)
    return found


def _is_there_for(actor: Actor) -> Q:
    """Comments that are not deleted, and the actor's own that can be restored."""
    return Q(deleted_at=None) | Q(author=actor.user_id, deleted_at__gt=timezone.now() - WINDOW)


def _held(actor: Actor, feedback_id: str, comment_id: str, what: str) -> Comment:
    """As `own`, under the report's lock."""
    _hold(access.report_for(actor, feedback_id).pk)
    return own(actor, feedback_id, comment_id, what)


def _hold(report_pk: int) -> None:
    """Lock the report; raises `NotFound` if it was retracted at this moment."""
    if not UserFeedback.objects.select_for_update(no_key=True).filter(pk=report_pk).values_list("pk").first():
        raise NotFound(projecting.GONE)


def _is_repeated(last: Comment, text: str) -> bool:
    return last.text == text and last.deleted_at is None and last.created > timezone.now() - _AGAIN


def _clean(text: str) -> str:
    clean = "\n".join(line.rstrip() for line in text.splitlines()).strip()
    if not is_visible(clean):
        raise InvalidRequest("text: must have at least one visible character")
    return clean


def _ask(comment: Comment) -> set[int]:
    """Make the questions of a comment those to whom its text names; who was asked before keeps their state. Returns
    them (row ids).
    """
    wanted = {person.pk for person in _named(comment.text)[0]} - {comment.author_id}
    mentions = Mention.objects.filter(comment=comment)
    mentions.filter(is_answer=True, person__in=wanted).update(is_answer=False, is_pending=True)
    there = set(mentions.values_list("person", flat=True))
    mentions.filter(is_answer=False).exclude(person__in=wanted).delete()
    Mention.objects.bulk_create(
        Mention(comment=comment, feedback_id=comment.feedback_id, person_id=pk) for pk in sorted(wanted - there)
    )
    return wanted


def _named(text: str) -> tuple[list[User], list[str]]:
    """The admins whom a text names, and the names that none has.

    A name is an address, the part before its @, or else a word of the name; one that several have names all of them.
    """
    asked = names(text)
    admins = list(User.objects.admins().only("email", "name").order_by("pk")) if asked else []
    found: dict[int, User] = {}
    unknown = []
    for name in sorted(asked):
        meant = [each for each in admins if name in _addresses(each)]
        meant = meant or [each for each in admins if _is_called(each, name)]
        found |= {each.pk: each for each in meant}
        if not meant:
            unknown.append(name)
    return list(found.values())[:MOST_ASKED], unknown


def _calls(text: str) -> list[tuple[int, str]]:
    """Where the @ of a text are, and what each names, without the punctuation after it."""
    return [(match.start(), match[1].rstrip("._-+")) for match in _NAMES.finditer(text)]


def _is_called(person: User, name: str) -> bool:
    return name in _addresses(person) or name in person.name.lower().split()


def _addresses(person: User) -> tuple[str, str]:
    return person.email, person.email.partition("@")[0]


def _settle(actor: Actor, report_pk: int, seen: str | None) -> set[int]:
    """What others asked the actor on a report is answered; not what came after the comment that they saw last. Returns
    who asked (row ids).
    """
    asked = Mention.objects.filter(feedback=report_pk, person=actor.user_id, is_pending=True)
    if seen == "":
        return set()
    if seen is not None:
        key = ids.key_of(seen, ids.COMMENT)
        if key is None:
            raise InvalidRequest("seen: must be the id of a comment, or empty if you have seen none")
        # By key, which sorts by time: the comment itself may have been deleted and cleared since it was seen.
        asked = asked.filter(comment__key__lte=key)
    who = set(asked.filter(is_answer=False, comment__deleted_at=None).values_list("comment__author", flat=True))
    asked.update(is_pending=False)
    return who
