"""Whoever takes things away at bad moments: kills processes, shuts the broker's door, cuts the database off."""

import contextlib
import os
import random
import signal
import sqlite3
import threading
import time
from collections import Counter
from pathlib import Path

import psycopg

from tests import live

WORKERS = ("worker", "worker2", "worker3")


class Adversary:
    """Strikes again and again until told to stop, and then mends what it broke. What comes when follows the seed."""

    def __init__(self, server: live.Served, seed: str, pause: tuple[float, float], most: int) -> None:
        self.server = server
        self.random = random.Random(f"{seed}:adversary")
        self.pause, self.most = pause, most
        self.struck: Counter[str] = Counter()
        self.failure: BaseException | None = None
        self.server_deaths: list[float] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        full = {
            self.a_worker: 6,
            self.all_workers: 1,
            self.the_server: 3,
            self.the_clock: 1,
            self.broker_refuses: 2,
            self.broker_hangs: 2,
            self.database_lines: 3,
        }
        embedded = {self.the_server: 4, self.the_serving_child: 3, self.database_locked: 2}
        self.ways = full if server.way == "full" else embedded

    def __enter__(self) -> "Adversary":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        if self.failure is not None:
            raise self.failure

    def _run(self) -> None:
        names = list(self.ways)
        try:
            while self.struck.total() < self.most and not self._stop.wait(self.random.uniform(*self.pause)):
                [strike] = self.random.choices(names, weights=list(self.ways.values()))
                strike()
                self.struck[strike.__name__.replace("_", " ")] += 1
        except BaseException as problem:
            self.failure = problem

    def a_worker(self) -> None:
        """Killed, now and then asked politely, and another one some time later."""
        name = self.random.choice(WORKERS)
        self.server.kill(name, self.random.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM)))
        time.sleep(self.random.uniform(0, 1.5))
        self.server.start_worker(name)

    def all_workers(self) -> None:
        for name in WORKERS:
            self.server.kill(name)
        time.sleep(self.random.uniform(0, 1))
        for name in WORKERS:
            self.server.start_worker(name)

    def the_server(self) -> None:
        self.server_deaths.append(time.time())
        self.server.kill("server")
        time.sleep(self.random.uniform(0, 1))
        self.server.start_server("--no-prepare")

    def the_serving_child(self) -> None:
        """The process that serves and works. Its parent starts another one, and ends itself where that goes on."""
        self.server_deaths.append(time.time())
        parent = self.server.processes["server"].pid
        for child in Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)
        time.sleep(0.5)
        if self.server.processes["server"].poll() is not None:
            self.server.start_server("--no-prepare")
        self.server.wait_until_ready()

    def the_clock(self) -> None:
        self.server.kill("beat")
        time.sleep(self.random.uniform(0, 1.5))
        self.server.start_beat()

    def broker_refuses(self) -> None:
        self._without_broker("close")

    def broker_hangs(self) -> None:
        self._without_broker("stick")

    def _without_broker(self, how: str) -> None:
        assert self.server.broker is not None
        getattr(self.server.broker, how)()
        time.sleep(self.random.uniform(0.2, 3))
        self.server.broker.open()

    def database_lines(self) -> None:
        """Some connections to the database are cut, or every one of them."""
        share = self.random.choice((0.2, 0.5, 1))
        with psycopg.connect(self.server.env["DATABASE_URL"], autocommit=True) as line:
            line.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid() AND random() < %s",
                [share],
            )

    def database_locked(self) -> None:
        """Somebody else writes to the SQLite file, a backup say."""
        line = sqlite3.connect(Path(self.server.env["HEDDLE_DATA_DIR"]) / "heddle.sqlite3", timeout=20)
        line.isolation_level = None
        try:
            line.execute("BEGIN IMMEDIATE")
            time.sleep(self.random.uniform(0.2, 1.5))
            line.execute("ROLLBACK")
        finally:
            line.close()
