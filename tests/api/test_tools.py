"""Importing tools over REST (C1 to C15, C28, C29, C130, C133, C135)."""

from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalogue.models import Tool, ToolServer, ToolVersion
from tests.catalogue.speaking import MINIMAL, SCHEMA
from tests.conftest import Api, data_of, refusal_of

IMPORT = "/v1/catalogue/tools/import"
TOOLS = "/v1/catalogue/tools"


def function(name: str = "look", description: str = "Look.", **more: object) -> dict[str, object]:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": SCHEMA, **more}}


def imported(client: Api, *tools: object, dialect: str = "openai", server: str | None = "srv", **more: object):
    body = {"dialect": dialect, "tools": [*tools], **({"server": server} if server else {}), **more}
    return data_of(client.post(IMPORT, body))


def refused(client: Api, *tools: object, dialect: str = "openai", status: int = 400, **more: object):
    """The details of a refused import, of which nothing is stored."""
    before = Tool.objects.count(), ToolVersion.objects.count(), ToolServer.objects.count()
    answer = client.post(IMPORT, {"dialect": dialect, "server": "srv", "tools": [*tools], **more})
    assert answer.status_code == status, answer.content
    content = answer.json()
    assert set(content) == {"error", "details"} and set(content["error"]) == {"error_code", "message"}
    assert before == (Tool.objects.count(), ToolVersion.objects.count(), ToolServer.objects.count())
    return content["details"]


def outcomes(data) -> list[str]:
    return [item["outcome"] for item in data["items"]]


def test_c1_one_tool_is_created(api):
    alice = api("alice")
    data = data_of(alice.post(IMPORT, {"dialect": "openai", "server": "retail", "tool": function()}))
    assert data["items"] == [
        {
            "index": 0,
            "outcome": "created",
            "qualified_name": "retail__look",
            "version": 1,
            "losses": [],
            "warnings": [],
            "errors": [],
        }
    ]
    assert data["counts"] == {
        "created": 1,
        "new_version": 0,
        "updated": 0,
        "unchanged": 0,
        "skipped": 0,
        "failed": 0,
    }
    record = data_of(alice.get(f"{TOOLS}/retail__look"))
    assert record["input_schema"] == SCHEMA and list(record["input_schema"]["properties"]) == record["param_order"]
    assert (record["qualified_name"], record["version"], record["source_dialect"]) == ("retail__look", 1, "openai")
    assert (record["handler"], record["dispatchable"], record["visible"]) == ({"kind": "none"}, False, True)
    assert (record["created_by"], record["extras"]) == ("alice@acme.test", {})


def test_c2_the_same_again_is_unchanged(api):
    """C2, whatever the rule for conflicts: a repeat after a timeout is no conflict."""
    alice = api("alice")
    imported(alice, function())
    first = data_of(alice.get(f"{TOOLS}/srv__look"))
    for rule in ("new_version", "skip", "error"):
        data = imported(alice, function(), on_conflict=rule)
        assert outcomes(data) == ["unchanged"] and data["items"][0]["version"] == 1
    assert data_of(alice.get(f"{TOOLS}/srv__look")) == first
    assert first["spec_hash"].startswith("sha256:")


def test_c3_another_description_is_another_version(api):
    alice = api("alice")
    imported(alice, function())
    assert imported(alice, function(description="Look closely."))["items"][0]["version"] == 2
    assert data_of(alice.get(f"{TOOLS}/srv__look"))["description"] == "Look closely."
    old = data_of(alice.get(f"{TOOLS}/srv__look?version=1"))
    assert (old["version"], old["description"]) == (1, "Look.")
    versions = data_of(alice.get(f"{TOOLS}/srv__look/versions"))["items"]
    assert [each["version"] for each in versions] == [2, 1]
    assert versions[1]["spec_hash"] == old["spec_hash"] != versions[0]["spec_hash"]
    for number in ("3", "0", "x", "1" * 20):
        assert alice.get(f"{TOOLS}/srv__look?version={number}").status_code == 404
    page = data_of(alice.get(f"{TOOLS}/srv__look/versions?limit=1"))
    rest = data_of(alice.get(f"{TOOLS}/srv__look/versions?limit=1&page_token={page['next_token']}"))
    assert [each["version"] for each in (*page["items"], *rest["items"])] == [2, 1] and rest["next_token"] is None


