"""A fork beside its source: what is the same, what differs, and who may see it."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from core import bodies
from tests import make
from tests.api.test_skills_in_turns import pin, write  # noqa: F401 - fixtures
from tests.pages.desk import do
from tests.pages.dom import get
from tests.people import People, Person
from threads import forks, reading, reruns, turns
from threads.access import thread_for
from threads.models import Block, Thread
from threads.wire import RerunIn, ToolResultsIn

Browser = Callable[[str | None], Client]


def forked(person: Person, source: Thread, upto: int) -> Thread:
    return thread_for(person.actor, forks.fork(person.actor, source, upto).thread_id)


def address(thread: Thread) -> str:
    return f"/threads/{thread.thread_id}/compare/"


def test_both_threads_stand_side_by_side_from_the_first_difference(browser_of: Browser, who: People) -> None:
    source = make.send(who.alice, make.thread(who.alice, "Count the bikes."), "And the docks.")
    fork = make.send(
        who.alice, forked(who.alice, source, 1), 'And the locks. [[call calculate {"expression": "1 + 1"}]]'
    )
    page = get(browser_of("alice"), address(fork))
    assert page.one("h1").words == "The first 2 messages are the same"
    labels = [article["aria-label"] for article in page.all("article")]
    assert labels == [
        "Source, message 2, Alice",
        "Fork, message 2, Alice",
        "Source, message 3, Agent",
        "Fork, message 3, Agent",
    ]
    left, right = (article.words for article in page.all("article")[:2])
    assert "And the docks." in left
    assert "And the locks." in right
    assert "calculate" in page.all("article")[3].words


def test_an_answer_that_is_the_same_again_says_so_and_leads_back(browser_of: Browser, who: People) -> None:
    source = make.thread(who.alice, 'Count. [[call calculate {"expression": "1 + 1"}]]')
    last = make.fresh(source).message_count - 1
    report = make.rating(who.alice, source, last)
    make.send(who.alice, source, "And the docks.")
    made = reruns.rerun(who.admin.actor, source, RerunIn(message_sequence_num=last))
    make.run_turns(thread_for(who.admin.actor, made.thread_id))
    fork = Thread.objects.latest("pk")
    page = get(browser_of("admin"), address(fork))
    assert page.one("h1").words == "Same answer"
    _, left, right = page.all("article")
    assert "calculate" in left.words and "calculate" in right.words and "docks" not in page.words
    [call] = [link["href"] for link in right.all("a") if link.words == "calculate"]
    assert "as recorded" in get(browser_of("admin"), call).words
    back = f"/feedback/?back={report.feedback_id}&compare={fork.thread_id}"
    desk = f"/feedback/?q=&item={report.feedback_id}&compare={fork.thread_id}&pane=talk"
    client = browser_of("admin")
    assert [link["href"] for link in page.all("a") if link.words == "Back to the report b"] == [back]
    assert back in [link["href"] for link in get(client, f"/threads/{fork.thread_id}/").all("a")]
    assert client.get(back)["Location"] == desk
    for left in ("q=is%3Aopen+sentiment%3Anegative", "q="):
        get(client, f"/feedback/?{left}&item={report.feedback_id}&pane=report")
        assert client.get(back)["Location"] == desk.replace("q=", left, 1), "to the list that was left"
    other = make.rating(who.admin, source, last, "positive")
    named = get(client, f"{address(fork)}?report={other.feedback_id}")
    theirs = back.replace(report.feedback_id, other.feedback_id)
    assert [link["href"] for link in named.all("a") if link.words == "Back to the report b"] == [theirs]
    do(who.admin, report, "resolve")
    assert theirs in [link["href"] for link in get(client, address(fork)).all("a")], "the open one, else"
    do(who.admin, report, "outcome", outcome="fixed", proof=fork.thread_id)
    assert back in [link["href"] for link in get(client, address(fork)).all("a")], "the one that it proves fixed"
    report_alone = f"/feedback/?q=&item={report.feedback_id}"
    assert report_alone in [link["href"] for link in get(browser_of("admin"), f"/threads/{source.thread_id}/").all("a")]
    assert all("/feedback/?" not in link["href"] for link in get(browser_of("alice"), address_of(source)).all("a"))


def test_a_rerun_is_compared_by_the_skills_that_the_answer_had(browser_of: Browser, who: People, write, pin) -> None:  # noqa: F811
    """Not by the rule that the asker's subscriptions count."""
    skill = write("alice", "weaving", "OLD", "NEW")
    pin("alice", skill, 1)
    source = make.thread(who.alice, '[[call load_skill {"name": "weaving"}]]')
    for skills, has_changed in (("recorded", False), ("latest", True)):
        reruns.rerun(who.alice.actor, source, RerunIn(message_sequence_num=1, skills=skills))
        fork = Thread.objects.latest("pk")
        make.run_turns(fork)
        shown = get(browser_of("alice"), address(fork)).one("main").words
        assert ("Skills" in shown) is has_changed
    assert "weaving (version 1)" in shown and "weaving (version 2)" in shown
    rows = get(browser_of("alice"), address(fork)).one("table")
    assert [link["href"].partition("?")[2] for link in rows.all("a")] == ["version=1", "version=2"]
    assert get(browser_of("alice"), rows.all("a")[0]["href"]).one("h1").words == "weaving"
    assert get(browser_of("admin"), address(fork)).one("table").none("a"), "it is alice's own"


