"""The state of the desk. Its address says which list, which report and which pane; cookies, what was open last."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit
from zoneinfo import ZoneInfo

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django_htmx.middleware import HtmxDetails

from accounts.pages import local
from core import bodies, ids, zones
from core.actor import Actor
from core.problems import came_from, path_here
from feedback import saved_views
from feedback.presenting.links import href
from feedback.querying import Query, matching, parse

_OF_ITEM = ("item", "pane", "whole", "check", "comment", "comments", "changes", "compare")
"""The keys that are about the open report. `comment`: the comment whose form is open; `comments`, `changes`: set to
show all of them; `compare`: a fork shown beside.
"""
KEYS = ("q", "after", *_OF_ITEM)
_LEFT, _EVERYTHING, _COOKIE_BYTES = "desk", "q=", 3_000
"""Cookie with the last list, so that a visit to a thread can return to it; its default; its maximum length."""
_AT = "desk_at"
"""Cookie with the report that was open last, so that a list that is loaded anew goes on at its row."""
_WRITING = {"check", "comment", "edit"}
"""Keys of the address with which a field has the focus."""


def state_in(given: Any, tz: ZoneInfo) -> dict[str, str]:
    """The known keys of an address, always with `q`; by default it shows unclaimed reports.

    Days are those of the viewer's time zone, which is written into the query.
    """
    query = {key: value for key, value in given if key in KEYS and (value or key == "q")}
    query = {"q": saved_views.DEFAULT.query, **query}
    return {**query, "q": parse(query["q"]).anchored(tz).text}


def kept(query: Mapping[str, str]) -> dict[str, str]:
    """The address of the list without an open report."""
    return {key: value for key, value in query.items() if key not in _OF_ITEM}


def desk_at(query: dict[str, str]) -> str:
    """The address of the desk in that state."""
    return reverse("feedback:desk") + href(query)


def sent_from(request: HttpRequest) -> dict[str, str]:
    """The state of the desk that a form was sent from."""
    return _read(request, urlsplit(address_in(request, "here")).query)


def query_of(request: HttpRequest) -> str:
    """The query of a form, its days in the viewer's time zone."""
    return parse(request.POST.get("q", "")).anchored(zones.of(request)).text


def looking_at(request: HttpRequest, query: str) -> str:
    """The desk that a form was sent from, with this query; pages of another one are not those of this."""
    state = sent_from(request)
    if state["q"] != query:
        state.pop("after", None)
    return desk_at(state | {"q": query})


def address_in(request: HttpRequest, field: str) -> str:
    """The local address in a field of the form, else the desk.

    With scripts, reports open without reloading the form, so the browser's address is newer than the form's.
    """
    shown = came_from(request) if field == "here" and HtmxDetails(request).current_url else ""
    return local(request, shown or path_here(request, request.POST.get(field, "")), otherwise="feedback:desk")


def last_list(request: HttpRequest) -> str:
    """The address of the last list of the desk."""
    return desk_at(kept(_last_state(request)))


def elsewhere(request: HttpRequest, actor: Actor, query: dict[str, str]) -> str:
    """Where an address of the desk leads that asks for another one (`back`, `add`, `stay`, `edit`); else empty."""
    if left := request.GET.get("back"):
        beside = {"compare": request.GET["compare"], "pane": "talk"} if "compare" in request.GET else {}
        return desk_at({**_last_state(request), "item": left, **beside})
    if added := request.GET.get("add", "").strip():
        place = bodies.number(request.GET.get("at", ""))
        asked = parse(query["q"]).with_term(added, at=place).anchored(zones.of(request))
        opened = _only_one(actor, asked) or _if_found(actor, asked, _open_before(request))
        return desk_at({"q": asked.text, **opened})
    if "stay" in request.GET:
        return desk_at({"q": query["q"], **_open_before(request)})
    return _as_shown(request) if "edit" in request.GET else ""


def resumed_at(request: HttpRequest, query: Mapping[str, str]) -> str | None:
    """The report at whose row a page begins that the browser loads itself, as for Back from elsewhere: the open one,
    and of a reload, which alone says so, that which was open. None if another part of the page has the focus.
    """
    if HtmxDetails(request) or request.GET.keys() & _WRITING:
        return None
    is_again = request.headers.get("Cache-Control") == "max-age=0"
    return query.get("item") or (request.COOKIES.get(_AT, "") if is_again else "")


def keep_list(response: HttpResponse, query: Mapping[str, str]) -> None:
    """Remember the list of that state as the last one."""
    here = urlencode(kept(query))
    _keep(response, _LEFT, here if len(here) < _COOKIE_BYTES else _EVERYTHING)


def keep_open(response: HttpResponse, feedback_id: str) -> None:
    """Remember the report that is open now."""
    _keep(response, _AT, feedback_id)


def _only_one(actor: Actor, parsed: Query) -> dict[str, str]:
    """The state of a page with the report open that a query asks for by its id, if there is one: who pastes an id wants
    to see it.
    """
    report_id = parsed.report_id
    return {"item": report_id} if report_id and matching(actor, parsed).exists() else {}


def _if_found(actor: Actor, asked: Query, opened: dict[str, str]) -> dict[str, str]:
    """What was open before, if a query finds that report, too."""
    key = ids.key_of(opened.get("item", ""), ids.FEEDBACK)
    return opened if key and not asked.problems and matching(actor, asked).filter(key=key).exists() else {}


def _open_before(request: HttpRequest) -> dict[str, str]:
    """The report that is open where one comes from, with its pane, for another list: who narrows, widens or turns it
    goes on with what they read.
    """
    shown = _read(request, urlsplit(came_from(request)).query)
    is_open = ids.key_of(shown.get("item", ""), ids.FEEDBACK)
    return {name: shown[name] for name in ("item", "pane") if name in shown} if is_open else {}


def _as_shown(request: HttpRequest) -> str:
    """This address with the report that the page shows instead of another one; empty if it is that one.

    With scripts, reports open without reloading the search field, so its links name the one that was open before.
    """
    shown = _open_before(request).get("item", "")
    if shown in ("", request.GET.get("item")):
        return ""
    asked = request.GET.copy()
    asked["item"] = shown
    return f"{request.path}?{asked.urlencode()}"


def _last_state(request: HttpRequest) -> dict[str, str]:
    return _read(request, request.COOKIES.get(_LEFT, _EVERYTHING))


def _read(request: HttpRequest, query: str) -> dict[str, str]:
    return state_in(parse_qsl(query, keep_blank_values=True), zones.of(request))


def _keep(response: HttpResponse, cookie: str, value: str) -> None:
    """Have the browser tell this at the desk again, until it is closed."""
    is_secure, path = settings.SESSION_COOKIE_SECURE, reverse("feedback:desk")
    response.set_cookie(cookie, value, path=path, secure=is_secure, httponly=True, samesite="Lax")
