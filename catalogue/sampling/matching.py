"""Generate a text that matches a regular expression (catalogue 3.8).

Existing packages use sets of letters, whose order differs between processes, and unbounded repeats. The parser is
Python's own, which is not public. Look-arounds are ignored: the caller validates the text.
"""

import re
from functools import lru_cache
from itertools import accumulate, islice
from typing import Any, NamedTuple

from catalogue import patterns
from catalogue.sampling.drawing import Source

ALPHABET = [chr(code) for code in range(32, 127)]
_CLASSES = {
    "DIGIT": [letter for letter in ALPHABET if letter.isdigit()],
    "SPACE": [" "],
    "WORD": [letter for letter in ALPHABET if letter.isalnum() or letter == "_"],
}
_PROPERTY = re.compile(r"\\[pP](?:\{[^{}]{1,50}\}|[A-Za-z])")
MAX_TEXT = 10_000
_TOO_LONG = f"longer than {MAX_TEXT} characters"
MORE = 4
"""Maximum extra repetitions of an unbounded repeat, above what the length needs."""


class NoText(Exception):
    """The expression is not supported, or needs a very long text."""


class Room(NamedTuple):
    """The lengths that a text may have."""

    least: int = 0
    most: int = 2**64

    def beside(self, least: int, most: int) -> "Room":
        """What is left beside a text of such a length."""
        return Room(self.least - most, self.most - least)

    def meets(self, least: int, most: int) -> bool:
        """Whether a text of such a length may fit."""
        return least <= self.most and most >= self.least


ANY_LENGTH = Room()


def text_found_by(pattern: str, source: Source, room: Room = ANY_LENGTH, *, prefer: str = "", more: int = MORE) -> str:
    """A text that contains a match. Raises `NoText`.

    The match has a length in `room` if the lengths of its parts allow that without searching; the caller checks it.
    Of a class, letters of `prefer` are taken if it has any.
    """
    try:
        walk = _Walk(source, prefer, more)
        return walk.through(re._parser.parse(_without_properties(pattern)), room)  # type: ignore[attr-defined]
    except (re.error, RecursionError, OverflowError, patterns.PatternRefused, patterns.SearchTooLong) as problem:
        raise NoText(str(problem)) from None


class _Walk:
    def __init__(self, source: Source, prefer: str, more: int) -> None:
        self._source = source
        self._prefer = prefer
        self._more = more
        self._groups: dict[int, str] = {}
        self._left = MAX_TEXT
        self._widths: dict[int, list[tuple[int, int]]] = {}
        self._classes: dict[int, list[str]] = {}

    def through(self, states: Any, room: Room) -> str:
        text = ""
        for (code, value), behind in zip(states, self._behind(states), strict=True):
            text += self._state(str(code), value, Room(room.least - len(text), room.most - len(text)).beside(*behind))
        return text

    def _behind(self, states: Any) -> list[tuple[int, int]]:
        """For each state, the lowest and highest length of all that follow it."""
        if id(states) not in self._widths:
            each = [states[place : place + 1].getwidth() for place in range(len(states))]
            sums = accumulate(each[::-1], lambda one, other: (one[0] + other[0], one[1] + other[1]), initial=(0, 0))
            self._widths[id(states)] = [*sums][-2::-1]
        return self._widths[id(states)]

    def _state(self, code: str, value: Any, room: Room) -> str:
        match code:
            case "LITERAL":
                return self._written(chr(value))
            case "NOT_LITERAL":
                return self._letter([letter for letter in ALPHABET if letter != chr(value)])
            case "ANY":
                return self._letter(ALPHABET)
            case "IN":
                if id(value) not in self._classes:
                    self._classes[id(value)] = _letters(value)
                return self._letter(self._classes[id(value)])
            case "BRANCH":
                return self.through(self._source.one_of(_meeting(value[1], room)), room)
            case "SUBPATTERN":
                text = self.through(value[-1], room)
                if value[0] is not None:
                    self._groups[value[0]] = text
                return text
            case "ATOMIC_GROUP":
                return self.through(value, room)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, inner = value
                return self._repeated(least, int(most), inner, room)
            case "GROUPREF":
                return self._written(self._groups.get(value, ""))
            case "AT" | "ASSERT" | "ASSERT_NOT":
                return ""
        raise NoText(f"{code} is not supported")

    def _repeated(self, least: int, most: int, inner: Any, room: Room) -> str:
        low, high = inner.getwidth()
        # As few as are long enough, and hardly more.
        least = max(least, min(most, -(-room.least // high))) if high else least
        most = min(most, room.most // low) if low else most
        times = least + self._source.below(max(0, min(most - least, self._more)) + 1)
        if times * (1 + low) > self._left:
            raise NoText(_TOO_LONG)
        text = ""
        for behind in range(times)[::-1]:
            rest = Room(room.least - len(text), room.most - len(text)).beside(behind * low, behind * high)
            text += self._written("") + self.through(inner, rest)
        return text

    def _letter(self, letters: list[str]) -> str:
        if not letters:
            raise NoText("no printable character matches")
        preferred = [letter for letter in letters if letter in self._prefer] if self._prefer else []
        return self._written(self._source.one_of(preferred or letters))

    def _written(self, text: str) -> str:
        self._left -= max(1, len(text))
        if self._left < 0:
            raise NoText(_TOO_LONG)
        return text


def _without_properties(pattern: str) -> str:
    """The pattern with `\\p{Lu}` and the like, which Python's parser does not know, as the letters that they mean."""
    written, place, is_inside = "", 0, False
    while place < len(pattern):
        found = _PROPERTY.match(pattern, place)
        if found is None:
            each = pattern[place : place + 2] if pattern[place] == "\\" else pattern[place]
            is_inside = each == "[" or (is_inside and each != "]")
        else:
            each = _named_letters(found[0])
            if not each:
                raise NoText(f"{found[0]} is not supported")
            each = each if is_inside else f"[{each}]"
        written += each
        place += len(each) if found is None else len(found[0])
    return written


@lru_cache(maxsize=100)
def _named_letters(escape: str) -> str:
    """The letters that an escape matches, as members of a class: printable ASCII, else the first others; maybe none."""
    letters = [letter for letter in ALPHABET if patterns.matches(escape, letter)]
    others = (chr(code) for code in range(160, 0xD800))
    letters = letters or [*islice((letter for letter in others if patterns.matches(escape, letter)), 100)]
    return "".join(map(re.escape, letters))


def _meeting(branches: list[Any], room: Room) -> list[Any]:
    """The branches that may have such a length; all if none has."""
    return [branch for branch in branches if room.meets(*branch.getwidth())] or branches


def _letters(members: list[Any]) -> list[str]:
    """The letters of a class, in class order; in alphabet order if it is negated."""
    found: dict[str, None] = {}
    is_negated = False
    for member, value in members:
        match str(member):
            case "NEGATE":
                is_negated = True
            case "LITERAL":
                found[chr(value)] = None
            case "RANGE":
                first, last = value
                # The first few hundred letters of a large range are enough.
                found.update(dict.fromkeys(chr(code) for code in range(first, min(last, first + 500) + 1)))
            case "CATEGORY":
                found.update(dict.fromkeys(_category(str(value))))
    return [letter for letter in ALPHABET if letter not in found] if is_negated else list(found)


def _category(name: str) -> list[str]:
    """`CATEGORY_DIGIT`, `CATEGORY_NOT_WORD` and so on."""
    inside = _CLASSES.get(name.rpartition("_")[2], [])
    return [letter for letter in ALPHABET if letter not in inside] if "_NOT_" in name else inside
