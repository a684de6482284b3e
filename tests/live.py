"""Real servers for tests: processes of their own, a data folder or a database of their own."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
import redis
from psycopg.conninfo import conninfo_to_dict

ROOT = Path(__file__).resolve().parent.parent
POSTGRES = os.environ.get("HEDDLE_TEST_DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/postgres")
REDIS = os.environ.get("HEDDLE_TEST_REDIS_URL", "redis://127.0.0.1:6379/9")


def missing(what: str) -> None:
    """Skip with the reason, or fail where everything is required to be there."""
    if os.environ.get("HEDDLE_REQUIRE_SERVICES") == "1":
        pytest.fail(f"{what} is required here and was not found")
    pytest.skip(f"{what} was not found")


def need_services() -> None:
    """PostgreSQL and Redis, over real connections."""
    try:
        psycopg.connect(POSTGRES, connect_timeout=2).close()
    except psycopg.Error:
        missing("PostgreSQL")
    try:
        with redis.Redis.from_url(REDIS, socket_connect_timeout=2) as client:
            client.ping()
    except redis.RedisError:
        missing("Redis")


@dataclass(eq=False)
class Served:
    """A running Heddle: its address, its people, and its processes, which a test may kill and start again."""

    way: str
    url: str = ""
    port: int = 0
    env: dict[str, str] = field(default_factory=dict)
    who: dict[str, Any] = field(default_factory=dict)
    """`org_id`, `orgs`, `tokens`, `passwords` and `emails`, each but the first by name."""
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    broker: "Gate | None" = None
    """The door to Redis, where there is one."""
    log: Path = Path("/dev/null")

    def token(self, name: str) -> str:
        return str(self.who["tokens"][name])

    def manage(self, *arguments: str, check: bool = True, at_most: float = 300) -> subprocess.CompletedProcess[str]:
        """Run a management command against this Heddle. After `at_most` seconds it is ended."""
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(
            command, cwd=ROOT, env=self.env, check=check, capture_output=True, text=True, timeout=at_most
        )

    def start(self, name: str, *command: str) -> None:
        """Start one of its processes, in a group of its own."""
        with self.log.open("ab") as out:
            self.processes[name] = subprocess.Popen(
                [sys.executable, *command], cwd=ROOT, env=self.env, stdout=out, stderr=out, start_new_session=True
            )

    def is_running(self, name: str) -> bool:
        """Whether there is such a process, and it has not ended by itself."""
        return name in self.processes and self.processes[name].poll() is None

    def start_server(self, *more: str) -> None:
        self.start("server", "manage.py", "serve", "--port", str(self.port), *more)
        self.wait_until_ready()

    def start_worker(self, name: str = "worker") -> None:
        """A worker process, where the way of running has them."""
        if self.way == "full":
            self.start(name, "-m", "celery", "-A", "config.celery", "worker", "-P", "threads", "-c", "4", "-n", name)

    def start_beat(self) -> None:
        if self.way == "full":
            self.start("beat", "-m", "celery", "-A", "config.celery", "beat")

    def kill(self, name: str, how: int = signal.SIGKILL) -> None:
        """Kill a process with everything it started."""
        process = self.processes.pop(name)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, how)
        process.wait(timeout=20)

    def wait_until_ready(self, seconds: float = 90) -> None:
        ends_at = time.monotonic() + seconds
        while time.monotonic() < ends_at and self.processes["server"].poll() is None:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{self.url}/readyz", timeout=2) as answer:
                if answer.status == 200:
                    return
            time.sleep(0.05)
        raise AssertionError(f"the server did not come up:\n{self.log.read_text()[-4000:]}")


@contextlib.contextmanager
def serving(way: str, folder: Path, *, demo: bool = False, **settings: str) -> Iterator[Served]:
    """Start everything, with the people of the tests or with the demo, and stop everything afterwards."""
    server, stack, tries = Served(way), contextlib.ExitStack(), count()

    def begin() -> None:
        stack.close()
        own = folder / str(next(tries))
        own.mkdir()
        server.port = free_port()
        server.url = f"http://127.0.0.1:{server.port}"
        server.env = _environment(own, server.url)
        if way == "full":
            services, server.broker = stack.enter_context(_own_services(server.port))
            server.env |= services
        server.env |= settings
        server.log = own / "log"
        stack.callback(_stop_all, server)
        server.start_server()
        server.start_worker()
        server.start_beat()
        server.who = _demo(server) if demo else _people(server)

    with stack:
        begin()
        _RUNNING.append(begin)
        try:
            yield server
        finally:
            _RUNNING.remove(begin)


_RUNNING: list[Callable[[], None]] = []


def begin_anew() -> None:
    """Everything that is running becomes a new Heddle with nothing in it, for those who hold it, too."""
    for begin in _RUNNING:
        begin()


def _environment(folder: Path, url: str) -> dict[str, str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith(("HEDDLE_", "DATABASE_", "REDIS_"))}
    env |= {
        "HEDDLE_DATA_DIR": str(folder),
        "HEDDLE_PUBLIC_URL": url,
        "HEDDLE_LOG_FORMAT": "text",
        "HEDDLE_LEASE_SECONDS": "2",
        "HEDDLE_HEARTBEAT_SECONDS": "0.5",
        "HEDDLE_SWEEP_SECONDS": "1",
        "HEDDLE_ALLOW_PRIVATE_TARGETS": "127.0.0.0/8",
        "HEDDLE_ALLOW_HTTP_TARGETS": "true",
        "HEDDLE_WEBHOOK_TIMEOUT_SECONDS": "2",
        "HEDDLE_WEBHOOK_RETRY_SECONDS": "0.1,0.1,0.1,60",
    }
    if env.pop("PYTHONDONTWRITEBYTECODE", ""):
        # Or each of the many processes would compile everything it imports.
        env["PYTHONPYCACHEPREFIX"] = str(folder.parent.parent / "bytecode")
    return env


def _demo(server: Served) -> dict[str, Any]:
    server.manage("demo")
    found: dict[str, Any] = json.loads(server.manage("demo_credentials", "--json").stdout)
    return found


_GATHER = """
import io, json, django
django.setup()
from django.core.management import call_command
from accounts.models import Org
from accounts.orgs import add_member
from tests import people
found = people.gather()
generous = Org.objects.create(slug="generous", name="Generous")
for member in (found.alice, found.bob):
    add_member(generous, member.user)
