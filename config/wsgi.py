"""The WSGI entry point. In single-process mode, the worker runs in this process."""

import gc
import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from importlib import import_module
from multiprocessing.process import BaseProcess

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.core.wsgi import get_wsgi_application

from core import uploads

handler = get_wsgi_application()

from config import embedded, settings
from core import direct, sse, stopping

application = uploads.bounded(direct.answered(handler))

logger = logging.getLogger("heddle.server")
import_module(settings.ROOT_URLCONF)
# Exempt loaded modules from garbage collection: walking them would stop all requests for a sixth of a second.
gc.freeze()


def _end_with(parent: BaseProcess) -> None:
    """Stop this server when its parent is killed: otherwise it would keep the port and run on unnoticed.

    Nobody is left who would kill it if it does not end by itself, and the next start waits five seconds for it.
    """
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(4)
    os._exit(1)


def _let_readers_go() -> None:
    """End event streams on the signal to stop; the server alone would wait for them until it is killed. The jobs of the
    embedded worker are told, too.

    Not with a signal handler, because the server installs its own later. Python writes to the wakeup descriptor
    whichever handler is installed.
    """
    main = threading.main_thread().ident or 0
    hears, tells = socket.socketpair()
    tells.setblocking(False)
    signal.set_wakeup_fd(tells.detach())

    def wait() -> None:
        while hears.recv(1)[0] not in (signal.SIGTERM, signal.SIGINT):
            pass
        stopping.begin()
        logger.info("server.stopping")
        sse.end_all()
        # Another thread may have taken both of two signals; then the main one, which runs the handlers, sleeps on.
        signal.pthread_kill(main, signal.SIGTERM)
        while hears.recv(1):  # Python reports a further signal whose descriptor is closed
            pass

    threading.Thread(target=wait, name="stopping", daemon=True).start()


if parent := multiprocessing.parent_process():
    _let_readers_go()
    threading.Thread(target=_end_with, args=(parent,), name="parent", daemon=True).start()
embedded.start_if_wanted()
