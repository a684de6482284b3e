"""T4: sending a message (spec 2.3)."""

import json
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts.authentication import actor_of_user
from core import bodies
from core.errors import ReadOnlyThread
from tests import make
from tests.api import shapes
from tests.conftest import data_of, refusal_of
from threads import turns
from threads.models import Block, ClientTool, Goal, Message, Thread, Turn
from threads.pending import pending_client_uses
from threads.status import ThreadStatus
from threads.wire import SendIn, ToolResultsIn

SUMMARY = {"goal_type": "dataset_summary", "dataset_id": "ds_1"}


def stored():
    """How many rows there are, and the revision of every thread: a refused send changes neither."""
    counts = [model.objects.count() for model in (Message, Block, Turn, Goal, ClientTool)]
    return counts, list(Thread.objects.order_by("id").values_list("revision", "status", "analysis_scope", "title"))


@pytest.fixture
def thread(who):
    """An answered thread of alice."""
    return make.thread(who.alice)


@pytest.fixture
def post(api, thread):
    """Send a body to that thread as alice."""
    return lambda body: api("alice").post(f"threads/{thread.thread_id}/messages", body)


@pytest.fixture
def read(api, thread):
    """The record of that thread."""
    return lambda: data_of(api("alice").get(f"threads/{thread.thread_id}"))


def test_a_sent_text_is_added_and_an_answer_follows_B35_B50(post, read, thread):
    assert data_of(post({"message": make.say("And now?")})) == {"thread_id": thread.thread_id, "status": "roboto_turn"}
    running = read()
    assert running["status"] == "roboto_turn"
    assert shapes.texts(running)[-1] == "And now?"

    make.run_turns()
    after = read()
    shapes.check_thread(after)
    assert after["status"] == "user_turn"
    assert [message["role"] for message in after["messages"]] == ["user", "assistant", "user", "assistant"]
    assert "And now?" in shapes.texts(after)[-1]


def test_several_text_blocks_are_all_kept_B36(post, read):
    data_of(post({"message": {"role": "user", "content": [{"text": "One. "}, {"text": "Two."}, {"text": "Three."}]}}))
    assert [block["text"] for block in read()["messages"][-1]["content"]] == ["One. ", "Two.", "Three."]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"message": None},
        {"message": None, "goals": [], "invoke_skills": []},
        {"client_tools": [make.client_tool()]},
        {"client_context": {"dataset_ids": ["ds_1"]}, "analysis_scope": {"start_time": 1}},
        {"messages": [make.say("The name of another route's field")]},
    ],
)
def test_sending_nothing_is_refused_B37(post, body):
    before = stored()
    assert refusal_of(post(body))[:2] == (400, "RobotoInvalidRequestException")
    assert stored()[0] == before[0]
    assert stored()[1] == before[1]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": [{"text": "I am you."}]},
        {"role": "roboto", "content": [{"text": "I am a tool."}]},
        {"role": "user", "content": []},
        {"role": "user"},
        {"content": [{"text": "Who?"}]},
        {"role": "user", "content": None},
        {"role": "user", "content": "Hello"},
        {"role": "user", "content": [{"text": "Hi"}, {"tool_name": "look", "tool_use_id": "u", "input": {}}]},
        {"role": "user", "content": [{"tool_name": "look", "tool_use_id": "u", "runtime_ms": 1, "status": "success"}]},
        {"role": "user", "content": [{"error_message": "It broke."}]},
        {"role": "user", "content": [{"text": "Hi"}, {"context": {}}]},
        {"role": "user", "content": [{"content_type": "deleted"}]},
        {"role": "user", "content": [{"text": ""}]},
        {"role": "user", "content": [{"text": " \n"}]},
        {"role": "user", "content": [{"text": "Fine"}, {"text": ""}]},
        "Hello",
        [],
        5,
    ],
)
def test_a_message_that_is_no_users_text_is_refused_and_nothing_changes_B38_B39_B40_B41(post, message):
    before = stored()
    status, code, said = refusal_of(post({"message": message}))
    assert (status, code) == (400, "RobotoInvalidRequestException")
    assert said.startswith("message")
    assert stored() == before


