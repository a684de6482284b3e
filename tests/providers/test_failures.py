"""What providers do wrong, and what becomes of it: an error block, a repeat where nothing was shown, a fallback."""

import json
import socket
import time

import pytest

from tests.api import shapes
from tests.conftest import data_of
from tests.providers.conftest import line
from tests.providers.wire import Call, Gone, Refusal, Wait, fails, says
from threads.runner import asking
from threads.runner.providers.streaming import Stream
from threads.status import TurnState

AT_ONCE = {"retry_after_ms": "1"}


def ended(record):
    """Code of the one error, after checking that the thread is writable again (spec 4.1, 4.2 item 5)."""
    assert record["status"] == "user_turn"
    assert record["messages"][-1]["status"] == "failed"
    [error] = shapes.blocks(record, "error")
    assert error["error_message"]
    assert record["messages"][-1]["content"][-1] == error
    return error["error_code"]


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    """The waits that nobody asked for are short here."""
    monkeypatch.setattr(asking, "FIRST_WAIT", 0.01)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (fails(401, "authentication_error"), "not_authorised"),
        (fails(404, "not_found_error"), "model_not_found"),
        (fails(400, "invalid_request_error"), "request_rejected"),
        (fails(429, "insufficient_quota", code="insufficient_quota"), "quota_exceeded"),
        (
            fails(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum", "context_length_exceeded"),
            "context_too_long",
        ),
    ],
)
def test_what_asking_again_does_not_mend_is_asked_once(talk, reply, code):
    if (talk.kind, code) == ("anthropic", "quota_exceeded"):
        reply = fails(400, "billing_error", "Your credit balance is too low")
    talk.provider.will(reply)
    assert ended(talk.start()) == code
    assert len(talk.provider.asked) == 1
    assert (talk.turn().state, talk.turn().error_code, talk.turn().retries) == (TurnState.FAILED, code, 0)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (fails(429, "rate_limit_error", **AT_ONCE), "rate_limited"),
        (fails(529, "overloaded_error", **AT_ONCE), "provider_overloaded"),
        (fails(503, "api_error"), "provider_overloaded"),
        (fails(500, "api_error"), "provider_error"),
        (says(Gone), "stream_broken"),
    ],
)
def test_what_passes_is_asked_again_as_often_as_the_profile_says(talk, reply, code):
    talk.profile(retries=2)
    talk.provider.will(reply, reply, reply)
    assert ended(talk.start()) == code
    assert (len(talk.provider.asked), talk.turn().retries) == (3, 2)


@pytest.mark.parametrize("reply", [fails(429, "rate_limit_error", **AT_ONCE), fails(500, "api_error"), says(Gone)])
def test_a_repeat_that_succeeds_leaves_no_trace_but_its_count(talk, reply):
    talk.provider.will(reply, reply, says("Here I am."))
    record = talk.start()
    assert [shapes.said(message) for message in record["messages"]] == ["Hello", "Here I am."]
    assert record["messages"][-1]["status"] == "completed"
    assert talk.turn().retries == 2
    assert talk.provider.asked[0].body == talk.provider.asked[2].body


def test_a_call_that_breaks_off_was_not_shown_and_is_asked_for_again(talk):
    talk.provider.will(says(Call("echo", '{"value": 1}'), Gone), says(Call("echo", '{"value": 1}')), says("Done."))
    record = talk.start()
    assert len(shapes.blocks(record, "tool_use")) == 1
    assert shapes.said(record["messages"][-1]) == "Done."
    assert talk.turn().cost is None


@pytest.mark.parametrize("ending", [(Gone,), ()])
def test_after_the_first_fragment_nothing_is_repeated_and_what_was_shown_stays(talk, ending):
    """Whether the connection breaks or the stream just ends without a last word."""
    talk.provider.will(says("Half an ", Wait(0.05), *ending, finish=None), says("Never asked for."))
    record = talk.start()
    assert ended(record) == "stream_broken"
    assert shapes.said(record["messages"][-1]) == "Half an "
    assert (len(talk.provider.asked), talk.turn().retries, talk.turn().cost) == (1, 0, None)
    talk.provider.replies[:] = [says("And on we go.")]
    assert shapes.said(talk.send("Go on")["messages"][-1]) == "And on we go."


@pytest.mark.parametrize("first", [(), ("Some ",)])
def test_silence_beyond_the_limit_ends_the_turn(talk, first):
    talk.profile(timeout=2)  # longer than a busy machine takes to ask
    talk.provider.will(says(*first, Wait(30)))
    began = time.monotonic()
    record = talk.start()
    assert ended(record) == "provider_timeout"
    assert shapes.said(record["messages"][-1]) == "".join(first)
    assert time.monotonic() - began < 10
    assert len(talk.provider.asked) == 1


def test_a_slow_stream_that_keeps_talking_is_not_silent(talk):
    talk.profile(timeout=0.8)
    talk.provider.will(says(*(piece for word in ["one", "two", "three", "four"] for piece in (word + " ", Wait(0.3)))))
    assert shapes.said(talk.start()["messages"][-1]) == "one two three four "


def test_a_refusal_is_told_and_no_other_model_is_tried(talk, configure):
    configure(line("loop", talk.kind, talk.provider, fallback="second"), line("second", talk.kind, talk.provider))
    talk.provider.will(says(Refusal()), says("I would."))
    record = talk.start()
    assert ended(record) == "content_filtered"
    if talk.kind == "openai":
        assert shapes.blocks(record, "error")[0]["error_message"] == "I cannot help with that."
    assert len(talk.provider.asked) == 1


