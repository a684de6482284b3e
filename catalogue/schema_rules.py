"""Which schemas a tool may bring along (catalogue 1.1): valid, bounded, of itself alone, and safe to check by."""

import re
from collections.abc import Iterator
from typing import Any

from catalogue.record import JsonObject, ToolProblem
from catalogue.subschemas import subschemas, unresolved
from core.canonical import canonical_json

MAX_BYTES = 64 * 1024
MAX_DEPTH = 32
_REPEATS = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})


def check_tool_schema(schema: JsonObject, path: str, *, is_input: bool) -> None:
    """Raise a `ToolProblem` with the reason `invalid_schema` and the place (C10, C131, C135)."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    if _depth(schema) > MAX_DEPTH:
        raise _invalid(path, f"is nested deeper than {MAX_DEPTH} levels")
    if len(canonical_json(schema).encode()) > MAX_BYTES:
        raise _invalid(path, f"is larger than {MAX_BYTES // 1024} KiB")
    if is_input and schema.get("type", "object") != "object":
        raise _invalid(f"{path}/type", "must be object")
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as problem:
        place = "".join(f"/{part}" for part in problem.absolute_path)
        raise _invalid(path + place, problem.message[:300]) from None
    if found := unresolved(schema):
        place, reference = found
        raise _invalid(path + place, f"{reference[:200]} is not in the schema; nothing is ever fetched")
    for place, pattern in _patterns(schema):
        if is_explosive(pattern):
            raise _invalid(path + place, "repeats a repetition, which can take for ever to match")


def _patterns(schema: JsonObject) -> Iterator[tuple[str, str]]:
    for place, each in subschemas(schema):
        if isinstance(each.get("pattern"), str):
            yield f"{place}/pattern", each["pattern"]
        for pattern in each.get("patternProperties", {}):
            yield f"{place}/patternProperties", pattern


def is_explosive(pattern: str) -> bool:
    """Whether a regular expression repeats without end something that is nothing but an endless repetition, as (a+)+.

    The usual way to make a match take exponentially long. Repetitions that are told apart by something fixed between
    them, as in `[a-z]+(-[a-z]+)*`, are ordinary. This is a fence and no proof: who matches has a limit as well.
    """
    # The parser of `re` is the only one that understands exactly what `re` will run; its module has had this name
    # since Python 3.11.
    from re import _parser  # type: ignore[attr-defined]

    try:
        return _explodes(_parser.parse(pattern))
    except (re.error, RecursionError, OverflowError):
        return True


def _explodes(sequence: Any) -> bool:
    return any(
        (_is_endless(operation, argument) and _is_all_repetition(argument[2])) or any(map(_explodes, _inside(argument)))
        for operation, argument in sequence
    )


def _is_endless(operation: Any, argument: Any) -> bool:
    return str(operation) in _REPEATS and int(argument[1]) > 1000


def _is_all_repetition(sequence: Any) -> bool:
    """Whether a body is an endless repetition, apart from what may be empty, in one of its branches."""
    endless = False
    for operation, argument in sequence:
        if str(operation) == "SUBPATTERN":
            if _is_all_repetition(argument[-1]):
                endless = True
            elif argument[-1].getwidth()[0] > 0:
                return False
        elif str(operation) == "BRANCH":
            if not any(map(_is_all_repetition, argument[1])):
                return False
            endless = True
        elif _is_endless(operation, argument):
            endless = True
        elif str(operation) not in _REPEATS or int(argument[0]) > 0:
            return False
    return endless


def _inside(argument: Any) -> Iterator[Any]:
    """The patterns inside of an operation's argument, however deep the tuples around them are."""
    if hasattr(argument, "getwidth"):
        yield argument
    elif isinstance(argument, tuple | list):
        for each in argument:
            yield from _inside(each)


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
