"""Calls over REST: what is checked, run, tried again, put aside, recorded (catalogue 3.1 to 3.6, 6.2)."""

import json
import threading
import time
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import OperationalError
from django.utils import timezone

from accounts.models import Membership
from catalogue import builtin, executing, patterns, publishing, results
from catalogue.models import Call, DataRef, DemoCount, Tool, ToolServer, ToolVersion
from catalogue.results import CODES
from catalogue.spec import ToolSpec
from core.canonical import canonical_json
from core.slots import Slots
from tests import make
from tests.conftest import data_of, refusal_of

TOOLS = "/v1/catalogue/tools"


@pytest.fixture
def call(api):
    """Call a tool as somebody and give what stands under `data`."""

    def made(tool: str, arguments: Any = None, *, who: str = "alice", **body: Any) -> Any:
        sent = {"arguments": {} if arguments is None else arguments, **body}
        return data_of(api(who).post(f"{TOOLS}/{tool}/call", sent))

    return made


@pytest.fixture
def refused(api):
    """Call a tool and give status and `details` of the refusal."""

    def made(tool: str, **body: Any) -> tuple[int, Any]:
        response = api("alice").post(f"{TOOLS}/{tool}/call", body)
        status, _, _ = refusal_of(response)
        return status, json.loads(response.content).get("details")

    return made


@pytest.fixture
def offer(db, monkeypatch):
    """Offer the builtin tool `odd` that does this."""

    def offered(run: Any, schema: Any = None, **marks: Any) -> str:
        spec = ToolSpec("odd", "Odd.", schema or {"type": "object"}, run, **marks)
        monkeypatch.setitem(builtin.TOOLS, "odd", spec)
        publishing.after_migration()
        return "heddle__odd"

    return offered


# The result and its shape


def test_a_call_answers_with_everything_there_is_to_say(call):
    """C58, C64 and the example of 6.3: defaults in, all keys, sizes in bytes of canonical JSON, of what was sent."""
    made = call("demo__echo", {"message": "hé"})
    assert made.keys() == {
        *("call_id", "qualified_name", "version", "result", "result_dialect", "attempts"),
        *("failure", "data_ref", "model_view", "world", "http_status"),
    }
    assert (made["qualified_name"], made["version"], made["http_status"]) == ("demo__echo", 1, 200)
    result = made["result"]
    assert result.keys() == {"success", "data", "error", "execution_time_ms", "metadata"}
    assert result["data"] == {"message": "hé", "repeat": 1, "length": 2} == made["model_view"]
    assert result["execution_time_ms"] >= 0
    assert result["metadata"] == {
        "inputSize": len(canonical_json({"message": "hé"}).encode()),
        "outputSize": len(canonical_json(result["data"]).encode()),
        "warnings": [],
        "custom": {},
    }
    [attempt] = made["attempts"]
    assert attempt["attempt"] == 1 and attempt["success"] and attempt["code"] is None


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("dict", {"a": 1}),
        ("list", {"value": [1, 2]}),
        ("str", {"value": "text"}),
        ("none", {"value": None}),
        ("result_ok", {"a": 1}),
        ("looks_like_result", {"success": False, "error": "it only looks like one"}),
    ],
)
def test_what_a_handler_returns_is_lifted_C61(call, kind, data):
    result = call("demo__value", {"kind": kind})["result"]
    assert result["success"] and result["data"] == data


def test_a_failed_result_is_a_failure_and_no_success_around_one_C62(call):
    made = call("demo__value", {"kind": "result_fail"})
    assert made["result"]["success"] is False and made["result"]["data"] is None
    assert made["result"]["error"]["code"] == "EXECUTION_ERROR"
    assert made["model_view"] == {
        "error": {"code": "EXECUTION_ERROR", "message": "a result that failed", "suggestion": None}
    }


def test_warnings_of_a_tool_are_kept(call):
    assert call("demo__value", {"kind": "warn"})["result"]["metadata"]["warnings"] == ["mind the gap"]


def test_an_exception_is_told_by_type_and_text_alone_C63(api):
    body = {"arguments": {"code": "X", "message": "boom", "raise": True}}
    response = api("alice").post(f"{TOOLS}/demo__fail/call", body)
    assert data_of(response)["result"]["error"]["message"] == "RuntimeError: boom"
    assert data_of(response)["result"]["error"]["code"] == "EXECUTION_ERROR"
    assert b"Traceback" not in response.content and b".py" not in response.content


def test_the_model_never_sees_the_details_of_a_failure(call):
    made = call("demo__fail", {"code": "NOT_FOUND", "message": "m", "details": {"secret": 1}, "suggestion": "s"})
    assert made["result"]["error"]["details"] == {"secret": 1}
    assert made["model_view"] == {"error": {"code": "NOT_FOUND", "message": "m", "suggestion": "s"}}
    assert made["http_status"] == 404


