"""T3: what is new since a token (spec 3.7, 4.4, 4.6)."""

import pytest

from tests import make
from tests.api import shapes
from tests.conftest import data_of, refusal_of
from threads import transcript
from threads.content import text
from threads.models import Message, Thread, Turn
from threads.runner import loop
from threads.status import ThreadStatus

SUMMARY = {"goal_type": "dataset_summary", "dataset_id": "ds_1"}


@pytest.fixture
def delta(api):
    """`delta(thread, token)` polls as alice, or as somebody else."""

    def poll(thread, token=None, name="alice", **headers):
        query = "" if token is None else f"?next_token={token}"
        found = data_of(api(name).get(f"threads/{thread.thread_id}/delta{query}", **headers))
        shapes.check_delta(found)
        return found

    return poll


def token_of(api, thread, name="alice"):
    return data_of(api(name).get(f"threads/{thread.thread_id}"))["continuation_token"]


def indices(delta):
    return [int(idx) for idx in delta["messages_by_idx"]]


def test_without_a_token_everything_comes_in_order_T3_B25(api, who, delta):
    thread = make.thread(who.alice)
    found = delta(thread)
    record = data_of(api("alice").get(f"threads/{thread.thread_id}"))
    assert list(found["messages_by_idx"].values()) == record["messages"]
    assert found["continuation_token"] == record["continuation_token"]
    assert found["title"] == record["title"]
    assert found["status"] == "user_turn"


def test_an_idle_delta_is_empty_and_its_token_stays_usable_B84_B92(api, who, delta):
    thread = make.thread(who.alice, goals=[SUMMARY])
    token = token_of(api, thread)
    for _ in range(3):
        found = delta(thread, token)
        assert found == {
            "messages_by_idx": {},
            "continuation_token": token,
            "reset_from_message_sequence_num": None,
            "status": "user_turn",
            "activity": None,
            "title": None,
            "goals": None,
            "tasks": None,
        }


def test_only_new_messages_and_new_blocks_are_in_a_delta_B83(api, who, delta):
    thread = make.thread(who.alice, run=False)
    make.half_answered(thread, "One ")
    token = token_of(api, thread)
    with transcript.writing(thread.pk) as writer:
        writer.extend(Message.objects.get(thread=thread, idx=1), [text("two "), text("three")])
    found = delta(thread, token)
    assert indices(found) == [1]
    assert found["messages_by_idx"]["1"]["status"] == "generating"
    assert [block["text"] for block in found["messages_by_idx"]["1"]["content"]] == ["two ", "three"]


def test_polling_the_same_token_twice_gives_the_same_or_more_B85(api, who, delta):
    thread = make.thread(who.alice, run=False)
    token = token_of(api, thread)
    turn = make.half_answered(thread, "One ")
    first = delta(thread, token)
    assert delta(thread, token) == first
    with transcript.writing(thread.pk, transcript.Fence(turn.pk, 1)) as writer:
        writer.extend(Message.objects.get(thread=thread, idx=1), [text("two")])
    more = delta(thread, token)
    before, after = (found["messages_by_idx"]["1"]["content"] for found in (first, more))
    assert after[: len(before)] == before
    assert len(after) == len(before) + 1


def test_record_and_token_agree_in_the_middle_of_a_turn_B87(api, who, delta):
    thread = make.thread(who.alice, run=False)
    turn = make.half_answered(thread, "Half ")
    record = data_of(api("alice").get(f"threads/{thread.thread_id}"))
    assert shapes.texts(record)[-1] == "Half "
    with transcript.writing(thread.pk, transcript.Fence(turn.pk, 1)) as writer:
        writer.extend(Message.objects.get(thread=thread, idx=1), [text("an answer.")])
    found = delta(thread, record["continuation_token"])
    assert [shapes.said(message) for message in found["messages_by_idx"].values()] == ["an answer."]


def test_a_status_change_alone_appears_with_empty_content_B89(api, who, delta):
    """Spec 4.6 item 7: the end of a text needs an entry of its index."""
    thread = make.thread(who.alice, run=False)
    turn = make.half_answered(thread, "All there is.")
    token = token_of(api, thread)
    with transcript.writing(thread.pk, transcript.Fence(turn.pk, 1)) as writer:
        writer.close(Message.objects.get(thread=thread, idx=1), Message.Status.COMPLETED)
        writer.turn_to(ThreadStatus.USER_TURN)
    found = delta(thread, token)
    assert found["messages_by_idx"]["1"]["content"] == []
    assert found["messages_by_idx"]["1"]["status"] == "completed"
    assert found["status"] == "user_turn"


