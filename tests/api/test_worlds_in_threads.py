"""Threads that are played in a world: nothing outside of it is touched (catalogue 3.8, and decision 012)."""

import pytest

from catalogue import naming
from catalogue.models import Call, DemoCount, World
from catalogue.worlds import in_threads
from tests import make
from tests.api import shapes
from tests.api.test_worlds import NAMES, TOOLS, Played
from tests.conftest import data_of, refusal_of
from threads.runner import loop


@pytest.fixture
def played(api, who):
    """A stateful world of alice's with the tools of a server, and two of Heddle's own."""
    tools = [{"description": "", **tool} for tool in TOOLS]
    data_of(api("alice").post("/v1/catalogue/tools/import", {"dialect": "rdk", "server": "crm", "tools": tools}))
    names = [*NAMES, "heddle__calculate", "demo__counter"]
    return Played(api("alice"), {"mode": "stateful", "seed": 1, "tools": names})


def results_of(thread, api, who="alice"):
    record = data_of(api(who).get(f"threads/{thread.thread_id}"))
    return shapes.blocks(record, "tool_result")


def thread_in(world, who, text):
    return make.thread(who.alice, text, world_id=world.record["world_id"])


def test_the_world_answers_in_place_of_the_tools(api, who, played):
    thread = thread_in(
        played, who, '[[call crm__create_user {"name": "Ann"}]] [[call calculate {"expression": "1+1"}]]'
    )
    made, sum_ = results_of(thread, api)
    assert (made["status"], sum_["status"]) == ("success", "success")
    state = played.get("state")
    [(user_id, user)] = state["entities"]["user"].items()
    assert user["name"] == "Ann" == made["payload"]["name"]
    assert sum_["payload"] != {"value": 2}, "nobody worked anything out"
    make.send(who.alice, thread, f'[[call crm__get_user {{"user_id": "{user_id}"}}]]')
    assert results_of(thread, api)[-1]["payload"] == made["payload"]
    log = played.get("calls")["items"]
    assert [line["tool"] for line in log] == ["crm__create_user", "heddle__calculate", "crm__get_user"]
    assert {line["thread_id"] for line in log} == {thread.thread_id}


def test_nothing_outside_is_touched(api, who, played):
    thread = thread_in(played, who, '[[call demo__counter {}]] [[call current_time {}]] [[call echo {"value": 1}]]')
    statuses = {each["tool_name"]: each["status"] for each in results_of(thread, api)}
    assert statuses == {"demo__counter": "success", "current_time": "error", "echo": "error"}
    assert not DemoCount.objects.exists()
    assert Call.objects.filter(world=None).count() == 0


def test_a_tool_is_called_by_its_own_name_if_the_world_has_one_of_that_name(api, who, played):
    """As the history of an imported thread calls it."""
    thread = thread_in(played, who, '[[call counter {}]] [[call create_user {"name": "Ann"}]] [[call get {}]]')
    statuses = {each["tool_name"]: each["status"] for each in results_of(thread, api)}
    assert statuses == {"get": "error", "demo__counter": "success", "crm__create_user": "success"}
    assert not DemoCount.objects.exists()


def test_wrong_arguments_and_failures_reach_the_model_as_errors(api, who, played):
    thread = thread_in(played, who, "[[call crm__get_user {}]]")
    [result] = results_of(thread, api)
    assert result["status"] == "error" and result["payload"]["code"] == "MISSING_REQUIRED"
    assert played.get()["step_count"] == 1


def test_a_world_that_is_over_fails_the_call_and_nothing_else_is_called(api, who, played):
    thread = thread_in(played, who, "Hello")
    api("alice").request("DELETE", played.path)
    make.send(who.alice, thread, '[[call calculate {"expression": "1+1"}]]')
    [result] = results_of(thread, api)
    assert result["status"] == "error" and "closed" in result["payload"]["error"]


