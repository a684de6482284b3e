"""Orgs: which one a request acts in (spec 1.2), policies, memberships."""

import io
import threading
from contextlib import contextmanager
from unittest.mock import Mock

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction

from accounts import members
from accounts.authentication import TokenAuthentication, actor_of_email, actor_of_user, org_of
from accounts.models import Membership, Org, User, mint
from accounts.orgs import add_member, administered_by, found_org, set_policy
from core.errors import InvalidRequest, NoOrgProvided, NotFound, Unauthorized
from tests import people
from tests.conftest import Api, data_of


@pytest.fixture
def third(db):
    return Org.objects.create(slug="third", name="Third")


def person(email, *orgs, default=None):
    """Somebody in these orgs, none of them the default one unless said."""
    user = User.objects.create_user(email)
    for org in orgs:
        Membership.objects.create(user=user, org=org, is_default=org == default)
    return user


def test_the_only_org_is_taken_default_or_not(who, third):
    assert org_of(actor_of_user(person("a@x.test", third)), None) == third.pk


def test_of_several_the_default_one_is_taken(who, third):
    user = person("a@x.test", who.acme, third, who.globex, default=third)
    assert org_of(actor_of_user(user), None) == third.pk
    assert next(iter(actor_of_user(user).orgs)) == third.org_id


def test_of_several_without_a_default_none_is_taken(who, third):
    with pytest.raises(NoOrgProvided):
        org_of(actor_of_user(person("a@x.test", who.acme, third)), None)


def test_a_member_of_nothing_has_to_name_one_and_may_name_none(who):
    actor = actor_of_user(person("a@x.test"))
    with pytest.raises(NoOrgProvided):
        org_of(actor, None)
    with pytest.raises(Unauthorized):
        org_of(actor, who.acme.org_id)


def test_the_named_org_is_taken_where_one_is_a_member_and_by_admins_any(who, third):
    user = person("a@x.test", who.acme, third, default=third)
    assert org_of(actor_of_user(user), who.acme.org_id) == who.acme.pk
    assert org_of(who.admin.actor, who.globex.org_id) == who.globex.pk
    with pytest.raises(Unauthorized):
        org_of(actor_of_user(user), who.globex.org_id)
    with pytest.raises(InvalidRequest):
        org_of(who.admin.actor, "og_unknown")


def actor_of_token(secret):
    """As REST's doors make it."""
    view = Mock(next_questions=list)
    request = Mock(META={"HTTP_AUTHORIZATION": f"Bearer {secret}"}, parser_context={"view": view})
    return TokenAuthentication().authenticate(request)[0]


def test_a_token_and_a_session_make_the_same_actor(who, third):
    user = person("a@x.test", who.acme, third, default=third)
    assert actor_of_token(mint(user, "t")[1]) == actor_of_user(user) == actor_of_email("A@X.test")


def test_the_first_org_of_a_person_becomes_their_default_and_repeating_changes_nothing(who, third):
    user = person("a@x.test")
    for org in (who.acme, third, who.acme):
        add_member(org, user)
    found = Membership.objects.filter(user=user).order_by("pk").values_list("org__slug", "is_default")
    assert list(found) == [("acme", True), ("third", False)]


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
@pytest.mark.django_db(transaction=True)
def test_of_two_orgs_that_let_somebody_in_at_once_one_is_the_default(who):
    user = person("a@x.test")
    with beside(lambda: call_command("person", "a@x.test", "--org", "globex", stdout=io.StringIO())):
        add_member(who.acme, user)
    assert orgs_of(user) == [("acme", True), ("globex", False)]


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
@pytest.mark.django_db(transaction=True)
def test_of_three_orgs_two_of_which_put_somebody_out_at_once_the_third_is_the_default(who, third):
    user = person("a@x.test", who.acme, who.globex, third, default=who.acme)
    at_acme, at_globex, _ = Membership.objects.filter(user=user).order_by("pk")
    with beside(lambda: members.remove(who.admin.actor, at_globex.pk)):
        members.remove(who.admin.actor, at_acme.pk)
    assert orgs_of(user) == [("third", True)]


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
@pytest.mark.django_db(transaction=True)
def test_a_change_of_members_keeps_nobody_waiting_whose_row_names_the_org(who):
    """Threads and reports name it too; and whoever holds a person and waits for the org would never be waited out."""
    user, member = person("a@x.test"), Membership.objects.get(user=who.bob.user)
    joining = threading.Thread(target=lambda: (add_member(who.acme, user), connection.close()))
    with transaction.atomic():
        members.change_role(who.admin.actor, member.pk, "admin")
        joining.start()
        joining.join(3)
        is_waiting = joining.is_alive()
    joining.join()
    assert not is_waiting and orgs_of(user) == [("acme", True)]


