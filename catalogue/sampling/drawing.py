"""The only source of randomness in a world: SHA-256 of the inputs and a counter (C102)."""

import hashlib
from collections.abc import Sequence
from typing import Any, TypeVar

from core.canonical import canonical_json

Item = TypeVar("Item")


class Source:
    """A random stream determined by its parts. Each branch of a value has its own stream, so adding a property to a
    schema changes nothing else.

    `random.Random` is not used: its methods may behave differently in another Python version.
    """

    def __init__(self, *parts: Any) -> None:
        self._key = hashlib.sha256(canonical_json(list(parts)).encode()).digest()
        self._drawn = 0

    def child(self, name: str | int) -> "Source":
        """The stream of a branch."""
        return Source(self._key.hex(), name)

    def below(self, limit: int) -> int:
        """An integer from 0 to `limit` - 1."""
        digest = hashlib.sha256(self._key + self._drawn.to_bytes(8, "big")).digest()
        self._drawn += 1
        # With 32 bytes the modulo bias is negligible.
        return int.from_bytes(digest, "big") % limit

    def one_of(self, items: Sequence[Item]) -> Item:
        """One of them."""
        return items[self.below(len(items))]

    def fraction(self) -> float:
        """A fraction from 0 to below 1."""
        return self.below(2**53) / 2**53
