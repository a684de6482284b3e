"""Synthetic worlds over REST: what they answer, remember, refuse and keep (catalogue 3.8, C102 to C120)."""

import json
import time
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from jsonschema import Draft202012Validator

from catalogue import executing, validating
from catalogue.models import Call, World
from catalogue.results import CODES
from catalogue.sampling import making
from catalogue.sampling.drawing import Source
from catalogue.subschemas import linked
from catalogue.worlds import calling, fixtures, keeping, playing, remembering
from tests import make
from tests.catalogue.speaking import MINIMAL
from tests.conftest import data_of, refusal_of

WORLDS = "/v1/catalogue/worlds"
USER = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "name": {"type": "string"},
        "email": {"type": "string", "format": "email"},
        "tier": {"enum": ["free", "pro", "team"]},
        "age": {"type": "integer", "minimum": 18, "maximum": 99},
        "tags": {"type": "array", "items": {"type": "string", "minLength": 3}, "minItems": 2, "maxItems": 4},
        "home": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "since": {"type": "string", "format": "date"}},
            "required": ["city", "since"],
        },
    },
    "required": ["id", "name", "email", "tier", "age", "tags", "home"],
}
NAMED = {"type": "object", "properties": {"name": {"type": "string"}, "tier": {"type": "string"}}, "required": ["name"]}
BY_ID = {"type": "object", "properties": {"user_id": {"type": "string"}}, "required": ["user_id"]}
FREE: dict[str, Any] = {"type": "object", "properties": {}}
TOOLS = [
    {"name": "create_user", "parameters": NAMED, "returns": USER},
    {"name": "get_user", "parameters": BY_ID, "returns": USER},
    {
        "name": "update_user",
        "parameters": {**BY_ID, "properties": {**BY_ID["properties"], **NAMED["properties"]}},
        "returns": USER,
    },
    {"name": "delete_user", "parameters": BY_ID, "returns": {"type": "object"}},
    {
        "name": "list_users",
        "parameters": FREE,
        "returns": {"type": "object", "properties": {"users": {"type": "array", "items": USER}}, "required": ["users"]},
    },
    {"name": "ping", "parameters": FREE, "returns": USER},
]
NAMES = [f"crm__{tool['name']}" for tool in TOOLS]
FAILED = {"code": "TIMEOUT", "message": "It took too long."}


class Played:
    """A world, as a client plays it."""

    def __init__(self, api: Any, body: dict[str, Any]) -> None:
        self.api = api
        self.record = data_of(api.post(WORLDS, body))
        self.path = f"{WORLDS}/{self.record['world_id']}"

    def call(self, tool: str, arguments: Any = None, **body: Any) -> Any:
        name = tool if "__" in tool else f"crm__{tool}"
        sent = {"tool": name, "input": {} if arguments is None else arguments, **body}
        return data_of(self.api.post(f"{self.path}/call", sent))

    def output(self, tool: str, arguments: Any = None, **body: Any) -> Any:
        answer = self.call(tool, arguments, **body)
        assert answer["result"]["success"], answer
        return answer["output"]

    def code(self, tool: str, arguments: Any = None) -> str | None:
        answer = self.call(tool, arguments)
        return None if answer["result"]["success"] else answer["result"]["error"]["code"]

    def post(self, place: str, body: Any = None) -> Any:
        return data_of(self.api.post(f"{self.path}/{place}", body))

    def get(self, place: str = "") -> Any:
        return data_of(self.api.get(f"{self.path}/{place}".rstrip("/")))


@pytest.fixture
def stock(api):
    """Six tools on a server of acme."""
    tools = [{"description": "", **tool} for tool in TOOLS]
    data_of(api("alice").post("/v1/catalogue/tools/import", {"dialect": "rdk", "server": "crm", "tools": tools}))


@pytest.fixture
def world(api, stock):
    """`world("stateful", seed=1)` is a new world with all tools."""

    def made(mode: str = "schema_only", *, who: str = "alice", **body: Any) -> Played:
        return Played(api(who), {"mode": mode, "tools": NAMES, **body})

    return made


# What is answered


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others_C102(world):
    first, second, third = world(seed=7), world(seed=7), world(seed=8)
    asked = {"user_id": "u1"}
    answers = [json.dumps(each.output("get_user", asked)) for each in (first, second, third)]
    assert answers[0] == answers[1] != answers[2]
    assert json.dumps(first.output("get_user", asked)) == answers[0], "a step later it is the same"
    assert json.dumps(first.output("get_user", {"user_id": "u2"})) != answers[0]


def test_an_output_fits_its_schema_C103(world):
    played = world(seed=3)
    for number in range(10):
        answer = played.call("get_user", {"user_id": f"u{number}"})
        Draft202012Validator(USER).validate(answer["output"])
        assert answer["validation"] == {"valid": True, "errors": []}


def test_who_sends_what_a_tool_takes_is_told_what_it_is_called_here(world):
    played = world()
    _, _, said = refusal_of(played.api.post(f"{played.path}/call", {"tool": NAMES[5], "arguments": {}}))
    assert said == "arguments: is not a known field; here it is called input"


def test_without_an_output_schema_there_is_an_object_C104(world, api):
    played = Played(api("alice"), {"mode": "schema_only"})
    tool = {"name": "look", "description": "", "input_schema": BY_ID}
    assert played.post("tools", {"dialect": "anthropic", "tool": tool}) == {"tools": ["look"]}
    answer = data_of(played.api.post(f"{played.path}/call", {"tool": "look", "input": {"user_id": "u1"}}))
    assert answer["output"]["status"] == "ok" and answer["output"]["id"]


@pytest.mark.parametrize(
    ("name", "outcome"), [("achieve_dataset_summary", 400), ("load_skill", 400), ("achieved", 200)]
)
def test_a_tool_of_a_world_takes_no_name_of_the_runtime(api, name, outcome):
    """Spec 3.6, 4.3: a model would be offered two tools of one name."""
    played = Played(api("alice"), {"mode": "schema_only"})
    tool = {"name": name, "description": "", "input_schema": BY_ID}
    response = played.api.post(f"{played.path}/tools", {"dialect": "anthropic", "tool": tool})
    assert response.status_code == outcome
    assert outcome == 200 or refusal_of(response)[2].endswith("is reserved for the runtime")


def when(value: str) -> dict[str, Any]:
    """A condition on `k`."""
    then = {"properties": {"v": {"const": value * 2}}, "required": ["v"]}
    return {"if": {"properties": {"k": {"const": value}}, "required": ["k"]}, "then": then}


