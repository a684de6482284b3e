"""Reading a foreign tool: each key is taken once, and what nobody takes is kept verbatim (catalogue 1.12)."""

from collections.abc import Callable
from typing import Any

from catalogue.record import JsonObject, Loss, LossReason, ToolProblem

_MISSING: Any = object()
_KINDS: dict[type, str] = {
    str: "a string",
    bool: "true or false",
    int: "a whole number",
    dict: "an object",
    list: "a list",
}


class Source:
    """A foreign object, read key by key. Every problem is a `ToolProblem` with the JSON pointer of its place."""

    def __init__(self, value: object, path: str = "") -> None:
        if not isinstance(value, dict):
            raise ToolProblem("invalid_tool", path, "must be an object")
        self._left: JsonObject = dict(value)
        self.nulls: JsonObject = {}
        self._path = path
        self.losses: list[Loss] = []
        self.warnings: list[str] = []

    def at(self, key: str) -> str:
        """The pointer to one of its keys."""
        return f"{self._path}/{key.replace('~', '~0').replace('/', '~1')}"

    def has(self, key: str) -> bool:
        """Whether the key is there and not taken yet."""
        return key in self._left

    def need(self, key: str, kind: type) -> Any:
        """The value of a key that has to be there (C9)."""
        if key not in self._left:
            raise ToolProblem("invalid_tool", self.at(key), "required")
        return self._checked(key, self._left.pop(key), kind)

    def take(self, key: str, kind: type, default: Any = None) -> Any:
        """The value of a key that may be left out. Null is as good as absent; `nulls` remembers it."""
        value = self._left.pop(key, _MISSING)
        if value is None:
            self.nulls[key] = None
        return default if value is _MISSING or value is None else self._checked(key, value, kind)

    def need_schema(self, key: str) -> JsonObject:
        """The schema of a key that has to be there (C9). `true` and `false` are none of a tool (C10)."""
        return self._object(key, self.need(key, object))

    def take_schema(self, key: str) -> JsonObject | None:
        """The schema of a key that may be left out or null."""
        value = self.take(key, object)
        return None if value is None else self._object(key, value)

    def texts(self, key: str) -> list[str] | None:
        """A list of distinct strings, or None where there is none; one that is there again is noted as lost."""
        values = self.take(key, list)
        if values is None:
            return None
        kept: dict[str, None] = {}
        for place, value in enumerate(values):
            if not isinstance(value, str):
                raise ToolProblem("invalid_tool", f"{self.at(key)}/{place}", "must be a string")
            if value in kept:
                path, detail = f"{self.at(key)}/{place}", f"{value[:80]} is there already"
                self.losses.append(Loss(path=path, reason="no_slot", detail=detail, preserved=False))
            kept[value] = None
        return list(kept)

    def inner(self, key: str) -> "Source":
        """A nested object, read the same way; what it loses belongs to this one."""
        found = Source(self.need(key, dict), self.at(key))
        found.losses, found.warnings = self.losses, self.warnings
        return found

    def lose(self, key: str, reason: LossReason, detail: str, *, preserved: bool) -> None:
        """Note that a key is not taken over as it is."""
        self.losses.append(Loss(path=self.at(key), reason=reason, detail=detail, preserved=preserved))

    def rest(self, comes_back: Callable[[str, Any], bool] = lambda key, value: True) -> JsonObject:
        """Everything that nobody took, kept for an export to the same dialect and noted as such.

        `comes_back`: whether that export can write it.
        """
        for key, value in self._left.items():
            self.lose(key, "no_slot", "has no place in the catalogue's record", preserved=comes_back(key, value))
        return dict(self._left)

    def _object(self, key: str, schema: object) -> JsonObject:
        if not isinstance(schema, dict):
            raise ToolProblem("invalid_schema", self.at(key), "must be an object")
        return schema

    def _checked(self, key: str, value: Any, kind: type) -> Any:
        if not isinstance(value, kind):
            raise ToolProblem("invalid_tool", self.at(key), f"must be {_KINDS[kind]}")
        return value


def extras_of(dialect: str, left: JsonObject) -> dict[str, JsonObject]:
    """The extras of a tool whose source had these keys left over."""
    return {dialect: left} if left else {}


def param_order(schema: JsonObject) -> list[str]:
    """The parameters in the order in which the schema names them."""
    properties = schema.get("properties")
    return list(properties) if isinstance(properties, dict) else []
