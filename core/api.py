"""The REST door: authenticate, find, check, parse, call a verb, project. Views stay as thin as that sentence."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NoReturn, TypeVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.request import RawPostDataException, UnreadablePostError
from pydantic import BaseModel
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from core import bodies
from core.actor import Actor
from core.db import dump
from core.errors import InvalidRequest, MethodNotAllowed, NotFound, NotSignedIn, Unauthorized
from core.prepared import Question

Model = TypeVar("Model", bound=BaseModel)
View = TypeVar("View", bound=Callable[..., Any])
KEY, KEY_HEADER = "idempotency_key", "Idempotency-Key"
"""A field that a body may have, and the header that says the same."""


class Endpoint(APIView):
    """One URL under /v1. Its methods get the actor from `self.actor` and answer with `data` or `record`."""

    body_limit = settings.BODY_BYTES
    is_public = False
    reads = frozenset({"GET", "HEAD", "OPTIONS"})
    """What a token that may only read may do here. A question that is too long for a URL adds its POST."""
    has_exact_query = True
    """Whether query parameters that no method describes are refused, as unknown keys are: not where the SDK calls."""
    # OPTIONS is left out: what DRF answers to it stands in no envelope.
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    actor: Actor

    def perform_content_negotiation(self, request: Request, force: bool = False) -> tuple[JSONRenderer, str]:
        """There is one representation; an Accept header that wants another one changes nothing."""
        return JSONRenderer(), "application/json"

    def next_questions(self) -> Sequence[Question]:
        """What this URL asks as soon as it knows who asks: it may go to the database together with that.

        The answer is looked at where it would be asked for, after who asks, and by nobody else.
        """
        return ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Authentication comes before everything else, the existence of the URL's method included (spec 1.4)."""
        actor = request.user
        if self.is_public:
            return
        if not isinstance(actor, Actor):
            raise NotSignedIn("A valid API token is needed: Authorization: Bearer <token>.")
        if not actor.may_write and request.method not in self.reads:
            raise Unauthorized("This token may only read.")
        self.actor = actor
        self.admit(request)
        self._refuse_strangers(request)

    def admit(self, request: Request) -> None:
        """Refuse who may not come any further, before anything is said about what they ask for."""

    def _refuse_strangers(self, request: Request) -> None:
        """A parameter that is spelled wrong would be another list, another file or an import that was to be a dry run.

        Files are our own wherever they are asked for. The rest of the public wire takes what clients have always sent.
        """
        described: Described | None = getattr(getattr(self, str(request.method).lower(), None), "described", None)
        if described is None or not (self.has_exact_query or described.files):
            return
        for name in request.query_params:
            if name not in described.query:
                raise InvalidRequest.of(name[:80], "is not known here")

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """What was put off while the request was answered is done when the answer has gone out."""
        response = super().finalize_response(request, response, *args, **kwargs)
        for act in getattr(self.request._request, "afterwards", ()):
            when_sent(response, act)
        return response

    def http_method_not_allowed(self, request: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise MethodNotAllowed(f"{request.method} is not possible here. Possible: {', '.join(self.allowed_methods)}.")

    def raw_body(self) -> bytes:
        """The bytes of the request, at most `body_limit`."""
        request: HttpRequest = self.request._request
        length = request.META.get("CONTENT_LENGTH") or "0"
        if length.isdigit() and int(length) > self.body_limit:
            raise InvalidRequest(f"body: is larger than {self.body_limit // 1024 // 1024} MiB")
        try:
            return request.body
        except (UnreadablePostError, RawPostDataException):
            raise InvalidRequest("body: could not be read to its end") from None

    def parse(self, model: type[Model], *, apart: str = "") -> Model:
        """The checked JSON body. Whether what stands in the field `apart` can be stored is the caller's to check."""
        body = bodies.read_json(self.raw_body(), apart=apart)
        return bodies.parse(model, self._with_key(body) if KEY in model.model_fields else body)

    def _with_key(self, body: Any) -> Any:
        """The body with the key of the header: clients that repeat a request by themselves send theirs there."""
        sent = self.request.headers.get(KEY_HEADER)
        if sent is None or not isinstance(body, dict):
            return body
        if body.get(KEY) not in (None, sent):
            raise InvalidRequest(f"{KEY}: is not that of the header {KEY_HEADER}")
        return {**body, KEY: sent}

    def parse_list(self, model: type[Model], *, at_most: int) -> list[Model]:
        """The checked JSON body where it is a bare list; counted before it is checked."""
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
        """A query boolean; the SDK writes True and False."""
        return bodies.flag(name, self.query(name), default)


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


def when_sent(response: HttpResponse, act: Callable[[], None]) -> HttpResponse:
    """Do something once the answer has gone out. A process that dies before has not done it."""
    response._resource_closers.append(act)  # type: ignore[attr-defined]
    return response


@dataclass(frozen=True, slots=True)
class Described:
    """What the schema tells of a method: body, what stands under `data` (or a list of it), query parameters.

    `choices` are the values of a parameter that takes only some, `files` the content types of one that answers with a
    file instead. One that `has_version` minds If-Match.
    """

    takes: Any
    gives: Any
    many: bool
    query: tuple[str, ...]
    summary: str
    files: tuple[str, ...]
    choices: Mapping[str, Sequence[str]]
    has_version: bool


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
) -> Callable[[View], View]:
    """Describe a method for `core.openapi`, which is imported only where somebody asks for the schema."""

    def keep(view: View) -> View:
        view.described = Described(takes, gives, many, query, summary, files, choices, has_version)  # type: ignore[attr-defined]
        return view

    return keep


class UnknownUrl(Endpoint):
    """Everything else under /v1: first who asks, then that there is nothing (B169)."""

    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise NotFound(f"There is nothing at {request.path}.")
