"""The orders in which a list of reports is read and paged, either way along the key, which sorts by birth."""

from dataclasses import dataclass

from core.paging import Places

SORT = "sort"
"""The field that names one. It says nothing of which reports are meant."""


@dataclass(frozen=True, slots=True)
class Order:
    """An order of row ids; a place of one order is no place of another."""

    name: str
    by: str
    back: str
    """The other way round."""
    beyond: str
    """The lookup of what comes behind a place."""
    before: str
    """The lookup of that place and what comes before it."""
    places: Places


NEWEST = Order("newest", "-pk", "pk", "pk__lt", "pk__gte", Places("reports"))
OLDEST = Order("oldest", "pk", "-pk", "pk__gt", "pk__lte", Places("reports, oldest first"))
ORDERS = {each.name: each for each in (NEWEST, OLDEST)}
