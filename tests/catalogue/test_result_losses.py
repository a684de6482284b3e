"""What no dialect of results has a place for is named (catalogue 2.3): nothing is dropped or replaced in silence."""

import json
from itertools import count
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as some

from catalogue import judging, result_dialects, results
from catalogue.results import CODES, ToolResult
from core.errors import InvalidRequest
from tests.conftest import data_of

RESERVED = ("warnings", "executionTime", "inputSize", "outputSize", "details", "originalCode")
OK = results.ok({"a": 1}, execution_time_ms=2.0, warnings=("w",)).noted(inputSize=2, outputSize=14)
FAILED = results.fail("QUOTA", "too much", {"limit": 3}, suggestion="wait")


def written(dialect: str, result: ToolResult, style: str | None = None) -> tuple[Any, list[str]]:
    value, losses = result_dialects.write(dialect, result, style=style)
    return value, [loss.path for loss in losses]


def read(dialect: str, value: Any) -> tuple[ToolResult, list[str]]:
    result, losses = result_dialects.read(dialect, value)
    return result, [loss.path for loss in losses]


# CTP: names that it uses itself


@pytest.mark.parametrize("name", RESERVED)
@pytest.mark.parametrize("result", [OK, FAILED, results.ok(1), results.fail("EXECUTION_ERROR", "m")], ids=range(4))
def test_a_custom_value_never_takes_the_place_of_what_ctp_says_itself_C66_C67(name, result):
    for value in ("text", 7, [1], {"a": 1}):
        custom = result.noted(custom={name: value})
        sent, lost = written("ctp", custom)
        assert judging.judge(sent, "schema") == []
        if f"/metadata/custom/{name}" in lost:
            assert read("ctp", sent)[0] == result
        else:
            assert read("ctp", sent)[0] == custom, "of a success, details and originalCode are read as they were"
            assert result.success and name in ("details", "originalCode")
        strict, lost = written("ctp", custom, "strict")
        assert judging.judge(strict, "strict") == []
        assert {f"/metadata/custom/{name}", f"/metadata/{name}"} & {*lost}


def test_what_is_no_time_size_or_detail_of_ctp_is_named_C72():
    metadata = {"executionTime": "slow", "inputSize": 1.5, "outputSize": -1, "warnings": [1], "details": [2]}
    result, lost = read("ctp", {"success": False, "error": "m", "metadata": metadata})
    assert {*lost} == {f"/metadata/{name}" for name in metadata}
    assert (result.metadata, result.error and result.error.details) == (results.Metadata(), None)
    for rest in ({"_meta": 5}, {"_meta": {"durationMs": "slow", "trace": 1}}, {"validationErrors": [1]}):
        lost = read("ctp", {"success": True, "data": 1, **rest})[1]
        assert lost in (["/_meta"], ["/_meta/trace", "/_meta/durationMs"], ["/validationErrors"])
    assert read("ctp", {"success": True, "metadata": {"executionTime": "slow"}, "_meta": {"durationMs": 3}}) == (
        results.ok(None, execution_time_ms=3),
        ["/metadata/executionTime"],
    )


def test_what_the_ctp_runtime_says_twice_is_named_once_C72():
    sent = {"success": False, "error": "m", "errorCode": "VALIDATION_ERROR", "validationErrors": [1]}
    result, lost = read("ctp", {**sent, "metadata": {"details": {"errors": [2], "originalCode": "X"}}})
    assert result.error and result.error.details == {"originalCode": "VALIDATION_ERROR", "errors": [1]}
    assert lost == ["/metadata/details/originalCode", "/metadata/details/errors"]
    timeout = {"success": False, "error": "m", "errorCode": "TIMEOUT", "metadata": {"originalCode": "X"}}
    assert read("ctp", timeout)[1] == ["/metadata/originalCode"]


