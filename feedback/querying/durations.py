"""Time from rating to the last resolution: an expression in whole seconds, and the condition for `took:`."""

from typing import Any

from django.db.models import F, Func, IntegerField, Q, Value
from django.db.models.lookups import GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual

from core.moments import lengths
from feedback.querying.conditions import Asking


class Took(Func):
    """Seconds from `created` to `resolved_at`, each truncated so that both databases agree; null if not resolved."""

    output_field = IntegerField()

    def __init__(self) -> None:
        super().__init__(F("resolved_at"), F("created"))

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        # SQLite rounds fractions when parsing, so the text is cut first.
        second = "CAST(strftime('%%s', substr({}, 1, 19)) AS INTEGER)"
        return self._difference(compiler, second)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self._difference(compiler, "floor(extract(epoch FROM {}))::bigint")

    def _difference(self, compiler: Any, second: str) -> Any:
        (end, _), (begin, _) = (compiler.compile(part) for part in self.get_source_expressions())
        return f"({second.format(end)} - {second.format(begin)})", ()


_LOOKUPS = {"<": LessThan, "<=": LessThanOrEqual, ">": GreaterThan, ">=": GreaterThanOrEqual}


def took(value: str, asking: Asking) -> Q:
    """`took:`"""
    bounds = (Q(_LOOKUPS[sign](Took(), Value(int(length.total_seconds())))) for sign, length in lengths(value))
    return Q(*bounds, resolved_at__isnull=False)
