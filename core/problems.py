"""The one place where refusals and accidents become answers: an envelope under /v1, a page elsewhere."""

import logging
from typing import Any

from django.core.exceptions import DisallowedHost, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import DataError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.csrf import requires_csrf_token
from rest_framework.exceptions import APIException

from core.db import replace_dead_connections
from core.errors import DomainError, InvalidRequest, NotFound, Unauthorized, Unavailable

logger = logging.getLogger("heddle.problems")


def is_api(request: HttpRequest) -> bool:
    """Whether the envelope is due."""
    return request.path_info.startswith("/v1/")


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
    if isinstance(meaning, Unavailable):
        replace_dead_connections()
        logger.warning("database.unavailable", extra={"route": _route(request), "kind": type(problem).__name__})
    return envelope(meaning) if is_api(request) else page(request, meaning)


def envelope(problem: DomainError) -> HttpResponse:
    """`error` holds code and message and nothing else: each further key breaks the SDK (B168)."""
    content: dict[str, Any] = {"error": {"error_code": problem.code, "message": problem.message}}
    if problem.details:
        content["details"] = problem.details
    response = JsonResponse(content, status=problem.status)
    if problem.status == 401:
        response["WWW-Authenticate"] = "Bearer"
    return response


def page(request: HttpRequest, problem: DomainError) -> HttpResponse:
    """The same refusal for a reader."""
    context = {
        "status": problem.status,
        "title": problem.title,
        "detail": problem.message,
        "request_id": getattr(request, "request_id", ""),
    }
    return render(request, "problem.html", context, status=problem.status)


def _accident(request: HttpRequest) -> HttpResponse:
    request_id = getattr(request, "request_id", "")
    if is_api(request):
        message = f"Something broke inside Heddle. Quote request {request_id} to its operator."
        return JsonResponse({"error": {"error_code": "RobotoInternalException", "message": message}}, status=500)
    context = {"status": 500, "title": "Something broke.", "detail": "It has been logged.", "request_id": request_id}
    return render(request, "problem.html", context, status=500)


def _route(request: HttpRequest) -> str:
    match = request.resolver_match
    return match.route if match else ""


@requires_csrf_token
def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form from a page that is too old, or from somewhere else."""
    return page(
        request, Unauthorized("The form was too old to be trusted. Go back, reload the page and send it again.")
    )


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
