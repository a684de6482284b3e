"""What `events()` and `run()` tell while an agent answers."""

import time

import pytest
from roboto.ai.agent_thread import ClientToolSpec
from roboto.ai.agent_thread.event import (
    AgentErrorEvent,
    AgentEvent,
    AgentTextDeltaEvent,
    AgentToolResultEvent,
    AgentToolUseEvent,
)
from roboto.ai.agent_thread.record import AgentThreadStatus

from tests.sdk.callers import TICK, Caller, calls, follow, held, kinds, roles, run, some_words, spoken, text_of

pytestmark = pytest.mark.live


def test_the_fragments_are_the_persisted_answer(alice: Caller) -> None:
    """B53, B55: one start, many fragments, one end, and together they are what the server stored."""
    thread = alice.start("Tell me. [[words 60]] [[pace 0.15]]")
    events = follow(thread)
    assert kinds(events) == ["StartText", "TextDelta", "TextEnd"]
    assert len([event for event in events if isinstance(event, AgentTextDeltaEvent)]) > 3
    assert spoken(events) == text_of(alice.thread(thread).latest_message)
    assert len(spoken(events).split()) == 60
    assert held(thread) == held(alice.thread(thread))


def test_an_answer_that_is_there_already_when_polling_begins_is_told_whole(alice: Caller) -> None:
    """4.6 item 3: the record of a start ends with the request, however quick the worker was."""
    thread = alice.start("Quick. [[words 30]]")
    time.sleep(0.3)
    events = follow(thread)
    assert kinds(events) == ["StartText", "TextDelta", "TextEnd"]
    assert len(spoken(events).split()) == 30


def test_an_idle_thread_tells_nothing(alice: Caller) -> None:
    """B56, B34, B62."""
    thread = alice.talk("Once.")
    before = held(thread)
    assert follow(thread) == []
    assert run(thread) is thread
    assert thread.refresh() is thread
    assert held(thread) == before


def test_a_timeout_loses_nothing_and_polling_again_goes_on(alice: Caller) -> None:
    """B58, B66: both raise TimeoutError; no text is lost or told twice, and the span is not opened twice."""
    thread = alice.start("Slowly. [[words 90]] [[pace 0.12]]")
    some_words(alice, thread)
    events: list[AgentEvent] = []
    with pytest.raises(TimeoutError):
        events.extend(thread.events(tick=TICK, timeout=0.2))
    assert thread.status == AgentThreadStatus.ROBOTO_TURN
    with pytest.raises(TimeoutError):
        run(thread, timeout=0.1, on_event=events.append)
    assert 0 < len(spoken(events).split()) < 90
    events += follow(thread)
    assert kinds(events) == ["StartText", "TextDelta", "TextEnd"]
    assert spoken(events) == text_of(alice.thread(thread).latest_message)
    assert held(thread) == held(alice.thread(thread))


def test_a_server_tool_is_told_as_use_and_result(alice: Caller) -> None:
    """B54, B59, B60, B79, B80, B81: Unicode, nesting, nulls and numbers arrive as they were written."""
    given = {"a": [1, 2.5, {"deep": [None, True, "ä ☃ \u200b ]] [["]}], "big": 12345678901234567890, "": {}}
    thread = alice.start(
        "Echo this, please. " + calls(("echo", {"value": given}), ("calculate", {"expression": "2*21"}))
    )
    events = follow(thread)
    assert kinds(events) == ["ToolUse", "ToolUse", "ToolResult", "ToolResult", "StartText", "TextDelta", "TextEnd"]
    uses = [event for event in events if isinstance(event, AgentToolUseEvent)]
    results = [event for event in events if isinstance(event, AgentToolResultEvent)]
    assert [(use.name, use.input) for use in uses] == [
        ("echo", {"value": given}),
        ("calculate", {"expression": "2*21"}),
    ]
    assert [(result.name, result.success) for result in results] == [("echo", True), ("calculate", True)]
    assert [use.tool_use_id for use in uses] == [result.tool_use_id for result in results]
    assert len({use.tool_use_id for use in uses}) == 2
    assert all(result.runtime_ms is not None for result in results)
    assert roles(thread) == ["user", "assistant", "roboto", "assistant"]
    assert thread.messages[2].content[0].resolve_payload()["value"] == given
    assert thread.messages[2].content[1].resolve_payload() == {"value": 42}
    assert held(thread) == held(alice.thread(thread))


def test_why_a_call_of_a_client_tool_or_of_a_skill_was_refused_is_told(alice: Caller) -> None:
    """B60, 3.3: the SDK's event has nothing but the raw response, so it carries the payload."""
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    tool = ClientToolSpec(name="client_f", description="Does.", input_schema=schema)
    asked = calls(("client_f", {"q": 5}), ("load_skill", {"name": "nope"}))
    thread = alice.start("Break. " + asked, client_tools=[tool])
    results = [event for event in follow(thread) if isinstance(event, AgentToolResultEvent)]
    assert [result.success for result in results] == [False, False]
    assert [set(result.output or {}) for result in results] == [{"error"}, {"error"}]


def test_a_server_tool_that_fails_is_told_as_unsuccessful_and_the_turn_goes_on(alice: Caller) -> None:
    """B60, 4.5: a tool's own failure, arguments against its schema, and a tool nobody has."""
    asked = calls(("calculate", {"expression": "1/0"}), ("calculate", {"formula": 1}), ("no_such_tool", {}))
    thread = alice.start("Break. " + asked)
    events = follow(thread)
    results = [event for event in events if isinstance(event, AgentToolResultEvent)]
    assert [result.success for result in results] == [False, False, False]
    assert all(result.output is None for result in results), "the raw payload of a server's tool has a route of its own"
    flags = [event.answered_by_server for event in events if isinstance(event, AgentToolUseEvent)]
    assert flags == [False, True, True]
    assert thread.status == AgentThreadStatus.USER_TURN
    assert thread.latest_message is not None
    assert thread.latest_message.is_complete()
    assert held(thread) == held(alice.thread(thread))


def test_a_failed_generation_is_told_as_an_error_and_the_thread_stays_usable(alice: Caller) -> None:
    """B61, B165, 4.6 item 11."""
    seen = []
    thread = run(alice.start("Please break. [[fail]]"), on_event=seen.append)
    errors = [event for event in seen if isinstance(event, AgentErrorEvent)]
    assert [(bool(error.error_message), error.error_code) for error in errors] == [(True, "simulated_failure")]
    assert thread.latest_message is not None
    assert thread.latest_message.is_unsuccessful()
    assert not thread.latest_message.is_complete()
    run(thread.send_text("And now without."))
    assert roles(thread) == ["user", "assistant", "user", "assistant"]
    assert thread.latest_message.is_complete()
    assert held(thread) == held(alice.thread(thread))


def test_on_event_sees_what_events_would_have_told(alice: Caller) -> None:
    """B69: two equal starts, one observed by either."""
    said = "Same words. [[words 24]] " + calls(("echo", {"value": 1}))
    seen = []
    run(alice.start(said), on_event=seen.append)
    told = follow(alice.start(said))
    assert kinds(seen) == kinds(told) == ["ToolUse", "ToolResult", "StartText", "TextDelta", "TextEnd"]
    assert spoken(seen) == spoken(told)
