"""Adding to a thread through the SDK."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from roboto.ai.agent_thread import AgentMessage, AgentThread
from roboto.ai.agent_thread.record import AgentRole, AgentTextContent, AgentThreadStatus
from roboto.ai.goals import DatasetSummaryAgentGoal
from roboto.exceptions import RobotoInvalidRequestException, RobotoUnauthorizedException

from tests.sdk.callers import Caller, blocks, calls, follow, held, roles, run, some_words, spoken, text_of

pytestmark = pytest.mark.live
CODE = "RobotoInvalidRequestException"


def said(text: str) -> dict[str, object]:
    return {"message": {"role": "user", "content": [{"text": text}]}}


def test_run_straight_after_send_waits_for_the_answer(alice: Caller) -> None:
    """B35, B50, B51: the status flips inside the POST, and one's own words stand there once."""
    thread = alice.talk("One.")
    for number in range(2, 5):
        assert thread.send_text(f"Number {number}.") is thread
        run(thread)
        assert f"Number {number}." in text_of(thread.latest_message)
    assert roles(thread) == ["user", "assistant"] * 4
    assert [text_of(message) for message in thread.messages[2::2]] == ["Number 2.", "Number 3.", "Number 4."]
    assert held(thread) == held(alice.thread(thread))


def test_the_log_tells_how_a_turn_ended_whichever_process_worked_at_it(alice: Caller) -> None:
    """docs/operations.md, The log: at INFO, which is the level unless the operator sets another."""
    before = alice.server.log.read_text().count("turn.left")
    alice.talk("One.")
    ends_at = time.monotonic() + 10
    while alice.server.log.read_text().count("turn.left") == before and time.monotonic() < ends_at:
        time.sleep(0.05)
    assert alice.server.log.read_text().count("turn.left") > before


def test_several_text_blocks_stay_several(alice: Caller) -> None:
    """B36."""
    thread = alice.talk("One.")
    parts = [AgentTextContent(text=text) for text in ("First, ", "second", ", third.\n")]
    run(thread.send(AgentMessage(role=AgentRole.USER, content=parts)))
    stored = alice.thread(thread)
    assert [block["text"] for block in blocks(stored.messages[2])] == ["First, ", "second", ", third.\n"]
    assert "First, second, third." in text_of(thread.latest_message)
    assert held(thread) == held(stored)


def answered(alice: Caller, thread: AgentThread) -> None:
    """Wait for the end of the turn without letting the thread's own object know."""
    run(alice.thread(thread))


def test_a_sender_who_is_behind_holds_everything_once(alice: Caller) -> None:
    """B51, B86: the answer came while nobody polled, and so did the answer to what was sent then."""
    thread = alice.start("One. [[words 3]]")
    for number in range(2, 4):
        answered(alice, thread)
        thread.send_text(f"Number {number}. [[words 3]]")
    run(thread)
    assert roles(thread) == ["user", "assistant"] * 3
    assert held(thread) == held(alice.thread(thread))
    run(thread.send_text("And on."))
    assert held(thread) == held(alice.thread(thread))


def test_a_sender_who_gave_up_waiting_holds_everything_once(alice: Caller) -> None:
    """B51, B58, B86: messages were made after the last poll, behind one of which only the beginning is held."""
    thread = alice.start(f"{calls(('echo', {'value': 1}))} [[words 12]] [[pace 0.4]]")
    with pytest.raises(TimeoutError):
        run(thread, timeout=0.3)
    answered(alice, thread)
    run(thread.send_text("Two. [[words 3]]"))
    assert held(thread) == held(alice.thread(thread))


@pytest.mark.parametrize("sends", [1, 2])
def test_a_sender_who_never_loaded_the_messages_holds_everything_once(alice: Caller, sends: int) -> None:
    """B25, B51."""
    started = alice.talk("One. [[words 3]]")
    run(started.send_text("Two. [[words 3]]"))
    thread = alice.thread(started, load_messages=False)
    for number in range(sends):
        thread.send_text(f"Number {number}. [[words 2]]")
        answered(alice, thread)
    run(thread)
    assert held(thread) == held(alice.thread(thread))


