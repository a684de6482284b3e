"""The real data_harness with tools that are Heddle's: exported by it, and run by it (C128)."""

from typing import Any

from data_harness.core.loop import Harness
from data_harness.llm.testing import FakeAdapter
from data_harness.llm.types import ToolSpec

from tests.conftest import data_of

TOOLS = "/v1/catalogue/tools"


class ToolError(Exception):
    """What a handler raises so that the harness tells the model of a failure."""


def test_a_harness_runs_what_heddle_exports_and_hears_of_failures_C128(api):
    alice = api("alice")

    def tool(name: str) -> ToolSpec:
        exported = data_of(alice.get(f"{TOOLS}/demo__{name}?dialect=data_harness"))["tool"]

        def handler(**arguments: Any) -> Any:
            body = {"arguments": arguments, "result_dialect": "data_harness"}
            result = data_of(alice.post(f"{TOOLS}/demo__{name}/call", body))["result"]
            if result["is_error"]:
                raise ToolError(result["content"])
            return result["content"]

        return ToolSpec(**{**exported, "annotations": None}, handler=handler)

    model = FakeAdapter(
        [
            FakeAdapter.tool_use("tu_1", "echo", {"message": "hi"}),
            FakeAdapter.tool_use("tu_2", "fail", {"code": "QUOTA", "message": "too much"}),
            FakeAdapter.text("done"),
        ]
    )
    result = Harness(adapter=model, system="", tools=[tool("echo"), tool("fail")]).run_result("go")
    assert (result.status, result.text) == ("success", "done")
    said = [block for message in model.calls[-1]["messages"] for block in message.content if hasattr(block, "is_error")]
    assert [(block.tool_use_id, block.is_error) for block in said] == [("tu_1", False), ("tu_2", True)]
    assert '"length":2' in said[0].content
    assert "QUOTA: too much" in said[1].content
