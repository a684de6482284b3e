"""T5: answering client tools (spec 2.4, 3.6, 4.5)."""

import pytest

from tests import make
from tests.api import shapes
from tests.conftest import data_of, refusal_of
from threads import transcript
from threads.content import tool_use
from threads.models import Block, ClientTool, Message, Thread, Turn

TWO = '[[call remember {"key": 1}]] [[call recall {"key": 2}]]'


def stored():
    """How many rows there are, and where every thread stands: a refused submission changes nothing."""
    threads = list(Thread.objects.order_by("id").values_list("revision", "status"))
    return [model.objects.count() for model in (Message, Block, Turn, ClientTool)], threads


@pytest.fixture
def thread(who):
    """A thread of alice whose two client uses wait, in this order: remember, recall."""
    return make.waiting(who.alice, TWO, make.client_tool(), make.client_tool("recall"))


@pytest.fixture
def post(api, thread):
    return lambda body: api("alice").post(f"threads/{thread.thread_id}/tool-results", body)


@pytest.fixture
def read(api, thread):
    return lambda: data_of(api("alice").get(f"threads/{thread.thread_id}"))


@pytest.fixture
def uses(read):
    """The two uses."""
    return shapes.blocks(read(), "tool_use")


def answer(use, status="success", **changes):
    """A result for a use."""
    result = {
        "tool_use_id": use["tool_use_id"],
        "tool_name": use["tool_name"],
        "runtime_ms": 12,
        "status": status,
        "output": {"done": True},
    }
    return {**result, **changes}


def test_the_calls_of_a_model_are_surfaced_with_ids_that_link_them_to_their_results_B79_B80_B81(read, uses):
    record = read()
    assert record["status"] == "client_tool_turn"
    assert [use["tool_name"] for use in uses] == ["remember", "recall"]
    assert [use["input"] for use in uses] == [{"key": 1}, {"key": 2}]
    assert len({use["tool_use_id"] for use in uses}) == 2
    assert record["messages"][-1]["role"] == "assistant"
    assert record["messages"][-1]["status"] == "completed"
    assert not any(use["answered_by_server"] for use in uses)


def test_all_results_resume_the_thread_before_the_answer_and_are_kept_exactly_B70_B71_B79(post, read, uses, thread):
    first, second = answer(uses[0]), answer(uses[1], output={"found": [1, None, {"ü": 1.5}]}, runtime_ms=0)
    assert data_of(post({"tool_results": [first, second]})) == {
        "thread_id": thread.thread_id,
        "status": "roboto_turn",
    }
    record = read()
    assert record["status"] == "roboto_turn"
    last = record["messages"][-1]
    assert (last["role"], last["status"]) == ("roboto", "completed")
    assert [set(block) for block in last["content"]] == [shapes.TOOL_RESULT] * 2
    assert last["content"][1] == {
        "content_type": "tool_result",
        "tool_name": "recall",
        "tool_use_id": uses[1]["tool_use_id"],
        "runtime_ms": 0,
        "status": "success",
        "payload": {"found": [1, None, {"ü": 1.5}]},
        "raw_response": {"found": [1, None, {"ü": 1.5}]},
    }
    make.run_turns()
    after = read()
    assert after["status"] == "user_turn"
    assert [message["role"] for message in after["messages"]] == ["user", "assistant", "roboto", "assistant"]
    assert "`recall` answered" in shapes.texts(after)[-1]


@pytest.mark.parametrize("status", ["success", "error", "declined"])
def test_every_documented_outcome_is_accepted_B72(post, read, uses, status):
    data_of(post({"tool_results": [answer(use, status) for use in uses]}))
    assert {block["status"] for block in shapes.blocks(read(), "tool_result")} == {status}
    make.run_turns()
    assert read()["status"] == "user_turn"


@pytest.mark.parametrize("absent", [True, False])
def test_a_result_without_output_is_accepted_B73(post, read, uses, absent):
    results = [answer(use, output=None) for use in uses]
    if absent:
        for result in results:
            del result["output"]
    data_of(post({"tool_results": results}))
    assert {block["payload"] for block in shapes.blocks(read(), "tool_result")} == {None}


