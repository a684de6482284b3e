"""A text that is too long for its field is refused beside it and kept as it was pasted, not cut by the browser."""

from collections.abc import Callable

import pytest
from django.test import Client

from tests import make
from tests.pages.dom import Node, dom, get, submit, then
from tests.people import People
from threads.models import Thread

Browser = Callable[[str | None], Client]
LONG = "x" * 50_000


def field(page: Node, name: str) -> Node:
    fields = [each for each in [*page.all("input"), *page.all("textarea")] if each.get("name") == name]
    return next((each for each in fields if each.has("aria-invalid")), fields[0])


@pytest.mark.parametrize(
    ("person", "place", "door", "name", "also"),
    [
        ("alice", "/settings/", "/settings/tokens/", "name", {}),
        ("admin", "/settings/webhooks/", "", "description", {"url": "https://hooks.example.com/x"}),
        ("admin", "/settings/webhooks/", "", "url", {}),
        ("alice", "/agents/new/", "", "name", {"text": "Hi"}),
        ("alice", "/catalogue/worlds/new/", "", "name", {}),
        ("admin", "/settings/labels/", "", "name", {}),
        ("admin", "/settings/labels/", "", "description", {"name": "ok"}),
        ("admin", "/settings/members/", "", "name", {"email": "x@y.test"}),
        ("admin", "/settings/members/", "", "email", {"name": "X"}),
        ("alice", "/catalogue/import/", "", "server", {"text": '{"name": "x", "inputSchema": {"type": "object"}}'}),
        ("alice", "/catalogue/worlds/new/", "", "fixture_tool", {"fixture_output": "1"}),
        ("alice", "/catalogue/worlds/new/", "", "fixture_message", {"fixture_tool": "x", "fixture_code": "internal"}),
        ("alice", "/skills/new/", "", "name", {"description": "d", "body": "b"}),
        ("alice", "/skills/new/", "", "description", {"name": "n", "body": "b"}),
    ],
)
def test_what_is_too_long_is_told_beside_its_field_and_kept(
    browser_of: Browser, who: People, person: str, place: str, door: str, name: str, also: dict[str, str]
) -> None:
    client = browser_of(person)
    forms = get(client, place).all("form", action=door or place)
    form = next(each for each in forms if any(node.get("name") == name for node in each.walk()))
    assert not field(form, name).has("maxlength")
    refused = field(dom(submit(client, form, **also, **{name: LONG}), 400), name)
    assert refused["aria-invalid"] == "true" and refused["aria-describedby"]
    assert (refused.get("value") or refused.text) == LONG


def test_a_title_that_is_too_long_changes_nothing_and_is_told(browser_of: Browser, who: People) -> None:
    thread, client = make.thread(who.alice, "Short"), browser_of("alice")
    form = get(client, f"/threads/{thread.thread_id}/").one("form", action=f"/threads/{thread.thread_id}/title/")
    assert not field(form, "title").has("maxlength")
    page = then(client, submit(client, form, title=LONG))
    assert "at most 200 characters, not 50,000" in page.id("notes").words
    assert Thread.objects.get().title == "Short"


@pytest.mark.parametrize(
    ("door", "sent", "name", "said"),
    [
        (
            "check/",
            {"verb": "keep", "kind": "says", "value": "x", "title": LONG},
            "title",
            "Title must have at most 120",
        ),
        ("check/", {"verb": "keep", "kind": "says", "value": LONG}, "value", "at most 1,000 characters, not 50,000"),
        ("", {"verb": "label", "label": LONG}, "label", "at most 60"),
    ],
)
def test_what_is_too_long_at_the_desk_is_told_and_kept(
    browser_of: Browser, who: People, door: str, sent: dict[str, str], name: str, said: str
) -> None:
    report = make.rating(who.alice, make.thread(who.alice)).feedback_id
    here = f"/feedback/?q=&item={report}&check=1"
    client = browser_of("admin")
    assert not field(get(client, here), name).has("maxlength")
    page = dom(client.post(f"/feedback/{report}/{door}", {"here": here, **sent}), 400)
    assert said in page.one("main").words, [w.words for w in page.all(class_="wrong")]
    assert (field(page, name).get("value") or field(page, name).text) == LONG
