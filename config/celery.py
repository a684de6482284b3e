"""The queue. A task is a queue message with an id; the row it names is the truth."""

import os
import sys
from typing import Any

from celery import Celery
from celery.signals import setup_logging, task_postrun, worker_ready, worker_shutting_down

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import django.conf

import core.broker
from config.env import require_folder
from core import stopping
from core.db import give_connection_back

env = django.conf.settings.HEDDLE
_WORTH_SECONDS = 60
"""How long a periodic job is worth running, at least."""


class _App(Celery):
    """Refuses to start a worker or beat in single-process mode.

    There the queue is inside the server, so they would silently get nothing; the server starts its own worker
    (`config.embedded`). Celery's `beat_init` signal would be too late for this check: by then beat has created its
    file and replaced stderr by a logger.
    """

    @property
    def Worker(self) -> Any:
        _require_redis()
        return self.subclass_with_self("config.hanging_up:Worker")

    @property
    def Beat(self) -> Any:
        _require_redis()
        require_folder(env.data_dir)  # otherwise beat takes its missing file for a corrupted one
        return self.subclass_with_self("config.hanging_up:Beat")


def _require_redis() -> None:
    if env.is_embedded:
        sys.exit(
            "Heddle: DATABASE_URL and REDIS_URL are not set, so the server runs in single-process mode. "
            "A worker and beat need both."
        )


app = _App("heddle")
app.conf.update(
    broker_url=env.redis_url or core.broker.URL,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    # A send must never hang while the broker is down: the row is stored, and the sweep queues it again.
    task_publish_retry=False,
    broker_transport_options={
        "socket_connect_timeout": 1,
        "socket_timeout": 2,
        "max_retries": 0,
        "visibility_timeout": 3600,
        "global_keyprefix": f"{env.queue_prefix}:",
    }
    if env.redis_url
    else {},
    task_ignore_result=True,
    task_store_errors_even_if_ignored=False,
    task_default_queue="heddle",
    task_serializer="json",
    accept_content=["json"],
    # In single-process mode no other worker could take the rest, and a full prefetch would wait for the next poll.
    worker_prefetch_multiplier=1 if env.redis_url else 0,
    worker_send_task_events=False,
    worker_enable_remote_control=False,
    timezone="UTC",
    # One that waited for long turns is obsolete: the next one does its work. Beat says until when by its clock, and the
    # worker drops it by its own, so a few may pile up rather than that a clock some seconds ahead drops every one.
    beat_schedule={
        task: {"task": task, "schedule": seconds, "options": {"expires": max(seconds, _WORTH_SECONDS)}}
        for task, seconds in {
            "threads.sweep": env.sweep_seconds,
            "catalogue.sweep": env.sweep_seconds,
            "feedback.sweep": env.sweep_seconds,
            "feedback.digest": env.digest_seconds,
            "threads.index": env.digest_seconds,
        }.items()
    },
    beat_scheduler="config.alive:Clock",
    beat_schedule_filename=str(env.data_dir / "beat-schedule"),
)


if env.redis_url:
    app.steps["consumer"].add("config.alive:Pulse")


@setup_logging.connect
def _leave_the_log(**_: object) -> None:
    """Logging is set up by Django's settings. Without a receiver of this signal, Celery would set the root level, and
    most INFO events would be lost.
    """


@task_postrun.connect
def _tidy_up(**_: object) -> None:
    """Give the connection back, as Celery does only in a worker process of its own."""
    give_connection_back()


@worker_shutting_down.connect
def _stop(**_: object) -> None:
    """Tell running jobs: a warm shutdown waits for them, however long they take."""
    stopping.begin()


@worker_ready.connect
def _warm_up(**_: object) -> None:
    """Import what turns need, so that the first turn is not slower."""
    from threads.runner import loop

    loop.settle()


app.autodiscover_tasks(["catalogue", "threads", "feedback"])
