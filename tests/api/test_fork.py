"""T6: forking (spec 4.7)."""

import threading

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.orgs import set_policy
from tests import make
from tests.api import shapes
from tests.conftest import data_of, refusal_of
from threads import transcript
from threads.content import text, tool_use
from threads.models import Block, ClientTool, Goal, Message, Thread

SUMMARY = {"goal_type": "dataset_summary", "dataset_id": "ds_1"}


def stored():
    """How many rows there are: a refused fork adds none."""
    return [model.objects.count() for model in (Thread, Message, Block, Goal, ClientTool)]


def forked(api, thread, upto, name="alice"):
    return data_of(api(name).post(f"threads/{thread.thread_id}/fork", {"message_sequence_num": upto}))


def use_of(thread):
    """The id of the one tool use of a thread."""
    return Block.objects.get(thread=thread, kind="tool_use").tool_use_id


@pytest.mark.parametrize("upto", [0, 1, 2, 3])
def test_messages_up_to_the_bound_are_copied_and_the_source_recorded_B134_B135_B136_B137(api, who, upto):
    thread = make.send(who.alice, make.thread(who.alice, '[[call echo {"value": 1}]]', visibility="org"), "More")
    source = data_of(api("alice").get(f"threads/{thread.thread_id}"))
    Thread.objects.filter(pk=thread.pk).update(
        created_from_agent_id="agt_1", created_from_trigger_id="tr_1", origin="slack"
    )
    data_of(api("alice").post(f"threads/{thread.thread_id}/pin", {"pinned": True}))

    fork = forked(api, thread, upto)
    shapes.check_thread(fork)
    assert fork["messages"] == source["messages"][: upto + 1]
    assert (fork["forked_from_thread_id"], fork["forked_from_message_sequence_num"]) == (thread.thread_id, upto)
    assert (fork["org_id"], fork["created_by"]) == (who.acme.org_id, "alice@acme.test")
    assert (fork["visibility"], fork["status"]) == ("private", "user_turn")
    assert fork["thread_id"] != thread.thread_id
    for gone in ("created_from_agent_id", "created_from_trigger_id", "origin", "pinned_at"):
        assert fork[gone] is None
    assert data_of(api("alice").get(f"threads/{fork['thread_id']}"))["messages"] == fork["messages"]


def test_fork_and_source_grow_independently_B138(api, who):
    thread = make.thread(who.alice)
    fork = forked(api, thread, 1)
    path = f"threads/{fork['thread_id']}"
    make.send(who.alice, thread, "Only in the source")
    data_of(api("alice").post(f"{path}/messages", {"message": make.say("Only in the fork")}))
    make.run_turns()
    source, copy = data_of(api("alice").get(f"threads/{thread.thread_id}")), data_of(api("alice").get(path))
    assert source["messages"][:2] == copy["messages"][:2]
    assert shapes.texts(source)[2:3] == ["Only in the source"]
    assert shapes.texts(copy)[2:3] == ["Only in the fork"]
    assert (len(source["messages"]), len(copy["messages"])) == (4, 4)


def test_a_fork_of_a_fork_names_the_nearer_source_B135(api, who):
    thread = make.send(who.alice, make.thread(who.alice), "More")
    first = forked(api, thread, 3)
    second = data_of(api("alice").post(f"threads/{first['thread_id']}/fork", {"message_sequence_num": 1}))
    assert second["forked_from_thread_id"] == first["thread_id"]
    assert second["messages"] == first["messages"][:2]


def test_a_fork_that_ends_with_a_request_is_answered_by_one_call(api, who):
    alice, thread = api("alice"), make.thread(who.alice, "Hello")
    fork = forked(api, thread, 0)
    path = f"threads/{fork['thread_id']}/again"
    assert data_of(alice.post(path)) == {"thread_id": fork["thread_id"], "status": "roboto_turn"}
    status, _, said = refusal_of(alice.post(path))
    assert status in (400, 409), said
    make.run_turns(Thread.objects.get(forked_from=thread))
    roles = [each["role"] for each in data_of(alice.get(f"threads/{fork['thread_id']}"))["messages"]]
    assert roles == ["user", "assistant"]
    assert refusal_of(alice.post(path))[0] == 400


