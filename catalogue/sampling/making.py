"""Generate values that match a JSON Schema from a random source (catalogue 3.8, C102 to C105).

Generated values are validated, and generated again from further draws if invalid: keywords that only a solver could
satisfy are left to that. If no draw is valid, texts and keys are searched for that fit their own schema. That comes
last, because answers must stay the same for years (decision 012), also those that only a later draw found.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from math import ceil, floor
from typing import Any, Final

from catalogue import patterns, results, validating
from catalogue.record import JsonObject
from catalogue.sampling import fitting, matching, words
from catalogue.sampling.drawing import Source
from catalogue.sampling.merging import TooLate, TooMuch, Unmakeable, settled
from catalogue.subschemas import linked
from core.canonical import canonical_json

ATTEMPTS: Final = 24
MAX_SECONDS: Final = 5.0
"""Time limit of an answer with untrusted schemas. The clock decides whether there is one, never which one.

It is the thread's own, of processor time, so that the load of the server decides neither.
"""
_EXAMPLE_SECONDS: Final = 0.5
"""For an example: a page of tools has many of them."""
_LATE: Final = "it would take too long"
_MAX_DEPTH: Final = 24
_DEEP: Final = 6
"""Beyond this depth only required parts are generated, so that recursive schemas terminate."""
_MAX_PARTS: Final = 20_000
_MAX_LENGTH: Final = 100_000
_RANGE: Final = 999


@dataclass(frozen=True, slots=True)
class Hints:
    """Values that are used before random ones if the schema accepts them.

    `echo`: values by property name, outside of lists. `seen`: values of a property in examples.
    """

    echo: Mapping[str, Any] = field(default_factory=dict)
    seen: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    schema_examples: bool = False


_ASKING: Final = frozenset({"type", "properties", "required", "title", "description", "$comment"})
NO_HINTS: Final = Hints()


def made(
    schema: JsonObject,
    source: Source,
    hints: Hints = NO_HINTS,
    *,
    whole: JsonObject | None = None,
    until: float | None = None,
) -> Any:
    """A value that matches the schema, or the part of a `linked` whole. Raises `Unmakeable` if none was found, and
    `TooLate` if none was found in time: until a `deadline`, which several values may share.
    """
    if whole is None:
        whole = schema = linked(schema)
    until = deadline() if until is None else until
    for number in range(2 * ATTEMPTS):
        is_fitting, attempt = number >= ATTEMPTS, number % ATTEMPTS
        # The last attempts ignore the hints, which may contradict the schema.
        given = hints if attempt < ATTEMPTS // 2 else NO_HINTS
        maker = _Maker(whole, given, attempt, until, is_fitting=is_fitting)
        try:
            value = maker.value(schema, source.child(number), "", 0, is_listed=False)
        except TooMuch:
            raise
        except (Unmakeable, OverflowError):  # a bound with hundreds of digits does not fit a float
            continue
        is_valid = not validating.problems(value, schema, whole, until=until) and results.problem_of(value) is None
        if is_late(until):  # what was left out or found invalid may be so for lack of time
            raise TooLate(_LATE)
        if is_valid:
            return value
    raise Unmakeable("no matching value was found")


def deadline(seconds: float | None = None) -> float:
    """The time on this thread's clock by which an answer that begins now must be there; `MAX_SECONDS` by default."""
    return time.thread_time() + (MAX_SECONDS if seconds is None else seconds)


def is_late(until: float) -> bool:
    """Whether a `deadline` has passed."""
    return time.thread_time() > until


def example(schema: JsonObject, part: str) -> Any:
    """A deterministic value with seed 0 (catalogue 1.4); {} if none was found."""
    try:
        return made(schema, Source(0, part), until=deadline(_EXAMPLE_SECONDS))
    except Unmakeable:
        return {}