@pytest.fixture
def inline(api):
    """`inline(returns, parameters)` is a world with a tool `odd` of these schemas."""

    def made(returns: Any, parameters: Any = FREE, **body: Any) -> Played:
        played = Played(api("alice"), {"mode": "schema_only", "seed": 1, **body})
        tool = {"name": "odd", "description": "", "parameters": parameters, "returns": returns}
        played.post("tools", {"dialect": "rdk", "tool": tool})
        return played

    return made


def odd(played: Played, arguments: Any = None) -> Any:
    answer = data_of(played.api.post(f"{played.path}/call", {"tool": "odd", "input": arguments or {}}))
    assert answer["result"]["success"], answer["result"]
    return answer["output"]


@pytest.mark.parametrize("k", ["a", "b", "c", "d"])
def test_conditions_follow_what_is_repeated_and_not_the_other_way_round_C105(inline, k):
    returns = {
        "type": "object",
        "properties": {"k": {"enum": ["a", "b", "c", "d"]}},
        "required": ["k"],
        "allOf": [when("a"), when("b"), when("c")],
    }
    made = odd(inline(returns, {"properties": {"k": {"type": "string"}}}), {"k": k})
    assert made == ({"k": k} if k == "d" else {"k": k, "v": k * 2})
    assert odd(inline(returns))["k"] == "c", "without an argument the last is assumed to hold"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "allOf": [{"items": {"type": "integer"}}, {"items": {"minimum": 5}}]},
        {"type": "array", "minItems": 3, "allOf": [
            {"prefixItems": [{"type": "integer"}]}, {"prefixItems": [{"minimum": 5}, {"const": 1}]}]},
        {"type": "string", "allOf": [{"pattern": "^[a-z]+$"}, {"pattern": "^.{3,5}$"}]},
        {"type": "string", "pattern": r"^\p{Lu}{2}[\p{Ll}_]\P{L}$"},
        {"type": "integer", "minimum": 1, "allOf": [{"multipleOf": 14}, {"multipleOf": 15}, {"multipleOf": 11}]},
        {"properties": {"a": {}, "b": {}}, "required": ["a"], "allOf": [
            {"dependentSchemas": {"a": {"required": ["c"], "properties": {"c": {"type": "integer"}}}}},
            {"dependentSchemas": {"a": {"required": ["d"], "properties": {"d": {"type": "boolean"}}}}}]},
        {"properties": {"a": {"type": "string"}}, "allOf": [
            {"dependentRequired": {"a": ["b"]}}, {"dependentRequired": {"a": ["c"]}}]},
        {"type": "object", "minProperties": 2, "allOf": [
            {"propertyNames": {"minLength": 8}}, {"propertyNames": {"pattern": "^[a-z]+$"}}]},
        {"type": "number", "minimum": 19.99, "maximum": 19.99, "multipleOf": 0.01},
        {"type": "string", "minLength": 29.0, "maxLength": 30.0},
        {"type": "array", "minItems": 2.0, "maxItems": 2.0},
        {"type": "object", "minProperties": 2.0, "maxProperties": 2.0},
        {"type": "array", "contains": {"type": "integer"}, "minContains": 7.0},
        {"type": "string", "pattern": "^a+$", "minLength": 25.0},
        {"$ref": "#here"},
    ],
)  # fmt: skip
def test_keywords_that_come_from_two_sides_are_all_kept_C103(inline, schema):
    """C103: also those that count with whole numbers written as floats, and a reference by anchor."""
    returns = {"type": "object", "properties": {"x": schema, "y": schema}, "required": ["x"],
               "$defs": {"here": {"$anchor": "here", "type": "integer"}}}  # fmt: skip
    made = odd(inline(returns))
    assert made.keys() == {"x", "y"}
    assert validating.problems(made, linked(returns)) == []


@pytest.mark.parametrize(
    "null", [{"type": "null"}, {"type": ["null"]}, {"const": None}, {"enum": [None]}, {"$ref": "#/$defs/n"}]
)
@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_the_first_branch_that_is_not_null_is_taken_C103(inline, keyword, null):
    schema = {keyword: [null, {"type": "integer"}]}
    made = odd(inline({"type": "object", "properties": {"x": schema}, "$defs": {"n": {"type": "null"}}}))
    assert isinstance(made["x"], int)


def test_an_output_repeats_arguments_of_the_same_name_C105(world):
    made = world(seed=1).output("create_user", {"name": "Ann", "tier": "pro"})
    assert (made["name"], made["tier"]) == ("Ann", "pro")
    assert (
        world(seed=1).output("create_user", {"name": "Ann", "tier": "gold"})["tier"]
        in USER["properties"]["tier"]["enum"]
    )
    assert world(seed=1).output("get_user", {"user_id": "u1"})["id"] == "u1"


def test_fixtures_are_for_worlds_with_examples_C106(world):
    fixtures = [{"tool": "crm__get_user", "input": {"user_id": "u1", "page": 1}, "output": {"any": "thing"}}]
    examples, schema_only = world("examples"), world("schema_only")
    for each in (examples, schema_only):
        assert each.post("fixtures", {"fixtures": fixtures}) == {"fixture_count": 1}
    asked = {"page": 1.0, "user_id": "u1"}
    answer = examples.call("get_user", asked)
    assert (answer["output"], answer["source"]) == ({"any": "thing"}, "fixture")
    assert answer["validation"]["valid"] is False, "a fixture is verbatim, whether it fits or not"
    assert schema_only.output("get_user", asked)["id"] == "u1"
    assert examples.output("get_user", {"user_id": "u2", "page": 1})["id"] == "u2"


def test_a_fixture_without_an_input_is_the_tools_default_C107(world):
    played = world("examples")
    given = [
        {"tool": "crm__ping", "output": {"default": True}},
        {"tool": "crm__ping", "input": {"n": 1}, "output": {"exact": True}},
    ]
    played.post("fixtures", {"fixtures": given})
    assert played.output("ping") == played.output("ping", {"n": 2}) == {"default": True}
    assert played.output("ping", {"n": 1}) == {"exact": True}
    assert played.post("fixtures", {"fixtures": []}) == {"fixture_count": 0}
    assert "default" not in played.output("ping")


def test_values_of_examples_are_preferred(world):
    """Catalogue 3.8: where nothing is given verbatim, the answer is made of what was seen."""
    played = world("examples", seed=1)
    seen = {"tool": "crm__ping", "input": {"n": 1}, "output": {"name": "Grace", "home": {"city": "Lima"}, "age": 7}}
    played.post("fixtures", {"fixtures": [seen]})
    answer = played.output("ping")
    assert (answer["name"], answer["home"]["city"]) == ("Grace", "Lima")
    assert 18 <= answer["age"] <= 99, "what the schema refuses is no example"