def test_a_fork_is_answered_too_when_its_source_was_deleted(api, who):
    thread = make.thread(who.alice, "Where is my order?")
    fork = forked(api, thread, 0)["thread_id"]
    call_command("delete_threads", thread.thread_id, "--as", "admin@heddle.test", "--yes")
    assert data_of(api("alice").post(f"threads/{fork}/again"))["status"] == "roboto_turn"
    make.run_turns()
    record = data_of(api("alice").get(f"threads/{fork}"))
    assert [each["role"] for each in record["messages"]] == ["user", "assistant"]
    assert (record["forked_from_thread_id"], record["forked_from_message_sequence_num"]) == (None, None)


@pytest.mark.parametrize("bound", [-1, 2, 99, 2**31, 2**63, -(2**63), 10**30, -(10**30)])
def test_a_bound_out_of_range_is_an_invalid_request_B139(api, who, bound):
    thread = make.thread(who.alice)
    before = stored()
    response = api("alice").post(f"threads/{thread.thread_id}/fork", {"message_sequence_num": bound})
    status, code, said = refusal_of(response)
    assert (status, code) == (400, "RobotoInvalidRequestException")
    assert said.startswith("message_sequence_num")
    assert stored() == before


@pytest.mark.parametrize("body", [{}, {"message_sequence_num": None}, {"message_sequence_num": "1"},
                                  {"message_sequence_num": 1.0}, {"message_sequence_num": True}])  # fmt: skip
def test_a_bound_that_is_no_whole_number_is_an_invalid_request_B139(api, who, body):
    thread = make.thread(who.alice)
    before = stored()
    status, _, said = refusal_of(api("alice").post(f"threads/{thread.thread_id}/fork", body))
    assert (status, said.partition(":")[0]) == (400, "message_sequence_num")
    assert stored() == before


def test_a_bound_on_a_message_still_being_written_is_an_invalid_request_B140(api, who):
    thread = make.thread(who.alice, run=False)
    make.half_answered(thread, "Half ")
    before = stored()
    assert refusal_of(api("alice").post(f"threads/{thread.thread_id}/fork", {"message_sequence_num": 1}))[0] == 400
    assert stored() == before
    assert shapes.texts(forked(api, thread, 0)) == ["Hello"]


def test_a_failed_and_a_cancelled_answer_can_be_a_bound_B140(api, who):
    failed = make.thread(who.alice, "[[fail]]")
    assert forked(api, failed, 1)["messages"][1]["status"] == "failed"
    running = make.thread(who.alice, run=False)
    data_of(api("alice").post(f"threads/{running.thread_id}/cancel"))
    assert forked(api, running, 1)["messages"][1]["status"] == "cancelled"


def test_results_that_are_still_being_collected_are_no_bound_B140(api, who):
    thread = make.waiting(who.alice, '[[call remember {}]] [[call echo {"value": 1}]]')
    status, _, _ = refusal_of(api("alice").post(f"threads/{thread.thread_id}/fork", {"message_sequence_num": 2}))
    assert status == 400


@pytest.mark.parametrize(
    ("visibility", "policy", "name", "is_allowed"),
    [
        ("private", False, "bob", False),
        ("private", True, "bob", False),
        ("org", False, "bob", False),
        ("org", True, "bob", True),
        ("org", True, "eve", False),
        ("private", False, "admin", True),
        ("private", False, "alice", True),
    ],
)
def test_who_forks_B141_B142_B143(api, who, visibility, policy, name, is_allowed):
    set_policy("acme", "members_may_fork", policy)
    thread = make.thread(who.alice, visibility=visibility)
    before = stored()
    response = api(name).post(f"threads/{thread.thread_id}/fork", {"message_sequence_num": 1})
    if is_allowed:
        fork = data_of(response)
        assert fork["created_by"] == who.named(name).user.email
        assert (fork["org_id"], fork["visibility"]) == (who.acme.org_id, "private")
        data_of(api(name).get(f"threads/{fork['thread_id']}"))
    else:
        assert refusal_of(response)[:2] == (403, "RobotoUnauthorizedException")
        assert stored() == before