def test_another_reader_gets_the_sent_words(alice: Caller, admin: Caller) -> None:
    """B52, B88: whoever did not send them, other objects of the sender's included, up to date or behind."""
    thread = alice.talk("One.")
    others = [admin.thread(thread), alice.thread(thread), alice.thread(thread, load_messages=False)]
    run(thread.send_text("Two, which the admin has to see."))
    for other in others:
        other.refresh()
        assert held(other) == held(thread) == held(alice.thread(thread))
    other = others[0]
    assert text_of(other.messages[2]) == "Two, which the admin has to see."


def test_goals_alone_start_a_turn_with_a_message_of_the_servers(alice: Caller) -> None:
    """B44, B101: the sender gets that message in full, for the SDK appended nothing."""
    thread = alice.talk("One.")
    run(thread.send(goals=[DatasetSummaryAgentGoal(dataset_id="ds_later")]))
    assert roles(thread)[:3] == ["user", "assistant", "user"]
    assert text_of(thread.messages[2])
    assert [goal.message_sequence_num for goal in thread.goals] == [2]
    assert held(thread) == held(alice.thread(thread))


def test_nothing_to_send_is_refused_and_changes_nothing(alice: Caller) -> None:
    """B37 to B41."""
    thread = alice.talk("One.")
    with pytest.raises(ValueError, match="at least one"):
        thread.send()
    for text in ("", "  \n\t "):
        with pytest.raises(RobotoInvalidRequestException, match="text"):
            thread.send_text(text)
    use = {"tool_name": "echo", "tool_use_id": "tu_x", "input": {}}
    wrong = [
        {},
        {"message": {"role": "assistant", "content": [{"text": "I am the agent."}]}},
        {"message": {"role": "user", "content": []}},
        {"message": {"role": "user", "content": [use]}},
        {"message": {"role": "user", "content": [{"text": "and a call"}, use]}},
        {"message": {"role": "user", "content": [{"error_message": "made up"}]}},
        {"message": {"role": "user", "content": [{"text": 5}]}},
        {"message": {"role": "user", "content": [{"x": 1}]}},
    ]
    for body in wrong:
        status, content = alice.post(f"threads/{thread.thread_id}/messages", body)
        assert (status, content["error"]["error_code"]) == (400, CODE), body
    stored = alice.thread(thread)
    assert stored.status == AgentThreadStatus.USER_TURN
    assert held(stored) == held(thread)


def test_only_the_creator_sends(alice: Caller, bob: Caller, eve: Caller, admin: Caller) -> None:
    """B42: a colleague on an org thread, a stranger and an admin are refused alike."""
    status, content = alice.post("threads", {"messages": [said("For all of us.")["message"]], "visibility": "org"})
    assert status == 200
    shared = run(alice.thread(content["data"]["thread_id"]))
    for other in (bob, admin):
        with pytest.raises(RobotoUnauthorizedException):
            other.thread(shared).send_text("May I?")
    assert eve.post(f"threads/{shared.thread_id}/messages", said("May I?"))[0] == 403
    assert held(alice.thread(shared)) == held(shared)


def test_sending_while_the_agent_has_the_turn_changes_nothing(alice: Caller) -> None:
    """B43."""
    thread = alice.start("Slowly. [[words 40]] [[sleep 0.8]]")
    with pytest.raises(RobotoInvalidRequestException, match="roboto_turn"):
        thread.send_text("Hurry up!")
    run(thread)
    assert roles(thread) == ["user", "assistant"]
    assert held(thread) == held(alice.thread(thread))