def test_a_strict_world_makes_nothing_up(world, api):
    """Its fixtures have to fit, and what no fixture answers is refused; schema_only has none to be strict about."""
    played = world("examples", strict_fixtures=True)
    good = {"type": "object"}
    answer = played.call("ping")
    assert answer["result"]["error"]["code"] == "NOT_FOUND"
    assert answer["result"]["error"]["details"] == {"reason": "no_fixture"}
    refused = api("alice").post(f"{played.path}/fixtures", {"fixtures": [{"tool": "crm__ping", "output": {}}]})
    assert refusal_of(refused)[0] == 400
    played.post("fixtures", {"fixtures": [{"tool": "crm__delete_user", "output": good}]})
    assert played.output("delete_user", {"user_id": "u"}) == good
    assert refusal_of(api("alice").post(WORLDS, {"mode": "schema_only", "strict_fixtures": True}))[0] == 400


def test_a_fixture_of_a_tool_that_is_not_there_changes_nothing(world, api):
    played = world("examples")
    played.post("fixtures", {"fixtures": [{"tool": "crm__ping", "output": {"kept": True}}]})
    status, _, said = refusal_of(
        api("alice").post(f"{played.path}/fixtures", {"fixtures": [{"tool": "crm__nothing", "output": 1}]})
    )
    assert status == 400 and "fixtures.0.tool" in said
    assert played.output("ping") == {"kept": True}


def test_a_fixture_may_fail_C106_C107(world):
    """Decision 012: with one of the ten codes, for an input or for any, as a tool itself would have."""
    played = world("examples")
    gone = {"code": "NOT_FOUND", "message": "u1 has left"}
    busy = {"code": "RATE_LIMITED", "message": "Too many."}
    given = [
        {"tool": "crm__get_user", "input": {"user_id": "u1"}, "error": gone},
        {"tool": "crm__ping", "error": busy, "output": None},
        {"tool": "crm__ping", "input": {"n": 1}, "output": None},
    ]
    assert played.post("fixtures", {"fixtures": given}) == {"fixture_count": 3}
    answer = played.call("get_user", {"user_id": "u1"})
    assert (answer["output"], answer["source"], answer["validation"]) == (None, "fixture", None)
    assert answer["result"]["error"] == {**gone, "details": None, "suggestion": None}
    assert played.call("ping")["source"] == "default" and played.code("ping") == "RATE_LIMITED"
    assert played.output("ping", {"n": 1}) is None, "null is an answer"
    assert [line["error"] and line["error"]["code"] for line in played.get("calls")["items"]] == [
        "NOT_FOUND", "RATE_LIMITED", "RATE_LIMITED", None,
    ]  # fmt: skip
    path = "/v1/catalogue/tools/crm__ping/call"
    made = data_of(played.api.post(path, {"world_id": played.record["world_id"], "retry_policy": {"tool_error": 1}}))
    assert made["http_status"] == 429 and made["model_view"]["error"]["message"] == "Too many."


def test_a_failure_is_no_example_and_fits_a_strict_world(world):
    """What is made up is the same beside it; a strict world has no schema that a failure could break."""
    plain, failing = (world("examples", seed=4) for _ in range(2))
    failing.post("fixtures", {"fixtures": [{"tool": "crm__ping", "input": {"n": 1}, "error": FAILED}]})
    assert failing.output("ping") == plain.output("ping")
    strict = world("examples", strict_fixtures=True)
    strict.post("fixtures", {"fixtures": [{"tool": "crm__ping", "error": FAILED}]})
    assert strict.code("ping") == "TIMEOUT"


def test_a_failing_fixture_changes_nothing_that_is_remembered_C108_C109(world):
    played = world("stateful")
    ann = played.output("create_user", {"name": "Ann"})
    one = {"user_id": ann["id"]}
    given = [{"tool": f"crm__{verb}_user", "input": one, "error": FAILED} for verb in ("get", "update", "delete")]
    defaults = [{"tool": f"crm__{name}", "error": FAILED} for name in ("create_user", "get_user", "list_users")]
    played.post("fixtures", {"fixtures": [*given, *defaults]})
    before = played.get("state")
    for tool in ("get_user", "update_user", "delete_user"):
        assert played.code(tool, one) == "TIMEOUT"
    assert played.code("create_user", {"name": "Bea"}) == played.code("get_user", {"user_id": "u9"}) == "TIMEOUT"
    after = played.get("state")
    assert (after["entities"], after["history"]) == (before["entities"], before["history"])
    assert played.output("list_users")["users"] == [ann], "a default stands in only where nothing is known"
    played.post("fixtures", {"fixtures": []})
    assert played.output("get_user", one) == ann


@pytest.mark.parametrize(
    ("fixture", "field"),
    [
        ({}, "fixtures.0"),
        ({"output": 1, "error": {"code": "TIMEOUT", "message": "m"}}, "fixtures.0"),
        ({"error": None}, "fixtures.0"),
        ({"error": {"code": "OUT_OF_MILK", "message": "m"}}, "fixtures.0.error.code"),
        ({"error": {"code": "TIMEOUT", "message": ""}}, "fixtures.0.error.message"),
        ({"error": {"code": "TIMEOUT"}}, "fixtures.0.error.message"),
        ({"error": "TIMEOUT"}, "fixtures.0.error"),
        *(({"output": 1, "input": each}, "fixtures.0.input") for each in (None, [], "x", 1, [{}])),
    ],
)
def test_a_fixture_is_an_answer_or_a_failure_and_never_both(world, api, fixture, field):
    played = world("examples")
    body = {"fixtures": [{"tool": "crm__ping", **fixture}]}
    status, _, said = refusal_of(api("alice").post(f"{played.path}/fixtures", body))
    assert status == 400 and said.startswith(f"{field}: "), said


