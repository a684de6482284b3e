"""Saved views: named queries, private or shared with all admins, and the built-in ones."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.text import Truncator

from accounts.models import User
from accounts.orgs import take_turns_with
from accounts.rights import may_change_view, require_admin, require_author
from core import ids, zones
from core.actor import Actor
from core.errors import Conflict, InvalidRequest, NotFound
from core.grammar import MAX_LENGTH, Field, changed, spelled
from core.names import name_kept
from core.paging import COUNT_LIMIT, counted
from core.prepared import Prepared, PreparedCount, PreparedRow, together
from core.rows import loaded
from core.visible import is_visible
from core.wording import isolated
from feedback.models import SavedView, UserFeedback
from feedback.querying import at_moment, matching, parse, understood

PAGE = 32
"""Most reports on a page of the desk."""
_ENDLESS = 2**63 - 1
"""Above every row id."""
_SHOWN = 200
"""Most characters of a query in a message."""
MOST = 100
"""Most views of one person, and most shared views; everybody's menu lists all shared ones."""


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A view that everybody has; `word` describes its reports, `nothing` is its text when empty."""

    name: str
    query: str
    word: str
    nothing: str
    is_work: bool = True
    """Whether its count shows work to do; the desk counts only such views."""
    is_rare: bool = False
    """Whether it is only in the menu while it is empty."""


BUILT_IN = (
    BuiltIn("Unclaimed", "is:unclaimed", "unclaimed", "No unclaimed reports."),
    BuiltIn("For me", "is:open -is:snoozed owner:me", "yours", "You have no open reports."),
    BuiltIn("Negative", "is:open -is:snoozed sentiment:negative", "negative", "No open negative reports."),
    BuiltIn("Due", "is:due", "due", "No reports are due."),
    BuiltIn("All open", "is:open", "open", "No open reports.", is_work=False),
    BuiltIn(
        "Resolved this week",
        "is:resolved resolved:<7d",
        "resolved",
        "No reports were resolved this week.",
        is_work=False,
    ),
    BuiltIn("Asked", "is:asked", "waiting for your answer", "No comment waits for you.", is_rare=True),
    BuiltIn(
        "Revisited",
        "is:revisited",
        "revisited",
        "No submitter changed a rating after it was resolved.",
        is_rare=True,
    ),
    BuiltIn("Snoozed", "is:snoozed", "snoozed", "No reports are snoozed.", is_work=False),
)
DEFAULT = BUILT_IN[0]


class IsThere(Conflict):
    """The name belongs to another view of the actor, which has another query."""

    def __init__(self, view: SavedView) -> None:
        self.view = view
        query = isolated(Truncator(view.query).chars(_SHOWN))
        super().__init__(f"\u201c{isolated(view.name)}\u201d is there already, with the query {query}", details=[])


def listed(actor: Actor) -> list[SavedView]:
    """The actor's own views and the shared ones, by name. One query."""
    require_admin(actor)
    found = _LISTED.all(actor.user_id)
    for view in found:
        view.created_by = loaded(User, ("id", *_OF_PEOPLE), (view.created_by_id, *view.beside))  # type: ignore[attr-defined]
    return found


_OF_PEOPLE = ("email", "name", "is_active", "is_staff")
_LISTED = PreparedRow(
    lambda user: SavedView.objects.filter(Q(created_by=user) | Q(is_shared=True)).order_by("name", "id"),
    SavedView,
    int,
    beside=[f"created_by__{column}" for column in _OF_PEOPLE],
)


def view_for(actor: Actor, view_id: str) -> SavedView:
    """The view with that id, of the actor or shared; raises `NotFound`."""
    require_admin(actor)
    view = SavedView.objects.select_related("created_by").filter(key=ids.key_of(view_id, ids.VIEW) or "").first()
    if view is None or (view.created_by_id != actor.user_id and not view.is_shared):
        raise NotFound.of("view", view_id[:80])
    return view


