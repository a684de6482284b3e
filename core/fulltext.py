"""Full-text search on both databases: how texts are split into words, and conditions on phrases of words.

A phrase is words next to each other, in any case; a `*` at its end stands for the rest of the last word.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from typing import Any, ClassVar

from django.db import connection
from django.db.models import BooleanField, F, Func, Q, Value
from django.db.models.expressions import RawSQL

MANY, FEW = 20_000, 1000
"""From `MANY` hits on, SQLite checks row by row instead of collecting all hits; `FEW` is PostgreSQL's limit."""
REPEATS, WORDS, OVERLAP = 255, 16_000, 100
"""Limits of `pieces`: how often a word may occur in one and how many words it may have, because PostgreSQL's vectors
keep 255 positions of a word and none behind 16,383; and how many words are repeated where a text is cut.
"""
SHOWN_WORDS = 12
"""Words of a phrase by which it is shown where an index has found it."""
NEEDED = "must contain a letter or a digit"
_SAYS = "says_words"
"""A function for SQLite: whether one of several texts contains the phrase that is its first argument."""
_LETTER = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = re.compile(f"[{_LETTER}]")
"""The letters of scripts that put no spaces between words (Thai, Lao, Burmese, Khmer, Japanese, Chinese)."""
_WORD = re.compile(r"[^\W_]+")
_MARKS = range(0x300, 0x370)
"""Accents that are characters of their own, after their letter."""
_LONGEST = 500
"""Characters of a word: PostgreSQL keeps none of more than 2,046 bytes."""


def split(text: str) -> list[str]:
    """The words of a text as in the index, in lower case."""
    return [word.lower() for word in _WORD.findall(text)]


def plain(text: str) -> str:
    """The words of a text in lower case, without accents, and with each letter of a script without spaces as a word of
    its own, so that part of a sentence is a phrase. A digit that is written small or in a circle is that digit, and a
    fraction or such a number from ten on is no word: PostgreSQL takes none of them for part of one. A word of more than
    `_LONGEST` characters is several.

    For an index that holds its texts like this, and for what is searched in it. A `*` at the end is kept.
    """
    folded = text if text.isascii() else text.translate(_folds())
    words = split(_UNSPACED.sub(r" \g<0> ", folded))
    if any(len(word) > _LONGEST for word in words):
        words = [word[at : at + _LONGEST] for word in words for at in range(0, len(word), _LONGEST)]
    return " ".join(words) + "*" * text.endswith("*")


@cache
def _small_numbers() -> dict[int, str]:
    """For each number that is no decimal digit of a script (\u00b2, \u2082, \u2460), its digit, else a space."""
    codes = (code for code in range(0x80, _LAST_NUMBER) if unicodedata.category(chr(code)) == "No")
    return {code: str(unicodedata.digit(chr(code), " ")) for code in codes}


@cache
def _apart() -> str:
    """Those that are no digits and so between words, as ranges of a class of characters: single ones are compared one
    by one with each character of a text.
    """
    codes = {code for code, digit in _small_numbers().items() if digit == " "}
    firsts = sorted(code for code in codes if code - 1 not in codes)
    lasts = sorted(code for code in codes if code + 1 not in codes)
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in zip(firsts, lasts, strict=True))


@cache
def _folds() -> dict[int, str | None]:
    """For each letter with an accent the one without, nothing for accents, and for small numbers their digits."""
    found: dict[int, str | None] = {**dict.fromkeys(_MARKS), **_small_numbers()}
    for code in range(0xC0, _LAST_ACCENTED):
        parts = unicodedata.normalize("NFD", chr(code))
        if parts[1:] and all(ord(each) in _MARKS for each in parts[1:]):
            found[code] = parts[0]
    return found


@cache
def _unfolds() -> dict[str, str]:
    """For each letter all letters that `plain` takes for it, itself included; only where there are several."""
    found: dict[str, str] = {}
    for code in range(max(_LAST_CASED, _LAST_NUMBER)):
        letter = _folds().get(code, chr(code))
        if letter and letter != " " and (folded := letter.lower()) != chr(code):
            found[folded] = found.get(folded, folded) + chr(code)
    found[_FINAL] = found[_SIGMA] = found[_SIGMA] + _FINAL
    return found


_SIGMA, _FINAL = "\u03c3", "\u03c2"
"""The one letter whose lower case depends on its place: the second is written where a word ends."""
_LAST_CASED = 0x1E944
"""Behind it no letter has two cases."""
_LAST_NUMBER = 0x1F10D
"""Behind it there are no small numbers."""
_LAST_ACCENTED = 0x2000
"""Behind it there are only symbols with a stroke, and Korean syllables, whose parts are no accents."""


