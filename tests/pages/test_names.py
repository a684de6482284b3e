"""People are called by their names on every page, and agents by theirs; addresses are for the wire."""

import pytest

from accounts.models import User
from core import bodies
from tests import make
from tests.pages.dom import get
from tests.people import People
from threads import agents
from threads.wire_agents import AgentIn, LaunchIn


@pytest.fixture
def held(who: People):
    User.objects.filter(pk=who.alice.user.pk).update(name="Alice Anders")
    body = {"name": "Refund clerk", "request_template": {"messages": [make.say("Hi")]}}
    return agents.create(who.alice.actor, who.acme.pk, bodies.parse(AgentIn, body))


@pytest.fixture
def launched(who: People, held):
    return agents.launch(who.alice.actor, held, LaunchIn(visibility="org")).thread_id


def test_lists_and_pages_name_people(browser_of, api, who, held):
    skill = {"name": "ours", "description": "d", "body": "b", "accessibility": "org"}
    made = api("alice").post("/v1/skills/create", skill).json()["data"]["skill_id"]
    world = api("alice").post("/v1/catalogue/worlds", {}).json()["data"]["world_id"]
    client = browser_of("bob")
    for path in (
        "/agents/",
        f"/agents/{held.agent_id}/",
        "/skills/",
        f"/skills/{made}/",
        "/catalogue/worlds/",
        f"/catalogue/worlds/{world}/",
    ):
        words = get(client, path).one("main").words
        assert "Alice Anders" in words, path
        assert "alice@acme.test" not in words, path


def test_who_has_no_name_is_called_by_the_beginning_of_the_address(browser_of, who, held):
    User.objects.filter(pk=who.alice.user.pk).update(name="")
    assert "alice" in get(browser_of("bob"), "/agents/").one("main").words


def test_a_thread_names_the_agent_that_it_was_launched_from(browser_of, held, launched):
    head = get(browser_of("bob"), f"/threads/{launched}/").id("head")
    [link] = head.all("a", href=f"/agents/{held.agent_id}/")
    assert link.words == "Refund clerk"


def test_an_agent_that_is_gone_or_not_for_the_reader_is_no_link(browser_of, who, held, launched):
    for name in ("admin", "bob"):
        if name == "bob":
            agents.delete(who.alice.actor, held)
        head = get(browser_of(name), f"/threads/{launched}/").id("head")
        assert "an agent you cannot open" in head.words
        assert head.none("a", href=f"/agents/{held.agent_id}/") and "Refund clerk" not in head.words
