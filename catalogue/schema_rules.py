"""Rules for user-supplied schemas (catalogue 1.1, threads 3.6): valid, bounded, self-contained, safe to run.

The same rules apply to catalogue tools, client tools and structured goals.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from catalogue import patterns
from catalogue.record import JsonObject, ToolProblem
from catalogue.subschemas import Links, Place, at, parts
from core.canonical import canonical_json

MAX_BYTES = 64 * 1024
MAX_DEPTH = 32
MAX_PARTS = 4_000
"""Subschemas of one schema. Each takes a quarter of a millisecond to check, and 64 KiB have room for 20,000 times `{}`;
the largest schemas in use have 500.
"""


def parts_of(schema: JsonObject) -> int:
    """How many subschemas a check of this schema looks at, itself included; none if there are too many or too deep."""
    count = 0 if _depth(schema) > MAX_DEPTH else _count(schema)
    return count if count <= MAX_PARTS else 0


def check_schema(schema: JsonObject, path: str, *, is_input: bool) -> None:
    """Raise a `ToolProblem` with reason `invalid_schema` and path if the schema is not accepted (C10, C131, C135).

    Takes about a second at most: what has more than `MAX_PARTS` subschemas is refused, and no subschema counts twice
    because several references lead to or around it.
    """
    if _depth(schema) > MAX_DEPTH:
        raise _invalid(path, f"is nested deeper than {MAX_DEPTH} levels")
    if len(canonical_json(schema).encode()) > MAX_BYTES:
        raise _invalid(path, f"is larger than {MAX_BYTES // 1024} KiB")
    if is_input and schema.get("type", "object") != "object":
        raise _invalid(f"{path}/type", "must be object")
    count = _counted(schema, path, 0)
    if found := _fault(schema):
        place, message = found
        raise _invalid(path + place, message)
    links = Links(schema)
    for target in links.beside:
        count = _counted(at(schema, target), path, count)
    _check_targets(links, schema, path)
    for place, pattern in _patterns(links.places.values()):
        try:
            patterns.compiled(pattern, ecma=True)
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


def _counted(schema: JsonObject, path: str, count: int) -> int:
    """`count` and the subschemas of one more schema. They are counted because a check of `/properties` as a schema goes
    into those inside of it again, which the check of the whole has seen.
    """
    count += _count(schema)
    if count > MAX_PARTS:
        raise _invalid(path, f"has more than {MAX_PARTS:,} subschemas")
    return count


def _count(schema: JsonObject) -> int:
    """The subschemas, itself included; counted up to one more than is allowed."""
    return sum(1 for _ in islice(parts(schema), MAX_PARTS + 1))


def _fault(schema: JsonObject | bool) -> tuple[str, str] | None:
    """The place and text of the first thing that the meta-schema does not allow, or None."""
    from jsonschema import Draft202012Validator, FormatChecker
    from jsonschema.exceptions import SchemaError

    # Looked for first: to find out whether such a list has something twice, jsonschema compares each pair.
    for place, part in parts(schema):
        for keyword, names in _lists_of_names(part):
            if not all(isinstance(name, str) for name in names):
                return f"{place}/{keyword}", "must have only names"
    try:
        # Formats are not checked: patterns are run by `regex`, not by `re`.
        Draft202012Validator.check_schema(schema, format_checker=FormatChecker(()))
    except SchemaError as problem:
        return "".join(f"/{part}" for part in problem.absolute_path), problem.message[:300]
    return None


def _lists_of_names(part: Any) -> Iterator[tuple[str, list[Any]]]:
    """The lists of a schema under keywords that may also hold something else, with their keyword."""
    if not isinstance(part, dict):
        return
    if isinstance(part.get("type"), list):
        yield "type", part["type"]
    if isinstance(part.get("dependencies"), dict):
        yield from (("dependencies", names) for names in part["dependencies"].values() if isinstance(names, list))


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
