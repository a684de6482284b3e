"""Statements that travel together: what is held back is there for whoever looks, and refused like any other."""

import signal
from contextlib import ExitStack

import psycopg
import pytest
from django.db import DataError, IntegrityError, NotSupportedError, OperationalError, connection, transaction
from django.db.models import CharField, F, Func, Value
from django.db.models.functions import Concat

from accounts.models import Membership, Org
from core.db import snapshot
from core.postgres import base, pipeline
from core.postgres.base import DatabaseWrapper
from core.prepared import Prepared, at_one_moment, together
from core.prepared_writes import PreparedInsert, PreparedUpdate
from tests.core.test_db import in_another_connection
from threads.models import Thread

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite is no trip away"),
]
NAMED = Prepared(lambda slug: Org.objects.filter(slug=slug).values_list("name"), str)
STORE, RENAME, MOVE = PreparedInsert(Org), PreparedUpdate(Org, "name"), PreparedUpdate(Org, "slug")


@pytest.fixture
def loom():
    return Org.objects.create(slug="loom", name="Loom")


@pytest.fixture
def spoken(monkeypatch):
    """The trips to the database."""
    trips, run = [], pipeline.run
    monkeypatch.setattr(pipeline, "run", lambda line, steps: (trips.append(steps), run(line, steps))[1])
    return trips


def rename(org, name):
    org.name = name
    RENAME.update(org)


def test_a_write_is_there_for_prepared_queries_and_for_those_of_django(loom):
    with transaction.atomic():
        rename(loom, "First")
        assert NAMED.rows("loom") == [("First",)]
        rename(loom, "Second")
        assert Org.objects.get(slug="loom").name == "Second"
        rename(loom, "Third")
    assert Org.objects.get(slug="loom").name == "Third"


def test_a_write_without_a_transaction_is_stored_at_once(loom):
    rename(loom, "Renamed")
    in_another_connection(lambda: rename(Org.objects.get(name="Renamed"), "Again"))
    assert NAMED.rows("loom") == [("Again",)]


def test_what_the_commit_refuses_is_django_s_error_and_nothing_of_it_is_stored(loom):
    with pytest.raises(IntegrityError):
        rename_and_store_again(loom)
    assert list(Org.objects.filter(slug="loom").values_list("name", flat=True)) == ["Loom"]


def test_what_is_refused_when_its_transaction_ends_is_django_s_error_and_costs_no_connection(loom):
    """A row that names one that is not there: PostgreSQL has taken the statement by then."""
    line = connection.connection
    with pytest.raises(IntegrityError):
        PreparedInsert(Membership).insert(Membership(user_id=0, org=loom))
    assert NAMED.rows("loom") == [("Loom",)] and connection.connection is line


@transaction.atomic
def rename_and_store_again(org):
    rename(org, "Renamed")
    STORE.insert_all([Org(slug=org.slug, name="Again")])


def test_a_refusal_inside_a_savepoint_is_raised_at_its_end_and_spoils_no_more(loom):
    with transaction.atomic():
        rename(loom, "Renamed")
        with pytest.raises(IntegrityError), transaction.atomic():
            STORE.insert_all([Org(slug="loom", name="Again")])
        assert NAMED.rows("loom") == [("Renamed",)]
    assert NAMED.rows("loom") == [("Renamed",)]


def test_what_a_savepoint_would_refuse_is_forgotten_where_it_is_rolled_back_for_something_else(loom):
    with transaction.atomic():
        rename(loom, "Renamed")
        with pytest.raises(ZeroDivisionError):
            store_again_and_fail(loom)
        assert NAMED.rows("loom") == [("Renamed",)]
    assert NAMED.rows("loom") == [("Renamed",)]


@transaction.atomic
def store_again_and_fail(org):
    STORE.insert_all([Org(slug=org.slug, name="Again")])
    raise ZeroDivisionError


