"""Display names of users. Pages show names; the API identifies users by email address."""

from collections.abc import Iterable

from accounts.models import User
from core.errors import InvalidRequest
from core.wording import is_one_line

FIRST_PERSON = "manage.py person you@example.org --org your-org --create-org --admin"
"""The command that creates the first person of an installation."""


def names_of(addresses: Iterable[str | None]) -> dict[str, str]:
    """Display names by email address, in at most one query; deleted users are missing."""
    wanted = {address for address in addresses if address}
    return {user.email: user.display_name for user in User.objects.filter(email__in=wanted)} if wanted else {}


def called(name: str, most: int = 100) -> list[int]:
    """The row ids of people by their name or words of it, ignoring case; at most so many, and none without a word.

    All names are read: each database has another idea of case, and none of them takes ß for ss.
    """
    asked = set(name.casefold().split())
    rows = User.objects.exclude(name="").order_by("pk").values_list("pk", "name") if asked else ()
    return [pk for pk, found in rows if asked <= set(found.casefold().split())][:most]


def check_one_line(field: str, name: str) -> None:
    """Raise `InvalidRequest` unless a name is one line of plain text."""
    if not is_one_line(name):
        raise InvalidRequest(f"{field}: must be one line without control characters")
