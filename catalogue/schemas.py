"""JSON Schema: check schemas, check values, make an example. Wraps the `jsonschema` package.

The package is imported on demand, because that takes a tenth of a second.
"""

from typing import Any

from catalogue import validating
from catalogue.record import JsonObject, ToolProblem
from catalogue.schema_rules import check_schema
from catalogue.subschemas import linked, with_whole_counts

Schema = dict[str, Any] | bool
_MOST_ITEMS = 3
_LONGEST = 10_000


def problem_of_schema(schema: JsonObject, *, is_input: bool = False) -> str | None:
    """Why this schema is not accepted (`schema_rules`), with the place in it, or None."""
    try:
        check_schema(schema, "", is_input=is_input)
    except ToolProblem as problem:
        place = problem.path.removeprefix("/").replace("/", ".")
        return f"{problem.message}{f' (at {place})' if place else ''}"
    return None


def problem_of_value(value: object, schema: Schema, place: str = "value") -> str | None:
    """The most relevant error of a value under a schema, with its path, or None."""
    from jsonschema.exceptions import best_match

    try:
        problem = best_match(validating.found(value, linked(schema) if isinstance(schema, dict) else schema).listed)
    except validating.Unusable as unusable:
        return f"{place}: {unusable}"
    if problem is None:
        return None
    path = ".".join([place, *(str(part) for part in problem.absolute_path)])
    return f"{path}: {problem.message[:300]}"


def example_of(schema: Schema, depth: int = 0) -> Any:
    """A small, deterministic value that matches an ordinary schema; its length is limited."""
    if isinstance(schema, bool) or depth > 8:
        return {}
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    for key in ("enum", "examples"):
        if schema.get(key):
            return schema[key][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if schema.get(key):
            return example_of(schema[key][0], depth + 1)
    return _example_of_type(with_whole_counts(schema), depth)


def _example_of_type(schema: dict[str, Any], depth: int) -> Any:
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: example_of(properties.get(name, True), depth + 1) for name in schema.get("required", [])}
    if kind == "array":
        item, count = schema.get("items", True), min(schema.get("minItems", 0), _MOST_ITEMS)
        return [example_of(item, depth + 1) for _ in range(count)]
    if kind in ("integer", "number"):
        return max(schema.get("minimum", 0), schema.get("exclusiveMinimum", -1) + 1)
    if kind == "boolean":
        return True
    if kind == "null":
        return None
    return "example".ljust(min(schema.get("minLength", 0), _LONGEST), ".")[: schema.get("maxLength")]
