"""The embedded way of running: a Celery worker and the sweep's clock as threads of the server process."""

import logging
import threading
import time
from collections.abc import Callable
from functools import partial

from django.conf import settings
from django.db import connection

from catalogue import sweeping as clearing
from core.db import log_refused
from feedback import bulk, digesting, sweeping
from feedback.insight import tallying
from feedback.webhooks import sending
from threads.runner import claims, loop

logger = logging.getLogger("heddle.embedded")
_lock = threading.Lock()
_started = False


def start_if_wanted() -> None:
    """Start the worker and the clock, once, where one process does everything."""
    global _started
    with _lock:
        if _started or not settings.HEDDLE.is_embedded or not settings.HEDDLE.embedded_worker:
            return
        _started = True
    threading.Thread(target=_work, name="worker", daemon=True).start()
    threading.Thread(target=_sweep, name="sweep", daemon=True).start()
    threading.Thread(target=_digest, name="digest", daemon=True).start()
    # After the first page has been served: importing takes the interpreter for half a second.
    warmth = threading.Timer(1.0, loop.settle)
    warmth.daemon = True
    warmth.start()


def _work() -> None:
    from celery.worker import WorkController

    from config.celery import app

    app.finalize()
    worker = WorkController(
        app=app,
        pool_cls="threads",
        concurrency=settings.HEDDLE.turns,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
        loglevel="WARNING",
    )
    worker.start()


def _sweep(pause: Callable[[float], object] = time.sleep) -> None:
    """Ask again for what is stuck. At the start nobody else can be running anything, so all of it is.

    Of each kind once: what this process has taken up since is its own.
    """
    orphaned = [claims.sweep, bulk.sweep, sending.sweep]
    while True:
        orphaned = [sweep for sweep in orphaned if not _done("sweep.failed", partial(sweep, orphans=True))]
        for sweep in (claims.sweep, sweeping.sweep, clearing.sweep):
            _done("sweep.failed", sweep)
        connection.close()
        pause(settings.HEDDLE.sweep_seconds)


def _digest() -> None:
    """Look at what was rated, soon after it was, and count the days that are over. Without news: two short queries."""
    while True:
        time.sleep(settings.HEDDLE.digest_seconds)
        for catch_up in (digesting.catch_up, tallying.catch_up):
            _done("digest.failed", catch_up)
        connection.close()


def _done(event: str, verb: Callable[[], object]) -> bool:
    """Do one thing of a clock's, and say whether it could be done: where it fails, the others go on."""
    try:
        verb()
    except Exception as problem:  # the database is away or busy: look again in a while
        log_refused(logger, event, problem)
        return False
    return True