def test_c3_the_order_of_parameters_is_content_and_the_order_of_other_keys_is_not(api):
    """1.1: forms and positional arguments follow the properties."""
    alice = api("alice")
    schema = {"type": "object", "properties": {"a": {"type": "string", "title": "A"}, "b": {}}}
    same = {"properties": {"a": {"title": "A", "type": "string"}, "b": {}}, "type": "object"}
    other = {"type": "object", "properties": {"b": {}, "a": {"type": "string", "title": "A"}}}
    imported(alice, function(parameters=schema))
    assert outcomes(imported(alice, function(parameters=same))) == ["unchanged"]
    assert outcomes(imported(alice, function(parameters=other))) == ["new_version"]
    assert data_of(alice.get(f"{TOOLS}/srv__look"))["param_order"] == ["b", "a"]


def test_c4_what_is_not_versioned_changes_in_place(api):
    """C4."""
    alice, tool = api("alice"), MINIMAL["data_harness"]
    imported(alice, tool, dialect="data_harness")
    data = imported(alice, {**tool, "visible": False}, dialect="data_harness")
    assert outcomes(data) == ["updated"] and data["items"][0]["version"] == 1
    assert data_of(alice.get(f"{TOOLS}/srv__look"))["visible"] is False
    tagged = {**MINIMAL["ctp"], "id": "see"}
    imported(alice, tagged, dialect="ctp")
    assert outcomes(imported(alice, {**tagged, "tags": ["other"]}, dialect="ctp")) == ["updated"]
    assert data_of(alice.get(f"{TOOLS}/srv__see"))["tags"] == ["other"]


@pytest.mark.parametrize(
    ("dialect", "one", "other"),
    [
        ("mcp", {"_meta": {"heddle/visible": True}}, {"_meta": {"heddle/visible": False}}),
        ("mcp", {"_meta": {"heddle/tags": ["a"]}}, {"_meta": {"heddle/tags": []}}),
        ("mcp", {"_meta": {"heddle/tags": None, "heddle/visible": None}}, {"_meta": {"heddle/tags": ["a"]}}),
        ("mcp", {"_meta": {"heddle/tags": []}, "title": "T"}, {"title": "T"}),
        ("mcp", {"_meta": {"o/x": 1, "heddle/tags": []}}, {"_meta": {"o/x": 1, "heddle/visible": False}}),
        ("mcp", {"_meta": {}}, {"_meta": {"heddle/visible": True}}),
        ("ctp", {"deprecated": False}, {"deprecated": True}),
        ("ctp", {"deprecated": False, "tags": ["a"]}, {"tags": ["b"]}),
    ],
)
@pytest.mark.parametrize("is_turned", [False, True])
def test_c4_neither_is_what_the_source_spells_out_of_it(api, dialect, one, other, is_turned):
    """C4 and 1.12: a default that is said or not said makes no version, and comes back as it was said."""
    alice, tool = api("alice"), MINIMAL[dialect]
    first, second = ({**tool, **more} for more in ((other, one) if is_turned else (one, other)))
    imported(alice, first, dialect=dialect)
    assert data_of(alice.get(f"{TOOLS}/srv__look?dialect={dialect}"))["tool"] == first
    for sent in (second, first):
        data = imported(alice, sent, dialect=dialect)
        assert (outcomes(data), data["items"][0]["version"]) == (["updated"], 1)
        assert outcomes(imported(alice, sent, dialect=dialect)) == ["unchanged"]
        if {*one, *one.get("_meta", {})} == {*other, *other.get("_meta", {})}:  # else what is not said stays
            assert data_of(alice.get(f"{TOOLS}/srv__look?dialect={dialect}"))["tool"] == sent


