"""Periodic tasks while the database is down (docs/operations.md: a warning, not a bug)."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError, ProgrammingError, connection
from psycopg.errors import DiskFull

from config.celery import app
from core import jobs
from core.logging import Seldom

app.loader.import_default_modules()
TASKS = sorted({each["task"] for each in app.conf.beat_schedule.values()})


@pytest.fixture(autouse=True)
def _has_told_nothing(monkeypatch: Any) -> None:
    """As in a process that has not logged an outage yet."""
    monkeypatch.setattr(jobs, "_seldom", Seldom())


def break_with(problem: Exception) -> Any:
    def refuse(*_: Any) -> Any:
        raise problem

    return connection.execute_wrapper(refuse)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("kind", [OperationalError, InterfaceError])
def test_a_database_that_breaks_off_is_a_warning(name: str, kind: type[Exception], caplog: Any) -> None:
    with break_with(kind("server closed the connection")), caplog.at_level(logging.INFO):
        app.tasks[name]()
    [record] = [each for each in caplog.records if each.levelno >= logging.WARNING]
    assert (record.getMessage(), record.levelname) == ("database.unavailable", "WARNING")
    assert (record.task, record.kind) == (name, kind.__name__)


@pytest.mark.django_db(transaction=True)
def test_an_outage_is_one_line_and_not_one_for_each_task(caplog: Any) -> None:
    with break_with(OperationalError("server closed the connection")), caplog.at_level(logging.INFO):
        for name in TASKS * 3:
            app.tasks[name]()
    assert [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING] == ["database.unavailable"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", TASKS)
def test_a_full_disk_is_an_error_that_says_so(name: str, caplog: Any) -> None:
    full = OperationalError("could not extend file")
    full.__cause__ = DiskFull()
    with break_with(full), caplog.at_level(logging.INFO):
        app.tasks[name]()
        app.tasks[name]()
    records = [each for each in caplog.records if each.levelno >= logging.WARNING]
    told = [(each.getMessage(), each.levelname, each.code) for each in records]
    assert told == [("disk.full", "ERROR", "53100")] * 2


@pytest.mark.django_db(transaction=True)
def test_what_looks_after_all_runs_of_checks_is_begun_again_by_the_clock_too(caplog: Any) -> None:
    with break_with(OperationalError("server closed the connection")), caplog.at_level(logging.INFO):
        app.tasks["feedback.checks"](0)
    [record] = [each for each in caplog.records if each.levelno >= logging.WARNING]
    assert (record.getMessage(), record.task) == ("database.unavailable", "feedback.checks")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", TASKS)
def test_a_mistake_of_ours_is_raised(name: str) -> None:
    with break_with(ProgrammingError("no such column")), pytest.raises(ProgrammingError):
        app.tasks[name]()
