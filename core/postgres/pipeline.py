"""Statements that go to PostgreSQL together, on psycopg's own connection and by libpq's pipeline.

psycopg's cursors can do that too, but each of them costs about as much time as a trip does.
"""

from collections.abc import Generator, Sequence
from itertools import count, zip_longest
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from psycopg import ClientCursor, Connection, errors
from psycopg.adapt import PyFormat, Transformer
from psycopg.generators import fetch_many, send
from psycopg.pq import ExecStatus
from psycopg.types.numeric import Int2, Int4, Int8

Row = tuple[Any, ...]
Step = tuple[bytes, Sequence[Any]]
"""A statement and its values, which stand in it as $1, $2 and so on."""
_Key = tuple[bytes, tuple[int, ...]]


class Bound(NamedTuple):
    """A statement with its values as they go over the wire."""

    sql: bytes
    types: tuple[int, ...] = ()
    values: Sequence[Any] = ()
    formats: Sequence[Any] = ()


_LIMITS = {Int2: 2**15, Int4: 2**31, Int8: 2**63}
"""psycopg would send what goes beyond these, less its upper bits."""
_MOST_NAMES = 500
"""Statements of one line that PostgreSQL keeps the plans of; those after them are planned each time."""
_BINARY = 1
_REFUSED = frozenset({ExecStatus.FATAL_ERROR, ExecStatus.PIPELINE_ABORTED, ExecStatus.BAD_RESPONSE})
_OUTDATED = (errors.FeatureNotSupported, errors.InvalidSqlStatementName)
"""What PostgreSQL says of a plan whose columns have other types by now, and of one that somebody took away."""


class _Known:
    """What a line has prepared: it knows that for as long as it lives, whoever takes it from the pool."""

    def __init__(self) -> None:
        self.names: dict[_Key, bytes] = {}
        self.numbers = count()
        """A name that was given is never given again: PostgreSQL may know it though its trip went wrong."""


_known: "WeakKeyDictionary[Connection[Any], _Known]" = WeakKeyDictionary()


def bind(line: "Connection[Any]", steps: Sequence[Step]) -> list[Bound]:
    """Statements for `run`. A value that PostgreSQL has no place for is refused here, before anything is said."""
    types = Transformer(line)
    bound = []
    for sql, values in steps:
        # A plain number would go as wide as it is, and each width were a statement of its own.
        values = [Int8(value) if type(value) is int else value for value in values]
        for value in values:
            if (limit := _LIMITS.get(type(value))) and not -limit <= value < limit:
                raise errors.NumericValueOutOfRange(f"{value} is out of range of its column")
        given = types.dump_sequence(values, [PyFormat.AUTO] * len(values))
        bound.append(Bound(sql, tuple(types.types or ()), given, types.formats or ()))
    return bound


def run(line: "Connection[Any]", steps: Sequence[Bound]) -> list[list[Row]]:
    """Run statements in one trip, in their order, as one transaction where none is open; gives the rows of each.

    Raises psycopg's error for the first that is refused; none after it was run.
    """
    talk = _Talk(line)
    try:
        line.pgconn.enter_pipeline_mode()
        for step in steps:
            talk.say(step)
        line.pgconn.pipeline_sync()
        answers = line.wait(talk.listen())
        line.pgconn.exit_pipeline_mode()
    except BaseException:
        line.close()  # what it has still to say would be taken for the next answer
        raise
    return talk.understood(answers)


class _Talk:
    """One trip: what is said, and what the answers are the answers to."""

    def __init__(self, line: "Connection[Any]") -> None:
        self._wire = line.pgconn
        self._types = Transformer(line)
        self._known = _known.get(line) or _known.setdefault(line, _Known())
        # Cursors that prepare too, as those of server_side_binding, let all names be taken away after each rollback.
        self._may_prepare = line.prepare_threshold is not None and issubclass(line.cursor_factory, ClientCursor)
        self._new: dict[_Key, bytes] = {}
        self._asked: list[_Key | None] = []
        """For each answer, in order, the statement that it says is prepared; None where it has the rows of one."""

    def say(self, step: Bound) -> None:
        """Put a statement on its way, to be prepared first where this line does not know it."""
        key = (step.sql, step.types)
        name = self._known.names.get(key) or self._new.get(key)
        if not name:
            name = self._new[key] = self._name()
            self._wire.send_prepare(name, step.sql, step.types)
            self._asked.append(key)
        self._wire.send_query_prepared(name, step.values, step.formats, _BINARY)
        self._asked.append(None)

    def _name(self) -> bytes:
        """A name that stays, or none, which the next statement without one takes away."""
        is_full = len(self._known.names) + len(self._new) >= _MOST_NAMES
        return b"heddle_%d" % next(self._known.numbers) if self._may_prepare and not is_full else b""

    def listen(self) -> Generator[Any, Any, list[Any]]:
        """All answers, as psycopg waits for them: with this, an interrupt stops the statement.

        The last one says that this was all. Behind those to the statements one more may come before it: what was only
        noticed when the transaction ended that they were, for a row is missing that one of theirs names.
        """
        yield from send(self._wire)
        answers: list[Any] = []
        while not answers or answers[-1][0].status != ExecStatus.PIPELINE_SYNC:
            told = yield from fetch_many(self._wire)
            if not told:
                raise errors.OperationalError("the line to PostgreSQL broke before it had answered")
            answers.append(told)
        return answers

    def understood(self, answers: Sequence[Any]) -> list[list[Row]]:
        """The rows of each statement; raises for the first that was refused."""
        rows = []
        for key, (answer,) in zip_longest(self._asked, answers[:-1]):
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
