"""Skills in turns: those that a request invokes, and those that the agent may load by itself (spec 4.2)."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Membership
from accounts.orgs import add_member
from tests import make
from tests.api import shapes
from tests.conftest import data_of, refusal_of
from threads.models import Block, Goal, Message, Thread, Turn
from threads.runner import loop

INVALID = (400, "RobotoInvalidRequestException")
SUMMARY = {"goal_type": "dataset_summary", "dataset_id": "ds_1"}


def stored():
    """How many rows there are, and the revision of every thread: a refused request changes neither."""
    counts = [model.objects.count() for model in (Thread, Message, Block, Turn, Goal)]
    return counts, list(Thread.objects.order_by("id").values_list("revision", "status"))


@pytest.fixture
def write(api):
    """Create a skill with as many versions as bodies: `write("alice", "name", "first", "second")`; its id."""

    def create(person, name, *bodies, accessibility="private"):
        first, *more = bodies or (f"Body of {name}.",)
        body = {"name": name, "description": f"When {name}.", "body": first, "accessibility": accessibility}
        skill_id = data_of(api(person).post("/v1/skills/create", body))["skill_id"]
        for text in more:
            version = {"description": f"When {name}, newer.", "body": text}
            data_of(api(person).post(f"/v1/skills/id/{skill_id}/versions", version))
        return skill_id

    return create


@pytest.fixture
def pin(api):
    """Pin a version for somebody, or none."""
    return lambda person, skill_id, number: data_of(
        api(person).put(f"/v1/skills/id/{skill_id}/subscribe", {"ai_version": number})
    )


@pytest.fixture
def start(api):
    """Start a thread and return the answer."""
    return lambda person="alice", **body: api(person).post("threads", body)


@pytest.fixture
def read(api):
    """The record of a thread after its turns."""

    def run_and_read(record, person="alice"):
        make.run_turns()
        return data_of(api(person).get(f"threads/{record['thread_id']}"))

    return run_and_read


def pairs(record):
    """Every skill that was loaded: name and version of the use, the result's payload."""
    uses = {block["tool_use_id"]: block for block in shapes.blocks(record, "tool_use")}
    found = []
    for result in shapes.blocks(record, "tool_result"):
        use = uses.pop(result["tool_use_id"])
        assert use["tool_name"] == result["tool_name"] == "load_skill"
        assert result["status"] == "success"
        assert result["raw_response"] == result["payload"]  # spec 3.3
        assert use["raw_request"] is None and use["answered_by_server"] is False
        found.append((use["input"], result["payload"]))
    assert not uses
    return found


def roles(record):
    return [message["role"] for message in record["messages"]]


# Invoked


def test_invoked_skills_stand_behind_the_message_in_the_given_order_B150(write, start, read):
    one, two = write("alice", "one"), write("alice", "two", "Body of two.")
    invoked = [{"skill_id": two}, {"skill_id": two}, {"skill_id": one}]
    record = data_of(start(messages=[make.say("First."), make.say("Go.")], invoke_skills=invoked))
    shapes.check_thread(record)
    assert roles(record) == ["user", "user", *["assistant", "roboto"] * 3]
    assert {message["status"] for message in record["messages"]} == {"completed"}
    assert [use for use, _ in pairs(record)] == [{"name": name, "version": 1} for name in ("two", "two", "one")]
    assert [payload["body"] for _, payload in pairs(record)] == ["Body of two.", "Body of two.", "Body of one."]
    after = read(record)
    assert after["messages"][:8] == record["messages"]
    assert roles(after)[8:] == ["assistant"]
    assert after["status"] == "user_turn"