def orgs_of(user):
    return list(Membership.objects.filter(user=user).order_by("pk").values_list("org__slug", "is_default"))


@contextmanager
def beside(work):
    """A transaction that stays open until somebody else has begun their own work, or has come to wait for it."""
    came = []

    def run():
        try:
            work()
        except Exception as problem:  # handed over to the test
            came.append(problem)
        finally:
            connection.close()

    other = threading.Thread(target=run)
    with transaction.atomic():
        yield
        other.start()
        other.join(0.5)
    other.join()
    assert came == []


def test_the_database_keeps_one_default_and_one_membership_an_org(who, third):
    user = person("a@x.test", who.acme, default=who.acme)
    for org, default in ((third, True), (who.acme, False)):
        with pytest.raises(IntegrityError), transaction.atomic():
            Membership.objects.create(user=user, org=org, is_default=default)


# Policies


def test_policies_are_off_until_somebody_switches_them_on(third):
    assert Org.POLICIES == ("members_may_fork", "visibility_may_change")
    assert not any(getattr(third, policy) for policy in Org.POLICIES)


@pytest.mark.parametrize("policy", Org.POLICIES)
def test_the_command_switches_one_policy_of_one_org(who, policy):
    said = io.StringIO()
    call_command("org_policy", "acme", policy, "on", stdout=said)
    assert said.getvalue() == f"acme: {policy} is on\n"
    for org in Org.objects.all():
        assert [name for name in Org.POLICIES if getattr(org, name)] == ([policy] if org.slug == "acme" else [])
    call_command("org_policy", "acme", policy, "off", stdout=said)
    assert not getattr(Org.objects.get(slug="acme"), policy)


def test_the_command_says_what_is_wrong(who):
    with pytest.raises(CommandError, match="There is no org nowhere"):
        call_command("org_policy", "nowhere", "members_may_fork", "on")
    with pytest.raises(CommandError, match="invalid choice"):
        call_command("org_policy", "acme", "members_may_fly", "on")
    with pytest.raises(CommandError, match="invalid choice"):
        call_command("org_policy", "acme", "members_may_fork", "maybe")


def test_a_policy_that_does_not_exist_is_no_column_to_set(who):
    with pytest.raises(InvalidRequest):
        set_policy("acme", "slug", True)
    with pytest.raises(NotFound):
        set_policy("nowhere", "members_may_fork", True)
    assert Org.objects.filter(slug="acme").exists()


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["org_policy", "\udcff", "members_may_fork", "on"], "^org: contains a NUL"),
        (["org_role", "\udcff", "alice@acme.test", "admin"], "^org: contains a NUL"),
        (["org_role", "acme", "\udcff", "admin"], "^email: contains a NUL"),
        (["seed_load", "--reports", "1", "--org", "\udcff"], "^org: contains a NUL"),
    ],
)
def test_what_no_database_can_be_asked_for_is_refused_by_its_name(who, command, says):
    """A byte of a command line that is no UTF-8: PostgreSQL would end in a trace."""
    with pytest.raises(CommandError, match=says):
        call_command(*command)


# People


def test_the_person_command_makes_somebody_who_can_use_the_api(db):
    said = io.StringIO()
    options = {"org": ["new"], "create_org": True, "token": "laptop", "no_password": True, "stdout": said}
    call_command("person", "New@Org.test", **options)
    call_command("person", "new@org.test", **{**options, "admin": True})
    secrets = [line for line in said.getvalue().splitlines() if line.startswith("hdl_")]
    assert len(set(secrets)) == 2
    user = User.objects.get(email="new@org.test")
    assert (user.is_staff, user.has_usable_password(), user.memberships.count()) == (True, False, 1)
    data_of(Api(secrets[0]).get("threads"))
    data_of(Api(secrets[1]).get("admin/feedback"))


def test_the_person_command_refuses_what_is_no_address(db):
    for email in ("nonsense", "a:b@x.test"):
        with pytest.raises(CommandError):
            call_command("person", email, no_password=True)
    assert not User.objects.exists()


