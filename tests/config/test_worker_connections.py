"""What a worker's thread does with its database connection between two tasks (docs/decisions/004-budgets.md)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from celery import signals
from celery.fixups.django import DjangoWorkerFixup
from django.db import ProgrammingError, connection, connections

from config.celery import app
from core.sqlite import base as sqlite

app.loader.import_default_modules()


def finish_a_task() -> Any:
    """Let Celery do what it does around a task, without the task; the open connection afterwards, or None."""
    task, fixup = app.tasks["threads.sweep"], DjangoWorkerFixup(app)
    fixup.on_task_prerun(task)
    fixup.on_task_postrun(task)
    signals.task_postrun.send(sender=task)
    return connection.connection


def on_a_thread(work: Callable[[], Any]) -> Any:
    """What it returns, done on a thread of its own, which has connections of its own."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(work).result()


def on_a_file(path: Path, work: Callable[[], Any]) -> Any:
    """What it returns, done on a thread whose connection leads to a SQLite file."""
    own = {**connections.databases["default"], "NAME": str(path), "OPTIONS": {}, "CONN_MAX_AGE": None}

    def done() -> Any:
        connections["default"] = used = sqlite.DatabaseWrapper(own, "default")
        used.connect()
        try:
            return work()
        finally:
            used.close()

    return on_a_thread(done)


def test_a_sqlite_file_stays_open_because_opening_it_reads_the_whole_schema_anew(db: None, tmp_path: Path) -> None:
    assert on_a_file(tmp_path / "db.sqlite3", lambda: connection.connection is finish_a_task())


def test_a_connection_that_broke_is_closed_so_that_the_next_task_has_another(db: None, tmp_path: Path) -> None:
    def work() -> Any:
        connection.connection.close()
        with pytest.raises(ProgrammingError):
            connection.cursor().execute("SELECT 1")
        return finish_a_task()

    assert on_a_file(tmp_path / "db.sqlite3", work) is None


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has no pool")
def test_one_of_a_pool_goes_back_so_that_idle_workers_hold_none(db: None) -> None:
    def work() -> Any:
        connection.ensure_connection()
        return finish_a_task()

    assert on_a_thread(work) is None
