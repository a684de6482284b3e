"""Results and arguments checked over REST, without a call (catalogue 2.3, 2.4, 6.2)."""

import json
from typing import Any

import pytest

from catalogue.models import Call
from tests.conftest import data_of, refusal_of

RESULTS = "/v1/catalogue/results"
ECHO = "/v1/catalogue/tools/demo__echo/validate"


@pytest.fixture
def post(api):
    """What stands under `data` of a POST by alice."""
    return lambda path, body: data_of(api("alice").post(path, body))


def test_arguments_are_checked_and_filled_without_a_call_C53(post):
    checked = post(ECHO, {"arguments": {"message": "hi"}})
    assert checked == {"valid": True, "code": None, "errors": [], "arguments": {"message": "hi", "repeat": 1}}
    checked = post(ECHO, {"arguments": {"repeat": "2", "mood": "sad"}})
    assert (checked["valid"], checked["code"]) == (False, "MISSING_REQUIRED")
    assert {"field": "message", "code": "MISSING_REQUIRED", "message": "is missing"} in checked["errors"]
    assert {error["field"] for error in checked["errors"]} == {"message", "repeat", "mood"}
    assert not Call.objects.exists()


def test_positional_arguments_are_checked_too_C96(post):
    assert post(ECHO, {"args": ["hi", 2]})["arguments"] == {"message": "hi", "repeat": 2}
    assert post(ECHO, {"args": ["hi"], "arguments": {"message": "ho"}})["code"] == "INVALID_INPUT"
    assert post(ECHO, {"arguments": []})["code"] == "INVALID_INPUT"


def test_a_wrong_type_format_or_bound_C54_C55(post):
    for bad, code in (({"repeat": True}, "TYPE_ERROR"), ({"repeat": 9}, "CONSTRAINT_VIOLATION")):
        assert post(ECHO, {"arguments": {"message": "hi", **bad}})["code"] == code
    assert post(ECHO, {"arguments": {"message": "hi", "email": "no"}})["code"] == "CONSTRAINT_VIOLATION"
    assert post(ECHO, {"arguments": {"message": "hi", "repeat": 3.0}})["valid"]


def test_a_version_that_is_not_there_is_not_found(api):
    body = {"arguments": {}, "version": 99}
    assert refusal_of(api("alice").post(ECHO, body))[0] == 404


def test_a_result_is_judged_at_each_level_C73(post):
    result = {"success": False}
    verdicts = {level: post(f"{RESULTS}/validate", {"level": level, "result": result}) for level in ("core", "strict")}
    assert verdicts["core"]["errors"][0]["field"] == "error"
    assert not verdicts["strict"]["valid"]
    assert post(f"{RESULTS}/validate", {"result": result}) == {"valid": True, "errors": []}


def test_a_result_is_converted_with_what_is_lost_C65_C67(post):
    canonical = {"success": False, "error": {"code": "QUOTA", "message": "m"}, "metadata": {"inputSize": 3}}
    body: dict[str, Any] = {"from": "canonical", "to": "ctp", "result": canonical}
    written = post(f"{RESULTS}/convert", body)
    assert written["losses"] == []
    back = post(f"{RESULTS}/convert", {"from": "ctp", "to": "canonical", "result": written["result"]})["result"]
    assert (back["error"]["code"], back["metadata"]["inputSize"]) == ("QUOTA", 3)
    strict = post(f"{RESULTS}/convert", {**body, "style": "strict"})
    assert [loss["path"] for loss in strict["losses"]] == ["/metadata/originalCode"]
    context = {"tool_use_id": "tu_1", "tool_name": "get"}
    roboto = post(f"{RESULTS}/convert", {**body, "to": "roboto", "context": context})["result"]
    assert (roboto["tool_use_id"], roboto["tool_name"], roboto["status"]) == ("tu_1", "get", "error")


@pytest.mark.parametrize(
    ("target", "lost"),
    [
        ("data_harness", ["tool_name", "trace", "none"]),
        ("anthropic", ["tool_name", "trace", "none"]),
        ("openai", ["tool_name", "trace", "none"]),
        ("roboto", ["trace", "none"]),
        ("ctp", ["none"]),
        ("mcp", []),
    ],
)
def test_a_custom_value_without_a_place_is_a_named_loss(post, target, lost):
    """Table 2.3: only the ids of the call have a place in the blocks; CTP holds no nulls."""
    custom = {"tool_use_id": "tu_1", "tool_name": "get", "trace": {"id": 7}, "none": None}
    result = {"success": True, "data": {}, "metadata": {"custom": custom}}
    converted = post(f"{RESULTS}/convert", {"from": "canonical", "to": target, "result": result})
    assert [loss["path"] for loss in converted["losses"]] == [f"/metadata/custom/{name}" for name in lost]


def test_any_value_is_lifted_C61(post):
    lifted = post(f"{RESULTS}/convert", {"from": "plain", "to": "canonical", "result": [1]})["result"]
    assert lifted["success"] and lifted["data"] == {"value": [1]}


