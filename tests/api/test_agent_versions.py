"""The versions of an agent: what each change keeps, going back, and what was launched from which."""

import json
from datetime import UTC, datetime
from importlib import import_module
from itertools import pairwise
from urllib.parse import quote

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from tests import make
from tests.conftest import data_of, refusal_of
from threads import agent_versions, agents
from threads.models import Agent, AgentVersion, Thread
from threads.wire_agents import AgentIn, AgentPatch

VERSION = {
    *("agent_id", "version", "name", "description", "request_template", "variables", "created", "created_by"),
}
HELLO = {"messages": [make.say("Hello {{who}}.")]}
PLAIN = {"messages": [make.say("Hello.")]}


@pytest.fixture
def agent(api):
    """An agent of alice's org."""
    body = {"name": "greeter", "description": "Old.", "request_template": HELLO, "variables": [{"name": "who"}]}
    return data_of(api("alice").post("agents", body))


@pytest.fixture
def path(agent):
    """Its place."""
    return f"agents/{agent['agent_id']}"


def numbers(api, path, **query):
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    return [each["version"] for each in data_of(api("alice").get(f"{path}/versions?{asked}"))["items"]]


def test_a_new_agent_is_its_first_version(api, agent, path):
    [version] = data_of(api("alice").get(f"{path}/versions"))["items"]
    assert set(version) == VERSION and version["version"] == 1
    same = VERSION - {"version", "created", "created_by"}
    assert {name: version[name] for name in same} == {name: agent[name] for name in same}
    assert (version["created"], version["created_by"]) == (agent["modified"], "alice@acme.test")
    assert data_of(api("bob").get(f"{path}/versions/1")) == version


def test_an_agent_from_before_versions_were_kept_has_what_it_is_as_its_first(api, agent, path):
    AgentVersion.objects.all().delete()
    Agent.objects.update(modified=datetime(2026, 11, 1, tzinfo=UTC))
    with connection.cursor() as cursor:
        cursor.execute(import_module("threads.migrations.0017_agent_versions").FIRST_VERSIONS)
    [version] = data_of(api("alice").get(f"{path}/versions"))["items"]
    kept = ("name", "description", "request_template", "variables")
    assert {name: version[name] for name in kept} == {name: agent[name] for name in kept}
    assert (version["version"], version["created"], version["created_by"]) == (
        *(1, "2026-11-01T00:00:00Z", "alice@acme.test"),
    )
    data_of(api("bob").put(path, {"description": "New."}))
    assert numbers(api, path) == [2, 1]


def test_each_change_makes_a_version_and_none_is_ever_another(api, agent, path):
    data_of(api("bob").put(path, {"description": "New."}))
    before = data_of(api("alice").get(f"{path}/versions/2"))
    data_of(api("alice").put(path, {"request_template": PLAIN, "variables": []}))
    assert numbers(api, path) == [3, 2, 1]
    assert data_of(api("alice").get(f"{path}/versions/2")) == before
    assert (before["description"], before["created_by"]) == ("New.", "bob@acme.test")
    assert before["request_template"] == HELLO
    assert data_of(api("alice").get(f"{path}/versions/1"))["description"] == "Old."


@pytest.mark.parametrize("body", [{}, {"name": "greeter"}, {"request_template": HELLO, "description": "Old."}])
def test_what_changes_nothing_makes_none(api, agent, path, body):
    """As a client that repeats a request after a timeout."""
    assert data_of(api("bob").put(path, body)) == agent
    assert numbers(api, path) == [1]


@pytest.mark.parametrize(
    ("schema", "other"), [({"const": 1}, {"const": True}), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ({"n": 1}, {"n": 1.0})]
)
def test_what_python_holds_for_the_same_is_a_change(api, agent, path, schema, other):
    def template(each):
        tool = {"name": "client_ask", "description": "d", "input_schema": {"type": "object", "x": each}}
        return {**HELLO, "client_tools": [tool]}

    data_of(api("alice").put(path, {"request_template": template(schema)}))
    changed = data_of(api("alice").put(path, {"request_template": template(other)}))
    assert json.dumps(changed["request_template"]["client_tools"][0]["input_schema"]["x"]) == json.dumps(other)
    assert numbers(api, path) == [3, 2, 1]


