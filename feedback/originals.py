"""Possible originals of a duplicate: reports of the same org that match a query, or the one with an id."""

from accounts.rights import require_admin
from core import ids
from core.actor import Actor
from core.errors import InvalidRequest
from core.grammar import Text
from feedback.models import UserFeedback
from feedback.querying import NEWEST, matching, parse, row_ids

MOST = 8


def found(actor: Actor, report: UserFeedback, typed: str) -> list[UserFeedback]:
    """The first reports that match the typed query, in its order, with their threads. The last word matches as a
    prefix.

    Excludes the report itself and its duplicates, which cannot be its original. For platform admins; raises
    `InvalidRequest` if the query is invalid.
    """
    require_admin(actor)
    rows, order = UserFeedback.objects.filter(org=report.org_id).exclude(pk=report.pk), NEWEST
    if key := ids.key_of(typed, ids.FEEDBACK):
        rows = rows.filter(key=key)
    else:
        query = parse(typed)
        if isinstance(query.parts[-1], Text) and typed[-1].isalnum():
            query = parse(f"{typed}*")
        if query.problems:
            raise InvalidRequest(query.problems[0].sentence)
        rows, order = rows & matching(actor, query), query.order
    rows = rows.exclude(triage__duplicate_of=report.pk)
    first = row_ids(order.following(rows, None, MOST))
    return list(UserFeedback.objects.filter(pk__in=first).select_related("thread").order_by(*order.by))