class _Maker:
    """One attempt to generate a value. With `is_fitting` it searches for texts and keys instead of drawing once."""

    def __init__(self, whole: JsonObject, hints: Hints, attempt: int, until: float, *, is_fitting: bool) -> None:
        self._whole = whole
        self._hints = hints
        self._attempt = attempt
        self._until = until
        self._is_fitting = is_fitting
        self._parts = 0

    def value(self, schema: Any, source: Source, name: str, depth: int, *, is_listed: bool) -> Any:
        """A value for a schema and a property name."""
        self._spend(1)
        if schema is False or depth > _MAX_DEPTH:
            raise Unmakeable("no value can match")
        plain: JsonObject = {}
        if isinstance(schema, dict):
            plain = settled(schema, self._whole, self._attempt, self._holds, is_thorough=self._is_fitting)
        if not is_listed and name in self._hints.echo and self._takes(plain, self._hints.echo[name]):
            return deepcopy(self._hints.echo[name])
        if "const" in plain:
            return plain["const"]
        if "enum" in plain:
            return source.one_of(self._fitting(plain, plain["enum"]))
        known = [*self._hints.seen.get(name, ()), *(plain.get("examples", ()) if self._hints.schema_examples else ())]
        if known and (fitting := [each for each in known if self._takes(plain, each)]):
            return deepcopy(source.one_of(fitting))
        match self._kind(plain):
            case "object":
                return self._object(plain, source, depth)
            case "array":
                return self._array(plain, source, name, depth)
            case "integer":
                return _number(plain, source, is_whole=True)
            case "number":
                return _number(plain, source, is_whole=False)
            case "boolean":
                return source.below(2) == 1
            case "null":
                return None
        if self._is_fitting:
            return self._fitting_text(plain, source, name)
        text = _text(plain, source, name)
        self._parts += len(text) // 100
        return text

    def _spend(self, parts: int) -> None:
        self._parts += parts
        if self._parts > _MAX_PARTS:
            raise TooMuch("it would be too large")
        if is_late(self._until):
            raise TooLate(_LATE)

    def _fitting_text(self, plain: JsonObject, source: Source, name: str) -> str:
        """The usual text if it matches, else the first that does."""
        for text in chain(_usual(plain, source, name), fitting.texts(plain, source)):
            self._spend(1 + len(text) // 100)
            if self._takes(plain, text):
                return text
        raise Unmakeable("no matching text was found")

    def _kind(self, schema: JsonObject) -> str:
        kinds = schema.get("type")
        if isinstance(kinds, list):
            kinds = [kind for kind in kinds if kind != "null"] or kinds
            return str(kinds[self._attempt % len(kinds)]) if kinds else "null"
        if isinstance(kinds, str):
            return kinds
        signs = {
            "object": ("properties", "required", "additionalProperties", "patternProperties", "minProperties"),
            "array": ("items", "prefixItems", "minItems", "contains"),
            "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        }
        return next((kind for kind, keys in signs.items() if any(key in schema for key in keys)), "string")

    def _takes(self, plain: JsonObject, value: Any) -> bool:
        return not validating.problems(value, plain, self._whole, until=self._until)

    def _holds(self, condition: Any, schema: JsonObject) -> bool | None:
        """Whether a condition on an object holds by the values that are echoed; None if it asks for anything else."""
        if not isinstance(condition, dict) or not condition.keys() <= _ASKING:
            return None
        declared, echo = schema.get("properties", {}), self._hints.echo
        asked = [*condition.get("properties", ()), *condition.get("required", ())]
        known = {name: echo[name] for name in asked if name in declared and name in echo}
        if not asked or len(known) < len(set(asked)):
            return None
        if not all(self._takes({"allOf": [declared[name]]}, value) for name, value in known.items()):
            return None
        return self._takes(condition, known)

    def _fitting(self, plain: JsonObject, values: Sequence[Any]) -> Sequence[Any]:
        rest = {name: each for name, each in plain.items() if name != "enum"}
        fitting = [value for value in values if self._takes(rest, value)]
        if not fitting:
            raise Unmakeable("no member of the enum matches")
        return [value for value in fitting if value is not None] or fitting

    def _object(self, schema: JsonObject, source: Source, depth: int) -> JsonObject:
        declared = schema.get("properties", {})
        required = list(schema.get("required", ()))
        for name, others in schema.get("dependentRequired", {}).items():
            if name in declared or name in required:
                required += others
        value: JsonObject = {}
        for name in dict.fromkeys([*declared, *required]):
            is_needed = name in required
            if not is_needed and depth >= _DEEP:
                continue
            try:
                inner = declared[name] if name in declared else _undeclared(schema, name)
                value[name] = self.value(inner, source.child(name), name, depth + 1, is_listed=False)
            except Unmakeable:
                if is_needed:
                    raise
        least = schema.get("minProperties", 0)
        # The first attempts remove what they add, and a later branch of `anyOf` answers: such answers stay the same.
        most = schema.get("maxProperties", max(len(value), least) if self._is_fitting else len(value))
        for number in range(len(value), least):
            name = f"key_{number + 1}"
            if self._is_fitting:
                name = self._fitting_key(schema, name, value, source.child(number), depth)
            inner = _undeclared(schema, name)
            value[name] = self.value(inner, source.child(name), name, depth + 1, is_listed=False)
        for name in [each for each in value if each not in required][::-1][: max(0, len(value) - most)]:
            del value[name]
        return value

    def _fitting_key(self, schema: JsonObject, usual: str, taken: JsonObject, source: Source, depth: int) -> str:
        """The name of one more property: the usual one if it may be there, else one made from the rules for names."""
        if self._may_add(schema, usual, taken):
            return usual
        named = [{"pattern": each} for each, inner in schema.get("patternProperties", {}).items() if inner is not False]
        rules = named + [{}] * (schema.get("additionalProperties", True) is not False)
        for number in range(ATTEMPTS if rules else 0):
            stream = source.child(number)
            rule = {"allOf": [{"type": "string"}, stream.one_of(rules), schema.get("propertyNames", True)]}
            name = str(self.value(rule, stream, "", depth + 1, is_listed=True))
            # Letters behind it, because there is only one `x-` that `^x-` finds.
            for each in (name + words.letters(stream, 3, 8), name):
                if self._may_add(schema, each, taken):
                    return each
        raise Unmakeable("no name was found for one more property")

    def _may_add(self, schema: JsonObject, name: str, taken: JsonObject) -> bool:
        if name in taken or _undeclared(schema, name) is False:
            return False
        return self._takes({"propertyNames": schema.get("propertyNames", True)}, {name: None})

    def _array(self, schema: JsonObject, source: Source, name: str, depth: int) -> list[Any]:
        first = schema.get("prefixItems", [])
        least = max(schema.get("minItems", 0), len(first) if depth < _DEEP else 0)
        most = schema.get("maxItems", max(least, 3))
        usual = min(max(least, 1), most)
        count = least if depth >= _DEEP else usual + source.below(max(1, min(most, usual + 2) - usual + 1))
        held: list[Any] = []
        inside = schema.get("contains")
        wanted = max(schema.get("minContains", 1), 0) if inside is not None else 0
        count = max(count, wanted)
        rest = schema.get("items", True)
        keys: set[str] = set()
        for place in range(count):
            if place < len(first):
                inner: Any = first[place]
            elif rest is False:
                break
            else:
                inner = {"allOf": [rest, inside]} if place - len(first) < wanted else rest
            stream = source.child(place)
            for _ in range(ATTEMPTS if schema.get("uniqueItems") else 1):
                value = self._item(inner, stream.child(stream.below(2**32)), name, depth)
                key = canonical_json(value)
                if key not in keys or not schema.get("uniqueItems"):
                    keys.add(key)
                    held.append(value)
                    break
        return held

    def _item(self, inner: Any, source: Source, name: str, depth: int) -> Any:
        singular = name[:-1] if name.endswith("s") else name
        hints = Hints({}, self._hints.seen, self._hints.schema_examples)
        quiet = _Maker(self._whole, hints, self._attempt, self._until, is_fitting=self._is_fitting)
        quiet._parts = self._parts
        value = quiet.value(inner, source, singular, depth + 1, is_listed=True)
        self._parts = quiet._parts
        return value


def _undeclared(schema: JsonObject, name: str) -> Any:
    """The schema of a required property that is not declared."""
    for pattern, inner in schema.get("patternProperties", {}).items():
        try:
            if patterns.matches(pattern, name, ecma=True):
                return inner
        except (patterns.PatternRefused, patterns.SearchTooLong):
            raise Unmakeable("a pattern cannot be used") from None
    return schema.get("additionalProperties", True)


def _number(schema: JsonObject, source: Source, *, is_whole: bool) -> int | float:
    """A number between the bounds, a multiple of `multipleOf` if given; else an integer or two decimals."""
    grid = validating.decimal(schema["multipleOf"]) if "multipleOf" in schema else Fraction(1, 1 if is_whole else 100)
    step = Fraction(grid.numerator) if is_whole else grid
    low, high = _bound(schema, "inimum"), _bound(schema, "aximum")
    least = None if low is None else ceil(low[0] / step) + (low[1] and low[0] % step == 0)
    most = None if high is None else floor(high[0] / step) - (high[1] and high[0] % step == 0)
    if least is None:
        least = 1 if most is None or most >= 1 else most - _RANGE
    if most is None:
        most = max(least, floor(_RANGE / step)) if least <= _RANGE / step else least + _RANGE
    if least <= most:
        value = step * (least + source.below(most - least + 1))
    elif low and high and low[0] < high[0] and "multipleOf" not in schema and not is_whole:
        value = (low[0] + high[0]) / 2
    elif low and high and low[0] == high[0] and not is_whole and not (low[1] or high[1]):
        value = low[0]
    else:
        raise Unmakeable("no number is between the bounds")
    return int(value) if value.denominator == 1 else float(value)


def _bound(schema: JsonObject, name: str) -> tuple[Fraction, bool] | None:
    """The bound and whether it is exclusive; the stricter one if there are two."""
    found = [
        (validating.decimal(schema[key]), is_open)
        for key, is_open in ((f"m{name}", False), (f"exclusiveM{name}", True))
        if key in schema
    ]
    if not found:
        return None
    pick = max if name == "inimum" else min
    edge = pick(each for each, _ in found)
    return edge, (edge, True) in found


def _usual(schema: JsonObject, source: Source, name: str) -> Iterator[str]:
    try:
        yield _text(schema, source, name)
    except Unmakeable:
        return


def _text(schema: JsonObject, source: Source, name: str) -> str:
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if least > _MAX_LENGTH:
        raise Unmakeable("the text would be too long")
    if "pattern" in schema:
        try:
            return matching.text_found_by(schema["pattern"], source)
        except matching.NoText:
            raise Unmakeable("no text was found for the pattern") from None
    wanted = words.FORMATS.get(schema.get("format", ""))
    text = wanted(source) if wanted else words.by_name(name, source)
    if schema.get("contentEncoding") == "base64":
        text = text.encode().hex()[:64]
        text = text[: len(text) // 4 * 4]
    if schema.get("contentMediaType") == "application/json":
        text = canonical_json({"value": text})
    while len(text) < least:
        text += " " + words.words(source)
    return text if most is None else text[:most].strip() if len(text[:most].strip()) >= least else text[:most]
