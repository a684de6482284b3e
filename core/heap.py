"""The process's heap, as glibc keeps it; elsewhere nothing here does anything."""

import ctypes
from contextlib import suppress

_M_ARENA_MAX = -8


def share() -> None:
    """Limit malloc arenas: with one per thread the process would keep a tenth more memory."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 2)


def give_back() -> None:
    """Return to the system what was needed only while starting."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
