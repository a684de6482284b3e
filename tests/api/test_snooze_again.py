"""Snoozed until it happens again: a new report that says the same makes the old one due."""

import pytest

from feedback import digesting, likeness
from tests import make
from tests.conftest import data_of, refusal_of

UNTIL_AGAIN = {"until_again": True}
FIXED = {"outcome": "fixed"}


@pytest.fixture
def admin(api):
    return api("admin")


def rate_failure(person):
    """A report about an answer whose tool failed, always the same."""
    thread = make.thread(person, '[[call calculate {"expression": "1/0"}]]')
    return make.rating(person, thread, thread.message_count - 1, categories=["tool_failure"], notes="It failed")


def act(admin, report, verb, arguments=None):
    body = {"verb": verb, "arguments": arguments or {}}
    return data_of(admin.post(f"admin/feedback/{report.feedback_id}/actions", body))


def found(admin, query):
    return [each["feedback_id"] for each in data_of(admin.get(f"admin/feedback?q={query}"))["items"]]


def test_a_report_that_is_snoozed_until_again_is_due_when_it_happens_again(admin, who):
    """The same tool fails in another thread: the first report is due, and its history says why."""
    first = rate_failure(who.alice)
    digesting.catch_up()
    act(admin, first, "snooze", UNTIL_AGAIN)
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
    assert refused[::2] == (409, "A report that was reported again stays due. Snooze it again instead.")


def test_what_was_rated_before_the_snooze_and_digested_after_it_is_not_again(admin, who):
    first = rate_failure(who.alice)
    digesting.catch_up()
    rate_failure(who.bob)
    act(admin, first, "snooze", UNTIL_AGAIN)
    digesting.catch_up()
    assert found(admin, "is:due") == []
    rate_failure(who.bob)
    digesting.catch_up()
    assert found(admin, "is:due") == [first.feedback_id]


@pytest.mark.parametrize("rated", ["after", "before"])
def test_a_copy_in_other_words_says_that_it_happens_again(admin, who, rated):
    """Only an admin sees that it is the same, and says so. What was rated before the snooze was known then."""
    first = rate_failure(who.alice)
    known = make.rating(who.bob, make.thread(who.bob), categories=["slow"], notes="Something else entirely")
    act(admin, first, "snooze", UNTIL_AGAIN)
    news = make.rating(who.bob, make.thread(who.bob), categories=["slow"], notes="Said in words of its own")
    digesting.catch_up()
    copy = news if rated == "after" else known
    done = act(admin, copy, "duplicate", {"duplicate_of": first.feedback_id})
    assert found(admin, "is:due") == ([first.feedback_id] if rated == "after" else [])
    if rated == "after":
        lines = data_of(admin.get(f"admin/feedback/{first.feedback_id}/history"))
        assert [(line["verb"], line["actor"]) for line in lines][-1] == ("again", who.bob.user.email)
    data_of(admin.post("admin/feedback/undo", {"action_id": done["action_id"]}))
    assert found(admin, "is:due") == ([first.feedback_id] if rated == "after" else []), "it did happen"


def test_of_two_that_are_digested_together_the_one_after_the_snooze_wakes(admin, who):
    first = rate_failure(who.alice)
    digesting.catch_up()
    rate_failure(who.bob)
    act(admin, first, "snooze", UNTIL_AGAIN)
    rate_failure(who.bob)
    digesting.catch_up()
    assert found(admin, "is:due") == [first.feedback_id]


def test_what_is_resolved_sleeps_no_more_and_takes_nobodys_place(admin, who, monkeypatch):
    monkeypatch.setattr(likeness, "_SNOOZED", 1)
    old = rate_failure(who.alice)
    other = make.rating(who.bob, make.thread(who.bob), categories=["slow"], notes="Something else entirely")
    resolved = rate_failure(who.alice)
    digesting.catch_up()
    for report in (old, other, resolved):
        act(admin, report, "snooze", UNTIL_AGAIN)
    for report in (other, resolved):
        act(admin, report, "resolve", FIXED)
    rate_failure(who.bob)
    digesting.catch_up()
    assert found(admin, "is:due") == [old.feedback_id]
    lines = data_of(admin.get(f"admin/feedback/{resolved.feedback_id}/history"))
    assert [line["verb"] for line in lines] == ["snooze", "resolve"]