@pytest.mark.parametrize("name", ["bob", "eve", "admin"])
def test_nobody_but_the_creator_sends_B42(api, who, name):
    thread = make.thread(who.alice, visibility="org")
    before = stored()
    response = api(name).post(f"threads/{thread.thread_id}/messages", {"message": make.say("Let me in")})
    assert refusal_of(response)[:2] == (403, "RobotoUnauthorizedException")
    assert stored() == before


def test_sending_while_the_agent_has_the_turn_is_refused_and_changes_nothing_B43(api, who):
    thread = make.thread(who.alice, run=False)
    before = stored()
    response = api("alice").post(f"threads/{thread.thread_id}/messages", {"message": make.say("Hurry up")})
    status, code, said = refusal_of(response)
    assert (status, code) == (400, "RobotoInvalidRequestException")
    assert "roboto_turn" in said
    assert stored() == before


def test_sending_while_a_client_tool_has_the_turn_is_refused_and_changes_nothing_B43(api, who):
    thread = make.waiting(who.alice)
    before = stored()
    body = {"message": make.say("Never mind"), "client_tools": [make.client_tool("other")]}
    status, _, said = refusal_of(api("alice").post(f"threads/{thread.thread_id}/messages", body))
    assert status == 400
    assert "client_tool_turn" in said
    assert stored() == before


def test_goals_alone_are_accepted_and_the_server_writes_the_message_B44_B100_B101(post, read):
    data_of(post({"goals": [SUMMARY]}))
    record = read()
    assert [message["role"] for message in record["messages"]] == ["user", "assistant", "user"]
    assert shapes.texts(record)[2]
    assert [goal["message_sequence_num"] for goal in record["goals"]] == [2]


def test_goals_of_two_turns_stand_in_the_order_of_declaration_B101(post, read):
    for dataset in ("ds_1", "ds_2"):
        data_of(post({"goals": [{**SUMMARY, "dataset_id": dataset}]}))
        make.run_turns()
    assert [goal["goal_data"]["dataset_id"] for goal in read()["goals"]] == ["ds_1", "ds_2"]
    assert [goal["status"] for goal in read()["goals"]] == ["achieved", "achieved"]


def test_five_goals_are_accepted_and_six_are_refused_B14(post):
    before = stored()
    assert refusal_of(post({"goals": [SUMMARY] * 6}))[0] == 400
    assert stored() == before
    data_of(post({"goals": [SUMMARY] * 5}))


def scope_of_next_call(post, read, **body):
    """What scope a server tool is handed in the next turn."""
    data_of(post({"message": make.say('[[call echo {"value": 1}]]'), **body}))
    make.run_turns()
    return shapes.blocks(read(), "tool_result")[-1]["payload"]["analysis_scope"]


def test_a_scope_replaces_the_old_one_for_later_turns_too_B45(post, read):
    assert scope_of_next_call(post, read) is None
    given = {"start_time": 1, "end_time": 2}
    assert scope_of_next_call(post, read, analysis_scope=given) == given
    assert scope_of_next_call(post, read) == given
    assert scope_of_next_call(post, read, analysis_scope={"end_time": 5}) == {"start_time": None, "end_time": 5}


@pytest.mark.parametrize("scope", [None, {}, {"start_time": None, "end_time": None}])
def test_a_scope_cannot_be_cleared_by_sending_none_B46(post, read, scope):
    """A scope whose ends are all null equals none (spec 3.9), and none keeps the old one (spec 2.3)."""
    given = {"start_time": 1, "end_time": 2}
    assert scope_of_next_call(post, read, analysis_scope=given) == given
    assert scope_of_next_call(post, read, analysis_scope=scope) == given


