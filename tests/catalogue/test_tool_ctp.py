"""CTP's definitions: two spellings in, one that its schema accepts out (C39 to C45, C132)."""

import json

import jsonschema
import pytest

from catalogue.record import Annotations, Content, Stored, ToolProblem
from tests.api.test_tools import TOOLS, imported
from tests.catalogue.speaking import MINIMAL, SCHEMA, across, lost, read, stored, write
from tests.conftest import data_of

TEXT = {"type": "string", "minLength": 1, "maxLength": 50}
TYPES = ("text", "textarea", "number", "boolean", "select", "json", "file", "color", "date", "datetime", "url", "email")
CATEGORIES = ("formatters", "encoders", "generators", "converters", "validators", "analyzers", "editors", "utilities")
VALIDATION = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        **{key: {"type": "integer"} for key in ("minLength", "maxLength", "minItems", "maxItems")},
        **{key: {"type": "number"} for key in ("min", "max", "step", "maxSize")},
        **{key: {"type": "string"} for key in ("pattern", "accept", "custom")},
    },
}
PARAMETER = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name", "type", "label", "description", "required"],
    "properties": {
        "name": {"type": "string", "pattern": "^[a-zA-Z][a-zA-Z0-9_]*$", "maxLength": 50},
        "type": {"enum": [*TYPES]},
        "label": TEXT,
        "description": {"type": "string", "minLength": 1, "maxLength": 200},
        "required": {"type": "boolean"},
        "defaultValue": {},
        "options": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["value", "label"],
                "properties": {"value": {"type": "string"}, "label": {"type": "string", "minLength": 1}},
            },
        },
        "validation": VALIDATION,
        **{key: {} for key in ("placeholder", "group", "aiHint", "dependsOn", "order", "hidden")},
    },
}
DEFINITION = {
    "type": "object",
    "additionalProperties": False,
    "required": list(MINIMAL["ctp"]),
    "properties": {
        "id": {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "maxLength": 100},
        "name": TEXT,
        "description": {"type": "string", "minLength": 1, "maxLength": 500},
        "category": {"enum": [*CATEGORIES]},
        "tags": {
            "type": "array",
            "minItems": 1,
            "uniqueItems": True,
            "items": {"type": "string", "minLength": 1, "maxLength": 30},
        },
        "method": {"enum": ["GET", "POST"]},
        "parameters": {"type": "array", "items": PARAMETER},
        "outputDescription": {"type": "string", "minLength": 1, "maxLength": 200},
        "example": {
            "type": "object",
            "additionalProperties": False,
            "required": ["input", "output"],
            "properties": {"input": {"type": "object"}, "output": {}, "description": {"type": "string"}},
        },
        "version": {"type": "string", "pattern": r"^\d+\.\d+\.\d+$"},
        "executionMode": {"enum": ["client", "server", "hybrid"]},
        "aiInstructions": {"type": "string", "maxLength": 1000},
        **{key: {"type": "string"} for key in ("icon", "deprecationMessage")},
        **{key: {"type": "array"} for key in ("keywords", "relatedTools")},
        **{key: {"type": "boolean"} for key in ("requiresAuth", "deprecated")},
        "rateLimit": {"type": "object"},
    },
}
"""The definition schema, as catalogue 1.4 tells it."""


def parameter(name: str, kind: str, **more: object) -> dict[str, object]:
    return {"name": name, "type": kind, "label": name.title(), "description": "d", "required": False, **more}


def definition(*parameters: dict[str, object], **more: object) -> dict[str, object]:
    return {**MINIMAL["ctp"], "parameters": [*parameters], **more}


def properties(*parameters: dict[str, object]) -> dict[str, dict[str, object]]:
    found = read("ctp", definition(*parameters)).content.input_schema["properties"]
    return {
        name: {key: value for key, value in schema.items() if key not in ("title", "description")}
        for name, schema in found.items()
    }


def test_c39_a_definition_is_a_tool():
    """C39."""
    found = read("ctp", definition(parameter("b", "text", required=True), parameter("a", "json"), version="1.2.3"))
    content = found.content
    assert (found.name, content.annotations.title, content.category) == ("look", "Look", "utilities")
    assert (content.param_order, content.input_schema["required"]) == (["b", "a"], ["b"])
    assert content.input_schema["properties"]["b"] == {"type": "string", "title": "B", "description": "d"}
    assert content.declared_version == "1.2.3"
    assert found.unversioned == {"tags": ["eyes"], "deprecated": False, "deprecation_message": None}


