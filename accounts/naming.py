"""What people may be called, and are on pages. The wire names people by address, as its client wants it."""

from collections.abc import Iterable

from accounts.models import User
from core.errors import InvalidRequest
from core.rendering import is_one_line


def names_of(addresses: Iterable[str | None]) -> dict[str, str]:
    """Display names by address, one query at most; who is gone has none."""
    wanted = {address for address in addresses if address}
    return {user.email: user.display_name for user in User.objects.filter(email__in=wanted)} if wanted else {}


def check_one_line(field: str, name: str) -> None:
    """Raise `InvalidRequest` for a name that is more than words on one line."""
    if not is_one_line(name):
        raise InvalidRequest(f"{field}: must be words on one line, without marks of writing direction")
