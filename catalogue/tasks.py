"""Doors for the queue."""

from celery import shared_task
from django.db import DatabaseError, close_old_connections

from catalogue import sweeping
from core.db import replace_dead_connections


@shared_task(name="catalogue.sweep", ignore_result=True)
def sweep() -> None:
    """Clear what is old."""
    close_old_connections()
    try:
        sweeping.sweep()
    except DatabaseError:
        replace_dead_connections()
        raise
