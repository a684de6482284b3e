"""Queue tasks: each takes an id, calls a function, and leaves the result in the row."""

from celery import shared_task

from core import jobs
from feedback import bulk_work, digesting, sweeping
from feedback.checks import running
from feedback.insight import tallying
from feedback.webhooks import sending, settling


@shared_task(name="feedback.bulk", ignore_result=True)
def advance_bulk(bulk_id: int) -> None:
    """Run a bulk to its end."""
    with jobs.repeated("feedback.bulk"):
        bulk_work.advance(bulk_id)


@shared_task(name="feedback.digest", ignore_result=True)
def digest() -> None:
    """Digest newly rated answers, and tally past days."""
    with jobs.repeated("feedback.digest"):
        digesting.catch_up()
        tallying.catch_up()


@shared_task(name="feedback.settle", ignore_result=True)
def settle(event_id: int) -> None:
    """Turn a due event into deliveries."""
    with jobs.repeated("feedback.settle"):
        settling.settle(event_id)


@shared_task(name="feedback.settle_due", ignore_result=True)
def settle_due(_: int) -> None:
    """Turn what is due into deliveries."""
    with jobs.repeated("feedback.settle_due"):
        settling.settle_due()


@shared_task(name="feedback.deliver", ignore_result=True)
def deliver(endpoint_id: int) -> None:
    """Send a webhook its due messages."""
    with jobs.repeated("feedback.deliver"):
        sending.deliver(endpoint_id)


@shared_task(name="feedback.checks", ignore_result=True)
def go_on_with_checks(run_id: int) -> None:
    """Judge runs whose answers have ended, and start waiting ones."""
    with jobs.repeated("feedback.checks"):
        running.go_on()


@shared_task(name="feedback.sweep", ignore_result=True)
def sweep() -> None:
    """Queue due and stuck work again."""
    with jobs.repeated("feedback.sweep"):
        sweeping.sweep()
