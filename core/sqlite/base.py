"""Writers of one process queue for SQLite's write lock.

SQLite has one writer. A thread that finds it busy sleeps and polls: with eight writing threads some sleep while the
file is free, and each poll takes the interpreter away from the thread that could finish. So the threads of one process
queue for a lock here, and processes take turns (`core.sqlite.turns`).

A connection that is no longer used is lent to the next thread that needs one, the last one first. A connection of each
thread's own would have read hardly anything yet: its cached pages are outdated by each write of another connection, and
its statements are not compiled.
"""

import os
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

from django.db import OperationalError
from django.db.backends.sqlite3 import base

from core.lending import Borrower
from core.sqlite import caseless
from core.sqlite.turns import Line

_Wrapper: Any = base.DatabaseWrapper
_UTC = "+00:00"
_MOST_IDLE = 16
"""Each may hold 4 MB of pages."""
Row = tuple[Any, ...]
Step = tuple[str, Sequence[Any]]


def _read(stored: bytes) -> datetime:
    """A stored time, which is UTC without an offset. Django's own conversion takes eight times as long."""
    return datetime.fromisoformat(stored.decode() + _UTC)


def _spelled(moment: datetime) -> str:
    """A time as Django stores it, in an eighth of the time."""
    return str(moment.astimezone(UTC).replace(tzinfo=None))


sqlite3.register_converter("datetime", _read)


class DatabaseWrapper(Borrower, _Wrapper):  # type: ignore[misc]
    """A connection whose transactions (all take the write lock, see `transaction_mode`) queue with other threads."""

    takes_along = False
    """Sending queries ahead saves nothing without a network."""
    takes_turns = True
    """Whether short requests are faster one after the other."""
    spelled_moment = staticmethod(_spelled)
    """Spells a time for the driver, which reads it back by itself."""
    clock = "clock()"
    """SQL for the present. SQLite's own has milliseconds only."""
    _line: Line | None = None
    """Where this connection is the one that writes."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """A connection with functions for case-insensitive lookups and for `clock`."""
        made = super().get_new_connection(conn_params)
        made.create_function(caseless.UPPER, 1, caseless.upper, deterministic=True)
        made.create_function("clock", 0, lambda: _spelled(datetime.now(UTC)))
        return made

    @property
    def folder(self) -> Path:
        """Where the database is on this machine."""
        return Path(self.settings_dict["NAME"]).parent

    def is_usable(self) -> bool:
        """Asked after errors only. A new connection costs a millisecond; Django would keep this one for ever."""
        return False

    def probe(self) -> None:
        """Raise `DatabaseError` if the file cannot be read."""
        with self.cursor() as cursor:
            cursor.execute("SELECT 1")

    def spelled(self, sql: str, count: int) -> str:
        """A statement with `count` placeholders, in the form that `run_all` takes."""
        return sql % (("?",) * count)

    def run_all(self, steps: Sequence[Step], ahead: Sequence[Step] = ()) -> list[list[Row]]:
        """Run statements directly on the driver; returns the rows of each. Raises the driver's error."""
        return [self.run(step) for step in steps]

    def run(self, step: Step) -> list[Row]:
        """As `run_all`, for one statement."""
        rows: list[Row] = self.connection.execute(*step).fetchall()
        return rows

    def create_cursor(self, name: str | None = None) -> Any:
        """A cursor of Django whose writes queue like others."""
        return self.connection.cursor(factory=partial(_Cursor, self))

    def write(self, step: Step, ahead: Sequence[Step] = ()) -> list[Row]:
        """Run a statement that stores something. Outside a transaction it is one by itself and queues like others."""
        with self.queued():
            return self.run(step)

    @contextmanager
    def queued(self) -> Iterator[None]:
        """Queue with other writers around one statement, unless a transaction of this connection already does."""
        is_alone = not self.is_in_transaction
        if is_alone:
            self._queue_up()
        try:
            yield
        finally:
            if is_alone:
                self._leave()

    def run_all_at_one_moment(self, steps: Sequence[Step]) -> list[list[Row]]:
        """As `run_all`, in a separate snapshot."""
        with self.snapshot():
            return self.run_all(steps)

    def run_later(self, step: Step) -> None:
        """Run a statement that has no rows."""
        self.write(step)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all reads inside see one state. Django's own transaction would wait for the write lock."""
        with self.wrap_database_errors:
            self.connection.execute("BEGIN DEFERRED")
        try:
            yield
        finally:
            if self.is_in_transaction:  # SQLite itself ends it after a read error
                with self.wrap_database_errors:
                    self.connection.execute("COMMIT")

    @property
    def is_in_transaction(self) -> bool:
        """Whether a transaction is open, Django's own included."""
        return self.connection is not None and bool(self.connection.in_transaction)

    def _start_transaction_under_autocommit(self) -> None:
        self._queue_up()
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

    def _borrowed(self) -> Any:
        try:
            return _idle[self.settings_dict["NAME"]].pop()
        except IndexError:
            return None

    def _close(self) -> None:
        """Return the connection, or really close it: one that is in a transaction, had an error, or is one too many."""
        idle = _idle[self.settings_dict["NAME"]]
        try:
            if self.errors_occurred or not self.autocommit or self.is_in_transaction or len(idle) >= _MOST_IDLE:
                super()._close()
            else:
                # Off this object first: what is finalised in between may close it, too, and it would be lent twice.
                lent, self.connection = self.connection, None
                idle.append(lent)
        finally:
            self._leave()

    def _queue_up(self) -> None:
        line = _line_for(self.settings_dict["NAME"])
        if not line.acquire(self.settings_dict["OPTIONS"].get("timeout", 5)):
            raise OperationalError("database is locked")
        self._line = line

    def _leave(self) -> None:
        if self._line is not None:
            self._line.release()
            self._line = None


class _Cursor(base.SQLiteCursorWrapper):
    """A cursor of Django that queues for a write outside a transaction.

    Left to itself, such a statement would sleep and look again, and mostly find that a worker which writes all the time
    has begun its next transaction: ten seconds for one update.
    """

    def __init__(self, wrapper: DatabaseWrapper, line: sqlite3.Connection) -> None:
        super().__init__(line)
        self._wrapper = wrapper

    def execute(self, query: str, params: Any = None) -> Any:
        with self._wrapper.queued() if _stores(query) else nullcontext():
            return super().execute(query, params)

    def executemany(self, query: str, param_list: Any) -> Any:
        with self._wrapper.queued():
            return super().executemany(query, param_list)


_stores = re.compile(r"\s*(?:insert|update|delete|replace)\b", re.IGNORECASE).match

_idle: defaultdict[str, list[sqlite3.Connection]] = defaultdict(list)
"""Open connections that nobody uses, by file."""


def close_idle() -> None:
    """Close all connections that nobody uses. SQLite's must not be carried into a forked process."""
    for each in _idle.values():
        while each:
            each.pop().close()


os.register_at_fork(before=close_idle)


@cache
def _line_for(name: str) -> Line:
    return Line(str(name))