def pieces(
    texts: Sequence[str], *, repeats: int = REPEATS, most: int = WORDS, overlap: int = OVERLAP
) -> list[list[str]]:
    """Split a document, which is a plain text for each column, into pieces in which PostgreSQL keeps all positions.

    In a piece, which has part of each text, no word occurs more than `repeats` times, and there are at most `most`
    words. Where a text is cut, the next piece begins with the `overlap` words before the cut, so that a phrase of up to
    one word more is in a piece as a whole; a longer one that lies over a cut is not. There is at least one piece, even
    without words. `overlap` must be less than both limits.
    """
    columns = [text.split() for text in texts]
    size = sum(map(len, columns))
    if size <= min(repeats, most) or (size <= most and max(Counter(chain(*columns)).values()) <= repeats):
        return [list(texts)]
    found, piece = [], [""] * len(columns)
    counts: dict[str, int] = {}
    size = 0
    for column, words in enumerate(columns):
        begin = 0
        for at, word in enumerate(words):
            if size == most or counts.get(word) == repeats:
                piece[column] = " ".join(words[begin:at])
                found.append(piece)
                begin, piece = max(at - overlap, 0), [""] * len(columns)
                counts, size = dict(Counter(words[begin:at])), at - begin
            counts[word] = counts.get(word, 0) + 1
            size += 1
        piece[column] = " ".join(words[begin:])
    return [*found, piece]


def has_word(value: str) -> bool:
    """Whether a text contains a word at all."""
    return plain(value).rstrip("*") != ""


def clean(value: str) -> str:
    """The phrase to search for; raises `ValueError` if it contains no word."""
    if not has_word(value):
        raise ValueError(NEEDED)
    return value


@lru_cache(maxsize=64)
def pattern(phrase: str) -> re.Pattern[str]:
    """A pattern that finds a phrase where an index of texts as they are does."""
    # For IGNORECASE a dotless i is an i, for the index it is not.
    words = [re.sub("[i\u0131]", _only_itself, re.escape(word)) for word in split(phrase)]
    return re.compile(_pattern(words, goes_on=phrase.endswith("*")), re.IGNORECASE)


def _only_itself(letter: re.Match[str]) -> str:
    return "(?-i:[iI])" if letter[0] == "i" else f"(?-i:{letter[0]})"


@lru_cache(maxsize=64)
def pattern_in_written(phrase: str) -> re.Pattern[str]:
    """A pattern that finds a phrase in a text as it was written, where an index of `plain` texts does; of a long phrase
    the first words, because each place of the text is tried with all of them.
    """
    # Not IGNORECASE, for which more letters are the same than for the index, such as a dotless i and an i.
    words = [_any_accents(word) for word in plain(phrase).rstrip("*").split()]
    goes_on = phrase.endswith("*") and len(words) <= SHOWN_WORDS
    return re.compile(_pattern(words[:SHOWN_WORDS], apart=_apart(), alone=_LETTER, goes_on=goes_on))


def _any_accents(word: str) -> str:
    letters = (f"[{_unfolds()[each]}]" if each in _unfolds() else re.escape(each) for each in word)
    # Possessive: accents are also no letters, so that a row of them could be split in every place.
    return "".join(f"{letter}[{chr(_MARKS[0])}-{chr(_MARKS[-1])}]*+" for letter in letters)


def _pattern(words: Sequence[str], *, apart: str = "", alone: str = "", goes_on: bool) -> str:
    """`words` are patterns themselves; `apart` are numbers between words, `alone` letters that are words themselves."""
    between, of_a_word = rf"[\W_{apart}]", rf"[^\W_{apart}{alone}]"
    are_alone = [bool(_UNSPACED.match(word)) for word in words]
    found = "".join(
        word + between + ("*" if is_alone or is_next_alone else "+")
        for word, is_alone, is_next_alone in zip(words, are_alone, are_alone[1:], strict=False)
    )
    begins = "" if are_alone[0] else f"(?<!{of_a_word})"
    ends = "" if are_alone[-1] or goes_on else f"(?!{of_a_word})"
    return f"{begins}{found}{words[-1]}{ends}"


def is_in(phrase: str, text: str | None) -> bool:
    """Whether a text contains a phrase, as an index finds it."""
    return bool(text and pattern(phrase).search(text))


@dataclass(frozen=True, slots=True)
class Hits:
    """The rows that contain a phrase: a condition on their model, and whether they are few and so already looked up."""

    condition: Q
    are_few: bool


