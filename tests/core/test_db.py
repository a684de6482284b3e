"""The database habits: one picture for a read, JSON that keeps what it was given, nudges after the commit."""

import threading
import time
from contextlib import contextmanager

import pytest
from django.db import IntegrityError, OperationalError, connection, connections, transaction
from hypothesis import HealthCheck, given, settings

from accounts.models import Org
from core import db as core_db
from core import jobs, pausing
from core.db import dump, held, snapshot
from core.errors import NotFound
from core.sqlite import base as sqlite
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
def test_reads_in_a_snapshot_see_one_state_whatever_others_write_B87():
    Org.objects.create(slug="one", name="One")
    with snapshot():
        before = Org.objects.count()
        in_another_connection(lambda: Org.objects.create(slug="two", name="Two"))
        assert Org.objects.count() == before
    assert Org.objects.count() == before + 1


@pytest.fixture
def on_a_file(db, tmp_path, monkeypatch):
    """A connection to a SQLite file with the product's options, in the place of this thread's own."""
    options = {"transaction_mode": "IMMEDIATE", "init_command": "PRAGMA journal_mode=WAL"}
    settings = {**connections.databases["default"], "NAME": str(tmp_path / "db.sqlite3"), "OPTIONS": options}
    made = sqlite.DatabaseWrapper(settings, "reader")
    mine, own = threading.get_ident(), core_db.this_connection
    monkeypatch.setattr("core.db.this_connection", lambda: made if threading.get_ident() == mine else own())
    with made.cursor() as cursor:
        cursor.execute("CREATE TABLE kept (word TEXT NOT NULL)")
    yield made
    made.close()


def end_as_sqlite_does(reader):
    """A full disk does it too."""
    with reader.cursor() as cursor:
        cursor.execute("INSERT OR ROLLBACK INTO kept VALUES (NULL)")


def close_and_fail(reader):
    reader.close()
    raise IntegrityError


@pytest.mark.parametrize("fail", [end_as_sqlite_does, close_and_fail])
def test_a_snapshot_that_ended_before_its_end_tells_why(on_a_file, fail):
    with pytest.raises(IntegrityError), snapshot():
        fail(on_a_file)
    with snapshot():
        assert on_a_file.is_in_transaction
    assert not on_a_file.is_in_transaction


class Line:
    """Threads that write to one SQLite file, each by a connection of its own."""

    def __init__(self, path):
        options = {"transaction_mode": "IMMEDIATE", "timeout": 0.2}
        self.settings = {**connections.databases["default"], "NAME": str(path), "OPTIONS": options}

    def connection(self):
        made = sqlite.DatabaseWrapper(self.settings, "line")
        made.inc_thread_sharing()
        return made

    @contextmanager
    def writing(self, made):
        made.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
        try:
            yield
            made.commit()
        except ZeroDivisionError:
            made.rollback()
        finally:
            made.set_autocommit(True)


def leave_by_commit(line, made):
    with line.writing(made):
        made.cursor().execute("INSERT INTO said VALUES ('x')")


def leave_by_rollback(line, made):
    with line.writing(made):
        made.cursor().execute("INSERT INTO said VALUES (%s)", [1 / 0])


def leave_by_closing(line, made):
    made.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
    made.close()


def leave_by_a_refused_commit(line, made):
    """A commit that fails leaves the transaction open, until it is rolled back."""
    with made.cursor() as cursor:
        cursor.execute("PRAGMA foreign_keys=ON")
    made.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
    made.cursor().execute("INSERT INTO answered VALUES ('nobody')")
    with pytest.raises(IntegrityError):
        made.commit()
    with pytest.raises(OperationalError, match="locked"), line.writing(line.connection()):
        pass
    made.rollback()
    made.set_autocommit(True)


@pytest.mark.parametrize("leave", [leave_by_commit, leave_by_rollback, leave_by_closing, leave_by_a_refused_commit])
def test_a_writer_stands_in_line_until_the_one_before_has_left(db, tmp_path, leave):
    line = Line(tmp_path / "db.sqlite3")
    first, second = line.connection(), line.connection()
    with first.cursor() as cursor:
        cursor.execute("CREATE TABLE said (word TEXT PRIMARY KEY)")
        cursor.execute("CREATE TABLE answered (word TEXT REFERENCES said DEFERRABLE INITIALLY DEFERRED)")
    with line.writing(first), pytest.raises(OperationalError, match="locked"), line.writing(second):
        pass
    leave(line, first)
    with line.writing(second):
        second.cursor().execute("INSERT INTO said VALUES ('y')")
    for each in (first, second):
        each.close()


