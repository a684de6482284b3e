"""Saved views: queries with a name, one's own or shared with all who work at the desk, and those that are built in."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from accounts.rights import require_admin
from core import ids
from core.actor import Actor
from core.errors import Conflict, InvalidRequest, NotFound, Unauthorized
from core.grammar import MAX_LENGTH, Field, changed, spelled
from core.paging import COUNT_LIMIT
from feedback.models import SavedView, UserFeedback
from feedback.querying import matching, parse, understood

MOST = 100
"""Views of one person, and views that are shared: all of them are in everybody's menu."""


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A view that everybody has; `word` is what its reports are, `nothing` what it says without any."""

    name: str
    query: str
    word: str
    nothing: str
    is_work: bool = True
    """Whether its count says how much is left to do; the page counts no other one."""


BUILT_IN = (
    BuiltIn("Unclaimed", "is:unclaimed", "unclaimed", "Nothing is unclaimed."),
    BuiltIn("For me", "is:open owner:me", "yours", "Nothing open is yours."),
    BuiltIn("Negative", "is:open sentiment:negative", "negative", "Nothing open is negative."),
    BuiltIn("Due", "is:due", "due", "Nothing is due."),
    BuiltIn("All open", "is:open", "open", "Nothing is open.", is_work=False),
    BuiltIn(
        "Resolved this week", "is:resolved resolved:<7d", "resolved", "Nothing was resolved this week.", is_work=False
    ),
)
DEFAULT = BUILT_IN[0]


def listed(actor: Actor) -> list[SavedView]:
    """One's own views and the shared ones, by name. One query."""
    require_admin(actor)
    rows = SavedView.objects.filter(Q(created_by=actor.user_id) | Q(is_shared=True)).select_related("created_by")
    return list(rows.order_by("name", "id"))


def save(actor: Actor, name: str, query: str, *, is_shared: bool = False) -> SavedView:
    """Keep a query under a name. A query with a problem, a blank name and a name one has already are refused, and more
    than `MOST`.
    """
    require_admin(actor)
    own = SavedView.objects.filter(created_by=actor.user_id)
    if own.count() >= MOST:
        raise InvalidRequest(f"name: you have {MOST} views already; delete one first")
    if is_shared:
        _require_room()
    view = SavedView(
        name=_name(name),
        query=understood(query, field="query").canonical,
        is_shared=is_shared,
        created_by_id=actor.user_id,
    )
    with _name_kept(view):
        view.save()
    return view


def keep(actor: Actor, name: str, query: str, *, is_shared: bool = False) -> tuple[SavedView, str]:
    """Save a query under a name, over the one that one has under it already; the view, and what that one was."""
    require_admin(actor)
    held = SavedView.objects.filter(created_by=actor.user_id, name=_name(name)).first()
    if held is None:
        return save(actor, name, query, is_shared=is_shared), ""
    return change(actor, ids.VIEW + held.key, query=query, is_shared=is_shared), held.query


def change(
    actor: Actor, view_id: str, *, name: str | None = None, query: str | None = None, is_shared: bool | None = None
) -> SavedView:
    """Change one's own view; None leaves."""
    view = _own(actor, view_id)
    given = {
        "name": None if name is None else _name(name),
        "query": None if query is None else understood(query, field="query").canonical,
        "is_shared": is_shared,
    }
    if is_shared and not view.is_shared:
        _require_room()
    written = {column: value for column, value in given.items() if value is not None}
    for column, value in written.items():
        setattr(view, column, value)
    with _name_kept(view):
        # Nothing else, so that whoever changes something else just now, or deletes it, has their way as well.
        if written and not SavedView.objects.filter(pk=view.pk).update(**written):
            raise NotFound.of("view", view_id[:80])
    return view


def drop(actor: Actor, view_id: str) -> SavedView:
    """Delete one's own view; what it was."""
    view = _own(actor, view_id)
    view.delete()
    return view


def rewrite(change: Callable[[Field], Field]) -> None:
    """Let every view say what a renamed thing is called now, whosever it is. One that would become too long stays."""
    for view in SavedView.objects.select_for_update().filter(query__contains=":").order_by("pk"):
        query = spelled(changed(parse(view.query).root, change))
        if query != view.query and len(query) <= MAX_LENGTH:
            view.query = query
            view.save(update_fields=["query"])


def count(actor: Actor, query: str) -> int | None:
    """How many reports a query matches, counted up to a thousand; None where it has a problem."""
    parsed = parse(query)
    return None if parsed.problems else counted(matching(actor, parsed))


def counted(rows: QuerySet[UserFeedback]) -> int:
    """How many reports these are, counted up to a thousand."""
    return rows.order_by()[:COUNT_LIMIT].count()


def _require_room() -> None:
    """Refuse one more shared view. Two admins who share at the same moment may get one more than there should be."""
    if SavedView.objects.filter(is_shared=True).count() >= MOST:
        raise InvalidRequest(f"is_shared: {MOST} views are shared already; somebody has to delete one of theirs first")


def _own(actor: Actor, view_id: str) -> SavedView:
    require_admin(actor)
    view = SavedView.objects.filter(key=ids.key_of(view_id, ids.VIEW) or "").first()
    if view is None or (view.created_by_id != actor.user_id and not view.is_shared):
        raise NotFound.of("view", view_id[:80])
    if view.created_by_id != actor.user_id:
        raise Unauthorized("Only who made a view changes it.")
    return view


@contextmanager
def _name_kept(view: SavedView) -> Iterator[None]:
    """A transaction in which a name that one's own view has already is a conflict."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError:
        raise Conflict(f"name: you have a view {view.name} already") from None


def _name(name: str) -> str:
    clean = " ".join(name.split())
    if not 1 <= len(clean) <= 60:
        raise InvalidRequest(f"name: must have 1 to 60 characters{f', and has {len(clean)}' if clean else ''}")
    if clean.casefold() in (each.name.casefold() for each in BUILT_IN):
        raise InvalidRequest(f"name: there is a view {clean} already, which everybody has")
    return clean
