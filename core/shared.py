"""Texts that many threads need at the same time: built once, by the first of them."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future

LONGEST = 200_000
"""Maximum length of a cached text; a longer one is given to the waiting threads and not kept."""


class SharedTexts:
    """A cache of texts by a key that contains everything they are made from.

    The key must contain everything, or one reader would get another reader's text. The first caller builds the text
    while the others wait; if that fails each builds its own, so that one failure does not affect the others. The last
    `size` texts are kept.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, Future[str]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], str]) -> str:
        """The text for a key; raises what `make` raises."""
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
