"""One thread, to be read: its head, its turns, the way around in it, and what each reader may do there."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Membership
from accounts.orgs import set_policy
from feedback.models import UserFeedback
from tests import hooks, make
from tests.pages.dom import Node, fragment, get, parsed, queries
from tests.people import People, Person
from threads import forks, sharing, titles
from threads.models import Block, Message, Thread
from threads.status import ThreadStatus

Browser = Callable[[str | None], Client]
SUMMARY = {"goal_type": "dataset_summary", "dataset_id": "ds_1"}
CHECKLIST = {"goal_type": "checklist", "items": {"rinsed": "Every dock was rinsed", "measured": "Every contact"}}


def path(thread: Thread) -> str:
    return f"/threads/{thread.thread_id}/"


def calls(*sums: str) -> str:
    """What makes the simulator work these out with its tool."""
    return " ".join(f'[[call calculate {{"expression": "{each}"}}]]' for each in sums)


def articles(page: Node) -> list[Node]:
    return page.id("talk").all("article", class_="msg")


def doors(page: Node, thread: Thread) -> set[str]:
    """What the page offers to do with the thread, by the last part of each address."""
    here = path(thread)
    led = [node.get("action") or node.get("formaction") or node.get("hx-get") or "" for node in page.all()]
    found = {each.removeprefix(here).split("/")[0] for each in led if each.startswith(here)}
    return {"rate" if each == "messages" else each for each in found} - {"calls", "next"}


def test_the_head_says_what_the_thread_is(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice, "Where is my bike?", model_profile="simulated", system_prompt="Be brief.")
    sharing.pin(who.alice.actor, thread, pinned=True)
    head = get(browser_of("alice"), path(thread)).id("head")
    assert head.one("h1").words == "Where is my bike?"
    facts = head.one("dl", data_flow=True).words
    for fact in ("Idle", "Alice", "simulated", "2 messages", "started just now", "private", "pinned", thread.thread_id):
        assert fact in facts, fact
    assert head.one("button", class_="copy")["data-copy"] == thread.thread_id
    assert head.id("head-context").one("dd").words == "Be brief."


def test_the_way_back_leads_to_its_row(browser_of: Browser, who: People) -> None:
    thread, client = make.thread(who.alice), browser_of("alice")
    back = get(client, path(thread)).one("nav", class_="crumbs").one("a")["href"]
    listed, _, row = back.partition("#")
    assert get(client, listed).id(row)["href"] == path(thread)


@pytest.mark.parametrize(
    ("line", "is_kept"),
    [
        ("pump & <b> #1 50%", True),
        ('"a pump" is:mine', True),
        ("text:pump", True),
        ("is:mine", False),
        ("pump colour:red", False),
        ("x" * 2001, False),
        ("\ud800 pump", True),
        ("", False),
    ],
)
def test_the_way_back_leads_to_the_search_that_it_was_found_by(
    browser_of: Browser, who: People, line: str, is_kept: bool
) -> None:
    """Not to one that looks for nothing in threads, or is invalid."""
    thread, client = make.thread(who.alice, "A pump & <b> #1 50%"), browser_of("alice")
    query = urlencode({"q": line}, errors="replace")
    page = get(client, f"{path(thread)}?{query}")
    row = f"#t-{thread.thread_id}"
    assert page.one("nav", class_="crumbs").one("a")["href"] == f"/threads/{f'?{query}' if is_kept else ''}{row}"
    assert (f"q={quote(line, safe='/', errors='replace')}&" in page.id("talk")["data-live"]) is is_kept


def test_a_rating_leaves_the_way_back_as_it_was(browser_of: Browser, who: People) -> None:
    thread, client = make.thread(who.alice, "A pump"), browser_of("alice")
    shown = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{path(thread)}?q=pump"}
    answer = client.post(f"{path(thread)}messages/1/rate/", {"sentiment": "negative"}, headers=shown)
    back = parsed(answer.content.decode()).id("bar").one("nav", class_="crumbs").one("a")["href"]
    assert back == f"/threads/?q=pump#t-{thread.thread_id}"


def test_a_title_that_is_how_the_first_message_begins_is_not_seen_above_it_again(
    browser_of: Browser, who: People
) -> None:
    thread, client = make.thread(who.alice, f"Count the bikes.\n{'Then the docks. ' * 20}"), browser_of("alice")
    for given, is_hidden in ((None, True), ("Bikes", False)):
        if given:
            titles.retitle(who.alice.actor, thread, given)
        page = get(client, path(thread))
        heading = page.id("heading")
        assert heading.words == (given or "Count the bikes.") and (heading.get("class") == "sr") is is_hidden
        assert heading.words in page.one("nav", class_="crumbs").words
    long = make.thread(who.alice, "Count the bikes at the harbour, " * 20)
    assert get(client, path(long)).id("heading").get("class") == "sr", "a title that was cut is the same beginning"
    goal = make.conversation(who.alice, 1, roles=("assistant",))
    assert get(client, path(goal)).id("heading").get("class") is None


def test_the_head_says_scope_and_screen_in_words(browser_of: Browser, who: People) -> None:
    new_year, half_past = 1_735_689_600_000_000_000, 1_735_723_800_000_000_000
    thread = make.thread(
        who.alice,
        analysis_scope={"start_time": new_year, "end_time": half_past},
        client_context={"view_ids": ["stations"], "table_state": {"sort": "name", "page": 2}},
    )
    told = get(browser_of("alice"), path(thread)).id("head-context")
    assert [each.words for each in told.all("dt")] == ["Scope", "On screen"]
    scope, screen = (each.words for each in told.all("dd"))
    assert scope == "1 Jan 2025, 00:00 UTC to 1 Jan 2025, 09:30 UTC"
    assert screen == "stations, table state: 2 fields"


def test_who_speaks_is_said_and_shown(browser_of: Browser, who: People) -> None:
    """A person is named, the agent is the agent; a message's place and time stand beside it."""
    thread = make.send(who.alice, make.thread(who.alice, "One"), "Two")
    person, agent, again, _ = articles(get(browser_of("alice"), path(thread)))
    assert (person["data-voice"], person.one("h2").words) == ("person", "Alice")
    assert (agent["data-voice"], agent.one("h2").words) == ("agent", "Agent")
    assert (person["id"], again["id"]) == ("m0", "m2")
    assert again.one("a", href="#m2") and again.one("time").has("datetime")


