"""Conditions on rows of related tables, and the distinct names in such a table."""

from typing import Any

from django.db import connection
from django.db.models import Exists, Model, OuterRef, Q, QuerySet

MANY = 20_000
"""From so many hits on, collecting them costs more than finding a page by scanning a million rows."""
_NAMES = 1000


def having(rows: QuerySet[Any], *, by: str, of: str = "pk", excluding: bool = False) -> Q:
    """What has one of these rows of another table, whose column `by` equals its own `of`.

    On SQLite, few rows are collected first and lead to what has them. With many rows it is quicker to scan and check
    each. SQLite has no statistics to choose by, so the rows are counted here; PostgreSQL chooses itself.
    """
    named = rows.order_by().values(by)
    is_few = not excluding and connection.vendor == "sqlite" and named[: MANY + 1].count() <= MANY
    return Q(**{f"{of}__in": named}) if is_few else Q(Exists(rows.filter(**{by: OuterRef(of)})))


def names(model: type[Model], column: str) -> list[str]:
    """The distinct values of an indexed column, by one index seek for each."""
    return [name for name, _ in _listed(model, column, "0", _NAMES)]


def counted(model: type[Model], column: str, *, by: str, limit: int, at_most: int) -> list[tuple[str, int]]:
    """The distinct values of an indexed column with their counts, counted up to `at_most`.

    `by` is the column that follows it in the index, in descending order.
    """
    table, quoted = _quoted(model, column)
    # The partial index excludes empty values, so the query must, too. The ORDER BY makes PostgreSQL use it for rare
    # names as well; otherwise it would scan the table.
    same = f"NOT (counted.{quoted} = '') AND counted.{quoted} = found.name ORDER BY counted.{by} DESC"
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
    """The values of a column that equal this one, ignoring case; of very many, only the same spelling is certain."""
    found = {name for name in names(model, column) if name.lower() == value.lower()}
    if value not in found and model._base_manager.filter(**{column: value}).exists():
        found.add(value)
    return sorted(found)