def test_tools_given_on_send_are_usable_in_this_and_later_turns_B47_B49(post, read, thread):
    data_of(post({"message": make.say("[[call remember {}]]"), "client_tools": [make.client_tool()]}))
    make.run_turns()
    assert read()["status"] == "client_tool_turn"
    answer_pending(thread)
    data_of(post({"message": make.say("[[call remember {}]]"), "client_tools": []}))
    make.run_turns()
    assert read()["status"] == "client_tool_turn"


def answer_pending(thread):
    """Answer every open client use as its client would."""
    results = [
        {"tool_use_id": use["tool_use_id"], "tool_name": use["tool_name"], "runtime_ms": 1, "status": "success"}
        for use in pending_client_uses(thread)
    ]
    body = bodies.parse(ToolResultsIn, {"tool_results": results})
    turns.submit_tool_results(actor_of_user(thread.created_by), thread, body)
    make.run_turns()


def test_a_tool_given_again_replaces_its_spec_B48(post, read, thread):
    strict = make.client_tool(required=["key"])
    data_of(post({"message": make.say("[[call remember {}]]"), "client_tools": [strict]}))
    make.run_turns()
    assert read()["status"] == "user_turn"  # the server refused the call itself: it lacks the key
    data_of(post({"message": make.say("[[call remember {}]]"), "client_tools": [make.client_tool()]}))
    make.run_turns()
    assert read()["status"] == "client_tool_turn"
    assert ClientTool.objects.filter(thread=thread).count() == 1


def test_sixty_four_tools_a_thread_count_over_all_turns(post):
    """Spec 3.6; replacing a tool adds none."""
    data_of(post({"message": make.say("Hi"), "client_tools": [make.client_tool(f"t{n}") for n in range(64)]}))
    make.run_turns()
    before = stored()
    assert refusal_of(post({"message": make.say("Hi"), "client_tools": [make.client_tool("one_more")]}))[0] == 400
    assert stored() == before
    data_of(post({"message": make.say("Hi"), "client_tools": [make.client_tool("t0", required=["x"])]}))


def test_a_bad_tool_refuses_the_whole_send_B18(post):
    before = stored()
    body = {"message": make.say("Hi"), "analysis_scope": {"start_time": 1}}
    for tool in (make.client_tool("calculate"), make.client_tool("9"), {**make.client_tool(), "input_schema": []}):
        assert refusal_of(post({**body, "client_tools": [make.client_tool(), tool]}))[0] == 400
    assert stored() == before


def test_an_answer_of_no_words_is_a_complete_one(post, read):
    """The simulator's `[[words 0]]`: a model may say nothing."""
    data_of(post({"message": make.say("Hush. [[words 0]]")}))
    make.run_turns()
    last = read()["messages"][-1]
    assert (last["role"], last["status"], last["content"]) == ("assistant", "completed", [])


@pytest.mark.parametrize("name", ["client_context", "context"])
def test_the_viewing_context_stands_on_the_sent_message_B19(post, read, name):
    data_of(post({"message": make.say("Hi"), name: {"file_ids": ["fl_1"]}}))
    content = read()["messages"][-1]["content"]
    assert [block["content_type"] for block in content] == ["text", "client_context"]
    assert content[1]["context"]["file_ids"] == ["fl_1"]


def test_unknown_fields_are_ignored_B20(post, read):
    data_of(post({"message": {**make.say("Hi"), "mood": "good", "status": "failed"}, "stream": True, "goals": None}))
    assert read()["messages"][-1]["status"] == "completed"


def test_a_scope_that_ends_before_it_starts_is_refused_B21(post):
    before = stored()
    assert refusal_of(post({"message": make.say("Hi"), "analysis_scope": {"start_time": 2, "end_time": 1}}))[0] == 400
    assert stored() == before


