"""Lists of threads: own ones, search, and their pages (H1, H2)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from core import paging
from core.actor import Actor
from threads.models import Block, Message, Pin, Thread
from threads.reading import Names, record_of, token_of
from threads.wire import SearchIn, ThreadPageOut

_ALL = Q()
_PLACES = paging.Places("threads", (str, str, int))


def own_threads(actor: Actor, *, limit: int, page_token: str | None, narrowed: Q = _ALL) -> ThreadPageOut:
    """H1: the caller's own and pinned threads that match `narrowed`; pins first, then newest first."""
    visible = Thread.objects.visible_to(actor).filter(narrowed)
    own = visible.filter(created_by=actor.user_id)
    return page_of(actor, visible, below=own, limit=limit, page_token=page_token)


def search(actor: Actor, body: SearchIn, *, narrowed: Q = _ALL) -> ThreadPageOut:
    """H2: threads that are readable without admin rights, pass the filters (B149) and match `narrowed`."""
    threads = Thread.objects.readable_by(actor).filter(narrowed)
    exact = {
        "status": body.status,
        "visibility": body.visibility,
        "created_from_agent_id": body.created_from_agent_id,
        "created_by__email": body.created_by.lower() if body.created_by else None,
        "subjects__association_id": body.association_id,
    }
    threads = threads.filter(**{column: value for column, value in exact.items() if value is not None})
    if body.query and body.query.strip():
        threads = threads.filter(says(body.query.strip()))
    return page_of(actor, threads, limit=paging.limit_of(body.limit), page_token=body.page_token)


def says(words: str) -> Q:
    """Condition for threads whose title or user messages contain the text, ignoring case."""
    found = Block.objects.filter(written(), thread=OuterRef("pk"), text__icontains=words)
    return Q(title__icontains=words) | Q(Exists(found))


def written() -> Q:
    """Condition for blocks with what people wrote.

    One lookup per block: with a list of a thread's messages, SQLite would make that list again for each of its blocks.
    """
    by_people = Message.objects.filter(thread=OuterRef("thread"), idx=OuterRef("idx"), role="user")
    return Q(Exists(by_people), kind="text")


def page_of(
    actor: Actor,
    threads: QuerySet[Thread],
    *,
    limit: int,
    page_token: str | None,
    below: QuerySet[Thread] | None = None,
) -> ThreadPageOut:
    """One page, pins first. The cursor is a position in that order, so concurrent writes never repeat or skip rows."""
    rows, next_token = keyset(actor, threads, limit=limit, page_token=page_token, below=below)
    keys = dict(
        Thread.objects.filter(pk__in=[row.forked_from_id for row in rows if row.forked_from_id]).values_list(
            "pk", "key"
        )
    )
    items = []
    for row in rows:
        source = keys.get(row.forked_from_id) if row.forked_from_id else None
        item = record_of(row, Names(row.org.key, row.created_by.email, source), [], None, token_of(row, 0))
        items.append(item.model_copy(update={"pinned_at": row.pinned_at}))  # type: ignore[attr-defined]
    return ThreadPageOut(items=items, next_token=next_token)


def keyset(
    actor: Actor,
    threads: QuerySet[Thread],
    *,
    limit: int,
    page_token: str | None,
    below: QuerySet[Thread] | None = None,
) -> tuple[list[Thread], str | None]:
    """The rows of one page, each with `pinned_at`, and the token of the next page.

    `below`: the threads listed below the pins, if they differ from `threads`, which the pins are taken from.
    """
    pinned_ids = Pin.objects.filter(user=actor.user_id).values("thread")
    block, at, last_id = _PLACES.place(page_token) if page_token else ("pinned", None, None)
    rows: list[Thread] = []
    if block == "pinned":
        pinned = threads.filter(pins__user=actor.user_id).annotate(pinned_at=F("pins__pinned_at"))
        # In index order, so that the database starts from the few pins and not from all threads.
        pinned = pinned.order_by("-pinned_at", "-pins__thread")
        if at:
            pinned = pinned.filter(_before("pinned_at", at, last_id))
        rows = list(_listed(pinned)[: limit + 1])
        at = last_id = None
    if len(rows) <= limit:
        rest = (threads if below is None else below).exclude(pk__in=pinned_ids)
        if at:
            rest = rest.filter(_before("created", at, last_id))
        for row in _listed(rest).order_by("-created", "-id")[: limit + 1 - len(rows)]:
            row.pinned_at = None  # type: ignore[attr-defined]
            rows.append(row)
    return rows[:limit], _cursor(rows[limit - 1]) if len(rows) > limit else None


def rows_by_key(actor: Actor, keys: Sequence[str]) -> list[Thread]:
    """The list rows with these keys that the actor may see."""
    return list(_listed(Thread.objects.visible_to(actor).filter(key__in=keys)))


def _cursor(row: Thread) -> str:
    pinned_at: datetime | None = row.pinned_at  # type: ignore[attr-defined]
    if pinned_at:
        return _PLACES.token("pinned", pinned_at.isoformat(), row.pk)
    return _PLACES.token("rest", row.created.isoformat(), row.pk)


def _before(column: str, at: str, last_id: Any) -> Q:
    moment = datetime.fromisoformat(at)
    return Q(**{f"{column}__lt": moment}) | Q(**{column: moment, "pk__lt": last_id})


def _listed(threads: QuerySet[Thread]) -> QuerySet[Thread]:
    return threads.select_related("org", "created_by").defer(*Thread.HEAVY)
