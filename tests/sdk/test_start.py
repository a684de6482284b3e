"""Starting threads through the SDK."""

from datetime import UTC, datetime

import pytest
from roboto.ai.agent_thread import AgentMessage
from roboto.ai.agent_thread.record import AgentRole, AgentThreadStatus, ThreadVisibility
from roboto.ai.core import AnalysisScope, ClientViewingContext
from roboto.ai.goals import DatasetSummaryAgentGoal
from roboto.exceptions import (
    RobotoInvalidRequestException,
    RobotoNoOrgProvidedException,
    RobotoUnauthorizedException,
)

from tests.sdk.callers import Caller, held, roles, run, text_of

pytestmark = pytest.mark.live


def test_a_text_becomes_message_0_and_is_answered(alice: Caller) -> None:
    """B1, B7, B11, B32, B33."""
    thread = alice.start("What is a heddle?")
    assert [text_of(message) for message in thread.messages] == ["What is a heddle?"]
    assert thread.status == AgentThreadStatus.ROBOTO_TURN
    assert thread.visibility == ThreadVisibility.PRIVATE
    run(thread)
    assert roles(thread) == ["user", "assistant"]
    assert "What is a heddle?" in text_of(thread.latest_message)
    first, *said = thread.transcript.split("\n")
    assert first == f"=== {thread.thread_id} ==="
    assert said[:3] == ["== USER ==", "What is a heddle?", "== ASSISTANT =="]
    assert held(thread) == held(alice.thread(thread))


def test_one_message_object_is_stored_as_given(alice: Caller) -> None:
    """B2, B31."""
    message = AgentMessage.text("  Two spaces before, one after \n ")
    thread = alice.start(message)
    assert thread.latest_message is thread.messages[0]
    stored = alice.thread(thread).messages[0]
    assert (stored.role, text_of(stored)) == (AgentRole.USER, "  Two spaces before, one after \n ")
    assert stored.is_complete()


def test_several_messages_keep_their_order_and_are_answered_after_the_last(alice: Caller) -> None:
    """B3, B13 (the SDK refuses the other roles itself)."""
    seeded = [
        AgentMessage.text("First question."),
        AgentMessage.text("Answer from another day.", role=AgentRole.ASSISTANT),
        AgentMessage.text("Second question."),
    ]
    thread = alice.start(seeded)
    assert roles(thread) == ["user", "assistant", "user"]
    run(thread)
    assert roles(thread) == ["user", "assistant", "user", "assistant"]
    assert "Second question." in text_of(thread.latest_message)
    assert [text_of(message) for message in thread.messages[:3]] == [text_of(message) for message in seeded]
    assert held(thread) == held(alice.thread(thread))
    with pytest.raises(ValueError, match="roboto"):
        alice.start([AgentMessage.text("Not mine to say.", role=AgentRole.ROBOTO)])


def test_goals_alone_are_enough_and_the_server_writes_the_message(alice: Caller) -> None:
    """B4, B100."""
    thread = alice.start(goals=[DatasetSummaryAgentGoal(dataset_id="ds_only_a_goal")])
    assert roles(thread) == ["user"]
    assert text_of(thread.messages[0])
    assert thread.goals[0].message_sequence_num == 0
    run(thread)
    assert thread.goals[0].status == "achieved"


def test_nothing_to_do_is_refused_by_the_sdk_and_by_the_server(alice: Caller) -> None:
    """B6."""
    with pytest.raises(ValueError, match="at least one"):
        alice.start()
    with pytest.raises(ValueError, match="at least one"):
        alice.start([])
    for body in ({}, {"messages": []}, {"available_skills": []}, {"messages": [], "goals": [], "invoke_skills": []}):
        status, content = alice.post("threads", body)
        assert (status, content["error"]["error_code"]) == (400, "RobotoInvalidRequestException"), body


def test_every_argument_of_start_arrives(alice: Caller) -> None:
    """B10, B22, B46: what the record reports, and the scope in the hands of a server tool."""
    before = datetime.now(UTC)
    scope = AnalysisScope(start_time=1, end_time=1_700_000_000_000_000_000)
    thread = alice.talk(
        'Look here. [[call echo {"value": null}]]',
        client_context=ClientViewingContext(dataset_ids=["ds_seen"], misc_context={"tab": "plots"}),
        system_prompt="Speak briefly.",
        model_profile="simulated",
        analysis_scope=scope,
        available_skills=[],
    )
    record = alice.record(thread)
    assert record["model_profile"] == "simulated"
    assert record["created_by"] == alice.email
    assert before <= datetime.fromisoformat(record["created"]) <= datetime.now(UTC)
    assert [block["content_type"] for block in record["messages"][0]["content"]] == ["text", "client_context"]
    result = record["messages"][2]["content"][0]
    bounds = {"start_time": 1, "end_time": 1_700_000_000_000_000_000}
    assert result["payload"] == {"value": None, "analysis_scope": bounds}
    assert held(thread) == held(alice.thread(thread))


def test_the_org_argument_decides_whose_thread_it_is(alice: Caller, eve: Caller, admin: Caller) -> None:
    """B8, B9: the default org without it; a member's own with it; nobody else's."""
    orgs = alice.server.who["orgs"]
    assert alice.record(alice.start("Mine."))["org_id"] == orgs["acme"]
    assert alice.record(alice.start("Mine too.", org_id=orgs["acme"]))["org_id"] == orgs["acme"]
    assert alice.record(alice.start("Over there.", org_id=orgs["generous"]))["org_id"] == orgs["generous"]
    assert admin.record(admin.start("From outside.", org_id=orgs["globex"]))["org_id"] == orgs["globex"]
    with pytest.raises(RobotoUnauthorizedException):
        eve.start("Let me in.", org_id=orgs["acme"])
    with pytest.raises(RobotoUnauthorizedException):
        eve.start("Let me in.", org_id="og_nowhere")


def test_an_admin_without_an_org_has_to_name_one(admin: Caller) -> None:
    """B8, 1.2."""
    with pytest.raises(RobotoNoOrgProvidedException):
        admin.start("Where am I?")


def test_a_refused_start_stores_nothing(alice: Caller) -> None:
    """2.2: an unknown model profile comes to light after everything else was fine."""
    before = alice.get("threads?limit=200")["items"]
    with pytest.raises(RobotoInvalidRequestException, match="model_profile"):
        alice.start("Unheard.", model_profile="no-such-model")
    assert [row["thread_id"] for row in alice.get("threads?limit=200")["items"]] == [row["thread_id"] for row in before]
