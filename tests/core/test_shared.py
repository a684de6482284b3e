"""Texts that are made once for whoever asks in the same moment."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.shared import LONGEST, SharedTexts


def test_whoever_asks_meanwhile_waits_for_the_first_and_gets_the_same() -> None:
    texts, made, may_end = SharedTexts(4), [], threading.Event()

    def make() -> str:
        made.append(1)
        may_end.wait(10)
        return "drawn"

    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(texts.get, "key", make) for _ in range(8)]
        may_end.set()
        assert [each.result() for each in asked] == ["drawn"] * 8
    assert made == [1]


def test_another_key_is_another_text() -> None:
    texts = SharedTexts(4)
    assert [texts.get(key, lambda key=key: f"for {key}") for key in ("a", "b", "a")] == ["for a", "for b", "for a"]


def test_the_failure_of_the_first_is_not_the_failure_of_the_others() -> None:
    texts, begun, may_end = SharedTexts(4), threading.Event(), threading.Event()

    def fail() -> str:
        begun.set()
        may_end.wait(10)
        raise ValueError("this one's connection broke")

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(texts.get, "key", fail)
        begun.wait(10)
        second = pool.submit(texts.get, "key", lambda: "drawn")
        may_end.set()
        with pytest.raises(ValueError, match="broke"):
            first.result()
        assert second.result() == "drawn"
    assert texts.get("key", lambda: "drawn anew") == "drawn anew"


def test_the_oldest_and_what_is_too_long_is_forgotten() -> None:
    texts = SharedTexts(2)
    for key in "abc":
        texts.get(key, lambda: "first")
    assert [texts.get(key, lambda: "second") for key in "cba"] == ["first", "first", "second"]
    long = "x" * (LONGEST + 1)
    assert texts.get("long", lambda: long) == long
    assert texts.get("long", lambda: "short now") == "short now"
