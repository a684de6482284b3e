"""How passwords are kept: by Django's slow hash, of which only a few are worked out at a time."""

from django.contrib.auth.hashers import PBKDF2PasswordHasher

from core.turnstile import Turnstile


class InTurn(PBKDF2PasswordHasher):
    """Django's own, behind a turnstile: a hash takes a processor for a fifth of a second and more.

    Anybody may ask for one at the sign-in page, by an address that is made up. Whoever finds the line full is refused
    with `Unavailable` before anything is worked out. Rejected: counting tries by caller, since behind a proxy all have
    its address.
    """

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        """The hash, after one's turn has come; every way to make or to check one leads through here."""
        with _IN_TURN.passed():
            return str(super().encode(password, salt, iterations))


_IN_TURN = Turnstile(2, waiting=16)
"""Those who wait hold a thread of the server each, and for a few seconds."""
