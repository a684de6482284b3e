"""Results to and from every dialect (catalogue 2.3), with the real packages as referees where they are installed."""

import warnings
from typing import Any

import pytest
from data_harness.llm.types import ToolResultBlock
from hypothesis import given, settings
from hypothesis import strategies as some

from catalogue import judging, result_dialects, results
from catalogue.result_dialects import Context
from catalogue.results import CODES, ToolResult
from core.errors import InvalidRequest

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # of a library that the SDK uses
    from roboto.ai.agent_thread import ClientToolResult

OK = results.ok({"a": [1, None]}, execution_time_ms=1.6, warnings=("w",), tool_use_id="tu_1", tool_name="get")
OK = OK.noted(inputSize=2, outputSize=14)
FAILED = results.fail("QUOTA", "too much", {"limit": 3}, suggestion="wait", execution_time_ms=2).noted(inputSize=2)
DECLINED = results.fail("DECLINED", "not today")


def written(dialect: str, result: ToolResult, style: str | None = None, **context: str) -> Any:
    return result_dialects.write(dialect, result, context=Context(**context), style=style)[0]


def lost(dialect: str, result: ToolResult, style: str | None = None) -> dict[str, str]:
    return {loss.path: loss.reason for loss in result_dialects.write(dialect, result, style=style)[1]}


def read(dialect: str, value: Any) -> ToolResult:
    return result_dialects.read(dialect, value)[0]


def nulls(value: Any) -> bool:
    if isinstance(value, dict):
        return any(child is None or nulls(child) for child in value.values())
    return isinstance(value, list) and any(map(nulls, value))


# Constructors


def test_ok_and_fail_C75():
    assert OK.error is None and OK.success
    assert FAILED.error and (FAILED.error.code, FAILED.error.message, FAILED.error.details) == (
        "QUOTA",
        "too much",
        {"limit": 3},
    )
    with pytest.raises(ValueError, match="message"):
        results.fail("QUOTA", "")
    for wrong in ({"success": True, "error": FAILED.error.model_dump()}, {"success": False}, {"success": "yes"}):
        with pytest.raises(InvalidRequest):
            read("canonical", wrong)


# Convilyn


@pytest.mark.parametrize("result", [OK, FAILED, results.ok([1]), results.ok(None), results.ok("text")])
def test_convilyn_results_load_with_the_real_model_C65(result):
    types = pytest.importorskip("convilyn_author.types", reason="convilyn-author is not installed")
    real = types.ToolResult.model_validate(written("convilyn", result))
    assert real.success == result.success
    assert real.model_dump() == written("convilyn", result)


def test_convilyn_data_is_an_object_C65():
    assert written("convilyn", results.ok([1]))["data"] == {"value": [1]}
    assert written("convilyn", results.ok(None))["data"] is None
    assert lost("convilyn", results.ok([1])) == {"/data": "wrapped"}
    assert lost("convilyn", OK).keys() == {
        "/metadata/inputSize",
        "/metadata/outputSize",
        "/metadata/warnings",
        "/metadata/custom",
    }


def test_a_convilyn_success_with_an_error_is_refused_and_a_failure_without_one_completed_C74():
    with pytest.raises(InvalidRequest, match="success must not have an error"):
        read("convilyn", {"success": True, "error": {"code": "A", "message": "m"}})
    result = read("convilyn", {"success": False})
    assert result.error and (result.error.code, result.error.message) == ("EXECUTION_ERROR", "unknown error")
    assert result.metadata.warnings == ["the failure had no error"]
    assert read("convilyn", {"data": {"a": 1}}).success


def test_a_convilyn_failure_keeps_its_suggestion_among_the_details():
    assert written("convilyn", FAILED)["error"]["details"] == {"limit": 3, "suggestion": "wait"}
    assert read("convilyn", written("convilyn", FAILED)).error == FAILED.error


# CTP


@pytest.mark.parametrize("result", [OK, FAILED, DECLINED, results.ok(None), results.fail("TIMEOUT", "m")])
def test_ctp_results_satisfy_the_schema_and_hold_no_nulls_C66(result):
    value = written("ctp", result)
    assert judging.judge(value, "schema") == [] == judging.judge(value, "core")
    assert not nulls({name: child for name, child in value.items() if name != "data"})


def test_every_code_of_ctp_is_kept_and_another_one_comes_back_C67():
    for code in CODES:
        assert written("ctp", results.fail(code, "m"))["errorCode"] == code
    value = written("ctp", FAILED)
    assert (value["errorCode"], value["metadata"]["originalCode"]) == ("EXECUTION_ERROR", "QUOTA")
    assert read("ctp", value) == FAILED


