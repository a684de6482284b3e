"""Exports and imports held against the real packages and the real tools (C16, C18 to C25, C30, C33, C98, C99, C131)."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from catalogue.record import ToolProblem
from tests.catalogue.speaking import MINIMAL, SCHEMA, across, lost, read, stored, write
from tests.conftest import ROOT, data_of

WRITTEN = sorted(MINIMAL)
ANNOTATIONS = (
    "Union[int]", "Optional[None]", "Optional[Optional[int]]", "Union[int, int]", "Union[str, Union[str, None]]",
    "int | int", "Union[None, int, None]", "Union[List[str]]", "List", "list[()]", "Union[Literal[1], Literal[True]]",
    "Optional[Annotated[int, 'n']]", "Dict[str, Union[int]]",
)  # fmt: skip


def made(source: str) -> Any:
    """The live function of a source, for the packages that want one."""
    namespace: dict[str, Any] = {}
    exec(f"from typing import *\n{source}", namespace)  # noqa: S102 - our own text
    return namespace["f"]


@pytest.fixture(params=["retail", "airline"])
def tau_bench(request) -> list[dict[str, Any]]:
    """The tools of τ-bench, where they lie beside the checkout."""
    path = ROOT.parent / f"shared/data/tau-bench/tools-{request.param}.json"
    if not path.exists():
        pytest.skip("no τ-bench data beside the checkout")
    return json.loads(path.read_text())


def test_c33_real_tools_go_through_every_dialect(tau_bench: list[dict[str, Any]]) -> None:
    """C33: without losses in, JSON-equal out; and from each dialect's form into that form again."""
    for tool in tau_bench:
        found = read("openai", tool)
        assert found.losses == [] and found.warnings == []
        assert write("openai", stored(found)).tool == tool
        for dialect in WRITTEN:
            form = write(dialect, stored(found)).tool
            again = across(dialect, dialect, form)
            assert again.tool == form, dialect


class TestConvilyn:
    @pytest.fixture(autouse=True)
    def _package(self):
        self.author = pytest.importorskip("convilyn_author", reason="convilyn-author is not installed")

    def test_c16_a_real_tool_spec_comes_back_equal(self):
        """C16."""
        spec = self.author.ToolSpec(
            name="x", description="d", input_schema=SCHEMA, idempotent=True, output_schema={"type": "object"}
        )
        exported = across("convilyn", "convilyn", spec.model_dump())
        assert self.author.ToolSpec(**exported.tool) == spec

    def test_c20_unknown_keys_are_ignored_by_the_real_model(self):
        exported = across("convilyn", "convilyn", {**MINIMAL["convilyn"], "x": 1})
        assert exported.tool["x"] == 1
        assert self.author.ToolSpec(**exported.tool) == self.author.ToolSpec(**MINIMAL["convilyn"])

    def test_c18_c19_a_real_manifest_there_and_back(self, api):
        """C18 and C19: and what was exported, imported again, is the same tools."""
        server = self.author.ToolServer(name="my-analyzer", description="Document tools.", version="2.1.0")

        @server.tool(description="Count words.", idempotent=True)
        async def count(text: str, top: int = 5) -> dict:
            return {}

        @server.tool(description="Translate.")
        async def translate(text: str, to: str | None = None) -> dict:
            return {}

        manifest = server.synth().model_copy(update={"capabilities": ["text", "count"]})
        alice = api("alice")
        body = {"dialect": "convilyn", "manifest": json.loads(manifest.to_json())}
        assert data_of(alice.post("/v1/catalogue/tools/import", body))["counts"]["created"] == 2
        record = data_of(alice.get("/v1/catalogue/servers/my-analyzer"))
        assert (record["description"], record["version"]) == ("Document tools.", "2.1.0")
        assert (record["capabilities"], record["tool_count"]) == (["text", "count"], 2)
        exported = data_of(alice.get("/v1/catalogue/servers/my_analyzer/manifest"))["manifest"]
        assert self.author.ConvilynManifest.model_validate(exported) == manifest
        again = {"dialect": "convilyn", "manifest": exported}
        assert data_of(alice.post("/v1/catalogue/tools/import", again))["counts"]["unchanged"] == 2

    def test_c131_a_nested_model_with_misplaced_definitions(self, api):
        class Street(BaseModel):
            name: str

        class Address(BaseModel):
            street: Street

        server = self.author.ToolServer(name="places", description="Places.")

        @server.tool(description="Find.")
        async def find(address: Address) -> dict:
            return {}

        tool = server.synth().tools[0].model_dump()
        schema = tool["input_schema"]
        assert "$defs" in schema["properties"]["address"]
        path = "/v1/catalogue/tools/import"
        assert data_of(api("alice").post(path, {"dialect": "convilyn", "server": "places", "tool": tool}))
        stored_schema = data_of(api("alice").get("/v1/catalogue/tools/places__find"))["input_schema"]
        assert stored_schema == schema
        schema["properties"]["address"]["$defs"].clear()
        broken = api("alice").post(path, {"dialect": "convilyn", "server": "places", "tool": tool})
        assert broken.status_code == 400 and broken.json()["details"]["reason"] == "invalid_schema"

    @pytest.mark.parametrize("annotation", ANNOTATIONS)
    def test_c99_unions_are_as_python_makes_them(self, annotation):
        source = f"def f(a: {annotation}): ...\n"
        server = self.author.ToolServer(name="s", description="d")
        server.tool(description="d")(made(source))
        [real] = server._tools
        assert read("python", {"source": source, "style": "convilyn"}).content.input_schema == real.input_schema

    def test_c99_stubs_make_the_real_servers_schemas(self):
        from typing import Any, Literal, Optional, Union  # noqa: F401

        source = (
            "def f(a: str, b: int, c: float, d: bool, e: list, f: dict, g: list[str], h: list[list[int]],"
            " i: dict[str, int], j: dict[str, Any], k: Optional[int], l: Literal['a', 'b'], m: Union[int, str],"
            " n, o: bytes = None, p: int | None = 3, q: list[str] = ['x']) -> dict: ...\n"
        )
        namespace = dict(locals())
        exec(source, namespace)  # noqa: S102 - our own text, for the package that wants a live function
        server = self.author.ToolServer(name="s", description="d")
        server.tool(description="d")(namespace["f"])
        [real] = server._tools
        assert read("python", {"source": source, "style": "convilyn"}).content.input_schema == real.input_schema


