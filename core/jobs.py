"""Queue tasks by name and row id, after commit. Callers never import the task, because the task imports them."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from celery import current_app
from django.db import InterfaceError, OperationalError, transaction

from core.db import is_full, log_refused, replace_dead_connections
from core.logging import Seldom
from core.pausing import Pause

_pause = Pause()
_seldom = Seldom()
logger = logging.getLogger("heddle.jobs")


def enqueue_on_commit(task: str, row_id: int) -> None:
    """Send the queue message once the row is committed."""
    transaction.on_commit(lambda: enqueue(task, row_id))


def enqueue_once_on_commit(task: str, row_id: int) -> None:
    """The same, but once for all that asks for it in one transaction."""
    asked = transaction.get_connection().run_on_commit
    if not any(isinstance(wake, _Once) and wake.args == (task, row_id) for _, wake, *_ in asked):
        transaction.on_commit(_Once(enqueue, task, row_id))


class _Once(partial[None]):
    """A wake-up that is recognised. Django drops it with the savepoint that asked for it, if that is rolled back."""


def enqueue(task: str, row_id: int) -> None:
    """Send it now. If the broker is down the work is only delayed: the sweep sends it again.

    The same for what is not tried because the last message failed. Only that one is logged: the sweep finds a thousand
    rows, and a hanging broker would cost it and every request seconds for each.
    """
    if _pause.is_on:
        return
    try:
        current_app.send_task(task, args=[row_id], ignore_result=True)
    except Exception as problem:  # kombu raises what its transport raises
        if _pause.begin():
            logger.warning("job.not_queued", extra={"task": task, "row": row_id, "kind": type(problem).__name__})


@contextmanager
def repeated(task: str) -> Iterator[None]:
    """Wrap a task that is repeated, by beat or by the sweep: a database that fails is logged as a warning.

    At most every few seconds for all of them: otherwise an outage would be hundreds of lines that say the same. A full
    disk is logged each time.
    """
    try:
        yield
    except (OperationalError, InterfaceError) as problem:
        replace_dead_connections()
        if is_full(problem) or _seldom.is_due():
            log_refused(logger, "database.unavailable", problem, task=task)
