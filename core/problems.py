"""Turns exceptions into responses: an envelope under /v1, a page elsewhere."""

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ParamSpec
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings
from django.core.exceptions import BadRequest, DisallowedHost, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import DataError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import Resolver404, resolve
from django.utils.html import format_html
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.csrf import requires_csrf_token
from django_htmx.middleware import HtmxDetails
from rest_framework.exceptions import APIException

from core.db import is_conflict, is_full, log_refused, replace_dead_connections
from core.errors import (
    Contended,
    DiskFull,
    DomainError,
    FormExpired,
    InvalidRequest,
    MethodNotAllowed,
    NoSuchPlace,
    NotFound,
    SignedOut,
    Unauthorized,
    Unavailable,
)

logger = logging.getLogger("heddle.problems")
_OF_ITS_PLACE = ("Origin checking failed", "Referer checking failed")
"""How Django's CSRF reasons begin that are about the origin of a form."""
_ELSEWHERE = (
    "The form was sent from an unexpected address. The operator has to set HEDDLE_PUBLIC_URL to the address "
    "that users open, and HEDDLE_HTTPS if a proxy in front serves https."
)
P = ParamSpec("P")
_TOO_OLD = "The form has expired: somebody signed in or out since. Nothing was stored; open it again to send it."
KEPT = frozenset(
    [
        "admin_note",
        "body",
        "comment",
        "fixed_reply",
        "notes",
        "output",
        "public_reply",
        "system_prompt",
        "text",
        "tools",
        "value",
    ]
)
"""Fields whose text the scripts keep in the tab as a draft, wherever a form has one of this name."""
RETRY_AFTER_SECONDS = 5


def is_api(request: HttpRequest) -> bool:
    """Whether errors use the envelope (B169): /v1 and everything under it, except for who reads the page /v1/docs/."""
    is_page = request.path_info == "/v1/docs/" and request.method in ("GET", "HEAD")
    return f"{request.path_info}/".startswith("/v1/") and not is_page


def meaning_of(problem: BaseException) -> DomainError | None:
    """The domain error for an exception, or None if it is a bug."""
    match problem:
        case DomainError():
            return problem
        case Http404():
            return NotFound("No page has this address.")
        case PermissionDenied():
            return Unauthorized(str(problem) or "You do not have permission to do that.")
        case DisallowedHost():
            return InvalidRequest("Host: this server is not configured for that name (HEDDLE_HOSTS)")
        case RequestDataTooBig():
            return InvalidRequest("body: is too large")
        case SuspiciousOperation() | BadRequest() | MultiPartParserError():
            return InvalidRequest("The request is malformed.")
        case DataError():
            return InvalidRequest("The request contains a value that cannot be stored.")
        case OperationalError() if is_full(problem):
            return DiskFull()
        case OperationalError() if is_conflict(problem):
            return Contended("Others changed the same at this moment, and nothing of this was stored. Try again.")
        case OperationalError() | InterfaceError():
            return Unavailable("The database is not responding. Try again in a moment.")
        case APIException():
            return InvalidRequest(str(problem.detail))
    return None


def api_exception(problem: Exception, context: dict[str, Any]) -> HttpResponse | None:
    """DRF's exception handler."""
    return answer(context["request"]._request, problem)


def answer(request: HttpRequest, problem: BaseException) -> HttpResponse:
    """The response to an exception. A bug is logged with its trace; the client only gets a request id."""
    meaning = meaning_of(problem)
    if meaning is None:
        logger.error("request.crashed", exc_info=problem, extra={"route": _route(request)})
        return _accident(request)
    if is_conflict(problem):
        log_refused(logger, "database.conflict", problem, route=_route(request))
    elif isinstance(problem, OperationalError | InterfaceError):
        replace_dead_connections()
        log_refused(logger, "database.unavailable", problem, route=_route(request))
    response = envelope(meaning) if is_api(request) else page(request, meaning)
    if isinstance(meaning, Unavailable):
        response["Retry-After"] = RETRY_AFTER_SECONDS
    return response


def envelope(problem: DomainError) -> HttpResponse:
    """The error as JSON. `error` has only code and message: any further key breaks the SDK (B168)."""
    content: dict[str, Any] = {"error": {"error_code": problem.code, "message": problem.message}}
    details, named = problem.details or problem.by_field, problem.by_field
    if isinstance(details, dict) and named:
        details = {"field": named[0]["field"], **details}
    if details:
        content["details"] = details
    response = JsonResponse(content, status=problem.status)
    if problem.status == 401:
        response["WWW-Authenticate"] = "Bearer"
    return response


def page(request: HttpRequest, problem: DomainError) -> HttpResponse:
    """The error as a page."""
    parts = problem.parts if isinstance(problem, NotFound) else None
    detail = format_html("{}<code>{}</code>{}", *parts) if parts else problem.message
    again = ("Open it again", came_from(request)) if isinstance(problem, FormExpired) else ("", "")
    if isinstance(problem, NoSuchPlace):
        detail, again = "Its address is incomplete, or of another list.", ("Show the first page", _first_page(request))
    return _page(request, problem.status, problem.title, detail, again)


def _first_page(request: HttpRequest) -> str:
    query = request.GET.copy()
    query.pop("after", None)
    return f"{request.path}?{query.urlencode()}"


