"""Pages of reports that match a query, newest first."""

from core import paging
from core.actor import Actor
from feedback.querying import Query, matching


def page(actor: Actor, query: Query, limit: int, page_token: str | None) -> tuple[list[int], str | None]:
    """Row ids of one page and the token of the next. Rows neither jump nor repeat while others write."""
    rows = matching(actor, query)
    if page_token:
        rows = rows.filter(pk__lt=paging.decode(page_token, 1)[0])
    found = list(rows.order_by("-pk").values_list("pk", flat=True)[: limit + 1])
    return found[:limit], paging.encode(found[limit - 1]) if len(found) > limit else None