def test_a_second_answer_to_one_use_is_refused_and_the_first_stands_B74(post, read, uses):
    data_of(post({"tool_results": [answer(uses[0], output={"try": 1})]}))
    before = stored()
    status, code, said = refusal_of(post({"tool_results": [answer(uses[0], output={"try": 2})]}))
    assert (status, code) == (400, "RobotoInvalidRequestException")
    assert said.startswith("tool_results.0.tool_use_id")
    assert stored() == before
    assert [block["payload"] for block in shapes.blocks(read(), "tool_result")] == [{"try": 1}]


@pytest.mark.parametrize("is_running", [True, False])
def test_results_outside_of_a_client_tool_turn_are_refused_B75(api, who, is_running):
    thread = make.thread(who.alice, client_tools=[make.client_tool()], run=not is_running)
    before = stored()
    body = {"tool_results": [answer({"tool_use_id": "tu_x", "tool_name": "remember"})]}
    for results in (body, {"tool_results": []}):
        response = api("alice").post(f"threads/{thread.thread_id}/tool-results", results)
        assert refusal_of(response)[:2] == (400, "RobotoInvalidRequestException")
    assert stored() == before


def test_a_result_for_an_unknown_use_is_refused_and_the_calls_stay_open_B76(post, read, uses):
    before = stored()
    assert refusal_of(post({"tool_results": [answer(uses[0], tool_use_id="tu_unknown")]}))[0] == 400
    assert stored() == before
    data_of(post({"tool_results": [answer(use) for use in uses]}))


def test_a_use_of_another_thread_is_unknown_here_B76(api, who, post, uses):
    other = make.waiting(who.alice, TWO, make.client_tool(), make.client_tool("recall"))
    foreign = shapes.blocks(data_of(api("alice").get(f"threads/{other.thread_id}")), "tool_use")
    before = stored()
    assert refusal_of(post({"tool_results": [answer(foreign[0])]}))[0] == 400
    assert stored() == before


@pytest.mark.parametrize(
    "bad",
    [
        {"tool_use_id": "tu_unknown"},
        {"tool_name": "remember"},
        {"status": "perhaps"},
        {"status": None},
        {"runtime_ms": -1},
        {"runtime_ms": 1.5},
        {"runtime_ms": "1"},
        {"runtime_ms": True},
        {"runtime_ms": 2**31},
        {"runtime_ms": None},
        {"output": []},
        {"output": "text"},
        {"output": 1},
        {"tool_use_id": 7},
        {"tool_name": None},
    ],
)
def test_one_bad_result_refuses_the_whole_submission_with_its_tools_B77(post, uses, bad):
    before = stored()
    body = {
        "tool_results": [answer(uses[0]), {**answer(uses[1]), **bad}],
        "client_tools": [make.client_tool("later")],
    }
    status, _, said = refusal_of(post(body))
    assert status == 400
    assert said.startswith("tool_results.1.")
    assert stored() == before


def test_the_same_id_twice_in_one_body_is_refused(post, uses):
    """Spec 2.4."""
    before = stored()
    assert refusal_of(post({"tool_results": [answer(uses[0]), answer(uses[0])]}))[0] == 400
    assert stored() == before


def test_a_missing_or_strange_list_of_results_is_refused(post):
    before = stored()
    for body in ({}, {"tool_results": None}, {"tool_results": {}}, {"tool_results": [None]}, {"tool_results": "x"}):
        status, _, said = refusal_of(post(body))
        assert status == 400
        assert said.startswith("tool_results")
    assert stored() == before


def test_fewer_results_than_pending_are_kept_and_the_thread_goes_on_waiting(post, read, uses, api, thread):
    """Spec 2.4, 4.5: the delta that shows client_tool_turn also brings the stored result."""
    token = read()["continuation_token"]
    assert data_of(post({"tool_results": [answer(uses[1])]}))["status"] == "client_tool_turn"
    delta = data_of(api("alice").get(f"threads/{thread.thread_id}/delta?next_token={token}"))
    assert delta["status"] == "client_tool_turn"
    assert [message["role"] for message in delta["messages_by_idx"].values()] == ["roboto"]
    record = read()
    assert record["messages"][-1]["status"] == "generating"
    assert data_of(post({"tool_results": [answer(uses[0])]}))["status"] == "roboto_turn"
    record = read()
    assert record["messages"][-1]["status"] == "completed"
    # One message collects all of them: the SDK looks nowhere else.
    assert [message["role"] for message in record["messages"]] == ["user", "assistant", "roboto"]
    assert [block["tool_name"] for block in record["messages"][-1]["content"]] == ["recall", "remember"]