@pytest.mark.parametrize("source", ["data_harness", "mcp", "openai", "anthropic"])
@pytest.mark.parametrize(
    "text",
    ['{"a": "\\ud800"}', '{"\\udfff": 1}', '{"a": "\\u0000"}', '{"a": 1e999}', '{"a": ' + "9" * 4200 + "}",
     "[" * 900 + "]" * 900],
    ids=["surrogate", "key", "nul", "infinite", "digits", "deep"],
)  # fmt: skip
def test_a_text_of_json_that_nobody_can_keep_stays_a_text_C69(api, source, text):
    """Written into a text, it gets past what is asked of a body."""
    block = {"content": text, "is_error": False, "tool_use_id": "t", "tool_call_id": "t", "role": "tool"}
    told = block if source != "mcp" else {"content": [{"type": "text", "text": text}]}
    for target in ("canonical", "ctp", "mcp", "roboto", "convilyn", "data_harness"):
        sent = {"from": source, "to": target, "result": told}
        converted = data_of(api("alice").post("/v1/catalogue/results/convert", sent))["result"]
        assert target != "canonical" or converted["data"] == text


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"from": "klingon", "to": "ctp", "result": {}}, "unsupported_dialect"),
        ({"from": "ctp", "to": "plain", "result": {"success": True}}, "unsupported_dialect"),
        ({"from": "ctp", "to": "mcp", "result": []}, "invalid_result"),
        ({"from": "convilyn", "to": "mcp", "result": {"success": True, "error": {}}}, "invalid_result"),
    ],
)
def test_what_cannot_be_converted_is_refused_C8_C74(api, body, reason):
    response = api("alice").post(f"{RESULTS}/convert", body)
    assert refusal_of(response)[0] == 400
    assert json.loads(response.content)["details"]["reason"] == reason


@pytest.mark.parametrize("body", [{}, {"result": {}, "level": "lax"}, {"result": {}, "dialect": "mcp"}])
def test_what_cannot_be_judged_is_refused(api, body):
    assert refusal_of(api("alice").post(f"{RESULTS}/validate", body))[0] == 400


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("execution_time_ms", "5"),
        ("execution_time_ms", True),
        ("execution_time_ms", -1),
        ("metadata.inputSize", "5"),
        ("metadata.inputSize", True),
        ("metadata.inputSize", -5),
        ("metadata.outputSize", 1.5),
    ],
)
def test_a_canonical_result_is_read_as_it_is_or_refused(api, place, value):
    """Catalogue 2.1: nothing is taken for a number that is none."""
    within, _, key = place.rpartition(".")
    result = {"success": True, "data": 1, **({within: {key: value}} if within else {key: value})}
    answer = api("alice").post(f"{RESULTS}/convert", {"from": "canonical", "to": "mcp", "result": result})
    assert answer.status_code == 400
    assert place in refusal_of(answer)[2]


def test_a_style_is_for_the_dialect_that_has_it_C68(api):
    alice, body = api("alice"), {"from": "plain", "result": {"a": 1}, "style": "strict"}
    assert alice.post(f"{RESULTS}/convert", {**body, "to": "ctp"}).status_code == 200
    for target in ("canonical", "mcp", "roboto_client"):
        answer = alice.post(f"{RESULTS}/convert", {**body, "to": target})
        assert answer.status_code == 400 and "style" in refusal_of(answer)[2]


def test_the_other_name_of_roboto_is_understood_everywhere(api):
    """Decision 008."""
    alice = api("alice")
    sent = {"status": "success", "output": {"a": 1}, "runtime_ms": 2}
    body = {"from": "roboto_client", "to": "roboto_client", "result": sent}
    same = data_of(alice.post(f"{RESULTS}/convert", {**body, "from": "roboto", "to": "roboto"}))
    assert data_of(alice.post(f"{RESULTS}/convert", body)) == same and same["result"]["output"] == {"a": 1}
    call = {"arguments": {"message": "hi"}, "result_dialect": "roboto_client"}
    made = data_of(alice.post("/v1/catalogue/tools/demo__echo/call", call))
    assert (made["result_dialect"], made["result"]["status"]) == ("roboto", "success")
    for field, odd in (("from", "robot"), ("to", "plain")):
        answer = alice.post(f"{RESULTS}/convert", {**body, field: odd})
        assert answer.json()["details"] == {"field": field, "reason": "unsupported_dialect"}


def test_a_failed_call_says_nothing_null_in_ctp_C66(api):
    call = {"arguments": {"message": None}, "result_dialect": "ctp"}
    result = data_of(api("alice").post("/v1/catalogue/tools/demo__echo/call", call))["result"]
    [error] = result["metadata"]["details"]["errors"]
    assert (error["field"], error["code"]) == ("message", "TYPE_ERROR") and "received" not in error
