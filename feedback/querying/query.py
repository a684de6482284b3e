"""A query as it was typed: its terms, what is wrong in it, its one spelling, and the same with a term more or less."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from core import grammar
from core.grammar import All, Either, Field, Node, Not, Text, Unknown
from feedback.querying import words
from feedback.querying.fields import FIELDS, meant, nearest


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

    def with_meant(self, place: int) -> "Query":
        """The query with what the term at that place probably meant."""
        part, term = self.parts[place], self.terms[place]
        return parse(self.text[: part.start] + (term.meant or term.text) + self.text[part.end :])

    def with_term(self, text: str, *, at: int | None = None) -> "Query":
        """The query with one term more, at that place or the end; one that it has already changes nothing."""
        more = [part for part in parse(text).parts if part not in self.parts]
        at = len(self.parts) if at is None else at
        parts = [*self.parts[:at], *more, *self.parts[at:]]
        return parse(" ".join(_beside_others(part, parts) for part in parts))


def parse(text: str) -> Query:
    """Read a query. It never fails: what it does not understand is a problem with its text, its place and a reason."""
    root = grammar.read(text)
    return Query(text, _checked(root, text))


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
    return meant(asked.name, asked.value) if isinstance(asked, Field) else ""


def _beside_others(part: Node, parts: Sequence[Node]) -> str:
    return grammar.spelled(part, alone=len(parts) == 1)


def _checked(node: Node, text: str) -> Node:
    """The tree with every value in its one spelling, and an `Unknown` in place of each that is none."""
    match node:
        case Text():
            return node if words.has_word(node.text) else _unknown(node, text, words.NEEDED)
        case Field():
            return _field(node, text)
        case Not(part=part):
            return replace(node, part=_checked(part, text))
        case All(parts=parts) | Either(parts=parts):
            return replace(node, parts=tuple(_checked(part, text) for part in parts))
    return node


def _field(node: Field, text: str) -> Node:
    if node.name not in FIELDS:
        return _unknown(node, text, nearest(node.name))
    known = FIELDS[node.name]
    if not node.value:
        return _unknown(node, text, f"needs a value without a blank before it: {known.takes}")
    try:
        return replace(node, value=known.clean(node.value))
    except ValueError as problem:
        return _unknown(node, text, str(problem))


def _unknown(node: Node, text: str, reason: str) -> Unknown:
    return Unknown(text[node.start : node.end], reason, start=node.start, end=node.end)
