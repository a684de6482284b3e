"""The environment: every variable is checked at the start, and a mistake is a sentence."""

import os
import re
import stat
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path

import pytest

from config import env

ROOT = Path(__file__).resolve().parents[2]
KEY = "k" * 32


@pytest.fixture
def load(monkeypatch):
    """Read an environment that holds nothing of ours but what is given."""
    for name in list(os.environ):
        if name.startswith("HEDDLE_") or name in ("DATABASE_URL", "REDIS_URL", "PORT"):
            monkeypatch.delenv(name)

    def read(**variables):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return env.load()

    return read


@pytest.fixture
def refusal(load):
    """What the start says before it stops."""

    def read(**variables):
        with pytest.raises(SystemExit) as caught:
            load(**variables)
        assert isinstance(caught.value.code, str)
        return caught.value.code

    return read


def test_nothing_at_all_is_a_valid_environment(load):
    found = load()
    assert (found.mode, found.is_embedded, found.debug, found.https) == ("local", True, False, False)


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("HEDDLE_MODE", "staging", "HEDDLE_MODE"),
        ("HEDDLE_DEBUG", "perhaps", "HEDDLE_DEBUG"),
        ("HEDDLE_THREADS", "3", "HEDDLE_THREADS"),
        ("HEDDLE_THREADS", "many", "HEDDLE_THREADS"),
        ("HEDDLE_TURNS", "0", "HEDDLE_TURNS"),
        ("PORT", "99999", "\n  PORT: "),
        ("HEDDLE_QUEUE_PREFIX", "Two Words", "HEDDLE_QUEUE_PREFIX: must be lower-case letters, digits, - and _"),
        ("HEDDLE_BATCH_MS", "0", "HEDDLE_BATCH_MS"),
        ("HEDDLE_SWEEP_SECONDS", "61", "HEDDLE_SWEEP_SECONDS"),
        ("HEDDLE_LOG_LEVEL", "LOUD", "HEDDLE_LOG_LEVEL"),
        ("HEDDLE_LOG_FORMAT", "xml", "HEDDLE_LOG_FORMAT"),
        ("HEDDLE_DATABASE_POOL", "501", "HEDDLE_DATABASE_POOL"),
        ("HEDDLE_MODEL_PROFILES", "gpt", "name=provider:model"),
        ("HEDDLE_MODEL_PROFILES", "a=openai:x, b", "name=provider:model"),
        ("HEDDLE_MODEL_PROFILES", "a=openai:x?temperature=warm", "'a' temperature: "),
        ("HEDDLE_MODEL_PROFILES", "a=openai:x?fallback=b", "'a' falls back to 'b', which is not another profile"),
        ("HEDDLE_DEFAULT_PROFILE", "quick", "\n  HEDDLE_DEFAULT_PROFILE: 'quick' is not one of HEDDLE_MODEL_PROFILES"),
        ("HEDDLE_HEARTBEAT_SECONDS", "20", "half of HEDDLE_LEASE_SECONDS"),
        ("HEDDLE_PUBLIC_URL", "https://*.example.org", "\n  HEDDLE_PUBLIC_URL: must be a URL such as"),
        ("HEDDLE_HOSTS", "http://foo", "\n  HEDDLE_HOSTS: 'http://foo' is not a host name"),
        ("HEDDLE_HOSTS", "a.test, foo:8000", "\n  HEDDLE_HOSTS: 'foo:8000' is not a host name"),
        ("HEDDLE_HOSTS", "foo/path", "\n  HEDDLE_HOSTS: 'foo/path' is not a host name"),
        ("DATABASE_URL", "postgresql://h/db", "Set both DATABASE_URL"),
        ("REDIS_URL", "redis://h/0", "Set both DATABASE_URL"),
        ("DATABASE_URL", "mysql://h/db", "\n  DATABASE_URL must begin with postgresql://"),
        ("DATABASE_URL", "postgresfoo://h/db", "\n  DATABASE_URL must begin with postgresql://"),
        ("DATABASE_URL", "sqlite:///", "\n  DATABASE_URL must name a file"),
        ("DATABASE_URL", "sqlite://", "\n  DATABASE_URL must name a file"),
        ("DATABASE_URL", "sqlite://:memory:", "\n  DATABASE_URL must name a file"),
        ("DATABASE_URL", "sqlite:///:memory:", "\n  DATABASE_URL must name a file"),
        ("DATABASE_URL", "sqlite:///file::memory:", "\n  DATABASE_URL must name a file"),
        ("DATABASE_URL", "sqlite:///x.sqlite3?timeout=5", "\n  DATABASE_URL takes no options with SQLite"),
        ("HEDDLE_PUBLIC_URL", "heddle.example.org", "HEDDLE_PUBLIC_URL: must be a URL such as https://"),
        ("HEDDLE_PUBLIC_URL", "https://", "HEDDLE_PUBLIC_URL: must be a URL such as https://"),
        ("HEDDLE_PUBLIC_URL", "https://[", "HEDDLE_PUBLIC_URL: must be a URL such as https://"),
        ("HEDDLE_PUBLIC_URL", "https://h:99999", "HEDDLE_PUBLIC_URL: must be a URL such as https://"),
        ("HEDDLE_PUBLIC_URL", "https://heddle.local/heddle", "HEDDLE_PUBLIC_URL: must be a URL such as https://"),
        ("HEDDLE_PUBLIC_URL", "https://u:p@heddle.local", "HEDDLE_PUBLIC_URL: must be a URL such as https://"),
        ("HEDDLE_PUBLIC_URL", "https://heddle.local?", "HEDDLE_PUBLIC_URL: must be a URL such as https://"),
        ("HEDDLE_PUBLIC_URL", "https://heddle.local/#a", "HEDDLE_PUBLIC_URL: must be a URL such as https://"),
        ("HEDDLE_PUBLIC_URL", "https://heddle.local ", "HEDDLE_PUBLIC_URL: must be a URL such as https://"),
        ("HEDDLE_SECRET_KEY", "  ", "\n  HEDDLE_SECRET_KEY: must not be blank"),
        ("HEDDLE_CHECK_RUNS", "8", "\n  HEDDLE_CHECK_RUNS must be less than HEDDLE_TURNS (8)"),
        ("HEDDLE_WEBHOOK_RETRY_SECONDS", ",", "\n  HEDDLE_WEBHOOK_RETRY_SECONDS: "),
        ("HEDDLE_MODEL_PROFILES", "bad=foo:x", "'bad' names an unknown provider 'foo'"),
        ("HEDDLE_WEBHOOK_RETRY_SECONDS", "5,-1", "HEDDLE_WEBHOOK_RETRY_SECONDS: "),
        ("HEDDLE_SECRETS_DIR", "/nowhere/at/all", "HEDDLE_SECRETS_DIR: /nowhere/at/all is not a folder"),
        ("HEDDLE_DATA_DIR", "/proc/heddle", "HEDDLE_DATA_DIR: /proc/heddle cannot be written to"),
        ("HEDDLE_DATA_DIR", __file__, "cannot be written to (File exists)"),
    ],
)
def test_a_bad_value_stops_the_start_with_a_sentence_that_names_it(refusal, variable, value, said):
    message = refusal(**{variable: value})
    assert message.startswith("Heddle cannot start")
    assert said in message
    assert message.count("\n  ") == 1, "nothing else is wrong"
    assert "HEDDLE_SETTINGS" not in message and "Value error" not in message and "pattern" not in message