@pytest.mark.parametrize("result", [OK, FAILED, DECLINED, results.ok(None)])
def test_strict_ctp_has_only_known_keys_and_tells_what_it_dropped_C68(result):
    assert judging.judge(written("ctp", result, "strict"), "strict") == []


def test_what_strict_ctp_drops_is_listed_C68():
    assert lost("ctp", FAILED, "strict") == {
        "/error/suggestion": "no_slot",
        "/metadata/originalCode": "no_slot",
        "/metadata/details": "no_slot",
    }
    assert lost("ctp", OK, "strict").keys() == {"/metadata/tool_use_id", "/metadata/tool_name"}
    assert lost("ctp", FAILED) == {}


def test_what_the_ctp_runtime_really_emits_is_read_C72():
    spread = read("ctp", {"success": True, "a": 1, "_meta": {"durationMs": 3}})
    assert (spread.data, spread.execution_time_ms) == ({"a": 1}, 3.0)
    refused = read("ctp", {"success": False, "error": "m", "errorCode": "VALIDATION_ERROR", "validationErrors": [1]})
    assert refused.error and refused.error.code == "INVALID_INPUT"
    assert refused.error.details == {"originalCode": "VALIDATION_ERROR", "errors": [1]}
    missing = read("ctp", {"success": False, "error": "m", "errorCode": "TOOL_NOT_FOUND"})
    assert missing.error and (missing.error.code, missing.error.details) == (
        "NOT_FOUND",
        {"originalCode": "TOOL_NOT_FOUND"},
    )


# Texts for models


@pytest.mark.parametrize(
    ("result", "content"),
    [
        (OK, '{"a":[1,null]}'),
        (results.ok("plain"), "plain"),
        (results.ok(None), "null"),
        (FAILED, "QUOTA: too much\nwait"),
    ],
)
def test_data_harness_blocks_C69(result, content):
    block = ToolResultBlock(**written("data_harness", result, tool_use_id="tu_9"))
    assert (block.tool_use_id, block.content, block.is_error) == ("tu_9", content, not result.success)
    assert written("anthropic", result, tool_use_id="tu_9") == {
        "type": "tool_result",
        "tool_use_id": "tu_9",
        "content": content,
        "is_error": not result.success,
    }
    assert written("openai", result, tool_use_id="tu_9") == {
        "role": "tool",
        "tool_call_id": "tu_9",
        "content": content,
    }


def test_a_block_is_read_as_what_its_text_says():
    failed = read("data_harness", {"tool_use_id": "t", "content": "QUOTA: m", "is_error": True})
    assert failed.error and (failed.error.code, failed.error.message) == ("EXECUTION_ERROR", "QUOTA: m")
    assert failed.metadata.custom == {"tool_use_id": "t"}
    said = {"{}": {}, "[1]": [1], "None": "None", "True": "True", "3": "3", '"a"': '"a"', "{": "{", "[NaN]": "[NaN]"}
    assert {text: read("data_harness", {"content": text}).data for text in said} == said
    blocks = [{"type": "text", "text": '{"a":'}, {"type": "image"}, {"type": "text", "text": "1}"}]
    assert read("anthropic", {"content": blocks}).data == {"a": 1}


def test_openai_cannot_say_that_a_call_failed():
    assert lost("openai", FAILED)["/success"] == "flattened"
    assert read("openai", written("openai", FAILED)).success


# Roboto


@pytest.mark.parametrize("result", [OK, FAILED, DECLINED, results.ok(None), results.ok([1]), results.ok("x")])
def test_roboto_results_load_with_the_real_model_C70(result):
    real = ClientToolResult.model_validate(written("roboto", result, tool_use_id="tu_9", tool_name="get"))
    assert real.runtime_ms == round(result.execution_time_ms or 0)
    assert isinstance(real.output, dict)


def test_roboto_status_and_output_C70():
    assert written("roboto", OK) == {
        "tool_use_id": "tu_1",
        "tool_name": "get",
        "runtime_ms": 2,
        "status": "success",
        "output": {"a": [1, None]},
    }
    assert written("roboto", results.ok(None))["output"] == {}
    assert written("roboto", results.ok([1]))["output"] == {"result": [1]}
    failed = written("roboto", FAILED)
    assert (failed["status"], failed["output"]) == (
        "error",
        {"error": "too much", "code": "QUOTA", "details": {"limit": 3}, "suggestion": "wait"},
    )
    assert written("roboto", DECLINED)["status"] == "declined"
    assert read("roboto", failed).error == FAILED.error
    declined = read("roboto", {"status": "declined", "output": {"error": "no"}})
    assert declined.error and (declined.error.code, declined.error.message) == ("DECLINED", "no")
    structured = read("roboto", {"status": "error", "output": {"error": {"code": "X", "message": "m"}}})
    assert structured.error and (structured.error.code, structured.error.message) == ("X", "m")