def test_what_is_null_inside_of_a_ctp_result_is_named_C66():
    details = {"errors": [{"received": None, "field": "a"}, None, 1], "a/b": None}
    failed = results.fail("EXECUTION_ERROR", "m", details).noted(custom={"x": {"y": [None, {"z": None}]}, "n": None})
    value, lost = written("ctp", failed)
    assert value["metadata"] == {"x": {"y": [{}]}, "details": {"errors": [{"field": "a"}, 1]}}
    assert {*lost} == {
        "/metadata/custom/n", "/metadata/custom/x/y/0", "/metadata/custom/x/y/1/z",
        "/error/details/errors/0/received", "/error/details/errors/1", "/error/details/a~1b",
    }  # fmt: skip


# Convilyn


def test_a_suggestion_among_convilyns_details_is_named_C65():
    both = results.fail("A", "m", {"suggestion": "mine", "b": 1}, suggestion="wait")
    value, lost = written("convilyn", both)
    assert value["error"]["details"] == {"suggestion": "wait", "b": 1}
    assert lost == ["/error/details/suggestion"]
    alone, lost = result_dialects.write("convilyn", results.fail("A", "m", {"suggestion": "mine"}))
    assert alone["error"]["details"] == {"suggestion": "mine"}
    assert [(loss.path, loss.reason) for loss in lost] == [("/error/details/suggestion", "renamed")]
    assert written("convilyn", results.fail("A", "m", {"suggestion": [1]}))[1] == []
    assert written("convilyn", results.fail("A", "m", {"suggestion": "x"}, suggestion="x"))[1] == []


def test_what_convilyn_does_not_know_of_an_error_is_named():
    error = {"code": "A", "message": "m", "stack": "s"}
    assert read("convilyn", {"success": False, "error": error, "execution_time_ms": "slow"})[1] == [
        "/execution_time_ms",
        "/error/stack",
    ]


# Blocks, Roboto, MCP


@pytest.mark.parametrize("dialect", ["anthropic", "data_harness", "openai", "mcp"])
def test_what_is_no_text_in_a_block_is_named_C69_C71(api, dialect):
    blocks = [{"type": "text", "text": "a"}, {"type": "image", "source": "x"}, "b", {"type": "text", "text": 5}]
    result, lost = read(dialect, {"content": [*blocks, {"type": "text", "text": "c", "citations": [1]}]})
    assert result.data == "a\nc"
    assert lost == ["/content[1]", "/content[2]", "/content[3]", "/content[4]/citations"]
    sent = {"from": dialect, "to": "canonical", "result": {"content": blocks[:2]}}
    told = json.loads(api("alice").post("/v1/catalogue/results/convert", sent).content)["data"]["losses"]
    assert [loss["path"] for loss in told] == ["/content[1]"]


def test_an_id_that_another_one_replaces_is_named_C69_C70():
    result = results.ok({}, tool_use_id="mine", tool_name="mine")
    context = result_dialects.Context(tool_use_id="given", tool_name="mine")
    for dialect, more in (("anthropic", ["/metadata/custom/tool_name"]), ("openai", ["/metadata/custom/tool_name"]),
                          ("roboto", [])):  # fmt: skip
        losses = result_dialects.write(dialect, result, context=context)[1]
        assert [loss.path for loss in losses] == ["/metadata/custom/tool_use_id", *more]


def test_what_is_no_part_of_an_error_of_roboto_is_named_C70():
    output = {"error": {"code": 1, "message": "m", "stack": "s"}, "code": "X", "details": [1], "suggestion": 5, "n": 1}
    result, lost = read("roboto", {"status": "error", "output": output, "runtime_ms": "slow", "odd": 1})
    assert result.data == {"n": 1}
    assert {*lost} == {
        "/runtime_ms", "/odd", "/output/code", "/output/details", "/output/suggestion", "/output/error/code",
        "/output/error/stack",
    }  # fmt: skip
    declined = {"status": "declined", "output": {"error": "no", "code": "TIMEOUT"}}
    assert read("roboto", declined)[1] == ["/output/code"]
    assert written("roboto", results.ok({}, execution_time_ms=1.6))[1] == ["/execution_time_ms"]