for policy in Org.POLICIES:
    call_command("org_policy", generous.slug, policy, "on", verbosity=0, stdout=io.StringIO())
everybody = {name: found.named(name) for name in ("alice", "bob", "eve", "admin")}
everybody["bea"] = people.second_admin()
everybody["maxi"] = people.long_named()
print(json.dumps({
    "org_id": found.acme.org_id,
    "orgs": {org.slug: org.org_id for org in (found.acme, found.globex, generous)},
    "tokens": {name: person.token for name, person in everybody.items()},
    "passwords": {name: people.PASSWORD for name in everybody},
    "emails": {name: person.user.email for name, person in everybody.items()},
}))
"""


def _people(server: Served) -> dict[str, Any]:
    """Everybody, as tests.people makes them, in a database of another process.

    alice and bob are members of a second org besides, one whose policies are all on.
    """
    env = {**server.env, "DJANGO_SETTINGS_MODULE": "config.settings"}
    command = [sys.executable, "-c", _GATHER]
    done = subprocess.run(command, cwd=ROOT, env=env, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@contextlib.contextmanager
def _own_services(port: int) -> Iterator[tuple[dict[str, str], "Gate"]]:
    """A database of our own, dropped afterwards, and a prefix of our own in Redis, emptied afterwards.

    Redis is reached through a gate, which is handed out as well.
    """
    need_services()
    name = f"heddle_live_{os.getpid()}_{port}"
    with psycopg.connect(POSTGRES, autocommit=True) as line:
        line.execute(f'CREATE DATABASE "{name}"')
    parts = conninfo_to_dict(POSTGRES)
    secret = f":{parts['password']}" if parts.get("password") else ""
    url = f"postgresql://{parts['user']}{secret}@{parts['host']}:{parts.get('port', 5432)}/{name}"
    place = urlsplit(REDIS)
    broker = Gate(place.hostname or "127.0.0.1", place.port or 6379)
    gated = place._replace(netloc=f"{place.netloc.rpartition('@')[0]}@127.0.0.1:{broker.port}".lstrip("@")).geturl()
    try:
        yield {"DATABASE_URL": url, "REDIS_URL": gated, "HEDDLE_QUEUE_PREFIX": name}, broker
    finally:
        broker.close()
        with psycopg.connect(POSTGRES, autocommit=True) as line:
            line.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        with redis.Redis.from_url(REDIS) as client:
            for key in client.scan_iter(f"{name}:*", count=1000):
                client.delete(key)


def _stop_all(server: Served) -> None:
    for name in list(server.processes):
        server.kill(name)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Gate:
    """A door in front of another port that a test can shut: closed it refuses, stuck it takes calls and is silent."""

    def __init__(self, host: str, port: int) -> None:
        self.target = (host, port)
        self.port = free_port()
        self._flowing = threading.Event()
        self._lines: set[socket.socket] = set()
        self._listener: socket.socket | None = None
        self.open()

    def open(self) -> None:
        """Let everything through, from now on."""
        self._flowing.set()
        if self._listener is None:
            self._listener = socket.create_server(("127.0.0.1", self.port))
            threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def stick(self) -> None:
        """Go on accepting, and let nothing through."""
        self._flowing.clear()

    def close(self) -> None:
        """Refuse new lines and cut the ones there are."""
        if self._listener is not None:
            listener, self._listener = self._listener, None
            _cut(listener)
        for line in list(self._lines):
            _cut(line)
        self._lines.clear()

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                here, _ = listener.accept()
                there = socket.create_connection(self.target)
                self._lines |= {here, there}
                for ends in ((here, there), (there, here)):
                    threading.Thread(target=self._pump, args=ends, daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                self._flowing.wait()
                sink.sendall(data)
        for line in (source, sink):
            _cut(line)


def _cut(line: socket.socket) -> None:
    with contextlib.suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
    line.close()


def fetch(
    url: str, token: str | None = None, body: Any = None, method: str | None = None, **headers: str
) -> tuple[int, Any]:
    """One request over a real connection: status and JSON. A body of bytes is sent as it is."""
    sent = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    if token:
        sent["Authorization"] = f"Bearer {token}"
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers=sent, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, json.loads(refused.read() or b"null")