def test_the_new_status_never_precedes_the_content_that_led_to_it_B90(who, delta, monkeypatch):
    """At every commit of a turn: while it is not the agent's turn any more, no message is still being written."""
    seen = []
    flush = transcript.Transcript.flush

    def watched(self):
        flush(self)
        found = delta(self.thread)
        seen.append((found["status"], [message["status"] for message in found["messages_by_idx"].values()]))

    monkeypatch.setattr(transcript.Transcript, "flush", watched)
    make.thread(who.alice, '[[call echo {"value": 1}]] [[words 60]]')
    assert seen[-1][0] == "user_turn"
    assert len(seen) > 4
    for status, states in seen:
        assert (status == "user_turn") <= ("generating" not in states)


def test_goals_come_whole_when_changed_and_null_otherwise_B91(api, who, delta):
    thread = make.thread(who.alice, goals=[SUMMARY, SUMMARY], run=False)
    token = token_of(api, thread)
    assert delta(thread, token)["goals"] is None
    make.run_turns()
    found = delta(thread, token)
    assert [goal["status"] for goal in found["goals"]] == ["achieved", "achieved"]
    assert all(set(goal) == shapes.GOAL for goal in found["goals"])
    assert delta(thread, found["continuation_token"])["goals"] is None


def test_a_thread_without_goals_reports_an_empty_list_to_a_fresh_reader_B106(who, delta):
    assert delta(make.thread(who.alice))["goals"] == []


def test_a_new_title_comes_once_and_the_status_every_time_B92(api, who, delta):
    thread = make.thread(who.alice)
    token = token_of(api, thread)
    data_of(api("alice").patch(f"threads/{thread.thread_id}", {"title": "Renamed"}))
    found = delta(thread, token)
    assert (found["title"], found["status"], found["messages_by_idx"]) == ("Renamed", "user_turn", {})
    assert delta(thread, found["continuation_token"])["title"] is None


def test_a_sender_drops_their_own_copy_and_all_get_the_text_B51_B52(api, who, delta):
    """Spec 4.6 item 9: another client of the same person holds no copy, and gets it all the same (B88)."""
    thread = make.thread(who.alice, visibility="org")
    token = token_of(api, thread)
    data_of(api("alice").post(f"threads/{thread.thread_id}/messages", {"message": make.say("My own words")}))

    for reader, reset in (("alice", 2), ("bob", None), ("admin", None)):
        found = delta(thread, token, reader)
        message = found["messages_by_idx"]["2"]
        assert (shapes.said(message), message["status"], message["role"]) == ("My own words", "completed", "user")
        assert found["reset_from_message_sequence_num"] == reset
        assert delta(thread, found["continuation_token"], reader)["reset_from_message_sequence_num"] is None


def test_a_sender_who_was_behind_drops_their_own_copies_and_gets_everything_B51_B86(api, who, delta):
    """Spec 4.6 item 9: their copy stands where the token's next message belongs; nobody else has one to drop."""
    thread = make.thread(who.alice, run=False, visibility="org")
    old = token_of(api, thread)
    bare = data_of(api("alice").get(f"threads/{thread.thread_id}?load_messages=False"))["continuation_token"]
    make.run_turns()
    newer = token_of(api, thread)
    for words in ("My own words", "Some more"):
        data_of(api("alice").post(f"threads/{thread.thread_id}/messages", {"message": make.say(words)}))
        make.run_turns()
    record = data_of(api("alice").get(f"threads/{thread.thread_id}"))
    for token, first in ((None, 0), (bare, 0), (old, 1), (newer, 2)):
        mine, theirs = delta(thread, token), delta(thread, token, "bob")
        assert list(mine["messages_by_idx"].values()) == record["messages"][first:]
        assert mine["messages_by_idx"] == theirs["messages_by_idx"]
        assert (mine["reset_from_message_sequence_num"], theirs["reset_from_message_sequence_num"]) == (first, None)
        assert delta(thread, mine["continuation_token"])["reset_from_message_sequence_num"] is None


def test_a_sender_gets_the_viewing_context_with_their_text_B51(api, who, delta):
    """Their local copy holds the text alone."""
    thread = make.thread(who.alice)
    token = token_of(api, thread)
    body = {"message": make.say("My own words"), "client_context": {"dataset_ids": ["ds_1"]}}
    data_of(api("alice").post(f"threads/{thread.thread_id}/messages", body))
    content = delta(thread, token)["messages_by_idx"]["2"]["content"]
    assert [block["content_type"] for block in content] == ["text", "client_context"]


def test_a_message_the_server_wrote_itself_is_always_sent_in_full_B51(api, who, delta):
    thread = make.thread(who.alice)
    token = token_of(api, thread)
    data_of(api("alice").post(f"threads/{thread.thread_id}/messages", {"goals": [SUMMARY]}))
    assert shapes.said(delta(thread, token)["messages_by_idx"]["2"])


def test_without_messages_the_token_replays_from_the_first_one_B24_B25(api, who, delta):
    thread = make.thread(who.alice)
    bare = data_of(api("alice").get(f"threads/{thread.thread_id}?load_messages=False"))
    assert bare["messages"] == []
    found = delta(thread, bare["continuation_token"])
    assert indices(found) == [0, 1]
    assert found["reset_from_message_sequence_num"] is None