@pytest.mark.parametrize("code", [*CODES, "DECLINED"])
def test_on_error_http_gives_the_status_of_the_code_C60(api, code):
    """C60, C130: the status of the table, 500 for any other code; what else there is stands beside the error."""
    body = {"arguments": {"code": code, "message": "note: as asked"}, "on_error": "http"}
    response = api("alice").post(f"{TOOLS}/demo__fail/call", body)
    status, _, said = refusal_of(response)
    assert (status, said) == (CODES[code].status if code in CODES else 500, "note: as asked")
    details = json.loads(response.content)["details"]
    assert details.keys() == {"reason", "call_id"} and details["reason"] == code
    recorded = data_of(api("alice").get(f"/v1/catalogue/calls/{details['call_id']}"))
    assert recorded["result"]["error"]["code"] == code


def test_another_dialect_of_the_result_C66_C70(call):
    result = call("demo__value", {"kind": "list"}, result_dialect="roboto", tool_use_id="tu_1")["result"]
    assert result == {
        "tool_use_id": "tu_1",
        "tool_name": "demo__value",
        "runtime_ms": result["runtime_ms"],
        "status": "success",
        "output": {"value": [1, 2]},
    }
    assert call("demo__value", {"kind": "dict"}, result_dialect="ctp")["result"]["success"] is True


# What is wrong with the arguments


@pytest.mark.parametrize("verb", ["call", "validate"])
def test_who_sends_what_a_world_takes_is_told_what_it_is_called_here(api, verb):
    response = api("alice").post(f"{TOOLS}/heddle__echo/{verb}", {"input": {"value": "x"}, "other": 1})
    reason = "is not a known field; here it is called arguments"
    assert refusal_of(response)[0] == 400
    assert json.loads(response.content)["details"] == [{"field": "input", "reason": reason}]


def test_a_call_with_bad_arguments_runs_nothing_and_is_no_refusal_C59(call):
    made = call("demo__counter")
    assert made["result"]["data"] == {"count": 1}
    made = call("demo__flaky", {"fail_times": "two"}, retry_policy={})
    assert made["attempts"] == [] and made["result"]["success"] is False and made["http_status"] == 400
    error = made["result"]["error"]
    assert error["code"] == "MISSING_REQUIRED"
    assert {each["field"]: each["code"] for each in error["details"]["errors"]} == {
        "key": "MISSING_REQUIRED",
        "fail_times": "TYPE_ERROR",
    }
    assert not DemoCount.objects.filter(name__startswith="flaky").exists()


@pytest.mark.parametrize(("wrong", "late"), [(100, False), (5_000, False), (100_000, True)])
def test_the_code_is_that_of_all_errors_however_many_there_are_C53(api, call, offer, monkeypatch, wrong, late):
    """At most a hundred are listed; the one that gives the code is one of them, and the others are counted."""
    properties = {"a": {"type": "array", "items": {"type": "integer"}}}
    tool = offer(None, {"type": "object", "properties": properties, "required": ["z"]})
    monkeypatch.setattr("catalogue.validating.CHECK_SECONDS", 60)  # a busy machine takes longer
    error = call(tool, {"a": ["x"] * wrong})["result"]["error"]
    assert error["code"] == "MISSING_REQUIRED" and error["message"] == f"z: is missing (and {wrong} more)"
    listed = error["details"]["errors"]
    assert [each["field"] for each in listed] == [*(f"a[{place}]" for place in range(99)), "z"]
    checked = data_of(api("alice").post(f"{TOOLS}/{tool}/validate", {"arguments": {"a": ["x"] * wrong}}))
    assert (checked["code"], checked["errors"]) == ("MISSING_REQUIRED", listed)
    if late:
        monkeypatch.setattr("catalogue.validating.CHECK_SECONDS", 0.1)
        error = call(tool, {"a": ["x"] * wrong})["result"]["error"]
        assert error["code"] == "TYPE_ERROR" and "more)" in error["message"] and "at least" in error["message"]
        assert len(error["details"]["errors"]) == 100


def test_whether_arguments_are_valid_does_not_depend_on_the_load_of_the_server_C53_C55(call, offer, monkeypatch):
    """The limit is of processor time: whoever has to wait for the processor does not use it."""
    search = patterns.matches

    def waiting(*given: Any, **named: Any) -> bool:
        time.sleep(0.2)
        return search(*given, **named)

    schema = {"type": "object", "properties": {key: {"type": "string", "pattern": "^x"} for key in "abc"}}
    tool = offer(lambda arguments, context: arguments, schema)
    monkeypatch.setattr("catalogue.validating.CHECK_SECONDS", 0.15)
    monkeypatch.setattr(patterns, "matches", waiting)
    assert call(tool, {"a": "x", "b": "xx"})["result"]["data"] == {"a": "x", "b": "xx"}
    error = call(tool, {"a": "y", "b": "z"})["result"]["error"]
    assert [each["field"] for each in error["details"]["errors"]] == ["a", "b"]


def test_a_pattern_ends_where_the_text_ends_C55(call, offer):
    """As ECMA-262 has it, which JSON Schema recommends; digits are those of ASCII."""
    properties = {"a": {"type": "string", "pattern": r"^\d+$"}}
    tool = offer(lambda arguments, context: arguments, {"type": "object", "properties": properties})
    assert call(tool, {"a": "12"})["result"]["data"] == {"a": "12"}
    for text in ("12\n", "\u0661\u0662"):
        assert call(tool, {"a": text})["result"]["error"]["code"] == "CONSTRAINT_VIOLATION"


