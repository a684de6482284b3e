"""Rating answers through the SDK."""

import time

import pytest
from pydantic import ValidationError
from roboto.ai import AgentThread, AgentThreadRecord
from roboto.ai.agent_thread.feedback import FeedbackCategory, FeedbackSentiment
from roboto.exceptions import RobotoInvalidRequestException, RobotoNotFoundException, RobotoUnauthorizedException

from tests.sdk.callers import Caller, calls, run

pytestmark = pytest.mark.live
POSITIVE, NEGATIVE = FeedbackSentiment.POSITIVE, FeedbackSentiment.NEGATIVE
ADMIN_KEYS = {"admin_label", "admin_note", "resolved", "resolved_by", "resolved_at"}
Category = FeedbackCategory


def path(thread: AgentThread, index: int = 1) -> str:
    return f"threads/{thread.thread_id}/messages/{index}/feedback"


def test_a_rating_comes_back_as_its_submitter_may_see_it(alice: Caller) -> None:
    """B111, B113, B116, B117."""
    thread = alice.talk("Rate me.")
    given = thread.submit_feedback(1, NEGATIVE, [Category.UNSAFE, Category.INCORRECT, Category.UNSAFE], "  \n ")
    assert given.feedback_id.startswith("fb_")
    assert (given.thread_id, given.message_sequence_num) == (thread.thread_id, 1)
    assert (given.org_id, given.created_by, given.modified_by) == (
        alice.server.who["org_id"],
        alice.email,
        alice.email,
    )
    assert (given.sentiment, given.categories, given.notes) == (NEGATIVE, [Category.INCORRECT, Category.UNSAFE], None)
    assert given.modified == given.created
    raw = alice.get(f"threads/{thread.thread_id}/feedback")
    assert [row["feedback_id"] for row in raw] == [given.feedback_id]
    assert not ADMIN_KEYS & set(raw[0])
    body = {"sentiment": "negative", "categories": ["slow", "incorrect", "slow"], "notes": "   "}
    status, content = alice.post(path(thread), body)
    assert status == 200
    assert (content["data"]["categories"], content["data"]["notes"]) == (["incorrect", "slow"], None)
    assert not ADMIN_KEYS & set(content["data"])


def test_rating_again_overwrites_what_is_said_and_keeps_the_rest(alice: Caller, admin: Caller) -> None:
    """B112 to B114, B131, B132: what admins made of it included."""
    thread = alice.talk("Rate me.")
    first = thread.submit_feedback(1, NEGATIVE, [Category.SLOW, Category.OTHER], "It took ages.")
    triage = {"admin_label": "known", "admin_note": "Seen.", "resolved": True}
    status, content = admin.fetch(f"admin/feedback/{first.feedback_id}", triage, "PUT")
    assert status == 200
    triaged = content["data"]
    assert (triaged["modified"], triaged["resolved_by"]) == (triaged["created"], admin.email)
    time.sleep(0.002)
    second = thread.submit_feedback(1, POSITIVE)
    assert (second.feedback_id, second.created, second.created_by) == (
        first.feedback_id,
        first.created,
        first.created_by,
    )
    assert second.modified > first.modified
    assert (second.sentiment, second.categories, second.notes) == (POSITIVE, [], None)
    full = admin.get(f"admin/feedback/{first.feedback_id}")
    assert {key: full[key] for key in ADMIN_KEYS} == {key: triaged[key] for key in ADMIN_KEYS}
    assert full["sentiment"] == "positive"


def test_each_person_and_each_message_has_a_row_of_its_own(alice: Caller, bob: Caller, admin: Caller) -> None:
    """B115."""
    said = {"messages": [{"role": "user", "content": [{"text": "For all."}]}], "visibility": "org"}
    thread = run(alice.thread(alice.post("threads", said)[1]["data"]["thread_id"]))
    run(thread.send_text("And again."))
    given = [
        thread.submit_feedback(1, POSITIVE, [Category.HELPFUL]),
        thread.submit_feedback(3, NEGATIVE, [Category.REFUSED_VALID_REQUEST]),
        bob.thread(thread).submit_feedback(1, NEGATIVE, [Category.FORMATTING]),
        admin.thread(thread).submit_feedback(1, POSITIVE, [Category.GOOD_TOOL_USE]),
    ]
    assert len({row.feedback_id for row in given}) == 4
    assert [row.created_by for row in given] == [alice.email, alice.email, bob.email, admin.email]
    own = alice.get(f"threads/{thread.thread_id}/feedback")
    assert [row["feedback_id"] for row in own] == [given[0].feedback_id, given[1].feedback_id]


def test_other_needs_notes_and_categories_fit_the_sentiment(alice: Caller) -> None:
    """B118, B119, B125: the SDK refuses by itself, the server as well; the stored row stays as it was."""
    thread = alice.talk("Rate me.")
    kept = thread.submit_feedback(1, NEGATIVE, [Category.OTHER], "A reason.")
    with pytest.raises(ValidationError):
        thread.submit_feedback(1, POSITIVE, [Category.OTHER])
    with pytest.raises(ValidationError):
        thread.submit_feedback(1, POSITIVE, [Category.SLOW])
    wrong = [
        {"sentiment": "positive", "categories": ["other"]},
        {"sentiment": "negative", "categories": ["other"], "notes": " \t"},
        {"sentiment": "positive", "categories": ["slow"]},
        {"sentiment": "negative", "categories": ["helpful", "slow"]},
        {"sentiment": "negative", "categories": ["no_such"]},
        {"sentiment": "neutral"},
        {"categories": ["slow"]},
        {"sentiment": "negative", "notes": 5},
    ]
    for body in wrong:
        assert alice.post(path(thread), body)[0] == 400, body
    [row] = alice.get(f"threads/{thread.thread_id}/feedback")
    assert (row["feedback_id"], row["sentiment"], row["notes"]) == (kept.feedback_id, "negative", "A reason.")
    assert row["modified"] == row["created"]
    both = thread.submit_feedback(1, POSITIVE, [Category.OTHER], "Another reason.")
    assert both.notes == "Another reason."


def test_only_a_finished_answer_can_be_rated(alice: Caller) -> None:
    """B120, B121, B123, B124."""
    running = alice.start("Slowly. [[words 40]] [[pace 0.15]]")
    while len(running.messages) < 2:
        running.refresh()
    with pytest.raises(RobotoInvalidRequestException, match="still being written"):
        running.submit_feedback(1, NEGATIVE)
    run(running)
    assert running.submit_feedback(1, NEGATIVE).sentiment == NEGATIVE
    failed = alice.talk("Break. [[fail]]")
    assert failed.submit_feedback(1, NEGATIVE, [Category.TOOL_FAILURE]).categories == [Category.TOOL_FAILURE]
    called = alice.talk("Call. " + calls(("echo", {"value": 1})))
    assert called.submit_feedback(1, POSITIVE).message_sequence_num == 1
    for no_answer in (0, 2):
        with pytest.raises(RobotoInvalidRequestException, match="not an answer"):
            called.submit_feedback(no_answer, NEGATIVE)
    for nowhere in (4, 10**8, -1):
        with pytest.raises(RobotoNotFoundException):
            called.submit_feedback(nowhere, NEGATIVE)


def test_rating_needs_the_right_to_read(alice: Caller, bob: Caller, eve: Caller) -> None:
    """B122."""
    thread = alice.talk("Between us.")
    for other in (bob, eve):
        mine = AgentThread(AgentThreadRecord.model_validate(alice.record(thread)), other.client)
        with pytest.raises(RobotoUnauthorizedException):
            mine.submit_feedback(1, POSITIVE)
