"""A line for writers.

SQLite has one writer. Whoever finds it busy sleeps and looks again after a while: of eight threads that write one
sleeps while the file is free, and each look takes the interpreter away from the one who could finish. So the threads of
one process stand in line for it here, and sleep until it is theirs. Other processes are waited for as ever.
"""

import threading
from functools import cache
from typing import Any

from django.db import OperationalError
from django.db.backends.sqlite3 import base

_Wrapper: Any = base.DatabaseWrapper


class DatabaseWrapper(_Wrapper):  # type: ignore[misc]
    """A connection whose transactions, which write (`transaction_mode`), are in line with those of other threads."""

    _line: "threading.Lock | None" = None
    """The line of which this connection is the head."""

    def _start_transaction_under_autocommit(self) -> None:
        line = _line_for(self.settings_dict["NAME"])
        if not line.acquire(timeout=self.settings_dict["OPTIONS"].get("timeout", 5)):
            raise OperationalError("database is locked")
        self._line = line
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

    def _leave(self) -> None:
        if self._line is not None:
            self._line.release()
            self._line = None


@cache
def _line_for(name: str) -> threading.Lock:
    return threading.Lock()