def test_an_answer_at_its_limit_of_tokens_says_so_and_its_calls_are_not_made(talk):
    talk.provider.will(says("As far as ", Call("echo", '{"value": 1}'), finish="length"))
    record = talk.start()
    assert ended(record) == "output_limit"
    assert shapes.said(record["messages"][-1]) == "As far as "
    assert shapes.blocks(record, "tool_use") == []


def test_nobody_listens_there(talk, configure):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    configure(f"loop={talk.kind}:m?base_url=http://127.0.0.1:{port}/v1&retries=1")
    assert ended(talk.start()) == "provider_unreachable"
    assert talk.turn().retries == 1


def test_the_fallback_answers_when_repeats_did_not_help(talk, configure):
    configure(
        line("loop", talk.kind, talk.provider, fallback="second", retries=1, input_price=1, output_price=1),
        line("second", talk.kind, talk.provider, max_tokens=9, input_price=2, output_price=2),
    )
    talk.provider.will(
        fails(500, "api_error"), fails(500, "api_error"), says(Call("echo", '{"value": 1}')), says("I do.")
    )
    record = talk.start()
    assert shapes.said(record["messages"][-1]) == "I do."
    assert record["model_profile"] == "loop"
    turn = talk.turn()
    assert (turn.profile, turn.retries, turn.requests, str(turn.cost.normalize())) == ("second", 2, 2, "0.00048")
    limits = [each.body.get("max_tokens") or each.body.get("max_completion_tokens") for each in talk.provider.asked]
    assert limits[2:] == [9, 9], "it stays with the one that answers"


def test_what_the_first_model_cannot_hold_goes_to_its_fallback_at_once(talk, configure):
    configure(line("loop", talk.kind, talk.provider, fallback="wide"), line("wide", talk.kind, talk.provider))
    too_long = fails(400, "invalid_request_error", "prompt is too long: 9 > 8 maximum", "context_length_exceeded")
    talk.provider.will(too_long, says("It fits here."))
    assert shapes.said(talk.start()["messages"][-1]) == "It fits here."


def test_when_every_fallback_fails_the_last_reason_is_told(talk, configure):
    configure(
        line("loop", talk.kind, talk.provider, fallback="second", retries=0), line("second", talk.kind, talk.provider)
    )
    talk.provider.will(fails(500, "api_error"), fails(401, "authentication_error"))
    assert ended(talk.start()) == "not_authorised"


def test_no_fallback_after_the_first_fragment(talk, configure):
    configure(line("loop", talk.kind, talk.provider, fallback="second"), line("second", talk.kind, talk.provider))
    talk.provider.will(says("Half ", Wait(0.05), Gone), says("Other words."))
    assert ended(talk.start()) == "stream_broken"
    assert len(talk.provider.asked) == 1


def test_more_patience_than_we_have_is_not_waited_for(talk):
    talk.provider.will(fails(429, "rate_limit_error", retry_after="3600"), says("Too late."))
    began = time.monotonic()
    assert ended(talk.start()) == "rate_limited"
    assert time.monotonic() - began < 10
    assert len(talk.provider.asked) == 1


def test_the_wait_that_the_provider_asks_for_is_kept(talk):
    talk.provider.will(fails(429, "rate_limit_error", retry_after_ms="300"), says("Thank you."))
    began = time.monotonic()
    talk.start()
    assert 0.3 <= time.monotonic() - began < 10


def test_a_cancel_ends_the_wait_before_a_repeat_B162(talk, monkeypatch):
    talk.provider.will(fails(429, "rate_limit_error", retry_after="20"), says("Never."))
    talk.start(run=False)
    slept = []

    def cancel_meanwhile(seconds):
        slept.append(seconds)
        data_of(talk.api.post(f"threads/{talk.id}/cancel", {}))

    monkeypatch.setattr(asking.time, "sleep", cancel_meanwhile)
    record = talk.run()
    assert slept == [1]
    assert (record["status"], record["messages"][-1]["status"]) == ("user_turn", "cancelled")
    assert len(talk.provider.asked) == 1


def test_a_cancel_ends_the_wait_for_a_silent_model_B162(talk, monkeypatch):
    talk.provider.will(says(Wait(30)))
    talk.start(run=False)
    listen = Stream.next

    def cancel_meanwhile(stream, timeout):
        event = listen(stream, 0.1)
        if event is None:
            data_of(talk.api.post(f"threads/{talk.id}/cancel", {}))
        return event

    monkeypatch.setattr(Stream, "next", cancel_meanwhile)
    record = talk.run()
    assert (record["status"], record["messages"][-1]["status"]) == ("user_turn", "cancelled")
    assert talk.turn().state == TurnState.CANCELLED


def test_pending_goals_fail_with_the_turn(talk):
    """Spec 4.1."""
    talk.provider.will(fails(401, "authentication_error"))
    record = talk.start(goals=[{"goal_type": "dataset_summary", "dataset_id": "ds_1"}])
    assert record["status"] == "goals_failed"
    assert [goal["status"] for goal in record["goals"]] == ["failed"]


def test_nothing_that_was_said_shows_in_the_log(talk, caplog):
    """At no level and of no library: the log carries ids and outcomes."""
    talk.provider.will(fails(400, "invalid_request_error", "the secret of the provider"), says("the secret answer"))
    with caplog.at_level("DEBUG"):
        talk.start("the secret of the thread")
        talk.send("another secret")
    logged = json.dumps([record.getMessage() + str(record.__dict__) for record in caplog.records])
    assert "request_rejected" in logged
    assert "secret" not in logged
    assert talk.provider.address not in logged
