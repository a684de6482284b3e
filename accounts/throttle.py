"""Slow down sign-in after wrong passwords, per email and caller, and per email."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.core.cache import cache

from core.errors import TooManyTries, Unavailable

TRIES = 5
PAUSE_SECONDS = 60
TRIES_PER_ADDRESS = 30
WINDOW_SECONDS = 15 * 60
_HERE = "Too many wrong passwords. Try again in a minute."
_EVERYWHERE = "Too many wrong passwords for this email. Try again in 15 minutes."


def _keys(email: str, caller: str) -> tuple[str, str]:
    name = hashlib.sha256(email.strip().lower().encode()).hexdigest()
    return f"signin:{name}:{caller.encode().hex()}", f"signin:{name}"


@contextmanager
def counted(email: str, caller: str) -> Iterator[int]:
    """Count an attempt before the block checks its password; yields how many are left before the pause.

    While sign-in for this email is paused it raises `TooManyTries` and the attempt does not count. Neither does one
    whose password could not be checked (`Unavailable`).
    """
    left = _count_try(email, caller)
    try:
        yield left
    except Unavailable:
        withdraw(email, caller)
        raise


def _count_try(email: str, caller: str) -> int:
    here, anywhere = _keys(email, caller)
    # Count first, then decide: checking before counting would let concurrent attempts through.
    tries = _count(here, PAUSE_SECONDS)
    if tries > TRIES:
        _uncount(here)
        raise TooManyTries(_EVERYWHERE if cache.get(anywhere, 0) >= TRIES_PER_ADDRESS else _HERE)
    if _count(anywhere, WINDOW_SECONDS) > TRIES_PER_ADDRESS:
        _uncount(here, anywhere)
        raise TooManyTries(_EVERYWHERE)
    cache.touch(here, PAUSE_SECONDS)  # the minute starts with the last attempt, the 15 minutes with the first
    return TRIES - tries


def withdraw(email: str, caller: str) -> None:
    """Do not count an attempt that was not a guess."""
    _uncount(*_keys(email, caller))


def succeeded(email: str, caller: str) -> None:
    """After a right password: reset the caller's count and do not count this attempt for the email."""
    here, anywhere = _keys(email, caller)
    cache.delete(here)
    _uncount(anywhere)


def _count(key: str, seconds: int) -> int:
    while True:
        cache.add(key, 0, seconds)
        with suppress(ValueError):  # expired in between
            return cache.incr(key)


def _uncount(*keys: str) -> None:
    for key in keys:
        with suppress(ValueError):  # expired, or forgotten
            # Delete counters at zero, because made-up addresses are unlimited. A concurrent attempt between the two
            # calls is not counted; that can happen for one attempt only.
            if cache.decr(key) <= 0:
                cache.delete(key)
