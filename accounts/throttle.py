"""Sign-in is slowed down after wrong passwords, by address and caller, and by address alone."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.core.cache import cache

from core.errors import TooManyTries, Unavailable

TRIES = 5
PAUSE_SECONDS = 60
TRIES_PER_ADDRESS = 30
WINDOW_SECONDS = 15 * 60
_HERE = "Too many wrong passwords. Wait a minute, then try again."
_EVERYWHERE = "Too many wrong passwords for this address. Wait a quarter of an hour, then try again."


def _keys(email: str, caller: str) -> tuple[str, str]:
    name = hashlib.sha256(email.strip().lower().encode()).hexdigest()
    return f"signin:{name}:{caller.encode().hex()}", f"signin:{name}"


@contextmanager
def counted(email: str, caller: str) -> Iterator[int]:
    """Count a try before its password is looked at, which is done inside; yields how many are left before the pause.

    While sign-in for this address is paused it raises `TooManyTries`, and the try does not count; nor does one whose
    password nobody came to look at (`Unavailable`).
    """
    left = _count_try(email, caller)
    try:
        yield left
    except Unavailable:
        withdraw(email, caller)
        raise


def _count_try(email: str, caller: str) -> int:
    here, anywhere = _keys(email, caller)
    # A try is refused by its own number: to look first and to count later lets as many pass as are made at once.
    tries = _count(here, PAUSE_SECONDS)
    if tries > TRIES:
        _take_back(here)
        raise TooManyTries(_EVERYWHERE if cache.get(anywhere, 0) >= TRIES_PER_ADDRESS else _HERE)
    if _count(anywhere, WINDOW_SECONDS) > TRIES_PER_ADDRESS:
        _take_back(here, anywhere)
        raise TooManyTries(_EVERYWHERE)
    cache.touch(here, PAUSE_SECONDS)  # the minute begins with the last try; the quarter of an hour with the first
    return TRIES - tries


def withdraw(email: str, caller: str) -> None:
    """A try that was no guess does not count."""
    _take_back(*_keys(email, caller))


def succeeded(email: str, caller: str) -> None:
    """A right password forgets the wrong ones of this caller, and is itself none of the address."""
    here, anywhere = _keys(email, caller)
    cache.delete(here)
    _take_back(anywhere)


def _count(key: str, seconds: int) -> int:
    while True:
        cache.add(key, 0, seconds)
        with suppress(ValueError):  # expired in between
            return cache.incr(key)


def _take_back(*keys: str) -> None:
    for key in keys:
        with suppress(ValueError):  # expired, or forgotten
            # Nothing is kept of tries that were none: of made-up addresses there may be any number. A try that comes
            # just between the two is not counted, which nobody can bring about for more than one.
            if cache.decr(key) <= 0:
                cache.delete(key)
