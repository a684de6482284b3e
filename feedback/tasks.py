"""Doors for the queue: a verb called, the outcome in the rows."""

from celery import shared_task
from django.db import DatabaseError, close_old_connections

from core.db import replace_dead_connections
from feedback import digesting


@shared_task(name="feedback.digest", ignore_result=True)
def digest() -> None:
    """Look at the answers that were rated."""
    close_old_connections()
    try:
        digesting.catch_up()
    except DatabaseError:
        replace_dead_connections()
        raise
