"""Find texts for string schemas whose keywords limit each other: pattern, format and length (catalogue 3.8, C103).

Only candidates: the caller validates them. Rejected: intersecting the pattern with the format as automata, which
Python's syntax of look-arounds and references does not allow.
"""

from collections.abc import Iterator
from typing import Final

from catalogue.record import JsonObject
from catalogue.sampling import matching, words
from catalogue.sampling.drawing import Source
from catalogue.sampling.matching import Room

TRIES: Final = 8
_WORD: Final = "abcdefghijklmnopqrstuvwxyz0123456789"
_EARLY: Final = "012"
"""Digits that most places of a date and a time of day can have."""
_PREFERRED: Final = {"date": _EARLY, "date-time": _EARLY, "time": _EARLY}


def texts(schema: JsonObject, source: Source) -> Iterator[str]:
    """Texts that may match the schema, plausible ones first; none without a pattern and a format, and none that are
    long.
    """
    form = schema.get("format", "")
    # What cannot be combined with the others is in `allOf`: each pattern in turn proposes, and all decide.
    patterns = [each["pattern"] for each in (schema, *schema.get("allOf", ())) if "pattern" in each]
    if schema.get("minLength", 0) > matching.MAX_TEXT:
        return
    room = Room(schema.get("minLength", 0), schema.get("maxLength", matching.ANY_LENGTH.most))
    for number in range(TRIES):
        stream = source.child(number)
        formed = _formed(form, room, stream, number)
        yield from formed
        if patterns:
            pattern = patterns[number % len(patterns)]
            prefer = _PREFERRED.get(form, _WORD) if form else ""
            found = _found(pattern, room, stream, prefer, matching.MORE << (number % 6))
            yield from (text for each in found for text in _around(each, formed, room, stream))


def _formed(form: str, room: Room, source: Source, number: int) -> list[str]:
    """Texts of the format: as usual, and one whose length fits."""
    shapes = words.SHAPES.get(form, ())
    usual = [words.FORMATS[form](source)] if form in words.FORMATS else []
    return usual + (_found(shapes[number % len(shapes)], room, source) if shapes else [])


def _found(pattern: str, room: Room, source: Source, prefer: str = "", more: int = matching.MORE) -> list[str]:
    try:
        return [matching.text_found_by(pattern, source, room, prefer=prefer, more=more)]
    except matching.NoText:
        return []


def _around(found: str, formed: list[str], room: Room, source: Source) -> Iterator[str]:
    """The text that the pattern finds: alone, with letters beside it, and in texts of the format.

    A pattern need not match the whole text. For `^https://acme[.]com/` letters follow, for `@acme[.]com$` they precede;
    `^2025-` is written over the beginning of a date.
    """
    yield found
    beside = words.letters(source, room.least - len(found), room.most - len(found))
    if beside:
        yield from (found + beside, beside + found)
    for text in formed:
        yield from (text + found, found + text[len(found) :], text[: -len(found)] + found)