def test_what_is_odd_in_an_mcp_result_is_named_C71():
    meta = {"heddle/execution_time_ms": "slow", "heddle/metadata": {"inputSize": -1, "warnings": [1], "odd": 2}}
    lost = read("mcp", {"content": [], "structuredContent": {}, "_meta": meta, "odd": 1})[1]
    own = "/_meta/heddle~1metadata"
    assert {*lost} == {
        "/odd", "/_meta/heddle~1execution_time_ms", f"{own}/odd", f"{own}/inputSize", f"{own}/warnings",
    }  # fmt: skip
    structured = {"error": {"code": "A", "message": "m", "details": 1, "odd": 2}, "odd": 3}
    place = "/structuredContent"
    lost = read("mcp", {"isError": True, "content": [], "structuredContent": structured})[1]
    assert {*lost} == {f"{place}/odd", f"{place}/error/odd", f"{place}/error/details"}
    assert read("mcp", {"isError": True, "content": [], "structuredContent": {"a": 1}})[1] == [place]


EMPTY = {"code": "", "message": ""}


@pytest.mark.parametrize(
    ("dialect", "sent", "replaced"),
    [
        ("convilyn", {"success": False, "error": EMPTY}, ["/error/code", "/error/message"]),
        ("convilyn", {"success": False}, []),
        ("ctp", {"success": False, "error": "", "errorCode": ""}, ["/error", "/errorCode"]),
        ("ctp", {"success": False}, []),
        ("mcp", {"isError": True, "content": [], "structuredContent": {"error": EMPTY}},
         ["/structuredContent/error/code", "/structuredContent/error/message"]),
        ("mcp", {"isError": True, "content": [{"type": "text", "text": ""}]}, ["/content"]),
        ("mcp", {"isError": True, "content": []}, []),
        ("roboto", {"status": "error", "output": {"error": "", "code": ""}}, ["/output/error", "/output/code"]),
        ("roboto", {"status": "error", "output": {"error": EMPTY}}, ["/output/error/code", "/output/error/message"]),
        ("roboto", {"status": "declined", "output": {"error": ""}}, ["/output/error"]),
        ("roboto", {"status": "error", "output": None}, []),
        ("anthropic", {"is_error": True, "content": ""}, ["/content"]),
        ("data_harness", {"is_error": True, "content": [{"type": "text", "text": ""}]}, ["/content"]),
        ("anthropic", {"is_error": True}, []),
    ],
)  # fmt: skip
def test_an_empty_code_or_message_that_another_one_replaces_is_named(api, dialect, sent, replaced):
    """2.3: a failure has both. What was not given at all is completed, and nothing is replaced then."""
    body = {"from": dialect, "to": "canonical", "result": sent}
    told = data_of(api("alice").post("/v1/catalogue/results/convert", body))
    assert [(loss["path"], loss["reason"]) for loss in told["losses"]] == [(path, "defaulted") for path in replaced]
    assert told["result"]["error"]["message"] == "unknown error"
    assert told["result"]["error"]["code"] == ("DECLINED" if sent.get("status") == "declined" else "EXECUTION_ERROR")


# Laws