def test_invoked_on_send_they_stand_behind_the_sent_message_B150(api, write, start, read):
    skill = write("alice", "one")
    record = read(data_of(start(messages=[make.say("Hello")])))
    path = f"threads/{record['thread_id']}"
    data_of(
        api("alice").post(f"{path}/messages", {"message": make.say("Now."), "invoke_skills": [{"skill_id": skill}]})
    )
    delta = data_of(api("alice").get(f"{path}/delta?next_token={record['continuation_token']}"))
    assert [message["role"] for message in delta["messages_by_idx"].values()] == ["user", "assistant", "roboto"]
    after = read(record)
    assert roles(after) == ["user", "assistant", "user", "assistant", "roboto", "assistant"]
    assert shapes.said(after["messages"][2]) == "Now."
    [(use, payload)] = pairs(after)
    assert use == {"name": "one", "version": 1}
    assert payload == {
        "skill_id": skill,
        "name": "one",
        "version": 1,
        "description": "When one.",
        "body": "Body of one.",
    }


def test_skills_alone_are_enough_and_the_server_writes_the_message_B5_B44(api, write, start, read):
    skill = write("alice", "one")
    record = data_of(start(invoke_skills=[{"skill_id": skill}]))
    assert roles(record) == ["user", "assistant", "roboto"]
    assert shapes.said(record["messages"][0])
    after = read(record)
    assert (after["status"], roles(after)[3:]) == ("user_turn", ["assistant"])
    data_of(api("alice").post(f"threads/{after['thread_id']}/messages", {"invoke_skills": [{"skill_id": skill}]}))
    assert roles(read(record))[4:] == ["user", "assistant", "roboto", "assistant"]


def test_goals_with_skills_point_at_the_user_message_and_need_no_text_B15_B100(write, start, read):
    skill = write("alice", "one")
    silent = {"role": "assistant", "content": [{"tool_name": "look", "tool_use_id": "u1", "input": {}}]}
    before = stored()
    assert refusal_of(start(messages=[silent], goals=[SUMMARY]))[:2] == INVALID
    assert stored() == before
    record = data_of(start(messages=[silent], goals=[SUMMARY], invoke_skills=[{"skill_id": skill}]))
    assert roles(record) == ["assistant", "user", "roboto", "assistant", "roboto"]
    assert record["goals"][0]["message_sequence_num"] == 1
    assert read(record)["goals"][0]["status"] == "achieved"


def test_the_highest_version_is_taken_whatever_the_pin_and_an_older_one_where_asked_B151_B152(write, pin, start):
    skill = write("alice", "one", "first", "second", "third")
    pin("alice", skill, 2)
    invoked = [{"skill_id": skill, "version": number} for number in (None, 1, 2)]
    record = data_of(start(invoke_skills=[{"skill_id": skill}, *invoked]))
    assert [(payload["version"], payload["body"]) for _, payload in pairs(record)] == [
        (3, "third"),
        (3, "third"),
        (1, "first"),
        (2, "second"),
    ]


def test_after_the_highest_is_deleted_the_one_below_is_taken_B151(api, write, start):
    skill = write("alice", "one", "first", "second")
    data_of(api("alice").request("DELETE", f"/v1/skills/id/{skill}/versions/2"))
    [(_, payload)] = pairs(data_of(start(invoke_skills=[{"skill_id": skill}])))
    assert (payload["version"], payload["body"]) == (1, "first")


def test_seeing_a_skill_is_enough_to_invoke_it_B154(api, write, start):
    skill = write("alice", "one", accessibility="org")
    [(_, payload)] = pairs(data_of(start("bob", invoke_skills=[{"skill_id": skill}])))
    assert payload["body"] == "Body of one."
    assert data_of(api("bob").get(f"/v1/skills/id/{skill}/summary"))["subscription"] is None


@pytest.mark.parametrize("field", ["invoke_skills", "available_skills"])
def test_what_is_invisible_unknown_or_has_no_such_version_is_refused_before_anything_is_stored_B153(
    api, write, start, read, field
):
    good, private, first = write("bob", "good"), write("alice", "private"), write("bob", "first")
    thread = read(data_of(start("bob", messages=[make.say("Mine")])), "bob")
    before = stored()
    wrong = [
        ({"skill_id": private}, "skill_id"),
        ({"skill_id": "sk_nobody"}, "skill_id"),
        ({"skill_id": "good"}, "skill_id"),
        ({"skill_id": good, "version": 2}, "version"),
        ({"skill_id": good, "version": 0}, "version"),
        ({"skill_id": good, "version": 10**30}, "version"),
        ({"skill_id": good, "version": "1"}, "version"),
        ({"skill_id": None}, "skill_id"),
        ({"version": 1}, "skill_id"),
    ]
    for spec, part in wrong:
        # In its second place, behind a good one: nothing of a request is stored if any of it is refused.
        others = [{"skill_id": first}, spec]
        refusals = [refusal_of(start("bob", messages=[make.say("Hi")], **{field: others}))]
        if field == "invoke_skills":
            body = {"message": make.say("Hi"), field: others}
            refusals.append(refusal_of(api("bob").post(f"threads/{thread['thread_id']}/messages", body)))
        for status, code, said in refusals:
            assert (status, code) == INVALID, spec
            assert said.startswith(f"{field}.1.{part}: "), (spec, said)
    assert stored() == before


