"""G1 to G7: agents, templates of start requests, and launching threads from them (spec 2.6, 3.11)."""

from urllib.parse import quote

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Org
from accounts.orgs import add_member
from core.errors import InvalidRequest, NotFound
from tests import make
from tests.api import shapes
from tests.conftest import data_of, refusal_of
from threads import agents
from threads.models import Agent, Message, Thread, Turn
from threads.wire_agents import AgentPatch

AGENT = {
    "agent_id",
    "org_id",
    "name",
    "description",
    "request_template",
    "variables",
    "created",
    "created_by",
    "modified",
    "modified_by",
}
VARIABLE = {"name", "type", "description", "required", "default", "collection_content_type"}
MISSING = (404, "RobotoNotFoundException")
INVALID = (400, "RobotoInvalidRequestException")
TAKEN = (409, "RobotoConflictException")
HELLO = {"messages": [make.say("Hello {{who}}.")]}
SUMMARY = {"goal_type": "dataset_summary", "dataset_id": "{{ds}}"}

ROUTES = [
    ("GET", ""),
    ("PUT", ""),
    ("DELETE", ""),
    ("POST", "/launch"),
]


def stored():
    """Every agent, and how many threads there are."""
    return list(Agent.objects.order_by("pk").values()), [m.objects.count() for m in (Thread, Message, Turn)]


@pytest.fixture
def write(api):
    """Create an agent: `write("alice", "greeter", request_template=..., variables=[...])`."""

    def create(person, name="greeter", **more):
        headers = more.pop("headers", {})
        body = {"name": name, "request_template": HELLO, "variables": [{"name": "who"}], **more}
        return data_of(api(person).post("agents", body, **headers))

    return create


@pytest.fixture
def launch(api):
    """Launch an agent and return the answer."""
    return lambda person, agent, **body: api(person).post(f"agents/{agent['agent_id']}/launch", body)


@pytest.fixture
def second_org(who):
    """An org in which alice is, and bob is not."""
    org = Org.objects.create(slug="second", name="Second")
    add_member(org, who.alice.user)
    return org


# G1


def test_a_new_agent_is_the_orgs_with_exactly_its_fields_G1_G2(api, write, who):
    agent = write("alice", description="Says hello.")
    assert set(agent) == AGENT
    assert agent["agent_id"].startswith("agt_")
    assert (agent["org_id"], agent["name"], agent["description"]) == (who.acme.org_id, "greeter", "Says hello.")
    assert agent["request_template"] == HELLO
    assert [set(variable) for variable in agent["variables"]] == [VARIABLE]
    assert agent["variables"][0] == {
        "name": "who",
        "type": "string",
        "description": None,
        "required": True,
        "default": None,
        "collection_content_type": None,
    }
    assert agent["created_by"] == agent["modified_by"] == "alice@acme.test"
    for name in ("alice", "bob"):
        assert data_of(api(name).get(f"agents/{agent['agent_id']}")) == agent


def test_the_org_is_the_callers_or_the_headers_G1(api, write, second_org, who):
    assert write("alice", headers={"X-Roboto-Org-Id": second_org.org_id})["org_id"] == second_org.org_id
    before = stored()
    for name, org in (("eve", who.acme.org_id), ("bob", second_org.org_id)):
        refusal = refusal_of(api(name, **{"X-Roboto-Org-Id": org}).post("agents", {}))
        assert refusal[:2] == (403, "RobotoUnauthorizedException")
    assert refusal_of(api("admin").post("agents", {}))[:2] == (400, "RobotoNoOrgProvidedException")
    assert stored() == before


def test_what_an_admin_writes_in_an_org_they_name_stays_within_their_reach_G1_G2(api, write, launch, who):
    """Spec 1.2: an admin acts in any existing org."""
    header = {"X-Roboto-Org-Id": who.acme.org_id}
    agent, others = write("admin", headers=header), write("alice", "hers")
    assert data_of(api("bob").get(f"agents/{agent['agent_id']}")) == agent
    assert data_of(api("admin").get("agents/name/greeter", **header)) == agent
    assert [each["name"] for each in data_of(api("admin").get("agents", **header))["items"]] == ["greeter"]
    assert data_of(launch("admin", agent, values={"who": "you"}))["org_id"] == who.acme.org_id
    assert refusal_of(api("admin").get(f"agents/{others['agent_id']}"))[:2] == MISSING


