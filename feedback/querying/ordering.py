"""The sort orders of report lists, with paging in both directions."""

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, When

from core.paging import Places
from feedback.models import Triage, UserFeedback

Position = tuple[int, ...]
"""The sort key of a report; its row id comes last."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def row_ids(positions: Sequence[Position]) -> list[int]:
    """The row ids of the reports at these positions."""
    return [position[-1] for position in positions]


@dataclass(frozen=True, slots=True)
class Order:
    """A sort order of reports. Page tokens of one order are not valid in another.

    If the order has a timestamp, reports that have it come first, sorted by it; all others follow, sorted by row id.
    Both parts are read along an index.
    """

    name: str
    by: tuple[Any, ...]
    """The same order for `order_by`, for small sets of rows."""
    places: Places
    is_oldest_first: bool = False
    moments: "_Moments | None" = None

    def of_query(self, *filters: object) -> Self:
        """The same order, with page tokens that are only valid with these filters."""
        return replace(self, places=self.places.of_query(*filters))

    def place(self, token: str | None) -> Position | None:
        """The position in a page token, None without a token; raises `InvalidRequest`."""
        return tuple(self.places.place(token)) if token else None

    def token(self, position: Position) -> str:
        """The page token for a position."""
        return self.places.token(*position)

    def following(self, rows: QuerySet[UserFeedback], place: Position | None, most: int) -> list[Position]:
        """The next `most` reports after a position, or from the start without one. Two queries at most."""
        if self.moments is None:
            return self.by_birth(rows, place, most)
        found = self.moments.read(rows, place, most) if place is None or place[0] else []
        return found if len(found) == most else found + self._others(rows, place, most - len(found))

    def preceding(self, rows: QuerySet[UserFeedback], place: Position, most: int) -> list[Position]:
        """The report at a position, if it still matches, and those before it, nearest first; `most` in total."""
        if self.moments is None:
            return self.by_birth(rows, place, most, back=True)
        if place[0]:
            return self.moments.read(rows, place, most, back=True)
        found = self._others(rows, place, most, back=True)
        return found if len(found) == most else found + self.moments.read(rows, None, most - len(found), back=True)

    def timed(self, rows: QuerySet[UserFeedback]) -> "array[int]":
        """The row ids of all reports that have the timestamp, in this order. One statement, 8 bytes for each."""
        found = self.moments.within(rows, is_up=not self.moments.is_latest_first) if self.moments else None
        # Streamed, because a driver holds a hundred bytes for each otherwise.
        return array("q", found.values_list("pk", flat=True).iterator() if found is not None else ())

    def by_birth(
        self, rows: QuerySet[UserFeedback], place: Position | None, most: int, *, back: bool = False
    ) -> list[Position]:
        """The next `most` reports by row id alone, after a position or before it with `back`."""
        is_up = self.is_oldest_first is not back
        if place is not None:
            rows = rows.filter(**{f"pk__{_beyond(is_up, back)}": place[-1]})
        return [(pk,) for pk in rows.order_by("pk" if is_up else "-pk").values_list("pk", flat=True)[:most]]

    def _others(
        self, rows: QuerySet[UserFeedback], place: Position | None, most: int, *, back: bool = False
    ) -> list[Position]:
        """Reports without the timestamp; their positions have 0 in its place."""
        assert self.moments is not None
        rest, began = rows.filter(self.moments.lacking), place is not None and not place[0]
        return [(0, *each) for each in self.by_birth(rest, place if began else None, most, back=back)]


@dataclass(frozen=True, slots=True)
class _Moments:
    """An indexed timestamp column that some reports have, in their table or a related one."""

    column: str
    is_latest_first: bool
    having: Callable[[], QuerySet[Any]]
    """The rows that have the timestamp; their primary keys are those of the reports."""
    lacking: Q
    """The condition for all other reports."""

    def within(self, rows: QuerySet[UserFeedback], *, is_up: bool) -> QuerySet[Any]:
        """The rows with the timestamp of these reports, sorted by it."""
        sign = "" if is_up else "-"
        # A subquery per row keeps SQLite on this index; with a plain join it would use another index and sort.
        found = self.having().filter(Exists(rows.filter(pk=OuterRef("pk"))))
        return found.order_by(f"{sign}{self.column}", f"{sign}pk")

    def read(
        self, rows: QuerySet[UserFeedback], place: Position | None, most: int, *, back: bool = False
    ) -> list[Position]:
        """The reports of `rows` in this order, or in reverse with `back`."""
        is_up = self.is_latest_first is back
        found = self.within(rows, is_up=is_up)
        if place is not None:
            moment, strictly = _EPOCH + place[0] * _MICROSECOND, _beyond(is_up, back=False)
            beyond = Q(**{f"{self.column}__{strictly}": moment}) | Q(**{f"pk__{_beyond(is_up, back)}": place[-1]})
            # This bound alone lets the database seek in the index.
            found = found.filter(beyond, **{f"{self.column}__{strictly}e": moment})
        pairs = found.values_list(self.column, "pk")[:most]
        return [((moment - _EPOCH) // _MICROSECOND, pk) for moment, pk in pairs]


def _beyond(is_up: bool, back: bool) -> str:
    """The lookup for what comes after a position; going back, the position itself is included."""
    return ("gt" if is_up else "lt") + ("e" if back else "")


_EDITED = Q(modified__gt=F("created"))
_TIMED = Q(snoozed_until__isnull=False)
_LAST_EDITED = Case(When(_EDITED, then=F("modified")))
_DUE = Case(When(resolved=False, then=F("triage__snoozed_until")))

NEWEST = Order("newest", ("-pk",), Places("reports"))
OLDEST = Order("oldest", ("pk",), Places("reports, oldest first"), is_oldest_first=True)
EDITED = Order(
    "edited",
    (_LAST_EDITED.desc(nulls_last=True), "-pk"),
    Places("reports, last edited first", (int, int)),
    moments=_Moments("modified", True, lambda: UserFeedback.objects.filter(_EDITED), ~_EDITED),
)
DUE = Order(
    "due",
    (_DUE.asc(nulls_last=True), Case(When(resolved=False, triage__snoozed_until__isnull=False, then="pk")), "-pk"),
    Places("reports, soonest due first", (int, int)),
    moments=_Moments(
        "snoozed_until",
        False,
        lambda: Triage.objects.filter(_TIMED, feedback__resolved=False),
        Q(resolved=True) | ~Q(Exists(Triage.objects.filter(_TIMED, feedback=OuterRef("pk")))),
    ),
)
ORDERS = {each.name: each for each in (NEWEST, OLDEST, EDITED, DUE)}