@pytest.mark.parametrize(("name", "refusal"), [("a\0b", DataError), ("\ud800", UnicodeEncodeError)])
def test_a_value_that_has_no_place_there_is_refused_at_once_and_spoils_nothing(loom, name, refusal):
    with pytest.raises(refusal):
        NAMED.rows(name)
    with transaction.atomic():
        rename(loom, "Renamed")
        with pytest.raises(refusal):
            rename(loom, name)
        assert NAMED.rows("loom") == [("Renamed",)]
    assert NAMED.rows("loom") == [("Renamed",)]


@pytest.mark.parametrize("number", [2**31, -(2**31) - 1, 2**62])
def test_a_number_that_its_column_cannot_hold_is_refused_and_not_cut(number):
    named = Prepared(lambda index: Thread.objects.filter(message_count=index).values_list("key"), int)
    with pytest.raises(DataError, match="out of range"):
        named.rows(number)
    assert named.rows(2**31 - 1) == []


@pytest.mark.parametrize("savepoint", [False, True])
def test_a_rollback_takes_what_was_held_back_along(loom, savepoint):
    with transaction.atomic():
        before = transaction.savepoint() if savepoint else None
        rename(loom, "Renamed")
        if before is None:
            transaction.set_rollback(True)
        else:
            transaction.savepoint_rollback(before)
    assert NAMED.rows("loom") == [("Loom",)]


def test_of_statements_that_go_together_the_first_refusal_is_told(loom):
    Org.objects.create(slug="reed", name="Reed")
    with pytest.raises(IntegrityError, match="slug"):
        take_the_name_of_another_and_look(loom, "reed")
    assert together((NAMED, ("loom",)), (NAMED, ("reed",)), (NAMED, ("none",))) == [[("Loom",)], [("Reed",)], []]


@transaction.atomic
def take_the_name_of_another_and_look(org, slug):
    org.slug = slug
    MOVE.update(org)
    together((NAMED, (slug,)), (NAMED, ("none",)))


def test_what_was_asked_ahead_is_there_without_another_trip(loom, spoken):
    assert NAMED.rows("reed", ahead=[(NAMED, ("loom",))]) == []
    assert NAMED.rows("loom") == [("Loom",)]
    assert len(spoken) == 1
    assert NAMED.rows("loom") == [("Loom",)]
    assert len(spoken) == 2


def test_what_was_asked_ahead_is_there_for_whoever_asks_it_in_any_order(loom, spoken):
    ahead = [(NAMED, ("loom",)), (NAMED, ("none",)), (NAMED, ("warp",))]
    assert NAMED.rows("reed", ahead=ahead) == []
    assert NAMED.rows("warp") == []
    assert NAMED.rows("loom") == [("Loom",)]
    assert len(spoken) == 1


@pytest.mark.parametrize("speak", ["rename", "renamed by django", "another question", "transaction", "rolled back"])
def test_what_was_asked_ahead_is_asked_again_after_anything_else(loom, speak):
    ahead = [(NAMED, ("loom",))]
    if speak == "rolled back":
        with pytest.raises(ZeroDivisionError):
            rename_ask_and_fail(loom, ahead)
        assert NAMED.rows("loom") == [("Loom",)]
        return
    NAMED.rows("reed", ahead=ahead)
    match speak:
        case "rename":
            rename(loom, "Renamed")
        case "renamed by django":
            Org.objects.filter(slug="loom").update(name="Renamed")
        case "another question":
            NAMED.rows("none")
            in_another_connection(lambda: rename(loom, "Renamed"))
        case "transaction":
            in_another_connection(lambda: rename(loom, "Renamed"))
            with transaction.atomic():
                assert NAMED.rows("loom") == [("Renamed",)]
    assert NAMED.rows("loom") == [("Renamed",)]


@transaction.atomic
def rename_ask_and_fail(org, ahead):
    rename(org, "Renamed")
    NAMED.rows("reed", ahead=ahead)
    raise ZeroDivisionError


