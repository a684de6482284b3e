"""What renews the claims of a process outlives a database that fails in any place."""

import threading

import pytest
from django.db import OperationalError

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
