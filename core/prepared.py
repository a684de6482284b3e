"""Queries of a fixed shape, whose SQL is worked out once.

To build a query and to compile it costs the ORM about twenty times what the database needs to answer it by a key. What
every request asks is therefore asked through here: written as a queryset, compiled at its first use, and from then on
SQL with other values. Written by hand, the same SQL would have to know how each database spells its times and booleans.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from django.db import DEFAULT_DB_ALIAS, connections
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

from core.db import snapshot

_FIRST_STAND_IN = 1_900_000_000
_FEW = 4
Row = tuple[Any, ...]
Stored = TypeVar("Stored", bound=Model)


@dataclass(frozen=True, slots=True)
class _Statement:
    """SQL as Django spells it, and as the driver does."""

    sql: str
    driver_sql: str | bytes

    @classmethod
    def of(cls, sql: str, count: int, connection: Any) -> "_Statement":
        return cls(sql, connection.spelled(sql, count))


@dataclass(frozen=True, slots=True)
class _Compiled:
    statement: _Statement
    values: tuple[Any, ...]
    """What goes into the statement, with stand-ins where `slots` puts arguments."""
    slots: tuple[tuple[int, int, Any], ...]
    """The place of a value, that of its argument, and what makes the one of the other, None where they are the same."""
    converters: tuple[tuple[int, Any, tuple[Any, ...]], ...]


class Prepared:
    """A `values_list` query with arguments that are numbers or strings.

    `build` makes the queryset from its arguments, each of which it hands on unchanged; `kinds` are their types. Numbers
    have to fit their columns: the ORM's answer to those that do not, that nothing is found, is settled by then.
    """

    def __init__(self, build: Callable[..., QuerySet[Any, Any]], *kinds: type[int] | type[str]) -> None:
        self._build = build
        numbers = range(_FIRST_STAND_IN, _FIRST_STAND_IN + len(kinds))
        self._stand_ins = tuple(kind(number) for kind, number in zip(kinds, numbers, strict=True))
        self._compiled: dict[str, _Compiled] = {}

    def rows(self, *arguments: int | str, ahead: "Sequence[Question]" = ()) -> list[Row]:
        """Every row, as the queryset would give it; `ahead` as in `together`."""
        [rows] = together((self, arguments), ahead=ahead)
        return rows

    def first(self, *arguments: int | str) -> Row | None:
        """The first row, or None."""
        return next(iter(self.rows(*arguments)), None)

    def on(self, connection: Any) -> _Compiled:
        """It, as a connection spells it."""
        return self._compiled.get(connection.vendor) or self._compile(connection)

    def values(self, compiled: _Compiled, arguments: Sequence[int | str]) -> list[Any]:
        """The values of the statement for these arguments."""
        if len(arguments) != len(self._stand_ins):
            raise ValueError(f"{len(self._stand_ins)} arguments are needed, {len(arguments)} given")
        values = list(compiled.values)
        for place, source, kind in compiled.slots:
            values[place] = arguments[source] if kind is None else kind(arguments[source])
        return values

    def _compile(self, connection: Any) -> _Compiled:
        compiler = self._build(*self._stand_ins).query.get_compiler(connection=connection)
        sql, values = compiler.as_sql()
        columns = [column for column, *_ in compiler.select[: compiler.col_count]]
        converters = tuple(
            (place, column, tuple(found))
            for place, (found, column) in compiler.get_converters(columns).items()
            if not _comes_converted(column, connection)
        )
        # PostgreSQL is told how wide a number is: it would prepare the statement anew for each width that comes along.
        slots = tuple(
            (place, self._stand_ins.index(value), type(value) if type(value) not in (int, str) else None)
            for place, value in enumerate(values)
            if value in self._stand_ins
        )
        compiled = _Compiled(_Statement.of(sql, len(values), connection), tuple(values), slots, converters)
        self._compiled[connection.vendor] = compiled
        return compiled


Question = tuple[Prepared, Sequence[int | str]]
"""A query with its arguments."""


def together(*asked: Question, ahead: Sequence[Question] = ()) -> list[list[Row]]:
    """The rows of several queries for one trip to the database.

    What is likely to be asked next goes `ahead`, where there is a trip to save: its rows wait for whoever asks just
    that, and are forgotten where anything else is said first.
    """
    connection: Any = connections[DEFAULT_DB_ALIAS]  # of core.postgres or core.sqlite
    steps = _steps(connection, asked)
    further = _steps(connection, ahead) if connection.takes_along else []
    return _answers(connection, asked, _run_all(connection, steps, further))


def at_one_moment(*asked: Question) -> list[list[Row]]:
    """The same of one state of the database, whatever others write meanwhile (B87)."""
    connection: Any = connections[DEFAULT_DB_ALIAS]
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
    compiled = [query.on(connection) for query, _ in asked]
    return [
        [_converted(row, each, connection) for row in rows] if each.converters else rows
        for each, rows in zip(compiled, found, strict=True)
    ]


class PreparedRow(Generic[Stored]):
    """The same for whole rows of one model, less the columns in `without`, which are read when they are asked for.

    Columns of other rows that are named in `beside` stand in `row.beside`, in their order.
    """

    def __init__(
        self,
        build: Callable[..., QuerySet[Stored]],
        model: type[Stored],
        *kinds: type[int] | type[str],
        without: Collection[str] = (),
        beside: Sequence[str] = (),
    ) -> None:
        self._model = model
        columns = self._columns = [each.attname for each in model._meta.concrete_fields if each.name not in without]
        self._query = Prepared(lambda *arguments: build(*arguments).values_list(*columns, *beside), *kinds)

    def first(self, *arguments: int | str, ahead: Sequence[Question] = ()) -> Stored | None:
        """The first row, or None; `ahead` as in `together`."""
        return next(iter(self.all(*arguments, ahead=ahead)), None)

    def all(self, *arguments: int | str, ahead: Sequence[Question] = ()) -> list[Stored]:
        """Every row; `ahead` as in `together`."""
        return [self._row(values) for values in self._query.rows(*arguments, ahead=ahead)]

    def questions(self, *arguments: int | str) -> Sequence[Question]:
        """What `first` and `all` ask, to be asked ahead."""
        return [(self._query, arguments)]

    def _row(self, values: Row) -> Stored:
        own = len(self._columns)
        row = self._model.from_db(DEFAULT_DB_ALIAS, self._columns, values[:own])
        if len(values) > own:
            row.beside = values[own:]  # type: ignore[attr-defined]
        return row


class _Spelled:
    """A statement whose SQL is spelled out at its first use with each kind of database, with its number of values."""

    def __init__(self, spell: Callable[[Any], tuple[str, int]]) -> None:
        self._spell = spell
        self._statements: dict[str, _Statement] = {}

    def on(self, connection: Any) -> _Statement:
        """It, as a connection spells it."""
        statement = self._statements.get(connection.vendor)
        if statement is None:
            statement = _Statement.of(*self._spell(connection.ops.quote_name), connection)
            self._statements[connection.vendor] = statement
        return statement


class PreparedInsert(Generic[Stored]):
    """Rows of one model, each stored by one statement with all its columns.

    With `unique`, a row that is there already under the same values of these columns is overwritten in the columns
    `update` instead, and keeps its others; those of them that are named in `kept` are read back into the object. The
    column `stamp` is overwritten where one of `update` is another than before; `insert` alone knows of it.
    """

    def __init__(
        self,
        model: type[Stored],
        *,
        unique: Sequence[str] = (),
        update: Sequence[str] = (),
        stamp: str = "",
        kept: Sequence[str] = (),
    ) -> None:
        self._model = model
        self._unique, self._update, self._stamp = unique, update, stamp
        fields = [field for field in model._meta.concrete_fields if not isinstance(field, AutoField)]
        self._columns = _Columns(fields)
        self._told = _Columns([model._meta.pk, *(_field(model, name) for name in kept)])
        self._telling, self._statement = _Spelled(self._telling_sql), _Spelled(self._sql)

    def insert(self, row: Stored, *, ahead: Sequence[Question] = ()) -> Stored:
        """Store a row; it knows its row id then. `ahead` as in `together`."""
        connection: Any = connections[DEFAULT_DB_ALIAS]
        further = _steps(connection, ahead) if connection.takes_along else []
        [told] = _write(connection, (self._telling.on(connection), self._columns.stored(row, connection)), further)
        self._told.read_into(row, told, connection)
        row._state.adding, row._state.db = False, connection.alias
        return row

    def insert_all(self, rows: Sequence[Stored]) -> None:
        """Store rows, before anything else that is read or written; they do not learn their row ids.

        A few go one by one, many by Django's own way, which takes five hundred with each statement.
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
        connection = connections[DEFAULT_DB_ALIAS]
        for row in rows:
            _run_later(connection, self._statement.on(connection), self._columns.stored(row, connection))

    def _telling_sql(self, quoted: Callable[[Any], str]) -> tuple[str, int]:
        sql, count = self._sql(quoted)
        return f"{sql} RETURNING {self._told.spelled(quoted)}", count

    def _sql(self, quoted: Callable[[Any], str]) -> tuple[str, int]:
        meta = self._model._meta
        columns = self._columns.spelled(quoted)
        marks = ", ".join(["%s"] * len(self._columns.fields))
        sql = f"INSERT INTO {quoted(meta.db_table)} ({columns}) VALUES ({marks})"  # noqa: S608 - names of our own columns
        if self._unique:
            unique, update = (
                [quoted(_field(self._model, name).column) for name in each] for each in (self._unique, self._update)
            )
            changes = [f"{column} = EXCLUDED.{column}" for column in update]
            if self._stamp:
                changes.append(self._stamping_sql(quoted, update))
            sql += f" ON CONFLICT ({', '.join(unique)}) DO UPDATE SET {', '.join(changes)}"
        return sql, len(self._columns.fields)

    def _stamping_sql(self, quoted: Callable[[Any], str], update: Sequence[str]) -> str:
        """A null beside a value is another one. Both databases can say that in one word, but not in the same."""
        stamp, table = quoted(_field(self._model, self._stamp).column), quoted(self._model._meta.db_table)
        differs = " OR ".join(
            f"{table}.{column} <> EXCLUDED.{column} OR ({table}.{column} IS NULL) <> (EXCLUDED.{column} IS NULL)"
            for column in update
        )
        return f"{stamp} = CASE WHEN {differs} THEN EXCLUDED.{stamp} ELSE {table}.{stamp} END"