def may_change(actor: Actor, view: SavedView) -> bool:
    """Whether the actor may change or delete a view."""
    author = view.created_by
    is_orphaned = view.is_shared and not (author.is_active and author.is_staff)
    return may_change_view(actor, author.pk, is_orphaned=is_orphaned)


def changeable(actor: Actor, view_id: str) -> SavedView:
    """A view that the actor may change; raises `NotFound`, and `Unauthorized` for a shared one of another admin."""
    view = view_for(actor, view_id)
    if not may_change(actor, view):
        require_author(actor, view.created_by_id, "change a view")
    return view


def _kept(query: str) -> str:
    """A query as it is stored: its days name their zone, so that they are the same ones for whoever opens the view."""
    return understood(query, field="query").anchored(zones.UTC).canonical


def save(actor: Actor, name: str, query: str, *, is_shared: bool = False) -> SavedView:
    """Save a query as a view. An invalid query, a blank name, a name that the actor already uses and more than `MOST`
    views are refused.
    """
    require_admin(actor)
    view = SavedView(
        name=_name(name),
        query=_kept(query),
        is_shared=is_shared,
        created_by_id=actor.user_id,
    )
    with name_kept(SavedView, view.name, f"you already have a view {view.name}"):
        take_turns_with(actor.user_id)  # or more would fit
        if SavedView.objects.filter(created_by=actor.user_id).count() >= MOST:
            raise InvalidRequest(f"name: you already have {MOST} views; delete one first")
        if is_shared:
            _require_room()
        view.save()
    return view


def keep(
    actor: Actor, name: str, query: str, *, is_shared: bool = False, replace: bool = False
) -> tuple[SavedView, str]:
    """Save a query as a view; returns the view and the query that it replaced.

    Raises `IsThere` if the actor has a view of that name with another query, unless `replace` is true. A view that is
    shared is shared still, unless it is replaced by one that is not.
    """
    require_admin(actor)
    held = SavedView.objects.filter(created_by=actor.user_id, name=_name(name)).first()
    if held is None:
        return save(actor, name, query, is_shared=is_shared), ""
    if not replace:
        if _kept(query) != held.query:
            raise IsThere(held)
        is_shared |= held.is_shared  # whoever saves it once more does not ask to share it no longer
    return change(actor, ids.VIEW + held.key, query=query, is_shared=is_shared), held.query


def change(
    actor: Actor, view_id: str, *, name: str | None = None, query: str | None = None, is_shared: bool | None = None
) -> SavedView:
    """Change a view that the actor may change; None leaves a value."""
    view = changeable(actor, view_id)
    given = {
        "name": None if name is None else _name(name),
        "query": None if query is None else _kept(query),
        "is_shared": is_shared,
    }
    is_newly_shared = bool(is_shared) and not view.is_shared
    written = {column: value for column, value in given.items() if value is not None}
    for column, value in written.items():
        setattr(view, column, value)
    with name_kept(SavedView, view.name, f"you already have a view {view.name}"):
        if is_newly_shared:
            take_turns_with(actor.user_id)
            _require_room()
        # Only these columns, so that a concurrent change of others, or a deletion, also takes effect.
        if written and not SavedView.objects.filter(pk=view.pk).update(**written):
            raise NotFound.of("view", view_id[:80])
    return view


def drop(actor: Actor, view_id: str) -> SavedView:
    """Delete a view that the actor may change; returns it."""
    view = changeable(actor, view_id)
    view.delete()
    return view


def require_room(change: Callable[[Field], Field]) -> None:
    """Refuse a renaming with which the query of a view would become too long: it would then name what is gone."""
    for view, query in _rewritten(SavedView.objects.select_related("created_by"), change):
        if len(query) > MAX_LENGTH:
            whose = isolated(view.created_by.display_name)
            raise InvalidRequest(f"name: is too long for a saved view of {whose} that names this label")


def rewrite(change: Callable[[Field], Field]) -> None:
    """Rename something in the queries of all views, whoever owns them. One that was saved meanwhile and would become
    too long stays.
    """
    for view, query in _rewritten(SavedView.objects.select_for_update(), change):
        if len(query) <= MAX_LENGTH:
            view.query = query
            view.save(update_fields=["query"])


