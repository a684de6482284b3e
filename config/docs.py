"""The OpenAPI schema, and a page that renders it without loading anything from other hosts."""

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a type's text; `shape` is the schema it links to, empty if none."""

    words: str
    shape: str = ""


Type = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a request body or schema."""

    name: str
    type: Type
    is_required: bool
    said: SafeString


@dataclass(frozen=True, slots=True)
class Route:
    """One route with what the page shows."""

    id: str
    method: str
    path: str
    summary: SafeString
    query: tuple[str, ...]
    headers: tuple[str, ...]
    takes: tuple[Field, ...]
    gives: Type


@dataclass(frozen=True, slots=True)
class Group:
    """Routes under one heading."""

    name: str
    routes: tuple[Route, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """A named schema of bodies and responses."""

    name: str
    said: SafeString
    fields: tuple[Field, ...]
    type: Type
    """Its type if it has no fields."""


@cache
def generated() -> Schema:
    """The OpenAPI schema, cached for the life of the process; it is the same for all callers."""
    # Imported on the first request: it would take a fifth of every startup.
    from drf_spectacular.generators import SchemaGenerator

    found: Schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return found


@require_safe
def schema(request: HttpRequest) -> HttpResponse:
    """Return the OpenAPI 3.1 schema as JSON."""
    return HttpResponse(json.dumps(generated(), default=str), content_type="application/json")


@require_safe
def browse(request: HttpRequest) -> HttpResponse:
    """Render the API reference: all routes with parameters, bodies and responses."""
    found = generated()
    return render(request, "docs.html", {"groups": _groups(found), "shapes": _shapes(found)})


def _groups(found: Schema) -> list[Group]:
    groups: dict[str, list[Route]] = {name: [] for name in _GROUPS}
    for path, item in found["paths"].items():
        for method, operation in item.items():
            route = _route(method, path, operation, found["components"]["schemas"])
            groups.setdefault(operation["tags"][0], []).append(route)
    return [Group(name, tuple(routes)) for name, routes in groups.items() if routes]


def _route(method: str, path: str, operation: Schema, schemas: Schema) -> Route:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    answer = operation["responses"]["200"].get("content", {}).get("application/json", {}).get("schema", {})
    told = answer.get("properties", {}).get("data", {})
    return Route(
        id=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=_prose(operation.get("summary", "")),
        query=_parameters(operation, "query"),
        headers=_parameters(operation, "header"),
        takes=_fields(schemas.get(_name(body), {})),
        gives=_type(told) if told else (),
    )


def _parameters(operation: Schema, place: str) -> tuple[str, ...]:
    return tuple(each["name"] for each in operation.get("parameters", []) if each["in"] == place)


def _prose(text: str) -> SafeString:
    """A description for the page: code spans as elements, without references to rows and sections of the spec."""
    parts = _SPEC_ROWS.sub("", text).split("`")
    shown = (format_html("<code>{}</code>", part) if place % 2 else part for place, part in enumerate(parts))
    return format_html_join("", "{}", ((part,) for part in shown))


def _shapes(found: Schema) -> list[Shape]:
    """All named schemas, by name."""
    return [
        Shape(
            name, _prose(model.get("description", "").partition("\n")[0]), _fields(model), _type({**model, "title": ""})
        )
        for name, model in sorted(found["components"]["schemas"].items())
    ]


def _fields(model: Schema) -> tuple[Field, ...]:
    required = model.get("required", [])
    return tuple(
        Field(name, _type(shape), name in required, _prose(shape.get("description", "")))
        for name, shape in model.get("properties", {}).items()
    )


def _type(shape: Schema) -> Type:
    """A schema's type in a few words."""
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


_GROUPS = ("threads", "feedback", "triage", "agents", "skills", "catalogue", "webhooks", "orgs")
"""In the order of the page."""
_ROW = r"(?:[A-Z]\d+|spec \d[\d.]*)"
_SPEC_ROWS = re.compile(rf" \({_ROW}(?:(?:,| to| and) {_ROW})*\)")
