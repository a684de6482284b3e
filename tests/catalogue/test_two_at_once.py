"""Imports, and changes in place, that meet at the same moment (C2, C3, C51)."""

from collections.abc import Callable
from threading import Barrier, Thread

import pytest
from django.db import connection

from catalogue.models import Tool, ToolVersion
from tests import people
from tests.conftest import Api

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor == "sqlite", reason="threads cannot share the tests' database in memory"),
]


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
