"""PostgreSQL in fewer trips.

A statement that PostgreSQL answers by a key takes it 0.02 ms, and the way there and back a tenth of one. So what need
not wait for an answer waits for company: the `BEGIN` of a transaction travels with its first statement, a write whose
answer nobody needs with the next statement or the `COMMIT`, and statements that are known together go together. All of
it is about what runs through `core.prepared`; Django's own cursors find the connection as they always do, because
nothing is held back any more when one is made.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db.backends.postgresql import base
from django.db.backends.utils import debug_transaction
from psycopg import AsyncConnection, errors
from psycopg.pq import TransactionStatus

from core.postgres import pipeline
from core.postgres.pipeline import Bound, Row, Step

_Wrapper: Any = base.DatabaseWrapper

_SNAPSHOT = Bound(b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
_COMMIT, _ROLLBACK = Bound(b"COMMIT"), Bound(b"ROLLBACK")
_PROBE_SECONDS, _FIRST_SECONDS = 1.0, 5


class DatabaseWrapper(_Wrapper):  # type: ignore[misc]
    """A connection that sends statements together."""

    takes_along = True
    """Whether asking ahead saves anything."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._held: list[Bound] = []
        self._ahead: list[tuple[Step, list[Row]]] = []
        """What was asked ahead, with its rows: each good for one who asks just that before anything else is said."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """A connection of the pool; before it is opened one is made without it.

        A pool tries again and again, and says for ten seconds only that it has none. The server says at once why not.
        """
        if self.pool is not None and self.pool.closed:
            self.Database.connect(**{"connect_timeout": _FIRST_SECONDS, **conn_params}).close()
        return super().get_new_connection(conn_params)

    def probe(self) -> None:
        """Raise `OperationalError` where PostgreSQL lets nobody in within a second, whatever the pool waits for."""
        with self.wrap_database_errors:
            loop = asyncio.new_event_loop()
            try:
                loop.run_until_complete(_knock(self.get_connection_params()))
            finally:
                loop.close()  # `asyncio.run` would wait for a name that is still being looked up

    def spelled(self, sql: str, count: int) -> bytes:
        """A statement with so many values, in the spelling of `run_all`."""
        return (sql % tuple(f"${place}" for place in range(1, count + 1))).encode()

    def run_all(self, steps: Sequence[Step], ahead: Sequence[Step] = ()) -> list[list[Row]]:
        """Run statements in one trip, and before them what was held back; gives the rows of each.

        Raises psycopg's error for the first that is refused; none after it was run. What goes `ahead` may be refused as
        well. Its rows are those of whoever asks just that before anything else is said: which a cursor of Django's
        that was made before does unheard.
        """
        if (known := self._known(steps)) is not None:
            return known
        answers = self._run(pipeline.bind(self.connection, [*steps, *ahead]))
        if ahead:
            self._ahead = list(zip(ahead, answers[len(steps) :], strict=True))
        return answers[: len(steps)]

    def write(self, step: Step, ahead: Sequence[Step] = ()) -> list[Row]:
        """The same of one statement that stores something."""
        [rows] = self.run_all([step], ahead)
        return rows

    def run_all_at_one_moment(self, steps: Sequence[Step]) -> list[list[Row]]:
        """The same in a snapshot of their own, which begins and ends in the same trip."""
        bound = pipeline.bind(self.connection, steps)
        try:
            return self._run([_SNAPSHOT, *bound, _COMMIT])[1:-1]
        finally:
            self._end_snapshot()

    def run_later(self, step: Step) -> None:
        """Run a statement that has no rows: inside a transaction with whatever follows, at the latest its commit.

        What the database has against it is raised there, what the driver has against a value at once. A cursor of
        Django's that was made before does not wait for it.
        """
        bound = pipeline.bind(self.connection, [step])
        if self.connection.autocommit:
            self._run(bound)
        else:
            self._held, self._ahead = [*self._before(), *bound], []

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all that is read inside see one state, and write nothing."""
        self._held = [_SNAPSHOT]
        try:
            yield
        finally:
            self._end_snapshot()

    @property
    def is_in_transaction(self) -> bool:
        """Whether a transaction is open, Django's own included where it has begun."""
        return bool(self._held) or self._status != TransactionStatus.IDLE

    def create_cursor(self, name: str | None = None) -> Any:
        self._ahead = []
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
        self._forget()  # all of it came after the savepoint, whose cursor left nothing back
        super()._savepoint_rollback(sid)

    def _rollback(self) -> None:
        self._forget()
        super()._rollback()

    def _close(self) -> None:
        self._forget()
        super()._close()

    def _release(self) -> None:
        if self._held:
            with self.wrap_database_errors:
                self._run([])

    def _run(self, steps: Sequence[Bound]) -> list[list[Row]]:
        before = self._before()
        self._forget()
        return pipeline.run(self.connection, [*before, *steps])[len(before) :]

    def _before(self) -> list[Bound]:
        """What has to be said before the next statement: what was held back, or the beginning of a transaction."""
        return self._held or self._beginning()

    def _known(self, steps: Sequence[Step]) -> list[list[Row]] | None:
        """The rows of statements that were all asked ahead, None of others. The next who asks learns what is new."""
        if not self._ahead or self._before():
            return None
        found = [next((each for each in self._ahead if each[0] == step), None) for step in steps]
        if None in found:
            return None
        self._ahead = [each for each in self._ahead if each not in found]
        return [each[1] for each in found if each]

    def _forget(self) -> None:
        self._held, self._ahead = [], []

    def _end_snapshot(self) -> None:
        self._forget()
        end = {TransactionStatus.INTRANS: _COMMIT, TransactionStatus.INERROR: _ROLLBACK}.get(self._status)
        if end is not None:
            with self.wrap_database_errors:
                pipeline.run(self.connection, [end])

    def _beginning(self) -> list[Bound]:
        if self.connection.autocommit or self._status != TransactionStatus.IDLE:
            return []
        return [Bound(self.connection._get_tx_start_command())]

    @property
    def _status(self) -> TransactionStatus:
        if self.connection is None:  # it was given back to the pool, which ends what it finds open
            return TransactionStatus.UNKNOWN
        return TransactionStatus(self.connection.pgconn.transaction_status)


async def _knock(params: dict[str, Any]) -> None:
    """Connect and leave. libpq's own limit, and with it that of a plain connection, is two seconds an address."""
    try:
        async with asyncio.timeout(_PROBE_SECONDS):
            line = await AsyncConnection.connect(**params)
    except TimeoutError:
        raise errors.ConnectionTimeout("connection timeout expired") from None
    await line.close()
