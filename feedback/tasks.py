"""Doors for the queue: an id in, a verb called, the outcome in the row."""

from celery import shared_task
from django.db import DatabaseError, close_old_connections

from core.db import replace_dead_connections
from feedback.webhooks import outbox, sending


@shared_task(name="feedback.settle", ignore_result=True)
def settle(event_id: int) -> None:
    """Make an event that is due into deliveries."""
    close_old_connections()
    outbox.settle(event_id)


@shared_task(name="feedback.deliver", ignore_result=True)
def deliver(endpoint_id: int) -> None:
    """Send an endpoint what is due."""
    close_old_connections()
    sending.deliver(endpoint_id)


@shared_task(name="feedback.sweep", ignore_result=True)
def sweep() -> None:
    """Ask again for what is due."""
    close_old_connections()
    try:
        sending.sweep()
    except DatabaseError:
        replace_dead_connections()
        raise
