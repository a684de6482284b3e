"""Notices: whoever waits is woken after the commit, and by nothing else."""

import socket
import subprocess
import sys
import threading
import time

import pytest
from django.db import transaction

from accounts.orgs import set_policy
from config import settings as product
from core import notices
from core.logging import Seldom
from tests import make
from tests.conftest import data_of
from threads import transcript


@pytest.fixture
def _in_process(settings):
    """Without Redis, where a notice arrives before `publish` returns."""
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"redis_url": ""})


pytestmark = pytest.mark.usefixtures("_in_process")


def test_a_waiter_is_woken_by_its_subject_only():
    with notices.waiting("a") as first, notices.waiting("b") as second:
        notices.publish("a")
        assert first.wait(1)
        assert not second.wait(0.01)
        assert not first.wait(0.01)


def test_a_notice_that_came_before_the_wait_counts():
    """Whoever registers, reads, and then waits loses nothing in between."""
    with notices.waiting("a") as waiter:
        notices.publish("a")
        notices.publish("a")
        assert waiter.wait(1)
        assert not waiter.wait(0.01)


def test_every_waiter_of_a_subject_is_woken_at_once():
    woken, ready = [], threading.Barrier(21)

    def wait():
        with notices.waiting("a") as waiter:
            ready.wait()
            started = time.monotonic()
            if waiter.wait(5):
                woken.append(time.monotonic() - started)

    threads = [threading.Thread(target=wait) for _ in range(20)]
    for thread in threads:
        thread.start()
    ready.wait()
    notices.publish("a")
    for thread in threads:
        thread.join()
    assert len(woken) == 20
    assert max(woken) < 2


def test_who_left_is_forgotten():
    with notices.waiting("gone"):
        pass
    notices.publish("gone")
    assert "gone" not in notices._waiting


def test_publishing_to_nobody_is_no_error():
    notices.publish("nobody")


@pytest.mark.django_db
def test_readers_of_a_thread_are_told_after_the_commit_and_not_before(who, django_capture_on_commit_callbacks):
    thread = make.thread(who.alice, run=False)
    with notices.waiting(transcript.subject(thread.pk)) as waiter:
        with django_capture_on_commit_callbacks(execute=True):
            with transcript.writing(thread.pk) as writer:
                writer.retitle("New")
            assert not waiter.wait(0.01)
        assert waiter.wait(1)


@pytest.mark.django_db
def test_readers_of_a_thread_that_is_closed_to_its_org_are_told_at_once(api, who, django_capture_on_commit_callbacks):
    """B146: the next heartbeat would leave them with it for a while."""
    set_policy("acme", "visibility_may_change", True)
    thread = make.thread(who.alice, visibility="org")
    with notices.waiting(transcript.subject(thread.pk)) as waiter:
        with django_capture_on_commit_callbacks(execute=True):
            data_of(api("alice").post(f"threads/{thread.thread_id}/visibility", {"visibility": "private"}))
        assert waiter.wait(1)


@pytest.mark.django_db
def test_what_was_rolled_back_is_told_to_nobody(who, django_capture_on_commit_callbacks):
    thread = make.thread(who.alice, run=False)
    with notices.waiting(transcript.subject(thread.pk)) as waiter:
        with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
            with transcript.writing(thread.pk) as writer:
                writer.retitle("New")
            transaction.set_rollback(True)
        assert not waiter.wait(0.01)
    assert make.fresh(thread).title == "Hello"


@pytest.fixture
def silent(settings, monkeypatch):
    """A Redis that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        url = f"redis://127.0.0.1:{door.getsockname()[1]}/0"
        settings.HEDDLE = settings.HEDDLE.model_copy(update={"redis_url": url})
        monkeypatch.setattr(notices, "_publisher", None)
        monkeypatch.setattr(notices, "_not_sent", Seldom())
        yield door


def test_who_publishes_hears_nothing_of_a_thread_that_cannot_be_started(silent, monkeypatch, caplog):
    def start(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    for _ in range(3):
        notices.publish("a")
    assert [record.message for record in caplog.records] == ["notice.not_sent"]


def test_a_redis_that_hangs_keeps_nobody_who_publishes(silent, caplog):
    for _ in range(3):
        notices.publish("a")
    assert not caplog.records
    silent.accept()  # somebody else is talking to it
    deadline = time.monotonic() + 10
    while not caplog.records and time.monotonic() < deadline:
        time.sleep(0.05)
    assert "notice.not_sent" in {record.message for record in caplog.records}


_PUBLISH = """
import django; django.setup()
from core import notices
notices.publish("far")
"""
_PUBLISH_IN_A_CHILD = """
import multiprocessing
import django; django.setup()
from core import notices
notices.publish("elsewhere")
multiprocessing.get_context("fork").Process(target=notices.publish, args=["far"]).start()
"""


@pytest.mark.skipif(product.HEDDLE.is_embedded, reason="this run has no Redis")
@pytest.mark.parametrize("command", [_PUBLISH, _PUBLISH_IN_A_CHILD])
def test_over_redis_a_process_that_ends_at_once_has_told_it(settings, command):
    settings.HEDDLE = product.HEDDLE
    with notices.waiting("far") as waiter:
        while waiter.wait(0.5):
            pass  # the line comes up, and wakes everybody once
        subprocess.run([sys.executable, "-c", command], check=True, cwd=settings.BASE_DIR)
        assert waiter.wait(5)


@pytest.mark.skipif(product.HEDDLE.is_embedded, reason="this run has no Redis")
def test_over_redis_a_notice_reaches_every_waiter_too(settings):
    settings.HEDDLE = product.HEDDLE
    with notices.waiting("far") as waiter:
        while waiter.wait(0.5):
            pass  # the line comes up, and wakes everybody once
        notices.publish("elsewhere")
        assert not waiter.wait(0.2)
        notices.publish("far")
        assert waiter.wait(5)
