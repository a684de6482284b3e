"""One tool use with its payloads: a fragment under its line, a page of its own, raw for those with the right."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from django.test import Client

from tests import make
from tests.conftest import data_of
from tests.pages.dom import Node, fragment, get, queries
from tests.people import People, Person
from threads.content import text, tool_result, tool_use
from threads.models import Thread
from threads.transcript import writing

Browser = Callable[[str | None], Client]


def a_call(person: Person, tool_use_id: str = "tu_1", output: object = None, **more: object) -> Thread:
    """A thread whose agent has called a tool, with raw payloads that differ from the open ones."""
    thread = make.conversation(person, 1, visibility="org")
    with writing(thread.pk) as writer:
        use = {**tool_use("look_up", tool_use_id, {"station": "Dock 9"}), "raw_request": {"secret": "key-of-the-tool"}}
        writer.add("assistant", [use])
        result = tool_result("look_up", tool_use_id, "success", output or {"bikes": 3}, runtime_ms=412)
        writer.add("roboto", [{**result, "raw_response": {"header": "answer-in-the-raw"}}])
        writer.add("assistant", [text("Three bikes.")])
    return make.fresh(thread)


def address(thread: Thread, tool_use_id: str = "tu_1", query: str = "") -> str:
    return f"/threads/{thread.thread_id}/calls/{quote(tool_use_id, safe='')}/{query}"


def path_of(thread: Thread) -> str:
    return f"/threads/{thread.thread_id}/"


def payloads(page: Node) -> dict[str, str]:
    return {section["aria-label"]: section.one("pre").words for section in page.all("section", aria_label=True)}


def test_unfolding_brings_input_and_output(browser_of: Browser, who: People) -> None:
    part = fragment(browser_of("alice"), address(a_call(who.alice)))
    assert part.none("html")
    assert payloads(part) == {"Input": '{"station": "Dock 9"}', "Output": '{"bikes": 3}'}
    assert [count.words for count in part.all(class_="count")] == ["1 field, 20 B", "1 field, 11 B"]


@pytest.mark.parametrize(
    ("asked", "at", "is_open"),
    [
        ("bikes", 2, False),
        ('"3"', 2, True),
        ('"dock 9"', 1, True),
        ('"dock 9"', 2, False),
        ("look", 2, True),
        ("call:dock", 1, True),
        ("text:dock", 1, False),
        ("-dock", 1, False),
        ("dock colour:red", 1, False),
        ("tool:look_up", 1, True),
        ("tool:look*", 2, False),
        ("failed:look_up", 2, False),
        ("-tool:look_up", 1, False),
        ("", 1, False),
    ],
)
def test_a_call_that_was_searched_for_is_unfolded(
    browser_of: Browser, who: People, asked: str, at: int, is_open: bool
) -> None:
    """With the same as the fragment, so that nothing is left to load."""
    thread, client = a_call(who.alice), browser_of("bob")
    page = get(client, f"{path_of(thread)}?{urlencode({'q': asked, 'at': at})}")
    call = page.one("details", class_="call")
    assert call.has("open") is is_open is not call.one(class_="call-io").has("hx-get")
    if is_open:
        assert call.one(class_="call-io").words == fragment(client, address(thread)).words
    assert call.one("summary").one(id="m2")


def test_the_result_that_failed_is_unfolded(browser_of: Browser, who: People) -> None:
    """Only that one of several in its message."""
    thread = make.thread(who.alice, '[[call calculate {"expression": "1"}]] [[call calculate {"expression": "1/0"}]]')
    for line in ("failed:calculate", "has:error"):
        page = get(browser_of("alice"), f"{path_of(thread)}?q={line}&at=2")
        assert [call.has("open") for call in page.all("details", class_="call")] == [False, True]


def test_no_more_than_three_calls_are_unfolded(browser_of: Browser, who: People) -> None:
    sums = " ".join(f'[[call calculate {{"expression": "{each} + 1"}}]]' for each in range(4))
    thread, client = make.thread(who.alice, sums), browser_of("alice")
    page = get(client, f"{path_of(thread)}?q=calculate&at=2")
    assert [call.has("open") for call in page.all("details", class_="call")] == [True, True, True, False]
    few = queries(client, f"{path_of(make.thread(who.alice, sums[: sums.index(']]') + 2]))}?q=calculate&at=2")
    # For each a call's blocks, and its tool.
    assert queries(client, f"{path_of(thread)}?q=calculate&at=2") == few + 2 * 2


def test_a_result_without_its_use_stays_folded(browser_of: Browser, who: People) -> None:
    thread = make.conversation(who.alice, 1)
    with writing(thread.pk) as writer:
        writer.add("roboto", [tool_result("look_up", "lost", "success", {"station": "Dock 9"})])
    call = get(browser_of("alice"), f"{path_of(thread)}?q=dock&at=1").one("details", class_="call")
    assert not call.has("open")


def test_without_scripts_it_is_a_page_with_its_facts(browser_of: Browser, who: People) -> None:
    thread = a_call(who.alice)
    page = get(browser_of("alice"), address(thread))
    assert page.one("h1").words == "look_up"
    assert page.one("dl", class_="facts").words.startswith("Outcome success Runtime 412 ms Message message 1 Id tu_1")
    assert page.one("dl", class_="facts").one("a", href=f"/threads/{thread.thread_id}/?at=1#m1")
    assert payloads(page)["Output"] == '{"bikes": 3}'


@pytest.mark.parametrize(("name", "raw"), [("alice", True), ("admin", True), ("bob", False), ("eve", None)])
def test_raw_payloads_are_for_the_owner_and_admins(
    browser_of: Browser, who: People, name: str, raw: bool | None
) -> None:
    """H4, B164: a colleague reads the call without ever meeting what went over the line; a stranger reads nothing."""
    thread, client = a_call(who.alice), browser_of(name)
    page = get(client, address(thread), 403 if raw is None else 200)
    assert "key-of-the-tool" not in page.text and "answer-in-the-raw" not in page.text
    shown = get(client, address(thread, query="?raw=1"), 200 if raw else 403)
    assert ("key-of-the-tool" in shown.text and "answer-in-the-raw" in shown.text) == bool(raw)
    links = [link["href"] for link in page.all("a") if "raw=1" in link["href"]]
    assert bool(links) == bool(raw)
    if links:
        assert set(payloads(get(client, links[0]))) == {"Input", "Output", "Raw request", "Raw response"}


def test_a_raw_response_is_the_output_only_for_the_owner_and_admins(browser_of: Browser, who: People) -> None:
    """3.3, H4: without a payload, the raw response stands for the output; colleagues see neither."""
    thread = make.conversation(who.alice, 1, visibility="org")
    with writing(thread.pk) as writer:
        writer.add("assistant", [tool_use("look_up", "tu_1", {"dock": 9})])
        result = tool_result("look_up", "tu_1", "error", None, runtime_ms=1)
        writer.add("roboto", [{**result, "raw_response": {"card": "answer-in-the-raw"}}])
    pages = {name: get(browser_of(name), address(thread)).text for name in ("alice", "admin", "bob")}
    assert {name: "answer-in-the-raw" in page for name, page in pages.items()} == {
        "alice": True,
        "admin": True,
        "bob": False,
    }
    assert "answer-in-the-raw" not in fragment(browser_of("bob"), address(thread)).text
    assert "answer-in-the-raw" not in get(browser_of("bob"), path_of(thread)).text


def test_raw_is_offered_only_where_it_says_something_else(browser_of: Browser, who: People) -> None:
    """Most calls go over the line as they are shown: a page that shows the same again is not worth a press."""
    thread, client = make.conversation(who.alice, 1), browser_of("alice")
    with writing(thread.pk) as writer:
        writer.add("assistant", [{**tool_use("look_up", "tu_1", {"dock": 9}), "raw_request": {"dock": 9}}])
        result = tool_result("look_up", "tu_1", "success", {"bikes": 3}, runtime_ms=1)
        writer.add("roboto", [{**result, "raw_response": {"bikes": 3}}])
    page = get(client, address(thread))
    assert not [link for link in page.all("a") if "raw=1" in link["href"]]
    raw = get(client, address(thread, query="?raw=1"))
    assert set(payloads(raw)) == {"Input", "Output"} and "are the same as the input and output" in raw.one("main").words


def test_the_raw_page_says_so_and_leads_back(browser_of: Browser, who: People) -> None:
    thread, client = a_call(who.alice), browser_of("alice")
    page = get(client, address(thread, query="?raw=1"))
    assert page.one("h1").words == "look_up raw" and page.one("title").words.startswith("look_up, raw")
    way = page.one("nav", class_="crumbs")
    assert way.words.endswith("/look_up/Raw")
    assert payloads(get(client, way.all("a")[-1]["href"])).keys() == {"Input", "Output"}
    assert way.all("a")[1]["href"] == f"{path_of(thread)}?at=1#m1"


@pytest.fixture
def look_up(api: Any, who: People) -> None:
    """A tool of acme, `bikes__look_up`."""
    schema = {"type": "object", "properties": {"station": {"type": "string"}}}
    tool = {"name": "look_up", "description": "Looks up.", "inputSchema": schema}
    data_of(api("alice").post("/v1/catalogue/tools/import", {"dialect": "mcp", "server": "bikes", "tools": [tool]}))


def used(thread: Thread, name: str, given: dict[str, Any] | None = None) -> Thread:
    """The thread with one more call, `tu_2`."""
    with writing(thread.pk) as writer:
        writer.add("assistant", [tool_use(name, "tu_2", given or {})])
    return thread


def to_the_catalogue(page: Node) -> dict[str, str]:
    return {link.words: link["href"] for link in page.all("a") if link["href"].startswith("/catalogue/tools/")}


def test_an_unfolded_call_leads_to_its_tool_and_carries_its_input_there(
    browser_of: Browser, who: People, look_up: None
) -> None:
    """Known by its own name alone, as other systems call it, and on the page without scripts as well."""
    thread, client = a_call(who.alice), browser_of("alice")
    links = to_the_catalogue(fragment(client, address(thread)))
    assert links == to_the_catalogue(get(client, address(thread)).one("main"))
    assert get(client, links["This tool in the catalogue"]).one("h1").words == "look_up"
    form = get(client, links["Try it with this input"].removesuffix("#try")).id("try-form")
    assert form.fields()["f0"] == ["Dock 9"]


@pytest.mark.parametrize(("name", "given", "led"), [
    ("bikes__look_up", {}, "bikes__look_up/"),
    ("calculate", {"expression": "1 + 1"}, "heddle__calculate/?arguments=%7B%22expression%22%3A%221+%2B+1%22%7D"),
    ("look_up", {"other": {"deep": [1]}}, "bikes__look_up/?arguments=%7B%22other%22%3A%7B%22deep%22%3A%5B1%5D%7D%7D"),
    ("look_up", {"station": "x" * 4000}, "bikes__look_up/"),
    ("nowhere", {}, None),
])  # fmt: skip
def test_where_a_call_leads(
    browser_of: Browser, who: People, look_up: None, name: str, given: dict[str, Any], led: str | None
) -> None:
    thread, client = used(a_call(who.alice), name, given), browser_of("alice")
    links = to_the_catalogue(fragment(client, address(thread, "tu_2")))
    assert links.get("Try it with this input") == (led and f"/catalogue/tools/{led}#try")
    if led and "other" in led:
        form = get(client, links["Try it with this input"].removesuffix("#try")).id("try-form")
        assert '"deep"' in form.id("whole").text, "what has no field is shown as JSON"


def test_a_tool_that_the_viewer_cannot_open_is_no_link(browser_of: Browser, who: People, look_up: None) -> None:
    thread = a_call(who.alice)
    client = browser_of("admin")
    client.post("/org/", {"org": "globex", "next": "/"})
    assert not to_the_catalogue(fragment(client, address(thread)))
    assert to_the_catalogue(fragment(client, address(used(thread, "calculate"), "tu_2"))), "everybody has that one"


def test_arguments_that_are_no_json_are_refused(browser_of: Browser, who: People, look_up: None) -> None:
    get(browser_of("alice"), "/catalogue/tools/bikes__look_up/?arguments={", 400)


@pytest.mark.parametrize("tool_use_id", ["toolu/with/slashes", "a?b#c", "ü &=%41", "…"])
def test_an_id_may_hold_anything(browser_of: Browser, who: People, tool_use_id: str) -> None:
    """Imported threads bring the ids that they had."""
    thread, client = a_call(who.alice, tool_use_id), browser_of("alice")
    load = get(client, f"/threads/{thread.thread_id}/").one("details", class_="call").one(class_="call-io")
    part = fragment(client, load["hx-get"])
    assert payloads(part)["Output"] == '{"bikes": 3}'
    assert "raw=1" in part.one("a")["href"]
    assert "Raw request" in payloads(fragment(client, part.one("a")["href"]))


def test_an_id_that_was_used_twice_shows_the_use_that_was_unfolded(browser_of: Browser, who: People) -> None:
    thread = a_call(who.alice)
    with writing(thread.pk) as writer:
        writer.add("assistant", [tool_use("look_up", "tu_1", {"station": "Dock 10"})])
        writer.add("roboto", [tool_result("look_up", "tu_1", "success", {"bikes": 0}, runtime_ms=1)])
    client = browser_of("alice")
    first, second = get(client, f"/threads/{thread.thread_id}/").all(class_="call-io")
    assert payloads(fragment(client, first["hx-get"]))["Output"] == '{"bikes": 3}'
    assert payloads(fragment(client, second["hx-get"]))["Output"] == '{"bikes": 0}'


@pytest.mark.parametrize("query", ["?message=0", "?message=99", "?message=" + "9" * 9])
def test_a_use_that_is_not_there_is_not_found(browser_of: Browser, who: People, query: str) -> None:
    thread, client = a_call(who.alice), browser_of("alice")
    get(client, address(thread, "tu_2"), 404)
    get(client, address(thread, query=query), 404)
    get(client, address(make.conversation(who.alice, 2)), 404)


@pytest.mark.parametrize("query", ["?message=x", "?message=-1", "?message=" + "9" * 5000, "?message=²", "?raw=2"])
def test_a_query_that_means_nothing_shows_the_first_use(browser_of: Browser, who: People, query: str) -> None:
    thread = a_call(who.alice)
    assert set(payloads(get(browser_of("alice"), address(thread, query=query)))) == {"Input", "Output"}


def test_a_call_that_waits_has_no_output_yet(browser_of: Browser, who: People) -> None:
    thread = make.waiting(who.alice, '[[call remember {"what": "x"}]]')
    load = get(browser_of("alice"), f"/threads/{thread.thread_id}/").one(class_="call-io")
    page = get(browser_of("alice"), load["hx-get"])
    assert payloads(page) == {"Input": '{"what": "x"}'}
    assert "Outcome waiting" in page.one("dl", class_="facts").words


def test_a_huge_output_is_shown_up_to_a_limit_that_is_named(browser_of: Browser, who: People) -> None:
    rows = [{"row": number, "words": "<b>bold</b> " * 5} for number in range(20_000)]
    answer = browser_of("alice").get(address(a_call(who.alice, output={"rows": rows})), headers={"HX-Request": "true"})
    assert len(answer.content) < 250_000
    part = fragment(browser_of("alice"), address(Thread.objects.get()))
    assert "Only the first 100 kB are shown" in part.words and part.none("bold")
    assert "1.7 MB" in part.words