def test_a_row_that_is_stored_may_ask_ahead_and_a_write_in_between_is_seen(loom):
    with transaction.atomic():
        STORE.insert(Org(slug="reed", name="Reed"), ahead=[(NAMED, ("reed",))])
        assert NAMED.rows("reed") == [("Reed",)]
        STORE.insert(Org(slug="warp", name="Warp"), ahead=[(NAMED, ("loom",))])
        rename(loom, "Renamed")
        assert NAMED.rows("loom") == [("Renamed",)]


def test_several_questions_at_one_moment_are_one_trip_and_leave_nothing_open(loom, spoken):
    assert at_one_moment((NAMED, ("loom",)), (NAMED, ("none",))) == [[("Loom",)], []]
    assert len(spoken) == 1
    assert not connection.is_in_transaction
    with snapshot():
        assert NAMED.rows("loom") == [("Loom",)]
        in_another_connection(lambda: rename(loom, "Renamed"))
        assert at_one_moment((NAMED, ("loom",))) == [[("Loom",)]]
    assert at_one_moment((NAMED, ("loom",))) == [[("Renamed",)]]


def test_a_refusal_at_one_moment_leaves_nothing_open(loom):
    divided = Prepared(lambda slug: Org.objects.filter(slug=slug).values_list(Value(1) / (F("id") - F("id"))), str)
    with pytest.raises(DataError):
        at_one_moment((divided, ("loom",)), (NAMED, ("loom",)))
    assert not connection.is_in_transaction
    assert NAMED.rows("loom") == [("Loom",)]


def test_prepared_reads_in_a_snapshot_see_one_state_whatever_others_write_B87(loom):
    with snapshot():
        assert NAMED.rows("loom") == [("Loom",)]
        in_another_connection(lambda: rename(loom, "Renamed"))
        assert NAMED.rows("loom") == [("Loom",)]
        with snapshot():
            assert Org.objects.get(slug="loom").name == "Loom"
    assert NAMED.rows("loom") == [("Renamed",)]


def test_a_snapshot_writes_nothing_and_ends_after_a_refusal(loom):
    with pytest.raises(Exception, match="read-only"), snapshot():
        rename(loom, "Renamed")
    with snapshot():
        pass
    with transaction.atomic():
        rename(loom, "Later")
    assert NAMED.rows("loom") == [("Later",)]


def test_a_line_that_broke_is_told_and_another_one_takes_its_place(loom):
    with pytest.raises(OperationalError):
        rename_and_break(loom)
    connection.close()
    assert NAMED.rows("loom") == [("Loom",)]


@transaction.atomic
def rename_and_break(org):
    with connection.cursor() as cursor:
        [pid] = cursor.execute("SELECT pg_backend_pid()").fetchone()
    rename(org, "Renamed")
    in_another_connection(lambda: end(pid))
    NAMED.rows(org.slug)


def test_a_line_that_breaks_before_the_end_of_a_snapshot_is_told_as_django_tells_it(loom):
    with pytest.raises(OperationalError):
        look_and_break(loom)
    connection.close()
    assert NAMED.rows("loom") == [("Loom",)]


def look_and_break(org):
    with snapshot():
        with connection.cursor() as cursor:
            [pid] = cursor.execute("SELECT pg_backend_pid()").fetchone()
        in_another_connection(lambda: end(pid))


def test_a_connection_may_be_given_back_inside_a_snapshot(loom):
    with snapshot():
        assert NAMED.rows("loom") == [("Loom",)]
        connection.close()
    with transaction.atomic():
        rename(loom, "Renamed")
    assert NAMED.rows("loom") == [("Renamed",)]


def end(pid):
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [pid])


def test_words_as_long_as_a_book_go_there_and_come_back(loom):
    long = "w" * 3_000_000
    query = Prepared(lambda said, slug: Org.objects.filter(slug=slug).exclude(name=said).values_list("name"), str, str)
    assert together(*[(query, (long, "loom"))] * 3) == [[("Loom",)]] * 3


def test_more_statements_than_a_line_keeps_are_answered_alike(loom):
    for place in range(520):
        query = Prepared(lambda slug, place=place: Org.objects.filter(slug=slug)[: place + 1].values_list("slug"), str)
        assert query.rows("loom") == [("loom",)]
        assert query.rows("none") == []