def test_a_call_is_one_line_with_its_outcome_and_leads_to_its_payloads(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice, f"Add {calls('2 + 3', '1/0')}")
    page = get(browser_of("alice"), path(thread))
    good, bad = page.all("details", class_="call")
    assert (good["data-outcome"], bad["data-outcome"]) == ("success", "error")
    assert "2 + 3" in good.one("summary").words
    assert bad.one("summary").one(class_="outcome")["data-tone"] == "neg"
    load = bad.one(class_="call-io")
    assert load["hx-get"] == load.one("a")["href"] and load["hx-get"].startswith(path(thread) + "calls/")
    assert "division by zero" in load.words.lower()
    assert fragment(browser_of("alice"), load["hx-get"]).all("pre")


def lines(page: Node, where: str = "talk") -> list[str]:
    """The tool uses that are shown, as one letter each, and the words of those that are folded."""
    said: list[str] = []
    for each in page.id(where).all("details"):
        if each.get("class") == "run":
            said.append(each.all("summary")[0].words)
        elif each.parent and each.parent.get("class") != "run":
            said.append("x" if each["data-outcome"] == "error" else "v")
    return said


def test_many_calls_in_a_row_fold_and_say_of_which_tools(browser_of: Browser, who: People) -> None:
    """The first two and the last stay, and everything that failed: that is what is looked for."""
    client = browser_of("alice")

    def shown(text: str) -> list[str]:
        return lines(get(client, path(make.thread(who.alice, text))))

    good = [f"{n} + 1" for n in range(9)]
    assert shown(calls(*good[:6])) == ["v"] * 6, "three are not worth a fold"
    assert shown(calls(*good[:7])) == ["v", "v", "4 more tool uses: calculate × 4", "v"]
    assert shown(calls(*good[:6], "1/0", *good[:3])) == ["v"] * 6 + ["x"] + ["v"] * 3
    folds = [f"{n} more tool uses: calculate × {n}" for n in (6, 4)]
    assert shown(calls(*good, "1/0", *good[:7])) == ["v", "v", folds[0], "v", "x", "v", "v", folds[1], "v"]