ROBOTO = {"role": "roboto", "content": [{"text": "{{who}}"}]}
BAD_TEMPLATES = [
    ({"messages": [ROBOTO]}, "messages.0.role"),
    ({"analysis_scope": {"start_time": 2, "end_time": 1}}, "analysis_scope"),
    ({"analysis_scope": {"start_time": "{{who}}"}}, "analysis_scope.start_time"),
    ({"visibility": "{{who}}"}, "visibility"),
    ({"goals": [{"goal_type": "{{who}}"}]}, "goals.0.goal_type"),
    ({"goals": [{"goal_type": "dataset_summary"}]}, "goals.0.dataset_id"),
    ({"goals": [SUMMARY] * 6}, "goals"),
    ({"client_tools": [make.client_tool("9")]}, "client_tools.0.name"),
    ({"client_tools": [make.client_tool("echo")]}, "client_tools.0.name"),
    ({"client_tools": [make.client_tool(type="{{who}}")]}, "client_tools.0.input_schema"),
]
BAD_VARIABLES = [
    ([{"name": "who"}, {"name": "who"}], ""),
    ([], ""),
    ([{"name": "who"}, {"name": "unused"}], ""),
    ([{"name": "Who"}], ""),
    ({"who": "you"}, ""),
    ([{"name": "who"}, {"name": "9"}], ".1.name"),
    ([{"name": "who\n"}], ".0.name"),
    ([{"name": "who", "type": "file_id"}], ".0.type"),
    ([{"name": "who", "required": False}], ".0.default"),
    ([{"name": "who", "default": 5}], ".0.default"),
    ([{"name": "who", "collection_content_type": "file"}], ".0.collection_content_type"),
    ([{"name": "who", "type": "collection_id", "collection_content_type": "x"}], ".0.collection_content_type"),
]
BAD = [
    ({"name": ""}, "name"),
    ({"name": None}, "name"),
    ({"name": "n" * 201}, "name"),
    ({"name": "two\nlines"}, "name"),
    ({"name": "\u200b \u3164"}, "name"),
    ({"description": 5}, "description"),
    ({"request_template": None}, "request_template"),
    ({"request_template": []}, "request_template"),
    ({"request_template": {}}, "request_template"),
    ({"request_template": {"system_prompt": "{{who}}", "available_skills": []}}, "request_template"),
    *(({"request_template": {**HELLO, **part}}, f"request_template.{field}") for part, field in BAD_TEMPLATES),
    *(({"variables": variables}, f"variables{field}") for variables, field in BAD_VARIABLES),
]


def test_bad_input_is_refused_naming_the_field_G1_G5(api, write):
    good = {"name": "good", "request_template": HELLO, "variables": [{"name": "who"}]}
    agent = write("alice", "other")
    before = stored()
    for change, field in BAD:
        for refused in (
            api("alice").post("agents", {**good, **change}),
            api("bob").put(f"agents/{agent['agent_id']}", {"description": "Not kept.", **change}),
        ):
            status, code, said = refusal_of(refused)
            assert (status, code) == INVALID, change
            assert said.startswith(f"{field}: "), (change, said)
    assert stored() == before
    assert refusal_of(api("alice").post("agents", {"name": "x"}))[2].startswith("request_template: ")


# Placeholders


def test_a_model_profile_that_there_is_not_is_refused_when_it_is_written_G1_G5(api, write):
    """One that was removed from the configuration since stays until it is changed."""
    unknown = {**HELLO, "model_profile": "gone"}
    said = (400, "request_template.model_profile: there is no profile gone")
    body = {"name": "other", "request_template": unknown, "variables": [{"name": "who"}]}
    assert refusal_of(api("alice").post("agents", body))[::2] == said
    agent = write("alice", request_template={**HELLO, "model_profile": "simulated"})
    path = f"agents/{agent['agent_id']}"
    assert refusal_of(api("alice").put(path, {"request_template": unknown}))[::2] == said
    Agent.objects.update(request_template=unknown)
    assert data_of(api("alice").put(path, {"description": "d"}))["request_template"] == unknown
    longer = {**unknown, "system_prompt": "Be plain."}
    assert data_of(api("alice").put(path, {"request_template": longer}))["request_template"] == longer
    assert refusal_of(api("alice").put(path, {"request_template": {**longer, "model_profile": "other"}}))[0] == 400


