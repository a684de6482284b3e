"""Rules for user-supplied schemas (catalogue 1.1, threads 3.6): valid, bounded, self-contained, safe to run.

The same rules apply to catalogue tools, client tools and structured goals.
"""

from collections.abc import Iterator
from typing import Any

from catalogue import patterns
from catalogue.record import JsonObject, ToolProblem
from catalogue.subschemas import subschemas, unresolved
from core.canonical import canonical_json

MAX_BYTES = 64 * 1024
MAX_DEPTH = 32


def check_schema(schema: JsonObject, path: str, *, is_input: bool) -> None:
    """Raise a `ToolProblem` with reason `invalid_schema` and path if the schema is not accepted (C10, C131, C135)."""
    from jsonschema import Draft202012Validator, FormatChecker
    from jsonschema.exceptions import SchemaError

    if _depth(schema) > MAX_DEPTH:
        raise _invalid(path, f"is nested deeper than {MAX_DEPTH} levels")
    if len(canonical_json(schema).encode()) > MAX_BYTES:
        raise _invalid(path, f"is larger than {MAX_BYTES // 1024} KiB")
    if is_input and schema.get("type", "object") != "object":
        raise _invalid(f"{path}/type", "must be object")
    try:
        # Formats are not checked: patterns are run by `regex`, not by `re`.
        Draft202012Validator.check_schema(schema, format_checker=FormatChecker(()))
    except SchemaError as problem:
        place = "".join(f"/{part}" for part in problem.absolute_path)
        raise _invalid(path + place, problem.message[:300]) from None
    if found := unresolved(schema):
        place, reference = found
        raise _invalid(path + place, f"{reference[:200]} is not in the schema, and external references are not fetched")
    for place, pattern in _patterns(schema):
        try:
            patterns.compiled(pattern)
        except patterns.PatternRefused as problem:
            raise _invalid(path + place, str(problem)) from None


def _patterns(schema: JsonObject) -> Iterator[tuple[str, str]]:
    for place, each in subschemas(schema):
        if isinstance(each.get("pattern"), str):
            yield f"{place}/pattern", each["pattern"]
        for pattern in each.get("patternProperties", {}):
            yield f"{place}/patternProperties", pattern


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
