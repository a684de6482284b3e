"""Tools that the client brings along and answers."""

import json
import os
import subprocess
import sys
import time
from typing import Any

import pytest
from roboto.ai import AgentThread, ClientTool, ClientToolResult, ClientToolResultStatus, ClientToolSpec, client_tool
from roboto.ai.agent_thread.event import AgentToolResultEvent, AgentToolUseEvent
from roboto.ai.agent_thread.record import AgentThreadStatus
from roboto.exceptions import RobotoInvalidRequestException

from tests.sdk.callers import TICK, Caller, calls, follow, held, kinds, roles, run, text_of

pytestmark = pytest.mark.live
ANYTHING = {"type": "object"}
SUCCESS, ERROR, DECLINED = ClientToolResultStatus


def recorder(name: str = "client_recall", answer: Any = None) -> tuple[ClientTool, list[dict[str, Any]]]:
    """A tool that takes anything, and what it was called with."""
    called: list[dict[str, Any]] = []

    def answering(**given: Any) -> Any:
        called.append(given)
        return answer

    return ClientTool(answering, name=name, description="Recall.", input_schema=ANYTHING), called


def spec(name: str = "client_recall") -> ClientToolSpec:
    return ClientToolSpec(name=name, description="Recall.", input_schema=ANYTHING)


def waiting(caller: Caller, *inputs: Any) -> tuple[AgentThread, list[AgentToolUseEvent]]:
    """A thread whose agent waits for one answer an input."""
    asked = calls(*(("client_recall", value) for value in inputs or [{}]))
    thread = caller.start("Recall it. " + asked, client_tools=[spec()])
    events = follow(thread)
    assert thread.status == AgentThreadStatus.CLIENT_TOOL_TURN
    return thread, [event for event in events if isinstance(event, AgentToolUseEvent)]


def result(use: AgentToolUseEvent, status: str = SUCCESS, **more: Any) -> ClientToolResult:
    return ClientToolResult(
        **{"tool_use_id": use.tool_use_id, "tool_name": use.name, "runtime_ms": 7, "status": status, **more}
    )


def stored_results(caller: Caller, thread: AgentThread) -> list[dict[str, Any]]:
    blocks = [block for message in caller.record(thread)["messages"] for block in message["content"]]
    return [block for block in blocks if block["content_type"] == "tool_result"]


def test_run_calls_the_callback_with_the_models_arguments_and_submits_what_it_returns(alice: Caller) -> None:
    """B63, B71, B79 to B81: both directions unchanged, and the answer tells of it."""
    given = {"query": "where ☃?", "filters": {"deep": [None, 1.5, -0.0, True, {"x": []}]}, "brackets": "]] [["}
    answer = {"found": [{"id": 12345678901234567890, "score": 0.1, "note": None}], "ünï": "\u200bcode"}
    tool, called = recorder(answer=answer)
    seen: list[Any] = []
    thread = run(alice.start("Recall. " + calls(("client_recall", given)), client_tools=[tool]), on_event=seen.append)
    assert called == [given]
    assert roles(thread) == ["user", "assistant", "roboto", "assistant"]
    [stored] = stored_results(alice, thread)
    assert (stored["payload"], stored["raw_response"], stored["status"]) == (answer, answer, "success")
    assert kinds(seen) == ["ToolUse", "ToolResult", "StartText", "TextDelta", "TextEnd"]
    [told] = [event for event in seen if isinstance(event, AgentToolResultEvent)]
    assert (told.success, told.output, told.name) == (True, answer, "client_recall")
    assert "client_recall" in text_of(thread.latest_message)
    assert held(thread) == held(alice.thread(thread))