def test_c4_what_versions_said_of_it_before_makes_no_version_after_an_upgrade(api):
    """C4: the migration gives them the hashes of a new import."""
    alice, moved = api("alice"), import_module("catalogue.migrations.0020_spelled_out")
    metas = {"m0": {"o/x": 1, "heddle/visible": True}, "m1": {"heddle/tags": []}, "m2": {}, "m3": {"o/x": 1}}
    old = {"deprecated": False, "icon": "i"}
    sent = {
        "mcp": [{**MINIMAL["mcp"], "name": name, "_meta": meta} for name, meta in metas.items()],
        "ctp": [{**MINIMAL["ctp"], "id": "c0", **old}, {**MINIMAL["ctp"], "id": "c1"}],
    }
    for dialect, tools in sent.items():
        imported(alice, *tools, dialect=dialect)
    for name, meta in metas.items():
        ToolVersion.objects.filter(tool__name=name).update(extras={"mcp": {"_meta": meta}})
    row = ToolVersion.objects.get(tool__name="c0")
    ToolVersion.objects.filter(pk=row.pk).update(extras={"ctp": {**row.extras["ctp"], **old}})
    ToolVersion.objects.filter(tool__name__in=["m0", "m1", "m2", "c0"]).update(spec_hash="old")
    Tool.objects.update(spelled_out={})
    moved.move(apps, None)
    for dialect, tools in sent.items():
        assert outcomes(imported(alice, *tools, dialect=dialect)) == ["unchanged"] * len(tools)
        for tool in tools:
            name = f"srv__{tool['id' if dialect == 'ctp' else 'name']}"
            assert data_of(alice.get(f"{TOOLS}/{name}?dialect={dialect}"))["tool"] == tool


def test_c4_a_message_of_deprecation_changes_in_place(api):
    """C4: CTP's own schema takes no null, so that one is lost by name and not written."""
    alice, tool = api("alice"), MINIMAL["ctp"]
    imported(alice, {**tool, "deprecationMessage": None}, dialect="ctp")
    for message in ("m", None):
        data = imported(alice, {**tool, "deprecationMessage": message}, dialect="ctp")
        assert (outcomes(data), data["items"][0]["version"]) == (["updated"], 1)
        assert data_of(alice.get(f"{TOOLS}/srv__look"))["deprecation_message"] == message
    exported = data_of(alice.get(f"{TOOLS}/srv__look?dialect=ctp"))
    assert "/extras/ctp/deprecationMessage" in {loss["path"] for loss in exported["losses"]}


def test_c4_a_dialect_that_is_silent_changes_nothing_in_place(api):
    """C4."""
    alice = api("alice")
    imported(alice, function())
    data_of(alice.patch(f"{TOOLS}/srv__look", {"visible": False, "tags": ["mine"]}))
    assert outcomes(imported(alice, function(), function("other"))) == ["unchanged", "created"]
    record = data_of(alice.get(f"{TOOLS}/srv__look"))
    assert (record["visible"], record["tags"]) == (False, ["mine"])


def test_c5_what_is_there_stays_or_is_a_conflict(api):
    """C5."""
    alice, changed = api("alice"), function(description="Other.")
    imported(alice, function())
    data = imported(alice, changed, function("new"), on_conflict="skip")
    assert outcomes(data) == ["skipped", "created"] and data["items"][0]["version"] == 1
    details = refused(alice, function("newer"), changed, on_conflict="error", status=409)
    assert details["reason"] == "conflict" and [each["index"] for each in details["errors"]] == [1]
    partly = imported(alice, function("newer"), changed, on_conflict="error", partial=True)
    assert outcomes(partly) == ["created", "failed"]
    assert data_of(alice.get(f"{TOOLS}/srv__look"))["description"] == "Look."