def test_an_empty_list_is_a_no_op_while_a_client_tool_has_the_turn(post):
    """Spec 2.4: SDKs up to 0.46 could post one."""
    before = stored()
    assert data_of(post({"tool_results": []}))["status"] == "client_tool_turn"
    assert stored() == before


def test_tools_given_with_results_are_usable_in_later_turns_B78(api, who):
    thread = make.waiting(who.alice)
    path = f"threads/{thread.thread_id}"
    [use] = shapes.blocks(data_of(api("alice").get(path)), "tool_use")
    body = {"tool_results": [answer(use)], "client_tools": [make.client_tool("later")]}
    data_of(api("alice").post(f"{path}/tool-results", body))
    make.run_turns()
    data_of(api("alice").post(f"{path}/messages", {"message": make.say("[[call later {}]]")}))
    make.run_turns()
    assert data_of(api("alice").get(path))["status"] == "client_tool_turn"


def test_a_call_the_server_refuses_itself_is_flagged_and_cannot_be_answered(api, who):
    """Spec 4.5: unknown tool, or arguments against the schema."""
    strict = make.client_tool("strict", required=["key"])
    thread = make.waiting(who.alice, "[[call strict {}]] [[call nowhere {}]] [[call remember {}]]", strict,
                          make.client_tool())  # fmt: skip
    path = f"threads/{thread.thread_id}"
    record = data_of(api("alice").get(path))
    uses = shapes.blocks(record, "tool_use")
    assert [use["answered_by_server"] for use in uses] == [True, True, False]
    assert record["status"] == "client_tool_turn"
    assert [block["status"] for block in shapes.blocks(record, "tool_result")] == ["error", "error"]
    # They stand in the one roboto message right behind the uses before the status changes.
    assert [message["role"] for message in record["messages"]] == ["user", "assistant", "roboto"]

    before = stored()
    for use in uses[:2]:
        response = api("alice").post(f"{path}/tool-results", {"tool_results": [answer(use), answer(uses[2])]})
        assert refusal_of(response)[0] == 400
    assert stored() == before
    data_of(api("alice").post(f"{path}/tool-results", {"tool_results": [answer(uses[2])]}))
    make.run_turns()
    after = data_of(api("alice").get(path))
    assert after["status"] == "user_turn"
    assert len(after["messages"][2]["content"]) == 3


def test_server_tools_of_the_same_message_are_answered_before_the_client_is_asked(api, who):
    """Spec 4.1, 4.5."""
    thread = make.waiting(who.alice, '[[call remember {}]] [[call echo {"value": 5}]]')
    record = data_of(api("alice").get(f"threads/{thread.thread_id}"))
    assert record["status"] == "client_tool_turn"
    [result] = shapes.blocks(record, "tool_result")
    assert (result["tool_name"], result["payload"]["value"]) == ("echo", 5)


def test_arguments_travel_unchanged_B81(api, who):
    given = (
        '{"b": {"a": [1, 2.5, -0.0, 1e21, null, true, "ü\\u2028\\"]]"]}, "a": {}, "n": 123456789012345678901234567890}'
    )
    thread = make.waiting(who.alice, f"[[call remember {given}]]")
    raw = api("alice").get(f"threads/{thread.thread_id}").content.decode()
    [use] = shapes.blocks(data_of(api("alice").get(f"threads/{thread.thread_id}")), "tool_use")
    assert use["input"] == {
        "b": {"a": [1, 2.5, -0.0, 1e21, None, True, 'ü\u2028"]]']},
        "a": {},
        "n": 123456789012345678901234567890,
    }
    assert list(use["input"]) == ["b", "a", "n"]
    assert "123456789012345678901234567890" in raw