def test_placeholders_are_found_in_every_string_value_G1(write):
    template = {
        "messages": [
            make.say("{{a}} and {{  a\t}}, {{b.c.d}}"),
            {"role": "assistant", "content": [{"text": "{{_e}}"}]},
        ],
        "system_prompt": "x{{f1}}x",
        "model_profile": "{{g}}",
        "client_context": {"dataset_ids": ["{{h}}"], "misc_context": {"deep": [{"er": "{{i}}"}]}},
        "goals": [SUMMARY],
        "invoke_skills": [{"skill_id": "{{j}}"}],
        "available_skills": [{"skill_id": "{{k}}", "version": 2}],
        "client_tools": [{**make.client_tool(), "description": "{{l}}"}],
    }
    names = ["a", "b.c.d", "_e", "f1", "g", "h", "i", "ds", "j", "k", "l"]
    agent = write("alice", request_template=template, variables=[{"name": name} for name in names])
    goal = {**SUMMARY, "summary_format_spec_prompt": None}
    assert agent["request_template"] == {**template, "goals": [goal]}


def test_what_is_no_placeholder_is_plain_text_G1(write, launch):
    said = "{who} {{9who}} {{who what}} {{}} {{ who-what }} {{who}"
    agent = write("alice", request_template={"messages": [make.say(said)]}, variables=[])
    assert shapes.texts(data_of(launch("bob", agent))) == [said]


@pytest.mark.parametrize(
    "part",
    [
        {"client_context": {"misc_context": {"{{who}}": 1}}},
        {"client_context": {"misc_context": {"list": [{"x{{ who }}y": None}]}}},
        {"client_tools": [make.client_tool(properties={"{{who}}": {}})]},
    ],
)
def test_a_placeholder_in_a_key_is_refused_G1(api, part):
    body = {"name": "keys", "request_template": {**HELLO, **part}, "variables": [{"name": "who"}]}
    status, code, said = refusal_of(api("alice").post("agents", body))
    assert (status, code) == INVALID
    assert said.startswith("request_template.")
    assert not Agent.objects.exists()


def test_a_placeholder_where_a_start_request_has_no_field_does_not_count_G1(api, write):
    """The SDK leaves unknown fields out, and would then miss the placeholder of a declared variable."""
    template = {**HELLO, "note": "{{other}}", "messages": [{**make.say("Hello {{who}}."), "mood": "{{other}}"}]}
    agent = write("alice", request_template=template)
    assert agent["request_template"] == HELLO
    variables = [{"name": "who"}, {"name": "other"}]
    body = {"name": "second", "request_template": template, "variables": variables}
    assert refusal_of(api("alice").post("agents", body))[2].startswith("variables: the variable other")


def test_the_older_name_of_the_viewing_context_is_understood_G1(write):
    agent = write("alice", request_template={**HELLO, "context": {"file_ids": ["fl_1"]}})
    assert agent["request_template"]["client_context"] == {"file_ids": ["fl_1"]}


# Who may


def test_members_read_change_delete_and_launch_and_for_others_it_is_not_there_G2_to_G7(api, write, launch):
    agent = write("alice")
    path = f"agents/{agent['agent_id']}"
    before = stored()
    for name in ("eve", "admin"):
        for method, tail in ROUTES:
            # Bad input tells them nothing either.
            for body in ({}, {"name": 5, "values": 5}):
                assert refusal_of(api(name).request(method, f"/v1/ai/{path}{tail}", body))[:2] == MISSING
    assert refusal_of(api("eve").get("agents/name/greeter"))[:2] == MISSING
    for method, tail in ROUTES:
        assert refusal_of(api(None).request(method, f"/v1/ai/{path}{tail}", {}))[0] == 401
        assert refusal_of(api("bob").request("PATCH", f"/v1/ai/{path}{tail}", {}))[0] == 405
    for method in ("GET", "POST"):
        assert refusal_of(api(None).request(method, "agents", {}))[0] == 401
    assert refusal_of(api(None).get("agents/name/greeter"))[0] == 401
    assert stored() == before

    assert data_of(api("bob").put(path, {"description": "Bob's words"}))["modified_by"] == "bob@acme.test"
    data_of(launch("bob", agent, values={"who": "you"}))
    assert data_of(api("bob").request("DELETE", f"/v1/ai/{path}")) is None


