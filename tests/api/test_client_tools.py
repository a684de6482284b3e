"""Tools of the client beside tools of the server: no name may mean both (B18, spec 3.6)."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests import make
from tests.conftest import data_of, refusal_of
from threads.models import ClientTool, Thread

CATALOGUE = "/v1/catalogue"
MINE, THEIRS = make.client_tool("mine"), make.client_tool("srv__look")


@pytest.fixture
def publish(api):
    """Publish `srv__look` in acme, with something that answers it."""

    def published():
        tool = {"name": "look", "description": "d", "input_schema": {"type": "object"}}
        data_of(api("alice").post(f"{CATALOGUE}/tools/import", {"dialect": "convilyn", "server": "srv", "tool": tool}))
        where = {"kind": "http", "url": "https://example.com/x"}
        data_of(api("alice").put(f"{CATALOGUE}/servers/srv/connection", where))

    return published


def refused(response):
    status, code, said = refusal_of(response)
    assert (status, code) == (400, "RobotoInvalidRequestException")
    assert said == "client_tools.1.name: the name srv__look is taken by a server tool"
    return True


def declared():
    return Thread.objects.count(), sorted(ClientTool.objects.values_list("name", flat=True))


def test_a_tool_of_the_org_lends_its_name_to_no_client_tool_at_start_send_and_results_B18(api, who, publish):
    publish()
    idle, waits = make.thread(who.alice), make.waiting(who.alice)
    before = declared()
    alice, body = api("alice"), {"client_tools": [MINE, THEIRS]}
    assert refused(alice.post("threads", {"messages": [make.say("Hi")], **body}))
    assert refused(alice.post(f"threads/{idle.thread_id}/messages", {"message": make.say("Hi"), **body}))
    assert refused(alice.post(f"threads/{waits.thread_id}/tool-results", {"tool_results": [], **body}))
    assert declared() == before
    data_of(alice.post("threads", {"messages": [make.say("Hi")], "client_tools": [MINE]}))
    data_of(api("eve").post("threads", {"messages": [make.say("Hi")], **body}))


@pytest.mark.parametrize("name", ["calculate", "heddle__calculate"])
def test_a_built_in_tool_lends_neither_of_its_names_B18(api, who, name):
    """A call by either of them is the server's."""
    before = declared()
    body = {"messages": [make.say("Hi")], "client_tools": [make.client_tool(name)]}
    status, _, said = refusal_of(api("alice").post("threads", body))
    assert (status, said) == (400, f"client_tools.0.name: the name {name} is taken by a server tool")
    assert declared() == before


def test_an_agent_whose_tool_bears_such_a_name_is_refused_at_its_launch_B18(api, publish):
    template = {"messages": [make.say("Hi")], "client_tools": [MINE, THEIRS]}
    agent = data_of(api("alice").post("agents", {"name": "a", "request_template": template}))["agent_id"]
    publish()
    assert refused(api("alice").post(f"agents/{agent}/launch", {}))


def test_in_a_world_the_names_of_its_tools_count_and_no_others_B18(api, publish):
    publish()
    alice = api("alice")
    worlds = [data_of(alice.post(f"{CATALOGUE}/worlds", {"mode": "stateful", "seed": 1, "tools": [name]}))["world_id"]
              for name in ("srv__look", "demo__counter")]  # fmt: skip
    body = {"messages": [make.say("Hi")], "client_tools": [MINE, THEIRS]}
    assert refused(alice.post("threads", {**body, "world_id": worlds[0]}))
    data_of(alice.post("threads", {**body, "world_id": worlds[1]}))


def test_a_name_that_the_client_had_first_stays_its_own_B48(api, who, publish):
    thread = make.thread(who.alice, client_tools=[THEIRS])
    publish()
    again = {"message": make.say("[[call srv__look {}]]"), "client_tools": [MINE, THEIRS]}
    data_of(api("alice").post(f"threads/{thread.thread_id}/messages", again))
    make.run_turns()
    assert make.fresh(thread).status == "client_tool_turn"


def test_who_brings_no_tools_is_asked_for_none(api, who, publish):
    publish()
    asked = []
    for more in ({}, {"client_tools": []}, {"client_tools": [MINE]}):
        with CaptureQueriesContext(connection) as captured:
            data_of(api("alice").post("threads", {"messages": [make.say("Hi")], **more}))
        asked.append(sum('FROM "catalogue_tool"' in each["sql"] for each in captured.captured_queries))
    assert asked == [0, 0, 1]