def test_c6_a_dry_run_tells_everything_and_stores_nothing(api):
    """C6."""
    alice = api("alice")
    imported(alice, function())
    counts = Tool.objects.count(), ToolVersion.objects.count(), ToolServer.objects.count()
    told = imported(alice, function(description="x"), function("new"), dry_run=True)
    assert outcomes(told) == ["new_version", "created"] and [each["version"] for each in told["items"]] == [2, 1]
    lossy = {**MINIMAL["anthropic"], "cache_control": None, "strict": True}
    [item] = imported(alice, lossy, dialect="anthropic", server="fresh", dry_run=True)["items"]
    assert {loss["path"] for loss in item["losses"]} == {"/cache_control", "/strict"}
    assert counts == (Tool.objects.count(), ToolVersion.objects.count(), ToolServer.objects.count())
    assert data_of(alice.get(f"{TOOLS}/srv__look"))["description"] == "Look."


def test_a_refusal_names_its_reason_for_programs_and_the_field_where_it_is_about_one(api):
    """Catalogue 6.1: an object with a `reason`; what a body lacks is told as a list by field, as on every route."""
    assert refused(api("alice"), function(), dialect="klingon") == {"field": "dialect", "reason": "unsupported_dialect"}
    many = {"field": "tool", "reason": "invalid_request"}
    assert refused(api("alice"), function(), tool=function()) == refused(api("alice"), tools=None) == many
    assert refused(api("alice"), function(), server="No Server") == {"field": "server", "reason": "invalid_server"}
    details = refused(api("alice"), function(name="a b"))
    assert details == {"reason": "invalid_tool", "errors": [{**details["errors"][0], "index": 0, "path": "/name"}]}
    assert refused(api("alice"), function(), dialect=None) == [{"field": "dialect", "reason": "must be text"}]


def test_a_key_that_is_spelled_wrong_is_refused_by_name(api):
    """`dryrun` for `dry_run` would import what was meant to be looked at. A tool itself may hold what it likes."""
    for key in ("dryrun", "on_conflicts", "toools"):
        assert refused(api("alice"), function(), **{key: True}) == [{"field": key, "reason": "is not a known field"}]
    assert outcomes(imported(api("alice"), {**function(), "dryrun": True})) == ["created"]


def test_c7_one_bad_tool_refuses_all_unless_the_import_is_partial(api):
    """C7."""
    alice, bad = api("alice"), function(parameters={"type": "array"})
    details = refused(alice, function("a"), bad, function("b"), 7)
    assert details["reason"] == "invalid_schema"
    assert [(each["index"], each["path"]) for each in details["errors"]] == [(1, "/input_schema/type"), (3, "")]
    data = imported(alice, function("a"), bad, function("b"), partial=True)
    assert outcomes(data) == ["created", "failed", "created"]
    assert data["items"][1]["errors"][0]["reason"] == "invalid_schema" and data["counts"]["failed"] == 1


def test_a_partial_import_of_nothing_good_makes_no_server(api):
    imported(api("alice"), function("..."), server="empty", partial=True)
    assert not ToolServer.objects.filter(name="empty").exists()


@pytest.mark.parametrize("dialect", ["", "OpenAI", "otel", "canonical", "heddle"])
def test_c8_unknown_dialects(dialect, api):
    assert refused(api("alice"), function(), dialect=dialect)["reason"] == "unsupported_dialect"


def test_c9_a_missing_field_is_named(api):
    """C9 over the wire; dialect by dialect in tests/catalogue."""
    details = refused(api("alice"), {"name": "x", "description": "d"}, dialect="rdk")
    assert details["reason"] == "invalid_tool"
    assert details["errors"] == [{"index": 0, "reason": "invalid_tool", "path": "/parameters", "message": "required"}]


