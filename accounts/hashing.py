"""Password hashing: Django's slow hash, with only a few computed at a time."""

from django.contrib.auth.hashers import PBKDF2PasswordHasher

from core.turnstile import Turnstile


class InTurn(PBKDF2PasswordHasher):
    """Django's hasher behind a turnstile: one hash takes a CPU for a fifth of a second or more.

    Anybody can cause one on the sign-in page with any made-up email address. If the queue is full, `Unavailable` is
    raised before any work is done. Rejected: limiting attempts per caller, because behind a proxy all have its address.
    """

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        """The hash. Waits for a slot; creating and checking passwords both call this."""
        with _IN_TURN.passed():
            return str(super().encode(password, salt, iterations))


_IN_TURN = Turnstile(2, waiting=16)
"""Each waiting request holds a server thread for a few seconds."""
