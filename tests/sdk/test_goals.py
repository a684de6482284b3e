"""Goals of the SDK's three types: declared, achieved one by one, or failed."""

from typing import Any

import pytest
from roboto.ai import ClientTool
from roboto.ai.agent_thread.agent_thread import RobotoAgentGoalsFailedException
from roboto.ai.agent_thread.record import AgentThreadStatus
from roboto.ai.goals import (
    CreateEventsGoal,
    CreateEventsGoalResult,
    DatasetSummaryAgentGoal,
    DatasetSummaryGoalResult,
    DatasetTriageGoal,
    DatasetTriageGoalResult,
)

from tests.sdk.callers import Caller, calls, follow, held, roles, run, text_of

pytestmark = pytest.mark.live

SUMMARY = DatasetSummaryAgentGoal(dataset_id="ds_1", summary_format_spec_prompt="Three lines.")
TRIAGE = DatasetTriageGoal(dataset_id="ds_2", label_vocabulary={"crash": "It fell.", "no-gps_2": "It was lost."})
EVENTS = CreateEventsGoal(
    dataset_id="ds_3",
    event_vocabulary={"Hard brake!": "Stopped at once.", "Überholen": "Passed somebody."},
    tag_vocabulary={"wet road": "It rained."},
    collection_id="cl_1",
    event_focus_prompt="Only the first minute.",
)


def test_all_three_types_are_achieved_in_one_turn(alice: Caller) -> None:
    """B96, B97, B100, B102 to B104, B107, B108."""
    thread = alice.start("Do all of it.", goals=[SUMMARY, TRIAGE, EVENTS])
    assert [goal.status for goal in thread.goals] == ["pending"] * 3
    assert [goal.concluded_at for goal in thread.goals] == [None] * 3
    run(thread)
    assert [goal.status for goal in thread.goals] == ["achieved"] * 3
    assert [goal.to_agent_goal() for goal in thread.goals] == [SUMMARY, TRIAGE, EVENTS]
    assert all(goal.concluded_at and goal.concluded_at >= goal.created for goal in thread.goals)
    assert {goal.message_sequence_num for goal in thread.goals} == {0}
    for goal in thread.goals:
        assert goal.achieve_tool_use is not None
        assert goal.achieve_tool_use.tool_name == f"achieve_{goal.goal_type}"
        assert goal.achieve_tool_result is not None
        assert goal.achieve_tool_result.status == "success"
    summary, triage, events = (goal.result for goal in thread.goals)
    assert isinstance(summary, DatasetSummaryGoalResult)
    assert "ds_1" in summary.summary
    assert isinstance(triage, DatasetTriageGoalResult)
    assert [decision.label for decision in triage.label_decisions] == ["crash", "no-gps_2"]
    assert isinstance(events, CreateEventsGoalResult)
    assert events.events
    for event in events.events:
        assert event.name in EVENTS.event_vocabulary
        assert set(event.tags) <= set(EVENTS.tag_vocabulary)
        assert event.target_id == "ds_3"
        assert event.end_time >= event.start_time
    assert text_of(thread.latest_message)
    stored = alice.thread(thread)
    assert held(thread) == held(stored)
    assert [goal.record for goal in thread.goals] == [goal.record for goal in stored.goals]


def test_five_of_one_type_are_achieved_separately(alice: Caller) -> None:
    """B105, B14: five are accepted, each with a call of its own that names its own dataset."""
    wanted = [DatasetSummaryAgentGoal(dataset_id=f"ds_{number}") for number in range(5)]
    thread = alice.talk(goals=wanted)
    assert [goal.status for goal in thread.goals] == ["achieved"] * 5
    assert len({goal.achieve_tool_use_id for goal in thread.goals}) == 5
    names = [goal.achieve_tool_use.tool_name for goal in thread.goals if goal.achieve_tool_use]
    assert names == ["achieve_dataset_summary", *(f"achieve_dataset_summary_{number}" for number in range(2, 6))]
    for number, goal in enumerate(thread.goals):
        assert isinstance(goal.result, DatasetSummaryGoalResult)
        assert f"ds_{number}" in goal.result.summary
    with pytest.raises(ValueError, match="at most 5"):
        alice.start(goals=[*wanted, SUMMARY])
    six = [goal.model_dump(mode="json") for goal in [*wanted, SUMMARY]]
    assert alice.post("threads", {"goals": six})[0] == 400