def test_what_a_callback_returns_becomes_an_object(alice: Caller) -> None:
    """B63, 6.1: None, a dict and anything else, called several times in one message, each once."""

    @client_tool
    def client_add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    nothing, nothing_called = recorder("client_nothing")
    asked = calls(("client_add", {"a": 1, "b": 2}), ("client_nothing", {}), ("client_add", {"a": 3, "b": 4}))
    thread = alice.talk("Add. " + asked, client_tools=[client_add, nothing])
    assert nothing_called == [{}]
    assert [stored["payload"] for stored in stored_results(alice, thread)] == [{"result": 3}, {}, {"result": 7}]
    assert roles(thread) == ["user", "assistant", "roboto", "assistant"]
    assert held(thread) == held(alice.thread(thread))


def test_a_callback_that_raises_and_one_that_is_missing_become_error_results(alice: Caller) -> None:
    """B64, B65: the run goes on after both."""

    @client_tool
    def client_broken() -> None:
        """Break."""
        raise LookupError("nothing of that name")

    asked = calls(("client_broken", {}), ("client_recall", {}))
    thread = alice.talk("Try. " + asked, client_tools=[client_broken, spec()])
    broken, absent = stored_results(alice, thread)
    assert (broken["status"], broken["payload"]) == ("error", {"error": "LookupError: nothing of that name"})
    assert absent["status"] == "error"
    assert absent["runtime_ms"] == 0
    assert "No callback" in absent["payload"]["error"]
    assert thread.latest_message is not None
    assert thread.latest_message.is_complete()
    assert held(thread) == held(alice.thread(thread))


def test_events_do_not_dispatch(alice: Caller) -> None:
    """B57."""
    tool, called = recorder()
    thread = alice.start("Recall. " + calls(("client_recall", {"n": 1})), client_tools=[tool])
    assert kinds(follow(thread)) == ["ToolUse"]
    assert thread.status == AgentThreadStatus.CLIENT_TOOL_TURN
    assert follow(thread) == []
    assert called == []
    run(thread)
    assert called == [{"n": 1}]


def test_server_and_client_tools_of_one_message(alice: Caller) -> None:
    """4.5: the server's results are there before the client's turn; each tool is run once."""
    tool, called = recorder(answer={"ok": 1})
    asked = calls(
        ("echo", {"value": 1}), ("client_recall", {"n": 2}), ("echo", {"value": 3}), ("client_recall", {"n": 4})
    )
    thread = alice.start("Both. " + asked, client_tools=[tool])
    events = follow(thread)
    assert kinds(events) == ["ToolUse"] * 4 + ["ToolResult"] * 2
    assert thread.status == AgentThreadStatus.CLIENT_TOOL_TURN
    assert roles(thread) == ["user", "assistant", "roboto"]
    run(thread)
    assert called == [{"n": 2}, {"n": 4}]
    results = stored_results(alice, thread)
    assert [stored["tool_name"] for stored in results] == ["echo", "echo", "client_recall", "client_recall"]
    assert len({stored["tool_use_id"] for stored in results}) == 4
    assert roles(thread) == ["user", "assistant", "roboto", "assistant"]
    assert held(thread) == held(alice.thread(thread))


def test_a_call_against_the_tools_own_schema_is_answered_by_the_server(alice: Caller) -> None:
    """4.5, B76: flagged, never dispatched, and a submission that names it is refused."""

    @client_tool
    def client_add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    asked = calls(("client_add", {"a": "one"}), ("client_add", {"a": 1, "b": 1}))
    thread = alice.start("Add. " + asked, client_tools=[client_add])
    bad, good = [event for event in follow(thread) if isinstance(event, AgentToolUseEvent)]
    assert (bad.answered_by_server, good.answered_by_server) == (True, False)
    with pytest.raises(RobotoInvalidRequestException, match="tool_use_id"):
        thread.submit_client_tool_results([result(bad)])
    run(thread)
    assert [stored["status"] for stored in stored_results(alice, thread)] == ["error", "success"]
    assert held(thread) == held(alice.thread(thread))


