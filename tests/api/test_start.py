"""T1: starting a thread (spec 2.2)."""

import json
import re
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from accounts.orgs import add_member
from config import docs
from tests import make
from tests.api import shapes
from tests.conftest import data_of, refusal_of
from threads.access import thread_for
from threads.models import Block, ClientTool, Goal, Message, Subject, Thread, Turn

SUMMARY = {"goal_type": "dataset_summary", "dataset_id": "ds_1"}
ASSISTANT_ONLY = {"role": "assistant", "content": [{"tool_name": "look", "tool_use_id": "u1", "input": {}}]}


def stored():
    """How many rows of every kind there are: a refused start adds none."""
    return [model.objects.count() for model in (Thread, Message, Block, Turn, Goal, ClientTool, Subject)]


def test_starting_with_a_text_returns_the_exact_record_with_that_text_first_B1_B7_B10_B11(api, who):
    before = timezone.now()
    record = data_of(api("alice").post("threads", {"messages": [make.say("Where is my parcel?")]}))

    shapes.check_thread(record)
    assert record["thread_id"].startswith("ags_")
    assert record["messages"] == [
        {
            "role": "user",
            "content": [{"content_type": "text", "text": "Where is my parcel?"}],
            "status": "completed",
            "created": record["messages"][0]["created"],
        }
    ]
    assert record["created_by"] == "alice@acme.test"
    assert record["created_by_principal"] == "user:alice@acme.test"
    assert record["org_id"] == who.acme.org_id
    assert record["status"] == "roboto_turn"
    assert record["visibility"] == "private"
    assert record["model_profile"] == "simulated"
    assert record["goals"] == []
    assert record["tasks"] == []
    for absent in ("activity", "origin", "pinned_at", "forked_from_thread_id", "forked_from_message_sequence_num"):
        assert record[absent] is None
    created = datetime.fromisoformat(record["created"])
    assert created.utcoffset() == timedelta(0)
    assert before <= created <= timezone.now()


def test_one_message_with_several_blocks_is_stored_as_given_B2(api):
    content = [{"text": "One."}, {"content_type": "text", "text": " Two.\n"}]
    record = data_of(api("alice").post("threads", {"messages": [{"role": "user", "content": content}]}))

    assert [block["text"] for block in record["messages"][0]["content"]] == ["One.", " Two.\n"]


def test_answers_are_stored_as_models_write_them_B2_B3(api):
    """Blank texts between others, and nothing at all; what people say is never blank."""
    answers = [[{"text": "One."}, {"text": "\n\n"}, {"text": "Two."}], []]
    seeded = [make.say("Hi"), *({"role": "assistant", "content": content} for content in answers), make.say("Go on")]
    record = data_of(api("alice").post("threads", {"messages": seeded}))
    told = [[block["text"] for block in message["content"]] for message in record["messages"]]
    assert told == [["Hi"], ["One.", "\n\n", "Two."], [], ["Go on"]]
    make.run_turns()
    assert data_of(api("alice").get(f"threads/{record['thread_id']}"))["messages"][-1]["status"] == "completed"
    for content, reason in (([], "content: must have at least 1 item"), ([{"text": " "}], "content.0: text must not")):
        said = refusal_of(api("alice").post("threads", {"messages": [{"role": "user", "content": content}]}))[2]
        assert said.startswith(f"messages.0.{reason}"), said


@pytest.mark.parametrize(
    ("words", "title"),
    [
        ('[[call echo {"a": ["x]]", "y"]}]] Please check my order', "Please check my order"),
        ('[[call echo {"a": [[1]]}]] nested', "nested"),
        ('[[call echo {"message": "x [[fail]] y"}]]', None),
        ("[[words 3]] [[pace 0.1]] Count", "Count"),
    ],
)
def test_directives_are_no_part_of_a_title(api, words, title):
    assert data_of(api("alice").post("threads", {"messages": [make.say(words)]}))["title"] == title


