"""Processes take turns with SQLite's write lock.

SQLite lets whoever finds its lock free write, and who does not sleeps up to a tenth of a second before it looks again.
A process that begins its next transaction at once is always there first: an import on the command line waited for the
whole of a bulk action in the server, and gave up after twenty seconds. So who waits holds a shared lock on a file
beside the database, and who wrote last lets others go first while they do. It is a lock of the operating system, which
ends with its process. Where the file system has none, SQLite's own order is all there is.
"""

import fcntl
import os
import threading
import time
from contextlib import suppress

_LOOK_SECONDS, _LONGEST_SECONDS = 0.005, 1
_PATIENCE_SECONDS = 10
"""How long nobody is let go first after somebody did not: a process that was frozen while it waited."""


class Line:
    """The writers of one process for one file: a lock for its threads, whose holder also stands in line with others.

    The file holds the process that wrote last.
    """

    def __init__(self, name: str) -> None:
        self._threads = threading.Lock()
        self._path = None if name.startswith((":memory:", "file:")) else f"{name}-line"
        self._file: int | None = None
        self._pid = 0
        self._mark = b""
        """This process, as it is noted in the file: processes of two containers may have the same id."""
        self._wrote_before = False
        self._impatient_until = 0.0

    def acquire(self, seconds: float) -> bool:
        """Become the one writer of this process; false if that takes longer. Others may still hold SQLite's lock."""
        if not self._threads.acquire(timeout=seconds):
            return False
        try:
            with suppress(OSError):  # a file system without locks
                self._stand_in_line()
        except BaseException:
            self._threads.release()
            raise
        return True

    def release(self) -> None:
        """Let others write: of this process, in order, and of others."""
        try:
            with suppress(OSError):
                if self._file is not None:
                    if not self._wrote_before:
                        os.pwrite(self._file, self._mark, 0)
                    fcntl.lockf(self._file, fcntl.LOCK_UN)
        finally:
            self._threads.release()

    def _stand_in_line(self) -> None:
        if (file := self._opened()) is None:
            return
        self._wrote_before = self._wrote_last(file)
        if self._wrote_before and _is_awaited(file) and time.monotonic() > self._impatient_until:
            self._let_others_go_first(file)
        fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def _let_others_go_first(self, file: int) -> None:
        ends_at = time.monotonic() + _LONGEST_SECONDS
        while self._wrote_before and _is_awaited(file):
            if time.monotonic() > ends_at:
                self._impatient_until = ends_at + _PATIENCE_SECONDS
                return
            time.sleep(_LOOK_SECONDS)
            self._wrote_before = self._wrote_last(file)

    def _wrote_last(self, file: int) -> bool:
        return os.pread(file, len(self._mark), 0) == self._mark

    def _opened(self) -> int | None:
        """The file, opened once by each process; None for a database in memory."""
        if self._pid != os.getpid():
            self._pid, self._mark, self._file = os.getpid(), os.urandom(8), None
            if self._path is not None:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        return self._file


def _is_awaited(file: int) -> bool:
    """Whether another process stands in line. Locks of one process do not exclude each other."""
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return True
    return False