def test_a_repeated_post_is_one_message(alice: Caller) -> None:
    """1.5: byte for byte the body that started the running turn; one byte more, and it is another request."""
    thread = alice.talk("One.")
    path = f"threads/{thread.thread_id}/messages"
    body = b'{"message": {"role": "user", "content": [{"text": "Twice. [[sleep 1]]"}]}}'
    for _ in range(3):
        assert alice.post(path, body)[0] == 200
    status, content = alice.post(path, body + b" ")
    assert (status, content["error"]["error_code"]) == (400, CODE)
    run(alice.thread(thread))
    stored = alice.thread(thread)
    assert roles(stored) == ["user", "assistant", "user", "assistant"]
    assert alice.post(path, body)[0] == 200  # nothing runs any more: asking the same again is a new request
    assert roles(run(alice.thread(thread))) == ["user", "assistant"] * 3


def test_of_two_that_send_at_once_exactly_one_is_heard(alice: Caller) -> None:
    """B43: different words at the same instant, several times over."""
    thread = alice.talk("One.")
    path = f"threads/{thread.thread_id}/messages"

    def send(word: str) -> int:
        together.wait()
        return alice.post(path, said(f"{word} [[words 6]] [[sleep 0.5]]"))[0]

    together = threading.Barrier(4)
    for round_ in range(3):
        words = [f"{round_}-{number}" for number in range(4)]
        with ThreadPoolExecutor(4) as senders:
            statuses = list(senders.map(send, words))
        assert sorted(statuses) == [200, 400, 400, 400]
        stored = run(alice.thread(thread))
        assert roles(stored) == ["user", "assistant"] * (round_ + 2)
        assert text_of(stored.messages[-2]).startswith(words[statuses.index(200)])


def test_a_cancelled_answer_says_so_and_the_thread_is_writable_again(alice: Caller, bob: Caller) -> None:
    """B162, B165, H3: the SDK's polling ends, keeps what was said, and goes on."""
    thread = alice.start("Slowly. [[words 200]] [[pace 0.1]]")
    path = f"threads/{thread.thread_id}/cancel"
    some_words(alice, thread)
    assert bob.post(path)[0] == 403
    status, content = alice.post(path)
    assert (status, content["data"]["status"]) == (200, "user_turn")
    events = follow(thread)
    assert 0 < len(spoken(events).split()) < 200
    last = thread.latest_message
    assert last is not None
    assert last.is_unsuccessful()
    assert blocks(last)[-1]["error_code"] == "cancelled"
    assert alice.post(path)[0] == 200  # nothing runs: a no-op
    after = held(alice.thread(thread))
    time.sleep(0.3)
    assert held(alice.thread(thread)) == after == held(thread)  # the worker adds nothing any more
    run(thread.send_text("Go on."))
    assert roles(thread) == ["user", "assistant", "user", "assistant"]
    assert held(thread) == held(alice.thread(thread))


def test_an_answer_ends_in_one_of_three_ways_and_the_sdk_knows_them_all(alice: Caller) -> None:
    """B166: completed, failed, cancelled; one that is being written has not ended."""
    slow = alice.start("Slowly. [[words 400]] [[pace 0.1]]")
    written = some_words(alice, slow).latest_message
    assert written is not None
    assert not written.status.is_terminal()
    assert alice.post(f"threads/{slow.thread_id}/cancel")[0] == 200
    follow(slow)
    ended = [thread.latest_message for thread in (run(alice.start("Yes.")), run(alice.start("No. [[fail]]")), slow)]
    assert [message.status for message in ended if message] == ["completed", "failed", "cancelled"]
    assert all(message.status.is_terminal() for message in ended if message)


def test_the_same_words_said_again_are_said_again(alice: Caller) -> None:
    """1.5: byte for byte the same POST, once its answer has gone out and its turn is over, is another message."""
    thread = alice.talk("Hello.")
    for count in (2, 3, 4):
        assert (
            alice.post(
                f"threads/{thread.thread_id}/messages", {"message": {"role": "user", "content": [{"text": "Yes."}]}}
            )[0]
            == 200
        )
        run(thread)
        assert roles(alice.thread(thread)) == ["user", "assistant"] * count
