"""A condition and its opposite are everything, in both query languages: no row is lost to a value that it lacks."""

from urllib.parse import quote

import pytest

from feedback.querying.fields import FIELDS as OF_REPORTS
from tests import make
from tests.conftest import data_of
from threads.finding import FIELDS as OF_THREADS
from threads.models import Thread

pytestmark = pytest.mark.django_db
ANY = ("zzz", "none", "me", "2026-05", "<7d", "3", ">3", "success", "fb_01m8d4kz86e3kak4a3zd7arnqa")


@pytest.fixture
def rows(who):
    """Threads and reports that have much, and those that have nothing."""
    told = make.thread(
        who.alice, '[[call echo {"value": 1}]] [[fail]]', goals=[{"goal_type": "dataset_summary", "dataset_id": "d"}]
    )
    Thread.objects.filter(pk=make.conversation(who.alice, 2).pk).update(metadata={"task": "zzz"})
    make.rating(who.alice, told, told.message_count - 1, notes="zzz", categories=["slow"])
    for number in range(2):
        bare = make.conversation(who.alice, 2)
        make.rating(who.alice, bare, 1, "positive" if number else "negative")


def count(api, name, path, query):
    """How many a query finds; None if it is refused."""
    answer = api(name).get(f"{path}?limit=100&q={quote(query)}")
    return len(data_of(answer)["items"]) if answer.status_code == 200 else None


@pytest.mark.parametrize(
    ("person", "path", "fields"), [("alice", "threads", OF_THREADS), ("admin", "admin/feedback", OF_REPORTS)]
)
def test_a_condition_and_its_opposite_are_everything(api, rows, person, path, fields):
    whole, asked = count(api, person, path, ""), set()
    for name, field in fields.items():
        for value in (*(field.offered() if hasattr(field, "offered") else field.values), *ANY):
            found, others = (count(api, person, path, f"{sign}{name}:{value}") for sign in ("", "-"))
            if found is not None and others is not None:
                asked.add(name)
                assert found + others == whole, f"{name}:{value} finds {found}, its opposite {others} of {whole}"
    assert whole and fields.keys() - asked <= {"sort"}
