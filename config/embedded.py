"""The embedded way of running: a Celery worker and the sweep's clock as threads of the server process."""

import logging
import threading

from django.conf import settings
from django.db import connection

from catalogue import sweeping as clearing
from feedback import digesting, sweeping
from feedback.insight import tallying
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


def _sweep() -> None:
    """At the start nobody else can be running anything; afterwards at most every minute."""
    pause = threading.Event()
    orphans = True
    while True:
        try:
            claims.sweep(orphans=orphans)
            sweeping.sweep(orphans=orphans)
            orphans = False
            clearing.sweep()
        except Exception as problem:  # the database is away: look again in a while
            logger.warning("sweep.failed", extra={"kind": type(problem).__name__})
        finally:
            connection.close()
        pause.wait(settings.HEDDLE.sweep_seconds)


def _digest() -> None:
    """Look at what was rated, soon after it was, and count the days that are over. Without news: two short queries."""
    pause = threading.Event()
    while True:
        pause.wait(settings.HEDDLE.digest_seconds)
        for catch_up in (digesting.catch_up, tallying.catch_up):
            try:
                catch_up()
            except Exception as problem:  # the database is away or busy: look again in a while
                logger.warning("digest.failed", extra={"kind": type(problem).__name__})
        connection.close()