@pytest.mark.parametrize("arguments", [[], "text", 1, None])
def test_arguments_that_are_no_object_are_invalid_input(api, arguments):
    response = api("alice").post(f"{TOOLS}/demo__value/call", {"arguments": arguments})
    assert data_of(response)["result"]["error"]["code"] == "INVALID_INPUT"


def test_positional_arguments_of_a_call_C96(call):
    assert call("demo__echo", {"repeat": 2}, args=["hi"])["result"]["data"]["repeat"] == 2
    for body in ({"args": ["hi", 1, "calm", "a@b.cd", "more"]}, {"args": ["hi"], "arguments": {"message": "ho"}}):
        arguments = body.pop("arguments", {})
        made = call("demo__echo", arguments, **body)
        assert (made["result"]["error"]["code"], made["attempts"]) == ("INVALID_INPUT", [])


def test_an_undeclared_argument_is_dropped_with_a_warning(call, offer):
    """3.1: a builtin gets what its schema declares."""
    tool = offer(lambda arguments, context: dict(arguments), {"type": "object", "properties": {"a": {}}})
    result = call(tool, {"a": 1, "b": 2})["result"]
    assert result["data"] == {"a": 1}
    assert result["metadata"]["warnings"] == ["argument b is not declared and was dropped"]


@pytest.mark.parametrize("is_by_place", [False, True])
def test_a_megabyte_of_arguments_is_taken_and_a_byte_more_is_refused_C135(call, refused, offer, api, is_by_place):
    """Measured as an object, positional ones in their places."""
    tool = offer(lambda arguments, context: len(arguments["a"]), {"type": "object", "properties": {"a": {}, "b": {}}})
    room = 1024 * 1024 - len('{"a":""}')

    def sent(length):
        text = "x" * length
        return {"args": [text], "arguments": {}} if is_by_place else {"arguments": {"a": text}}

    assert call(tool, **sent(room))["result"]["metadata"]["inputSize"] == 1024 * 1024
    assert data_of(api("alice").post(f"{TOOLS}/{tool}/validate", sent(room)))["valid"]
    for body in (sent(room + 1), {"args": ["x", "x", "x" * room]}):
        status, details = refused(tool, **body)
        assert (status, details["reason"]) == (400, "too_large")


@pytest.mark.parametrize("body", [b'{"arguments": {"a": NaN}}', b'{"arguments": {"a": 1e999}}'])
def test_numbers_that_are_none_are_refused(api, body):
    assert refusal_of(api("alice").post(f"{TOOLS}/demo__echo/call", body))[0] == 400


@pytest.mark.parametrize(("step", "code"), [(0.1, None), (0.7, "CONSTRAINT_VIOLATION")])
def test_a_whole_number_of_thousands_of_digits_harms_nobody(api, offer, step, code):
    """C55: it is a multiple or not, whatever a float could hold."""
    tool = offer(lambda *_: 1, {"type": "object", "properties": {"a": {"multipleOf": step}}})
    body = b'{"arguments": {"a": ' + b"9" * 4000 + b"}}"
    result = data_of(api("alice").post(f"{TOOLS}/{tool}/call", body))["result"]
    assert (result["error"] or {}).get("code") == code


# What tools do


def test_a_tool_that_is_slower_than_its_time_is_a_timeout_C85(call, api, offer):
    """Its late answer goes nowhere: what was recorded stays."""
    go_on, done = threading.Event(), threading.Event()

    def late(*_: Any) -> Any:
        go_on.wait(20)
        done.set()
        return {"late": True}

    tool, started = offer(late), time.monotonic()
    made = call(tool, timeout_ms=60)
    assert time.monotonic() - started < 5
    assert made["result"]["error"]["code"] == "TIMEOUT"
    assert made["result"]["error"]["details"] == {"timeout_ms": 60}
    assert 60 <= made["result"]["execution_time_ms"] < 5000
    go_on.set()
    assert done.wait(5)
    assert data_of(api("alice").get(f"/v1/catalogue/calls/{made['call_id']}"))["result"] == made["result"]


@pytest.mark.parametrize("timeout_ms", [0, -1, 120_001, 1.5, "1"])
def test_a_time_that_is_none_is_refused_C86(refused, timeout_ms):
    assert refused("demo__echo", arguments={"message": "hi"}, timeout_ms=timeout_ms)[0] == 400


def test_tools_that_never_return_do_not_take_all_threads(call, offer, monkeypatch):
    never = threading.Event()
    tool = offer(lambda *_: never.wait(20))
    monkeypatch.setattr(executing, "_running", Slots(1, each=1))
    try:
        assert call(tool, timeout_ms=10)["result"]["error"]["code"] == "TIMEOUT"
        assert call(tool, timeout_ms=10)["result"]["error"]["code"] == "RATE_LIMITED"
    finally:
        never.set()


