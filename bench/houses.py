"""Starts a Heddle to measure and the floor on the same kind of server, in separate processes."""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import redis

from bench.lines import Caller
from bench.provider import Provider
from tests.live import POSTGRES, ROOT, Served, free_port

REDIS = os.environ.get("HEDDLE_BENCH_REDIS_URL", "redis://127.0.0.1:6379/11")
TURNS = "8"


@dataclass(frozen=True)
class House:
    """A running Heddle with data, its floor, and a model provider."""

    way: str
    served: Served
    floor: Served
    provider: Provider
    filled: dict[str, Any]

    def alice(self) -> Caller:
        """An API client of the user who owns all threads, with its own connection."""
        return Caller(self.served.port, token=self.filled["people"]["Alice"]["token"])

    def admin(self) -> Caller:
        """An API client of a platform admin."""
        return Caller(self.served.port, token=self.filled["people"]["admin"]["token"])

    def desk(self) -> Caller:
        """A signed-in browser client of the platform admin."""
        return Caller(self.served.port, cookie=self.admin_cookie)

    def browser(self, encoding: str = "") -> Caller:
        """A signed-in browser client of Alice."""
        return Caller(self.served.port, cookie=self.cookie, encoding=encoding)

    @property
    def cookie(self) -> str:
        """Alice's session."""
        return str(self.filled["people"]["Alice"]["cookie"])

    @property
    def admin_cookie(self) -> str:
        """The platform admin's session."""
        return str(self.filled["people"]["admin"]["cookie"])

    def thread(self, length: int) -> str:
        """Return the id of the thread with that many messages."""
        return str(self.filled["threads"][str(length)]["id"])

    def view(self) -> Callable[[], bytes]:
        """A client of the floor *view*, with its own connection."""
        return Caller(self.floor.port).prepared("GET", "/")

    def task_rate(self, count: int = 400) -> float:
        """Measure the floor *task*: tasks per second that only commit a row."""
        return float(json.loads(Caller(self.floor.port).prepared("GET", f"/tasks/{count}")())["rate"])

    @contextlib.contextmanager
    def workers(self, count: int) -> Iterator[None]:
        """Temporarily run that many worker processes, for Heddle and the floor."""
        more = [f"worker{number}" for number in range(2, count + 1)]
        try:
            for name in more:
                start_worker(self.served, "config.celery", name)
                start_worker(self.floor, "bench.floor.queue", name)
            time.sleep(6 if more else 0)  # until they listen
            yield
        finally:
            for name in more:
                self.served.kill(name)
                self.floor.kill(name)

    @contextlib.contextmanager
    def wider(self, threads: int) -> Iterator[None]:
        """Temporarily run the server with another number of threads."""
        before = dict(self.served.env)
        try:
            self.served.env["HEDDLE_THREADS"] = str(threads)
            self._start_again()
            yield
        finally:
            self.served.env.clear()
            self.served.env.update(before)
            self._start_again()

    def _start_again(self) -> None:
        self.served.kill("server")
        self.served.start_server("--no-prepare")

    def settle(self) -> None:
        """Wait until the loaded reports are digested: no real server has 10,000 of them at once."""
        if self.way == "full":  # measured without beat
            _python(
                self.served, "import django; django.setup(); from feedback import digesting; digesting.catch_up(1000)"
            )
        while self.sql().all("SELECT 1 FROM feedback_undigested LIMIT 1"):
            time.sleep(0.2)

    def sql(self) -> "Sql":
        """Open a bare connection to Heddle's database."""
        return Sql(self.served)


class Sql:
    """Runs statements on Heddle's database without Heddle's code."""

    def __init__(self, served: Served) -> None:
        self.is_postgres = "DATABASE_URL" in served.env
        if self.is_postgres:
            self._line: Any = psycopg.connect(served.env["DATABASE_URL"], autocommit=True)
        else:
            path = Path(served.env["HEDDLE_DATA_DIR"]) / "heddle.sqlite3"
            self._line = sqlite3.connect(path, isolation_level=None, timeout=20)
            self._line.execute("PRAGMA synchronous=NORMAL")

    def together(self, *statements: str) -> None:
        """Run statements in one transaction."""
        self._line.execute("BEGIN")
        for statement in statements:
            self._line.execute(statement)
        self._line.execute("COMMIT")

    def all(self, statement: str) -> list[Any]:
        """Return the rows of a query."""
        return list(self._line.execute(statement).fetchall())