def test_the_policy_of_another_org_changes_nothing_here_B143(api, who):
    set_policy("globex", "members_may_fork", True)
    thread = make.thread(who.alice, visibility="org")
    assert refusal_of(api("bob").post(f"threads/{thread.thread_id}/fork", {"message_sequence_num": 1}))[0] == 403


def test_goals_come_along_with_the_message_that_declared_them_and_pending_ones_as_failed(api, who):
    """Spec 4.7."""
    thread = make.thread(who.alice, goals=[SUMMARY, {**SUMMARY, "dataset_id": "ds_2"}])
    thread = make.send(who.alice, thread, "More", goals=[{**SUMMARY, "dataset_id": "ds_3"}], run=False)
    at = thread.message_count - 1

    before_it = forked(api, thread, at - 1)["goals"]
    assert [(goal["goal_data"]["dataset_id"], goal["status"]) for goal in before_it] == [
        ("ds_1", "achieved"),
        ("ds_2", "achieved"),
    ]
    assert all(goal["achieve_tool_use_id"] and goal["concluded_at"] for goal in before_it)

    with_it = forked(api, thread, at)["goals"]
    assert [(goal["goal_data"]["dataset_id"], goal["status"]) for goal in with_it][2:] == [("ds_3", "failed")]
    assert with_it[2]["concluded_at"]
    # The turn of the source goes on regardless.
    make.run_turns()
    source = data_of(api("alice").get(f"threads/{thread.thread_id}"))
    assert [goal["status"] for goal in source["goals"]] == ["achieved"] * 3


@pytest.mark.parametrize(("upto", "status"), [(0, "failed"), (1, "failed"), (2, "achieved")])
def test_a_goal_is_achieved_in_a_fork_only_with_the_call_and_its_result_B103(api, who, upto, status):
    """Spec 4.7: the state of a goal is that at the last copied message, where this one was still pending."""
    thread = make.thread(who.alice, goals=[SUMMARY])
    fork = forked(api, thread, upto)
    [goal] = fork["goals"]
    assert (goal["status"], bool(goal["concluded_at"])) == (status, True)
    results = [result["tool_use_id"] for result in shapes.blocks(fork, "tool_result")]
    assert [goal["achieve_tool_use_id"]] == (results or [None])
    assert data_of(api("alice").get(f"threads/{fork['thread_id']}"))["goals"] == [goal]
    row = Thread.objects.get(key=fork["thread_id"][4:])
    assert row.achieved_goal_count == (status == "achieved")


def test_a_goal_of_the_forks_own_turn_is_achieved_though_the_copy_ends_with_the_same_ones_success_B97(api, who):
    """Spec 4.3: what an earlier turn handed in achieves nothing in this one."""
    thread = make.thread(who.alice, goals=[SUMMARY])
    fork = forked(api, thread, 2)
    assert fork["messages"][-1]["role"] == "roboto"
    again = {**SUMMARY, "dataset_id": "ds_2"}
    data_of(api("alice").post(f"threads/{fork['thread_id']}/messages", {"message": make.say("More"), "goals": [again]}))
    make.run_turns()
    record = data_of(api("alice").get(f"threads/{fork['thread_id']}"))
    assert [goal["status"] for goal in record["goals"]] == ["achieved", "achieved"]
    assert [each["role"] for each in record["messages"]][3:] == ["user", "assistant", "roboto", "assistant"]
    uses = [use["tool_use_id"] for use in shapes.blocks(record, "tool_use")]
    assert [goal["achieve_tool_use_id"] for goal in record["goals"]] == uses
    assert shapes.texts(record)[-1].count("answered") == 1


