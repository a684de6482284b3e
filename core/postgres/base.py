"""PostgreSQL in fewer trips.

A statement that PostgreSQL answers by a key takes it 0.02 ms, and the way there and back a tenth of one. So what need
not wait for an answer waits for company: the `BEGIN` of a transaction travels with its first statement, a write whose
answer nobody needs with the next statement or the `COMMIT`, and statements that are known together go together. All of
it is about what runs through `core.prepared`; Django's own cursors find the connection as they always do, because
nothing is held back any more when one is made.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db.backends.postgresql import base
from django.db.backends.utils import debug_transaction
from psycopg.pq import TransactionStatus

from core.postgres import pipeline
from core.postgres.pipeline import Bound, Row, Step

_Wrapper: Any = base.DatabaseWrapper

_SNAPSHOT = Bound(b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
_COMMIT, _ROLLBACK = Bound(b"COMMIT"), Bound(b"ROLLBACK")


class DatabaseWrapper(_Wrapper):  # type: ignore[misc]
    """A connection that sends statements together."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._held: list[Bound] = []

    def spelled(self, sql: str, count: int) -> bytes:
        """A statement with so many values, in the spelling of `run_all`."""
        return (sql % tuple(f"${place}" for place in range(1, count + 1))).encode()

    def run_all(self, steps: Sequence[Step]) -> list[list[Row]]:
        """Run statements in one trip, and before them what was held back; gives the rows of each.

        Raises psycopg's error for the first that is refused; none after it was run.
        """
        return self._run(pipeline.bind(self.connection, steps))

    def run_later(self, step: Step) -> None:
        """Run a statement that has no rows: inside a transaction with whatever follows, at the latest its commit.

        What the database has against it is raised there, what the driver has against a value at once. A cursor of
        Django's that was made before does not wait for it.
        """
        bound = pipeline.bind(self.connection, [step])
        if self.connection.autocommit:
            self._run(bound)
        else:
            self._held = [*(self._held or self._beginning()), *bound]

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all that is read inside see one state, and write nothing."""
        self._held = [_SNAPSHOT]
        try:
            yield
        finally:
            self._held = []
            end = {TransactionStatus.INTRANS: _COMMIT, TransactionStatus.INERROR: _ROLLBACK}.get(self._status)
            if end is not None:
                with self.wrap_database_errors:
                    pipeline.run(self.connection, [end])

    @property
    def is_in_transaction(self) -> bool:
        """Whether a transaction is open, Django's own included where it has begun."""
        return bool(self._held) or self._status != TransactionStatus.IDLE

    def create_cursor(self, name: str | None = None) -> Any:
        self._release()
        return super().create_cursor(name)

    def _set_autocommit(self, autocommit: bool) -> None:
        self._release()
        super()._set_autocommit(autocommit)

    def _commit(self) -> None:
        if self.connection is None or not self.is_in_transaction:
            return
        with debug_transaction(self, "COMMIT"), self.wrap_database_errors:
            self._run([_COMMIT])

    def _savepoint_rollback(self, sid: str) -> None:
        self._held = []  # all of it came after the savepoint, whose cursor left nothing back
        super()._savepoint_rollback(sid)

    def _rollback(self) -> None:
        self._held = []
        super()._rollback()

    def _close(self) -> None:
        self._held = []
        super()._close()

    def _release(self) -> None:
        if self._held:
            with self.wrap_database_errors:
                self._run([])

    def _run(self, steps: Sequence[Bound]) -> list[list[Row]]:
        held = self._held or self._beginning()
        self._held = []
        return pipeline.run(self.connection, [*held, *steps])[len(held) :]

    def _beginning(self) -> list[Bound]:
        """What has to be said before the first statement of a transaction."""
        if self.connection.autocommit or self._status != TransactionStatus.IDLE:
            return []
        return [Bound(self.connection._get_tx_start_command())]

    @property
    def _status(self) -> TransactionStatus:
        if self.connection is None:  # it was given back to the pool, which ends what it finds open
            return TransactionStatus.UNKNOWN
        return TransactionStatus(self.connection.pgconn.transaction_status)
