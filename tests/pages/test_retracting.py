"""Closing the loop on the thread's page: what the submitter is told beside the rating, changing it, taking it back."""

from collections.abc import Callable

import pytest
from django.test import Client

from core import bodies, sse
from feedback import deciding, triage
from feedback.models import UserFeedback
from feedback.wire_verbs import ReplyIn
from tests import make
from tests.pages.dom import Node, dom, fragment, get, submit
from tests.people import People
from threads.models import Thread

Browser = Callable[[str | None], Client]
HOSTILE = "<script>alert(1)</script>\nRow 12 it is."


def door(thread: Thread, name: str = "retract") -> str:
    return f"/threads/{thread.thread_id}/messages/1/{name}/"


def rated(page: Node) -> Node:
    return page.id("mark-1").one("section")


def reply(who: People, **said: str) -> None:
    body = bodies.parse(ReplyIn, said)
    triage.act(who.admin.actor, UserFeedback.objects.get().feedback_id, (deciding.VERBS["reply"], body))


def test_beside_the_rating_stands_what_its_author_was_told(browser_of: Browser, who: People) -> None:
    thread, client = make.thread(who.alice), browser_of("alice")
    make.rating(who.alice, thread, 1, notes="Wrong")

    def told() -> Node:
        return rated(get(client, f"/threads/{thread.thread_id}/")).one(class_="told")

    assert told().one(class_="quiet").words.startswith("Received ·") and told().one("time")
    reply(who, public_status="looked_at")
    assert told().one(class_="quiet").words.startswith("Looked at ·")
    reply(who, public_reply=HOSTILE)
    assert told().one(class_="quiet").words.startswith("Answered by an admin ·")
    assert told().one(class_="words").text == HOSTILE
    reply(who, public_status="received")
    assert told().words.startswith("Received ·") and told().none(class_="words")


