"""Queries of a fixed shape whose SQL is compiled once.

Building and compiling a query costs the ORM about twenty times what the database needs to answer it by a key. So the
queries of every request are written here as querysets, compiled at first use, and then run as SQL with other values.
Handwritten SQL would have to handle how each database represents times and booleans. Writes are in
`core.prepared_writes`.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from django.db.models import Model, QuerySet

from core.db import snapshot, this_connection
from core.rows import loaded
from core.statements import Row, Statement, Step, comes_converted, is_heard, of_the_driver, ready, run, run_all

_FIRST_STAND_IN = 1_900_000_000
Argument = int | str | datetime
Kind = type[int] | type[str] | type[datetime]
Stored = TypeVar("Stored", bound=Model)


@dataclass(frozen=True, slots=True)
class _Compiled:
    statement: Statement
    values: tuple[Any, ...]
    """The values of the statement, with stand-ins where `slots` puts arguments."""
    slots: tuple[tuple[int, int, Any], ...]
    """(index in `values`, index in the arguments, converter or None)."""
    converters: tuple[tuple[int, Any, Callable[[Any, Any, Any], Any]], ...]


class Prepared:
    """A compiled `values_list` query whose arguments are numbers, strings or aware datetimes.

    `build` makes the queryset from its arguments and must pass each on unchanged; `kinds` are their types. Numbers must
    fit their columns: the ORM's handling of those that do not (an empty result) happens at compile time.
    """

    def __init__(self, build: Callable[..., QuerySet[Any, Any]], *kinds: Kind) -> None:
        self._build = build
        numbers = range(_FIRST_STAND_IN, _FIRST_STAND_IN + len(kinds))
        self._stand_ins = tuple(_stand_in(kind, number) for kind, number in zip(kinds, numbers, strict=True))
        self._compiled: dict[str, _Compiled] = {}

    def rows(self, *arguments: Argument, ahead: "Sequence[Question]" = ()) -> list[Row]:
        """All rows, as the queryset would return them; `ahead` as in `together`."""
        connection = this_connection()
        if ahead and connection.takes_along:
            [rows] = together((self, arguments), ahead=ahead)
            return rows
        compiled = self.on(connection)
        return _answer(connection, compiled, run(connection, compiled.statement, self.values(compiled, arguments)))

    def first(self, *arguments: Argument) -> Row | None:
        """The first row, or None."""
        rows = self.rows(*arguments)
        return rows[0] if rows else None

    def on(self, connection: Any) -> _Compiled:
        """The compiled query for a connection's database."""
        return self._compiled.get(connection.vendor) or self._compile(connection)

    def values(self, compiled: _Compiled, arguments: Sequence[Argument]) -> list[Any]:
        """The values of the statement for these arguments."""
        if len(arguments) != len(self._stand_ins):
            raise ValueError(f"expected {len(self._stand_ins)} arguments, got {len(arguments)}")
        values = list(compiled.values)
        for place, source, kind in compiled.slots:
            values[place] = arguments[source] if kind is None else kind(arguments[source])
        return values

    def _compile(self, connection: Any) -> _Compiled:
        compiler = self._build(*self._stand_ins).query.get_compiler(connection=connection)
        sql, values = self._spelled(compiler)
        columns = [column for column, *_ in compiler.select[: compiler.col_count]]
        converters = tuple(
            (place, column, convert)
            for place, (found, column) in compiler.get_converters(columns).items()
            if not comes_converted(column, connection)
            for convert in found
        )
        moment = connection.ops.adapt_datetimefield_value
        ways_in = [moment if isinstance(each, datetime) else None for each in self._stand_ins]
        stand_ins = [way(each) if way else each for way, each in zip(ways_in, self._stand_ins, strict=True)]
        # PostgreSQL gets the width of a number: it would otherwise prepare the statement again for each width.
        slots = tuple(
            (place, source, ways_in[source] or (type(value) if type(value) not in (int, str) else None))
            for place, value in enumerate(values)
            if value in stand_ins
            for source in [stand_ins.index(value)]
        )
        compiled = _Compiled(Statement.of(sql, len(values), connection), tuple(values), slots, converters)
        self._compiled[connection.vendor] = compiled
        return compiled

    def _spelled(self, compiler: Any) -> tuple[str, Sequence[Any]]:
        sql, values = compiler.as_sql()
        return sql, values


