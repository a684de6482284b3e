"""Completions of a query: every field with its help text and the values worth suggesting."""

import re
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, IntegerField, Model, OuterRef, QuerySet
from django.db.models.expressions import RawSQL

from accounts.models import Org, User
from accounts.rights import require_admin
from core import grammar, related
from core.actor import Actor
from core.paging import COUNT_LIMIT
from feedback.models import Label, RatedAnswer, RatedTool, UserFeedback
from feedback.querying.conditions import Remark
from feedback.querying.fields import FIELDS, term_of
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
    counted: dict[str, list[tuple[str, int | None]]] = {}
    for known in FIELDS.values():
        signs = (grammar.Field(known.name, each) for each in known.values)
        asked: list[tuple[grammar.Field, int | None]] = [(each, None) for each in signs]
        if known.name in _AS:  # the same names, but the counts are of something else
            counted[known.name] = [(name, None) for name, _ in counted[_AS[known.name]]]
        else:
            counted[known.name] = _named(known.name, counting=True)
        asked += [(term_of(known.name, name), count) for name, count in counted[known.name]]
        values = tuple(Value(each.value, grammar.spelled(each), count) for each, count in asked)
        found.append(Completion(known.name, known.help, known.takes, values))
    return found


def terms(actor: Actor, begun: str = "") -> list[str]:
    """Every term worth suggesting in the search field that begins so, ignoring case and quotes. Not counted, because it
    is needed often; only names of fields that can begin so are looked for.
    """
    require_admin(actor)
    typed = _plain(begun)
    of, _, value = typed.partition(":")
    found = [
        grammar.spelled(asked)
        for known in FIELDS.values()
        if known.name.startswith(of)
        for asked in (
            *(grammar.Field(known.name, value) for value in known.values),
            *(term_of(known.name, name) for name, _ in _named(known.name, counting=False, begun=value)),
        )
    ]
    return [term for term in found if _plain(term).startswith(typed)]


def near(remark: Remark) -> str:
    """The existing name that was probably meant by one that does not exist: a similar one, or the only one that begins
    so. Of an address the part before its @ is enough. Empty if there is none.
    """
    typed = remark.name.lower()
    names = [name for name, _ in _named(remark.field, counting=False, begun=typed[:1])]
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
    return [before + term for term in terms(actor, begun) if term != begun][:_OFFERED]


def _plain(term: str) -> str:
    return term.replace('"', "").lower()


_TYPED = re.compile(r"""((?:(?:[^\s"]|"[^"]*")*+\s++)*+[-(]*+)((?:[^\s"]|"[^"]*"?)*+)""")
"""The text before the last term, with that term's `-` and `(`, and the last term."""


def _named(name: str, *, counting: bool, begun: str = "") -> list[tuple[str, int | None]]:
    """The existing names for a field, with report counts if `counting`; of submitters, those that begin so."""
    match _AS.get(name, name):
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
        case "by":
            theirs = UserFeedback.objects.filter(created_by=OuterRef("pk"))
            rated = User.objects.filter(Exists(theirs), email__startswith=begun).order_by("email")
            return [(email, None) for email in rated.values_list("email", flat=True)[:_OFFERED]]
        case "org":
            return _rows(
                Org.objects.order_by("slug"), "slug", ("feedback_userfeedback", "org_id", "org_id, id DESC"), counting
            )
        case "agent":
            agents = Agent.objects.order_by("name").values_list("name", flat=True).distinct()
            return [(name, None) for name in agents[:_OFFERED]]
        case "model" | "error" | "tool" as of:
            model, column = _COLUMNS[of]
            if not counting:
                return [(value, None) for value in related.names(model, column)[:_OFFERED]]
            return list(related.counted(model, column, by="feedback_id", limit=_OFFERED, at_most=COUNT_LIMIT))
    return []


_COLUMNS: dict[str, tuple[type[Model], str]] = {
    "model": (RatedAnswer, "model_profile"),
    "error": (RatedAnswer, "error_code"),
    "tool": (RatedTool, "tool_name"),
}
_AS = {"commented": "owner", "failed": "tool"}
"""Fields that take the names of another one, which is before them in `FIELDS`."""


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
