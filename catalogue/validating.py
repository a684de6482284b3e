"""Validate call arguments against a schema; every error has a place and a code (catalogue 3.1, 3.6).

Schemas and values are untrusted. Patterns have a time limit (`catalogue.patterns`), unique items are compared by
canonical text instead of pairwise, and the whole validation has a time limit, because references can multiply
exponentially. It is one of the thread's processor time: whether arguments are valid must not depend on what else the
server does.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, partial
from heapq import nsmallest
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from catalogue import patterns, results
from catalogue.formats import FORMATS, fits
from catalogue.results import ToolResult
from catalogue.subschemas import linked, target_of
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
    {
        "additionalProperties",
        "patternProperties",
        "unevaluatedProperties",
        "allOf",
        "anyOf",
        "oneOf",
        "if",
        "$ref",
        "$dynamicRef",
        "dependentSchemas",
    }
)
if TYPE_CHECKING:
    from jsonschema import ValidationError

_deadline = threading.local()
_MAX_APPLIED: Final = 50

Error = dict[str, Any]
"""`{field, code, message, received?, expected?}`; `field` is a dotted path with `[i]`, empty for the whole."""


class TooMuchToCheck(Exception):
    """The validation ran out of time."""


class Unusable(Exception):
    """The value cannot be validated with this schema; the text says why."""


@dataclass(frozen=True, slots=True)
class Checked:
    """Arguments with their errors (`code` is None if valid) and, if validated, a copy with defaults filled in."""

    sent: Any
    errors: list[Error] = field(default_factory=list)
    filled: dict[str, Any] | None = None
    unlisted: int = 0
    """How many more errors there are; at least so many if the time did not suffice to find all."""
    is_all: bool = True

    @property
    def arguments(self) -> Any:
        """The arguments that the tool gets."""
        return self.sent if self.filled is None else self.filled

    @property
    def code(self) -> str | None:
        """The first code among the errors, in the order of catalogue 2.2 (C53)."""
        codes = {error["code"] for error in self.errors}
        return next((code for code in PRECEDENCE if code in codes), None)

    def failure(self) -> ToolResult:
        """The error result of a call with these arguments."""
        first = next(error for error in self.errors if error["code"] == self.code)
        others = len(self.errors) - 1 + self.unlisted
        more = f" (and {'' if self.is_all else 'at least '}{others} more)" if others else ""
        place = f"{first['field']}: " if first["field"] else ""
        return results.fail(str(self.code), f"{place}{first['message']}{more}", {"errors": self.errors})


def placed(args: Sequence[Any], kwargs: Any, param_order: Sequence[str]) -> Checked:
    """Combine positional and named arguments (catalogue 3.6, C95, C96).

    Too many positional arguments, or a parameter given twice, are INVALID_INPUT; unknown names are left to validation.
    """
    if not args:
        return Checked(kwargs)
    if not isinstance(kwargs, dict):
        return Checked(kwargs, [_error("", "INVALID_INPUT", "must be a JSON object")])
    if len(args) > len(param_order):
        said = f"takes at most {len(param_order)} positional arguments, got {len(args)}"
        return Checked(kwargs, [_error("", "INVALID_INPUT", said)])
    named = dict(zip(param_order, args, strict=False))
    twice = [name for name in named if name in kwargs]
    errors = [_error(name, "INVALID_INPUT", "is given twice, by position and by name") for name in twice]
    return Checked({**named, **kwargs}, errors)


def check(arguments: Any, schema: Mapping[str, Any], *, until: float = math.inf) -> Checked:
    """Arguments with defaults, and their errors (C53 to C58): of more than 100, those that give the code come first.

    Types are not coerced. With an unresolvable reference in the schema nothing is valid. `until` as for `problems`.
    """
    if not isinstance(arguments, dict):
        return Checked(arguments, [_error("", "INVALID_INPUT", "must be a JSON object", received=arguments)])
    size = size_of(arguments)
    if size > MAX_ARGUMENT_BYTES:
        return Checked(arguments, [_error("", "INVALID_INPUT", "is larger than 1 MiB")])
    whole = linked(dict(schema))
    try:
        filled = _Filling(whole, room=MAX_ARGUMENT_BYTES - size).filled(arguments, (whole,))
    except _NoRoom:
        return Checked(arguments, [_error("", "INVALID_INPUT", "is larger than 1 MiB with the schema's defaults")])
    errors, unlisted, is_all = _problems(filled, whole, None, until)
    return Checked(arguments, errors, filled, unlisted, is_all)


def problems(
    value: Any, schema: Mapping[str, Any], whole: Mapping[str, Any] | None = None, *, until: float = math.inf
) -> list[Error]:
    """The errors of a value under a `linked` schema, or under a part of one, whose references lead into the whole.

    At most 100. `until` is the time on the thread's clock when it must be done, if that is before its own limit.
    """
    return _problems(value, schema, whole, until)[0]


def _problems(
    value: Any, schema: Mapping[str, Any], whole: Mapping[str, Any] | None, until: float
) -> tuple[list[Error], int, bool]:
    """The errors that are listed, the number of others, and whether that is all."""
    try:
        listed, total, is_all = found(value, dict(schema), whole, until=until)
    except Unusable as unusable:
        return [_error("", "CONSTRAINT_VIOLATION", str(unusable))], 0, True
    return [_error_of(problem) for problem in listed], total - len(listed), is_all


class Found(NamedTuple):
    """The errors of a value: `listed` are at most `MAX_ERRORS` of them, in the order in which they were found.

    Those of the first codes by precedence are listed rather than others (C53). `is_all` is false if there was no time
    to look for more.
    """

    listed: list["ValidationError"]
    total: int
    is_all: bool


def found(
    value: Any, schema: dict[str, Any] | bool, whole: Mapping[str, Any] | None = None, *, until: float = math.inf
) -> Found:
    """As `problems`, but `jsonschema` objects. Raises `Unusable` if the validation cannot be completed, unless it has
    found errors and only ran out of time.
    """
    whole = whole or (schema if isinstance(schema, dict) else {})
    if {"patternProperties", "unevaluatedProperties"} <= _keys(whole):
        raise Unusable(
            "the schema combines patternProperties with unevaluatedProperties, which takes too long to check"
        )
    _deadline.at = min(time.thread_time() + CHECK_SECONDS, until)
    search = _Search(_validator()(schema, _Within(whole)).iter_errors(value))
    try:
        # Not a list that is sorted: a megabyte of arguments may hold hundreds of thousands of errors.
        first = nsmallest(MAX_ERRORS, search, key=lambda each: (PRECEDENCE.index(_code_of(each[1])), each[0]))
        return Found([problem for _, problem in sorted(first, key=lambda each: each[0])], search.count, search.is_all)
    except RecursionError:
        raise Unusable(_ENDLESS) from None
    except (TooMuchToCheck, patterns.SearchTooLong):
        raise Unusable("the validation took too long") from None
    except patterns.PatternRefused as refused:
        raise Unusable(f"a pattern of the schema {refused}") from None
    except BaseException as problem:
        # The stack may also end within rpds, which keeps jsonschema's types: it is written in Rust, and panics then.
        if type(problem).__name__ != "PanicException":
            raise
        raise Unusable(_ENDLESS) from None


_ENDLESS = "the schema is infinitely recursive"


class _Search:
    """Numbers errors while they are found. Once there is one, it ends where the time ends: the value is invalid."""

    def __init__(self, problems: Iterator["ValidationError"]) -> None:
        self._problems = problems
        self.count, self.is_all = 0, True

    def __iter__(self) -> Iterator[tuple[int, "ValidationError"]]:
        try:
            for problem in self._problems:
                self.count += 1
                yield self.count, problem
        except (TooMuchToCheck, patterns.SearchTooLong):
            if not self.count:
                raise
            self.is_all = False


def undeclared(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """Arguments that the schema does not declare, if it declares any and has no keyword that allows others."""
    properties = schema.get("properties")
    if not isinstance(properties, dict) or _ELSEWHERE & schema.keys():
        return []
    return [name for name in arguments if name not in properties]


def decimal(number: Any) -> Fraction:
    """The number as it is written, exactly: a float has at most 17 digits and an exponent of three."""
    return Fraction(repr(number) if isinstance(number, float) else number)


# Defaults


class _NoRoom(Exception):
    """The arguments grow too large."""


class _Filling:
    """Fills defaults into copies of values. `applied` and what follows from it is found once for each schema.

    The defaults may take `room` bytes in all: each of many small objects may get a large one. Raises `_NoRoom`.
    """

    def __init__(self, whole: Mapping[str, Any], *, room: int) -> None:
        self._whole, self._room = whole, room
        self._known: dict[tuple[int, ...], _Applied] = {}

    def filled(self, value: Any, schemas: tuple[Any, ...]) -> Any:
        """A copy of a value under schemas, with their defaults filled into existing objects."""
        if not isinstance(value, dict | list):
            return value
        key = tuple(map(id, schemas))
        if key not in self._known:
            self._known[key] = self._applied(self._all(schemas))
        applied = self._known[key]
        if isinstance(value, list):
            first = applied.first
            inner = [first[place] if place < len(first) else applied.items for place in range(len(value))]
            return [self.filled(item, each) for item, each in zip(value, inner, strict=True)]
        filled = {name: self.filled(child, applied.properties.get(name, ())) for name, child in value.items()}
        for name, (given, size) in applied.defaults.items():
            if name not in filled:
                self._room -= size
                if self._room < 0:
                    raise _NoRoom
                filled[name] = deepcopy(given)
        return filled

    def _applied(self, schemas: Sequence[Mapping[str, Any]]) -> "_Applied":
        declared: dict[str, tuple[Any, ...]] = {}
        first: list[tuple[Any, ...]] = []
        for each in schemas:
            properties, prefix = each.get("properties"), each.get("prefixItems")
            for name, inner in properties.items() if isinstance(properties, dict) else ():
                declared[name] = (*declared.get(name, ()), inner)
            for place, inner in enumerate(prefix if isinstance(prefix, list) else ()):
                if place == len(first):
                    first.append(())
                first[place] = (*first[place], inner)
        defaults = {}
        for name, inner in declared.items():
            for each in self._all(inner):
                if "default" in each:
                    defaults[name] = each["default"], size_of({name: each["default"]})
                    break
        return _Applied(declared, defaults, first, tuple(each["items"] for each in schemas if "items" in each))

    def _all(self, schemas: Sequence[Any]) -> list[Mapping[str, Any]]:
        """The schemas that surely apply: these, what they refer to, and their `allOf`; own keywords first."""
        found: dict[int, Mapping[str, Any]] = {}
        pending = list(schemas)[::-1]
        while pending and len(found) < _MAX_APPLIED:
            each = pending.pop()
            if not isinstance(each, dict) or id(each) in found:
                continue
            found[id(each)] = each
            if isinstance(each.get("allOf"), list):
                pending += each["allOf"][::-1]
            if isinstance(each.get("$ref"), str):
                pending.append(target_of(self._whole, each["$ref"]))
        return list(found.values())


@dataclass(frozen=True, slots=True)
class _Applied:
    """The schemas of the parts of a value: by property, by place in a list, and of the other items."""

    properties: dict[str, tuple[Any, ...]]
    defaults: dict[str, tuple[Any, int]]
    """Those of properties, each with its size in bytes."""
    first: list[tuple[Any, ...]]
    items: tuple[Any, ...]


# The validator


@cache
def _validator() -> Callable[[Any, "_Within"], Any]:
    """Draft 2020-12 with time-limited keywords, the enforced formats, and references that stay in the schema."""
    from jsonschema import Draft202012Validator, FormatChecker, ValidationError, validators

    own = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "uniqueItems": _unique_items,
        "required": _required,
        "dependentRequired": _dependent_required,
        "multipleOf": _multiple_of,
    }
    keywords = {**Draft202012Validator.VALIDATORS, **own}
    kept = validators.extend(  # type: ignore[no-untyped-call]
        Draft202012Validator, {name: _in_time(keyword) for name, keyword in keywords.items()}
    )
    formats = FormatChecker(formats=())
    for name, is_one in FORMATS.items():
        formats.checks(name)(partial(fits, is_one))
    descend = kept.descend

    def descended(validator: Any, instance: Any, schema: Any, path: Any = None, **beside: Any) -> Any:
        if schema is False:
            # `jsonschema` forgets the path of what is not allowed at all.
            at = () if path is None else (path,)
            return iter([ValidationError("is not allowed", validator="false", path=at, instance=instance)])
        return descend(validator, instance, schema, path, **beside)

    def evolved(validator: Any, *, schema: Any, _resolver: Any = None) -> Any:
        # Its own would go on with other keywords, without our limits, where a subschema has a `$schema`.
        return kept(schema, format_checker=formats, _resolver=_resolver or validator._resolver)

    kept.evolve, kept.descend = evolved, descended
    return lambda schema, within: kept(schema, format_checker=formats, _resolver=within)


class _Resolved(NamedTuple):
    contents: Any
    resolver: "_Within"


class _Within:
    """Resolves references within one schema. The registry of `jsonschema` would resolve by rules of its own; it is
    written in Rust, and panics, beyond every handler, where a recursion is too deep.
    """

    def __init__(self, whole: Mapping[str, Any]) -> None:
        self._whole = whole

    def lookup(self, reference: str) -> "_Resolved":
        """The target of a reference. Raises `Unusable`."""
        target = target_of(self._whole, reference)
        if not isinstance(target, dict | bool):
            raise Unusable(f"the schema refers to {reference[:200]}, which is no schema in it")
        return _Resolved(target, self)

    def in_subresource(self, subresource: Any) -> "_Within":
        """The resolver inside of a subschema: an `$id` is part of what `linked` has settled."""
        return self


def _keys(schema: object) -> set[str]:
    """All keys at any depth."""
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

        if time.thread_time() > _deadline.at:
            raise TooMuchToCheck
        try:
            yield from keyword(validator, value, instance, schema) or ()
        except OverflowError:  # an integer with hundreds of digits compared with a float
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


def _multiple_of(validator: Any, step: Any, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    # As decimals, because 19.99 is a multiple of 0.01 only as people write the two.
    if validator.is_type(instance, "number") and decimal(instance) % decimal(step):
        yield ValidationError(f"is not a multiple of {step}")


def _unique_items(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if wanted and isinstance(instance, list) and len({canonical_json(item) for item in instance}) < len(instance):
        yield ValidationError("has duplicate items")


def _found(pattern: str, text: str) -> bool:
    left = _deadline.at - time.thread_time()
    return patterns.matches(pattern, text, seconds=min(left, patterns.SEARCH_SECONDS), ecma=True)


# What is told


def _code_of(problem: Any) -> str:
    return _CODE_OF.get(problem.validator, "CONSTRAINT_VIOLATION")


def _error_of(problem: Any) -> Error:
    field, said = _field(problem.absolute_path), str(problem.message)
    code = _code_of(problem)
    if said in (MISSING, UNDECLARED):
        return _error(field, code, said)
    if problem.validator == "format":
        said = f"is not a valid {problem.validator_value}"
    said = said.removeprefix(repr(problem.instance)).strip() or said
    return _error(field, code, said, received=problem.instance, expected=problem.validator_value)


def _error(field: str, code: str, message: str, **beside: Any) -> Error:
    """One error, with what was received and expected if that is short."""
    kept = {name: value for name, value in beside.items() if len(canonical_json(value)) <= 200}
    return {"field": field, "code": code, "message": message[:300], **kept}


def _field(path: Any) -> str:
    written = ""
    for part in path:
        written += f"[{part}]" if isinstance(part, int) else f".{part}"
    return written.removeprefix(".")
