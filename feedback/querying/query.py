"""Parsed queries: their terms, problems and canonical spelling, and editing by term."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from typing import TypeGuard

from core import fulltext, grammar, ids, moments, sorting, vocabulary
from core.destinations import pasted
from core.grammar import Field, Leaf, Node, Not, Text, Unknown
from core.sorting import SORT, is_sort
from feedback.querying.fields import ANY, DATED, FIELDS, HAS, ID, ORG, term_of
from feedback.querying.ordering import NEWEST, ORDERS, Order

_OTHER_SIGNS = re.compile(r"([!~]?)(\w+)(!=|==?|!?:)(.+)")
_OFTEN_MEANT = ("sentiment", "is", "category", "outcome", "check")
"""The fields whose values are often typed alone."""
_OPEN, _RESOLVED = {"open", "unclaimed", "snoozed", "due"}, {"resolved", "revisited"}
"""The values of `is` with which a report is open, and resolved."""


@dataclass(frozen=True, slots=True)
class Term:
    """A top-level term, all of which must match. `text` is as typed; `reason` says what is invalid in it."""

    text: str
    canonical: str
    reason: str
    meant: str = ""
    """The term that was probably meant instead, if anything is similar."""


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query. Two are equal if their trees are."""

    text: str = field(compare=False)
    root: Node

    @property
    def parts(self) -> tuple[Node, ...]:
        """The top-level parts, all of which must match."""
        return sorting.parts_of(self.root)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The parts as terms for people."""
        return tuple(_term(self.text, part, _beside_others(part, self.parts)) for part in self.parts)

    @property
    def problems(self) -> tuple[Unknown, ...]:
        """The invalid parts, in order. None is ignored: a query with a problem finds nothing."""
        return tuple(leaf for leaf in grammar.leaves(self.root) if isinstance(leaf, Unknown))

    @property
    def canonical(self) -> str:
        """The canonical spelling."""
        return grammar.spelled(self.root)

    @property
    def order(self) -> Order:
        """The sort order."""
        return ORDERS[sorting.order_of(self.root, NEWEST.name)]

    @property
    def is_everything(self) -> bool:
        """Whether it matches every report; a sort order alone does."""
        return all(is_sort(part) for part in self.parts)

    @property
    def words(self) -> tuple[str, ...]:
        """The words and phrases to search for."""
        return tuple(leaf.text for leaf in grammar.leaves(self.root) if isinstance(leaf, Text))

    @property
    def is_digested(self) -> bool:
        """Whether it needs data from the digest, which runs after a report is stored."""
        asked = [leaf for leaf in grammar.leaves(self.root) if isinstance(leaf, Field)]
        return bool(self.words) or any(FIELDS[leaf.name].needs_digest(leaf.value) for leaf in asked)

    def without(self, place: int) -> "Query":
        """The query without the term at that position."""
        rest = [part for each, part in enumerate(self.parts) if each != place]
        return parse(" ".join(_beside_others(part, rest) for part in rest))

    @property
    def state(self) -> str:
        """What all its reports are, `open` or `resolved`; empty if it finds both, or if that cannot be told."""
        asked = {part.value for part in self.parts if _is_of(part, "is")}
        return "open" if asked & _OPEN else "resolved" if asked & _RESOLVED else ""

    @property
    def report_id(self) -> str:
        """The report that it asks for alone by its id; empty for any other query."""
        asked = [part.value for part in self.parts if _is_of(part, ID)]
        return asked[0] if len(asked) == len(self.parts) == 1 and asked[0].startswith(ids.FEEDBACK) else ""

    @property
    def org(self) -> str:
        """The org that it is limited to, as it was typed; empty for all."""
        return next((part.value for part in self.parts if _is_of(part, ORG)), "")

    def of_org(self, org: str) -> "Query":
        """The query limited to another org, or to none if empty."""
        said = [term_of(ORG, org)] if org else []
        parts = [*(part for part in self.parts if not _is_of(part, ORG)), *said]
        return parse(" ".join(_beside_others(part, parts) for part in parts))

    def sorted_by(self, order: Order) -> "Query":
        """The query with this order instead of its own; the default order is not written out."""
        said = [] if order == NEWEST else [Field(SORT, order.name)]
        parts = [*(part for part in self.parts if not is_sort(part)), *said]
        return parse(" ".join(_beside_others(part, parts) for part in parts))

    def anchored(self, tz: tzinfo) -> "Query":
        """The query with the zone added to all dates without one, so that they keep meaning the days of its reader."""

        def zoned(leaf: Node) -> Node:
            if isinstance(leaf, Field) and leaf.name in DATED:
                return replace(leaf, value=moments.in_zone(leaf.value, tz))
            return leaf

        return self._with_leaves(zoned)

    def with_word_as(self, word: str, term: Node) -> "Query":
        """The query with a term in place of a word."""
        return self._with_leaves(lambda leaf: term if isinstance(leaf, Text) and leaf.text == word else leaf)

    def worded(self, field: str) -> "Query":
        """The query with its words searched only in this field."""
        return self._with_leaves(lambda leaf: Field(field, leaf.text) if isinstance(leaf, Text) else leaf)

    def _with_leaves(self, change: Callable[[Node], Node]) -> "Query":
        """The query with each leaf changed and all else as it was typed."""
        text = self.text
        for leaf in reversed([*grammar.leaves(self.root)]):
            if (other := change(leaf)) != leaf:
                text = text[: leaf.start] + grammar.spelled(other) + text[leaf.end :]
        return self if text == self.text else parse(text)

    def with_name(self, field: str, value: str, name: str) -> "Query":
        """The query with `name` in place of `value` for a field."""
        asked = (field, value)
        root = grammar.changed(
            self.root, lambda each: term_of(field, name) if (each.name, each.value) == asked else each
        )
        return parse(grammar.spelled(root))

    def with_meant(self, place: int) -> "Query":
        """The query with the suggested correction of the term at that position."""
        part, term = self.parts[place], self.terms[place]
        return parse(self.text[: part.start] + (term.meant or term.text) + self.text[part.end :])

    def with_term(self, text: str, *, at: int | None = None) -> "Query":
        """The query with another term, at that position or the end. A term that it already has changes nothing; a sort
        order replaces the previous one. An id is asked for alone: whatever else is asked may not be true of it.
        """
        if _is_of(parse(text).root, ID):
            return parse(text)
        more = [part for part in parse(text).parts if part not in self.parts]
        at = len(self.parts) if at is None else at
        is_sorted_anew = any(is_sort(part) for part in more)
        old = [None if is_sorted_anew and is_sort(part) else part for part in self.parts]
        parts = [part for part in (*old[:at], *more, *old[at:]) if part is not None]
        return parse(" ".join(_beside_others(part, parts) for part in parts))


def parse(text: str) -> Query:
    """Parse a query. It never fails: each invalid part becomes a problem with its text, position and reason."""
    return Query(text, sorting.once(grammar.replaced(grammar.read(text), lambda leaf: _checked(leaf, text)), text))


def _term(text: str, part: Node, canonical: str) -> Term:
    wrong = [leaf for leaf in grammar.leaves(part) if isinstance(leaf, Unknown)]
    reason = "; ".join(leaf.reason if leaf == part else leaf.sentence for leaf in wrong)
    return Term(text[part.start : part.end], canonical, reason, _meant(text, part, wrong))


def _meant(text: str, part: Node, wrong: Sequence[Unknown]) -> str:
    """The part as it was probably meant; empty if one of its terms is similar to nothing known."""
    said, at = "", part.start
    for leaf in wrong:
        near = meant_by(leaf)
        if not near:
            return ""
        said, at = said + text[at : leaf.start] + near, leaf.end
    return said + text[at : part.end] if wrong else ""


def meant_by(leaf: Unknown) -> str:
    """What was probably meant by an invalid part; empty if it is similar to nothing known."""
    return "" if sorting.is_misplaced(leaf, ORDERS) else vocabulary.meant(leaf, FIELDS)


def _beside_others(part: Node, parts: Sequence[Node]) -> str:
    return grammar.spelled(part, alone=len(parts) == 1)


def term_meant(word: str) -> Node | None:
    """The term that was probably meant by words: one with the signs of other languages (`!label:x`, `label!=x`), or a
    value that a field has.
    """
    if found := _OTHER_SIGNS.fullmatch(word):
        excluding, name, sign, value = found.groups()
        term = parse(grammar.spelled(Field(name.lower(), value))).root
        if not isinstance(term, Field) or term.name == SORT:
            return None
        return Not(term) if excluding or sign.startswith("!") else term
    value = word.lower().replace(" ", "_")
    return next((Field(name, value) for name in _OFTEN_MEANT if value in FIELDS[name].values), None)


def _is_of(part: Node, field: str) -> TypeGuard[Field]:
    return isinstance(part, Field) and part.name == field


def _checked(node: Leaf, text: str) -> Leaf:
    """The term with its value in its canonical spelling, or an `Unknown` in place of an invalid one."""
    match node:
        case Text() if key := pasted([node.text], ids.FEEDBACK):
            return Field(ID, ids.FEEDBACK + key, start=node.start, end=node.end)
        case Text() if key := pasted([node.text], *ids.THREAD_SPELLINGS):
            return Field(ID, ids.THREAD + key, start=node.start, end=node.end)
        case Text():
            return node if fulltext.has_word(node.text) else grammar.unknown(node, text, fulltext.NEEDED)
        case Field(name=name, value=value, literal=True) if name in FIELDS and FIELDS[name].is_literal(value):
            return node
        case Field(name=name, value=value, literal=False) if value == ANY and name in HAS:
            return replace(node, name="has", value=name)
        case Field():
            return vocabulary.checked(node, text, FIELDS)
    return node