NUMBERS = [name for name, field in env.Env.model_fields.items() if re.search("int|float", str(field.annotation))]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", ["-1", "1e12", "inf", "-inf", "nan"])
def test_no_number_is_without_bounds(refusal, name, value):
    """One that no time and no pool can hold would break whatever reads it, long after the start."""
    assert name.upper() in refusal(**{"PORT" if name == "port" else f"HEDDLE_{name.upper()}": value})


def test_the_numbers_are_found():
    assert {"port", "lease_seconds", "call_days", "webhook_retry_seconds", "batch_ms", "turns"} <= {*NUMBERS}


@pytest.mark.parametrize("text", ["0", "65536", "99999", "-1", "http", "1.5", ""])
def test_a_port_on_a_command_line_is_one(text, capsys):
    parser = ArgumentParser()
    parser.add_argument("--port", type=env.port_number)
    assert parser.parse_args(["--port", "65535"]).port == 65535
    with pytest.raises(SystemExit):
        parser.parse_args(["--port", text])
    assert "must be a number from 1 to 65535" in capsys.readouterr().err


@pytest.mark.parametrize("written", ["info", "Info", " INFO "])
def test_the_level_of_the_log_is_read_in_any_case(load, written):
    assert load(HEDDLE_LOG_LEVEL=written).log_level == "INFO"


