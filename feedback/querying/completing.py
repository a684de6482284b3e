"""What a query may go on with: every field with its help, and the values that are worth offering."""

from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import IntegerField
from django.db.models.expressions import RawSQL

from accounts.models import Org, User
from accounts.rights import require_admin
from core.actor import Actor
from feedback.models import Label, RatedAnswer, RatedTool
from feedback.querying import grammar, sides
from feedback.querying.fields import FIELDS

COUNTED = 1000
"""Counts end here: beyond it nobody reads the figure."""
_OFFERED = 200
"""The most values of one field."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a field, the term it makes, and how many reports have it, where that is counted."""

    value: str
    term: str
    count: int | None


@dataclass(frozen=True, slots=True)
class Completion:
    """A field as it is offered."""

    name: str
    help: str
    takes: str
    values: tuple[Value, ...]


def completions(actor: Actor) -> list[Completion]:
    """Every field with the values worth offering, for platform admins. A fixed number of queries."""
    require_admin(actor)
    found = []
    for known in FIELDS.values():
        counted: list[tuple[str, int | None]] = [(value, None) for value in known.values]
        counted += _NAMED[known.name]() if known.name in _NAMED else []
        values = tuple(
            Value(value, grammar.spelled(grammar.Field(known.name, value)), count) for value, count in counted
        )
        found.append(Completion(known.name, known.help, known.takes, values))
    return found


def terms(actor: Actor) -> list[str]:
    """Every term worth offering, for a list of suggestions beside the query line."""
    return [each.term for field in completions(actor) for each in field.values]


def _labels() -> list[tuple[str, int | None]]:
    counted = Label.objects.annotate(count=_up_to("feedback_labelled", "label_id", "feedback_label"))
    return list(counted.order_by("name").values_list("name", "count")[:_OFFERED])


def _owners() -> list[tuple[str, int | None]]:
    admins = User.objects.filter(is_staff=True, is_active=True)
    counted = admins.annotate(count=_up_to("feedback_userfeedback", "owned_by_id", "accounts_user"))
    return list(counted.order_by("email").values_list("email", "count")[:_OFFERED])


def _orgs() -> list[tuple[str, int | None]]:
    counted = Org.objects.annotate(count=_up_to("feedback_userfeedback", "org_id", "accounts_org"))
    return list(counted.order_by("slug").values_list("slug", "count")[:_OFFERED])


def _beside(model: type[RatedAnswer] | type[RatedTool], column: str) -> Callable[[], list[tuple[str, int | None]]]:
    return lambda: list(sides.counted(model, column, limit=_OFFERED, at_most=COUNTED))


def _up_to(table: str, column: str, outer: str) -> RawSQL:
    few = f"SELECT 1 FROM {table} WHERE {table}.{column} = {outer}.id LIMIT {COUNTED}"  # noqa: S608
    return RawSQL(f"SELECT count(*) FROM ({few}) AS few", [], output_field=IntegerField())  # noqa: S608, S611


_NAMED: dict[str, Callable[[], list[tuple[str, int | None]]]] = {
    "label": _labels,
    "owner": _owners,
    "org": _orgs,
    "model": _beside(RatedAnswer, "model_profile"),
    "tool": _beside(RatedTool, "tool_name"),
    "error": _beside(RatedAnswer, "error_code"),
}