@pytest.mark.parametrize("agent_id", ["agt_nobody", "agt_", "sk_1", "x", "agt_%2F", "agt_" + "x" * 300])
def test_an_unknown_id_is_not_found_G2_G5_G6_G7(api, agent_id):
    for method, tail in ROUTES:
        assert refusal_of(api("alice").request(method, f"/v1/ai/agents/{agent_id}{tail}", {}))[:2] == MISSING


def test_a_member_who_leaves_has_lost_the_agents_they_wrote_G2(api, write, who):
    agent = write("alice")
    who.alice.user.memberships.all().delete()
    assert refusal_of(api("alice").get(f"agents/{agent['agent_id']}"))[:2] == MISSING


# Names


NAMES = [
    "a/b",
    "/lead",
    "trail/",
    "a//b",
    "v2/launch",
    "100%",
    "50%2F50",
    "a b+c",
    "Prüfung 🧵",
    "?q#f&x=y",
    "..",
    "name",
]


@pytest.mark.parametrize("name", NAMES)
def test_an_agent_is_found_by_any_name_percent_encoded_G3(api, write, name):
    agent = write("alice", name)
    assert agent["name"] == name
    assert data_of(api("bob").get(f"agents/name/{quote(name, safe='')}")) == agent
    assert refusal_of(api("bob").get(f"agents/name/{quote(name + 'x', safe='')}"))[:2] == MISSING


def test_the_owner_header_names_the_org_and_hides_what_is_not_ones_own_G3(api, write, second_org, who):
    here = write("alice")
    there = write("alice", headers={"X-Roboto-Org-Id": second_org.org_id})

    def named(person, owner=None, org=None):
        headers = {"X-Roboto-Resource-Owner-Id": owner, "X-Roboto-Org-Id": org}
        sent = {name: value for name, value in headers.items() if value}
        return api(person).get("agents/name/greeter", **sent)

    assert data_of(named("alice")) == data_of(named("alice", who.acme.org_id)) == here
    assert data_of(named("alice", second_org.org_id)) == there
    assert data_of(named("alice", org=second_org.org_id)) == there
    assert data_of(named("alice", second_org.org_id, who.acme.org_id)) == there
    for name in ("eve", "admin"):
        assert refusal_of(named(name, who.acme.org_id))[:2] == MISSING
        assert refusal_of(named(name, "og_nowhere"))[:2] == MISSING
    assert refusal_of(named("bob", second_org.org_id))[:2] == MISSING


def test_a_taken_name_is_a_conflict_on_creation_and_on_renaming_G1_G5(api, write, second_org):
    write("alice")
    other = write("bob", "other")
    write("eve")
    write("alice", headers={"X-Roboto-Org-Id": second_org.org_id})
    before = stored()
    body = {"name": "greeter", "request_template": HELLO, "variables": [{"name": "who"}]}
    refusals = [api("bob").post("agents", body), api("bob").put(f"agents/{other['agent_id']}", {"name": "greeter"})]
    for status, code, said in map(refusal_of, refusals):
        assert (status, code) == TAKEN
        assert said.startswith("name: ")
    assert stored() == before


# G4


def test_the_list_is_the_orgs_newest_first_and_its_pages_follow_one_another_G4(api, write, second_org):
    made = [write("alice", f"a{number}") for number in range(5)]
    write("alice", "elsewhere", headers={"X-Roboto-Org-Id": second_org.org_id})
    write("eve", "hers")
    page = data_of(api("bob").get("agents"))
    assert set(page) == shapes.PAGE
    assert page == {"items": made[::-1], "next_token": None}
    seen, token = [], ""
    while token is not None:
        page = data_of(api("bob").get(f"agents?limit=2{token}"))
        seen += [agent["name"] for agent in page["items"]]
        write("alice", f"new{len(seen)}")
        token = f"&page_token={page['next_token']}" if page["next_token"] else None
    assert seen == ["a4", "a3", "a2", "a1", "a0"]
    elsewhere = data_of(api("alice").get("agents", **{"X-Roboto-Org-Id": second_org.org_id}))
    assert [agent["name"] for agent in elsewhere["items"]] == ["elsewhere"]
    for query in ("limit=0", "limit=x", "page_token=zz"):
        status, code, said = refusal_of(api("bob").get(f"agents?{query}"))
        assert (status, code) == INVALID
        assert said.startswith(query.partition("=")[0])


