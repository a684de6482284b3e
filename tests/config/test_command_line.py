"""The command line: an error that an operator can fix is one sentence and an exit code, never a traceback."""

import json
import os
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests import live

ROOT = Path(__file__).resolve().parents[2]
KEY = "k" * 32
OURS = ("HEDDLE_", "DATABASE_URL", "REDIS_URL", "PORT")
AWAY = {"DATABASE_URL": "postgresql://127.0.0.1:1/heddle", "REDIS_URL": "redis://127.0.0.1:1/0"}
PERSON = ("person", "zoe@acme.test", "--no-password")
COMMANDS = (
    PERSON,
    ("org_policy", "acme", "members_may_fork", "on"),
    ("org_role", "acme", "zoe@acme.test", "admin"),
    ("seed_load", "--reports", "1"),
    ("demo_credentials",),
)
pytestmark = pytest.mark.pure


@pytest.fixture(scope="module")
def port():
    return str(live.free_port())


@pytest.fixture(scope="module")
def serve(port):
    return ("serve", "--port", port)


IN_ONE_PROCESS = """
import json, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
from config.command_line import run
refused = 0
for arguments in json.loads(sys.argv[1]):
    try:
        run(["manage.py", *arguments])
    except SystemExit as end:
        refused |= bool(end.code)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
sys.exit(refused)
"""


def run(folder, *arguments, **variables):
    """The last line that a refused command prints, run in a new process."""
    return told(folder, "manage.py", *arguments, **variables)[-1]


def run_all(folder, *commands, **variables):
    """The last lines of several refused commands, run in one process because starting one is slow."""
    return told(folder, "-c", IN_ONE_PROCESS, json.dumps(commands), **variables)


def told(folder, *arguments, **variables):
    """All that a refused command prints, run in a new process."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**env, "HEDDLE_DATA_DIR": str(folder), **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr.splitlines()


def test_before_the_first_start_a_command_says_what_prepares_the_database(tmp_path):
    said = "CommandError: The database is not migrated to this version. Run `manage.py migrate` (`serve` does it too)."
    assert run_all(tmp_path, *COMMANDS) == [said] * len(COMMANDS)


def test_a_database_that_cannot_be_reached_is_named_by_its_setting(tmp_path, serve):
    away = {"DATABASE_URL": "sqlite:////proc/heddle/heddle.sqlite3"}
    said = "CommandError: DATABASE_URL: the database cannot be used: unable to open database file"
    assert run_all(tmp_path, PERSON, serve, **away) == [said] * 2


def test_sqlite_may_be_elsewhere_by_its_url(tmp_path):
    """With all that Heddle's own backend adds: `healthy` asks as `/readyz` does."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    env |= {"HEDDLE_DATA_DIR": str(tmp_path), "DATABASE_URL": f"sqlite:///{tmp_path}/elsewhere.sqlite3"}
    both = [sys.executable, "-c", IN_ONE_PROCESS, json.dumps([["migrate"], ["healthy"]])]
    subprocess.run(both, cwd=ROOT, env=env, check=True, capture_output=True)
    assert {path.name for path in tmp_path.glob("*.sqlite3")} == {"elsewhere.sqlite3"}


def test_a_database_that_is_not_there_is_told_by_what_the_server_of_it_says(tmp_path):
    """And not by a pool, which would try for ten seconds and report only that it got no connection."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    away = {"DATABASE_URL": f"postgresql://u:secret@127.0.0.1:{port}/x", "REDIS_URL": "redis://127.0.0.1:1/0"}
    said = run(tmp_path, *PERSON, **away)
    assert said.startswith("CommandError: DATABASE_URL: the database cannot be used: ")
    assert "refused" in said and "secret" not in said
    bogus = f"postgresql://u:secret@127.0.0.1:{port}/x?sslmode=bogus"
    assert 'invalid sslmode value: "bogus"' in run(tmp_path, *PERSON, **away | {"DATABASE_URL": bogus})
    live.need_services()
    missing = live.POSTGRES.rpartition("/")[0] + "/heddle_nowhere"
    assert 'database "heddle_nowhere" does not exist' in run(tmp_path, *PERSON, **away | {"DATABASE_URL": missing})


def test_a_file_that_is_no_database_is_named_by_its_folder(tmp_path, serve):
    (tmp_path / "heddle.sqlite3").write_bytes(b"no database" * 1000)
    said = "CommandError: HEDDLE_DATA_DIR: the database cannot be used: file is not a database"
    assert run_all(tmp_path, PERSON, serve) == [said] * 2


@pytest.mark.parametrize(
    ("command", "renamed", "reason"),
    [
        ("serve", "feedback.%", "already exists"),
        ("migrate", "accounts.0002_put_out_of", "before its dependency accounts.0002_put_out_of"),
    ],
)
def test_a_database_of_a_version_that_is_not_known_any_more_names_its_migrations(
    tmp_path, migrated, serve, command, renamed, reason
):
    """Its tables are there under another name of their migration, on which a later one may build."""
    with closing(sqlite3.connect(migrated(tmp_path) / "heddle.sqlite3")) as database, database:
        rename = "UPDATE django_migrations SET name = name || '_of_old' WHERE app || '.' || name LIKE ?"
        assert database.execute(rename, [renamed]).rowcount
    said = run(tmp_path, *(serve if command == "serve" else [command]))
    assert said.startswith(
        "CommandError: The database was made by another version of Heddle. This one does not know its "
    )
    assert "_of_old: " in said and reason in said
    assert said.endswith(" Use a version that does, or restore a backup of a version before it.")


def test_before_the_first_start_nothing_is_healthy_and_the_tables_are_named(tmp_path):
    assert run(tmp_path, "healthy") == "Not ready: migrations"


def test_of_a_database_that_is_silent_the_health_check_hears_in_time(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"postgresql://u@127.0.0.1:{silent.getsockname()[1]}/x"
        started = time.monotonic()
        assert run(tmp_path, "healthy", **AWAY | {"DATABASE_URL": address}) == "Not ready: database, queue"
    assert time.monotonic() - started < 9


def test_a_command_that_asks_where_nobody_can_type_says_so(tmp_path, migrated):
    """As Django's own, which sets a password, in a script."""
    make = "from accounts.models import User; User.objects.create_user('zoe@acme.test', None)"
    *_, said = run_all(
        migrated(tmp_path), ("shell", "--verbosity", "0", "-c", make), ("changepassword", "zoe@acme.test")
    )
    assert said == (
        "CommandError: There is no terminal for what changepassword asks. Run it in one (`docker exec -it`)."
    )


def test_a_server_that_has_no_room_for_what_it_keeps_says_so(port):
    said = run("/proc/heddle", "serve", "--port", port, **AWAY, HEDDLE_SECRET_KEY=KEY)
    assert said.startswith("CommandError: HEDDLE_DATA_DIR: /proc/heddle cannot be written to")


def test_a_host_that_is_no_name_is_refused(tmp_path, port):
    hosts = ("a..b", "x" * 64, os.fsdecode(b"\xff"))
    said = run_all(tmp_path, *(("serve", "--host", host, "--port", port) for host in hosts))
    assert [each.partition(" on ")[0] for each in said] == ["CommandError: Heddle cannot listen"] * len(hosts)


def test_whoever_wants_the_trace_gets_it(tmp_path):
    with pytest.raises(AssertionError, match="Traceback"):
        run(tmp_path, *PERSON, "--traceback")
