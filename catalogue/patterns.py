"""Regular expressions that strangers wrote, in schemas and in retry rules: none of them may hold up the server.

The package `regex` stands in for `re` because it has a time limit and lets other threads run while it searches. Its
one danger is compiling: counted repeats inside counted repeats are written out, so their product is held to a limit
first. Imported where it is used, as `jsonschema` is.
"""

import re
from functools import lru_cache
from typing import Any, Final

MAX_PATTERN: Final = 2_000
MAX_REPEATS: Final = 20_000
_MAX_KEPT: Final = 2_000
SEARCH_SECONDS: Final = 0.25
_HIDING = re.compile(r"\(\?(?:#|[a-zA-Z]*[xV])")
"""What could stand between a thing and its count unseen, and what lets classes hold classes."""
_COUNT = re.compile(r"\{(\d*)(?:,(\d*))?\}")


class PatternRefused(ValueError):
    """A pattern that cannot be used; the text is the end of a sentence."""


class SearchTooLong(Exception):
    """A pattern that would not come to an end with this text."""


def compiled(pattern: str) -> Any:
    """The pattern, ready for use. Raises `PatternRefused` for one that is malformed, too long or too large."""
    if len(pattern) > MAX_PATTERN:
        raise PatternRefused(f"is longer than {MAX_PATTERN} characters")
    if _HIDING.search(pattern):
        raise PatternRefused("holds a comment, or the flag x or V")
    size = _written_out(pattern)
    if size > MAX_REPEATS:
        raise PatternRefused(f"repeats more than {MAX_REPEATS} times")
    # A large one takes megabytes: strangers must not fill a cache with them.
    return _kept(pattern) if size <= _MAX_KEPT else _compile(pattern)


def matches(pattern: str, text: str, *, whole: bool = False, seconds: float = SEARCH_SECONDS) -> bool:
    """Whether the pattern is somewhere in the text, or is the whole of it. Raises `SearchTooLong`."""
    found = compiled(pattern)
    try:
        return bool((found.fullmatch if whole else found.search)(text, timeout=max(0.001, seconds)))
    except TimeoutError:
        raise SearchTooLong from None


def _compile(pattern: str) -> Any:
    import regex

    try:
        return regex.compile(pattern, cache_pattern=False)
    except (regex.error, RecursionError, OverflowError, ValueError) as problem:
        raise PatternRefused(f"is no regular expression: {str(problem)[:200]}") from None


_kept = lru_cache(maxsize=512)(_compile)


@lru_cache(maxsize=2048)
def _written_out(pattern: str) -> int:
    """How many things stand there once every counted repeat is written out.

    A reading that knows brackets, classes and escapes and nothing else: it may come out too high, never too low.
    """
    sums, last, place = [0], 0, 0
    while place < len(pattern) and sums[-1] <= MAX_REPEATS:
        character, count = pattern[place], _COUNT.match(pattern, place)
        if character == "(":
            sums.append(0)
            place += 1
        elif character == ")" and len(sums) > 1:
            last = sums.pop()
            sums[-1] += last
            place += 1
        elif count:
            times = max([1, *(int(number[:9]) for number in count.groups() if number)])
            sums[-1] += last * (times - 1)
            last, place = last * times, count.end()
        elif character in "?+*":
            place += 1
        else:
            steps = {"\\": 2, "[": _behind_class(pattern, place) - place}
            last, place = 1, place + steps.get(character, 1)
            sums[-1] += 1
    return sum(sums)


def _behind_class(pattern: str, place: int) -> int:
    """The place behind a character class that begins here."""
    place += 2 if pattern[place + 1 : place + 2] == "^" else 1
    place += pattern[place : place + 1] == "]"
    while place < len(pattern) and pattern[place] != "]":
        place += 2 if pattern[place] == "\\" else 1
    return place + 1