def test_one_person_does_not_take_the_places_of_everybody_s_tools(call, offer):
    never = threading.Event()
    tool = offer(lambda *_: never.wait(60))
    try:
        for _ in range(50):
            assert call(tool, timeout_ms=1)["result"]["error"]["code"] == "TIMEOUT"
        error = call(tool, timeout_ms=1)["result"]["error"]
        assert (error["code"], "and 50 per user" in error["message"]) == ("RATE_LIMITED", True)
        assert call(tool, who="bob", timeout_ms=1)["result"]["error"]["code"] == "TIMEOUT"
    finally:
        never.set()


def test_a_call_of_a_turn_waits_for_a_place(call, offer, who):
    never = threading.Event()
    tool = offer(lambda *_: never.wait(60))
    for _ in range(50):
        call(tool, timeout_ms=1)
    threading.Timer(1, never.set).start()
    thread = make.thread(who.alice, '[[call echo {"value": 1}]]')
    assert never.is_set()
    assert Call.objects.get(thread_id=thread.thread_id).outcome == "success"


class NoJson:
    """Something that nobody can write down."""


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (NoJson(), "a NoJson, which is not JSON"),
        ({"a": {1, 2}}, "a set, which is not JSON"),
        ({1: "a"}, "an object with a key that is not text"),
        (float("nan"), "a number out of range"),
        (10**400, "a number out of range"),
        ("half \ud800", "text with a NUL character or a lone surrogate"),
        ("x" * 50_000_000, "more than 10 MiB"),
        ([["flood"] * 1000] * 1000, "more than 10 MiB"),
    ],
    ids=["object", "set", "key", "nan", "huge", "surrogate", "50MB", "flood"],
)
def test_what_is_no_result_is_the_tools_failure(call, offer, value, said):
    """2.1, 2.2: returned something unusable."""
    if isinstance(value, list):
        value = value * 2
    error = call(offer(lambda *_: value))["result"]["error"]
    assert (error["code"], error["message"]) == ("EXECUTION_ERROR", f"The tool returned {said}.")


def test_a_result_without_end_is_the_tools_failure(call, offer):
    ring: list[Any] = []
    ring.append(ring)
    assert call(offer(lambda *_: ring))["result"]["error"]["message"].endswith("nested deeper than 100 levels.")


def test_an_exception_that_cannot_say_why_is_still_a_result(call, offer):
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def broken(*_: Any) -> Any:
        raise Mute

    assert call(offer(broken))["result"]["error"]["message"] == "Mute: no message"


def test_output_that_does_not_fit_is_told_of_or_refused(call, offer):
    """3.1: success with a warning, with `strict_output` a failure."""
    tool = offer(lambda *_: {"n": "one"}, output_schema={"properties": {"n": {"type": "integer"}}})
    result = call(tool)["result"]
    assert result["success"] and result["metadata"]["warnings"] == ["output does not match output_schema"]
    error = call(tool, strict_output=True)["result"]["error"]
    assert (error["code"], error["details"]["errors"][0]["field"]) == ("EXECUTION_ERROR", "n")


# Trying again


@pytest.fixture
def waits(monkeypatch):
    """How long was waited between attempts, in seconds; nobody really waits."""
    slept: list[float] = []
    monkeypatch.setattr(executing.time, "sleep", slept.append)
    return slept


def flaky(call, times: int, tool: str = "demo__flaky", *, policy: Any = None, **arguments: Any) -> Any:
    body = {} if policy is None else {"retry_policy": policy}
    return call(tool, {"key": f"k{time.monotonic_ns()}", "fail_times": times, **arguments}, **body)


def codes(made: Any) -> list[str | None]:
    return [attempt["code"] for attempt in made["attempts"]]


def test_without_a_policy_there_is_one_attempt_C76(call):
    made = flaky(call, 1)
    assert (codes(made), made["failure"]) == (["EXECUTION_ERROR"], None)


def test_the_plain_policy_makes_three_attempts_C77(call, waits):
    made = flaky(call, 2, policy={})
    assert made["result"]["success"] and codes(made) == ["EXECUTION_ERROR", "EXECUTION_ERROR", None]
    assert made["result"]["data"]["calls"] == 3 and made["failure"] is None
    assert waits == [0.1, 0.2]


def test_fewer_further_attempts_C78(call, waits):
    made = flaky(call, 2, policy={"tool_error": 1})
    assert not made["result"]["success"] and len(made["attempts"]) == 2
    assert made["failure"]["category"] == "transient" and made["failure"]["rule_index"] is None


def test_what_is_not_idempotent_is_never_repeated_C79(call, waits):
    made = flaky(call, 2, "demo__flaky_unsafe", policy={})
    assert len(made["attempts"]) == 1 and waits == []


@pytest.mark.parametrize("code", ["NOT_FOUND", "UNAUTHORIZED", "INVALID_INPUT", "CONSTRAINT_VIOLATION", "CUSTOM"])
def test_what_repeating_cannot_help_is_not_repeated_C80(call, waits, code):
    assert codes(flaky(call, 1, policy={}, code=code)) == [code]


def rule(pattern: str, category: str = "tool", **more: Any) -> dict[str, Any]:
    return {"error_code_pattern": pattern, "category": category, "rationale_template": "", **more}