@pytest.mark.parametrize(
    "begun",
    ["[[say" + " " * 900_000, '[[call echo {"a": ' * 40_000, "[[call echo " * 60_000, "[[call" + " " * 900_000],
    ids=["say", "half a call", "calls", "blanks"],
)
def test_directives_that_never_end_are_text_however_many_there_are(api, who, begun):
    """Each took minutes to hours when every one was tried at all of what follows, and held the worker meanwhile."""
    record = data_of(api("alice").post("threads", {"messages": [make.say(f"{begun}\nWhy?")]}))
    make.run_turns()
    record = data_of(api("alice").get(f"threads/{record['thread_id']}"))
    assert record["status"] == "user_turn" and shapes.texts(record)[-1]
    assert not shapes.blocks(record, "tool_use")


def test_a_title_follows_a_long_directive(api):
    said = f'[[call echo {{"text": "{"x" * 20_000}"}}]] Where is my parcel?'
    record = data_of(api("alice").post("threads", {"messages": [make.say(said)]}))
    assert record["title"] == "Where is my parcel?"


@pytest.mark.parametrize("words", ["\u200b\nWhere is my parcel?", "[[pace 0]]\ufeff\n\u3164\nWhere is my parcel?"])
def test_a_title_is_made_of_the_first_line_that_is_seen(api, words):
    record = data_of(api("alice").post("threads", {"messages": [make.say(words)]}))
    assert record["title"] == "Where is my parcel?"


def test_status_and_time_of_incoming_messages_are_the_servers_to_set(api):
    """Spec 3.2: seeded messages are completed, whatever they claim."""
    message = {**make.say("Hello"), "status": "failed", "created": "1999-01-01T00:00:00Z"}
    record = data_of(api("alice").post("threads", {"messages": [message]}))

    assert record["messages"][0]["status"] == "completed"
    assert record["messages"][0]["created"] > "2020"


def test_several_messages_are_stored_in_order_and_answered_after_the_last_B3(api, who):
    seeded = [
        make.say("First"),
        {"role": "assistant", "content": [{"text": "Second"}, {"tool_name": "look", "tool_use_id": "u1", "input": {}}]},
        make.say("Third [[words 2]]"),
    ]
    record = data_of(api("alice").post("threads", {"messages": seeded}))
    # Behind them what nobody answered is answered.
    assert [message["role"] for message in record["messages"]] == ["user", "assistant", "user", "roboto"]
    assert shapes.texts(record)[:3] == ["First", "Second", "Third [[words 2]]"]
    assert {message["status"] for message in record["messages"]} == {"completed"}

    make.run_turns()
    after = data_of(api("alice").get(f"threads/{record['thread_id']}"))
    assert after["status"] == "user_turn"
    assert shapes.texts(after)[:-1] == shapes.texts(record)
    assert shapes.texts(after)[-1] == "the warp"


def test_every_kind_of_block_is_recognised_by_its_keys_in_a_seeded_assistant_message_B2(api):
    content = [
        {"text": "Let me see."},
        {"tool_name": "look", "tool_use_id": "u1", "input": {"deep": [1, None, "ü"]}},
        {"tool_name": "look", "tool_use_id": "u1", "runtime_ms": 3, "status": "success", "payload": {"a": None}},
        {"error_message": "It broke."},
    ]
    seeded = [make.say("Go"), {"role": "assistant", "content": content}]
    record = data_of(api("alice").post("threads", {"messages": seeded}))

    shapes.check_thread(record)
    stored_blocks = record["messages"][1]["content"]
    assert [block["content_type"] for block in stored_blocks] == ["text", "tool_use", "tool_result", "error"]
    assert stored_blocks[1]["input"] == {"deep": [1, None, "ü"]}
    assert stored_blocks[2]["payload"] == {"a": None}


