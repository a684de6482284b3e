"""The query language: parse text into a tree with positions, and print a tree in canonical form. Knows no fields.

    line   = all {OR all}          all  = part {[AND] part}          part = {- | NOT} ( "(" line ")" | term )
    term   = name:value | value    value = word | "several words"

Written by hand instead of with a parser library: queries are parsed while they are typed, so every text has a tree;
an error is a leaf (`Unknown`) with its position and a reason. `read(spelled(read(text))) == read(text)`.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeGuard

from core.errors import InvalidRequest

MAX_LENGTH, MAX_TERMS, MAX_DEPTH = 2000, 64, 8
_BLANK = re.compile("[\\s\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Blanks, and what no database stores: control characters and halves of a pair."""
_FIELD = re.compile(r"(?!https?://)([A-Za-z_]+):")
_RUN = re.compile(r'[^\s()"]+')
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
OPENING, CLOSING = "\u201c\u201d\u201e\u201f\u00ab", "\u201c\u201d\u201f\u00bb"
"""Typographic quotes, which phones and word processors write."""
_CURLY = re.compile(f"[{OPENING}]([^{OPENING}{CLOSING}]*)[{CLOSING}]")
_ESCAPE = re.compile(r'\\(["\\])')
SIGNS = ("AND", "OR", "NOT")
"""Operators: upper case and unquoted. AND is the default between adjacent parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)
    """Its position in the text."""


@dataclass(frozen=True, slots=True)
class Text(_Node):
    """Words to search for, in this order; a star at the end makes the last one a prefix."""

    text: str


@dataclass(frozen=True, slots=True)
class Field(_Node):
    """A field and its value. A `literal` value was quoted: it is a name even if it looks like an operator."""

    name: str
    value: str
    literal: bool = False


@dataclass(frozen=True, slots=True)
class Unknown(_Node):
    """An invalid part of the text, and what would be valid."""

    text: str
    reason: str = field(compare=False)

    @property
    def sentence(self) -> str:
        """The part and what would be valid."""
        shown = self.text if len(self.text) <= 80 else f"{self.text[:79]}…"
        return f"{shown} — {self.reason}"


@dataclass(frozen=True, slots=True)
class Not(_Node):
    """Everything that does not match the part."""

    part: "Node"


@dataclass(frozen=True, slots=True)
class All(_Node):
    """What matches every part; without parts, everything."""

    parts: tuple["Node", ...] = ()


@dataclass(frozen=True, slots=True)
class Either(_Node):
    """What matches at least one part."""

    parts: tuple["Node", ...]


Leaf = Text | Field | Unknown
Node = Leaf | Not | All | Either


def read(text: str) -> Node:
    """Parse a text. Never fails; a text over a limit is one `Unknown`."""
    text = spaced(text).rstrip()
    if len(text) > MAX_LENGTH:
        return _whole(text, f"too long: {len(text):,} characters (maximum {MAX_LENGTH:,})")
    tokens = _paired(_closed(list(_tokens(text)), text))
    if sum(isinstance(token, Text | Field | Unknown) for token in tokens) > MAX_TERMS:
        return _whole(text, f"too many terms (maximum {MAX_TERMS})")
    if _depth(tokens) > MAX_DEPTH:
        return _whole(text, f"brackets are nested too deep (maximum {MAX_DEPTH})")
    return _Reader(tokens).line()


def spaced(text: str) -> str:
    """The text with a blank in place of each character that a query reads as one."""
    return _BLANK.sub(" ", text)


def spelled(node: Node, *, alone: bool = True) -> str:
    """The canonical text of a tree; `alone`: nothing is next to it, so it needs no brackets."""
    match node:
        case Text(text=text):
            return text if _is_bare(text) else _quoted(text)
        case Field(name=name, value=value, literal=literal):
            return f"{name}:{value if _is_run(value) and not literal else _quoted(value)}"
        case Unknown(text=text) if text in SIGNS or not text.strip("-"):
            return f"({text})"  # without brackets it would act as an operator on its neighbours
        case Unknown(text=text):
            return text
        case Not(part=part):
            return f"-{spelled(part, alone=False)}"
        case All(parts=parts):
            inner = " ".join(spelled(part, alone=False) for part in parts)
        case Either(parts=parts):
            # AND binds tighter than OR.
            inner = " OR ".join(spelled(part, alone=isinstance(part, All)) for part in parts)
    return inner if alone else f"({inner})"


def changed(node: Node, change: Callable[[Field], Field]) -> Node:
    """The tree with `change` applied to each field."""
    return replaced(node, lambda leaf: change(leaf) if isinstance(leaf, Field) else leaf)


def replaced(node: Node, change: Callable[[Leaf], Leaf]) -> Node:
    """The tree with `change` applied to each term."""
    match node:
        case Not(part=part):
            return replace(node, part=replaced(part, change))
        case All(parts=parts) | Either(parts=parts):
            return replace(node, parts=tuple(replaced(part, change) for part in parts))
    return change(node)


def leaves(node: Node) -> Iterator[Leaf]:
    """The terms of a tree, from left to right."""
    match node:
        case Not(part=part):
            yield from leaves(part)
        case All(parts=parts) | Either(parts=parts):
            for part in parts:
                yield from leaves(part)
        case _:
            yield node


def unknown(node: Node, text: str, reason: str) -> Unknown:
    """A node as an invalid part of the text."""
    return Unknown(text[node.start : node.end], reason, start=node.start, end=node.end)


def near(name: str, names: Iterable[str]) -> str:
    """The name that was probably meant; empty if none is similar."""
    return next(iter(difflib.get_close_matches(name, names, n=1, cutoff=0.6)), "")


def refusal(unknown: Sequence[tuple[Unknown, str]], *, field: str = "q") -> InvalidRequest:
    """The API error for a query sent in this field: all invalid parts with positions and suggestions."""
    reasons = []
    for leaf, meant in unknown:
        better = f" Use {meant} instead." if leaf.reason.endswith(".") else f"; use {meant} instead"
        reasons.append(f"{leaf.sentence}{better if meant else ''} (at character {leaf.start + 1})")
    more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
    return InvalidRequest(
        f"{field}: {reasons[0]}{more}", details=[{"field": field, "reason": reason} for reason in reasons[:20]]
    )


def _whole(text: str, reason: str) -> Unknown:
    return Unknown(text, reason, start=0, end=len(text))


def _is_bare(text: str) -> bool:
    return _is_run(text) and text not in SIGNS and not text.startswith("-") and not _FIELD.match(text)


def _is_run(text: str) -> bool:
    """Whether it is read as it stands: no blanks and brackets, no quotes that would be taken for those around."""
    return bool(_RUN.fullmatch(text)) and not _CURLY.match(text)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@dataclass(frozen=True, slots=True)
class _Mark(_Node):
    """`(`, `)`, `AND` or `OR` between two parts, `-` or `NOT` before one."""

    sign: str


_Token = Text | Field | Unknown | _Mark


def _tokens(text: str) -> Iterator[_Token]:
    place = 0
    while place < len(text):
        character = text[place]
        if character == " ":
            place += 1
            continue
        if character in "()":
            token: _Token = _Mark(character, start=place, end=place + 1)
        elif character == "-":
            dashes = re.compile("-+").match(text, place)
            assert dashes is not None
            token = _Mark(dashes[0], start=place, end=dashes.end())
        else:
            token = _term(text, place)
        yield token
        place = token.end


def _term(text: str, place: int) -> _Token:
    """A field with its value, a quoted text, or a word."""
    named = _FIELD.match(text, place)
    at = named.end() if named else place
    if curly := _CURLY.match(text, at):
        is_quoted, value, end = True, curly[1], curly.end()
    elif is_quoted := text[at : at + 1] == '"':
        quoted = _QUOTED.match(text, at)
        if quoted is None:
            return Unknown(text[place:], 'has no closing "', start=place, end=len(text))
        value, end = _ESCAPE.sub(r"\1", quoted[1]), quoted.end()
    else:
        run = _RUN.match(text, at)
        value, end = (run[0], run.end()) if run else ("", at)
        if not named and value in SIGNS:
            return _Mark(value, start=place, end=end)
    if named:
        return Field(named[1].lower(), value, is_quoted, start=place, end=end)
    return Text(value, start=place, end=end)


def _closed(tokens: list[_Token], text: str) -> list[_Token]:
    """The tokens, with everything from a bracket that is never closed as one `Unknown`: it is not known what is meant
    to be inside, and whoever wrote it goes on from there.
    """
    opened: list[int] = []
    for place, token in enumerate(tokens):
        if _is(token, "("):
            opened.append(place)
        elif _is(token, ")") and opened:
            opened.pop()
    if not opened:
        return tokens
    start = tokens[opened[0]].start
    return [*tokens[: opened[0]], Unknown(text[start:], "has no closing bracket", start=start, end=len(text))]


def closing(text: str) -> str:
    """The text with the brackets closed that it leaves open; empty if that is still no valid query."""
    open_ = sum(_is(token, "(") - _is(token, ")") for token in _tokens(text))
    closed = text + ")" * open_
    return "" if any(isinstance(leaf, Unknown) for leaf in leaves(read(closed))) else closed


def _paired(tokens: list[_Token]) -> list[_Token]:
    """The tokens without ANDs; misplaced operators become `Unknown`: brackets that close nothing, lone dashes, ANDs and
    ORs without both sides, NOTs before nothing.
    """
    depth, lone = 0, set()
    for place, token in enumerate(tokens):
        if _is(token, ")") and not depth:
            lone.add(place)
        else:
            depth += _is(token, "(") - _is(token, ")")
    found: list[_Token] = []
    for place, token in enumerate(tokens):
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        if place in lone:
            found.append(_lone(token, "unbalanced bracket"))
        elif _is_dash(token):
            if not _excludes(tokens, place, lone):
                token = _lone(token, "needs a term directly after it, without a space")
            elif isinstance(after, _Mark) and after.sign in SIGNS:
                tokens[place + 1] = Text(after.sign, start=token.start, end=after.end)
            found.append(token)
        elif _is(token, "NOT"):
            if not _excludes(tokens, place, lone):
                token = _lone(token, f"needs a term after it. {_AS_WORD}")
            found.append(token)
        elif _is(token, "AND", "OR"):
            is_between = found and not _is(found[-1], "(", "OR") and (place + 1 in lone or _begins(after))
            if not is_between:
                found.append(_lone(token, f"needs a term on both sides. {_AS_WORD}"))
            elif _is(token, "OR"):
                found.append(token)
        else:
            found.append(token)
    return found


_AS_WORD = "Quote it to search for the word."


def _begins(token: _Token | None) -> bool:
    """Whether a part can begin with this token."""
    return token is not None and not _is(token, ")", "AND", "OR")


def _excludes(tokens: list[_Token], place: int, lone: set[int]) -> bool:
    """Whether a term follows the dash or NOT at that place; a dash needs it without a space."""
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    if after is None or place + 1 in lone or _is(after, ")"):
        return False
    if _is_dash(tokens[place]):
        return after.start == tokens[place].end
    return _begins(after) and (not _is_dash(after) or _excludes(tokens, place + 1, lone))


def _is_dash(token: _Token) -> TypeGuard[_Mark]:
    return isinstance(token, _Mark) and token.sign[0] == "-"


def _turns(token: _Token) -> int:
    """How often a token negates what follows it."""
    return len(token.sign) if _is_dash(token) else int(_is(token, "NOT"))


def _is(token: _Token | None, *signs: str) -> bool:
    return isinstance(token, _Mark) and token.sign in signs


def _lone(token: _Token, reason: str) -> Unknown:
    assert isinstance(token, _Mark)
    return Unknown(token.sign, reason, start=token.start, end=token.end)


def _depth(tokens: list[_Token]) -> int:
    depth = deepest = 0
    for token in tokens:
        depth += _is(token, "(") - _is(token, ")")
        deepest = max(deepest, depth)
    return deepest


class _Reader:
    """Recursive descent over tokens that `_paired` has validated."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens, self._place = tokens, 0

    def line(self) -> Node:
        begun, parts = self._place, [self._all()]
        while self._take("OR"):
            parts.append(self._all())
        return self._joined(Either, parts, begun)

    def _all(self) -> Node:
        begun, parts = self._place, list[Node]()
        while self._place < len(self._tokens) and not _is(self._tokens[self._place], ")", "OR"):
            parts.append(self._part())
        return self._joined(All, parts, begun)

    def _part(self) -> Node:
        start, turns = self._tokens[self._place].start, 0
        while more := _turns(self._tokens[self._place]):
            turns += more
            self._place += 1
        part = self._plain()
        if turns % 2:
            part = part.part if isinstance(part, Not) else Not(part)
        if isinstance(part, Text | Field | Unknown):
            return part  # errors in it are shown at its own position
        return replace(part, start=start, end=self._tokens[self._place - 1].end)

    def _plain(self) -> Node:
        """A term, or a part in brackets."""
        token = self._tokens[self._place]
        self._place += 1
        if not isinstance(token, _Mark):
            return token
        inner = self.line()
        end = self._tokens[self._place].end
        self._place += 1
        return inner if inner != All() else Unknown("()", "is empty", start=token.start, end=end)

    def _take(self, sign: str) -> bool:
        taken = self._place < len(self._tokens) and _is(self._tokens[self._place], sign)
        self._place += taken
        return taken

    def _joined(self, kind: type[All] | type[Either], parts: list[Node], begun: int) -> Node:
        """One node for the parts: nested parts of the same kind are merged, a single part is returned as it is."""
        merged: list[Node] = []
        for part in parts:
            merged += part.parts if isinstance(part, kind) else [part]
        if len(merged) == 1:
            return merged[0]
        span = {"start": self._tokens[begun].start, "end": self._tokens[self._place - 1].end} if merged else {}
        return kind(tuple(merged), **span)
