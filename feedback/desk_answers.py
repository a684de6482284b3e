"""How the desk answers: with its page at an address, with where an action leads, or with what was refused."""

from collections.abc import Callable, Mapping
from copy import copy
from functools import wraps
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.contrib import messages as notes
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.encoding import iri_to_uri
from django.views.decorators.http import require_POST
from django_htmx.http import replace_url
from django_htmx.middleware import HtmxDetails

from accounts.authentication import admin_actor
from core import zones
from core.actor import Actor
from core.errors import DomainError
from core.problems import came_from
from feedback import bulk, desk_refused, desk_screen, desk_session, desk_state, desk_telling, idle, screens
from feedback.presenting.links import panes

View = Callable[..., HttpResponseBase]
Tell = Callable[[HttpResponseBase, str], HttpResponseBase]
_REPLACED = "HX-Replace-Url"


def posted(view: View) -> View:
    """A view for forms. A GET redirects to the desk with the same query.

    Without scripts, a rejected form is answered at this URL: relative links of that page and a reload lead back here.
    """
    post = require_POST(view)

    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method not in ("GET", "HEAD"):
            return post(request, *args, **kwargs)
        return to_desk(request, item=kwargs.get("feedback_id", ""))

    return wrapper


def to_desk(request: HttpRequest, *, item: str = "") -> HttpResponse:
    """Redirect to the desk with the query of this URL; if there is none, to all reports with `item` open."""
    query = request.META["QUERY_STRING"] or urlencode({"q": "", **({"item": item} if item else {})})
    return redirect(f"{reverse('feedback:desk')}?{query}")


def desk(request: HttpRequest, chosen: Mapping[str, str] | None = None) -> HttpResponse:
    """The page of the desk, the open report alone, or where such an address leads.

    `chosen` is what stands in the open report's form and was not sent: other buttons must not set it back.
    """
    actor, tz = admin_actor(request), zones.of(request)
    query = desk_state.state_in(request.GET.items(), tz)
    if address := desk_state.elsewhere(request, actor, query):
        return redirect(address)
    if request.headers.get("Heddle-Part") == "item" and query.get("item"):
        shown = desk_screen.opened(actor, query, tz=tz)
        part = {**shown, **desk_screen.offered(actor, tz), "panes": panes(query)}
        return _apart(render(request, "feedback/_opened.html", part))
    ahead = request.headers.get("Heddle-Ahead", "")
    context = desk_screen.page(
        actor,
        query,
        tz=tz,
        meanwhile=desk_session.meanwhile(request),
        follows=desk_session.followed(request),
        is_ahead=bool(ahead),
        has_changed=ahead == "true",
    )
    context["typed"] = chosen or {}
    if (resumed := desk_state.resumed_at(request, query)) is not None:
        context.setdefault("resume", resumed)
    response = _shown(request, actor, context, 404 if "gone" in context else 200)
    desk_state.keep_list(response, query)
    return response


def onward(
    request: HttpRequest, address: str, tell: Tell = replace_url, *, chosen: Mapping[str, str] | None = None
) -> HttpResponseBase:
    """The page that an action leads to: a redirect or, for htmx, the desk itself at that address, one trip earlier.

    `tell` says how the browser's history has it; `chosen` as in `desk`, without scripts it is lost.
    """
    path, query = urlsplit(address)[2:4]
    if not HtmxDetails(request) or path != reverse("feedback:desk"):
        return redirect(address)
    asked = copy(request)
    asked.method, asked.path, asked.path_info = "GET", path, path
    asked.META = {**request.META, "QUERY_STRING": query}
    asked.GET = QueryDict(query)
    response = desk(asked, chosen)
    return response if _REPLACED in response else tell(response, iri_to_uri(address))


def refused(
    request: HttpRequest, actor: Actor, problem: DomainError, *, item: str = "", part: str = "", **more: Any
) -> HttpResponse:
    """The page with an error in the report's form or in another form (`part`); `more` is added to the context."""
    query = desk_state.sent_from(request) | ({"item": item} if item else {})
    context = desk_refused.refused(
        actor,
        query,
        request.POST,
        problem,
        tz=zones.of(request),
        part=part,
        meanwhile=desk_session.meanwhile(request),
        follows=desk_session.followed(request),
    )
    context |= {"ticked": request.POST.getlist("feedback_ids"), **more}
    return _shown(request, actor, context, problem.status)


def _shown(request: HttpRequest, actor: Actor, context: dict[str, Any], status: int) -> HttpResponse:
    """The desk page. Messages of the last action go into the status line, where they move nothing."""
    messages = list(notes.get_messages(request))
    context |= {"messages": (), **desk_telling.of_last(messages, context, final_at=desk_session.final_at(request))}
    query, parsed = context["state"], context["parsed"]
    if (bar := context["bar"]).total == 0:
        context["idle"] = idle.idle(actor, bar.views, zones.of(request))
        if not context["idle"] and not bar.notes:
            context["wider"] = idle.wider(actor, parsed)
    context |= {**screens.editing_of(parsed, query, request.GET), "orgs": screens.Orgs(parsed, {})}
    if (latest := desk_session.ticked_for(request)) and not parsed.problems:
        context["ticked"] = bulk.still_found(actor, latest, parsed)
    here = _shown_by(request)
    # A desk that asks for the desk needs no frame around it.
    context["base"] = "_swapped.html" if urlsplit(here).path == reverse("feedback:desk") else "base.html"
    response = _apart(render(request, "feedback/desk.html", context, status=status))
    # A refusal keeps the browser's address, and the same address again is one entry of its history.
    if here and (status >= 400 or request.get_full_path() == here):
        response[_REPLACED] = iri_to_uri(here)
    return response


def _shown_by(request: HttpRequest) -> str:
    """The address that a browser with scripts shows while it asks, without fragment; else empty."""
    return came_from(request).partition("#")[0] if HtmxDetails(request) else ""


def _apart(response: HttpResponse) -> HttpResponse:
    """Make caches store pages and fragments separately; otherwise Back would show a fragment as the page."""
    patch_vary_headers(response, ("HX-Request", "Heddle-Part", "Heddle-Ahead"))
    return response
