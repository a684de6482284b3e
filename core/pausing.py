"""Let something outside alone for a while after it failed, so that one that hangs is waited for at most once in it."""

from threading import Lock
from time import monotonic

PAUSE_SECONDS = 5


class Pause:
    """Whether something that failed is let alone: for `PAUSE_SECONDS` after each time it is begun."""

    def __init__(self) -> None:
        self._until = 0.0
        self._lock = Lock()

    @property
    def is_on(self) -> bool:
        """Whether it failed within the last seconds."""
        return monotonic() < self._until

    def begin(self) -> bool:
        """Let it alone from now on; False if it already was, as for the second of two threads that waited for it."""
        with self._lock:
            if self.is_on:
                return False
            self._until = monotonic() + PAUSE_SECONDS
        return True