def test_more_agents_need_no_more_queries_G4(api, write, django_assert_num_queries):
    write("alice")
    api("alice").get("agents")
    with CaptureQueriesContext(connection) as asked:
        data_of(api("alice").get("agents"))
    count = len(asked)
    for number in range(5):
        write(("alice", "bob")[number % 2], f"a{number}")
    with django_assert_num_queries(count):
        assert len(data_of(api("alice").get("agents"))["items"]) == 6


# G5, G6


def test_absent_leaves_null_clears_the_description_and_nothing_else_may_be_null_G5(api, write):
    agent = write("alice", description="Old.")
    path = f"agents/{agent['agent_id']}"
    renamed = data_of(api("bob").put(path, {"name": "renamed", "unknown": 1}))
    assert renamed == {**agent, "name": "renamed", "modified": renamed["modified"], "modified_by": "bob@acme.test"}
    assert renamed["modified"] > agent["modified"]
    assert data_of(api("bob").put(path, {"description": None}))["description"] is None
    for field in ("name", "request_template", "variables"):
        assert refusal_of(api("bob").put(path, {field: None}))[2].startswith(f"{field}: ")
    assert data_of(api("alice").get(path))["name"] == "renamed"


def test_the_merged_result_is_checked_G5(api, write):
    agent = write("alice")
    path = f"agents/{agent['agent_id']}"
    before = stored()
    two = {"messages": [make.say("{{who}} {{what}}")]}
    assert refusal_of(api("alice").put(path, {"request_template": two}))[2].startswith("variables: the variable what")
    assert refusal_of(api("alice").put(path, {"variables": []}))[2].startswith("variables: the variable who")
    assert stored() == before
    both = data_of(api("alice").put(path, {"request_template": two, "variables": [{"name": "what"}, {"name": "who"}]}))
    assert [variable["name"] for variable in both["variables"]] == ["what", "who"]
    data_of(api("alice").put(path, {"request_template": {"messages": [make.say("{{what}}{{who}}")]}}))


def test_of_two_changes_at_once_the_second_is_checked_against_the_first_G5(write, who):
    """Each fits the agent as both read it; together they would make it unreadable."""
    agent, alice = write("alice"), who.alice.actor
    first, second = (agents.agent_for(alice, agent["agent_id"]) for _ in range(2))
    plain = {"messages": [make.say("Hello.")]}
    agents.update(alice, first, AgentPatch.model_validate({"request_template": plain, "variables": []}))
    with pytest.raises(InvalidRequest, match="who"):
        agents.update(alice, second, AgentPatch.model_validate({"variables": [{"name": "who"}]}))
    after = agents.update(alice, second, AgentPatch.model_validate({"description": "Late."}))
    assert (after.request_template, after.variables, after.description) == (plain, [], "Late.")


def test_deleting_keeps_the_threads_with_their_agents_id_and_frees_the_name_G6(api, write, launch):
    agent = write("alice")
    thread = data_of(launch("bob", agent, values={"who": "you"}))
    assert data_of(api("bob").request("DELETE", f"/v1/ai/agents/{agent['agent_id']}")) is None
    assert refusal_of(api("alice").get(f"agents/{agent['agent_id']}"))[:2] == MISSING
    assert data_of(api("bob").get(f"threads/{thread['thread_id']}"))["created_from_agent_id"] == agent["agent_id"]
    found = data_of(api("alice").post("threads/search", {"created_from_agent_id": agent["agent_id"]}))["items"]
    assert [each["thread_id"] for each in found] == [thread["thread_id"]]
    assert write("bob")["agent_id"] != agent["agent_id"]


def test_an_agent_that_is_deleted_meanwhile_does_not_come_back_G5_G6(api, write, who):
    agent = write("alice")
    late = agents.agent_for(who.alice.actor, agent["agent_id"])
    data_of(api("bob").request("DELETE", f"/v1/ai/agents/{agent['agent_id']}"))
    with pytest.raises(NotFound):
        agents.update(who.alice.actor, late, AgentPatch(name="again"))
    assert not Agent.objects.exists()


