"""A fork beside its source: what is the same, what differs, and who may see it."""

from collections.abc import Callable

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests import make
from tests.pages.dom import get
from tests.people import People, Person
from threads import forks
from threads.access import thread_for
from threads.models import Thread

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


def test_a_fork_nobody_has_written_to_differs_in_nothing_but_what_its_source_went_on_to_say(
    browser_of: Browser, who: People
) -> None:
    source = make.thread(who.alice, "Count the bikes.")
    fork = forked(who.alice, source, 1)
    assert get(browser_of("alice"), address(fork)).one("h1").words == "Nothing differs yet"
    make.send(who.alice, source, "Again.")
    page = get(browser_of("alice"), address(fork))
    assert page.all("article")[0]["aria-label"] == "Source, message 2, Alice"


def test_the_head_of_a_fork_leads_there_and_what_the_agent_was_told_differently_is_named(
    browser_of: Browser, who: People
) -> None:
    source = make.thread(who.alice, "Count.")
    fork = forked(who.alice, source, 1)
    Thread.objects.filter(pk=fork.pk).update(model_profile="other", system_prompt="Be <b>brief</b>.")
    assert get(browser_of("alice"), f"/threads/{fork.thread_id}/").one("a", href=address(fork)).words == "compare"
    rows = [row.words for row in get(browser_of("alice"), address(fork)).all("tr")]
    assert rows == [
        "Told differently Source Fork",
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


def test_longer_threads_take_no_more_queries(browser_of: Browser, who: People) -> None:
    def queries(messages: int) -> int:
        source = make.conversation(who.alice, messages)
        fork = forked(who.alice, source, 1)
        with CaptureQueriesContext(connection) as heard:
            get(browser_of("alice"), address(fork))
        return len(heard)

    assert queries(4) == queries(40)
