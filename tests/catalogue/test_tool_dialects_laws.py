"""Laws of the tool dialects: what comes in goes out again, and nonsense breaks nothing (1.12, C37, C47)."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalogue.dialects import DIALECTS
from catalogue.record import ToolProblem
from core.canonical import canonical_json, fingerprint
from tests.catalogue.speaking import MINIMAL, across, read, stored, write

WORD = st.text("abcxyz", min_size=1, max_size=4)
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
FLAG = st.booleans()
JSON = st.none() | FLAG | st.integers() | TEXT | st.lists(TEXT | FLAG, max_size=2)
EXTRA = st.dictionaries(WORD.map("x_{}".format), JSON, max_size=2)
LEAF = st.builds(lambda kind: {"type": kind}, st.sampled_from(["string", "integer", "number", "boolean"]))
SCHEMA = st.builds(
    lambda properties, more: {"type": "object", "properties": properties, **more},
    st.dictionaries(WORD, LEAF | LEAF.map(lambda leaf: {"type": "array", "items": leaf}), max_size=3),
    st.sampled_from([{}, {"required": []}, {"additionalProperties": False}]),
)
KNOWN = ("read_only", "cache_mutating", "destructive", "open_world")
ANNOTATIONS = st.fixed_dictionaries({"title": TEXT, **{hint: st.none() | FLAG for hint in KNOWN}})
HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
MCP_META = {
    "heddle/visible": FLAG,
    "heddle/tags": st.lists(WORD, unique=True),
    "heddle/cache_mutating": FLAG,
}
MAYBE = {
    "mcp": {
        "title": st.none() | TEXT,
        "outputSchema": st.none() | SCHEMA,
        "annotations": st.none()
        | st.fixed_dictionaries({}, optional={"title": TEXT, **dict.fromkeys(HINTS, st.none() | FLAG)}),
        "_meta": st.none() | st.fixed_dictionaries({"other": JSON}, optional=MCP_META),
    },
    "anthropic": {"cache_control": JSON, "type": st.sampled_from([None, "custom"])},
    "openai": {"strict": st.none() | FLAG},
    "rdk": {"param_names": st.none() | st.lists(WORD, unique=True)},
}
BASE: dict[str, dict[str, Any]] = {
    "convilyn": {"input_schema": SCHEMA, "idempotent": FLAG, "output_schema": st.none() | SCHEMA},
    "data_harness": {"input_schema": SCHEMA, "visible": FLAG, "annotations": st.none() | ANNOTATIONS},
    "rdk": {"parameters": SCHEMA, "returns": SCHEMA},
    "roboto": {"name": WORD.map("client_{}".format), "input_schema": SCHEMA},
    "openai": {"parameters": SCHEMA},
    "anthropic": {"input_schema": SCHEMA},
    "mcp": {"inputSchema": SCHEMA},
}


@st.composite
def foreign(draw: st.DrawFn, dialect: str) -> dict[str, Any]:
    """A tool as that dialect writes it, with keys nobody knows."""
    description = TEXT | st.none() if dialect in ("anthropic", "mcp", "openai") else TEXT
    fields = {"name": WORD, "description": description, **BASE[dialect]}
    tool = draw(st.fixed_dictionaries(fields, optional=MAYBE.get(dialect, {})))
    tool.update(draw(EXTRA))
    return {"type": "function", "function": tool, **draw(EXTRA)} if dialect == "openai" else tool


@pytest.mark.parametrize("dialect", sorted(BASE))
@given(data=st.data())
@settings(max_examples=20)
def test_a_tool_comes_home_as_it_was(dialect: str, data: st.DataObject) -> None:
    """Rule 4 of 1.12."""
    tool = data.draw(foreign(dialect))
    exported = across(dialect, dialect, tool)
    assert exported.tool == tool
    assert exported.losses == []


@pytest.mark.parametrize("target", [name for name, dialect in DIALECTS.items() if dialect.write])
@given(data=st.data())
@settings(max_examples=12)
def test_what_is_written_can_be_read_and_written_the_same(target: str, data: st.DataObject) -> None:
    """From any dialect into any other: the form is a fixed point there."""
    source = data.draw(st.sampled_from(sorted(BASE)))
    form = write(target, stored(read(source, data.draw(foreign(source))))).tool
    assert across(target, target, form).tool == form


@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name != "python"])
@given(data=st.data())
@settings(max_examples=20)
def test_nonsense_is_refused_and_never_breaks(dialect: str, data: st.DataObject) -> None:
    tool = copy.deepcopy(MINIMAL[dialect])
    inner = tool.setdefault("function", {}) if dialect == "openai" else tool
    keys = [*inner, "annotations", "_meta", "options", "visible"]
    for key in data.draw(st.lists(st.sampled_from(keys), max_size=3)):
        inner[key] = data.draw(JSON | st.dictionaries(TEXT, JSON, max_size=2))
    problem = None
    try:
        read(dialect, tool)
    except ToolProblem as refused:
        problem = refused
    reasons = ("invalid_tool", "invalid_schema", "unsupported_tool_type")
    assert problem is None or (problem.reason in reasons and problem.path[0] == "/")


SIMPLE = st.none() | FLAG | st.integers(-99, 99) | TEXT
VALUES = st.recursive(SIMPLE, lambda some: st.dictionaries(TEXT, some, max_size=3), max_leaves=6)


@given(VALUES)
@settings(max_examples=30)
def test_canonical_json_knows_neither_the_order_of_keys_nor_how_a_whole_number_was_written(value: Any) -> None:
    def other(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: other(item[key]) for key in reversed(item)}
        return float(item) if isinstance(item, int) and not isinstance(item, bool) else item

    assert canonical_json(value) == canonical_json(other(value))
    assert fingerprint([value]) != fingerprint([[value]])
