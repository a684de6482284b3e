"""The WSGI server (granian)."""

import gc
import resource
from functools import cache
from importlib import import_module

from django.conf import settings
from django.db import connections
from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.log import LogLevels

from core import heap

_FILES = 8192


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
    server = Granian(
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
        workers_kill_timeout=8,  # a process that is still starting misses the signal to stop
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