def _rewritten(views: QuerySet[SavedView], change: Callable[[Field], Field]) -> Iterator[tuple[SavedView, str]]:
    """The views whose queries change, each with its new one."""
    for view in views.filter(query__contains=":").order_by("pk"):
        query = spelled(changed(parse(view.query).root, change))
        if query != view.query:
            yield view, query


def counts(actor: Actor, queries: Iterable[str]) -> dict[str, int]:
    """As `count`, for queries in `FIXED`; in one round trip to the database."""
    require_admin(actor)
    wanted, now = list(queries), timezone.now()
    found = together(*((_COUNTS[query], (actor.user_id, now)) for query in wanted))
    return {query: rows[0][0] for query, rows in zip(wanted, found, strict=True)}


def built_in_counts(actor: Actor) -> dict[str, int | None]:
    """The number of reports of each built-in view, by its query, counted up to 1,000."""
    found: dict[str, int | None] = {**counts(actor, FIXED)}
    return {each.query: found[each.query] if each.query in FIXED else count(actor, each.query) for each in BUILT_IN}


def newest(actor: Actor, query: str, *, below: int | None) -> list[int]:
    """The row ids of the reports of a query in `FIXED`, newest first, of one page and one more; only those below a row
    id, if there is one.
    """
    require_admin(actor)
    found = _PAGES[query].rows(actor.user_id, timezone.now(), _ENDLESS if below is None else below)
    return [pk for (pk,) in found]


def _reports(query: str) -> Callable[[int, datetime], QuerySet[UserFeedback, Any]]:
    """The reports of a built-in view, by the actor's row id and the time."""
    return lambda user_id, now: at_moment(user_id, now, parse(query)).order_by().values_list("pk")


def _counted(reports: Callable[[int, datetime], QuerySet[UserFeedback, Any]]) -> PreparedCount:
    return PreparedCount(lambda user_id, now: reports(user_id, now)[:COUNT_LIMIT], int, datetime)


def _page(reports: Callable[[int, datetime], QuerySet[UserFeedback, Any]]) -> Prepared:
    def rows(user_id: int, now: datetime, below: int) -> QuerySet[UserFeedback, Any]:
        return reports(user_id, now).filter(pk__lt=below).order_by("-pk")[: PAGE + 1]

    return Prepared(rows, int, datetime, int)


# A duration becomes a time while its query is built, so a query with one cannot be compiled in advance.
FIXED = frozenset(each.query for each in BUILT_IN if "<" not in each.query)
"""Queries of built-in views that are compiled once."""
_COUNTS = {query: _counted(_reports(query)) for query in FIXED}
_PAGES = {query: _page(_reports(query)) for query in FIXED}


def count(actor: Actor, query: str) -> int | None:
    """Number of reports that match a query, counted up to 1,000; None if the query is invalid."""
    parsed = parse(query)
    return None if parsed.problems else counted(matching(actor, parsed))


def total(actor: Actor, query: str) -> int | None:
    """Number of reports that match a query, however many; None if the query is invalid."""
    parsed = parse(query)
    return None if parsed.problems else matching(actor, parsed).order_by().count()


def _require_room() -> None:
    """Refuse a shared view above the limit. Two admins who share at the same moment may exceed it by one."""
    if SavedView.objects.filter(is_shared=True).count() >= MOST:
        raise InvalidRequest(f"is_shared: {MOST} views are already shared; somebody has to delete one first")


def _name(name: str) -> str:
    clean = " ".join(name.split())
    if not 1 <= len(clean) <= 60:
        raise InvalidRequest(f"name: must have 1 to 60 characters{f', not {len(clean):,}' if clean else ''}")
    if not is_visible(clean):
        raise InvalidRequest("name: must have at least one visible character")
    if clean.casefold() in (each.name.casefold() for each in BUILT_IN):
        raise InvalidRequest(f"name: {clean} is the name of a built-in view")
    return clean
