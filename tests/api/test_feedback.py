"""T7, H5: rating a message, and one's own ratings (spec 2.5, 3.10)."""

from datetime import datetime, timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts.models import Membership
from feedback.models import UserFeedback
from tests import make
from tests.api import shapes
from tests.conftest import data_of, refusal_of

NEGATIVE = ["formatting", "incomplete", "incorrect", "refused_valid_request", "slow", "tool_failure", "unsafe"]
POSITIVE = ["correct", "good_tool_use", "helpful"]


@pytest.fixture
def thread(who):
    """An answered org thread of alice; its answer is message 1."""
    return make.thread(who.alice, visibility="org")


@pytest.fixture
def rate(api, thread):
    """Rate message 1, or another, as alice or somebody else."""

    def post(body, index=1, name="alice"):
        return api(name).post(f"threads/{thread.thread_id}/messages/{index}/feedback", body)

    return post


def test_a_rating_returns_exactly_the_user_record_B111(rate, thread, who):
    record = data_of(rate({"sentiment": "negative", "categories": ["incorrect"], "notes": "It is 4."}))
    assert set(record) == shapes.USER_FEEDBACK
    assert record["feedback_id"].startswith("fb_")
    assert record["thread_id"] == thread.thread_id
    assert record["org_id"] == who.acme.org_id
    assert record["message_sequence_num"] == 1
    assert (record["created_by"], record["modified_by"]) == ("alice@acme.test", "alice@acme.test")
    assert record["modified"] == record["created"]
    assert datetime.fromisoformat(record["created"]).utcoffset() == timedelta(0)
    assert (record["sentiment"], record["categories"], record["notes"]) == ("negative", ["incorrect"], "It is 4.")


def test_resubmitting_overwrites_what_was_said_and_keeps_id_and_birth_B112_B113(rate):
    now = timezone.now()
    with time_machine.travel(now, tick=False):
        first = data_of(rate({"sentiment": "negative", "categories": ["slow"], "notes": "Took ages."}))
    with time_machine.travel(now + timedelta(minutes=5), tick=False):
        again = data_of(rate({"sentiment": "positive", "categories": ["helpful"], "notes": "Good after all."}))
    for kept in ("feedback_id", "created", "created_by"):
        assert again[kept] == first[kept]
    assert (again["sentiment"], again["categories"], again["notes"]) == ("positive", ["helpful"], "Good after all.")
    assert datetime.fromisoformat(again["modified"]) == now + timedelta(minutes=5)
    assert UserFeedback.objects.count() == 1


@pytest.mark.parametrize(
    ("body", "other"),
    [
        ({"sentiment": "negative"}, {"notes": "Took ages."}),
        ({"sentiment": "negative", "categories": ["slow"], "notes": "Took ages."}, {"notes": None}),
        ({"sentiment": "negative", "notes": "Took ages."}, {"notes": "Took days."}),
        ({"sentiment": "negative", "categories": ["slow"]}, {"categories": ["slow", "unsafe"]}),
        ({"sentiment": "positive"}, {"sentiment": "negative"}),
    ],
)
def test_the_same_sent_again_is_no_edit_and_anything_else_is(api, rate, body, other):
    """3.10: `modified` equals `created` until the submitter edits (decision 005)."""
    now = timezone.now()
    records = []
    for minute, said in enumerate([body, body, {**body, **other}, {**body, **other}]):
        with time_machine.travel(now + timedelta(minutes=minute), tick=False):
            records.append(data_of(rate(said)))
            if minute == 1:
                assert records[1] == records[0] == data_of(rate(said))
                found = data_of(api("admin").get("admin/feedback?q=is:edited"))
                assert found["items"] == []
    assert records[3] == records[2]
    assert datetime.fromisoformat(records[2]["modified"]) == now + timedelta(minutes=2)


def test_an_edit_that_waited_for_whoever_resolved_it_came_after_that(api, rate, monkeypatch):
    """Its time is taken before it gets the lock; nobody would look at it if it seemed to be the earlier one."""
    report = data_of(rate({"sentiment": "negative"}))["feedback_id"]
    asked_at = timezone.now()
    resolved = data_of(api("admin").put(f"admin/feedback/{report}", {"resolved": True}))
    monkeypatch.setattr("feedback.capture.timezone.now", lambda: asked_at)
    edit = {"sentiment": "negative", "notes": "No: it is unsafe!"}
    record = data_of(rate(edit))
    assert asked_at < datetime.fromisoformat(resolved["resolved_at"]) < datetime.fromisoformat(record["modified"])
    found = data_of(api("admin").get("admin/feedback?q=is:revisited"))["items"]
    assert [each["notes"] for each in found] == [edit["notes"]]
    monkeypatch.undo()
    assert data_of(rate(edit)) == record, "the same once more is no edit"


