"""What a reader can see of a text."""

import pytest

from core.visible import is_visible

UNSEEN = [
    "", " \t\u00a0\u3000\u2028", "\x00\x1f\x9f", "\u200b\u200c\u200d", "\u202e\u2066\u2069\u200f", "\ufeff\u2060\u00ad",
    "\u3164\u115f\u1160\uffa0\u2800", "\ufe0f\U000e0100", "\u034f\u180e\u17b4", "\U000e0041",
]  # fmt: skip


@pytest.mark.parametrize("text", UNSEEN)
def test_blanks_marks_and_fillers_alone_are_not_seen(text: str) -> None:
    assert not is_visible(text)


@pytest.mark.parametrize("text", ["x", "\u200b.", "\u200f\u05d0", "\u0301", "👩\u200d🔧", "❤\ufe0f", "\ue000", "한"])
def test_one_character_that_is_seen_is_enough(text: str) -> None:
    assert is_visible(text)