def wrong_method(request: HttpRequest, refused: HttpResponseNotAllowed) -> HttpResponse:
    """Django's empty 405 response with the reason; its headers are kept.

    A browser reads the address of a form after the form was refused there, and after its user signed in again; it is
    redirected to the page that the form belongs to.
    """
    is_read = request.method in ("GET", "HEAD")
    if is_read and not is_api(request) and (above := _above(request.path_info)):
        return redirect(above)
    said = "This address only accepts forms." if is_read else "This page is read-only."
    if is_api(request):
        told = envelope(MethodNotAllowed(f"{request.method} is not allowed here. Allowed: {refused['Allow']}."))
    else:
        told = page(request, MethodNotAllowed(f"{said} Nothing was changed."))
    told["Allow"] = refused["Allow"]
    return told


def _above(path: str) -> str:
    """The nearest page above a path; empty if only the front page is."""
    while (path := f"{path.rstrip('/').rpartition('/')[0]}/") != "/":
        with suppress(Resolver404):
            resolve(path)
            return path
    return ""


def _page(
    request: HttpRequest, status: int, title: str, detail: str, again: tuple[str, str] = ("", "")
) -> HttpResponse:
    """`again` is a link with its words, for those who are signed in."""
    first, *others = request.path_info.strip("/").split("/")
    places = settings.PLACES
    place, way_out, words = places.get("/".join((first, *others[:1]))) or places.get(first) or places[""]
    # Who asks is not known where the database does not answer.
    if place in settings.PLACES_OF_ADMINS and (
        status >= 500 or not getattr(getattr(request, "user", None), "is_staff", False)
    ):
        _, way_out, words = places[""]
    context = {
        "status": status,
        "title": title,
        "detail": detail,
        "request_id": getattr(request, "request_id", ""),
        "place": place,
        "way_out": way_out,
        "way_out_words": words,
        "came_from": _place_of(request),
        "again": again[0] if again[1] else "",
        "again_href": again[1],
    }
    return _drawn(request, context)


def came_from(request: HttpRequest) -> str:
    """The path of the page that sent this request; empty if it is not on this server."""
    return path_here(request, HtmxDetails(request).current_url or request.headers.get("Referer", ""))


def stands_alone(view: Callable[P, HttpResponse]) -> Callable[P, HttpResponse]:
    """Mark a form within another page as a page of its own, too: there it is open, with its text as a draft."""
    view.stands_alone = True  # type: ignore[attr-defined]
    return view


def _place_of(request: HttpRequest) -> str:
    """The form that was sent, if it stands alone, else the page that sent this request."""
    found = request.resolver_match
    is_alone = request.method == "POST" and found is not None and getattr(found.func, "stands_alone", False)
    return request.path if is_alone else came_from(request)


def path_here(request: HttpRequest, url: str) -> str:
    """The path, query and fragment of a URL; empty if it is not on this server."""
    try:
        is_ours = url_has_allowed_host_and_scheme(url, {request.get_host()}, require_https=request.is_secure())
    except DisallowedHost:
        is_ours = False
    return urlunsplit(("", "", *urlsplit(url)[2:])) if is_ours else ""


def _accident(request: HttpRequest) -> HttpResponse:
    if is_api(request):
        request_id = getattr(request, "request_id", "")
        message = f"Internal error. Report request {request_id} to the operator."
        return JsonResponse({"error": {"error_code": "RobotoInternalException", "message": message}}, status=500)
    return _page(request, 500, "Something went wrong.", "Heddle logged the error.")


def _drawn(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """Render the error page. A 500 page does not use the request: its context would need the database."""
    asking = request if context["status"] < 500 else None
    try:
        drawn = render_to_string("problem.html", context, asking)
    except (OperationalError, InterfaceError) as away:
        return answer(request, away)
    return HttpResponse(drawn, status=context["status"])


def _route(request: HttpRequest) -> str:
    match = request.resolver_match
    return match.route if match else ""


@requires_csrf_token
def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    """The response to a form with a wrong origin or an expired token."""
    if reason.startswith(_OF_ITS_PLACE):
        return page(request, Unauthorized(_ELSEWHERE))
    match, user = request.resolver_match, getattr(request, "user", None)
    needs_user = match is not None and getattr(match.func, "needs_user", False)
    is_out = needs_user and user is not None and not user.is_authenticated
    return page(request, SignedOut(lost(request)) if is_out else FormExpired(_TOO_OLD))


def lost(request: HttpRequest) -> str:
    """What became of a form that was sent without a session.

    Scripts that sent it keep its text as a draft; without them only the browser may still know it. A file, sent as
    multipart, is no draft.
    """
    is_draft = bool(HtmxDetails(request)) and request.content_type == "application/x-www-form-urlencoded"
    if is_draft and any(request.POST.get(name, "").strip() for name in KEPT):
        return "You are signed out. Sign in and send it again; your text is kept here."
    return "You are signed out; nothing was stored. Sign in and send it again."


def refused(request: HttpRequest, exception: BaseException) -> HttpResponse:
    """handler400 and handler403."""
    return answer(request, exception)


def not_found(request: HttpRequest, exception: BaseException) -> HttpResponse:
    """handler404."""
    return answer(request, Http404())


def crashed(request: HttpRequest) -> HttpResponse:
    """handler500. Django has already logged the trace."""
    return _accident(request)
