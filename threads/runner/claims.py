"""Claiming turns, renewing claims, and finding turns whose worker died.

Only the row counts: state, attempt, lease. A queue message just says "look at this row" and may be repeated.
"""

import logging
import os
import socket
import threading
from collections.abc import Collection
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from core import jobs
from core.db import give_connection_back, log_refused, replace_dead_connections
from core.prepared_writes import PreparedUpdate
from threads.models import Turn
from threads.status import TurnState
from threads.transcript import Fence, Transcript
from threads.turns import ADVANCE

logger = logging.getLogger("heddle.turns")
_QUEUED_LONG_ENOUGH = timedelta(seconds=5)


def claim(writer: Transcript, turn: Turn) -> Fence | None:
    """Claim a turn under its thread's lock; None if another worker has it or it is over."""
    if not is_free(turn):
        return None
    now = timezone.now()
    turn.losses += turn.state == TurnState.RUNNING
    turn.state, turn.worker, turn.attempt = TurnState.RUNNING, _worker(), turn.attempt + 1
    turn.started_at = turn.started_at or now
    turn.lease_until = now + _lease()
    _CLAIMED.update(turn)
    return Fence(turn.pk, turn.attempt)


def is_free(turn: Turn) -> bool:
    """Whether a turn can be claimed: it is queued, or its worker's lease has expired."""
    has_expired = turn.lease_until is not None and turn.lease_until < timezone.now()
    return turn.state == TurnState.QUEUED or (turn.state == TurnState.RUNNING and has_expired)


_CLAIMED = PreparedUpdate(Turn, "state", "worker", "attempt", "losses", "started_at", "lease_until")


def sweep(*, orphans: bool = False) -> int:
    """Queue stuck turns again: those with a lost queue message or a dead worker. Returns how many.

    `orphans`: this is the only process and has just started, so no turn can really be running.
    """
    now = timezone.now()
    stuck = Q(state=TurnState.QUEUED, queued_at__lt=now if orphans else now - _QUEUED_LONG_ENOUGH)
    running = Turn.objects.filter(state=TurnState.RUNNING)
    if orphans:
        running.update(lease_until=now - timedelta(seconds=1))
    stuck |= Q(state=TurnState.RUNNING, lease_until__lt=now)
    found = list(Turn.objects.filter(stuck).order_by("queued_at").values_list("pk", flat=True)[:1000])
    for turn_id in found:
        jobs.enqueue(ADVANCE, turn_id)
    if found:
        logger.info("turns.queued_again", extra={"count": len(found)})
    return len(found)


class _Heart:
    """One thread per process that renews all its claims. It ends with the process, so the claims then expire."""

    def __init__(self) -> None:
        self._held: set[Fence] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def hold(self, fence: Fence) -> None:
        """Renew a claim until it is dropped."""
        with self._lock:
            self._held.add(fence)
            if self._thread is None or not self._thread.is_alive():  # in a forked process no thread is
                self._thread = threading.Thread(target=self._beat, name="leases", daemon=True)
                self._thread.start()

    def drop(self, fence: Fence) -> None:
        """Stop renewing a claim."""
        with self._lock:
            self._held.discard(fence)

    def _beat(self) -> None:
        pause = threading.Event()
        while True:
            pause.wait(settings.HEDDLE.heartbeat_seconds)
            with self._lock:
                held = list(self._held)
            try:
                _renew_all(held)
            except Exception as problem:  # the database may be briefly unavailable: a lease outlasts two renewals
                log_refused(logger, "leases.not_renewed", problem)


def _renew_all(fences: list[Fence]) -> None:
    try:
        renew(fences)
    except Exception:
        replace_dead_connections()
        raise
    finally:
        give_connection_back()  # fails, too, where the connection does


heart = _Heart()


def renew(fences: Collection[Fence]) -> None:
    """Extend the leases of claims that are still valid.

    Those that somebody else has locked are left to the next beat: waiting for one would let all others expire.
    """
    if not fences:
        return
    held = Q(*(Q(pk=fence.turn_id, attempt=fence.attempt) for fence in fences), _connector=Q.OR)
    with transaction.atomic():
        rows = Turn.objects.select_for_update(skip_locked=True).filter(held, state=TurnState.RUNNING)
        valid = list(rows.values_list("pk", flat=True))
        Turn.objects.filter(pk__in=valid).update(lease_until=timezone.now() + _lease())


def _lease() -> timedelta:
    return timedelta(seconds=settings.HEDDLE.lease_seconds)


def _worker() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"[:120]
