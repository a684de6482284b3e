"""Whether this process was told to stop: a loop that may go on for minutes looks between two steps, and leaves the rest
to another process. What it leaves is in rows, so nothing is lost.
"""

import threading

_told = threading.Event()


def begin() -> None:
    """This process was told to stop. May be called by a signal handler: nothing else takes the lock of the event."""
    _told.set()


def has_begun() -> bool:
    """Whether to leave what is not begun yet."""
    return _told.is_set()
