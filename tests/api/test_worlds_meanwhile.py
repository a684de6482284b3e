"""What others do while a world makes an answer: they go on, and the answer is the one that its step gives (3.8)."""

from collections.abc import Callable
from threading import Event, Thread
from typing import Any

import pytest
from django.db import connection

from catalogue.models import Call
from catalogue.sampling import making
from catalogue.worlds import failing, playing
from core.slots import Slots
from tests import make
from tests.api import shapes
from tests.api.test_worlds import FREE, NAMES, TOOLS, USER, Played
from tests.conftest import data_of, refusal_of
from threads.models import Turn
from threads.runner import loop

V1 = "/v1/catalogue"
ECHO = f"{V1}/tools/demo__echo/call"


@pytest.fixture
def world(api):
    """`world("stateful", seed=1)` is a new world of alice's with six tools."""
    tools = [{"description": "", **tool} for tool in TOOLS]
    data_of(api("alice").post(f"{V1}/tools/import", {"dialect": "rdk", "server": "crm", "tools": tools}))
    return lambda mode, **body: Played(api("alice"), {"mode": mode, "tools": NAMES, **body})


class Maker:
    """Makes values as always, but first does what is to happen meanwhile; each thing once."""

    def __init__(self) -> None:
        self.meanwhile: list[Callable[[], Any]] = []
        self.count = 0
        self._is_busy = False

    def __call__(self, *given: Any, _made: Any = making.made, until: float, **named: Any) -> Any:
        self.count += 1
        if self.meanwhile and not self._is_busy and not making.is_late(until):
            self._is_busy = True
            self.meanwhile.pop(0)()
            self._is_busy = False
        return _made(*given, until=until, **named)


@pytest.fixture
def maker(monkeypatch) -> Maker:
    """No answer takes too long here, except where a test says so."""
    found = Maker()
    monkeypatch.setattr(making, "made", found)
    monkeypatch.setattr(playing, "BRIEF_SECONDS", 60)
    monkeypatch.setattr(playing, "LOCKED_SECONDS", 60)
    return found


@pytest.fixture
def slow(maker, monkeypatch):
    """All answers take long; one is made at a time."""
    slots = Slots(1, each=1)
    monkeypatch.setattr(playing, "BRIEF_SECONDS", -1)
    monkeypatch.setattr(playing, "PATIENCE_SECONDS", 0)
    monkeypatch.setattr(playing, "_long", slots)
    return slots


PROFILE = {"rate": 0.5, "codes": ["timeout"]}


def seed_of(fails: list[bool]) -> int:
    """A seed with which just these of the first steps fail."""
    steps = range(1, len(fails) + 1)
    at = lambda seed: [failing.failure_at(seed, step, PROFILE) is not None for step in steps]  # noqa: E731
    return next(seed for seed in range(1000) if at(seed) == fails)


def entities(played: Played) -> Any:
    return played.get("state")["entities"]


@pytest.mark.django_db(transaction=True)
def test_others_write_while_a_world_makes_an_answer(api, world, maker, slow):
    """It holds no lock, which on SQLite is the only one there is, and no connection of the pool."""
    played, begun, go_on = world("stateful", seed=1), Event(), Event()
    held: list[Any] = []
    answers: list[Any] = []

    def wait() -> None:
        held.extend([connection.in_atomic_block, connection.connection is not None])
        begun.set()
        go_on.wait(20)

    def create() -> None:
        answers.append(played.call("create_user", {"name": "Ann"}))
        connection.close()

    maker.meanwhile.append(wait)
    calling = Thread(target=create)
    calling.start()
    try:
        assert begun.wait(20)
        assert held == [False, False]
        body = {"messages": [make.say("Hello")]}
        assert api("eve").post("/v1/ai/threads", body).status_code == 200
        assert data_of(api("bob").post(f"{played.path}/reset", {"hard": False})) is not None
    finally:
        go_on.set()
        calling.join()
    assert answers[0]["result"]["success"] and answers[0]["step_count"] == 1
    assert len(entities(played)["user"]) == 1


def test_an_entity_that_is_created_meanwhile_comes_first_C102(world, maker):
    """The same seed and the same steps give the same answers, however long each of them took."""
    played, other = world("stateful", seed=1), world("stateful", seed=1)
    expected = [other.output("create_user", {"name": name}) for name in ("Bob", "Ann")]
    answers: list[Any] = []
    maker.meanwhile.append(lambda: answers.append(played.call("create_user", {"name": "Bob"})))
    answers.append(played.call("create_user", {"name": "Ann"}))
    assert [each["output"] for each in answers] == expected
    assert [each["step_count"] for each in answers] == [1, 2]
    assert entities(played) == entities(other)
    assert [(line["input"]["name"], line["step"]) for line in played.get("calls")["items"]] == [("Bob", 1), ("Ann", 2)]
    assert [line["step"] for line in played.get("state")["history"]] == [1, 2]