@pytest.mark.parametrize(
    "block",
    [
        {"x": 1},
        {},
        {"text": 5},
        {"text": None},
        {"content_type": "deleted"},
        {"content_type": "compression_filler"},
        {"content_type": "tool_use", "text": "Hi"},
        {"content_type": None, "text": "Hi"},
        {"tool_name": "look"},
        {"tool_name": "look", "tool_use_id": "u", "runtime_ms": 1, "status": "perhaps"},
        "Hi",
        None,
        [],
    ],
)
def test_a_block_of_no_known_shape_is_refused_and_nothing_stored(api, block):
    """Spec 3.3: nothing turns silently into another kind of block."""
    before = stored()
    seeded = [make.say("Hi"), {"role": "assistant", "content": [{"text": "Fine."}, block]}]
    status, code, message = refusal_of(api("alice").post("threads", {"messages": seeded}))

    assert (status, code) == (400, "RobotoInvalidRequestException")
    assert message.startswith("messages.1.content.1")
    assert stored() == before


def test_goals_alone_are_accepted_and_the_server_writes_the_user_message_B4_B96_B100(api):
    record = data_of(api("alice").post("threads", {"goals": [SUMMARY]}))

    assert [message["role"] for message in record["messages"]] == ["user"]
    assert shapes.texts(record)[0]
    [goal] = record["goals"]
    assert set(goal) == shapes.GOAL
    assert goal["status"] == "pending"
    assert goal["message_sequence_num"] == 0
    assert goal["concluded_at"] is None
    assert goal["achieve_tool_use_id"] is None


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"messages": []},
        {"messages": [], "goals": [], "invoke_skills": []},
        {"messages": [], "goals": None, "invoke_skills": [], "available_skills": []},
        {"available_skills": [{"skill_id": "sk_1", "version": None}]},
        {"client_context": {"dataset_ids": ["ds_1"]}, "system_prompt": "Be kind."},
    ],
)
def test_starting_with_nothing_to_do_is_refused_and_stores_nothing_B6(api, body):
    before = stored()
    assert refusal_of(api("alice").post("threads", body))[:2] == (400, "RobotoInvalidRequestException")
    assert stored() == before


def test_the_default_org_owns_the_thread_unless_a_header_names_another_B8(api, who):
    add_member(who.globex, who.alice.user)
    body = {"messages": [make.say("Hi")]}

    assert data_of(api("alice").post("threads", body))["org_id"] == who.acme.org_id
    named = {"X-Roboto-Org-Id": who.globex.org_id}
    assert data_of(api("alice").post("threads", body, **named))["org_id"] == who.globex.org_id


def test_the_schema_declares_the_org_header_only_on_routes_that_read_it():
    """Spec 1.2: a list of the caller's own threads (H1) has no org, and a thread's own org decides for its routes."""
    declaring = {
        (method, path)
        for path, item in docs.generated()["paths"].items()
        for method, operation in item.items()
        if path.startswith(("/v1/ai/threads", "/v1/ai/agents", "/v1/ai/model-profiles"))
        and "X-Roboto-Org-Id" in {each["name"] for each in operation.get("parameters", [])}
    }
    assert declaring == {
        ("post", "/v1/ai/threads"),
        ("post", "/v1/ai/threads/import"),
        ("post", "/v1/ai/threads/search"),
        ("get", "/v1/ai/agents"),
        ("post", "/v1/ai/agents"),
        ("get", "/v1/ai/agents/name/{name}"),
    }


def test_starting_in_an_org_one_is_no_member_of_is_unauthorized_B9(api, who):
    before = stored()
    response = api("alice").post("threads", {"messages": [make.say("Hi")]}, **{"X-Roboto-Org-Id": who.globex.org_id})
    assert refusal_of(response)[:2] == (403, "RobotoUnauthorizedException")
    assert stored() == before