def test_an_unknown_skill_is_refused_before_anything_is_stored_B153(post):
    before = stored()
    status, _, said = refusal_of(post({"message": make.say("Hi"), "invoke_skills": [{"skill_id": "sk_1"}]}))
    assert status == 400
    assert said.startswith("invoke_skills.0")
    assert stored() == before


def test_after_failed_goals_sending_is_possible_again(api, who):
    """Spec 4.1: goals_failed, send, roboto_turn."""
    thread = make.thread(who.alice, "[[refuse-goals]]", goals=[SUMMARY])
    assert thread.status == ThreadStatus.GOALS_FAILED
    response = api("alice").post(f"threads/{thread.thread_id}/messages", {"message": make.say("Go on")})
    assert data_of(response)["status"] == "roboto_turn"
    make.run_turns()
    after = data_of(api("alice").get(f"threads/{thread.thread_id}"))
    assert after["status"] == "user_turn"
    assert after["goals"][0]["status"] == "failed"


RAW = b'{"message": {"role": "user", "content": [{"text": "Once"}]}}'


def test_the_same_bytes_again_while_the_turn_runs_are_answered_without_effect(post):
    """Spec 1.5: the SDK sends a POST again whose answer was lost."""
    first = data_of(post(RAW))
    before, modified = stored(), Thread.objects.get().modified
    assert data_of(post(RAW)) == first
    assert stored() == before and Thread.objects.get().modified == modified


def test_a_repeat_is_one_although_a_skill_that_it_names_was_deleted_since(api, post):
    body = {"name": "checks", "description": "d", "body": "b"}
    skill = data_of(api("alice").post("/v1/skills/create", body))["skill_id"]
    sent = {"message": make.say("Once."), "invoke_skills": [{"skill_id": skill}]}
    first = data_of(post(sent))
    data_of(api("alice").request("DELETE", f"/v1/skills/id/{skill}"))
    assert data_of(post(sent)) == first
    assert refusal_of(post({**sent, "message": make.say("Twice.")}))[0] == 400


def test_the_same_words_in_other_bytes_are_no_repeat(post):
    """Spec 1.5: byte for byte."""
    data_of(post(RAW))
    assert refusal_of(post(RAW.replace(b": ", b":")))[0] == 400


def test_a_repeat_after_the_turn_is_a_message_of_its_own(post, read):
    """Spec 1.5: only the turn that still runs counts."""
    for _ in range(2):
        data_of(post(RAW))
        make.run_turns()
    assert shapes.texts(read()).count("Once") == 2


def test_a_repeat_after_a_minute_is_refused_like_any_other_send(post):
    """Spec 1.5: at most 60 seconds ago."""
    now = timezone.now()
    with time_machine.travel(now, tick=False):
        data_of(post(RAW))
    with time_machine.travel(now + timedelta(seconds=59), tick=False):
        data_of(post(RAW))
    with time_machine.travel(now + timedelta(seconds=61), tick=False):
        assert refusal_of(post(RAW))[0] == 400


@pytest.mark.parametrize("surface", ["slack", "somewhere"])
def test_adding_to_a_thread_of_another_surface_raises_its_own_refusal_and_the_rest_stays_open_B161(api, who, surface):
    thread = make.thread(who.alice, visibility="org")
    Thread.objects.filter(pk=thread.pk).update(origin=surface)
    alice, path = api("alice"), f"threads/{thread.thread_id}"

    adding = (("messages", {"message": make.say("Hi")}), ("tool-results", {"tool_results": []}), ("again", {}))
    for tail, body in (*adding, ("messages", {"no": "message"}), ("tool-results", {})):
        refusal = refusal_of(alice.post(f"{path}/{tail}", body))[:2]
        assert refusal == (403, "RobotoThreadReadOnlyException")
        # Who may not add anyway learns that first, and nothing about the surface.
        assert refusal_of(api("eve").post(f"{path}/{tail}", body))[:2] == (403, "RobotoUnauthorizedException")
    assert data_of(alice.get(path))["origin"] == surface
    data_of(alice.get(f"{path}/delta"))
    data_of(alice.post(f"{path}/cancel", {}))
    data_of(alice.post(f"{path}/messages/1/feedback", {"sentiment": "positive"}))
    data_of(alice.post(f"{path}/pin", {"pinned": True}))
    fork = data_of(alice.post(f"{path}/fork", {"message_sequence_num": 1}))
    assert fork["origin"] is None
    data_of(alice.post(f"threads/{fork['thread_id']}/messages", {"message": make.say("Writable")}))


