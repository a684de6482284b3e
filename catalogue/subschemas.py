"""Walk a JSON Schema: real subschemas only, not look-alikes inside of defaults or enums."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from catalogue.record import JsonObject

_ONE = frozenset({
    "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not",
    "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
})  # fmt: skip
_MANY = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
_NAMED = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})


def subschemas(schema: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """The schema and all its subschemas, each with its JSON pointer."""
    pending: list[tuple[str, Any]] = [("", schema)]
    while pending:
        path, item = pending.pop()
        if not isinstance(item, dict):
            continue
        yield path, item
        for keyword, value in item.items():
            if keyword in _NAMED and isinstance(value, dict):
                pending.extend((f"{path}/{keyword}/{_escaped(name)}", each) for name, each in value.items())
            elif keyword in _MANY and isinstance(value, list):
                pending.extend((f"{path}/{keyword}/{place}", each) for place, each in enumerate(value))
            elif keyword in _ONE:
                pending.append((f"{path}/{keyword}", value))


def hoisted(schema: JsonObject) -> JsonObject:
    """The schema with nested `$defs` copied to its root, to which references point (T12).

    Convilyn leaves the `$defs` of a nested model inside the property although every `$ref` points to the root. The
    root's own definitions have priority.
    """
    inner: JsonObject = {}
    for path, each in subschemas(schema):
        definitions = each.get("$defs")
        if path and isinstance(definitions, dict):
            inner = {**definitions, **inner}
    return {**schema, "$defs": {**inner, **schema.get("$defs", {})}} if inner else schema


def unresolved(schema: JsonObject) -> tuple[str, str] | None:
    """Pointer and text of the first `$ref` that does not resolve within the schema, or None."""
    whole = hoisted(schema)
    found = list(subschemas(schema))
    anchors = {each.get("$anchor") for _, each in found}
    for path, each in found:
        reference = each.get("$ref")
        if isinstance(reference, str) and not (_leads(whole, reference) or reference[1:] in anchors):
            return f"{path}/$ref", reference
    return None


def target_of(whole: Any, reference: str) -> Any:
    """The target of a reference of the form `#/a/b`, or None."""
    if reference != "#" and not reference.startswith("#/"):
        return None
    found = whole
    for part in unquote(reference[2:]).split("/") if len(reference) > 1 else ():
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and name.isascii() and name.isdigit() and int(name[:9]) < len(found):
            found = found[int(name)]
        elif isinstance(found, dict) and name in found:
            found = found[name]
        else:
            return None
    return found


def _leads(schema: Any, reference: str) -> bool:
    if reference == "#":
        return True
    if not reference.startswith("#/"):
        return False
    for part in reference[2:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(schema, list) and key.isdigit() and int(key) < len(schema):
            schema = schema[int(key)]
        elif isinstance(schema, dict) and key in schema:
            schema = schema[key]
        else:
            return False
    return True


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