def test_manual_submission_resumes_the_thread(alice: Caller) -> None:
    """B70 to B73: every status, with and without output."""
    thread, uses = waiting(alice, {"n": 1}, {"n": 2}, {"n": 3}, {"n": 4})
    submitted = [
        result(uses[0], output={"kept": [1, None]}),
        result(uses[1], ERROR, output={"error": "not today"}, runtime_ms=2**31 - 1),
        result(uses[2], DECLINED),
        result(uses[3], SUCCESS, output=None, runtime_ms=0),
    ]
    assert thread.submit_client_tool_results(submitted) is thread
    assert thread.status == AgentThreadStatus.ROBOTO_TURN
    run(thread)
    stored = stored_results(alice, thread)
    assert [(each["tool_use_id"], each["status"], each["payload"], each["runtime_ms"]) for each in stored] == [
        (uses[0].tool_use_id, "success", {"kept": [1, None]}, 7),
        (uses[1].tool_use_id, "error", {"error": "not today"}, 2**31 - 1),
        (uses[2].tool_use_id, "declined", None, 7),
        (uses[3].tool_use_id, "success", None, 0),
    ]
    assert held(thread) == held(alice.thread(thread))


def test_a_second_answer_is_refused_and_the_first_stands(alice: Caller) -> None:
    """B74, B75, B68: while the others are pending, and when nothing is pending any more."""
    thread, uses = waiting(alice, {"n": 1}, {"n": 2})
    other = alice.thread(thread)
    thread.submit_client_tool_results([result(uses[0], output={"first": True})])
    with pytest.raises(RobotoInvalidRequestException, match="there is no pending tool use"):
        other.submit_client_tool_results([result(uses[0], output={"first": False})])
    thread.submit_client_tool_results([result(uses[1], output={})])
    run(thread)
    late, called = recorder()
    other.register_client_tool(late)  # it still holds the state from before the answers
    with pytest.raises(RobotoInvalidRequestException, match="not waiting for any"):
        other.submit_client_tool_results([result(uses[1])])
    assert called == []
    assert [stored["payload"] for stored in stored_results(alice, thread)] == [{"first": True}, {}]
    assert held(thread) == held(alice.thread(thread))


def test_run_propagates_a_refused_submission(alice: Caller) -> None:
    """B68: somebody else answers while the callback still works."""
    thread, uses = waiting(alice, {"n": 1})

    def overtaken(**given: Any) -> dict[str, Any]:
        alice.thread(thread).submit_client_tool_results([result(uses[0], output={"quicker": True})])
        return {"quicker": False}

    slow = ClientTool(overtaken, name="client_recall", description="Slow.", input_schema=ANYTHING)
    with pytest.raises(RobotoInvalidRequestException):
        run(thread.register_client_tool(slow))
    assert [stored["payload"] for stored in stored_results(alice, thread)] == [{"quicker": True}]
    run(thread)
    assert held(thread) == held(alice.thread(thread))


def test_a_partial_submission_is_stored_and_the_rest_is_dispatched_once(alice: Caller) -> None:
    """2.4, 4.5: the delta that shows the waiting thread brings the stored results, or tools would run again."""
    thread, uses = waiting(alice, {"n": 1}, {"n": 2}, {"n": 3})
    tool, called = recorder(answer={"by": "run"})
    thread.submit_client_tool_results([result(uses[1], output={"by": "hand"})], client_tools=[tool])
    assert alice.record(thread)["status"] == "client_tool_turn"
    run(thread)
    assert called == [{"n": 1}, {"n": 3}]
    stored = {each["tool_use_id"]: each["payload"] for each in stored_results(alice, thread)}
    assert stored == {use.tool_use_id: {"by": "hand" if place == 1 else "run"} for place, use in enumerate(uses)}
    assert held(thread) == held(alice.thread(thread))


