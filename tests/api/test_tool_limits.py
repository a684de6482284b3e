"""What a server tool may do to a turn: nothing but answer, late answers and sudden exits included."""

import sys
import threading

import pytest

from catalogue import builtin
from catalogue.spec import ToolSpec
from tests import make
from tests.conftest import data_of


@pytest.fixture
def outcome(api, who, monkeypatch):
    """The result of a call of a tool that does this, after which the turn came to its end."""

    def called(run, **limits):
        monkeypatch.setitem(builtin.TOOLS, "strange", ToolSpec("strange", "Odd.", {"type": "object"}, run, **limits))
        thread = make.thread(who.alice, "[[call strange {}]]")
        messages = data_of(api("alice").get(f"threads/{thread.thread_id}"))["messages"]
        assert [message["role"] for message in messages] == ["user", "assistant", "roboto", "assistant"]
        assert messages[3]["status"] == "completed"
        [result] = messages[2]["content"]
        return result["status"], result["payload"]

    return called


def test_a_tool_that_does_not_answer_in_time_is_an_error_and_the_turn_goes_on(outcome):
    never = threading.Event()
    try:
        status, payload = outcome(lambda *_: never.wait(20), timeout_seconds=0.05)
    finally:
        never.set()
    assert (status, payload) == ("error", {"error": "strange did not answer within 0.05 s", "code": "TIMEOUT"})


def test_a_tool_that_leaves_takes_nobody_with_it(outcome):
    said = {"error": "RuntimeError: it left with SystemExit", "code": "EXECUTION_ERROR"}
    assert outcome(lambda *_: sys.exit("bye")) == ("error", said)


def test_a_tool_that_says_its_own_time_is_up_is_quoted(outcome):
    def late(*_):
        raise TimeoutError("the archive is slow")

    assert outcome(late) == ("error", {"error": "TimeoutError: the archive is slow", "code": "EXECUTION_ERROR"})


def test_a_tool_that_keeps_time_itself_runs_in_the_worker(outcome):
    assert outcome(lambda *_: threading.current_thread().name, timeout_seconds=None) == (
        "success",
        {"value": "MainThread"},
    )
