"""Worker and beat without a terminal: SIGHUP stops them as SIGTERM does.

Left to itself, celery begins a worker anew that has no terminal; one with a terminal, and beat, are killed at once.
"""

from typing import Any

from celery.apps import beat, worker

from core import stopping


class Worker(worker.Worker):
    """Celery's worker."""

    def install_platform_tweaks(self, worker: Any) -> None:
        """Called once, for its handlers of signals."""
        super().install_platform_tweaks(worker)  # type: ignore[no-untyped-call]
        stopping.at_hangup()


class Beat(beat.Beat):
    """Celery's scheduler."""

    def install_sync_handler(self, service: Any) -> None:
        """Called once, for its handlers of signals."""
        super().install_sync_handler(service)
        stopping.at_hangup()
