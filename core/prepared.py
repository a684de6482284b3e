"""Queries of a fixed shape whose SQL is compiled once.

Building and compiling a query costs the ORM about twenty times what the database needs to answer it by a key. So the
queries of every request are written here as querysets, compiled at first use, and then run as SQL with other values.
Handwritten SQL would have to handle how each database represents times and booleans.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar, cast

from django.db.models import (
    AutoField,
    BigAutoField,
    BigIntegerField,
    BooleanField,
    CharField,
    DateTimeField,
    Field,
    ForeignKey,
    IntegerField,
    Model,
    OneToOneField,
    PositiveIntegerField,
    PositiveSmallIntegerField,
    QuerySet,
    SmallIntegerField,
    TextField,
)
from django.db.models.expressions import Col

from core.db import snapshot, this_connection
from core.rows import loaded

_FIRST_STAND_IN = 1_900_000_000
_FEW = 4
Argument = int | str | datetime
Kind = type[int] | type[str] | type[datetime]
Row = tuple[Any, ...]
Stored = TypeVar("Stored", bound=Model)


@dataclass(frozen=True, slots=True)
class _Statement:
    """SQL with Django's placeholders, and with the driver's."""

    sql: str
    driver_sql: str | bytes

    @classmethod
    def of(cls, sql: str, count: int, connection: Any) -> "_Statement":
        return cls(sql, connection.spelled(sql, count))


@dataclass(frozen=True, slots=True)
class _Compiled:
    statement: _Statement
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
        return _answer(connection, compiled, _run(connection, compiled.statement, self.values(compiled, arguments)))

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
            if not _comes_converted(column, connection)
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
        compiled = _Compiled(_Statement.of(sql, len(values), connection), tuple(values), slots, converters)
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
    steps = _steps(connection, asked)
    further = _steps(connection, ahead) if connection.takes_along else []
    return _answers(connection, asked, _run_all(connection, steps, further))


def at_one_moment(*asked: Question) -> list[list[Row]]:
    """As `together`, but all rows come from one state of the database (B87)."""
    connection = this_connection()
    if _is_heard(connection) or connection.in_atomic_block or connection.is_in_transaction:
        with snapshot():
            return together(*asked)
    steps = _steps(connection, asked)
    with _ready(connection):
        found: list[list[Row]] = connection.run_all_at_one_moment(_of_the_driver(steps))
    return _answers(connection, asked, found)


def _steps(connection: Any, asked: Sequence[Question]) -> "list[_Step]":
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


class _Spelled:
    """A statement whose SQL is generated at first use for each kind of database."""

    def __init__(self, spell: Callable[[Any], tuple[str, int]]) -> None:
        """`spell` gives SQL and the number of its values for a connection."""
        self._spell = spell
        self._statements: dict[str, _Statement] = {}

    def on(self, connection: Any) -> _Statement:
        """The statement for a connection's database."""
        statement = self._statements.get(connection.vendor)
        if statement is None:
            statement = _Statement.of(*self._spell(connection), connection)
            self._statements[connection.vendor] = statement
        return statement


