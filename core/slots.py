"""Limits concurrency, in total and per caller."""

import math
from collections import Counter
from collections.abc import Hashable
from threading import Condition


class Slots:
    """`size` slots in total, at most `each` per caller."""

    def __init__(self, size: int, *, each: int, waiting: float = math.inf) -> None:
        self.size, self.each = size, each
        self._waiting = waiting
        self._free = size
        self._taken: Counter[Hashable] = Counter()
        self._change = Condition()

    def take(self, who: Hashable, *, patience_seconds: float = 0) -> bool:
        """Take a slot, which `leave` returns; False if none becomes free in time or too many are waiting already."""
        with self._change:
            is_taken = self._is_free(who)
            if not is_taken and patience_seconds and self._waiting > 0:
                self._waiting -= 1
                is_taken = self._change.wait_for(lambda: self._is_free(who), patience_seconds)
                self._waiting += 1
            if is_taken:
                self._free -= 1
                self._taken[who] += 1
            return is_taken

    def _is_free(self, who: Hashable) -> bool:
        return self._free > 0 and self._taken[who] < self.each

    def leave(self, who: Hashable) -> None:
        """Return a slot."""
        with self._change:
            self._free += 1
            self._taken[who] -= 1
            if not self._taken[who]:
                del self._taken[who]
            self._change.notify_all()
