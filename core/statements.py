"""Statements that are run directly on the driver: one, several in one trip, or later with the next one.

Where queries are logged or wrapped they are run by Django's cursor instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import DateTimeField
from django.db.models.expressions import Col

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL with Django's placeholders, and with the driver's."""

    sql: str
    driver_sql: str | bytes

    @classmethod
    def of(cls, sql: str, count: int, connection: Any) -> "Statement":
        """A statement with that many values, for a connection's database."""
        return cls(sql, connection.spelled(sql, count))


Step = tuple[Statement, list[Any]]


def run_all(connection: Any, steps: Sequence[Step], ahead: Sequence[Step] = ()) -> list[list[Row]]:
    """Run statements directly on the driver, or by Django's cursor if queries are logged; returns the rows of each.

    Django's cursor converts SQLite's placeholders each time and checks four times for listeners: as long as the
    database needs to find a row by its key. On PostgreSQL it puts the values into the text, so that a statement is
    planned again each time: ten times the cost of running it if it joins three tables.
    """
    if is_heard(connection):
        return [_run_aloud(connection, statement.sql, values) for statement, values in steps]
    with ready(connection):
        answers: list[list[Row]] = connection.run_all(of_the_driver(steps), of_the_driver(ahead))
    return answers


def run(connection: Any, statement: Statement, values: list[Any]) -> list[Row]:
    """As `run_all`, for one statement."""
    if is_heard(connection):
        return _run_aloud(connection, statement.sql, values)
    with ready(connection):
        rows: list[Row] = connection.run((statement.driver_sql, values))
    return rows


def write(connection: Any, step: Step, ahead: Sequence[Step]) -> list[Row]:
    """Run a statement that stores something and returns rows."""
    statement, values = step
    if is_heard(connection):
        return _run_aloud(connection, statement.sql, values)
    with ready(connection):
        rows: list[Row] = connection.write((statement.driver_sql, values), of_the_driver(ahead))
    return rows


def run_later(connection: Any, statement: Statement, values: list[Any]) -> None:
    """Run a statement that returns no rows. It may be sent with the next one, or at the end of its transaction."""
    if is_heard(connection):
        _run_aloud(connection, statement.sql, values)
        return
    with ready(connection):
        connection.run_later((statement.driver_sql, values))


def of_the_driver(steps: Sequence[Step]) -> list[tuple[str | bytes, list[Any]]]:
    """The steps as the driver takes them."""
    return [(statement.driver_sql, values) for statement, values in steps]


def is_heard(connection: Any) -> bool:
    """Whether queries are logged or wrapped."""
    return bool(connection.queries_logged or connection.execute_wrappers)


def ready(connection: Any) -> Any:
    """Django's checks before each statement; returns its context manager that converts errors.

    Not its check that no other thread uses the connection: each thread gets its own here.
    """
    if connection.connection is None:
        connection.ensure_connection()
    connection.validate_no_broken_transaction()
    return connection.wrap_database_errors


def comes_converted(column: Any, connection: Any) -> bool:
    """Whether the driver already converts the column: SQLite recognises times by the column's type."""
    return connection.vendor == "sqlite" and isinstance(column, Col) and isinstance(column.output_field, DateTimeField)


def _run_aloud(connection: Any, sql: str, values: list[Any]) -> list[Row]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall() if cursor.description else []
