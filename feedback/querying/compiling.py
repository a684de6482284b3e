"""Compiles queries into conditions on reports."""

from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.rights import require_admin
from core import grammar
from core.actor import Actor
from core.errors import InvalidRequest
from core.grammar import All, Either, Field, Node, Not, Text, Unknown
from feedback import digesting
from feedback.models import UserFeedback
from feedback.querying import words
from feedback.querying.conditions import Asking, Remark
from feedback.querying.fields import FIELDS
from feedback.querying.query import Query, meant_by, parse


@dataclass(frozen=True, slots=True)
class Meaning:
    """The unordered reports that match a query, and remarks on names that do not exist, such as a deleted label."""

    reports: QuerySet[UserFeedback]
    remarks: tuple[Remark, ...]
    org: int | None = None
    """The row id of the org that the query is limited to (`Query.org`); None without one, or if it does not exist."""


def meaning(actor: Actor, query: Query) -> Meaning:
    """What a query means now; see `Query.anchored` for whose days it names. Call it once for both listing and counting.

    For platform admins; raises `Unauthorized`, and `InvalidRequest` that names the invalid terms. It may run the
    digest, which writes, so it must not run in a read-only transaction.
    """
    require_admin(actor)
    if query.is_digested:
        digesting.bring_up_to_date()
    condition, asking = _compiled(actor, query)
    return Meaning(UserFeedback.objects.filter(condition), tuple(asking.remarks), asking.orgs.get(query.org))


def matching(actor: Actor, query: Query) -> QuerySet[UserFeedback]:
    """The reports that match a query, unordered; see `meaning`."""
    return meaning(actor, query).reports


def at_moment(user_id: int, now: datetime, query: Query) -> QuerySet[UserFeedback]:
    """The reports that a built-in query matches for an admin at a moment. Neither may be changed on the way into the
    condition, so that it can be compiled once for all of them (`core.prepared`).
    """
    return UserFeedback.objects.filter(_condition(query.root, Asking(Actor(user_id, "", "", is_admin=True), now)))


def understood(text: str, *, field: str) -> Query:
    """A query that was sent as `field`, to be stored in its canonical spelling.

    Raises `InvalidRequest` that names its invalid terms, or if its canonical spelling is too long.
    """
    query = parse(text)
    if query.problems:
        raise grammar.refusal([(each, meant_by(each)) for each in query.problems], field=field)
    if (length := len(query.canonical)) > grammar.MAX_LENGTH:
        reason = f"has {length:,} characters when spelled out; the maximum is {grammar.MAX_LENGTH:,}"
        raise InvalidRequest.of(field, reason)
    return query


def remarks(actor: Actor, query: Query) -> tuple[Remark, ...]:
    """Remarks on names in a valid query that do not exist."""
    return () if query.problems else tuple(_compiled(actor, query)[1].remarks)


def _compiled(actor: Actor, query: Query) -> tuple[Q, Asking]:
    require_admin(actor)
    if query.problems:
        raise grammar.refusal([(each, meant_by(each)) for each in query.problems])
    asking = Asking(actor, timezone.now())
    return _condition(query.root, asking), asking


# Rewritten without a minus, so that an index can be used.
_OPPOSITES = {
    ("is", "open"): ("is", "resolved"),
    ("is", "resolved"): ("is", "open"),
    ("has", "owner"): ("owner", "none"),
    ("owner", "none"): ("has", "owner"),
    ("has", "label"): ("label", "none"),
    ("label", "none"): ("has", "label"),
    ("has", "outcome"): ("outcome", "none"),
    ("outcome", "none"): ("has", "outcome"),
    ("sentiment", "positive"): ("sentiment", "negative"),
    ("sentiment", "negative"): ("sentiment", "positive"),
}


def _condition(node: Node, asking: Asking) -> Q:
    match node:
        case Text(text=text):
            return words.says(text)
        case Field(name=name, value=value, literal=literal):
            return FIELDS[name].meaning(literal=literal)(value, asking)
        case Not(part=Field(name=name, value=value, literal=False)) if (name, value) in _OPPOSITES:
            opposite, other = _OPPOSITES[name, value]
            return FIELDS[opposite].condition(other, asking)
        case Not(part=part):
            return ~_condition(part, replace(asking, excluding=not asking.excluding))
        case All(parts=parts):
            return Q(*(_condition(part, asking) for part in parts))
        case Either(parts=parts):
            return Q(*(_condition(part, asking) for part in parts), _connector=Q.OR)
        case Unknown():
            raise AssertionError("a query with problems is not compiled")
