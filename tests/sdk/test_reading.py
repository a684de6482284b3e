"""Reading threads through the SDK: who may, what they get, and that it is the same for everybody at any moment."""

import threading
from typing import Any

import pytest
from roboto.ai import AgentThread, AgentThreadRecord
from roboto.ai.agent_thread.record import AgentThreadStatus
from roboto.config import RobotoConfig
from roboto.exceptions import RobotoInvalidRequestException, RobotoNotFoundException, RobotoUnauthorizedException
from roboto.http import RobotoClient

from tests.sdk.callers import TICK, Caller, blocks, calls, follow, held, roles, run, spoken, text_of

pytestmark = pytest.mark.live


def shared(caller: Caller, text: str = "For all of us.") -> AgentThread:
    """An org thread: only plain HTTP can ask for one (B12)."""
    body = {"messages": [{"role": "user", "content": [{"text": text}]}], "visibility": "org"}
    status, content = caller.post("threads", body)
    assert status == 200, content
    return run(caller.thread(content["data"]["thread_id"]))


def test_by_id_with_and_without_messages(alice: Caller) -> None:
    """B23 to B25, B31."""
    thread = alice.talk("Where am I?")
    whole = alice.thread(thread)
    assert (whole.thread_id, whole.status) == (thread.thread_id, AgentThreadStatus.USER_TURN)
    bare = alice.thread(thread, load_messages=False)
    assert (bare.messages, bare.latest_message) == ([], None)
    assert bare.status == AgentThreadStatus.USER_TURN
    bare.refresh()
    assert held(bare) == held(whole) == held(thread)
    run(bare.send_text("And now?"))
    assert roles(bare) == ["user", "assistant"] * 2
    assert held(bare) == held(alice.thread(thread))


def test_what_was_seeded_or_imported_with_a_viewing_context_can_be_read(alice: Caller) -> None:
    """3.9: whatever is taken in has the shape that the SDK reads."""

    def seen(context: Any) -> list[Any]:
        return [{"role": "user", "content": [{"text": "Look."}, {"context": context}]}]

    assert alice.post("threads", {"messages": seen({"dataset_ids": 5})})[0] == 400
    status, started = alice.post("threads", {"messages": seen({"dataset_ids": ["ds_1"]})})
    assert status == 200, started
    conversations = [
        {"id": "context-bad", "messages": seen({"view_ids": "v"})},
        {"id": "context-good", "messages": seen({"misc_context": {"tab": 1}})},
    ]
    status, answer = alice.post("threads/import", {"format": "roboto", "conversations": conversations})
    assert status == 200, answer
    bad, good = answer["data"]["items"]
    assert (bad["outcome"], good["outcome"]) == ("failed", "created")
    for thread_id in (started["data"]["thread_id"], good["thread_id"]):
        thread = run(alice.thread(thread_id))
        assert blocks(thread.messages[0])[1]["content_type"] == "client_context"
        assert held(thread.fork(0)) == held(thread)[:1]


def test_every_change_of_a_title_reaches_whoever_refreshes(alice: Caller) -> None:
    """H11, 3.7: so it is not taken away, which a delta could not tell of."""
    thread = alice.talk("A first title.")
    path = f"threads/{thread.thread_id}"
    assert alice.fetch(path, {"title": "A second one"}, "PATCH")[0] == 200
    assert alice.fetch(path, {"title": None}, "PATCH")[0] == 400
    thread.refresh()
    held_record = thread._AgentThread__record  # type: ignore[attr-defined]  # its title is told by nothing else
    assert held_record.title == alice.record(thread)["title"] == "A second one"


def test_a_thread_read_without_messages_can_be_driven_while_it_runs(alice: Caller) -> None:
    """B25, 4.6 item 10: its token replays from message 0, so that no index is skipped."""
    thread = alice.start("Slowly. [[words 30]] [[pace 0.06]]")
    bare = alice.thread(thread, load_messages=False)
    assert len(spoken(follow(bare)).split()) == 30
    assert held(bare) == held(alice.thread(thread))


def test_the_older_spellings_of_an_id_find_the_same_thread(alice: Caller) -> None:
    """B27."""
    thread = alice.talk("Under three names.")
    key = thread.thread_id.removeprefix("ags_")
    assert thread.thread_id.startswith("ags_")
    for prefix in ("ags_", "ath_", "ch_"):
        assert held(alice.thread(prefix + key)) == held(thread)


