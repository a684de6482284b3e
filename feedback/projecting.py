"""Converts rows to the wire's projections. Lists read columns, not objects: a page of reports is one query."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from django.db.models import QuerySet

from core import ids
from core.actor import Actor
from core.errors import NotFound
from core.prepared import Prepared
from feedback.models import Reply, UserFeedback
from feedback.wire import FullFeedbackOut, ReplyOut, ToldFeedbackOut, UserFeedbackOut
from threads.access import Standing

GONE = "The submitter retracted this report."
"""The error for a report that was retracted."""
_COLUMNS: dict[str, str] = {
    "feedback_id": "key",
    "thread_id": "thread__key",
    "message_sequence_num": "message_sequence_num",
    "org_id": "org__key",
    "created": "created",
    "created_by": "created_by__email",
    "modified": "modified",
    "modified_by": "modified_by__email",
    "sentiment": "sentiment",
    "categories": "categories",
    "notes": "notes",
    "admin_label": "admin_label",
    "admin_note": "admin_note",
    "resolved": "resolved",
    "resolved_by": "resolved_by__email",
    "resolved_at": "resolved_at",
    "public_status": "reply__public_status",
    "public_reply": "reply__public_reply",
    "replied_at": "reply__replied_at",
}
_PREFIXES = {"feedback_id": ids.FEEDBACK, "thread_id": ids.THREAD, "org_id": ids.ORG}


def _columns(model: type[UserFeedbackOut]) -> list[str]:
    return [_COLUMNS[name] for name in model.model_fields]


def _one(columns: Sequence[str]) -> Prepared:
    return Prepared(lambda pk: UserFeedback.objects.filter(pk=pk).values_list(*columns), int)


USER_COLUMNS, FULL_COLUMNS = _columns(UserFeedbackOut), _columns(FullFeedbackOut)
TOLD_COLUMNS = _columns(ToldFeedbackOut)
_USER, _FULL, _TOLD = _one(USER_COLUMNS), _one(FULL_COLUMNS), _one(TOLD_COLUMNS)


def user_record(pk: int) -> UserFeedbackOut:
    """A report as its submitter sees it."""
    [values] = _USER.rows(pk)
    return UserFeedbackOut.trusted(_fields(UserFeedbackOut, values))


def submitted_record(report: UserFeedback, thread: Standing, actor: Actor) -> UserFeedbackOut:
    """`user_record` of a report that this actor has just stored, without a query."""
    values = _values(report, USER_COLUMNS, *_names(thread.key, thread.org_key, actor.email))
    return UserFeedbackOut.trusted(_fields(UserFeedbackOut, values))


def triaged_record(report: UserFeedback, actor: Actor) -> FullFeedbackOut:
    """A report as admins see it, which this actor has just locked and stored, with its `TRIAGED_BESIDE`.

    Those values never change. Who resolved it may change while waiting for the lock, so another person's name is
    queried.
    """
    if report.resolved_by_id not in (None, actor.user_id):
        return full_record_of(report.pk)
    resolved_by = ("resolved_by__email", None if report.resolved_by_id is None else actor.email)
    values = _values(report, FULL_COLUMNS, *_names(*report.beside), resolved_by)  # type: ignore[attr-defined]
    return full_record(values)


TRIAGED_BESIDE = ("thread__key", "org__key", "created_by__email")


def _names(thread: str, org: str, submitter: str) -> tuple[tuple[str, str], ...]:
    """The values of joined columns; creator and modifier are always the submitter."""
    people = (("created_by__email", submitter), ("modified_by__email", submitter))
    return ("thread__key", thread), ("org__key", org), *people


def _values(report: UserFeedback, columns: Sequence[str], *named: tuple[str, Any]) -> list[Any]:
    known = dict(named)
    return [known[column] if column in known else getattr(report, column) for column in columns]


def user_records(rows: QuerySet[UserFeedback]) -> list[UserFeedbackOut]:
    """Reports as their submitter sees them."""
    return [UserFeedbackOut.trusted(_fields(UserFeedbackOut, values)) for values in rows.values_list(*USER_COLUMNS)]


ANSWER_COLUMNS = ("key", "message_sequence_num", "reply__public_status", "reply__public_reply", "reply__replied_at")


def reply_records(rows: QuerySet[UserFeedback]) -> list[ReplyOut]:
    """The reply to each report's submitter. A withdrawn reply looks like none."""
    return [
        ReplyOut(
            feedback_id=ids.FEEDBACK + key,
            message_sequence_num=index,
            public_status=status or Reply.Status.RECEIVED.value,
            public_reply=words,
            replied_at=at if is_told(status) else None,
        )
        for key, index, status, words, at in rows.values_list(*ANSWER_COLUMNS)
    ]


def told_record(pk: int) -> ToldFeedbackOut:
    """A report as its submitter sees it, with the reply. There must be a reply row. A withdrawn reply has no time."""
    [values] = _TOLD.rows(pk)
    record = _fields(ToldFeedbackOut, values)
    if not is_told(record["public_status"]):
        record["replied_at"] = None
    return ToldFeedbackOut.trusted(record)


def is_told(status: str | None) -> bool:
    """Whether the submitter got any response beyond `received`."""
    return status not in (None, Reply.Status.RECEIVED)


def full_record_of(pk: int) -> FullFeedbackOut:
    """A report as admins see it; raises `NotFound` if it was retracted meanwhile."""
    values = _FULL.first(pk)
    if values is None:
        raise NotFound(GONE)
    return full_record(values)


def full_records(pks: Sequence[int]) -> dict[int, FullFeedbackOut]:
    """Reports as admins see them, by row id; deleted ones are left out."""
    rows = UserFeedback.objects.filter(pk__in=pks).values_list("pk", *FULL_COLUMNS)
    return {pk: full_record(values) for pk, *values in rows}


def full_record(values: Sequence[Any]) -> FullFeedbackOut:
    """A report as admins see it, from its `FULL_COLUMNS`."""
    return FullFeedbackOut.trusted(_fields(FullFeedbackOut, values))


@cache
def _names_of(model: type[UserFeedbackOut]) -> tuple[str, ...]:
    return tuple(model.model_fields)


def _fields(model: type[UserFeedbackOut], values: Sequence[Any]) -> dict[str, Any]:
    record = dict(zip(_names_of(model), values, strict=True))
    for name, prefix in _PREFIXES.items():
        record[name] = prefix + record[name]
    return record
