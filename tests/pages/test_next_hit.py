"""From one hit of a search to the next, through its threads in the order of the list."""

from collections.abc import Callable
from urllib.parse import quote

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.orgs import add_member
from tests import make
from tests.pages.dom import get, then
from tests.people import People, Person
from threads import indexing, sharing
from threads.content import text, tool_result, tool_use
from threads.models import Thread
from threads.transcript import writing

Browser = Callable[[str | None], Client]


def path(thread: Thread) -> str:
    return f"/threads/{thread.thread_id}/"


def a_thread(person: Person, *said: str, visibility: str = "private") -> Thread:
    """An imported thread in which these texts follow a request."""
    messages = [("user", "Begin"), *(("assistant", each) for each in said)]
    return make.imported(person, messages, visibility=visibility)


def a_failure(person: Person) -> Thread:
    """A thread whose second call of a tool fails."""
    thread = make.conversation(person, 1)
    with writing(thread.pk) as writer:
        for use_id, status in (("tu_1", "success"), ("tu_2", "error")):
            writer.add("assistant", [tool_use("refund", use_id, {"ride": 7})])
            writer.add("roboto", [tool_result("refund", use_id, status, {"error": "missing_field"})])
        writer.add("assistant", [text("It did not work.")])
    return thread


def walk(client: Client, start: str) -> list[str]:
    """The addresses that the link leads to, one after the other, without the texts to mark; the last leads nowhere."""
    seen: list[str] = []
    here = start
    for _ in range(12):
        link = get(client, here).id("bar").one("a", data_key="n")
        assert link.words == "Next hit n"
        there = client.get(link["href"])["Location"].partition(":~:")[0]
        if there.partition("#")[0] == here:
            assert get(client, here).id("notes").words == "No more hits."
            return seen
        seen.append(there)
        here = there.partition("#")[0]
    raise AssertionError(seen)


def test_the_next_hit_is_behind_this_one_else_in_the_next_thread(browser_of: Browser, who: People) -> None:
    """In the order of the list, pins first, also from the top of a thread; the last says so."""
    oldest = a_thread(who.alice, "A pump.")
    pinned = a_thread(who.alice, "Nothing", "The pump.")
    a_thread(who.alice, "Nothing")
    newest = a_thread(who.alice, "Pumps.", "Nothing", "pump")
    sharing.pin(who.alice.actor, pinned, pinned=True)
    client = browser_of("alice")
    assert walk(client, f"{path(pinned)}?q=pump") == [
        f"{path(pinned)}?q=pump&at=2#m2",
        f"{path(newest)}?q=pump&at=1#m1",
        f"{path(newest)}?q=pump&at=3#m3",
        f"{path(oldest)}?q=pump&at=1#m1",
    ]
    assert walk(client, f"{path(oldest)}?q=pump+sort:oldest&at=1")[0].startswith(path(newest))


@pytest.mark.parametrize(
    ("line", "places"),
    [
        ("tool:refund", [1, 3]),
        ("failed:refund", [4]),
        ("has:error", [4]),
        ("failed:refund OR work", [4, 5]),
        ("tool:refund -failed:zzz", [1, 3]),
        ('"missing field"', [2, 4]),
    ],
)
def test_what_terms_ask_for_is_a_hit(browser_of: Browser, who: People, line: str, places: list[int]) -> None:
    thread, client = a_failure(who.alice), browser_of("alice")
    Thread.objects.update(has_error=True)
    found = walk(client, f"{path(thread)}?q={quote(line)}")
    assert [address.rpartition("#m")[2] for address in found] == [str(place) for place in places]


def test_the_call_of_the_next_hit_is_unfolded(browser_of: Browser, who: People) -> None:
    thread, client = a_failure(who.alice), browser_of("alice")
    page = then(client, client.get(f"{path(thread)}next/?q=failed:refund"))
    assert [call["id"] for call in page.all("details", class_="call") if call.has("open")] == ["c3-0"]


def test_the_next_thread_is_one_of_the_list(browser_of: Browser, who: People) -> None:
    """That of the org that one looks at; and nobody else's private one."""
    a_thread(who.alice, "pump")
    a_thread(who.eve, "pump", visibility="org")
    add_member(who.globex, who.bob.user)
    first = a_thread(who.bob, "pump")
    assert walk(browser_of("bob"), f"{path(first)}?q=pump&at=1") == []