# G7


def test_a_launched_thread_names_its_agent_and_is_the_orgs_B158(api, write, launch, second_org):
    agent = write("alice", headers={"X-Roboto-Org-Id": second_org.org_id})
    record = data_of(launch("alice", agent, values={"who": "you"}))
    shapes.check_thread(record)
    assert shapes.texts(record) == ["Hello you."]
    assert (record["status"], record["title"]) == ("roboto_turn", "Hello you.")
    assert (record["created_from_agent_id"], record["created_from_trigger_id"]) == (agent["agent_id"], None)
    assert (record["org_id"], record["visibility"]) == (second_org.org_id, "org")
    assert (record["created_by"], record["goals"], record["origin"]) == ("alice@acme.test", [], None)
    make.run_turns()
    path = f"threads/{record['thread_id']}"
    delta = data_of(api("alice").get(f"{path}/delta?next_token={record['continuation_token']}"))
    assert (delta["status"], list(delta["messages_by_idx"])) == ("user_turn", ["1"])
    fork = data_of(api("alice").post(f"{path}/fork", {"message_sequence_num": 1}))
    assert fork["created_from_agent_id"] is None


def test_the_launcher_owns_the_thread_and_colleagues_read_it_B158(api, write, launch):
    agent = write("alice")
    record = data_of(launch("bob", agent, values={"who": "you"}))
    assert record["created_by"] == "bob@acme.test"
    path = f"threads/{record['thread_id']}"
    assert data_of(api("alice").get(path))["thread_id"] == record["thread_id"]
    make.run_turns()
    assert refusal_of(api("alice").post(f"{path}/messages", {"message": make.say("Hi")}))[0] == 403


@pytest.mark.parametrize("template", [{}, {"visibility": "private"}, {"visibility": "org"}])
def test_the_launchs_visibility_beats_the_templates_B159(write, launch, template):
    agent = write("alice", request_template={**HELLO, **template})
    for given, expected in (({}, "org"), ({"visibility": "private"}, "private"), ({"visibility": "org"}, "org")):
        assert data_of(launch("bob", agent, values={"who": "you"}, **given))["visibility"] == expected


def test_every_placeholder_is_filled_once_and_keys_are_left_alone_B158(api, write, launch):
    template = {
        "messages": [make.say("{{a}}, {{ a }} and {{b.c}}{{d}}"), make.say('[[call echo {"value": "{{a}}"}]]')],
        "client_context": {"misc_context": {"a": ["{{a}}"], "b.c": "{{b.c}}"}},
        "goals": [SUMMARY],
    }
    variables = [
        {"name": "a"},
        {"name": "b.c", "default": "two"},
        {"name": "d", "required": False, "default": ""},
        {"name": "ds", "type": "dataset_id"},
    ]
    agent = write("alice", request_template=template, variables=variables)
    record = data_of(launch("bob", agent, values={"a": r"{{d}} \1 ü", "ds": "ds_7"}))
    assert shapes.texts(record)[0] == r"{{d}} \1 ü, {{d}} \1 ü and two"
    [context] = [block["context"] for block in shapes.blocks(record, "client_context")]
    assert context["misc_context"] == {"a": [r"{{d}} \1 ü"], "b.c": "two"}
    assert record["goals"][0]["goal_data"]["dataset_id"] == "ds_7"
    kept = data_of(api("alice").get(f"agents/{agent['agent_id']}"))["request_template"]
    assert kept["messages"] == template["messages"]


