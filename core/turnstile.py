"""A door that lets a few through at a time, in the order in which they came."""

import math
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from core.errors import Unavailable


class Turnstile:
    """`with turnstile.passed():` around work that many threads want to do at once and that is quicker done by a few.

    A semaphore would do but for its order: whoever comes while one leaves slips in before those who wait, and under
    load some of them wait for seconds. Here whoever leaves hands their place to the first in line, which holds as many
    as `waiting` says: without it, everybody.
    """

    def __init__(self, width: int, *, waiting: float = math.inf) -> None:
        self._free = width
        self._waiting = waiting
        self._line: deque[threading.Lock] = deque()
        self._lock = threading.Lock()

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Wait for one's turn, and give it away at the end; raises `Unavailable` where the line is full."""
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
                raise Unavailable("Too many want the same at once. Try again in a moment.")
            turn.acquire()
            self._line.append(turn)
        turn.acquire()  # once the one before lets go of it

    def _leave(self) -> None:
        with self._lock:
            if self._line:
                self._line.popleft().release()
            else:
                self._free += 1
