"""What the lists of skills and of agents have in common: pages, and a number of queries that no row adds to."""

from collections.abc import Callable

import pytest
from django.test import Client

from catalogue import skills
from catalogue.wire_skills import SkillIn, VersionIn
from core import bodies
from tests import make
from tests.pages.dom import get, names, queries
from tests.people import People, Person
from threads import agents
from threads.wire_agents import AgentIn

Browser = Callable[[str | None], Client]


def a_skill(person: Person, name: str) -> None:
    """In two versions, of which the list shows one."""
    body = SkillIn(name=name, accessibility="org", description="What for.", body="How.")
    held = skills.create(person.actor, next(iter(person.actor.orgs.values())), body)
    skills.add_version(person.actor, held, VersionIn(description="Anew.", body="Anew."))


def an_agent(person: Person, name: str) -> None:
    body = {"name": name, "request_template": {"messages": [make.say("Go.")]}}
    agents.create(person.actor, next(iter(person.actor.orgs.values())), bodies.parse(AgentIn, body))


lists = pytest.mark.parametrize(("place", "write"), [("/skills/", a_skill), ("/agents/", an_agent)])


@lists
def test_paging_shows_everything_once(
    browser_of: Browser, who: People, place: str, write: Callable[[Person, str], None]
) -> None:
    for number in range(55):
        write(who.alice, f"s{number}")
    client = browser_of("alice")
    page = get(client, f"{place}?q=s")
    seen = names(page) + names(get(client, place + page.one("a", rel="next")["href"]))
    assert seen == [f"s{number}" for number in reversed(range(55))]
    get(client, f"{place}?after=made-up", 400)


@lists
def test_ten_more_rows_cost_no_more_queries(
    browser_of: Browser, who: People, place: str, write: Callable[[Person, str], None]
) -> None:
    client = browser_of("alice")
    write(who.alice, "s0")
    before = queries(client, place)
    for number in range(1, 11):
        write(who.alice if number % 2 else who.bob, f"s{number}")
    assert queries(client, place) == before