def test_goals_that_stay_open_fail_and_run_says_so(alice: Caller) -> None:
    """B98, B67, 4.3: after the budget of re-prompts; the thread can be gone on with."""
    thread = alice.start("No. [[refuse-goals]]", goals=[SUMMARY, TRIAGE])
    with pytest.raises(RobotoAgentGoalsFailedException) as failed:
        run(thread)
    assert failed.value.thread_id == thread.thread_id
    assert thread.status == AgentThreadStatus.GOALS_FAILED
    assert [(goal.status, goal.achieve_tool_use_id, goal.result) for goal in thread.goals] == [
        ("failed", None, None)
    ] * 2
    assert all(goal.concluded_at for goal in thread.goals)
    assert roles(thread) == ["user"] + ["assistant"] * 4
    assert held(thread) == held(alice.thread(thread))
    run(thread.send_text("Then something else."))
    assert thread.status == AgentThreadStatus.USER_TURN
    assert held(thread) == held(alice.thread(thread))


def test_goals_of_several_turns_are_listed_in_order_each_with_its_message(alice: Caller) -> None:
    """B101, B100, B91, B44."""
    thread = alice.talk("First.", goals=[SUMMARY])
    run(thread.send_text("Second.", goals=[TRIAGE]))
    with pytest.raises(RobotoAgentGoalsFailedException):
        run(thread.send_text("Third. [[refuse-goals]]", goals=[EVENTS]))
    run(thread.send(goals=[SUMMARY]))
    assert [(goal.goal_type, goal.status) for goal in thread.goals] == [
        ("dataset_summary", "achieved"),
        ("dataset_triage", "achieved"),
        ("create_events", "failed"),
        ("dataset_summary", "achieved"),
    ]
    declared_at = [goal.message_sequence_num for goal in thread.goals]
    assert declared_at == [place for place, role in enumerate(roles(thread)) if role == "user"]
    assert [goal.record for goal in thread.goals] == [goal.record for goal in alice.thread(thread).goals]
    assert held(thread) == held(alice.thread(thread))


def test_a_thread_without_goals_has_an_empty_list(alice: Caller) -> None:
    """B106, 3.1."""
    thread = alice.talk("Nothing to achieve.")
    assert (thread.goals, thread.tasks) == ([], [])
    record = alice.record(thread)
    assert (record["goals"], record["tasks"]) == ([], [])


def test_a_failed_attempt_leaves_the_goal_open_and_a_sibling_that_failed_leaves_it_achieved(alice: Caller) -> None:
    """B97, B103, B110, 3.8: an attempt against the rules is an error result; then one goal achieved, one not."""
    bad = ("achieve_dataset_triage", {"label_decisions": [_decision("crash")]})
    good = ("achieve_dataset_summary", {"summary": "All is well."})
    thread = alice.start("Half of it. [[refuse-goals]] " + calls(bad, good), goals=[SUMMARY, TRIAGE])
    with pytest.raises(RobotoAgentGoalsFailedException):
        run(thread)
    summary, triage = thread.goals
    assert (summary.status, triage.status) == ("achieved", "failed")
    assert isinstance(summary.result, DatasetSummaryGoalResult)
    assert summary.result.summary == "All is well."
    assert triage.achieve_tool_result is not None
    assert triage.achieve_tool_result.status == "error"
    assert "no-gps_2" in str(triage.achieve_tool_result.resolve_payload())


def _decision(label: str) -> dict[str, Any]:
    return {"label": label, "applies": False, "justification": "Seen.", "confidence": 1}


def test_a_generation_that_breaks_fails_its_goals(alice: Caller) -> None:
    """B98, 4.1."""
    thread = alice.start("Break. [[refuse-goals]] [[fail]]", goals=[SUMMARY])
    with pytest.raises(RobotoAgentGoalsFailedException):
        run(thread)
    assert [goal.status for goal in thread.goals] == ["failed"]
    assert thread.latest_message is not None
    assert thread.latest_message.is_unsuccessful()


