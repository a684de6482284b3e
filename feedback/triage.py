"""Triage: what admins make of a report. Each change is recorded with what was before and after."""

from functools import lru_cache
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from accounts.rights import require_admin
from core import ids, paging
from core.actor import Actor
from core.errors import InvalidRequest, NotFound
from core.prepared import Prepared, PreparedInsert, PreparedRow, PreparedUpdate, Row
from feedback import projecting, querying, taxonomy
from feedback.models import TriageChange, UserFeedback
from feedback.wire import FeedbackPageOut, FullFeedbackOut, TriageIn

COLUMNS = ("admin_label", "admin_note", "resolved")
_FOUND = PreparedRow(lambda key: UserFeedback.objects.filter(key=key), UserFeedback, str)
_TRIAGED = PreparedUpdate(UserFeedback, *COLUMNS, "resolved_at", "resolved_by")
_CHANGES = PreparedInsert(TriageChange)
_LOCKED = PreparedRow(lambda key: UserFeedback.objects.select_for_update().filter(key=key), UserFeedback, str)


def report_for(actor: Actor, feedback_id: str, *, lock: bool = False) -> UserFeedback:
    """The report with that id, for an admin; raises `Unauthorized`, then `NotFound`."""
    require_admin(actor)
    report = (_LOCKED if lock else _FOUND).first(ids.key_of(feedback_id, ids.FEEDBACK) or "")
    if report is None:
        raise NotFound(f"There is no report {feedback_id[:80]}.")
    return report


def update(actor: Actor, feedback_id: str, body: TriageIn) -> FullFeedbackOut:
    """Apply a triage update (H8). `modified` is the submitter's and stays (B131); repeating one changes nothing."""
    changes = body.changes()
    with transaction.atomic():
        report = report_for(actor, feedback_id, lock=True)
        before = {column: getattr(report, column) for column in COLUMNS}
        after = {**before, **changes}
        if after != before:
            _store(report, actor, after)
            changed = [column for column in COLUMNS if after[column] != before[column]]
            _CHANGES.insert(
                TriageChange(
                    feedback=report,
                    actor_id=actor.user_id,
                    before={column: before[column] for column in changed},
                    after={column: after[column] for column in changed},
                )
            )
        return read(report)


def read(report: UserFeedback) -> FullFeedbackOut:
    """The full record of a report (H7)."""
    return projecting.full_record_of(report.pk)


def _store(report: UserFeedback, actor: Actor, after: dict[str, Any]) -> None:
    """Resolving stamps time and admin, reopening clears both; stamps of a report that is resolved stay (B129)."""
    if after["resolved"] and not report.resolved:
        report.resolved_at, report.resolved_by_id = timezone.now(), actor.user_id
    elif not after["resolved"]:
        report.resolved_at, report.resolved_by_id = None, None
    for column in COLUMNS:
        setattr(report, column, after[column])
    _TRIAGED.update(report)


def filtered(filters: dict[str, str | None]) -> QuerySet[UserFeedback]:
    """Reports by thread_id, org_id, sentiment, category and resolved; an unknown value is an invalid request."""
    return _matching(_wanted(filters))


def listed(
    actor: Actor, filters: dict[str, str | None], *, limit: int, page_token: str | None, q: str | None = None
) -> FeedbackPageOut:
    """Reports for admins, newest first (H6). A query `q` narrows them further; what it does not know is refused."""
    require_admin(actor)
    if q is not None:
        return _queried(actor, filters, q, limit=limit, page_token=page_token)
    wanted = _wanted(filters)
    if page_token:
        wanted["pk__lt"] = paging.decode(page_token, 1)[0]
    # Truth values are part of the shape: there are two of them, and databases spell them differently.
    shape = tuple((lookup, value if isinstance(value, bool) else None) for lookup, value in wanted.items())
    found = _page(shape, limit).rows(*(value for value in wanted.values() if not isinstance(value, bool)))
    items = [projecting.full_record(values) for _, *values in found[:limit]]
    return FeedbackPageOut(items=items, next_token=paging.encode(found[limit - 1][0]) if len(found) > limit else None)


def _queried(
    actor: Actor, filters: dict[str, str | None], q: str, *, limit: int, page_token: str | None
) -> FeedbackPageOut:
    rows = querying.matching(actor, querying.parse(q)) & filtered(filters)
    found, next_token = keyset(rows, limit=limit, page_token=page_token)
    records = projecting.full_records(found)
    return FeedbackPageOut(items=[records[pk] for pk in found if pk in records], next_token=next_token)


def _wanted(filters: dict[str, str | None]) -> dict[str, Any]:
    """Filters as lookups with their values."""
    wanted: dict[str, Any] = {}
    if value := filters.get("thread_id"):
        wanted["thread__key"] = ids.key_of(value, *ids.THREAD_SPELLINGS) or ""
    if value := filters.get("org_id"):
        wanted["org__key"] = ids.key_of(value, ids.ORG) or ""
    if value := filters.get("sentiment"):
        wanted["sentiment"] = _one_of("sentiment", value, taxonomy.Sentiment.values)
    if value := filters.get("category"):
        wanted["category"] = taxonomy.BIT[_one_of("category", value, taxonomy.Category.values)]
    if value := filters.get("resolved"):
        wanted["resolved"] = _one_of("resolved", value.lower(), ["true", "false"]) == "true"
    return wanted


def _matching(wanted: dict[str, Any]) -> QuerySet[UserFeedback]:
    rows = UserFeedback.objects.all()
    for lookup, value in wanted.items():
        if lookup == "category":
            rows = rows.annotate(has_category=F("category_bits").bitand(value)).filter(has_category__gt=0)
        else:
            rows = rows.filter(**{lookup: value})
    return rows


@lru_cache(maxsize=256)
def _page(shape: tuple[tuple[str, bool | None], ...], limit: int) -> Prepared:
    """The query of one page with this combination of filters, and one row more."""
    asked = [lookup for lookup, fixed in shape if fixed is None]

    def build(*values: int | str) -> QuerySet[UserFeedback, Row]:
        given = dict(zip(asked, values, strict=True))
        rows = _matching({lookup: given[lookup] if fixed is None else fixed for lookup, fixed in shape})
        return rows.order_by("-id").values_list("pk", *projecting.FULL_COLUMNS)[: limit + 1]

    return Prepared(build, *(int if lookup in ("category", "pk__lt") else str for lookup in asked))


def keyset(rows: QuerySet[UserFeedback], *, limit: int, page_token: str | None) -> tuple[list[int], str | None]:
    """Row ids of one page, newest first, and the token of the next."""
    if page_token:
        rows = rows.filter(pk__lt=paging.decode(page_token, 1)[0])
    found = list(rows.order_by("-id").values_list("pk", flat=True)[: limit + 1])
    return found[:limit], paging.encode(found[limit - 1]) if len(found) > limit else None


def _one_of(name: str, value: str, allowed: list[str]) -> str:
    if value not in allowed:
        raise InvalidRequest(f"{name}: must be one of {', '.join(allowed)}")
    return value
