"""Generate a text that matches a regular expression (catalogue 3.8).

Existing packages use sets of letters, whose order differs between processes, and unbounded repeats. The parser is
Python's own, which is not public. Look-arounds are ignored: the caller validates the text.
"""

import re
from collections.abc import Iterable
from typing import Any

from catalogue.worlds.drawing import Source

ALPHABET = [chr(code) for code in range(32, 127)]
_CLASSES = {
    "DIGIT": [letter for letter in ALPHABET if letter.isdigit()],
    "SPACE": [" "],
    "WORD": [letter for letter in ALPHABET if letter.isalnum() or letter == "_"],
}
MAX_TEXT = 10_000
_MORE = 4
"""Maximum extra repetitions of an unbounded repeat."""


class NoText(Exception):
    """The expression is not supported, or needs a very long text."""


def text_found_by(pattern: str, source: Source) -> str:
    """A text that contains a match. Raises `NoText`."""
    try:
        walk = _Walk(source)
        return walk.through(re._parser.parse(pattern))  # type: ignore[attr-defined]
    except (re.error, RecursionError, OverflowError) as problem:
        raise NoText(str(problem)) from None


class _Walk:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._groups: dict[int, str] = {}
        self._left = MAX_TEXT

    def through(self, states: Iterable[Any]) -> str:
        return "".join(self._state(str(code), value) for code, value in states)

    def _state(self, code: str, value: Any) -> str:
        match code:
            case "LITERAL":
                return self._written(chr(value))
            case "NOT_LITERAL":
                return self._letter([letter for letter in ALPHABET if letter != chr(value)])
            case "ANY":
                return self._letter(ALPHABET)
            case "IN":
                return self._letter(_letters(value))
            case "BRANCH":
                return self.through(self._source.one_of(value[1]))
            case "SUBPATTERN":
                text = self.through(value[-1])
                if value[0] is not None:
                    self._groups[value[0]] = text
                return text
            case "ATOMIC_GROUP":
                return self.through(value)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, inner = value
                times = least + self._source.below(min(int(most) - least, _MORE) + 1)
                return "".join(self._written("") + self.through(inner) for _ in range(times))
            case "GROUPREF":
                return self._written(self._groups.get(value, ""))
            case "AT" | "ASSERT" | "ASSERT_NOT":
                return ""
        raise NoText(f"{code} is not supported")

    def _letter(self, letters: list[str]) -> str:
        if not letters:
            raise NoText("no printable character matches")
        return self._written(self._source.one_of(letters))

    def _written(self, text: str) -> str:
        self._left -= max(1, len(text))
        if self._left < 0:
            raise NoText(f"longer than {MAX_TEXT} characters")
        return text


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
