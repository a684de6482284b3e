"""4.4, B79, B80: what a worker's death does to the calls it was making. Each is recorded before it is made."""

from collections.abc import Callable
from typing import Any

import pytest

from catalogue import builtin
from catalogue.models import Call
from catalogue.spec import ToolContext, ToolSpec
from tests import make
from tests.api import shapes
from tests.conftest import data_of
from threads import turns
from threads.access import thread_for
from threads.models import Thread, Turn
from threads.runner import loop
from threads.runner.toolbox import INTERRUPTED

TWO_LETTERS = '[[call letter {"to": "a"}]] [[call letter {"to": "b"}]]'


class Killed(SystemExit):
    """What ends a worker without giving anybody a chance to tidy up."""


class Post:
    """A tool with an effect: it keeps what was sent, and does something in the middle of a call if told so."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []
        self.meanwhile: dict[str, Callable[[], None]] = {}

    def __call__(self, arguments: Any, context: ToolContext) -> Any:
        self.sent.append((arguments["to"], context.tool_use_id))
        self.meanwhile.pop(arguments["to"], lambda: None)()
        return {"sent": arguments["to"]}

    @property
    def to(self) -> list[str]:
        return [name for name, _ in self.sent]


@pytest.fixture
def letters(monkeypatch) -> Callable[..., Post]:
    """Offer the tool `letter`, which may be repeated or not."""

    def offer(**marks: Any) -> Post:
        post = Post()
        monkeypatch.setitem(
            builtin.TOOLS,
            "letter",
            ToolSpec("letter", "Send one.", {"type": "object"}, post, timeout_seconds=None, **marks),
        )
        return post

    return offer


def die() -> None:
    raise Killed


def crash(thread: Thread) -> None:
    """Advance the thread's turn with a worker that is killed on the way, and let its lease run out."""
    turn = Turn.objects.get(thread=thread)
    with pytest.raises(Killed):
        loop.advance(turn.pk)
    make.let_expire(turn)


def results(api, thread: Thread) -> list[tuple[str, Any]]:
    record = data_of(api("alice").get(f"threads/{thread.thread_id}"))
    used, answered = shapes.blocks(record, "tool_use"), shapes.blocks(record, "tool_result")
    assert [use["tool_use_id"] for use in used] == [result["tool_use_id"] for result in answered]
    assert record["status"] == "user_turn"
    return [(result["status"], result["payload"]) for result in answered]


def test_what_may_not_be_repeated_is_not_called_again_and_the_result_says_so(api, who, letters):
    post = letters()
    thread = make.thread(who.alice, '[[call letter {"to": "a"}]]', run=False)
    post.meanwhile["a"] = die
    crash(thread)
    loop.advance(Turn.objects.get(thread=thread).pk)
    assert post.to == ["a"]
    assert results(api, thread) == [("error", {"error": INTERRUPTED})]
    assert [(call.tool, call.attempt, call.outcome) for call in Call.objects.all()] == [("letter", 1, "unknown")]


def test_what_may_be_repeated_is_called_again_for_the_same_use(api, who, letters):
    post = letters(is_idempotent=True)
    thread = make.thread(who.alice, '[[call letter {"to": "a"}]]', run=False)
    post.meanwhile["a"] = die
    crash(thread)
    loop.advance(Turn.objects.get(thread=thread).pk)
    assert post.to == ["a", "a"]
    assert len(set(post.sent)) == 1
    assert results(api, thread) == [("success", {"sent": "a"})]
    recorded = Call.objects.order_by("attempt").values_list("tool_use_id", "attempt", "outcome")
    assert list(recorded) == [(post.sent[0][1], 1, "unknown"), (post.sent[0][1], 2, "success")]


def test_results_from_before_the_crash_stand_and_calls_behind_it_are_made(api, who, letters):
    post = letters()
    thread = make.thread(who.alice, TWO_LETTERS + '[[call letter {"to": "c"}]]', run=False)
    post.meanwhile["b"] = die
    crash(thread)
    loop.advance(Turn.objects.get(thread=thread).pk)
    assert post.to == ["a", "b", "c"]
    assert [status for status, _ in results(api, thread)] == ["success", "error", "success"]


