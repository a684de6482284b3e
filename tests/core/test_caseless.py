"""Words are found whatever their case, in every alphabet and on both databases alike."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from core.sqlite.caseless import UPPER, upper
from tests import make
from tests.conftest import data_of

NAME = "Österreich MÜLLER ΣΊΣΥΦΟΣ straße ПРИВЕТ 100%_\\"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("lookup", "said", "is_found"),
    [
        *(("icontains", each, True) for each in ("müller", "MÜLLER", "Müller", "österreich mü", "σίσυφος", "привет")),
        *(("icontains", each, True) for each in ("reich m", "STRAßE", "100%_\\", "ПРИВЕТ 100%_\\")),
        *(
            ("icontains", each, False)
            for each in ("muller", "strasse", "STRASSE", "müll_r", "m%ü", "ü%r", "привет_", "ё")
        ),
        ("istartswith", "österreich", True),
        ("istartswith", "Müller", False),
        ("iendswith", "привет 100%_\\", True),
        ("iexact", NAME.lower(), True),
        ("iexact", "österreich", False),
    ],
)
def test_a_lookup_finds_what_is_there(who, lookup, said, is_found):
    User.objects.filter(pk=who.alice.user.pk).update(name=NAME)
    assert User.objects.filter(pk=who.alice.user.pk, **{f"name__{lookup}": said}).exists() is is_found
    assert User.objects.filter(pk=who.alice.user.pk).exclude(**{f"name__{lookup}": said}).exists() is not is_found


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL knows capitals itself")
def test_words_of_plain_letters_ask_for_no_capitals(who):
    with CaptureQueriesContext(connection) as captured:
        list(User.objects.filter(name__icontains="muller"))
        list(User.objects.filter(name__icontains="müller"))
    assert [UPPER in each["sql"] for each in captured.captured_queries] == [False, True]


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor == "sqlite", reason="PostgreSQL is asked")
def test_capitals_are_those_of_postgresql():
    """Of every Latin, Greek and Cyrillic letter of today."""
    letters = [*range(0x80, 0x250), *range(0x370, 0x530)]
    with connection.cursor() as cursor:
        cursor.execute("SELECT n, upper(chr(n)) FROM unnest(%s::int[]) AS n", [letters])
        assert [chr(n) for n, raised in cursor.fetchall() if raised != upper(chr(n))] == []


@pytest.mark.parametrize("query", ["österreich", "müller", "Müller", "MÜLLER", "σίσυφος"])
def test_threads_skills_and_agents_are_found_whatever_the_case_of_a_word(api, browser_of, who, query):
    """By title and by what was said (H2); on their pages by name and description."""
    said, alice, page = "Österreich MÜLLER ΣΊΣΥΦΟΣ", api("alice"), browser_of("alice")
    make.thread(who.alice, said, run=False)
    titled = make.thread(who.alice, "Hello", run=False)
    data_of(alice.patch(f"threads/{titled.thread_id}", {"title": said}))
    assert len(data_of(alice.post("threads/search", {"query": query}))["items"]) == 2
    data_of(alice.post("/v1/skills/create", {"name": "weaving", "description": said, "body": "b"}))
    data_of(
        alice.post(
            "agents", {"name": "Weaver", "description": said, "request_template": {"messages": [make.say("Hi")]}}
        )
    )
    for path, name in (("/skills/", b"weaving"), ("/agents/", b"Weaver")):
        assert name in page.get(path, {"q": query}).content
        assert name not in page.get(path, {"q": "loom"}).content