def test_a_custom_code_is_repeated_where_a_rule_makes_it_the_tools_C81(call, waits):
    rules = [rule("QUOTA", rationale_template="{tool_name} said {error_code}: {error_verbatim} {unknown}")]
    policy = {"tool_error": 1, "classify_failures": rules, "terminal_failure": {}}
    made = flaky(call, 5, policy=policy, code="QUOTA")
    assert codes(made) == ["QUOTA", "QUOTA"]
    assert made["failure"] == {
        "category": "tool",
        "rule_index": 0,
        "rationale": "demo__flaky said QUOTA: failed 2 of 5 times {unknown}",
        "message": "demo__flaky: failed 2 of 5 times",
        "validation_error": 1,
    }


def test_the_first_rule_that_covers_the_failure_counts_C82(call, waits):
    """The whole code, and the log where the rule asks for it: message and details."""
    rules = [rule("QUO", "data"), rule("QUOTA", "planning", log_pattern="nothing"), rule("QUO.*", "format"), rule(".*")]
    made = flaky(call, 5, policy={"classify_failures": rules}, code="QUOTA")
    assert (made["failure"]["category"], made["failure"]["rule_index"], len(made["attempts"])) == ("format", 2, 1)
    rules = [rule("QUOTA", log_pattern='"limit":3')]
    assert len(flaky(call, 1, policy={"classify_failures": rules}, code="QUOTA", details={"limit": 3})["attempts"]) == 2


def test_a_template_does_not_read_what_the_tool_said(call):
    policy = {"classify_failures": [rule("X", rationale_template="{error_verbatim}")]}
    made = call("demo__fail", {"code": "X", "message": "{tool_name} {0.__class__}"}, retry_policy=policy)
    assert made["failure"]["rationale"] == "{tool_name} {0.__class__}"


@pytest.mark.parametrize(
    "policy",
    [
        {"tool_error": 11},
        {"tool_error": -1},
        {"unknown": 1},
        {"kind": "other"},
        {"classify_failures": [rule("X", "weather")]},
        {"classify_failures": [rule("(")]},
        {"classify_failures": [rule("X", log_pattern="[")]},
        {"classify_failures": [rule("(?:(?:a{1000}){1000}){1000}")]},
    ],
)
def test_a_policy_that_is_none_is_refused_C83(refused, policy):
    assert refused("demo__flaky", arguments={"key": "k", "fail_times": 1}, retry_policy=policy)[0] == 400


def test_a_tool_may_say_that_it_is_not_to_be_repeated_C84(call, waits):
    assert len(flaky(call, 5, policy={}, details={"retryable": False})["attempts"]) == 1


def test_a_tool_may_say_how_long_to_wait(call, waits):
    flaky(call, 1, policy={}, details={"retry_after_ms": 1500})
    assert waits == [1.5]


def test_all_pauses_of_a_call_have_a_limit_together(call, waits):
    """A tool that always asks for the longest pause does not occupy the server's thread for minutes."""
    made = flaky(call, 20, policy={"tool_error": 10}, code="RATE_LIMITED", details={"retry_after_ms": 30_000})
    assert waits == [30, 30]
    assert codes(made) == ["RATE_LIMITED"] * 3 and made["failure"]["category"] == "transient"
    assert made["result"]["error"]["message"] == "failed 3 of 20 times", "the last failure is the answer"


@pytest.mark.parametrize("seconds", [None, 30], ids=["on the caller's thread", "on its own"])
def test_a_call_that_waits_to_be_tried_again_keeps_its_place(call, offer, monkeypatch, seconds):
    """One person's waiting calls do not occupy all threads of the server."""
    failures, meanwhile = [1], []

    def flaky_once(*_: Any) -> Any:
        return results.fail("RATE_LIMITED", "Later.") if failures and failures.pop() else {"a": 1}

    tool = offer(flaky_once, is_idempotent=True, timeout_seconds=seconds)
    other = "demo__value"

    def sleep(_: float) -> None:
        meanwhile.extend(call(other, {"kind": "dict"}, who=name)["result"]["success"] for name in ("alice", "bob"))

    monkeypatch.setattr(executing, "_running", Slots(2, each=1))
    monkeypatch.setattr(executing.time, "sleep", sleep)
    assert codes(call(tool, retry_policy={})) == ["RATE_LIMITED", None]
    assert meanwhile == [False, True]
    assert call(other, {"kind": "dict"})["result"]["success"], "the place is free again"


def test_a_call_goes_on_without_a_tool_that_never_returns_only_while_there_are_places(call, offer, waits, monkeypatch):
    """Each abandoned attempt keeps its place, and nobody waits without one."""
    never = threading.Event()
    tool = offer(lambda *_: never.wait(20), is_idempotent=True)
    slots = Slots(3, each=3)
    monkeypatch.setattr(executing, "_running", slots)
    try:
        made = call(tool, timeout_ms=10, retry_policy={"tool_error": 10})
        assert codes(made) == ["TIMEOUT"] * 3 and len(waits) == 2
        assert codes(call(tool, timeout_ms=10, retry_policy={"tool_error": 10})) == ["RATE_LIMITED"]
    finally:
        never.set()
    assert all(slots.take("anybody", patience_seconds=5) for _ in range(3)), "they come back when the tools end"


