"""Whatever people, agents, tools and imports write is shown as text, in every place where it is shown.

`dom` refuses any page with an inline script, style, handler, frame or foreign scheme, and any that is not well nested:
so a text that breaks out of its place fails here even where nothing below looks for it.
"""

import json
import re
from collections.abc import Callable

import pytest
from django.test import Client

from accounts.models import ApiToken, mint
from core import bodies
from feedback import triage
from feedback.label_text import written_labels
from feedback.wire import TriageIn
from tests import make
from tests.conftest import Api, data_of
from tests.pages.dom import Node, dom, fragment, get, submit
from tests.people import People
from threads import importing, sharing, titles
from threads.access import thread_for
from threads.models import Thread
from threads.wire import SubjectIn

Browser = Callable[[str | None], Client]

BREAKOUT = """"'></textarea></title></script></td></article><script>alert(1)</script><img src=x onerror=alert(1)>"""
HANDLER = """' onmouseover=alert(1) x="1" style="position:fixed" <svg/onload=alert(1)>{{ 7|add:7 }}{% include 'x' %}"""
LINKS = "[a](javascript:alert(1)) <a href='javascript:alert(1)'>b</a> ![c](https://elsewhere.example/c.png) <b>bold</b>"
TURNED = "\u202eevil\u202c \u2066\u200f\u061c.exe \u0000".replace("\u0000", "")
LONG = "W" * 100_000
HOSTILE = [BREAKOUT, HANDLER, LINKS, TURNED]
SHORT_NAME = 80


def imported(person: object, words: str) -> Thread:
    """A thread with these words as its title, prompt, messages, tool names, ids, inputs, outputs and metadata."""
    call = {"id": words[:150], "type": "function", "function": {"name": words[:200], "arguments": ""}}
    call["function"]["arguments"] = json.dumps({words: words, "list": [words, {words: 1}]})
    conversation = {
        "id": words[:190],
        "title": words[:190],
        "metadata": {words[:60]: words[:200]},
        "messages": [
            {"role": "system", "content": words},
            {"role": "user", "content": words},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": words[:150], "content": words},
            {"role": "assistant", "content": words},
        ],
    }
    org_id = next(iter(person.actor.orgs.values()))  # type: ignore[attr-defined]
    item = importing.import_one("openai", conversation, person.user.pk, org_id, "org")  # type: ignore[attr-defined]
    assert item.thread_id, item.errors
    return thread_for(person.actor, item.thread_id)  # type: ignore[attr-defined]


def everywhere(browser_of: Browser, who: People, thread: Thread) -> list[Node]:
    """Every page and fragment on which something of this thread is shown."""
    alice, admin = browser_of("alice"), browser_of("admin")
    here = f"/threads/{thread.thread_id}/"
    page = get(alice, here)
    calls = [load["hx-get"] for load in page.all(class_="call-io")]
    last = thread.message_count - 1
    desk = get(admin, "/feedback/")
    opened = get(admin, "/feedback/" + desk.all("li", class_="rep")[0].one("a")["href"])
    return [
        page,
        get(alice, "/threads/"),
        get(alice, f"{here}messages/{last}/rate/"),
        fragment(alice, f"{here}messages/{last}/rate/"),
        *(get(alice, f"{call}&raw=1") for call in calls),
        *(fragment(alice, call) for call in calls),
        desk,
        opened,
        get(admin, here),
    ]


def as_shown(words: str) -> str:
    """A text on a page: what turns its direction is there as its code."""
    return re.sub("[\u202a-\u202e\u2066-\u2069]", lambda found: f"U+{ord(found[0]):04X}", words)


