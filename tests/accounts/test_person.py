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
        call_command("person", "zoe@acme.test", "--org", "new", "--create-org")
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
        person("--org", "new", "--create-org", *arguments)
    assert not User.objects.exists() and not Org.objects.exists()
    person("--no-password")
    with pytest.raises(CommandError, match=says):
        person("--org", "new", "--create-org", "--admin", *arguments)
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
    call_command("person", "zoe@acme.test", "--org", "new", "--create-org", stdout=io.StringIO())
    assert User.objects.get().memberships.get().org.slug == "new"


def test_a_person_who_is_there_gets_the_name_and_it_is_said(person):
    person("--no-password", "--name", "Zoe")
    assert person("--name", "Zoë") == "zoe@acme.test is now called Zoë.\n"
    assert User.objects.get(email="zoe@acme.test").name == "Zoë"


def test_an_org_that_does_not_exist_is_made_only_where_that_is_asked_for(person):
    """A typo would put somebody into an org of their own, without a word."""
    with pytest.raises(CommandError, match=r"^org: there is no org amce; to create it, add --create-org$"):
        person("--org", "amce", "--no-password")
    assert not User.objects.exists() and not Org.objects.exists()
    said = person("--org", "acme", "--no-password", "--create-org").splitlines()
    acme = Org.objects.get()
    assert said[1:] == ["Org acme was created.", f"zoe@acme.test in acme: member ({acme.org_id})"]
    person("--org", "acme", "--create-org")
    assert Org.objects.get() == acme


def test_a_call_that_changes_nothing_says_what_the_account_has(person):
    person("--org", "acme", "--create-org", "--admin", "--name", "Zoe", typed=["a long enough one"] * 2)
    person("--token", "ci")
    of_org = f"zoe@acme.test in acme: member ({Org.objects.get().org_id})"
    told = f"zoe@acme.test (Zoe): enabled, platform admin, with a password, 1 token\n{of_org}\n"
    assert person() == person("--org", "acme", "--name", "Zoe", "--admin") == told
    person("--off")
    assert person().startswith("zoe@acme.test (Zoe): disabled, platform admin, with a password, 0 tokens\n")


def test_an_account_in_no_org_is_said_to_be_in_none(person):
    person("--no-password")
    assert person().splitlines() == [
        "zoe@acme.test (zoe): enabled, without a password, 0 tokens",
        "zoe@acme.test is in no org.",
    ]


def test_who_comes_back_and_never_had_a_password_needs_one(person):
    person("--no-password")
    person("--off")
    assert "they cannot sign in until a password is set: manage.py changepassword zoe@acme.test. " in person("--on")


def test_nothing_but_the_token_is_said_where_only_a_token_is_made(person):
    """A script takes what is printed."""
    person("--no-password", "--org", "acme", "--create-org")
    assert len(person("--org", "acme", "--token", "ci").split()) == 1


def test_a_second_token_of_a_name_is_made_and_the_first_is_told_of(person, capsys):
    """Beside the token, which a script takes. Nobody can be told the first one again."""
    person("--no-password", "--token", "ci")
    person("--token", "other")
    assert capsys.readouterr().err == ""
    first, second = person("--token", "ci").strip(), person("--token", "ci").strip()
    assert first != second and len(second.split()) == 1
    assert capsys.readouterr().err.splitlines() == [
        "zoe@acme.test already has 1 token named ci. It works until it is revoked.",
        "zoe@acme.test already has 2 tokens named ci. They work until they are revoked.",
    ]
    person("--revoke-tokens")
    person("--token", "ci")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("option", ["--on", "--off", "--no-admin", "--revoke-tokens"])
def test_what_is_for_who_has_an_account_is_named_where_nobody_has(person, option):
    with pytest.raises(CommandError, match=rf"email: zoe@acme.test has no account; {option} needs an existing one"):
        person(option)
    assert not User.objects.exists()
