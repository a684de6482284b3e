"""A query line: text to a tree with places, and a tree to its one spelling. It knows no field.

    line   = all {OR all}          all  = part {[AND] part}          part = {- | NOT} ( "(" line ")" | term )
    term   = name:value | value    value = word | "several words"

Own code and no parser library: a line is read while somebody types it, so every text has a tree, and what is wrong in
it is a leaf like any other (`Unknown`) with its place and a reason. `read(spelled(read(text))) == read(text)`.
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
_ESCAPE = re.compile(r'\\(["\\])')
SIGNS = ("AND", "OR", "NOT")
"""Words that are signs, in capitals and bare. Between parts that stand side by side, AND says what holds anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)
    """Its place in the text."""


@dataclass(frozen=True, slots=True)
class Text(_Node):
    """Words to look for, in this order; a star at the end leaves the last one open."""

    text: str


@dataclass(frozen=True, slots=True)
class Field(_Node):
    """What a field is asked for. A `literal` value stood in quotes, and is a name where it could be a sign as well."""

    name: str
    value: str
    literal: bool = False


@dataclass(frozen=True, slots=True)
class Unknown(_Node):
    """A stretch of the text that means nothing, and what would be right."""

    text: str
    reason: str = field(compare=False)

    @property
    def sentence(self) -> str:
        """The stretch and what would be right."""
        shown = self.text if len(self.text) <= 80 else f"{self.text[:79]}…"
        return f"{shown} — {self.reason}"


@dataclass(frozen=True, slots=True)
class Not(_Node):
    """Whatever this does not hold for."""

    part: "Node"


@dataclass(frozen=True, slots=True)
class All(_Node):
    """What every part holds for; without parts, everything."""

    parts: tuple["Node", ...] = ()


@dataclass(frozen=True, slots=True)
class Either(_Node):
    """What one part at least holds for."""

    parts: tuple["Node", ...]


Node = Text | Field | Unknown | Not | All | Either


def read(text: str) -> Node:
    """The tree of a text. It never fails; a text over a limit is one `Unknown`."""
    text = _BLANK.sub(" ", text).rstrip()
    if len(text) > MAX_LENGTH:
        return _whole(text, f"has {len(text):,} characters; a query has {MAX_LENGTH:,} at most")
    tokens = _paired(list(_tokens(text)))
    if sum(isinstance(token, Text | Field | Unknown) for token in tokens) > MAX_TERMS:
        return _whole(text, f"has too many terms; a query has {MAX_TERMS} at most")
    if _depth(tokens) > MAX_DEPTH:
        return _whole(text, f"has brackets in brackets in brackets; they go {MAX_DEPTH} deep at most")
    return _Reader(tokens).line()


def spelled(node: Node, *, alone: bool = True) -> str:
    """The one spelling of a tree; `alone` says that nothing stands beside it, so that no bracket is needed."""
    match node:
        case Text(text=text):
            return text if _is_bare(text) else _quoted(text)
        case Field(name=name, value=value, literal=literal):
            return f"{name}:{value if _RUN.fullmatch(value) and not literal else _quoted(value)}"
        case Unknown(text=text) if text in SIGNS or not text.strip("-"):
            return f"({text})"  # bare, it would find something to stand between, before, or behind
        case Unknown(text=text):
            return text
        case Not(part=part):
            return f"-{spelled(part, alone=False)}"
        case All(parts=parts):
            inner = " ".join(spelled(part, alone=False) for part in parts)
        case Either(parts=parts):
            # Together binds closer than OR.
            inner = " OR ".join(spelled(part, alone=isinstance(part, All)) for part in parts)
    return inner if alone else f"({inner})"


def changed(node: Node, change: Callable[[Field], Field]) -> Node:
    """A tree with another field in the place of each."""
    match node:
        case Field():
            return change(node)
        case Not(part=part):
            return Not(changed(part, change))
        case All(parts=parts):
            return All(tuple(changed(part, change) for part in parts))
        case Either(parts=parts):
            return Either(tuple(changed(part, change) for part in parts))
    return node


def leaves(node: Node) -> Iterator[Text | Field | Unknown]:
    """Every term of a tree, from left to right."""
    match node:
        case Not(part=part):
            yield from leaves(part)
        case All(parts=parts) | Either(parts=parts):
            for part in parts:
                yield from leaves(part)
        case _:
            yield node


def unknown(node: Node, text: str, reason: str) -> Unknown:
    """A part of a text that means nothing after all."""
    return Unknown(text[node.start : node.end], reason, start=node.start, end=node.end)


def near(name: str, names: Iterable[str]) -> str:
    """The one of these names that was probably meant; empty where none is near."""
    return next(iter(difflib.get_close_matches(name, names, n=1, cutoff=0.6)), "")