def test_a_column_that_changes_its_type_costs_a_line_one_refusal():
    statement = (b"SELECT word FROM said WHERE word = $1", ["loom"])
    line = alone(server_side_binding=False)
    run(line, "CREATE TEMPORARY TABLE said (word varchar(20))", "INSERT INTO said VALUES ('loom')")
    assert line.run_all([statement]) == [[("loom",)]]
    run(line, "ALTER TABLE said ALTER word TYPE text")
    with pytest.raises(NotSupportedError), line.wrap_database_errors:
        line.run_all([statement])
    assert line.run_all([statement]) == [[("loom",)]]
    line.close()


def test_statements_outlive_what_a_driver_that_prepares_too_has_taken_away():
    line = alone(server_side_binding=True)
    for _ in range(3):
        assert line.run_all([(b"SELECT $1::text", ["loom"])]) == [[("loom",)]]
        run(line, "SELECT 1", "BEGIN", "ROLLBACK")
    line.close()


def alone(**options):
    """A line beside the pool, whose driver prepares at once where it does."""
    options = {**connection.settings_dict["OPTIONS"], "pool": None, "prepare_threshold": 0, **options}
    line = DatabaseWrapper({**connection.settings_dict, "OPTIONS": options}, "alone")
    line.ensure_connection()
    return line


def run(line, *statements):
    with line.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def test_a_pool_gives_up_before_a_request_does():
    """Its pauses double until then. Whatever asks it next makes it connect at once."""
    assert connection.pool.reconnect_timeout < connection.pool.timeout


def test_no_query_is_compiled():
    """That takes longer than a page."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW jit")
        assert cursor.fetchone() == ("off",)


@pytest.fixture
def lines():
    """Connections of other processes, with the settings of this one."""
    with ExitStack() as open_lines:

        def made():
            line = psycopg.connect(**{**connection.get_connection_params(), "cursor_factory": psycopg.Cursor})
            open_lines.callback(line.close)
            connection._configure_connection(line)
            line.commit()
            return line

        yield made


def test_who_freezes_in_a_transaction_does_not_keep_its_locks(loom, lines, monkeypatch):
    monkeypatch.setattr(base, "IDLE_SECONDS", 1)
    frozen, other = lines(), lines()
    wanted = "SELECT name FROM accounts_org WHERE slug = 'loom' FOR UPDATE"
    frozen.execute(wanted)
    assert other.execute(wanted).fetchone() == ("Loom",)


def test_nobody_waits_for_a_lock_without_end(loom, lines, monkeypatch):
    monkeypatch.setattr(base, "LOCK_SECONDS", 1)
    holding, other = lines(), lines()
    wanted = "SELECT name FROM accounts_org WHERE slug = 'loom' FOR UPDATE"
    holding.execute(wanted)
    with pytest.raises(psycopg.errors.LockNotAvailable):
        other.execute(wanted)
    assert holding.execute(wanted).fetchone() == ("Loom",)


def test_requests_in_a_row_meet_the_same_server_process():
    connection.pool.wait()  # until it has opened more than one
    assert connection.pool.get_stats()["pool_size"] > 1
    assert len({server_process() for _ in range(4)}) == 1


def server_process():
    connection.close()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return cursor.fetchone()[0]


def test_an_interrupt_stops_the_statement_and_closes_its_connection(loom):
    """Ctrl+C of a command: PostgreSQL would otherwise go on, and store what nobody waits for."""

    def interrupt(*_):
        raise KeyboardInterrupt

    slow = Prepared(
        lambda name: Org.objects.filter(
            name=Concat(Value(name), Func(Value(20), function="pg_sleep", output_field=CharField()))
        ).values_list("pk"),
        str,
    )
    connection.ensure_connection()
    line = connection.connection
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            slow.rows("loom")
    finally:
        signal.signal(signal.SIGALRM, before)
    assert line.closed
    connection.close()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep%' "
            "AND datname = current_database() AND pid <> pg_backend_pid()"
        )
        assert cursor.fetchone() == (0,)