def test_c39_twelve_types():
    """C39."""
    options = [{"value": "a", "label": "A"}, {"value": "b", "label": "B"}]
    found = properties(*(parameter(f"p{place}", kind, options=options) for place, kind in enumerate(TYPES)))
    color = "^#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})$"
    assert list(found.values()) == [
        {"type": "string"},
        {"type": "string"},
        {"type": "number"},
        {"type": "boolean"},
        {"type": "string", "enum": ["a", "b"]},
        {"type": "string", "contentMediaType": "application/json"},
        {"type": "string", "contentEncoding": "base64"},
        {"type": "string", "format": "color", "pattern": color},
        {"type": "string", "format": "date"},
        {"type": "string", "format": "date-time"},
        {"type": "string", "format": "uri"},
        {"type": "string", "format": "email"},
    ]
    several = properties(parameter("p", "select", options=options, multiple=True, validation={"maxItems": 2}))
    assert several["p"] == {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "maxItems": 2}
    wrong = parameter("p", "select", multiple=True, validation={"minItems": "one"})
    with pytest.raises(ToolProblem, match="/parameters/0/validation/minItems: must be a whole number"):
        read("ctp", definition(wrong))
    with pytest.raises(ToolProblem) as caught:
        read("ctp", definition(parameter("p", "slider")))
    assert (caught.value.reason, caught.value.path) == ("invalid_tool", "/parameters/0/type")


def test_c40_flat_and_nested_constraints_are_one():
    """C40."""
    nested = definition(
        parameter("t", "text", defaultValue="x", validation={"minLength": 1, "pattern": "^x"}),
        parameter("n", "number", validation={"min": 0, "max": 9, "step": 3}),
    )
    flat = definition(
        parameter("t", "text", default="x", minLength=1, pattern="^x"), parameter("n", "number", min=0, max=9, step=3)
    )
    assert read("ctp", nested).content == read("ctp", flat).content
    assert properties(*nested["parameters"]) == {
        "t": {"type": "string", "minLength": 1, "pattern": "^x", "default": "x"},
        "n": {"type": "number", "minimum": 0, "maximum": 9, "multipleOf": 3},
    }


