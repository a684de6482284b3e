"""What the sweep clears of the catalogue, and what it leaves alone (docs/operations.md; C117, C134)."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from catalogue import sweeping
from catalogue.models import Call, World, WorldAnswer, WorldEntity, WorldFixture
from tests import make
from tests.api.test_worlds import Played
from tests.conftest import data_of

V1 = "/v1/catalogue"
ECHO = f"{V1}/tools/demo__echo/call"


@pytest.fixture
def kept(settings):
    """What the operator keeps, in days."""

    def keep(**days: float) -> None:
        settings.HEDDLE = settings.HEDDLE.model_copy(update=days)

    keep(call_days=90, world_days=30)
    return keep


@pytest.fixture
def days_later(kept):
    """Let so many days go by, then the sweep."""

    def swept(days: float) -> None:
        with time_machine.travel(timezone.now() + timedelta(days=days), tick=False):
            sweeping.sweep()

    return swept


@pytest.fixture
def world(api):
    """A stateful world of alice's in which something was done."""

    def made(**body: Any) -> Played:
        played = Played(api("alice"), {"mode": "stateful", "tools": ["demo__echo", "demo__counter"], **body})
        played.call("demo__echo", {"message": "hi"}, idempotency_key="k")
        played.post("fixtures", {"fixtures": [{"tool": "demo__counter", "output": {"count": 1}}]})
        return played

    return made


def called(api, **body: Any) -> str:
    return data_of(api("alice").post(ECHO, {"arguments": {"message": "hi"}, **body}))["call_id"]


def is_there(api, path: str) -> bool:
    status = api("alice").get(f"{V1}/{path}").status_code
    assert status in (200, 404)
    return status == 200


def test_a_call_is_forgotten_when_its_days_are_over(api, days_later):
    call_id = called(api)
    days_later(89)
    assert is_there(api, f"calls/{call_id}")
    days_later(91)
    assert not is_there(api, f"calls/{call_id}")


def test_a_key_still_stands_for_its_call_years_later(api, days_later):
    """A key never expires, so what was called under it is not called again."""
    first = called(api, idempotency_key="once")
    days_later(3650)
    assert called(api, idempotency_key="once") == first


def test_a_call_whose_outcome_nobody_knows_stays(api, days_later):
    call_id = called(api)
    Call.objects.update(outcome=Call.Outcome.UNKNOWN)
    days_later(3650)
    assert is_there(api, f"calls/{call_id}")


def test_a_call_that_a_turn_is_at_stays_and_a_finished_one_goes_without_harm(api, who, days_later):
    """The transcript holds what came of a call; the record is needed until then, so that it is not made twice."""
    thread = make.thread(who.alice, '[[call calculate {"expression": "6*7"}]]')
    before = api("alice").get(f"threads/{thread.thread_id}").content
    days_later(91)
    assert not Call.objects.exists()
    assert api("alice").get(f"threads/{thread.thread_id}").content == before
    make.thread(who.alice, '[[call calculate {"expression": "6*7"}]]')
    Call.objects.update(outcome="")
    days_later(91)
    assert Call.objects.count() == 1


def test_a_world_goes_with_all_it_holds_when_it_has_long_been_over(api, world, days_later):
    played = world(ttl_seconds=60)
    path = f"worlds/{played.record['world_id']}"
    days_later(29)
    assert is_there(api, path) and len(played.get("calls")["items"]) == 1
    days_later(31)
    assert not is_there(api, path)
    for kind in (World, Call, WorldAnswer, WorldFixture, WorldEntity):
        assert not kind.objects.exists()


def test_a_world_that_is_open_keeps_its_calls_whatever_their_age(api, world, days_later, kept):
    kept(call_days=1, world_days=1)
    played = world(ttl_seconds=30 * 86_400)
    days_later(20)
    assert len(played.get("calls")["items"]) == 1


def test_a_world_that_a_thread_is_in_stays(api, who, world, days_later):
    played = world(ttl_seconds=60)
    make.thread(who.alice, '[[call demo__echo {"message": "a"}]]', world_id=played.record["world_id"])
    days_later(3650)
    assert is_there(api, f"worlds/{played.record['world_id']}") and len(played.get("calls")["items"]) == 2


def test_with_0_everything_stays(api, world, days_later, kept):
    kept(call_days=0, world_days=0)
    call_id, played = called(api), world(ttl_seconds=60)
    days_later(36_500)
    assert is_there(api, f"calls/{call_id}") and is_there(api, f"worlds/{played.record['world_id']}")


def test_much_goes_little_by_little(api, world, days_later, monkeypatch):
    """No statement takes more rows than a writer would wait for; a world is the last thing of itself that goes."""
    monkeypatch.setattr(sweeping, "CLEARED_AT_ONCE", 2)
    played = world(ttl_seconds=60)
    for number in range(4):
        called(api)
        played.call("demo__echo", {"message": str(number)})
    counts = []
    while World.objects.exists():
        days_later(91)
        counts.append((Call.objects.filter(world=None).count(), Call.objects.exclude(world=None).count()))
    assert counts == [(2, 3), (0, 1), (0, 0)]


def test_with_nothing_old_a_sweep_is_two_queries(api, world, kept):
    called(api)
    world()
    with CaptureQueriesContext(
        connection,
    ) as asked:
        sweeping.sweep()
    assert len(asked) == 2
