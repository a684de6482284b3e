"""What a turn used stands below the article that ended it, for the owner of the thread and for admins."""

from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from core import bodies
from tests import make
from tests.api import shapes
from tests.conftest import data_of
from tests.pages.dom import get, queries
from threads import figures, forks, turns
from threads.models import Thread, Turn
from threads.pending import pending_client_uses
from threads.wire import ToolResultsIn


def told(client, thread):
    """The lines of figures, by the id of their article."""
    page = get(client, f"/threads/{thread.thread_id}/")
    found = {article["id"]: article.all(class_="msg-figures") for article in page.all("article")}
    return {name: [span.words for span in lines[0].all("span")] for name, lines in found.items() if lines}


def test_each_answer_tells_time_tokens_and_who_answered(browser_of, who):
    thread = make.send(who.alice, make.thread(who.alice, "One"), "Two")
    found = told(browser_of("alice"), thread)
    assert set(found) == {"m1", "m3"}
    took, first, tokens, model = found["m1"]
    assert took.endswith(("ms", "s"))
    assert first.startswith("first words after ")
    assert "tokens in" in tokens
    assert model == "simulated"


def test_a_real_model_is_named_with_its_cost_or_that_it_is_unknown(browser_of, who):
    thread = make.thread(who.alice)
    of_real = {"profile": "fast", "model": "loop-1", "requests": 2, "retries": 1, "input_tokens": 12345}
    Turn.objects.filter(thread=thread).update(**of_real, cost=Decimal("0.0042"))
    [line] = told(browser_of("alice"), thread).values()
    assert line[2].startswith("12 345 tokens in, ")
    assert line[3:] == ["2 requests", "1 retried", "$0.0042", "loop-1 (fast)"]
    Turn.objects.filter(thread=thread).update(cost=None)
    [line] = told(browser_of("alice"), thread).values()
    assert "cost unknown" in line


def test_the_wait_for_a_client_tool_is_nobodys_time(browser_of, who, monkeypatch):
    """Whether it comes before the first words or between two, it is shown apart, and only if it is long."""
    thread = make.waiting(who.alice, "Look. [[call remember {}]]")
    start = Turn.objects.get(thread=thread).started_at
    answer(who, thread, monkeypatch, after=timedelta(minutes=33))
    took, first, *_ = told(browser_of("alice"), thread)["m1"]
    assert took.endswith(" s, and 33 min 0 s waiting for a tool result") or " ms, and 33 min " in took
    assert "min" not in first
    turn = Turn.objects.get(thread=thread)
    assert turn.finished_at - start > timedelta(minutes=33), "and the moments stay what they were"
    [figure] = figures.of_turns(thread.pk)
    assert figure.first_text_ms <= figure.took_ms < 60_000 < 33 * 60_000 <= figure.waited_ms


def test_a_short_wait_is_not_worth_a_word_and_is_left_out_all_the_same(browser_of, who, monkeypatch):
    thread = make.waiting(who.alice)
    answer(who, thread, monkeypatch, after=timedelta(milliseconds=900))
    assert "waiting" not in told(browser_of("alice"), thread)["m1"][0]
    [figure] = figures.of_turns(thread.pk)
    assert 0 < figure.waited_ms < 1000


def test_a_turn_that_was_stopped_while_it_waited_has_waited_until_then(who, monkeypatch):
    thread = make.waiting(who.alice)
    with much_later(monkeypatch, timedelta(hours=1)):
        turns.cancel(who.alice.actor, make.fresh(thread))
    [figure] = figures.of_turns(thread.pk)
    assert figure.took_ms < 60_000 < figure.waited_ms


