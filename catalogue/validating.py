"""Checking the arguments of a call against a schema, every mistake with its place and code (catalogue 3.1, 3.6).

Schemas and values both come from strangers. Patterns run with a time limit (`catalogue.patterns`), lists are compared
by their canonical text instead of each with each, and the whole check has a budget: references may multiply without
end in a schema of a few lines.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from catalogue import patterns, results
from catalogue.formats import FORMATS, fits
from catalogue.results import ToolResult
from catalogue.subschemas import hoisted, target_of
from core.canonical import canonical_json, size_of

MAX_ARGUMENT_BYTES: Final = 1024 * 1024
MAX_ERRORS: Final = 100
CHECK_SECONDS: Final = 2.0
PRECEDENCE: Final = ("MISSING_REQUIRED", "TYPE_ERROR", "CONSTRAINT_VIOLATION", "INVALID_INPUT")
_CODE_OF = {
    "required": "MISSING_REQUIRED",
    "dependentRequired": "MISSING_REQUIRED",
    "type": "TYPE_ERROR",
    "additionalProperties": "INVALID_INPUT",
    "unevaluatedProperties": "INVALID_INPUT",
    "propertyNames": "INVALID_INPUT",
}
MISSING, UNDECLARED = "is missing", "is not declared"
_ELSEWHERE = frozenset(
    {"additionalProperties", "patternProperties", "unevaluatedProperties", "allOf", "anyOf", "oneOf", "if", "$ref"}
)
if TYPE_CHECKING:
    from jsonschema import ValidationError

_deadline = threading.local()

Error = dict[str, Any]
"""`{field, code, message, received?, expected?}`; `field` is a dotted path with `[i]`, empty for the whole."""


class TooMuchToCheck(Exception):
    """The check used up its time."""


class Unusable(Exception):
    """A schema under which this value cannot be checked; the text says why."""


@dataclass(frozen=True, slots=True)
class Checked:
    """Arguments, what is wrong with them (`code` is None where nothing is), and under a schema its defaults in them."""

    sent: Any
    errors: list[Error] = field(default_factory=list)
    filled: dict[str, Any] | None = None

    @property
    def arguments(self) -> Any:
        """As the tool gets them."""
        return self.sent if self.filled is None else self.filled

    @property
    def code(self) -> str | None:
        """The first that is present, in the order of catalogue 2.2 (C53)."""
        codes = {error["code"] for error in self.errors}
        return next((code for code in PRECEDENCE if code in codes), None)

    def failure(self) -> ToolResult:
        """The failed result of a call with these arguments."""
        first = next(error for error in self.errors if error["code"] == self.code)
        more = f" (and {len(self.errors) - 1} more)" if len(self.errors) > 1 else ""
        place = f"{first['field']}: " if first["field"] else ""
        return results.fail(str(self.code), f"{place}{first['message']}{more}", {"errors": self.errors})


def placed(args: Sequence[Any], kwargs: Any, param_order: Sequence[str]) -> Checked:
    """Positional and named arguments as one object (catalogue 3.6, C95, C96).

    Too many positional ones, or a parameter given twice, are INVALID_INPUT; unknown names pass on to validation.
    """
    if not args:
        return Checked(kwargs)
    if not isinstance(kwargs, dict):
        return Checked(kwargs, [_error("", "INVALID_INPUT", "must be a JSON object")])
    if len(args) > len(param_order):
        said = f"takes at most {len(param_order)} positional arguments, {len(args)} were given"
        return Checked(kwargs, [_error("", "INVALID_INPUT", said)])
    named = dict(zip(param_order, args, strict=False))
    twice = [name for name in named if name in kwargs]
    errors = [_error(name, "INVALID_INPUT", "is given twice, by place and by name") for name in twice]
    return Checked({**named, **kwargs}, errors)


def check(arguments: Any, schema: Mapping[str, Any]) -> Checked:
    """Arguments with defaults, and every mistake in them (C53 to C58); at most 100 mistakes are told.

    No type is coerced. Under a schema with a reference that leads nowhere nothing is valid.
    """
    if not isinstance(arguments, dict):
        return Checked(arguments, [_error("", "INVALID_INPUT", "must be a JSON object", received=arguments)])
    if size_of(arguments) > MAX_ARGUMENT_BYTES:
        return Checked(arguments, [_error("", "INVALID_INPUT", "is larger than 1 MiB")])
    whole = hoisted(dict(schema))
    filled = _filled(arguments, whole, whole)
    return Checked(arguments, problems(filled, whole), filled)


def problems(value: Any, schema: Mapping[str, Any]) -> list[Error]:
    """Everything that is wrong with a value under a schema whose definitions stand at its root."""
    try:
        return [_told(problem) for problem in found(value, dict(schema))]
    except Unusable as unusable:
        return [_error("", "CONSTRAINT_VIOLATION", str(unusable))]


def found(value: Any, schema: dict[str, Any] | bool) -> list["ValidationError"]:
    """The same as `jsonschema` has it. Raises `Unusable` where the check cannot be brought to an end."""
    from referencing.exceptions import Unresolvable

    if {"patternProperties", "unevaluatedProperties"} <= _keys(schema):
        raise Unusable("the schema has patternProperties beside unevaluatedProperties, which cannot be checked in time")
    _deadline.at = time.monotonic() + CHECK_SECONDS
    try:
        return list(islice(_validator()(schema).iter_errors(value), MAX_ERRORS))
    except Unresolvable as unresolved:
        raise Unusable(f"the schema refers to {unresolved.ref}, which is not in it") from None
    except RecursionError:
        raise Unusable("the schema never ends") from None
    except (TooMuchToCheck, patterns.SearchTooLong):
        raise Unusable("could not be checked in time") from None
    except patterns.PatternRefused as refused:
        raise Unusable(f"a pattern of the schema {refused}") from None


def undeclared(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """Arguments of names that the schema does not speak of, where it speaks of any and leaves no door open."""
    properties = schema.get("properties")
    if not isinstance(properties, dict) or _ELSEWHERE & schema.keys():
        return []
    return [name for name in arguments if name not in properties]


# Defaults


def _filled(value: Any, schema: Any, whole: Mapping[str, Any]) -> Any:
    """A copy of the value with the defaults of the schema in the objects that are there."""
    hops = 0
    while isinstance(schema, dict) and isinstance(schema.get("$ref"), str) and hops < 20:
        schema, hops = target_of(whole, schema["$ref"]), hops + 1
    inner = schema if isinstance(schema, dict) else {}
    if isinstance(value, list):
        return [_filled(item, inner.get("items"), whole) for item in value]
    if not isinstance(value, dict):
        return value
    properties = inner.get("properties")
    declared = properties if isinstance(properties, dict) else {}
    filled = {name: _filled(child, declared.get(name), whole) for name, child in value.items()}
    for name, each in declared.items():
        if name not in filled and isinstance(each, dict) and "default" in each:
            filled[name] = deepcopy(each["default"])
    return filled


# The validator


@cache
def _validator() -> Callable[[dict[str, Any] | bool], Any]:
    """Draft 2020-12 with keywords that keep time, and with the formats that are enforced."""
    from jsonschema import Draft202012Validator, FormatChecker, validators
    from referencing import Registry

    own = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "uniqueItems": _unique_items,
        "required": _required,
        "dependentRequired": _dependent_required,
    }
    keywords = {**Draft202012Validator.VALIDATORS, **own}
    kept = validators.extend(  # type: ignore[no-untyped-call]
        Draft202012Validator, {name: _in_time(keyword) for name, keyword in keywords.items()}
    )
    formats = FormatChecker(formats=())
    for name, is_one in FORMATS.items():
        formats.checks(name)(partial(fits, is_one))
    # Without a registry of its own `jsonschema` would fetch what a schema refers to from anywhere.
    return partial(kept, format_checker=formats, registry=Registry())


def _keys(schema: object) -> set[str]:
    """Every key at any depth, wherever a reference may lead."""
    keys: set[str] = set()
    pending = [schema]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            keys |= item.keys()
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)
    return keys


def _in_time(keyword: Any) -> Any:
    def checked(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        from jsonschema import ValidationError

        if time.monotonic() > _deadline.at:
            raise TooMuchToCheck
        try:
            yield from keyword(validator, value, instance, schema) or ()
        except OverflowError:  # a whole number of hundreds of digits against a fraction
            yield ValidationError("is a number out of range")

    return checked


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if isinstance(instance, str) and not _found(pattern, instance):
        yield ValidationError(f"does not match {pattern}")


def _pattern_properties(validator: Any, named: Mapping[str, Any], instance: Any, schema: Any) -> Iterator[Any]:
    if isinstance(instance, dict):
        for pattern, inner in named.items():
            for key, child in instance.items():
                if _found(pattern, key):
                    yield from validator.descend(child, inner, path=key, schema_path=pattern)


def _additional_properties(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if not isinstance(instance, dict):
        return
    declared, named = schema.get("properties", {}), schema.get("patternProperties", {})
    for key, child in instance.items():
        if key in declared or any(_found(pattern, key) for pattern in named):
            continue
        if allowed is False:
            yield ValidationError(UNDECLARED, path=[key])
        else:
            yield from validator.descend(child, allowed, path=key)


def _required(validator: Any, names: Any, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if isinstance(instance, dict):
        yield from (ValidationError(MISSING, path=[name]) for name in names if name not in instance)


def _dependent_required(validator: Any, needed: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if isinstance(instance, dict):
        for name, others in needed.items():
            if name in instance:
                yield from _required(validator, others, instance, schema)


def _unique_items(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if wanted and isinstance(instance, list) and len({canonical_json(item) for item in instance}) < len(instance):
        yield ValidationError("has items that are the same")


def _found(pattern: str, text: str) -> bool:
    left = _deadline.at - time.monotonic()
    return patterns.matches(pattern, text, seconds=min(left, patterns.SEARCH_SECONDS))


# What is told


def _told(problem: Any) -> Error:
    field, said = _field(problem.absolute_path), str(problem.message)
    code = _CODE_OF.get(problem.validator, "CONSTRAINT_VIOLATION")
    if said in (MISSING, UNDECLARED):
        return _error(field, code, said)
    if problem.validator == "format":
        said = f"is no {problem.validator_value}"
    said = said.removeprefix(repr(problem.instance)).strip() or said
    return _error(field, code, said, received=problem.instance, expected=problem.validator_value)


def _error(field: str, code: str, message: str, **beside: Any) -> Error:
    """One mistake; what was received and expected stands beside it where it is short enough to be read."""
    kept = {name: value for name, value in beside.items() if len(canonical_json(value)) <= 200}
    return {"field": field, "code": code, "message": message[:300], **kept}


def _field(path: Any) -> str:
    written = ""
    for part in path:
        written += f"[{part}]" if isinstance(part, int) else f".{part}"
    return written.removeprefix(".")