def test_an_admin_names_any_existing_org_and_none_is_chosen_for_them(api, who):
    """Spec 1.2: admins act in any existing org; without one to choose there is a code of its own."""
    body = {"messages": [make.say("Hi")]}
    assert refusal_of(api("admin").post("threads", body))[:2] == (400, "RobotoNoOrgProvidedException")

    named = {"X-Roboto-Org-Id": who.globex.org_id}
    record = data_of(api("admin").post("threads", body, **named))
    assert (record["org_id"], record["created_by"]) == (who.globex.org_id, "admin@heddle.test")

    unknown = {"X-Roboto-Org-Id": "og_" + "0" * 26}
    assert refusal_of(api("admin").post("threads", body, **unknown))[0] == 400


def test_org_visibility_is_granted_when_asked_for_B12(api):
    record = data_of(api("alice").post("threads", {"messages": [make.say("Hi")], "visibility": "org"}))
    assert record["visibility"] == "org"


@pytest.mark.parametrize("role", ["roboto", "system", "tool", "User", "", None, 1])
def test_roles_other_than_user_and_assistant_are_refused_B13(api, role):
    before = stored()
    messages = [make.say("Hi"), {"role": role, "content": [{"text": "I am something else."}]}]
    status, _, message = refusal_of(api("alice").post("threads", {"messages": messages}))
    assert status == 400
    assert message.startswith("messages.1.role")
    assert stored() == before


def test_five_goals_are_accepted_and_six_are_refused_B14(api):
    five = data_of(api("alice").post("threads", {"goals": [SUMMARY] * 5}))
    assert len(five["goals"]) == 5
    before = stored()
    status, _, message = refusal_of(api("alice").post("threads", {"goals": [SUMMARY] * 6}))
    assert status == 400
    assert message.startswith("goals")
    assert stored() == before


def test_goals_over_history_without_any_text_are_refused_B15(api):
    before = stored()
    refused = api("alice").post("threads", {"messages": [ASSISTANT_ONLY], "goals": [SUMMARY]})
    assert refusal_of(refused)[0] == 400
    assert stored() == before

    with_text = {"messages": [make.say("Look"), ASSISTANT_ONLY], "goals": [SUMMARY]}
    assert data_of(api("alice").post("threads", with_text))["goals"][0]["message_sequence_num"] == 0


def test_history_of_the_assistant_alone_gets_a_user_message_for_its_goals_B100(api):
    """The server writes the message that goals point at where no user message was given (spec 4.2)."""
    seeded = [{"role": "assistant", "content": [{"text": "I had begun."}]}]
    record = data_of(api("alice").post("threads", {"messages": seeded, "goals": [SUMMARY]}))
    assert [message["role"] for message in record["messages"]] == ["assistant", "user"]
    assert record["goals"][0]["message_sequence_num"] == 1


def test_available_skills_are_bounded_and_each_stands_once_B16_B17(api):
    before = stored()
    body = {"messages": [make.say("Hi")]}
    many = [{"skill_id": f"sk_{number}"} for number in range(101)]
    status, _, message = refusal_of(api("alice").post("threads", {**body, "available_skills": many}))
    assert (status, message.partition(":")[0]) == (400, "available_skills")

    twice = [{"skill_id": "sk_1"}, {"skill_id": "sk_1", "version": 2}]
    status, _, message = refusal_of(api("alice").post("threads", {**body, "available_skills": twice}))
    assert status == 400
    assert "twice" in message
    assert stored() == before


@pytest.mark.parametrize("field", ["invoke_skills", "available_skills"])
def test_a_skill_nobody_knows_is_refused_before_anything_is_stored_B153(api, field):
    before = stored()
    body = {"messages": [make.say("Hi")], field: [{"skill_id": "sk_unknown"}]}
    status, code, message = refusal_of(api("alice").post("threads", body))
    assert (status, code) == (400, "RobotoInvalidRequestException")
    assert message.startswith(f"{field}.0")
    assert stored() == before


