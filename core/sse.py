"""Server-sent events over WSGI: a generator that holds a thread while it waits, but no database connection."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.conf import settings
from django.http import StreamingHttpResponse

from core import notices
from core.db import give_connection_back
from core.turnstile import Turnstile

HEARTBEAT_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Event:
    """One event; a client that reconnects sends its last `id` back."""

    name: str
    data: str
    id: str | None = None

    def encode(self) -> bytes:
        """The wire format: one `data:` line per line of data."""
        lines = [f"event: {self.name}"]
        if self.id is not None:
            lines.append(f"id: {self.id}")
        lines.extend(f"data: {line}" for line in self.data.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
        return ("\n".join(lines) + "\n\n").encode()


HEARTBEAT = b": still here\n\n"
WAITING = Event("waiting", "")
ASKS_AGAIN_MS = 10_000
_PLACES = threading.BoundedSemaphore(max(1, settings.HEDDLE.threads - max(4, settings.HEDDLE.threads // 8)))
"""Limits open streams: otherwise as many tabs as there are threads would block the server."""


_ending = threading.Event()


def end_all() -> None:
    """End all streams of this process, future ones too, because shutdown would wait for them.

    Clients reconnect automatically, to the next process.
    """
    _ending.set()
    notices.wake_all()


def stream(events: Iterable[Event | None]) -> StreamingHttpResponse:
    """A streaming response of events; None is a heartbeat, which detects readers who left and frees their thread.

    The generator yields `WAITING` before it waits. A limit keeps threads free for other requests: a stream above it
    sends what is new and ends, and the client reconnects after `ASKS_AGAIN_MS`.
    """
    response = StreamingHttpResponse(_encoded(events), content_type="text/event-stream")
    response.headers["Cache-Control"] = "private, no-cache, no-transform"
    response.headers["X-Accel-Buffering"] = "no"
    return response


@contextmanager
def place() -> Iterator[bool]:
    """Hold a stream slot inside the block; yields False if none is free, so that the stream must not wait."""
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


_TURNSTILE = Turnstile(4)
"""Limits how many streams read at the same time. All readers of a subject wake at once; without a limit they would
delay every other request and each other, and each would hold a database connection."""


@contextmanager
def look() -> Iterator[None]:
    """Wrap reading what is new: in turn with other streams, and without a database connection before and after.

    Yield events only after it: a reader who does not read them would hold turn and connection.
    """
    give_connection_back()
    with _TURNSTILE.passed():
        try:
            yield
        finally:
            give_connection_back()
