"""Sign-in is slowed down after wrong passwords, by address and caller, and by address alone."""

import hashlib

from django.core.cache import cache

from core.errors import TooManyTries

TRIES = 5
PAUSE_SECONDS = 60
TRIES_PER_ADDRESS = 30
WINDOW_SECONDS = 15 * 60


def _keys(email: str, caller: str) -> tuple[str, str]:
    name = hashlib.sha256(email.strip().lower().encode()).hexdigest()
    return f"signin:{name}:{caller.encode().hex()}", f"signin:{name}"


def check(email: str, caller: str) -> None:
    """Raise `TooManyTries` while sign-in for this address is paused."""
    here, anywhere = _keys(email, caller)
    if cache.get(anywhere, 0) >= TRIES_PER_ADDRESS:
        raise TooManyTries("Too many wrong passwords for this address. Wait a quarter of an hour, then try again.")
    if cache.get(here, 0) >= TRIES:
        raise TooManyTries("Too many wrong passwords. Wait a minute, then try again.")


def failed(email: str, caller: str) -> int:
    """Count a wrong password; returns how many tries are left before the pause."""
    here, anywhere = _keys(email, caller)
    _count(anywhere, WINDOW_SECONDS)
    tries = _count(here, PAUSE_SECONDS)
    cache.touch(here, PAUSE_SECONDS)  # the minute begins with the last try; the quarter of an hour with the first
    return max(0, TRIES - tries)


def succeeded(email: str, caller: str) -> None:
    """A right password forgets the wrong ones of this caller."""
    cache.delete(_keys(email, caller)[0])


def _count(key: str, seconds: int) -> int:
    cache.add(key, 0, seconds)
    try:
        count = cache.incr(key)
    except ValueError:  # expired in between
        cache.set(key, 1, seconds)
        return 1
    return count