def test_failures_of_real_calls_become_fixtures_too(api, who):
    """Where the tool itself failed, with one of the ten codes, and where nothing was answered to the same input."""
    tools = ["demo__fail", "demo__flaky", "demo__schema_only"]
    played = Played(api("alice"), {"mode": "examples", "tools": tools})

    def call(tool: str, arguments: dict[str, Any]) -> None:
        data_of(api("alice").post(f"/v1/catalogue/tools/demo__{tool}/call", {"arguments": arguments}))

    timeout = {"code": "TIMEOUT", "message": "too slow", "details": {"after": 3}}
    call("fail", timeout)
    call("fail", {"code": "OUT_OF_MILK", "message": "a code of its own"})
    call("fail", {"code": "TIMEOUT"})  # refused by Heddle, which a world does itself
    call("schema_only", {"q": "nobody runs it"})
    for _ in range(2):
        call("flaky", {"key": "k", "fail_times": 1})
    call("flaky", {"key": "l", "fail_times": 9})
    assert played.post("fixtures/recorded", {}) == {"fixture_count": 3}
    error = played.call("demo__fail", timeout)["result"]["error"]
    assert (error["code"], error["message"], error["details"]) == ("TIMEOUT", "too slow", None)
    assert played.output("demo__flaky", {"key": "k", "fail_times": 1}) == {"key": "k", "calls": 2}
    assert played.code("demo__flaky", {"key": "l", "fail_times": 9}) == "EXECUTION_ERROR"
    assert played.call("demo__schema_only", {"q": "nobody runs it"})["source"] == "generated"
    assert played.post("fixtures/recorded", {}) == {"fixture_count": 3}, "known inputs are not taken twice"


def test_recorded_fixtures_keep_to_the_rules_of_written_ones(api, who, monkeypatch):
    """Decision 012: no more of them than a world may have, and none that a strict world would refuse."""
    tool = {"name": "echo", "description": "", "input_schema": {}, "output_schema": {"required": ["nothing"]}}
    strict = Played(api("alice"), {"mode": "examples", "strict_fixtures": True, "tools": ["demo__value"]})
    strict.post("tools", {"dialect": "convilyn", "tool": tool, "server": "demo"})
    twice = [{"tool": "demo__value", "input": {"kind": "x"}, "error": FAILED}] * 2
    strict.post("fixtures", {"fixtures": twice})
    api("alice").post("/v1/catalogue/tools/demo__echo/call", {"arguments": {"message": "hello"}})
    for kind in ("dict", "list", "str"):
        api("alice").post("/v1/catalogue/tools/demo__value/call", {"arguments": {"kind": kind}})
    monkeypatch.setattr(fixtures, "MAX_FIXTURES", 4)
    assert strict.post("fixtures/recorded", {"tools": ["demo__echo"]}) == {"fixture_count": 2}
    assert strict.post("fixtures/recorded", {}) == {"fixture_count": 4}
    monkeypatch.setattr(fixtures, "MAX_FIXTURES", 1000)
    monkeypatch.setattr(fixtures, "MAX_BYTES", 10)
    assert strict.post("fixtures/recorded", {}) == {"fixture_count": 4}


def test_a_thousand_fixtures_of_a_tool_are_stored_in_few_queries(world):
    played = world("examples")
    counts = []
    for many in (10, 500):
        given = [{"tool": "crm:ping", "input": {"n": n}, "output": n} for n in range(many)]
        with CaptureQueriesContext(connection) as captured:
            assert played.post("fixtures", {"fixtures": given}) == {"fixture_count": many}
        counts.append(len(captured))
    assert counts[1] < counts[0] + 10, "the rows themselves go in batches"


def test_real_calls_become_fixtures(world, api, who):
    """Of calls that were made, in threads and from outside; colleagues' threads stay their own."""
    played = Played(api("bob"), {"mode": "examples", "tools": ["demo__echo", "heddle__calculate"]})
    api("alice").post("/v1/catalogue/tools/demo__echo/call", {"arguments": {"message": "hello"}})
    make.thread(who.alice, '[[call calculate {"expression": "1+1"}]]')
    make.thread(who.bob, '[[call calculate {"expression": "2+2"}]]')
    assert played.post("fixtures/recorded", {}) == {"fixture_count": 2}
    assert played.post("fixtures/recorded", {"tools": ["demo__echo"]}) == {"fixture_count": 2}
    assert played.output("demo__echo", {"message": "hello"}) == {"message": "hello", "repeat": 1, "length": 5}
    assert played.output("heddle__calculate", {"expression": "2+2"}) == {"value": 4}
    assert played.call("heddle__calculate", {"expression": "1+1"})["source"] == "generated"


# What is remembered


def test_what_was_created_is_read_again_C108(world):
    played = world("stateful")
    made = played.output("create_user", {"name": "Ann", "tier": "pro"})
    read = played.output("get_user", {"user_id": made["id"]})
    assert read == made
    unknown = played.output("get_user", {"user_id": "from-before"})
    assert played.output("get_user", {"user_id": "from-before"}) == unknown and unknown["id"] == "from-before"
    other = played.output("create_user", {"name": "Ann", "tier": "pro"})
    assert other["id"] != made["id"]
    assert [each["id"] for each in played.output("list_users")["users"]] == [made["id"], "from-before", other["id"]]


PLURALS = (
    "order orders category categories house houses status statuses series series news news user_profile user_profiles "
    "movie movies address addresses box boxes bus buses quiz quizzes cookie cookies knife knives analysis analyses "
    "person people child children shipping_address shipping_addresses branch branches cache caches database databases "
    "hero heroes shoe shoes size sizes lens lenses menu menus alias aliases excuse excuses index indices class classes"
)


def test_what_was_created_is_listed_whatever_its_plural_C108(api):
    """3.8: and what has an id is read by it."""
    words = PLURALS.split()
    pairs = list(zip(words[::2], words[1::2], strict=True))
    schemas = {f"{verb}_{one}": schema for one, _ in pairs for verb, schema in (("create", NAMED), ("get", FREE))}
    schemas |= {f"list_{many}": FREE for _, many in pairs}
    tools = [{"name": name, "description": "", "input_schema": schema} for name, schema in schemas.items()]
    data_of(api("alice").post("/v1/catalogue/tools/import", {"dialect": "anthropic", "server": "crm", "tools": tools}))
    played = Played(api("alice"), {"mode": "stateful", "seed": 1, "tools": [f"crm__{name}" for name in schemas]})
    for one, many in pairs:
        made = played.output(f"create_{one}", {"name": one})
        assert played.output(f"list_{many}") == {"items": [made], "count": 1}
        assert played.output(f"get_{one}", {f"{one}_id": made["id"]}) == made
    assert played.get("state")["entities"].keys() == {one for one, _ in pairs}


