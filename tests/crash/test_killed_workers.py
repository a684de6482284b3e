"""A worker is killed in the middle of everything; SDK clients that polled throughout end with what the server has."""

import threading
import time
from dataclasses import dataclass
from typing import Any

import pytest
from roboto.ai import AgentThread
from roboto.ai.agent_thread.record import AgentThreadStatus

from tests import live
from tests.crash.disasters import LONG, kill_workers, polling, start_workers
from tests.sdk.callers import Caller, calls, follow, held, roles, run, some_words, text_of

pytestmark = pytest.mark.live


@dataclass(frozen=True)
class Aftermath:
    """What was going on when the worker was killed."""

    answering: AgentThread
    reader: AgentThread
    token: str
    going_on: AgentThread
    calling: AgentThread
    cancelled: AgentThread
    queued: AgentThread


@pytest.fixture(scope="module")
def after(served: live.Served) -> Aftermath:
    """An answer, a call and a turn that is then cancelled, all cut off in the middle; and one sent to nobody."""
    alice = Caller(served, "alice")
    queued = alice.talk("First.")
    calling = alice.start("Wait for it. " + calls(("wait", {"seconds": 2}), ("echo", {"value": "ä"})))
    # Twice as slow as the others: on a busy machine it would be over before all of them have begun.
    answering = alice.start("Slowly. [[words 120]] [[pace 0.3]]")
    going_on, cancelled = (alice.start(f"{word} {LONG}") for word in ("Again.", "Never mind."))
    with polling(answering, going_on, calling):
        reader = some_words(alice, answering)
        token = alice.record(answering)["continuation_token"]
        some_words(alice, cancelled)
        while len(alice.record(calling)["messages"]) < 2:
            time.sleep(0.05)
        kill_workers(served)
        sending = threading.Thread(target=queued.send_text, args=("Second, sent to nobody.",))
        sending.start()  # embedded: the SDK tries until there is a server again
        time.sleep(0.2)
        start_workers(served)
        assert alice.post(f"threads/{cancelled.thread_id}/cancel")[0] == 200
        sending.join()
        run(queued)
    return Aftermath(answering, reader, token, going_on, calling, cancelled, queued)


def test_an_answer_that_was_being_written_is_written_again_once(alice: Caller, after: Aftermath) -> None:
    """B86, 4.4: who polled throughout, who held the draft and who comes later see one and the same answer."""
    stored = alice.thread(after.answering)
    assert roles(stored) == ["user", "assistant"]
    assert len(text_of(stored.latest_message).split()) == 120
    assert held(after.answering) == held(stored)
    assert held(run(after.reader)) == held(stored)


def test_a_reset_is_told_once_to_every_older_token(alice: Caller, after: Aftermath) -> None:
    """B93, B85: with all content from there; the token behind it does not repeat it."""
    path = f"threads/{after.answering.thread_id}/delta"
    for _ in range(2):
        delta = alice.get(f"{path}?next_token={after.token}")
        assert delta["reset_from_message_sequence_num"] == 1
        answer: list[dict[str, Any]] = delta["messages_by_idx"]["1"]["content"]
        assert len("".join(block["text"] for block in answer).split()) == 120
    again = alice.get(f"{path}?next_token={delta['continuation_token']}")
    assert (again["reset_from_message_sequence_num"], again["messages_by_idx"]) == (None, {})


def test_the_thread_goes_on_as_if_nothing_had_been(alice: Caller, after: Aftermath) -> None:
    """B35, B51: for the object that polled throughout."""
    thread = after.going_on
    assert roles(thread) == ["user", "assistant"]
    run(thread.send_text("And now the next."))
    assert roles(thread) == ["user", "assistant"] * 2
    assert held(thread) == held(alice.thread(thread))


def test_a_call_that_was_running_has_one_result(alice: Caller, after: Aftermath) -> None:
    """B79, B80, 4.4: the server tool is made again, and the use keeps its id."""
    thread = after.calling
    assert roles(thread) == ["user", "assistant", "roboto", "assistant"]
    uses, results = ([block.tool_use_id for block in thread.messages[place].content] for place in (1, 2))
    assert results == uses
    assert [block.status for block in thread.messages[2].content] == ["success", "success"]
    assert held(thread) == held(alice.thread(thread))


def test_a_cancelled_turn_whose_worker_died_stays_cancelled(alice: Caller, after: Aftermath) -> None:
    """B162: nobody takes it up again; the thread is writable."""
    thread = after.cancelled
    follow(thread)
    assert thread.status == AgentThreadStatus.USER_TURN
    assert thread.messages[1].is_unsuccessful()
    run(thread.send_text("Another one."))
    assert roles(thread) == ["user", "assistant"] * 2
    assert held(thread) == held(alice.thread(thread))


def test_a_message_sent_while_there_was_no_worker_is_answered_once(alice: Caller, after: Aftermath) -> None:
    """B43, 1.5: accepted with nobody there to answer, or sent again until it was accepted."""
    assert roles(after.queued) == ["user", "assistant"] * 2
    assert "Second, sent to nobody." in text_of(after.queued.latest_message)
    assert held(after.queued) == held(alice.thread(after.queued))
