"""Agents through the SDK, which checks every agent it reads again."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from roboto.ai import client_tool
from roboto.ai.agent import Agent, TemplateVariable, TemplateVariableType, resolve_agent
from roboto.ai.agent_thread import AgentMessage, StartAgentThreadRequest, ThreadVisibility
from roboto.ai.agent_thread.record import AgentRole, AvailableSkillSpec, InvokeSkillSpec
from roboto.ai.core import AnalysisScope, ClientViewingContext
from roboto.ai.goals import CreateEventsGoal, DatasetSummaryAgentGoal, DatasetTriageGoal
from roboto.exceptions import (
    RobotoConflictException,
    RobotoInvalidRequestException,
    RobotoNotFoundException,
    RobotoUnauthorizedException,
)

from tests.sdk.callers import Caller, calls, held, roles, run, text_of

pytestmark = pytest.mark.live

HELLO = StartAgentThreadRequest(messages=[AgentMessage.text("Hello {{who}}.")])
WHO = [TemplateVariable(name="who")]


def write(
    author: Caller, name: str, template: StartAgentThreadRequest = HELLO, variables: Any = WHO, **more: Any
) -> Agent:
    return Agent.create(name, template, variables, roboto_client=author.client, **more)


def plain(template: StartAgentThreadRequest) -> dict[str, Any]:
    """A template as data, without the times and states of its messages, which are the server's to set."""
    data = template.model_dump(mode="json")
    for message in data["messages"]:
        del message["created"], message["status"]
    return data


def test_an_agent_from_its_creation_to_its_deletion(alice: Caller, bob: Caller, eve: Caller) -> None:
    """G1, G2, G3, G5, G6."""
    agent = write(alice, "whole life", description="Says hello.")
    assert agent.agent_id.startswith("agt_")
    assert (agent.org_id, agent.name, agent.description) == (alice.server.who["org_id"], "whole life", "Says hello.")
    assert (agent.created_by, agent.modified_by, agent.variables) == (alice.email, alice.email, WHO)
    assert plain(agent.request_template) == plain(HELLO)
    his = Agent.from_id(agent.agent_id, roboto_client=bob.client)
    assert his.to_dict() | {"request_template": 0} == agent.to_dict() | {"request_template": 0}
    with pytest.raises(RobotoNotFoundException):
        Agent.from_id(agent.agent_id, roboto_client=eve.client)

    assert his.update(description=None) is his
    assert (his.description, his.name, his.modified_by) == (None, "whole life", bob.email)
    with pytest.raises(RobotoInvalidRequestException, match="variables: the variable who"):
        his.update(variables=[])
    both = StartAgentThreadRequest(messages=[AgentMessage.text("{{greeting}} {{who}}")])
    his.update(name="renamed", request_template=both, variables=[*WHO, TemplateVariable(name="greeting")])
    assert plain(Agent.from_name("renamed", roboto_client=alice.client).request_template) == plain(both)

    agent.delete()
    for act in (agent.delete, agent.launch, lambda: his.update(name="back")):
        with pytest.raises(RobotoNotFoundException):
            act()
    with pytest.raises(RobotoNotFoundException):
        Agent.from_name("renamed", roboto_client=alice.client)


def test_everything_a_template_may_hold_comes_back_as_it_was_given(alice: Caller) -> None:
    """3.11: the SDK finds the placeholders where the server found them."""
    template = StartAgentThreadRequest(
        messages=[
            AgentMessage.text("Seeded by {{a.b.c}}."),
            AgentMessage.text("Once {{ spaced }} and {{spaced}} again.", role=AgentRole.ASSISTANT),
            AgentMessage.text("Go."),
        ],
        client_context=ClientViewingContext(
            dataset_ids=["{{ds}}"], misc_context={"deep": [{"null": None, "x": "{{x}}"}]}
        ),
        system_prompt="{{prompt}}",
        model_profile="simulated",
        analysis_scope=AnalysisScope(start_time=0),
        goals=[
            DatasetSummaryAgentGoal(dataset_id="{{ds}}", summary_format_spec_prompt="{{x}}"),
            DatasetTriageGoal(dataset_id="{{ds}}", label_vocabulary={"crash": "{{x}}"}),
            CreateEventsGoal(dataset_id="{{ds}}", event_vocabulary={"Brake!": "Stopped."}),
        ],
        invoke_skills=[InvokeSkillSpec(skill_id="{{skill}}")],
        available_skills=[AvailableSkillSpec(skill_id="{{skill}}", version=2)],
        visibility=ThreadVisibility.ORG,
    )
    variables = [
        TemplateVariable(name="a.b.c", description="Dotted.", required=False, default=""),
        TemplateVariable(name="spaced", default="between"),
        TemplateVariable(name="ds", type=TemplateVariableType.DATASET_ID),
        TemplateVariable(name="x", type=TemplateVariableType.COLLECTION_ID, collection_content_type="file"),
        TemplateVariable(name="prompt", type=TemplateVariableType.DEVICE_ID),
        TemplateVariable(name="skill"),
    ]
    made = write(alice, "everything", template, variables)
    read = Agent.from_id(made.agent_id, roboto_client=alice.client)
    for agent in (made, read):
        assert plain(agent.request_template) == plain(template)
        assert agent.variables == variables