def deep(levels: int) -> dict[str, object]:
    schema: dict[str, object] = {"type": "string"}
    for _ in range(levels):
        schema = {"not": schema}
    return {"properties": {"a": schema}}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "objekt"},
        {"type": "array"},
        {"type": ["object", "null"]},
        {"properties": {"a": {"type": "string", "minLength": -1}}},
        {"properties": {"a": 1}},
        {"$ref": "https://elsewhere.test/schema"},
        {"properties": {"a": {"$ref": "other.json#/x"}}},
        {"properties": {"a": {"$ref": "#/$defs/none"}}},
        {"properties": {"a": {"items": {"$ref": "#/properties/a/b"}}}},
        {"properties": {"a": {"$ref": "#/$defs/a%25b"}}, "$defs": {"a%25b": {}}},
        {"properties": {"a": {"$ref": "xn"}}, "$defs": {"b": {"$anchor": "n"}}},
        {"properties": {"a": {"$dynamicRef": "http://evil.test/x"}}},
        {"properties": {"a": {"$id": "http://x.test/y", "$ref": "#/properties/b"}, "b": {}}},
        {"properties": {"a": {"$ref": "#/allOf/01"}}, "allOf": [{}, {}]},
        {"properties": {"a": {"$ref": "#/x"}}, "x": {"not": {"$ref": "#/nowhere"}}},
        {"properties": {"a": {"$ref": "#/x"}}, "x": {"pattern": "("}},
        {"properties": {"a": {"pattern": "("}}},
        {"properties": {"a": {"pattern": "(a{900}){900}"}}},
        {"patternProperties": {"[": {}}},
        deep(40),
        {"description": "x" * 65_600},
    ],
)
def test_c10_schemas_that_are_none(schema, api):
    """C10, C131 and C135: and the same of an output schema, whose root may be anything."""
    alice = api("alice")
    assert refused(alice, function(parameters=schema))["reason"] == "invalid_schema"
    output = {"name": "look", "description": "d", "parameters": {}, "returns": schema}
    if schema.get("type") not in ("array", ["object", "null"]):
        assert refused(alice, output, dialect="rdk")["reason"] == "invalid_schema"


@pytest.mark.parametrize("schema", [True, False, "x"])
@pytest.mark.parametrize(
    ("dialect", "key"),
    [
        ("openai", "parameters"),
        ("anthropic", "input_schema"),
        ("mcp", "inputSchema"),
        ("mcp", "outputSchema"),
        ("convilyn", "input_schema"),
        ("convilyn", "output_schema"),
        ("data_harness", "input_schema"),
        ("rdk", "parameters"),
        ("rdk", "returns"),
        ("roboto", "input_schema"),
    ],
)
def test_c10_a_boolean_is_no_schema_of_a_tool(dialect, key, schema, api):
    tool = function(parameters=schema) if dialect == "openai" else {**MINIMAL[dialect], key: schema}
    details = refused(api("alice"), tool, dialect=dialect)
    assert details["reason"] == "invalid_schema"
    assert details["errors"][0]["path"].endswith(f"/{key}")


@pytest.mark.parametrize(
    ("place", "beside"),
    [
        ("#/x", {"x": 5}),
        ("#/x", {"x": {"type": "zzz"}}),
        ("#/x", {"x": {"maxLength": "a"}}),
        ("#/x/y", {"x": {"y": {"properties": {"b": 1}}}}),
        ("#/required", {"required": ["a"]}),
        ("#/default/a", {"default": {"a": "text"}}),
        ("#/default/a", {"default": {"a": {"items": []}}}),
    ],
)
def test_c10_a_reference_to_what_is_no_schema_is_refused_with_its_place(place, beside, api):
    """C10, C131."""
    details = refused(
        api("alice"), function(parameters={"type": "object", "properties": {"a": {"$ref": place}}, **beside})
    )
    [error] = details["errors"]
    assert (error["reason"], error["path"]) == ("invalid_schema", "/input_schema/properties/a/$ref")
    assert place in error["message"]


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "#/components/schemas/A"}}, "components": {"schemas": {"A": {"type": "string"}}}},
        {"properties": {"a": {"$ref": "#/x"}}, "x": True},
        {"additionalItems": {"patternProperties": 5}},
        {"properties": {"a": {"additionalItems": 5, "unknown": {"pattern": "("}}}},
    ],
)
def test_c10_keywords_of_nobody_hold_what_they_like(schema, api):
    """C10: a schema under one is a schema if a reference leads to it."""
    alice = api("alice")
    assert outcomes(imported(alice, function(parameters=schema))) == ["created"]
    assert data_of(alice.post(f"{TOOLS}/srv__look/validate", {"arguments": {}}))["valid"]