def test_an_open_page_shows_an_answer_when_it_is_given(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The article alone, without a token: the thread itself says nothing new. Other readers hear nothing."""
    monkeypatch.setattr(sse, "HEARTBEAT_SECONDS", 0)
    thread = make.send(who.alice, make.thread(who.alice, visibility="org"), "More")
    make.rating(who.alice, thread, 1)
    lines = {}
    for name in ("alice", "bob"):
        lines[name] = iter(browser_of(name).get(f"/threads/{thread.thread_id}/live/").streaming_content)
        while next(lines[name]) != sse.HEARTBEAT:
            pass
    reply(who, public_reply="Row 12 it is.")
    told = next(lines["alice"]).decode()
    assert told.startswith("event: marks\ndata:") and "Row 12 it is." in told
    assert 'id="m1"' in told and 'id="m3"' not in told
    assert {next(lines["alice"]), next(lines["bob"])} == {sse.HEARTBEAT}


@pytest.mark.parametrize("name", ["bob", "admin"])
def test_nobody_else_is_told_or_offered_to_take_it_back(browser_of: Browser, who: People, name: str) -> None:
    thread, client = make.thread(who.alice, visibility="org"), browser_of(name)
    make.rating(who.alice, thread, 1)
    reply(who, public_reply="For alice alone")
    page = get(client, f"/threads/{thread.thread_id}/")
    assert "For alice alone" not in page.text
    assert not [link for link in page.all("a") if "retract" in link["href"]]
    for method in (client.get, client.post):
        assert dom(method(door(thread)), 404).one("main").words
    assert UserFeedback.objects.count() == 1


def test_without_scripts_a_page_asks_first(browser_of: Browser, who: People) -> None:
    thread, client = make.thread(who.alice, "Hello"), browser_of("alice")
    make.rating(who.alice, thread, 1, notes="Said too much")
    [link] = [each for each in get(client, f"/threads/{thread.thread_id}/").all("a") if "retract" in each["href"]]
    page = get(client, link["href"])
    assert UserFeedback.objects.count() == 1, "a link does nothing"
    assert page.one("article")["id"] == "m1"
    form = next(each for each in page.one("main").all("form") if "retract" in each["action"])
    assert "Said too much" in form.words
    answer = submit(client, form)
    assert (answer.status_code, answer["Location"]) == (302, f"/threads/{thread.thread_id}/?at=1#m1")
    assert not UserFeedback.objects.exists()
    page = get(client, f"/threads/{thread.thread_id}/")
    assert page.id("mark-1").none("section") and "Rating retracted." in page.id("notes").words


def test_with_scripts_one_press_does_it_and_what_was_said_stays_in_the_form(browser_of: Browser, who: People) -> None:
    """And the jumps, the thumbs and the map follow."""
    thread, client = make.thread(who.alice, "Hello"), browser_of("alice")
    make.rating(who.alice, thread, 1, categories=["slow"], notes="Said too much")
    page = get(client, f"/threads/{thread.thread_id}/")
    link = next(each for each in rated(page).all("a") if each.has("hx-post"))
    assert link["hx-post"] == link["href"] and page.id(link["hx-target"].removeprefix("#"))
    token = page.id("bar").all("input", name="csrfmiddlewaretoken")
    assert token, "what hx-include names"
    careful = Client(enforce_csrf_checks=True)
    careful.force_login(who.alice.user)
    get(careful, f"/threads/{thread.thread_id}/")
    secret = (
        get(careful, f"/threads/{thread.thread_id}/").id("bar").all("input", name="csrfmiddlewaretoken")[0]["value"]
    )
    htmx = {"HX-Request": "true"}
    assert careful.post(door(thread), headers=htmx).status_code == 403
    answer = dom(careful.post(door(thread), {"csrfmiddlewaretoken": secret}, headers=htmx))
    assert not UserFeedback.objects.exists()
    mark = answer.id("mark-1")
    assert mark.none("section")
    form = mark.id("form-1").one("form")
    assert form["action"] == door(thread, "rate")
    assert form.one("textarea").text == "Said too much" and "not sent" in form.words
    assert [box["value"] for box in form.all("input", name="categories") if box.has("checked")] == ["slow"]
    assert [thumb.get("data-tone") for thumb in answer.id("acts-1").all("a", data_act=True)] == [None, None]
    assert answer.id("bar")["hx-swap-oob"] == answer.id("map")["hx-swap-oob"] == "true"
    assert answer.id("map").all("rect", data_k="rated") == []
    assert submit(client, form).status_code == 302, "and may be sent again"
    assert UserFeedback.objects.get().notes == "Said too much"


def test_change_opens_the_form_under_the_message(browser_of: Browser, who: People) -> None:
    thread, client = make.thread(who.alice), browser_of("alice")
    make.rating(who.alice, thread, 1, "positive", notes="Fine")
    page = get(client, f"/threads/{thread.thread_id}/")
    link = next(each for each in rated(page).all("a") if each.has("hx-get"))
    assert page.id(link["hx-target"].removeprefix("#"))
    assert fragment(client, link["hx-get"]).one("textarea").text == "Fine"


def test_a_rating_inside_a_call_has_the_same(browser_of: Browser, who: People) -> None:
    thread, client = make.thread(who.alice, '[[call calculate {"expression": "1"}]]'), browser_of("alice")
    make.rating(who.alice, thread, 1)
    inside = get(client, f"/threads/{thread.thread_id}/").one("details", class_="call")
    link = next(each for each in inside.id("mark-1").all("a") if each.has("hx-post"))
    answer = dom(client.post(link["hx-post"], headers={"HX-Request": "true"}))
    assert answer.id("mark-1").none("section")


@pytest.mark.parametrize("index", ["3", "99", "9" * 30, "0"])
def test_where_nothing_was_rated_there_is_nothing_to_take_back(browser_of: Browser, who: People, index: str) -> None:
    thread, client = make.thread(who.alice), browser_of("alice")
    make.rating(who.alice, thread, 1)
    address = f"/threads/{thread.thread_id}/messages/{index}/retract/"
    get(client, address, 404)
    dom(client.post(address), 404)
    assert UserFeedback.objects.count() == 1


def test_the_list_and_the_marks_of_admins_follow(browser_of: Browser, who: People) -> None:
    thread, client = make.thread(who.alice, visibility="org"), browser_of("alice")
    make.rating(who.alice, thread, 1)
    assert get(browser_of("admin"), f"/threads/{thread.thread_id}/").id("mark-1").one("section")
    assert get(client, "/threads/").one("tbody").all("span", data_tone="neg")
    client.post(door(thread))
    for name in ("alice", "admin"):
        assert get(browser_of(name), f"/threads/{thread.thread_id}/").id("mark-1").none("section")
        assert get(browser_of(name), "/threads/").one("tbody").none("span", data_tone="neg")
