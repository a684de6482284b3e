"""What surrounds every request. The API gets a short way: sessions, CSRF and messages are for pages only."""

import logging
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import SuspiciousOperation
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseNotAllowed,
    HttpResponsePermanentRedirect,
)
from django.middleware.csrf import CsrfViewMiddleware
from django_htmx.middleware import HtmxMiddleware
from whitenoise.middleware import WhiteNoiseMiddleware

from core import problems
from core.errors import DomainError, InvalidRequest, Unavailable
from core.logging import request_id_var

Handler = Callable[[HttpRequest], HttpResponseBase]
logger = logging.getLogger("heddle.requests")

_DRAINED_AT_ONCE: Final = 64 * 1024
_DRAINED_SECONDS: Final = 10.0
_drains = threading.BoundedSemaphore(8)
_CSP = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
_OF_PAGES: tuple[Callable[[Any], Any], ...] = (
    WhiteNoiseMiddleware,
    SessionMiddleware,
    CsrfViewMiddleware,
    AuthenticationMiddleware,
    MessageMiddleware,
    HtmxMiddleware,
)
_OF_ORCHESTRATORS = frozenset({"/livez", "/readyz", "/metrics"})
"""Asked from inside, in the clear and under whatever name: a pod's address, a service's. They build no links."""
_PAGE_HEADERS = {
    "Content-Security-Policy": _CSP,
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


def requests(get_response: Handler) -> Handler:
    """Outermost: give the request an id, check its host and its length, tidy its path, log its outcome."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        started = time.perf_counter()
        request.request_id = "req_" + secrets.token_hex(6)  # type: ignore[attr-defined]
        token = request_id_var.set(request.request_id)  # type: ignore[attr-defined]
        if request.path_info.startswith("//v1/"):
            # The SDK pastes paths behind its endpoint, and an endpoint may end in a slash (spec 1.2).
            request.path_info = request.path_info[1:]
        try:
            if request.path_info not in _OF_ORCHESTRATORS:
                request.get_host()
            _refuse_nul(request)
            _refuse_unmeasured(request)
            response = get_response(request)
        except (SuspiciousOperation, InvalidRequest, Unavailable) as problem:
            response = _guarded(request, problems.answer(request, problem))
        finally:
            request_id_var.reset(token)
        response.headers["X-Request-Id"] = request.request_id  # type: ignore[attr-defined]
        response.headers["X-Content-Type-Options"] = "nosniff"
        _tell_length(response)
        _drain(request)
        _log(request, response, time.perf_counter() - started)
        return response

    return middleware


def _tell_length(response: HttpResponseBase) -> None:
    """Without its length an answer goes out in chunks, and ends for its reader only when everything is put away."""
    if isinstance(response, HttpResponse) and (length := len(response.content)):
        response.headers.setdefault("Content-Length", str(length))


def _refuse_nul(request: HttpRequest) -> None:
    """No id and no search holds a NUL, and PostgreSQL cannot even be asked for one."""
    if "\x00" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
        raise InvalidRequest("The address holds a NUL, which nothing here does.")


def _refuse_unmeasured(request: HttpRequest) -> None:
    """A body must come with its length: Django takes one without for nothing at all, and an update then does nothing.

    To read chunks until they end was rejected: the server cannot tell a body whose chunks broke off from a whole one.
    In HTTP/2 no header says that there is a body, so there its first byte does.
    """
    meta = request.META
    is_chunked = "HTTP_TRANSFER_ENCODING" in meta
    if not is_chunked and meta.get("SERVER_PROTOCOL") == "HTTP/2" and request.method not in ("GET", "HEAD"):
        is_chunked = not meta.get("CONTENT_LENGTH") and bool(meta["wsgi.input"].read(1))
    if is_chunked:
        request.is_unmeasured = True  # type: ignore[attr-defined]
        raise InvalidRequest("body: must be sent with its length (Content-Length), not in chunks")


def _drain(request: HttpRequest) -> None:
    """Take what nobody read, up to a bound: a client that is still sending never hears an answer, only a broken pipe.

    The SDK would send it ten times. One that waits to be told to go on (Expect) has not sent anything yet.

    Whoever never sends what they announced keeps one of the places there are for that (`core.uploads`), and to take
    what nobody reads is a courtesy: it has fewer of them than those whose bodies are read.
    """
    is_unmeasured = hasattr(request, "is_unmeasured")
    length = request.META.get("CONTENT_LENGTH") or "0"
    left = settings.DRAINED_BYTES if is_unmeasured else int(length) if length.isdigit() else 0
    is_read = request._read_started  # type: ignore[attr-defined]
    if is_read or "HTTP_EXPECT" in request.META or not 0 < left <= settings.DRAINED_BYTES:
        return
    if not _drains.acquire(blocking=False):
        return
    read = request.META["wsgi.input"].read if is_unmeasured else request.read
    ends_at = time.monotonic() + _DRAINED_SECONDS
    try:
        with suppress(OSError, Unavailable):
            while left > 0 and time.monotonic() < ends_at and (piece := read(_DRAINED_AT_ONCE)):
                left -= len(piece)
    finally:
        _drains.release()


def _log(request: HttpRequest, response: HttpResponseBase, seconds: float) -> None:
    level = logging.INFO if response.status_code >= 400 else logging.DEBUG
    if logger.isEnabledFor(level):
        match = request.resolver_match
        extra = {
            "request_id": request.request_id,  # type: ignore[attr-defined]
            "method": request.method,
            "route": match.route if match else "",
            "status": response.status_code,
            "ms": round(seconds * 1000, 1),
        }
        logger.log(level, "request.finished", extra=extra)


def security(get_response: Handler) -> Handler:
    """HTTPS where it is wanted, and the headers that keep a page to itself."""
    https = settings.SECURE_SSL_REDIRECT

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if https and not request.is_secure() and request.path_info not in _OF_ORCHESTRATORS:
            if problems.is_api(request):
                return problems.envelope(PlainHttp())
            return HttpResponsePermanentRedirect(f"https://{request.get_host()}{request.get_full_path()}")
        response = get_response(request)
        if https:
            response.headers["Strict-Transport-Security"] = f"max-age={settings.SECURE_HSTS_SECONDS}; includeSubDomains"
        return _guarded(request, response)

    return middleware


def _guarded(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """The headers of a page, for everything but the API's JSON; and nothing is anybody's but the asker's.

    Not `no-store`, which would take from a browser the page that its button leads back to.
    """
    response.headers.setdefault("Cache-Control", "private, no-cache")
    if not problems.is_api(request) or response.headers.get("Content-Type", "").startswith("text/html"):
        for name, value in _PAGE_HEADERS.items():
            response.headers.setdefault(name, value)
    return response


class PlainHttp(DomainError):
    """A token that travels in the clear is refused, never redirected: no route redirects (B170)."""

    def __init__(self) -> None:
        super().__init__("This server is reached by https only.")


def pages(get_response: Handler) -> Handler:
    """All of Django's that only pages need. The API passes it by: half of a cheap request's time would go into it."""
    page = get_response
    hooks: list[Callable[..., Any]] = []
    for build in reversed(_OF_PAGES):
        page = build(page)
        if hasattr(page, "process_view"):
            hooks.insert(0, page.process_view)

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return get_response(request) if problems.is_api(request) else page(request)

    def process_view(request: HttpRequest, *args: Any) -> Any:
        if problems.is_api(request):
            return None
        try:
            return next(filter(None, (hook(request, *args) for hook in hooks)), None)
        except Unavailable as problem:  # a form that does not come, where its token is looked for
            return problems.answer(request, problem)

    middleware.process_view = process_view  # type: ignore[attr-defined]
    return middleware


def refusals(get_response: Handler) -> Handler:
    """Innermost: a refusal raised by a page becomes a page, and so does the empty one that Django gives a method."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if isinstance(response, HttpResponseNotAllowed) and not problems.is_api(request):
            return problems.wrong_method(request, response)
        return response

    def process_exception(request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return problems.answer(request, exception)

    middleware.process_exception = process_exception  # type: ignore[attr-defined]
    return middleware
