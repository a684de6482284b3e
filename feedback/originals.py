"""What a report may be a duplicate of: those of its org that say some words, or the one with an id."""

from accounts.rights import require_admin
from core import ids
from core.actor import Actor
from core.errors import InvalidRequest
from core.grammar import Text
from feedback.models import UserFeedback
from feedback.querying import NEWEST, matching, parse, row_ids

MOST = 8


def found(actor: Actor, report: UserFeedback, typed: str) -> list[UserFeedback]:
    """The first reports that a line means, in its order, with their threads. A last word that may go on finds all that
    begin so.

    Neither the report itself nor what is its duplicate: neither can be its original. For platform admins; raises
    `InvalidRequest` where the line is no query.
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
