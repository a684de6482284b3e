"""Work that must come to an end: what never would fails its test instead of keeping the run."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


@contextmanager
def answered(within: int = 20) -> Iterator[None]:
    """Fail where what is inside is not done within so many seconds: far more than it needs on any machine."""

    def give_up(*_: object) -> NoReturn:
        raise AssertionError(f"no answer within {within} seconds")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(within)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