def test_the_same_submission_again_while_the_turn_runs_is_answered_without_effect(post, uses):
    """Spec 1.5."""
    body = {"tool_results": [answer(use) for use in uses]}
    first = data_of(post(body))
    before = stored()
    assert data_of(post(body)) == first
    assert stored() == before
    make.run_turns()
    assert refusal_of(post(body))[0] == 400


@pytest.mark.parametrize("name", ["bob", "eve", "admin"])
def test_nobody_but_the_creator_answers(api, who, name):
    """Spec 2.1: C."""
    thread = make.waiting(who.alice, visibility="org")
    before = stored()
    response = api(name).post(f"threads/{thread.thread_id}/tool-results", {"tool_results": []})
    assert refusal_of(response)[:2] == (403, "RobotoUnauthorizedException")
    assert stored() == before


def test_an_older_unanswered_use_is_no_pending_one(api, who):
    """Spec 2.4: a use of the current turn; a name declared meanwhile does not open an older use."""
    thread = make.thread(who.alice)
    with transcript.writing(thread.pk) as writer:
        writer.add("assistant", [tool_use("remember", "tu_old", {})])
    path = f"threads/{thread.thread_id}"
    body = {"message": make.say("[[call remember {}]]"), "client_tools": [make.client_tool()]}
    data_of(api("alice").post(f"{path}/messages", body))
    make.run_turns()
    before = stored()
    refused = api("alice").post(
        f"{path}/tool-results", {"tool_results": [answer({"tool_use_id": "tu_old", "tool_name": "remember"})]}
    )
    assert refusal_of(refused)[0] == 400
    assert stored() == before


WHOLE_READS = ["threads/{}", "threads/{}/delta", "threads/{}/export?format=openai"]
UNSTORABLE = ['{"value": "\\ud800"}', '{"\\udfff": 1}', '{"value": ["a\\u0000b"]}', '{"value": NaN}',
              '{"value": -Infinity}', '{"value": 1e999}', '{"value": ' + "[" * 101 + "]" * 101 + "}"]  # fmt: skip


@pytest.mark.parametrize("arguments", UNSTORABLE)
@pytest.mark.parametrize("tool", ["echo", "remember"])
def test_arguments_that_cannot_be_stored_are_no_arguments_and_the_thread_stays_readable_B176(api, who, tool, arguments):
    """A model may write anything: what no body may hold is refused as what is no object is, and kept as it was."""
    client_tools = [make.client_tool()]
    thread = make.thread(who.alice, f"[[call {tool} {arguments}]]", client_tools=client_tools, visibility="org")
    record, *_ = [data_of(api("alice").get(path.format(thread.thread_id))) for path in WHOLE_READS]
    assert record["status"] == "user_turn"
    [use], [result] = shapes.blocks(record, "tool_use"), shapes.blocks(record, "tool_result")
    assert (use["input"], result["status"]) == (None, "error")
    assert result["payload"] == {"error": "The arguments are not a JSON object."}
    detail = data_of(api("alice").get(f"threads/{thread.thread_id}/tools/{use['tool_use_id']}"))
    assert detail["tool_use"]["raw_request"] == {"arguments": arguments}


def test_halves_of_pairs_that_were_stored_once_are_read_as_replacement_characters(api, who):
    """Whole pairs, and what only looks like a half, are read as they were stored."""
    thread = make.thread(who.alice, '[[call echo {"value": 1}]]')
    use = Block.objects.get(thread=thread, kind="tool_use")
    kept = {"pair": "\U0001f600\U0001f600", "said": "\\ud800", "slash": "\\\U0001f600"}
    Block.objects.filter(pk=use.pk).update(
        data={**use.data, "input": {**kept, "\udfff": ["\ud800", "\\\ud800\U0001f600\ude00"]}}
    )
    record, *_ = [data_of(api("alice").get(path.format(thread.thread_id))) for path in WHOLE_READS]
    [read] = shapes.blocks(record, "tool_use")
    assert read["input"] == {**kept, "\ufffd": ["\ufffd", "\\\ufffd\U0001f600\ufffd"]}
    data_of(api("alice").post(f"threads/{thread.thread_id}/fork", {"message_sequence_num": 1}))