class PreparedUpdate(Generic[Stored]):
    """Some columns of one row, found by its row id or by others that are unique together."""

    def __init__(self, model: type[Stored], *names: str, by: Sequence[str] = ("pk",)) -> None:
        self._model = model
        self._changed, self._by = (
            [model._meta.pk if name == "pk" else _field(model, name) for name in each] for each in (names, by)
        )
        self._columns = _Columns([*self._changed, *self._by])
        self._statement = _Spelled(self._sql)

    def update(self, row: Stored) -> None:
        """Write these columns of a row as they stand in the object, before anything else that is read or written."""
        connection = connections[DEFAULT_DB_ALIAS]
        _run_later(connection, self._statement.on(connection), self._columns.stored(row, connection))

    def _sql(self, quoted: Callable[[Any], str]) -> tuple[str, int]:
        changes, found = ([f"{quoted(field.column)} = %s" for field in each] for each in (self._changed, self._by))
        table = quoted(self._model._meta.db_table)
        sql = f"UPDATE {table} SET {', '.join(changes)} WHERE {' AND '.join(found)}"  # noqa: S608
        return sql, len(self._columns.fields)


def _field(model: type[Model], name: str) -> "Field[Any, Any]":
    return cast("Field[Any, Any]", model._meta.get_field(name))


