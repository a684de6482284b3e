"""What an index of plain texts finds is what is shown in the text as it was written."""

from collections import Counter
from time import thread_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core import fulltext
from tests.property.test_query_laws import law

WRITTEN = st.text(st.sampled_from("abeuiAEUéÉüÜằİıßй戻し払กา_-. \n'12²½①"), max_size=14)


def says(text: str, phrase: str) -> bool:
    """Whether the words of a phrase stand next to each other in a text, where the last one may go on after a `*`."""
    words, wanted = fulltext.plain(text).rstrip("*").split(), fulltext.plain(phrase)
    *whole, last = wanted.rstrip("*").split()
    return any(
        words[at : at + len(whole)] == whole and (word.startswith(last) if wanted.endswith("*") else word == last)
        for at, word in enumerate(words[len(whole) :])
    )


@law
@given(text=WRITTEN)
def test_plain_texts_stay_as_they_are(text):
    plain = fulltext.plain(text)
    assert fulltext.plain(plain) == plain


@law
@given(text=WRITTEN, phrase=WRITTEN.filter(lambda text: fulltext.has_word(fulltext.plain(text))))
@example("Über_wies\u0308ung", "uber wies*")
@example("払い戻し", "い戻")
@example("ı", "i")
@example("ſı", "SI")
def test_a_phrase_is_found_in_what_was_written_where_the_index_finds_it(text, phrase):
    assert bool(fulltext.pattern_in_written(phrase).search(text)) == says(text, phrase)


@pytest.mark.parametrize(
    "phrase",
    [
        "\u03a3\u038a\u03a3*",
        "\u03c3\u03b9\u03c3*",
        "\u03a3\u0399\u03a3\u03a5\u03a6\u039f\u03a3",
        "\u03c3\u03b9\u03c3\u03c5\u03c6\u03bf\u03c3",
    ],
)
def test_a_final_sigma_is_a_sigma_in_what_was_written_too(phrase):
    assert fulltext.pattern_in_written(phrase).search("\u03bf \u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2")


@pytest.mark.parametrize("between", ["\u0301", " ", "_", "-a", "戻", "戻 ", "a "])
@pytest.mark.parametrize("phrase", ["zanzibar parade", "za戻", "戻戻戻", "a b c*"])
def test_no_text_takes_long_to_search(phrase, between):
    text = f"zanzibar{between * 50_000}x zanzibar"
    began = thread_time()
    fulltext.pattern_in_written(phrase).search(text)
    fulltext.pattern(phrase).search(text)
    assert thread_time() - began < 2


def test_a_long_phrase_is_shown_by_its_first_words():
    """Each place of a text is tried with all words, and the index has found it already."""
    phrase = "a " * 900 + "end"
    found = fulltext.pattern_in_written(phrase).search("A, a; " * 12_000 + "end")
    assert found and len(found[0].split()) == fulltext.SHOWN_WORDS
    assert fulltext.pattern_in_written("a " * 20 + "b*").search("a " * fulltext.SHOWN_WORDS)


@law
@given(text=WRITTEN, ends=st.tuples(st.integers(0, 14), st.integers(0, 14)))
def test_every_part_of_a_text_without_its_ends_is_found(text, ends):
    words = fulltext.plain(text).rstrip("*").split()
    part = " ".join(words[min(ends) : max(ends)])
    assert not part or fulltext.pattern_in_written(part).search(text)


def phrases(text: str, length: int) -> set[tuple[str, ...]]:
    """All rows of so many words in a text."""
    words = text.split()
    return {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}


@law
@given(
    texts=st.lists(st.lists(st.sampled_from("abcd"), max_size=60).map(" ".join), min_size=1, max_size=3),
    overlap=st.integers(0, 4),
    room=st.tuples(st.integers(1, 5), st.integers(1, 9)),
)
def test_each_short_phrase_of_a_text_is_in_one_of_its_pieces(texts, overlap, room):
    repeats, most = (overlap + each for each in room)
    rows = fulltext.pieces(texts, repeats=repeats, most=most, overlap=overlap)
    for row in rows:
        counts = Counter(" ".join(row).split())
        assert counts.total() <= most and max(counts.values(), default=0) <= repeats
    for text, *parts in zip(texts, *rows, strict=True):
        for length in range(1, 2 * overlap + 3):
            found = set().union(*(phrases(part, length) for part in parts))
            assert found <= phrases(text, length)
            assert found == phrases(text, length) or length > overlap + 1
    assert (len(rows) - 1) * min(room) <= sum(len(text.split()) for text in texts)


@pytest.mark.parametrize("text", ["", "a", "a b " * 127])
def test_a_short_text_is_one_piece(text):
    assert fulltext.pieces([text, ""]) == [[text, ""]]


def test_no_text_takes_long_to_split():
    began = thread_time()
    rows = fulltext.pieces(["a " * 50_000, "a b " * 12_500])
    assert thread_time() - began < 0.5
    assert len(rows) < 500