@contextlib.contextmanager
def house(way: str) -> Iterator[House]:
    """Start all processes of a mode, and clean up afterwards."""
    with contextlib.ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="heddle-bench-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        services = stack.enter_context(own_database()) if way == "full" else {}
        provider = Provider()
        stack.callback(provider.close)
        served = new_server(way, folder / "product", services, provider)
        stack.callback(stop, served)
        served.manage("migrate", "-v0")
        filled = json.loads(_python(served, "import django; django.setup(); from bench import fill; fill.main()"))
        served.start_server()
        start_worker(served, "config.celery")
        floor = new_server(way, folder / "floor", services | _floor_names(services), provider)
        floor.env["DJANGO_SETTINGS_MODULE"] = "bench.floor.settings"
        stack.callback(stop, floor)
        floor.start("server", "-c", _SERVE.format(port=floor.port))
        floor.wait_until_ready()
        start_worker(floor, "bench.floor.queue")
        made = House(way, served, floor, provider, filled)
        made.settle()
        yield made


def new_server(way: str, folder: Path, services: dict[str, str], provider: Provider | None = None) -> Served:
    """Prepare a server with the given settings and defaults for the rest."""
    folder.mkdir(parents=True)
    port = free_port()
    env = {key: value for key, value in os.environ.items() if not key.startswith(("HEDDLE_", "DATABASE_", "REDIS_"))}
    env |= {"HEDDLE_DATA_DIR": str(folder), "HEDDLE_PUBLIC_URL": f"http://127.0.0.1:{port}", **services}
    if provider is not None:
        env |= {"HEDDLE_MODEL_PROFILES": "given=openai-chat:bench", "HEDDLE_DEFAULT_PROFILE": "simulated"}
        env |= {"OPENAI_BASE_URL": provider.url, "OPENAI_API_KEY": "bench"}
    return Served(way, f"http://127.0.0.1:{port}", port, env, log=folder / "log")


def start_worker(served: Served, app: str, name: str = "worker") -> None:
    """Start a worker as `make worker` does."""
    if served.way == "full":
        served.start(
            name, "-m", "celery", "-A", app, "worker", "--pool", "threads", "--concurrency", TURNS, "-n", f"{name}@%h"
        )


def stop(served: Served) -> None:
    """Stop every process of a server."""
    for name in list(served.processes):
        served.kill(name)


@contextlib.contextmanager
def own_database() -> Iterator[dict[str, str]]:
    """Create a separate database, dropped afterwards, and a separate Redis prefix."""
    name = f"heddle_bench_{os.getpid()}"
    with psycopg.connect(POSTGRES, autocommit=True) as line:
        line.execute(f'CREATE DATABASE "{name}"')
    url = POSTGRES.rpartition("/")[0] + "/" + name
    try:
        yield {"DATABASE_URL": url, "REDIS_URL": REDIS, "HEDDLE_QUEUE_PREFIX": name}
    finally:
        with psycopg.connect(POSTGRES, autocommit=True) as line:
            line.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        with redis.Redis.from_url(REDIS) as client:
            for key in client.scan_iter(f"{name}*", count=1000):
                client.delete(key)


_SERVE = "from config.serving import serve; serve('bench.floor.wsgi:application', '127.0.0.1', {port})"
"""The floor uses Heddle's server."""


def _floor_names(services: dict[str, str]) -> dict[str, str]:
    return {"HEDDLE_QUEUE_PREFIX": services["HEDDLE_QUEUE_PREFIX"] + "_floor"} if services else {}


def _python(served: Served, code: str) -> str:
    env = {**served.env, "DJANGO_SETTINGS_MODULE": "config.settings"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr[-3000:])
    return done.stdout