# Data references


def test_large_data_is_put_aside_and_comes_back_whole_C87_C88(call, api):
    whole = call("demo__bulk", {"rows": 400}, stash="never")["result"]
    made = call("demo__bulk", {"rows": 400})
    ref = made["data_ref"]
    assert ref.keys() == {"ref_id", "summary"} and made["result"]["data"] == made["model_view"] == ref
    assert len(ref["ref_id"]) == 15 and ref["ref_id"].startswith("td_") and int(ref["ref_id"][3:], 16) >= 0
    assert ref["summary"] == f"object of {whole['metadata']['outputSize']} bytes with rows (400 items), count"
    assert made["result"]["metadata"]["outputSize"] == whole["metadata"]["outputSize"]
    kept = data_of(api("bob").get(f"/v1/catalogue/data/{ref['ref_id']}"))
    assert canonical_json(kept["data"]) == canonical_json(whole["data"])
    assert kept["size_bytes"] == whole["metadata"]["outputSize"]


def test_stash_says_whether_data_is_put_aside_C89(call):
    assert call("demo__bulk", {"rows": 1})["data_ref"] is None
    assert call("demo__bulk", {"rows": 1}, stash="always")["data_ref"]
    assert call("demo__bulk", {"rows": 1}, inline_max_bytes=10)["data_ref"]
    assert call("demo__bulk", {"rows": 400}, stash="never")["data_ref"] is None
    assert call("demo__value", {"kind": "result_fail"}, stash="always")["data_ref"] is None


def test_what_is_not_there_any_more_or_never_was_or_is_anothers_is_not_found_C90(call, api):
    ref_id = call("demo__stash")["data_ref"]["ref_id"]
    assert api("alice").get(f"/v1/catalogue/data/{ref_id}").status_code == 200
    assert api("eve").get(f"/v1/catalogue/data/{ref_id}").status_code == 404
    assert api("eve").request("DELETE", f"/v1/catalogue/data/{ref_id}").status_code == 404
    assert api("alice").get("/v1/catalogue/data/td_000000000000").status_code == 404
    for seconds, status in ((3599, 200), (3601, 404)):
        with time_machine.travel(timezone.now() + timedelta(seconds=seconds), tick=False):
            assert api("alice").get(f"/v1/catalogue/data/{ref_id}").status_code == status


def test_what_has_expired_is_cleared_away_with_the_next_one(call):
    call("demo__stash")
    DataRef.objects.update(expires_at=timezone.now())
    call("demo__stash")
    assert DataRef.objects.count() == 1


def test_the_tool_that_gets_data_C91(call):
    ref_id = call("demo__bulk", {"rows": 400})["data_ref"]["ref_id"]
    made = call("heddle__get_tool_data", {"ref_id": ref_id})
    assert made["result"]["data"]["count"] == 400 and made["data_ref"] is None
    for who, wanted in (("eve", ref_id), ("alice", "td_000000000000")):
        assert call("heddle__get_tool_data", {"ref_id": wanted}, who=who)["result"]["error"]["code"] == "NOT_FOUND"
    assert call("heddle__get_tool_data")["result"]["error"]["code"] == "MISSING_REQUIRED"


def test_a_tools_own_reference_passes_through_C92(call, offer):
    made = call("demo__stash", {"rows": 3}, stash="always")
    assert made["model_view"].keys() == {"ref_id", "summary"} and made["model_view"] == made["data_ref"]
    assert DataRef.objects.count() == 1
    someones = {"ref_id": made["data_ref"]["ref_id"], "summary": "not yours"}
    assert call(offer(lambda *_: someones), who="eve")["data_ref"] is None


def test_data_is_stored_read_and_deleted_over_rest(api):
    sent = {"data": {"b": 1, "a": [None]}, "summary": "two things"}
    ref = data_of(api("alice").post("/v1/catalogue/data", sent))
    path = f"/v1/catalogue/data/{ref['ref_id']}"
    kept = data_of(api("alice").get(path))
    assert (kept["data"], kept["summary"], kept["size_bytes"]) == (sent["data"], "two things", 18)
    assert list(kept["data"]) == ["b", "a"]
    assert api("bob").get(path).status_code == 200
    assert refusal_of(api("bob").request("DELETE", path))[0] == 403
    assert data_of(api("alice").request("DELETE", path)) is None
    assert api("alice").get(path).status_code == 404
    for bad in ({}, {"data": []}, {"data": {"a": 1}, "summary": ""}):
        assert refusal_of(api("alice").post("/v1/catalogue/data", bad))[0] == 400
    big = {"data": {"a": "x" * (10 * 1024 * 1024)}}
    assert refusal_of(api("alice").post("/v1/catalogue/data", big))[0] == 400


def test_an_admin_reads_back_what_they_stored_in_an_org_of_others_C90(api, who):
    """Spec 1.2: a new payload is of the org that the request names; one that is there stays where it is."""
    acting = {"X-Roboto-Org-Id": who.acme.org_id}
    ref = data_of(api("admin").post("/v1/catalogue/data", {"data": {"a": 1}}, **acting))
    path = f"/v1/catalogue/data/{ref['ref_id']}"
    assert data_of(api("admin").get(path, **acting))["data"] == {"a": 1}
    assert [api("admin").get(path).status_code, api("eve").get(path).status_code] == [200, 404]
    elsewhere = {"X-Roboto-Org-Id": who.globex.org_id}
    assert [api(name).get(path, **elsewhere).status_code for name in ("admin", "alice", "eve")] == [200, 200, 404]
    assert data_of(api("admin").request("DELETE", path)) is None