class PreparedCommand:
    """A statement of one's own that both databases understand and that has no rows, whose values it marks by %s."""

    def __init__(self, sql: str) -> None:
        self._statement = _Spelled(lambda quoted: (sql, sql.count("%s")))

    def run(self, *values: int | str) -> None:
        """Run it, before anything else that is read or written."""
        connection = connections[DEFAULT_DB_ALIAS]
        _run_later(connection, self._statement.on(connection), list(values))


class _Columns:
    """Columns of one model, between an object and the database.

    Most values are stored as they are. To hear that from Django, by six calls each, costs as much as the statement.
    """

    def __init__(self, fields: Sequence["Field[Any, Any]"]) -> None:
        self.fields = fields
        self._ways: dict[str, list[tuple[str, Field[Any, Any] | None]]] = {}

    def spelled(self, quoted: Callable[[Any], str]) -> str:
        """Their names for a statement."""
        return ", ".join(quoted(field.column) for field in self.fields)

    def stored(self, row: Model, connection: Any) -> list[Any]:
        """Their values in an object, as the driver takes them."""
        ways = self._ways.get(connection.vendor) or self._find_ways(connection.vendor)
        return [
            getattr(row, name) if field is None else field.get_db_prep_save(field.pre_save(row, False), connection)
            for name, field in ways
        ]

    def read_into(self, row: Model, values: Row, connection: Any) -> None:
        """Put what the driver gives into an object."""
        for field, value in zip(self.fields, values, strict=True):
            found, column = value, field.cached_col
            for convert in (*connection.ops.get_db_converters(column), *column.get_db_converters(connection)):
                found = convert(found, column, connection)
            setattr(row, field.attname, found)

    def _find_ways(self, vendor: str) -> "list[tuple[str, Field[Any, Any] | None]]":
        same = _SAME if vendor == "sqlite" else _SAME_EVERYWHERE
        ways = [(field.attname, None if type(field) in same else field) for field in self.fields]
        self._ways[vendor] = ways
        return ways


