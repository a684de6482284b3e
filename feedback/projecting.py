"""From rows to projections. Lists read columns, not objects: a page of reports is one query."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from django.db.models import QuerySet

from core import ids
from core.prepared import Prepared, Row
from feedback.models import UserFeedback
from feedback.wire import FullFeedbackOut, UserFeedbackOut

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
}
_PREFIXES = {"feedback_id": ids.FEEDBACK, "thread_id": ids.THREAD, "org_id": ids.ORG}


def user_record(pk: int) -> UserFeedbackOut:
    """A report as its submitter sees it."""
    [values] = _prepared(UserFeedbackOut, 1).rows(pk)
    return UserFeedbackOut.model_construct(**_fields(UserFeedbackOut, values))


def user_records(rows: QuerySet[UserFeedback]) -> list[UserFeedbackOut]:
    """Reports as their submitter sees them."""
    found = rows.values_list(*_columns(UserFeedbackOut))
    return [UserFeedbackOut.model_construct(**_fields(UserFeedbackOut, values)) for values in found]


def full_records(pks: Sequence[int]) -> list[FullFeedbackOut]:
    """The reports with these row ids as admins see them, newest first."""
    found = _prepared(FullFeedbackOut, len(pks)).rows(*pks) if pks else []
    return [FullFeedbackOut.model_construct(**_fields(FullFeedbackOut, values)) for values in found]


@cache
def _prepared(model: type[UserFeedbackOut], count: int) -> Prepared:
    """The query for so many reports by row id; there are no more of them than a page may have rows."""

    def build(*pks: int) -> QuerySet[UserFeedback, Row]:
        return UserFeedback.objects.filter(pk__in=pks).order_by("-id").values_list(*_columns(model))

    return Prepared(build, *[int] * count)


def _columns(model: type[UserFeedbackOut]) -> list[str]:
    return [_COLUMNS[name] for name in model.model_fields]


def _fields(model: type[UserFeedbackOut], values: Row) -> dict[str, Any]:
    record = dict(zip(model.model_fields, values, strict=True))
    for name, prefix in _PREFIXES.items():
        record[name] = prefix + record[name]
    return record