def test_production_shows_nobody_the_page_of_a_developer(refusal, load):
    assert load(HEDDLE_DEBUG="true").debug
    production = {"HEDDLE_MODE": "production", "HEDDLE_SECRET_KEY": KEY, "HEDDLE_HOSTS": "heddle.example.org"}
    assert "HEDDLE_DEBUG must be off in production" in refusal(**production, HEDDLE_DEBUG="true")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (
            "postgresql://u:pw@h/db?sslmood=require",
            "DATABASE_URL has an option 'sslmood' that PostgreSQL does not know",
        ),
        ("postgresql://u:pw@h:port/db", "DATABASE_URL cannot be parsed"),
        ("postgresql://u:pw@h/", "DATABASE_URL must name a database"),
    ],
)
def test_a_database_that_nobody_could_connect_to_stops_the_start(refusal, url, said):
    message = refusal(DATABASE_URL=url, REDIS_URL="redis://h/0")
    assert said in message and "pw" not in message


@pytest.mark.parametrize(
    "url",
    ["nonsense", "http://h:6379/0", "unix:///run/redis.sock", "redis://h:port/0", "redis://:pw/w@h/0", "redis://h/first",
     "redis://:pw@h:6379/0?db=x", "redis://[::1"],
)  # fmt: skip
def test_a_queue_that_nobody_could_connect_to_stops_the_start(refusal, url):
    """The server would serve without one word, and neither be ready nor wake a worker."""
    message = refusal(DATABASE_URL="postgresql://h/db", REDIS_URL=url)
    assert "\n  REDIS_URL must be redis://:password@host:6379/0" in message and "pw" not in message


@pytest.mark.parametrize(
    "url", ["redis://h", "redis://h:6379/0", "rediss://u:p%40@h/1?ssl_cert_reqs=none", "redis://[::1]/"]
)
def test_addresses_of_queues_are_taken(load, url):
    assert load(DATABASE_URL="postgresql://h/db", REDIS_URL=url).redis_url == url


@pytest.mark.parametrize("options", ["sslmode=require&connect_timeout=5", "currentSchema=x", "prepare_threshold=0"])
def test_options_of_postgresql_and_of_its_driver_are_taken(load, options):
    assert load(DATABASE_URL=f"postgresql://h/db?{options}", REDIS_URL="redis://h/0").database_url.endswith(options)


def test_every_mistake_is_told_at_once(refusal):
    message = refusal(HEDDLE_MODE="staging", HEDDLE_THREADS="3", HEDDLE_LOG_FORMAT="xml")
    assert all(name in message for name in ("HEDDLE_MODE", "HEDDLE_THREADS", "HEDDLE_LOG_FORMAT"))


def test_a_misspelt_name_is_told_together_with_bad_values(refusal):
    said = refusal(HEDDLE_TURN="4", HEDDLE_THREADS="none")
    assert "did you mean HEDDLE_TURNS?" in said and "HEDDLE_THREADS: " in said


def test_settings_that_concern_each_other_are_told_at_once_too(refusal):
    message = refusal(HEDDLE_MODE="production", HEDDLE_LEASE_SECONDS="5", DATABASE_URL="postgresql://u:p@h/d")
    for name in ("HEDDLE_HEARTBEAT_SECONDS", "HEDDLE_SECRET_KEY", "HEDDLE_HOSTS", "REDIS_URL"):
        assert sum(line.startswith(f"  {name}") or name in line for line in message.splitlines()) == 1, name


def test_production_needs_a_key_of_its_own_and_its_names(refusal, load):
    assert "HEDDLE_SECRET_KEY" in refusal(HEDDLE_MODE="production")
    assert "HEDDLE_SECRET_KEY" in refusal(HEDDLE_SECRET_KEY="k" * 31)
    assert "HEDDLE_SECRET_KEY" in refusal(HEDDLE_SECRET_KEY="k" + " " * 40)
    assert "HEDDLE_HOSTS" in refusal(HEDDLE_SECRET_KEY=KEY)
    assert load(HEDDLE_HOSTS="heddle.example.org").mode == "production"


def test_a_refusal_never_shows_a_secret(refusal):
    message = refusal(HEDDLE_MODE="production", HEDDLE_SECRET_KEY="short-secret", DATABASE_URL="postgresql://u:pw@h/d")
    assert "short-secret" not in message
    assert ":pw@" not in message


def test_lists_are_written_with_commas_or_new_lines(load):
    found = load(HEDDLE_HOSTS="a.test, b.test\nc.test,,", HEDDLE_MODEL_PROFILES="a=openai:x\nb = groq:y")
    assert found.hosts == ("a.test", "b.test", "c.test")
    assert found.model_profiles == ("a=openai:x", "b = groq:y")


def test_names_of_hosts_are_taken_as_django_compares_them(load):
    names = ("heddle.example.org", ".example.org", "*", "10.0.0.1", "[fd00::1]", "x")
    assert load(HEDDLE_HOSTS=",".join(names)).hosts == names


