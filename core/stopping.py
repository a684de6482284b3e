"""Whether this process was told to stop: a loop that may go on for minutes looks between two steps, and leaves the rest
to another process. What it leaves is in rows, so nothing is lost.
"""

import signal
import threading

_told = threading.Event()
_outlives_its_terminal = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
SIGNALS = (signal.SIGINT, signal.SIGTERM, *([] if _outlives_its_terminal else [signal.SIGHUP]))
"""What stops a process: a closed terminal does (SIGHUP), unless the process was begun with `nohup` or the like."""


def begin() -> None:
    """This process was told to stop. May be called by a signal handler: nothing else takes the lock of the event."""
    _told.set()


def at_hangup() -> None:
    """Let SIGHUP do what SIGTERM does by now, or nothing in a process that outlives its terminal."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN if _outlives_its_terminal else signal.getsignal(signal.SIGTERM))


def has_begun() -> bool:
    """Whether to leave what is not begun yet."""
    return _told.is_set()
