"""Words as the index keeps them, and the conditions that look for them."""

from typing import Any

from django.db import connection
from django.db.models import BooleanField, F, Func, Q, Value
from django.db.models.expressions import RawSQL

from feedback.indexing import TABLE, WEIGHTS, split

_MANY = 50_000
"""From so many hits on, SQLite asks report by report whether it is one, instead of collecting them all first."""


NEEDED = "must hold a letter or a digit"


def has_word(value: str) -> bool:
    """Whether there is anything in a text that can be looked for."""
    return bool(split(value))


def clean(value: str) -> str:
    """Text to look for; raises `ValueError` where it holds no word."""
    if not has_word(value):
        raise ValueError(NEEDED)
    return value


def says(value: str, *columns: str) -> Q:
    """Reports with these words side by side in one of these columns of the index, in any when none is named."""
    if connection.vendor != "sqlite":
        return Q(_HasWords(F("pk"), Value(_vector_query(value, columns))))
    match = _match(value, columns)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT count(*) FROM (SELECT 1 FROM {TABLE} WHERE {TABLE} MATCH %s LIMIT {_MANY})",  # noqa: S608
            [match],
        )
        [is_common] = [count == _MANY for (count,) in cursor.fetchall()]
    if is_common:
        return Q(_HasWords(F("pk"), Value(match)))
    return Q(pk__in=RawSQL(f"SELECT rowid FROM {TABLE} WHERE {TABLE} MATCH %s", [match]))  # noqa: S608, S611


class _HasWords(Func):
    """Whether the report with this row id has the words."""

    output_field = BooleanField()
    conditional = True

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(
            compiler,
            connection,
            template=f"EXISTS (SELECT 1 FROM {TABLE} WHERE rowid = %(expressions)s)",  # noqa: S608
            arg_joiner=f" AND {TABLE} MATCH ",
            **context,
        )

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(
            compiler,
            connection,
            template=f"EXISTS (SELECT 1 FROM {TABLE} WHERE feedback_id = %(expressions)s))",  # noqa: S608
            arg_joiner=" AND document @@ to_tsquery('pg_catalog.simple', ",
            **context,
        )


def _match(value: str, columns: tuple[str, ...]) -> str:
    """A phrase as FTS5 reads it. Of the words only letters and digits are left, so nothing in them is an operator."""
    phrase = '"' + " ".join(split(value)) + '"' + ("*" if value.endswith("*") else "")
    return f"{{{' '.join(columns)}}} : {phrase}" if columns else phrase


def _vector_query(value: str, columns: tuple[str, ...]) -> str:
    """The same for PostgreSQL. Each column by itself: no phrase begins in one and ends in the next."""
    words = split(value)
    phrases = []
    for column in columns or WEIGHTS:
        weighted = [f"'{word}':{WEIGHTS[column]}" for word in words]
        phrases.append(" <-> ".join(weighted) + ("*" if value.endswith("*") else ""))
    return " | ".join(f"({phrase})" for phrase in phrases)
