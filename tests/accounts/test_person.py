"""The command that makes people: what it asks for, what it refuses, what it says."""

import io
from unittest.mock import Mock

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from accounts.models import Org, User

pytestmark = pytest.mark.django_db


@pytest.fixture
def person(monkeypatch):
    """Run the command with what is typed at its prompts; gives what it said."""

    def run(*arguments, typed=()):
        answers = iter(typed)
        monkeypatch.setattr("getpass.getpass", lambda prompt: next(answers))
        out = io.StringIO()
        call_command("person", "zoe@acme.test", *arguments, stdout=out)
        return out.getvalue()

    return run


def test_a_password_is_typed_twice(person):
    person(typed=["a long enough one", "a long enough one"])
    assert User.objects.get(email="zoe@acme.test").check_password("a long enough one")


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (["1"], "at least 10 characters"),
        (["password123"], "too common"),
        (["a long enough one", "another one"], "two passwords differ"),
    ],
)
def test_a_bad_password_makes_nobody(person, typed, says):
    with pytest.raises(CommandError, match=says):
        person("--admin", typed=typed)
    assert not User.objects.filter(email="zoe@acme.test").exists()


@pytest.mark.parametrize(("arguments", "typed"), [((), [""]), (("--no-password",), [])])
def test_without_a_password_nobody_signs_in_by_one_and_it_is_said(person, arguments, typed):
    assert "cannot sign in until a password is set: manage.py changepassword zoe@" in person(*arguments, typed=typed)
    assert not User.objects.get(email="zoe@acme.test").has_usable_password()


def test_where_nobody_can_type_it_says_what_to_do(monkeypatch):
    """As in a start script of a container."""
    monkeypatch.setattr("getpass.getpass", Mock(side_effect=EOFError))
    with pytest.raises(CommandError, match=r"no terminal to ask for a password\..* --no-password"):
        call_command("person", "zoe@acme.test", "--org", "new")
    assert not User.objects.exists() and not Org.objects.exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--name", "x" * 121], "name: Ensure this value has at most 120 characters"),
        (["--name", "a\nb"], "name: must be one line without control characters"),
        (["--name", "a\u202eb"], "name: must be one line"),
        (["--token", "a\u2066b"], "token: must be one line"),
        (["--name", "\udcff"], "name: contains a NUL character or a lone surrogate"),
        (["--token", "x" * 81], "token: Ensure this value has at most 80 characters"),
        (["--token", ""], "token: This field cannot be blank"),
        (["--token", "\udcff"], "token: contains a NUL"),
        (["--org", "\udcff"], "org.1: contains a NUL"),
    ],
)
def test_what_no_column_takes_is_refused_by_its_name_before_anything_is_asked_or_made(person, arguments, says):
    """PostgreSQL would end in a trace, SQLite would keep it."""
    with pytest.raises(CommandError, match=says):
        person("--org", "new", *arguments)
    assert not User.objects.exists() and not Org.objects.exists()
    person("--no-password")
    with pytest.raises(CommandError, match=says):
        person("--org", "new", "--admin", *arguments)
    assert not Org.objects.exists() and not User.objects.get().is_staff


@pytest.mark.parametrize("email", ["nonsense", "", "a:b@x.test", f"{'x' * 250}@b.test", "\udcff@b.test"])
def test_an_address_that_is_none_is_refused_before_a_password_is_asked_for(monkeypatch, email):
    monkeypatch.setattr("getpass.getpass", Mock(side_effect=AssertionError("asked")))
    with pytest.raises(CommandError, match=r"^email: "):
        call_command("person", email)


@pytest.mark.django_db(transaction=True)
def test_nobody_waits_for_who_types_a_password(monkeypatch):
    """On SQLite a transaction that is open holds up every other writer, and gives up on them."""

    def typed(prompt):
        assert not connection.in_atomic_block
        return "a long enough one"

    monkeypatch.setattr("getpass.getpass", typed)
    call_command("person", "zoe@acme.test", "--org", "new", stdout=io.StringIO())
    assert User.objects.get().memberships.get().org.slug == "new"


def test_a_person_who_is_there_gets_the_name(person):
    person("--no-password", "--name", "Zoe")
    person("--name", "Zoë")
    assert User.objects.get(email="zoe@acme.test").name == "Zoë"


@pytest.mark.parametrize("option", ["--on", "--off", "--no-admin", "--revoke-tokens"])
def test_what_is_for_who_has_an_account_is_named_where_nobody_has(person, option):
    with pytest.raises(CommandError, match=rf"email: zoe@acme.test has no account; {option} needs an existing one"):
        person(option)
    assert not User.objects.exists()
