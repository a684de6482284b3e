"""The one place where refusals and accidents become answers: an envelope under /v1, a page elsewhere."""

import logging
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings
from django.core.exceptions import DisallowedHost, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import DataError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.csrf import requires_csrf_token
from rest_framework.exceptions import APIException

from core.db import is_conflict, is_full, log_refused, replace_dead_connections
from core.errors import (
    Conflict,
    DiskFull,
    DomainError,
    InvalidRequest,
    MethodNotAllowed,
    NotFound,
    Unauthorized,
    Unavailable,
)

logger = logging.getLogger("heddle.problems")
_OF_ITS_PLACE = ("Origin checking failed", "Referer checking failed")
"""How Django's reasons begin that are about where a form was sent from."""
_ELSEWHERE = (
    "The form was sent from an address that is not the one that Heddle was told. Whoever operates it sets "
    "HEDDLE_PUBLIC_URL to the address that people type, and HEDDLE_HTTPS where a proxy speaks https."
)
_TOO_OLD = "The form was too old to be trusted. Go back, reload the page and send it again."
RETRY_AFTER_SECONDS = 5


def is_api(request: HttpRequest) -> bool:
    """Whether the envelope is due: everywhere under /v1/ but on the page that shows what is there."""
    return request.path_info.startswith("/v1/") and request.path_info != "/v1/docs/"


def meaning_of(problem: BaseException) -> DomainError | None:
    """The refusal behind an exception, or None where it is a bug."""
    match problem:
        case DomainError():
            return problem
        case Http404():
            return NotFound("There is nothing at this address.")
        case PermissionDenied():
            return Unauthorized(str(problem) or "You have no right to do that.")
        case DisallowedHost():
            return InvalidRequest("Host: this server does not answer under that name")
        case RequestDataTooBig():
            return InvalidRequest("body: is too large")
        case SuspiciousOperation():
            return InvalidRequest("That request cannot be read.")
        case DataError():
            return InvalidRequest("That request holds something that cannot be stored.")
        case OperationalError() if is_full(problem):
            return DiskFull()
        case OperationalError() if is_conflict(problem):
            return Conflict("Others changed the same at this moment, and nothing of this was stored. Try again.")
        case OperationalError() | InterfaceError():
            return Unavailable("The database does not answer. Try again in a moment.")
        case APIException():
            return InvalidRequest(str(problem.detail))
    return None


def api_exception(problem: Exception, context: dict[str, Any]) -> HttpResponse | None:
    """DRF's exception handler."""
    return answer(context["request"]._request, problem)


def answer(request: HttpRequest, problem: BaseException) -> HttpResponse:
    """The answer to an exception. A bug is logged with its trace and tells the client nothing but a request id."""
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
    """`error` holds code and message and nothing else: each further key breaks the SDK (B168)."""
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
    """The same refusal for a reader."""
    parts = problem.parts if isinstance(problem, NotFound) else None
    detail = format_html("{}<code>{}</code>{}", *parts) if parts else problem.message
    return _page(request, problem.status, problem.title, detail)


def wrong_method(request: HttpRequest, refused: HttpResponseNotAllowed) -> HttpResponse:
    """Django's refusal of a method, which says nothing at all, as a page that says why; its headers stay."""
    is_read = request.method in ("GET", "HEAD")
    said = "This address takes what a form sends, and cannot be opened." if is_read else "This page can only be read."
    told = page(request, MethodNotAllowed(f"{said} Nothing was changed."))
    told["Allow"] = refused["Allow"]
    return told


def _page(request: HttpRequest, status: int, title: str, detail: str) -> HttpResponse:
    first, *others = request.path_info.strip("/").split("/")
    places = settings.PLACES
    place, way_out, words = places.get("/".join((first, *others[:1]))) or places.get(first) or places[""]
    context = {
        "status": status,
        "title": title,
        "detail": detail,
        "request_id": getattr(request, "request_id", ""),
        "place": place,
        "way_out": way_out,
        "way_out_words": words,
        "came_from": came_from(request),
    }
    return _drawn(request, context)


def came_from(request: HttpRequest) -> str:
    """The path of the page that a form or a script sent this from; nothing where it was none of this server's."""
    page = request.headers.get("HX-Current-URL") or request.headers.get("Referer", "")
    try:
        is_ours = url_has_allowed_host_and_scheme(page, {request.get_host()}, require_https=request.is_secure())
    except DisallowedHost:
        is_ours = False
    return urlunsplit(("", "", *urlsplit(page)[2:])) if is_ours else ""


def _accident(request: HttpRequest) -> HttpResponse:
    if is_api(request):
        request_id = getattr(request, "request_id", "")
        message = f"Something broke inside Heddle. Quote request {request_id} to its operator."
        return JsonResponse({"error": {"error_code": "RobotoInternalException", "message": message}}, status=500)
    return _page(request, 500, "Something broke.", "Heddle failed at this, and has logged it.")


def _drawn(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """An accident's page asks nobody for anything: what a page knows of its viewer it has from the database, too."""
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
    """A form from somewhere else, or from a page that is too old."""
    said = _ELSEWHERE if reason.startswith(_OF_ITS_PLACE) else _TOO_OLD
    return page(request, Unauthorized(said))


def bad_request(request: HttpRequest, exception: BaseException) -> HttpResponse:
    """handler400."""
    return answer(request, exception)


def forbidden(request: HttpRequest, exception: BaseException) -> HttpResponse:
    """handler403."""
    return answer(request, exception)


def not_found(request: HttpRequest, exception: BaseException) -> HttpResponse:
    """handler404."""
    return answer(request, Http404())


def crashed(request: HttpRequest) -> HttpResponse:
    """handler500: the trace was logged by Django already."""
    return _accident(request)
