"""Rerunning several reports together: as a batch of runs, which a few at a time are written."""

from collections.abc import Sequence

from django.db.models import QuerySet

from accounts.rights import require_admin
from core import ids
from core.actor import Actor
from core.errors import InvalidRequest
from feedback import digesting
from feedback.checks import keeping, running
from feedback.checks.wire import MOST_RUNS, RunIn
from feedback.models import CheckBatch, UserFeedback
from feedback.querying import matching, understood
from threads import profiles


def rerun_all(
    actor: Actor, body: RunIn, *, feedback_ids: Sequence[str] | None = None, query: str | None = None
) -> CheckBatch:
    """Rerun the requests of ticked reports, or of all that match a query now; returns their batch.

    Those that were retracted meanwhile are left out. A report without a check gets one for its runs that no list of
    checks shows (`keeping.for_reports`). Raises `InvalidRequest` for neither or both, for an invalid query, if none of
    the reports is there, and as `running.run`, for more than 500 runs.
    """
    require_admin(actor)
    if (feedback_ids is None) is (query is None):
        raise InvalidRequest("feedback_ids: give either feedback_ids or a query")
    field = "feedback_ids" if query is None else "query"
    rows = _named(feedback_ids or ()) if query is None else _found(actor, query)
    reports = list(rows.select_related("thread").order_by("pk")[: MOST_RUNS + 1])
    if not reports:
        raise InvalidRequest.of(field, "none of these reports is there")
    if len(reports) * body.times > MOST_RUNS:
        reason = f"of at most {MOST_RUNS // body.times} reports the requests are rerun together"
        raise InvalidRequest.of(field, f"{reason}, {body.times} times each" if body.times > 1 else reason)
    if body.model_profile is not None:
        profiles.named(body.model_profile)  # before anything is stored
    return running.run(actor, keeping.for_reports(actor, reports), body)


def _named(feedback_ids: Sequence[str]) -> QuerySet[UserFeedback]:
    keys = [ids.key_of(each, ids.FEEDBACK) or "" for each in feedback_ids]
    return UserFeedback.objects.filter(key__in=keys)


def _found(actor: Actor, query: str) -> QuerySet[UserFeedback]:
    asked = understood(query, field="query")
    if asked.is_digested:
        digesting.finish()
    return matching(actor, asked)
