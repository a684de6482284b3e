"""The sort orders of thread lists, with their cursors. Pinned threads come first in each of them."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self

from django.db.models import Q

from core.paging import Places
from threads.models import Thread

Place = tuple[datetime | int, int]
"""A position in an order: the value of its column, and the row id."""


@dataclass(frozen=True, slots=True)
class Order:
    """A sort order by one column, then by row id. Page tokens of one order are not valid in another.

    `column` is a timestamp, or a number if `is_number`.
    """

    name: str
    column: str
    places: Places
    is_up: bool = False
    is_number: bool = False

    @property
    def by(self) -> tuple[str, str]:
        """The columns for `order_by`."""
        sign = "" if self.is_up else "-"
        return f"{sign}{self.column}", f"{sign}pk"

    def of_query(self, *filters: object) -> Self:
        """The same order, with page tokens that are only valid with these filters."""
        return replace(self, places=self.places.of_query(*filters))

    def beyond(self, place: Place) -> Q:
        """The condition for what comes after a position."""
        (value, pk), step = place, "gt" if self.is_up else "lt"
        return Q(**{f"{self.column}__{step}": value}) | Q(**{self.column: value, f"pk__{step}": pk})

    def token(self, row: Thread) -> str:
        """The page token for the position of a row that has `pinned_at`."""
        pinned_at: datetime | None = row.pinned_at  # type: ignore[attr-defined]
        if pinned_at:
            return self.places.token("pinned", pinned_at.isoformat(), row.pk)
        value = getattr(row, self.column)
        return self.places.token("rest", str(value) if self.is_number else value.isoformat(), row.pk)

    def place(self, token: str | None) -> tuple[bool, Place | None]:
        """Whether a token's position is among the pins, and the position; without a token, the beginning of the pins.

        Raises `NoSuchPlace`.
        """
        if not token:
            return True, None
        block, value, pk = self.places.place(token)
        is_pinned = block == "pinned"
        return is_pinned, (int(value) if self.is_number and not is_pinned else datetime.fromisoformat(value), pk)


_KINDS = (str, str, int)
NEWEST = Order("newest", "created", Places("threads", _KINDS))
OLDEST = Order("oldest", "created", Places("threads, oldest first", _KINDS), is_up=True)
CHANGED = Order("changed", "modified", Places("threads, last changed first", _KINDS))
LONGEST = Order("longest", "message_count", Places("threads, longest first", _KINDS), is_number=True)
ORDERS = {each.name: each for each in (NEWEST, OLDEST, CHANGED, LONGEST)}
PINNED = Order("pinned", "pinned_at", NEWEST.places)
"""The order among the pins."""
