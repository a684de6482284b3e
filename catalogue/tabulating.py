"""A JSON Schema as table rows: name, type, rules and meaning of each field (catalogue 1.1).

Schemas are untrusted: references may be circular and nesting deep, so both are limited, and the table tells if it is
incomplete.
"""

from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Any, Final

from catalogue.record import JsonObject
from catalogue.subschemas import linked, target_of
from core.payloads import json_text
from core.wording import one_line

MAX_ROWS: Final = 300
MAX_DEPTH: Final = 8
MAX_STEPS: Final = 3_000
"""Maximum number of schemas visited: references can multiply exponentially without producing rows."""
_MAX_INNER: Final = 3
"""Maximum alternatives shown inside an alternative of a field."""
_VALUE_LENGTH: Final = 60
_MAX_VALUES: Final = 12
_RULES: Final = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "minProperties": "at least {} fields",
    "maxProperties": "at most {} fields",
    "pattern": "matches {}",
    "format": "{}",
    "contentEncoding": "{}",
}
_OTHERS: Final = ("anyOf", "oneOf", "allOf")


@dataclass(frozen=True, slots=True)
class Row:
    """One field. `path` is unique; `rules` are constraints in words, `default` is JSON or empty."""

    path: str
    name: str
    depth: int
    kind: str
    is_required: bool
    meaning: str
    rules: tuple[str, ...] = ()
    default: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """The fields of an object, depth first; `is_cut`: not all are included."""

    rows: tuple[Row, ...]
    is_cut: bool = False
    note: str = ""
    """Rules for the whole object, such as its alternatives."""

    @property
    def summary(self) -> str:
        """`11 fields, 4 required`, for the top level."""
        top = [row for row in self.rows if row.depth == 0]
        needed = sum(row.is_required for row in top)
        if not top:
            return "no fields"
        fields = f"{len(top)} field{'s' * (len(top) > 1)}"
        return f"{fields}, {'all' if needed == len(top) else needed or 'none'} required"


def table(schema: JsonObject) -> Table:
    """The rows of a schema, with references resolved."""
    whole = linked(schema)
    rows: list[Row] = []
    for step, row in enumerate(_rows(resolved(whole, whole), whole, "", 0, frozenset())):
        if step == MAX_STEPS or (row and len(rows) == MAX_ROWS):
            return Table(tuple(rows), is_cut=True)
        if row:
            rows.append(row)
    return Table(tuple(rows), note="; ".join(_whole_rules(resolved(whole, whole))))


def resolved(schema: Any, whole: JsonObject) -> JsonObject:
    """A schema with its reference resolved and merged with its siblings; empty if unresolvable or circular."""
    beside: JsonObject = {}
    for _ in range(20):
        if not isinstance(schema, dict):
            return beside
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return {**schema, **beside}
        beside = {**{key: value for key, value in schema.items() if key != "$ref"}, **beside}
        schema = target_of(whole, reference)
    return beside


def kind_of(schema: JsonObject, whole: JsonObject) -> str:
    """The type in a few words: `array of string`, `one_way | round_trip`, `integer or null`."""
    return _kind(schema, whole, 0)


def _kind(schema: JsonObject, whole: JsonObject, depth: int) -> str:
    if "const" in schema:
        return _value(schema["const"])
    if isinstance(schema.get("enum"), list):
        shown = [_value(each) for each in schema["enum"][:_MAX_VALUES]]
        more = len(schema["enum"]) - len(shown)
        return " | ".join(shown) + (f" | {more} more" if more else "")
    kinds = schema.get("type")
    if kinds == "array" or (kinds is None and "items" in schema):
        inner = resolved(schema.get("items"), whole)
        told = _kind(inner, whole, depth + 1) if inner and depth < 3 else ""
        return f"array of {told}" if told and told != "anything" else "array"
    if isinstance(kinds, str):
        return one_line(kinds, 20)
    if isinstance(kinds, list):
        return " or ".join(str(each)[:20] for each in kinds[:7])
    for word in ("anyOf", "oneOf"):
        if isinstance(schema.get(word), list) and depth < 3:
            most = _MAX_INNER if depth else _MAX_VALUES
            told_all = [_kind(resolved(each, whole), whole, depth + 1) for each in schema[word][:most]]
            return one_line(" or ".join(dict.fromkeys(told_all)), 200)
    if isinstance(schema.get("allOf"), list) and len(schema["allOf"]) == 1 and depth < 3:
        return _kind(resolved(schema["allOf"][0], whole), whole, depth + 1)
    return "object" if "properties" in schema else "anything"


