"""Answers over the providers' own wires: text, calls, goals, keys, settings, figures."""

import json
import threading
from decimal import Decimal

import pytest
from django.core.management import call_command

from tests import make
from tests.api import shapes
from tests.conftest import content_of, data_of
from tests.providers.conftest import line
from tests.providers.wire import MODEL, Call, Wait, says
from threads.access import thread_for
from threads.models import Block, Message

SUMMARY = {"goal_type": "dataset_summary", "dataset_id": "ds_1"}


def test_text_is_streamed_in_several_deltas_and_kept_as_it_came(talk, monkeypatch):
    """Spec 4.2 item 4, B94: fragments concatenate without a separator."""
    stored, seen = [], [threading.Event(), threading.Event()]
    flush = make.loop._Run._flush

    def flush_and_tell(run, answer, fragments):
        flush(run, answer, fragments)
        stored.append(list(fragments))
        seen[len(stored) - 1].set()

    monkeypatch.setattr(make.loop._Run, "_flush", flush_and_tell)
    # The provider goes on only when what it said is there to be read.
    talk.provider.will(
        says("The warp ", Wait(10, seen[0]), "holds while ", Wait(10, seen[1]), "the weft goes through.")
    )
    record = talk.start()
    assert record["status"] == "user_turn"
    last = record["messages"][-1]
    assert (shapes.said(last), last["status"]) == ("The warp holds while the weft goes through.", "completed")
    assert len(last["content"]) == 3
    assert stored == [["The warp "], ["holds while "]]


def test_the_history_reaches_the_model_with_the_system_prompt(talk):
    talk.provider.will(says("One."), says("Two."))
    talk.start("First", system_prompt="Be brief.")
    talk.send("Second")
    body = talk.provider.asked[-1].body
    assert "Be brief." in json.dumps(body)
    said = [each for each in body["messages"] if each["role"] in ("user", "assistant")]
    assert [each["role"] for each in said] == ["user", "assistant", "user"]
    assert all(word in json.dumps(each) for word, each in zip(("First", "One.", "Second"), said, strict=True))


@pytest.mark.parametrize("is_old", [False, True])
def test_a_loaded_thread_is_rerun_with_the_calls_before_it(api, talk, is_old):
    """Also one that an earlier version loaded, whose results had no payload."""
    call_command("seed_load", reports=80, org="acme", verbosity=0)
    results = Block.objects.filter(kind="tool_result")
    block = results.order_by("pk").first()
    if is_old:
        for each in results:
            each.data.pop("payload", None)
            each.save(update_fields=["data"])
    last = Message.objects.filter(thread=block.thread).latest("idx").idx
    talk.provider.will(says("Again."))
    path = f"threads/{block.thread.thread_id}/rerun"
    talk.id = data_of(api("admin").post(path, {"message_sequence_num": last}))["thread_id"]
    make.run_turns()
    assert shapes.said(data_of(api("admin").get(f"threads/{talk.id}"))["messages"][-1]) == "Again."
    assert block.tool_use_id in json.dumps(talk.provider.asked[-1].body)


def test_parallel_calls_are_one_message_and_a_server_tool_runs_in_between(talk):
    """Spec 4.2 item 4: calls end the message, results go into one roboto message, the answer goes on behind it."""
    talk.provider.will(
        says("Let me look. ", Call("echo", '{"value": 1}', "c_a"), Call("echo", '{"value": [2]}', "c_b")),
        says("Both came back."),
    )
    record = talk.start()
    assert [message["role"] for message in record["messages"]] == ["user", "assistant", "roboto", "assistant"]
    uses, results = shapes.blocks(record, "tool_use"), shapes.blocks(record, "tool_result")
    assert [use["input"] for use in uses] == [{"value": 1}, {"value": [2]}]
    assert [result["tool_use_id"] for result in results] == [use["tool_use_id"] for use in uses]
    assert {result["status"] for result in results} == {"success"}
    assert shapes.said(record["messages"][-1]) == "Both came back."
    second = json.dumps(talk.provider.asked[1].body)
    assert all(second.count(use["tool_use_id"]) == 2 for use in uses), "each call stands beside its result"


