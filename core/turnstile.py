"""Limits on how many threads do something at a time."""

import math
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from core.errors import Unavailable


class Turnstile:
    """`with turnstile.passed():` around work that is faster if only a few threads do it at a time.

    A plain semaphore is not fair: a newcomer can pass those who wait, so that under load some wait for seconds. Here a
    leaving thread hands its slot to the first in the queue. `waiting` limits the length of the queue; by default it is
    unlimited.
    """

    def __init__(self, width: int, *, waiting: float = math.inf) -> None:
        self._free = width
        self._waiting = waiting
        self._line: deque[threading.Lock] = deque()
        self._lock = threading.Lock()

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Wait for a slot and release it at the end; raises `Unavailable` if the queue is full."""
        self._enter()
        try:
            yield
        finally:
            self._leave()

    def _enter(self) -> None:
        turn = threading.Lock()
        with self._lock:
            if self._free:
                self._free -= 1
                return
            if len(self._line) >= self._waiting:
                raise Unavailable("Too many requests at once. Try again in a moment.")
            turn.acquire()
            self._line.append(turn)
        turn.acquire()  # released when a slot is handed over

    def _leave(self) -> None:
        with self._lock:
            if self._line:
                self._line.popleft().release()
            else:
                self._free += 1


class Courtesy:
    """`with courtesy.taken():` around work that is faster one at a time if it is short, and mostly is.

    Nobody waits longer than `seconds`, and for work that has taken that long, nobody waits.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._since = 0.0

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Wait for those who are before, but not long."""
        is_first = self._lock.acquire(blocking=False) or self._lock.acquire(timeout=self._patience())
        if is_first:
            self._since = time.monotonic()
        try:
            yield
        finally:
            if is_first:
                self._lock.release()

    def _patience(self) -> float:
        return max(0.0, self._since + self._seconds - time.monotonic())