@pytest.mark.parametrize("wrapped", range(3, 9))
def test_an_infinitely_recursive_schema_is_an_answer_and_no_accident(wrapped, api):
    """C10, 3.1, 6.1."""
    schema = {"$ref": "#/$defs/r"}
    for _ in range(wrapped):
        schema = {"allOf": [schema]}
    recursive = {"type": "object", "allOf": [schema], "$defs": {"r": {"type": "object", "not": {"$ref": "#/$defs/r"}}}}
    alice = api("alice")
    imported(alice, function(parameters=recursive))
    answer = data_of(alice.post(f"{TOOLS}/srv__look/validate", {"arguments": {"a": 1}}))
    assert [error["message"] for error in answer["errors"]] == ["the schema is infinitely recursive"]
    assert data_of(alice.post(f"{TOOLS}/srv__look/call", {"arguments": {"a": 1}}))["result"]["success"] is False


def test_c10_what_only_looks_like_a_reference_is_data(api):
    schema = {
        "properties": {"$ref": {"type": "string"}, "a": {"default": {"$ref": "x"}}, "b": {"$ref": "#/$defs/c"}},
        "$defs": {"c": {"$anchor": "here"}, "d": {"$ref": "#here"}, "e": {"$ref": "#"}},
        "examples": [{"$ref": "nowhere"}],
    }
    assert outcomes(imported(api("alice"), function(parameters=schema))) == ["created"]


def test_c11_a_reserved_name(api):
    """C11."""
    assert refused(api("alice"), function("get_tool_data"))["reason"] == "reserved_name"


def test_c12_the_same_name_twice(api):
    """C12."""
    alice = api("alice")
    details = refused(alice, function(), function(description="Other."))
    assert details["reason"] == "duplicate_name" and details["errors"][0]["index"] == 1
    items = [{"name": "x", "server": server, "description": "d"} for server in ("a-b", "a_b", "ab")]
    data = imported(alice, *items, dialect="convilyn", server=None, partial=True)
    assert outcomes(data) == ["created", "failed", "created"]


def test_c13_hyphen_and_underscore_are_one_namespace(api):
    """C13."""
    alice = api("alice")
    imported(alice, function("a"), server="my-srv")
    data = imported(alice, function("a"), function("b"), server="my_srv")
    assert [(item["outcome"], item["qualified_name"]) for item in data["items"]] == [
        ("unchanged", "my-srv__a"),
        ("created", "my-srv__b"),
    ]
    for spelling in ("my-srv__a", "my_srv__a", "my-srv:a", "my_srv%3Aa"):
        assert data_of(alice.get(f"{TOOLS}/{spelling}"))["qualified_name"] == "my-srv__a"
    assert data_of(alice.get("/v1/catalogue/servers/my_srv"))["tool_count"] == 2


def test_c14_the_first_double_underscore_parts_the_name(api):
    """C14."""
    alice = api("alice")
    imported(alice, function("x__y"), function("_z"))
    assert data_of(alice.get(f"{TOOLS}/srv__x__y"))["name"] == "x__y"
    assert data_of(alice.get(f"{TOOLS}/srv___z"))["name"] == "_z"


def test_c15_one_name_on_two_servers(api):
    """C15; with the tools of τ-bench in tests/catalogue."""
    alice = api("alice")
    imported(alice, function(description="One."), server="retail")
    imported(alice, function(description="Two."), server="airline")
    assert data_of(alice.get(f"{TOOLS}/retail__look"))["description"] == "One."
    assert data_of(alice.get(f"{TOOLS}/airline__look"))["description"] == "Two."


@pytest.mark.parametrize("name", ["", ".x", "-x", "a b", "a/b", "ü", "n" * 129])
def test_names_that_no_tool_can_have(name, api):
    assert refused(api("alice"), function(name))["reason"] == "invalid_tool"


@pytest.mark.parametrize("server", ["A", "a__b", "_a", "a-", "a b", "s" * 65, ""])
def test_names_that_no_server_can_have(server, api):
    assert refused(api("alice"), function(), server=server)["reason"] == "invalid_server"


