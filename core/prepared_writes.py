"""Writes of a fixed shape whose SQL is spelled once: of whole rows, of some of their columns, and by hand.

For each column it is settled once how the driver takes its value (`_Columns`). Queries are in `core.prepared`.
"""

from collections.abc import Callable, Sequence
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
    SmallIntegerField,
    TextField,
)

from core.db import this_connection
from core.prepared import Question, steps_of
from core.statements import Row, Statement, comes_converted, run_later, write

_FEW = 4
Stored = TypeVar("Stored", bound=Model)


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
        further = steps_of(connection, ahead) if connection.takes_along else []
        [told] = write(connection, (self._telling.on(connection), self._columns.stored(row, connection)), further)
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
            run_later(connection, self._statement.on(connection), self._columns.stored(row, connection))

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
        run_later(connection, self._statement.on(connection), self._columns.stored(row, connection))

    def _sql(self, connection: Any) -> tuple[str, int]:
        quoted = connection.ops.quote_name
        changes, found = ([f"{quoted(field.column)} = %s" for field in each] for each in (self._changed, self._by))
        table = quoted(self._model._meta.db_table)
        sql = f"UPDATE {table} SET {', '.join(changes)} WHERE {' AND '.join(found)}"  # noqa: S608
        return sql, len(self._columns.fields)


class PreparedCommand:
    """Handwritten SQL that works on both databases and returns no rows; %s marks its values."""

    def __init__(self, sql: str) -> None:
        self._statement = _Spelled(lambda connection: (sql, sql.count("%s")))

    def run(self, *values: int | str) -> None:
        """Run it before any other statement."""
        connection = this_connection()
        run_later(connection, self._statement.on(connection), list(values))


class _Spelled:
    """A statement whose SQL is generated at first use for each kind of database."""

    def __init__(self, spell: Callable[[Any], tuple[str, int]]) -> None:
        """`spell` gives SQL and the number of its values for a connection."""
        self._spell = spell
        self._statements: dict[str, Statement] = {}

    def on(self, connection: Any) -> Statement:
        """The statement for a connection's database."""
        statement = self._statements.get(connection.vendor)
        if statement is None:
            statement = Statement.of(*self._spell(connection), connection)
            self._statements[connection.vendor] = statement
        return statement


def _field(model: type[Model], name: str) -> "Field[Any, Any]":
    return cast("Field[Any, Any]", model._meta.get_field(name))


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
    if not converters or comes_converted(column, connection):
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
