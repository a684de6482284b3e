"""Doors for the queue: an id in, a verb called, the outcome in the row."""

from celery import shared_task
from django.db import close_old_connections

from core import jobs
from threads.runner import claims, loop


@shared_task(name="threads.advance", ignore_result=True)
def advance(turn_id: int) -> None:
    """Carry a turn as far as it goes."""
    close_old_connections()
    loop.advance(turn_id)


@shared_task(name="threads.sweep", ignore_result=True)
def sweep() -> None:
    """Queue again what is stuck."""
    with jobs.periodical("threads.sweep"):
        claims.sweep()
