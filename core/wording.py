"""Texts, sizes and times as people read them: in one line, without what would change the words around them."""

import re
import unicodedata
from datetime import datetime


def whole_characters(text: str) -> str:
    """The text with lone surrogates replaced; they cannot be encoded."""
    return _SURROGATES.sub("\ufffd", text)


def size_text(size: int) -> str:
    """Bytes for people: `534 B`, `12 kB`, `1.4 MB`."""
    if size < 1_000:
        return f"{size} B"
    for unit in ("kB", "MB"):
        size_in_unit = size / (1_000 if unit == "kB" else 1_000_000)
        if size_in_unit < 999.5:
            return f"{size_in_unit:.1f} {unit}" if size_in_unit < 9.95 else f"{size_in_unit:.0f} {unit}"
    return f"{size / 1_000_000_000:.1f} GB"


def limit_text(size: int) -> str:
    """A limit of bytes for people, in whole binary units: `512 KiB`, `16 MiB`."""
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


def took(milliseconds: int) -> str:
    """A duration for people: `< 1 ms`, `184 ms`, `1.2 s`, `2 min 5 s`."""
    if milliseconds < 1:
        return "< 1 ms"
    if milliseconds < 1_000:
        return f"{milliseconds} ms"
    if milliseconds < 59_950:
        return f"{milliseconds / 1_000:.1f} s"
    minutes, rest = divmod(milliseconds // 1_000, 60)
    return f"{minutes} min {rest} s"


def ago(instant: datetime, now: datetime) -> str:
    """How long ago, in short: `now`, `8 min`, `3 h`, `12 d`, then the date. `page.js` goes on so."""
    seconds = (now - instant).total_seconds()
    if seconds < 60:
        return "now"
    if seconds < 3_600:
        return f"{int(seconds // 60)} min"
    if seconds < 86_400:
        return f"{int(seconds // 3_600)} h"
    if seconds < 30 * 86_400:
        return f"{int(seconds // 86_400)} d"
    return day(instant, now)


def day(instant: datetime, now: datetime) -> str:
    """The date, in short: `12 May`, with its year if that is another one than now."""
    return f"{instant.day} {instant:%b}" if instant.year == now.year else f"{instant.day} {instant:%b %Y}"


def one_line(text: str, limit: int) -> str:
    """The beginning of a text in one line, without control and bidirectional formatting characters."""
    said = flat(text[: limit * 4]).strip()
    return said if len(said) <= limit else said[: limit - 1].rstrip() + "…"


def share(part: float, whole: float) -> str:
    """A share in whole percent; 0 and 100 are used only for exactly none and all."""
    percent = 100 * part / whole if whole else 0
    shown = "< 1" if 0 < percent < 0.5 else "> 99" if 99.5 <= percent < 100 else f"{percent:.0f}"
    return f"{shown}\u202f%"


def composed(text: str) -> str:
    """A text in Unicode's form NFC, to compare it with others. Of more than 30 marks in a row, as no language has them,
    each 30 are put in order by themselves (the stream-safe format of UAX #15): to order all of them takes time by the
    square of their number, in which nothing else runs.
    """
    return unicodedata.normalize("NFC", _MANY_MARKS.sub(_cut_marks, text))


def _cut_marks(row: re.Match[str]) -> str:
    cut, marks = [], 0
    for each in row[0]:
        apart = unicodedata.normalize("NFD", each)  # a few are two marks
        marks = marks + len(apart) if all(map(unicodedata.combining, apart)) else 0
        if marks > _MARKS_IN_ORDER:
            cut.append(_GRAPHEME_JOINER)
            marks = len(apart)
        cut.append(each)
    return "".join(cut)


_MARKS_IN_ORDER = 30
_GRAPHEME_JOINER = "\u034f"
_MANY_MARKS = re.compile(r"[^\w\s\x00-\x7f]{31,}")
"""What may be such marks: none of them is a letter, a digit or a blank."""


def flat(text: str) -> str:
    """A text in one line, each run of blanks, control and bidirectional formatting characters as one blank."""
    return re.sub(r"\s+", " ", _UNPRINTABLE.sub(" ", text))


def is_one_line(text: str) -> bool:
    """Whether a name is one line without control and bidirectional formatting characters."""
    return not _UNPRINTABLE.search(text) and len(text.splitlines()) < 2


def straight(text: str) -> str:
    """A text for a place of its own in one line, without the characters that turn the direction of what follows."""
    return TURNS.sub("", text)


def isolated(text: str) -> str:
    """User text for the middle of a sentence, isolated so that its writing direction does not affect the sentence."""
    plain = _DIRECTIONS.sub("", text)
    is_plain = plain == text and not any(unicodedata.bidirectional(each) in ("R", "AL", "AN") for each in text)
    return text if is_plain else f"\u2068{plain}\u2069"


TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Characters that turn the direction of the text behind them: it is read in another order than it is written in."""
_DIRECTIONS = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
