"""Python functions as tools (1.13, 3.7): parsed, never run (C97 to C101). C98 and C99 stand with the referees."""

import inspect
import warnings
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalogue.record import ToolProblem
from tests.catalogue.speaking import read


def content(source: str, style: str = "heddle"):
    return read("python", {"source": source, "style": style}).content


def properties(source: str, style: str = "heddle"):
    return content(source, style).input_schema["properties"]


def test_c97_the_seeds_functions_in_rdk_style():
    found = content('def get_user(user_id: str, include_email: bool = False) -> dict:\n    """Get a user."""', "rdk")
    assert found.input_schema == {
        "type": "object",
        "properties": {"user_id": {"type": "string"}, "include_email": {"type": "boolean"}},
        "required": ["user_id"],
    }
    assert (found.output_schema, found.description) == ({"type": "object"}, "Get a user.")
    free = content("def now(zone: list[str] = None, *, self=1): ...", "rdk")
    assert free.input_schema == {
        "type": "object",
        "properties": {"zone": {"type": "string"}, "self": {"type": "string"}},
    }
    assert free.output_schema == {"type": "object"}


def test_c98_data_harness_style_refuses_what_it_cannot_say():
    for annotation in (": dict", ": Optional[int]", ": list[int]", ": Any", ""):
        with pytest.raises(ToolProblem) as caught:
            content(f"def f(x{annotation}): ...", "data_harness")
        assert caught.value.reason == "invalid_tool"
    assert content("def f(): ...", "data_harness").input_schema == {"type": "object", "properties": {}, "required": []}


SOURCE = '''
from typing import Annotated, Any, Literal, Optional
from pydantic import Field

@server.tool(description=explode())
async def book(
    self,
    context: ToolContext,
    city: str,
    days: Optional[int],
    names: list[str],
    prices: "dict[str, float]",
    free: dict[str, Any],
    mood: Literal["calm", "loud"],
    level: Literal[1, 2] = 2,
    mixed: Literal["a", 1, None] = None,
    count: Annotated[int, Field(ge=1, le=9, description="how many")] = 1,
    notes: Annotated[list[str], "in order", Field(max_length=3)] = [],
    pair: tuple[int, str] = None,
    many: tuple[int, ...] = None,
    once: set[str] = None,
    either: int | str | None = None,
    anything: Any = None,
    raw: bytes = None,
    *,
    plain=-1.5,
) -> list[dict]:
    """Book a stay.

    In any city.

    Args:
        city: Where to stay,
            by name.
        count (int): Overruled by the annotation.

    Returns:
        The bookings.
    """
    raise SystemExit
'''


LINES = st.sampled_from(
    [
        *("Do it.", "", "Args:", "args:", "Args :", "Arguments:", "Returns:", "See Also:", "Notes:", "Args: a"),
        *("    a: first", "    b (int): second", "        and more", "    no parameter", "    a:", "    Returns: no"),
        *("  b: less deep", "a: not deep"),
    ]
)


@cache
def sdk() -> ModuleType:
    with warnings.catch_warnings(action="ignore"):
        return import_module("roboto.ai.agent_thread")


@settings(max_examples=200)
@given(st.lists(LINES, min_size=1, max_size=9))
def test_c100_docstrings_say_here_what_they_say_with_the_sdk(lines):
    """Threads 6.2: where text ends and parameters begin is decided in one way."""
    doc = inspect.cleandoc("\n".join(lines))
    source = f"def client_f(a: str, b: str):\n    {'Do it.' + chr(10) + doc!r}\n"
    made: dict[str, Any] = {}
    exec(source, made)  # noqa: S102 - written here
    tool = sdk().ClientTool.from_function(made["client_f"])
    found = read("python", {"source": source}).content
    assert found.description == tool.spec.description
    ours, theirs = ({name: each.get("description") for name, each in schema["properties"].items()}
                    for schema in (found.input_schema, tool.spec.input_schema))  # fmt: skip
    assert ours == {name: said or None for name, said in theirs.items()}


@pytest.mark.parametrize("style", ["heddle", "convilyn", "rdk", "data_harness"])
def test_a_default_is_a_literal_in_every_style(style):
    """Catalogue 1.13: nothing is run, so nothing else could be told."""
    with pytest.raises(ToolProblem, match="default"):
        read("python", {"source": 'def f(a: str = open("x")):\n    "Does."', "style": style})