def test_a_list_takes_no_longer_than_any_other_answer(world, monkeypatch):
    """It has one limit for all that it shows, and not one for each."""
    played, slowness, made = world("stateful", seed=1), [0.0], making.made

    def slowly(*given: Any, **named: Any) -> Any:
        slowness[0] += 1
        return made(*given, **named)

    def create(count: int) -> None:
        for number in range(count):
            played.output("create_user", {"name": f"user{number}"})

    create(3)
    clock = SimpleNamespace(thread_time=lambda: time.thread_time() + slowness[0])
    for module in (making, validating):
        monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(making, "made", slowly)
    assert len(played.output("list_users")["users"]) == 3
    create(3)
    before = slowness[0]
    answer = played.call("list_users")
    assert answer["result"]["error"]["details"] == {"reason": "not_makeable"}
    assert "too long" in answer["result"]["error"]["message"] and answer["step_count"] == 8
    assert slowness[0] - before < 10, "nothing is made after the limit"


def test_the_load_of_the_server_decides_nothing_about_an_answer_C102(world, monkeypatch):
    """The limits are of processor time: whoever has to wait for the processor does not use it."""
    calm, made = world("stateful", seed=1).output("get_user", {"user_id": "u1"}), making.made

    def waiting(*given: Any, **named: Any) -> Any:
        time.sleep(0.3)
        return made(*given, **named)

    monkeypatch.setattr(making, "made", waiting)
    monkeypatch.setattr(making, "MAX_SECONDS", 0.2)
    monkeypatch.setattr(playing, "BRIEF_SECONDS", 0.1)
    assert world("stateful", seed=1).output("get_user", {"user_id": "u1"}) == calm


def test_what_was_changed_stays_changed(world):
    played = world("stateful")
    made = played.output("create_user", {"name": "Ann"})
    changed = played.output("update_user", {"user_id": made["id"], "name": "Bea"})
    assert changed == {**made, "name": "Bea"} == played.output("get_user", {"user_id": made["id"]})


def test_what_was_deleted_is_not_found_C109(world):
    played = world("stateful")
    made = played.output("create_user", {"name": "Ann"})
    played.output("delete_user", {"user_id": made["id"]})
    for tool in ("get_user", "delete_user", "update_user"):
        assert played.code(tool, {"user_id": made["id"]}) == "NOT_FOUND"
    assert played.output("list_users") == {"users": []}


def test_worlds_know_nothing_of_each_other_C110(world):
    one, other = world("stateful", seed=1), world("stateful", seed=2)
    made = one.output("create_user", {"name": "Ann"})
    assert other.output("list_users") == {"users": []}
    assert other.output("get_user", {"user_id": made["id"]})["name"] != "Ann"
    assert one.get("state")["entities"]["user"].keys() == {made["id"]}


def test_a_simulated_failure_is_not_kept_by_its_key_C115(world):
    """Who tries again with the key of the first attempt, as clients do, is answered in the end, and then for good."""
    played = world("stateful", seed=5, failure_profile={"rate": 0.5, "codes": ["timeout"]})
    tried = [played.call("create_user", {"name": "Ann"}, idempotency_key=f"k{at // 6}") for at in range(60)]
    for start in range(0, 60, 6):
        codes = [each["result"]["error"] and each["result"]["error"]["code"] for each in tried[start : start + 6]]
        assert codes == sorted(codes, key=lambda code: code is None), "no failure after an answer"
    assert any(each["result"]["error"] for each in tried) and sum(each["cache_hit"] for each in tried) > 10


def test_a_soft_reset_keeps_and_a_hard_one_clears_C111(world):
    played = world("stateful", seed=5)
    first = played.output("create_user", {"name": "Ann"}, idempotency_key="k")
    assert played.post("reset", {}) == {"world_id": played.record["world_id"], "step_count": 0}
    assert played.output("get_user", {"user_id": first["id"]}) == first
    assert played.get("state")["step_count"] == 1
    assert played.call("create_user", {"name": "Ann"}, idempotency_key="k")["cache_hit"] is True
    played.post("fixtures", {"fixtures": [{"tool": "crm__ping", "output": {"kept": True}}]})
    played.post("reset", {"hard": True})
    assert played.get("state") == {"entities": {}, "step_count": 0, "history": []}
    again = played.call("create_user", {"name": "Ann"}, idempotency_key="k")
    assert (again["cache_hit"], again["output"]) == (False, first)
    assert played.output("ping") == {"kept": True}


def test_the_state_tells_what_was_done(world):
    played = world("stateful")
    made = played.output("create_user", {"name": "Ann"})
    for _ in range(22):
        played.output("get_user", {"user_id": made["id"]})
    state = played.get("state")
    assert len(state["history"]) == 20 and state["step_count"] == 23
    assert state["history"][-1] == {"step": 23, "action": "read", "noun": "user", "id": made["id"]}


def test_a_world_remembers_so_much_and_no_more(world, monkeypatch):
    """Decision 012: so many things, so much of each and of all together; what is there is still read and changed."""
    played = world("stateful")
    first = played.output("create_user", {"name": "Ann"})
    monkeypatch.setattr(remembering, "MAX_ENTITIES", 1)
    answer = played.call("create_user", {"name": "Bea"})
    assert answer["result"]["error"]["details"] == {"reason": "world_full"}
    assert played.output("update_user", {"user_id": first["id"], "name": "Bea"})["name"] == "Bea"
    monkeypatch.setattr(remembering, "MAX_ENTITIES", 1000)
    monkeypatch.setattr(remembering, "MAX_BYTES", 3000)
    for _ in range(2):
        answer = played.call("create_user", {"name": "x" * 2000})
    assert answer["result"]["error"]["details"] == {"reason": "world_full"}
    monkeypatch.setattr(remembering, "MAX_ENTITY_BYTES", 500)
    answer = played.call("create_user", {"name": "x" * 500})
    assert answer["result"]["metadata"]["warnings"] == ["the result was too large to store"]
    assert len(played.get("state")["entities"]["user"]) == 2
    played.post("reset", {"hard": True})
    assert played.output("create_user", {"name": "Cid"})["name"] == "Cid"


# Failures


def test_a_rate_of_one_always_fails_and_of_none_never_C112(world):
    codes = ["timeout", "internal_error", "rate_limit", "not_found", "bad_request"]
    for code in codes:
        played = world(seed=1, failure_profile={"rate": 1, "codes": [code]})
        answer = played.call("ping")
        assert answer["result"]["error"]["message"] == f"Simulated error: {code}"
        assert answer["result"]["error"]["details"]["simulated"] is True
        assert answer["result"]["error"]["code"] in CODES and answer["output"] is None
    everything = world(seed=1, failure_profile={"rate": 1, "codes": codes})
    found = {everything.code("ping") for _ in range(30)}
    assert found == {"TIMEOUT", "INTERNAL_ERROR", "RATE_LIMITED", "NOT_FOUND", "INVALID_INPUT"}
    assert {world(failure_profile={"rate": 0, "codes": codes}).code("ping") for _ in range(5)} == {None}


