"""What each implementation makes of an annotation: its JSON Schema, with its oddities (catalogue 3.7)."""

import ast
from collections.abc import Callable
from typing import Any

from catalogue.dialects.annotations import Annotation, literal
from catalogue.record import JsonObject, ToolProblem

Warn = Callable[[str], None]
_SIMPLE = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "array", "dict": "object"}
_KINDS = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
_CONSTRAINTS = {
    "ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum", "multiple_of": "multipleOf",
    "min_length": "minLength", "max_length": "maxLength", "pattern": "pattern", "description": "description",
    "title": "title", "examples": "examples",
}  # fmt: skip
_LENGTHS = {"minLength": "minItems", "maxLength": "maxItems"}


def convilyn(kind: Annotation, warn: Warn) -> JsonObject:
    """As Convilyn's server: whatever it does not know is a string."""
    if kind.is_bare and kind.name in _SIMPLE:
        return {"type": _SIMPLE[kind.name]}
    if kind.is_optional:
        return {"anyOf": [convilyn(kind.others[0], warn), {"type": "null"}]}
    if kind.name == "Literal":
        return {"type": "string", "enum": [*kind.values]}
    if kind.name == "list":
        return {"type": "array", **({"items": convilyn(kind.arguments[0], warn)} if kind.arguments else {})}
    if kind.name == "dict":
        values = {"additionalProperties": convilyn(kind.arguments[1], warn)} if len(kind.arguments) > 1 else {}
        return {"type": "object", **values}
    return {"type": "string"}


def data_harness(kind: Annotation, warn: Warn) -> JsonObject:
    """As data_harness: five shapes, everything else is refused (C98)."""
    if kind.name in ("str", "int", "float", "bool"):
        return {"type": _SIMPLE[kind.name]}
    if kind.name == "list" and [each.name for each in kind.arguments] == ["str"]:
        return {"type": "array", "items": {"type": "string"}}
    raise ToolProblem(
        "invalid_tool", "/source", f"data_harness has no schema for {kind.name or 'a missing annotation'}"
    )


def rdk(kind: Annotation, warn: Warn) -> JsonObject:
    """As rdk: the six plain names; whatever has brackets is a string (T42)."""
    return {"type": _SIMPLE.get(kind.name, "string") if kind.is_bare else "string"}


def rdk_returns(kind: Annotation) -> JsonObject:
    """What rdk makes of a return annotation."""
    return {"type": _SIMPLE.get(kind.name, "object") if kind.is_bare else "object"}


def heddle(kind: Annotation, warn: Warn) -> JsonObject:
    """Ours: a schema that says as much as the annotation does (C100)."""
    return _noted(_shape(kind, warn), kind, warn)


def _shape(kind: Annotation, warn: Warn) -> JsonObject:
    inner = [heddle(each, warn) for each in kind.arguments if each.name not in ("...", "?")]
    match kind.name:
        case "" | "Any":
            return {}
        case "None":
            return {"type": "null"}
        case "Union":
            return {"anyOf": inner}
        case "Literal":
            kinds = {_KINDS[type(value)] for value in kind.values}
            return {**({"type": kinds.pop()} if len(kinds) == 1 else {}), "enum": [*kind.values]}
        case "list":
            return {"type": "array", **({"items": inner[0]} if inner else {})}
        case "dict":
            return {"type": "object", **({"additionalProperties": inner[1]} if len(inner) > 1 and inner[1] else {})}
        case "set":
            return {"type": "array", "uniqueItems": True, **({"items": inner[0]} if inner else {})}
        case "tuple":
            return _tuple(kind, inner)
        case name if name in _SIMPLE:
            return {"type": _SIMPLE[name]}
    warn(f"{kind.name} has no schema of its own: anything is accepted")
    return {}


def _tuple(kind: Annotation, inner: list[JsonObject]) -> JsonObject:
    if len(inner) == len(kind.arguments) and inner:
        return {"type": "array", "prefixItems": inner, "minItems": len(inner), "maxItems": len(inner)}
    return {"type": "array", **({"items": inner[0]} if inner else {})}


def _noted(schema: JsonObject, kind: Annotation, warn: Warn) -> JsonObject:
    """A schema with what `Annotated` says: a text is the description, a Field its constraints."""
    for note in kind.notes:
        match note:
            case ast.Constant(value=str() as text):
                schema = {**schema, "description": text}
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[], keywords=keywords) if (
                name == "Field"
            ):
                for keyword in keywords:
                    schema = _constrained(schema, keyword, warn)
            case _:
                warn("a mark of Annotated is neither a text nor a Field")
    return schema


def _constrained(schema: JsonObject, keyword: ast.keyword, warn: Warn) -> JsonObject:
    name = _CONSTRAINTS.get(keyword.arg or "")
    if name is None:
        warn(f"Field({keyword.arg}) has no place in a schema")
        return schema
    if schema.get("type") == "array":
        name = _LENGTHS.get(name, name)
    value: Any = literal(keyword.value, f"Field({keyword.arg})")
    return {**schema, name: value}
