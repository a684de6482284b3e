"""Conditions on tables related to reports, and the distinct names in them."""

from typing import Any

from django.db import connection
from django.db.models import BooleanField, DateTimeField, Exists, F, Func, Model, OuterRef, Q, QuerySet
from django.db.models.lookups import GreaterThanOrEqual, LessThan

from core.moments import Stretch
from feedback.models import UserFeedback

MANY, MANY_TIMES = 20_000, 50_000
"""From so many hits on, collecting them costs more than finding a page by scanning a million reports."""
_NAMES = 1000


def beside(rows: QuerySet[Any], *, by: str = "feedback", of: str = "pk", excluding: bool = False) -> Q:
    """Reports with one of these rows of another table, whose column `by` equals the report's `of`.

    On SQLite, few rows are collected first and lead to their reports. With many rows it is quicker to scan the reports
    and check each. SQLite has no statistics to choose by, so the rows are counted here; PostgreSQL chooses itself.
    """
    named = rows.order_by().values(by)
    is_few = not excluding and connection.vendor == "sqlite" and named[: MANY + 1].count() <= MANY
    return Q(**{f"{of}__in": named}) if is_few else Q(Exists(rows.filter(**{by: OuterRef(of)})))


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


def names(model: type[Model], column: str) -> list[str]:
    """The distinct values of an indexed column, by one index seek for each."""
    return [name for name, _ in _listed(model, column, "0", _NAMES)]


def counted(model: type[Model], column: str, *, limit: int, at_most: int) -> list[tuple[str, int]]:
    """The distinct values of an indexed column with their counts, counted up to `at_most`."""
    table, quoted = _quoted(model, column)
    # The partial index excludes empty values, so the query must, too. The ORDER BY makes PostgreSQL use it for rare
    # names as well; otherwise it would scan the table.
    same = f"NOT (counted.{quoted} = '') AND counted.{quoted} = found.name ORDER BY counted.feedback_id DESC"
    once = f"SELECT 1 FROM {table} AS counted WHERE {same} LIMIT {at_most}"  # noqa: S608
    return _listed(model, column, f"(SELECT count(*) FROM ({once}) AS few)", limit)  # noqa: S608


def _listed(model: type[Model], column: str, figure: str, limit: int) -> list[tuple[str, int]]:
    table, quoted = _quoted(model, column)
    # One bound each, or SQLite seeks to the wrong one; and the condition of the partial index, verbatim.
    least = f"SELECT min({quoted}) FROM {table} WHERE NOT ({quoted} = '') AND {quoted} >"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH RECURSIVE found(name) AS ({least} '' UNION ALL "  # noqa: S608
            f"SELECT ({least} found.name) FROM found WHERE found.name IS NOT NULL) "
            f"SELECT name, {figure} FROM found WHERE name IS NOT NULL LIMIT {limit}"
        )
        rows: list[tuple[str, int]] = cursor.fetchall()
        return rows


def _quoted(model: type[Model], column: str) -> tuple[str, str]:
    return connection.ops.quote_name(model._meta.db_table), connection.ops.quote_name(column)


def spellings(model: type[Model], column: str, value: str) -> list[str]:
    """The values of a column that equal this one, ignoring case."""
    return [name for name in names(model, column) if name.lower() == value.lower()]


def _range(column: str, stretch: Stretch) -> Q:
    bounds = {f"{column}__gte": stretch.first, f"{column}__lt": stretch.end}
    return Q(**{lookup: moment for lookup, moment in bounds.items() if moment is not None})


class _Plainly(Func):
    """A column written in equivalent SQL that makes SQLite choose another plan."""

    arity = 1