def test_what_another_org_shares_stays_out_of_this_orgs_threads_B153(api, who, write, pin, start, read):
    """2.7: members of both would carry it to readers who see none of it. Their own private skills go with them."""
    add_member(who.globex, who.bob.user)
    there, own = write("eve", "theirs", accessibility="org"), write("bob", "own")
    before = stored()
    in_acme = {"X-Roboto-Org-Id": who.acme.org_id}
    body = {"messages": [make.say("Hi")], "visibility": "org"}
    for field in ("invoke_skills", "available_skills"):
        refused = api("bob", **in_acme).post("threads", body | {field: [{"skill_id": own}, {"skill_id": there}]})
        status, code, said = refusal_of(refused)
        assert (status, code) == INVALID
        assert said == f"{field}.1.skill_id: there is no skill {there} that you can use in this org"
    template = {"name": "a", "request_template": body | {"invoke_skills": [{"skill_id": there}]}}
    agent = data_of(api("bob", **in_acme).post("agents", template))["agent_id"]
    assert refusal_of(api("bob").post(f"agents/{agent}/launch", {}))[0] == 400
    assert stored() == before
    for skill in (there, own):
        pin("bob", skill, 1)
    asks = body | {"messages": [make.say('[[call load_skill {"name": "theirs"}]] [[call load_skill {"name": "own"}]]')]}
    for org, loaded in ((who.acme, ["own"]), (who.globex, ["theirs", "own"])):
        record = read(data_of(api("bob", **{"X-Roboto-Org-Id": org.org_id}).post("threads", asks)), "bob")
        told = [result["payload"] or {} for result in shapes.blocks(record, "tool_result")]
        assert [each["name"] for each in told if "body" in each] == loaded


def test_transcripts_keep_what_was_loaded_B155(api, write, start, read):
    skill = write("alice", "one", "As it was.")
    record = read(data_of(start(invoke_skills=[{"skill_id": skill}])))
    data_of(api("alice").put(f"/v1/skills/id/{skill}/versions/1", {"body": "Edited.", "description": "Other."}))
    data_of(api("alice").put(f"/v1/skills/id/{skill}", {"name": "renamed"}))
    assert read(record) == record
    data_of(api("alice").request("DELETE", f"/v1/skills/id/{skill}"))
    assert read(record) == record
    assert pairs(record)[0][1]["body"] == "As it was."
    fork = data_of(api("alice").post(f"threads/{record['thread_id']}/fork", {"message_sequence_num": 2}))
    assert pairs(fork) == pairs(record)


def test_the_model_reads_what_was_invoked(write, start, read):
    """The simulator tells of every result since the user's last words."""
    record = read(data_of(start(messages=[make.say("Go.")], invoke_skills=[{"skill_id": write("alice", "one")}])))
    assert "Body of one." in shapes.texts(record)[-1]


def test_calls_that_the_message_asks_for_are_made_besides_the_invoked_skills(write, start, read):
    message = make.say('[[call echo {"value": 7}]]')
    record = read(data_of(start(messages=[message], invoke_skills=[{"skill_id": write("alice", "one")}])))
    assert [use["tool_name"] for use in shapes.blocks(record, "tool_use")] == ["load_skill", "echo"]
    assert shapes.blocks(record, "tool_result")[1]["payload"]["value"] == 7
    assert record["status"] == "user_turn"