def test_a_manifest_cannot_make_a_server_with_a_name_that_none_can_have(api):
    manifest = {"server": {"name": "My Server", "version": "1", "description": "d"}, "tools": []}
    answer = api("alice").post(IMPORT, {"dialect": "convilyn", "manifest": manifest})
    assert (answer.status_code, answer.json()["details"]["reason"]) == (400, "invalid_server")
    manifest["server"].pop("version")
    answer = api("alice").post(IMPORT, {"dialect": "convilyn", "manifest": manifest})
    assert (answer.status_code, answer.json()["details"]["reason"]) == (400, "invalid_tool")


def test_a_server_has_to_be_named(api):
    assert refused(api("alice"), function(), server=None)["reason"] == "invalid_server"


def test_c29_a_client_tool_goes_to_the_server_client(api):
    """C28 and C29."""
    alice = api("alice")
    data = imported(alice, MINIMAL["roboto"], dialect="roboto_client", server=None)
    assert data["items"][0]["qualified_name"] == "client__client_look"
    record = data_of(alice.get(f"{TOOLS}/client__client_look"))
    assert (record["handler"], record["dispatchable"]) == ({"kind": "client"}, False)
    assert refused(alice, {**MINIMAL["roboto"], "name": "get_x"}, dialect="roboto")["reason"] == "invalid_tool"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"tool": {}, "tools": []},
        {"manifest": {"server": {"name": "s", "version": "1", "description": "d"}}},
        {"source": "def f(): ..."},
        {"tools": [], "on_conflict": "replace"},
        {"tools": {}},
    ],
)
def test_one_kind_of_payload_and_no_other(body, api):
    assert api("alice").post(IMPORT, {"dialect": "openai", "server": "srv", **body}).status_code == 400


def test_an_empty_list_of_tools_is_refused(api):
    """Whoever sends one meant to send tools."""
    said = refusal_of(api("alice").post(IMPORT, {"dialect": "openai", "server": "srv", "tools": []}))
    assert (said[0], said[2]) == (400, "tools: must have at least 1 item")


def test_who_keeps_the_tools_is_asked_once_however_many_are_imported(api, who):
    """By somebody who may not say who runs them: bob did not make them."""
    asked = {}
    for count in (1, 3, 60):  # at first a token is noted as used
        tools = [{"name": f"client_t{n}", "description": "Look.", "input_schema": SCHEMA} for n in range(count)]
        imported(api("alice"), *tools, dialect="roboto", server=f"srv{count}")
        Tool.objects.update(handler={"kind": "none"})
        with CaptureQueriesContext(connection) as captured:
            data = imported(api("bob"), *tools, dialect="roboto", server=f"srv{count}")
        assert all("the handler was not changed" in item["warnings"][-1] for item in data["items"])
        asked[count] = len(captured)
    assert asked[3] == asked[60]


def test_c135_five_hundred_tools_and_no_more(api):
    alice = api("alice")
    tools = [{"name": f"t{number}"} for number in range(501)]
    assert refused(alice, *tools)["reason"] == "too_many_tools"
    assert imported(alice, *tools[:500])["counts"]["created"] == 500
    assert imported(alice, *tools[:500])["counts"]["unchanged"] == 500


def test_builtin_servers_take_nothing_from_anybody(api, who):
    """6.1: they belong to everybody and are read-only, whoever asks and in whatever spelling."""
    for name in ("demo", "heddle"):
        answer = api("alice").post(IMPORT, {"dialect": "openai", "server": name, "tool": function()})
        assert answer.status_code == 403
    for person, headers in (("alice", {}), ("admin", {"X-Roboto-Org-Id": who.acme.org_id})):
        for method, body in (("PATCH", {"visible": False}), ("DELETE", None)):
            assert api(person, **headers).request(method, f"{TOOLS}/demo__echo", body).status_code == 403
    assert api("alice").patch("/v1/catalogue/servers/demo", {"version": "2"}).status_code == 403
