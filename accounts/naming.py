"""What people are called on pages. The wire names them by their addresses, as its client wants it."""

from collections.abc import Iterable

from accounts.models import User


def names_of(addresses: Iterable[str | None]) -> dict[str, str]:
    """Display names by address, one query at most; who is gone has none."""
    wanted = {address for address in addresses if address}
    return {user.email: user.display_name for user in User.objects.filter(email__in=wanted)} if wanted else {}
