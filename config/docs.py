"""The OpenAPI schema, and a page that shows it without asking any other host."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a body."""

    name: str
    type: str
    is_required: bool


@dataclass(frozen=True, slots=True)
class Route:
    """One route as a reader needs it."""

    id: str
    method: str
    path: str
    summary: str
    query: list[str]
    takes: list[Field]
    gives: str


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
    return render(request, "docs.html", {"routes": list(_routes(generated()))})


def _routes(found: Schema) -> Iterator[Route]:
    schemas = found["components"]["schemas"]
    for path, item in found["paths"].items():
        for method, operation in item.items():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            answer = operation["responses"]["200"].get("content", {}).get("application/json", {}).get("schema", {})
            yield Route(
                id=operation["operationId"],
                method=method.upper(),
                path=path,
                summary=operation.get("summary", ""),
                query=[each["name"] for each in operation.get("parameters", []) if each["in"] == "query"],
                takes=list(_fields(schemas.get(_name(body), {}))),
                gives=_type(answer.get("properties", {}).get("data", {})),
            )


def _fields(model: Schema) -> Iterator[Field]:
    for name, shape in model.get("properties", {}).items():
        yield Field(name, _type(shape), name in model.get("required", []))


def _type(shape: Schema) -> str:
    """A shape in a few words."""
    if name := _name(shape):
        return name
    if "const" in shape:
        return repr(shape["const"])
    if "enum" in shape:
        return " or ".join(str(value) for value in shape["enum"])
    for key in ("anyOf", "oneOf", "allOf"):
        if key in shape:
            return " or ".join(_type(each) for each in shape[key])
    kind = shape.get("type", "anything")
    if kind == "array":
        return f"list of {_type(shape.get('items', {}))}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _name(shape: Schema) -> str:
    return str(shape.get("$ref", "")).rpartition("/")[2]
