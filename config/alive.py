"""Files that worker and beat touch in their data folder, for `manage.py healthy`.

The main loop touches them, so a process that hangs or has lost its queue does not.
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
"""Beat sleeps up to a minute if HEDDLE_SWEEP_SECONDS is that long."""


class Pulse(StartStopStep):
    """Touch the file while the worker is connected to its queue; stops and restarts with the connection."""

    beats: Any = None

    requires: Any = ("celery.worker.consumer.tasks:Tasks",)

    def start(self, parent: Any) -> None:
        leave("worker")
        self.beats = parent.timer.call_repeatedly(EVERY_SECONDS, leave, ("worker",))

    def stop(self, parent: Any) -> None:
        if self.beats is not None:  # the connection can be lost before start() ran
            self.beats.cancel()


class Clock(PersistentScheduler):
    """Celery's scheduler, which also touches the file at each tick."""

    def tick(self, *args: Any, **kwargs: Any) -> Any:
        leave("beat")
        return super().tick(*args, **kwargs)  # type: ignore[no-untyped-call]


def leave(name: Name) -> None:
    """Touch the file of a process. An unwritable folder is ignored: it must not stop the work."""
    with suppress(OSError):
        settings.HEDDLE.data_dir.mkdir(parents=True, exist_ok=True)
        (settings.HEDDLE.data_dir / f"{name}-alive").touch()


def is_alive(name: Name) -> bool:
    """Whether such a process of this folder was alive within the last two minutes."""
    try:
        left_at = (settings.HEDDLE.data_dir / f"{name}-alive").stat().st_mtime
    except OSError:
        return False
    return time.time() - left_at < STALE_SECONDS