def test_tools_scope_prompt_and_profile_are_copied_and_feedback_is_not(api, who):
    """Spec 4.7."""
    thread = make.thread(
        who.alice,
        client_tools=[make.client_tool()],
        analysis_scope={"start_time": 1},
        system_prompt="Be brief.",
        model_profile="simulated",
    )
    make.rating(who.alice, thread)
    fork = forked(api, thread, 1)
    row = Thread.objects.get(key=fork["thread_id"][4:])
    assert (row.system_prompt, row.model_profile, row.analysis_scope["start_time"]) == ("Be brief.", "simulated", 1)
    assert data_of(api("alice").get(f"threads/{fork['thread_id']}/feedback")) == []
    # The tool works in the fork, and one declared there later does not reach the source.
    body = {"message": make.say("[[call remember {}]]"), "client_tools": [make.client_tool("recall")]}
    data_of(api("alice").post(f"threads/{fork['thread_id']}/messages", body))
    make.run_turns()
    assert data_of(api("alice").get(f"threads/{fork['thread_id']}"))["status"] == "client_tool_turn"
    assert list(ClientTool.objects.filter(thread=thread).values_list("name", flat=True)) == ["remember"]


def test_raw_payloads_are_copied_for_the_tool_detail_of_the_fork(api, who):
    thread = make.thread(who.alice, '[[call echo {"value": 1}]]')
    fork = forked(api, thread, 2)
    [use] = shapes.blocks(fork, "tool_use")
    paths = (f"threads/{each}/tools/{use['tool_use_id']}" for each in (thread.thread_id, fork["thread_id"]))
    first, second = (data_of(api("alice").get(path)) for path in paths)
    assert first == second
    assert first["tool_result"]["raw_response"]


@pytest.mark.parametrize(("name", "is_shown"), [("bob", False), ("admin", True)])
def test_a_fork_shows_no_raw_payload_that_its_maker_may_not_see_at_the_source_B164(api, who, name, is_shown):
    set_policy("acme", "members_may_fork", True)
    thread = make.thread(who.alice, '[[call echo {"value": 1}]]', visibility="org")
    detail = data_of(api("alice").get(f"threads/{thread.thread_id}/tools/{use_of(thread)}"))
    fork = forked(api, thread, 3, name)
    copied = data_of(api(name).get(f"threads/{fork['thread_id']}/tools/{use_of(thread)}"))
    assert detail["tool_result"]["raw_response"]
    if not is_shown:
        detail["tool_result"]["raw_response"] = None
    assert copied == detail
    # Nor does it come back by a fork of the fork.
    again = forked(api, make.Thread.objects.get(key=fork["thread_id"][4:]), 3, name)
    assert data_of(api(name).get(f"threads/{again['thread_id']}/tools/{use_of(thread)}")) == detail


@pytest.fixture
def with_skills(api, who):
    """`with_skills(text)`: a thread of alice's that her org sees, with three frozen skills, whose ids are in `.ids`.

    `secret` and `read` are hers alone, `shared` is the org's.
    """
    set_policy("acme", "members_may_fork", True)
    found = {}
    for name in ("secret", "read", "shared"):
        body = {"name": name, "description": f"When {name}.", "body": f"BODY OF {name.upper()}"}
        body["accessibility"] = "org" if name == "shared" else "private"
        found[name] = data_of(api("alice").post("/v1/skills/create", body))["skill_id"]

    def start(text, **body):
        frozen = [{"skill_id": skill_id} for skill_id in found.values()]
        return make.thread(who.alice, text, visibility="org", available_skills=frozen, **body)

    start.ids = found
    return start


def offered(fork):
    """What the agent of a fork may load by itself, by name."""
    return {skill["name"]: skill["body"] for skill in Thread.objects.get(key=fork["thread_id"][4:]).available_skills}


def test_frozen_skills_that_the_forker_cannot_see_stay_behind_unless_the_copy_shows_their_words(api, who, with_skills):
    """Spec 4.7."""
    thread = make.send(who.alice, with_skills("Hello"), '[[call load_skill {"name": "read"}]]')
    assert offered(forked(api, thread, 1, "bob")) == {"shared": "BODY OF SHARED"}
    later = forked(api, thread, 5, "bob")
    assert offered(later) == {"read": "BODY OF READ", "shared": "BODY OF SHARED"}
    for name in ("alice", "admin"):
        assert sorted(offered(forked(api, thread, 1, name))) == ["read", "secret", "shared"]
    path = f"threads/{later['thread_id']}"
    data_of(api("bob").post(f"{path}/messages", {"message": make.say('[[call load_skill {"name": "secret"}]]')}))
    make.run_turns()
    assert b"BODY OF SECRET" not in api("bob").get(path).content
    assert data_of(api("bob").get(path))["status"] == "user_turn"