@pytest.mark.parametrize("skills", [None, []])
def test_no_available_skills_are_accepted_in_either_spelling_B156(api, skills):
    data_of(api("alice").post("threads", {"messages": [make.say("Hi")], "available_skills": skills}))


@pytest.mark.parametrize(
    "name",
    [
        "remember",
        "recall",
        "client_recall",
        "A",
        "a" + "0" * 63,
        "Z_9",
        "achieve_records",
        "achieve_",
        "achieve_checklists",
        "achieve_checklist_1",
        "achieve_checklist_6",
    ],
)
def test_tool_names_of_the_pattern_are_accepted_B18(api, name):
    body = {"messages": [make.say("Hi")], "client_tools": [make.client_tool(name)]}
    record = data_of(api("alice").post("threads", body))
    assert ClientTool.objects.get().thread_id == Thread.objects.get(key=record["thread_id"][4:]).pk


@pytest.mark.parametrize(
    "name", ["", "9lives", "_hidden", "with-dash", "a" + "0" * 64, "naïve", "a b", "a\n", "calculate", "echo",
             "load_skill", "achieve_dataset_summary", "achieve_checklist_2"]
)  # fmt: skip
def test_other_tool_names_and_those_of_the_server_are_refused_before_anything_is_stored_B18(api, name):
    before = stored()
    body = {"messages": [make.say("Hi")], "client_tools": [make.client_tool("fine"), make.client_tool(name)]}
    status, _, message = refusal_of(api("alice").post("threads", body))
    assert status == 400
    assert message.startswith("client_tools.1.name")
    assert stored() == before


@pytest.mark.parametrize(
    "schema", [{"type": 5}, {"type": "nothing"}, {"$ref": "https://elsewhere.test/schema"}, [], "x"]
)
def test_an_input_schema_must_be_one_and_refer_to_nothing_outside(api, schema):
    """Spec 3.6."""
    before = stored()
    tool = {**make.client_tool(), "input_schema": schema}
    status, _, message = refusal_of(
        api("alice").post("threads", {"messages": [make.say("Hi")], "client_tools": [tool]})
    )
    assert status == 400
    assert message.startswith("client_tools.0.input_schema")
    assert stored() == before


def test_sixty_four_client_tools_are_accepted_and_one_more_is_refused(api):
    """Spec 3.6."""
    tools = [make.client_tool(f"tool_{number}") for number in range(65)]
    body = {"messages": [make.say("Hi")]}
    data_of(api("alice").post("threads", {**body, "client_tools": tools[:64]}))
    assert ClientTool.objects.count() == 64
    assert refusal_of(api("alice").post("threads", {**body, "client_tools": tools}))[0] == 400


@pytest.mark.parametrize("name", ["client_context", "context"])
def test_the_viewing_context_is_accepted_under_both_names_and_shown_on_the_users_message_B19(api, name):
    body = {"messages": [make.say("Hi")], name: {"dataset_ids": ["ds_1"], "misc_context": {"a": [None, 1.5]}}}
    record = data_of(api("alice").post("threads", body))
    [block] = shapes.blocks(record, "client_context")
    assert block["context"]["dataset_ids"] == ["ds_1"]
    assert block["context"]["misc_context"] == {"a": [None, 1.5]}


def test_a_seeded_viewing_context_is_held_to_the_shape_that_readers_know(api):
    """Spec 3.9: the SDK could not read a thread with another one."""
    seeded = {"messages": [{"role": "user", "content": [{"text": "z"}, {"context": {"dataset_ids": 5}}]}]}
    status, _, said = refusal_of(api("alice").post("threads", seeded))
    assert (status, said) == (400, "messages.0.content.1.context.dataset_ids: must be a list")
    assert not Thread.objects.exists()

    seeded["messages"][0]["content"][1] = {"context": {"dataset_ids": ["ds_1"], "shelf": 1}}
    [block] = shapes.blocks(data_of(api("alice").post("threads", seeded)), "client_context")
    assert block["context"]["dataset_ids"] == ["ds_1"] and block["context"]["view_ids"] == []
    assert "shelf" not in block["context"]


