"""Triage: what admins make of a report. Each change is recorded with what was before and after."""

from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from accounts.rights import require_admin
from core import ids, paging
from core.actor import Actor
from core.errors import InvalidRequest, NotFound
from core.prepared import PreparedRow
from feedback import projecting, taxonomy
from feedback.models import TriageChange, UserFeedback
from feedback.wire import FeedbackPageOut, FullFeedbackOut, TriageIn

COLUMNS = ("admin_label", "admin_note", "resolved")
_FOUND = PreparedRow(lambda key: UserFeedback.objects.filter(key=key), UserFeedback, str)
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
            TriageChange.objects.create(
                feedback=report,
                actor_id=actor.user_id,
                before={column: before[column] for column in changed},
                after={column: after[column] for column in changed},
            )
        return read(report)


def read(report: UserFeedback) -> FullFeedbackOut:
    """The full record of a report (H7)."""
    return projecting.full_records([report.pk])[0]


def _store(report: UserFeedback, actor: Actor, after: dict[str, Any]) -> None:
    """Resolving stamps time and admin, reopening clears both; stamps of a report that is resolved stay (B129)."""
    if after["resolved"] and not report.resolved:
        report.resolved_at, report.resolved_by_id = timezone.now(), actor.user_id
    elif not after["resolved"]:
        report.resolved_at, report.resolved_by_id = None, None
    for column in COLUMNS:
        setattr(report, column, after[column])
    report.save(update_fields=[*COLUMNS, "resolved_at", "resolved_by"])


def filtered(filters: dict[str, str | None]) -> QuerySet[UserFeedback]:
    """Reports by thread_id, org_id, sentiment, category and resolved; an unknown value is an invalid request."""
    rows = UserFeedback.objects.all()
    if value := filters.get("thread_id"):
        rows = rows.filter(thread__key=ids.key_of(value, *ids.THREAD_SPELLINGS) or "")
    if value := filters.get("org_id"):
        rows = rows.filter(org__key=ids.key_of(value, ids.ORG) or "")
    if value := filters.get("sentiment"):
        rows = rows.filter(sentiment=_one_of("sentiment", value, taxonomy.Sentiment.values))
    if value := filters.get("category"):
        bit = taxonomy.BIT[_one_of("category", value, taxonomy.Category.values)]
        rows = rows.annotate(has_category=F("category_bits").bitand(bit)).filter(has_category__gt=0)
    if value := filters.get("resolved"):
        rows = rows.filter(resolved=_one_of("resolved", value.lower(), ["true", "false"]) == "true")
    return rows


def listed(actor: Actor, filters: dict[str, str | None], *, limit: int, page_token: str | None) -> FeedbackPageOut:
    """Reports for admins, newest first (H6)."""
    require_admin(actor)
    rows, next_token = keyset(filtered(filters), limit=limit, page_token=page_token)
    return FeedbackPageOut(items=projecting.full_records(rows), next_token=next_token)


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