@pytest.mark.parametrize(("turns", "pool"), [("15", ""), ("24", "25")])
def test_a_pool_that_cannot_carry_the_turns_stops_the_start(refusal, load, turns, pool):
    """A turn without a connection fails, and takes the leases of the others with it."""
    full = {"DATABASE_URL": "postgresql://h/d", "REDIS_URL": "redis://h/0"}
    message = refusal(**full, HEDDLE_TURNS=turns, HEDDLE_DATABASE_POOL=pool)
    assert f"HEDDLE_DATABASE_POOL must be at least 2 more than HEDDLE_TURNS ({turns} turns need " in message
    assert load(**full, HEDDLE_TURNS=turns, HEDDLE_DATABASE_POOL=str(int(turns) + 2)).turns == int(turns)


@pytest.mark.parametrize(("turns", "runs"), [("8", 4), ("3", 2), ("1", 1)])
def test_runs_of_checks_leave_a_turn_for_readers_by_themselves(load, turns, runs):
    assert load(HEDDLE_TURNS=turns).check_runs == runs


def test_a_worker_of_one_turn_has_one_for_a_run_of_a_check(load, refusal):
    assert load(HEDDLE_TURNS="1", HEDDLE_CHECK_RUNS="1").check_runs == 1
    assert "HEDDLE_CHECK_RUNS must be less" in refusal(HEDDLE_CHECK_RUNS="2")


@pytest.mark.parametrize("written", ["https://heddle.local", "https://heddle.local/", "http://[::1]:8000"])
def test_where_people_find_it_is_an_address_alone(load, written):
    assert load(HEDDLE_PUBLIC_URL=written).address == written.rstrip("/")


def test_turns_without_a_pool_need_none(load):
    assert load(DATABASE_URL="", REDIS_URL="", HEDDLE_TURNS="24").turns == 24


def test_an_empty_variable_counts_as_none(load):
    """As a compose file writes one that is not set."""
    assert load(HEDDLE_MODE="", DATABASE_URL="", REDIS_URL="", HEDDLE_HOSTS="").is_embedded


def test_both_spellings_of_the_two_urls_are_read(load):
    found = load(DATABASE_URL="postgresql://h/d", HEDDLE_REDIS_URL="redis://h/0")
    assert (found.database_url, found.redis_url, found.is_embedded) == ("postgresql://h/d", "redis://h/0", False)


def test_a_secret_may_stand_in_a_file(load, tmp_path):
    (tmp_path / "heddle_secret_key").write_text(KEY)
    assert load(HEDDLE_SECRETS_DIR=str(tmp_path)).signing_key() == KEY


def test_a_secret_that_cannot_be_read_stops_the_start_and_names_the_folder(refusal, tmp_path):
    (tmp_path / "heddle_secret_key").write_bytes(b"\xff" * 40)
    assert "\n  HEDDLE_SECRETS_DIR: " in (message := refusal(HEDDLE_SECRETS_DIR=str(tmp_path)))
    assert "secret_key" in message


def test_a_key_that_cannot_be_read_or_kept_stops_the_start(refusal, tmp_path):
    """As where root served first and a user of its own does now."""
    (tmp_path / "secret_key").mkdir()
    assert f"HEDDLE_DATA_DIR: {tmp_path}/secret_key cannot be read" in refusal(HEDDLE_DATA_DIR=str(tmp_path))
    full = {"DATABASE_URL": "postgresql://h/db", "REDIS_URL": "redis://h/0"}
    assert "HEDDLE_DATA_DIR: /proc/heddle cannot be written to" in refusal(**full, HEDDLE_DATA_DIR="/proc/heddle")


def test_who_brings_a_key_and_a_database_needs_no_folder(load):
    full = {"DATABASE_URL": "postgresql://h/db", "REDIS_URL": "redis://h/0", "HEDDLE_SECRET_KEY": KEY}
    assert load(**full, HEDDLE_DATA_DIR="/proc/heddle").signing_key() == KEY


def test_without_a_key_one_is_made_once_and_kept_for_its_owner_alone(load, tmp_path):
    found = load(HEDDLE_DATA_DIR=str(tmp_path / "new"))
    first = found.signing_key()
    assert len(first) >= 32
    assert load(HEDDLE_DATA_DIR=str(tmp_path / "new")).signing_key() == first
    [path] = (tmp_path / "new").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_process_stops_with_the_sentence_and_no_trace(tmp_path):
    run = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env={**os.environ, "HEDDLE_THREADS": "none", "HEDDLE_DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 1
    assert "HEDDLE_THREADS" in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("", []),
        ("false", []),
        ("true", ["0.0.0.0/0", "::/0"]),
        ("10.20.0.0/16, fd00::/8\n127.0.0.1", ["10.20.0.0/16", "fd00::/8", "127.0.0.1/32"]),
    ],
)
def test_private_networks_that_may_be_reached(load, written, read):
    assert [str(each) for each in load(HEDDLE_ALLOW_PRIVATE_TARGETS=written).allow_private_targets] == read


