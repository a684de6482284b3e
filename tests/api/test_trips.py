"""How often a request goes to PostgreSQL: what the budgets of decision 004 are made of."""

import pytest
from django.db import connection

from core.postgres import pipeline
from tests import hooks, make
from tests.conftest import data_of

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite is no trip away"),
]
NEGATIVE = {"sentiment": "negative", "categories": ["incorrect"], "notes": "Twelve, not ten."}


@pytest.fixture
def trips(monkeypatch):
    """The number of trips that an act takes once everything about it is warm."""
    found, run = [], pipeline.run
    monkeypatch.setattr(pipeline, "run", lambda line, steps: (found.append(steps), run(line, steps))[1])

    def of(act):
        found.clear()
        data_of(act())
        return len(found)

    return of


def test_trips_of_what_is_asked_again_and_again(api, who, trips):
    thread = make.thread(who.alice)
    alice, admin = api("alice"), api("admin")
    path = f"threads/{thread.thread_id}"
    token = data_of(alice.get(path))["continuation_token"]
    report = data_of(alice.post(f"{path}/messages/1/feedback", NEGATIVE))["feedback_id"]
    data_of(admin.get(f"admin/feedback/{report}"))
    assert trips(lambda: alice.get(f"{path}/delta?next_token={token}")) == 1
    assert trips(lambda: alice.get(path)) == 2
    assert trips(lambda: alice.post(f"{path}/messages/1/feedback", NEGATIVE)) == 2
    for body in ({"resolved": True}, {"admin_note": "Seen."}, {"resolved": False}):
        assert trips(lambda body=body: admin.put(f"admin/feedback/{report}", body)) == 3
    assert trips(lambda: alice.post(f"{path}/fork", {"message_sequence_num": 1})) == 4


def test_who_listens_costs_a_rating_its_outbox_and_no_look_more(api, who, trips):
    hooks.make_org_admin(who.alice)
    alice = api("alice")
    thread = make.thread(who.alice)
    rate = f"threads/{thread.thread_id}/messages/1/feedback"
    data_of(alice.post(rate, NEGATIVE))
    assert trips(lambda: alice.post(rate, {**NEGATIVE, "notes": "Again."})) == 2
    for place in range(3):
        hooks.endpoint(alice, f"https://hooks.example.org/{place}", "feedback.updated")
    assert trips(lambda: alice.post(rate, {**NEGATIVE, "notes": "Still."})) == 4
    assert trips(lambda: alice.post(rate, {**NEGATIVE, "notes": "Still."})) == 3, "the same again is told to nobody"