def test_any_name_is_found_percent_encoded(alice: Caller, bob: Caller) -> None:
    """G3: names with slashes and the like on the way through a real server."""
    names = [
        "a/b",
        "/lead",
        "trail/",
        "a//b",
        "x/launch",
        "100%",
        "50%2F50",
        "a b+c",
        "Prüfung 🧵",
        "?q#f&x=y",
        "..",
        ".",
    ]
    for name in names:
        made = write(alice, name)
        assert Agent.from_name(name, roboto_client=bob.client).agent_id == made.agent_id, name
    with pytest.raises(RobotoNotFoundException):
        Agent.from_name("a/b/c", roboto_client=bob.client)


def test_the_owner_argument_names_the_org(alice: Caller, bob: Caller, eve: Caller) -> None:
    """G3: the same name in two orgs; nothing is found in a foreign one."""
    orgs = alice.server.who["orgs"]
    here = write(alice, "in two places")
    there = write(alice, "in two places", caller_org_id=orgs["generous"])

    def named(caller: Caller, **owner: str) -> str:
        return Agent.from_name("in two places", roboto_client=caller.client, **owner).agent_id

    assert named(bob) == named(bob, owner_org_id=orgs["acme"]) == here.agent_id
    assert named(bob, owner_org_id=orgs["generous"]) == there.agent_id
    for org in (orgs["acme"], "og_nowhere"):
        with pytest.raises(RobotoNotFoundException):
            named(eve, owner_org_id=org)
    with pytest.raises(RobotoUnauthorizedException):
        write(eve, "not here", caller_org_id=orgs["acme"])


def test_all_of_an_org_newest_first_over_several_pages(alice: Caller, eve: Caller) -> None:
    """G4."""
    for number in range(53):
        write(eve, f"listed {number}")
    names = [agent.name for agent in Agent.for_org(roboto_client=eve.client)]
    found = [name for name in names if name.startswith("listed ")]
    assert found == [f"listed {number}" for number in range(52, -1, -1)]
    org_id = eve.server.who["orgs"]["globex"]
    with pytest.raises(RobotoUnauthorizedException):
        list(Agent.for_org(org_id, roboto_client=alice.client))


def test_an_agent_that_the_sdk_cannot_read_costs_it_no_list(eve: Caller) -> None:
    """G4: what the SDK refuses to read is left out for it, and only for it; for an unknown version too (1.6)."""
    go = {"messages": [{"role": "user", "content": [{"text": "Go."}]}]}
    goal = {"goal_type": "checklist", "items": {"lights": "They are off."}}
    worlds = [{"name": "w"}]

    def tool(name: str) -> dict[str, Any]:
        return {"client_tools": [{"name": name, "description": "Remember.", "input_schema": {"type": "object"}}]}

    unreadable: dict[str, tuple[dict[str, Any], list[dict[str, str]]]] = {
        "goal of our own": ({"goals": [goal]}, []),
        **{
            f"tool {name}": (tool(name), [])
            for name in ("remember", "client_Upper", "client_1", "client_", "client_aB")
        },
        "any world": ({"world_id": "{{w}}"}, worlds),
    }
    readable = {
        "tool client_a1_": (tool("client_a1_"), []),
        "any world that is told": ({"world_id": "{{w}}", "system_prompt": "You are in {{w}}."}, worlds),
    }
    for name, (more, variables) in {**unreadable, **readable}.items():
        body = {"name": name, "request_template": {**go, **more}, "variables": variables}
        assert eve.post("agents", body)[0] == 200, name
    names = {agent.name for agent in Agent.for_org(roboto_client=eve.client)}
    assert readable.keys() <= names
    assert not unreadable.keys() & names
    unknown = {"X-Roboto-Api-Version": "2027-01-01"}
    assert not unreadable.keys() & {item["name"] for item in eve.get("agents?limit=100", **unknown)["items"]}
    assert unreadable.keys() <= {item["name"] for item in eve.get("agents?limit=100")["items"]}


def test_a_taken_name_is_a_conflict(alice: Caller, bob: Caller) -> None:
    """G1, G5: of many at the same time one gets it."""
    other = write(alice, "other name")

    def create(number: int) -> int:
        body = {"name": "wanted", "request_template": {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}}
        return (alice, bob)[number % 2].post("agents", body)[0]

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(create, range(8))) == [200, *[409] * 7]
    with pytest.raises(RobotoConflictException):
        other.update(name="wanted")
    with pytest.raises(RobotoConflictException):
        write(bob, "wanted")


