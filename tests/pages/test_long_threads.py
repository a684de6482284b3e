"""A thread too long for one page: its ends, what the URL names, and what lies between in one line."""

import json
from collections.abc import Callable
from itertools import cycle

import pytest
from django.test import Client

from core import sse
from feedback.models import UserFeedback
from tests import make
from tests.pages.desk import DESK, opened
from tests.pages.dom import Node, get, queries
from tests.pages.lines import Line
from tests.people import People
from threads import extracts, importing
from threads.models import Thread

Browser = Callable[[str | None], Client]
SMALL = extracts.Reach(begin=2, end=4, before=2, after=3)


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long is what is longer than twenty messages."""
    monkeypatch.setattr(extracts, "LONG", 20)
    monkeypatch.setattr(extracts, "PAGE", SMALL)
    monkeypatch.setattr(extracts, "EXCERPT", SMALL._replace(begin=0, end=0))


def path(thread: Thread, at: object = None) -> str:
    return f"/threads/{thread.thread_id}/" + (f"?at={at}" if at is not None else "")


def shown(page: Node) -> list[int]:
    """The articles in their order, and a line for others as the negative number of messages in it."""
    found = []
    for node in page.id("talk").all():
        if node.tag == "article":
            found.append(int(node["data-index"]))
        elif node.get("class") == "fold":
            found.append(-int(node.words.split()[0]))
    return found


def test_a_short_thread_is_whole_whatever_the_address_says(browser_of: Browser, who: People) -> None:
    thread = make.conversation(who.alice, 20)
    for at in (None, 7, 99, "x", -1):
        assert shown(get(browser_of("alice"), path(thread, at))) == [*range(20)]


def test_of_a_long_one_both_ends_and_the_place_that_the_address_names(browser_of: Browser, who: People) -> None:
    thread, client = make.conversation(who.alice, 60), browser_of("alice")
    assert shown(get(client, path(thread))) == [0, 1, 2, -53, 56, 57, 58, 59]
    page = get(client, path(thread, 30))
    assert shown(page) == [0, 1, 2, -25, *range(28, 34), -22, 56, 57, 58, 59]
    assert page.id("m30").tag == "article"
    links = [each["href"] for fold in page.id("talk").all(class_="fold") for each in fold.all("a")]
    assert links == ["?at=3#m3", "?at=27#m27", "?at=34#m34", "?at=55#m55"]
    assert shown(get(client, path(thread, 5))) == [*range(9), -47, 56, 57, 58, 59], "what touches is one"
    for nowhere in (60, 10**9, -1, "x"):
        assert shown(get(client, path(thread, nowhere))) == shown(get(client, path(thread)))
    for place in range(60):
        assert get(client, path(thread, place)).id(f"m{place}")


def test_the_line_leads_to_the_first_error_and_the_first_rating_in_it(browser_of: Browser, who: People) -> None:
    said = [{"role": role, "content": f"Message {n}."} for n, role in zip(range(60), cycle(("user", "assistant")))]
    call = {"id": "c1", "type": "function", "function": {"name": "weigh", "arguments": "{}"}}
    said[21:22] = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": json.dumps({"error": "no scales"})},
        said[21],
    ]
    org_id = next(iter(who.alice.actor.orgs.values()))
    item = importing.import_one("openai", {"id": "long", "messages": said}, who.alice.user.pk, org_id, "private")
    thread = Thread.objects.get(key=item.thread_id.partition("_")[2])
    thread.blocks.filter(kind="tool_result").update(outcome="error")
    make.rating(who.alice, thread, 35)
    make.rating(who.alice, thread, 37)
    page = get(browser_of("alice"), path(thread))
    (fold,) = page.id("talk").all(class_="fold")
    assert "1 tool use folded, 1 error, 2 ratings" in fold.words
    assert [(each["data-to"], each["href"]) for each in fold.all("a") if each.has("data-to")] == [
        ("call", "?at=3#m3"),
        ("error", "?at=22#m22"),
        ("rating", "?at=35#m35"),
    ]
    told = {jump["data-jump"]: (jump.one(class_="count").words, jump["href"]) for jump in page.all("a", data_jump=True)}
    assert told == {
        "error": ("1", f"#{fold['id']}"),
        "rating": ("2", f"#{fold['id']}"),
        "call": ("1", f"#{fold['id']}"),
    }
    marks = [each.one("title").words for each in page.id("map").all("a", href=f"#{fold['id']}")]
    assert marks == ["55 messages not shown", "1 error in messages not shown", "2 ratings in messages not shown"]


def test_an_article_of_many_steps_is_shown_whole(browser_of: Browser, who: People) -> None:
    """Its calls are not cut from it, wherever the address leads into it."""
    call = {"type": "function", "function": {"name": "weigh", "arguments": "{}"}}
    said = [{"role": "user", "content": "Weigh all."}]
    for n in range(12):
        said += [
            {"role": "assistant", "content": None, "tool_calls": [{**call, "id": f"c{n}"}]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": "12"},
        ]
    said += [{"role": "assistant", "content": "Done."}]
    said += [{"role": role, "content": "More."} for role in ("user", "assistant") * 10]
    org_id = next(iter(who.alice.actor.orgs.values()))
    item = importing.import_one("openai", {"id": "steps", "messages": said}, who.alice.user.pk, org_id, "private")
    thread = Thread.objects.get(key=item.thread_id.partition("_")[2])
    page = get(browser_of("alice"), path(thread, 12))
    article = page.id("m1")
    assert len(article.all("details", class_="call")) == 12
    assert page.id("m12") and shown(page)[:2] == [0, 1]


def test_a_report_of_a_long_thread_reads_only_what_it_shows(browser_of: Browser, who: People) -> None:
    thread = make.conversation(who.alice, 60)
    make.rating(who.alice, thread, 31)
    client, report = browser_of("admin"), UserFeedback.objects.get()
    talk = opened(client, report).id("desk-talk")
    assert [each["data-index"] for each in talk.all("article")] == ["29", "30", "31", "32"]
    assert [fold.words for fold in talk.all(class_="fold")] == ["29 messages folded t", "27 messages folded t"]
    assert talk.one("h2").one("a")["href"] == f"{path(thread)}?at=31#m31"
    whole = get(client, f"{DESK}?q=&item={report.feedback_id}&whole=1").id("desk-talk")
    indexes = [int(each["data-index"]) for each in whole.all("article")]
    assert indexes == [0, 1, 2, *range(29, 35), *range(56, 60)]
    assert f"{path(thread)}?at=3#m3" in [each["href"] for each in whole.all("a")]


def test_a_report_of_a_message_that_is_not_there_shows_the_thread_folded(browser_of: Browser, who: People) -> None:
    thread = make.conversation(who.alice, 60)
    make.rating(who.alice, thread, 31)
    UserFeedback.objects.update(message_sequence_num=99)
    talk = opened(browser_of("admin"), UserFeedback.objects.get()).id("desk-talk")
    assert talk.none("article") and [fold.words for fold in talk.all(class_="fold")] == ["60 messages folded t"]


def test_a_message_that_is_rated_far_behind_the_end_shows_its_mark(browser_of: Browser, who: People) -> None:
    """Its page may have been loaded when that was the end."""
    thread, client = make.conversation(who.alice, 60), browser_of("alice")
    headers = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{path(thread)}"}
    sent = {"sentiment": "negative", "categories": ["slow"], "notes": ""}
    answer = client.post(f"{path(thread)}messages/31/rate/", sent, headers=headers)
    assert answer.status_code == 200 and "Rated negative" in answer.content.decode()


def test_a_live_update_has_its_place_among_what_is_shown(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request of a long turn is shown with the end, because its goals may change."""
    monkeypatch.setattr(sse, "HEARTBEAT_SECONDS", 0)
    thread = make.conversation(who.alice, 60, roles=("user", "assistant", *["assistant"] * 58))
    page = get(browser_of("alice"), path(thread))
    assert shown(page) == [0, 1, 2, -53, 56, 57, 58, 59]
    thread = make.send(who.alice, thread, "[[words 3]]")
    line = Line(browser_of("alice").get(page.id("talk")["data-live"]))
    assert [each.name for each in line.news()] == ["turns", "head"] and [*line.held] == [60, 61]
    line.response.close()


@pytest.mark.parametrize("at", [None, 100])
def test_a_long_thread_costs_no_more_queries_than_one_twice_as_long(
    browser_of: Browser, who: People, at: int | None
) -> None:
    found = {queries(browser_of("alice"), path(make.conversation(who.alice, n), at)) for n in (200, 400)}
    assert len(found) == 1, found