def test_a_client_tool_hands_over_and_its_result_reaches_the_model(talk):
    """Spec 4.5."""
    talk.provider.will(says(Call("remember", '{"fact": "blue"}')), says("Noted."))
    record = talk.start(client_tools=[make.client_tool(properties={"fact": {"type": "string"}})])
    assert record["status"] == "client_tool_turn"
    [use] = shapes.blocks(record, "tool_use")
    result = {
        "tool_name": "remember",
        "tool_use_id": use["tool_use_id"],
        "status": "success",
        "output": {"kept": "yes"},
    }
    record = talk.answer({**result, "runtime_ms": 3})
    assert (record["status"], shapes.said(record["messages"][-1])) == ("user_turn", "Noted.")
    assert "kept" in json.dumps(talk.provider.asked[1].body)
    offered = json.dumps(talk.provider.asked[0].body["tools"])
    assert "remember" in offered
    assert "fact" in offered


def test_goals_are_achieved_through_their_tool_after_a_reprompt(talk):
    """Spec 4.3."""
    talk.provider.will(
        says("I think I am done."),
        says(Call("achieve_dataset_summary", json.dumps({"summary": "All is well."}))),
        says("Now I am."),
    )
    record = talk.start(goals=[SUMMARY])
    assert [goal["status"] for goal in record["goals"]] == ["achieved"], shapes.blocks(record, "tool_result")
    assert record["status"] == "user_turn"
    assert "The turn cannot end yet" in json.dumps(talk.provider.asked[1].body)
    assert talk.turn().reprompts == 1


def test_arguments_that_are_no_object_are_refused_and_the_model_is_told(talk):
    """B-row of spec 4.5: a refused call is answered by the server."""
    talk.provider.will(says(Call("echo", '{"value": ')), says("Sorry."))
    record = talk.start()
    [use] = shapes.blocks(record, "tool_use")
    assert (use["input"], use["answered_by_server"]) == (None, True)
    assert [result["status"] for result in shapes.blocks(record, "tool_result")] == ["error"]
    assert shapes.said(record["messages"][-1]) == "Sorry."


def test_settings_and_key_of_the_line_go_out(talk, monkeypatch, tmp_path):
    monkeypatch.setenv("LOOP_KEY", "key-of-the-variable")
    monkeypatch.setenv("OPENAI_API_KEY", "never-to-be-sent")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "never-to-be-sent")
    talk.provider.will(says("A"), says("B"), says("C"), says("D"))
    talk.profile(temperature=0.25, max_tokens=77, key_env="LOOP_KEY")
    talk.start()
    (tmp_path / "key").write_text("key-of-the-file\n")
    talk.profile(key_file=tmp_path / "key")
    talk.start()
    (tmp_path / "key").write_text("key-of-tomorrow\n")
    talk.start()
    talk.profile()
    talk.start()
    asked = talk.provider.asked
    assert asked[0].body["temperature"] == 0.25
    assert 77 in (asked[0].body.get("max_tokens"), asked[0].body.get("max_completion_tokens"))
    keys = [each.headers.get("x-api-key") or each.headers["authorization"].removeprefix("Bearer ") for each in asked]
    assert keys == ["key-of-the-variable", "key-of-the-file", "key-of-tomorrow", "no-key"]


@pytest.mark.parametrize("options", [{"key_env": "NO_SUCH_KEY"}, {"key_file": "/no/such/file"}])
def test_a_key_that_is_not_there_is_a_clear_error_and_nothing_is_asked(talk, options):
    talk.profile(**options)
    record = talk.start()
    [error] = shapes.blocks(record, "error")
    assert (error["error_code"], record["status"]) == ("misconfigured", "user_turn")
    assert talk.provider.asked == []