def test_changes_at_once_never_leave_an_agent_that_cannot_be_read(alice: Caller) -> None:
    """G5: half of them change the template with its variables, half only one of the two."""
    agent = write(alice, "busy")
    texts = [{"messages": [{"role": "user", "content": [{"text": text}]}]} for text in ("Hi {{who}}", "Hi {{you}}")]
    who, you = [{"name": "who"}], [{"name": "you"}]
    bodies = [
        {"request_template": texts[0], "variables": who},
        {"request_template": texts[1], "variables": you},
        {"variables": who},
        {"variables": you},
        {"request_template": texts[0]},
        {"request_template": texts[1]},
    ] * 3
    with ThreadPoolExecutor(6) as pool:
        statuses = list(pool.map(lambda body: alice.fetch(f"agents/{agent.agent_id}", body, "PUT")[0], bodies))
    assert set(statuses) <= {200, 400}
    assert Agent.from_id(agent.agent_id, roboto_client=alice.client).variables[0].name in ("who", "you")


def test_a_launched_thread_runs_like_a_started_one(alice: Caller, bob: Caller, eve: Caller) -> None:
    """B158: named, the org's, visible to it, and driven by the SDK to its end."""
    agent = write(alice, "launched", StartAgentThreadRequest(
        messages=[AgentMessage.text(f"Hello {{{{who}}}}. {calls(('echo', {'value': '{{ who }}'}))}")],
        goals=[DatasetSummaryAgentGoal(dataset_id="{{ds}}")],
    ), [*WHO, TemplateVariable(name="ds", default="ds_default")])  # fmt: skip
    resolved = resolve_agent(agent.record, {"who": "you"})
    thread = Agent.from_name("launched", roboto_client=bob.client).launch({"who": "you"})
    assert [text_of(message) for message in thread.messages] == [text_of(resolved.messages[0])]
    assert thread.visibility == ThreadVisibility.ORG
    run(thread)
    assert roles(thread)[:3] == ["user", "assistant", "roboto"]
    assert thread.goals[0].status == "achieved"
    assert thread.goals[0].to_agent_goal() == resolved.goals[0]
    assert held(thread) == held(alice.thread(thread))
    record = alice.record(thread)
    assert (record["created_by"], record["org_id"]) == (bob.email, agent.org_id)
    assert record["created_from_agent_id"] == agent.agent_id
    assert record["messages"][2]["content"][0]["payload"]["value"] == "you"
    with pytest.raises(RobotoUnauthorizedException):
        eve.thread(thread)
    run(thread.send_text("And on it goes."))
    assert bob.record(thread.fork(0))["created_from_agent_id"] is None
    agent.delete()
    assert bob.record(thread)["created_from_agent_id"] == agent.agent_id


def test_the_launchs_visibility_and_scope_beat_the_templates(alice: Caller) -> None:
    """B159, G7: of the scope each end that the launch sets."""
    template = StartAgentThreadRequest(
        messages=[AgentMessage.text(calls(("echo", {"value": 1})))],
        analysis_scope=AnalysisScope(start_time=1, end_time=9),
        visibility=ThreadVisibility.ORG,
    )
    agent = write(alice, "scoped", template, [])
    thread = run(agent.launch(visibility=ThreadVisibility.PRIVATE, analysis_scope=AnalysisScope(end_time=5)))
    assert thread.visibility == ThreadVisibility.PRIVATE
    payload = alice.record(thread)["messages"][2]["content"][0]["payload"]
    assert payload["analysis_scope"] == {"start_time": 1, "end_time": 5}
    assert agent.launch().visibility == ThreadVisibility.ORG


def test_missing_unknown_and_unfitting_values_are_refused(alice: Caller) -> None:
    """B160."""
    agent = write(alice, "choosy", StartAgentThreadRequest(messages=[AgentMessage.text("{{who}}")]))
    before = [row["thread_id"] for row in alice.get("threads?limit=200")["items"]]
    for values, named in (({}, "who"), ({"who": "you", "what": "x"}, "what"), ({"who": "  "}, "messages")):
        with pytest.raises(RobotoInvalidRequestException, match=named):
            agent.launch(values)
    assert [row["thread_id"] for row in alice.get("threads?limit=200")["items"]] == before
    agent.update(variables=[TemplateVariable(name="who", required=False, default="nobody")])
    assert text_of(agent.launch().messages[0]) == "nobody"


def test_a_template_with_a_clients_tool_is_driven_by_whoever_registers_it(alice: Caller) -> None:
    """G7 with 4.5: the template declares the tool, the launcher answers it."""

    @client_tool
    def client_lookup(key: str) -> dict[str, str]:
        """Look something up."""
        return {"found": key.upper()}

    template = StartAgentThreadRequest(
        messages=[AgentMessage.text(calls(("client_lookup", {"key": "{{key}}"})))], client_tools=[client_lookup.spec]
    )
    agent = write(alice, "with a tool", template, [TemplateVariable(name="key")])
    assert agent.request_template.client_tools == [client_lookup.spec]
    thread = agent.launch({"key": "warp"})
    run(thread.register_client_tool(client_lookup))
    assert '"found": "WARP"' in json.dumps(alice.record(thread)["messages"][2])
