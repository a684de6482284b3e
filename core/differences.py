"""Differences between two texts, by line or, in rendered text, by word. Built on difflib."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from itertools import groupby

from django.utils.safestring import SafeString

from core.markdown import vouched

MAX_LINES = 2_000
"""Maximum number of lines compared in either text."""
MAX_STEPS = 5_000_000
"""Comparison steps per page, about a quarter of a second. The cost of repeated words is cubic in their number."""
_AROUND = 3
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_MAX_WORDS = 120
_MAX_PAIRS = 40
_PIECES = re.compile(r"""<(?:[^"'>]|"[^"]*"|'[^']*')*>|&[^;\s]*;|\w+|\s+|[^\w\s]""")
_MAX_PIECES = 3_000
_LITTLE = 0.3
"""Texts with a lower similarity are not marked: marking nearly every word helps nobody."""


@dataclass(slots=True)
class Work:
    """The remaining steps, shared by all comparisons on a page."""

    left: int = MAX_STEPS


class TooMuch(Exception):
    """The comparison needs more steps than are left."""


class _Matcher(SequenceMatcher[str]):
    """Counts its steps in advance: one for each place where a piece of one side occurs in the other."""

    def __init__(self, before: Sequence[str], after: Sequence[str], work: Work, *, autojunk: bool = False) -> None:
        super().__init__(None, before, after, autojunk)
        self._before, self._work = before, work

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        places: dict[str, list[int]] = self.b2j  # type: ignore[attr-defined]
        steps = sum(1 + len(places.get(piece, ())) for piece in self._before[alo:ahi])
        if steps > self._work.left:
            raise TooMuch
        self._work.left -= steps
        return super().find_longest_match(alo, ahi, blo, bhi)

    def shares(self, least: float) -> bool:
        """Whether the similarity is at least `least`; False too if finding out needs more steps than are left."""
        try:
            return self.quick_ratio() >= least and self.ratio() >= least
        except TooMuch:
            return False


@dataclass(frozen=True, slots=True)
class Line:
    """One line: `same`, `gone` or `new`, its number on each side, its text in pieces, each changed or not."""

    kind: str
    old: int | None
    new: int | None
    pieces: tuple[tuple[bool, str], ...]


@dataclass(frozen=True, slots=True)
class Fold:
    """Unchanged lines that are left out."""

    count: int
    kind: str = "fold"


@dataclass(frozen=True, slots=True)
class Difference:
    """How two texts differ; `rows` is empty where there is too much to be compared."""

    rows: tuple[Line | Fold, ...]
    gone: int
    new: int
    is_too_much: bool = False

    @property
    def is_same(self) -> bool:
        """Whether nothing changed."""
        return not (self.gone or self.new or self.is_too_much)


def compared(old: str, new: str, work: Work | None = None) -> Difference:
    """How `new` differs from `old`: unchanged stretches are folded, changed words are told from the rest of a line.

    `work` is shared by the comparisons of a page.
    """
    before, after = old.split("\n"), new.split("\n")
    if max(len(before), len(after)) > MAX_LINES:
        return Difference((), 0, 0, is_too_much=old != new)
    try:
        rows = tuple(_rows(before, after, work or Work()))
    except TooMuch:
        return Difference((), 0, 0, is_too_much=True)
    kinds = [row.kind for row in rows]
    return Difference(rows, kinds.count("gone"), kinds.count("new"))


def marked(old: SafeString, new: SafeString, work: Work) -> tuple[SafeString, SafeString]:
    """Two rendered texts, with words that occur in only one of them marked.

    Both are returned unchanged if they have little in common or comparing them needs more steps than are left.

    Only text between tags is marked, so well-formed, sanitised HTML stays so.
    """
    before, after = _PIECES.findall(old), _PIECES.findall(new)
    if old == new or max(len(before), len(after)) > _MAX_PIECES:
        return old, new
    ours, theirs = ([at for at, piece in enumerate(each) if _is_word(piece)] for each in (before, after))
    matcher = _Matcher([before[at] for at in ours], [after[at] for at in theirs], work)
    if not matcher.shares(_LITTLE):
        return old, new
    gone, added = set(ours), set(theirs)
    for block in matcher.get_matching_blocks():
        gone.difference_update(ours[block.a : block.a + block.size])
        added.difference_update(theirs[block.b : block.b + block.size])
    return _wrapped(before, gone, "del"), _wrapped(after, added, "ins")


def _is_word(piece: str) -> bool:
    return not piece.isspace() and not (piece.startswith("<") and piece.endswith(">"))


def _wrapped(pieces: Sequence[str], changed: set[int], tag: str) -> SafeString:
    """The pieces, with every run of changed words and the spaces between them in one element."""
    inside = {at for at, piece in enumerate(pieces) if piece.isspace() and {at - 1, at + 1} <= changed}
    runs = groupby(range(len(pieces)), (changed | inside).__contains__)
    texts = ((is_changed, "".join(pieces[at] for at in run)) for is_changed, run in runs)
    return vouched("".join(f"<{tag}>{text}</{tag}>" if is_changed else text for is_changed, text in texts))


def _rows(before: Sequence[str], after: Sequence[str], work: Work) -> Iterator[Line | Fold]:
    for tag, a, b, c, d in _Matcher(before, after, work, autojunk=True).get_opcodes():
        if tag == "equal":
            yield from _same(before, a, c, b - a, is_first=a == 0, is_last=b == len(before) and d == len(after))
        elif tag == "replace" and b - a == d - c <= _MAX_PAIRS:
            pairs = [_pair(one, other, work) for one, other in zip(before[a:b], after[c:d], strict=True)]
            yield from (Line("gone", a + at + 1, None, pair[0]) for at, pair in enumerate(pairs))
            yield from (Line("new", None, c + at + 1, pair[1]) for at, pair in enumerate(pairs))
        else:
            yield from (Line("gone", at + 1, None, ((False, before[at]),)) for at in range(a, b))
            yield from (Line("new", None, at + 1, ((False, after[at]),)) for at in range(c, d))


def _same(before: Sequence[str], a: int, c: int, count: int, *, is_first: bool, is_last: bool) -> Iterator[Line | Fold]:
    """Unchanged lines: those next to a change are shown, the middle is folded."""
    head, tail = (0 if is_first else _AROUND), (0 if is_last else _AROUND)
    if count <= head + tail + 1:
        head, tail = count, 0
    yield from (_plain(before, a, c, at) for at in range(head))
    if count > head + tail:
        yield Fold(count - head - tail)
    yield from (_plain(before, a, c, at) for at in range(count - tail, count))


def _plain(before: Sequence[str], a: int, c: int, at: int) -> Line:
    return Line("same", a + at + 1, c + at + 1, ((False, before[a + at]),))


Pieces = tuple[tuple[bool, str], ...]


def _pair(old: str, new: str, work: Work) -> tuple[Pieces, Pieces]:
    """Two versions of a line in pieces; in one piece if they have little in common or comparing costs too much."""
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    matcher = _Matcher(before, after, work)
    if max(len(before), len(after)) > _MAX_WORDS or not matcher.shares(0.4):
        return ((False, old),), ((False, new),)
    left: list[tuple[bool, str]] = []
    right: list[tuple[bool, str]] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if a < b:
            left.append((tag != "equal", "".join(before[a:b])))
        if c < d:
            right.append((tag != "equal", "".join(after[c:d])))
    return tuple(left), tuple(right)
