"""Completions of a query: every field with its help text and the values worth suggesting."""

import re
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db.models import IntegerField, Model, QuerySet
from django.db.models.expressions import RawSQL

from accounts.models import Org, User
from accounts.rights import require_admin
from core import grammar, related
from core.actor import Actor
from core.paging import COUNT_LIMIT
from feedback.models import Label, RatedAnswer, RatedTool
from feedback.querying.conditions import Remark
from feedback.querying.fields import FIELDS, named
from threads.models import Agent

_OFFERED = 200
"""The most values of one field."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a field, its query term, and how many reports have it, if counted."""

    value: str
    term: str
    count: int | None


@dataclass(frozen=True, slots=True)
class Completion:
    """A field with its suggested values."""

    name: str
    help: str
    takes: str
    values: tuple[Value, ...]


def completions(actor: Actor) -> list[Completion]:
    """Every field with the values worth suggesting, for platform admins. A fixed number of queries."""
    require_admin(actor)
    found = []
    for known in FIELDS.values():
        signs = (grammar.Field(known.name, each) for each in known.values)
        asked: list[tuple[grammar.Field, int | None]] = [(each, None) for each in signs]
        asked += [(named(known.name, name), count) for name, count in _named(known.name, counting=True)]
        values = tuple(Value(each.value, grammar.spelled(each), count) for each, count in asked)
        found.append(Completion(known.name, known.help, known.takes, values))
    return found


def terms(actor: Actor) -> list[str]:
    """Every term worth suggesting in the search field. Not counted, because it is needed often."""
    require_admin(actor)
    return [
        grammar.spelled(asked)
        for known in FIELDS.values()
        for asked in (
            *(grammar.Field(known.name, value) for value in known.values),
            *(named(known.name, name) for name, _ in _named(known.name, counting=False)),
        )
    ]


def near(remark: Remark) -> str:
    """The existing name that was probably meant by one that does not exist: a similar one, or the only one that begins
    so. Of an address the part before its @ is enough. Empty if there is none.
    """
    of, typed = "tool" if remark.field == "failed" else remark.field, remark.name.lower()
    names = [name for name, _ in _named(of, counting=False)]
    spelled = {way: name for name in names for way in (name.lower().partition("@")[0], name.lower())}
    begun = {name for way, name in spelled.items() if way.startswith(typed)}
    return spelled.get(grammar.near(typed, spelled), "") or (begun.pop() if len(begun) == 1 else "")


def following(actor: Actor, typed: str) -> list[str]:
    """Completions of a query that is being typed: its last term completed, the rest unchanged.

    Terms after a minus or in brackets are completed, too.
    """
    said = _TYPED.fullmatch(typed[: grammar.MAX_LENGTH])
    assert said is not None
    before, begun = said.groups()
    found = (term for term in terms(actor) if _plain(term).startswith(_plain(begun)) and term != begun)
    return [before + term for term in islice(found, _OFFERED)]


def _plain(term: str) -> str:
    return term.replace('"', "").lower()


_TYPED = re.compile(r"""((?:(?:[^\s"]|"[^"]*")*+\s++)*+[-(]*+)((?:[^\s"]|"[^"]*"?)*+)""")
"""The text before the last term, with that term's `-` and `(`, and the last term."""


def _named(name: str, *, counting: bool) -> list[tuple[str, int | None]]:
    """The existing names for a field, with report counts if `counting`."""
    match name:
        case "label":
            return _rows(
                Label.objects.order_by("folded"),
                "name",
                ("feedback_labelled", "label_id", "label_id, feedback_id DESC"),
                counting,
            )
        case "owner":
            admins = User.objects.admins().order_by("email")
            return _rows(
                admins, "email", ("feedback_userfeedback", "owned_by_id", "owned_by_id, resolved, id DESC"), counting
            )
        case "org":
            return _rows(
                Org.objects.order_by("slug"), "slug", ("feedback_userfeedback", "org_id", "org_id, id DESC"), counting
            )
        case "agent":
            agents = Agent.objects.order_by("name").values_list("name", flat=True).distinct()
            return [(name, None) for name in agents[:_OFFERED]]
        case "model" | "error" | "tool":
            model, column = _COLUMNS[name]
            if not counting:
                return [(value, None) for value in related.names(model, column)[:_OFFERED]]
            return list(related.counted(model, column, by="feedback_id", limit=_OFFERED, at_most=COUNT_LIMIT))
    return []


_COLUMNS: dict[str, tuple[type[Model], str]] = {
    "model": (RatedAnswer, "model_profile"),
    "error": (RatedAnswer, "error_code"),
    "tool": (RatedTool, "tool_name"),
}


def _rows(rows: QuerySet[Any], column: str, by: tuple[str, str, str], counting: bool) -> list[tuple[str, int | None]]:
    if not counting:
        return [(value, None) for value in rows.values_list(column, flat=True)[:_OFFERED]]
    counted = rows.annotate(count=_up_to(*by, rows.model._meta.db_table))
    return list(counted.values_list(column, "count")[:_OFFERED])


def _up_to(table: str, column: str, order: str, outer: str) -> RawSQL:
    """The number of rows of a table that refer to this row. Order and range make PostgreSQL use the index: it assumes
    that all values are equally common, and would scan the table for the few rows of a rare one."""
    named = f"{table}.{column} BETWEEN {outer}.id AND {outer}.id"
    few = f"SELECT 1 FROM {table} WHERE {named} ORDER BY {order} LIMIT {COUNT_LIMIT}"  # noqa: S608
    return RawSQL(f"SELECT count(*) FROM ({few}) AS few", [], output_field=IntegerField())  # noqa: S608, S611
