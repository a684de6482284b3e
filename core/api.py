"""Base of the REST views: authenticate, find, check, parse, call a function, project. Views do nothing else."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, NoReturn, TypeVar, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.request import RawPostDataException, UnreadablePostError
from pydantic import BaseModel
from rest_framework.request import Request
from rest_framework.views import APIView

from core import bodies
from core.actor import Actor
from core.db import dump
from core.errors import InvalidRequest, MethodNotAllowed, NotFound, NotSignedIn, Unauthorized
from core.prepared import Question
from core.versions import Dated, version_of
from core.wire import keys_read
from core.wording import limit_text

Model = TypeVar("Model", bound=BaseModel)
View = TypeVar("View", bound=Callable[..., Any])
HANDED_OVER = "heddle.problem"
"""The exception that `core.direct` left to Django's way, and deferred work, in the WSGI environment."""
KEY, KEY_HEADER = "idempotency_key", "Idempotency-Key"
"""A field that a body may have, and the header with the same meaning."""


class Endpoint(APIView):
    """One URL under /v1. Its methods get the actor from `self.actor` and answer with `data` or `record`."""

    body_limit = settings.BODY_BYTES
    reads = frozenset({"GET", "HEAD", "OPTIONS"})
    """The methods allowed to a read-only token. A route that searches by POST adds that."""
    has_exact_query = True
    """Reject unknown query parameters; False for routes the SDK calls."""
    # OPTIONS is left out: DRF's response to it has no envelope.
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    actor: Actor

    @property
    def allowed_methods(self) -> list[str]:
        return _methods_of(type(self))  # type: ignore[arg-type]

    def next_questions(self) -> Sequence[Question]:
        """Queries that this URL needs once the caller is known; they may be sent with the authentication query.

        The rows are used only by the code that would otherwise send the query, after authentication.
        """
        return ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Authenticate before anything else, even before checking that the method exists (spec 1.4)."""
        if handed_over := request.META.get(HANDED_OVER):
            problem, request._request.afterwards = handed_over  # type: ignore[attr-defined]
            raise problem
        # DRF's `request.user` does the same, but looks five times for attributes that are missing.
        [authentication] = self.get_authenticators()
        actor, _ = authentication.authenticate(request) or (None, None)
        if not isinstance(actor, Actor):
            raise NotSignedIn("A valid API token is required: Authorization: Bearer <token>.")
        if not actor.may_write and request.method not in self.reads:
            raise Unauthorized("This token is read-only.")
        self.actor = actor
        self.admit(request)
        self._refuse_strangers(request)

    def admit(self, request: Request) -> None:
        """Reject callers who have no access here, before anything about the resource is revealed."""

    def _refuse_strangers(self, request: Request) -> None:
        """Reject unknown parameters: a misspelled one could turn a dry run into an import or return another list.

        Routes that return files always check. SDK routes accept what clients have always sent.
        """
        described: Described | None = getattr(getattr(self, str(request.method).lower(), None), "described", None)
        if described is None or not (self.has_exact_query or described.files):
            return
        for name in request.query_params:
            if name not in described.query:
                raise InvalidRequest.of(name[:80], "is not a known parameter")

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Run deferred work after the response has been sent."""
        response = super().finalize_response(request, response, *args, **kwargs)
        self.defer(response)
        return response

    def defer(self, response: HttpResponse) -> None:
        """Have deferred work done after the response has been sent."""
        for act in getattr(self.request._request, "afterwards", ()):
            when_sent(response, act)

    def http_method_not_allowed(self, request: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise MethodNotAllowed(f"{request.method} is not allowed here. Allowed: {', '.join(self.allowed_methods)}.")

    def raw_body(self) -> bytes:
        """The bytes of the request, at most `body_limit`."""
        request: HttpRequest = self.request._request
        length = request.META.get("CONTENT_LENGTH") or "0"
        if length.isdigit() and int(length) > self.body_limit:
            raise InvalidRequest(f"body: is larger than {limit_text(self.body_limit)}")
        try:
            return request.body
        except (UnreadablePostError, RawPostDataException):
            raise InvalidRequest("body: is incomplete") from None

    def parse(self, model: type[Model], *, apart: str = "") -> Model:
        """The validated JSON body. The caller checks whether the value of the field `apart` can be stored."""
        keys = keys_read(model)
        body = bodies.read_json(self.raw_body(), is_checked=lambda key: key != apart and (keys is None or key in keys))
        return bodies.parse(model, self._with_key(body) if KEY in model.model_fields else body)

    def _with_key(self, body: Any) -> Any:
        """The body with the key from the header, where clients that retry automatically send it."""
        sent = self.request.headers.get(KEY_HEADER)
        if sent is None or not isinstance(body, dict):
            return body
        if body.get(KEY) not in (None, sent):
            raise InvalidRequest(f"{KEY}: differs from the header {KEY_HEADER}")
        return {**body, KEY: sent}

    def parse_list(self, model: type[Model], *, at_most: int) -> list[Model]:
        """The validated JSON body of a route that takes a list; its length is checked first."""
        value = bodies.read_json(self.raw_body())
        if not isinstance(value, list):
            raise InvalidRequest("body: must be a JSON list")
        if len(value) > at_most:
            raise InvalidRequest(f"body: must have at most {at_most} items")
        return [bodies.parse(model, item, str(place)) for place, item in enumerate(value)]

    def query(self, name: str) -> str | None:
        """One query parameter, None when absent or empty."""
        return self.request.query_params.get(name) or None

    def query_bool(self, name: str, default: bool) -> bool:
        """A query boolean; the SDK sends True and False."""
        return bodies.flag(name, self.query(name), default)


@cache
def _methods_of(view: type[Endpoint]) -> list[str]:
    """The methods that a URL has. DRF looks for them with each response, which names them."""
    found = [name for name in view.http_method_names if hasattr(view, "get" if name == "head" else name)]
    return [name.upper() for name in found]


def record(model: BaseModel) -> HttpResponse:
    """One projection under `data`."""
    return _json(b'{"data":' + model.__pydantic_serializer__.to_json(model) + b"}")


def records(models: list[Any]) -> HttpResponse:
    """A bare list of projections under `data`."""
    inner = b",".join(model.__pydantic_serializer__.to_json(model) for model in models)
    return _json(b'{"data":[' + inner + b"]}")


def data(value: object) -> HttpResponse:
    """A small plain value under `data`."""
    return _json(b'{"data":' + dump(value).encode() + b"}")


def _json(body: bytes) -> HttpResponse:
    return HttpResponse(body, content_type="application/json")


def tagged(response: HttpResponse, version: str) -> HttpResponse:
    """Add the version of a record, which If-Match takes."""
    response.headers["ETag"] = f'"{version}"'
    return response


def dated(model: BaseModel) -> HttpResponse:
    """`record` of something that knows when it was changed last, with that as its version."""
    return tagged(record(model), version_of(cast("Dated", model)))


def when_sent(response: HttpResponse, act: Callable[[], None]) -> HttpResponse:
    """Call `act` after the response has been sent. If the process dies before that, it is not called."""
    response._resource_closers.append(act)  # type: ignore[attr-defined]
    return response


@dataclass(frozen=True, slots=True)
class Described:
    """What the schema shows for a method: body, the value of `data` (`many`: a list of it), query parameters.

    `at_most`: the body is a list of at most that many of `takes`; 0 if it is an object.
    `choices` lists the allowed values of a parameter, `files` the content types if it returns a file instead.
    `has_version`: it honours If-Match. `has_etag`: its response has the version that If-Match takes. `refusals`:
    further error statuses and what they mean.
    """

    takes: Any
    gives: Any
    many: bool
    query: tuple[str, ...]
    summary: str
    files: tuple[str, ...]
    choices: Mapping[str, Sequence[str]]
    has_version: bool
    has_etag: bool
    at_most: int
    refusals: Mapping[str, str]


def describe(
    *,
    takes: Any = None,
    gives: Any = None,
    many: bool = False,
    query: tuple[str, ...] = (),
    summary: str = "",
    files: tuple[str, ...] = (),
    choices: Mapping[str, Sequence[str]] = MappingProxyType({}),
    has_version: bool = False,
    has_etag: bool = False,
    at_most: int = 0,
    refusals: Mapping[str, str] = MappingProxyType({}),
) -> Callable[[View], View]:
    """Describe a method for `core.openapi`, which is imported only when the schema is requested."""

    def keep(view: View) -> View:
        view.described = Described(  # type: ignore[attr-defined]
            takes, gives, many, query, summary, files, choices, has_version, has_etag, at_most, refusals
        )
        return view

    return keep


class UnknownUrl(Endpoint):
    """Any other URL under /v1: authenticate first, then answer 404 (B169)."""

    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise NotFound(f"Nothing found at {request.path}.")