def test_failures_depend_on_the_seed_and_the_step_alone_C113(world):
    profile = {"rate": 0.4, "codes": ["timeout", "not_found"]}
    one, other = (world(seed=11, failure_profile=profile) for _ in range(2))
    first = [one.code("ping") for _ in range(20)]
    second = [other.code("get_user", {"user_id": str(number)}) for number in range(20)]
    assert first == second and {None, "TIMEOUT", "NOT_FOUND"} == set(first)
    one.post("reset", {})
    assert [one.code("ping") for _ in range(20)] == first
    another = world(seed=12, failure_profile=profile)
    assert [another.code("ping") for _ in range(20)] != first


def test_a_failure_comes_before_the_arguments_are_looked_at_C114(world):
    played = world(failure_profile={"rate": 1, "codes": ["timeout"]})
    assert played.code("get_user", {}) == "TIMEOUT"
    assert played.get()["step_count"] == 1
    calm = world()
    assert calm.code("get_user", {}) == "MISSING_REQUIRED" and calm.get()["step_count"] == 1


def test_a_known_key_is_answered_without_a_step_C115(world, api):
    played = world("stateful")
    first = played.call("create_user", {"name": "Ann"}, idempotency_key="k")
    again = played.call("create_user", {"name": "Ann"}, idempotency_key="k")
    assert again["output"] == first["output"]
    assert (first["cache_hit"], again["cache_hit"], again["step_count"]) == (False, True, 1)
    assert len(played.get("state")["entities"]["user"]) == 1
    sent = {"tool": "crm__create_user", "input": {"name": "Ann"}}
    by_header = data_of(api("alice").post(f"{played.path}/call", sent, **{"Idempotency-Key": "k"}))
    assert by_header["cache_hit"] is True
    sent = {"tool": "crm__create_user", "input": {"name": "Bea"}, "idempotency_key": "k"}
    assert refusal_of(api("alice").post(f"{played.path}/call", sent))[0] == 409


@pytest.mark.parametrize(
    "body",
    [
        {"mode": "guess"},
        {"failure_profile": {"rate": 2, "codes": ["timeout"]}},
        {"failure_profile": {"rate": -0.1, "codes": ["timeout"]}},
        {"failure_profile": {"rate": 0.5, "codes": ["boredom"]}},
        {"failure_profile": {"rate": 0.5, "codes": []}},
        {"failure_profile": {"rate": 0.5}},
        {"seed": "seven"},
        {"seed": 2**63},
        {"ttl_seconds": 0},
    ],
)
def test_what_makes_no_world_is_refused_C116(api, who, body):
    assert refusal_of(api("alice").post(WORLDS, {"mode": "schema_only", **body}))[0] == 400
    assert not World.objects.exists()


# Lifetime


def test_a_closed_world_answers_nothing_more_C117(world, api):
    played = world()
    for _ in range(2):
        assert data_of(api("alice").request("DELETE", played.path)) is None
    assert played.get()["status"] == "closed"
    sent = {"tool": "crm__ping", "input": {}}
    for place, body in (("call", sent), ("reset", {}), ("fixtures", {"fixtures": []}), ("tools", {"tools": []})):
        response = api("alice").post(f"{played.path}/{place}", body)
        assert refusal_of(response)[:2] == (410, "RobotoExpiredException"), place
    assert refusal_of(api("alice").post(f"{WORLDS}/wld_unknown/call", sent))[0] == 404
    assert refusal_of(api("eve").post(f"{played.path}/call", sent))[0] == 404
    assert refusal_of(api("eve").get(played.path))[0] == 404


def test_a_world_lives_from_call_to_call(world, api):
    """C117, catalogue 3.8: every call renews it; a while after the last one it is over."""
    played = world(ttl_seconds=60)
    start = timezone.now()
    with time_machine.travel(start + timedelta(seconds=50), tick=False):
        played.output("ping")
    with time_machine.travel(start + timedelta(seconds=100), tick=False):
        played.output("ping")
    with time_machine.travel(start + timedelta(seconds=161), tick=False):
        assert played.get()["status"] == "expired"
        assert refusal_of(api("alice").post(f"{played.path}/call", {"tool": "crm__ping"}))[0] == 410
        listed = {status: data_of(api("alice").get(f"{WORLDS}?status={status}")) for status in World.Status.values}
    assert {status: len(page["items"]) for status, page in listed.items()} == {"active": 0, "closed": 0, "expired": 1}


def test_a_drawn_seed_is_told_and_reproduces_C118(world):
    drawn = world("stateful")
    assert drawn.record["seed_given"] is False
    again = world("stateful", seed=drawn.record["seed"])
    assert again.record["seed_given"] is True
    for tool, arguments in (("create_user", {"name": "Ann"}), ("ping", {}), ("list_users", {})):
        assert drawn.output(tool, arguments) == again.output(tool, arguments)


def test_a_tool_that_the_world_does_not_have_C119(api, stock):
    played = Played(api("alice"), {"mode": "schema_only", "tools": ["crm__ping"]})
    answer = played.call("get_user", {"user_id": "u"})
    assert answer["result"]["error"]["code"] == "NOT_FOUND"
    assert played.post("tools", {"tools": ["crm:get_user"]}) == {"tools": ["crm__get_user", "crm__ping"]}
    assert played.output("get_user", {"user_id": "u"})["id"] == "u"
    assert refusal_of(api("alice").post(f"{played.path}/tools", {"tools": ["crm__nothing"]}))[0] == 404


def test_an_inline_tool_of_any_dialect_lives_in_the_world_alone(api, who):
    """Catalogue 6.2: one of the same name is replaced, and nothing of it is in the catalogue."""
    played = Played(api("alice"), {"mode": "schema_only"})
    for dialect, tool in MINIMAL.items():
        names = played.post("tools", {"dialect": dialect, "tool": tool})["tools"]
    assert names == ["client_look", "look"]
    answer = data_of(api("alice").post(f"{played.path}/call", {"tool": "look", "input": {"city": "Lima"}}))
    assert answer["result"]["success"]
    assert data_of(api("alice").get("/v1/catalogue/tools?server=client"))["items"] == []
    bad = {"dialect": "openai", "tool": {"name": "look", "parameters": {"type": "array"}}}
    status, _, _ = refusal_of(api("alice").post(f"{played.path}/tools", bad))
    assert status == 400
    assert refusal_of(api("alice").post(f"{played.path}/tools", {"dialect": "openai"}))[0] == 400


