"""The WSGI entry point. In the embedded way of running, the worker lives in this very process."""

import gc
import multiprocessing
import os
import signal
import threading
from importlib import import_module
from multiprocessing.process import BaseProcess

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()

from config import embedded, settings

import_module(settings.ROOT_URLCONF)
# What was loaded stays. To walk through it for garbage would stop every request for a sixth of a second now and then.
gc.freeze()


def _end_with(parent: BaseProcess) -> None:
    """A server whose parent was killed would keep the port and go on unseen: ask it to stop as its parent would."""
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


if parent := multiprocessing.parent_process():
    threading.Thread(target=_end_with, args=(parent,), name="parent", daemon=True).start()
embedded.start_if_wanted()