def test_a_new_skill_that_is_tried_is_a_setting_that_differs(browser_of: Browser, who: People, write) -> None:  # noqa: F811
    source = make.thread(who.alice)
    write("alice", "weaving")
    for skills, has_changed in (("recorded", False), ("latest", True)):
        reruns.rerun(who.alice.actor, source, RerunIn(message_sequence_num=1, skills=skills))
        fork = Thread.objects.latest("pk")
        make.run_turns(fork)
        shown = get(browser_of("alice"), address(fork)).one("main").words
        assert ("weaving (version 1)" in shown) is has_changed


def test_an_answer_stands_beside_an_answer_and_not_beside_all_that_came_later(browser_of: Browser, who: People) -> None:
    """A rerun with another answer: what the source went on to say is a link away."""
    source = make.thread(who.alice, "Hello")
    for words in ("And then?", "Thanks."):
        source = make.send(who.alice, source, words)
    body = RerunIn(message_sequence_num=1, system_prompt="Other.")
    fork = thread_for(who.alice.actor, reruns.rerun(who.alice.actor, source, body).thread_id)
    make.run_turns(fork)
    Block.objects.filter(thread=fork, idx=1).update(text="Something else.")
    page = get(browser_of("alice"), f"/threads/{fork.thread_id}/compare/").one("main")
    assert "Something else." in page.words and "And then?" not in page.words and "Thanks." not in page.words
    assert "The source goes on with 4 more messages." in page.words
    assert page.one("a", href=f"/threads/{source.thread_id}/?at=2#m2").words == "goes on"


def test_half_of_an_answer_is_not_the_answer_again(browser_of: Browser, who: People) -> None:
    """The rerun waits for its client, whose call the source had answered since."""
    source = make.waiting(who.alice)
    made = reruns.rerun(who.alice.actor, source, RerunIn(message_sequence_num=1))
    fork = thread_for(who.alice.actor, made.thread_id)
    make.run_turns(fork)
    [use] = [block for block in reading.snapshots(source.pk)[1].blocks if block["content_type"] == "tool_use"]
    result = {"tool_use_id": use["tool_use_id"], "tool_name": "remember", "status": "success", "runtime_ms": 1}
    turns.submit_tool_results(who.alice.actor, source, bodies.parse(ToolResultsIn, {"tool_results": [result]}))
    make.run_turns(source)
    assert get(browser_of("alice"), address(fork)).one("h1").words == "The first 2 messages are the same"


def address_of(thread: Thread) -> str:
    return f"/threads/{thread.thread_id}/"


def test_words_that_only_one_of_two_has_are_marked_and_nothing_becomes_markup(browser_of: Browser, who: People) -> None:
    source = make.send(who.alice, make.thread(who.alice, "Count."), "List *all* the blue bikes & docks <b>now</b>.")
    fork = make.send(who.alice, forked(who.alice, source, 1), "List *all* the old red bikes & docks <b>then</b>.")
    left, right = get(browser_of("alice"), address(fork)).all("article")[:2]
    assert [each.words for each in left.all("del")] == ["blue", "now"] and left.none("ins")
    assert [each.words for each in right.all("ins")] == ["old red", "then"] and right.none("del")
    assert left.one(class_="prose").text.strip() == "List *all* the blue bikes & docks <b>now</b>."