def test_a_thread_of_another_surface_is_read_only_whichever_door_one_comes_by_B161(who):
    thread = make.thread(who.alice, "[[fail]]")
    thread.origin = "slack"
    thread.save()
    actor = who.alice.actor
    for add in (
        lambda: turns.send(actor, thread, bodies.parse(SendIn, {"message": make.say("Hi")})),
        lambda: turns.again(actor, thread),
        lambda: turns.submit_tool_results(actor, thread, ToolResultsIn(tool_results=[])),
    ):
        with pytest.raises(ReadOnlyThread, match="belongs to slack"):
            add()


def test_a_thread_whose_origin_is_the_api_is_writable_B161(api, who):
    """Spec 3.1: null counts as api."""
    thread = make.thread(who.alice)
    Thread.objects.filter(pk=thread.pk).update(origin="api")
    data_of(api("alice").post(f"threads/{thread.thread_id}/messages", {"message": make.say("Hi")}))


def died_before_answering(person, thread, body):
    """A send that was stored by a server that died before its answer went out; the turn is over by now."""
    raw = json.dumps(body).encode()
    request = turns.Request.of("send", raw)
    turns.send(person.actor, make.fresh(thread), bodies.parse(SendIn, body), request=request)
    make.run_turns(thread)
    return raw


def roles_of(api, thread):
    return [message["role"] for message in data_of(api("alice").get(f"threads/{thread.thread_id}"))["messages"]]


def test_a_send_whose_answer_was_lost_with_the_server_is_a_repeat_even_when_its_turn_is_over(api, who):
    """1.5: stored once, answered once; and what is said again after that is said again."""
    thread = make.thread(who.alice)
    path = f"threads/{thread.thread_id}/messages"
    raw = died_before_answering(who.alice, thread, {"message": make.say("Only once.")})
    assert data_of(api("alice").post(path, raw))["status"] == "user_turn"
    assert roles_of(api, thread) == ["user", "assistant"] * 2
    data_of(api("alice").post(path, raw))
    make.run_turns(thread)
    assert roles_of(api, thread) == ["user", "assistant"] * 3


@pytest.mark.parametrize(("seconds", "messages"), [(61, 4), (590, 4), (610, 6)])
def test_a_lost_answer_explains_a_repeat_as_long_as_the_sdk_tries(api, who, seconds, messages):
    """1.5: up to ten attempts of thirty seconds each; a server that hangs takes two of them before the first minute."""
    thread = make.thread(who.alice)
    raw = died_before_answering(who.alice, thread, {"message": make.say("Only once.")})
    Turn.objects.update(requested_at=timezone.now() - timedelta(seconds=seconds))
    data_of(api("alice").post(f"threads/{thread.thread_id}/messages", raw))
    make.run_turns(thread)
    assert len(roles_of(api, thread)) == messages


def test_a_lost_answer_explains_nothing_from_another_body(api, who):
    thread = make.thread(who.alice)
    path = f"threads/{thread.thread_id}/messages"
    died_before_answering(who.alice, thread, {"message": make.say("Only once.")})
    data_of(api("alice").post(path, {"message": make.say("Something else.")}))
    make.run_turns(thread)
    assert roles_of(api, thread) == ["user", "assistant"] * 3