def test_one_bad_result_refuses_the_whole_submission(alice: Caller) -> None:
    """B76, B77: unknown id, another tool's name, the same id twice, an output that is no object."""
    thread, uses = waiting(alice, {"n": 1}, {"n": 2})
    good = result(uses[0], output={"kept": False}).model_dump(mode="json")
    bad = [
        {**good, "tool_use_id": "tu_unknown"},
        {**good, "tool_use_id": uses[1].tool_use_id, "tool_name": "client_other"},
        good,
        {**good, "tool_use_id": uses[1].tool_use_id, "output": [1]},
        {**good, "tool_use_id": uses[1].tool_use_id, "status": "fine"},
        {**good, "tool_use_id": uses[1].tool_use_id, "runtime_ms": "soon"},
    ]
    for each in bad:
        status, _ = alice.post(f"threads/{thread.thread_id}/tool-results", {"tool_results": [good, each]})
        assert status == 400, each
    assert stored_results(alice, thread) == []
    assert alice.record(thread)["status"] == "client_tool_turn"
    assert alice.post(f"threads/{thread.thread_id}/tool-results", {"tool_results": []})[0] == 200
    thread.submit_client_tool_results([result(use, output={}) for use in uses])
    run(thread)
    assert held(thread) == held(alice.thread(thread))


def test_a_repeated_submission_has_no_effect_while_its_turn_runs(alice: Caller) -> None:
    """1.5: the same bytes again are 200, and stored once."""
    asked = calls(("client_recall", {}))
    thread = alice.start(f"Recall. {asked} [[sleep 1]]", client_tools=[spec()])
    [use] = [event for event in follow(thread) if isinstance(event, AgentToolUseEvent)]
    body = json.dumps({"tool_results": [result(use, output={"n": 1}).model_dump(mode="json")]}).encode()
    path = f"threads/{thread.thread_id}/tool-results"
    assert [alice.post(path, body)[0] for _ in range(3)] == [200, 200, 200]
    assert alice.post(path, body + b" ")[0] == 400
    run(thread)
    assert len(stored_results(alice, thread)) == 1
    assert roles(thread) == ["user", "assistant", "roboto", "assistant"]
    assert held(thread) == held(alice.thread(thread))


def test_results_when_nothing_waits_are_refused(alice: Caller) -> None:
    """B75: at user_turn and at roboto_turn."""
    thread = alice.talk("Nothing to recall.", client_tools=[spec()])
    one = ClientToolResult(tool_use_id="tu_x", tool_name="client_recall", runtime_ms=0, status=SUCCESS, output={})
    for results in ([one], []):
        with pytest.raises(RobotoInvalidRequestException, match="not waiting for any"):
            thread.submit_client_tool_results(results)
    slow = alice.start("Slowly. [[sleep 0.5]]")
    with pytest.raises(RobotoInvalidRequestException, match="roboto_turn"):
        slow.submit_client_tool_results([one])
    run(slow)


def test_sending_while_a_tool_waits_is_refused(alice: Caller) -> None:
    """B43."""
    thread, uses = waiting(alice)
    with pytest.raises(RobotoInvalidRequestException, match="client tool"):
        thread.send_text("Never mind.")
    thread.submit_client_tool_results([result(uses[0])])
    run(thread)
    assert held(thread) == held(alice.thread(thread))


_OTHER_PROCESS = """
import json, sys
from roboto.ai import AgentThread, client_tool

called = []

@client_tool
def client_recall(query: str) -> dict:
    "Recall."
    called.append(query)
    return {"from": "another process"}

thread = AgentThread.from_id(sys.argv[1], load_messages=sys.argv[2] == "with")
thread.register_client_tool(client_recall)
thread.run(tick=0.05, timeout=20)
print(json.dumps(called))
"""


@pytest.mark.parametrize("messages", ["with", "without"])
def test_another_process_answers_while_this_one_waits(alice: Caller, messages: str) -> None:
    """B82, B66, 4.6 item 17: whoever knows no such tool waits; whoever has the callback answers, once."""
    asked = calls(("client_recall", {"query": "q"}))
    thread = alice.start("Recall. " + asked, client_tools=[spec()])
    stranger = alice.thread(thread)
    with pytest.raises(TimeoutError):
        run(stranger, timeout=0.5)
    env = {**os.environ, "ROBOTO_API_KEY": alice.server.token("alice"), "ROBOTO_SERVICE_ENDPOINT": alice.server.url}
    command = [sys.executable, "-W", "ignore", "-c", _OTHER_PROCESS, thread.thread_id, messages]
    done = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
    run(stranger)
    output, _ = done.communicate(timeout=20)
    assert json.loads(output) == ["q"]
    assert follow(thread)[-1:]
    assert [stored["payload"] for stored in stored_results(alice, thread)] == [{"from": "another process"}]
    assert held(stranger) == held(thread) == held(alice.thread(thread))