def test_a_version_that_was_only_taken_up_lends_no_other_one(api, who, with_skills):
    """Spec 4.7: the frozen words are not those that the transcript shows."""
    version = {"description": "Newer.", "body": "NEWER BODY"}
    data_of(api("alice").post(f"/v1/skills/id/{with_skills.ids['secret']}/versions", version))
    thread = with_skills("Hello", invoke_skills=[{"skill_id": with_skills.ids["secret"], "version": 1}])
    assert offered(forked(api, thread, thread.message_count - 1, "bob"))["secret"] == "BODY OF SECRET"
    made = data_of(api("bob").post(f"threads/{thread.thread_id}/rerun", {"message_sequence_num": 3}))
    assert offered(made)["secret"] == "BODY OF SECRET"


def test_only_a_fork_with_frozen_skills_by_somebody_else_asks_who_may_see_them(api, who, with_skills):
    def asked(thread, name):
        with CaptureQueriesContext(connection) as captured:
            forked(api, thread, 1, name)
        return sum(
            "catalogue_skill" in each["sql"] and "SELECT" in each["sql"][:7] for each in captured.captured_queries
        )

    thread, plain = with_skills("Hello"), make.thread(who.alice, visibility="org")
    counts = [asked(thread, "bob"), asked(thread, "alice"), asked(thread, "admin"), asked(plain, "bob")]
    assert counts == [1, 0, 0, 0]


def test_an_import_that_calls_something_a_skill_is_run_again(api):
    """Spec 9: whatever stands in its result."""
    call = {"id": "c1", "type": "function", "function": {"name": "load_skill", "arguments": "{}"}}
    said = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": '{"skill": "weaving"}'},
        {"role": "assistant", "content": "Done."},
    ]
    body = {"format": "openai", "conversations": [{"id": "elsewhere", "messages": said}]}
    [item] = data_of(api("alice").post("threads/import", body))["items"]
    made = data_of(api("alice").post(f"threads/{item['thread_id']}/rerun", {"message_sequence_num": 3}))
    assert offered(made) == {}


def test_an_unanswered_use_at_the_end_is_answered_when_the_next_turn_begins(api, who):
    """Spec 4.7: the history stays well-formed."""
    thread = make.waiting(who.alice)
    fork = forked(api, thread, 1)
    assert shapes.blocks(fork, "tool_result") == []
    path = f"threads/{fork['thread_id']}"
    data_of(api("alice").post(f"{path}/messages", {"message": make.say("Go on")}))
    make.run_turns()
    after = data_of(api("alice").get(path))
    assert after["status"] == "user_turn"
    [result] = shapes.blocks(after, "tool_result")
    assert (result["status"], result["tool_use_id"]) == ("error", shapes.blocks(fork, "tool_use")[0]["tool_use_id"])
    # The source still waits for its client.
    assert data_of(api("alice").get(f"threads/{thread.thread_id}"))["status"] == "client_tool_turn"


def test_an_unanswered_use_is_answered_before_a_skill_is_loaded_too(api, who):
    """Spec 4.7: the skill's own use stands behind it."""
    fork = forked(api, make.waiting(who.alice), 1)
    skill = data_of(api("alice").post("/v1/skills/create", {"name": "s", "description": "d", "body": "b"}))
    said = {"message": make.say("Go on"), "invoke_skills": [{"skill_id": skill["skill_id"]}]}
    data_of(api("alice").post(f"threads/{fork['thread_id']}/messages", said))
    make.run_turns()
    after = data_of(api("alice").get(f"threads/{fork['thread_id']}"))
    roles = [message["role"] for message in after["messages"]]
    assert roles == ["user", "assistant", "user", "roboto", "assistant", "roboto", "assistant"]
    uses, results = (shapes.blocks(after, kind) for kind in ("tool_use", "tool_result"))
    assert [use["tool_use_id"] for use in uses] == [result["tool_use_id"] for result in results]