@pytest.mark.parametrize("body", [{}, {"server": "any"}])
def test_a_reserved_name_is_reserved_in_a_world_too_C11(api, body):
    played = Played(api("alice"), {"mode": "schema_only"})
    sent = {"dialect": "openai", "tool": {"name": "get_tool_data", "parameters": {"type": "object"}}, **body}
    response = played.api.post(f"{played.path}/tools", sent)
    assert (response.status_code, response.json()["details"]["reason"]) == (400, "reserved_name")


# The record


def test_the_log_tells_every_call_in_order_C120(world):
    played = world("stateful")
    first = played.call("create_user", {"name": "Ann"}, idempotency_key="k")
    second = played.call("create_user", {"name": "Ann"}, idempotency_key="k")
    third = played.call("get_user", {})
    log = played.get("calls")["items"]
    assert [line["call_id"] for line in log] == [each["call_id"] for each in (first, second, third)]
    assert [line["tool"] for line in log] == ["crm__create_user", "crm__create_user", "crm__get_user"]
    assert [line["step"] for line in log] == [1, 1, 2]
    assert [line["cache_hit"] for line in log] == [False, True, False]
    assert log[0]["input"] == {"name": "Ann"} and log[0]["output"] == first["output"]
    assert log[2]["output"] is None and log[2]["error"]["code"] == "MISSING_REQUIRED"
    page = played.get("calls?limit=2")
    assert played.get(f"calls?page_token={page['next_token']}")["items"] == log[2:]


def test_a_page_of_the_log_is_shorter_where_its_lines_are_long_C120(world, monkeypatch):
    played = world("examples")
    played.post("fixtures", {"fixtures": [{"tool": "crm__ping", "output": "x" * 2000}]})
    made = [played.call("ping")["call_id"] for _ in range(5)]
    monkeypatch.setattr(calling, "MAX_PAGE_BYTES", 5000)
    found, token, pages = [], "", 0
    while token is not None:
        page = played.get(f"calls?page_token={token}" if token else "calls")
        found, token, pages = found + [line["call_id"] for line in page["items"]], page["next_token"], pages + 1
    assert (found, pages) == (made, 3)
    monkeypatch.setattr(calling, "MAX_PAGE_BYTES", 10)
    assert len(played.get("calls")["items"]) == 1, "one line at least, or nobody would ever get on"
    Call.objects.update(answer=None)
    assert played.get("calls?limit=1")["items"][0]["output"] is None, "one that has only begun is told as well"


def test_a_played_call_is_found_by_its_id_C134(world, api):
    played = world(seed=2)
    answer = played.call("get_user", {"user_id": "u"})
    for who in ("alice", "bob"):
        found = data_of(api(who).get(f"/v1/catalogue/calls/{answer['call_id']}"))
        assert found["result"] == answer["result"] and found["arguments"] == {"user_id": "u"}
        assert found["qualified_name"] == "crm__get_user" and found["attempts"][0]["success"]
        assert found["world"]["world_id"] == played.record["world_id"] and found["world"]["seed"] == 2
    assert refusal_of(api("eve").get(f"/v1/catalogue/calls/{answer['call_id']}"))[0] == 404


def test_a_call_of_the_catalogue_may_be_played(world, api):
    """Catalogue 3.5, 6.2: in a world every tool can be called, handler or not, with the other fields as they are."""
    played = world(seed=4)
    path = "/v1/catalogue/tools/crm__get_user/call"
    body = {"args": ["u1"], "world_id": played.record["world_id"]}
    made = data_of(api("alice").post(path, body))
    assert made["result"]["data"] == played.output("get_user", {"user_id": "u1"})
    assert (made["world"]["step_count"], made["world"]["cache_hit"]) == (1, False)
    assert data_of(api("alice").get(f"/v1/catalogue/calls/{made['call_id']}"))["world"] == made["world"]
    assert data_of(api("alice").post(path, body | {"args": []}))["result"]["error"]["code"] == "MISSING_REQUIRED"
    assert refusal_of(api("alice").post(path, {"world_id": "wld_unknown"}))[0] == 404
    api("alice").request("DELETE", played.path)
    assert refusal_of(api("alice").post(path, body))[0] == 410


def test_a_call_of_the_catalogue_is_the_worlds_version_C134(world, api):
    """A world holds a copy: what it answers with is recorded, also after the tool got another version."""
    played = world(seed=4)
    newer = {"properties": {"tier": {"type": "integer"}, "user_id": {"type": "integer"}}, "required": ["tier"]}
    tool = {"name": "get_user", "description": "", "parameters": {"type": "object", **newer}, "returns": USER}
    data_of(api("alice").post("/v1/catalogue/tools/import", {"dialect": "rdk", "server": "crm", "tools": [tool]}))
    path, body = "/v1/catalogue/tools/crm__get_user/call", {"world_id": played.record["world_id"], "args": ["u1"]}
    for asked in ({}, {"version": 1}):
        made = data_of(api("alice").post(path, body | asked))
        assert made["result"]["success"] and made["version"] == 1
        found = data_of(api("alice").get(f"/v1/catalogue/calls/{made['call_id']}"))
        assert (found["version"], found["arguments"]) == (1, {"user_id": "u1"})
    steps = played.get()["step_count"]
    said = refusal_of(api("alice").post(path, body | {"version": 2}))
    assert said[0] == 400 and said[2] == "version: this world holds version 1 of crm__get_user"
    assert played.get()["step_count"] == steps
    assert {line["version"] for line in played.get("calls")["items"]} == {1}


def test_what_a_world_refuses_is_no_failure_of_the_tool_C115_C117(world, api, who, monkeypatch):
    """A known key for another call, and a world that ends between two looks: refused, and not recorded."""
    played, path = world("stateful"), "/v1/catalogue/tools/crm__create_user/call"
    body = {"world_id": played.record["world_id"], "idempotency_key": "k"}
    first = data_of(api("alice").post(path, {**body, "arguments": {"name": "Ann"}}))
    again = data_of(api("alice").post(path, {**body, "arguments": {"name": "Ann"}}))
    assert again["result"]["data"] == first["result"]["data"] and again["world"]["cache_hit"]
    other = api("alice").post(path, {**body, "arguments": {"name": "Bea"}})
    assert refusal_of(other)[:2] == (409, "RobotoConflictException")
    assert json.loads(other.content)["details"] == {"field": "idempotency_key", "reason": "key_reused"}

    def found_and_closed(org_id: int, world_id: str) -> World:
        found = open_world_in(org_id, world_id)
        keeping.close(who.alice.actor, found)
        return found

    open_world_in = keeping.open_world_in
    monkeypatch.setattr(keeping, "open_world_in", found_and_closed)
    assert refusal_of(api("alice").post(path, {**body, "arguments": {"name": "Ann"}}))[0] == 410
    assert Call.objects.count() == 2