def test_c100_heddles_own_style():
    found = read("python", {"source": SOURCE})
    text, integer = {"type": "string"}, {"type": "integer"}
    assert (found.name, found.content.description) == ("book", "Book a stay.\n\nIn any city.")
    assert found.content.input_schema["properties"] == {
        "city": {"type": "string", "description": "Where to stay, by name."},
        "days": {"anyOf": [integer, {"type": "null"}]},
        "names": {"type": "array", "items": text},
        "prices": {"type": "object", "additionalProperties": {"type": "number"}},
        "free": {"type": "object"},
        "mood": {"type": "string", "enum": ["calm", "loud"]},
        "level": {"type": "integer", "enum": [1, 2], "default": 2},
        "mixed": {"enum": ["a", 1, None], "default": None},
        "count": {"type": "integer", "minimum": 1, "maximum": 9, "description": "how many", "default": 1},
        "notes": {"type": "array", "items": text, "description": "in order", "maxItems": 3, "default": []},
        "pair": {"type": "array", "prefixItems": [integer, text], "minItems": 2, "maxItems": 2, "default": None},
        "many": {"type": "array", "items": integer, "default": None},
        "once": {"type": "array", "uniqueItems": True, "items": text, "default": None},
        "either": {"anyOf": [integer, text, {"type": "null"}], "default": None},
        "anything": {"default": None},
        "raw": {"default": None},
        "plain": {"default": -1.5},
    }
    assert found.content.input_schema["required"] == ["city", "days", "names", "prices", "free", "mood"]
    assert found.content.param_order == list(found.content.input_schema["properties"])
    assert found.content.output_schema == {"type": "array", "items": {"type": "object"}}
    assert found.warnings == ["bytes has no schema of its own: anything is accepted"]
    assert content("def f() -> None: ...").output_schema is None
    assert content("def f(): ...").input_schema == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        ("Optional[Optional[int]]", {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ("Union[int, int | None]", {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ("Union[int]", {"type": "integer"}),
        ("Optional[None]", {"type": "null"}),
        (
            "Union[Literal[1], Literal[True]]",
            {"anyOf": [{"type": "integer", "enum": [1]}, {"type": "boolean", "enum": [True]}]},
        ),
    ],
)
def test_c100_a_union_is_as_python_makes_it(annotation, schema):
    assert properties(f"def f(a: {annotation}): ...") == {"a": schema}


@pytest.mark.parametrize(
    "source",
    [
        "import os\nos.makedirs('{path}')\ndef f(): ...",
        "def f(): ...\ndef g(): ...",
        "x = 1",
        "",
        "class A:\n    def f(self): ...",
        "def f(*args): ...",
        "def f(**kwargs): ...",
        "def f(a, /): ...",
        "def f(:",
        "def f(x=open('{path}', 'w')): ...",
        "def f(x={{1, 2}}): ...",
        "def f(x=b'1'): ...",
        "def f(x=1e999): ...",
        "def f(x: Literal[y]): ...",
        "def f(x: 'open('): ...",
        "def f(x=" + "(" * 500 + ")" * 500 + "): ...",
        "def f(x: " + "list[" * 60 + "int" + "]" * 60 + "): ...",
        "def f():\0 ...",
        "#" * 70_000,
    ],
)
def test_c101_anything_but_one_plain_function_is_refused_and_nothing_runs(source, tmp_path, api):
    """C101: through the route, as it would be tried."""
    path = tmp_path / "made"
    sent = {"dialect": "python", "server": "srv", "source": source.format(path=path)}
    answer = api("alice").post("/v1/catalogue/tools/import", sent)
    assert answer.status_code == 400
    assert not path.exists()
    assert "\0" in source or answer.json()["details"]["reason"] == "invalid_tool"


@pytest.mark.parametrize(
    "source",
    [
        r"def f(x='\ud800'): ...",
        r"def f(x='\x00'): ...",
        r"def f(x={'\ud800': 1}): ...",
        'def f(x):\n    """Half of a pair: \\ud800."""',
        'def f(x):\n    """Does.\n\n    Args:\n        x: nothing \\x00.\n    """',
        r"def f(x: Annotated[str, '\ud800']): ...",
        r"def f(x: Literal['\x00']): ...",
        "def f(x=0x" + "f" * 6000 + "): ...",
    ],
)
def test_c101_what_a_literal_holds_can_be_stored_or_is_refused(source, api):
    """By both doors that take a function: no escape of Python's brings in what JSON's could not."""
    alice = api("alice")
    world = alice.post("/v1/catalogue/worlds", {}).json()["data"]["world_id"]
    for path, body in (
        ("/v1/catalogue/tools/import", {"server": "srv", "source": source}),
        (f"/v1/catalogue/worlds/{world}/tools", {"tool": {"source": source}}),
    ):
        answer = alice.post(path, {"dialect": "python", **body})
        assert (answer.status_code, answer.json()["details"]["reason"]) == (400, "invalid_tool"), path


def test_a_stub_is_a_tool_like_any_other(api):
    """C97 to C100 by the route; a dialect that cannot be written is no dialect to export to (C8)."""
    alice = api("alice")
    sent = {"dialect": "python", "server": "srv", "source": SOURCE, "options": {"style": "rdk"}}
    [item] = alice.post("/v1/catalogue/tools/import", sent).json()["data"]["items"]
    assert (item["outcome"], item["qualified_name"]) == ("created", "srv__book")
    answer = alice.get("/v1/catalogue/tools/srv__book?dialect=python")
    assert (answer.status_code, answer.json()["details"]["reason"]) == (400, "unsupported_dialect")
    for options in ({"style": "odd"}, {"x": 1}, {"source": "def g(): ..."}):
        assert alice.post("/v1/catalogue/tools/import", {**sent, "options": options}).status_code == 400


@pytest.mark.parametrize(
    "body",
    [
        {"dialect": "openai", "tools": []},
        {"dialect": "openai", "tool": {"type": "function"}},
        {"dialect": "convilyn", "manifest": {"tools": []}},
    ],
)
def test_another_dialect_has_no_options(api, body):
    """An option that is not read is not accepted."""
    answer = api("alice").post("/v1/catalogue/tools/import", {"server": "srv", **body, "options": {"style": "rdk"}})
    said = answer.json()
    assert (answer.status_code, said["details"]["reason"]) == (400, "invalid_request")
    assert said["error"]["message"].startswith("/options/style: only the dialect python has options")