def test_a_write_of_its_own_stands_in_line_too(db, tmp_path):
    line = Line(tmp_path / "db.sqlite3")
    first, second = line.connection(), line.connection()
    with first.cursor() as cursor:
        cursor.execute("CREATE TABLE said (word TEXT PRIMARY KEY)")
    second.ensure_connection()
    store = ("INSERT INTO said VALUES (?) RETURNING word", ["x"])
    with line.writing(first):
        with pytest.raises(OperationalError, match="locked"):
            second.write(store)
        assert first.write(store) == [("x",)]
    with pytest.raises(IntegrityError), second.wrap_database_errors:
        second.write(store)
    with line.writing(first):
        assert first.run_all([("SELECT word FROM said", [])]) == [[("x",)]]
    for each in (first, second):
        each.close()


@pytest.mark.parametrize("sql", ["INSERT INTO said VALUES ('x')", "  update said SET word = 'x'", "DELETE FROM said"])
def test_a_statement_of_the_orm_stands_in_line_behind_a_worker_that_hardly_leaves_it(db, tmp_path, sql):
    """It would sleep and look again, and each time find that the worker has begun its next transaction."""
    line = Line(tmp_path / "db.sqlite3")
    line.settings["OPTIONS"]["timeout"] = 5
    worker, other = line.connection(), line.connection()
    with worker.cursor() as cursor:
        cursor.execute("CREATE TABLE said (word TEXT)")
    is_over, rounds = threading.Event(), []

    def work():
        while not is_over.is_set():
            with line.writing(worker):
                worker.cursor().execute("INSERT INTO said VALUES ('y')")
                rounds.append(1)
                time.sleep(0.03)
        worker.close()

    thread = threading.Thread(target=work)
    with other.cursor() as cursor:
        thread.start()
        try:
            for _ in range(5):
                time.sleep(0.01)
                cursor.execute(sql)
        finally:
            is_over.set()
            thread.join()
    assert len(rounds) <= 20, "about two for each statement"
    other.close()


def test_lines_of_two_files_are_two(db, tmp_path):
    one, other = Line(tmp_path / "one.sqlite3"), Line(tmp_path / "other.sqlite3")
    with one.writing(one.connection()), other.writing(other.connection()):
        pass


@pytest.mark.django_db(transaction=True)
def test_a_snapshot_ends_and_leaves_the_connection_usable_after_an_error():
    with pytest.raises(ZeroDivisionError), snapshot():
        Org.objects.count() / 0
    with transaction.atomic():
        Org.objects.create(slug="one", name="One")
    with snapshot():
        assert Org.objects.count() == 1
    Org.objects.all().delete()


def test_a_row_that_is_locked_is_as_it_is_now_or_gone(who):
    org, rows = Org.objects.create(slug="initech", name="Initech"), Org.objects.select_for_update()
    Org.objects.filter(pk=org.pk).update(name="Initrode")
    with transaction.atomic():
        assert held(rows, org.pk, NotFound("It is gone.")).name == "Initrode"
    Org.objects.filter(pk=org.pk).delete()
    with transaction.atomic(), pytest.raises(NotFound, match=r"It is gone\."):
        held(rows, org.pk, NotFound("It is gone."))


@pytest.mark.django_db
def test_inside_a_transaction_a_snapshot_sees_what_the_transaction_wrote():
    Org.objects.create(slug="one", name="One")
    with snapshot():
        assert Org.objects.filter(slug="one").exists()


@pytest.mark.django_db
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


@pytest.fixture
def tried(monkeypatch):
    """The rows that a queue which is away was asked to take, as by a process that has not noticed it yet."""
    rows = []

    def refuse(*given, args, **named):
        rows.extend(args)
        raise ConnectionError

    monkeypatch.setattr(jobs, "_pause", pausing.Pause())
    monkeypatch.setattr(jobs.current_app, "send_task", refuse)
    return rows


@pytest.mark.pure
def test_a_queue_that_is_away_is_asked_again_after_a_while(tried, caplog, monkeypatch):
    """One that hangs costs seconds each time."""
    for row in range(3):
        jobs.enqueue("threads.advance", row)
    assert tried == [0]
    [warning] = [each for each in caplog.records if each.getMessage() == "job.not_queued"]
    assert (warning.task, warning.row, warning.kind) == ("threads.advance", 0, "ConnectionError")
    now = time.monotonic()
    monkeypatch.setattr(pausing, "monotonic", lambda: now + pausing.PAUSE_SECONDS)
    jobs.enqueue("threads.advance", 3)
    assert tried == [0, 3]


@pytest.mark.django_db
def test_a_queue_that_is_away_costs_no_request(who, api, tried, django_capture_on_commit_callbacks):
    """The row is the truth, the queue a nudge: the sweep sends again, also what was not tried."""
    with django_capture_on_commit_callbacks(execute=True):
        responses = [api("alice").post("threads", {"messages": [make.say("Hi")]}) for _ in range(2)]
    assert [response.status_code for response in responses] == [200, 200]
    assert len(tried) == 1
    make.run_turns()
    assert {thread.status for thread in Thread.objects.all()} == {"user_turn"}
