"""Queueing: a verb names a task and an id, after commit. It never imports the task, which imports the verb."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from celery import current_app
from django.db import InterfaceError, OperationalError, close_old_connections, transaction

from core.db import log_refused, replace_dead_connections

logger = logging.getLogger("heddle.jobs")


def enqueue_on_commit(task: str, row_id: int) -> None:
    """Send the nudge once the row is there for everybody to see."""
    transaction.on_commit(lambda: enqueue(task, row_id))


def enqueue(task: str, row_id: int) -> None:
    """Send it now. A broker that is away costs a delay, not the work: the sweep sends again."""
    try:
        current_app.send_task(task, args=[row_id], ignore_result=True)
    except Exception as problem:  # kombu raises what its transport raises
        logger.warning("job.not_queued", extra={"task": task, "row": row_id, "kind": type(problem).__name__})


@contextmanager
def periodical(task: str) -> Iterator[None]:
    """A task that the clock begins again soon: a database that is away costs that, and is no mistake of ours."""
    close_old_connections()
    try:
        yield
    except (OperationalError, InterfaceError) as problem:
        replace_dead_connections()
        log_refused(logger, "database.unavailable", problem, task=task)