class PreparedInsert(Generic[Stored]):
    """Inserts rows of one model, each by one statement with all columns.

    With `unique`, an existing row with the same values in these columns is updated in the columns `update` instead and
    keeps the others; those in `kept` are read back into the object. The column `stamp` is set only if one of `update`
    changed, and to the present if the row's column `stamp_after` has a later time; only `insert` supports it.
    """

    def __init__(
        self,
        model: type[Stored],
        *,
        unique: Sequence[str] = (),
        update: Sequence[str] = (),
        stamp: str = "",
        stamp_after: str = "",
        kept: Sequence[str] = (),
    ) -> None:
        self._model = model
        self._unique, self._update, self._stamp, self._stamp_after = unique, update, stamp, stamp_after
        fields = [field for field in model._meta.concrete_fields if not isinstance(field, AutoField)]
        self._columns = _Columns(fields)
        self._told = _Columns([model._meta.pk, *(_field(model, name) for name in kept)])
        self._telling, self._statement = _Spelled(self._telling_sql), _Spelled(self._sql)

    def insert(self, row: Stored, *, ahead: Sequence[Question] = ()) -> Stored:
        """Store a row and set its row id. `ahead` as in `together`."""
        connection = this_connection()
        further = _steps(connection, ahead) if connection.takes_along else []
        [told] = _write(connection, (self._telling.on(connection), self._columns.stored(row, connection)), further)
        self._told.read_into(row, told, connection)
        row._state.adding, row._state.db = False, connection.alias
        return row

    def insert_all(self, rows: Sequence[Stored]) -> None:
        """Store rows before any other statement runs; their row ids are not set.

        A few are inserted one by one, many by Django's `bulk_create` with five hundred per statement.
        """
        if len(rows) > _FEW:
            self._model._base_manager.bulk_create(
                rows,
                batch_size=500,
                update_conflicts=bool(self._unique),
                unique_fields=self._unique or None,
                update_fields=self._update or None,
            )
            return
        connection = this_connection()
        for row in rows:
            _run_later(connection, self._statement.on(connection), self._columns.stored(row, connection))

    def _telling_sql(self, connection: Any) -> tuple[str, int]:
        sql, count = self._sql(connection)
        return f"{sql} RETURNING {self._told.spelled(connection.ops.quote_name)}", count

    def _sql(self, connection: Any) -> tuple[str, int]:
        meta, quoted = self._model._meta, connection.ops.quote_name
        columns = self._columns.spelled(quoted)
        marks = ", ".join(["%s"] * len(self._columns.fields))
        sql = f"INSERT INTO {quoted(meta.db_table)} ({columns}) VALUES ({marks})"  # noqa: S608 - names of our own columns
        if self._unique:
            unique, update = (
                [quoted(_field(self._model, name).column) for name in each] for each in (self._unique, self._update)
            )
            changes = [f"{column} = EXCLUDED.{column}" for column in update]
            if self._stamp:
                changes.append(self._stamping_sql(connection, update))
            sql += f" ON CONFLICT ({', '.join(unique)}) DO UPDATE SET {', '.join(changes)}"
        return sql, len(self._columns.fields)

    def _stamping_sql(self, connection: Any, update: Sequence[str]) -> str:
        """A null differs from a value. Both databases have an operator for that, but not the same one."""
        quoted = connection.ops.quote_name
        stamp, table = quoted(_field(self._model, self._stamp).column), quoted(self._model._meta.db_table)
        differs = " OR ".join(
            f"{table}.{column} <> EXCLUDED.{column} OR ({table}.{column} IS NULL) <> (EXCLUDED.{column} IS NULL)"
            for column in update
        )
        stamped = f"EXCLUDED.{stamp}"
        if self._stamp_after:
            earlier = f"{table}.{quoted(_field(self._model, self._stamp_after).column)}"
            stamped = f"CASE WHEN {earlier} >= {stamped} THEN {connection.clock} ELSE {stamped} END"
        return f"{stamp} = CASE WHEN {differs} THEN {stamped} ELSE {table}.{stamp} END"


class PreparedUpdate(Generic[Stored]):
    """Updates some columns of one row, found by its row id or by columns that are unique together."""

    def __init__(self, model: type[Stored], *names: str, by: Sequence[str] = ("pk",)) -> None:
        self._model = model
        self._changed, self._by = (
            [model._meta.pk if name == "pk" else _field(model, name) for name in each] for each in (names, by)
        )
        self._columns = _Columns([*self._changed, *self._by])
        self._statement = _Spelled(self._sql)

    def update(self, row: Stored) -> None:
        """Write these columns from the object, before any other statement runs."""
        connection = this_connection()
        _run_later(connection, self._statement.on(connection), self._columns.stored(row, connection))

    def _sql(self, connection: Any) -> tuple[str, int]:
        quoted = connection.ops.quote_name
        changes, found = ([f"{quoted(field.column)} = %s" for field in each] for each in (self._changed, self._by))
        table = quoted(self._model._meta.db_table)
        sql = f"UPDATE {table} SET {', '.join(changes)} WHERE {' AND '.join(found)}"  # noqa: S608
        return sql, len(self._columns.fields)


def _field(model: type[Model], name: str) -> "Field[Any, Any]":
    return cast("Field[Any, Any]", model._meta.get_field(name))


class PreparedCommand:
    """Handwritten SQL that works on both databases and returns no rows; %s marks its values."""

    def __init__(self, sql: str) -> None:
        self._statement = _Spelled(lambda connection: (sql, sql.count("%s")))

    def run(self, *values: int | str) -> None:
        """Run it before any other statement."""
        connection = this_connection()
        _run_later(connection, self._statement.on(connection), list(values))


_In = Callable[[Model, Any], Any]
_Out = Callable[[Any, Any], Any]


class _Columns:
    """Converts columns of one model between an object and the database.

    Most values are stored unchanged. Django needs six calls for each to find that out, as long as the statement takes.
    """

    def __init__(self, fields: Sequence["Field[Any, Any]"]) -> None:
        self.fields = fields
        self._ways_in: dict[str, list[tuple[str, _In | None]]] = {}
        self._ways_out: dict[str, list[tuple[str, _Out | None]]] = {}

    def spelled(self, quoted: Callable[[Any], str]) -> str:
        """The column names, for a statement."""
        return ", ".join(quoted(field.column) for field in self.fields)

    def stored(self, row: Model, connection: Any) -> list[Any]:
        """The values of an object, as the driver takes them."""
        ways = self._ways_in.get(connection.vendor)
        if ways is None:
            ways = self._ways_in[connection.vendor] = [(each.attname, _in(each, connection)) for each in self.fields]
        return [getattr(row, name) if way is None else way(row, connection) for name, way in ways]

    def read_into(self, row: Model, values: Row, connection: Any) -> None:
        """Set the driver's values on an object."""
        ways = self._ways_out.get(connection.vendor)
        if ways is None:
            ways = self._ways_out[connection.vendor] = [(each.attname, _out(each, connection)) for each in self.fields]
        for (name, way), value in zip(ways, values, strict=True):
            setattr(row, name, value if way is None else way(value, connection))