def test_a_given_value_beats_the_default_and_an_empty_one_is_a_value_B160(write, launch):
    agent = write("alice", variables=[{"name": "who", "default": "nobody"}])
    assert shapes.texts(data_of(launch("bob", agent))) == ["Hello nobody."]
    assert shapes.texts(data_of(launch("bob", agent, values={"who": ""}))) == ["Hello ."]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "values.who"),
        ({"values": {}}, "values.who"),
        ({"values": {"who": "x", "what": "y"}}, "values.what"),
        ({"values": {"who": None}}, "values.who"),
        ({"values": {"who": 5}}, "values.who"),
        ({"values": []}, "values"),
        ({"values": {"who": "x"}, "visibility": "public"}, "visibility"),
        ({"values": {"who": "x"}, "analysis_scope": {"start_time": 2, "end_time": 1}}, "analysis_scope"),
        ({"values": {"who": " "}}, "request_template.messages.0.content.0"),
        ({"values": {"who": "no-such-model"}}, "model_profile"),
    ],
)
def test_missing_unknown_and_unfitting_values_are_refused_and_start_nothing_B160(write, launch, body, field):
    profile = "model_profile" if field == "model_profile" else "system_prompt"
    agent = write("alice", request_template={"messages": [make.say("{{who}}")], profile: "{{who}}"})
    before = stored()
    status, code, said = refusal_of(launch("bob", agent, **body))
    assert (status, code) == INVALID
    assert said.startswith(f"{field}: ") or said.startswith(f"{field}."), said
    assert stored() == before


@pytest.mark.parametrize(
    ("template", "given", "expected"),
    [
        (None, None, None),
        ({"start_time": 1, "end_time": 9}, None, {"start_time": 1, "end_time": 9}),
        ({"start_time": 1, "end_time": 9}, {"end_time": 5}, {"start_time": 1, "end_time": 5}),
        ({"start_time": 1}, {"start_time": 0, "end_time": 5}, {"start_time": 0, "end_time": 5}),
        ({"start_time": 1}, {}, {"start_time": 1, "end_time": None}),
        ({"start_time": 1}, {"start_time": None, "end_time": None}, {"start_time": 1, "end_time": None}),
        (None, {"end_time": 5}, {"start_time": None, "end_time": 5}),
    ],
)
def test_the_scope_is_merged_end_by_end_G7(write, launch, template, given, expected):
    agent = write("alice", request_template={**HELLO, "analysis_scope": template})
    record = data_of(launch("bob", agent, values={"who": "you"}, analysis_scope=given))
    [thread] = Thread.objects.all()
    assert thread.thread_id == record["thread_id"]
    assert thread.analysis_scope == expected


def test_a_merged_scope_that_ends_before_it_starts_is_refused_G7(write, launch):
    agent = write("alice", request_template={**HELLO, "analysis_scope": {"start_time": 7}})
    status, code, said = refusal_of(launch("bob", agent, values={"who": "you"}, analysis_scope={"end_time": 5}))
    assert (status, code) == INVALID
    assert "start_time" in said
    assert not Thread.objects.exists()


def test_everything_a_start_takes_comes_along_G7(api, write, launch):
    tool = make.client_tool("remember")
    template = {
        "messages": [make.say("[[call remember {}]] {{who}}")],
        "system_prompt": "Be kind to {{who}}.",
        "client_tools": [tool],
        "available_skills": [],
    }
    record = data_of(launch("bob", write("alice", request_template=template), values={"who": "you"}))
    [thread] = Thread.objects.all()
    assert (thread.system_prompt, thread.available_skills) == ("Be kind to you.", [])
    make.run_turns()
    assert data_of(api("bob").get(f"threads/{record['thread_id']}"))["status"] == "client_tool_turn"


def test_a_skill_of_the_template_has_to_be_one_that_the_launcher_sees_G7(api, write, launch):
    body = {"name": "mine", "description": "", "body": "Do it."}
    skill = data_of(api("alice").post("/v1/skills/create", body))
    template = {"invoke_skills": [{"skill_id": "{{skill}}"}]}
    agent = write("alice", request_template=template, variables=[{"name": "skill"}])
    values = {"skill": skill["skill_id"]}
    assert refusal_of(launch("bob", agent, values=values))[2].startswith("invoke_skills.0.skill_id: ")
    assert not Thread.objects.exists()
    record = data_of(launch("alice", agent, values=values))
    assert shapes.blocks(record, "tool_result")[0]["payload"]["body"] == "Do it."


def test_a_small_launch_does_not_grow_into_a_huge_request_G7(write, launch):
    agent = write("alice", request_template={"system_prompt": "{{who}}" * 1000, "messages": [make.say("Hi")]})
    status, code, said = refusal_of(launch("bob", agent, values={"who": "x" * (settings.BODY_BYTES // 1000 + 1)}))
    assert (status, code) == INVALID
    assert said.startswith("values: ")
    assert len(data_of(launch("bob", agent, values={"who": "x" * 100}))["messages"]) == 1