def test_a_refusal_names_the_fields_that_were_sent(api):
    """B19, B167: by the older name where that was sent, and by none that only we know."""
    result = {"tool_name": "n", "tool_use_id": "u", "runtime_ms": 1, "status": "success", "payload": 5}
    for body, expected in (
        ({"messages": [make.say("Hi")], "context": 5}, "context: must be a JSON object"),
        ({"messages": [make.say("Hi")], "context": {"view_ids": 5}}, "context.view_ids: must be a list"),
        ({"messages": [make.say("Hi")], "client_context": 5, "context": {}}, "client_context: must be a JSON object"),
        (
            {"messages": [{"role": "assistant", "content": [result]}]},
            "messages.0.content.0.payload: must be text, a JSON object, a list or null",
        ),
    ):
        assert refusal_of(api("alice").post("threads", body))[2] == expected


def test_client_context_wins_over_its_older_name_even_as_null_B19(api):
    body = {"messages": [make.say("Hi")], "client_context": None, "context": {"dataset_ids": ["ds_1"]}}
    assert shapes.blocks(data_of(api("alice").post("threads", body)), "client_context") == []


def test_seeded_results_of_client_tools_and_skills_carry_their_payload_as_raw_response(api):
    """Spec 3.3: the SDK's event takes its output from there alone; what is no object has no place there."""
    names = ["remember", "client_x", "load_skill", "echo"]
    payloads = [{"kept": None}, {"x": 1}, {"body": "Look."}, {"value": 1}]

    def pair(place, name, payload):
        named = {"tool_name": name, "tool_use_id": f"tu_{place}"}
        return [{**named, "input": {}}, {**named, "runtime_ms": 1, "status": "success", "payload": payload}]

    blocks = [block for place, name in enumerate(names) for block in pair(place, name, payloads[place])]
    blocks += [*pair(8, "client_x", "text"), {"tool_name": "remember", "tool_use_id": "tu_9", "input": {}}]
    seeded = [make.say("Hi"), {"role": "assistant", "content": blocks}, make.say("Go on")]
    record = data_of(api("alice").post("threads", {"messages": seeded, "client_tools": [make.client_tool("remember")]}))
    results = shapes.blocks(record, "tool_result")
    unanswered = {"error": "This call was never answered."}
    assert [result["payload"] for result in results] == [*payloads, "text", unanswered]
    assert [result["raw_response"] for result in results] == [*payloads[:3], None, None, unanswered]


def test_a_seeded_result_of_a_client_tool_in_the_older_shape_is_its_payload_too(api):
    """Spec 3.3 and 7: older SDKs know the raw response only. That of a server's tool stays among the raw payloads."""
    blocks = []
    for name in ("client_x", "echo"):
        named = {"tool_name": name, "tool_use_id": f"tu_{name}"}
        raw = {"runtime_ms": 1, "status": "success", "raw_response": {"x": None}}
        blocks += [{**named, "input": {}}, {**named, **raw}]
    seeded = [make.say("Hi"), {"role": "assistant", "content": blocks}, make.say("Go on")]
    record = data_of(api("alice").post("threads", {"messages": seeded}))
    told = [(result["payload"], result["raw_response"]) for result in shapes.blocks(record, "tool_result")]
    assert told == [({"x": None}, {"x": None}), (None, None)]


def test_a_viewing_context_without_a_message_sits_on_the_servers_own_B4(api):
    """Spec 2.2, 3.3."""
    body = {"goals": [SUMMARY], "client_context": {"dataset_ids": ["q"]}}
    record = data_of(api("alice").post("threads", body))
    assert [block["content_type"] for block in record["messages"][0]["content"]] == ["text", "client_context"]
    [block] = shapes.blocks(record, "client_context")
    assert block["context"]["dataset_ids"] == ["q"]