def test_an_unknown_id_is_not_found_in_every_call(alice: Caller) -> None:
    """B26: a thread that is gone, for an object that had it."""
    for unknown in ("ags_nothing", "ath_0000000000000000000000000", "nonsense", "ags_"):
        with pytest.raises(RobotoNotFoundException):
            alice.thread(unknown)
    record = {**alice.record(alice.talk("A record.")), "thread_id": "ags_nothing"}
    gone = AgentThread(AgentThreadRecord.model_validate(record), alice.client)
    for attempt in (
        gone.refresh,
        lambda: gone.send_text("Anybody?"),
        lambda: gone.fork(0),
        lambda: gone.set_pinned(True),
        lambda: gone.submit_client_tool_results([]),
        lambda: gone.submit_feedback(1, "positive"),  # type: ignore[arg-type]
    ):
        with pytest.raises(RobotoNotFoundException):
            attempt()


def test_a_private_thread_is_its_creators_and_the_admins(
    alice: Caller, bob: Caller, eve: Caller, admin: Caller
) -> None:
    """B28, B30, B95."""
    thread = alice.talk("Between us.")
    for other in (bob, eve):
        with pytest.raises(RobotoUnauthorizedException):
            other.thread(thread)
        with pytest.raises(RobotoUnauthorizedException):
            AgentThread(AgentThreadRecord.model_validate(alice.record(thread)), other.client).refresh()
    assert held(admin.thread(thread)) == held(thread)


def test_an_org_thread_is_every_members_and_no_strangers(
    alice: Caller, bob: Caller, eve: Caller, admin: Caller
) -> None:
    """B12, B29, B30."""
    thread = shared(alice)
    assert held(bob.thread(thread)) == held(admin.thread(thread)) == held(thread)
    with pytest.raises(RobotoUnauthorizedException):
        eve.thread(thread)


def test_no_or_a_wrong_token_is_unauthorized(alice: Caller) -> None:
    """1.4."""
    client = RobotoClient.from_config(RobotoConfig(api_key="hdl_wrong", endpoint=alice.server.url))
    with pytest.raises(RobotoUnauthorizedException):
        AgentThread.start("Hello?", roboto_client=client)
    with pytest.raises(RobotoUnauthorizedException):
        AgentThread.from_id("ags_nothing", roboto_client=client)


def test_record_and_token_agree_at_any_moment_of_a_turn(alice: Caller) -> None:
    """B87, B86, B32: readers who begin in the middle end with exactly what the server has."""
    asked = calls(("echo", {"value": "a"}), ("calculate", {"expression": "1+1"}))
    thread = alice.start(f"Slowly. {asked} [[words 60]] [[pace 0.15]]")
    readers = [alice.thread(thread) for _ in range(12)]
    while alice.thread(thread, load_messages=False).status == AgentThreadStatus.ROBOTO_TURN:
        readers.append(alice.thread(thread))
    stored = held(alice.thread(thread))
    lengths = {len(text_of(reader.latest_message)) for reader in readers}
    assert len(lengths) > 3, "the readers did not begin at different moments"
    for reader in [*readers, thread]:
        assert held(run(reader)) == stored


def test_many_readers_at_once_see_one_transcript(alice: Caller, bob: Caller, admin: Caller) -> None:
    """B88, B90: several people, several paces."""
    body = {
        "messages": [{"role": "user", "content": [{"text": "Slowly. [[sleep 0.6]] [[words 60]] [[pace 0.05]]"}]}],
        "visibility": "org",
    }
    thread_id = alice.post("threads", body)[1]["data"]["thread_id"]
    readers = [caller.thread(thread_id) for caller in (alice, bob, admin) for _ in range(3)]
    spans: list[str] = []

    def watch(reader: AgentThread, tick: float) -> None:
        spans.append(spoken(follow(reader, tick=tick)))

    watching = [
        threading.Thread(target=watch, args=(reader, TICK * (1 + place))) for place, reader in enumerate(readers)
    ]
    for each in watching:
        each.start()
    for each in watching:
        each.join()
    stored = alice.thread(thread_id)
    assert all(held(reader) == held(stored) for reader in readers)
    assert {len(span.split()) for span in spans} == {60}


def test_a_token_that_is_not_one_is_refused(alice: Caller) -> None:
    """B94."""
    one, other = alice.talk("One."), alice.talk("Other.")
    record = {**alice.record(one), "continuation_token": alice.record(other)["continuation_token"]}
    for token in (record["continuation_token"], "nonsense", "v1..", "\u2603"):
        with pytest.raises(RobotoInvalidRequestException, match="next_token"):
            AgentThread(
                AgentThreadRecord.model_validate({**record, "continuation_token": token}), alice.client
            ).refresh()
