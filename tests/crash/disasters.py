"""Clients that go on working while processes are killed, and what they need to find each other again."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from roboto.ai import AgentThread

from tests import live
from tests.sdk.callers import PATIENCE, run

LONG = "[[words 120]] [[pace 0.15]]"


@contextmanager
def polling(*threads: AgentThread, **more: Any) -> Iterator[None]:
    """An SDK client drives each of these threads meanwhile, and has to come to its end."""
    failed: list[Exception] = []

    def drive(thread: AgentThread) -> None:
        try:
            run(thread, **{"timeout": 2 * PATIENCE, **more})
        except Exception as problem:
            failed.append(problem)

    clients = [threading.Thread(target=drive, args=(thread,)) for thread in threads]
    for client in clients:
        client.start()
    try:
        yield
    finally:
        for client in clients:
            client.join(timeout=3 * PATIENCE)
    assert not any(client.is_alive() for client in clients), "a client polls for ever"
    assert not failed, failed


def kill_workers(server: live.Served) -> None:
    """Kill whoever answers: the worker, or the one process that is server and worker."""
    server.kill("worker" if server.way == "full" else "server")


def start_workers(server: live.Served) -> None:
    """Another one takes its place."""
    if server.way == "full":
        server.start_worker()
    else:
        server.start_server("--no-prepare")