def turning(page: Node) -> list[str]:
    """What turns the direction of what is read: all but the fields of forms, and what names of ours are isolated by."""
    said = [
        *(child for node in page.walk() if node.tag != "textarea" for child in node.children if isinstance(child, str)),
        *(node[name] for node in page.walk() for name in ("title", "aria-label") if node.get(name)),
    ]
    return [each for each in said if re.search("[\u202a-\u202e\u2066\u2067]", each)]


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_words_are_words_everywhere(browser_of: Browser, who: People, words: str) -> None:
    """Titles, prompts, messages, tool names and ids, payloads, metadata, subjects, ratings, labels and notes."""
    thread = imported(who.alice, words)
    type(who.alice.user).objects.filter(pk=who.alice.user.pk).update(name=words[:120])
    sharing.set_subjects(who.alice.actor, thread, [SubjectIn(association_id=words[:200], note=words)])
    last = thread.message_count - 1
    report = make.rating(who.alice, thread, last, notes=words, categories=["other"])
    changes = bodies.parse(TriageIn, {"admin_label": words[:200], "admin_note": words})
    triage.update(who.admin.actor, report.feedback_id, changes)
    pages = everywhere(browser_of, who, thread)
    assert pages[0].one("h1").text.strip() == re.sub("[\u202a-\u202e\u2066-\u2069]", "", words[:190]).strip()
    assert pages[0].id("m0").one(class_="msg-body").none("b")
    assert pages[0].id(f"mark-{last}").one("p", class_="words").text == as_shown(words)
    assert pages[-2].id("desk-report").one("p", class_="words").text == as_shown(words)
    assert pages[-2].id("admin-note").text == words
    kept = " ".join(written_labels(words[:200])[0].split())
    assert kept in {tag.words for tag in pages[-2].id("desk-report").all("span", class_="tag")}
    for page in pages:
        assert page.none("img") and page.none(onerror=True)


def test_nothing_that_turns_the_direction_of_a_text_is_hidden(browser_of: Browser, who: People) -> None:
    """What is read as `rm evil` may be written `live mr`: it stays as it was written, with the codes of its turns."""
    thread = imported(who.alice, TURNED)
    sharing.set_subjects(who.alice.actor, thread, [SubjectIn(association_id=TURNED, note=TURNED)])
    last = thread.message_count - 1
    report = make.rating(who.alice, thread, last, notes=TURNED, categories=["other"])
    triage.update(who.admin.actor, report.feedback_id, bodies.parse(TriageIn, {"admin_note": TURNED}))
    pages = everywhere(browser_of, who, thread)
    assert [turning(page) for page in pages] == [[]] * len(pages)
    assert "U+202Eevil" in pages[0].id("m0").words
    assert "U+202Eevil" in pages[0].all("article", data_voice="agent")[-1].all(class_="prose")[-1].words
    assert pages[0].id("m0").one("button", class_="copy", data_copy=True)["data-copy"] == TURNED.strip(), (
        "it is copied as it was sent"
    )
    mark = pages[0].id("m0").all("span", class_="turn")[0]
    assert mark.text == "U+202E" and "direction" in mark["title"]
    assert any("\\u202eevil" in each.text for page in pages for each in page.all("pre", class_="json"))
    assert data_of(Api(who.alice.token).get(f"threads/{thread.thread_id}"))["title"] == TURNED.strip()
    assert get(browser_of("alice"), f"/threads/{thread.thread_id}/").id("title")["value"] == TURNED.strip()


def test_a_link_in_a_message_tells_nothing_to_where_it_leads(browser_of: Browser, who: People) -> None:
    thread = imported(who.alice, "[docs](https://elsewhere.example/x) ![pic](https://elsewhere.example/c.png)")
    body = get(browser_of("alice"), f"/threads/{thread.thread_id}/").one("article", class_="msg", data_voice="agent")
    assert [link["rel"] for link in body.one(class_="prose").all("a")] == ["noopener nofollow"] * 2


def test_marks_that_turn_the_direction_stay_out_of_tool_names(browser_of: Browser, who: People) -> None:
    """In one line with names of ours, a text must not rearrange what stands around it."""
    page = get(browser_of("alice"), f"/threads/{imported(who.alice, TURNED).thread_id}/")
    summary = page.one("details", class_="call").one("summary").text
    assert not set(summary) & set("\u202e\u202c\u2066\u200f")


