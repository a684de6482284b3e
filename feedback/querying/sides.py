"""Conditions on what stands beside a report, and the names that are known there."""

from typing import Any

from django.db import connection
from django.db.models import BooleanField, DateTimeField, Exists, F, Func, Model, OuterRef, Q, QuerySet
from django.db.models.lookups import GreaterThanOrEqual, LessThan

from core.moments import Stretch
from feedback.models import UserFeedback

MANY, MANY_TIMES = 20_000, 50_000
"""To collect so many costs about as much as to find a page and its count on the walk down a million."""
_NAMES = 1000


def beside(rows: QuerySet[Any], *, by: str = "feedback", of: str = "pk", excluding: bool = False) -> Q:
    """Reports with one of these rows of another table, which name in `by` what the report has as `of`.

    Few rows lead SQLite to their reports. Many would first have to be collected, where walking down the reports and
    asking each finds a page soon; it keeps no figures to choose by, so they are counted here. PostgreSQL chooses by its
    own.
    """
    named = rows.order_by().values(by)
    is_few = not excluding and connection.vendor == "sqlite" and named[: MANY + 1].count() <= MANY
    return Q(**{f"{of}__in": named}) if is_few else Q(Exists(rows.filter(**{by: OuterRef(of)})))


def between(column: str, stretch: Stretch, condition: Q | None = None) -> Q:
    """Reports with a time in this stretch, and `condition`, on which the index of the column may depend.

    The page comes by row id. A long stretch through the index of its times would have to be sorted, so very many hits
    are found on the walk down the reports, with the index kept out of it.
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
    """Reports in this state. SQLite takes no index for `NOT resolved`, but does for a comparison."""
    if connection.vendor != "sqlite":
        return Q(resolved=value)
    return Q(_Plainly(F("resolved"), output_field=BooleanField(), template=f"%(expressions)s = {int(value)}"))


def names(model: type[Model], column: str) -> list[str]:
    """The different values of an indexed column, by one step in the index for each."""
    return [name for name, _ in _listed(model, column, "0", _NAMES)]


def counted(model: type[Model], column: str, *, limit: int, at_most: int) -> list[tuple[str, int]]:
    """The same with how often each is there, counted up to a limit."""
    table, quoted = _quoted(model, column)
    # An index that leaves empty ones out is taken only for a question that does; in its order, PostgreSQL takes it
    # for names that are rare, too, where it would walk over the table.
    same = f"NOT (counted.{quoted} = '') AND counted.{quoted} = found.name ORDER BY counted.feedback_id DESC"
    once = f"SELECT 1 FROM {table} AS counted WHERE {same} LIMIT {at_most}"  # noqa: S608
    return _listed(model, column, f"(SELECT count(*) FROM ({once}) AS few)", limit)  # noqa: S608


def _listed(model: type[Model], column: str, figure: str, limit: int) -> list[tuple[str, int]]:
    table, quoted = _quoted(model, column)
    # One bound each, or SQLite begins at the wrong one; and the words of the index that leaves empty ones out.
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
    """The values of a column that are this one but for capitals."""
    return [name for name in names(model, column) if name.lower() == value.lower()]


def _range(column: str, stretch: Stretch) -> Q:
    bounds = {f"{column}__gte": stretch.first, f"{column}__lt": stretch.end}
    return Q(**{lookup: moment for lookup, moment in bounds.items() if moment is not None})


class _Plainly(Func):
    """A column in SQL that SQLite plans differently, and that means the same."""

    arity = 1