@pytest.mark.parametrize("value", ['"\\ud800"', '{"\\u0000": 1}', "1e999", "[" * 200 + "]" * 200])
def test_an_unknown_field_is_ignored_whatever_its_value_B20(api, value):
    """Even one that could not be stored; a known field with it is refused."""
    body = json.dumps({"messages": [make.say("Hi")]})[:-1]
    data_of(api("alice").post("threads", f'{body}, "note": {value}}}'.encode()))
    for name in ("system_prompt", "context"):
        assert refusal_of(api("alice").post("threads", f'{body}, "{name}": {value}}}'.encode()))[0] == 400


def test_unknown_fields_are_ignored_everywhere_in_a_start_B20(api):
    message = {"role": "user", "content": [{"text": "Hi", "colour": "red"}], "mood": 1}
    tool = {**make.client_tool(), "price": 3}
    goal = {**SUMMARY, "urgency": "high"}
    body = {"messages": [message], "client_tools": [tool], "goals": [goal], "analysis_scope": {"tz": 1}, "new": {}}
    record = data_of(api("alice").post("threads", body))
    shapes.check_thread(record)
    assert "urgency" not in record["goals"][0]["goal_data"]


@pytest.mark.parametrize(
    ("scope", "is_accepted"),
    [
        ({"start_time": 2, "end_time": 1}, False),
        ({"start_time": 1, "end_time": 1}, True),
        ({"start_time": 1}, True),
        ({"end_time": -1}, True),
        ({}, True),
        ({"start_time": None, "end_time": None}, True),
        (None, True),
        ({"start_time": "1"}, False),
        ({"start_time": True}, False),
        ({"start_time": 1.5}, False),
    ],
)
def test_a_scope_must_start_before_it_ends_and_be_whole_numbers_B21(api, scope, is_accepted):
    before = stored()
    response = api("alice").post("threads", {"messages": [make.say("Hi")], "analysis_scope": scope})
    if is_accepted:
        data_of(response)
    else:
        status, _, message = refusal_of(response)
        assert status == 400
        assert message.startswith("analysis_scope")
        assert stored() == before


def test_the_scope_is_kept_and_handed_to_server_tools_B45(api):
    body = {
        "messages": [make.say('[[call echo {"value": 1}]]')],
        "analysis_scope": {"start_time": 10, "end_time": 10**18},
    }
    record = data_of(api("alice").post("threads", body))
    make.run_turns()
    [result] = shapes.blocks(data_of(api("alice").get(f"threads/{record['thread_id']}")), "tool_result")
    assert result["payload"]["analysis_scope"] == {"start_time": 10, "end_time": 10**18}


def test_the_model_profile_given_is_reported_and_an_unknown_one_refused_B22(api):
    body = {"messages": [make.say("Hi")]}
    assert data_of(api("alice").post("threads", {**body, "model_profile": "simulated"}))["model_profile"] == "simulated"
    before = stored()
    status, _, message = refusal_of(api("alice").post("threads", {**body, "model_profile": "no-such"}))
    assert status == 400
    assert message.startswith("model_profile")
    assert stored() == before


def test_the_system_prompt_is_kept_and_echoed_in_no_record(api, who):
    """Spec 2.2."""
    body = {"messages": [make.say("Hi")], "system_prompt": "PROMPT-MARK"}
    response = api("alice").post("threads", body)
    thread = thread_for(who.alice.actor, data_of(response)["thread_id"])
    assert Thread.objects.get(pk=thread.pk).system_prompt == "PROMPT-MARK"
    for path in (f"threads/{thread.thread_id}", f"threads/{thread.thread_id}/delta", "threads"):
        assert b"PROMPT-MARK" not in api("alice").get(path).content
    assert b"PROMPT-MARK" not in response.content


