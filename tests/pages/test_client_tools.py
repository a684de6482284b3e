"""Answering a client tool by hand on the thread's page (T5, spec 3.6, 4.5)."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from core import bodies
from tests import make
from tests.pages.dom import Node, dom, get, queries, submit
from tests.people import People
from threads import turns
from threads.models import Block, Thread
from threads.wire import ToolResultsIn

Browser = Callable[[str | None], Client]
HOSTILE = "<script>alert(1)</script> <img src=x onerror=alert(2)>"
TWO = '[[call remember {"key": 1, "note": "a long one"}]] [[call recall {}]]'


@pytest.fixture
def thread(who: People) -> Thread:
    """A shared thread of alice in which two client uses wait."""
    return make.waiting(who.alice, TWO, make.client_tool(), make.client_tool("recall"), visibility="org")


def path(thread: Thread, place: str = "") -> str:
    return f"/threads/{thread.thread_id}/{place}"


def asks(page: Node) -> list[Node]:
    return page.all("form", class_="ask")


def open_asks(client: Client, thread: Thread) -> list[Node]:
    return asks(get(client, path(thread)))


def outputs(thread: Thread) -> dict[str, tuple[str, Any]]:
    """What was answered, by tool."""
    rows = Block.objects.filter(thread=thread, kind="tool_result").order_by("idx", "position")
    return {row.data["tool_name"]: (row.data["status"], row.data["payload"]) for row in rows}


def test_each_use_that_waits_has_its_form(browser_of: Browser, thread: Thread) -> None:
    first, second = open_asks(browser_of("alice"), thread)
    assert first.one("h2").words == "waiting remember 1 of 2"
    assert "What remember does." in first.words
    assert '"note": "a long one"' in first.one("pre", class_="json").text
    assert "No arguments." in second.words
    assert [button.words for button in second.all("button")][1:] == ["Report an error", "Decline"]
    assert first["action"] == first["hx-post"] == path(thread, "answer/")


def test_a_thread_that_waits_for_nothing_has_none(browser_of: Browser, who: People) -> None:
    idle, running = make.thread(who.alice), make.thread(who.alice, run=False)
    for each in (idle, running):
        assert not get(browser_of("alice"), path(each)).id("asked").children


def test_answers_go_in_one_by_one_and_the_last_lets_the_turn_go_on(browser_of: Browser, thread: Thread) -> None:
    """B63's submission by hand: a partial one is stored and the thread goes on waiting."""
    client = browser_of("alice")
    answer = submit(client, open_asks(client, thread)[1], "success", output="Two\r\nlines")
    assert (answer.status_code, answer["Location"]) == (302, path(thread))
    assert outputs(thread) == {"recall": ("success", {"result": "Two\nlines"})}
    assert make.fresh(thread).status == "client_tool_turn"
    assert get(client, path(thread)).none(class_="caret"), "nobody writes"
    (left,) = open_asks(client, thread)
    assert left.one("h2").words == "waiting remember"
    submit(client, left, "success", output='{"done": [1, 2]}', kind="json")
    assert outputs(thread)["remember"] == ("success", {"done": [1, 2]})
    assert make.fresh(thread).status == "roboto_turn"
    assert not get(client, path(thread)).id("asked").children
    make.run_turns(thread)
    page = get(client, path(thread))
    assert page.id("status")["data-status"] == "user_turn"
    assert '"result":"Two\\nlines"' in page.one("main").words


@pytest.mark.parametrize(
    ("status", "kind", "typed", "stored"),
    [
        ("success", "text", "[1]", {"result": "[1]"}),
        ("success", "text", " x ", {"result": " x "}),
        ("success", "json", "null", None),
        ("success", "json", "[1, 2]", {"result": [1, 2]}),
        ("success", "json", '{"a": {"b": null}}', {"a": {"b": None}}),
        ("error", "text", "No map", {"error": "No map"}),
        ("error", "json", '{"code": 7}', {"code": 7}),
        ("error", "text", "", None),
        ("declined", "text", "Not now", {"reason": "Not now"}),
        ("declined", "text", "", None),
    ],
)
def test_what_is_typed_becomes_an_object(
    browser_of: Browser, who: People, status: str, kind: str, typed: str, stored: Any
) -> None:
    """Spec 3.6: an output is an object or nothing; a text goes in under the name of what it is."""
    thread, client = make.waiting(who.alice), browser_of("alice")
    submit(client, open_asks(client, thread)[0], status, output=typed, kind=kind)
    assert outputs(thread) == {"remember": (status, stored)}
    assert make.fresh(thread).status == "roboto_turn"


def test_how_long_the_person_took_is_the_runtime(browser_of: Browser, who: People) -> None:
    thread, client = make.waiting(who.alice), browser_of("alice")
    submit(client, open_asks(client, thread)[0], "success", output="Done")
    took = Block.objects.get(thread=thread, kind="tool_result").data["runtime_ms"]
    assert 0 < took < 60_000


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ({"kind": "json", "output": '{"a": '}, "line 1, column 7"),
        ({"kind": "json", "output": "yes, \r\nit is"}, "line 1, column 1"),
        ({"kind": "json", "output": '{"a": "\\u0000"}'}, "NUL"),
        ({"kind": "text", "output": "a\x00b"}, "NUL"),
        ({"kind": "text", "output": "kept", "status": "maybe"}, "success"),
        ({"kind": "text", "output": ""}, "Write a result, or send {} as JSON."),
        ({"kind": "json", "output": " \r\n"}, "Write a result, or send {} as JSON."),
        ({"kind": "text", "output": "kept", "tool_name": "recall"}, "belongs to tool remember"),
    ],
)
def test_what_cannot_be_sent_stays_in_its_form(
    browser_of: Browser, thread: Thread, typed: dict[str, str], reason: str
) -> None:
    client = browser_of("alice")
    form = open_asks(client, thread)[0]
    page = dom(submit(client, form, **{"status": "success", **typed}), 400)
    first, second = asks(page)
    field = first.one("textarea")
    assert field.text == typed["output"].replace("\r\n", "\n") and field["aria-invalid"] == "true"
    assert reason in first.one(class_="wrong").words
    assert first.fields()["kind"] == [typed["kind"]]
    assert second.one("textarea").text == "" and second.none(class_="wrong")
    assert outputs(thread) == {} and make.fresh(thread).status == "client_tool_turn"