JSON = some.recursive(
    some.booleans() | some.integers(-(2**53), 2**53) | some.text(max_size=5),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
TEXT = some.text(min_size=1, max_size=8)
KEYS = some.text("ab/~", max_size=3)
HOLED = some.recursive(
    JSON | some.none(),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(KEYS, inner, max_size=2),
    max_leaves=4,
)
CUSTOM = some.dictionaries(
    some.sampled_from([*RESERVED, "tool_use_id", "tool_name", "cached", "a/b"]), HOLED, max_size=4
)
DETAILS = some.dictionaries(some.sampled_from(["suggestion", "errors", "originalCode", "limit"]), HOLED, max_size=3)
TIMES = some.none() | some.floats(0, 1e9)
RESULTS = some.builds(
    lambda success, data, code, message, details, suggestion, took, metadata: (
        results.ok(data, execution_time_ms=took)
        if success
        else results.fail(code, message, details, suggestion=suggestion, execution_time_ms=took).model_copy(
            update={"data": data}
        )
    ).noted(**metadata),
    some.booleans(),
    JSON | some.none(),
    some.sampled_from([*CODES, "QUOTA", "DECLINED", "TOOL_NOT_FOUND"]),
    TEXT,
    some.none() | DETAILS,
    some.none() | TEXT,
    TIMES,
    some.fixed_dictionaries(
        {"inputSize": some.none() | some.integers(0, 9), "warnings": some.lists(TEXT, max_size=2), "custom": CUSTOM}
    ),
)


def without(value: dict[str, Any], *paths: str) -> dict[str, Any]:
    """A copy without these places; what is empty then is None, like what was never there."""
    copy = json.loads(json.dumps(value))
    for path in paths:
        *within, last = steps(path)
        parent = at(copy, within)
        if isinstance(parent, dict):
            parent.pop(last, None)
        elif isinstance(parent, list) and parent[int(last) :][:1] == [None]:
            parent[int(last)] = ...
    copy = without_gaps(copy)
    copy["metadata"]["custom"] = copy["metadata"].get("custom") or {}
    copy["error"] = copy["error"] and {**copy["error"], "details": copy["error"].get("details") or None}
    return copy


def without_gaps(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_gaps(child) for key, child in value.items()}
    return [without_gaps(child) for child in value if child is not ...] if isinstance(value, list) else value


def steps(path: str) -> list[str]:
    parts = path.replace("[", "/").replace("]", "").split("/")[1:]
    return [part.replace("~1", "/").replace("~0", "~") for part in parts]


def at(value: Any, path: list[str]) -> Any:
    for part in path:
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict):
            value = value.get(part)
        else:
            return None
    return value


@settings(max_examples=150)
@given(result=RESULTS, dialect=some.sampled_from(["canonical", "ctp", "mcp", "convilyn"]))
def test_a_result_comes_back_but_for_the_named_losses(result, dialect):
    value, lost = written(dialect, result)
    back, more = read(dialect, value)
    assert more == [], "what Heddle wrote is read completely"
    gone = [*lost, "/error/suggestion"] if "/error/details/suggestion" in lost else lost
    empty = {path: [] if path == "/metadata/warnings" else None for path in gone}
    assert without(result.model_dump(), *empty) == without(back.model_dump(), *empty)
    if dialect == "ctp":
        assert judging.judge(value, "schema") == [] == judging.judge(written("ctp", result, "strict")[0], "strict")


def marked() -> some.SearchStrategy[Any]:
    """Nothing, or a value of any kind with a mark that is nowhere else in the document."""
    kinds = ["absent", "null", "text", "number", "list", "object", "suggestion", "negative"]
    return some.sampled_from(kinds).flatmap(lambda kind: some.builds(lambda: mark(kind)))


_marks = count(100_000)


def mark(kind: str) -> Any:
    number = next(_marks)
    values = {
        "absent": ..., "null": None, "text": f"m{number}", "number": number, "list": [f"m{number}"],
        "object": {f"k{number}": f"m{number + 500_000}"}, "suggestion": {"suggestion": f"m{number}", "errors": number},
        "negative": -number,
    }  # fmt: skip
    return values[kind]


def filled(**slots: Any) -> some.SearchStrategy[dict[str, Any]]:
    drawn = some.fixed_dictionaries({name: marked() if each is ... else each for name, each in slots.items()})
    return drawn.map(lambda found: {name: value for name, value in found.items() if value is not ...})


FLAG = some.booleans()
ERROR = filled(code=..., message=..., details=..., suggestion=..., odd=...)
PLAIN_ERROR = some.fixed_dictionaries({"code": TEXT, "message": TEXT}).flatmap(
    lambda sure: filled(details=..., suggestion=..., odd=...).map(lambda rest: {**sure, **rest})
)
BLOCKS = some.lists(filled(type=some.sampled_from(["text", "image"]), text=..., odd=...) | marked().filter(
    lambda value: value is not ...), max_size=3)  # fmt: skip
