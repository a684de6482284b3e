"""Untrusted regular expressions, in schemas and retry rules, with limits on time and size.

Uses the package `regex` instead of `re` because it has a timeout and releases the GIL while searching. Its remaining
risk is compiling: nested counted repeats are expanded, so their product is limited first. Imported on demand, like
`jsonschema`.

They are Python's, and those of schemas are read as ECMA-262 where that differs (`ecma`), as JSON Schema recommends:
`$` is the very end, and `\\d`, `\\w` and `\\b` know ASCII only. What people write about answers in any language is not.
"""

import re
import time
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final

MAX_PATTERN: Final = 2_000
MAX_REPEATS: Final = 20_000
_MAX_KEPT: Final = 2_000
SEARCH_SECONDS: Final = 0.25
_TRIES: Final = 8
_HIDING = re.compile(r"\(\?(?:#|[a-zA-Z]*[xV])")
"""Comments and flags that could hide a repeat count, or allow nested classes."""
_RECURSION = re.compile(r"\(\?(?:R|[+-]?\d|&|P>)")
"""A group that calls a group, or the whole: neither Python's nor ECMA-262's, and it can fill the memory in no time."""
_COUNT = re.compile(r"\{(\d*)(?:,(\d*))?\}")


class PatternRefused(ValueError):
    """A pattern that cannot be used; the text completes a sentence."""


class SearchTooLong(Exception):
    """The search did not finish in time."""


def compiled(pattern: str, *, ecma: bool = False) -> Any:
    """The compiled pattern. Raises `PatternRefused` if it is malformed, too long or too large."""
    if len(pattern) > MAX_PATTERN:
        raise PatternRefused(f"is longer than {MAX_PATTERN} characters")
    if _has(pattern, _HIDING):
        raise PatternRefused("contains a comment, or the flag x or V")
    if _has(pattern, _RECURSION):
        raise PatternRefused("calls a group, or itself")
    size = _written_out(pattern)
    if size > MAX_REPEATS:
        raise PatternRefused(f"repeats more than {MAX_REPEATS} times")
    # Large ones take megabytes each, so they are not cached.
    compiler = _kept if size <= _MAX_KEPT else _compile
    try:
        return compiler(_as_ecma(pattern) if ecma else pattern)
    except PatternRefused:
        compiler(pattern)  # tells the place of the problem in the pattern as it was given
        raise


def matches(
    pattern: str, text: str, *, whole: bool = False, seconds: float = SEARCH_SECONDS, ecma: bool = False
) -> bool:
    """Whether the pattern occurs in the text, or matches all of it.

    Raises `SearchTooLong` if finding that out takes more than so many seconds of this thread's processor time.
    """
    found = compiled(pattern, ecma=ecma)
    search = found.fullmatch if whole else found.search
    seconds = max(0.001, seconds)
    for tried in range(_TRIES):
        started = time.thread_time()
        is_found: bool | None = None
        # `regex` counts the processor time of all threads, and begins anew with each search. So it is given more than
        # the limit, which is measured here, and more each time that others have used it up.
        with suppress(TimeoutError):
            is_found = bool(search(text, timeout=1.25 * seconds * 2**tried))
        if time.thread_time() - started > seconds:
            break
        if is_found is not None:
            return is_found
    raise SearchTooLong


def _compile(pattern: str) -> Any:
    import regex

    try:
        return regex.compile(pattern, cache_pattern=False)
    except (regex.error, RecursionError, OverflowError, ValueError) as problem:
        raise PatternRefused(f"is not a regular expression: {str(problem)[:200]}") from None


_kept = lru_cache(maxsize=512)(_compile)


_ASCII: Final = {each: f"(?a:{each})" for each in ("\\d", "\\D", "\\w", "\\W", "\\b", "\\B")}
_IN_CLASS: Final = {
    "\\d": "0-9",
    "\\D": r"\x00-/:-\U0010FFFF",
    "\\w": "0-9A-Z_a-z",
    "\\W": r"\x00-/:-@\[-\^`{-\U0010FFFF",
}
_LINE_BY_LINE = re.compile(r"\(\?[a-zA-Z]*m")


@lru_cache(maxsize=2048)
def _as_ecma(pattern: str) -> str:
    """The pattern with what ECMA-262 reads otherwise than Python written out.

    With the flag m, `$` stays, and with POSIX classes all does: ECMA-262 has neither, so Python's reading is meant.
    """
    parts, place = [], 0
    while place < len(pattern):
        parts.append(pattern[place : place + _step(pattern, place)])
        place += len(parts[-1])
    if any(part.startswith("[") and "[:" in part for part in parts):
        return pattern
    instead = _ASCII if _has(pattern, _LINE_BY_LINE) else {"$": r"\Z", **_ASCII}
    return "".join(_class_as_ecma(part) if part.startswith("[") else instead.get(part, part) for part in parts)


def _class_as_ecma(written: str) -> str:
    """A class with the members of its escapes; a hyphen beside one is no range."""
    members = re.findall(r"\\.|.", written, re.DOTALL)
    for at, member in enumerate(members):
        if member == "-" and _IN_CLASS.keys() & {*members[at - 1 : at + 2]}:
            members[at] = r"\-"
    return "".join(_IN_CLASS.get(member, member) for member in members)


def _has(pattern: str, sign: re.Pattern[str]) -> bool:
    """Whether this begins anywhere in it; escaped and in a class, `(?` is nothing special."""
    place = 0
    while place < len(pattern):
        if sign.match(pattern, place):
            return True
        place += _step(pattern, place)
    return False


def _step(pattern: str, place: int) -> int:
    """The length of the escape, class or character that begins here."""
    return {"\\": 2, "[": _behind_class(pattern, place) - place}.get(pattern[place], 1)


@lru_cache(maxsize=2048)
def _written_out(pattern: str) -> int:
    """The size of the pattern with all counted repeats expanded.

    Handles only groups, classes and escapes, so the result may be too high but never too low.
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
            last, place = 1, place + _step(pattern, place)
            sums[-1] += 1
    return sum(sums)


def _behind_class(pattern: str, place: int) -> int:
    """The position after the character class that begins here."""
    place += 2 if pattern[place + 1 : place + 2] == "^" else 1
    place += pattern[place : place + 1] == "]"
    while place < len(pattern) and pattern[place] != "]":
        place += 2 if pattern[place] == "\\" else 1
    return place + 1