def test_a_second_tab_is_told_and_keeps_what_was_typed(browser_of: Browser, thread: Thread) -> None:
    """The use was answered, another still waits: its form is there, and the late words stand above it."""
    client = browser_of("alice")
    first = open_asks(client, thread)[0]
    submit(client, first, "success", output="In time")
    page = dom(submit(client, first, "success", output=f"Too late {HOSTILE}"), 400)
    told = page.one(role="alert")
    assert "Your result was not sent." in told.words and "remember is no longer waiting" in told.words
    assert told.one("pre").text == f"Too late {HOSTILE}"
    assert [form.one("h2").words for form in asks(page)] == ["waiting recall"]
    assert outputs(thread) == {"remember": ("success", {"result": "In time"})}


@pytest.mark.parametrize("how", ["answered", "stopped", "program"])
def test_a_stale_page_is_told(browser_of: Browser, who: People, how: str) -> None:
    thread, client = make.waiting(who.alice), browser_of("alice")
    form = open_asks(client, thread)[0]
    if how == "answered":
        submit(client, form, "declined")
    elif how == "stopped":
        turns.cancel(who.alice.actor, thread)
    else:
        use = {name: form.fields()[name][0] for name in ("tool_use_id", "tool_name")}
        result = {**use, "status": "success", "runtime_ms": 1}
        turns.submit_tool_results(who.alice.actor, thread, bodies.parse(ToolResultsIn, {"tool_results": [result]}))
    before = outputs(thread)
    page = dom(submit(client, form, "success", output="Too late"), 400)
    assert "a program or another tab answered it" in page.one(role="alert").words
    assert page.one(role="alert").one("pre").text == "Too late"
    assert not asks(page) and outputs(thread) == before
    shown = "cancelled" if how == "stopped" else make.fresh(thread).status
    assert page.id("status")["data-status"] == shown


def test_a_form_that_names_nothing_changes_nothing(browser_of: Browser, thread: Thread) -> None:
    page = dom(browser_of("alice").post(path(thread, "answer/")), 400)
    assert "This tool use is no longer waiting" in page.one(role="alert").words
    assert len(asks(page)) == 2 and outputs(thread) == {}


@pytest.mark.parametrize("name", ["bob", "admin"])
def test_others_see_that_it_waits_and_have_no_form(browser_of: Browser, thread: Thread, name: str) -> None:
    client = browser_of(name)
    page = get(client, path(thread))
    assert not asks(page)
    assert "remember, recall wait for a result." in page.id("asked").words
    assert "Only Alice can send it" in page.id("asked").words
    assert page.one("main").words.count("Tool pending") == 1


def test_who_may_answer(browser_of: Browser, thread: Thread) -> None:
    """The thread's owner, and nobody else: a colleague, a stranger, an admin and nobody are refused."""
    form = open_asks(browser_of("alice"), thread)[0]
    sent = {name: value[0] for name, value in form.fields().items()} | {"status": "success", "output": "x"}
    for name in ("bob", "eve", "admin"):
        dom(browser_of(name).post(path(thread, "answer/"), sent), 403)
    assert browser_of(None).post(path(thread, "answer/"), sent)["Location"].startswith("/signin/")
    assert browser_of("alice").get(path(thread, "answer/"))["Location"] == path(thread)
    assert outputs(thread) == {}
    assert browser_of("alice").post(path(thread, "answer/"), sent).status_code == 302


def test_a_thread_of_another_surface_is_answered_there(browser_of: Browser, thread: Thread) -> None:
    """B161."""
    client = browser_of("alice")
    form = open_asks(client, thread)[0]
    Thread.objects.filter(pk=thread.pk).update(origin="slack")
    page = get(client, path(thread))
    assert not asks(page) and "which owns this thread" in page.id("asked").words
    dom(submit(client, form, "success"), 403)
    assert outputs(thread) == {}


def test_hostile_text_stays_text(browser_of: Browser, who: People) -> None:
    tool = {"name": "show", "description": HOSTILE, "input_schema": {"type": "object"}}
    thread = make.waiting(who.alice, '[[call show {"html": "<img src=x onerror=alert(2)>"}]]', tool, visibility="org")
    for name in ("alice", "bob"):
        assert get(browser_of(name), path(thread)).none("img")
    (form,) = open_asks(browser_of("alice"), thread)
    assert HOSTILE in form.words and "onerror=alert(2)" in form.one("pre").text


def test_the_page_costs_the_same_for_ten_uses_as_for_two(browser_of: Browser, who: People, thread: Thread) -> None:
    many = make.waiting(who.alice, "[[call remember {}]] " * 10, visibility="org")
    client = browser_of("alice")
    assert len(open_asks(client, many)) == 10
    assert queries(client, path(many)) == queries(client, path(thread))
