"""Retrying model requests: whether, after how long, and waiting without losing the turn."""

import random
import time

from core.db import give_connection_back
from threads.profiles import Profile
from threads.runner.providers.events import Broken
from threads.transcript import Fence

LONGEST_WAIT = 30.0
FIRST_WAIT = 0.5


def wait_before_retry(broken: Broken, profile: Profile, tried: int) -> float | None:
    """Seconds to wait before a retry, or None for no retry; `tried` is the number of retries so far.

    There is no retry if the provider asks for more than `LONGEST_WAIT`, as an earlier request would be refused too.
    """
    if not broken.can_retry or tried >= profile.options.retries:
        return None
    if broken.retry_after is not None:
        return broken.retry_after if broken.retry_after <= LONGEST_WAIT else None
    return min(FIRST_WAIT * 2.0**tried, LONGEST_WAIT) * random.uniform(0.5, 1)  # noqa: S311 - spreads, hides nothing


def pause(seconds: float, fence: Fence) -> None:
    """Wait, checking every second that the turn was not cancelled or taken; raises `LeaseLost`."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        fence.check()
        give_connection_back()
        time.sleep(min(left, 1))
    fence.check()