@pytest.mark.parametrize("before", ["", "  x"])
def test_whatever_was_typed_comes_back_as_it_was(browser_of: Browser, who: People, before: str) -> None:
    """A refused form holds hostile words as words, in fields as well."""
    thread, client = make.thread(who.alice, "One", run=False), browser_of("alice")
    typed = before + BREAKOUT
    assert dom(client.post(f"/threads/{thread.thread_id}/send/", {"text": typed}), 400).id("say").text == typed
    started = submit(
        client, get(client, "/threads/start/").one("form", action="/threads/start/"), text=typed, model_profile=HANDLER
    )
    assert dom(started, 400).id("text").text == typed
    make.run_turns(thread)
    rated = client.post(f"/threads/{thread.thread_id}/messages/1/rate/", {"sentiment": BREAKOUT, "notes": typed})
    assert dom(rated, 400).id("notes-1").text == typed


def test_hostile_queries_are_words(browser_of: Browser, who: People) -> None:
    make.rating(who.alice, make.thread(who.alice))
    for words in (*HOSTILE, "a:" + BREAKOUT):
        page = dom(browser_of("alice").get("/threads/", {"q": words, "view": words, "band": words}))
        assert page.id("q")["value"] == words
        dom(browser_of("alice").get("/threads/", {"after": words}), 400)
        dom(browser_of(None).get("/signin/", {"next": words}))
        desk = dom(browser_of("admin").get("/feedback/", {"pane": words, "q": words}))
        assert {field["value"] for field in desk.all("input", name="q", value=True)} == {words}
        dom(browser_of("admin").get("/feedback/", {"after": words}), 400)
        dom(browser_of("admin").get("/feedback/", {"item": words}), 404)
        dom(browser_of("alice").get(f"/{words}/"), 404)


def test_a_hostile_name_of_a_token_and_of_a_person(browser_of: Browser, who: People) -> None:
    client = browser_of("alice")
    for words in HOSTILE:  # some of them the form refuses by now
        mint(who.alice.user, words[:SHORT_NAME].strip())
    type(who.alice.user).objects.filter(pk=who.alice.user.pk).update(name=BREAKOUT)
    names = {row.one("th").text for row in get(client, "/settings/").one("tbody").all("tr")}
    assert names == {"tests", *(words[:SHORT_NAME].strip() for words in HOSTILE)}
    assert ApiToken.objects.filter(user=who.alice.user).count() == 5


def test_a_very_long_word_is_a_page_of_reasonable_size(browser_of: Browser, who: People) -> None:
    """100 kB in every place: lists cut it, the thread folds it and says how long it is."""
    make.rating(who.alice, make.conversation(who.alice, 2), 1, notes="Short.")
    client, admin = browser_of("alice"), browser_of("admin")
    short = [len(page.content) for page in (client.get("/threads/"), admin.get("/feedback/"))]
    thread = imported(who.alice, LONG)
    make.rating(who.alice, thread, thread.message_count - 1, notes=LONG[:20_000])
    long = [len(page.content) for page in (client.get("/threads/"), admin.get("/feedback/"))]
    assert all(after - before < 3_000 for before, after in zip(short, long, strict=True)), (short, long)
    page = get(client, f"/threads/{thread.thread_id}/")
    fold = page.id("m0").one("details", class_="more")
    assert fold.one("summary").words == "97 kB more, as plain text"
    assert len(page.id("m0").one(class_="prose").words.replace(" ", "")) > 100_000
    call = page.one("details", class_="call")
    assert len(call.words) < 1_000
    assert len(client.get(f"/threads/{thread.thread_id}/").content) < 450_000
    everywhere(browser_of, who, thread)


def test_a_message_of_a_million_characters_can_be_read(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice, "x " * 500_000, run=False)
    answer = browser_of("alice").get(f"/threads/{thread.thread_id}/")
    assert len(answer.content) < 500_000
    assert "more characters are not shown" in dom(answer).id("m0").words


def test_a_title_may_not_hold_another_line(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice, "One")
    titles.retitle(who.alice.actor, thread, "A\nB")
    assert get(browser_of("alice"), f"/threads/{thread.thread_id}/").one("head").one("title").words == "A B · Heddle"
