"""What renews the claims of a process outlives a database that fails in any place."""

import threading
from datetime import timedelta

import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from tests import make
from threads.models import Turn
from threads.runner import claims
from threads.transcript import Fence


@pytest.mark.parametrize("place", ["renew", "replace_dead_connections", "give_connection_back"])
def test_claims_are_renewed_again_after_a_failure(settings, monkeypatch, place):
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"heartbeat_seconds": 0.01})
    failed, renewed = threading.Event(), threading.Event()
    others = set(threading.enumerate())  # hearts of other tests beat on

    def broken(*_):
        if not failed.is_set() and threading.current_thread() not in others:
            failed.set()
            raise OperationalError("gone")

    def renew(fence):
        if threading.current_thread() in others:
            return
        if failed.is_set():
            renewed.set()
        elif place == "replace_dead_connections":
            raise OperationalError("gone")

    monkeypatch.setattr(claims, "give_connection_back", lambda: None)
    monkeypatch.setattr(claims, "replace_dead_connections", lambda: None)
    monkeypatch.setattr(claims, "renew", renew)
    if place == "renew":
        monkeypatch.setattr(claims, "renew", lambda fence: broken() or renew(fence))
    else:
        monkeypatch.setattr(claims, place, broken)
    heart, fence = type(claims.heart)(), Fence(1, 1)
    heart.hold(fence)
    assert failed.wait(10) and renewed.wait(10)
    heart.drop(fence)


@pytest.mark.django_db(transaction=True)
def test_a_turn_that_somebody_has_locked_keeps_no_other_from_being_renewed(who):
    """Waiting for it would take longer than the others' leases last. On SQLite nobody locks a single row."""
    turns = [make.half_answered(make.thread(who.alice, run=False), "x") for _ in range(3)]
    soon = timezone.now() + timedelta(seconds=5)
    Turn.objects.update(lease_until=soon)
    locked, is_over = threading.Event(), threading.Event()

    def lock():
        with transaction.atomic():
            list(Turn.objects.select_for_update().filter(pk=turns[0].pk))
            locked.set()
            is_over.wait(10)
        connection.close()

    locking = threading.Thread(target=lock)
    if connection.vendor == "postgresql":
        locking.start()
        assert locked.wait(10)
    gone = Fence(turns[2].pk, turns[2].attempt + 7)
    claims.renew([Fence(each.pk, Turn.objects.get(pk=each.pk).attempt) for each in turns[:2]] + [gone])
    is_over.set()
    if connection.vendor == "postgresql":
        locking.join()
    renewed = [Turn.objects.get(pk=each.pk).lease_until > soon for each in turns]
    assert renewed == [connection.vendor == "sqlite", True, False]
