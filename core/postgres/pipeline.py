"""Send several statements to PostgreSQL at once, by libpq's pipeline on psycopg's connection.

psycopg's cursors can do that too, but each of them takes about as long as a round trip.
"""

from collections.abc import Sequence
from itertools import count, zip_longest
from select import POLLIN, POLLOUT, poll
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from psycopg import ClientCursor, Connection, errors
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ExecStatus
from psycopg.types.numeric import Int2, Int4, Int8

Row = tuple[Any, ...]
Step = tuple[bytes, Sequence[Any]]
"""A statement with placeholders $1, $2, ..., and its values."""
_Key = tuple[bytes, tuple[int, ...]]


class Bound(NamedTuple):
    """A statement with its encoded values."""

    sql: bytes
    types: tuple[int, ...] = ()
    values: Sequence[Any] = ()
    formats: Sequence[Any] = ()


_LIMITS = {Int2: 2**15, Int4: 2**31, Int8: 2**63}
"""psycopg would silently cut off the upper bits of larger values."""
_MOST_NAMES = 500
"""Maximum number of prepared statements per connection; further ones are planned each time."""
_BINARY = 1
_CANCEL_SECONDS = 5.0
_REFUSED = frozenset({ExecStatus.FATAL_ERROR, ExecStatus.PIPELINE_ABORTED, ExecStatus.BAD_RESPONSE})
_OUTDATED = (errors.FeatureNotSupported, errors.InvalidSqlStatementName)
"""Errors for a plan whose column types have changed, and for one that no longer exists."""


class _Known:
    """The prepared statements of a connection, for its lifetime in the pool."""

    def __init__(self) -> None:
        self.names: dict[_Key, bytes] = {}
        self.numbers = count()
        """Names are never reused: PostgreSQL may have prepared one although its trip failed."""


_known: "WeakKeyDictionary[Connection[Any], _Known]" = WeakKeyDictionary()


def bind(line: "Connection[Any]", steps: Sequence[Step]) -> list[Bound]:
    """Statements for `run`. Raises for a value out of range before anything is sent."""
    types = Transformer(line)
    bound = []
    for sql, values in steps:
        # A plain int would be sent in its smallest width, and each width would be a separate prepared statement.
        values = [Int8(value) if type(value) is int else value for value in values]
        for value in values:
            if (limit := _LIMITS.get(type(value))) and not -limit <= value < limit:
                raise errors.NumericValueOutOfRange(f"{value} is out of range of its column")
        given = types.dump_sequence(values, [PyFormat.AUTO] * len(values))
        bound.append(Bound(sql, tuple(types.types or ()), given, types.formats or ()))
    return bound


def run(line: "Connection[Any]", steps: Sequence[Bound]) -> list[list[Row]]:
    """Run statements in one trip, in order, as one transaction if none is open; returns the rows of each.

    Raises psycopg's error for the first that fails; none after it runs.
    """
    talk = _Talk(line)
    try:
        line.pgconn.enter_pipeline_mode()
        for step in steps:
            talk.say(step)
        line.pgconn.pipeline_sync()
        answers = talk.listen()
        line.pgconn.exit_pipeline_mode()
    except BaseException as problem:
        try:
            if not isinstance(problem, Exception):
                line.cancel_safe(timeout=_CANCEL_SECONDS)  # an interrupt stops the statement
        finally:
            line.close()  # its remaining results would be taken for those of the next statement
        raise
    return talk.understood(answers)


class _Talk:
    """One round trip: what was sent, and which result belongs to which statement."""

    def __init__(self, line: "Connection[Any]") -> None:
        self._wire = line.pgconn
        self._types = Transformer(line)
        self._known = _known.get(line) or _known.setdefault(line, _Known())
        # Cursors that prepare statements themselves (server_side_binding) deallocate all names after each rollback.
        self._may_prepare = line.prepare_threshold is not None and issubclass(line.cursor_factory, ClientCursor)
        self._new: dict[_Key, bytes] = {}
        self._asked: list[_Key | None] = []
        """For each expected result, in order: the statement it confirms as prepared, or None if it holds rows."""

    def say(self, step: Bound) -> None:
        """Send a statement; prepare it first if this connection does not know it."""
        key = (step.sql, step.types)
        name = self._known.names.get(key) or self._new.get(key)
        if not name:
            name = self._new[key] = self._name()
            self._wire.send_prepare(name, step.sql, step.types)
            self._asked.append(key)
        self._wire.send_query_prepared(name, step.values, step.formats, _BINARY)
        self._asked.append(None)

    def _name(self) -> bytes:
        """A new name, or an empty one, whose plan the next unnamed statement replaces."""
        is_full = len(self._known.names) + len(self._new) >= _MOST_NAMES
        return b"heddle_%d" % next(self._known.numbers) if self._may_prepare and not is_full else b""

    def listen(self) -> list[Any]:
        """All results. The last one is the sync; before it there may be one more than there are statements: a foreign
        key that is found broken only when the transaction ends.

        psycopg's generators and its loop for them would take a fifth of the trip.
        """
        wire, ready = self._wire, poll()
        ready.register(wire.socket, POLLIN | POLLOUT)
        while wire.flush():  # not all of it could be sent; PostgreSQL may wait until its first answers are read
            ready.poll()
            wire.consume_input()
        ready.modify(wire.socket, POLLIN)
        answers: list[Any] = []
        is_between = False
        while not answers or answers[-1].status != ExecStatus.PIPELINE_SYNC:
            while wire.is_busy():  # `get_result` would wait without letting other threads run
                ready.poll()
                wire.consume_input()
            if (answer := wire.get_result()) is not None:
                answers.append(answer)
            elif is_between:
                raise errors.OperationalError("the connection to PostgreSQL broke before it answered")
            is_between = answer is None
        return answers

    def understood(self, answers: Sequence[Any]) -> list[list[Row]]:
        """The rows of each statement; raises for the first that failed."""
        rows = []
        for key, answer in zip_longest(self._asked, answers[:-1]):
            if answer.status in _REFUSED:
                refusal = errors.error_from_result(answer, encoding="utf-8")
                if isinstance(refusal, _OUTDATED):
                    self._known.names.clear()
                raise refusal
            if key is None:
                rows.append(self._rows(answer))
            elif self._new[key]:
                self._known.names[key] = self._new[key]
        return rows

    def _rows(self, answer: Any) -> list[Row]:
        if answer.status != ExecStatus.TUPLES_OK:
            return []
        self._types.set_pgresult(answer)
        return self._types.load_rows(0, answer.ntuples, tuple)