def used(person: Person, *names: str) -> Thread:
    """An imported thread whose agent used these tools, each in a message of its own."""
    said: list[tuple[str, str] | dict[str, Any]] = [("user", "Go.")]
    for at, name in enumerate(names):
        use = {"id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        said.append({"role": "assistant", "content": None, "tool_calls": [use]})
        said.append({"role": "tool", "tool_call_id": f"call_{at}", "content": "done"})
    return make.imported(person, [*said, ("assistant", "Done.")])


def test_a_fold_names_three_tools_the_most_used_first(browser_of: Browser, who: People) -> None:
    thread = used(who.alice, "begin", "ask", "ask", "read", "find", "find", "find", "mark", "tell", "end")
    told = "7 more tool uses: find × 3, ask, read, 2 other tools"
    assert lines(get(browser_of("alice"), path(thread))) == ["v", "v", told, "v"]


def test_a_call_that_was_rated_or_found_is_not_folded(browser_of: Browser, who: People) -> None:
    client = browser_of("alice")
    rated = used(who.alice, *["ask"] * 16)
    make.rating(who.alice, rated, 11)
    assert lines(get(client, path(rated))) == ["v"] * 8 + ["7 more tool uses: ask × 7", "v"]
    report = UserFeedback.objects.get()
    desk = get(browser_of("admin"), f"/feedback/?item={report.feedback_id}")
    assert "v" * 8 in "".join(lines(desk, "desk-talk"))
    used(who.alice, *["ask"] * 3, "look", *["ask"] * 8)
    row = get(client, "/threads/?q=tool:look").one(class_="title").one("a")
    assert lines(get(client, row["href"])) == ["v"] * 6 + ["5 more tool uses: ask × 5", "v"]


def test_the_message_with_a_result_is_reached_at_its_call(browser_of: Browser, who: People) -> None:
    """The anchor of a message with several results stands at the first of their calls."""
    thread = make.thread(who.alice, f"Add {calls('2 + 3', '1/0')}")
    assert not Block.objects.filter(thread=thread, idx=2).exclude(kind="tool_result").exists()
    page = get(browser_of("alice"), path(thread))
    assert page.id("m2").within("details")["id"] == "c1-0"


def test_a_call_that_took_no_time_says_so_and_one_of_unknown_time_does_not(browser_of: Browser, who: People) -> None:
    """A time of 0 was measured where the call was made here; an import that knows none stores the same."""
    client = browser_of("alice")
    thread = make.thread(who.alice, f"Add {calls('2 + 3')}")
    result = Block.objects.get(thread=thread, kind="tool_result")
    result.data = {**result.data, "runtime_ms": 0}
    result.save()
    call = get(client, path(thread)).one("details", class_="call")
    assert call.one(class_="num").words == "< 1 ms"
    assert "< 1 ms" in get(client, call.one(class_="call-io").one("a")["href"]).one("main").words
    refused = get(client, path(make.thread(who.alice, "[[call nowhere {}]]"))).one("details", class_="call")
    assert (refused["data-outcome"], refused.one(class_="num").words) == ("error", "")


def test_the_jumps_count_and_lead_to_the_first_of_each_kind(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice, f"Add {calls('1/0', '1')}")
    last = thread.message_count - 1
    make.rating(who.alice, thread, last, "positive")
    page = get(browser_of("alice"), path(thread))
    jumps = {each["data-jump"]: each for each in page.id("bar").all("a", data_jump=True)}
    assert {key: each.one(class_="count").words for key, each in jumps.items()} == {
        **{"error": "1", "rating": "1", "call": "2"}
    }
    assert page.id(jumps["error"]["href"][1:])["data-outcome"] == "error"
    assert jumps["rating"]["href"] == f"#m{last}"
    assert page.none("a", data_jump="none")


def test_nothing_to_jump_to_is_nothing_to_press(browser_of: Browser, who: People) -> None:
    assert get(browser_of("alice"), path(make.thread(who.alice))).none("a", data_jump=True)


def test_the_map_has_a_mark_for_everything_and_each_leads_there(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice, f"Add {calls('1/0')}", goals=[SUMMARY])
    thread = make.send(who.alice, thread, "And fail [[fail]]")
    make.rating(who.alice, thread, thread.message_count - 1, "negative")
    page = get(browser_of("alice"), path(thread))
    kinds = [mark["data-k"] for mark in page.id("map").all("rect")]
    assert kinds.count("person") == 2 and kinds.count("goal") == 1 and kinds.count("fault") == 2
    assert {"tool", "agent"} <= set(kinds)
    for link in page.id("map").all("a"):
        assert link.one("title").words and page.id(link["href"][1:])


def test_a_goal_stands_beside_the_turn_that_declared_it_with_its_attempts(browser_of: Browser, who: People) -> None:
    """B96 to B98 on a page."""
    done = make.thread(who.alice, "Sum it up", goals=[SUMMARY])
    page = get(browser_of("alice"), path(done))
    note = page.id("m0").one("section", class_="margin")
    assert "Dataset summary" in note.one("h3").words and "achieved" in note.one("h3").words
    assert note.one("p").words == "ds_1 · 1 attempt"
    assert note.one("details").one("summary").words == "1 of 1 done" and not note.one("details").has("open")
    assert "summary Simulated summary of dataset ds_1" in note.one("ul").words
    assert page.id(note.one("ol").one("a")["href"][1:])["class"] == "call"
    assert "1 of 1 achieved" in page.id("head").words
    missed = get(browser_of("alice"), path(make.thread(who.alice, "[[refuse-goals]]", goals=[SUMMARY])))
    assert "failed" in missed.id("m0").one("section", class_="margin").one("h3").words
    assert "Goals failed" in missed.id("status").words


def test_a_goal_says_what_was_checked_and_a_failed_one_why(browser_of: Browser, who: People) -> None:
    client, missed = browser_of("alice"), make.thread(who.alice, "[[refuse-goals]]", goals=[CHECKLIST])
    page = get(client, path(missed))
    note = page.id("m0").one("section", class_="margin")
    assert note.one("p").words == "No attempt, given up after 4 answers"
    assert note.one("details").has("open") and note.one("summary").words == "0 of 2 done"
    assert [item.words for item in note.all("li")] == ["rinsed Every dock was rinsed", "measured Every contact"]
    (mark,) = page.id("map").all("rect", data_k="missed")
    assert mark.parent and mark.parent.one("title").words == "Goal Checklist, failed, message 0"
    met = get(client, path(make.thread(who.alice, "Check it", goals=[CHECKLIST])))
    note = met.id("m0").one("section", class_="margin")
    assert [item["data-tone"] for item in note.one("ul").all("li")] == ["pos", "pos"]
    assert note.one("ul").all("li")[0].words == "rinsed Simulated evidence."
    assert met.id("map").one("rect", data_k="goal")
    stopped = make.thread(who.alice, "Stop", run=False, goals=[CHECKLIST])
    client.post(path(stopped) + "cancel/")
    note = get(client, path(stopped)).id("m0").one("section", class_="margin")
    assert note.one("p").words == "No attempt, the turn was cancelled"


def test_an_attempt_that_was_refused_says_which_items_it_held(browser_of: Browser, who: People) -> None:
    """What came is shown as far as it can be read; an agent may hand in anything."""
    given = '{"report": [{"item": "rinsed", "done": true, "evidence": "Wet."}, {"item": "measured", "done": false}, 7]}'
    text = f"[[call achieve_checklist {given}]] [[refuse-goals]]"
    page = get(browser_of("alice"), path(make.thread(who.alice, text, goals=[CHECKLIST])))
    note = page.id("m0").one("section", class_="margin")
    assert note.one("summary").words == "1 of 2 done"
    assert [item.get("data-tone") for item in note.one("ul").all("li")] == ["pos", "neg"]
    assert note.one("ol").one("a").words.startswith("report.")


def test_only_who_can_send_is_told_what_to_send(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice, "[[fail]]", visibility="org")
    report = make.rating(who.alice, thread)
    for name, is_told in (("alice", True), ("bob", False)):
        fault = get(browser_of(name), path(thread)).id("m1").one(class_="fault")
        assert ("and send it again" in fault.words) == is_told
    desk = get(browser_of("admin"), f"/feedback/?q=&item={report.feedback_id}").id("desk-talk")
    assert "Generation failed" in desk.words and "send it again" not in desk.words


def test_a_failed_and_a_cancelled_answer_look_like_it(browser_of: Browser, who: People) -> None:
    """B61, B162: an error is an error, a stop is not."""
    failed = get(browser_of("alice"), path(make.thread(who.alice, "[[fail]]"))).id("m1").one(class_="fault")
    assert failed.one("span", class_="quiet").words == "Remove [[fail]] from the message and send it again."
    assert (failed["data-tone"], failed.one("strong").words) == ("neg", "Generation failed")
    client = browser_of("alice")
    running = make.thread(who.alice, "Hello", run=False)
    client.post(path(running) + "cancel/")
    page = get(client, path(running))
    assert page.id("m1").one(class_="fault")["data-tone"] == "warn"
    assert page.id("m1").one(class_="fault").one("strong").words == "Cancelled"
    assert page.id("status").words == "Cancelled"


def test_forks_and_their_source_lead_to_each_other(browser_of: Browser, who: People) -> None:
    """B135: lineage both ways; a source that may not be read is not named."""
    source = make.thread(who.alice, "The source")
    forked = forks.fork(who.alice.actor, source, 1)
    by_admin = forks.fork(who.admin.actor, source, 1)
    client = browser_of("alice")
    there = get(client, path(source)).id("head").one("a")
    assert there["href"] == f"/threads/{forked.thread_id}/"
    back, compare = get(client, there["href"]).id("head").all("a")
    assert compare["href"] == there["href"] + "compare/"
    assert back["href"] == path(source) + "?at=1#m1" and back.words == "The source"
    bar = get(client, there["href"]).id("bar")
    assert bar.one("nav").one("svg")["aria-label"] == "Fork" and get(client, path(source)).id("bar").one("nav").none(
        "svg"
    )
    assert bar.one("a", data_key="d")["href"] == there["href"] + "compare/"
    assert "forked into" in get(browser_of("admin"), path(source)).id("head").words
    Thread.objects.filter(key=by_admin.thread_id[4:]).update(created_by=who.bob.user)
    hidden = get(browser_of("bob"), f"/threads/{by_admin.thread_id}/").id("head")
    assert "forked from a thread you cannot read" in hidden.words
    bar = get(browser_of("bob"), f"/threads/{by_admin.thread_id}/").id("bar")
    assert bar.one("nav").one("svg")["aria-label"] == "Fork" and bar.none("a", data_key="d")
    assert hidden.none("a") and "The source" not in hidden.one("dl", data_flow=True).words


MAY_READ = {"live", "rate", "pin"}
MAY_OWN = {*MAY_READ, "send", "fork", "title"}


@pytest.mark.parametrize(
    ("name", "visibility", "offered"),
    [
        ("alice", "private", MAY_OWN),
        ("alice", "org", MAY_OWN),
        ("bob", "private", None),
        ("bob", "org", MAY_READ),
        ("eve", "private", None),
        ("eve", "org", None),
        ("admin", "private", {*MAY_READ, "fork"}),
        ("admin", "org", {*MAY_READ, "fork"}),
    ],
)
def test_the_page_offers_what_its_reader_may_do_and_nothing_else(
    browser_of: Browser, who: People, name: str, visibility: str, offered: set[str] | None
) -> None:
    """B28 to B30, B42, B141 to B143, B145."""
    thread = make.thread(who.alice, "Hello", visibility=visibility)
    page = get(browser_of(name), path(thread), 200 if offered else 403)
    if offered is None:
        reason = "private to Alice" if name == "bob" else "You are not a member of this thread's org"
        assert reason in page.one("main").words
        assert ("Alice" in page.words) == (name == "bob"), "strangers are not told whose it is"
        assert "Hello" not in page.words and thread.title not in page.words
        return
    assert doors(page, thread) | {"live"} == offered
    assert page.id("talk")["data-live"].startswith(path(thread) + "live/?token=v1.")


def test_a_colleague_is_told_whose_a_private_thread_is_and_whether_it_can_be_shared(
    browser_of: Browser, who: People
) -> None:
    """B28, T8."""
    thread, bob = make.thread(who.alice, "Hello"), browser_of("bob")
    told = get(bob, path(thread), 403).one("main").words
    assert "This thread is private to Alice, and acme does not allow sharing it." in told
    set_policy("acme", "visibility_may_change", True)
    told = get(bob, path(thread), 403).one("main").words
    assert "This thread is private to Alice. Only they can share it with acme." in told
    assert "Alice" not in browser_of("eve").get(path(thread)).content.decode()


def test_policies_of_the_org_open_further_doors(browser_of: Browser, who: People) -> None:
    """B143, B144, B145."""
    thread = make.thread(who.alice, "Hello", visibility="org")
    set_policy("acme", "members_may_fork", True)
    set_policy("acme", "visibility_may_change", True)
    assert doors(get(browser_of("bob"), path(thread)), thread) == {"rate", "pin", "fork"}
    assert "visibility" in doors(get(browser_of("alice"), path(thread)), thread)
    assert "visibility" not in doors(get(browser_of("admin"), path(thread)), thread)


def test_a_running_turn_can_be_stopped_and_not_written_to(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice, "Hello", run=False)
    page = get(browser_of("alice"), path(thread))
    assert page.id("cancel")["formaction"] == path(thread) + "cancel/"
    assert page.id("send").has("disabled")
    assert page.id("say")["placeholder"] == "Write now, send when the agent is done"
    assert page.id("status")["data-tone"] == "live"
    assert get(browser_of("admin"), path(thread)).none(id="cancel")


def test_what_is_being_written_cannot_be_rated_or_forked_at(browser_of: Browser, who: People) -> None:
    """B120, B140."""
    thread = make.thread(who.alice, "Hello", run=False)
    make.half_answered(thread, "Half of ", "an answ")
    article = get(browser_of("alice"), path(thread)).id("m1")
    assert article["data-state"] == "generating"
    assert article.one(class_="prose").words == "Half of an answ" and article.one(class_="caret")
    assert article.none(class_="msg-acts") and article.none("button")


def test_an_answer_is_copied_as_it_was_written(browser_of: Browser, who: People) -> None:
    """By whoever reads it; one that the page folds is not said a second time for that."""
    thread = make.thread(who.alice, "**Loud** and clear", visibility="org")
    button = get(browser_of("bob"), path(thread)).id("m1").one("button", data_copy=True)
    assert "“**Loud** and clear”" in button["data-copy"] and button["aria-label"] == "Copy message 1"
    long = make.thread(who.alice, "[[words 5000]]")
    answer = get(browser_of("alice"), path(long)).id("m1")
    assert answer.one("details", class_="more") and answer.none("button", data_copy=True)


def test_a_tool_that_waits_for_its_client_says_so(browser_of: Browser, who: People) -> None:
    page = get(browser_of("alice"), path(make.waiting(who.alice)))
    assert page.id("status").words == "Tool pending"
    assert page.one("details", class_="call")["data-outcome"] == "waiting"
    assert page.id("cancel")


def test_a_thread_of_another_surface_is_read_rated_and_forked_but_not_written_to(
    browser_of: Browser, who: People
) -> None:
    """B161."""
    thread = make.thread(who.alice, "Hello")
    Thread.objects.filter(pk=thread.pk).update(origin="slack")
    page = get(browser_of("alice"), path(thread))
    assert doors(page, thread) == {"rate", "pin", "fork", "title"}
    assert page.none(id="say")
    assert page.id("write").words == "This thread belongs to slack. Write to it there. Fork to continue"


def test_where_one_may_not_write_a_line_says_why_and_what_one_may_do(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice, "Hello", visibility="org")
    told = get(browser_of("bob"), path(thread)).id("write")
    off = "Only Alice can write here. Forking is turned off in acme;"
    assert told.words == f"{off} it has no admin, so ask a platform admin to allow it." and told.none("button")
    hooks.make_org_admin(who.alice)
    assert get(browser_of("bob"), path(thread)).id("write").words == f"{off} Alice can allow it."
    for name in ("admin", "bob"):  # an admin by right, a member by the policy
        page = get(browser_of(name), path(thread))
        assert page.id("write").words == "Only Alice can write here. Fork to continue"
        fork = page.id("write").one("button")
        assert (fork["form"], fork["value"]) == ("fork", "1") and page.id("fork")["action"] == path(thread) + "fork/"
        set_policy("acme", "members_may_fork", True)
    running = make.send(who.alice, thread, "And?", run=False)
    assert get(browser_of("bob"), path(running)).id("write").none("button")


def test_a_creator_who_left_the_org_has_lost_the_thread(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice, "Hello")
    Membership.objects.filter(user=who.alice.user).delete()
    get(browser_of("alice"), path(thread), 403)


@pytest.mark.parametrize("unknown", ["ags_nothing", "x", "ags_" + "a" * 3000, "..%2F", "%F0%9F%9A%B2"])
def test_an_unknown_thread_is_a_page_that_says_so(browser_of: Browser, who: People, unknown: str) -> None:
    page = get(browser_of("alice"), f"/threads/{unknown}/", 404)
    assert page.one("h1").words == "Not found."


def test_older_spellings_of_an_id_open_the_same_thread(browser_of: Browser, who: People) -> None:
    """B27."""
    thread = make.thread(who.alice, "Hello")
    assert get(browser_of("alice"), path(thread).replace("ags_", "ch_")).one("h1").words == "Hello"


def test_a_thread_without_words_and_without_a_title_is_a_page(browser_of: Browser, who: People) -> None:
    thread = Thread.objects.create(org=who.acme, created_by=who.alice.user, status=ThreadStatus.USER_TURN)
    page = get(browser_of("alice"), path(thread))
    assert page.one("h1").words == "Untitled"
    assert page.id("silence").words == "No messages yet."
    assert page.none("button", form="fork")


def test_a_rating_stands_with_its_answer_and_only_for_whom_it_concerns(browser_of: Browser, who: People) -> None:
    """B115 on a page: a reader sees their own, an admin everybody's; who has none sees none."""
    thread = make.thread(who.alice, "Hello", visibility="org")
    make.rating(who.bob, thread, 1, "negative", categories=["slow"], notes="Took\nan age")
    mine = get(browser_of("bob"), path(thread)).id("m1").one("section", class_="margin")
    assert [part.words for part in mine.one("h3").all("span")] == ["Rated negative", "by you"]
    assert mine.one(class_="words").text == "Took\nan age" and "slow" in mine.words
    assert "Bob" in get(browser_of("admin"), path(thread)).id("m1").one("section", class_="margin").words
    assert get(browser_of("alice"), path(thread)).id("m1").none("section", class_="margin")


def test_the_page_costs_the_same_however_long_the_thread_is(browser_of: Browser, who: People) -> None:
    client = browser_of("alice")
    short, long = make.conversation(who.alice, 10), make.conversation(who.alice, 160)
    for thread in (short, long):
        make.rating(who.alice, thread, 1)
        titles.retitle(who.alice.actor, thread, "T")
    few = queries(client, path(short))
    # Session, person, orgs, thread; replies; revision, messages, blocks, figures, names and ratings; pin, forks,
    # subjects and context; whether an import ends with a request; chosen org and orgs for the frame.
    assert queries(client, path(long)) == few == 19
    assert len(articles(get(client, path(long)))) == 160


def test_ten_forks_ten_goals_and_ten_ratings_are_no_more_queries(browser_of: Browser, who: People) -> None:
    client = browser_of("alice")
    thread = make.thread(who.alice, "Sum", goals=[SUMMARY])
    forks.fork(who.alice.actor, thread, 0)
    make.rating(who.alice, thread, thread.message_count - 1)
    few = queries(client, path(thread))
    for _ in range(10):
        forks.fork(who.alice.actor, thread, 0)
        thread = make.send(who.alice, thread, "Again", goals=[SUMMARY])
        make.rating(who.alice, thread, thread.message_count - 1)
    assert queries(client, path(thread)) == few
    head = get(client, path(thread)).id("head")
    assert len(head.one("dl", data_flow=True).all("a")) == 3 and "and 8 more" in head.words


def test_metadata_of_an_import_is_not_said_as_python_writes_it(browser_of: Browser, who: People) -> None:
    thread = make.conversation(who.alice, 2)
    Thread.objects.filter(pk=thread.pk).update(metadata={"batch": "nightly", "tags": ["a"], "is_ok": True, "run": None})
    words = get(browser_of("alice"), path(thread)).id("head").words
    assert 'batch: nightly, tags: ["a"], is_ok: true, run: null' in words


def said_at(thread: Thread, *moments: str) -> None:
    """Put the messages of a thread where the clock was, in UTC."""
    for index, moment in enumerate(moments):
        Message.objects.filter(thread=thread, idx=index).update(created=datetime.fromisoformat(f"{moment}+00:00"))


def days(root: Node) -> list[str]:
    return [each.words for each in root.all("p", class_="day")]


def test_each_article_says_its_time_by_the_readers_clock_and_the_day_once(browser_of: Browser, who: People) -> None:
    thread = make.conversation(who.alice, 4)
    said_at(thread, "2020-03-05T21:50:00", "2020-03-05T22:10:07", "2020-03-05T23:40:00", "2020-03-05T23:41:00")
    page = get(browser_of("alice"), path(thread))
    assert [each.one("time").words for each in articles(page)] == ["21:50", "22:10", "23:40", "23:41"]
    assert page.id("m1").one("time")["title"] == "2020-03-05 22:10:07 UTC"
    assert days(page.id("talk")) == days(page.id("m0")) == ["Thu 5 Mar 2020"]
    berlin = browser_of("alice")
    berlin.cookies["tz"] = "Europe/Berlin"
    page = get(berlin, path(thread))
    assert [each.one("time").words for each in articles(page)] == ["22:50", "23:10", "00:40", "00:41"]
    assert page.id("m1").one("time")["title"] == "2020-03-05 22:10:07 UTC"
    assert [days(each) for each in articles(page)] == [["Thu 5 Mar 2020"], [], ["Fri 6 Mar 2020"], []]


def test_today_is_said_only_behind_another_day(browser_of: Browser, who: People) -> None:
    client, thread = browser_of("alice"), make.send(who.alice, make.thread(who.alice), "More")
    assert days(get(client, path(thread))) == []
    said_at(thread, "2020-03-05T12:00:00", "2020-03-05T12:00:00")
    today = timezone.now()
    assert days(get(client, path(thread))) == ["Thu 5 Mar 2020", f"{today:%a} {today.day} {today:%b}"]


def test_a_long_system_prompt_says_where_it_is_cut_and_keeps_to_its_place(browser_of: Browser, who: People) -> None:
    """It scrolls in itself, by keys too, so that what stands below it stays near."""
    thread, client = make.thread(who.alice, "Hello"), browser_of("alice")

    def told(prompt: str) -> Node:
        Thread.objects.filter(pk=thread.pk).update(system_prompt=prompt)
        return get(client, path(thread)).id("head-context").one("dd")

    short, long = told("Be brief."), told("Be brief. " * 3_000)
    assert short.words == "Be brief." and not short.has("tabindex")
    assert long["tabindex"] == "0" and long.words.endswith("… and 10 000 more characters")


def test_the_number_of_a_message_is_a_link_that_says_what_it_numbers(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice, calls("6 * 7"))
    links = get(browser_of("alice"), path(thread)).id("talk").all("a", class_="msg-number")
    assert [each["aria-label"] for each in links] == [f"Message {each.words}" for each in links] and len(links) == 2
