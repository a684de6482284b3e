"""The one source of chance in a world: SHA-256 of what an answer depends on, and a counter (C102)."""

import hashlib
from collections.abc import Sequence
from typing import Any, TypeVar

from core.canonical import canonical_json

Item = TypeVar("Item")


class Source:
    """A stream of draws that is the same wherever the parts are. Each branch of a value has a stream of its own, so a
    property more in a schema changes nothing else.

    `random.Random` was left out: its methods may draw differently in another version of Python.
    """

    def __init__(self, *parts: Any) -> None:
        self._key = hashlib.sha256(canonical_json(list(parts)).encode()).digest()
        self._drawn = 0

    def child(self, name: str | int) -> "Source":
        """The stream of one branch."""
        return Source(self._key.hex(), name)

    def below(self, limit: int) -> int:
        """A whole number from 0 to one less than the limit."""
        digest = hashlib.sha256(self._key + self._drawn.to_bytes(8, "big")).digest()
        self._drawn += 1
        # 32 bytes are enough that no remainder is likelier than another by anything one could notice.
        return int.from_bytes(digest, "big") % limit

    def one_of(self, items: Sequence[Item]) -> Item:
        """One of them."""
        return items[self.below(len(items))]

    def fraction(self) -> float:
        """From 0 to nearly 1."""
        return self.below(2**53) / 2**53
