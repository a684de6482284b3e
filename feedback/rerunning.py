"""Rerunning several reports together: as a batch of runs, which a few at a time are written."""

from collections.abc import Sequence
from functools import partial

from django.db.models import QuerySet

from accounts.rights import require_admin
from core.actor import Actor
from core.errors import InvalidRequest
from feedback import bulk, digesting
from feedback.checks import keeping, running
from feedback.models import CheckBatch, UserFeedback
from feedback.querying import matching, understood
from feedback.wire_checks import MOST_RUNS, RunIn


def rerun_all(
    actor: Actor, body: RunIn, *, feedback_ids: Sequence[str] | None = None, query: str | None = None
) -> CheckBatch:
    """Rerun the requests of ticked reports, or of all that match a query now; returns their batch.

    Those that were retracted are left out. A report without a check gets one for its runs that no list of checks shows
    (`keeping.for_reports`). Raises `InvalidRequest` for neither or both, for an invalid query, for what is no report
    id, if none of the reports is there, for more than 500 runs, and as `running.run`.
    """
    require_admin(actor)
    bulk.require_either(feedback_ids, query)
    field = "feedback_ids" if query is None else "query"
    rows = _named(feedback_ids or ()) if query is None else _found(actor, query)
    pks = list(rows.order_by("pk").values_list("pk", flat=True)[: MOST_RUNS + 1])
    if not pks:
        raise InvalidRequest.of(field, "none of these reports is there")
    if len(pks) * body.times > MOST_RUNS:
        reason = f"of at most {MOST_RUNS // body.times} reports the requests are rerun together"
        raise InvalidRequest.of(field, f"{reason}, {body.times} times each" if body.times > 1 else reason)
    return running.run_chosen(actor, partial(keeping.for_reports, actor, pks), body)


def _named(feedback_ids: Sequence[str]) -> QuerySet[UserFeedback]:
    keys = [bulk.report_key(place, each) for place, each in enumerate(feedback_ids)]
    return UserFeedback.objects.filter(key__in=keys)


def _found(actor: Actor, query: str) -> QuerySet[UserFeedback]:
    asked = understood(query, field="query")
    if asked.is_digested:
        digesting.finish()
    return matching(actor, asked)