def test_a_rewound_answer_resets_older_tokens_once_and_leaves_the_rest_alone_B93(api, who, delta):
    thread = make.thread(who.alice, "Hello [[words 3]]", run=False)
    before = token_of(api, thread)
    turn = make.half_answered(thread, "A discarded ", "draft")
    middle = token_of(api, thread)
    make.let_expire(turn)
    loop.advance(turn.pk)

    for token in (before, middle):
        found = delta(thread, token)
        assert found["reset_from_message_sequence_num"] == 1
        assert indices(found) == [1]
        assert shapes.said(found["messages_by_idx"]["1"]) == "the warp holds"
        assert delta(thread, found["continuation_token"])["reset_from_message_sequence_num"] is None
    assert delta(thread)["reset_from_message_sequence_num"] is None
    assert Turn.objects.get(pk=turn.pk).attempt == 2


@pytest.mark.parametrize(
    "token", ["", "x", "v1", "v1.a.b", "v2.{key}.1", "v1.{key}.", "v1.{key}.-1", "v1.{key}.1x",
              "v1.{key}.1%0A", "v1.{key}.9999999999999999999", "v1.{other}.1", "%F0%9F%A7%B5", "v1.{key}.%D9%A1"]
)  # fmt: skip
def test_a_malformed_or_foreign_token_is_an_invalid_request_B94(api, who, token):
    thread, other = make.thread(who.alice, run=False), make.thread(who.alice, run=False)
    token = token.replace("{key}", thread.key).replace("{other}", other.key)
    refusal = refusal_of(api("alice").get(f"threads/{thread.thread_id}/delta?next_token={token}"))
    assert refusal[:2] == (400, "RobotoInvalidRequestException")
    assert refusal[2].startswith("next_token")


def test_a_token_from_after_a_restored_backup_brings_everything_again(who, delta):
    """Spec 4.4: well-formed, but naming a revision that this database never had."""
    thread = make.thread(who.alice, goals=[SUMMARY])
    future = f"v1.{thread.key}.{thread.revision + 100}"
    found = delta(thread, future)
    assert found["reset_from_message_sequence_num"] == 0
    assert indices(found) == list(range(make.fresh(thread).message_count))
    assert found["goals"]
    assert found["title"] == thread.title
    assert delta(thread, found["continuation_token"])["messages_by_idx"] == {}


def test_tokens_are_short_and_need_no_escaping_in_a_url(api, who):
    """Spec 4.4: opaque, URL-safe, at most 256 characters."""
    token = token_of(api, make.thread(who.alice, run=False))
    assert len(token) <= 256
    assert all(character.isascii() and (character.isalnum() or character in "._-") for character in token)


@pytest.mark.parametrize(("name", "status"), [("bob", 403), ("eve", 403), ("admin", 200), (None, 401)])
def test_polling_needs_read_access_B95(api, who, name, status):
    thread = make.thread(who.alice, run=False)
    assert api(name).get(f"threads/{thread.thread_id}/delta").status_code == status


def test_a_reader_who_lost_the_right_is_refused_at_once_B95_B146(api, who):
    thread = make.thread(who.alice, visibility="org", run=False)
    token = token_of(api, thread, "bob")
    path = f"threads/{thread.thread_id}/delta?next_token={token}"
    data_of(api("bob").get(path))
    Thread.objects.filter(pk=thread.pk).update(visibility="private")
    assert refusal_of(api("bob").get(path))[0] == 403


def test_clients_before_the_client_context_block_do_not_get_it(api, who, delta):
    """Spec 1.6."""
    thread = make.thread(who.alice, client_context={"dataset_ids": ["ds_1"]}, run=False)
    for version, is_there in (("2026-08-27", False), ("2026-02-11", False), ("2026-09-30", True), (None, True)):
        headers = {"X-Roboto-Api-Version": version} if version else {}
        found = delta(thread, None, **headers)
        kinds = [block["content_type"] for block in found["messages_by_idx"]["0"]["content"]]
        assert ("client_context" in kinds) is is_there
        record = data_of(api("alice").get(f"threads/{thread.thread_id}", **headers))
        assert bool(shapes.blocks({"messages": record["messages"]}, "client_context")) is is_there


def test_no_index_is_ever_skipped_B86(api, who, delta):
    """Spec 4.6 item 8: an index the client lacks stands right behind what it holds."""
    thread = make.thread(who.alice, '[[call echo {"value": 1}]]', run=False)
    token, held = token_of(api, thread), 1
    for _ in range(2):
        make.run_turns()
        found = delta(thread, token)
        for idx in indices(found):
            assert idx <= held
            held = max(held, idx + 1)
        token = found["continuation_token"]
    assert held == make.fresh(thread).message_count
