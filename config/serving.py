"""The WSGI server (granian)."""

import gc
import os
import resource
import signal
from functools import cache
from importlib import import_module
from typing import Any

from django.conf import settings
from django.db import connections
from granian import Granian, _signals
from granian._granian import WorkerSignal
from granian.constants import HTTPModes, Interfaces
from granian.log import LogLevels

from core import heap, stopping

_FILES = 8192


class _Server(Granian):  # type: ignore[misc, valid-type]
    """granian that is asked to stop once: its own handlers may wait for ever for a lock that the same thread holds when
    a second signal comes right after the first. Ctrl+C reaches parent and child, and the parent then stops the child.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._pid = os.getpid()

    def signal_handler_interrupt(self, *args: Any, **kwargs: Any) -> None:
        if os.getpid() != self._pid:  # multiprocessing itself knows its parent only some time after the fork
            # A child inherits this handler until it serves. It has answered nothing yet, and the signal would be lost.
            os._exit(0)
        _hear_no_more()
        super().signal_handler_interrupt(*args, **kwargs)

    def signal_handler_reload(self, *args: Any, **kwargs: Any) -> None:
        """SIGHUP, for which granian would replace the child: the server would go on without its terminal."""
        if signal.SIGHUP in stopping.SIGNALS:
            self.signal_handler_interrupt(*args, **kwargs)


def _stop_once() -> Any:
    """The handlers of the child, in the place of granian's."""
    told = WorkerSignal()

    def stop(*_: Any) -> None:
        _hear_no_more()
        told.set()

    for each in stopping.SIGNALS:
        signal.signal(each, stop)
    return told


def _hear_no_more() -> None:
    """With a handler that does nothing: of a signal that came already, and is ignored before its handler has run,
    Python writes a traceback, and Ctrl+C brings two.
    """
    for each in stopping.SIGNALS:
        signal.signal(each, lambda *_: None)


_signals.set_sync_signals = _stop_once


@cache
def load() -> None:
    """Load what the server process needs: it is forked with it, and shares its memory. Takes most of a second."""
    import_module(settings.ROOT_URLCONF)
    gc.collect()  # what is frozen later is never collected


def serve(application: str, host: str, port: int) -> None:
    """Serve until this process is stopped, with a large thread pool: a waiting event stream holds a thread and nothing
    else (docs/decisions/003).

    The server process is forked from this one, which has everything loaded: a new interpreter would take two seconds
    more, at startup and after each crash.
    """
    load()
    threads = settings.HEDDLE.threads
    server = _Server(
        application,
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        workers=1,
        blocking_threads=threads,
        backpressure=_connections(),
        http=HTTPModes.http1,  # telling it from HTTP/2 has no time limit: a connection that sends nothing would stay
        websockets=False,
        respawn_failed_workers=True,
        workers_kill_timeout=8,
        log_level=LogLevels.error,
    )
    connections.close_all()
    heap.share()
    heap.give_back()
    gc.freeze()
    server.serve()


def _connections() -> int:
    """How many connections may be open, idle ones included. Each is a file; this raises the process's limit, which is
    often a thousand."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = max(now, _FILES if most == resource.RLIM_INFINITY else min(most, _FILES))
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
    return min(files, _FILES) // 2