HARD = {
    "type": "object",
    "properties": {
        "plain": {"type": "string"},
        "long": {"type": "string", "maxLength": 5000, "title": "T" * 80, "description": "D" * 300},
        "count": {"type": "integer", "minimum": 1, "exclusiveMaximum": 9},
        "level": {"type": "integer", "enum": [1, 2]},
        "mood": {"enum": ["calm", ""], "default": "calm"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "who": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "node": {"$ref": "#/$defs/node"},
        "place": {"type": "object", "properties": {"city": {"type": "string"}}},
        "any": {},
        "yes": {"type": "boolean", "const": True},
        "when": {"type": "string", "format": "date-time"},
        "hue": {"type": "string", "format": "color"},
        "both": {"type": ["string", "null"]},
    },
    "required": ["plain", "tags"],
    "additionalProperties": False,
    "$defs": {"node": {"type": "object"}},
}


@pytest.mark.parametrize(
    "tool",
    [
        Stored("srv", "x", Content(input_schema={}, source_dialect="convilyn")),
        Stored("a-very-long-server-name-that-no-tag-could-ever-hold", "Get.User__Details", Content(
            input_schema=HARD, description="x" * 900, category="odd", declared_version="v2", source_dialect="openai",
            output_schema={"type": "array", "description": "d" * 300, "items": {"type": "integer"}},
            annotations=Annotations(title="t" * 90)), tags=["", "y" * 40, "y" * 41]),
    ],
)  # fmt: skip
def test_c41_whatever_is_exported_is_a_definition(tool):
    """C41."""
    jsonschema.validate(write("ctp", tool).tool, DEFINITION)
    jsonschema.validate(write("ctp", tool, qualified=True).tool, DEFINITION)


@pytest.mark.parametrize("source", sorted(set(MINIMAL) - {"ctp"}))
def test_c41_from_every_dialect(source):
    """C41."""
    jsonschema.validate(across(source, "ctp", MINIMAL[source]).tool, DEFINITION)


def test_c41_what_ctp_itself_would_refuse_does_not_come_back():
    """C41: texts over CTP's limits are cut at home too, and named; a name that it has no room for is not taken."""
    long = {"label": "L" * 51, "description": "D" * 201}
    sent = definition(parameter("q", "text", **long), outputDescription="o" * 201, aiInstructions="a" * 1001)
    exported = across("ctp", "ctp", sent)
    jsonschema.validate(exported.tool, DEFINITION)
    assert (len(exported.tool["outputDescription"]), len(exported.tool["aiInstructions"])) == (200, 1000)
    assert lost(exported) == dict.fromkeys(
        (
            "/input_schema/properties/q/title",
            "/input_schema/properties/q/description",
            "/extras/ctp/outputDescription",
            "/extras/ctp/aiInstructions",
        ),
        "truncated",
    )
    with pytest.raises(ToolProblem) as caught:
        read("ctp", definition(parameter("$filter", "text")))
    assert (caught.value.reason, caught.value.path) == ("invalid_tool", "/parameters/0/name")


OPTIONS = {"options": [{"value": "a", "label": "A"}, {"value": "b"}]}
EXTRAS = "/extras/ctp"
FIRST = f"{EXTRAS}/parameters/0"


@pytest.mark.parametrize(
    ("more", "lost_there"),
    [
        ({"$filter": 1, "timeout": 5, "status": "beta", "examples": [], "x/y": 1}, {
            f"{EXTRAS}/{key}": "no_slot" for key in ("$filter", "timeout", "status", "examples", "x~1y")}),
        ({"executionMode": "both"}, {f"{EXTRAS}/executionMode": "renamed"}),
        ({"icon": 5, "keywords": [1], "requiresAuth": "no", "aiInstructions": None}, {
            f"{EXTRAS}/{key}": "no_slot" for key in ("icon", "keywords", "requiresAuth", "aiInstructions")}),
        ({"rateLimit": {"requests": 5, "windowSeconds": 60, "scope": "user"}}, {
            f"{EXTRAS}/rateLimit/windowSeconds": "renamed", f"{EXTRAS}/rateLimit/scope": "no_slot"}),
        ({"name": "", "description": "", "outputDescription": ""}, {
            path: "defaulted" for path in ("/annotations/title", "/description", f"{EXTRAS}/outputDescription")}),
        ({"example": {}}, {f"{EXTRAS}/example/{key}": "defaulted" for key in ("input", "output")}),
        ({"example": {"input": 5, "output": None, "odd": 1, "description": 2}}, {
            f"{EXTRAS}/example/{key}": "no_slot" for key in ("input", "odd", "description")}),
        ({"version": None, "executionMode": None, "deprecated": None, "deprecationMessage": None}, {
            f"{EXTRAS}/{key}": "no_slot" for key in ("version", "executionMode", "deprecated", "deprecationMessage")}),
        ({"deprecated": False}, {}),
        ({"parameters": [parameter("q", "text", label="", description="")]}, {
            "/input_schema/properties/q/title": "defaulted", "/input_schema/properties/q/description": "defaulted"}),
        ({"parameters": [parameter("q", "text", validation={"odd": 1, "accept": 5, "max": None}, **{"$filter": 1})]}, {
            f"{FIRST}/{key}": "no_slot" for key in ("validation/odd", "validation/accept", "validation/max", "$filter")
        }),
        ({"parameters": [parameter("q", "text", validation=None, options=5, hidden="no", multiple=True)]}, {
            f"{FIRST}/{key}": "no_slot" for key in ("validation", "options", "hidden", "multiple")}),
        ({"parameters": [parameter("q", "select", **OPTIONS)]}, {f"{FIRST}/options/1/label": "defaulted"}),
        ({"parameters": [parameter("q", "select", options=[{"value": "a", "label": "A", "odd": 1}])]}, {
            f"{FIRST}/options/0/odd": "no_slot"}),
        ({"parameters": [parameter("q", "select", multiple=True)]}, {"/input_schema/properties/q": "flattened"}),
        ({"tags": ["", "a", "x" * 31, "x" * 32]}, {"/tags": "no_slot"}),
    ],
)  # fmt: skip
def test_c41_what_the_closed_schema_does_not_take_is_lost_by_name(more, lost_there):
    """C41 and rule 4 of 1.12: and what is kept on import says whether it comes back."""
    found = read("ctp", definition(**more))
    exported = write("ctp", stored(found))
    jsonschema.validate(exported.tool, DEFINITION)
    assert lost(exported) == lost_there
    back = {loss.path: loss.preserved for loss in found.losses}
    for path in (path.removeprefix(EXTRAS) for path in lost_there):
        assert back.get(path, False) is False, path
    assert lost(across("ctp", "ctp", exported.tool)) == {}
    if lost_there == {}:
        assert exported.tool == definition(**more)


def test_c40_what_is_said_in_both_spellings_is_taken_once_by_name():
    twice = parameter("q", "text", default="x", defaultValue="y", minLength=1, maxLength=2, validation={"minLength": 3})
    found = read("ctp", definition(twice, parameter("r", "text", minLength=1, validation=None)))
    assert properties(twice)["q"] == {"type": "string", "minLength": 3, "maxLength": 2, "default": "y"}
    assert found.content.input_schema["properties"]["r"]["minLength"] == 1
    assert {loss.path for loss in found.losses if not loss.preserved and "parameters" in loss.path} == {
        "/parameters/0/default", "/parameters/0/minLength",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "written", "lost_there"),
    [
        ({"type": "string", "contentMediaType": "application/json", "maxLength": 9, "pattern": "^{"},
         {"type": "json"}, {"maxLength": "no_slot", "pattern": "no_slot"}),
        ({"type": "integer", "multipleOf": 0.5}, {"type": "number", "validation": {"step": 1}}, {}),
        ({"type": "integer", "multipleOf": 1.5}, {"type": "number", "validation": {"step": 3}}, {}),
        ({"enum": [None, {"x": 1}, True, 1.0, "b"], "default": None},
         {"type": "select", "defaultValue": "null",
          "options": [{"value": text, "label": text} for text in ("null", '{"x":1}', "true", "1", "b")]},
         {"enum": "flattened"}),
        ({"enum": [1, "1", ""]},
         {"type": "select", "options": [{"value": "1", "label": "1"}, {"value": "", "label": "-"}]},
         {"enum": "no_slot"}),
        ({"type": "string", "title": ""}, {"type": "text"}, {"title": "defaulted"}),
    ],
)  # fmt: skip
def test_c47_what_a_parameter_cannot_say_is_named(schema, written, lost_there):
    """C43, C47 and rule 5 of 1.12."""
    whole = {"type": "object", "properties": {"q": schema}}
    exported = write(
        "ctp", Stored("srv", "x", Content(description="d", input_schema=whole, source_dialect="mcp"), ["t"])
    )
    jsonschema.validate(exported.tool, DEFINITION)
    [found] = exported.tool["parameters"]
    assert {key: found[key] for key in written} == written and (found.keys() - written) <= set(parameter("q", "text"))
    there = {f"/input_schema/properties/q/{key}": reason for key, reason in lost_there.items()}
    there |= dict.fromkeys(("/annotations/title", "/annotations/open_world"), "defaulted")
    assert {path: reason for path, reason in lost(exported).items() if path != "/category"} == there


