"""Python annotations, read from their syntax tree and never evaluated (catalogue 1.13)."""

import ast
from dataclasses import dataclass
from typing import Any

from catalogue.record import ToolProblem
from core import syntax

_SPELLINGS = {"List": "list", "Dict": "dict", "Tuple": "tuple", "Set": "set", "FrozenSet": "set", "frozenset": "set"}
_MAX_DEPTH = 16


@dataclass(frozen=True, slots=True)
class Annotation:
    """A type: its last name, and what stands in its brackets.

    `Union` holds its members, whichever way it was written; `Literal` holds plain values; `Annotated` is gone, its
    marks are `notes`.
    """

    name: str
    arguments: tuple["Annotation", ...] = ()
    values: tuple[Any, ...] = ()
    notes: tuple[ast.expr, ...] = ()
    is_bare: bool = True
    """Without brackets, which some tell from empty ones."""

    @property
    def is_optional(self) -> bool:
        """A union with None."""
        return self.name == "Union" and any(each.name == "None" for each in self.arguments)

    @property
    def others(self) -> tuple["Annotation", ...]:
        """The members of a union besides None."""
        return tuple(each for each in self.arguments if each.name != "None")


NOTHING = Annotation("")
"""No annotation."""


def read(node: ast.expr | None, depth: int = 0) -> Annotation:
    """The type that an expression names; what is no type is one without a known name."""
    if node is None:
        return NOTHING
    if depth > _MAX_DEPTH:
        raise ToolProblem("invalid_tool", "/source", "an annotation is nested too deeply")
    match node:
        case ast.Constant(value=None):
            return Annotation("None")
        case ast.Constant(value=str() as text):
            return read(_parsed(text), depth + 1)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return Annotation(_SPELLINGS.get(name, name))
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return _union(read(left, depth + 1), read(right, depth + 1))
        case ast.Subscript(value=value, slice=inside):
            inner = inside.elts if isinstance(inside, ast.Tuple) else [inside]
            return _subscripted(read(value, depth + 1).name, inner, depth)
    return Annotation("?")


def _subscripted(name: str, inner: list[ast.expr], depth: int) -> Annotation:
    if name == "Literal":
        return Annotation("Literal", values=tuple(literal(each, "a Literal's value") for each in inner))
    if name == "Annotated" and inner:
        found = read(inner[0], depth + 1)
        return Annotation(found.name, found.arguments, found.values, (*found.notes, *inner[1:]), found.is_bare)
    arguments = [read(each, depth + 1) for each in inner]
    if name in ("Optional", "Union"):
        return _union(*arguments, *([Annotation("None")] if name == "Optional" else []))
    return Annotation(name, tuple(arguments), is_bare=False)


def _union(*types: Annotation) -> Annotation:
    """As Python makes it: unions in it dissolve, each member is there once, and a single one is no union."""
    members = [member for each in types for member in (each.arguments if each.name == "Union" else (each,))]
    distinct = {repr(member): member for member in members}  # equality takes Literal[1] for Literal[True]
    return Annotation("Union", tuple(distinct.values())) if len(distinct) > 1 else members[0]


def literal(node: ast.expr, what: str) -> Any:
    """A plain value that JSON can hold, read without running anything."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise ToolProblem("invalid_tool", "/source", f"{what} is no literal") from None
    if not _is_json(value):
        raise ToolProblem("invalid_tool", "/source", f"{what} cannot be written as JSON")
    return value


def _is_json(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_is_json, value))
    if isinstance(value, float):
        return value == value and abs(value) != float("inf")
    return value is None or isinstance(value, str | int)


def _parsed(text: str) -> ast.expr:
    try:
        return syntax.expression(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ToolProblem("invalid_tool", "/source", "an annotation in quotes is no Python") from None
