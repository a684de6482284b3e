"""The database habits: one picture for a read, JSON that keeps what it was given, nudges after the commit."""

import threading

import pytest
from django.db import connection, connections, transaction
from django.db.backends.sqlite3 import base as sqlite
from hypothesis import HealthCheck, given, settings

from accounts.models import Org
from core import jobs
from core.db import dump, snapshot
from tests import make
from tests.core.test_bodies import values
from threads.models import Thread


def in_another_connection(work):
    """Do something beside this connection and wait for its end."""
    failed = []

    def run():
        try:
            work()
        except Exception as problem:  # handed over to the test
            failed.append(problem)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert failed == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor == "sqlite", reason="one database in memory is one connection: see the next test")
def test_reads_in_a_snapshot_see_one_state_whatever_others_write_B87():
    Org.objects.create(slug="one", name="One")
    with snapshot():
        before = Org.objects.count()
        in_another_connection(lambda: Org.objects.create(slug="two", name="Two"))
        assert Org.objects.count() == before
    assert Org.objects.count() == before + 1


@pytest.fixture
def two_on_a_file(db, tmp_path, monkeypatch):
    """Two connections to one SQLite file with the product's options, the first in the place of this process's own."""
    options = {"transaction_mode": "IMMEDIATE", "init_command": "PRAGMA journal_mode=WAL"}
    settings = {**connections.databases["default"], "NAME": str(tmp_path / "db.sqlite3"), "OPTIONS": options}
    reader, writer = (sqlite.DatabaseWrapper(settings, alias) for alias in ("reader", "writer"))
    monkeypatch.setattr("core.db.connection", reader)
    with writer.cursor() as cursor:
        cursor.execute("CREATE TABLE said (word TEXT)")
    yield reader, writer
    for each in (reader, writer):
        each.close()


def test_on_a_sqlite_file_too_and_without_keeping_a_writer_waiting_B87(two_on_a_file):
    reader, writer = two_on_a_file

    def count():
        with reader.cursor() as cursor:
            return cursor.execute("SELECT count(*) FROM said").fetchone()[0]

    def write():
        with writer.cursor() as cursor:
            cursor.execute("INSERT INTO said VALUES ('x')")

    write()
    with snapshot():
        assert count() == 1
        write()
        assert count() == 1
    assert count() == 2


@pytest.mark.django_db(transaction=True)
def test_a_snapshot_ends_and_leaves_the_connection_usable_after_an_error():
    with pytest.raises(ZeroDivisionError), snapshot():
        Org.objects.count() / 0
    with transaction.atomic():
        Org.objects.create(slug="one", name="One")
    with snapshot():
        assert Org.objects.count() == 1
    Org.objects.all().delete()


@pytest.mark.django_db
def test_inside_a_transaction_a_snapshot_sees_what_the_transaction_wrote():
    Org.objects.create(slug="one", name="One")
    with snapshot():
        assert Org.objects.filter(slug="one").exists()


@pytest.mark.django_db
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=values)
def test_json_comes_back_from_the_database_as_it_was_given_B81(who, value):
    """Key order, large numbers and every character included."""
    thread = Thread.objects.create(org=who.acme, created_by=who.alice.user, status="user_turn", metadata=value)
    found = Thread.objects.values_list("metadata", flat=True).get(pk=thread.pk)
    assert found == value
    assert dump(found) == dump(value)


@pytest.mark.django_db
def test_json_null_is_no_value_and_order_is_kept(who):
    thread = Thread.objects.create(org=who.acme, created_by=who.alice.user, status="user_turn", metadata=None)
    assert Thread.objects.filter(pk=thread.pk, metadata__isnull=True).exists()
    Thread.objects.filter(pk=thread.pk).update(metadata={"b": 1, "a": 2})
    assert list(Thread.objects.get(pk=thread.pk).metadata) == ["b", "a"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"a": [float("-inf")]}])
def test_numbers_that_are_none_never_reach_the_database(value):
    with pytest.raises(ValueError, match="JSON"):
        dump(value)


@pytest.mark.django_db
def test_a_job_is_queued_after_the_commit_with_an_id_alone(monkeypatch, django_capture_on_commit_callbacks):
    sent = []
    monkeypatch.setattr(jobs.current_app, "send_task", lambda *given, **named: sent.append((given, named)))
    with django_capture_on_commit_callbacks(execute=True):
        jobs.enqueue_on_commit("threads.advance", 7)
        assert sent == []
    assert sent == [(("threads.advance",), {"args": [7], "ignore_result": True})]


@pytest.mark.django_db
def test_a_queue_that_is_away_costs_no_request(who, api, monkeypatch, django_capture_on_commit_callbacks):
    """The row is the truth, the queue a nudge: the sweep sends again."""

    def away(*given, **named):
        raise ConnectionError

    monkeypatch.setattr(jobs.current_app, "send_task", away)
    with django_capture_on_commit_callbacks(execute=True):
        response = api("alice").post("threads", {"messages": [make.say("Hi")]})
    assert response.status_code == 200
    make.run_turns()
    assert Thread.objects.get().status == "user_turn"