def test_a_fork_goes_into_a_world_stays_in_it_and_leaves_it(api, who, played):
    alice = api("alice")
    source = make.thread(who.alice, "Hello")
    body = {"message_sequence_num": 1}

    def forked(thread_id, **more):
        record = data_of(alice.post(f"threads/{thread_id}/fork", body | more))
        assert set(record) == shapes.THREAD, "the record is the one that the SDK reads"
        found = make.Thread.objects.get(key=record["thread_id"][4:])
        return record["thread_id"], found.world and found.world.world_id

    world_id = played.record["world_id"]
    inside, first = forked(source.thread_id, world_id=world_id)
    _, second = forked(inside)
    _, third = forked(inside, world_id=None)
    assert (first, second, third) == (world_id, world_id, None)
    assert forked(source.thread_id)[1] is None


def test_only_an_open_world_of_the_threads_org_is_taken(api, who, played):
    body = {"messages": [make.say("Hello")], "world_id": played.record["world_id"]}
    assert set(data_of(api("bob").post("threads", body))) == shapes.THREAD
    assert refusal_of(api("eve").post("threads", body))[:1] == (400,)
    assert refusal_of(api("alice").post("threads", body | {"world_id": "wld_unknown"}))[0] == 400
    api("alice").request("DELETE", played.path)
    assert refusal_of(api("alice").post("threads", body))[0] == 410


def test_a_second_worker_gets_the_answer_of_the_first(api, who, played):
    """C115, spec 4.4: what a dead worker had played is not played again."""
    thread = make.thread(
        who.alice, '[[call crm__create_user {"name": "Ann"}]]', run=False, world_id=played.record["world_id"]
    )
    turn = make.Turn.objects.get(thread=thread)
    run = loop._Run.claimed(turn)
    assert run.step()
    [use] = run._open_server_uses()
    first = run.tools.answer(use, run.fence)
    make.let_expire(turn)
    make.Turn.objects.filter(pk=turn.pk).update(state="queued")
    make.run_turns(thread)
    [result] = results_of(thread, api)
    assert result["payload"] == first["payload"]
    assert played.get("state")["step_count"] == 1
    assert [line["cache_hit"] for line in played.get("calls")["items"]] == [False, True]


def test_a_threads_calls_stay_its_owners_in_the_log(api, who, played):
    """C134: a colleague sees the world, and not what a private thread called in it."""
    thread_in(played, who, "[[call crm__ping {}]]")
    played.call("ping")
    shown = {name: data_of(api(name).get(f"{played.path}/calls"))["items"] for name in ("alice", "bob", "admin")}
    assert {name: len(lines) for name, lines in shown.items()} == {"alice": 2, "bob": 1, "admin": 2}


def test_a_large_answer_is_put_aside_as_in_every_thread(api, who, played):
    """C87, C91: the model gets a reference, and `get_tool_data` is there in a world as well."""
    big = {"text": "x" * 20_000}
    played.post("fixtures", {"fixtures": [{"tool": "crm__ping", "output": big}]})
    thread = thread_in(played, who, "[[call crm__ping {}]]")
    [result] = results_of(thread, api)
    assert result["payload"].keys() == {"ref_id", "summary"}
    make.send(who.alice, thread, f'[[call get_tool_data {{"ref_id": "{result["payload"]["ref_id"]}"}}]]')
    assert results_of(thread, api)[-1]["payload"] == big


def test_a_world_offers_its_tools_by_the_same_names_as_a_thread_without_one(api, who):
    """Two names that are longer than providers take would be one if they were cut; neither is offered anywhere."""
    long = [f"{'long' * 16}_{end}" for end in ("one", "two")]
    tools = [{"name": name, "description": "", "inputSchema": {"type": "object"}} for name in (*long, "dotted.name")]
    data_of(api("alice").post("/v1/catalogue/tools/import", {"dialect": "mcp", "server": "crm", "tools": tools}))
    names = [f"crm__{name}" for name in (*long, "dotted.name")]
    played = Played(api("alice"), {"mode": "schema_only", "seed": 1, "tools": names})
    assert in_threads.names(World.objects.get().pk) == {"crm__dotted_name", "get_tool_data"}
    assert played.record["tools"] and not {naming.for_models(name) for name in names[:2]} - {""}