@pytest.mark.parametrize("same", ["failure", "words"])
def test_of_very_many_that_sleep_the_oldest_wakes_too(admin, who, monkeypatch, same):
    """Found by an index: its failed tool, or its rare words."""
    monkeypatch.setattr(likeness, "_SNOOZED", 2)
    words = "The locomotive refused marmalade repeatedly yesterday"

    def rate(person):
        return rate_failure(person) if same == "failure" else make.rating(person, make.thread(person), notes=words)

    first = rate(who.alice)
    others = [make.rating(who.alice, make.thread(who.alice), notes=f"Unlike {number}") for number in range(3)]
    for number in range(20):  # so that these are rare words
        make.rating(who.bob, make.thread(who.bob), notes=f"Number {number}", sentiment="positive")
    digesting.catch_up()
    for each in (first, *others):
        act(admin, each, "snooze", UNTIL_AGAIN)
    rate(who.bob)
    digesting.catch_up()
    assert found(admin, "is:due") == [first.feedback_id]


def test_what_is_resolved_just_as_it_is_found_to_happen_again_stays_as_it_was_resolved(admin, who, monkeypatch):
    first = rate_failure(who.alice)
    digesting.catch_up()
    act(admin, first, "snooze", UNTIL_AGAIN)
    rate_failure(who.bob)
    find = likeness.woken_by

    def resolved_meanwhile(pks):
        woken = find(pks)
        act(admin, first, "resolve", FIXED)
        return woken

    monkeypatch.setattr(likeness, "woken_by", resolved_meanwhile)
    digesting.catch_up()
    lines = data_of(admin.get(f"admin/feedback/{first.feedback_id}/history"))
    assert [line["verb"] for line in lines] == ["snooze", "resolve"]


@pytest.mark.parametrize("way", ["verb", "update"])
def test_what_is_opened_again_is_to_be_seen_to_and_an_undo_puts_it_back(admin, who, way):
    report = rate_failure(who.alice)
    act(admin, report, "snooze", UNTIL_AGAIN)
    act(admin, report, "resolve", FIXED)
    if way == "verb":
        act(admin, report, "reopen")
    else:
        data_of(admin.put(f"admin/feedback/{report.feedback_id}", {"resolved": False}))
    assert found(admin, "is:unclaimed") == [report.feedback_id] and found(admin, "is:snoozed") == []
    [*_, opened] = data_of(admin.get(f"admin/feedback/{report.feedback_id}/history"))
    data_of(admin.post("admin/feedback/undo", {"action_id": opened["action_id"]}))
    assert found(admin, "is:resolved") == [report.feedback_id]
    [_, resolved, *_] = data_of(admin.get(f"admin/feedback/{report.feedback_id}/history"))
    data_of(admin.post("admin/feedback/undo", {"action_id": resolved["action_id"]}))
    assert found(admin, "is:snoozed") == [report.feedback_id]


def test_an_update_that_opens_nothing_wakes_nothing(admin, who):
    report = rate_failure(who.alice)
    act(admin, report, "snooze", UNTIL_AGAIN)
    data_of(admin.put(f"admin/feedback/{report.feedback_id}", {"resolved": False, "admin_note": "Asleep"}))
    assert found(admin, "is:snoozed") == [report.feedback_id]


def test_a_duplicate_that_takes_the_place_of_what_was_retracted_is_to_be_seen_to(admin, api, who):
    original, duplicate = rate_failure(who.alice), rate_failure(who.bob)
    act(admin, duplicate, "snooze", UNTIL_AGAIN)
    act(admin, duplicate, "duplicate", {"duplicate_of": original.feedback_id})
    path = f"threads/{original.thread_id}/messages/{original.message_sequence_num}/feedback"
    data_of(api("alice").request("DELETE", path))
    assert found(admin, "is:unclaimed") == [duplicate.feedback_id]
