"""Single-process mode: a Celery worker and the periodic sweep as threads of the server process."""

import logging
import os
import threading
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.util import Finalize

from django.conf import settings

from catalogue import sweeping as clearing
from core.db import give_connection_back, log_refused
from feedback import bulk_work, digesting, sweeping
from feedback.insight import tallying
from feedback.webhooks import sending
from threads import indexing
from threads.runner import claims, loop

logger = logging.getLogger("heddle.embedded")
_lock = threading.Lock()
_started = False


def start_if_wanted() -> None:
    """Start the worker and the sweeps, once, in single-process mode."""
    global _started
    with _lock:
        if _started or not settings.HEDDLE.is_embedded or not settings.HEDDLE.embedded_worker:
            return
        _started = True
    Finalize(None, _leave, exitpriority=0)
    threading.Thread(target=_work, name="worker", daemon=True).start()
    threading.Thread(target=_sweep, name="sweep", daemon=True).start()
    threading.Thread(target=_digest, name="digest", daemon=True).start()
    # Delayed, so that the first page is served before: importing blocks the interpreter for half a second.
    warmth = threading.Timer(1.0, loop.settle)
    warmth.daemon = True
    warmth.start()


def _leave() -> None:
    """End the process once the server has answered its last request, two seconds later if turns are running.

    Python would wait for the worker's threads, which may take minutes. What they were doing is continued at the next
    start, as after a crash.
    """
    from celery.worker import state

    ends_at = time.monotonic() + 2
    while state.active_requests and time.monotonic() < ends_at:
        time.sleep(0.05)
    logging.shutdown()
    os._exit(0)


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
    """Queue stuck work again, periodically. At startup no other process can be running anything, so all of it is stuck.

    Each startup sweep runs until it has succeeded once: what this process starts later is not stuck.
    """
    orphaned = [claims.sweep, bulk_work.sweep, sending.sweep]
    while True:
        orphaned = [sweep for sweep in orphaned if not _done("sweep.failed", partial(sweep, orphans=True))]
        for sweep in (claims.sweep, sweeping.sweep, clearing.sweep):
            _done("sweep.failed", sweep)
        give_connection_back()
        pause(settings.HEDDLE.sweep_seconds)


def _digest() -> None:
    """Index new answers and new ratings, and count closed days, periodically. Without news: three short queries."""
    while True:
        time.sleep(settings.HEDDLE.digest_seconds)
        for catch_up in (indexing.catch_up, digesting.catch_up, tallying.catch_up):
            _done("digest.failed", catch_up)
        give_connection_back()


def _done(event: str, verb: Callable[[], object]) -> bool:
    """Run one periodic job and return whether it succeeded; a failure is logged and does not stop the others."""
    try:
        verb()
    except Exception as problem:  # the database is down or busy: try again later
        log_refused(logger, event, problem)
        return False
    return True