def test_a_retry_in_a_world_is_a_step(api, who):
    """C79, C112: what may be repeated is, until it succeeds or the policy has enough."""
    played = Played(
        api("alice"),
        {"mode": "schema_only", "tools": ["demo__echo"], "failure_profile": {"rate": 1, "codes": ["timeout"]}},
    )
    body = {"arguments": {"message": "hi"}, "world_id": played.record["world_id"], "retry_policy": {"tool_error": 1}}
    made = data_of(api("alice").post("/v1/catalogue/tools/demo__echo/call", body))
    assert [attempt["code"] for attempt in made["attempts"]] == ["TIMEOUT"] * 2
    assert played.get()["step_count"] == 2
    assert Call.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_call_in_a_world_holds_no_connection_while_it_waits_to_try_again(api, monkeypatch):
    """Others need it: a few such calls would hold all that there are."""
    played = Played(
        api("alice"),
        {"mode": "schema_only", "tools": ["demo__echo"], "failure_profile": {"rate": 1, "codes": ["timeout"]}},
    )
    held: list[bool] = []
    monkeypatch.setattr(executing.time, "sleep", lambda _: held.append(connection.connection is not None))
    body = {"arguments": {"message": "hi"}, "world_id": played.record["world_id"], "retry_policy": {"tool_error": 2}}
    made = data_of(api("alice").post("/v1/catalogue/tools/demo__echo/call", body))
    assert len(made["attempts"]) == 3 and held == [False, False]
    assert played.get()["step_count"] == 3


# Lists


def test_the_list_is_newest_first_and_pages(world, api):
    ids = [world().record["world_id"] for _ in range(3)]
    page = data_of(api("bob").get(f"{WORLDS}?limit=2"))
    rest = data_of(api("bob").get(f"{WORLDS}?limit=2&page_token={page['next_token']}"))
    assert [each["world_id"] for each in page["items"] + rest["items"]] == ids[::-1]
    assert rest["next_token"] is None
    assert data_of(api("eve").get(WORLDS))["items"] == []
    assert refusal_of(api("alice").get(f"{WORLDS}?status=odd"))[0] == 400


def test_the_list_reads_the_names_of_tools_and_not_their_schemas(world, api):
    world()
    with CaptureQueriesContext(connection) as captured:
        [item] = data_of(api("alice").get(WORLDS))["items"]
    assert item["tools"] == sorted(NAMES)
    assert not [query for query in captured if "put_schema" in query["sql"]]


def test_ten_more_worlds_and_calls_cost_no_more_queries(world, api):
    played = world()
    for _ in range(2):
        played.call("ping")

    def asked() -> list[int]:
        counts = []
        for path in (WORLDS, f"{played.path}/calls", f"{played.path}/state"):
            with CaptureQueriesContext(connection) as captured:
                data_of(api("alice").get(path))
            counts.append(len(captured))
        return counts

    before = asked()
    for _ in range(10):
        world()
        played.call("ping")
    assert asked() == before


@pytest.mark.parametrize("domain", ["retail", "airline"])
def test_real_tools_of_other_people_are_played(api, who, domain):
    """C102, C108: the tools of τ-bench, which know nothing of worlds, share what was read and changed."""
    path = Path(__file__).resolve().parents[2].parent / f"shared/data/tau-bench/tools-{domain}.json"
    if not path.exists():
        pytest.skip("no τ-bench data beside the checkout")
    tools = json.loads(path.read_text())
    data_of(api("alice").post("/v1/catalogue/tools/import", {"dialect": "openai", "server": domain, "tools": tools}))
    names = [f"{domain}__{tool['function']['name']}" for tool in tools]
    played = Played(api("alice"), {"mode": "stateful", "seed": 1, "tools": names})
    for place, tool in enumerate(tools):
        schema = tool["function"]["parameters"]
        # Each its own: what one has cancelled, another would not find.
        arguments = making.made({**schema, "required": list(schema["properties"])}, Source(place))
        assert played.call(f"{domain}__{tool['function']['name']}", arguments)["result"]["success"], tool
    noun, key = ("order", "order_id") if domain == "retail" else ("reservation", "reservation_id")
    changed = {
        "retail": ("modify_pending_order_address", {"address1": "1", "address2": "", "city": "Lima", "state": "LI",
                                                    "country": "PE", "zip": "1"}),
        "airline": ("update_reservation_baggages", {"total_baggages": 2, "nonfree_baggages": 1, "payment_id": "p"}),
    }[domain]  # fmt: skip
    played.output(f"{domain}__{changed[0]}", {key: "#W1", **changed[1]})
    read = played.output(f"{domain}__get_{noun}_details", {key: "#W1"})
    assert read.items() >= changed[1].items()


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "minimum": 5, "maximum": 4},
        {"type": "string", "pattern": "^(?=b)a$"},
        {"type": "array", "items": {"type": "boolean"}, "uniqueItems": True, "minItems": 3},
        {"type": "array", "minItems": 10**9, "items": {}},
        {"type": "object", "minProperties": 10**9},
        {"type": "string", "minLength": 10**9},
        {"type": "number", "minimum": 10**400, "maximum": 10**400},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}},
        {"enum": []},
        {"not": {}},
        {"type": "string", "pattern": "^[\ud83d][\ude00]$"},
        {"type": "string", "pattern": r"^[\uD83D][\uDE00]$"},
        {"type": "string", "pattern": r"^\p{Cs}$"},
    ],
    ids=range(13),
)
def test_what_nothing_fits_is_a_failure_and_no_accident(api, who, schema):
    """C103: an output fits, or there is none."""
    played = Played(api("alice"), {"mode": "schema_only"})
    tool = {
        "name": "odd",
        "description": "",
        "parameters": {},
        "returns": {"type": "object", "required": ["x"], "properties": {"x": schema}},
    }
    response = api("alice").post(f"{played.path}/tools", {"dialect": "rdk", "tool": tool})
    if response.status_code == 200:
        answer = data_of(api("alice").post(f"{played.path}/call", {"tool": "odd"}))
        assert answer["result"]["error"]["code"] == "EXECUTION_ERROR" and answer["output"] is None
    else:
        assert refusal_of(response)[0] == 400
