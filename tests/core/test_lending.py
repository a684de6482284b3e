"""A database connection is lent to whoever needs one, and outlives its request (docs/decisions/004-budgets.md)."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg_pool
import pytest
from celery import signals
from celery.fixups.django import DjangoWorkerFixup
from django.core.signals import request_finished
from django.db import IntegrityError, OperationalError, ProgrammingError, connection, connections, transaction

from accounts.models import Org
from config.celery import app
from core.prepared import Prepared, together
from core.sqlite import base as sqlite

app.loader.import_default_modules()

Wrapper = Any


def finish_a_task() -> None:
    """Let Celery do what it does around a task, without the task."""
    task, fixup = app.tasks["threads.sweep"], DjangoWorkerFixup(app)
    fixup.on_task_prerun(task)
    fixup.on_task_postrun(task)
    signals.task_postrun.send(sender=task)


def finish_a_request() -> None:
    """Tell Django that a response was sent."""
    request_finished.send(sender=None)


def on_a_thread(work: Callable[[], Any]) -> Any:
    """What it returns, done on a thread of its own, which has connections of its own."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(work).result()


def on_a_file(path: Path, work: Callable[[Wrapper], Any]) -> Any:
    """What it returns, done on a thread of its own whose connection leads to a SQLite file."""
    own = {**connections.databases["default"], "NAME": str(path), "OPTIONS": {"transaction_mode": "IMMEDIATE"}}

    def done() -> Any:
        connections["default"] = used = sqlite.DatabaseWrapper(own, "default")
        try:
            return work(used)
        finally:
            used.close()

    return on_a_thread(done)


@pytest.fixture
def file(db: None, tmp_path: Path) -> Iterator[Path]:
    """A SQLite file with a table."""
    path = tmp_path / "db.sqlite3"
    on_a_file(path, lambda used: used.cursor().execute("CREATE TABLE word (spelled text UNIQUE)"))
    yield path
    sqlite.close_idle()


def opened(used: Wrapper) -> Any:
    """The driver's connection."""
    used.ensure_connection()
    return used.connection


@pytest.mark.parametrize("finish", [finish_a_request, finish_a_task])
def test_the_next_thread_gets_the_connection_that_was_used_last(file: Path, finish: Callable[[], None]) -> None:
    def used_once(used: Wrapper) -> Any:
        found = opened(used)
        finish()
        assert used.connection is None
        return found

    first = on_a_file(file, used_once)
    both = on_a_file(file, lambda used: (opened(used), on_a_file(file, opened)))
    assert both[0] is first and both[1] is not first
    assert on_a_file(file, opened) is first, "returned last"


def test_a_connection_is_returned_once_whatever_is_finalised_meanwhile(file: Path) -> None:
    """An abandoned event stream also gives back the connection of whichever thread happens to collect it."""

    class Idle(list[Any]):
        is_asked = False

        def append(self, each: Any) -> None:
            if not self.is_asked:
                self.is_asked = True
                finish_a_request()
            super().append(each)

    def used_once(used: Wrapper) -> Any:
        found = opened(used)
        sqlite._idle[str(file)] = Idle()
        finish_a_request()
        return found

    first = on_a_file(file, used_once)
    assert sqlite._idle[str(file)] == [first]


def test_a_thread_that_only_ever_borrowed_writes_like_any_other(file: Path) -> None:
    def write(used: Wrapper) -> Any:
        for word in ("warp", "weft"):
            with transaction.atomic():
                used.cursor().execute("INSERT INTO word VALUES (%s)", [word])
            finish_a_request()
        used.cursor().execute("DELETE FROM word")
        return opened(used)

    assert on_a_file(file, write) is on_a_file(file, write)


def test_a_connection_that_broke_is_closed_and_not_lent(file: Path) -> None:
    def broken(used: Wrapper) -> Any:
        found = opened(used)
        found.close()
        with pytest.raises(ProgrammingError):
            used.cursor().execute("SELECT 1")
        finish_a_task()
        return found

    first = on_a_file(file, broken)
    assert on_a_file(file, opened) is not first


def test_a_refused_value_breaks_no_connection(file: Path) -> None:
    def refused(used: Wrapper) -> Any:
        with pytest.raises(IntegrityError):
            used.cursor().execute("INSERT INTO word VALUES (%s), (%s)", ["warp", "warp"])
        return used.connection

    assert on_a_file(file, refused) is on_a_file(file, opened)


def test_a_connection_in_a_transaction_is_not_lent_and_stores_nothing(file: Path) -> None:
    def left(used: Wrapper) -> Any:
        used.set_autocommit(False)
        used.cursor().execute("INSERT INTO word VALUES ('lost')")
        return used.connection

    def words(used: Wrapper) -> Any:
        return opened(used), used.cursor().execute("SELECT * FROM word").fetchall()

    first = on_a_file(file, left)
    second, found = on_a_file(file, words)
    assert second is not first and found == []


def test_no_connection_is_carried_into_a_forked_process(file: Path) -> None:
    on_a_file(file, opened)
    assert any(sqlite._idle.values())
    context = multiprocessing.get_context("fork")
    hears, tells = context.Pipe(duplex=False)
    child = context.Process(target=lambda: tells.send(any(sqlite._idle.values())))
    child.start()
    assert not hears.recv()
    child.join()


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has no pool")
def test_one_of_a_pool_goes_back_so_that_idle_workers_hold_none(db: None) -> None:
    def work() -> Any:
        connection.ensure_connection()
        finish_a_task()
        return connection.connection

    assert on_a_thread(work) is None


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has no pool")
def test_a_pool_lends_the_connection_that_was_returned_last_and_outside_a_transaction(db: None) -> None:
    def used(*, is_left: bool = False) -> Any:
        connection.ensure_connection()
        found = connection.connection
        if is_left:
            connection.set_autocommit(False)
            connection.cursor().execute("SELECT 1")
        connection.close()
        return found

    def work() -> None:
        first = used(is_left=True)
        assert used() is first and connection.autocommit
        connection.ensure_connection()
        assert connection.get_autocommit() and not connection.in_atomic_block
        connection.close()

    on_a_thread(work)


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has no pool")
def test_a_pool_that_has_none_left_is_a_database_that_is_unavailable(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left() -> None:
        raise psycopg_pool.PoolTimeout("couldn't get a connection")

    def work() -> None:
        for _ in range(2):  # also on a thread that had one before
            connection.ensure_connection()
            connection.close()
            with monkeypatch.context() as patch:
                patch.setattr(connection.pool, "getconn", none_left)
                with pytest.raises(OperationalError, match="couldn't"):
                    Org.objects.exists()
                with pytest.raises(OperationalError, match="couldn't"):
                    together((_ORGS, ()))

    on_a_thread(work)


_ORGS = Prepared(lambda: Org.objects.values_list("pk"))
