"""The server under a WSGI application."""

import ctypes
import gc
import resource
from contextlib import suppress

from django.conf import settings
from django.db import connections
from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

_M_ARENA_MAX = -8
_FILES = 8192


def serve(application: str, host: str, port: int) -> None:
    """Serve until this process is asked to stop, with a wide pool: an event stream holds a thread while it waits, and
    nothing else (docs/decisions/003).

    The process that answers comes of this one, which has Django in its memory already: to start an interpreter of its
    own would take a second more, at the start and whenever one is started again that fell over.
    """
    threads = settings.HEDDLE.threads
    server = Granian(
        application,
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        workers=1,
        blocking_threads=threads,
        backpressure=_connections(),
        websockets=False,
        respawn_failed_workers=True,
        workers_kill_timeout=8,  # a process that is asked to stop while it starts does not hear it
        log_level=LogLevels.error,
    )
    connections.close_all()
    _share_heaps()
    gc.freeze()
    server.serve()


def _connections() -> int:
    """How many may be open at once, idle ones too: each is a file, of which a process may often have but a thousand
    unless it asks for more."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = max(now, _FILES if most == resource.RLIM_INFINITY else min(most, _FILES))
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
    return min(files, _FILES) // 2


def _share_heaps() -> None:
    """A wide pool of threads needs no heap for each of them: without this the process keeps a tenth more memory."""
    with suppress(AttributeError, OSError):  # the C library of Linux alone
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 2)