@pytest.mark.parametrize("query", ["", "?q=is:mine", "?q=pump+colour:red", f"?q={'x' * 2001}", "?at=0"])
def test_without_anything_to_find_it_is_the_list(browser_of: Browser, who: People, query: str) -> None:
    thread, client = a_thread(who.alice, "pump"), browser_of("alice")
    assert get(client, f"{path(thread)}{query}").id("bar").none("a", data_key="n")
    assert client.get(f"{path(thread)}next/{query}")["Location"].startswith("/threads/?")
    assert get(client, "/threads/").none(id="notes")


def test_a_query_may_hold_anything(browser_of: Browser, who: People) -> None:
    thread, client = a_thread(who.alice, 'a "b" & <c> #1 50% d'), browser_of("alice")
    line = '"b" & <c> #1 50%'
    [first] = walk(client, f"{path(thread)}?q={quote(line)}")
    assert get(client, first.partition("#")[0]).id("talk")
    assert client.get(f"{path(thread)}next/?q=pump&at=x")["Location"] == f"{path(thread)}?q=pump"


def test_more_threads_and_hits_are_no_more_queries(browser_of: Browser, who: People) -> None:
    client = browser_of("alice")

    def cost(thread: Thread) -> int:
        indexing.catch_up()
        with CaptureQueriesContext(connection) as asked:
            assert client.get(f"{path(thread)}next/?q=pump+OR+failed:refund&at=1").status_code == 302
        return len(asked)

    a_failure(who.alice)
    a_thread(who.alice, "pump")
    few = [cost(a_thread(who.alice, *said)) for said in (["pump"], ["pump"] * 2)]
    for _ in range(5):
        a_failure(who.alice)
        a_thread(who.alice, *["pump"] * 5)
    assert [cost(a_thread(who.alice, *said)) for said in (["pump"], ["pump"] * 9)] == few


def test_a_word_is_looked_for_within_one_thread_from_its_last_hit_to_its_first(
    browser_of: Browser, who: People
) -> None:
    ours = a_thread(who.alice, "One wharf", "Nothing", "Two wharf")
    a_thread(who.alice, "Another wharf")
    client = browser_of("alice")
    page = get(client, path(ours))
    assert page.one("button", data_key="/")["popovertarget"] == "find"
    form = page.id("find").one("form", action=f"{path(ours)}next/")
    places = []
    answer = client.get(form["action"], {**form.fields(), "q": "wharf"})
    for _ in range(3):
        places.append(answer["Location"].partition(":~:")[0])
        page = then(client, answer)
        assert page.id("sought")["value"] == "wharf"
        answer = client.get(page.one("a", rel="next")["href"])
    first, second = (f"{path(ours)}?q=wharf&at={at}&within=1#m{at}" for at in (1, 3))
    assert places == [first, second, first]
    assert "within=1" in page.id("talk")["data-live"]
    assert page.one("a", href=f"/threads/#t-{ours.thread_id}"), "the list is not asked for it"


def test_the_only_hit_is_found_again_from_itself(browser_of: Browser, who: People) -> None:
    ours = make.imported(who.alice, [("user", "The wharf"), ("assistant", "Nothing")])
    client = browser_of("alice")
    answer = client.get(f"{path(ours)}next/", {"within": "1", "q": "wharf"})
    again = client.get(then(client, answer).one("a", rel="next")["href"])
    assert again["Location"] == answer["Location"] and "at=0" in again["Location"]


@pytest.mark.parametrize("typed", ["tol:calculate", "status:xx", "wharf AND", "("])
def test_a_query_within_a_thread_that_is_not_understood_is_told_and_stays(
    browser_of: Browser, who: People, typed: str
) -> None:
    ours, client = a_thread(who.alice, "One wharf"), browser_of("alice")
    page = then(client, client.get(f"{path(ours)}next/", {"within": "1", "q": typed}))
    assert "No hits" not in page.id("notes").words and page.id("notes").words
    assert page.id("sought")["value"] == typed


@pytest.mark.parametrize(("typed", "said"), [("zebra", "No hits in this thread."), ("  ", "Type what to look for.")])
def test_what_is_not_within_the_thread_is_said(browser_of: Browser, who: People, typed: str, said: str) -> None:
    ours = a_thread(who.alice, "One wharf")
    a_thread(who.alice, "A zebra")
    client = browser_of("alice")
    page = then(client, client.get(f"{path(ours)}next/", {"within": "1", "q": typed}))
    assert said in page.id("notes").words and page.id("talk")
