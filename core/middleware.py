"""Middleware. API requests skip what only pages need: sessions, CSRF and messages."""

import logging
import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import DisallowedHost, SuspiciousOperation
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseNotAllowed,
    HttpResponsePermanentRedirect,
)
from django.middleware.csrf import CsrfViewMiddleware
from django.middleware.gzip import GZipMiddleware
from whitenoise.middleware import WhiteNoiseMiddleware

from core import problems, uploads
from core.errors import DomainError, InvalidRequest, NotSignedIn, Unavailable
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


class _Compression(GZipMiddleware):
    """Compresses whole pages to a tenth. Not streams: there an event would wait to be compressed with the next ones."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        return response if response.streaming else super().process_response(request, response)


_OF_PAGES: tuple[Callable[[Any], Any], ...] = (
    _Compression,
    WhiteNoiseMiddleware,
    SessionMiddleware,
    CsrfViewMiddleware,
    AuthenticationMiddleware,
    MessageMiddleware,
)
_OF_ORCHESTRATORS = frozenset({"/livez", "/readyz", "/metrics"})
"""Requested inside the cluster over HTTP with any Host header, such as a pod's address."""
_WITH_BODY: Final = ("POST", "PUT", "PATCH")
REQUEST_ID: Final = "heddle.request_id"
"""The id of a request that already has one, in its WSGI environment."""
_PAGE_HEADERS = {
    "Content-Security-Policy": _CSP,
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


def requests(get_response: Handler) -> Handler:
    """Outermost: assign a request id, check host and length, normalise the path, log the outcome."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        started = time.perf_counter()
        request.request_id = request.META.get(REQUEST_ID) or new_id()  # type: ignore[attr-defined]
        token = request_id_var.set(request.request_id)  # type: ignore[attr-defined]
        if request.path_info.startswith("//v1/") or request.path_info == "//v1":
            # The SDK appends paths to its endpoint, which may end in a slash (spec 1.2).
            request.path_info = request.path_info[1:]
        try:
            if request.path_info not in _OF_ORCHESTRATORS:
                request.get_host()
            _refuse_nul(request)
            _require_length(request)
            response = get_response(request)
        except (SuspiciousOperation, InvalidRequest, Unavailable) as problem:
            response = _guarded(request, problems.answer(request, problem))
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as problem:  # a panic of a library in Rust, which Django does not handle
            response = _guarded(request, problems.answer(request, problem))
        finally:
            request_id_var.reset(token)
        _identified(response, request.request_id)  # type: ignore[attr-defined]
        drain(request)
        _log(request, response, time.perf_counter() - started)
        return response

    return middleware


def new_id() -> str:
    """A new id for a request, shown in its response and in the log. Nobody gains by guessing it."""
    return f"req_{random.getrandbits(48):012x}"


def _identified(response: HttpResponseBase, request_id: str) -> None:
    """Set the id, and Content-Length: a chunked response ends for its reader only after all clean-up is done."""
    response.headers["X-Request-Id"] = request_id
    response.headers["X-Content-Type-Options"] = "nosniff"
    if isinstance(response, HttpResponse) and (length := len(response.content)):
        response.headers.setdefault("Content-Length", str(length))


def _refuse_nul(request: HttpRequest) -> None:
    """Reject NUL in the URL: no id or search contains it, and PostgreSQL does not accept it in a query."""
    if "\x00" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
        raise InvalidRequest("The URL must not contain a NUL character.")


def _require_length(request: HttpRequest) -> None:
    """Reject a body without Content-Length: Django would read it as empty, and an update would do nothing.

    Reading chunks to the end was rejected: the server cannot tell a truncated body from a complete one. In HTTP/2 no
    header announces a body, so its first byte is read.
    """
    meta = request.META
    is_chunked = "HTTP_TRANSFER_ENCODING" in meta
    if not is_chunked and meta.get("SERVER_PROTOCOL") == "HTTP/2" and request.method not in ("GET", "HEAD"):
        is_chunked = not meta.get("CONTENT_LENGTH") and bool(meta["wsgi.input"].read(1))
    if is_chunked:
        request.is_unmeasured = True  # type: ignore[attr-defined]
        raise InvalidRequest("body: must be sent with its length (Content-Length), not in chunks")


def drain(request: HttpRequest) -> None:
    """Read the unread rest of a body, up to a limit: a client that is still sending would only see a broken pipe.

    The SDK would then retry ten times. A client that waits for permission (Expect) has not sent anything yet.

    Clients that never send what they announced hold slots (`core.uploads`). Draining is optional, so it gets
    fewer slots than reading.
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
    """Enforce HTTPS if it is configured, and set the security headers of pages."""
    https = settings.SECURE_SSL_REDIRECT

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if https and not request.is_secure() and request.path_info not in _OF_ORCHESTRATORS:
            if problems.is_api(request):
                return problems.envelope(PlainHttp())
            return HttpResponsePermanentRedirect(f"https://{request.get_host()}{request.get_full_path()}")
        return _secured(request, get_response(request))

    return middleware


def _secured(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    if settings.SECURE_SSL_REDIRECT:
        response.headers["Strict-Transport-Security"] = f"max-age={settings.SECURE_HSTS_SECONDS}; includeSubDomains"
    return _guarded(request, response)


def _guarded(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Set security headers on everything but the API's JSON, and make every response private to its user.

    Not `no-store`, which would break the browser's back button.
    """
    response.headers.setdefault("Cache-Control", "private, no-cache")
    if not problems.is_api(request) or response.headers.get("Content-Type", "").startswith("text/html"):
        for name, value in _PAGE_HEADERS.items():
            response.headers.setdefault(name, value)
    return response


def finished(request: Any, response: HttpResponseBase, request_id: str) -> None:
    """Give a response that no middleware has seen the headers that it would have got."""
    _secured(request, response)
    _identified(response, request_id)


def lets_pass(environ: dict[str, Any]) -> bool:
    """Whether this WSGI request is for the API, and middleware would do no more than let it pass: its path needs no
    decoding, its host is known, it is encrypted if it must be, its body has a length, and it need not be logged. False
    in doubt."""
    path, query, length = environ["PATH_INFO"], environ.get("QUERY_STRING", ""), environ.get("CONTENT_LENGTH", "")
    name, secure = settings.SECURE_PROXY_SSL_HEADER or ("", "")
    return bool(
        path.startswith("/v1/")
        and (length.isdigit() if environ["REQUEST_METHOD"] in _WITH_BODY else length in ("", "0"))
        and "HTTP_TRANSFER_ENCODING" not in environ
        and path.isascii()
        and query.isascii()
        and "\x00" not in path
        and "%00" not in query
        and not environ.get("SCRIPT_NAME")
        and (not settings.SECURE_SSL_REDIRECT or environ.get(name) == secure)
        and not logger.isEnabledFor(logging.DEBUG)
        and not settings.DEBUG
        and _is_known(environ.get("HTTP_HOST", ""))
    )


@lru_cache(maxsize=64)
def _is_known(host: str) -> bool:
    request = HttpRequest()
    request.META["HTTP_HOST"] = host
    try:
        return bool(host and request.get_host())
    except DisallowedHost:
        return False


class PlainHttp(DomainError):
    """The error for an API request over plain HTTP: it is rejected, never redirected (B170)."""

    def __init__(self) -> None:
        super().__init__(
            "Use https: this server does not accept plain http. A proxy in front of it has to send X-Forwarded-Proto."
        )


def pages(get_response: Handler) -> Handler:
    """Django's middleware for pages. API requests skip it: it would take half the time of a cheap request."""
    page = get_response
    hooks: list[Callable[..., Any]] = []
    for build in reversed(_OF_PAGES):
        page = build(page)
        if hasattr(page, "process_view"):
            hooks.insert(0, page.process_view)

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return get_response(request) if problems.is_api(request) else page(request)

    def process_view(request: HttpRequest, view: Callable[..., Any], *args: Any) -> Any:
        if problems.is_api(request):
            return None
        try:
            uploads.require_fitting(request, view)  # the first hook reads the form to find the CSRF token
            return next(filter(None, (hook(request, view, *args) for hook in hooks)), None)
        except (InvalidRequest, NotSignedIn, Unavailable) as problem:
            return problems.answer(request, problem)

    middleware.process_view = process_view  # type: ignore[attr-defined]
    return middleware


def refusals(get_response: Handler) -> Handler:
    """Innermost: turn errors raised by views, and Django's empty 405 responses, into error pages."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if isinstance(response, HttpResponseNotAllowed):
            return problems.wrong_method(request, response)
        return response

    def process_exception(request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return problems.answer(request, exception)

    middleware.process_exception = process_exception  # type: ignore[attr-defined]
    return middleware
