"""Walk a JSON Schema and resolve its references: real subschemas only, not look-alikes inside of defaults or enums.

A reference means one place for everybody who follows it: `Links` finds that place, `linked` writes it into a copy, and
`target_of` goes there. Nothing outside of the schema is ever reached.
"""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final
from urllib.parse import quote, unquote

from catalogue.record import JsonObject

_ONE = frozenset({
    "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not",
    "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
})  # fmt: skip
_MANY = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NAMED = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
REFERENCES: Final = ("$ref", "$dynamicRef")
_COUNTS: Final = frozenset({
    "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains",
})  # fmt: skip
_PLAIN: Final = "/~!$&'()*+,;=:@-._"
"""Characters that the fragment of a URI may contain as they are."""


@dataclass(frozen=True, slots=True)
class Place:
    """A subschema with its JSON pointer, and what its references depend on."""

    path: str
    schema: JsonObject
    root: str
    """The pointer of the schema whose `#` it uses: the nearest one with an `$id`, else the whole."""
    definers: tuple[str, ...]
    """The pointers of the schemas with `$defs` around it, nearest first."""


class Links:
    """All references of a schema, with the places that they lead to."""

    def __init__(self, schema: JsonObject) -> None:
        self._whole = schema
        self.places: dict[str, Place] = {}
        """The subschemas by pointer, those included that only a reference makes a schema."""
        self.beside: dict[str, None] = {}
        """Pointers of the latter, which a check of the whole schema does not look at; the outermost ones, in order."""
        self._anchors: dict[tuple[str, str], str] = {}
        self._nested: dict[str, str] = {}
        waiting = self._walk("", schema, "", ())
        # A reference may lead to the definitions of any place, so all are walked first.
        self.targets: dict[tuple[str, str], str | None] = {}
        """Where the reference under a keyword of a place leads; None if to nothing in this schema."""
        while waiting:
            place, keyword = waiting.pop()
            target = self.targets[place.path, keyword] = self._target(place, place.schema[keyword])
            if target is not None and target not in self.places and isinstance(found := at(schema, target), dict):
                around = self._around(target)
                self.beside[target] = None
                waiting += self._walk(target, found, around.root, around.definers)

    def _walk(self, path: str, schema: JsonObject, root: str, definers: tuple[str, ...]) -> list[tuple[Place, str]]:
        """Note a schema and its subschemas; returns their references."""
        found: list[tuple[Place, str]] = []
        pending: list[tuple[str, Any, str, tuple[str, ...]]] = [(path, schema, root, definers)]
        while pending:
            path, item, root, definers = pending.pop()
            if not isinstance(item, dict):
                continue
            if path in self.places:
                self.beside.pop(path, None)  # it lies inside of the one that is walked
                continue
            if isinstance(item.get("$id"), str) and item["$id"].strip("#"):
                root = path
            if isinstance(item.get("$defs"), dict):
                definers = (path, *definers)
                for name in item["$defs"]:
                    self._nested.setdefault(name, path)
            place = self.places[path] = Place(path, item, root, definers)
            for keyword in ("$anchor", "$dynamicAnchor"):
                if isinstance(item.get(keyword), str):
                    self._anchors.setdefault((root, item[keyword]), path)
            found += [(place, keyword) for keyword in REFERENCES if isinstance(item.get(keyword), str)]
            pending += [(f"{path}{step}", each, root, definers) for step, each in _inner(item)]
        return found

    def _around(self, path: str) -> Place:
        """The nearest subschema around a place that is none by its keyword."""
        while path not in self.places:
            path = path.rpartition("/")[0]
        return self.places[path]

    def _target(self, place: Place, reference: str) -> str | None:
        """The pointer that a reference means.

        `#/$defs/X` that leads nowhere means the nearest `$defs` around it that has X, else any in the schema: Convilyn
        leaves the definitions of a nested model inside the property, although every `$ref` points to the root (T12).
        """
        if not reference.startswith("#"):
            return None
        pointer = unquote(reference[1:])
        if pointer and not pointer.startswith("/"):
            return self._anchors.get((place.root, pointer))
        candidates = [place.root + pointer]
        if pointer.startswith("/$defs/"):
            name = _unescaped(pointer.split("/")[2])
            nested = [self._nested[name]] if name in self._nested else []
            candidates += [definer + pointer for definer in (*place.definers, *nested)]
        return next((each for each in candidates if _exists(self._whole, each)), None)


def linked(schema: JsonObject) -> JsonObject:
    """The schema with each reference written as the pointer that it means, for `target_of`.

    A copy if that changes anything. References to nothing in the schema stay as they are.
    """
    links = Links(schema)
    changed = {
        (path, keyword): target
        for (path, keyword), target in links.targets.items()
        if target is not None and unquote(links.places[path].schema[keyword][1:]) != target
    }
    if not changed:
        return schema
    copy = deepcopy(schema)
    for (path, keyword), target in changed.items():
        at(copy, path)[keyword] = f"#{quote(target, safe=_PLAIN)}"
    return copy


def target_of(whole: Any, reference: str) -> Any:
    """The target of a reference of the form `#/a/b` in a `linked` schema, or None."""
    if reference != "#" and not reference.startswith("#/"):
        return None
    try:
        return at(whole, unquote(reference[1:]))
    except LookupError:
        return None


def at(whole: Any, pointer: str) -> Any:
    """What a JSON pointer (RFC 6901) leads to. Raises `LookupError`."""
    found = whole
    for part in pointer.split("/")[1:]:
        name = _unescaped(part)
        if isinstance(found, dict):
            found = found[name]
        elif isinstance(found, list) and name.isascii() and name.isdigit() and name == str(int(name[:9])):
            found = found[int(name)]
        else:
            raise LookupError(pointer)
    return found


def with_whole_counts(schema: JsonObject) -> JsonObject:
    """The schema with its counts as integers: `maxLength: 30.0` is valid, and means 30."""
    if not any(isinstance(schema.get(name), float) for name in _COUNTS):
        return schema
    return {name: int(value) if name in _COUNTS else value for name, value in schema.items()}


def _inner(schema: JsonObject) -> Iterator[tuple[str, Any]]:
    """The values under the keywords that hold schemas, each with the steps of its pointer."""
    for keyword, value in schema.items():
        if keyword in _NAMED and isinstance(value, dict):
            yield from ((f"/{keyword}/{_escaped(name)}", each) for name, each in value.items())
        elif keyword in _MANY and isinstance(value, list):
            yield from ((f"/{keyword}/{place}", each) for place, each in enumerate(value))
        elif keyword in _ONE:
            yield f"/{keyword}", value


def parts(schema: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Whatever the meta-schema takes for a schema, the whole first, each with its pointer. Also what is none, and what
    stands under `dependencies`, a keyword of older drafts. For schemas of limited depth.
    """
    yield path, schema
    if isinstance(schema, dict):
        older = schema.get("dependencies")
        named = older.items() if isinstance(older, dict) else ()
        for step, each in chain(_inner(schema), ((f"/dependencies/{_escaped(name)}", each) for name, each in named)):
            yield from parts(each, path + step)


def _exists(whole: Any, pointer: str) -> bool:
    try:
        at(whole, pointer)
    except LookupError:
        return False
    return True


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _unescaped(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")
