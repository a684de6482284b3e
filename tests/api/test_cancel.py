"""H3: cancelling a turn (spec 4.1, 4.2 item 6)."""

import pytest

from tests import make
from tests.api import shapes
from tests.conftest import data_of, refusal_of
from threads.models import Turn
from threads.runner import loop
from threads.status import TurnState

SUMMARY = {"goal_type": "dataset_summary", "dataset_id": "ds_1"}


def cancelled(api, thread):
    """The record after alice cancelled."""
    answer = data_of(api("alice").post(f"threads/{thread.thread_id}/cancel", {}))
    assert answer == {"thread_id": thread.thread_id, "status": "user_turn"}
    record = data_of(api("alice").get(f"threads/{thread.thread_id}"))
    assert record["status"] == "user_turn"
    return record


def error_of(message):
    [error] = [block for block in message["content"] if block["content_type"] == "error"]
    assert set(error) == shapes.ERROR
    return error["error_code"]


def test_a_queued_turn_gets_a_cancelled_answer_and_the_thread_is_writable_again_B162(api, who):
    thread = make.thread(who.alice, run=False)
    record = cancelled(api, thread)
    assert record["messages"][-1]["status"] == "cancelled"
    assert error_of(record["messages"][-1]) == "cancelled"
    make.run_turns()
    assert data_of(api("alice").get(f"threads/{thread.thread_id}")) == record

    thread = make.send(who.alice, thread, "Another try [[words 2]]")
    assert shapes.texts(data_of(api("alice").get(f"threads/{thread.thread_id}")))[-1] == "the warp"


def test_a_half_written_answer_keeps_its_text_and_its_worker_writes_no_further_B162(api, who):
    thread = make.thread(who.alice, run=False)
    turn = make.half_answered(thread, "Half an ")
    record = cancelled(api, thread)
    last = record["messages"][-1]
    assert (shapes.said(last), last["status"], error_of(last)) == ("Half an ", "cancelled", "cancelled")
    make.let_expire(turn)
    loop.advance(turn.pk)
    assert data_of(api("alice").get(f"threads/{thread.thread_id}")) == record
    assert Turn.objects.get(pk=turn.pk).state == TurnState.CANCELLED


def test_waiting_calls_are_answered_with_errors_so_that_the_history_stays_well_formed_B162(api, who):
    thread = make.waiting(who.alice, "[[call remember {}]] [[call recall {}]]", make.client_tool(),
                          make.client_tool("recall"))  # fmt: skip
    record = cancelled(api, thread)
    results = shapes.blocks(record, "tool_result")
    uses = shapes.blocks(record, "tool_use")
    assert [result["tool_use_id"] for result in results] == [use["tool_use_id"] for use in uses]
    assert {result["status"] for result in results} == {"error"}
    for result in results:  # 3.3: the SDK's event of a client tool's result reads `raw_response` alone
        assert result["raw_response"] == result["payload"]
        assert "was not answered" in result["payload"]["error"]
    *_, answered, last = record["messages"]
    assert (answered["role"], answered["status"]) == ("roboto", "completed")
    assert (last["role"], last["status"], error_of(last)) == ("assistant", "cancelled", "cancelled")
    make.send(who.alice, thread, "Go on")


def test_results_that_came_before_stay_and_only_the_open_calls_get_errors_B162(api, who):
    thread = make.waiting(who.alice, '[[call remember {}]] [[call echo {"value": 1}]]')
    record = cancelled(api, thread)
    results = {result["tool_name"]: result["status"] for result in shapes.blocks(record, "tool_result")}
    assert results == {"echo": "success", "remember": "error"}
    assert [message["role"] for message in record["messages"]] == ["user", "assistant", "roboto", "assistant"]


def test_pending_goals_fail_with_the_turn(api, who):
    """Spec 4.1."""
    thread = make.thread(who.alice, goals=[SUMMARY], run=False)
    [goal] = cancelled(api, thread)["goals"]
    assert goal["status"] == "failed"
    assert goal["concluded_at"]


def test_a_goal_that_was_achieved_before_the_cancellation_is_achieved_anew_in_the_next_turn_B97(api, who):
    """Spec 4.3: the cancelled turn had no last word, so its results stand right before the next message."""
    thread = make.waiting(who.alice, '[[call achieve_dataset_summary {"summary": "x"}]] [[call remember {}]]',
                          make.client_tool(), goals=[SUMMARY])  # fmt: skip
    assert [goal["status"] for goal in cancelled(api, thread)["goals"]] == ["achieved"]
    make.send(who.alice, thread, "Again", goals=[SUMMARY])
    record = data_of(api("alice").get(f"threads/{thread.thread_id}"))
    assert [goal["status"] for goal in record["goals"]] == ["achieved", "achieved"]


def test_cancelling_when_nothing_runs_changes_nothing(api, who):
    """H3: a no-op."""
    thread = make.thread(who.alice)
    before, modified = data_of(api("alice").get(f"threads/{thread.thread_id}")), make.fresh(thread).modified
    assert cancelled(api, thread) == before
    assert cancelled(api, thread) == before
    assert make.fresh(thread).modified == modified, "it would be listed as changed, and kept as such"


def test_cancelling_after_failed_goals_leaves_that_status(api, who):
    """H3: nothing runs."""
    thread = make.thread(who.alice, "[[refuse-goals]]", goals=[SUMMARY])
    assert data_of(api("alice").post(f"threads/{thread.thread_id}/cancel", {}))["status"] == "goals_failed"


@pytest.mark.parametrize("body", [None, {}])
def test_a_cancel_needs_no_body(api, who, body):
    """H3: an empty object."""
    thread = make.thread(who.alice, run=False)
    assert data_of(api("alice").post(f"threads/{thread.thread_id}/cancel", body))["status"] == "user_turn"


def test_readers_hear_of_the_cancellation_in_one_delta_B90(api, who):
    thread = make.thread(who.alice, run=False)
    make.half_answered(thread, "Half ")
    token = data_of(api("alice").get(f"threads/{thread.thread_id}"))["continuation_token"]
    cancelled(api, thread)
    delta = data_of(api("alice").get(f"threads/{thread.thread_id}/delta?next_token={token}"))
    assert delta["status"] == "user_turn"
    assert delta["reset_from_message_sequence_num"] is None
    [message] = delta["messages_by_idx"].values()
    assert message["status"] == "cancelled"
    assert [block["content_type"] for block in message["content"]] == ["error"]


@pytest.mark.parametrize("name", ["bob", "eve", "admin"])
def test_only_the_creator_cancels(api, who, name):
    """H3: C."""
    thread = make.thread(who.alice, visibility="org", run=False)
    assert refusal_of(api(name).post(f"threads/{thread.thread_id}/cancel", {}))[0] == 403
    assert make.fresh(thread).status == "roboto_turn"
