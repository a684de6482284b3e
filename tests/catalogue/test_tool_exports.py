"""Whatever was imported can be exported, or is refused by name; no list breaks (C31, C46, C50, 1.12)."""

import copy
from itertools import count
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalogue import dialects
from catalogue.dialects.sheet import HINTS
from tests.api.test_tools import IMPORT, TOOLS, imported
from tests.catalogue.speaking import MINIMAL, SCHEMA, across
from tests.catalogue.test_tool_ctp import DEFINITION, parameter
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


WRITTEN = [name for name, dialect in dialects.DIALECTS.items() if dialect.write]
PLACES: dict[str, list[tuple[str | int, ...]]] = {
    "openai": [(), ("function",)],
    "mcp": [(), ("annotations",), ("_meta",)],
    "data_harness": [(), ("annotations",)],
    "ctp": [(), ("example",), *(("parameters", 0, *more) for more in ((), ("validation",), ("options", 0)))],
}
"""Where a dialect's tool has objects; the others have one."""
FULL: dict[str, Any] = {
    **MINIMAL,
    "mcp": {**MINIMAL["mcp"], "annotations": {}, "_meta": {}},
    "data_harness": {**MINIMAL["data_harness"], "annotations": {}},
    "ctp": {
        **MINIMAL["ctp"],
        "parameters": [parameter("q", "select", options=[{"value": "a", "label": "A"}], validation={})],
    },
}
WORDS = [
    "$outer", "$$outer", "$filter", "a/b", "a~b", "function", "type", "title", "extras", "annotations", "_meta",
    "parameters", "example", "strict", "status", "both", "output_schema", "outputSchema", "description", "idempotent",
    "visible", "tags", "validation", "options", "executionMode", "rateLimit", "icon", "version", "deprecated",
    "param_names", "capabilities", "heddle/tags", "heddle/visible", "idempotentHint", "default", "multiple",
    "minLength",
]  # fmt: skip
KEY = st.sampled_from(WORDS) | st.text("$_/~.aZ1é ", max_size=3)
LEAF = st.none() | st.booleans() | st.integers(-2, 9) | st.sampled_from(["", "a", "both", "1.0.0", "$ref", "x" * 1200])
VALUE = st.recursive(
    LEAF, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEY, inner, max_size=2), max_leaves=3
)
SCHEMAS = st.sampled_from(
    [
        {}, {"required": ["gone"]}, {"properties": {"q": {"enum": [None, 1, "1", {"a": 1}], "default": 1}}},
        {"properties": {"q": True, "$filter": {"type": "integer", "multipleOf": 0.5}}}, {"$ref": "#/$defs/a",
        "$defs": {"a": {"properties": {"q": {"$ref": "#"}}}}}, SCHEMA,
    ]
)  # fmt: skip

_NUMBERS = count()


@st.composite
def sent(draw: st.DrawFn, dialect: str) -> dict[str, Any]:
    """A tool with keys of any name, wherever its dialect has an object, and with schemas of many kinds."""
    tool: dict[str, Any] = copy.deepcopy(FULL[dialect])
    for holder in (tool, tool.get("function", {})):
        for key in ("parameters", "input_schema", "inputSchema", "returns"):
            if isinstance(holder.get(key), dict):
                holder[key] = draw(SCHEMAS)
    for place in PLACES.get(dialect, [()]):
        holder = tool
        for step in place:
            holder = holder[step]
        holder |= {
            key: value for key, value in draw(st.dictionaries(KEY, VALUE, max_size=2)).items() if key not in holder
        }
    return tool


@pytest.mark.parametrize("dialect", WRITTEN)
@given(data=st.data())
@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_imported_is_exported_or_refused_by_name(api, dialect, data):
    """1.12, C46 and C50: as one tool and in a list, in every dialect and style; in CTP by its closed schema (C41)."""
    alice, tool = api("alice"), data.draw(sent(dialect))
    server = f"srv{next(_NUMBERS)}"  # what belongs to all versions of a tool, as its tags, is kept by the next import
    answer = alice.post(IMPORT, {"dialect": dialect, "server": server, "tool": tool})
    if answer.status_code != 200:
        assert answer.status_code == 400 and answer.json()["details"]["reason"] in ("invalid_tool", "invalid_schema")
        return
    [item] = data_of(answer)["items"]
    for target in [*WRITTEN, "openai&style=responses"]:
        name = target.partition("&")[0]
        there = alice.get(f"{TOOLS}/{item['qualified_name']}?dialect={target}")
        listed = data_of(alice.get(f"{TOOLS}?dialect={target}&server={server}&visible=any&naming=bare"))
        if there.status_code == 200:
            found = data_of(there)
            assert listed["items"] == [found["tool"]] and listed["omitted"] == []
            assert name != "ctp" or jsonschema.validate(found["tool"], DEFINITION) is None
            if name == dialect and "&" not in target:
                assert found["losses"] or _is_home(found["tool"], tool, dialect)
        else:
            assert (there.status_code, there.json()["details"]["reason"]) == (400, "not_representable")
            assert [each["reason"] for each in listed["omitted"]] == ["not_representable"]


def _is_home(written: dict[str, Any], tool: dict[str, Any], dialect: str) -> bool:
    """Rule 4 of 1.12: equal but for defaults that are written out."""
    defaults: dict[str, Any] = {
        "convilyn": {"idempotent": False, "output_schema": None},
        "data_harness": {"visible": True, "annotations": None},
    }.get(dialect, {})
    given = {key: value for key, value in tool.items() if value is not None or key not in defaults}
    if dialect == "data_harness":
        hints = {**dict.fromkeys(HINTS), "title": None, **tool["annotations"]}
        given["annotations"] = hints if any(value is not None for value in hints.values()) else None
    if dialect == "ctp":
        given["parameters"] = [_respelled(each) for each in tool["parameters"]]
    return written == {**defaults, **given}


def _respelled(parameter: dict[str, Any]) -> dict[str, Any]:
    """CTP's two spellings of a parameter are read, and one is written."""
    names = {"default": "defaultValue"}
    flat = {key: parameter[key] for key in ("minLength",) if key in parameter}
    nested = {"validation": {**flat, **parameter["validation"]}}
    return {**{names.get(key, key): value for key, value in parameter.items() if key not in flat}, **nested}