def test_a_worker_that_dies_behind_the_invoked_skills_leaves_them_where_they_are(write, start, read):
    record = data_of(start(messages=[make.say("Go.")], invoke_skills=[{"skill_id": write("alice", "one")}]))
    [thread] = Thread.objects.all()
    turn = make.half_answered(thread, "Half an ")
    make.let_expire(turn)
    loop.advance(turn.pk)
    after = read(record)
    assert after["messages"][:3] == record["messages"]
    assert roles(after) == ["user", "assistant", "roboto", "assistant"]
    assert "Half an " not in shapes.texts(after)[-1]


# Loaded by the agent itself


def ask_for(name):
    """A message that makes the simulator load a skill."""
    return make.say(f"[[call load_skill {json.dumps({'name': name})}]]")


def test_a_skill_that_was_asked_for_and_never_read_is_told_like_one_that_was(api):
    """Spec 3.3, 4.7: the SDK's event takes its output from the raw response alone."""
    use = {"tool_name": "load_skill", "tool_use_id": "tu_1", "input": {"name": "refunds"}}
    seeded = [make.say("Hi"), {"role": "assistant", "content": [use]}, make.say("Go on")]
    record = data_of(api("alice").post("threads", {"messages": seeded}))
    [result] = shapes.blocks(record, "tool_result")
    assert result["raw_response"] == result["payload"] == {"error": "This call was never answered."}


@pytest.fixture
def loaded(start, read, api):
    """What came of asking the agent for a skill in a new thread, or in the next turn of one: payload, or None."""

    def ask(name, person="alice", thread=None, **body):
        if thread is None:
            thread = data_of(start(person, messages=[ask_for(name)], **body))
        else:
            data_of(api(person).post(f"threads/{thread['thread_id']}/messages", {"message": ask_for(name)}))
        record = read(thread, person)
        assert record["status"] == "user_turn"
        assert record["messages"][-1]["status"] == "completed"
        use, result = shapes.blocks(record, "tool_use")[-1], shapes.blocks(record, "tool_result")[-1]
        assert use["tool_name"] == result["tool_name"] == "load_skill"
        assert use["tool_use_id"] == result["tool_use_id"]
        if result["status"] == "success":
            assert use["answered_by_server"] is False
            assert result["raw_response"] == result["payload"]
            return result["payload"]
        assert result["status"] == "error"
        assert use["answered_by_server"] is True
        return None

    return ask


def test_without_a_list_the_agent_has_the_callers_pinned_subscriptions_turn_by_turn_B156(
    api, write, pin, start, read, loaded
):
    skill = write("alice", "one", "first", "second", accessibility="org")
    assert loaded("one")["body"] == "first"  # the author's own pin, not the highest
    assert loaded("one", "bob") is None
    data_of(api("bob").post(f"/v1/skills/id/{skill}/subscribe"))
    assert loaded("one", "bob") is None  # subscribed, without a pin
    thread = read(data_of(start("bob", messages=[make.say("Hello")])), "bob")
    pin("bob", skill, 2)
    assert loaded("one", "bob", thread)["body"] == "second"
    pin("bob", skill, 1)
    assert loaded("one", "bob", thread) == {
        "skill_id": skill,
        "name": "one",
        "version": 1,
        "description": "When one.",
        "body": "first",
    }
    data_of(api("alice").put(f"/v1/skills/id/{skill}/versions/1", {"body": "edited"}))
    assert loaded("one", "bob", thread)["body"] == "edited"
    data_of(api("alice").request("DELETE", f"/v1/skills/id/{skill}/versions/1"))
    assert loaded("one", "bob", thread) is None
    pin("bob", skill, 2)
    data_of(api("alice").put(f"/v1/skills/id/{skill}", {"accessibility": "private"}))
    assert loaded("one", "bob", thread) is None


def test_a_person_who_left_the_org_has_its_skills_no_more_B156(write, pin, loaded, who):
    skill = write("alice", "shared", accessibility="org")
    pin("bob", skill, 1)
    assert loaded("shared", "bob")
    Membership.objects.filter(user=who.bob.user).delete()
    add_member(who.globex, who.bob.user)
    assert loaded("shared", "bob") is None


