"""Server-sent events over WSGI: a generator that holds a thread while it waits, and no database connection."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.conf import settings
from django.db import connection
from django.http import StreamingHttpResponse

from core import notices

HEARTBEAT_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Event:
    """One event; `id` is what a reader that reconnects sends back."""

    name: str
    data: str
    id: str | None = None

    def encode(self) -> bytes:
        """The wire form: every line of the data on a `data:` line of its own."""
        lines = [f"event: {self.name}"]
        if self.id is not None:
            lines.append(f"id: {self.id}")
        lines.extend(f"data: {line}" for line in self.data.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
        return ("\n".join(lines) + "\n\n").encode()


HEARTBEAT = b": still here\n\n"
WAITING = Event("waiting", "")
ASKS_AGAIN_MS = 10_000
_PLACES = threading.BoundedSemaphore(max(1, settings.HEDDLE.threads - max(4, settings.HEDDLE.threads // 8)))
"""Lines that may wait at the same time: without a limit as many tabs as there are threads would silence the server."""


_ending = threading.Event()


def end_all() -> None:
    """End every stream of this process, those that begin from now on too: it is about to stop, and would wait for them.

    Readers come back by themselves, and find the next process.
    """
    _ending.set()
    notices.wake_all()


def stream(events: Iterable[Event | None]) -> StreamingHttpResponse:
    """Answer with events; None is a heartbeat, by which a reader who left is noticed and its thread given back.

    Whoever is about to wait says `WAITING`. Lines that wait leave some of the server's threads to everybody else: one
    more is told what is new and ends, and its reader asks again after a while.
    """
    response = StreamingHttpResponse(_encoded(events), content_type="text/event-stream")
    response.headers["Cache-Control"] = "private, no-cache, no-transform"
    response.headers["X-Accel-Buffering"] = "no"
    return response


@contextmanager
def place() -> Iterator[bool]:
    """A place among those who wait, for as long as this lasts; False where all are taken, and nobody else may wait."""
    is_taken = _PLACES.acquire(blocking=False)
    try:
        yield is_taken
    finally:
        if is_taken:
            _PLACES.release()


def _encoded(events: Iterable[Event | None]) -> Iterator[bytes]:
    with place() as may_wait:
        yield f"retry: {1_000 if may_wait else ASKS_AGAIN_MS}\n\n".encode()
        for event in events:
            if event is not WAITING:
                yield HEARTBEAT if event is None else event.encode()
            elif not may_wait or _ending.is_set():
                return


def give_connection_back() -> None:
    """Return the database connection to the pool before waiting, or a few readers would hold all of them."""
    if not connection.in_atomic_block:
        connection.close()