@dataclass(frozen=True, slots=True)
class Index:
    """A full-text index of the rows of a model.

    On SQLite it is an FTS5 table with the model's row ids. On PostgreSQL it is a table with the columns `key` for them,
    `piece`, and a vector `document`: one row for each of `pieces`.
    """

    table: str
    key: str
    weights: dict[str, str]
    """Its columns, and their weights in the vector."""

    def hits(self, phrase: str, *columns: str) -> Hits:
        """The rows with a phrase in one of these columns, by default in any.

        On PostgreSQL a phrase of more than `OVERLAP` + 1 words may be missed in a text of several pieces.
        """
        if connection.vendor != "sqlite":
            return self._hits_on_postgres(self.vector_query(phrase, columns))
        matched = f"{self.table} MATCH %s"
        said = self.match(phrase, columns)
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT count(*) FROM (SELECT 1 FROM {self.table} WHERE {matched} LIMIT {MANY})",  # noqa: S608
                [said],
            )
            [(count,)] = cursor.fetchall()
        if count == MANY:
            texts = [f"c{place}" for place, name in enumerate(self.weights) if not columns or name in columns]
            # FTS5 keeps the texts in a table of its own, by row id, in the order of the columns.
            kept = f"{self.table}_content WHERE id = %(expressions)s, {', '.join(texts)})"
            return Hits(_has_phrase(phrase, kept), are_few=False)
        found = RawSQL(f"SELECT rowid FROM {self.table} WHERE {matched}", [said])  # noqa: S608, S611
        return Hits(Q(pk__in=found), are_few=True)

    def _hits_on_postgres(self, query: str) -> Hits:
        """Few hits are looked up first: the planner overestimates rare words and would scan."""
        found = f"SELECT {self.key} FROM {self.table} WHERE document @@ {_QUERY}"  # noqa: S608
        with connection.cursor() as cursor:
            # MATERIALIZED makes the planner use the index, as if for all hits; LIMIT still stops early.
            cursor.execute(f"WITH hits AS MATERIALIZED ({found}) SELECT * FROM hits LIMIT {FEW + 1}", [query])  # noqa: S608
            pks = [pk for (pk,) in cursor.fetchall()]
        # Pieces are counted, not keys: DISTINCT would read all hits before LIMIT could stop.
        are_few = len(pks) <= FEW
        kept = f"{self.table} WHERE {self.key} = %(expressions)s)"
        return Hits(Q(pk__in=pks) if are_few else _has_phrase(query, kept), are_few)

    def match(self, phrase: str, columns: Sequence[str] = ()) -> str:
        """A phrase for FTS5. Words contain only letters and digits, so never operators."""
        said = '"' + " ".join(split(phrase)) + '"' + ("*" if phrase.endswith("*") else "")
        return f"{{{' '.join(columns)}}} : {said}" if columns else said

    def vector_query(self, phrase: str, columns: Sequence[str] = ()) -> str:
        """A phrase as a PostgreSQL tsquery. Each column separately, so that no phrase spans two columns."""
        words, end = split(phrase), "*" if phrase.endswith("*") else ""
        if len(words) == 1 and not columns:
            return _either(words[0], f":{end}" if end else "")
        phrases = []
        for column in columns or self.weights:
            *whole, last = words
            weight = f":{self.weights[column]}"
            phrases.append(" <-> ".join([*(_either(word, weight) for word in whole), _either(last, weight + end)]))
        return " | ".join(f"({phrase})" for phrase in phrases)


def _either(word: str, suffix: str) -> str:
    """A word in a tsquery. SQLite's index does not tell a final sigma from another, and as the beginning of a word, a
    word in capitals does not end in one, whatever its lower case is.
    """
    spelled = [word, word[:-1] + (_FINAL if word[-1] == _SIGMA else _SIGMA)] if word[-1] in (_SIGMA, _FINAL) else [word]
    found = " | ".join(f"'{each}'{suffix}" for each in spelled)
    return found if len(spelled) == 1 else f"({found})"


_QUERY = "to_tsquery('pg_catalog.simple', %s)"


class _HasPhrase(Func):
    """Whether the index has a phrase for the row with a row id; the template names the index."""

    output_field: ClassVar = BooleanField()
    conditional = True

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, arg_joiner=f" AND {_SAYS}(", **context)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        joiner = f" AND document @@ {_QUERY}".removesuffix("%s)")
        return self.as_sql(compiler, connection, arg_joiner=joiner, **context)


def _has_phrase(phrase: str, kept: str) -> Q:
    return Q(_HasPhrase(F("pk"), Value(phrase), template=f"EXISTS (SELECT 1 FROM {kept})"))  # noqa: S608


def prepare(connection: Any, **signal: Any) -> None:
    """Register the search function on a new SQLite connection; FTS5 is a hundred times slower for a single row."""
    if connection.vendor == "sqlite":
        connection.connection.create_function(_SAYS, -1, _says, deterministic=True)


def _says(phrase: str, *texts: str | None) -> bool:
    return any(is_in(phrase, text) for text in texts)