OWN = filled(inputSize=..., outputSize=..., warnings=..., custom=..., odd=...)
CTP_METADATA = filled(
    inputSize=..., outputSize=..., warnings=..., executionTime=..., details=..., originalCode=..., odd=...
)
DOCUMENTS = {
    "ctp": filled(success=FLAG, data=..., error=..., errorCode=..., suggestion=..., validationErrors=..., odd=...,
                  metadata=CTP_METADATA, _meta=marked() | filled(durationMs=..., odd=...)),
    "convilyn": filled(success=FLAG, data=..., error=marked() | PLAIN_ERROR, execution_time_ms=..., odd=...),
    "roboto": filled(status=some.sampled_from(["success", "error", "declined"]), runtime_ms=..., odd=...,
                     tool_use_id=..., tool_name=...,
                     output=filled(error=marked() | ERROR, code=..., details=..., suggestion=..., odd=...)),
    "mcp": filled(content=BLOCKS, isError=FLAG, odd=...,
                  _meta=filled(odd=..., **{"heddle/execution_time_ms": ..., "heddle/metadata": marked() | OWN})),
    "anthropic": filled(content=BLOCKS | marked(), is_error=FLAG, tool_use_id=..., odd=...),
    "openai": filled(content=BLOCKS | marked(), tool_call_id=..., odd=...),
}  # fmt: skip


def marks(value: Any) -> set[str]:
    """The marks in a value, be they texts, keys or numbers."""
    if isinstance(value, dict):
        return {mark for each in [*value, *value.values()] for mark in marks(each)}
    if isinstance(value, list):
        return {mark for each in value for mark in marks(each)}
    if isinstance(value, bool) or value is None:
        return set()
    text = str(abs(int(value))) if isinstance(value, int | float) else value
    return {text} if len(text) >= 6 and text[-6:].isdigit() else set()


def lost_marks(value: Any, paths: list[str]) -> set[str]:
    """The marks at these places, and in their names."""
    return {mark for path in paths for mark in marks([*steps(path), at(value, steps(path))])}


@settings(max_examples=300)
@given(drawn=some.data(), dialect=some.sampled_from(sorted(DOCUMENTS)))
def test_whatever_is_read_is_in_the_result_or_named(drawn, dialect):
    document = drawn.draw(DOCUMENTS[dialect])
    try:
        result, lost = read(dialect, document)
    except InvalidRequest:
        return assume(False)
    named = lost_marks(document, lost)
    kept = json.dumps(result.model_dump())
    assert {mark for mark in marks(document) if mark not in kept} <= named


@settings(max_examples=100)
@given(drawn=some.data())
def test_a_failure_with_structured_content_of_mcp_is_in_the_result_or_named(drawn):
    """Not of a success: there the text says the same as the structured content."""
    structured = drawn.draw(filled(error=some.one_of(marked(), ERROR, PLAIN_ERROR), odd=...))
    result, lost = read("mcp", {"isError": True, "content": [], "structuredContent": structured})
    named = lost_marks({"structuredContent": structured}, lost)
    kept = json.dumps(result.model_dump())
    assert {mark for mark in marks(structured) if mark not in kept} <= named


CANONICAL = {
    "success": some.just(True) | some.just(False),
    "code": some.sampled_from([*CODES, "QUOTA", "DECLINED"]),
    "details": some.none() | filled(suggestion=..., errors=..., odd=...),
    "custom": filled(**dict.fromkeys((*RESERVED, "tool_use_id", "tool_name", "cached", "odd"), ...)),
}


@settings(max_examples=200)
@given(
    drawn=some.fixed_dictionaries(CANONICAL), data=marked(), dialect=some.sampled_from(sorted(result_dialects.WRITERS))
)
def test_whatever_is_written_is_in_the_dialect_or_named(drawn, data, dialect):
    took, size, message, advice, warning = (next(_marks) for _ in range(5))
    data = None if data is ... else data
    if drawn["success"]:
        result = results.ok(data, execution_time_ms=took)
    else:
        result = results.fail(drawn["code"], f"m{message}", drawn["details"], suggestion=f"m{advice}")
        result = result.model_copy(update={"data": data, "execution_time_ms": float(took)})
    result = result.noted(f"m{warning}", inputSize=size, outputSize=size, custom=drawn["custom"])
    value, lost = written(dialect, result)
    whole, kept = result.model_dump(), json.dumps(value)
    named = lost_marks(whole, lost)
    assert {mark for mark in marks(whole) if mark not in kept} <= named