class PreparedCount(Prepared):
    """The number of rows of a query of one column, as a single row."""

    def _spelled(self, compiler: Any) -> tuple[str, Sequence[Any]]:
        sql, values = super()._spelled(compiler)
        return f"SELECT COUNT(*) FROM ({sql}) AS counted", values  # noqa: S608 - made by Django


def _stand_in(kind: Kind, number: int) -> Argument:
    return datetime.fromtimestamp(number, UTC) if issubclass(kind, datetime) else kind(number)


Question = tuple[Prepared, Sequence[Argument]]
"""A query with its arguments."""


def takes_along() -> bool:
    """Whether sending queries ahead saves a round trip: not on SQLite."""
    connection = this_connection()
    return bool(connection.takes_along)


def together(*asked: Question, ahead: Sequence[Question] = ()) -> list[list[Row]]:
    """The rows of several queries, in one round trip to the database.

    `ahead` are queries that are likely to follow. If that saves a round trip they are sent along, and their rows are
    kept for the next caller who asks exactly that; any other statement discards them.
    """
    connection = this_connection()
    steps = steps_of(connection, asked)
    further = steps_of(connection, ahead) if connection.takes_along else []
    return _answers(connection, asked, run_all(connection, steps, further))


def at_one_moment(*asked: Question) -> list[list[Row]]:
    """As `together`, but all rows come from one state of the database (B87)."""
    connection = this_connection()
    if is_heard(connection) or connection.in_atomic_block or connection.is_in_transaction:
        with snapshot():
            return together(*asked)
    steps = steps_of(connection, asked)
    with ready(connection):
        found: list[list[Row]] = connection.run_all_at_one_moment(of_the_driver(steps))
    return _answers(connection, asked, found)


def steps_of(connection: Any, asked: Sequence[Question]) -> list[Step]:
    """The statements of several queries with their values."""
    compiled = [query.on(connection) for query, _ in asked]
    return [(each.statement, query.values(each, given)) for each, (query, given) in zip(compiled, asked, strict=True)]


def _answers(connection: Any, asked: Sequence[Question], found: list[list[Row]]) -> list[list[Row]]:
    return [_answer(connection, query.on(connection), rows) for (query, _), rows in zip(asked, found, strict=True)]


def _answer(connection: Any, compiled: _Compiled, rows: list[Row]) -> list[Row]:
    """The rows with values converted to Python types: some databases store times, booleans and JSON differently."""
    return [_converted(row, compiled.converters, connection) for row in rows] if compiled.converters else rows


def _converted(row: Row, converters: Sequence[tuple[int, Any, Callable[[Any, Any, Any], Any]]], connection: Any) -> Row:
    values = list(row)
    for place, column, convert in converters:
        if values[place] is not None:
            values[place] = convert(values[place], column, connection)
    return tuple(values)


class PreparedRow(Generic[Stored]):
    """As `Prepared`, for rows of one model, without the columns in `without`, which are loaded on demand.

    `row.beside` holds the columns of related rows named in `beside`, in their order.
    """

    def __init__(
        self,
        build: Callable[..., QuerySet[Stored]],
        model: type[Stored],
        *kinds: Kind,
        without: Collection[str] = (),
        beside: Sequence[str] = (),
    ) -> None:
        self._model = model
        columns = self._columns = [each.attname for each in model._meta.concrete_fields if each.name not in without]
        self._query = Prepared(lambda *arguments: build(*arguments).values_list(*columns, *beside), *kinds)

    def first(self, *arguments: Argument, ahead: Sequence[Question] = ()) -> Stored | None:
        """The first row, or None. `ahead` as in `together`."""
        return next(iter(self.all(*arguments, ahead=ahead)), None)

    def all(self, *arguments: Argument, ahead: Sequence[Question] = ()) -> list[Stored]:
        """All rows. `ahead` as in `together`."""
        return [self._row(values) for values in self._query.rows(*arguments, ahead=ahead)]

    def questions(self, *arguments: Argument) -> Sequence[Question]:
        """The questions of `first` and `all`, to be sent ahead."""
        return [(self._query, arguments)]

    def _row(self, values: Row) -> Stored:
        own = len(self._columns)
        row = loaded(self._model, self._columns, values[:own])
        if len(values) > own:
            row.beside = values[own:]  # type: ignore[attr-defined]
        return row
