"""Whoever rated an answer learns in the list that an admin wrote back: a word on the row until the thread is opened."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.orgs import add_member
from feedback.models import UserFeedback
from tests import make
from tests.conftest import data_of
from tests.pages.desk import do
from tests.pages.dom import dom, get, queries
from tests.people import People
from threads.models import Thread

Browser = Callable[[str | None], Client]


@pytest.fixture
def thread(who: People) -> Thread:
    """bob's, shared, with a rating of alice's and one of his own."""
    thread = make.conversation(who.bob, 6, visibility="org")
    for person, index in ((who.alice, 1), (who.bob, 3)):
        make.rating(person, thread, index, notes=f"{person.user.email} says so")
    return thread


def report_of(person: str) -> UserFeedback:
    return UserFeedback.objects.get(created_by__email__startswith=person)


def is_told(client: Client, line: str = "") -> bool:
    """Whether the row of the one thread says so."""
    [row] = get(client, f"/threads/?q={line}").all("th", class_="title")
    return "Answered" in [mark.words for mark in row.all(class_="mark")]


def found(client: Client) -> int:
    return len(get(client, "/threads/?q=has:answer").all("th", class_="title"))


def test_the_submitter_is_told_until_they_open_the_thread(browser_of: Browser, who: People, thread: Thread) -> None:
    alice, bob, admin = (browser_of(name) for name in ("alice", "bob", "admin"))
    do(who.admin, report_of("alice"), "reply", public_status="looked_at")
    do(who.admin, report_of("alice"), "note", admin_note="Hm.")
    assert not is_told(alice) and found(alice) == 0
    do(who.admin, report_of("alice"), "reply", public_reply="It was the tool.")
    for client in (bob, admin):
        get(client, f"/threads/{thread.thread_id}/")
        assert not is_told(client) and found(client) == 0
    get(admin, f"/feedback/?q=&item={report_of('alice').feedback_id}")
    assert is_told(alice) and found(alice) == 1 and is_told(alice, "has:answer")
    [link] = [a["href"] for a in get(alice, "/threads/").all("a", id=f"t-{thread.thread_id}")]
    assert link == f"/threads/{thread.thread_id}/?at=1#m1", "and the row leads to the answer"
    assert "It was the tool." in get(alice, f"/threads/{thread.thread_id}/").words
    assert not is_told(alice) and found(alice) == 0


def test_the_view_of_replies_counts_what_is_new_and_keeps_the_rest(
    browser_of: Browser, who: People, thread: Thread
) -> None:
    alice = browser_of("alice")

    def view() -> str:
        [tab] = [a for a in get(alice, "/threads/").one("nav", class_="views").all("a") if "Replies" in a.words]
        return f"{tab.words}, {len(get(alice, '/threads/' + tab['href']).all('th', class_='title'))} listed"

    assert view() == "Replies, 0 listed"
    do(who.admin, report_of("alice"), "reply", public_reply="It was the tool.")
    assert view() == "Replies 1 new, 1 listed"
    get(alice, f"/threads/{thread.thread_id}/")
    assert view() == "Replies, 1 listed"
    do(who.admin, report_of("alice"), "reply", public_status="received")
    assert view() == "Replies, 0 listed"


def test_a_rating_with_a_reply_is_not_retracted_by_one_press(browser_of: Browser, who: People, thread: Thread) -> None:
    """The reply would go with it, so the page asks, with and without scripts."""
    alice = browser_of("alice")

    def link() -> Any:
        return get(alice, f"/threads/{thread.thread_id}/").id("back-1")

    assert link().has("hx-post")
    do(who.admin, report_of("alice"), "reply", public_reply="It was the tool.")
    assert not link().has("hx-post")
    assert "any reply to it" in get(alice, link()["href"]).one("main").words


def test_what_is_new_is_counted_in_the_org_that_is_shown(browser_of: Browser, who: People, thread: Thread) -> None:
    add_member(who.globex, who.alice.user)
    do(who.admin, report_of("alice"), "reply", public_reply="It was the tool.")
    alice = browser_of("alice")
    for org, words in (("globex", "Replies"), ("acme", "Replies 1 new")):
        alice.post("/org/", {"org": org})
        assert words in [a.words for a in get(alice, "/threads/?q=has:reply").one("nav", class_="views").all("a")]


def test_an_address_in_a_reply_can_be_followed_and_tells_nothing(
    browser_of: Browser, who: People, thread: Thread
) -> None:
    said = "See https://docs.example/refunds?a=1&b=2 <b>now</b> (javascript:alert(1))."
    do(who.admin, report_of("alice"), "reply", public_reply=said)
    told = get(browser_of("alice"), f"/threads/{thread.thread_id}/").one(class_="told").one(class_="words")
    [link] = told.all("a")
    assert (link["href"], link["rel"]) == ("https://docs.example/refunds?a=1&b=2", "nofollow")
    assert told.text == said


def test_an_answer_that_is_changed_is_told_again_and_one_that_is_taken_back_is_not(
    browser_of: Browser, who: People, thread: Thread
) -> None:
    alice, path = browser_of("alice"), f"/threads/{thread.thread_id}/"
    do(who.admin, report_of("alice"), "reply", public_reply="It was the tool.")
    get(alice, path)
    do(who.admin, report_of("alice"), "reply", public_reply="It was the model.")
    assert is_told(alice)
    do(who.admin, report_of("alice"), "reply", public_status="received")
    assert not is_told(alice) and found(alice) == 0
    do(who.admin, report_of("alice"), "reply", public_reply="It was both.")
    assert is_told(alice)
    alice.post(f"{path}messages/1/retract/")
    assert not is_told(alice) and found(alice) == 0


def test_an_admin_who_rated_is_a_submitter_too(browser_of: Browser, who: People, thread: Thread) -> None:
    make.rating(who.admin, thread, 5)
    do(who.admin, report_of("admin"), "reply", public_reply="Noted to myself.")
    assert is_told(browser_of("admin")) and not is_told(browser_of("alice"))


def test_programs_find_such_threads_too_and_the_line_offers_it(
    browser_of: Browser, api: Callable, who: People, thread: Thread
) -> None:
    do(who.admin, report_of("alice"), "reply", public_reply="It was the tool.")
    asked = {"q": "has:answer"}
    names = {
        name: [each["thread_id"] for each in data_of(api(name).post("threads/search", asked))["items"]]
        for name in ("alice", "bob")
    }
    assert names == {"alice": [thread.thread_id], "bob": []}
    options = dom(browser_of("alice").get("/threads/terms/", {"q": "has:an"})).all("option")
    assert [each["value"] for each in options] == ["has:answer"]


def test_a_page_without_news_writes_nothing_and_the_list_costs_what_it_did(
    browser_of: Browser, who: People, thread: Thread
) -> None:
    alice, path = browser_of("alice"), f"/threads/{thread.thread_id}/"
    before = queries(alice, "/threads/")
    do(who.admin, report_of("alice"), "reply", public_reply="It was the tool.")
    assert queries(alice, "/threads/") == before
    get(alice, path)
    with CaptureQueriesContext(connection) as asked:
        get(alice, path)
    assert not [each for each in asked.captured_queries if each["sql"].startswith(("UPDATE", "INSERT"))]
