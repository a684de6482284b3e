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

    Work that takes longer than `seconds` is left to itself: the next one begins beside it, and then those behind that
    one wait for it alone.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._turn = _Turn()
        self._replacing = threading.Lock()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Wait for the others, but for none of them long."""
        turn = self._entered()
        try:
            yield
        finally:
            turn.since = math.inf
            turn.lock.release()

    def _entered(self) -> "_Turn":
        while True:
            turn = self._turn
            if turn.lock.acquire(blocking=False) or turn.lock.acquire(timeout=self._patience(turn)):
                if turn is self._turn:
                    turn.since = time.monotonic()
                    return turn
                turn.lock.release()  # of one that was left to itself and has ended
            elif mine := self._replaced(turn):
                return mine

    def _replaced(self, turn: "_Turn") -> "_Turn | None":
        with self._replacing:
            if turn is not self._turn:
                return None
            mine = _Turn()
            mine.lock.acquire()
            mine.since = time.monotonic()
            self._turn = mine
            return mine

    def _patience(self, turn: "_Turn") -> float:
        return min(self._seconds, max(0.0, turn.since + self._seconds - time.monotonic()))


class _Turn:
    """A lock, and since when it is held; infinite while nobody has noted that yet."""

    __slots__ = ("lock", "since")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.since = math.inf