def test_a_start_is_never_taken_for_a_repeat(api):
    """Spec 1.5: equal starts are legitimate."""
    raw = b'{"messages":[{"role":"user","content":[{"text":"Same"}]}]}'
    first, second = (data_of(api("alice").post("threads", raw))["thread_id"] for _ in range(2))
    assert first != second


def test_nothing_generated_is_in_the_record_of_a_start(api):
    """Spec 4.6 item 3: everything generated comes through deltas, from the record's own token on."""
    record = data_of(api("alice").post("threads", {"messages": [make.say("Hi")]}))
    assert len(record["messages"]) == 1
    make.run_turns()
    delta = data_of(api("alice").get(f"threads/{record['thread_id']}/delta?next_token={record['continuation_token']}"))
    assert list(delta["messages_by_idx"]) == ["1"]
    assert delta["status"] == "user_turn"


def test_an_empty_or_blank_text_is_refused_B41(api):
    before = stored()
    for text in ("", " ", "\n\t "):
        assert refusal_of(api("alice").post("threads", {"messages": [make.say(text)]}))[0] == 400
    assert stored() == before


@pytest.mark.parametrize("name", ["look", "echo", "remember"])
def test_an_open_call_in_a_seed_is_answered_with_an_error_and_never_made(api, name):
    """Spec 4.7, 9: whatever tool it names, unknown, the server's or the client's, with arguments nobody checked."""
    use = {"tool_name": name, "tool_use_id": "u1", "input": {"never": "checked"}}
    body = {"messages": [make.say("Go"), {"role": "assistant", "content": [use]}], "client_tools": [make.client_tool()]}
    path = f"threads/{data_of(api('alice').post('threads', body))['thread_id']}"
    make.run_turns()
    record = data_of(api("alice").get(path))
    assert [message["role"] for message in record["messages"]] == ["user", "assistant", "roboto", "assistant"]
    [result] = shapes.blocks(record, "tool_result")
    assert (result["tool_use_id"], result["status"]) == ("u1", "error")
    assert "never answered" in result["payload"]["error"]
    assert (record["status"], record["messages"][-1]["status"]) == ("user_turn", "completed")


def test_the_simulator_quotes_only_what_was_written(api, who):
    """Not the context of the screen, which stands behind it in what a model reads."""
    made = data_of(
        api("alice").post("threads", {"messages": [make.say("Hi there")], "client_context": {"dataset_ids": ["ds_1"]}})
    )
    make.run_turns()
    answer = data_of(api("alice").get(f"threads/{made['thread_id']}"))["messages"][-1]
    assert "You wrote: “Hi there”." in "".join(block.get("text", "") for block in answer["content"])


@pytest.mark.parametrize(
    ("words", "unread"),
    [
        ('[[call echo {"message": 1]] Hi', ['[[call echo {"message": 1]]']),
        ("[[sleep -1]] [[pace soon]] Hi", ["[[sleep -1]]", "[[pace soon]]"]),
        ("[[fail", ["[[fail"]),
        ("[[words]] " * 9, ["[[words]]"] * 3),
        (
            '[[say hello]] [[wordsworth]] [[call echo {"message": "[[sleep x]]"}]] [[refuse-goals]] Hi',
            ["[[wordsworth]]"],
        ),
        ("[[wrods 20]] [1] [[2]] [[]] Hi", ["[[wrods 20]]"]),
        ("[[words 3]] [[say yes]] [[sleep 0]] Hi", []),
    ],
)
def test_the_simulator_says_which_directive_it_could_not_read(api, who, words, unread):
    """Otherwise nobody knows why the tool was not called."""
    made = data_of(api("alice").post("threads", {"messages": [make.say(words)]}))
    make.run_turns()
    record = data_of(api("alice").get(f"threads/{made['thread_id']}"))
    assert record["status"] == "user_turn"
    assert re.findall("I could not read `(.+?)`", shapes.texts(record)[-1]) == unread