@pytest.mark.parametrize(
    "body", [{"sentiment": "negative"}, {"sentiment": "negative", "categories": [], "notes": None}]
)
def test_left_out_categories_and_notes_are_reset_B114(rate, body):
    data_of(rate({"sentiment": "negative", "categories": ["slow"], "notes": "Took ages."}))
    again = data_of(rate(body))
    assert (again["categories"], again["notes"]) == ([], None)


def test_two_people_and_two_messages_have_rows_of_their_own_B115(api, who, rate, thread):
    make.send(who.alice, thread, "More")
    records = [
        data_of(rate({"sentiment": "negative"})),
        data_of(rate({"sentiment": "positive"}, name="bob")),
        data_of(rate({"sentiment": "positive"}, index=3)),
    ]
    assert len({record["feedback_id"] for record in records}) == 3
    assert UserFeedback.objects.count() == 3


def test_categories_come_back_sorted_and_each_once_B116(rate):
    record = data_of(rate({"sentiment": "negative", "categories": ["slow", "incorrect", "slow", "formatting"]}))
    assert record["categories"] == ["formatting", "incorrect", "slow"]


@pytest.mark.parametrize("notes", ["", " ", "\n\t", None])
def test_blank_notes_come_back_null_B117(rate, notes):
    assert data_of(rate({"sentiment": "positive", "notes": notes}))["notes"] is None


def test_notes_with_words_are_kept_as_they_are_B117(rate):
    assert data_of(rate({"sentiment": "positive", "notes": "  spaced \n"}))["notes"] == "  spaced \n"


@pytest.mark.parametrize("sentiment", ["positive", "negative"])
def test_other_needs_notes_and_goes_with_both_sentiments_B118(rate, sentiment):
    for notes in ({}, {"notes": None}, {"notes": "  "}):
        status, _, said = refusal_of(rate({"sentiment": sentiment, "categories": ["other"], **notes}))
        assert (status, said.partition(":")[0]) == (400, "notes")
    assert not UserFeedback.objects.exists()
    record = data_of(rate({"sentiment": sentiment, "categories": ["other"], "notes": "Because."}))
    assert record["categories"] == ["other"]


@pytest.mark.parametrize(
    ("sentiment", "fitting", "strange"), [("positive", POSITIVE, NEGATIVE), ("negative", NEGATIVE, POSITIVE)]
)
def test_categories_fit_their_sentiment_B119(rate, sentiment, fitting, strange):
    assert data_of(rate({"sentiment": sentiment, "categories": fitting}))["categories"] == fitting
    for category in strange:
        status, _, said = refusal_of(rate({"sentiment": sentiment, "categories": [fitting[0], category]}))
        assert (status, said.partition(":")[0]) == (400, "categories")


def test_a_message_still_being_written_cannot_be_rated_B120(api, who):
    thread = make.thread(who.alice, run=False)
    make.half_answered(thread, "Half ")
    path = f"threads/{thread.thread_id}/messages/1/feedback"
    assert refusal_of(api("alice").post(path, {"sentiment": "positive"}))[:2] == (400, "RobotoInvalidRequestException")
    assert not UserFeedback.objects.exists()


@pytest.mark.parametrize("index", ["2", "-1", "99999999", "99999999999999999999", "x", "1.0", "+1", "²", "0x1"])
def test_a_number_past_the_end_or_none_at_all_is_not_found_B121(rate, index):
    assert refusal_of(rate({"sentiment": "positive"}, index=index))[:2] == (404, "RobotoNotFoundException")
    assert not UserFeedback.objects.exists()


@pytest.mark.parametrize(("name", "status"), [("eve", 403), ("bob", 403), ("admin", 200), (None, 401)])
def test_rating_needs_read_access_and_no_more_B122(api, who, name, status):
    thread = make.thread(who.alice)
    response = api(name).post(f"threads/{thread.thread_id}/messages/1/feedback", {"sentiment": "positive"})
    assert response.status_code == status
    assert UserFeedback.objects.count() == (status == 200)