@pytest.mark.parametrize("slug", ["", "x" * 61, "two words", "Acme", "with_line", "-acme", "ä", "a\n"])
def test_the_short_name_of_an_org_is_letters_digits_and_dashes(db, slug):
    """SQLite would keep a name of any length, PostgreSQL not; one that is empty or in capitals nobody could ask for."""
    for command in (["person", "a@x.test", "--no-password"], ["seed_load", "--reports", "1"]):
        with pytest.raises(CommandError, match="lower-case letters, digits and dashes, at most 60"):
            call_command(*command, f"--org={slug}", stdout=io.StringIO())
    assert not Org.objects.exists() and not User.objects.exists()


def test_an_org_that_is_there_is_taken_and_one_that_is_not_is_made(who):
    founded = [found_org(slug, name="Third") for slug in ("acme", "x" * 60, "3-b")]
    assert [(org.slug, org.name) for org in founded] == [("acme", "Acme"), ("x" * 60, "Third"), ("3-b", "Third")]
    assert founded[0] == who.acme
    Org.objects.create(slug="Of_Old", name="Of old")  # made before there was a rule
    assert found_org("Of_Old").name == "Of old"


@pytest.mark.parametrize("email", ["a:b@x.test", "nonsense", "", "a@b@c"])
def test_an_address_is_one_and_holds_no_colon(db, email):
    """Spec 1.7: a user id is free text without a colon."""
    with pytest.raises(ValidationError):
        User.objects.create_user(email)


def test_two_people_never_share_an_address(who):
    with pytest.raises(ValidationError):
        User.objects.create_user("ALICE@acme.test")


def test_an_org_chosen_on_the_pages_is_where_threads_are_started(browser_of, who, third):
    add_member(third, who.alice.user)
    browser = browser_of("alice")
    started = lambda: browser.post("/threads/start/", {"text": "Hi"}).headers["Location"].split("/")[2]  # noqa: E731
    api = Api(who.alice.token)
    assert data_of(api.get(f"threads/{started()}"))["org_id"] == who.acme.org_id
    assert browser.post("/org/", {"org": "third"}).status_code == 302
    assert data_of(api.get(f"threads/{started()}"))["org_id"] == third.org_id
    assert browser.post("/org/", {"org": "globex"}).status_code == 404
    # Who left it is no longer in it.
    Membership.objects.filter(user=who.alice.user, org=third).delete()
    assert data_of(api.get(f"threads/{started()}"))["org_id"] == who.acme.org_id


def test_a_member_is_made_an_admin_of_their_org_and_a_member_again(who):
    said = io.StringIO()
    call_command("org_role", "acme", "Alice@acme.test", "admin", stdout=said)
    assert said.getvalue() == "alice@acme.test in acme: admin\n"
    assert administered_by(who.alice.user.pk) == [who.acme]
    call_command("org_role", "acme", "bob@acme.test", "admin", stdout=said)
    call_command("org_role", "acme", "alice@acme.test", "member", stdout=said)
    assert administered_by(who.alice.user.pk) == []


def test_the_command_leaves_an_org_its_last_admin_as_the_pages_do(who):
    call_command("org_role", "acme", "alice@acme.test", "admin", stdout=io.StringIO())
    with pytest.raises(CommandError, match="the only admin of the org"):
        call_command("org_role", "acme", "alice@acme.test", "member")
    assert administered_by(who.alice.user.pk) == [who.acme]
    call_command("org_role", "acme", "bob@acme.test", "member", stdout=io.StringIO())  # who is none stays none


@pytest.mark.parametrize(("org", "email"), [("acme", "eve@globex.test"), ("acme", "nobody@x.test"), ("none", "a@x")])
def test_a_role_is_for_members(who, org, email):
    with pytest.raises(CommandError):
        call_command("org_role", org, email, "admin")
    assert administered_by(who.eve.user.pk) == []


def test_the_people_of_the_tests_are_what_the_verbs_make_of_them(who):
    """They are put there table by table, for speed: whatever the verbs come to write has to be there as well."""
    its_own = {"id", "user_id", "key", "email", "name", "password", "hint", "hash", "created"}

    def written(user):
        rows = (User.objects.filter(pk=user.pk), user.memberships.all(), user.tokens.all())
        return [[{k: v for k, v in row.items() if k not in its_own} for row in each.values()] for each in rows]

    for person, org, fields in ((who.alice, who.acme, {}), (who.admin, None, {"is_staff": True})):
        another = people.one("another@acme.test" if org else "another@heddle.test", org, **fields)
        assert written(person.user) == written(another.user)
        assert person.user.check_password(people.PASSWORD)
        assert actor_of_token(person.token) == person.actor
