"""Possible originals of a duplicate: reports of the same org that match a query, or the one with an id."""

from datetime import tzinfo

from accounts.rights import require_admin
from core import ids
from core.actor import Actor
from core.errors import InvalidRequest
from core.grammar import Text
from feedback.models import UserFeedback
from feedback.querying import matching, parse, row_ids
from feedback.querying.sides import is_resolved
from feedback.querying.words import place

MOST = 8


def found(actor: Actor, report: UserFeedback, typed: str, *, tz: tzinfo) -> list[tuple[UserFeedback, str]]:
    """The first reports that match the typed query, with their threads, and where each has one of its words.

    Those with all words in their notes come first, then open before resolved ones, each in the query's order. Its last
    word matches as a prefix, its days begin in `tz`. Excludes the report itself and its duplicates, which cannot be its
    original. For platform admins; raises `InvalidRequest` if the query is invalid.
    """
    require_admin(actor)
    rows = UserFeedback.objects.filter(org=report.org_id).exclude(pk=report.pk)
    if key := ids.key_of(typed, ids.FEEDBACK):
        query, sets = parse(""), [rows.filter(key=key)]
    else:
        query = parse(typed).anchored(tz)
        if isinstance(query.parts[-1], Text) and typed[-1].isalnum():
            query = parse(f"{typed}*").anchored(tz)
        if query.problems:
            raise InvalidRequest(query.problems[0].sentence)
        rows &= matching(actor, query)
        in_notes = query.worded("notes")
        sets = [rows] if in_notes == query or in_notes.problems else [rows & matching(actor, in_notes), rows]
    sets = [each.exclude(triage__duplicate_of=report.pk) for each in sets]
    ranks = [each.filter(is_resolved(state)) for each in sets for state in (False, True)]
    # A query for each rank stops at its first rows; one that sorts by rank would first find them all.
    first = list(dict.fromkeys(pk for rank in ranks for pk in row_ids(query.order.following(rank, None, MOST))))[:MOST]
    held = UserFeedback.objects.select_related("thread").in_bulk(first)
    return [(held[pk], place(query.words, held[pk].notes, held[pk].admin_note)) for pk in first if pk in held]
