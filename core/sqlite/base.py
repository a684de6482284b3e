"""A line for writers.

SQLite has one writer. Whoever finds it busy sleeps and looks again after a while: of eight threads that write one
sleeps while the file is free, and each look takes the interpreter away from the one who could finish. So the threads of
one process stand in line for it here, and sleep until it is theirs. Other processes are waited for as ever.
"""

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from typing import Any

from django.db import OperationalError
from django.db.backends.sqlite3 import base

from core.sqlite import caseless

_Wrapper: Any = base.DatabaseWrapper
_UTC = "+00:00"
Row = tuple[Any, ...]
Step = tuple[str, Sequence[Any]]


def _moment(stored: bytes) -> datetime:
    """A time as it is kept, in UTC without saying so. Django's own way, by a naive one, takes eight times as long."""
    return datetime.fromisoformat(stored.decode() + _UTC)


sqlite3.register_converter("datetime", _moment)


class DatabaseWrapper(_Wrapper):  # type: ignore[misc]
    """A connection whose transactions, which write (`transaction_mode`), are in line with those of other threads."""

    takes_along = False
    """Nothing is won by asking ahead: it is no trip away."""
    _line: "threading.Lock | None" = None
    """The line of which this connection is the head."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """A connection on which lookups find words whatever their case."""
        made = super().get_new_connection(conn_params)
        made.create_function(caseless.UPPER, 1, caseless.upper, deterministic=True)
        return made

    def probe(self) -> None:
        """Raise `DatabaseError` where the file cannot be read."""
        with self.cursor() as cursor:
            cursor.execute("SELECT 1")

    def spelled(self, sql: str, count: int) -> str:
        """A statement with so many values, in the spelling of `run_all`."""
        return sql % (("?",) * count)

    def run_all(self, steps: Sequence[Step], ahead: Sequence[Step] = ()) -> list[list[Row]]:
        """Run statements on the driver itself; gives the rows of each. Raises its error for one that is refused."""
        return [self.connection.execute(sql, values).fetchall() for sql, values in steps]

    def write(self, step: Step, ahead: Sequence[Step] = ()) -> list[Row]:
        """Run one that stores something: outside a transaction it is one of its own, and stands in line like others."""
        is_alone = not self.is_in_transaction
        if is_alone:
            self._stand_in_line()
        try:
            [rows] = self.run_all([step])
        finally:
            if is_alone:
                self._leave()
        return rows

    def run_all_at_one_moment(self, steps: Sequence[Step]) -> list[list[Row]]:
        """The same in a snapshot of their own."""
        with self.snapshot():
            return self.run_all(steps)

    def run_later(self, step: Step) -> None:
        """Run a statement that has no rows."""
        self.write(step)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all that is read inside see one state. Django's own transaction would wait for the one writer here."""
        with self.wrap_database_errors:
            self.connection.execute("BEGIN DEFERRED")
        try:
            yield
        finally:
            if self.is_in_transaction:  # SQLite ends it itself where it cannot read on
                with self.wrap_database_errors:
                    self.connection.execute("COMMIT")

    @property
    def is_in_transaction(self) -> bool:
        """Whether a transaction is open, Django's own included."""
        return self.connection is not None and bool(self.connection.in_transaction)

    def _start_transaction_under_autocommit(self) -> None:
        self._stand_in_line()
        try:
            super()._start_transaction_under_autocommit()
        except BaseException:
            self._leave()
            raise

    def _commit(self) -> None:
        super()._commit()
        self._leave()

    def _rollback(self) -> None:
        try:
            super()._rollback()
        finally:
            self._leave()

    def _close(self) -> None:
        try:
            super()._close()
        finally:
            self._leave()

    def _stand_in_line(self) -> None:
        line = _line_for(self.settings_dict["NAME"])
        if not line.acquire(timeout=self.settings_dict["OPTIONS"].get("timeout", 5)):
            raise OperationalError("database is locked")
        self._line = line

    def _leave(self) -> None:
        if self._line is not None:
            self._line.release()
            self._line = None


@cache
def _line_for(name: str) -> threading.Lock:
    return threading.Lock()
