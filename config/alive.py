"""Signs of life that a worker and the clock leave in their data folder, for a health check beside them.

Each comes from the loop that does the work: a process that hangs, or has lost its queue, leaves none.
"""

import time
from contextlib import suppress
from typing import Any, Final, Literal

from celery.beat import PersistentScheduler
from celery.bootsteps import StartStopStep
from django.conf import settings

Name = Literal["worker", "beat"]
EVERY_SECONDS: Final = 10.0
STALE_SECONDS: Final = 120.0
"""The clock sleeps for up to a minute where that is how seldom it sweeps."""


class Pulse(StartStopStep):
    """Of a worker that has its queue; with the queue it ends, and begins again."""

    beats: Any = None

    requires: Any = ("celery.worker.consumer.tasks:Tasks",)

    def start(self, parent: Any) -> None:
        leave("worker")
        self.beats = parent.timer.call_repeatedly(EVERY_SECONDS, leave, ("worker",))

    def stop(self, parent: Any) -> None:
        if self.beats is not None:  # a queue can be lost before it is there
            self.beats.cancel()


class Clock(PersistentScheduler):
    """Celery's own, which says at each look that it looked."""

    def tick(self, *args: Any, **kwargs: Any) -> Any:
        leave("beat")
        return super().tick(*args, **kwargs)  # type: ignore[no-untyped-call]


def leave(name: Name) -> None:
    """Say that a process of this folder is at work. A folder that cannot be written to keeps nobody from working."""
    with suppress(OSError):
        settings.HEDDLE.data_dir.mkdir(parents=True, exist_ok=True)
        (settings.HEDDLE.data_dir / f"{name}-alive").touch()


def is_alive(name: Name) -> bool:
    """Whether one of this folder was at work within the last two minutes."""
    try:
        left_at = (settings.HEDDLE.data_dir / f"{name}-alive").stat().st_mtime
    except OSError:
        return False
    return time.time() - left_at < STALE_SECONDS