def test_a_call_is_on_record_while_it_runs(who, letters):
    post, seen = letters(), []
    post.meanwhile["a"] = lambda: seen.extend(Call.objects.values_list("tool", "outcome"))
    make.thread(who.alice, '[[call letter {"to": "a"}]]')
    assert seen == [("letter", "")]
    assert [call.outcome for call in Call.objects.all()] == ["success"]


def test_a_first_call_of_a_rewound_turn_is_no_repeated_one(api, who, letters):
    """The turn was claimed twice, and nobody died in a call."""
    post = letters()
    thread = make.thread(who.alice, '[[call letter {"to": "a"}]]', run=False)
    make.let_expire(make.half_answered(thread, "Half an "))
    loop.advance(Turn.objects.get(thread=thread).pk)
    assert post.to == ["a"]
    assert results(api, thread) == [("success", {"sent": "a"})]


def test_whoever_lost_the_turn_during_a_call_makes_no_other(api, who, letters):
    """The lease ran out in the first call; the second worker answers for it and makes the second call, alone."""
    post = letters()
    thread = make.thread(who.alice, TWO_LETTERS, run=False)
    turn = Turn.objects.get(thread=thread)

    def somebody_else_goes_on() -> None:
        make.let_expire(turn)
        loop.advance(turn.pk)

    post.meanwhile["a"] = somebody_else_goes_on
    loop.advance(turn.pk)
    assert post.to == ["a", "b"]
    assert [status for status, _ in results(api, thread)] == ["error", "success"]


def test_a_cancelled_turn_makes_no_further_call_B162(api, who, letters):
    post = letters()
    thread = make.thread(who.alice, TWO_LETTERS, run=False)
    post.meanwhile["a"] = lambda: turns.cancel(who.alice.actor, thread_for(who.alice.actor, thread.thread_id)) and None
    loop.advance(Turn.objects.get(thread=thread).pk)
    assert post.to == ["a"]
    assert [status for status, _ in results(api, thread)] == ["error", "error"]


def test_a_tool_that_is_gone_when_a_second_worker_comes_is_an_error_result(api, who, letters, monkeypatch):
    post = letters(is_idempotent=True)
    thread = make.thread(who.alice, '[[call letter {"to": "a"}]]', run=False)
    post.meanwhile["a"] = die
    crash(thread)
    monkeypatch.delitem(builtin.TOOLS, "letter")
    loop.advance(Turn.objects.get(thread=thread).pk)
    assert [status for status, _ in results(api, thread)] == ["error"]


def bug(*_: Any, **__: Any) -> None:
    raise RuntimeError("A mistake of ours.")


def test_a_bug_in_mid_call_ends_every_message_and_answers_every_use(api, who, letters, monkeypatch):
    """4.2 item 5, 4.5: the client's call that waited beside it is answered as well."""
    letters()
    thread = make.thread(who.alice, TWO_LETTERS + "[[call remember {}]]", client_tools=[make.client_tool()], run=False)
    with monkeypatch.context() as patched:
        patched.setattr("catalogue.calls.call", bug)
        make.run_turns(thread)
    assert [status for status, _ in results(api, thread)] == ["error"] * 3
    record = data_of(api("alice").get(f"threads/{thread.thread_id}"))
    shown = [(message["role"], message["status"]) for message in record["messages"]]
    assert shown == [
        ("user", "completed"), ("assistant", "completed"), ("roboto", "completed"), ("assistant", "failed")
    ]  # fmt: skip
    assert [block["error_code"] for block in shapes.blocks(record, "error")] == ["internal_error"]
    turn = Turn.objects.get(thread=thread)
    assert (turn.state, turn.error_code, turn.answer_idx) == ("failed", "internal_error", 3)
    # It can be forked there, and gone on with.
    data_of(api("alice").post(f"threads/{thread.thread_id}/fork", {"message_sequence_num": 2}))
    make.send(who.alice, thread, "Again")
    assert results(api, thread)


class PanicException(BaseException):
    """As that of pyo3, which libraries in Rust raise past every `except Exception`."""


def panic(*_: Any, **__: Any) -> None:
    raise PanicException("unwrap on an Err")