def _rows(
    schema: JsonObject,
    whole: JsonObject,
    path: str,
    depth: int,
    seen: frozenset[str],
    forms_seen: set[str] | None = None,
) -> Iterator[Row | None]:
    """The rows of a schema, after a None that counts the visit.

    `seen` are the references on the path here; `forms_seen` those of alternatives of the same value, each shown once.
    """
    yield None
    told = set() if forms_seen is None else forms_seen
    properties = schema.get("properties")
    required = schema.get("required")
    needed = (
        frozenset(each for each in required if isinstance(each, str)) if isinstance(required, list) else frozenset()
    )
    for name, given in properties.items() if isinstance(properties, dict) else ():
        yield from _field(name, given, whole, f"{path}/{name}", depth, name in needed, seen)
    more = schema.get("additionalProperties")
    if isinstance(more, dict) and more:
        yield from _field("any other name", more, whole, f"{path}/*", depth, False, seen)
    named = schema.get("patternProperties")
    for pattern, given in named.items() if isinstance(named, dict) else ():
        yield from _field(f"names like {pattern}", given, whole, f"{path}/~{pattern}", depth, False, seen)
    for word in _OTHERS:
        forms = schema.get(word)
        for each in forms if isinstance(forms, list) else ():
            if isinstance(each, dict) and depth < MAX_DEPTH and not _circle(each, seen | told):
                told |= _names(each)
                yield from _rows(resolved(each, whole), whole, path, depth, seen | _names(each), told)


def _field(
    name: str, given: Any, whole: JsonObject, path: str, depth: int, is_required: bool, seen: frozenset[str]
) -> Iterator[Row | None]:
    schema = resolved(given, whole)
    rules = tuple(_rules(schema))
    is_circle, inner, seen = _circle(given, seen), schema, seen | _names(given)
    while _is_list(inner) and not is_circle:
        is_circle, seen = _circle(inner["items"], seen), seen | _names(inner["items"])
        inner = resolved(inner["items"], whole)
    if is_circle:
        rules = (*rules, "recursive")
    meaning = schema.get("description") or schema.get("title") or ""
    default = _value(schema["default"], 200) if "default" in schema else ""
    yield Row(
        path, name[:200], depth, kind_of(schema, whole), is_required,
        str(meaning)[:2000], rules, default,
    )  # fmt: skip
    if not is_circle and depth < MAX_DEPTH:
        yield from _rows(inner, whole, path, depth + 1, seen)


def _is_list(schema: JsonObject) -> bool:
    return isinstance(schema.get("items"), dict)


def _names(given: Any) -> frozenset[str]:
    reference = given.get("$ref") if isinstance(given, dict) else None
    return frozenset({reference}) if isinstance(reference, str) else frozenset()


def _circle(given: Any, seen: Set[str]) -> bool:
    return bool(_names(given) & seen)


def _rules(schema: JsonObject) -> Iterator[str]:
    yield from (said.format(_value(schema[key])) for key, said in _RULES.items() if key in schema)
    if schema.get("uniqueItems") is True:
        yield "unique items"
    if schema.get("additionalProperties") is False:
        yield "no other fields"
    if schema.get("deprecated") is True:
        yield "deprecated"


def _whole_rules(schema: JsonObject) -> Iterator[str]:
    if schema.get("additionalProperties") is False:
        yield "no other fields allowed"
    for word, said in (("anyOf", "at least one of {} forms"), ("oneOf", "exactly one of {} forms")):
        if isinstance(schema.get(word), list):
            yield said.format(len(schema[word]))


def _value(value: Any, limit: int = _VALUE_LENGTH) -> str:
    return one_line(json_text(value), limit) or '""'
