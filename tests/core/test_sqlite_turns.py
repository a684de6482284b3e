"""Processes take turns with SQLite's write lock (`core.sqlite.turns`)."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.pure

BEGIN = """
import sys, time
import django
django.setup()
from django.db import connection, transaction
def one(sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return (cursor.fetchone() or [None])[0] if sql.startswith("SELECT") else None
"""
BUSY = """
one("CREATE TABLE counted (n INTEGER, is_over INTEGER)")
one("INSERT INTO counted VALUES (0, 0)")
print("ready", flush=True)
while not one("SELECT is_over FROM counted") and one("SELECT n FROM counted") < int(sys.argv[1]):
    with transaction.atomic():
        one("UPDATE counted SET n = n + 1")
        time.sleep(0.01)
"""
GUEST = """
for _ in range(int(sys.argv[1])):
    before = one("SELECT n FROM counted")
    with transaction.atomic():
        print(one("SELECT n FROM counted") - before, flush=True)
    time.sleep(0.05)
one("UPDATE counted SET is_over = 1")
"""
WAITING = """
with transaction.atomic():
    pass
print("ready", flush=True)
sys.stdin.readline()
from core.sqlite import base
base._line_for(str(connection.settings_dict["NAME"])).acquire(5)
print("in line", flush=True)
sys.stdin.readline()
"""


def started(script: str, folder: Path, *more: str) -> subprocess.Popen[str]:
    env = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    env |= {"HEDDLE_DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "config.settings"}
    command = [sys.executable, "-c", BEGIN + script, *more]
    return subprocess.Popen(command, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def ended(process: subprocess.Popen[str]) -> list[str]:
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return said.split()


def test_who_writes_all_the_time_lets_another_process_write(tmp_path: Path) -> None:
    """An import beside a bulk action: it waited until the bulk was done, or failed after twenty seconds."""
    busy = started(BUSY, tmp_path, "800")
    assert busy.stdout is not None and busy.stdout.readline() == "ready\n"
    passed = [int(each) for each in ended(started(GUEST, tmp_path, "5"))]
    ended(busy)
    assert len(passed) == 5
    assert max(passed) <= 4


def test_a_process_that_was_frozen_in_the_line_stops_nobody(tmp_path: Path) -> None:
    busy = started(BUSY, tmp_path, "200")
    assert busy.stdout is not None and busy.stdout.readline() == "ready\n"
    frozen = started(WAITING, tmp_path)
    try:
        assert frozen.stdin is not None and frozen.stdout is not None
        assert frozen.stdout.readline() == "ready\n"
        frozen.stdin.write("\n")
        frozen.stdin.flush()
        assert frozen.stdout.readline() == "in line\n"
        frozen.send_signal(signal.SIGSTOP)
        assert len(ended(started(GUEST, tmp_path, "1"))) == 1
        ended(busy)
    finally:
        frozen.kill()
        frozen.wait()
