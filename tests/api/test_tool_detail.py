"""H4: a tool use and its result with everything behind them (spec 3.5)."""

import pytest

from tests import make
from tests.api import shapes
from tests.conftest import data_of, refusal_of
from threads import transcript
from threads.content import tool_result, tool_use

RAW_USE, RAW_RESULT = {"sent": "RAW-USE-MARK"}, {"got": "RAW-RESULT-MARK"}


@pytest.fixture
def thread(who):
    """An org thread of alice with a call whose raw payloads are marked."""
    thread = make.thread(who.alice, visibility="org")
    with transcript.writing(thread.pk) as writer:
        writer.add("assistant", [tool_use("look", "tu_1", {"a": 1}, raw=RAW_USE)])
        writer.add("roboto", [tool_result("look", "tu_1", "success", {"b": 2}, runtime_ms=7, raw=RAW_RESULT)])
        writer.add("assistant", [tool_use("look", "tu_2", None)])
    return thread


def detail(api, thread, use_id, name="alice"):
    return api(name).get(f"threads/{thread.thread_id}/tools/{use_id}")


@pytest.mark.parametrize("name", ["alice", "admin"])
def test_creator_and_admins_see_use_and_result_unsanitised_B164(api, thread, name):
    found = data_of(detail(api, thread, "tu_1", name))
    assert found == {
        "tool_use": {
            "content_type": "tool_use",
            "tool_name": "look",
            "tool_use_id": "tu_1",
            "input": {"a": 1},
            "raw_request": RAW_USE,
            "answered_by_server": False,
        },
        "tool_result": {
            "content_type": "tool_result",
            "tool_name": "look",
            "tool_use_id": "tu_1",
            "runtime_ms": 7,
            "status": "success",
            "payload": {"b": 2},
            "raw_response": RAW_RESULT,
        },
    }
    assert set(found["tool_use"]) == shapes.TOOL_USE
    assert set(found["tool_result"]) == shapes.TOOL_RESULT


def test_a_use_without_a_result_has_none_B164(api, thread):
    found = data_of(detail(api, thread, "tu_2"))
    assert found["tool_result"] is None
    assert found["tool_use"]["input"] is None


@pytest.mark.parametrize("name", ["bob", "eve"])
def test_everybody_else_is_unauthorized_readers_of_the_thread_included(api, thread, name):
    """H4: C and A."""
    response = detail(api, thread, "tu_1", name)
    assert refusal_of(response)[:2] == (403, "RobotoUnauthorizedException")
    assert b"RAW-" not in response.content


@pytest.mark.parametrize("use_id", ["tu_3", "tu_", "x", "%F0%9F%A7%B5", "t" * 300])
def test_an_unknown_use_is_not_found(api, thread, use_id):
    assert refusal_of(detail(api, thread, use_id))[:2] == (404, "RobotoNotFoundException")


def test_a_use_of_another_thread_is_not_found(api, who, thread):
    other = make.thread(who.alice)
    assert refusal_of(detail(api, other, "tu_1"))[0] == 404


@pytest.mark.parametrize("name", ["alice", "bob", "admin"])
def test_no_other_read_holds_raw_payloads_B180(api, thread, name):
    """Spec 3.3: reads are sanitised, for owner and admins as for anybody."""
    path = f"threads/{thread.thread_id}"
    for each in (path, f"{path}/delta", "threads", *(f"{path}/export?format={f}" for f in ("roboto", "openai"))):
        response = api(name).get(each)
        assert response.status_code == 200
        assert b"RAW-" not in response.content
    record = data_of(api(name).get(path))
    assert shapes.blocks(record, "tool_result")[0]["raw_response"] is None
    assert shapes.blocks(record, "tool_use")[0]["raw_request"] is None


def test_a_result_in_the_message_of_its_use_is_found_B164(api, who):
    """A seed may hold both in one message, and an id again behind them."""
    use = {"tool_name": "look", "tool_use_id": "tu_1", "input": {}}
    result = {
        "tool_name": "look",
        "tool_use_id": "tu_1",
        "runtime_ms": 1,
        "status": "success",
        "raw_response": {"n": 1},
    }
    talk = [make.say("Hi"), {"role": "assistant", "content": [use, result, use, {**result, "raw_response": {"n": 2}}]}]
    thread = data_of(api("alice").post("threads", {"messages": talk}))
    path = f"threads/{thread['thread_id']}/tools/tu_1"
    assert data_of(api("alice").get(path))["tool_result"]["raw_response"] == {"n": 1}


def test_a_result_before_its_use_is_none_of_it_B164(api, who):
    thread = make.thread(who.alice)
    with transcript.writing(thread.pk) as writer:
        writer.add("roboto", [tool_result("look", "tu_9", "success", {})])
        writer.add("assistant", [tool_use("look", "tu_9", {})])
    assert data_of(detail(api, thread, "tu_9"))["tool_result"] is None


def test_a_skill_that_was_read_is_the_raw_response_too_B164(api, who):
    """Spec 3.3, as in every read of the thread."""
    skill = {"name": "reading", "description": "When reading.", "body": "Slowly."}
    skill_id = data_of(api("alice").post("/v1/skills/create", skill))["skill_id"]
    thread = make.thread(who.alice, invoke_skills=[{"skill_id": skill_id}])
    [block] = shapes.blocks(data_of(api("alice").get(f"threads/{thread.thread_id}")), "tool_result")
    assert block["raw_response"] == block["payload"] and block["payload"]["body"]
    assert data_of(detail(api, thread, block["tool_use_id"]))["tool_result"] == block


def test_a_client_result_carries_its_payload_as_raw_response_in_every_read(api, who):
    """Spec 3.3, B164: the SDK's event takes its output from there alone."""
    thread = make.waiting(who.alice)
    path = f"threads/{thread.thread_id}"
    [use] = shapes.blocks(data_of(api("alice").get(path)), "tool_use")
    result = {"tool_use_id": use["tool_use_id"], "tool_name": "remember", "runtime_ms": 1, "status": "success"}
    data_of(api("alice").post(f"{path}/tool-results", {"tool_results": [{**result, "output": {"a": None}}]}))
    [block] = shapes.blocks(data_of(api("alice").get(path)), "tool_result")
    assert block["raw_response"] == block["payload"] == {"a": None}
    delta = data_of(api("alice").get(f"{path}/delta"))["messages_by_idx"]["2"]
    assert delta["content"] == [block]
    assert data_of(detail(api, thread, use["tool_use_id"]))["tool_result"] == block