def test_a_soft_reset_and_as_many_steps_are_noticed_too_C111(world, maker):
    """The step is the same as before, and what is remembered is not."""
    played = world("stateful", seed=1)
    user_id = played.output("create_user", {"name": "Ann"})["id"]

    def move() -> None:
        played.post("reset", {"hard": False})
        played.output("update_user", {"user_id": user_id, "name": "Eve"})

    maker.meanwhile.append(move)
    answer = played.call("get_user", {"user_id": user_id})
    assert (answer["output"]["name"], answer["step_count"]) == ("Eve", 2)


def test_a_hard_reset_meanwhile_leaves_the_call_alone_in_the_world_C111(world, maker):
    played, other = world("stateful", seed=1), world("stateful", seed=1)
    expected = other.output("create_user", {"name": "Ann"})
    played.output("create_user", {"name": "Bob"})
    maker.meanwhile.append(lambda: played.post("reset", {"hard": True}))
    assert played.output("create_user", {"name": "Ann"}) == expected
    assert entities(played) == entities(other) and played.get("state")["step_count"] == 1


def test_fixtures_and_tools_that_are_replaced_meanwhile_count_C106(world, maker):
    played = world("examples", seed=1)
    fixture = {"tool": "crm__ping", "output": {"id": "given"}}
    maker.meanwhile.append(lambda: played.post("fixtures", {"fixtures": [fixture]}))
    assert played.output("ping") == {"id": "given"}
    tool = {"name": "look", "description": "", "parameters": FREE, "returns": USER}
    played.post("tools", {"dialect": "rdk", "tool": tool})
    newer = {**tool, "returns": {"const": "newer"}}
    maker.meanwhile.append(lambda: played.post("tools", {"dialect": "rdk", "tool": newer}))
    assert played.post("call", {"tool": "look", "input": {}})["output"] == "newer"


def test_answers_that_remember_nothing_are_made_once(world, maker):
    """Calls of a world without a state do not wait for each other, nor make each other's answers anew."""
    played = world("schema_only", seed=1)
    maker.meanwhile.append(lambda: played.output("ping"))
    assert played.call("get_user", {"user_id": "u1"})["step_count"] == 2
    assert maker.count == 2


@pytest.mark.parametrize("mode", ["schema_only", "stateful"])
@pytest.mark.parametrize("fails", [[True, False], [False, True]], ids=["the first", "the second"])
def test_a_failure_is_that_of_the_step_which_is_taken_C113(world, monkeypatch, mode, fails):
    """Of two calls at once each foresees the first step, and one of them gets the second."""
    played = world(mode, seed=seed_of(fails), failure_profile=PROFILE)
    failing_at, codes = failing.failure_at, []

    def looked(*given: Any) -> Any:
        found = failing_at(*given)
        monkeypatch.setattr(failing, "failure_at", failing_at)
        codes.append(played.code("ping"))
        return found

    monkeypatch.setattr(failing, "failure_at", looked)
    codes.append(played.code("get_user", {"user_id": "u1"}))
    assert codes == ["TIMEOUT" if each else None for each in fails]
    assert [line["step"] for line in played.get("calls")["items"]] == [1, 2]


def test_a_key_that_is_answered_meanwhile_is_one_call_C115(world, maker):
    played = world("stateful", seed=1)
    answers: list[Any] = []
    create = lambda: answers.append(played.call("create_user", {"name": "Ann"}, idempotency_key="k"))  # noqa: E731
    maker.meanwhile.append(create)
    create()
    assert [each["cache_hit"] for each in answers] == [False, True]
    assert answers[0]["output"] == answers[1]["output"] and len(entities(played)["user"]) == 1


def test_an_answer_in_a_world_that_never_rests_is_made_under_the_lock(world, maker):
    played = world("stateful", seed=1)
    maker.meanwhile = [lambda: played.output("create_user", {"name": "Bob"})] * playing.TRIES
    assert played.call("create_user", {"name": "Ann"})["step_count"] == playing.TRIES + 1
    assert not maker.meanwhile


