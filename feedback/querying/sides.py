"""Conditions on tables related to reports, on times, and on the state."""

from typing import Any

from django.db import connection
from django.db.models import BooleanField, DateTimeField, F, Func, Q, QuerySet
from django.db.models.lookups import GreaterThanOrEqual, LessThan

from core import related
from core.moments import Stretch
from feedback.models import UserFeedback

MANY_TIMES = 50_000
"""From so many hits on, collecting them costs more than finding a page by scanning a million reports."""


def beside(rows: QuerySet[Any], *, by: str = "feedback", of: str = "pk", excluding: bool = False) -> Q:
    """Reports with one of these rows of another table, whose column `by` equals the report's `of`."""
    return related.having(rows, by=by, of=of, excluding=excluding)


def between(column: str, stretch: Stretch, condition: Q | None = None) -> Q:
    """Reports with a time in this stretch, and `condition`, which a partial index of the column may need.

    Pages are sorted by row id, so hits from the index of times must be sorted. For very many hits, the reports are
    scanned by row id instead, and the index is kept out of the plan.
    """
    condition = condition or Q()
    found = condition & _range(column, stretch)
    if connection.vendor != "sqlite":
        return found
    hits = UserFeedback.objects.filter(found).order_by()
    if hits.values(column)[: MANY_TIMES + 1].count() <= MANY_TIMES:
        return Q(pk__in=hits.values("pk"))
    walked = _Plainly(F(column), output_field=DateTimeField(), template="+%(expressions)s")
    bounds = [(GreaterThanOrEqual, stretch.first), (LessThan, stretch.end)]
    kept = [Q(lookup(walked, moment)) for lookup, moment in bounds if moment is not None]
    return condition & Q(**{f"{column}__isnull": False}) & Q(*kept)


def is_resolved(value: bool) -> Q:
    """Reports in this state. SQLite uses no index for `NOT resolved`, but does for a comparison."""
    if connection.vendor != "sqlite":
        return Q(resolved=value)
    return Q(_Plainly(F("resolved"), output_field=BooleanField(), template=f"%(expressions)s = {int(value)}"))


def _range(column: str, stretch: Stretch) -> Q:
    bounds = {f"{column}__gte": stretch.first, f"{column}__lt": stretch.end}
    return Q(**{lookup: moment for lookup, moment in bounds.items() if moment is not None})


class _Plainly(Func):
    """A column written in equivalent SQL that makes SQLite choose another plan."""

    arity = 1
