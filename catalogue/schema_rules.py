"""Rules for user-supplied schemas (catalogue 1.1, threads 3.6): valid, bounded, self-contained, safe to run.

The same rules apply to catalogue tools, client tools and structured goals.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from catalogue import patterns
from catalogue.record import JsonObject, ToolProblem
from catalogue.subschemas import Links, Place, at
from core.canonical import canonical_json

MAX_BYTES = 64 * 1024
MAX_DEPTH = 32


def check_schema(schema: JsonObject, path: str, *, is_input: bool) -> None:
    """Raise a `ToolProblem` with reason `invalid_schema` and path if the schema is not accepted (C10, C131, C135)."""
    if _depth(schema) > MAX_DEPTH:
        raise _invalid(path, f"is nested deeper than {MAX_DEPTH} levels")
    if len(canonical_json(schema).encode()) > MAX_BYTES:
        raise _invalid(path, f"is larger than {MAX_BYTES // 1024} KiB")
    if is_input and schema.get("type", "object") != "object":
        raise _invalid(f"{path}/type", "must be object")
    if found := _fault(schema):
        place, message = found
        raise _invalid(path + place, message)
    links = Links(schema)
    _check_targets(links, schema, path)
    for place, pattern in _patterns(links.places.values()):
        try:
            patterns.compiled(pattern)
        except patterns.PatternRefused as problem:
            raise _invalid(path + place, str(problem)) from None


def _check_targets(links: Links, schema: JsonObject, path: str) -> None:
    """Every reference must lead to a schema, wherever that is."""
    unchecked = frozenset(links.beside)
    faults: dict[str, tuple[str, str] | None] = {}
    for (place, keyword), target in links.targets.items():
        written, at_fault = links.places[place].schema[keyword][:200], f"{path}{place}/{keyword}"
        if target is None:
            raise _invalid(at_fault, f"{written} is not in the schema, and external references are not fetched")
        found = at(schema, target)
        if not isinstance(found, dict | bool):
            raise _invalid(at_fault, f"{written} is not a schema")
        if target in unchecked and target not in faults:
            faults[target] = _fault(found)
        if fault := faults.get(target):
            raise _invalid(at_fault, f"{written} is not a schema: {fault[0] or 'it'}: {fault[1]}")


def _fault(schema: JsonObject | bool) -> tuple[str, str] | None:
    """The place and text of the first thing that the meta-schema does not allow, or None."""
    from jsonschema import Draft202012Validator, FormatChecker
    from jsonschema.exceptions import SchemaError

    try:
        # Formats are not checked: patterns are run by `regex`, not by `re`.
        Draft202012Validator.check_schema(schema, format_checker=FormatChecker(()))
    except SchemaError as problem:
        return "".join(f"/{part}" for part in problem.absolute_path), problem.message[:300]
    return None


def _patterns(places: Iterable[Place]) -> Iterator[tuple[str, str]]:
    for place in places:
        if isinstance(place.schema.get("pattern"), str):
            yield f"{place.path}/pattern", place.schema["pattern"]
        for pattern in place.schema.get("patternProperties", {}):
            yield f"{place.path}/patternProperties", pattern


def _depth(value: Any) -> int:
    deepest, pending = 0, [(value, 1)]
    while pending:
        item, depth = pending.pop()
        deepest = max(deepest, depth)
        inner = item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
        if depth <= MAX_DEPTH:
            pending.extend((each, depth + 1) for each in inner if isinstance(each, dict | list))
    return deepest


def _invalid(path: str, message: str) -> ToolProblem:
    return ToolProblem("invalid_schema", path, message)
