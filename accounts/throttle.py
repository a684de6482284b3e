"""Slow down sign-in after wrong passwords, per email and caller, and per email.

A browser that has signed in for an email has counters of its own: otherwise anybody who guesses in an endless loop
could keep its owner signed out.
"""

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


def name_of(email: str) -> str:
    """What stands for an email in keys and cookies."""
    return hashlib.sha256(email.strip().lower().encode()).hexdigest()


def _keys(email: str, caller: str, browser: str) -> tuple[str, str]:
    name = name_of(email)
    if browser:
        return f"signin:{name}:known:{browser}", f"signin:{name}:known:{browser}:all"
    return f"signin:{name}:{caller.encode().hex()}", f"signin:{name}"


@contextmanager
def counted(email: str, caller: str, browser: str = "") -> Iterator[int]:
    """Count an attempt before the block checks its password; yields how many are left before the pause.

    `browser` is the id of one that is known to have signed in for this email; it is counted apart from all others.
    While sign-in for this email is paused it raises `TooManyTries` and the attempt does not count. Neither does one
    whose password could not be checked (`Unavailable`).
    """
    left = _count_try(*_keys(email, caller, browser))
    try:
        yield left
    except Unavailable:
        withdraw(email, caller, browser)
        raise


def _count_try(here: str, anywhere: str) -> int:
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


def withdraw(email: str, caller: str, browser: str = "") -> None:
    """Do not count an attempt that was not a guess."""
    _uncount(*_keys(email, caller, browser))


def succeeded(email: str, caller: str, browser: str = "") -> None:
    """After a right password: reset the caller's count and do not count this attempt for the email."""
    here, anywhere = _keys(email, caller, browser)
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