def test_c47_what_is_required_without_a_schema_is_a_parameter():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "b"]}
    content = Content(description="d", input_schema=schema, param_order=["c", "b"], source_dialect="rdk")
    exported = write("ctp", Stored("srv", "x", content))
    assert [(each["name"], each["type"], each["required"]) for each in exported.tool["parameters"]] == [
        ("b", "json", True), ("a", "text", True),
    ]  # fmt: skip
    assert lost(exported)["/input_schema/properties/b"] == "flattened" and lost(exported)["/param_order"] == "no_slot"


def test_c47_tags_that_ctp_cannot_tell_apart_are_named():
    tool = Stored("srv", "x", Content(input_schema={}, source_dialect="mcp"), ["", "x" * 31, "x" * 32, "x" * 30])
    exported = write("ctp", tool)
    assert exported.tool["tags"] == ["x" * 30]
    assert [loss.reason for loss in exported.losses if loss.path == "/tags"] == [
        "no_slot", "truncated", "truncated", "no_slot", "no_slot",
    ]  # fmt: skip


def test_c42_names_become_slugs():
    """C42."""
    exported = write("ctp", Stored("my_srv", "get_user_details", Content(input_schema=SCHEMA, source_dialect="mcp")))
    assert exported.tool["id"] == "get-user-details"
    assert lost(exported)["/name"] == "renamed"
    stored = Stored("my_srv", "get_user", Content(input_schema=SCHEMA, source_dialect="mcp"))
    assert write("ctp", stored, qualified=True).tool["id"] == "my-srv-get-user"
    with pytest.raises(ToolProblem, match="no id"):
        write("ctp", Stored("srv", "___", stored.content))