def test_tokens_requests_model_and_cost_are_kept_with_the_turn(talk):
    talk.profile(input_price="2.50", output_price="10")
    talk.provider.will(says(Call("echo", '{"value": 1}'), usage=(1000, 50)), says("Done.", usage=(1200, 30)))
    talk.start()
    turn = talk.turn()
    assert (turn.input_tokens, turn.output_tokens, turn.requests, turn.retries) == (2200, 80, 2, 0)
    assert (turn.profile, turn.model) == ("loop", MODEL)
    assert turn.cost == Decimal("0.0063")
    assert turn.started_at <= turn.first_text_at <= turn.finished_at


def test_a_cost_is_never_invented(talk):
    """Without a price, and without tokens to put it on."""
    talk.provider.will(says("Done."))
    talk.start()
    assert talk.turn().cost is None
    if talk.kind == "openai":  # Anthropic always tells
        talk.profile(input_price=1, output_price=1)
        talk.provider.will(says("Done.", usage=None))
        talk.start()
        assert (talk.turn().cost, talk.turn().input_tokens) == (None, 0)


def test_a_model_that_says_nothing_but_a_call_has_no_first_words(talk):
    talk.provider.will(says(Call("remember")))
    talk.start(client_tools=[make.client_tool()])
    assert talk.turn().first_text_at is None


def test_a_thread_may_choose_another_profile(talk, configure):
    """B22."""
    configure(line("loop", talk.kind, talk.provider), f"{line('other', talk.kind, talk.provider)}&max_tokens=5")
    talk.provider.will(says("Hi."))
    record = talk.start(model_profile="other")
    assert record["model_profile"] == "other"
    assert talk.turn().profile == "other"


def test_what_a_dead_worker_used_is_not_known_and_said_so(talk):
    """B93: the answer is taken back and written again; what the first try cost went with its worker."""
    talk.profile(input_price=1, output_price=1)
    talk.start(run=False)
    thread = thread_for(talk.who.alice.actor, talk.id)
    dead = make.half_answered(thread, "Half an ")
    make.let_expire(dead)
    talk.provider.will(says("A whole one."))
    make.loop.advance(dead.pk)
    assert shapes.said(talk.record()["messages"][-1]) == "A whole one."
    assert (talk.turn().requests, talk.turn().cost, talk.turn().input_tokens) == (2, None, 100)


def test_a_model_that_never_stops_calling_is_stopped(talk, browser_of):
    """Its thread counts as failed, in the list and on its page."""
    talk.provider.will(*(says(Call("echo", '{"value": 1}', f"c_{place}")) for place in range(45)))
    record = talk.start()
    assert len(talk.provider.asked) == 40
    assert (record["status"], record["messages"][-1]["status"]) == ("user_turn", "failed")
    assert record["messages"][-1]["content"][0]["error_code"] == "too_many_requests"
    reader = browser_of("alice")
    assert talk.id in content_of(reader.get("/threads/?q=status:failed")).decode()
    assert ">Failed<" in content_of(reader.get(f"/threads/{talk.id}/")).decode()


def test_what_no_database_keeps_is_shown_as_a_replacement_character(talk):
    talk.provider.will(says("A \0 and ", "half \ud83e of a sign."))
    record = talk.start()
    assert shapes.said(record["messages"][-1]) == "A \ufffd and half \ufffd of a sign."


def test_half_of_a_pair_in_a_call_leaves_the_thread_readable(talk):
    """A provider's own JSON may hold one, so that it is there before the arguments are read."""
    talk.provider.will(says(Call("echo", '{"value": "\ud800"}')), says("It did not work."))
    record = talk.start()
    assert record["status"] == "user_turn"
    [use], [result] = shapes.blocks(record, "tool_use"), shapes.blocks(record, "tool_result")
    assert (use["input"], result["payload"]) == (None, {"error": "The arguments are not a JSON object."})