class TestDataHarness:
    @pytest.fixture(autouse=True)
    def _package(self):
        self.types = pytest.importorskip("data_harness.llm.types", reason="data-harness is not installed")

    @pytest.mark.parametrize(
        "hints",
        [
            None,
            {},
            {"title": "T", "read_only": True, "cache_mutating": False, "destructive": False, "open_world": True},
        ],
    )
    def test_c21_the_real_dataclasses_come_back_equal(self, hints):
        """C21 and C22; a set of hints of which none is known says nothing, and comes back as none."""
        annotations = None if hints is None else self.types.ToolAnnotations(**hints)
        spec = self.types.ToolSpec("x", "d", SCHEMA, visible=False, annotations=annotations)
        wire = {
            "name": spec.name,
            "description": spec.description,
            "input_schema": spec.input_schema,
            "visible": spec.visible,
            "annotations": annotations and vars(annotations),
            "handler": None,
        }
        tool = across("data_harness", "data_harness", wire).tool
        back = tool.pop("annotations")
        rebuilt = self.types.ToolSpec(**tool, annotations=back and self.types.ToolAnnotations(**back))
        expected = spec if hints else self.types.ToolSpec("x", "d", SCHEMA, visible=False)
        assert rebuilt == expected

    def test_c24_anthropics_form_is_the_real_providers(self):
        """C24."""
        spec = self.types.ToolSpec("look", "Look.", SCHEMA)
        assert across("data_harness", "anthropic", MINIMAL["data_harness"]).tool == spec.to_provider_dict()

    @pytest.mark.parametrize("annotation", ANNOTATIONS)
    def test_c98_unions_are_as_python_makes_them(self, annotation):
        infer, source = (
            pytest.importorskip("data_harness.core.schema").infer_input_schema,
            f"def f(a: {annotation}): ...",
        )
        try:
            real = infer(made(source))
        except TypeError:
            with pytest.raises(ToolProblem):
                read("python", {"source": source, "style": "data_harness"})
        else:
            assert read("python", {"source": source, "style": "data_harness"}).content.input_schema == real

    def test_c98_stubs_make_the_real_inference(self):
        infer = pytest.importorskip("data_harness.core.schema").infer_input_schema
        source = "def f(a: str, b: int, c: float = 1.0, *, d: bool = True, e: list[str] = ['x']): ..."
        namespace: dict[str, Any] = {}
        exec(source, namespace)  # noqa: S102 - our own text
        found = read("python", {"source": source, "style": "data_harness"})
        assert found.content.input_schema == infer(namespace["f"])


def test_c30_roboto_takes_what_is_exported():
    """C30."""
    record = pytest.importorskip("roboto.ai.core.record", reason="roboto is not installed")
    exported = across("openai", "roboto", {"name": "get_user", "description": "d", "parameters": SCHEMA})
    assert lost(exported) == {"/name": "renamed"}
    assert record.ClientToolSpec(**exported.tool).name == "client_get_user"


@pytest.mark.parametrize("source", WRITTEN)
def test_mcp_takes_what_is_exported(source):
    """C36 and C37: the real model loads it and writes the same."""
    types = pytest.importorskip("mcp.types", reason="mcp is not installed")
    tool = across(source, "mcp", MINIMAL[source]).tool
    assert types.Tool.model_validate(tool).model_dump(by_alias=True, exclude_none=True) == tool


def test_mcp_round_trip_of_a_full_dump():
    """C37: what the real model writes, nulls and all, comes back."""
    types = pytest.importorskip("mcp.types", reason="mcp is not installed")
    tool = types.Tool(
        name="look",
        title="Look",
        inputSchema=SCHEMA,
        outputSchema={"type": "object"},
        annotations=types.ToolAnnotations(readOnlyHint=True, idempotentHint=False),
    )
    dumped = tool.model_dump(by_alias=True, mode="json")
    assert dumped["description"] is None and across("mcp", "mcp", dumped).tool == dumped


def test_c129_the_real_mcp_adapter_takes_what_is_exported():
    """C129: under the server's name; the adapter knows nothing of hints and hides what it brings (T35)."""
    adapter = pytest.importorskip("data_harness.data.mcp", reason="data-harness is not installed")
    listed = SimpleNamespace(**{**across("openai", "mcp", MINIMAL["openai"]).tool, "annotations": None})
    [spec] = adapter.mcp_tool_specs(SimpleNamespace(tools=[listed]), prefix="srv")
    assert (spec.name, spec.description, spec.input_schema) == ("srv__look", "Look.", SCHEMA)
