"""Simplify a schema for generation: resolve references and combinations (C103)."""

from collections.abc import Mapping
from typing import Any

from catalogue.record import JsonObject
from catalogue.subschemas import target_of

_HIGHEST = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains")
_LOWEST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_MAX_HOPS = 50


class Unmakeable(Exception):
    """No value matches this schema, or none was found."""


class TooMuch(Unmakeable):
    """It would take too long or grow too large, and so would another attempt."""


def settled(schema: JsonObject, whole: JsonObject, attempt: int) -> JsonObject:
    """A plain schema whose values usually match this one; the caller validates the value.

    Of `anyOf` and `oneOf` the first branch that is not null is used; a later attempt uses the next one.
    """
    found = dict(schema)
    for _ in range(_MAX_HOPS):
        if isinstance(found.get("$ref"), str):
            target = target_of(whole, found.pop("$ref"))
            found = _both(_object(target), found)
        elif "allOf" in found:
            for each in found.pop("allOf"):
                found = _both(found, _object(each))
        elif "anyOf" in found:
            found = _both(found, _branch(found.pop("anyOf"), attempt))
        elif "oneOf" in found:
            found = _both(found, _branch(found.pop("oneOf"), attempt))
        elif "if" in found:
            condition, then, otherwise = found.pop("if"), found.pop("then", True), found.pop("else", True)
            for each in (condition, then) if attempt % 2 == 0 else (otherwise,):
                found = _both(found, _object(each))
        else:
            return found
    raise Unmakeable("the schema is infinitely recursive")


def _object(schema: Any) -> JsonObject:
    if schema is False or schema is None:
        raise Unmakeable("no value can match")
    return dict(schema) if isinstance(schema, dict) else {}


def _branch(branches: list[Any], attempt: int) -> JsonObject:
    possible = [each for each in branches if each is not False]
    first = [each for each in possible if not (isinstance(each, dict) and each.get("type") == "null")] or possible
    if not first:
        raise Unmakeable("no branch matches")
    return _object(first[attempt % len(first)])


def _both(one: JsonObject, other: JsonObject) -> JsonObject:
    """A schema for values that match both, as far as their keywords can be combined."""
    found = {**one, **other}
    for name in one.keys() & other.keys():
        found[name] = _joined(name, one[name], other[name])
    # Not a set: the schema's order is kept.
    return {name: found[name] for name in [*one, *(each for each in other if each not in one)]}


def _joined(name: str, one: Any, other: Any) -> Any:
    if name in _HIGHEST:
        return max(one, other)
    if name in _LOWEST:
        return min(one, other)
    if name == "required":
        return list(dict.fromkeys([*one, *other]))
    if name == "enum":
        return [value for value in one if value in other]
    if name in ("allOf", "anyOf", "oneOf"):
        return [*one, *other] if name == "allOf" else other
    if name in ("properties", "patternProperties", "$defs"):
        return _fields(one, other)
    if name == "type":
        kinds = [one] if isinstance(one, str) else list(one)
        others = [other] if isinstance(other, str) else list(other)
        return [kind for kind in kinds if kind in others] or other
    return other


def _fields(one: Mapping[str, Any], other: Mapping[str, Any]) -> JsonObject:
    found = {**one, **other}
    for name in one.keys() & other.keys():
        found[name] = {"allOf": [one[name], other[name]]}
    return {name: found[name] for name in [*one, *(each for each in other if each not in one)]}
