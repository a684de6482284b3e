"""The direct way to the API: WSGI calls an endpoint without Django's handler and REST framework's dispatch around it.

Those two cost 0.13 ms of CPU per request, three times what the queries of a poll take (docs/decisions/004). The
endpoint is the same one, so there is one place that authenticates, parses and answers. Only success is answered here: a
problem is handed to Django's handler, where the endpoint raises it again, to be rendered and logged like any other. So
is, as a whole, every request for which middleware would do more than let it pass (`core.middleware.lets_pass`).
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property, lru_cache
from io import BytesIO
from typing import Any, NamedTuple, cast

from django.http import HttpResponse, QueryDict
from django.http.request import HttpHeaders, UnreadablePostError
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RoutePattern

from core.api import HANDED_OVER, Endpoint
from core.db import give_connection_back, in_turn
from core.logging import request_id_var
from core.middleware import REQUEST_ID, drain, finished, lets_pass, new_id

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class Request:
    """What an endpoint uses of REST framework's request, and of Django's below it."""

    def __init__(self, environ: dict[str, Any], view: Endpoint) -> None:
        self.META, self.method = environ, environ["REQUEST_METHOD"]
        self.path = self.path_info = environ["PATH_INFO"]
        self.parser_context = {"view": view}
        self._request = self
        self.afterwards: list[Callable[[], None]] = []

    @property
    def query_params(self) -> QueryDict:
        """The parameters of the URL."""
        return _parameters(self.META.get("QUERY_STRING", ""))

    @property
    def headers(self) -> "_Headers":
        """The headers, by names in any case."""
        return _Headers(self.META)

    @cached_property
    def body(self) -> bytes:
        """The bytes of the body, which can be read again by Django's way; raises `UnreadablePostError`."""
        try:
            found: bytes = self.META["wsgi.input"].read(int(self.META.get("CONTENT_LENGTH") or 0))
        except OSError as problem:
            raise UnreadablePostError(*problem.args) from problem
        self.META["wsgi.input"] = BytesIO(found)
        return found

    @property
    def _read_started(self) -> bool:
        return "body" in vars(self)

    def read(self, size: int) -> bytes:
        """A piece of the body."""
        return cast("bytes", self.META["wsgi.input"].read(size))


@lru_cache(maxsize=256)
def _parameters(query: str) -> QueryDict:
    """The parameters of a query string, which cannot be changed. A poller sends the same one until there is news."""
    return QueryDict(query)


class _Headers(NamedTuple):
    """The headers in a WSGI environment. Django's class reads all of it, which also has the process's environment."""

    environ: dict[str, Any]

    def get(self, name: str, default: str | None = None) -> str | None:
        """The value of a header, or the default."""
        return self.environ.get(HttpHeaders.to_wsgi_name(name), default)


class _Route(NamedTuple):
    """A URL, and its endpoint if that can be called directly."""

    start: str
    """What all its paths begin with."""
    pattern: RoutePattern
    slashes: int
    has_more: bool
    """A value in it may contain further slashes."""
    endpoint: type[Endpoint] | None


def answered(application: Application) -> Application:
    """Wrap the application: requests to endpoints are answered directly if they succeed, with the same response."""

    def call(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        response = None
        if lets_pass(environ):
            with in_turn():
                response = _answer(environ)
                give_connection_back()  # the next one takes it over, with what both read in its cache
        if response is None:
            return application(environ, start_response)
        start_response(f"{response.status_code} {response.reason_phrase}", list(response.items()))
        # A list is sent at once. Anything else is streamed, and closed afterwards, for what `when_sent` has to do.
        return response if response.streaming or response._resource_closers else [response.content]  # type: ignore[attr-defined]

    return call


def _answer(environ: dict[str, Any]) -> HttpResponse | None:
    """The response to a request; None if there is no such endpoint or method, or a problem."""
    endpoint, named = _found(environ["PATH_INFO"][1:])
    if endpoint is None:
        return None
    view, method = endpoint(), environ["REQUEST_METHOD"]
    if method == "HEAD" or method not in view.allowed_methods:
        return None
    request_id = environ[REQUEST_ID] = new_id()
    known = request_id_var.set(request_id)
    request: Any = Request(environ, view)
    view.request, view.args, view.kwargs = request, (), named
    try:
        view.initial(request)
        response: HttpResponse = getattr(view, method.lower())(request, **named)
        drain(request)
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as problem:  # as in middleware: also a panic of a library in Rust
        environ[HANDED_OVER] = problem, request.afterwards
        return None
    finally:
        request_id_var.reset(known)
    view.defer(response)
    response.headers["Allow"] = ", ".join(view.allowed_methods)
    finished(request, response, request_id)
    return response


def _found(path: str) -> tuple[type[Endpoint] | None, dict[str, Any]]:
    """The endpoint of a path, and the values in the path."""
    for route in _routes(path.count("/")):
        if path.startswith(route.start) and (found := route.pattern.match(path)):
            return route.endpoint, found[2]
    return None, {}


@cache
def _routes(slashes: int) -> list[_Route]:
    """The routes that a path with so many slashes may have, in the order in which Django tries them."""
    return [each for each in _all_routes() if each.slashes == slashes or (each.has_more and each.slashes < slashes)]


@cache
def _all_routes() -> list[_Route]:
    return list(_flattened(get_resolver().url_patterns, ""))


def _flattened(patterns: Iterable[URLPattern | URLResolver], prefix: str) -> Iterator[_Route]:
    for each in patterns:
        if not isinstance(each.pattern, RoutePattern):
            continue  # the last one, for what is found nowhere else
        route = prefix + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from _flattened(each.url_patterns, route)
            continue
        found = getattr(each.callback, "view_class", None)
        endpoint = found if isinstance(found, type) and issubclass(found, Endpoint) else None
        start, pattern = route.partition("<")[0], RoutePattern(route, is_endpoint=True)
        yield _Route(start, pattern, route.count("/"), "<path:" in route, endpoint)