def test_pauses_between_attempts_are_numbers_with_commas(load, refusal):
    assert load().webhook_retry_seconds[:2] == (5, 300)
    assert load(HEDDLE_WEBHOOK_RETRY_SECONDS="1, 2.5,60").webhook_retry_seconds == (1, 2.5, 60)
    assert refusal(HEDDLE_WEBHOOK_RETRY_SECONDS="soon").count("HEDDLE_WEBHOOK_RETRY_SECONDS") == 1


@pytest.mark.parametrize("wrong", ["10.0.0.300", "10.0.0.0/99", "10.20.30.40/16", "yes", "fd00::/200"])
def test_what_is_no_network_is_named(refusal, wrong):
    told = refusal(HEDDLE_ALLOW_PRIVATE_TARGETS=f"10.0.0.0/8,{wrong}")
    assert told.count("HEDDLE_ALLOW_PRIVATE_TARGETS") == 1
    assert f"HEDDLE_ALLOW_PRIVATE_TARGETS: '{wrong}' is not a network such as 10.20.0.0/16" in told


def test_commands_of_mcp_servers_have_a_name_and_words_as_in_a_shell(load, refusal):
    assert load().mcp_commands == {}
    written = "time = mcp-server-time --local-timezone 'Europe/Berlin'\n\ngit=/opt/git --repository '/a b'"
    assert load(HEDDLE_MCP_COMMANDS=written).mcp_commands == {
        "time": ("mcp-server-time", "--local-timezone", "Europe/Berlin"),
        "git": ("/opt/git", "--repository", "/a b"),
    }
    for wrong in ("mcp-server-time", "time=", "A b=c", "time='"):
        assert "HEDDLE_MCP_COMMANDS" in refusal(HEDDLE_MCP_COMMANDS=wrong)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("HEDDLE_TRUNS", "HEDDLE_TURNS"),
        ("HEDDLE_HOST", "HEDDLE_HOSTS"),
        ("HEDDLE_PUBLICURL", "HEDDLE_PUBLIC_URL"),
        ("HEDDLE_SECRET_DIR", "HEDDLE_SECRETS_DIR"),
        ("HEDDLE_LEASE", "HEDDLE_LEASE_SECONDS"),
        ("HEDDLE_WEBHOOK_DELAY", "HEDDLE_WEBHOOK_DELAY_SECONDS"),
        ("HEDDLE_CALL", "HEDDLE_CALL_DAYS"),
        ("HEDDLE_BATCH", "HEDDLE_BATCH_MS"),
    ],
)
def test_a_misspelt_name_is_told_instead_of_ignored(refusal, given, meant):
    assert f"{given}: unknown setting; did you mean {meant}?" in refusal(**{given: "1"})


@pytest.mark.parametrize(
    "name",
    [
        "HEDDLE_SERVICE_HOST",
        "HEDDLE_PORT_8000_TCP",
        "HEDDLE_LEASE_SERVICE_HOST",
        "HEDDLE_TEST_DATABASE_URL",
        "TURNS",
        "LEASE",
    ],
)
def test_names_of_others_are_left_alone(load, name):
    """Kubernetes names a service's addresses after the service."""
    load(**{name: "10.0.0.1"})
    assert load(HEDDLE_PORT="tcp://10.0.0.1:8000").port is None


def test_a_name_that_nobody_reads_is_told(load):
    """It may be of a later version, or of an earlier one: no reason to stop, and none to be silent."""
    others = ["HEDDLE_SERVICE_HOST", "HEDDLE_REDIS_SERVICE_PORT_MAIN", "HEDDLE_PORT_8000_TCP", "HEDDLE_TEST_REDIS_URL"]
    assert env.unknown(["HEDDLE_COLOUR", *others, "HEDDLE_TURNS", "HEDDLE_SECRETS_DIR", "HEDDLE_REDIS_URL"]) == [
        "HEDDLE_COLOUR"
    ]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("HTTPS://Heddle.Local:443/", "https://heddle.local"),
        ("http://heddle.local:80", "http://heddle.local"),
        ("https://heddle.local:80", "https://heddle.local:80"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_the_public_address_is_spelled_as_browsers_spell_where_a_form_was_sent_from(load, written, meant):
    assert load(HEDDLE_PUBLIC_URL=written).address == meant