def test_tools_given_later_can_be_used_from_then_on(alice: Caller) -> None:
    """B47 to B49, B78: with a send, with results; a name given again replaces; nothing takes one away."""
    thread = alice.talk("Not yet. " + calls(("client_later", {})))
    assert stored_results(alice, thread)[0]["status"] == "error"
    later, later_called = recorder("client_later")
    run(thread.send_text("Now. " + calls(("client_later", {"n": 1})), client_tools=[later]))
    assert later_called == [{"n": 1}]
    strict = ClientTool(
        lambda n: n,
        name="client_later",
        description="Stricter.",
        input_schema={"type": "object", "properties": {"n": {"type": "string"}}, "required": ["n"]},
    )
    run(thread.send_text("Again. " + calls(("client_later", {"n": 2})), client_tools=[strict]))
    assert stored_results(alice, thread)[-1]["status"] == "error"
    assert thread.unregister_client_tool("client_later")
    run(thread.send_text("Still there. " + calls(("client_later", {"n": "x"}))))
    assert "No callback" in stored_results(alice, thread)[-1]["payload"]["error"]
    assert held(thread) == held(alice.thread(thread))


def test_tools_given_with_results_can_be_used_in_the_next_turn(alice: Caller) -> None:
    """B78."""
    thread, uses = waiting(alice)
    other, called = recorder("client_other")
    thread.submit_client_tool_results([result(uses[0])], client_tools=[other])
    run(thread)
    run(thread.send_text("Now. " + calls(("client_other", {"n": 1}))))
    assert called == [{"n": 1}]


def test_a_cancelled_wait_is_answered_and_the_thread_goes_on(alice: Caller) -> None:
    """B162, 4.2 item 6: open uses get error results, late ones are refused."""
    thread, uses = waiting(alice, {"n": 1}, {"n": 2})
    assert alice.post(f"threads/{thread.thread_id}/cancel")[0] == 200
    stored = stored_results(alice, thread)
    assert [each["status"] for each in stored] == ["error", "error"]
    assert all("was not answered" in each["raw_response"]["error"] for each in stored)
    with pytest.raises(RobotoInvalidRequestException):
        thread.submit_client_tool_results([result(uses[0])])
    thread.refresh()
    run(thread.send_text("Go on."))
    assert held(thread) == held(alice.thread(thread))


def test_names_that_cannot_be_declared_are_refused_before_anything_is_stored(alice: Caller) -> None:
    """B18: the seed's own examples are accepted from whoever can send them."""
    message = {"role": "user", "content": [{"text": "Tools. " + calls(("remember", {"fact": 1}))}]}
    for name in ("echo", "load_skill", "achieve_dataset_summary", "1st", "with space", "x" * 65, ""):
        tool = {"name": name, "description": "", "input_schema": ANYTHING}
        assert alice.post("threads", {"messages": [message], "client_tools": [tool]})[0] == 400, name
    tool = {"name": "remember", "description": "", "input_schema": ANYTHING}
    status, content = alice.post("threads", {"messages": [message], "client_tools": [tool]})
    assert status == 200
    thread = alice.thread(content["data"]["thread_id"])
    ends_at = time.monotonic() + 10
    while thread.status == AgentThreadStatus.ROBOTO_TURN and time.monotonic() < ends_at:
        thread.refresh()
        time.sleep(TICK)
    assert thread.status == AgentThreadStatus.CLIENT_TOOL_TURN
