"""Directives to the simulator in what somebody wrote: what they ask for, and the text without them.

- `[[call NAME {json}]]` calls that tool with exactly that JSON before answering; may be repeated
- `[[fail]]` makes generation fail, `[[refuse-goals]]` leaves goals unmet
- `[[words N]]` answers with N words, `[[sleep S]]` pauses before answering, `[[pace S]]` between fragments
- `[[say TEXT]]` adds the text to the answer; also in a system prompt and in a skill, so that both can fix an answer
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_WORDS = 100_000
_OTHER = re.compile(r"\[\[[^\[\]]*\]\]")
# One white space: with several, each could belong to the text as well, and a long run would be tried in every way.
_SAY = re.compile(r"\[\[say\s([^\[\]]+)\]\]")
_NUMBER = r"\s+(\d{1,6}(?:\.\d{1,6})?)\]\]"
_READ = re.compile(rf"\[\[(?:fail|refuse-goals)\]\]|\[\[(?:words|sleep|pace){_NUMBER}|{_SAY.pattern}")
_BEGINNING = re.compile(
    r"\[\[(?:call|fail|refuse-goals|words|sleep|pace|say)\b(?:[^\n]{0,60}?\]\]|[^\n]{0,60})"
    r"|\[\[[A-Za-z][^\n\[\]]{0,60}\]\]"  # a name that is none may be a slip
)
_MOST_UNREAD = 3
_MOST_BROKEN = 50
"""After so many calls whose JSON is none, the rest is read as text: each failure costs a look at all of it."""


@dataclass(frozen=True, slots=True)
class Directives:
    """The directives in a text."""

    calls: tuple[tuple[str, str], ...] = ()
    """Name and JSON of each tool call."""
    fail: bool = False
    refuse_goals: bool = False
    words: int | None = None
    sleep: float = 0
    pace: float = 0
    says: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    """The beginnings of what looks like a directive and is none, such as one whose name is misspelled."""


def parse(said: str) -> Directives:
    """The directives in a text, and what is none although it looks like one."""
    calls = tuple((name, arguments) for _, _, name, arguments in _calls(said))
    text = _without_calls(said)
    words, sleep, pace = (_number(text, name) for name in ("words", "sleep", "pace"))
    return Directives(
        calls=calls,
        fail="[[fail]]" in text,
        refuse_goals="[[refuse-goals]]" in text,
        words=None if words is None else min(int(words), MAX_WORDS),
        sleep=sleep or 0,
        pace=pace or 0,
        says=told_to_say(text),
        unread=tuple(each.strip() for each in _BEGINNING.findall(_READ.sub(" ", text))[:_MOST_UNREAD]),
    )


def told_to_say(text: str) -> tuple[str, ...]:
    """What a text adds to an answer."""
    return tuple(said for each in _SAY.findall(text) if (said := each.strip()))


def without(said: str) -> str:
    """A text without its directives."""
    return _OTHER.sub(" ", _without_calls(said))


def _without_calls(said: str) -> str:
    rest, position = [], 0
    for start, end, _, _ in _calls(said):
        rest.append(said[position:start])
        position = end
    return "".join([*rest, said[position:]])


def _calls(said: str) -> Iterator[tuple[int, int, str, str]]:
    """Start, end, name and JSON of each call. A decoder reads the JSON, which may contain brackets."""
    decoder, position, broken = json.JSONDecoder(), 0, 0
    while broken < _MOST_BROKEN and (match := _BEGUN.search(said, position)):
        position = end = match.end()
        arguments = "{}"
        if not said.startswith("]]", end):
            try:
                _, end = decoder.raw_decode(said, end)
            except (ValueError, RecursionError):
                broken += 1
                continue
            arguments = said[match.end() : end]
        if close := _ENDED.match(said, end):
            position = close.end()
            yield match.start(), position, match[1], arguments


_BEGUN, _ENDED = re.compile(r"\[\[call\s+([A-Za-z_][\w.-]*)\s*"), re.compile(r"\s*\]\]")


def _number(text: str, name: str) -> float | None:
    found = re.findall(rf"\[\[{name}{_NUMBER}", text)
    return float(found[-1]) if found else None
