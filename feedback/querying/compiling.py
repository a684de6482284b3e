"""From a query to the reports that it means."""

from dataclasses import replace
from datetime import UTC, tzinfo

from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.rights import require_admin
from core.actor import Actor
from core.errors import InvalidRequest
from feedback import digesting
from feedback.models import UserFeedback
from feedback.querying import words
from feedback.querying.conditions import Asking
from feedback.querying.fields import FIELDS
from feedback.querying.grammar import All, Either, Field, Node, Not, Text, Unknown
from feedback.querying.query import Query


def matching(actor: Actor, query: Query, *, tz: tzinfo = UTC) -> QuerySet[UserFeedback]:
    """The reports that a query means, in no order; `tz` is where its days begin.

    For platform admins; raises `Unauthorized`, and `InvalidRequest` that names what was not understood. It may write
    down what rated answers were made of, so it stands in no read-only transaction.
    """
    require_admin(actor)
    if query.is_digested:
        digesting.digest()
    return UserFeedback.objects.filter(_compiled(actor, query, tz)[0])


def remarks(actor: Actor, query: Query, *, tz: tzinfo = UTC) -> tuple[str, ...]:
    """What a query names and is not there, a label that is gone for one. The query is right and finds nothing by it."""
    return () if query.problems else tuple(_compiled(actor, query, tz)[1].remarks)


def _compiled(actor: Actor, query: Query, tz: tzinfo) -> tuple[Q, Asking]:
    require_admin(actor)
    if query.problems:
        problem = query.problems[0]
        raise InvalidRequest(f"q: {problem.sentence} (at character {problem.start + 1})")
    asking = Asking(actor, timezone.now(), tz)
    return _condition(query.root, asking), asking


# Said without a minus, an index answers.
_OPPOSITES = {
    ("is", "open"): ("is", "resolved"),
    ("is", "resolved"): ("is", "open"),
    ("has", "owner"): ("owner", "none"),
    ("owner", "none"): ("has", "owner"),
    ("sentiment", "positive"): ("sentiment", "negative"),
    ("sentiment", "negative"): ("sentiment", "positive"),
}


def _condition(node: Node, asking: Asking) -> Q:
    match node:
        case Text(text=text):
            return words.says(text)
        case Field(name=name, value=value):
            return FIELDS[name].condition(value, asking)
        case Not(part=Field(name=name, value=value)) if (name, value) in _OPPOSITES:
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
