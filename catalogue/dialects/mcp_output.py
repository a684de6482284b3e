"""The output schema of an MCP tool, whose root must be an object in older revisions (catalogue 1.10).

It agrees with `result_dialects.mcp`, which leaves an object as it is and puts any other data under `value`.
"""

from copy import deepcopy
from typing import Any, Final

from catalogue.dialects.sheet import Sheet
from catalogue.record import JsonObject
from catalogue.subschemas import REFERENCES, Links, linked, target_of

Kinds = frozenset[str]
_OBJECT, _OTHER = "object", "other"
_NOTHING: Final[Kinds] = frozenset()
_ANY: Final[Kinds] = frozenset({_OBJECT, _OTHER})
_DEFINITIONS: Final = ("$defs", "definitions")
_OF_ROOT: Final = ("$schema", "$id", *_DEFINITIONS)
"""Keywords that stay at the root: they concern the whole document, or references lead there."""


def with_object_root(sheet: Sheet, schema: JsonObject) -> JsonObject:
    """The schema of what a call returns as its structured content. A tool that came from MCP goes back as it came."""
    if schema.get("type") == "object" or sheet.is_home:
        return schema
    whole = linked(schema)
    kinds = _kinds(whole, whole, {})
    if kinds == {_OBJECT}:
        sheet.lose("output_schema", "defaulted", "the root type must be there: object")
        return {"type": "object", **schema}
    sheet.lose("output_schema", "wrapped", "the root must be an object, so any other value stands under `value`")
    if _OBJECT in kinds:
        of_root, inner = _parted(schema, "/anyOf/0")
        return {"type": "object", "anyOf": [inner, _under_value({"$ref": "#/anyOf/0"})], **of_root}
    of_root, inner = _parted(schema, "/properties/value")
    return {"type": "object", **_under_value(inner), **of_root}


def _under_value(schema: JsonObject) -> JsonObject:
    return {"properties": {"value": schema}, "required": ["value"]}


def _parted(schema: JsonObject, place: str) -> tuple[JsonObject, JsonObject]:
    """What stays at the root, and what moves to a place, with the references to the latter led there."""
    copy = deepcopy(schema)
    for each in Links(copy).places.values():
        for keyword in REFERENCES:
            reference = each.schema.get(keyword)
            if not each.root and isinstance(reference, str) and _leads_into_root(reference):
                each.schema[keyword] = f"#{place}{reference[1:]}"
    of_root: JsonObject = {key: copy.pop(key) for key in _OF_ROOT if key in copy}
    return of_root, copy


def _leads_into_root(reference: str) -> bool:
    return reference == "#" or (reference.startswith("#/") and reference.split("/")[1] not in _DEFINITIONS)


def _kinds(schema: Any, whole: JsonObject, known: dict[str, Kinds]) -> Kinds:
    """Whether a schema accepts objects, and whether anything else; never too little."""
    if not isinstance(schema, dict):
        return _ANY if schema is not False else _NOTHING
    kinds = _ANY
    if "type" in schema:
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        kinds &= {_OBJECT if each == "object" else _OTHER for each in types}
    for values in ([schema["const"]] if "const" in schema else None, schema.get("enum")):
        if values is not None:
            kinds &= {_OBJECT if isinstance(value, dict) else _OTHER for value in values}
    for each in schema.get("allOf", []):
        kinds &= _kinds(each, whole, known)
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            kinds &= _NOTHING.union(*(_kinds(each, whole, known) for each in schema[keyword]))
    if isinstance(reference := schema.get("$ref"), str):
        if reference not in known:
            known[reference] = _ANY  # also what a reference to itself adds
            target = target_of(whole, reference)
            known[reference] = _ANY if target is None else _kinds(target, whole, known)
        kinds &= known[reference]
    return kinds
