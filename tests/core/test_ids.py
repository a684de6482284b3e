"""Public identifiers."""

import re
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from core import ids


def test_keys_sort_by_birth_and_never_repeat():
    keys = [ids.new_key() for _ in range(2000)]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)
    assert all(re.fullmatch(r"[0-9a-z]{26}", key) for key in keys)


def test_keys_of_a_later_time_sort_behind():
    with time_machine.travel(1_000_000_000, tick=False):
        early = ids.new_key()
    assert early < ids.new_key()


def test_neighbouring_keys_cannot_be_guessed_from_each_other():
    """Only the time is shared: at least 62 bits differ at random."""
    first, second = ids.new_key(), ids.new_key()
    assert first[-13:] != second[-13:]


def test_a_key_tells_when_it_was_made_and_one_of_another_form_does_not():
    before = datetime.now(UTC)
    made = ids.moment_of(ids.new_key())
    assert made is not None and abs(made - before) < timedelta(seconds=5)
    assert [ids.moment_of(each) for each in ("", "7", "seedt1n0000000000000000001", "u" * 26, "z" * 26)] == [None] * 5


@pytest.mark.parametrize(
    ("public_id", "prefixes", "key"),
    [
        ("ags_abc", ids.THREAD_SPELLINGS, "abc"),
        ("ath_abc", ids.THREAD_SPELLINGS, "abc"),
        ("ch_A-b_9", ids.THREAD_SPELLINGS, "A-b_9"),
        ("ags_" + "x" * 64, (ids.THREAD,), "x" * 64),
        ("ags_" + "x" * 65, (ids.THREAD,), None),
        ("ags_", (ids.THREAD,), None),
        ("ags_a b", (ids.THREAD,), None),
        ("ags_a\n", (ids.THREAD,), None),
        ("ags_\x00", (ids.THREAD,), None),
        ("ags_ü", (ids.THREAD,), None),
        ("fb_abc", ids.THREAD_SPELLINGS, None),
        ("AGS_abc", (ids.THREAD,), None),
        ("", (ids.THREAD,), None),
    ],
)
def test_a_key_is_read_from_an_id_of_the_right_kind_only_B27(public_id, prefixes, key):
    assert ids.key_of(public_id, *prefixes) == key


def test_every_kind_of_id_has_a_prefix_of_its_own():
    prefixes = [*ids.THREAD_SPELLINGS, ids.ORG, ids.FEEDBACK, ids.TOOL_USE, ids.AGENT, ids.SKILL]
    assert len(set(prefixes)) == len(prefixes)
    assert not any(one != other and one.startswith(other) for one in prefixes for other in prefixes)