def test_what_may_not_be_any_more_cannot_come_back(api, agent, path):
    """A version may be older than a limit."""
    data_of(api("alice").put(path, {"description": "New."}))
    AgentVersion.objects.filter(version=1).update(description="x" * 20_001)
    status, _, sentence = refusal_of(api("alice").post(f"{path}/versions/1/restore"))
    assert status == 400 and sentence.startswith("description: ")


def test_what_is_refused_makes_none(api, agent, path):
    data_of(api("alice").post("agents", {"name": "taken", "request_template": PLAIN}))
    assert refusal_of(api("alice").put(path, {"name": "taken"}))[0] == 409
    assert refusal_of(api("alice").put(path, {"variables": []}))[0] == 400
    assert numbers(api, path) == [1]


def test_going_back_is_a_version_of_its_own(api, agent, path):
    data_of(api("bob").put(path, {"description": "New.", "request_template": PLAIN, "variables": []}))
    back = data_of(api("bob").post(f"{path}/versions/1/restore"))
    assert back == {**agent, "modified": back["modified"], "modified_by": "bob@acme.test"}
    assert numbers(api, path) == [3, 2, 1]
    assert data_of(api("bob").post(f"{path}/versions/3/restore")) == back
    assert data_of(api("bob").post(f"{path}/versions/1/restore")) == back
    assert numbers(api, path) == [3, 2, 1]


def test_nobody_goes_back_over_a_change_they_have_not_seen(api, path):
    seen = api("alice").get(path)["ETag"]
    data_of(api("bob").put(path, {"description": "New."}))
    assert refusal_of(api("alice").post(f"{path}/versions/1/restore", **{"If-Match": seen}))[0] == 412
    assert numbers(api, path) == [2, 1]
    now = api("alice").get(path)["ETag"]
    again = api("alice").post(f"{path}/versions/1/restore", **{"If-Match": now})
    assert data_of(again)["description"] == "Old." and again["ETag"] != now


def test_a_name_that_another_agent_has_by_now_cannot_come_back(api, path):
    data_of(api("alice").put(path, {"name": "renamed"}))
    data_of(api("alice").post("agents", {"name": "greeter", "request_template": PLAIN}))
    assert refusal_of(api("alice").post(f"{path}/versions/1/restore")) == (
        *(409, "RobotoConflictException"),
        "name: greeter is taken",
    )
    assert data_of(api("alice").get(path))["name"] == "renamed"


@pytest.mark.parametrize("number", ["0", "2", "x", "-1", "9" * 30, "1.0", "\u0661"])
@pytest.mark.parametrize(("method", "tail"), [("get", ""), ("post", "/restore")])
def test_a_version_that_there_is_not_is_not_found(api, path, number, method, tail):
    assert refusal_of(getattr(api("alice"), method)(f"{path}/versions/{number}{tail}"))[0] == 404


def test_a_restore_takes_nothing(api, path):
    assert refusal_of(api("alice").post(f"{path}/versions/1/restore", {"name": "x"}))[0] == 400


def test_versions_are_read_in_pages(api, path):
    for at in range(4):
        data_of(api("alice").put(path, {"description": str(at)}))
    first = data_of(api("alice").get(f"{path}/versions?limit=2"))
    assert [each["version"] for each in first["items"]] == [5, 4]
    data_of(api("alice").put(path, {"description": "meanwhile"}))
    assert numbers(api, path, limit=2, page_token=first["next_token"]) == [3, 2]
    other = data_of(api("alice").post("agents", {"name": "other", "request_template": PLAIN}))
    elsewhere = f"agents/{other['agent_id']}/versions?page_token={first['next_token']}"
    assert refusal_of(api("alice").get(elsewhere))[2] == "page_token: belongs to another query"


def test_a_page_of_versions_is_one_query_more_however_many(api, path):
    def asked():
        with CaptureQueriesContext(connection) as captured:
            data_of(api("alice").get(f"{path}/versions"))
        return len(captured)

    asked()
    few = asked()
    for at in range(10):
        data_of(api("alice").put(path, {"description": str(at)}))
    assert asked() == few


def test_a_deleted_agent_takes_its_versions_along(api, path):
    data_of(api("alice").put(path, {"description": "New."}))
    data_of(api("alice").request("DELETE", path))
    assert not AgentVersion.objects.exists()
    assert refusal_of(api("alice").get(f"{path}/versions"))[0] == 404


def launched(api, path, person="alice"):
    return data_of(api(person).post(f"{path}/launch", {"values": {"who": "you"}}))["thread_id"]


