"""Readiness, liveness files, and startup warnings."""

import io
import logging
import os
import shutil
import socket
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection, connections
from django.db.migrations.recorder import MigrationRecorder
from django.db.utils import ConnectionHandler
from django.test.utils import CaptureQueriesContext

from config import alive, operations, starting
from tests import live


@pytest.fixture(autouse=True)
def unknown_yet(monkeypatch):
    """Reset state, as in a process that has just started."""
    monkeypatch.setattr(operations, "_are_applied", False)


@pytest.fixture
def folder(settings, tmp_path):
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"data_dir": tmp_path / "data"})
    return tmp_path / "data"


@pytest.fixture
def away(db, monkeypatch):
    """The database does not respond."""

    def refuse(_):
        raise OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(type(connections["default"]), "probe", refuse)


def test_ready_is_who_has_all_tables_and_that_is_looked_at_until_it_is_so(db, client):
    MigrationRecorder.Migration.objects.filter(app="accounts", name="0002_put_out_of").delete()
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["ok"]) == (503, False)
    assert [name for name, is_fine in answer.json()["checks"].items() if not is_fine] == ["migrations"]
    MigrationRecorder(connection).record_applied("accounts", "0002_put_out_of")
    assert client.get("/readyz").status_code == 200
    with CaptureQueriesContext(connection) as seen:
        assert client.get("/readyz").status_code == 200
    assert len(seen) <= 1, "and not again"


def test_of_a_database_that_does_not_answer_nothing_is_said_of_its_tables(client, away):
    answer = client.get("/readyz")
    found = answer.json()["checks"]
    assert (answer.status_code, found.pop("disk", True), found) == (503, True, {"database": False, "queue": True})
    assert healthy() == "Not ready: database"


@pytest.mark.parametrize("free", [0, 10_000_000])
def test_a_server_whose_file_can_hardly_grow_is_not_ready_and_says_why(db, client, monkeypatch, free):
    if connection.vendor != "sqlite":
        pytest.skip("the disk of PostgreSQL is its server's")
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=free))
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert [name for name, is_fine in answer.json()["checks"].items() if not is_fine] == ["disk"]
    assert healthy() == "Not ready: disk"
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=10**10))
    assert client.get("/readyz").json()["checks"]["disk"] is True


def test_figures_that_cannot_be_had_are_refused_in_the_words_of_who_asks(client, away):
    answer = client.get("/metrics")
    assert (answer.status_code, answer["Content-Type"]) == (503, "text/plain")
    assert answer.content == b"The database does not respond.\n"


@pytest.mark.pure
@pytest.mark.parametrize("is_silent", [True, False])
def test_whoever_probes_hears_within_about_a_second(is_silent):
    """A pool would wait ten seconds, and so would every later probe."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        place = {"HOST": "127.0.0.1", "PORT": door.getsockname()[1], "OPTIONS": {"pool": {"timeout": 10}}}
        if not is_silent:
            door.close()
        line = ConnectionHandler({"default": {"ENGINE": "core.postgres", "NAME": "x", **place}})["default"]
        started = time.monotonic()
        with pytest.raises(OperationalError):
            line.probe()
    assert time.monotonic() - started < 2


def test_migrations_of_a_later_version_make_nobody_unready(db, client):
    MigrationRecorder(connection).record_applied("threads", "9999_of_a_later_version")
    assert client.get("/readyz").status_code == 200


def healthy(*options):
    out = io.StringIO()
    try:
        call_command("healthy", *options, stdout=out)
    except SystemExit as end:
        return end.code
    return out.getvalue().strip()


@pytest.mark.parametrize("name", ["worker", "beat"])
def test_a_process_that_leaves_no_sign_of_life_is_not_healthy(db, folder, settings, monkeypatch, name):
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"redis_url": "redis://127.0.0.1:1/0"})
    monkeypatch.setattr(operations, "queue_problem", str)
    assert healthy() == "ok"
    assert healthy(f"--{name}") == f"Not ready: {name}"
    alive.leave(name)
    assert healthy(f"--{name}") == "ok"
    assert healthy("--worker", "--beat").startswith("Not ready: ")
    long_ago = time.time() - alive.STALE_SECONDS - 1
    os.utime(folder / f"{name}-alive", (long_ago, long_ago))
    assert healthy(f"--{name}") == f"Not ready: {name}"


@pytest.mark.parametrize("name", ["worker", "beat"])
def test_where_the_server_does_their_work_nobody_asks_for_them(db, settings, name):
    """No file of theirs is ever there, which is no sign that anything is wrong."""
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"redis_url": ""})
    with pytest.raises(CommandError, match=f"^--{name}: in single-process mode the server does this work itself"):
        healthy(f"--{name}")


def test_a_folder_that_cannot_be_written_to_keeps_nobody_from_working(settings):
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"data_dir": Path("/proc/heddle")})
    alive.leave("worker")
    assert not alive.is_alive("worker")


def test_a_worker_that_loses_its_queue_before_it_had_it_leaves_no_sign_of_life(folder):
    consumer = SimpleNamespace(steps=[])
    alive.Pulse(consumer).stop(consumer)
    assert not alive.is_alive("worker")


def said(caplog):
    return {record.getMessage(): vars(record) for record in caplog.records if record.name == "heddle.start"}


def test_at_the_start_a_process_says_what_will_puzzle_somebody(settings, folder, caplog, monkeypatch):
    full = {"database_url": "postgresql://h/d", "redis_url": f"redis://:secret@127.0.0.1:{live.free_port()}/0"}
    settings.HEDDLE = settings.HEDDLE.model_copy(update={**full, "secret_key": None})
    monkeypatch.setenv("HEDDLE_COLOUR", "red")
    with caplog.at_level(logging.WARNING):
        starting.tell()
    found = said(caplog)
    assert found["settings.unknown"]["names"] == ["HEDDLE_COLOUR"]
    assert found["secret_key.of_this_folder"]["folder"] == str(folder)
    assert "refused" in found["queue.not_answering"]["reason"] and "secret" not in str(found["queue.not_answering"])


def test_a_process_with_another_secret_key_than_the_one_before_says_so(settings, caplog):
    """Its webhooks would carry signatures that no receiver accepts."""
    settings.HEDDLE = settings.HEDDLE.model_copy(
        update={"redis_url": f"redis://127.0.0.1:{live.free_port()}/0", "secret_key": "one" * 20}
    )
    for key in ("one" * 20, "one" * 20, "two" * 20, "two" * 20):
        settings.SECRET_KEY = key
        starting.tell()
    warned = [record for record in caplog.records if record.getMessage() == "secret_key.differs"]
    assert len(warned) == 1 and not any("two" in str(vars(record)) for record in warned)


def test_a_house_in_order_says_nothing(settings, caplog, monkeypatch):
    for name in [name for name in os.environ if name.startswith("HEDDLE_")]:
        monkeypatch.delenv(name)
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"database_url": "", "redis_url": "", "secret_key": None})
    starting.tell()
    assert not said(caplog)