def test_of_an_answer_that_was_stopped_what_it_used_is_not_all_known(browser_of, who):
    """A request that is cut off has no usage, though its words are there: those before it are counted."""
    thread = make.thread(who.alice, run=False)
    make.half_answered(thread, "Words ", "and words")
    Turn.objects.update(requests=1, input_tokens=50, output_tokens=6)
    turns.cancel(who.alice.actor, make.fresh(thread))
    client = browser_of("alice")
    line = get(client, f"/threads/{thread.thread_id}/").one(class_="msg-figures")
    assert "at least 50 tokens in, 6 out (the stopped request is not counted)" in line.words
    assert line.one("span", title="The stopped request is not counted")
    forked = forks.fork(who.alice.actor, make.thread(who.alice, "Other"), 1)
    Thread.objects.filter(key=forked.thread_id[4:]).update(forked_from=thread, forked_from_message_sequence_num=0)
    assert "at least 50 tokens in, 6 out" in get(client, f"/threads/{forked.thread_id}/compare/").words


def test_of_a_turn_that_was_stopped_between_two_requests_all_is_counted(browser_of, who):
    thread = make.waiting(who.alice)
    turns.cancel(who.alice.actor, make.fresh(thread))
    [line] = told(browser_of("alice"), thread).values()
    assert any("tokens in" in each for each in line) and not any("at least" in each for each in line)


@contextmanager
def much_later(monkeypatch, after):
    now = timezone.now
    with monkeypatch.context() as later:
        later.setattr(timezone, "now", lambda: now() + after)
        yield


def answer(who, thread, monkeypatch, *, after):
    """Answer the waiting tool, and let the turn end, that much later."""
    use = pending_client_uses(make.fresh(thread))[0]
    result = {"tool_use_id": use["tool_use_id"], "tool_name": "remember", "status": "success", "runtime_ms": 1}
    with much_later(monkeypatch, after):
        turns.submit_tool_results(who.alice.actor, thread, bodies.parse(ToolResultsIn, {"tool_results": [result]}))
        make.run_turns(thread)


def test_a_colleague_does_not_see_them_and_an_admin_does(browser_of, who):
    thread = make.thread(who.alice, visibility="org")
    assert told(browser_of("bob"), thread) == {}
    assert set(told(browser_of("admin"), thread)) == {"m1"}


def test_they_stand_with_the_article_that_ended_a_turn_of_several_messages(browser_of, who):
    thread = make.thread(who.alice, '[[call echo {"value": 1}]]')
    assert set(told(browser_of("alice"), thread)) == {"m1"}, "the calls and the words are one article"


def test_a_turn_that_no_model_answered_has_none(browser_of, who):
    thread = make.thread(who.alice, run=False)
    turns.cancel(who.alice.actor, thread)
    assert told(browser_of("alice"), thread) == {}


def test_a_fork_was_not_paid_for_again(api, browser_of, who):
    thread = make.thread(who.alice)
    forked = data_of(api("alice").post(f"threads/{thread.thread_id}/fork", {"message_sequence_num": 1}))
    page = get(browser_of("alice"), f"/threads/{forked['thread_id']}/")
    assert page.all(class_="msg-figures") == []


def test_the_record_of_a_thread_says_nothing_of_them(api, who):
    """Spec 3: the record stays as it is."""
    thread = make.thread(who.alice)
    record = data_of(api("alice").get(f"threads/{thread.thread_id}"))
    assert set(record) == shapes.THREAD
    assert all(set(message) == shapes.MESSAGE for message in record["messages"])


def test_more_turns_cost_no_more_queries(browser_of, who):
    client, thread = browser_of("alice"), make.thread(who.alice)
    address = f"/threads/{thread.thread_id}/"
    before = queries(client, address)
    for _ in range(3):
        make.send(who.alice, thread, "More")
    assert queries(client, address) == before


@pytest.mark.parametrize(
    ("cost", "words"),
    [("0", "$0.00"), ("12.5", "$12.50"), ("0.0042", "$0.0042"), ("3", "$3.00"), ("0.00000004", "under $0.000001"),
     ("1234.123456789", "$1234.123457")],
)  # fmt: skip
def test_amounts_have_the_places_they_need(cost, words):
    assert figures.dollars(Decimal(cost)) == words