# Which tool


def test_hidden_tools_run_and_schemas_alone_do_not_C93_C94(call, api):
    assert call("demo__hidden")["result"]["data"] == {"seen": True}
    made = call("demo__schema_only")
    assert made["result"]["error"]["code"] == "NOT_FOUND" and made["attempts"] == []
    assert made["result"]["error"]["details"] == {"reason": "not_dispatchable"}
    assert refusal_of(api("alice").post(f"{TOOLS}/demo__nothing/call", {}))[0] == 404
    assert refusal_of(api("alice").post(f"{TOOLS}/nothing/call", {}))[0] == 404


def stored_tool(org: Any, **content: Any) -> Tool:
    server = ToolServer.objects.create(org=org, name="my-srv", folded="my_srv", source_dialect="openai")
    tool = Tool.objects.create(
        org=org, server=server, name="get", qualified_name="my-srv__get", source_dialect="openai", version=2
    )
    schema = {"properties": {"user_id": {"type": "string"}, "include_email": {"type": "boolean"}}}
    for version in (1, 2):
        ToolVersion.objects.create(
            tool=tool,
            version=version,
            input_schema={**schema, "required": ["user_id"] if version == 2 else []},
            annotations={},
            param_order=["user_id", "include_email"],
            source_dialect="openai",
            **content,
        )
    return tool


def test_an_orgs_own_tool_is_called_by_any_spelling_and_version(call, api, who):
    """C94, 1.1: another org does not have it; an old version is still checked by its own schema."""
    stored_tool(who.acme)
    for spelling in ("my-srv__get", "my_srv__get", "my-srv:get"):
        assert call(spelling, {"user_id": "u"})["result"]["error"]["code"] == "NOT_FOUND"
    assert call("my-srv__get")["result"]["error"]["code"] == "MISSING_REQUIRED"
    assert call("my-srv__get", version=1)["result"]["error"]["code"] == "NOT_FOUND"
    assert refusal_of(api("alice").post(f"{TOOLS}/my-srv__get/call", {"version": 3}))[0] == 404
    assert refusal_of(api("eve").post(f"{TOOLS}/my-srv__get/call", {}))[0] == 404


def test_build_input_C95_C96(api, who):
    stored_tool(who.acme)
    path = f"{TOOLS}/my-srv__get/build-input"
    built = data_of(api("alice").post(path, {"args": ["u1"], "kwargs": {"include_email": True}}))
    assert built == {"input": {"user_id": "u1", "include_email": True}}
    assert data_of(api("alice").post(path, {"kwargs": {"else": 1}})) == {"input": {"else": 1}}
    for bad in ({"args": ["u1", True, 3]}, {"args": ["u1"], "kwargs": {"user_id": "u2"}}):
        response = api("alice").post(path, bad)
        assert refusal_of(response)[0] == 400
        assert json.loads(response.content)["details"]["reason"] == "INVALID_INPUT"


# The record


def test_every_call_is_found_afterwards_C134(call, api, who):
    made = call("demo__echo", {"message": "hi"})
    path = f"/v1/catalogue/calls/{made['call_id']}"
    found = data_of(api("bob").get(path))
    assert {name: found[name] for name in made} == made
    assert (found["arguments"], found["created_by"]) == ({"message": "hi"}, "alice@acme.test")
    assert found["created"].endswith("Z")
    assert api("eve").get(path).status_code == 404
    assert api("alice").get("/v1/catalogue/calls/call_unknown").status_code == 404
    Membership.objects.filter(user=who.alice.user).delete()
    assert api("alice").get(path).status_code == 404


def test_a_call_of_an_agent_is_recorded_the_same_way_for_whoever_asked_it_C134(api, who):
    make.thread(who.alice, '[[call calculate {"expression": "6 * 7"}]]', visibility="org")
    path = f"/v1/catalogue/calls/{Call.objects.get().call_id}"
    found = data_of(api("alice").get(path))
    assert (found["qualified_name"], found["arguments"]) == ("heddle__calculate", {"expression": "6 * 7"})
    assert found["result"]["data"] == {"value": 42} and len(found["attempts"]) == 1
    assert [api(name).get(path).status_code for name in ("bob", "eve", "admin")] == [404, 404, 200]


