"""Bulk inserts: COPY on PostgreSQL, one prepared statement on SQLite, with the desk's triggers disabled.

Generated rows need no events and nobody waits for them, so they bypass the desk's verbs and the transcript writer, as
restoring a backup does.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import Field, Max, Model

from feedback import indexing
from threads.indexing import TRIGGERS as OF_THREADS

Row = tuple[Any, ...]
_TRIGGERED = ("feedback_userfeedback", "feedback_triage", "feedback_ratedanswer", "feedback_ratedtool")


class Table:
    """A model's given columns; the others get their defaults."""

    def __init__(self, model: type[Model], *names: str) -> None:
        self.model = model
        fields: list[Field[Any, Any]] = [model._meta.get_field(name) for name in names]  # type: ignore[misc]
        rest = [each for each in model._meta.concrete_fields if each not in fields and not each.null]
        rest = [each for each in rest if not each.primary_key]
        self._columns = [str(each.column) for each in (*fields, *rest)]
        self._defaults = tuple(each.get_db_prep_save(each.get_default(), connection) for each in rest)

    def next_id(self) -> int:
        """The next row id."""
        last: int | None = self.model._base_manager.aggregate(last=Max("pk"))["last"]
        return (last or 0) + 1

    def write(self, rows: Iterable[Row]) -> None:
        """Store rows with the given columns."""
        table, defaults = self.model._meta.db_table, self._defaults
        write(table, self._columns, (row + defaults for row in rows))


def write(table: str, columns: list[str], rows: Iterable[Row]) -> None:
    """Store rows of a table."""
    names = ", ".join(f'"{column}"' for column in columns)
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            marks = ", ".join(["%s"] * len(columns))
            cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(rows))  # noqa: S608
            return
        with cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)


def moment(value: datetime) -> str:
    """A UTC time in the database's format."""
    text = value.strftime("%Y-%m-%d %H:%M:%S.%f")
    return text if connection.vendor == "sqlite" else f"{text}+00"


@contextmanager
def in_bulk(*tables: Table) -> Iterator[None]:
    """A transaction that locks these tables for other writers and disables the desk's triggers."""
    with transaction.atomic():
        if connection.vendor == "sqlite":
            indexing.TRIGGERS.remove()
            yield
            indexing.TRIGGERS.install()
            return
        with connection.cursor() as cursor:
            for table in tables:
                cursor.execute(f"LOCK TABLE {table.model._meta.db_table} IN SHARE ROW EXCLUSIVE MODE")
            for name in _TRIGGERED:
                cursor.execute(f"ALTER TABLE {name} DISABLE TRIGGER USER")
            yield
            # Foreign keys are checked at the end, and a table with pending checks cannot be altered.
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            for name in _TRIGGERED:
                cursor.execute(f"ALTER TABLE {name} ENABLE TRIGGER USER")
            for table in tables:
                name = table.model._meta.db_table
                cursor.execute(
                    f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), max(id)) FROM {name}"  # noqa: S608
                )


@contextmanager
def without_word_index() -> Iterator[None]:
    """Drop PostgreSQL's word indexes and rebuild them at the end, which is many times faster than updating them."""
    if connection.vendor != "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("DROP INDEX IF EXISTS feedback_search_words, threads_search_words")
    try:
        yield
    finally:
        indexing.TRIGGERS.install()
        OF_THREADS.install()
