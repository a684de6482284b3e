"""Celery tasks: each takes an id and calls a function, which stores the outcome in the row."""

from celery import shared_task

from core import jobs
from threads import indexing
from threads.runner import claims, loop


@shared_task(name="threads.advance", ignore_result=True)
def advance(turn_id: int) -> None:
    """Advance a turn as far as possible."""
    loop.advance(turn_id)


@shared_task(name="threads.index", ignore_result=True)
def index() -> None:
    """Index what has ended since."""
    with jobs.repeated("threads.index"):
        indexing.catch_up()


@shared_task(name="threads.sweep", ignore_result=True)
def sweep() -> None:
    """Queue stuck turns again."""
    with jobs.repeated("threads.sweep"):
        claims.sweep()
