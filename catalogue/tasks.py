"""Celery tasks."""

from celery import shared_task

from catalogue import sweeping
from core import jobs


@shared_task(name="catalogue.sweep", ignore_result=True)
def sweep() -> None:
    """Delete old calls and worlds."""
    with jobs.repeated("catalogue.sweep"):
        sweeping.sweep()