def test_texts_with_little_in_common_are_not_marked(browser_of: Browser, who: People) -> None:
    source = make.send(who.alice, make.thread(who.alice, "Count."), "And the docks.")
    fork = make.send(who.alice, forked(who.alice, source, 1), "Write to every rider in Harbour Street instead!")
    assert get(browser_of("alice"), address(fork)).all("article")[0].none("del")


def test_words_are_marked_as_far_as_that_can_be_afforded(browser_of: Browser, who: People) -> None:
    """One word that is half of two texts costs their length to the third power: minutes, for a few kilobytes."""
    dear = lambda letter: " ".join(f"x {letter}{number}" for number in range(900))  # noqa: E731
    source = make.thread(who.alice, "Count.")
    fork = forked(who.alice, source, 1)
    for thread, letter, colour in ((source, "a", "blue"), (fork, "b", "red")):
        make.send(who.alice, thread, dear(letter))
        make.send(who.alice, thread, f"List all the {colour} bikes and docks now.")
    page = get(browser_of("alice"), address(fork))
    gone, new = ([each.words for each in page.all(tag)] for tag in ("del", "ins"))
    assert ("blue" in gone, "red" in new, "x b899" in page.words) == (True, True, True)
    assert ("a899" in gone, "b899" in new) == (False, False)


def test_each_side_says_what_came_of_it_behind_what_is_the_same(browser_of: Browser, who: People) -> None:
    """B137: time and tokens are of turns that ran here, and for those who may know them."""
    source = make.thread(who.alice, '[[call calculate {"expression": "1/0"}]]', visibility="org")
    goal = {"goal_type": "dataset_summary", "dataset_id": "ds_1"}
    source = make.send(who.alice, source, '[[call calculate {"expression": "2/0"}]]', goals=[goal])
    fork = make.send(who.alice, forked(who.alice, source, 3), "Thanks.")
    told, of_fork = (side.one("p").words for side in get(browser_of("alice"), address(fork)).all(class_="side"))
    assert told.startswith(f"After that: {source.message_count - 4} messages · ")
    assert "tokens in" in told and told.endswith("1 of 1 goal achieved · 1 tool error")
    assert of_fork.startswith("After that: 2 messages · ") and of_fork.endswith(" · 0 tool errors")
    Thread.objects.filter(pk=fork.pk).update(visibility="org")
    told, of_fork = (side.one("p").words for side in get(browser_of("bob"), address(fork)).all(class_="side"))
    assert "tokens" not in told + of_fork


def test_an_answer_that_is_the_same_again_has_the_figures_of_what_is_shown(browser_of: Browser, who: People) -> None:
    """Not of what differs, which is nothing."""
    source = make.thread(who.alice, '[[call calculate {"expression": "1/0"}]]')
    last = make.fresh(source).message_count - 1
    make.run_turns(
        thread_for(who.alice.actor, reruns.rerun(who.alice.actor, source, RerunIn(message_sequence_num=last)).thread_id)
    )
    page = get(browser_of("alice"), address(Thread.objects.latest("pk")))
    assert page.one("h1").words == "Same answer"
    for side in page.all(class_="side"):
        said = side.one("p").words
        assert said.startswith("After that: 3 messages · ") and "tokens in" in said and said.endswith(" · 1 tool error")


def test_a_fork_nobody_has_written_to_differs_in_nothing_but_what_its_source_went_on_to_say(
    browser_of: Browser, who: People
) -> None:
    source = make.thread(who.alice, "Count the bikes.")
    fork = forked(who.alice, source, 1)
    assert get(browser_of("alice"), address(fork)).one("h1").words == "No differences yet"
    make.send(who.alice, source, "Again.")
    page = get(browser_of("alice"), address(fork))
    assert page.all("article")[0]["aria-label"] == "Source, message 2, Alice"