def test_a_failed_and_a_cancelled_answer_can_be_rated_B123(api, who):
    failed = make.thread(who.alice, "[[fail]]")
    cancelled = make.thread(who.alice, run=False)
    data_of(api("alice").post(f"threads/{cancelled.thread_id}/cancel"))
    for thread in (failed, cancelled):
        path = f"threads/{thread.thread_id}/messages/1/feedback"
        data_of(api("alice").post(path, {"sentiment": "negative", "categories": ["tool_failure"]}))


def test_messages_of_users_and_tools_cannot_be_rated_B124(api, who):
    thread = make.thread(who.alice, '[[call echo {"value": 1}]]')
    for index in (0, 2):
        path = f"threads/{thread.thread_id}/messages/{index}/feedback"
        assert refusal_of(api("alice").post(path, {"sentiment": "positive"}))[0] == 400
    assert not UserFeedback.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"sentiment": None},
        {"sentiment": "neutral"},
        {"sentiment": "Negative"},
        {"sentiment": 1},
        {"sentiment": "negative", "categories": None},
        {"sentiment": "negative", "categories": "slow"},
        {"sentiment": "negative", "categories": {"slow": True}},
        {"sentiment": "negative", "categories": ["dull"]},
        {"sentiment": "negative", "categories": [None]},
        {"sentiment": "negative", "categories": ["correct"]},
        {"sentiment": "negative", "categories": ["other"]},
        {"sentiment": "negative", "notes": 5},
        {"sentiment": "negative", "notes": ["x"]},
        {"sentiment": "negative", "notes": "x" * 20_001},
    ],
)
def test_a_refused_submission_leaves_the_stored_row_alone_B125(rate, body):
    data_of(rate({"sentiment": "positive", "categories": ["helpful"], "notes": "Kept."}))
    before = UserFeedback.objects.values().get()
    assert refusal_of(rate(body))[:2] == (400, "RobotoInvalidRequestException")
    assert UserFeedback.objects.values().get() == before


def test_unknown_fields_of_a_rating_are_ignored_and_set_no_admin_column(rate):
    body = {"sentiment": "positive", "admin_label": "mine", "resolved": True, "created_by": "bob@acme.test"}
    record = data_of(rate(body))
    assert set(record) == shapes.USER_FEEDBACK
    row = UserFeedback.objects.get()
    assert (row.admin_label, row.resolved, record["created_by"]) == (None, False, "alice@acme.test")


def test_the_longest_notes_are_accepted(rate):
    assert len(data_of(rate({"sentiment": "positive", "notes": "ü" * 20_000}))["notes"]) == 20_000


def test_the_org_of_a_report_is_that_of_the_thread_also_for_an_admin(rate, who):
    """Spec 3.10."""
    record = data_of(rate({"sentiment": "negative"}, name="admin"))
    assert (record["org_id"], record["created_by"]) == (who.acme.org_id, "admin@heddle.test")


# H5


def test_own_reports_come_in_the_order_of_the_messages_and_nobody_elses(api, who, rate, thread):
    """H5."""
    make.send(who.alice, thread, "More")
    data_of(rate({"sentiment": "positive"}, index=3))
    data_of(rate({"sentiment": "negative"}))
    data_of(rate({"sentiment": "negative"}, name="bob"))
    path = f"threads/{thread.thread_id}/feedback"
    mine = data_of(api("alice").get(path))
    assert [record["message_sequence_num"] for record in mine] == [1, 3]
    assert all(set(record) == shapes.USER_FEEDBACK for record in mine)
    assert [record["created_by"] for record in data_of(api("bob").get(path))] == ["bob@acme.test"]
    assert data_of(api("admin").get(path)) == []
    assert refusal_of(api("eve").get(path))[0] == 403


def test_who_lost_the_right_to_read_no_longer_reads_or_edits_their_report_B122(api, who, rate, thread):
    data_of(rate({"sentiment": "negative"}, name="bob"))
    Membership.objects.filter(user=who.bob.user).delete()
    assert refusal_of(api("bob").get(f"threads/{thread.thread_id}/feedback"))[0] == 403
    assert refusal_of(rate({"sentiment": "positive"}, name="bob"))[0] == 403
    assert UserFeedback.objects.get().sentiment == "negative"
