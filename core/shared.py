"""Texts that many threads ask for in the same moment: made once, by whoever comes first."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future

LONGEST = 200_000
"""Characters of a text that is kept; a longer one goes to those who wait for it and is forgotten."""


class SharedTexts:
    """Texts by a key that holds everything they are made from: whoever has the key may have the text.

    That is the contract of the key, and it is what keeps one reader's text from another one. Whoever asks first makes
    the text while the others wait; where that fails they make their own, so nobody's accident is anybody else's. The
    last `size` texts are kept.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, Future[str]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], str]) -> str:
        """The text of a key; raises what `make` raises."""
        with self._lock:
            text_to_come = self._kept.get(key)
            is_first = text_to_come is None
            if text_to_come is None:
                text_to_come = self._kept[key] = Future()
                if len(self._kept) > self._size:
                    self._kept.popitem(last=False)
        if not is_first:
            return make() if text_to_come.exception() else text_to_come.result()
        try:
            text = make()
        except BaseException as problem:
            self._forget(key)
            text_to_come.set_exception(problem)
            raise
        if len(text) > LONGEST:
            self._forget(key)
        text_to_come.set_result(text)
        return text

    def _forget(self, key: Hashable) -> None:
        with self._lock:
            self._kept.pop(key, None)
