"""Laws of the delta (B51, B52, B83 to B93): whatever happens to a thread, rolling deltas rebuild its record."""

import copy
import warnings
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.property.world import Reader, World, delta_of, merged, record_of, shown
from threads.runner.providers.events import ToolCall
from threads.status import ThreadStatus
from threads.transcript import LeaseLost

with warnings.catch_warnings():
    # The SDK's own import uses what a package of its own has deprecated.
    warnings.simplefilter("ignore", DeprecationWarning)
    from roboto.ai.agent_thread import AgentThread
    from roboto.ai.agent_thread.record import AgentThreadRecord

law = settings(
    max_examples=10,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

texts = st.sampled_from(["a", "One. ", "ü\n", "x" * 200])
calls = st.lists(
    st.sampled_from(
        [
            ToolCall("remember", {"key": 1}),
            ToolCall("recall", {}),
            ToolCall("echo", {"value": 1}),
            ToolCall("nowhere", {}),
            ToolCall("remember", None, "not json"),
            ToolCall("achieve_dataset_summary", {"summary": "Done."}),
            ToolCall("achieve_dataset_summary_2", {"summary": " "}),
        ]
    ),
    min_size=1,
    max_size=3,
)


def possible(world):
    """What may happen next, the likelier the more often it stands there: a random word would mostly do nothing."""
    always = ["poll"] * 4 + ["keep", "retitle"]
    if world.run is not None and world.run.answer is not None:
        return [*always, *["write"] * 4, *["call"] * 3, "finish", "fail", "die", "die", "cancel"]
    if world.run is not None:
        return [*always, *["execute"] * 4, "die", "cancel"]
    if world.status == ThreadStatus.ROBOTO_TURN:
        return [*always, *["claim"] * 6, "cancel"]
    if world.status == ThreadStatus.CLIENT_TOOL_TURN:
        return [*always, *["submit"] * 6, "cancel"]
    return [*always, *["send"] * 4, *["send_goals"] * 3]


def happen(draw, world, sender=None):
    """Let one thing happen to the thread; returns its name. Polls and the like are the caller's."""
    match draw(st.sampled_from(possible(world))):
        case "write":
            world.write(draw(texts))
        case "call":
            world.answer(draw(st.just("") | texts), draw(calls))
        case "finish":
            world.answer(draw(st.just("") | texts), [])
        case "fail":
            world.fail(draw(texts))
        case "submit":
            world.submit(draw(st.integers(1, 3)))
        case "send":
            world.send(draw(texts), sender, is_behind=draw(st.booleans()))
        case "send_goals":
            goals = draw(st.integers(1, 2))
            world.send(draw(st.just("") | texts), sender, goals=goals, is_behind=draw(st.booleans()))
        case "retitle":
            world.retitle(draw(st.sampled_from(["One", "Another"])))
        case "poll" | "keep" as name:
            return name
        case name:
            getattr(world, name)()
    return None


lengths = st.integers(4, 30)


@pytest.mark.django_db
@law
@given(data=st.data(), length=lengths)
def test_rolling_deltas_from_any_token_rebuild_exactly_the_record_B86(who, data, length):
    """For the sender with their own copies (B51), behind when they send or not, for another reader (B52), for an admin,
    and from old tokens (B93).

    So several readers see the same at last (B88), and the fragments they got are the persisted answer (B55).
    """
    world = World.begun(who)
    readers = [Reader(person, record_of(person, world.thread)) for person in (who.alice, who.bob, who.admin)]
    kept = []
    for _ in range(length):
        match happen(data.draw, world, sender=readers[0]):
            case "poll":
                readers[data.draw(st.integers(0, 2))].poll(world.thread)
            case "keep":
                kept.append(copy.deepcopy(readers[1]))
    for reader in [*readers, *kept]:
        reader.poll(world.thread)
        assert shown(reader.local) == shown(record_of(reader.person, world.thread))
        again = reader.poll(world.thread)
        assert (again["messages_by_idx"], again["reset_from_message_sequence_num"]) == ({}, None)
        assert (again["title"], again["goals"]) == (None, None)


@pytest.mark.django_db
def test_a_copy_of_ones_own_that_stands_before_a_rewound_answer_is_dropped_too_B51(who):
    world = World.begun(who)
    world.claim()
    sender = Reader(who.alice, record_of(who.alice, world.thread))
    world.write("One. ")
    world.answer("", [ToolCall(name="nowhere", arguments={}, verbatim="")])
    world.execute()
    world.write("Two. ")
    world.die()
    world.claim()
    world.die()
    world.cancel()
    world.send("a", sender, is_behind=True)
    sender.poll(world.thread)
    assert shown(sender.local) == shown(record_of(who.alice, world.thread))


@pytest.mark.django_db
@law
@given(data=st.data(), length=lengths)
def test_an_old_token_gives_the_same_content_or_more_unless_it_is_reset_B85(who, data, length):
    world = World.begun(who)
    token = record_of(who.bob, world.thread)["continuation_token"]
    before = delta_of(who.bob, world.thread, token)
    for _ in range(length):
        happen(data.draw, world)
        after = delta_of(who.bob, world.thread, token)
        if after["reset_from_message_sequence_num"] == before["reset_from_message_sequence_num"] is None:
            for idx, message in before["messages_by_idx"].items():
                more = after["messages_by_idx"][idx]["content"]
                assert more[: len(message["content"])] == message["content"]
        before = after


@pytest.mark.django_db
@law
@given(data=st.data(), length=lengths)
def test_a_reader_without_a_token_gets_the_whole_record_at_any_moment_B25(who, data, length):
    """Spec 4.6 item 10: a token of a record without messages replays from the first one."""
    world = World.begun(who)
    for _ in range(length):
        happen(data.draw, world)
    record = record_of(who.bob, world.thread)
    for token in (None, f"v1.{world.thread.key}.0"):
        delta = delta_of(who.bob, world.thread, token)
        assert list(delta["messages_by_idx"].values()) == record["messages"]
        assert (delta["status"], delta["title"], delta["goals"]) == (record["status"], record["title"], record["goals"])
        assert delta["reset_from_message_sequence_num"] is None


@pytest.mark.django_db
@law
@given(data=st.data(), length=lengths, last_words=texts)
def test_a_worker_that_was_given_up_never_adds_a_word_B162(who, data, length, last_words):
    """Neither after another one took over, nor after the turn was cancelled."""
    world = World.begun(who)
    for _ in range(length):
        happen(data.draw, world)
    world.claim()
    before = record_of(who.bob, world.thread)
    for run in world.dead:
        if run.answer is not None:
            with pytest.raises(LeaseLost):
                run._flush(run.answer, [last_words])
    assert record_of(who.bob, world.thread) == before


class Replayed:
    """A client of the SDK that is given its answers: the deltas of one reader, in order."""

    def __init__(self, deltas):
        self.deltas = list(deltas)

    def get(self, path, **named):
        delta = self.deltas.pop(0)
        return SimpleNamespace(to_record=lambda record: record.model_validate(delta))


@pytest.mark.django_db
@law
@given(data=st.data(), length=lengths)
def test_the_model_of_the_sdk_holds_what_the_sdk_holds_B34_B86(who, data, length):
    """The real one is fed the same deltas; without this the laws above would prove a model of ours only."""
    world = World.begun(who)
    start = record_of(who.bob, world.thread)
    reader, deltas = Reader(who.bob, start), []
    for _ in range(length):
        deltas += [reader.poll(world.thread)] if happen(data.draw, world) == "poll" else []
    deltas.append(reader.poll(world.thread))
    held = AgentThread(AgentThreadRecord.model_validate(start), Replayed(deltas))
    for _ in deltas:
        held.refresh()
    ours = AgentThreadRecord.model_validate({**start, **reader.local})
    assert [message.model_dump() for message in held.messages] == [message.model_dump() for message in ours.messages]
    assert held.status == ours.status
    assert [goal.record for goal in held.goals] == (ours.goals or [])


def test_the_model_of_the_sdk_is_held_to_the_spec():
    """Items 6 to 9 of spec 4.6 on one example, by hand."""
    message = {"role": "assistant", "status": "generating", "content": [{"content_type": "text", "text": "a"}]}
    local = {"messages": [message], "continuation_token": "1", "status": "roboto_turn", "title": "T", "goals": [],
             "tasks": [], "activity": "x"}  # fmt: skip
    delta = {
        "messages_by_idx": {
            "0": {**message, "status": "completed", "content": [{"content_type": "text", "text": "b"}]},
            "1": {**message, "content": []},
        },
        "continuation_token": "2",
        "reset_from_message_sequence_num": None,
        "status": None,
        "activity": None,
        "title": None,
        "goals": None,
        "tasks": None,
    }
    held = merged(local, delta)
    assert [block["text"] for block in held["messages"][0]["content"]] == ["a", "b"]
    assert held["messages"][0]["status"] == "completed"
    assert len(held["messages"]) == 2
    assert (held["status"], held["title"], held["goals"], held["activity"]) == ("roboto_turn", "T", [], None)
    assert len(local["messages"]) == 1
    reset = merged(local, {**delta, "reset_from_message_sequence_num": 0, "goals": [], "status": "user_turn"})
    assert [block["text"] for block in reset["messages"][0]["content"]] == ["b"]
    assert reset["status"] == "user_turn"
