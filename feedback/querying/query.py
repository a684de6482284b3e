"""A query as it was typed: its terms, what is wrong in it, its one spelling, and the same with a term more or less."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from typing import TypeGuard

from core import grammar, moments
from core.grammar import All, Either, Field, Node, Not, Text, Unknown
from feedback.querying import words
from feedback.querying.fields import FIELDS, RELATIVE, meant, named, nearest
from feedback.querying.ordering import NEWEST, ORDERS, SORT, Order


@dataclass(frozen=True, slots=True)
class Term:
    """One of the terms that all have to hold. `text` is as it was typed; `reason` tells what is wrong in it."""

    text: str
    canonical: str
    is_wrong: bool
    reason: str
    meant: str = ""
    """What was probably meant in its place, where there is anything near."""


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query. Two are the same when they mean the same tree."""

    text: str = field(compare=False)
    root: Node

    @property
    def parts(self) -> tuple[Node, ...]:
        """What all has to hold."""
        return self.root.parts if isinstance(self.root, All) else (self.root,)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The parts, for people."""
        return tuple(_term(self.text, part, _beside_others(part, self.parts)) for part in self.parts)

    @property
    def problems(self) -> tuple[Unknown, ...]:
        """What was not understood, in its order. Nothing is dropped in silence: with one of these, nothing is found."""
        return tuple(leaf for leaf in grammar.leaves(self.root) if isinstance(leaf, Unknown))

    @property
    def canonical(self) -> str:
        """Its one spelling."""
        return grammar.spelled(self.root)

    @property
    def order(self) -> Order:
        """How its reports stand in a list."""
        return next((ORDERS[part.value] for part in self.parts if _is_sort(part)), NEWEST)

    @property
    def is_everything(self) -> bool:
        """Whether it leaves no report out: an order by itself does not."""
        return all(_is_sort(part) for part in self.parts)

    @property
    def is_digested(self) -> bool:
        """Whether it asks for what is worked out only after a report was stored."""
        leaves = list(grammar.leaves(self.root))
        asked = [leaf for leaf in leaves if isinstance(leaf, Field)]
        is_worded = any(isinstance(leaf, Text) for leaf in leaves)
        return is_worded or any(FIELDS[leaf.name].needs_digest(leaf.value) for leaf in asked)

    def without(self, place: int) -> "Query":
        """The query less the term at that place."""
        rest = [part for each, part in enumerate(self.parts) if each != place]
        return parse(" ".join(_beside_others(part, rest) for part in rest))

    def sorted_by(self, order: Order) -> "Query":
        """The query with this order in place of its own; the usual one goes without saying."""
        said = [] if order == NEWEST else [Field(SORT, order.name)]
        parts = [*(part for part in self.parts if not _is_sort(part)), *said]
        return parse(" ".join(_beside_others(part, parts) for part in parts))

    def anchored(self, tz: tzinfo) -> "Query":
        """The query with the zone written to today and yesterday, where they name none, so that they are the days of
        who reads it now wherever it goes from here.
        """
        text = self.text
        for leaf in reversed([*grammar.leaves(self.root)]):
            if isinstance(leaf, Field) and leaf.name in RELATIVE and moments.is_relative(leaf.value):
                here = grammar.spelled(replace(leaf, value=moments.in_zone(leaf.value, tz)))
                text = text[: leaf.start] + here + text[leaf.end :]
        return self if text == self.text else parse(text)

    def with_name(self, field: str, value: str, name: str) -> "Query":
        """The query with this name in place of a value that it asks a field for."""
        asked = (field, value)
        root = grammar.changed(self.root, lambda each: named(field, name) if (each.name, each.value) == asked else each)
        return parse(grammar.spelled(root))

    def with_meant(self, place: int) -> "Query":
        """The query with what the term at that place probably meant."""
        part, term = self.parts[place], self.terms[place]
        return parse(self.text[: part.start] + (term.meant or term.text) + self.text[part.end :])

    def with_term(self, text: str, *, at: int | None = None) -> "Query":
        """The query with one term more, at that place or the end; one that it has already changes nothing, and an order
        takes the place of the one before.
        """
        more = [part for part in parse(text).parts if part not in self.parts]
        at = len(self.parts) if at is None else at
        is_sorted_anew = any(_is_sort(part) for part in more)
        old = [None if is_sorted_anew and _is_sort(part) else part for part in self.parts]
        parts = [part for part in (*old[:at], *more, *old[at:]) if part is not None]
        return parse(" ".join(_beside_others(part, parts) for part in parts))


def parse(text: str) -> Query:
    """Read a query. It never fails: what it does not understand is a problem with its text, its place and a reason."""
    return Query(text, _with_one_order(_checked(grammar.read(text), text), text))


def _term(text: str, part: Node, canonical: str) -> Term:
    wrong = [leaf for leaf in grammar.leaves(part) if isinstance(leaf, Unknown)]
    reason = "; ".join(leaf.reason if leaf == part else leaf.sentence for leaf in wrong)
    return Term(text[part.start : part.end], canonical, bool(wrong), reason, _meant(text, part, wrong))


def _meant(text: str, part: Node, wrong: Sequence[Unknown]) -> str:
    """The part as it was probably meant; empty where one of its terms resembles nothing that is known."""
    said, at = "", part.start
    for leaf in wrong:
        near = meant_by(leaf)
        if not near:
            return ""
        said, at = said + text[at : leaf.start] + near, leaf.end
    return said + text[at : part.end] if wrong else ""


def meant_by(leaf: Unknown) -> str:
    """What was probably meant by what is not understood; empty where it resembles nothing that is known."""
    asked = grammar.read(leaf.text)
    is_misplaced = isinstance(asked, Field) and asked.name == SORT and asked.value.lower() in ORDERS
    return meant(asked.name, asked.value) if isinstance(asked, Field) and not is_misplaced else ""


def _beside_others(part: Node, parts: Sequence[Node]) -> str:
    return grammar.spelled(part, alone=len(parts) == 1)


def _is_sort(part: Node) -> TypeGuard[Field]:
    return isinstance(part, Field) and part.name == SORT


def _checked(node: Node, text: str, *, is_within: bool = False) -> Node:
    """The tree with every value in its one spelling, and an `Unknown` in place of each that is none; so of an order
    that stands `is_within` a part of the tree.
    """
    match node:
        case Text():
            return node if words.has_word(node.text) else grammar.unknown(node, text, words.NEEDED)
        case Field(name=name) if is_within and name == SORT:
            return grammar.unknown(node, text, "orders the whole list, so it is neither excluded nor one side of an OR")
        case Field():
            return _field(node, text)
        case Not(part=part):
            return replace(node, part=_checked(part, text, is_within=True))
        case All(parts=parts):
            return replace(node, parts=tuple(_checked(part, text, is_within=is_within) for part in parts))
        case Either(parts=parts):
            return replace(node, parts=tuple(_checked(part, text, is_within=True) for part in parts))
    return node


def _with_one_order(root: Node, text: str) -> Node:
    """The tree with an `Unknown` in place of every order but the first."""
    if not isinstance(root, All):
        return root
    first = next(filter(_is_sort, root.parts), root)
    reason = f"comes after {grammar.spelled(first)}; a list has one order"
    others = (grammar.unknown(part, text, reason) if _is_sort(part) and part != first else part for part in root.parts)
    return replace(root, parts=tuple(others))


def _field(node: Field, text: str) -> Node:
    if node.name not in FIELDS:
        return grammar.unknown(node, text, nearest(node.name))
    known = FIELDS[node.name]
    if not node.value:
        return grammar.unknown(node, text, f"needs a value without a blank before it: {known.takes}")
    try:
        is_literal = node.literal and known.is_literal(node.value)
        return replace(node, value=node.value if is_literal else known.clean(node.value), literal=is_literal)
    except ValueError as problem:
        return grammar.unknown(node, text, str(problem))
