"""Queries of a fixed shape, whose SQL is worked out once.

To build a query and to compile it costs the ORM about twenty times what the database needs to answer it by a key. What
every request asks is therefore asked through here: written as a queryset, compiled at its first use, and from then on
SQL with other values. Written by hand, the same SQL would have to know how each database spells its times and booleans.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import connection
from django.db.models import Model, QuerySet

_FIRST_STAND_IN = 1_900_000_000
Row = tuple[Any, ...]
Stored = TypeVar("Stored", bound=Model)


@dataclass(frozen=True, slots=True)
class _Compiled:
    sql: str
    values: tuple[Any, ...]
    """What goes into the statement, where a stand-in stands for an argument."""
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

    def rows(self, *arguments: int | str) -> list[Row]:
        """Every row, as the queryset would give it."""
        compiled = self._compiled.get(connection.vendor) or self._compile()
        filled = dict(zip(self._stand_ins, arguments, strict=True))
        with connection.cursor() as cursor:
            cursor.execute(compiled.sql, [filled.get(value, value) for value in compiled.values])
            rows = cursor.fetchall()
        return [_converted(row, compiled) for row in rows] if compiled.converters else rows

    def first(self, *arguments: int | str) -> Row | None:
        """The first row, or None."""
        return next(iter(self.rows(*arguments)), None)

    def _compile(self) -> _Compiled:
        compiler = self._build(*self._stand_ins).query.get_compiler(connection=connection)
        sql, values = compiler.as_sql()
        columns = [column for column, *_ in compiler.select[: compiler.col_count]]
        converters = compiler.get_converters(columns)
        compiled = _Compiled(
            sql, tuple(values), tuple((place, column, tuple(each)) for place, (each, column) in converters.items())
        )
        self._compiled[connection.vendor] = compiled
        return compiled


class PreparedRow(Generic[Stored]):
    """The same for whole rows of one model, less the columns in `without`, which are read when they are asked for."""

    def __init__(
        self,
        build: Callable[..., QuerySet[Stored]],
        model: type[Stored],
        *kinds: type[int] | type[str],
        without: Collection[str] = (),
    ) -> None:
        self._model = model
        columns = self._columns = [each.attname for each in model._meta.concrete_fields if each.name not in without]
        self._query = Prepared(lambda *arguments: build(*arguments).values_list(*columns), *kinds)

    def first(self, *arguments: int | str) -> Stored | None:
        """The first row, or None."""
        row = self._query.first(*arguments)
        return None if row is None else self._model.from_db(None, self._columns, row)


def _converted(row: Row, compiled: _Compiled) -> Row:
    """A row in Python's types: times, booleans and JSON are kept in other ones by some databases."""
    values = list(row)
    for place, column, converters in compiled.converters:
        for convert in converters:
            values[place] = convert(values[place], column, connection)
    return tuple(values)
