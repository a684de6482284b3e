"""Converts rows to the desk's wire records, with email addresses and public ids instead of row ids."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils import timezone

from accounts.models import User
from core import ids
from core.actor import Actor
from core.prepared import Prepared, PreparedRow
from core.rows import loaded
from feedback import saved_views, triaged, versions
from feedback.models import Bulk, Comment, Label, Lease, SavedView, TriageChange, UserFeedback
from feedback.wire_desk import (
    BulkOut,
    ChangedLabelOut,
    ChangeOut,
    CommentOut,
    DeskRecordOut,
    FailureOut,
    LabelOut,
    ViewOut,
)

_PEOPLE = ("owner_id", "resolved_by_id")
_REPORTS = ("duplicate_of_id",)
CHANGES = 50
FAILURES_SHOWN = 200
PEOPLE_SHOWN = 30


def desk_record(report: UserFeedback) -> DeskRecordOut:
    """A report with its triage data. A constant number of queries."""
    version = versions.of(report)
    leases = Lease.objects.filter(feedback=report, until__gt=timezone.now())
    lease = leases.select_related("holder").order_by("pk").first()
    return DeskRecordOut(
        **triaged.record(report).model_dump(),
        lease=lease.holder.email if lease else None,
        version=str(version),
    )


def people(actor: Actor) -> list[User]:
    """The other admins, to assign reports to; by name, as many as a menu shows. One query."""
    others = [loaded(User, triaged.PERSON, each) for each in _OTHERS.rows(actor.user_id)]
    return sorted(others, key=lambda each: each.display_name.casefold())


_OTHERS = Prepared(
    lambda user: (
        User.objects.admins().exclude(pk=user).order_by("name", "email").values_list(*triaged.PERSON)[:PEOPLE_SHOWN]
    ),
    int,
)


def changes_of(feedback_id: str) -> list[TriageChange]:
    """The changes of the report with that id and their actors, oldest first. One query."""
    return _with_actors(_CHANGES.all(ids.key_of(feedback_id, ids.FEEDBACK) or ""))


def latest_changes(feedback_id: str) -> tuple[list[TriageChange], int]:
    """The last `CHANGES` of them, oldest first, and how many there were before. One query, two if there were any."""
    key = ids.key_of(feedback_id, ids.FEEDBACK) or ""
    found = _LATEST.all(key)
    earlier = TriageChange.objects.filter(feedback__key=key).count() - CHANGES if len(found) > CHANGES else 0
    return _with_actors(found[:CHANGES][::-1]), earlier


def _with_actors(changes: list[TriageChange]) -> list[TriageChange]:
    for change in changes:
        change.actor = loaded(User, triaged.PERSON, (change.actor_id, *change.beside))  # type: ignore[attr-defined]
    return changes


_ACTOR = ("actor__email", "actor__name")
_CHANGES = PreparedRow(lambda key: TriageChange.objects.filter(feedback__key=key), TriageChange, str, beside=_ACTOR)
_LATEST = PreparedRow(
    # Not by the row id alone: PostgreSQL would look for one report's last changes among everybody's.
    lambda key: TriageChange.objects.filter(feedback__key=key).order_by("-feedback", "-pk")[: CHANGES + 1],
    TriageChange,
    str,
    beside=_ACTOR,
)


def history(report: UserFeedback) -> list[ChangeOut]:
    """The history of a report, oldest first. Three queries."""
    changes = changes_of(report.feedback_id)
    people, reports = named_in(changes)
    return [
        ChangeOut(
            action_id=ids.ACTION + change.action,
            verb=change.verb,
            at=change.at,
            actor=change.actor.email,
            before=_outward(change.before, people, reports),
            after=_outward(change.after, people, reports),
            undoes=ids.ACTION + change.undoes if change.undoes else None,
        )
        for change in changes
    ]


def named_in(changes: Iterable[TriageChange]) -> tuple[dict[int, User], dict[int, str]]:
    """The people and reports (ids) that changes refer to, by row id. Two queries."""
    sides = [side for change in changes for side in (change.before, change.after)]
    people = {side[column] for side in sides for column in _PEOPLE if side.get(column)}
    reports = {side[column] for side in sides for column in _REPORTS if side.get(column)}
    keys = UserFeedback.objects.filter(pk__in=reports).values_list("pk", "key")
    return User.objects.in_bulk(people), {pk: ids.FEEDBACK + key for pk, key in keys}


def comment_record(comment: Comment) -> CommentOut:
    """A comment with its author and mentions, which were read with it."""
    mentions = list(comment.mentions.all())
    return CommentOut(
        comment_id=comment.comment_id,
        author=comment.author.email,
        text=comment.text,
        created=comment.created,
        edited_at=comment.edited_at,
        mentions=[each.person.email for each in mentions if not each.is_answer],
        answers=[each.person.email for each in mentions if each.is_answer],
        pending=[each.person.email for each in mentions if each.is_pending],
    )


def bulk_record(bulk: Bulk) -> BulkOut:
    """A bulk's progress, with the first 200 reports that it could not change."""
    failures = bulk.failures.order_by("id").values_list("feedback_key", "reason")[:FAILURES_SHOWN]
    may_change = not bulk.is_over or TriageChange.objects.filter(action=bulk.key).exists()
    return BulkOut(
        bulk_id=ids.BULK + bulk.key,
        action_id=ids.ACTION + bulk.key if may_change else None,
        verb=bulk.verb,
        state=bulk.state,
        total=bulk.total,
        done_count=bulk.done_count,
        failed_count=bulk.failed_count,
        skipped_count=max(0, bulk.total - bulk.dealt_with) if bulk.is_over else 0,
        failures=[FailureOut(feedback_id=ids.FEEDBACK + key, reason=reason) for key, reason in failures],
        created=bulk.created,
        finished_at=bulk.finished_at,
    )


def view_record(view: SavedView, count: int | None) -> ViewOut:
    """A saved view."""
    return ViewOut(
        view_id=ids.VIEW + view.key,
        name=view.name,
        query=view.query,
        is_shared=view.is_shared,
        created_by=view.created_by.email,
        count=count,
    )


def built_in_record(view: saved_views.BuiltIn, count: int | None) -> ViewOut:
    """A built-in view."""
    return ViewOut(view_id=None, name=view.name, query=view.query, is_shared=True, created_by=None, count=count)


def label_record(label: Label) -> LabelOut:
    """A label with its count from `labelling.listed`."""
    return LabelOut(name=label.name, description=label.description, report_count=getattr(label, "report_count", 0))


def changed_label_record(label: Label, renaming: Bulk | None) -> ChangedLabelOut:
    """A label with its count and the bulk that renames it on its reports."""
    return ChangedLabelOut(**label_record(label).model_dump(), bulk_id=renaming.bulk_id if renaming else None)


def _outward(side: Mapping[str, Any], people: Mapping[int, User], reports: Mapping[int, str]) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for column, value in side.items():
        if column in _PEOPLE:
            value = people[value].email if value in people else None
        elif column in _REPORTS:
            value = reports.get(value)
        shown[column.removesuffix("_id")] = value
    return shown
