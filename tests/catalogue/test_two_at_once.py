"""Imports, changes in place, calls and worlds that meet at the same moment (C2, C3, C51, C106, C113, C115, C134)."""

from collections.abc import Callable
from threading import Barrier, Event, Thread
from time import sleep

import pytest
from django.db import connection

from catalogue.elsewhere import handlers
from catalogue.models import Call, Tool, ToolVersion, WorldFixture
from core import outbound
from tests import people
from tests.conftest import Api, data_of

pytestmark = pytest.mark.django_db(transaction=True)


def together(*acts: Callable[[], object]) -> list[object]:
    """What each act answers when all of them begin at once."""
    start, answers = Barrier(len(acts)), [None] * len(acts)

    def run(place: int) -> None:
        start.wait()
        try:
            answers[place] = acts[place]()
        finally:
            connection.close()

    threads = [Thread(target=run, args=(place,)) for place in range(len(acts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def test_imports_of_one_server_follow_each_other():
    """Each content is one version, whoever came first, and nobody hears of the other."""
    token = people.gather().alice.token

    def importing(text: str) -> Callable[[], object]:
        tools = [{"name": f"tool{number}", "description": text} for number in range(5)]
        body = {"dialect": "openai", "server": "srv", "tools": tools}
        return lambda: Api(token).post("/v1/catalogue/tools/import", body).status_code

    assert together(*(importing(text) for text in ("a", "b", "a", "b"))) == [200] * 4
    assert Tool.objects.filter(server__name="srv").count() == 5
    for tool in Tool.objects.filter(server__name="srv"):
        numbers = sorted(ToolVersion.objects.filter(tool=tool).values_list("version", flat=True))
        assert numbers == list(range(1, tool.version + 1)) and 2 <= tool.version <= 4


def test_one_key_from_two_clients_is_one_call_C134():
    """Catalogue 3.1: whoever is second gets the answer, or hears that there is none yet; nothing is done twice."""
    token = people.gather().alice.token
    path = "/v1/catalogue/tools/demo__counter/call"
    for number in range(4):
        sent = {"idempotency_key": f"k{number}"}
        statuses = together(*[lambda sent=sent: Api(token).post(path, sent).status_code] * 3)
        assert set(statuses) <= {200, 409} and 200 in statuses
        assert data_of(Api(token).post(path, sent))["result"]["data"] == {"count": number + 1}
    assert Call.objects.count() == 4


def test_a_world_that_two_play_takes_a_step_for_each_C113_C115():
    """Every step is somebody's, every entity is kept, and one key is one answer."""
    token = people.gather().alice.token
    tool = {"name": "create_note", "description": "", "parameters": {}, "returns": {"type": "object"}}
    world = data_of(Api(token).post("/v1/catalogue/worlds", {"mode": "stateful", "seed": 1}))
    path = f"/v1/catalogue/worlds/{world['world_id']}"
    data_of(Api(token).post(f"{path}/tools", {"dialect": "rdk", "tool": tool}))

    def playing(**more: object) -> Callable[[], object]:
        return lambda: data_of(Api(token).post(f"{path}/call", {"tool": "create_note", **more}))

    answers = together(*[playing()] * 3, *[playing(idempotency_key="k")] * 3)
    assert sorted(each["step_count"] for each in answers if not each["cache_hit"]) == [1, 2, 3, 4]
    assert len({each["output"]["id"] for each in answers}) == 4
    assert sum(each["cache_hit"] for each in answers) == 2
    assert len(data_of(Api(token).get(f"{path}/state"))["entities"]["note"]) == 4


def test_fixtures_that_two_replace_are_those_of_one_C106():
    token = people.gather().alice.token
    body = {"mode": "examples", "tools": ["demo__echo"]}
    path = f"/v1/catalogue/worlds/{data_of(Api(token).post('/v1/catalogue/worlds', body))['world_id']}"

    def replacing(mark: str) -> Callable[[], object]:
        given = [{"tool": "demo__echo", "input": {"n": n}, "output": mark} for n in range(20)]
        return lambda: Api(token).post(f"{path}/fixtures", {"fixtures": given}).status_code

    assert together(*(replacing(mark) for mark in "abc")) == [200] * 3
    assert WorldFixture.objects.count() == 20 and len(set(WorldFixture.objects.values_list("output", flat=True))) == 1


def test_an_import_does_not_undo_what_a_person_sets_meanwhile():
    token = people.gather().alice.token
    path = "/v1/catalogue/tools/import"
    for number in range(4):
        body = {"dialect": "openai", "server": "srv", "tool": {"name": f"tool{number}", "description": "a"}}
        assert Api(token).post(path, body).status_code == 200
        changed = {**body, "tool": {**body["tool"], "description": "b"}}
        tool = f"/v1/catalogue/tools/srv__tool{number}"
        acts = (
            lambda changed=changed: Api(token).post(path, changed).status_code,
            lambda tool=tool: Api(token).patch(tool, {"visible": False, "tags": ["t"]}).status_code,
        )
        assert together(*acts) == [200, 200]
        row = Tool.objects.get(name=f"tool{number}")
        assert (row.version, row.visible, row.tags, "b" in row.search) == (2, False, ["t"], True)


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
def test_no_tool_keeps_a_handler_of_a_connection_that_is_deleted_meanwhile(monkeypatch):
    """Whichever comes first, the tool needs no connection that is gone."""
    alice = Api(people.gather().alice.token)
    monkeypatch.setattr(outbound, "check_url", lambda url: None)
    body = {"dialect": "mcp", "server": "crm", "tools": [{"name": "a", "inputSchema": {"type": "object"}}]}
    data_of(alice.post("/v1/catalogue/tools/import", body))
    path = "/v1/catalogue/servers/crm/connection"
    data_of(alice.put(path, {"kind": "http", "url": "https://example.org/x", "attach": False}))
    looked, is_connected = Event(), handlers._is_connected

    def connected(*asked: object) -> bool:
        found = is_connected(*asked)
        looked.set()
        sleep(0.4)
        return found

    def deleting() -> int:
        assert looked.wait(5)
        return alice.request("DELETE", path).status_code

    monkeypatch.setattr(handlers, "_is_connected", connected)
    changing = lambda: alice.patch("/v1/catalogue/tools/crm__a", {"handler": {"kind": "http"}}).status_code  # noqa: E731
    assert together(changing, deleting) == [200, 200]
    assert not Tool.objects.get(qualified_name="crm__a").is_dispatchable
