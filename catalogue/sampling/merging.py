"""Simplify a schema for generation: resolve references and combinations (C103)."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import gcd, lcm
from typing import Any, Final

from catalogue.record import JsonObject
from catalogue.subschemas import REFERENCES, target_of, with_whole_counts
from catalogue.validating import decimal

_HIGHEST = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains")
_LOWEST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_FIELDS = ("properties", "patternProperties", "dependentSchemas", "$defs")
_JOINED: Final = frozenset({*_HIGHEST, *_LOWEST, *_FIELDS, "required", "enum", "allOf", "type"})
"""Keywords that `_joined` loses nothing of."""
_RULES: Final = frozenset({"anyOf", "oneOf", "const", "contains", "format", "multipleOf", "not", "pattern"})
_MAX_HOPS = 50
_MAX_STEP: Final = 10**300


class Unmakeable(Exception):
    """No value matches this schema, or none was found."""


class TooMuch(Unmakeable):
    """It would take too long or grow too large, and so would another attempt."""


class TooLate(TooMuch):
    """There was no time left; with more time there may be a value."""


Judge = Callable[[Any, JsonObject], bool | None]
"""Whether a condition holds under a schema, by what is known of the value; None if that does not tell."""


def settled(
    schema: JsonObject, whole: JsonObject, attempt: int, judge: Judge = lambda *_: None, *, is_thorough: bool = False
) -> JsonObject:
    """A plain schema whose values usually match this one; the caller validates the value.

    Of `anyOf` and `oneOf` the first branch that is not null is used; a later attempt uses the next one. `is_thorough`
    loses no keyword: what cannot be combined is left in an `allOf`, for validation only. Other attempts come before it,
    and their answers stay the same (decision 012).
    """
    return _Settling(whole, attempt, judge, is_thorough=is_thorough).settled(schema)


class _Settling:
    """The schema so far, and what was taken out of it: conditions, and rules that cannot be combined."""

    def __init__(self, whole: JsonObject, attempt: int, judge: Judge, *, is_thorough: bool) -> None:
        self._whole = whole
        self._attempt = attempt
        self._judge = judge
        self._is_thorough = is_thorough
        self._conditions: list[tuple[Any, Any, Any]] = []
        self._rest: list[JsonObject] = []

    def settled(self, schema: JsonObject) -> JsonObject:
        found = self._without_conditions(schema)
        for _ in range(_MAX_HOPS):
            reference = next((name for name in REFERENCES if isinstance(found.get(name), str)), None)
            if reference is not None:
                target = self._without_conditions(_object(target_of(self._whole, found.pop(reference))))
                found = self._both(target, found)
            elif "allOf" in found:
                for each in found.pop("allOf"):
                    found = self._with(found, each)
            elif "anyOf" in found:
                found = self._with(found, self._branch(found.pop("anyOf")))
            elif "oneOf" in found:
                found = self._with(found, self._branch(found.pop("oneOf")))
            elif self._is_thorough and "dependentSchemas" in found:
                # Declared properties are generated.
                present = {*found.get("properties", ()), *found.get("required", ())}
                for name, each in found.pop("dependentSchemas").items():
                    found = self._with(found, each if name in present else True)
            elif self._conditions:
                found = self._decided(found)
            else:
                found = with_whole_counts(found)
                return {**found, "allOf": self._rest} if self._rest else found
        raise Unmakeable("the schema is infinitely recursive")

    def _without_conditions(self, schema: JsonObject) -> JsonObject:
        found = dict(schema)
        condition, then, otherwise = found.pop("if", None), found.pop("then", True), found.pop("else", True)
        if condition is not None:
            self._conditions.append((condition, then, otherwise))
        return found

    def _with(self, found: JsonObject, more: Any) -> JsonObject:
        return self._both(found, self._without_conditions(_object(more)))

    def _decided(self, found: JsonObject) -> JsonObject:
        """The schema with the consequences of its conditions.

        Of those that what is known does not decide, one is assumed to hold, in odd attempts none.
        """
        conditions, self._conditions = self._conditions, []
        open_: list[tuple[Any, Any, Any]] = []
        chosen: list[Any] = []
        for condition, then, otherwise in conditions:
            holds = self._judge(condition, found)
            if holds is None:
                open_.append((condition, then, otherwise))
            else:
                chosen.append(then if holds else otherwise)
        if open_ and self._attempt % 2 == 0:
            condition, then, _ = open_[-1 - self._attempt // 2 % len(open_)]
            chosen += [condition, then]
        else:
            chosen += [otherwise for _, _, otherwise in open_]
        for each in chosen:
            found = self._with(found, each)
        return found

    def _branch(self, branches: list[Any]) -> JsonObject:
        possible = [each for each in branches if each is not False]
        first = [each for each in possible if not self._is_null(each)] or possible
        if not first:
            raise Unmakeable("no branch matches")
        return _object(first[self._attempt % len(first)])

    def _is_null(self, schema: Any) -> bool:
        """Whether only null can match."""
        for _ in range(_MAX_HOPS):
            if not isinstance(schema, dict):
                return False
            is_null = schema.get("type") in ("null", ["null"]) or ("const" in schema and schema["const"] is None)
            if is_null or ("enum" in schema and all(each is None for each in schema["enum"])):
                return True
            schema = target_of(self._whole, schema["$ref"]) if isinstance(schema.get("$ref"), str) else None
        return False

    def _both(self, one: JsonObject, other: JsonObject) -> JsonObject:
        """A schema for values that match both, as far as their keywords can be combined."""
        found = {**one, **other}
        for name in one.keys() & other.keys():
            found[name] = _joined(name, one[name], other[name])
            if self._is_thorough and one[name] != other[name] and name not in _JOINED:
                found[name] = self._all_of(name, one[name], other[name])
        # Not a set: the schema's order is kept.
        return {name: found[name] for name in [*one, *(each for each in other if each not in one)]}

    def _all_of(self, name: str, one: Any, other: Any) -> Any:
        if name in ("items", "propertyNames", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"):
            return False if False in (one, other) else {"allOf": [one, other]}
        if name == "prefixItems":
            longer = one if len(one) > len(other) else other
            pairs = [{"allOf": [*each]} for each in zip(one, other, strict=False)]
            return pairs + longer[len(pairs) :]
        if name == "dependentRequired":
            return {key: [*one.get(key, ()), *other.get(key, ())] for key in [*one, *other]}
        if name == "uniqueItems":
            return one or other
        if name == "multipleOf" and (step := _common_step(decimal(one), decimal(other))) is not None:
            return step
        if name in _RULES:
            self._rest.append({name: one})
        return other


def _object(schema: Any) -> JsonObject:
    if schema is False or schema is None:
        raise Unmakeable("no value can match")
    return dict(schema) if isinstance(schema, dict) else {}


def _common_step(one: Fraction, other: Fraction) -> float | None:
    """The least common multiple; None if no float is exactly that."""
    step = Fraction(lcm(one.numerator, other.numerator), gcd(one.denominator, other.denominator))
    if step.denominator == 1:
        return int(step)
    return float(step) if step < _MAX_STEP and decimal(float(step)) == step else None


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
    if name in _FIELDS:
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
