"""Worker and beat share a queue with the server, or refuse to start."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest

from config.celery import app
from tests.live import fetch, free_port

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.pure
def test_what_was_tried_out_is_not_served_in_production_with_the_password_that_everybody_knows(tmp_path, migrated):
    env = {name: value for name, value in os.environ.items() if not name.startswith(("HEDDLE_", "DATABASE_", "REDIS_"))}
    env |= {"HEDDLE_DATA_DIR": str(tmp_path), "HEDDLE_SECRET_KEY": "k" * 32, "PORT": str(free_port())}
    production = env | {"HEDDLE_MODE": "production", "HEDDLE_HOSTS": "desk.example", "HEDDLE_HTTPS": "false"}

    def manage(*command, env):
        command = [sys.executable, "manage.py", *command]
        return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120)

    assert "refuses to load it" in manage("serve", "--demo", env=production).stderr
    assert not (tmp_path / "heddle.sqlite3").exists()
    migrated(tmp_path)
    make = "from accounts.models import User; User.objects.create_user('admin@heddle.test', 'warp-and-weft')"
    assert manage("shell", "-c", make, env=env).returncode == 0
    for options in ((), ("--no-prepare",)):
        refused = manage("serve", *options, env=production)
        assert refused.returncode == 1 and "everybody knows the password of admin@heddle.test" in refused.stderr
    assert manage("person", "admin@heddle.test", "--off", env=production).returncode == 0
    command = [sys.executable, "manage.py", "serve"]
    with subprocess.Popen(
        command, cwd=ROOT, env=production, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        try:
            assert b"Heddle serves" in process.stdout.readline() + process.stdout.readline()
        finally:
            process.terminate()


@pytest.mark.pure
def test_beat_makes_its_folder_or_says_why_it_cannot(tmp_path):
    """Its library would look for its file in a folder that is not there and call that a corrupted file."""
    (tmp_path / "file").touch()
    env = {name: value for name, value in os.environ.items() if not name.startswith("HEDDLE_")} | {
        "HEDDLE_SECRET_KEY": "k" * 32,
        "DATABASE_URL": "postgresql://127.0.0.1:1/x",
        "REDIS_URL": "redis://127.0.0.1:1/0",
    }
    command = [sys.executable, "-m", "celery", "-A", "config.celery", "beat"]
    env["HEDDLE_DATA_DIR"] = str(tmp_path / "file" / "data")
    ended = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    said = f"HEDDLE_DATA_DIR: {env['HEDDLE_DATA_DIR']} cannot be written to (Not a directory)"
    assert ended.stderr.strip() == f"Heddle cannot start. Fix these environment variables:\n  {said}"
    env["HEDDLE_DATA_DIR"] = str(tmp_path / "new" / "data")
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            assert _soon((tmp_path / "new" / "data").is_dir, seconds=30)
        finally:
            process.kill()
        assert b"corrupted" not in process.communicate()[1]


@pytest.mark.pure
@pytest.mark.parametrize("arguments", [("worker", "--pool", "threads", "--concurrency", "1"), ("beat",)])
def test_where_nobody_shares_a_queue_neither_worker_nor_clock_starts(tmp_path, arguments):
    """Their queue would be inside the process, and stay empty forever."""
    ours = ("HEDDLE_", "DATABASE_URL", "REDIS_URL")
    env = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    run = subprocess.run(
        [sys.executable, "-m", "celery", "-A", "config.celery", *arguments],
        cwd=ROOT,
        env={**env, "HEDDLE_DATA_DIR": str(tmp_path), "C_FORCE_ROOT": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 1
    assert "DATABASE_URL and REDIS_URL are not set" in run.stderr
    assert "Traceback" not in run.stderr
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith("beat")]


AWAY = {"DATABASE_URL": "postgresql://127.0.0.1:1/x", "REDIS_URL": "redis://127.0.0.1:1/0"}


@pytest.mark.pure
@pytest.mark.parametrize(
    ("command", "more"),
    [
        (("manage.py", "serve"), {}),
        (("-m", "celery", "-A", "config.celery", "worker", "--pool", "threads"), AWAY),
        (("-m", "celery", "-A", "config.celery", "beat"), AWAY),
    ],
    ids=["serve", "worker", "beat"],
)
def test_a_closed_terminal_stops_a_process_as_sigterm_does_unless_it_was_begun_to_go_on(tmp_path, command, more):
    """A web server or worker began anew without a terminal."""
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        pytest.skip("these tests outlive their terminal, and so does what they begin")
    env = {name: value for name, value in os.environ.items() if not name.startswith(("HEDDLE_", "DATABASE_", "REDIS_"))}
    env |= {"HEDDLE_SECRET_KEY": "k" * 32, "PYTHONUNBUFFERED": "1", **more}
    with ExitStack() as stack:
        # Side by side: what one waits for, the other waits for meanwhile.
        ends = stack.enter_context(_begun(tmp_path / "ends", sys.executable, *command, env=env))
        goes_on = stack.enter_context(_begun(tmp_path / "goes-on", "nohup", sys.executable, *command, env=env))
        for each in (ends, goes_on):
            assert _soon(each.is_up, seconds=60), each.said()
            os.kill(each.pid, signal.SIGHUP)
        assert ends.wait(timeout=15) == 0
        time.sleep(1.5)
        assert goes_on.poll() is None
        goes_on.terminate()
        assert goes_on.wait(timeout=15) == 0
    assert "Traceback" not in ends.said() + goes_on.said()


class _Process(subprocess.Popen):
    """A process with a folder of its own, which holds what it says."""

    def __init__(self, folder, *command, env):
        self.folder, self.port = folder, free_port()
        folder.mkdir()
        with (folder / "log").open("w") as log:
            super().__init__(
                command,
                cwd=ROOT,
                env={**env, "HEDDLE_DATA_DIR": str(folder), "PORT": str(self.port)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def said(self):
        return (self.folder / "log").read_text()

    def is_up(self):
        """It hears signals by now: whoever answers does, and whose queue's library misses the queue."""
        assert self.poll() is None, self.said()
        with suppress(OSError):
            return '"logger": "celery.' in self.said() or fetch(f"http://127.0.0.1:{self.port}/readyz")[0] == 200


