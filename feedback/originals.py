"""Possible originals of duplicates: reports of the same org that match a query, or the one with an id."""

from collections.abc import Collection
from datetime import tzinfo

from django.db.models import QuerySet

from accounts.rights import require_admin
from core import ids
from core.actor import Actor
from core.errors import InvalidRequest
from core.grammar import Text
from feedback import quoting
from feedback.models import Triage, UserFeedback
from feedback.querying import matching, parse, row_ids
from feedback.querying.sides import is_resolved
from feedback.querying.words import place

MOST = 8


def found(actor: Actor, report: UserFeedback, typed: str, *, tz: tzinfo) -> list[tuple[UserFeedback, str]]:
    """The first possible originals of a report that match the typed query, each with where it has one of the words.

    Excludes the report itself and its duplicates, which cannot be its original. For platform admins; raises
    `InvalidRequest` if the query is invalid.
    """
    require_admin(actor)
    rows = UserFeedback.objects.filter(org=report.org_id).exclude(pk=report.pk)
    return _first(actor, rows.exclude(pk__in=Triage.objects.filter(duplicate_of=report.pk).values("pk")), typed, tz)


def found_for_all(actor: Actor, keys: Collection[str], typed: str, *, tz: tzinfo) -> list[tuple[UserFeedback, str]]:
    """As `found`, for many reports; one of them may be the original of the others."""
    require_admin(actor)
    orgs = UserFeedback.objects.filter(key__in=keys).values("org")
    return _first(actor, UserFeedback.objects.filter(org__in=orgs), typed, tz)


def first_of(actor: Actor, keys: Collection[str], *, before: str = "") -> list[UserFeedback]:
    """The oldest of several reports, with their threads; the report with the key `before`, if it is of one of their
    orgs, comes before them.
    """
    require_admin(actor)
    orgs = UserFeedback.objects.filter(key__in=keys).values("org")
    rows = UserFeedback.objects.select_related("thread").filter(org__in=orgs)
    oldest = list(rows.filter(key__in={*keys} - {before}).order_by("pk")[:MOST]) if len(keys) > 1 else []
    return [*rows.filter(key=before), *oldest][:MOST]


def _first(actor: Actor, rows: QuerySet[UserFeedback], typed: str, tz: tzinfo) -> list[tuple[UserFeedback, str]]:
    """The first rows that match, with their threads.

    Those with all words in their notes come first, then open before resolved ones, each in the query's order. Its last
    word matches as a prefix, its days begin in `tz`.
    """
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
    ranks = [each.filter(is_resolved(state)) for each in sets for state in (False, True)]
    # A query for each rank stops at its first rows; one that sorts by rank would first find them all.
    first = list(dict.fromkeys(pk for rank in ranks for pk in row_ids(query.order.following(rank, None, MOST))))[:MOST]
    held = UserFeedback.objects.select_related("thread").in_bulk(first)
    said = quoting.comments(first if query.words else ())
    return [
        (held[pk], place(query.words, held[pk].notes, held[pk].admin_note, said.get(pk, "")))
        for pk in first
        if pk in held
    ]
