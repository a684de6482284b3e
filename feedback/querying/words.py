"""Conditions that search the full-text index for words."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from django.db import connection
from django.db.models import BooleanField, F, Func, Q, Value
from django.db.models.expressions import RawSQL

from feedback.indexing import TABLE, WEIGHTS, split

MANY, FEW = 20_000, 1000
"""From `MANY` hits on, SQLite checks report by report instead of collecting all hits; `FEW` is PostgreSQL's limit."""
_SAYS = "feedback_says"
NEEDED = "must contain a letter or a digit"


def has_word(value: str) -> bool:
    """Whether a text contains a word to search for."""
    return bool(split(value))


def clean(value: str) -> str:
    """The text to search for; raises `ValueError` if it contains no word."""
    if not has_word(value):
        raise ValueError(NEEDED)
    return value


def is_in(value: str, text: str | None) -> bool:
    """Whether a text contains these words next to each other, as `says` finds them."""
    return bool(text and _pattern(value).search(text))


def place(words: Sequence[str], notes: str | None, admin_note: str | None) -> str:
    """Where a report that was found by words has one of them; empty without words."""
    if not words:
        return ""
    texts = {"notes": notes, "admin note": admin_note}
    said = [name for name, text in texts.items() if any(is_in(each, text) for each in words)]
    return f"in the {' and '.join(said) or 'answer'}"


def says(value: str, *columns: str) -> Q:
    """Reports with these words next to each other in one of these columns of the index, by default in any."""
    if connection.vendor != "sqlite":
        return _says_on_postgres(_vector_query(value, columns))
    match = _match(value, columns)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT count(*) FROM (SELECT 1 FROM {TABLE} WHERE {TABLE} MATCH %s LIMIT {MANY})",  # noqa: S608
            [match],
        )
        [(count,)] = cursor.fetchall()
    if count == MANY:
        texts = ", ".join(f"c{place}" for place, column in enumerate(WEIGHTS) if not columns or column in columns)
        return Q(_HasWords(F("pk"), Value(value), template=_SAID.format(texts=texts)))
    return Q(pk__in=RawSQL(f"SELECT rowid FROM {TABLE} WHERE {TABLE} MATCH %s", [match]))  # noqa: S608, S611


def _says_on_postgres(query: str) -> Q:
    """Few hits are looked up first: the planner overestimates rare words and would scan."""
    found = f"SELECT feedback_id FROM {TABLE} WHERE document @@ to_tsquery('pg_catalog.simple', %s)"  # noqa: S608
    with connection.cursor() as cursor:
        # MATERIALIZED makes the planner use the index, as if for all hits; LIMIT still stops early.
        cursor.execute(f"WITH hits AS MATERIALIZED ({found}) SELECT * FROM hits LIMIT {FEW + 1}", [query])  # noqa: S608
        hits = [pk for (pk,) in cursor.fetchall()]
    return Q(pk__in=hits) if len(hits) <= FEW else Q(_HasWords(F("pk"), Value(query)))


def prepare(connection: Any, **signal: Any) -> None:
    """Register a word search function on a new SQLite connection; FTS5 is a hundred times slower for a single row."""
    if connection.vendor == "sqlite":
        connection.connection.create_function(_SAYS, -1, _says, deterministic=True)


class _HasWords(Func):
    """Whether the report with this row id contains the words."""

    output_field = BooleanField()
    conditional = True
    template = f"EXISTS (SELECT 1 FROM {TABLE} WHERE feedback_id = %(expressions)s))"  # noqa: S608

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, arg_joiner=f" AND {_SAYS}(", **context)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        joiner = " AND document @@ to_tsquery('pg_catalog.simple', "
        return self.as_sql(compiler, connection, arg_joiner=joiner, **context)


# FTS5 keeps the texts in its own content table, by row id, in the order of the columns.
_SAID = f"EXISTS (SELECT 1 FROM {TABLE}_content WHERE id = %(expressions)s, {{texts}}))"  # noqa: S608


def _says(value: str, *texts: str | None) -> bool:
    return any(is_in(value, text) for text in texts)


@lru_cache(maxsize=64)
def _pattern(value: str) -> re.Pattern[str]:
    """A pattern for words, split as the index splits them."""
    phrase = r"[\W_]+".join(re.escape(word) for word in split(value))
    return re.compile(rf"(?<![^\W_]){phrase}" + ("" if value.endswith("*") else r"(?![^\W_])"), re.IGNORECASE)


def _match(value: str, columns: tuple[str, ...]) -> str:
    """A phrase in FTS5 syntax. Words contain only letters and digits, so they cannot contain operators."""
    phrase = '"' + " ".join(split(value)) + '"' + ("*" if value.endswith("*") else "")
    return f"{{{' '.join(columns)}}} : {phrase}" if columns else phrase


def _vector_query(value: str, columns: tuple[str, ...]) -> str:
    """A phrase as a PostgreSQL tsquery. Each column separately, so that no phrase spans two columns."""
    words = split(value)
    if len(words) == 1 and not columns:
        return f"'{words[0]}'" + (":*" if value.endswith("*") else "")
    phrases = []
    for column in columns or WEIGHTS:
        weighted = [f"'{word}':{WEIGHTS[column]}" for word in words]
        phrases.append(" <-> ".join(weighted) + ("*" if value.endswith("*") else ""))
    return " | ".join(f"({phrase})" for phrase in phrases)
