"""Doors for the queue: an id in, a verb called, the outcome in the row."""

from celery import shared_task
from django.db import close_old_connections

from core import jobs
from feedback import bulk, digesting, sweeping
from feedback.checks import running
from feedback.insight import tallying
from feedback.webhooks import outbox, sending


@shared_task(name="feedback.bulk", ignore_result=True)
def advance_bulk(bulk_id: int) -> None:
    """Carry a bulk to its end."""
    close_old_connections()
    bulk.advance(bulk_id)


@shared_task(name="feedback.digest", ignore_result=True)
def digest() -> None:
    """Look at the answers that were rated, and count the days that are over."""
    with jobs.periodical("feedback.digest"):
        digesting.catch_up()
        tallying.catch_up()


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


@shared_task(name="feedback.checks", ignore_result=True)
def go_on_with_checks(run_id: int) -> None:
    """Decide on the run whose answer has ended, and on whatever else has, and begin what waits for it."""
    with jobs.periodical("feedback.checks"):
        running.go_on()


@shared_task(name="feedback.sweep", ignore_result=True)
def sweep() -> None:
    """Ask again for what is due."""
    with jobs.periodical("feedback.sweep"):
        sweeping.sweep()
