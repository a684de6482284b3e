"""The OpenAPI schema, and a page that shows it without asking any other host."""

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Piece:
    """Some words of a type; `shape` is the schema that they name, empty where they name none."""

    words: str
    shape: str = ""


Type = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a body."""

    name: str
    type: Type
    is_required: bool
    said: str


@dataclass(frozen=True, slots=True)
class Route:
    """One route as a reader needs it."""

    id: str
    method: str
    path: str
    summary: str
    query: tuple[str, ...]
    takes: tuple[Field, ...]
    gives: Type


@dataclass(frozen=True, slots=True)
class Group:
    """Routes of one matter, under one heading."""

    name: str
    routes: tuple[Route, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """A schema that bodies and answers name."""

    name: str
    said: str
    fields: tuple[Field, ...]
    type: Type
    """What it is where it has no fields."""


@cache
def generated() -> Schema:
    """The schema; the same for everybody for as long as the process lives."""
    # What makes it is imported for the first who asks: it would be a fifth of every start.
    from drf_spectacular.generators import SchemaGenerator

    found: Schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return found


@require_GET
def schema(request: HttpRequest) -> HttpResponse:
    """OpenAPI 3.1, as JSON."""
    return HttpResponse(json.dumps(generated(), default=str), content_type="application/json")


@require_GET
def browse(request: HttpRequest) -> HttpResponse:
    """The routes with what they take and give, for reading."""
    found = generated()
    return render(request, "docs.html", {"groups": _groups(found), "shapes": _shapes(found)})


def _groups(found: Schema) -> list[Group]:
    groups: dict[str, list[Route]] = {name: [] for name in _GROUPS}
    for path, item in found["paths"].items():
        for method, operation in item.items():
            name = "triage" if "/admin/" in path else operation["tags"][0]
            groups.setdefault(name, []).append(_route(method, path, operation, found["components"]["schemas"]))
    return [Group(name, tuple(routes)) for name, routes in groups.items() if routes]


def _route(method: str, path: str, operation: Schema, schemas: Schema) -> Route:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    answer = operation["responses"]["200"].get("content", {}).get("application/json", {}).get("schema", {})
    told = answer.get("properties", {}).get("data", {})
    return Route(
        id=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=_SPEC_ROW.sub("", operation.get("summary", "")),
        query=tuple(each["name"] for each in operation.get("parameters", []) if each["in"] == "query"),
        takes=_fields(schemas.get(_name(body), {})),
        gives=_type(told) if told else (),
    )


def _shapes(found: Schema) -> list[Shape]:
    """What routes name, by name."""
    return [
        Shape(name, model.get("description", "").partition("\n")[0], _fields(model), _type({**model, "title": ""}))
        for name, model in sorted(found["components"]["schemas"].items())
    ]


def _fields(model: Schema) -> tuple[Field, ...]:
    required = model.get("required", [])
    return tuple(
        Field(name, _type(shape), name in required, shape.get("description", ""))
        for name, shape in model.get("properties", {}).items()
    )


def _type(shape: Schema) -> Type:
    """A shape in a few words."""
    if name := _name(shape):
        return (Piece(name, name),)
    if "const" in shape:
        return (Piece(repr(shape["const"])),)
    if "enum" in shape:
        return (Piece(" or ".join(str(value) for value in shape["enum"])),)
    for key in ("anyOf", "oneOf", "allOf"):
        if key in shape:
            first, *others = (_type(each) for each in shape[key])
            return (*first, *(piece for each in others for piece in (Piece(" or "), *each)))
    kind = shape.get("type", "anything")
    if kind == "array":
        return (Piece("list of "), *_type(shape.get("items", {})))
    return (Piece(" or ".join(kind) if isinstance(kind, list) else str(kind)),)


def _name(shape: Schema) -> str:
    return str(shape.get("$ref", "")).rpartition("/")[2]


_GROUPS = ("threads", "feedback", "triage", "agents", "skills", "catalogue", "webhooks")
"""In the order in which a reader comes to them."""
_SPEC_ROW = re.compile(r" \([A-Z]\d+(?:, [A-Z]\d+)*\)$")