def _in(field: "Field[Any, Any]", connection: Any) -> _In | None:
    """How to get a column's value for the driver; None if the object's own serves."""
    if _is_taken_as_it_is(field, connection):
        return None
    if (spell := connection.spelled_moment) and type(field) is DateTimeField:

        def spelled(row: Model, connection: Any) -> str | None:
            moment = field.pre_save(row, False)
            return None if moment is None else spell(moment)

        return spelled
    return lambda row, connection: field.get_db_prep_save(field.pre_save(row, False), connection)


def _is_taken_as_it_is(field: "Field[Any, Any]", connection: Any) -> bool:
    """Whether the driver takes the object's value. PostgreSQL's gets the width of a number, except of an id."""
    if connection.vendor == "sqlite":
        return type(field) in _SAME_EVERYWHERE | _NUMBERS
    if type(field) is DateTimeField:
        return not (field.auto_now or field.auto_now_add)
    return type(field) in _SAME_EVERYWHERE or type(getattr(field, "target_field", field)) is BigAutoField


def _out(field: "Field[Any, Any]", connection: Any) -> _Out | None:
    """How to convert the driver's value of a column; None if it stays as it is."""
    column = field.cached_col
    converters = [*connection.ops.get_db_converters(column), *column.get_db_converters(connection)]
    if not converters or _comes_converted(column, connection):
        return None

    def converted(value: Any, connection: Any) -> Any:
        for convert in converters:
            value = convert(value, column, connection)
        return value

    return converted


_SAME_EVERYWHERE = frozenset({CharField, TextField, BooleanField})
_NUMBERS = frozenset(
    {
        BigAutoField,
        BigIntegerField,
        ForeignKey,
        IntegerField,
        OneToOneField,
        PositiveIntegerField,
        PositiveSmallIntegerField,
        SmallIntegerField,
    }
)


_Step = tuple[_Statement, list[Any]]


def _run_all(connection: Any, steps: Sequence[_Step], ahead: Sequence[_Step] = ()) -> list[list[Row]]:
    """Run statements directly on the driver, or by Django's cursor if queries are logged; returns the rows of each.

    Django's cursor converts SQLite's placeholders each time and checks four times for listeners: as long as the
    database needs to find a row by its key. On PostgreSQL it puts the values into the text, so that a statement is
    planned again each time: ten times the cost of running it if it joins three tables.
    """
    if _is_heard(connection):
        return [_run_aloud(connection, statement.sql, values) for statement, values in steps]
    with _ready(connection):
        answers: list[list[Row]] = connection.run_all(_of_the_driver(steps), _of_the_driver(ahead))
    return answers


def _run(connection: Any, statement: _Statement, values: list[Any]) -> list[Row]:
    """As `_run_all`, for one statement."""
    if _is_heard(connection):
        return _run_aloud(connection, statement.sql, values)
    with _ready(connection):
        rows: list[Row] = connection.run((statement.driver_sql, values))
    return rows


def _write(connection: Any, step: _Step, ahead: Sequence[_Step]) -> list[Row]:
    """Run a statement that stores something and returns rows."""
    statement, values = step
    if _is_heard(connection):
        return _run_aloud(connection, statement.sql, values)
    with _ready(connection):
        rows: list[Row] = connection.write((statement.driver_sql, values), _of_the_driver(ahead))
    return rows


def _of_the_driver(steps: Sequence[_Step]) -> list[tuple[str | bytes, list[Any]]]:
    return [(statement.driver_sql, values) for statement, values in steps]


def _is_heard(connection: Any) -> bool:
    """Whether queries are logged or wrapped."""
    return bool(connection.queries_logged or connection.execute_wrappers)


def _run_aloud(connection: Any, sql: str, values: list[Any]) -> list[Row]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall() if cursor.description else []


def _run_later(connection: Any, statement: _Statement, values: list[Any]) -> None:
    """Run a statement that returns no rows. It may be sent with the next one, or at the end of its transaction."""
    if _is_heard(connection):
        _run_aloud(connection, statement.sql, values)
        return
    with _ready(connection):
        connection.run_later((statement.driver_sql, values))


def _ready(connection: Any) -> Any:
    """Django's checks before each statement; returns its context manager that converts errors.

    Not its check that no other thread uses the connection: each thread gets its own here.
    """
    if connection.connection is None:
        connection.ensure_connection()
    connection.validate_no_broken_transaction()
    return connection.wrap_database_errors


def _comes_converted(column: Any, connection: Any) -> bool:
    """Whether the driver already converts the column: SQLite recognises times by the column's type."""
    return connection.vendor == "sqlite" and isinstance(column, Col) and isinstance(column.output_field, DateTimeField)