def test_an_empty_list_leaves_the_agent_none_B156(write, loaded):
    write("alice", "one")
    assert loaded("one", available_skills=[]) is None
    assert loaded("one", available_skills=None)["body"] == "Body of one."


def test_a_list_is_exactly_what_the_agent_has_B156_B152_B154(write, loaded):
    own = write("alice", "own", "first", "second")
    shared = write("bob", "shared", "one", "two", accessibility="org")
    available = [{"skill_id": shared, "version": 1}, {"skill_id": own}]
    assert loaded("shared", available_skills=available)["body"] == "one"
    assert loaded("own", available_skills=available)["body"] == "second"
    assert loaded("own", available_skills=available[:1]) is None  # though it is pinned


def test_the_list_is_frozen_at_start_deaf_to_everything_later_B157(api, write, pin, start, read, loaded):
    skill = write("bob", "one", "As it was.", accessibility="org")
    late = write("alice", "late")
    thread = read(data_of(start(messages=[make.say("Hi")], available_skills=[{"skill_id": skill}])))
    pin("alice", late, 1)
    data_of(api("bob").put(f"/v1/skills/id/{skill}/versions/1", {"body": "Edited."}))
    data_of(api("bob").post(f"/v1/skills/id/{skill}/versions", {"description": "", "body": "Newer."}))
    data_of(api("bob").put(f"/v1/skills/id/{skill}", {"name": "renamed", "accessibility": "private"}))
    assert loaded("one", thread=thread)["body"] == "As it was."
    data_of(api("bob").request("DELETE", f"/v1/skills/id/{skill}"))
    assert loaded("one", thread=thread)["body"] == "As it was."
    assert loaded("late", thread=thread) is None
    assert loaded("renamed", thread=thread) is None
    fork = data_of(api("alice").post(f"threads/{thread['thread_id']}/fork", {"message_sequence_num": 1}))
    assert loaded("one", thread=fork)["body"] == "As it was."


def test_a_hundred_available_skills_are_accepted_and_one_more_or_a_repeated_one_is_not_B16_B17(write, start):
    specs = [{"skill_id": write("alice", f"s{number}")} for number in range(101)]
    before = stored()
    for wrong in (specs, [*specs[:2], {**specs[0], "version": 1}]):
        status, code, said = refusal_of(start(messages=[make.say("Hi")], available_skills=wrong))
        assert (status, code) == INVALID
        assert said.startswith("available_skills: ")
    assert stored() == before
    data_of(start(messages=[make.say("Hi")], available_skills=specs[:100]))
    [thread] = Thread.objects.all()
    assert [skill["name"] for skill in thread.available_skills] == [f"s{number}" for number in range(100)]


def test_more_skills_need_no_more_queries(write, start):
    """Neither a longer list at start, nor more pinned subscriptions in a turn."""

    def cost(**body):
        with CaptureQueriesContext(connection) as asked:
            data_of(start(messages=[make.say("Hi")], **body))
            make.run_turns()
            return sum("catalogue_skill" in query["sql"] for query in asked)

    specs = [{"skill_id": write("alice", "first")}]
    cost()
    few = cost(available_skills=specs), cost()
    specs += [{"skill_id": write("alice", f"s{number}")} for number in range(9)]
    assert (cost(available_skills=specs), cost()) == few


def test_available_skills_alone_are_nothing_to_do_B6(write, start):
    specs = [{"skill_id": write("alice", "one")}]
    assert refusal_of(start(available_skills=specs))[:2] == INVALID
    assert refusal_of(start(messages=[], invoke_skills=[], available_skills=specs))[:2] == INVALID
    assert not Thread.objects.exists()


def test_of_namesakes_each_can_be_loaded_ones_own_private_one_by_the_plain_name(write, pin, loaded):
    """Spec 2.7 lets a private and a shared skill share a name; B156 wants each of a list within reach."""
    shared = write("bob", "twin", "the org's", accessibility="org")
    mine = write("alice", "twin", "alice's own")
    pin("alice", shared, 1)
    assert loaded("twin")["skill_id"] == mine
    assert loaded("twin_2") == {
        "skill_id": shared,
        "name": "twin",
        "version": 1,
        "description": "When twin.",
        "body": "the org's",
    }
    available = [{"skill_id": shared}, {"skill_id": mine}]
    assert [loaded(name, available_skills=available)["skill_id"] for name in ("twin", "twin_2")] == [shared, mine]


