"""Snoozed until it happens again: a new report that says the same makes the old one due."""

import pytest

from feedback import digesting
from tests import make
from tests.conftest import data_of, refusal_of


@pytest.fixture
def admin(api):
    return api("admin")


def test_a_report_that_is_snoozed_until_again_is_due_when_it_happens_again(admin, who):
    """The same tool fails in another thread: the first report is due, and its history says why."""
    said = '[[call calculate {"expression": "1/0"}]]'
    failed = {"categories": ["tool_failure"], "notes": "It failed"}

    def rate_failure(person):
        thread = make.thread(person, said)
        return make.rating(person, thread, thread.message_count - 1, **failed)

    first = rate_failure(who.alice)
    digesting.catch_up()
    body = {"verb": "snooze", "arguments": {"until_again": True}}
    data_of(admin.post(f"admin/feedback/{first.feedback_id}/actions", body))
    make.rating(who.bob, make.thread(who.bob), categories=["slow"], notes="Something else entirely")
    digesting.catch_up()
    assert data_of(admin.get("admin/feedback?q=is:due"))["items"] == []
    rate_failure(who.bob)
    digesting.catch_up()
    [due] = data_of(admin.get("admin/feedback?q=is:due"))["items"]
    assert due["feedback_id"] == first.feedback_id
    lines = data_of(admin.get(f"admin/feedback/{first.feedback_id}/history"))
    assert [(line["verb"], line["actor"]) for line in lines][-1] == ("again", who.bob.user.email)
    refused = refusal_of(admin.post("admin/feedback/undo", {"action_id": lines[-1]["action_id"]}))
    assert refused[::2] == (409, "What was reported again stays so. Snooze it again instead.")