def test_the_head_of_a_fork_leads_there_and_what_the_agent_was_told_differently_is_named(
    browser_of: Browser, who: People
) -> None:
    source = make.thread(who.alice, "Count.")
    fork = forked(who.alice, source, 1)
    Thread.objects.filter(pk=fork.pk).update(model_profile="other", system_prompt="Be <b>brief</b>.")
    assert (
        get(browser_of("alice"), f"/threads/{fork.thread_id}/").id("head").one("a", href=address(fork)).words
        == "compare"
    )
    page = get(browser_of("alice"), address(fork))
    assert page.id(page.one("table")["aria-labelledby"]).words == "Settings that differ"
    assert [row.words for row in page.all("tr")] == [
        "Settings that differ Source Fork",
        "Model profile simulated other",
        "System prompt none Be <b>brief</b>.",
    ]


def test_a_thread_that_is_no_fork_and_a_source_that_may_not_be_read(browser_of: Browser, who: People) -> None:
    source = make.thread(who.alice, "Mine.", visibility="org")
    assert browser_of("alice").get(address(source)).status_code == 404
    who.acme.members_may_fork = True
    who.acme.save()
    fork = forked(who.bob, make.fresh(source), 1)
    assert browser_of("bob").get(address(fork)).status_code == 200
    Thread.objects.filter(pk=source.pk).update(visibility="private")
    refused = browser_of("bob").get(address(fork))
    assert refused.status_code == 403
    assert b"Mine." not in refused.content
    assert browser_of("eve").get(address(fork)).status_code == 403


def alternating(word: str) -> str:
    """`x a0 x a1 ...`: every second word stands everywhere in the other text, and nothing between two of them does."""
    return " ".join(f"x {word}{number}" for number in range(700))


@pytest.mark.timeout(60)
def test_texts_whose_words_come_again_and_again_are_shown_unmarked(browser_of: Browser, who: People) -> None:
    source = make.thread(who.alice, "Count.")
    fork = forked(who.alice, source, 1)
    make.send(who.alice, fork, "Be brief, please.")
    make.send(who.alice, source, "Be quick, please.")
    for _ in range(3):
        make.send(who.alice, source, alternating("a"))
        make.send(who.alice, fork, alternating("b"))
    page = get(browser_of("alice"), address(fork))
    said = [article for article in page.all("article") if "Alice" in article["aria-label"]]
    assert [[each.words for each in article.all("del") + article.all("ins")] for article in said] == [
        ["quick"], ["brief"], [], [], [], [], [], [],
    ]  # fmt: skip


def test_longer_threads_take_no_more_queries(browser_of: Browser, who: People) -> None:
    def queries(messages: int) -> int:
        source = make.conversation(who.alice, messages)
        fork = forked(who.alice, source, 1)
        with CaptureQueriesContext(connection) as heard:
            get(browser_of("alice"), address(fork))
        return len(heard)

    assert queries(4) == queries(40)


def test_on_top_stand_the_request_and_the_complaint_that_are_judged(browser_of: Browser, who: People) -> None:
    """The complaint is for admins, as the report is; a fork that asks something else has its own requests."""
    source = make.send(who.alice, make.thread(who.alice, "Hello."), "Count the bikes.", goals=None)
    make.rating(who.alice, source, 3, "negative", categories=["incorrect"], notes="There are <b>nine</b>.")
    make.send(who.alice, source, "And the docks.")
    reruns.rerun(who.admin.actor, source, RerunIn(message_sequence_num=3))
    fork = Thread.objects.latest("pk")
    make.run_turns(fork)
    page = get(browser_of("admin"), address(fork))
    request = page.one(class_="judged").one("article")
    assert request["aria-label"] == "Request, message 2, Alice" and "Count the bikes." in request.words
    complaint = page.one(class_="judged").one("section", aria_label="The report")
    for told in ("Rated negative", "incorrect", "Alice", "There are <b>nine</b>."):
        assert told in complaint.words
    assert complaint.one("a")["href"].startswith("/feedback/?back=fb_")
    Thread.objects.filter(pk=fork.pk).update(visibility="org")
    page = get(browser_of("alice"), address(fork))
    assert page.one(class_="judged").one("article") and "Rated" not in page.one(class_="judged").words
    other = make.send(who.alice, forked(who.alice, source, 1), "Count the locks.")
    assert get(browser_of("alice"), address(other)).none(class_="judged"), "the requests are what is compared"
