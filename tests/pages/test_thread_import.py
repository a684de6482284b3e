"""Importing threads in the browser: check, then import, from a file or pasted text (spec 9)."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Membership
from tests import make
from tests.pages.dom import Node, dom, get
from tests.people import People
from threads import forks
from threads.access import thread_for
from threads.models import Thread

Browser = Callable[[str | None], Client]
HERE = "/threads/import/"
TALK = [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}]


USE = {"type": "tool_use", "id": "t", "name": "f", "input": {}}


def talk(origin_id: str = "c1", **more: Any) -> dict[str, Any]:
    return {"id": origin_id, "messages": TALK, **more}


def given(client: Client, what: Any, verb: str = "import", **more: Any) -> Any:
    text = what if isinstance(what, str) else json.dumps(what)
    return client.post(HERE, {"text": text, "verb": verb, **more})


def shown(response: Any) -> tuple[str, list[str]]:
    """The counts, and each line."""
    assert response.status_code == 200
    outcome = dom(response).id("outcome")
    words = [mark.words for mark in outcome.one("div", class_="btns").all(class_="mark")]
    return ", ".join(words), [line.words for line in outcome.one("ul").children if isinstance(line, Node)]


def refusal(response: Any) -> str:
    assert not Thread.objects.exists()
    return str(dom(response, 400).id("outcome").one(role="alert").words)


def test_checking_stores_nothing_and_says_what_an_import_would_do(browser_of: Browser, who: People) -> None:
    alice = browser_of("alice")
    lines = "\n".join(json.dumps(each) for each in (talk(), {"id": "c2", "messages": []}))
    counts, rows = shown(given(alice, lines + "\n\nnot json", verb="check"))
    assert counts == "1 new, 2 failed" and not Thread.objects.exists()
    assert rows[0] == "2+2? new 2 messages · line 1"
    assert rows[1].startswith("Line 2 failed messages") and rows[2].startswith(
        "Line 4 failed is not valid JSON at column"
    )


def test_an_import_leads_to_its_threads_and_the_same_again_changes_nothing(browser_of: Browser, who: People) -> None:
    alice = browser_of("alice")
    assert shown(given(alice, [talk(), talk("c2", title="Sums")], visibility="org"))[0] == "2 new"
    thread = Thread.objects.get(import_id="c2")
    assert (thread.created_by, thread.org, thread.visibility) == (who.alice.user, who.acme, "org")
    counts, rows = shown(given(alice, [talk(), talk("c2")]))
    assert (counts, rows[1]) == ("2 imported before", "Sums imported before 2 messages · conversation 2")
    checked = [talk(messages=[*TALK, *TALK]), talk("c3", title="More sums"), talk("c4", messages=TALK[1:])]
    assert shown(given(alice, checked, verb="check"))[1] == [
        "2+2? imported before has 4 messages, the stored thread 2: the new ones were not imported"
        " 2 messages · conversation 1",
        "More sums new 2 messages · conversation 2",
        "Untitled new 1 message · conversation 3",
    ]
    page = get(alice, f"/threads/{thread.thread_id}/")
    assert page.id("heading").words == "Sums"


@pytest.mark.parametrize(
    ("message", "format"),
    [
        ({"role": "user", "content": "Hi"}, "OpenAI messages"),
        (
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]},
            "Anthropic messages",
        ),
        ({"role": "user", "parts": [{"type": "text", "content": "Hi"}]}, "OpenTelemetry traces or messages"),
        ({"role": "user", "content": [{"content_type": "text", "text": "Hi"}]}, "Heddle messages"),
    ],
)
def test_the_format_is_told_by_the_conversation(
    browser_of: Browser, who: People, message: dict[str, Any], format: str
) -> None:
    alice = browser_of("alice")
    done = given(alice, ["", {"id": "c1", "messages": [message]}])
    assert f"format {format}" in dom(done).id("outcome").one("h2").words and "1 new" in shown(done)[0]
    chosen = given(alice, [talk("c2")], format="data_harness")
    assert "format data_harness" in dom(chosen).id("outcome").words


def test_the_format_is_that_of_all_and_not_of_the_first(browser_of: Browser, who: People) -> None:
    """Plain words are the same in several formats."""
    used = [{"role": "user", "content": "Look."}, {"role": "assistant", "content": [USE]}]
    done = given(browser_of("alice"), [talk(), {"id": "c2", "messages": used}], verb="check")
    assert "format Anthropic messages" in dom(done).id("outcome").words and shown(done)[0] == "2 new"


def test_what_is_there_twice_is_counted_once_before_as_after(browser_of: Browser, who: People) -> None:
    for verb in ("check", "import"):
        assert shown(given(browser_of("alice"), [talk(), talk()], verb=verb))[0] == "1 new, 1 imported before"


def test_what_is_imported_after_a_check_is_what_was_checked(browser_of):
    """Whatever was edited since is checked first, and nothing is stored."""
    alice = browser_of("alice")
    checked = dom(given(alice, [talk()], verb="check")).id("outcome").one("input", name="checked")["value"]
    edited = dom(given(alice, [talk(), {**talk(), "id": "c2"}], verb="import_checked", checked=checked)).id("outcome")
    assert "Nothing was imported" in edited.one(role="alert").words and not Thread.objects.exists()
    again = edited.one("input", name="checked")["value"]
    done = dom(given(alice, [talk(), {**talk(), "id": "c2"}], verb="import_checked", checked=again)).id("outcome")
    assert done.one("h2").words.startswith("Imported") and Thread.objects.count() == 2
    other = dom(given(alice, [talk()], verb="import_checked", checked=checked, visibility="org")).id("outcome")
    assert other.one(role="alert"), "who can read them was part of the check"


def test_after_a_check_one_press_imports_what_is_new(browser_of: Browser, who: People) -> None:
    checked = dom(given(browser_of("alice"), [talk(), {"id": "c2"}], verb="check"))
    [button] = [each for each in checked.id("outcome").all("button")]
    assert (button.words, button["value"]) == ("Import the 1 new", "import_checked")


def filed(*conversations: dict[str, Any]) -> SimpleUploadedFile:
    lines = "\r\n".join(json.dumps(each) for each in conversations)
    return SimpleUploadedFile("a.jsonl", b"\xef\xbb\xbf" + lines.encode() + b"\r\n\r\n")


def test_a_file_is_imported_and_without_scripts_kept_as_text(browser_of: Browser, who: People) -> None:
    alice = browser_of("alice")
    checked = given(alice, "", verb="check", file=filed(talk("filed")))
    assert shown(checked)[0] == "1 new" and not Thread.objects.exists()
    assert shown(given(alice, dom(checked).id("text").text))[0] == "1 new"
    assert Thread.objects.get().import_id == "filed"
    told = alice.post(HERE, {"verb": "check", "text": "", "file": filed(talk())}, headers={"HX-Request": "true"})
    assert dom(told).id("text").text == "", "with scripts the chosen file is still there"


def test_a_file_beside_pasted_text_is_refused(browser_of: Browser, who: People) -> None:
    assert "File: There is pasted text, too; give one of the two." in refusal(
        given(browser_of("alice"), [talk()], file=filed(talk("filed")))
    )


def test_a_conversation_without_an_id_gets_one_of_its_content(browser_of: Browser, who: People) -> None:
    alice = browser_of("alice")
    for counts in ("1 new", "1 imported before"):
        assert shown(given(alice, {"messages": TALK}))[0] == counts
    assert shown(given(alice, json.dumps({"messages": [*TALK, *TALK]})))[0] == "1 new"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"text": " \n "}, "Conversations: Paste conversations, or choose a file."),
        ({"text": "[]"}, "Conversations: It has no conversations."),
        ({"text": "{}\n" * 501}, "Conversations: It has more than 500 conversations, which is the most at once."),
        ({"text": "1\n" * 300_000}, "Conversations: It has more than 500 conversations, which is the most at once."),
        (
            {"text": '{\n "id": 1\n}\n{'},
            "Conversations: It is neither JSON nor JSON Lines; line 1 is not valid JSON at column 2",
        ),
        ({"text": "[" * 100_000}, "Conversations: It is neither JSON nor JSON Lines; line 1 is nested too deeply."),
        ({"text": "{}", "format": "yaml"}, "Format: It must be one of openai"),
        ({"text": "{}", "visibility": "all"}, "Visibility: It must be private or org."),
    ],
    ids=["empty", "no list", "too many", "too many values", "pretty", "deep", "format", "visibility"],
)
def test_what_cannot_be_imported_is_named(browser_of: Browser, who: People, fields: dict[str, str], said: str) -> None:
    response = browser_of("alice").post(HERE, {"verb": "import", **fields})
    assert said in refusal(response)
    page = dom(response, 400)
    field, is_of_text = page.id("text"), said.startswith("Conversations: ")
    assert field.words.split() == fields["text"].split()
    assert field.has("aria-invalid") == is_of_text
    assert field["aria-describedby"] == ("wrong-text text-hint" if is_of_text else "text-hint")


@pytest.mark.parametrize("text", ['{"id": "\\ud800", "messages": []}\n\x00', "[1, null]", "{}", "{}\n["])
def test_hostile_text_fails_line_by_line(browser_of: Browser, who: People, text: str) -> None:
    counts, rows = shown(given(browser_of("alice"), text))
    assert counts.endswith("failed") and all("failed" in row for row in rows) and not Thread.objects.exists()


def test_somebody_without_an_org_learns_why_nothing_goes(browser_of: Browser, who: People) -> None:
    Membership.objects.filter(user=who.bob.user).delete()
    assert "not in an org yet" in refusal(given(browser_of("bob"), [talk()]))


def test_more_conversations_are_no_more_queries_for_the_result(browser_of: Browser, who: People) -> None:
    alice, counted = browser_of("alice"), []
    given(alice, [talk(f"c{number}") for number in range(20)])
    for number in (2, 12):
        with CaptureQueriesContext(connection) as captured:
            given(alice, [talk(f"c{each}") for each in range(number)])
        counted.append(len(captured) - 3 * number)  # each is looked up, and compared with what is stored
    assert counted[0] == counted[1]


TIMED = [{**each, "created": f"2024-05-03T10:0{minute}:00Z"} for minute, each in enumerate([*TALK, *TALK])]


def told(page: Node) -> tuple[str, list[tuple[str, str]]]:
    """The facts of the head, and who said each message, with its time."""
    by = [article.one("header", class_="msg-by") for article in page.id("talk").all("article", class_="msg")]
    said = [(each.one("h2").words, "".join(time.words for time in each.all("time"))) for each in by]
    return page.id("head").one("dl", data_flow=True).words, said


def test_a_conversation_without_times_is_given_none(browser_of: Browser, who: People) -> None:
    """Its messages got the moment of the import, which no message has, and nobody here wrote them."""
    given(browser_of("alice"), [talk()])
    thread = make.send(who.alice, Thread.objects.get(), "And 3+3?")
    fork = thread_for(who.alice.actor, forks.fork(who.alice.actor, thread, 3).thread_id)
    again = make.send(who.alice, thread_for(who.alice.actor, forks.fork(who.alice.actor, fork, 3).thread_id), "4+4?")
    for each in (thread, fork, again):
        facts, said = told(get(browser_of("alice"), f"/threads/{each.thread_id}/"))
        assert said[:2] == [("User", ""), ("Agent", "")]
        assert [name for name, _ in said[2:]] == ["Alice", "Agent", "Alice", "Agent"][: len(said) - 2]
        assert all(":" in clock for _, clock in said[2:])
        assert ("imported just now" in facts, "started" in facts) == (
            (True, False) if each == thread else (False, True)
        )


def test_a_conversation_with_times_keeps_them(browser_of: Browser, who: People) -> None:
    given(browser_of("alice"), [{"id": "c1", "messages": TIMED}, talk("c2", created="2024-05-03T10:00:00Z")])
    facts, said = told(get(browser_of("alice"), f"/threads/{Thread.objects.get(import_id='c1').thread_id}/"))
    assert "imported just now" in facts and "started on" in facts
    assert said == [("User", "10:00"), ("Agent", "10:01"), ("User", "10:02"), ("Agent", "10:03")]
    facts, said = told(get(browser_of("alice"), f"/threads/{Thread.objects.get(import_id='c2').thread_id}/"))
    assert "imported just now" in facts and "started on" in facts
    assert said == [("User", "10:00"), ("Agent", "")], "only the first can have been said when all began"


def test_a_thread_that_was_written_here_is_not_imported(browser_of: Browser, who: People) -> None:
    facts, said = told(get(browser_of("alice"), f"/threads/{make.thread(who.alice).thread_id}/"))
    assert "imported" not in facts and "started" in facts and [name for name, _ in said] == ["Alice", "Agent"]


def test_the_list_marks_what_was_imported(browser_of: Browser, who: People) -> None:
    make.thread(who.alice, "Written here")
    given(browser_of("alice"), [talk()])
    rows = [row.words for row in get(browser_of("alice"), "/threads/").all("th", class_="title")]
    assert [("imported" in row) for row in rows] == [True, False]


def test_who_goes_on_with_an_imported_thread_is_told_who_answers(browser_of: Browser, who: People) -> None:
    client, calls = browser_of("alice"), [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    asking = {"role": "assistant", "content": None, "tool_calls": calls}
    given(
        client, {"id": "with tools", "messages": [*TALK, asking, {"role": "tool", "tool_call_id": "c", "content": "x"}]}
    )
    with_tools, started = Thread.objects.get(), make.thread(who.alice)
    without = make.imported(who.alice, [("user", "Hi"), ("assistant", "Hello")])
    said, tools = "Simulated answers here.", "Tools that only the import knows cannot run."
    for thread, told in ((with_tools, [True, True]), (without, [True, False]), (started, [False, False])):
        words = get(client, f"/threads/{thread.thread_id}/").id("write").words
        assert [said in words, tools in words] == told
