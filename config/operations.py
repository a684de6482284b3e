"""Endpoints for operators and orchestrators: liveness, readiness, metrics."""

import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.models import Min
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone

from config import migrating
from core.db import log_refused, replace_dead_connections
from core.measures import Gauge
from feedback import measuring
from threads.models import Turn
from threads.status import TurnState

Answer = TypeVar("Answer")
RESERVE_BYTES: Final = 64 * 1024 * 1024
"""With less free space beside SQLite's file nobody is ready: a few times its log, which one large import can fill."""
logger = logging.getLogger("heddle.operations")
_are_applied = False


def livez(request: HttpRequest) -> HttpResponse:
    """Respond while the process runs."""
    return HttpResponse("ok\n", content_type="text/plain")


def readyz(request: HttpRequest) -> HttpResponse:
    """Check the database, its migrations, its disk and the queue; a 503 names what fails."""
    found = checks()
    ok = all(found.values())
    return JsonResponse({"ok": ok, "checks": found}, status=200 if ok else 503)


def checks() -> dict[str, bool]:
    """The dependencies of a process, each with whether it responds."""
    found = {"database": _database()}
    if found["database"]:  # without it, migrations cannot be checked
        found["migrations"] = _are_applied or _migrations()
    if (free := _free_bytes(_database_folder())) is not None:
        found["disk"] = free >= RESERVE_BYTES
    return {**found, "queue": not queue_problem()}


def queue_problem() -> str:
    """Why Redis does not respond; empty if it does, or in single-process mode."""
    if not settings.HEDDLE.redis_url:
        return ""
    import redis

    try:
        with redis.Redis.from_url(settings.HEDDLE.redis_url, socket_connect_timeout=1, socket_timeout=1) as client:
            client.ping()
    except redis.RedisError as problem:
        return str(problem).partition("\n")[0] or type(problem).__name__
    return ""


def metrics(request: HttpRequest) -> HttpResponse:
    """Metrics in the Prometheus text format; 503 in plain text if the database does not respond."""
    try:
        _probe()
        text = _on_a_live_connection(_figures)
    except (DatabaseError, InterfaceError) as problem:
        log_refused(logger, "database.unavailable", problem, route="metrics")
        return HttpResponse("The database does not respond.\n", content_type="text/plain", status=503)
    return HttpResponse(text, content_type="text/plain; version=0.0.4")


def _on_a_live_connection(ask: Callable[[], Answer]) -> Answer:
    """Run a query, and once more if the connection turns out to be dead."""
    try:
        return ask()
    except (DatabaseError, InterfaceError):
        replace_dead_connections()
        return ask()


def _figures() -> str:
    states = (TurnState.QUEUED, TurnState.RUNNING, TurnState.WAITING)
    turns = {f'state="{state}"': Turn.objects.filter(state=state).count() for state in states}
    now = timezone.now()
    queued = Turn.objects.filter(state=TurnState.QUEUED)
    # Their worker is gone, and only another one queues them again.
    lapsed = Turn.objects.filter(state=TurnState.RUNNING, lease_until__lt=now)
    since = (queued.aggregate(at=Min("queued_at"))["at"], lapsed.aggregate(at=Min("lease_until"))["at"])
    waits = {"": max((now - min(filter(None, since), default=now)).total_seconds(), 0)}
    gauges = [
        Gauge("heddle_turns", "Open turns by state.", turns),
        Gauge("heddle_turn_oldest_queued_seconds", "Age in seconds of the oldest turn that waits for a worker.", waits),
        *measuring.gauges(),
        Gauge("heddle_disk_free_bytes", "Free space where the data folder and SQLite's file are.", _disks()),
        Gauge("heddle_info", "The running version.", {f'version="{settings.VERSION}"': 1}),
    ]
    return "".join(each.text for each in gauges)


def _disks() -> dict[str, float]:
    folders = {"data": settings.HEDDLE.data_dir, "database": _database_folder()}
    free = {f'holds="{what}"': _free_bytes(folder) for what, folder in folders.items()}
    return {labels: count for labels, count in free.items() if count is not None}


def _free_bytes(folder: Path | None) -> int | None:
    """What Heddle could still write there; None for no folder, or one that is not there."""
    try:
        return None if folder is None else shutil.disk_usage(folder).free
    except OSError:
        return None


def _database_folder() -> Path | None:
    ours: Any = connection
    folder: Path | None = ours.folder
    return folder


def _database() -> bool:
    try:
        _probe()
    except (DatabaseError, InterfaceError):
        return False
    return True


def _probe() -> None:
    """Raise `DatabaseError` quickly: a health probe times out before the pool does."""
    ours: Any = connection  # from core.postgres or core.sqlite
    ours.probe()


def _migrations() -> bool:
    """Whether the database has every migration of this version. Cached once true: migrations are not reversed."""
    global _are_applied
    try:
        _are_applied = _on_a_live_connection(migrating.applied) >= migrating.known()
    except (DatabaseError, InterfaceError):
        return False
    return _are_applied