@pytest.mark.parametrize("arguments", ["{}", '{"name": null}', '{"name": ["one"]}', '{"name": {"a": 1}}', '["one"]'])
def test_whatever_the_model_writes_for_a_name_is_answered_with_an_error_and_the_turn_goes_on(
    write, start, read, arguments
):
    write("alice", "one")
    write("alice", "None")
    record = read(data_of(start(messages=[make.say(f"[[call load_skill {arguments}]]")])))
    [result] = shapes.blocks(record, "tool_result")
    assert result["status"] == "error"
    assert record["status"] == "user_turn"
    assert record["messages"][-1]["status"] == "completed"


def test_a_skill_that_is_gone_when_a_second_worker_answers_is_an_error_result(api, write, start, read):
    """The first worker died between the call and its answer."""
    skill = write("alice", "one")
    record = data_of(start(messages=[ask_for("one")]))
    [turn] = Turn.objects.all()
    run = loop._Run.claimed(turn)
    assert run.step()  # the model has called; nobody has answered yet
    data_of(api("alice").request("DELETE", f"/v1/skills/id/{skill}"))
    make.let_expire(turn)
    loop.advance(turn.pk)
    after = read(record)
    assert [result["status"] for result in shapes.blocks(after, "tool_result")] == ["error"]
    assert (after["status"], after["messages"][-1]["status"]) == ("user_turn", "completed")


def test_an_invoked_skill_keeps_its_raw_response_through_export_and_import(api, write, start, read):
    """Spec 3.3, 9."""
    record = read(data_of(start(invoke_skills=[{"skill_id": write("alice", "weave", "Over, under.")}])))
    messages = data_of(api("alice").get(f"threads/{record['thread_id']}/export?format=roboto"))["messages"]
    body = {"format": "roboto", "conversations": [{"id": "back", "messages": messages}]}
    [item] = data_of(api("alice").post("threads/import", body))["items"]
    again = data_of(api("alice").get(f"threads/{item['thread_id']}"))
    assert pairs(again) == pairs(record) != []


def test_an_invoked_skill_is_not_the_call_that_a_directive_asks_for(write, start, read):
    """The simulator's directives: it calls what the words ask for, whatever was loaded before them."""
    skill_id = write("alice", "weave", "Over, under.")
    message = make.say('[[call load_skill {"name": "weave"}]]')
    chosen = [{"skill_id": skill_id}]
    record = read(data_of(start(messages=[message], invoke_skills=chosen, available_skills=chosen)))
    assert [use for use, _ in pairs(record)] == [{"name": "weave", "version": 1}, {"name": "weave"}]
    assert record["status"] == "user_turn"


def test_a_skill_and_a_system_prompt_change_what_the_simulator_says(write, start, read):
    """So that a fix can be proven without a model: `[[say ...]]`, which no other tool's result can ask for."""
    asked = {"messages": [make.say('Why? [[call calculate {"expression": "6 * 7"}]] [[say By the way.]]')]}
    before = shapes.texts(read(data_of(start(**asked))))[-1]
    assert "By the way." in before and "section" not in before
    skill = [{"skill_id": write("alice", "rules", "Name it. [[say By section 5.2.]]")}]
    told = shapes.texts(read(data_of(start(**asked, invoke_skills=skill, system_prompt="[[say Dear rider.]]"))))[-1]
    assert "Dear rider. By section 5.2. By the way." in told
    assert "[[" not in told.partition("`load_skill`")[0]


def test_a_client_tool_may_not_be_called_load_skill_B18(start):
    body = {"messages": [make.say("Hi")], "client_tools": [make.client_tool("load_skill")]}
    assert refusal_of(start(**body))[2].startswith("client_tools.0.name: ")
    assert not Thread.objects.exists()