def test_a_thread_knows_the_version_that_it_was_launched_from(api, path):
    first = launched(api, path)
    data_of(api("bob").put(path, {"description": "New."}))
    second = launched(api, path)
    versions = [data_of(api("bob").get(f"threads/{thread}/agent")) for thread in (first, second)]
    assert [(each["version"], each["description"]) for each in versions] == [(1, "Old."), (2, "New.")]
    make.run_turns()
    fork = data_of(api("alice").post(f"threads/{first}/fork", {"message_sequence_num": 1}))["thread_id"]
    started = data_of(api("alice").post("threads", {"messages": [make.say("Hi")]}))["thread_id"]
    for thread in (fork, started):
        assert refusal_of(api("alice").get(f"threads/{thread}/agent"))[0] == 404
    assert refusal_of(api("admin").get(f"threads/{first}/agent"))[0] == 404, "who cannot open the agent"
    Thread.objects.update(created_from_agent_version=None)  # as before versions were kept
    assert refusal_of(api("alice").get(f"threads/{first}/agent"))[0] == 404
    data_of(api("alice").request("DELETE", path))
    assert refusal_of(api("alice").get(f"threads/{second}/agent"))[0] == 404


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("agent:greeter", [1, 2]),
        ("agent:GREETER@1", [1]),
        ("agent:{id}@2", [2]),
        ("agent:greeter@3", []),
        ("agent:greeter@", []),
        ("agent:@1", []),
        ("agent:greeter@01", [1]),
        (f"agent:greeter@{'9' * 40}", []),
        ("agent:greeter@\u0661", []),
        ("(agent:{id}@1 OR agent:{id}@2)", [1, 2]),
        ("-agent:greeter@1", [2]),
    ],
)
def test_threads_and_reports_are_found_by_the_version(api, browser_of, agent, path, query, found):
    threads = []
    for description in ("One.", "Two."):
        threads.append(launched(api, path))
        data_of(api("alice").put(path, {"description": description}))
    make.run_turns()
    for thread in threads:
        data_of(api("alice").post(f"threads/{thread}/messages/1/feedback", {"sentiment": "negative"}))
    asked = query.replace("{id}", agent["agent_id"])
    page = browser_of("alice").get("/threads/", {"q": asked}).content.decode()
    assert [at for at, thread in enumerate(threads, 1) if f"/threads/{thread}/" in page] == found
    reports = data_of(api("admin").get(f"admin/feedback?q={quote(asked)}"))["items"]
    assert sorted(threads.index(each["thread_id"]) + 1 for each in reports) == found


def test_an_agent_whose_name_looks_like_a_version_is_found_as_well(api, agent, path):
    odd = data_of(api("alice").post("agents", {"name": "greeter@1", "request_template": PLAIN}))
    ours, theirs = launched(api, path), data_of(api("alice").post(f"agents/{odd['agent_id']}/launch", {}))["thread_id"]
    make.run_turns()
    for thread in (ours, theirs):
        data_of(api("alice").post(f"threads/{thread}/messages/1/feedback", {"sentiment": "negative"}))
    reports = data_of(api("admin").get("admin/feedback?q=agent:greeter@1"))["items"]
    assert {each["thread_id"] for each in reports} == {ours, theirs}


TEXTS = some.sampled_from(["", "a", "b", "a\nb"])
CHANGES = some.lists(
    some.one_of(
        some.builds(lambda text: ("change", text), TEXTS), some.builds(lambda at: ("back", at), some.integers(0, 20))
    ),
    max_size=8,
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=CHANGES)
def test_the_latest_version_is_the_agent_and_no_two_in_a_row_are_the_same(who, steps):
    Agent.objects.all().delete()
    agent = agents.create(who.alice.actor, who.acme.pk, AgentIn(name="law", request_template=PLAIN))
    for verb, what in steps:
        if verb == "change":
            agent = agents.update(who.alice.actor, agent, AgentPatch(description=what))
        else:
            agent = agent_versions.restore(who.alice.actor, agent, what % agent.version + 1)
    kept = list(AgentVersion.objects.filter(agent=agent).order_by("version"))
    assert [each.version for each in kept] == list(range(1, agent.version + 1))
    assert all(getattr(kept[-1], name) == getattr(agent, name) for name in agents.CHANGED)
    assert all(one.description != after.description for one, after in pairwise(kept))