def refusal(unknown: Sequence[tuple[Unknown, str]], *, field: str = "q") -> InvalidRequest:
    """What a program is told of a line, which it sent as this field: all that is not understood, by its place, each
    with what was probably meant.
    """
    reasons = []
    for leaf, meant in unknown:
        better = f" Make it {meant}." if leaf.reason.endswith(".") else f"; make it {meant}"
        reasons.append(f"{leaf.sentence}{better if meant else ''} (at character {leaf.start + 1})")
    more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
    return InvalidRequest(
        f"{field}: {reasons[0]}{more}", details=[{"field": field, "reason": reason} for reason in reasons[:20]]
    )


def _whole(text: str, reason: str) -> Unknown:
    return Unknown(text, reason, start=0, end=len(text))


def _is_bare(text: str) -> bool:
    return bool(_RUN.fullmatch(text)) and text not in SIGNS and not text.startswith("-") and not _FIELD.match(text)


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
    """A field with its value, words in quotes, or a word."""
    named = _FIELD.match(text, place)
    at = named.end() if named else place
    if is_quoted := text[at : at + 1] == '"':
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


def _paired(tokens: list[_Token]) -> list[_Token]:
    """The tokens less the ANDs, with every mark that has nothing to do made an `Unknown`: single brackets, dashes, ANDs
    and ORs at an edge, NOTs before nothing.
    """
    opened: list[int] = []
    lone = set()
    for place, token in enumerate(tokens):
        if _is(token, "("):
            opened.append(place)
        elif _is(token, ")"):
            lone.add(place) if not opened else opened.pop()
    lone.update(opened)
    found: list[_Token] = []
    for place, token in enumerate(tokens):
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        if place in lone:
            found.append(_lone(token, "has no bracket that goes with it"))
        elif _is_dash(token):
            if not _excludes(tokens, place, lone):
                token = _lone(token, "excludes what follows it without a blank, and nothing does")
            elif isinstance(after, _Mark) and after.sign in SIGNS:
                tokens[place + 1] = Text(after.sign, start=token.start, end=after.end)
            found.append(token)
        elif _is(token, "NOT"):
            if not _excludes(tokens, place, lone):
                token = _lone(token, f"excludes what follows it, and nothing does; {_AS_WORD}")
            found.append(token)
        elif _is(token, "AND", "OR"):
            is_between = found and not _is(found[-1], "(", "OR") and (place + 1 in lone or _begins(after))
            if not is_between:
                found.append(_lone(token, f"needs something on both sides; {_AS_WORD}"))
            elif _is(token, "OR"):
                found.append(token)
        else:
            found.append(token)
    return found


_AS_WORD = "in quotes it is a word"


def _begins(token: _Token | None) -> bool:
    """Whether a part can begin with this."""
    return token is not None and not _is(token, ")", "AND", "OR")


def _excludes(tokens: list[_Token], place: int, lone: set[int]) -> bool:
    """Whether a dash or a NOT at that place has something to exclude; a dash only what it touches."""
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    if after is None or place + 1 in lone or _is(after, ")"):
        return False
    if _is_dash(tokens[place]):
        return after.start == tokens[place].end
    return _begins(after) and (not _is_dash(after) or _excludes(tokens, place + 1, lone))


def _is_dash(token: _Token) -> TypeGuard[_Mark]:
    return isinstance(token, _Mark) and token.sign[0] == "-"


def _turns(token: _Token) -> int:
    """How often a sign turns the meaning of what follows it."""
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
    """Recursive descent over tokens of which every one has its place."""

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
            return part  # what is wrong in it is named by its own characters
        return replace(part, start=start, end=self._tokens[self._place - 1].end)

    def _plain(self) -> Node:
        """A term, or what stands in brackets."""
        token = self._tokens[self._place]
        self._place += 1
        if not isinstance(token, _Mark):
            return token
        inner = self.line()
        end = self._tokens[self._place].end
        self._place += 1
        return inner if inner != All() else Unknown("()", "has nothing in it", start=token.start, end=end)

    def _take(self, sign: str) -> bool:
        taken = self._place < len(self._tokens) and _is(self._tokens[self._place], sign)
        self._place += taken
        return taken

    def _joined(self, kind: type[All] | type[Either], parts: list[Node], begun: int) -> Node:
        """Parts of the same kind merge into it, and one part stands for itself. It is as long as its tokens."""
        merged: list[Node] = []
        for part in parts:
            merged += part.parts if isinstance(part, kind) else [part]
        if len(merged) == 1:
            return merged[0]
        span = {"start": self._tokens[begun].start, "end": self._tokens[self._place - 1].end} if merged else {}
        return kind(tuple(merged), **span)