def test_goals_stay_pending_while_a_client_tool_waits(alice: Caller) -> None:
    """B96, 4.3: calls and goals work in one turn."""
    tool = ClientTool(lambda: None, name="client_look", description="Look.", input_schema={"type": "object"})
    thread = alice.start("Look. " + calls(("client_look", {})), goals=[SUMMARY], client_tools=[tool])
    follow(thread)
    assert thread.status == AgentThreadStatus.CLIENT_TOOL_TURN
    assert [goal.status for goal in thread.goals] == ["pending"]
    run(thread)
    assert [goal.status for goal in thread.goals] == ["achieved"]
    assert held(thread) == held(alice.thread(thread))


def test_a_cancelled_turn_fails_its_goals(alice: Caller) -> None:
    """B162, 4.1: and nobody waits for them any more."""
    tool = ClientTool(lambda: None, name="client_look", description="Look.", input_schema={"type": "object"})
    thread = alice.start("Look. " + calls(("client_look", {})), goals=[SUMMARY], client_tools=[tool])
    follow(thread)
    assert alice.post(f"threads/{thread.thread_id}/cancel")[0] == 200
    thread.refresh()
    assert [goal.status for goal in thread.goals] == ["failed"]
    assert run(thread).status == AgentThreadStatus.USER_TURN


@pytest.mark.parametrize(
    ("goal", "accepted"),
    [
        ({"goal_type": "dataset_summary", "dataset_id": ""}, True),
        ({"goal_type": "dataset_summary"}, False),
        ({"goal_type": "dataset_summary", "dataset_id": "d", "summary_format_spec_prompt": "x" * 4000}, True),
        ({"goal_type": "dataset_summary", "dataset_id": "d", "summary_format_spec_prompt": "x" * 4001}, False),
        ({"goal_type": "dataset_summary", "dataset_id": "d", "summary_format_spec_prompt": ""}, False),
        ({"goal_type": "dataset_triage", "dataset_id": "d", "label_vocabulary": {}}, False),
        ({"goal_type": "dataset_triage", "dataset_id": "d", "label_vocabulary": {"a" * 5000: "x" * 500}}, True),
        ({"goal_type": "dataset_triage", "dataset_id": "d", "label_vocabulary": {"a": "x" * 501}}, False),
        ({"goal_type": "dataset_triage", "dataset_id": "d", "label_vocabulary": {"a b": "x"}}, False),
        ({"goal_type": "dataset_triage", "dataset_id": "d", "label_vocabulary": {"a": " "}}, False),
        (
            {"goal_type": "dataset_triage", "dataset_id": "d", "label_vocabulary": {f"l{n}": "x" for n in range(50)}},
            True,
        ),
        (
            {"goal_type": "dataset_triage", "dataset_id": "d", "label_vocabulary": {f"l{n}": "x" for n in range(51)}},
            False,
        ),
        ({"goal_type": "create_events", "dataset_id": "d", "event_vocabulary": {"e" * 100: "x" * 500}}, True),
        ({"goal_type": "create_events", "dataset_id": "d", "event_vocabulary": {"e" * 101: "x"}}, False),
        ({"goal_type": "create_events", "dataset_id": "d", "event_vocabulary": {" ": "x"}}, False),
        (
            {
                "goal_type": "create_events",
                "dataset_id": "d",
                "event_vocabulary": {"e": "x"},
                "tag_vocabulary": {f"t {n}": "x" for n in range(51)},
            },
            False,
        ),
        ({"goal_type": "fly_to_the_moon"}, False),
    ],
)
def test_bounds_of_declarations(alice: Caller, goal: dict[str, Any], accepted: bool) -> None:
    """B109: at the limit accepted, one past it refused; what the SDK itself would not let out comes over plain HTTP."""
    status, content = alice.post("threads", {"goals": [goal]})
    assert status == (200 if accepted else 400), content
    if accepted:
        assert content["data"]["goals"][0]["goal_data"].items() >= goal.items()
    else:
        assert content["error"]["message"].startswith("goals.0")