def test_a_panic_ends_the_turn_and_the_request_and_nothing_hangs(api, who, monkeypatch):
    """4.2 item 5, 6.1 of the catalogue: also what is no `Exception` ends in an error block, or in the envelope."""
    alice = api("alice")
    with monkeypatch.context() as patched:
        patched.setattr("catalogue.validating.found", panic)
        thread = make.thread(who.alice, '[[call client_x {"a": 1}]]', client_tools=[make.client_tool("client_x")])
        answer = alice.post("/v1/catalogue/tools/demo__echo/validate", {"arguments": {"message": "hi"}})
    record = data_of(alice.get(f"threads/{thread.thread_id}"))
    assert record["status"] == "user_turn"
    assert [block["error_code"] for block in shapes.blocks(record, "error")] == ["internal_error"]
    assert (answer.status_code, answer.json()["error"]["error_code"]) == (500, "RobotoInternalException")
    assert answer.headers["X-Request-Id"] in answer.json()["error"]["message"]


@pytest.mark.parametrize("is_in_mid_answer", [False, True])
def test_a_turn_that_kills_worker_after_worker_is_given_up(api, who, monkeypatch, is_in_mid_answer):
    """4.4: it ends as failed instead of going round for ever; a few losses are nothing."""
    thread = make.thread(who.alice, run=False)

    def killing(run: Any) -> None:
        if is_in_mid_answer:
            run._flush(run.answer, ["Half an "])
        die()

    with monkeypatch.context() as patched:
        patched.setattr(loop._Run, "step", killing)
        for _ in range(loop.MAX_LOSSES + 1):
            crash(thread)
    turn = Turn.objects.get(thread=thread)
    assert (turn.state, turn.losses) == ("running", loop.MAX_LOSSES)
    loop.advance(turn.pk)
    record = data_of(api("alice").get(f"threads/{thread.thread_id}"))
    assert record["status"] == "user_turn"
    assert [block["error_code"] for block in shapes.blocks(record, "error")] == ["too_many_attempts"]
    assert Turn.objects.get(thread=thread).state == "failed"
    make.send(who.alice, thread, "Again")
    assert make.fresh(thread).status == "user_turn"


def test_a_bug_of_a_worker_that_lost_the_turn_is_none_of_the_next_ones(api, who, letters, monkeypatch):
    """4.4: whoever was given up for dead writes nothing more, not even that it failed."""
    letters()
    thread = make.thread(who.alice, '[[call letter {"to": "a"}]]', run=False)
    turn = Turn.objects.get(thread=thread)

    def somebody_else_goes_on_and_then_a_bug(*_: Any, **__: Any) -> None:
        make.let_expire(turn)
        assert loop._Run.claimed(Turn.objects.get(pk=turn.pk))
        bug()

    with monkeypatch.context() as patched:
        patched.setattr("catalogue.calls.call", somebody_else_goes_on_and_then_a_bug)
        loop.advance(turn.pk)
    found = Turn.objects.get(pk=turn.pk)
    assert (found.state, found.attempt) == ("running", 2)
    assert make.fresh(thread).status == "roboto_turn"
    make.let_expire(turn)
    loop.advance(turn.pk)
    assert results(api, thread) == [("error", {"error": INTERRUPTED})]


@pytest.mark.parametrize("is_taken_up_again", [False, True])
def test_a_bug_while_a_turn_is_claimed_ends_it_too(api, who, monkeypatch, is_taken_up_again):
    thread = make.thread(who.alice, run=False)
    turn = Turn.objects.get(thread=thread)
    if is_taken_up_again:
        make.let_expire(make.half_answered(thread, "Half an "))
    with monkeypatch.context() as patched:
        patched.setattr("threads.runner.toolbox.Toolbox.__init__", bug)
        loop.advance(turn.pk)
    record = data_of(api("alice").get(f"threads/{thread.thread_id}"))
    assert record["status"] == "user_turn"
    assert [message["status"] for message in record["messages"]] == ["completed", "failed"]


def test_a_bug_while_a_turn_is_claimed_leaves_it_to_whoever_has_it_by_then(who, monkeypatch):
    thread = make.thread(who.alice, run=False)
    turn = Turn.objects.get(thread=thread)
    claimed = loop._Run.claimed

    def slow(cls: Any, turn: Turn) -> None:
        claimed(turn)  # somebody else, while this worker stumbles
        bug()

    with monkeypatch.context() as patched:
        patched.setattr(loop._Run, "claimed", classmethod(slow))
        loop.advance(turn.pk)
    assert (Turn.objects.get(pk=turn.pk).state, make.fresh(thread).status) == ("running", "roboto_turn")
