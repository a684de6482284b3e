"""A task that commits one row, on Heddle's broker, pool and concurrency."""

import threading
from typing import Any

from celery import Celery
from celery.worker import WorkController
from django.conf import settings
from django.db import close_old_connections, connection

import core.broker

env = settings.HEDDLE
app = Celery("floor")
app.conf.update(  # same as config.celery, whose import would register Heddle's tasks
    broker_url=env.redis_url or core.broker.URL,
    broker_transport_options={"global_keyprefix": f"{env.queue_prefix}:"} if env.redis_url else {},
    task_ignore_result=True,
    task_default_queue="floor",
    worker_prefetch_multiplier=1 if env.redis_url else 0,
    worker_hijack_root_logger=False,
    worker_send_task_events=False,
    worker_enable_remote_control=False,
)
app.set_default()


@app.task(name="floor.commit_one", ignore_result=True)
def commit_one(number: int) -> None:
    """Do the minimum of a turn: clean up the connection and commit."""
    close_old_connections()
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO bench_row (number) VALUES (%s)", [number])


def make_table() -> None:
    """Create the table if missing."""
    key = "bigserial PRIMARY KEY" if connection.vendor == "postgresql" else "integer PRIMARY KEY"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE IF NOT EXISTS bench_row (id {key}, number integer)")
    connection.close()


def stored() -> int:
    """The number of rows stored so far."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(max(id), 0) FROM bench_row")
        return int(cursor.fetchone()[0])


def start_embedded_worker() -> None:
    """Start the worker in the server process, as `config.embedded` does."""
    threading.Thread(target=_work, name="worker", daemon=True).start()


def _work() -> None:
    app.finalize()
    options: dict[str, Any] = {"without_gossip": True, "without_mingle": True, "without_heartbeat": True}
    WorkController(app=app, pool_cls="threads", concurrency=env.turns, loglevel="WARNING", **options).start()
