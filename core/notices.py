"""Live notices: "something about X is new". In memory in single-process mode, over Redis in full mode.

A notice carries no content; the reader then reads committed data from the database. So a lost notice delays a reader
until the next heartbeat at most, and a duplicate does no harm.
"""

import logging
import os
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.util import Finalize

from django.conf import settings

from core.logging import Seldom

logger = logging.getLogger("heddle.notices")
_waiting: dict[str, set[threading.Event]] = defaultdict(set)
_lock = threading.Lock()
_redis_lock = threading.Lock()
_publisher: "_Redis | None" = None
_listening = False
_not_sent, _line_down = Seldom(), Seldom()
_ALIVE = {
    getattr(socket, name): value
    for name, value in {"TCP_KEEPIDLE": 15, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3}.items()
    if hasattr(socket, name)
}
"""Half a minute of silence at the other end's kernel ends the line to Redis, instead of two hours."""


class Waiter:
    """One reader waiting for notices about its subjects."""

    def __init__(self, event: threading.Event) -> None:
        self._event = event

    def wait(self, seconds: float) -> bool:
        """Wait for a notice; True if one came. Notices since the last wait count."""
        came = self._event.wait(seconds)
        self._event.clear()
        return came


@contextmanager
def waiting(*subjects: str) -> Iterator[Waiter]:
    """Register for notices about subjects. Register before reading the state whose changes you want."""
    if settings.HEDDLE.redis_url:
        _listen()
    event = threading.Event()
    with _lock:
        for subject in subjects:
            _waiting[subject].add(event)
    try:
        yield Waiter(event)
    finally:
        with _lock:
            for subject in subjects:
                _waiting[subject].discard(event)
                if not _waiting[subject]:
                    del _waiting[subject]


def publish(subject: str) -> None:
    """Notify the waiters in every process. Never raises or blocks: the caller's change is already committed."""
    if not settings.HEDDLE.redis_url:
        _wake(subject)
        return
    try:
        _redis().publish(subject)
    except Exception as problem:  # for example, no thread can be started
        _warn(problem)


def wake_all() -> None:
    """Wake every waiter of this process."""
    with _lock:
        for events in _waiting.values():
            for event in events:
                event.set()


def _wake(subject: str) -> None:
    with _lock:
        for event in _waiting.get(subject, ()):
            event.set()


class _Redis:
    """The publisher: a thread with one client and short timeouts.

    Waiting for Redis in the request was rejected: it costs every rating a tenth of a millisecond, and a second if Redis
    hangs. Pending notices of one subject are merged.
    """

    def __init__(self) -> None:
        import redis

        self._channel = f"{settings.HEDDLE.queue_prefix}:notices"
        self._client = redis.Redis.from_url(settings.HEDDLE.redis_url, socket_connect_timeout=1, socket_timeout=1)
        self._subjects: set[str] = set()
        self._is_sending = False
        self._changed = threading.Condition()
        threading.Thread(target=self._send, name="notices out", daemon=True).start()
        # Not `atexit`: it never runs in processes started by multiprocessing, such as the server's workers.
        Finalize(None, self._finish, exitpriority=1)

    def publish(self, subject: str) -> None:
        with self._changed:
            self._subjects.add(subject)
            self._changed.notify_all()

    def _send(self) -> None:
        while True:
            with self._changed:
                self._is_sending = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._subjects)
                subjects, self._subjects, self._is_sending = self._subjects, set(), True
            try:
                with self._client.pipeline(transaction=False) as line:
                    for subject in subjects:
                        line.publish(self._channel, subject)
                    line.execute()
            except Exception as problem:  # redis raises many kinds
                _warn(problem)

    def _finish(self) -> None:
        """Send pending notices before the process ends."""
        with self._changed:
            self._changed.wait_for(lambda: not self._subjects and not self._is_sending, timeout=1)


def _warn(problem: Exception) -> None:
    if _not_sent.is_due():
        logger.warning("notice.not_sent", extra={"kind": type(problem).__name__})


def _redis() -> _Redis:
    global _publisher
    with _redis_lock:
        if _publisher is None:
            _publisher = _Redis()
        return _publisher


def _reset_after_fork() -> None:
    """Start without threads in a forked process: it has none of its parent's, and none of its readers."""
    global _publisher, _listening, _redis_lock, _lock
    _publisher, _listening, _redis_lock, _lock = None, False, threading.Lock(), threading.Lock()
    _waiting.clear()


os.register_at_fork(after_in_child=_reset_after_fork)


def _listen() -> None:
    """Start the one listening thread of this process."""
    global _listening
    with _redis_lock:
        if _listening:
            return
        _listening = True
    threading.Thread(target=_relay, name="notices", daemon=True).start()


def _relay() -> None:
    import redis

    client = redis.Redis.from_url(
        settings.HEDDLE.redis_url,
        socket_connect_timeout=2,
        socket_timeout=None,
        # Nothing is sent on this line, so only the kernel notices that its other end vanished without a word.
        socket_keepalive=True,
        socket_keepalive_options=_ALIVE,
    )
    channel = f"{settings.HEDDLE.queue_prefix}:notices"
    while True:
        try:
            with client.pubsub(ignore_subscribe_messages=True) as line:  # type: ignore[no-untyped-call]
                line.subscribe(channel)
                wake_all()  # for notices missed while disconnected
                for message in line.listen():
                    _wake(message["data"].decode())
        except Exception as problem:  # disconnected: retry until it works
            if _line_down.is_due():
                logger.warning("notices.line_down", extra={"kind": type(problem).__name__})
            time.sleep(1)