def test_c43_what_is_not_flat_is_json_and_said_so():
    """C43."""
    exported = write("ctp", Stored("srv", "x", Content(input_schema=HARD, source_dialect="openai")))
    kinds = {each["name"]: each["type"] for each in exported.tool["parameters"]}
    as_json = [name for name, kind in kinds.items() if kind == "json"]
    assert as_json == ["tags", "who", "node", "place", "any", "yes", "both"]
    for name in ("tags", "who", "node", "place"):
        assert lost(exported)[f"/input_schema/properties/{name}"] == "flattened"
    assert (kinds["long"], kinds["hue"], kinds["when"], kinds["level"]) == ("textarea", "color", "datetime", "select")
    assert lost(exported)["/input_schema/properties/level/enum"] == "flattened"
    assert lost(exported)["/input_schema/properties/count/exclusiveMaximum"] == "no_slot"
    assert lost(exported)["/input_schema/additionalProperties"] == "no_slot"


def test_c44_everything_comes_back_at_home():
    """C44."""
    sent = definition(
        parameter("file", "file", validation={"accept": ".txt", "maxSize": 5}, placeholder="p", aiHint="h"),
        parameter("n", "number", required=True, defaultValue=3, validation={"min": 1}, group="g", order=2),
        icon="eye", keywords=["see"], aiInstructions="Look hard.", rateLimit={"requests": 5, "window": 60},
        requiresAuth=True, version="1.0.0", executionMode="hybrid", method="GET", deprecated=True,
        deprecationMessage="no",
    )  # fmt: skip
    jsonschema.validate(sent, DEFINITION)
    exported = across("ctp", "ctp", sent)
    assert exported.tool == sent
    assert json.dumps(exported.tool["parameters"]) == json.dumps(sent["parameters"])
    assert exported.losses == []


@pytest.mark.parametrize(
    ("mode", "hints"),
    [
        ("client", (True, False, False)),
        ("server", (None, None, True)),
        ("both", (None, None, True)),
        (None, (None,) * 3),
    ],
)
def test_c45_method_and_mode_are_hints(mode, hints):
    """C45."""
    found = read("ctp", definition(method="GET", **({"executionMode": mode} if mode else {}))).content
    assert (found.annotations.read_only, found.annotations.destructive, found.annotations.open_world) == hints
    assert found.idempotent is True
    assert read("ctp", definition()).content.idempotent is False


def test_c45_hints_that_no_mode_says_are_lost():
    content = Content(
        input_schema=SCHEMA, annotations=Annotations(read_only=True, open_world=False), source_dialect="mcp"
    )
    exported = write("ctp", Stored("srv", "x", content))
    assert exported.tool["executionMode"] == "client"
    lonely = Content(input_schema=SCHEMA, annotations=Annotations(read_only=True), source_dialect="mcp")
    assert lost(write("ctp", Stored("srv", "x", lonely)))["/annotations/read_only"] == "no_slot"


@pytest.mark.parametrize(
    ("hints", "mode", "said"),
    [
        ({}, "server", {"title": "Nh", "open_world": True}),
        ({"read_only": True, "title": "T"}, "server", {"open_world": True}),
        ({"read_only": True, "open_world": False}, "client", {"title": "Nh", "destructive": False}),
        ({"read_only": True, "open_world": False, "destructive": False, "title": "T"}, "client", {}),
        ({"open_world": True, "title": "T"}, "server", {}),
    ],
)
def test_c47_what_an_export_says_of_a_tool_that_does_not_is_named(api, hints, mode, said):
    """C47: CTP asks for a name, and its execution mode says hints; whoever reads it again is told them."""
    alice = api("alice")
    tool = {**MINIMAL["data_harness"], "name": "nh", "annotations": hints}
    imported(alice, tool, dialect="data_harness")
    exported = data_of(alice.get(f"{TOOLS}/srv__nh?dialect=ctp"))
    assert exported["tool"]["executionMode"] == mode
    named = {loss["path"]: loss["reason"] for loss in exported["losses"] if loss["path"].startswith("/annotations")}
    assert {path: reason for path, reason in named.items() if reason == "defaulted"} == {
        f"/annotations/{hint}": "defaulted" for hint in said
    }
    again = read("ctp", exported["tool"]).content.annotations.model_dump()
    assert {name: value for name, value in again.items() if value is not None and hints.get(name) is None} == said


def test_c132_a_parameter_that_ctp_cannot_name():
    schema = {"type": "object", "properties": {"$filter": {"type": "string"}}}
    with pytest.raises(ToolProblem) as caught:
        write("ctp", Stored("srv", "x", Content(input_schema=schema, source_dialect="openai")))
    assert (caught.value.reason, caught.value.path) == ("not_representable", "/input_schema/properties/$filter")
