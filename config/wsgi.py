"""The WSGI entry point. In the embedded way of running, the worker lives in this very process."""

import gc
import logging
import multiprocessing
import os
import signal
import socket
import threading
from importlib import import_module
from multiprocessing.process import BaseProcess

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.core.wsgi import get_wsgi_application

from core import uploads

application = uploads.bounded(get_wsgi_application())

from config import embedded, settings
from core import sse

logger = logging.getLogger("heddle.server")
import_module(settings.ROOT_URLCONF)
# What was loaded stays. To walk through it for garbage would stop every request for a sixth of a second now and then.
gc.freeze()


def _end_with(parent: BaseProcess) -> None:
    """A server whose parent was killed would keep the port and go on unseen: ask it to stop as its parent would."""
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


def _let_readers_go() -> None:
    """Hear of the signal to stop beside the server, which would wait for open streams until it is killed.

    Not by a handler: the server sets its own later on. What Python tells a descriptor of signals it tells whoever
    handles them.
    """
    hears, tells = socket.socketpair()
    tells.setblocking(False)
    signal.set_wakeup_fd(tells.detach())

    def wait() -> None:
        while hears.recv(1)[0] not in (signal.SIGTERM, signal.SIGINT):
            pass
        logger.info("server.stopping")
        sse.end_all()

    threading.Thread(target=wait, name="stopping", daemon=True).start()


if parent := multiprocessing.parent_process():
    _let_readers_go()
    threading.Thread(target=_end_with, args=(parent,), name="parent", daemon=True).start()
embedded.start_if_wanted()
