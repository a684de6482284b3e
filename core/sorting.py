"""The sort order of a list as a term of its query: it filters nothing and is used once, at the top level."""

from collections.abc import Container
from typing import TypeGuard

from core import grammar
from core.grammar import All, Field, Leaf, Node, Unknown

SORT = "sort"
"""The field that sets the order."""
_WITHIN = "sorts the whole list; use it once, not after - or in an OR"


def is_sort(node: Node) -> TypeGuard[Field]:
    """Whether a part of a query sets the order."""
    return isinstance(node, Field) and node.name == SORT


def parts_of(root: Node) -> tuple[Node, ...]:
    """The top-level parts of a query, all of which must match."""
    return root.parts if isinstance(root, All) else (root,)


def order_of(root: Node, otherwise: str) -> str:
    """The order that a query asks for, or the other one."""
    return next((part.value for part in parts_of(root) if is_sort(part)), otherwise)


def once(root: Node, line: str) -> Node:
    """The tree with an `Unknown` in place of each sort order but the first, and of those after `-` or in an OR."""
    first = next(filter(is_sort, parts_of(root)), None)

    def second(part: Node) -> Unknown:
        return grammar.unknown(part, line, f"is a second sort order after {grammar.spelled(first or part)}")

    def placed(part: Node) -> Node:
        if is_sort(part):
            return part if part == first else second(part)
        return grammar.replaced(part, inner)

    def inner(leaf: Leaf) -> Leaf:
        return grammar.unknown(leaf, line, _WITHIN) if is_sort(leaf) else leaf

    return (
        All(tuple(map(placed, root.parts)), start=root.start, end=root.end) if isinstance(root, All) else placed(root)
    )


def is_misplaced(leaf: Unknown, orders: Container[str]) -> bool:
    """Whether an invalid part is a valid order in a place where it can be none, so nothing else was meant."""
    asked = grammar.read(leaf.text)
    return is_sort(asked) and asked.value.lower() in orders