# MCP


@pytest.mark.parametrize("result", [OK, FAILED, DECLINED, results.ok(None), results.ok([1])])
def test_mcp_results_load_with_the_real_model_C71(result):
    types = pytest.importorskip("mcp.types", reason="mcp is not installed")
    value = written("mcp", result)
    real = types.CallToolResult.model_validate(value)
    assert real.model_dump(by_alias=True, exclude_none=True)["structuredContent"] == value["structuredContent"]


def test_mcp_shape_C71():
    value = written("mcp", OK)
    assert (value["isError"], value["content"]) == (False, [{"type": "text", "text": '{"a":[1,null]}'}])
    assert value["structuredContent"] == {"a": [1, None]}
    assert written("mcp", results.ok([1]))["structuredContent"] == {"value": [1]}
    failed = written("mcp", FAILED)
    assert failed["isError"] and failed["content"] == [{"type": "text", "text": "QUOTA: too much\nwait"}]
    assert failed["structuredContent"]["error"]["code"] == "QUOTA"
    assert read("mcp", value) == OK and read("mcp", failed) == FAILED
    other = {"content": [{"type": "text", "text": "boom"}, {"type": "image", "data": ""}], "isError": True}
    result, losses = result_dialects.read("mcp", other)
    assert result.error and (result.error.code, result.error.message) == ("EXECUTION_ERROR", "boom")
    assert [loss.path for loss in losses] == ["/content[1]"]


# Whatever is sent

JSON = some.recursive(
    some.none() | some.booleans() | some.integers(-(2**53), 2**53) | some.text(max_size=5),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
TEXT = some.text(min_size=1, max_size=8)
METADATA = some.fixed_dictionaries({"inputSize": some.none() | some.integers(0, 9), "warnings": some.lists(TEXT)})
FAILURES = some.builds(
    lambda code, message, details, suggestion: results.fail(code, message, details, suggestion=suggestion),
    some.sampled_from([*CODES, "QUOTA"]),
    TEXT,
    some.none() | some.dictionaries(TEXT, some.integers(), min_size=1, max_size=2),
    some.none() | TEXT,
)
SUCCESSES = some.builds(results.ok, some.dictionaries(some.text(max_size=5), JSON, max_size=3))
RESULTS = some.builds(lambda result, metadata: result.noted(**metadata), FAILURES | SUCCESSES, METADATA)


@settings(max_examples=60)
@given(result=RESULTS)
def test_what_keeps_everything_brings_everything_back(result):
    """The dialects that lose nothing of a result; CTP C67, MCP C71, and what the others say they keep."""
    details = result.error.details if result.error else None
    if not (details and {"suggestion", "errors", "originalCode"} & details.keys()):
        for dialect in ("canonical", "ctp", "mcp"):
            assert read(dialect, written(dialect, result)) == result
        assert read("roboto", written("roboto", result)).error == result.error
        assert read("convilyn", written("convilyn", result)).error == result.error
    assert judging.judge(written("ctp", result), "schema") == []
    assert judging.judge(written("ctp", result, "strict"), "strict") == []


@settings(max_examples=80)
@given(value=JSON, dialect=some.sampled_from(sorted(result_dialects.READERS)), keys=some.data())
def test_whatever_claims_to_be_a_result_is_read_or_refused(value, dialect, keys):
    """Nothing that is sent is an accident."""
    names = ("success", "error", "errorCode", "data", "metadata", "_meta", "content", "isError", "is_error", "status")
    more = ("output", "structuredContent", "suggestion", "validationErrors", "execution_time_ms", "runtime_ms")
    chosen = keys.draw(some.lists(some.sampled_from(names + more), unique=True, max_size=4))
    value = {name: keys.draw(JSON) for name in chosen} if chosen else value
    if dialect in ("ctp", "convilyn") and isinstance(value, dict):
        value["success"] = keys.draw(some.booleans())
    if dialect == "roboto" and isinstance(value, dict):
        value["status"] = keys.draw(some.sampled_from(["success", "error", "declined"]))
    try:
        result = read(dialect, value)
    except InvalidRequest:
        return
    for target in result_dialects.WRITERS:
        result_dialects.write(target, result)
