"""Prepared queries: what the ORM would answer, in the same types, and compiled once."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import QuerySet
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import ApiToken, Org, User
from core.prepared import Prepared, PreparedCount, PreparedRow
from core.prepared_writes import PreparedInsert, PreparedUpdate
from tests import make
from threads.models import Thread

COLUMNS = ("id", "email", "is_staff", "created", "name")


def _people(pk: int, email: str) -> QuerySet[User]:
    return User.objects.filter(pk=pk, email=email)


def test_rows_are_those_of_the_queryset_in_the_types_of_its_fields(who):
    query = Prepared(lambda pk, email: _people(pk, email).values_list(*COLUMNS), int, str)
    for person in (who.alice, who.admin):
        [row] = query.rows(person.user.pk, person.user.email)
        assert row == _people(person.user.pk, person.user.email).values_list(*COLUMNS).get()
        assert row[2] is person.user.is_staff
        assert row[3].tzinfo is UTC


def test_a_time_that_was_stored_in_whole_seconds_or_never_comes_back_as_it_was(who):
    query = Prepared(lambda pk: ApiToken.objects.filter(user=pk).values_list("created", "expires_at"), int)
    for created in (datetime(2026, 2, 28, 23, 59, 59, tzinfo=UTC), datetime(2026, 1, 1, 0, 0, 0, 7, tzinfo=UTC)):
        ApiToken.objects.filter(user=who.alice.user).update(created=created)
        [row] = query.rows(who.alice.user.pk)
        assert row == (created, None)
        assert ApiToken.objects.get(user=who.alice.user).created == created


def test_each_argument_takes_its_own_place(who):
    query = Prepared(lambda pk, email: _people(pk, email).values_list("id"), int, str)
    assert query.rows(who.alice.user.pk, who.bob.user.email) == []
    assert query.first(who.bob.user.pk, who.bob.user.email) == (who.bob.user.pk,)


def test_an_argument_that_is_used_twice_stands_in_both_places(who):
    query = Prepared(lambda word: User.objects.filter(email=word).exclude(name=word).values_list("id"), str)
    User.objects.filter(pk=who.eve.user.pk).update(name=who.eve.user.email)
    assert query.first(who.bob.user.email) == (who.bob.user.pk,)
    assert query.rows(who.eve.user.email) == []


def test_a_moment_is_an_argument_as_any_other(who):
    query = Prepared(
        lambda at, name: User.objects.filter(created__lte=at).exclude(name=name).values_list("id"), datetime, str
    )
    for moment in (who.alice.user.created, who.eve.user.created, datetime(2020, 1, 1, tzinfo=UTC)):
        expected = User.objects.filter(created__lte=moment).exclude(name="Bob").values_list("id")
        assert sorted(query.rows(moment, "Bob")) == sorted(expected)


def test_rows_are_counted_up_to_the_limit_of_their_query(who):
    query = PreparedCount(
        lambda pk, at: User.objects.filter(pk__gte=pk, created__lt=at).values_list("pk")[:2], int, datetime
    )
    tomorrow = timezone.now() + timedelta(days=1)
    assert query.rows(0, tomorrow) == [(2,)]
    assert query.rows(max(User.objects.values_list("pk", flat=True)), tomorrow) == [(1,)]
    assert query.rows(0, datetime(2020, 1, 1, tzinfo=UTC)) == [(0,)]


def test_the_queryset_is_built_once_however_often_it_is_asked(who):
    built = []

    def build(pk: int) -> QuerySet[User]:
        built.append(pk)
        return User.objects.filter(pk=pk).values_list("email")

    query = Prepared(build, int)
    for person in (who.alice, who.bob, who.eve):
        assert query.first(person.user.pk) == (person.user.email,)
    assert len(built) == 1


def test_a_quote_in_an_argument_is_data(who):
    query = Prepared(lambda email: User.objects.filter(email=email).values_list("id"), str)
    assert query.rows("' OR '1'='1") == []
    assert query.rows("%s") == []


def test_the_number_of_arguments_is_checked(who):
    query = Prepared(lambda email: User.objects.filter(email=email).values_list("id"), str)
    with pytest.raises(ValueError, match="expected 1 arguments, got 0"):
        query.rows()


def test_a_whole_row_is_the_model_and_reads_what_was_left_out_when_asked(who):
    made = make.thread(who.alice, run=False, system_prompt="Be brief.")
    query = PreparedRow(lambda pk: Thread.objects.filter(pk=pk), Thread, int, without=("system_prompt",))
    found = query.first(made.pk)
    assert found == made
    assert (found.created, found.has_error, found.client_context) == (made.created, False, None)
    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert found.system_prompt == "Be brief."
    assert len(asked) == 1
    assert query.first(made.pk + 1) is None


def test_a_whole_row_can_be_saved_as_any_other(who):
    query = PreparedRow(lambda pk: ApiToken.objects.filter(pk=pk), ApiToken, int)
    stored = ApiToken.objects.get(user=who.alice.user)
    found = query.first(stored.pk)
    found.revoked_at = datetime(2026, 1, 1, tzinfo=UTC)
    found.save(update_fields=["revoked_at"])
    stored.refresh_from_db()
    assert stored.revoked_at == found.revoked_at
    assert ApiToken.objects.count() == 4


def test_an_inserted_row_reads_back_as_the_object_it_was_made_from(who):
    stored = PreparedInsert(Org).insert(Org(name="Loom", slug="loom", members_may_fork=True))
    read = Org.objects.get(pk=stored.pk)
    assert all(getattr(read, field.attname) == getattr(stored, field.attname) for field in Org._meta.concrete_fields)
    assert not stored._state.adding


@pytest.mark.parametrize("count", [1, 4, 5, 30])
def test_few_and_many_rows_are_stored_alike(who, count):
    orgs = [Org(name=f"Org {number}", slug=f"org-{number:02}") for number in range(count)]
    PreparedInsert(Org).insert_all(orgs)
    stored = Org.objects.filter(slug__startswith="org-").order_by("slug")
    assert list(stored.values_list("slug", "name", "key")) == [(org.slug, org.name, org.key) for org in orgs]


def test_an_upsert_overwrites_the_named_columns_and_keeps_the_others(who):
    upsert = PreparedInsert(Org, unique=("slug",), update=("name",))
    first = upsert.insert(Org(name="Before", slug="loom"))
    second = upsert.insert(Org(name="After", slug="loom"))
    assert second.pk == first.pk
    assert Org.objects.filter(pk=first.pk).values_list("name", "key").get() == ("After", first.key)


def test_an_upsert_stamps_only_what_it_changes(who):
    upsert = PreparedInsert(User, unique=("email",), update=("name",), stamp="created", kept=("created",))
    now = timezone.now()

    def stored(name, hours):
        moment = now + timedelta(hours=hours)
        row = User(email="loom@acme.test", name=name, created=moment)
        return upsert.insert(row).created == moment

    assert [stored(*each) for each in [("A", 0), ("A", 1), ("B", 2), ("B", 3)]] == [True, False, True, False]


@pytest.mark.parametrize("count", [1, 4, 5, 30])
def test_few_and_many_rows_are_overwritten_alike_where_they_are_there(who, count):
    upsert = PreparedInsert(Org, unique=("slug",), update=("name",))
    kept = Org.objects.create(name="Before", slug="org-00")
    upsert.insert_all([Org(name="After", slug=f"org-{number:02}") for number in range(count)])
    stored = Org.objects.filter(slug__startswith="org-")
    assert list(stored.values_list("name", flat=True)) == ["After"] * count
    assert stored.get(pk=kept.pk).key == kept.key


def test_an_update_writes_the_named_columns_of_one_row(who):
    person = who.bob.user
    person.name, person.email = "Robert", "never@written.test"
    PreparedUpdate(User, "name").update(person)
    assert User.objects.filter(pk=person.pk).values_list("name", "email").get() == ("Robert", "bob@acme.test")
    assert User.objects.filter(name="Robert").count() == 1


def test_a_refusal_of_the_database_is_django_s_and_spoils_the_transaction_as_always(who):
    with pytest.raises(IntegrityError), transaction.atomic():
        PreparedInsert(Org).insert(
            Org(name="Again", slug=Org.objects.get(pk=next(iter(who.alice.actor.orgs.values()))).slug)
        )
    connection.set_rollback(True)
    with pytest.raises(TransactionManagementError):
        Prepared(lambda pk: User.objects.filter(pk=pk).values_list("id"), int).rows(1)
    connection.set_rollback(False)


def test_whoever_listens_to_queries_hears_of_them(who):
    query = Prepared(lambda pk: User.objects.filter(pk=pk).values_list("id"), int)
    with CaptureQueriesContext(connection) as heard:
        query.rows(1)
    assert len(heard) == 1