def test_a_long_answer_in_a_world_that_never_rests_is_refused_and_nothing_is_stored(world, maker, monkeypatch):
    """Whoever is told so may try again."""
    played = world("stateful", seed=1)
    monkeypatch.setattr(playing, "LOCKED_SECONDS", -1)
    maker.meanwhile = [lambda: played.output("create_user", {"name": "Bob"})] * playing.TRIES
    body = {"tool": "crm__create_user", "input": {"name": "Ann"}, "idempotency_key": "k"}
    answer = played.api.post(f"{played.path}/call", body)
    assert refusal_of(answer)[:2] == (503, "RobotoServiceUnavailableException")
    assert answer.headers["Retry-After"]
    assert played.get()["step_count"] == playing.TRIES == Call.objects.count()
    assert {user["name"] for user in entities(played)["user"].values()} == {"Bob"}
    assert data_of(played.api.post(f"{played.path}/call", body))["cache_hit"] is False


def test_long_answers_have_slots(api, world, slow):
    """They need the processor: one person's many would stop everybody else."""
    played = world("stateful", seed=1)
    body = {"tool": "crm__create_user", "input": {"name": "Ann"}}
    assert slow.take("somebody")
    assert refusal_of(played.api.post(f"{played.path}/call", body))[0] == 503
    assert played.get()["step_count"] == 0 == Call.objects.count()
    slow.leave("somebody")
    assert played.output("create_user", {"name": "Ann"})["name"] == "Ann"
    assert slow.take("somebody"), "it is free again"


def test_a_call_of_the_catalogue_whose_second_step_finds_no_slot_stays_on_record(api, slow):
    body = {"mode": "schema_only", "tools": ["demo__echo"], "seed": seed_of([True, False]), "failure_profile": PROFILE}
    played = Played(api("alice"), body)
    slow.take("somebody")
    body = {"arguments": {"message": "hi"}, "world_id": played.record["world_id"], "retry_policy": {"tool_error": 1}}
    made = data_of(played.api.post(ECHO, body))
    assert [attempt["code"] for attempt in made["attempts"]] == ["TIMEOUT", "RATE_LIMITED"]
    assert (played.get()["step_count"], Call.objects.count()) == (1, 1)
    assert refusal_of(played.api.post(ECHO, body))[0] == 503
    assert (played.get()["step_count"], Call.objects.count()) == (1, 1), "and what took no step does not"


# In threads


@pytest.fixture
def thread(who, world):
    played = world("stateful", seed=1)
    text = '[[call crm__create_user {"name": "Ann"}]]'
    return played, make.thread(who.alice, text, run=False, world_id=played.record["world_id"])


def results_of(thread, api):
    return shapes.blocks(data_of(api("alice").get(f"threads/{thread.thread_id}")), "tool_result")


@pytest.mark.django_db(transaction=True)
def test_a_thread_is_not_locked_while_its_world_makes_an_answer(api, maker, slow, thread):
    played, thread = thread
    held: list[bool] = []
    maker.meanwhile.append(lambda: held.extend([connection.in_atomic_block, connection.connection is not None]))
    make.run_turns(thread)
    assert held == [False, False]
    assert [result["status"] for result in results_of(thread, api)] == ["success"]
    assert len(entities(played)["user"]) == 1


def test_a_turn_whose_world_moves_meanwhile_gets_the_answer_of_its_step(api, world, maker, thread):
    played, thread = thread
    other = world("stateful", seed=1)
    expected = [other.output("create_user", {"name": name}) for name in ("Bob", "Ann")]
    maker.meanwhile.append(lambda: played.output("create_user", {"name": "Bob"}))
    make.run_turns(thread)
    assert [(line["input"]["name"], line["step"]) for line in played.get("calls")["items"]] == [("Bob", 1), ("Ann", 2)]
    assert [result["payload"] for result in results_of(thread, api)] == expected[1:]


def test_whoever_lost_the_turn_while_the_world_made_an_answer_stores_nothing(api, maker, thread):
    """Spec 4.4: the second worker's step is the only one."""
    played, thread = thread
    turn = Turn.objects.get(thread=thread)

    def somebody_else_goes_on() -> None:
        make.let_expire(turn)
        loop.advance(turn.pk)

    maker.meanwhile.append(somebody_else_goes_on)
    loop.advance(turn.pk)
    assert [result["status"] for result in results_of(thread, api)] == ["success"]
    assert [line["cache_hit"] for line in played.get("calls")["items"]] == [False]
    assert played.get()["step_count"] == 1 and len(entities(played)["user"]) == 1


def test_a_turn_that_finds_no_slot_tells_the_model_so(api, slow, thread):
    played, thread = thread
    slow.take("somebody")
    make.run_turns(thread)
    [result] = results_of(thread, api)
    assert (result["status"], result["payload"]["code"]) == ("error", "RATE_LIMITED")
    assert played.get()["step_count"] == 0
