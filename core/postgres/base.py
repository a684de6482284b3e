"""A PostgreSQL backend that needs fewer round trips.

PostgreSQL needs 0.02 ms for a lookup by key, a round trip takes 0.1 ms. So statements are sent together: `BEGIN` with
the first statement of a transaction, a write without a result with the next statement or the `COMMIT`, and statements
known together in one trip. This applies only to `core.prepared`; creating one of Django's own cursors first sends
everything that is held back.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db.backends.postgresql import base
from django.db.backends.utils import debug_transaction
from psycopg import AsyncConnection, errors
from psycopg.pq import TransactionStatus

from core.lending import Borrower
from core.postgres import pipeline
from core.postgres.pipeline import Bound, Row, Step

_Wrapper: Any = base.DatabaseWrapper

_SNAPSHOT = Bound(b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
_COMMIT, _ROLLBACK = Bound(b"COMMIT"), Bound(b"ROLLBACK")
_PROBE_SECONDS, _FIRST_SECONDS = 1.0, 5
IDLE_SECONDS = 30
"""How long a transaction may do nothing before PostgreSQL ends it with its connection: a lease of a worker."""
LOCK_SECONDS = 15
"""How long a statement waits for a row that somebody else has locked. Less than clients wait for an answer."""


class DatabaseWrapper(Borrower, _Wrapper):  # type: ignore[misc]
    """A connection that batches statements."""

    takes_along = True
    """Whether sending queries ahead saves time."""
    takes_turns = False
    """Others can run while PostgreSQL works."""
    folder = None
    """Its disk is its server's, which cannot be seen from here."""
    spelled_moment = None
    """The driver takes times as they are."""
    clock = "clock_timestamp()"
    """SQL for the present, not for the time at which the transaction began."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._held: list[Bound] = []
        self._ahead: list[tuple[Step, list[Row]]] = []
        """Statements sent ahead, with their rows; each is used once, and any other statement discards them."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """A connection from the pool. Before the pool is opened, a direct connection is tried.

        The pool would retry for ten seconds and report only that it has no connection; a direct connection fails at
        once with the reason.
        """
        if (pool := self.pool) is not None and pool.closed:
            self.Database.connect(**{"connect_timeout": _FIRST_SECONDS, **conn_params}).close()
        return super().get_new_connection(conn_params)

    def _borrowed(self) -> Any:
        """The connection that was returned last. The pool alone would hand them out in turn, so that each request meets
        a server process whose caches are cold.
        """
        pool = self._connection_pools.get(self.alias)
        if pool is None or pool.closed:
            return None
        pool._pool.rotate()  # it takes the leftmost, and returns to the right
        with self.wrap_database_errors:
            found = pool.getconn()
        if not found.autocommit:
            found.autocommit = True
        return found

    def _configure_connection(self, connection: Any) -> bool:
        """Compile no queries, and bound how long a row stays locked and is waited for.

        PostgreSQL would compile a page that might read much, and takes longer than the page. A process that freezes
        within a transaction, or whose machine vanishes, would keep its locks for hours, and whoever wants one of them
        would keep a thread and a connection: soon nobody has any. A running statement is not bounded.

        Not startup options, which a pooler in between may refuse.
        """
        super()._configure_connection(connection)
        bounds = {"idle_in_transaction_session_timeout": IDLE_SECONDS, "lock_timeout": LOCK_SECONDS}
        sql = "SET jit = off;" + "".join(f"SET {name} = '{seconds}s';" for name, seconds in bounds.items())
        connection.execute(sql, prepare=False)  # several statements cannot be prepared as one
        return True

    def probe(self) -> None:
        """Raise `OperationalError` if PostgreSQL accepts no connection within a second. Bypasses the pool."""
        with self.wrap_database_errors:
            loop = asyncio.new_event_loop()
            try:
                loop.run_until_complete(_knock(self.get_connection_params()))
            finally:
                loop.close()  # `asyncio.run` would wait for a pending name lookup

    def spelled(self, sql: str, count: int) -> bytes:
        """A statement with `count` placeholders, in the form that `run_all` takes."""
        return (sql % tuple(f"${place}" for place in range(1, count + 1))).encode()

    def run_all(self, steps: Sequence[Step], ahead: Sequence[Step] = ()) -> list[list[Row]]:
        """Run statements in one trip, after those held back; returns the rows of each.

        Raises psycopg's error for the first that fails; none after it runs. Statements sent `ahead` may fail as well.
        Their rows are kept for a caller who runs exactly that next. A Django cursor created earlier bypasses this.
        """
        if (known := self._known(steps)) is not None:
            return known
        answers = self._run(pipeline.bind(self.connection, [*steps, *ahead]))
        if ahead:
            self._ahead = list(zip(ahead, answers[len(steps) :], strict=True))
        return answers[: len(steps)]

    def run(self, step: Step) -> list[Row]:
        """As `run_all`, for one statement."""
        [rows] = self.run_all([step])
        return rows

    def write(self, step: Step, ahead: Sequence[Step] = ()) -> list[Row]:
        """As `run_all`, for one statement that stores something."""
        [rows] = self.run_all([step], ahead)
        return rows

    def run_all_at_one_moment(self, steps: Sequence[Step]) -> list[list[Row]]:
        """As `run_all`, in a separate snapshot that begins and ends in the same trip."""
        bound = pipeline.bind(self.connection, steps)
        try:
            return self._run([_SNAPSHOT, *bound, _COMMIT])[1:-1]
        finally:
            self._end_snapshot()

    def run_later(self, step: Step) -> None:
        """Run a statement without rows: in a transaction with the next statement, at the latest with the commit.

        Database errors are raised then, driver errors about a value immediately. A Django cursor created earlier does
        not wait for it.
        """
        bound = pipeline.bind(self.connection, [step])
        if self.connection.autocommit:
            self._run(bound)
        else:
            self._held, self._ahead = [*self._before(), *bound], []

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all reads inside see one state. Writes are not possible."""
        self._held = [_SNAPSHOT]
        try:
            yield
        finally:
            self._end_snapshot()

    @property
    def is_in_transaction(self) -> bool:
        """Whether a transaction is open, including one of Django's that has begun."""
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
        self._forget()  # all of it came after the savepoint, whose cursor sent what was held before
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
        """What must be sent before the next statement: held statements, or the beginning of a transaction."""
        return self._held or self._beginning()

    def _known(self, steps: Sequence[Step]) -> list[list[Row]] | None:
        """The rows if all statements were sent ahead, else None. Rows are used once; then the query runs again."""
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
        if self.connection is None:  # returned to the pool, which ends any open transaction
            return TransactionStatus.UNKNOWN
        return TransactionStatus(self.connection.pgconn.transaction_status)


async def _knock(params: dict[str, Any]) -> None:
    """Connect and disconnect. Asynchronous because libpq's own minimum timeout is two seconds per address."""
    try:
        async with asyncio.timeout(_PROBE_SECONDS):
            line = await AsyncConnection.connect(**params)
    except TimeoutError:
        raise errors.ConnectionTimeout("connection timeout expired") from None
    await line.close()