def test_what_an_agent_gets_that_is_large_is_put_aside_for_it(api, who, offer):
    """3.4: the model sees the line and may ask for the rest; owner and admins still see what it was."""
    offer(lambda *_: {"rows": ["a row"] * 2000})
    thread = make.thread(who.alice, "[[call odd {}]]")
    read = data_of(api("alice").get(f"threads/{thread.thread_id}"))
    [result] = [block for message in read["messages"] for block in message["content"] if "payload" in block]
    ref = result["payload"]
    assert ref.keys() == {"ref_id", "summary"}
    asked = f'[[call get_tool_data {{"ref_id": "{ref["ref_id"]}"}}]]'
    make.send(who.alice, thread, asked)
    read = data_of(api("alice").get(f"threads/{thread.thread_id}"))
    last = [block for message in read["messages"] for block in message["content"] if "payload" in block][-1]
    assert len(last["payload"]["rows"]) == 2000
    detail = data_of(api("alice").get(f"threads/{thread.thread_id}/tools/{result['tool_use_id']}"))
    assert len(detail["tool_result"]["raw_response"]["value"]["rows"]) == 2000


def test_a_call_is_on_record_before_it_is_made(call, offer):
    """3.1: whoever dies in it leaves a row without an outcome."""
    seen: list[Any] = []
    offer(lambda *_: seen.extend(Call.objects.values_list("tool", "outcome")), timeout_seconds=None)
    call("heddle__odd")
    assert seen == [("odd", "")]


def test_a_key_makes_a_call_once(call, api):
    """6.2: the same request again gets the answer that was given; another one under its key is refused."""
    first = call("demo__counter", idempotency_key="k")
    assert call("demo__counter", idempotency_key="k") == first
    assert call("demo__counter")["result"]["data"] == {"count": 2}
    body = {"arguments": {"message": "hi"}, "idempotency_key": "k"}
    assert refusal_of(api("alice").post(f"{TOOLS}/demo__echo/call", body))[0] == 409
    assert call("demo__counter", who="bob", idempotency_key="k")["result"]["data"] == {"count": 3}


def test_a_key_may_come_as_the_header_of_that_name(call, api):
    """As clients send it that repeat a request by themselves: the tool must not run twice."""
    path, once = f"{TOOLS}/demo__counter/call", {"Idempotency-Key": "k"}
    first = data_of(api("alice").post(path, {"arguments": {}}, **once))
    assert data_of(api("alice").post(path, {"arguments": {}}, **once)) == first
    assert data_of(api("alice").post(path, {"arguments": {}, "idempotency_key": None}, **once)) == first
    assert call("demo__counter", idempotency_key="k") == first


@pytest.mark.parametrize(("header", "said"), [("other", "differs from the header"), ("", "must have at least 1")])
def test_a_key_that_cannot_be_meant_is_refused(api, header, said):
    body = {"arguments": {}} | ({"idempotency_key": "k"} if header else {})
    response = api("alice").post(f"{TOOLS}/demo__counter/call", body, **{"Idempotency-Key": header})
    assert said in refusal_of(response)[2]
    assert json.loads(response.content)["details"][0]["field"] == "idempotency_key"
    assert not Call.objects.exists()


def test_a_database_that_fails_for_a_moment_is_no_answer_of_a_key(call, api, monkeypatch):
    """The client repeats a 503, and must not get "Internal error" for ever."""

    def fails(*_):
        raise OperationalError("the connection was closed")

    monkeypatch.setattr(executing, "execute", fails)
    body = {"arguments": {}, "idempotency_key": "k"}
    assert refusal_of(api("alice").post(f"{TOOLS}/demo__counter/call", body))[0] == 503
    monkeypatch.undo()
    again = api("alice").post(f"{TOOLS}/demo__counter/call", body)
    assert refusal_of(again)[0] == 409 and json.loads(again.content)["details"]["reason"] == "in_progress"


def test_a_key_whose_call_nobody_lived_to_answer_is_refused(call, api):
    made = call("demo__counter", idempotency_key="k")
    Call.objects.update(answer=None, outcome="")
    response = api("alice").post(f"{TOOLS}/demo__counter/call", {"arguments": {}, "idempotency_key": "k"})
    assert refusal_of(response)[0] == 409
    assert json.loads(response.content)["details"] == {"reason": "in_progress", "call_id": made["call_id"]}
    found = data_of(api("alice").get(f"/v1/catalogue/calls/{made['call_id']}"))
    assert found["result"] is None and found["http_status"] is None
    assert DemoCount.objects.get().count == 1


@pytest.mark.parametrize(
    "body", [{"world_id": 3}, {"stash": "maybe"}, {"result_dialect": "klingon"}, {"on_error": "raise"}, {"version": 0}]
)
def test_options_that_are_none_are_refused(refused, body):
    assert refused("demo__echo", arguments={"message": "hi"}, **body)[0] == 400
    assert not Call.objects.exists()


def test_there_are_no_worlds_of_that_name(refused):
    assert refused("demo__echo", arguments={"message": "hi"}, world_id="w")[0] == 404


def test_a_tool_of_heddles_own_that_cannot_use_the_database_is_no_result(api, offer):
    """What went wrong is Heddle's, so whoever called hears 503 and tries again; nothing of the database is told."""

    def broken(*_: Any) -> Any:
        raise OperationalError("secret address")

    response = api("alice").post(f"{TOOLS}/{offer(broken, timeout_seconds=None)}/call", {"arguments": {}})
    assert refusal_of(response)[0] == 503
    assert b"secret" not in response.content
    assert Call.objects.get().answer["result"]["error"]["code"] == "INTERNAL_ERROR"
