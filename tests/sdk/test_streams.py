"""Live pages: server-sent events over real connections, next to SDK clients."""

import statistics
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import psycopg
import pytest
from roboto.ai.agent_thread.record import ThreadVisibility

from tests import live
from tests.sdk.browsers import Browser, Event
from tests.sdk.callers import Caller, follow, run, text_of

pytestmark = pytest.mark.live
Person = Callable[[str], Browser]


@pytest.fixture
def browser(served: live.Served) -> Person:
    """`browser("alice")` is a browser in which she is signed in, and has been: a slow hash takes its time."""
    return _signed_in(served.url, served)


@lru_cache
def _signed_in(_: str, served: live.Served) -> Person:
    return {name: Browser(served, name) for name in ("alice", "bob")}.__getitem__


def articles(events: list[Event]) -> list[Event]:
    return [event for event in events if event.name == "turns"]


def test_an_answer_arrives_word_by_word(alice: Caller, browser: Person) -> None:
    """B55, B90: each event replaces its article and only adds to it; the last holds what the server stored."""
    thread = alice.start("Slowly. [[sleep 0.5]] [[words 60]] [[pace 0.2]]")
    token = alice.record(thread)["continuation_token"]
    with browser("alice").stream(thread.thread_id, token=token) as stream:
        seen = stream.until("user_turn")
    run(thread)
    answer = text_of(thread.latest_message)
    lengths = [len(event.text) for event in articles(seen)]
    assert len(lengths) >= 3
    assert lengths == sorted(lengths)
    assert answer in articles(seen)[-1].text
    assert seen[-1].id == alice.record(thread)["continuation_token"]


def test_a_broken_line_comes_back_without_loss(alice: Caller, browser: Person) -> None:
    """B85, B86: reconnecting after every event ends with the very articles of a line that held."""
    thread = alice.start("Slowly. [[sleep 0.5]] [[words 48]] [[pace 0.3]]")
    token = alice.record(thread)["continuation_token"]
    whole: list[Event] = []
    held = browser("alice").stream(thread.thread_id, token=token)
    reading = threading.Thread(target=lambda: whole.extend(held.until("user_turn")))
    reading.start()
    pieces: list[Event] = []
    last_id = token
    while not pieces or "user_turn" not in pieces[-1].data:
        with browser("alice").stream(thread.thread_id, last_id=last_id) as stream:
            for event in stream:
                pieces.append(event)
                if event.id:
                    last_id = event.id
                    break
    reading.join(timeout=20)
    held.close()
    run(thread)
    assert len(articles(pieces)) >= 3
    assert articles(pieces)[-1].data == articles(whole)[-1].data
    assert text_of(thread.latest_message) in articles(pieces)[-1].text
    with browser("alice").stream(thread.thread_id, last_id=pieces[-1].id) as stream:
        assert next(iter(stream)).name == "head"  # nothing is repeated that the reader has
    with browser("alice").stream(thread.thread_id, last_id="v1.nonsense.1") as stream:
        assert stream.answer.status == 204


def test_a_line_ends_when_the_right_to_read_does(alice: Caller, browser: Person) -> None:
    """B146."""
    thread = alice.talk("For us both.", org_id=alice.server.who["orgs"]["generous"])
    thread.set_visibility(ThreadVisibility.ORG)
    with browser("bob").stream(thread.thread_id) as stream:
        events = iter(stream)
        assert next(events).name in ("turns", "head")
        thread.set_visibility(ThreadVisibility.PRIVATE)
        assert [event.name for event in events][-1] == "gone"


def test_fifty_open_lines_block_nobody_and_hold_no_connections(
    served: live.Served, alice: Caller, browser: Person
) -> None:
    """The design's 'a stream holds no database connection while it waits'; all of them hear of the next answer."""
    thread = alice.talk("Everybody is listening.")
    token = alice.record(thread)["continuation_token"]
    before = _connections(served) if served.way == "full" else 0
    streams = [browser("alice").stream(thread.thread_id, token=token) for _ in range(50)]
    try:
        heard: list[list[Event]] = []
        readers = [
            threading.Thread(target=lambda line=line: heard.append(line.until("Now all of you"))) for line in streams
        ]
        for reader in readers:
            reader.start()
        time.sleep(0.5)
        seconds = [_timed(lambda: alice.record(thread)) for _ in range(20)]
        assert statistics.median(seconds) < 0.25
        if served.way == "full":
            assert _connections(served) < before + 20
        run(thread.send_text("Now all of you."))
        for reader in readers:
            reader.join(timeout=20)
        assert len(heard) == 50
    finally:
        for stream in streams:
            stream.close()
    assert follow(thread) == []


def test_whatever_comes_at_once_beside_open_lines_is_answered_at_once(alice: Caller, browser: Person) -> None:
    """A server that counts its busy threads as free ones leaves one of several waiting until the next one comes."""
    thread = alice.talk("Open lines stay open.")
    streams = []
    try:
        for _ in range(12):
            with ThreadPoolExecutor(4) as pool:
                opened = [pool.submit(browser("alice").stream, thread.thread_id) for _ in range(2)]
                asked = [pool.submit(_timed, lambda: alice.record(thread)) for _ in range(2)]
                streams += [each.result() for each in opened]
            assert max(each.result() for each in asked) < 5
    finally:
        for stream in streams:
            stream.close()


def _timed(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def _connections(served: live.Served) -> int:
    """How many connections there are to this Heddle's database, the web server's and the worker's."""
    with psycopg.connect(served.env["DATABASE_URL"]) as line:
        row = line.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()").fetchone()
    assert row is not None
    return int(row[0])