_SAME_EVERYWHERE = frozenset({CharField, TextField, BooleanField})
_SAME = _SAME_EVERYWHERE | {
    BigAutoField,
    BigIntegerField,
    ForeignKey,
    IntegerField,
    OneToOneField,
    PositiveIntegerField,
    PositiveSmallIntegerField,
    SmallIntegerField,
}
"""Fields whose values SQLite takes unchanged. PostgreSQL wants to be told how wide a number is."""


_Step = tuple[_Statement, list[Any]]


def _run_all(connection: Any, steps: Sequence[_Step], ahead: Sequence[_Step] = ()) -> list[list[Row]]:
    """Run statements on the driver itself, unless somebody listens to what Django runs; gives the rows of each.

    Django's cursor spells SQLite's placeholders anew each time and looks four times whether anybody listens: as much
    as the database takes to find a row by its key. On PostgreSQL it puts the values into the text, so that a statement
    is planned anew each time: ten times what the answer costs where a query joins three tables.
    """
    if _is_heard(connection):
        return [_run_aloud(connection, statement.sql, values) for statement, values in steps]
    with _ready(connection):
        answers: list[list[Row]] = connection.run_all(_of_the_driver(steps), _of_the_driver(ahead))
    return answers


def _write(connection: Any, step: _Step, ahead: Sequence[_Step]) -> list[Row]:
    """Run one that stores something and has rows."""
    statement, values = step
    if _is_heard(connection):
        return _run_aloud(connection, statement.sql, values)
    with _ready(connection):
        rows: list[Row] = connection.write((statement.driver_sql, values), _of_the_driver(ahead))
    return rows


def _of_the_driver(steps: Sequence[_Step]) -> list[tuple[str | bytes, list[Any]]]:
    return [(statement.driver_sql, values) for statement, values in steps]


def _is_heard(connection: Any) -> bool:
    """Whether somebody listens to what Django runs."""
    return bool(connection.queries_logged or connection.execute_wrappers)


def _run_aloud(connection: Any, sql: str, values: list[Any]) -> list[Row]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall() if cursor.description else []


def _run_later(connection: Any, statement: _Statement, values: list[Any]) -> None:
    """Run a statement that has no rows. It may wait for the next one, or for the end of its transaction."""
    if _is_heard(connection):
        _run_aloud(connection, statement.sql, values)
        return
    with _ready(connection):
        connection.run_later((statement.driver_sql, values))


def _ready(connection: Any) -> Any:
    """What Django looks after before each statement, and its way of spelling errors."""
    connection.ensure_connection()
    connection.validate_thread_sharing()
    connection.validate_no_broken_transaction()
    return connection.wrap_database_errors


def _comes_converted(column: Any, connection: Any) -> bool:
    """Whether the driver gives a column's values as they are meant: times, which SQLite knows by the column's type."""
    return connection.vendor == "sqlite" and isinstance(column, Col) and isinstance(column.output_field, DateTimeField)


def _converted(row: Row, compiled: _Compiled, connection: Any) -> Row:
    """A row in Python's types: times, booleans and JSON are kept in other ones by some databases. NULL is none."""
    values: list[Any] | None = None
    for place, column, converters in compiled.converters:
        if row[place] is not None:
            values = values or list(row)
            for convert in converters:
                values[place] = convert(values[place], column, connection)
    return row if values is None else tuple(values)