@contextmanager
def _begun(folder, *command, env):
    """It runs inside of the block, and nothing that it began runs after it."""
    process = _Process(folder, *command, env=env)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture
def environment(tmp_path):
    """A fake virtual environment for `make`; what it starts writes its process id."""
    started = tmp_path / "started"
    (tmp_path / "bin").mkdir()
    for name in ("python", "celery"):
        command = tmp_path / "bin" / name
        command.write_text(f"#!/bin/sh\necho $$ > {started}.new && mv {started}.new {started}\nexec sleep 60\n")
        command.chmod(0o755)
    for mark in (".base", ".dev", ".referees"):
        (tmp_path / mark).touch()
    return tmp_path


@pytest.mark.pure
@pytest.mark.parametrize("target", ["run", "worker", "beat"])
def test_a_process_that_make_started_ends_with_it(environment, target):
    """A worker that outlives it would keep running turns unnoticed."""
    make = subprocess.Popen(["make", target, f"VENV={environment}"], cwd=ROOT, start_new_session=True)
    try:
        pid = int(_soon(lambda: (environment / "started").exists() and (environment / "started").read_text()))
        make.terminate()
        make.wait(timeout=10)
        assert _soon(lambda: not Path(f"/proc/{pid}").exists())
    finally:
        with suppress(ProcessLookupError):
            os.killpg(make.pid, signal.SIGKILL)


def _soon(look, seconds=5):
    """Poll for a few seconds and return the result."""
    ends_at = time.monotonic() + seconds
    while not (found := look()) and time.monotonic() < ends_at:
        time.sleep(0.02)
    return found


@pytest.mark.pure
def test_a_worker_waits_for_its_queue_for_as_long_as_it_is_away(monkeypatch):
    """By default it would give up after a hundred tries, 45 minutes."""
    tries = itertools.count(1)

    def refuse(*_, **__):
        if next(tries) > 120:
            raise KeyboardInterrupt
        raise ConnectionError

    line = app.connection_for_read("redis://127.0.0.1:1/0")
    monkeypatch.setattr(line, "_connection_factory", refuse)
    monkeypatch.setattr("kombu.utils.functional.sleep", lambda seconds: None)
    with pytest.raises(KeyboardInterrupt):
        line.ensure_connection(max_retries=app.conf.broker_connection_max_retries)


@pytest.mark.pure
@pytest.mark.parametrize(("level", "told"), [("DEBUG", ["low", "middle"]), ("INFO", ["middle"]), ("ERROR", [])])
def test_a_process_of_the_queues_library_writes_from_the_level_that_the_operator_set(tmp_path, level, told):
    """By itself the library sets WARNING, or what its own option says."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("HEDDLE_", "DATABASE_", "REDIS_"))}
    speak = """
import logging, django
from config.celery import app
from tests.live import free_port
django.setup()
app.log.setup(loglevel="WARNING", redirect_stdouts=True)
logging.getLogger("heddle.turns").debug("low")
logging.getLogger("heddle.turns").info("middle")
"""
    run = subprocess.run(
        [sys.executable, "-c", speak],
        cwd=ROOT,
        env={**env, "HEDDLE_DATA_DIR": str(tmp_path), "HEDDLE_LOG_LEVEL": level},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    written = [json.loads(line) for line in run.stderr.splitlines()]
    assert [line["event"] for line in written if line["logger"] == "heddle.turns"] == told


@pytest.mark.pure
def test_a_process_whose_queue_is_away_warns_of_it_by_its_event_and_now_and_then(tmp_path):
    """By default the library logs each try as an error."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("HEDDLE_")} | {
        "HEDDLE_SECRET_KEY": "k" * 32,
        "HEDDLE_DIGEST_SECONDS": "0.3",
        "C_FORCE_ROOT": "1",
        **AWAY,
    }
    celery = (sys.executable, "-m", "celery", "-A", "config.celery")

    def told(process):
        lines = process.said().splitlines()
        told = [json.loads(line) for line in lines if line[:1] + line[-1:] == "{}"]
        return [line for line in told if line["logger"].startswith("celery")]

    with ExitStack() as stack:
        # Side by side: what one waits for, the other waits for meanwhile.
        worker = stack.enter_context(
            _begun(tmp_path / "worker", *celery, "worker", "--pool", "threads", "--concurrency", "1", env=env)
        )
        beat = stack.enter_context(_begun(tmp_path / "beat", *celery, "beat", env=env))
        for process in (worker, beat):
            [line] = _soon(partial(told, process), seconds=20)
            assert (line["event"], line["level"]) == ("queue.not_answering", "warning")
            assert "refused" in line["reason"] and "trace" not in line
        time.sleep(2.5)
        for process in (worker, beat):
            assert len(told(process)) == 1, "though it tried again"
