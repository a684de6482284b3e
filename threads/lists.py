"""Lists of threads: own ones, search, and their pages (H1, H2)."""

from collections.abc import Sequence

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from core import paging
from core.actor import Actor
from threads.models import Block, Message, Pin, Thread
from threads.ordering import NEWEST, PINNED, Order
from threads.reading import Names, record_of, token_of
from threads.wire import SearchIn, ThreadPageOut

_ALL = Q()


def own_threads(
    actor: Actor, *, limit: int, page_token: str | None, narrowed: Q = _ALL, order: Order = NEWEST
) -> ThreadPageOut:
    """H1: the caller's own and pinned threads that match `narrowed`; pins first, then the others in this order."""
    visible = Thread.objects.visible_to(actor).filter(narrowed)
    own = visible.filter(created_by=actor.user_id)
    return page_of(actor, visible, below=own, limit=limit, page_token=page_token, order=order)


def search(
    actor: Actor, body: SearchIn, *, narrowed: Q = _ALL, order: Order = NEWEST, org_id: int | None = None
) -> ThreadPageOut:
    """H2: threads that are readable without admin rights, pass the filters (B149) and match `narrowed`; of one org, or
    of all of the actor's.
    """
    threads = Thread.objects.readable_by(actor).filter(narrowed)
    exact = {
        "org": org_id,
        "status": body.status,
        "visibility": body.visibility,
        "created_from_agent_id": body.created_from_agent_id,
        "created_by__email": body.created_by.lower() if body.created_by else None,
        "subjects__association_id": body.association_id,
    }
    threads = threads.filter(**{column: value for column, value in exact.items() if value is not None})
    if body.query and body.query.strip():
        threads = threads.filter(says(body.query.strip()))
    order = order.of_query(body.model_dump(mode="json", exclude={"limit", "page_token"}, exclude_none=True), org_id)
    return page_of(actor, threads, limit=paging.limit_of(body.limit), page_token=body.page_token, order=order)


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
    order: Order = NEWEST,
    below: QuerySet[Thread] | None = None,
) -> ThreadPageOut:
    """One page, pins first. The cursor is a position in that order, so concurrent writes never repeat or skip rows,
    unless what they change is what the order goes by.
    """
    rows, next_token = keyset(actor, threads, limit=limit, page_token=page_token, order=order, below=below)
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
    order: Order = NEWEST,
    below: QuerySet[Thread] | None = None,
) -> tuple[list[Thread], str | None]:
    """The rows of one page, each with `pinned_at`, and the token of the next page: pins first, latest pin first, then
    the others in this order.

    `below`: the threads listed below the pins, if they differ from `threads`, which the pins are taken from.
    """
    pinned_ids = Pin.objects.filter(user=actor.user_id).values("thread")
    is_among_pins, place = order.place(page_token)
    rows: list[Thread] = []
    if is_among_pins:
        pinned = threads.filter(pins__user=actor.user_id).annotate(pinned_at=F("pins__pinned_at"))
        # In index order, so that the database starts from the few pins and not from all threads.
        pinned = pinned.order_by("-pinned_at", "-pins__thread")
        if place:
            pinned = pinned.filter(PINNED.beyond(place))
        rows = list(_listed(pinned)[: limit + 1])
        place = None
    if len(rows) <= limit:
        rest = (threads if below is None else below).exclude(pk__in=pinned_ids)
        if place:
            rest = rest.filter(order.beyond(place))
        for row in _listed(rest).order_by(*order.by)[: limit + 1 - len(rows)]:
            row.pinned_at = None  # type: ignore[attr-defined]
            rows.append(row)
    return rows[:limit], order.token(rows[limit - 1]) if len(rows) > limit else None


def behind(actor: Actor, threads: QuerySet[Thread], thread: Thread, *, order: Order = NEWEST) -> Thread | None:
    """The thread that a list has behind this one, or behind where it would be; None after the last."""
    pins = Pin.objects.filter(user=actor.user_id, thread=thread)
    thread.pinned_at = pins.values_list("pinned_at", flat=True).first()  # type: ignore[attr-defined]
    rows, _ = keyset(actor, threads, limit=1, page_token=order.token(thread), order=order)
    return rows[0] if rows else None


def rows_by_key(actor: Actor, keys: Sequence[str]) -> list[Thread]:
    """The list rows with these keys that the actor may see."""
    return list(_listed(Thread.objects.visible_to(actor).filter(key__in=keys)))


def _listed(threads: QuerySet[Thread]) -> QuerySet[Thread]:
    return threads.select_related("org", "created_by").defer(*Thread.HEAVY)