def test_cancelling_a_fork_with_an_unanswered_use_answers_it_too_B162(api, who):
    thread = make.waiting(who.alice)
    path = f"threads/{forked(api, thread, 1)['thread_id']}"
    data_of(api("alice").post(f"{path}/messages", {"message": make.say("Go on")}))
    data_of(api("alice").post(f"{path}/cancel"))
    after = data_of(api("alice").get(path))
    assert after["status"] == "user_turn"
    assert [result["status"] for result in shapes.blocks(after, "tool_result")] == ["error"]
    # Before the cancelled answer: a result behind another answer belongs to no call any more.
    assert [message["role"] for message in after["messages"]][-3:] == ["user", "roboto", "assistant"]


def test_a_fork_is_read_by_delta_from_its_own_token(api, who):
    thread = make.thread(who.alice)
    fork = forked(api, thread, 1)
    path = f"threads/{fork['thread_id']}/delta"
    assert data_of(api("alice").get(f"{path}?next_token={fork['continuation_token']}"))["messages_by_idx"] == {}
    everything = data_of(api("alice").get(path))["messages_by_idx"]
    assert list(everything.values()) == fork["messages"]


def test_a_block_written_to_the_source_later_does_not_reach_the_fork_B138(api, who):
    thread = make.thread(who.alice, run=False)
    fork = forked(api, thread, 0)
    with transcript.writing(thread.pk) as writer:
        writer.extend(Message.objects.get(thread=thread, idx=0), [text(" and more")])
        writer.add("assistant", [tool_use("look", "tu_1", {})])
    assert data_of(api("alice").get(f"threads/{fork['thread_id']}"))["messages"] == fork["messages"]


@pytest.mark.parametrize(("upto", "found"), [(1, "failed"), (3, "idle")])
def test_a_fork_ends_as_its_last_answer_did(api, who, upto, found):
    thread = make.send(who.alice, make.thread(who.alice, "[[fail]]"), "More")
    fork = forked(api, thread, upto)
    for word in ("failed", "idle"):
        items = data_of(api("alice").get(f"threads?q=is:fork%20status:{word}"))["items"]
        assert [each["thread_id"] for each in items] == ([fork["thread_id"]] if word == found else [])


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
@pytest.mark.django_db(transaction=True)
def test_who_writes_to_a_thread_waits_while_it_is_copied(api, who, monkeypatch):
    """Or an answer that a worker takes back just then would be in the copy half."""
    thread, copy, waited = make.thread(who.alice), transcript.copy, []

    def send():
        try:
            make.send(who.alice, thread, "Meanwhile", run=False)
        finally:
            connection.close()

    sending = threading.Thread(target=send)

    def copied_meanwhile(*what, **more):
        sending.start()
        sending.join(0.5)
        waited.append(sending.is_alive())
        return copy(*what, **more)

    monkeypatch.setattr(transcript, "copy", copied_meanwhile)
    assert shapes.texts(forked(api, thread, 1))[0] == "Hello"
    sending.join(10)
    assert waited == [True]
    assert len(data_of(api("alice").get(f"threads/{thread.thread_id}"))["messages"]) == 3


def test_a_fork_shows_the_steps_of_its_source(api, who):
    """Also where an assistant calls a tool before it says anything."""
    said = [
        {"role": "user", "content": "Hi"},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "u1", "name": "echo", "input": {}},
                {"type": "text", "text": "I looked."},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "u1", "content": "7"}]},
        {"role": "assistant", "content": "It is 7."},
    ]
    body = {"format": "anthropic", "conversations": [{"id": "looked-first", "messages": said}]}
    thread_id = data_of(api("alice").post("threads/import", body))["items"][0]["thread_id"]
    fork = data_of(api("alice").post(f"threads/{thread_id}/fork", {"message_sequence_num": 3}))
    woven = [Thread.objects.by_public_id(each).get().weave for each in (thread_id, fork["thread_id"])]
    assert woven == ["pta", "pta"]
