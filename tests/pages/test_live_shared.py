"""What is drawn once for many readers of one thread, and what of one reader never reaches another (B146, B115)."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import permutations
from typing import Any

import pytest
from django.test import Client
from django.test.signals import template_rendered

from accounts.orgs import set_policy
from tests import make
from tests.pages.dom import Node, get, parsed
from tests.pages.lines import Browser, Line, Listen, on_page, path, shape
from tests.people import People
from threads import forks, sharing, titles
from threads.models import Message, Thread

AROUND = ("bar", "head", "map", "asked", "write")


def looks(node: Node) -> list[Any]:
    """An element and all in it, but for the secrets of its forms."""
    return [
        (each.tag, {name: value for name, value in each.attributes.items() if not is_secret(each, name)})
        for each in node.walk()
    ] + [node.words]


def is_secret(node: Node, name: str) -> bool:
    return name == "value" and node.get("name") == "csrfmiddlewaretoken"


def around_on_page(client: Client, thread: Thread) -> dict[str, list[Any]]:
    page = get(client, path(thread))
    return {name: looks(page.id(name)) for name in AROUND}


def around_by_line(line: Line) -> dict[str, list[Any]]:
    [head] = [told for told in line.news() if told.name == "head"]
    return {name: looks(parsed(head.data).id(name)) for name in AROUND}


def secret_of(line: Line) -> str:
    [head] = [told for told in line.news() if told.name == "head"]
    [secret] = {each["value"] for each in parsed(head.data).all("input", name="csrfmiddlewaretoken")}
    return secret


@contextmanager
def counting_drawings() -> Iterator[list[str]]:
    """The names of the templates that are drawn meanwhile."""
    drawn: list[str] = []

    def note(template: Any, **_: Any) -> None:
        drawn.append(template.name)

    template_rendered.connect(note)
    try:
        yield drawn
    finally:
        template_rendered.disconnect(note)


@pytest.mark.parametrize("order", list(permutations(("alice", "bob", "admin"))), ids="-".join)
def test_everybody_is_shown_what_their_own_page_shows_whoever_is_drawn_for_first(
    listen: Listen, browser_of: Browser, who: People, order: tuple[str, ...]
) -> None:
    """Rights, pins, ratings with their words, forks that only one may read, figures, and a tool that waits."""
    set_policy("acme", "members_may_fork", True)
    thread = make.thread(who.alice, "One", visibility="org")
    forks.fork(who.bob.actor, thread, 1)
    sharing.pin(who.alice.actor, thread, pinned=True)
    lines = {name: listen(name, thread, token="") for name in order}
    for name in order:
        assert around_by_line(lines[name]) == around_on_page(browser_of(name), thread)
    make.rating(who.bob, thread, 1, "negative", notes="Only Bob and admins read this")
    titles.retitle(who.alice.actor, make.fresh(thread), "Another name")
    for name in order:
        assert around_by_line(lines[name]) == around_on_page(browser_of(name), thread)
    thread = make.send(who.alice, thread, "[[call remember {}]]", client_tools=[make.client_tool()])
    lines = {name: listen(name, thread, token="") for name in order}
    for name in order:
        assert around_by_line(lines[name]) == around_on_page(browser_of(name), thread)
        assert shape(lines[name].held) == on_page(browser_of(name), thread)
    notes = {name: "Only Bob" in str(shape(lines[name].held)) for name in order}
    assert notes == {"alice": False, "bob": True, "admin": True}
    figures = {name: any(each.all(class_="msg-figures") for each in lines[name].held.values()) for name in order}
    assert figures == {"alice": True, "bob": False, "admin": True}


def test_who_sees_the_same_is_drawn_for_once(listen: Listen, browser_of: Browser, who: People) -> None:
    """A change costs ten readers one drawing together, and an admin, who sees more, another one."""
    thread = make.thread(who.alice, "One", visibility="org")
    lines = [listen("bob", thread, client=browser_of("bob")) for _ in range(10)]

    def told() -> list[int]:
        drawn.clear()
        for line in lines:
            line.news()
        return [drawn.count(f"threads/{name}.html") for name in ("_live_head", "_turn")]

    with counting_drawings() as drawn:
        told()
        titles.retitle(who.alice.actor, make.fresh(thread), "Another name")
        assert told() == [1, 0]
        make.send(who.alice, thread, "Two")
        assert told() == [1, 2]
        lines.append(listen("admin", thread))
        told()
        titles.retitle(who.alice.actor, make.fresh(thread), "A third one")
        assert told() == [2, 0]


def test_readers_in_other_zones_get_their_own_clock_and_cost_a_drawing_a_zone(
    listen: Listen, browser_of: Browser, who: People
) -> None:
    """Eleven readers in two zones: each line shows what its own page shows, days included."""
    thread = make.thread(who.alice, "One", visibility="org")
    Message.objects.filter(thread=thread).update(created=datetime(2020, 3, 5, 23, 30, tzinfo=UTC))
    berlin = browser_of("bob")
    berlin.cookies["tz"] = "Europe/Berlin"
    clients = [browser_of("bob")] * 5 + [berlin] * 6
    with counting_drawings() as drawn:
        lines = [listen("bob", thread, token="", client=client) for client in clients]
        for line, client in zip(lines, clients, strict=True):
            line.news()
            assert line.held[0].one("time").words == ("00:30" if client is berlin else "23:30")
        assert drawn.count("threads/_turn.html") == 4  # two articles, two zones
    for line, client in zip(lines, clients, strict=True):
        assert shape(line.held) == on_page(client, thread)
    make.send(who.alice, thread, "Two")
    for line, client in zip(lines, clients, strict=True):
        line.news()
        assert shape(line.held) == on_page(client, thread)
    assert {len(each.all("p", class_="day")) for each in lines[0].held.values()} == {0, 1}


def test_the_forms_of_a_line_carry_the_secret_of_their_own_session(listen: Listen, who: People) -> None:
    """What is shared is drawn without it: one reader's forms do not work with another one's session."""
    thread = make.thread(who.alice, "One")
    clients = [Client(enforce_csrf_checks=True) for _ in range(2)]
    for client in clients:
        client.force_login(who.alice.user)
        get(client, path(thread))  # where a browser gets the cookie
    own, other = (secret_of(listen("alice", thread, client=client)) for client in clients)
    sent = {"title": "By its own", "csrfmiddlewaretoken": own}
    assert clients[0].post(f"{path(thread)}title/", sent).status_code == 302
    assert clients[1].post(f"{path(thread)}title/", sent).status_code == 403
    sent["csrfmiddlewaretoken"] = other
    assert clients[0].post(f"{path(thread)}title/", sent).status_code == 403
    assert clients[1].post(f"{path(thread)}title/", sent).status_code == 302
