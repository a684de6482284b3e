"""Pages of reports: the wire's list, newest first, and the results of a desk query, in its order."""

from functools import lru_cache
from typing import Any

from django.db.models import F, QuerySet

from accounts.rights import require_admin
from core import ids
from core.actor import Actor
from core.errors import InvalidRequest
from core.prepared import Prepared
from core.statements import Row
from feedback import projecting, taxonomy
from feedback.models import UserFeedback
from feedback.querying import NEWEST, Order, matching, parse, row_ids
from feedback.wire import FeedbackPageOut
from threads.models import Thread

PLACES = NEWEST.places


def page(
    rows: QuerySet[UserFeedback], limit: int, page_token: str | None, *, order: Order = NEWEST
) -> tuple[list[int], str | None]:
    """Row ids of one page and the token of the next. Rows are neither skipped nor repeated while others write, as long
    as their sort key stays.
    """
    found = order.following(rows, order.place(page_token), limit + 1)
    return row_ids(found[:limit]), order.token(found[limit - 1]) if len(found) > limit else None


def before(
    rows: QuerySet[UserFeedback], limit: int, page_token: str, *, order: Order = NEWEST
) -> tuple[list[int], str | None]:
    """The page before a token's page: row ids in reverse order, and the page's own token (None for the first page)."""
    found = order.preceding(rows, tuple(order.places.place(page_token)), limit + 1)
    return row_ids(found[:limit]), order.token(found[limit]) if len(found) > limit else None


def listed(
    actor: Actor, filters: dict[str, str | None], *, limit: int, page_token: str | None, q: str | None = None
) -> FeedbackPageOut:
    """Reports for admins, newest first (H6). A query `q` filters them further and may set another order; an invalid one
    is refused.
    """
    require_admin(actor)
    if q is not None:
        return _queried(actor, filters, q, limit=limit, page_token=page_token)
    wanted = _wanted(filters)
    places = PLACES.of_query(wanted)
    if page_token:
        wanted["pk__lt"] = places.place(page_token)[0]
    # Booleans are part of the prepared query's shape: there are only two, and databases write them differently.
    shape = tuple((lookup, value if isinstance(value, bool) else None) for lookup, value in wanted.items())
    found = _page(shape, limit).rows(*(value for value in wanted.values() if not isinstance(value, bool)))
    items = [projecting.full_record(values) for _, *values in found[:limit]]
    return FeedbackPageOut(items=items, next_token=places.token(found[limit - 1][0]) if len(found) > limit else None)


def _queried(
    actor: Actor, filters: dict[str, str | None], q: str, *, limit: int, page_token: str | None
) -> FeedbackPageOut:
    query, wanted = parse(q), _wanted(filters)
    rows = matching(actor, query) & _matching(wanted)
    found, next_token = page(rows, limit, page_token, order=query.order.of_query(wanted, q))
    records = projecting.full_records(found)
    return FeedbackPageOut(items=[records[pk] for pk in found if pk in records], next_token=next_token)


def _wanted(filters: dict[str, str | None]) -> dict[str, Any]:
    """The filters as ORM lookups with their values."""
    wanted: dict[str, Any] = {}
    if value := filters.get("thread_id"):
        key = ids.key_of(value, *ids.THREAD_SPELLINGS) or ""
        is_imported = Thread.objects.is_imported_id(value)
        wanted |= {"thread__import_id": value} if is_imported else {"thread__key": key}
    if value := filters.get("org_id"):
        wanted["org__key"] = ids.key_of(value, ids.ORG) or ""
    if value := filters.get("sentiment"):
        wanted["sentiment"] = _one_of("sentiment", value, taxonomy.Sentiment.values)
    if value := filters.get("category"):
        wanted["category"] = taxonomy.BIT[_one_of("category", value, taxonomy.Category.values)]
    if value := filters.get("resolved"):
        wanted["resolved"] = _one_of("resolved", value.lower(), ["true", "false"]) == "true"
    return wanted


def _matching(wanted: dict[str, Any]) -> QuerySet[UserFeedback]:
    rows = UserFeedback.objects.all()
    for lookup, value in wanted.items():
        if lookup == "category":
            rows = rows.annotate(has_category=F("category_bits").bitand(value)).filter(has_category__gt=0)
        else:
            rows = rows.filter(**{lookup: value})
    return rows


@lru_cache(maxsize=256)
def _page(shape: tuple[tuple[str, bool | None], ...], limit: int) -> Prepared:
    """The prepared query of one page, plus one row, for this combination of filters."""
    asked = [lookup for lookup, fixed in shape if fixed is None]

    def build(*values: int | str) -> QuerySet[UserFeedback, Row]:
        given = dict(zip(asked, values, strict=True))
        rows = _matching({lookup: given[lookup] if fixed is None else fixed for lookup, fixed in shape})
        return rows.order_by("-id").values_list("pk", *projecting.FULL_COLUMNS)[: limit + 1]

    return Prepared(build, *(int if lookup in ("category", "pk__lt") else str for lookup in asked))


def _one_of(name: str, value: str, allowed: list[str]) -> str:
    if value not in allowed:
        raise InvalidRequest(f"{name}: must be one of {', '.join(allowed)}")
    return value
