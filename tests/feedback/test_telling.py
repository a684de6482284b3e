"""What the status line of the desk says, and what stands beside it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
import time_machine
from django.contrib.messages import INFO
from django.contrib.messages.storage.base import Message

from feedback import desk_telling

NOW = datetime(2026, 5, 15, 12, tzinfo=UTC)
LAST = SimpleNamespace(action="one", at=NOW)
NOTHING: dict[str, Any] = {**dict.fromkeys(("last", "undone", "redo", "vain", "meanwhile")), "errors": {}}


@pytest.fixture(autouse=True)
def stopped_clock() -> Iterator[None]:
    """It is now for all of a test, however late it is run."""
    with time_machine.travel(NOW, tick=False):
        yield


def told(*messages: Message, final_at: float = 0, **context: Any) -> dict[str, Any]:
    return desk_telling.of_last(messages, NOTHING | context, final_at=final_at)


@pytest.mark.parametrize(("tag", "is_latest"), [("one", True), ("other", False), ("", False)])
def test_what_is_said_of_the_last_action_came_with_it_and_anything_else_after_it(tag: str, is_latest: bool) -> None:
    line = told(Message(INFO, "Left.", extra_tags=tag), last=LAST)
    assert (line["said"], line["is_latest"]) == (["Left."], is_latest)


def test_of_runs_that_are_over_their_outcome_is_told() -> None:
    started = Message(INFO, "Started.", extra_tags=desk_telling.OF_RUNS)
    assert told(started)["said"] == ["Started."]
    assert told(started, check=SimpleNamespace(outcome="Passed."))["said"] == ["Passed."]


def test_what_cannot_be_undone_holds_back_what_was_done_before() -> None:
    assert not told(last=LAST, final_at=NOW.timestamp() - 1)["is_held"]
    line = told(last=LAST, final_at=NOW.timestamp() + 1)
    assert line["is_held"] and not line["is_latest"]


def test_what_ended_is_news_for_a_minute_and_where_nothing_else_is_said() -> None:
    assert told(ended_at=NOW)["is_ended"]
    assert not told(ended_at=NOW - timedelta(minutes=2))["is_ended"]
    assert not told(Message(INFO, "Saved."), ended_at=NOW)["is_ended"]
    assert not told(last=LAST, ended_at=NOW + timedelta(seconds=1))["is_latest"]
