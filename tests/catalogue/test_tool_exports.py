"""Whatever was imported can be exported, or is refused by name; no list breaks (C31, C46, C50, 1.12)."""

from typing import Any

import pytest

from catalogue import dialects
from tests.api.test_tools import TOOLS, imported
from tests.catalogue.speaking import across
from tests.conftest import data_of

FLAT = {"type": "function", "name": "look", "description": "Look.", "parameters": {"type": "object"}}


def function(**more: Any) -> dict[str, Any]:
    inner = {key: value for key, value in FLAT.items() if key != "type"}
    return {"type": "function", "function": {**inner, **more}}


@pytest.mark.parametrize(
    "tool",
    [
        {**FLAT, "$outer": 5},
        {**FLAT, "$outer": {"a": 1}, "$$outer": None},
        function(**{"$outer": {"a": 1}, "$$outer": 2}),
        {**function(**{"$outer": 5}), "$outer": 6, "x": 7},
        {**function(type="odd"), "name": "other"},
    ],
)
def test_no_key_takes_the_place_of_what_stands_beside_a_function_C31(api, tool):
    """C31 and rule 4 of 1.12: and neither the list nor the checks of its server break."""
    alice = api("alice")
    imported(alice, tool)
    nested = tool if "function" in tool else function(**{key: tool[key] for key in tool if key != "type"})
    found = data_of(alice.get(f"{TOOLS}/srv__look?dialect=openai"))
    assert (found["tool"], found["losses"]) == (nested, [])
    assert data_of(alice.get(f"{TOOLS}?dialect=openai&server=srv&naming=bare"))["items"] == [nested]
    assert alice.post("/v1/catalogue/compliance", {"server": "srv"}).status_code == 200


def test_a_key_that_stands_in_both_places_is_lost_by_name_in_the_flat_form():
    nested = {**function(x=1, function=2, type="odd"), "x": 3, "strict": True, "name": "other"}
    exported = across("openai", "openai", nested, style="responses")
    assert exported.tool == {**FLAT, "x": 1, "strict": True}
    assert {loss.path for loss in exported.losses} == {
        "/extras/openai/$outer/x", "/extras/openai/$outer/name", "/extras/openai/function", "/extras/openai/type",
    }  # fmt: skip


def test_a_tool_that_cannot_be_written_is_left_out_of_lists(api, monkeypatch):
    """C50: even by a fault of Heddle's own, which costs nobody the other tools."""
    alice, write = api("alice"), dialects.openai.write

    def broken(sheet):
        if sheet.tool.name == "bad":
            raise KeyError("gone")
        return write(sheet)

    imported(alice, {**FLAT, "name": "bad"}, {**FLAT, "name": "good"})
    monkeypatch.setitem(dialects.DIALECTS, "openai", dialects.replace(dialects.DIALECTS["openai"], write=broken))
    found = data_of(alice.get(f"{TOOLS}?dialect=openai&server=srv"))
    assert [each["function"]["name"] for each in found["items"]] == ["srv__good"]
    assert [(each["qualified_name"], each["reason"]) for each in found["omitted"]] == [("srv__bad", "internal_error")]
    checks = data_of(alice.post("/v1/catalogue/compliance", {"server": "srv"}))["results"]
    assert {each["passed"] for each in checks if each["check_name"] == "heddle:portable_name:bad"} == {False}
    assert alice.get(f"{TOOLS}/srv__bad?dialect=openai").status_code == 500
