"""The queue or the database goes away for a while: what was accepted is done later, what was not leaves nothing."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests import live
from tests.crash.disasters import LONG, polling
from tests.sdk.browsers import Browser
from tests.sdk.callers import Caller, held, roles, run, some_words, text_of

pytestmark = pytest.mark.live


def test_a_send_is_accepted_while_the_queue_is_away_and_runs_when_it_is_back(full: live.Served, alice: Caller) -> None:
    """The row is the truth, the queue is a nudge: accepted at once, read meanwhile, answered once afterwards."""
    assert full.broker is not None
    thread = alice.talk("Before.")
    full.broker.close()
    started = time.monotonic()
    thread.send_text("While it is away.")
    new = alice.start("Born while it is away.")
    assert time.monotonic() - started < 4
    assert roles(alice.thread(thread)) == ["user", "assistant", "user"]
    time.sleep(0.5)
    full.broker.open()
    for each in (thread, new):
        run(each, timeout=60)
        assert held(each) == held(alice.thread(each))
    assert roles(thread) == ["user", "assistant"] * 2
    assert roles(new) == ["user", "assistant"]


def test_a_queue_that_takes_calls_and_never_answers_delays_but_loses_nothing(full: live.Served, alice: Caller) -> None:
    """A broker that hangs is worse than one that is gone; the request must outlast it below the SDK's timeout."""
    assert full.broker is not None
    thread = alice.talk("Before.")
    full.broker.stick()
    started = time.monotonic()
    thread.send_text("While it hangs.")
    assert time.monotonic() - started < 10
    assert time.monotonic() - _read(alice, thread) < 5
    full.broker.open()
    run(thread, timeout=60)
    assert roles(thread) == ["user", "assistant"] * 2
    assert held(thread) == held(alice.thread(thread))


def test_while_redis_hangs_people_sign_in_and_read_the_figures(full: live.Served) -> None:
    """What is kept in Redis for a while, tries and figures, is kept by the server itself until Redis is back."""
    assert full.broker is not None
    full.broker.stick()
    started = time.monotonic()
    Browser(full, "admin").get("/feedback/insight/")
    assert time.monotonic() - started < 5


def _read(alice: Caller, thread: object) -> float:
    started = time.monotonic()
    alice.thread(thread)  # type: ignore[arg-type]
    return started


def test_a_broken_connection_to_the_database_costs_the_draft_and_no_more(full: live.Served, alice: Caller) -> None:
    """Every connection is cut in the middle of an answer, the worker's and a whole pool of the web server's.

    Not every one of them costs a request of its own: the SDK gives up after ten.
    """
    with ThreadPoolExecutor(24) as crowd:
        for done in [crowd.submit(alice.get, "threads?limit=50") for _ in range(96)]:
            done.result()
    thread = alice.start(f"Slowly. {LONG}")
    with polling(thread):
        some_words(alice, thread)
        with psycopg.connect(full.env["DATABASE_URL"], autocommit=True) as line:
            line.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        refused = [alice.fetch("threads?limit=1")[0] for _ in range(24)].count(503)
        assert refused <= 4
    assert roles(thread) == ["user", "assistant"]
    assert len(text_of(thread.latest_message).split()) == 120
    assert held(thread) == held(alice.thread(thread))


@contextmanager
def locked(server: live.Served, seconds: float) -> Iterator[None]:
    """Somebody else writes to the SQLite file all the while, a backup or an operator at the shell."""
    line = sqlite3.connect(Path(server.env["HEDDLE_DATA_DIR"]) / "heddle.sqlite3", check_same_thread=False)
    line.isolation_level = None
    line.execute("BEGIN IMMEDIATE")

    def let_go() -> None:
        time.sleep(seconds)
        line.execute("ROLLBACK")

    holder = threading.Thread(target=let_go)
    holder.start()
    try:
        yield
    finally:
        holder.join()
        line.close()


def test_a_send_outlasts_a_locked_database(embedded: live.Served, alice: Caller) -> None:
    """Locked for two seconds: reading goes on, the send waits and is stored once, the turn that runs is finished."""
    thread, running = alice.talk("Before."), alice.start(f"Slowly. {LONG}")
    with polling(running):
        some_words(alice, running)
        with locked(embedded, 2):
            started = time.monotonic()
            assert roles(alice.thread(thread)) == ["user", "assistant"]
            assert time.monotonic() - started < 1
            thread.send_text("While it is locked.")
            assert time.monotonic() - started > 1
    run(thread)
    assert roles(thread) == ["user", "assistant"] * 2
    assert roles(running) == ["user", "assistant"]
    for each in (thread, running):
        assert held(each) == held(alice.thread(each))
