"""Tool dialects, case by case (C9, C17, C20 to C48, C132)."""

import jsonschema
import pytest

from catalogue import result_dialects, results
from catalogue.dialects import DIALECTS
from catalogue.record import Annotations, Content, Stored, ToolProblem
from catalogue.schema_rules import check_schema
from tests.api.test_tools import IMPORT, TOOLS, imported
from tests.catalogue.speaking import MINIMAL, SCHEMA, across, lost, read, stored, write
from tests.conftest import data_of

WRITTEN = [name for name, dialect in DIALECTS.items() if dialect.write]


def refused(dialect: str, tool: object) -> tuple[str, str]:
    with pytest.raises(ToolProblem) as caught:
        read(dialect, tool)
    return caught.value.reason, caught.value.path


def tool(**content: object) -> Stored:
    return Stored("srv", "look_up", Content(**{"input_schema": SCHEMA, "source_dialect": "test", **content}))


class TestEvery:
    @pytest.mark.parametrize("dialect", WRITTEN)
    def test_a_minimal_tool_comes_back_with_its_defaults_spelled_out(self, dialect):
        """Rule 4 of 1.12."""
        source = MINIMAL[dialect]
        defaults = {
            "convilyn": {"idempotent": False, "output_schema": None},
            "data_harness": {"visible": True, "annotations": None},
        }
        exported = across(dialect, dialect, source)
        assert exported.tool == {**source, **defaults.get(dialect, {})}
        assert exported.losses == []

    @pytest.mark.parametrize(
        ("dialect", "more"),
        [
            ("mcp", {"_meta": {"heddle/tags": []}}),
            ("mcp", {"description": None}),
            ("rdk", {"param_names": None}),
            ("anthropic", {"description": None, "type": None}),
            ("openai", {"function": {"name": "look", "description": None, "parameters": None, "strict": None}}),
        ],
    )
    def test_what_is_null_or_empty_comes_back(self, dialect, more):
        """Rule 4 of 1.12."""
        sent = {**MINIMAL[dialect], **more}
        exported = across(dialect, dialect, sent)
        assert (exported.tool, exported.losses) == (sent, [])
        assert not any(
            path.startswith("/extras") for path in lost(across(dialect, "convilyn", sent)) if "_meta" not in path
        )

    @pytest.mark.parametrize("dialect", WRITTEN)
    def test_c9_every_required_field_is_missed_by_its_pointer(self, dialect):
        source = MINIMAL[dialect]
        inner, place = (source["function"], "/function") if dialect == "openai" else (source, "")
        needed = {"openai": ["name"], "mcp": ["name", "inputSchema"], "anthropic": ["name", "input_schema"]}
        for key in needed.get(dialect, list(inner)):
            rest = {each: value for each, value in inner.items() if each != key}
            sent = {**source, "function": rest} if dialect == "openai" else rest
            assert refused(dialect, sent) == ("invalid_tool", f"{place}/{key}")

    @pytest.mark.parametrize("dialect", WRITTEN)
    @pytest.mark.parametrize("value", [None, [], "x", 1, {}])
    def test_c9_what_is_no_tool_at_all_is_refused(self, dialect, value):
        assert refused(dialect, value)[0] == "invalid_tool"

    @pytest.mark.parametrize("source", WRITTEN)
    @pytest.mark.parametrize("target", WRITTEN)
    def test_c48_unknown_keys_come_back_at_home_and_never_leak(self, source, target):
        """C20, C34, C47 and C48; CTP's own schema is closed, so it is lost there too."""
        sent = {**MINIMAL[source], "x_secret": {"deep": [1]}}
        found = read(source, sent)
        [loss] = [loss for loss in found.losses if loss.path == "/x_secret"]
        assert (loss.reason, loss.preserved) == ("no_slot", source != "ctp")
        written = write(target, stored(found))
        if source == target != "ctp":
            assert written.tool["x_secret"] == {"deep": [1]}
        else:
            assert "x_secret" not in str(written.tool)
            assert any("x_secret" in path or "$outer" in path for path in lost(written))

    @pytest.mark.parametrize("dialect", WRITTEN)
    def test_c47_what_has_no_slot_is_named(self, dialect):
        """Every field of 1.11 either arrives or is among the losses, and `preserved` says where it can come back."""
        full = Stored(
            "srv",
            "look",
            Content(
                declared_version="1.2.3",
                description="Look.",
                input_schema=SCHEMA,
                output_schema={"type": "object", "properties": {}},
                idempotent=True,
                annotations=Annotations(
                    title="Look", read_only=True, cache_mutating=False, destructive=False, open_world=True
                ),
                param_order=["days", "city"],
                category="analyzers",
                source_dialect="mcp",
            ),
            tags=["a"],
            visible=False,
            deprecated=True,
            deprecation_message="gone",
        )
        exported = write(dialect, full)
        kept = DIALECTS[dialect].holds
        for path in ("output_schema", "idempotent", "tags", "category", "visible", "deprecated", "param_order"):
            assert (f"/{path}" in lost(exported)) == (path not in kept), path
        preserved = {loss.path: loss.preserved for loss in exported.losses if loss.reason == "no_slot"}
        held = DIALECTS["mcp"].holds
        for path, is_preserved in preserved.items():
            field = path.split("/")[1]
            assert is_preserved == (dialect != "mcp" and (field in held)), path


class TestConvilyn:
    @pytest.mark.parametrize("output_schema", [None, SCHEMA])
    @pytest.mark.parametrize("idempotent", [False, True])
    def test_c17_five_keys_and_a_null(self, output_schema, idempotent):
        """C17."""
        sent = {**MINIMAL["convilyn"], "idempotent": idempotent, "output_schema": output_schema}
        for exported in (
            across("convilyn", "convilyn", sent),
            write("convilyn", tool(description="d", output_schema=output_schema)),
        ):
            assert set(exported.tool) == {"name", "description", "input_schema", "idempotent", "output_schema"}
            assert exported.tool["output_schema"] == output_schema

    def test_a_catalogue_item_names_its_server_and_its_capabilities_are_tags(self):
        found = read("convilyn", {"name": "x", "server": "my-srv", "description": "d", "capabilities": ["a", "b", "a"]})
        assert (found.server, found.unversioned, found.content.input_schema) == ("my-srv", {"tags": ["a", "b"]}, {})

    def test_a_null_description_is_refused(self):
        assert refused("convilyn", {**MINIMAL["convilyn"], "description": None}) == ("invalid_tool", "/description")


class TestDataHarness:
    def test_c22_unknown_hints_stay_unknown(self):
        partly = {**MINIMAL["data_harness"], "annotations": {"read_only": True}}
        assert across("data_harness", "data_harness", partly).tool["annotations"] == {
            "title": None,
            "read_only": True,
            "cache_mutating": None,
            "destructive": None,
            "open_world": None,
        }
        assert across("data_harness", "data_harness", {**partly, "annotations": None}).tool["annotations"] is None

    def test_c23_a_handler_is_dropped_and_said_so(self, api):
        """C23: and what is stored is a schema that nothing answers."""
        alice, sent = api("alice"), {**MINIMAL["data_harness"], "handler": "module:function"}
        found = read("data_harness", sent)
        assert lost(found) == {"/handler": "not_portable"}
        assert "handler" not in found.unversioned and found.content.extras == {}
        [item] = imported(alice, sent, dialect="data_harness")["items"]
        assert [(loss["path"], loss["reason"]) for loss in item["losses"]] == [("/handler", "not_portable")]
        record = data_of(alice.get(f"{TOOLS}/srv__look"))
        assert (record["handler"], record["dispatchable"]) == ({"kind": "none"}, False)
        assert lost(read("data_harness", {**MINIMAL["data_harness"], "handler": None})) == {}


class TestRdk:
    def test_c25_four_keys_go_in_and_come_out(self, api):
        """C25: what `to_schema()` gives, imported, stored and exported."""
        alice, sent = api("alice"), {**MINIMAL["rdk"], "returns": {"type": "array", "items": SCHEMA}}
        imported(alice, sent, dialect="rdk")
        exported = data_of(alice.get(f"{TOOLS}/srv__look?dialect=rdk"))
        assert (exported["tool"], exported["losses"]) == (sent, [])
        assert set(sent) == {"name", "description", "parameters", "returns"}

    def test_c26_a_missing_output_schema_is_an_object(self):
        """C26."""
        exported = across("anthropic", "rdk", MINIMAL["anthropic"])
        assert exported.tool["returns"] == {"type": "object"}
        assert lost(exported) == {"/output_schema": "defaulted"}

    def test_c27_param_names_are_the_order(self, api):
        """C27: also of the record that is stored, whose order is not that of the alphabet."""
        sent = {**MINIMAL["rdk"], "param_names": ["days", "city"]}
        assert read("rdk", sent).content.param_order == ["days", "city"]
        assert read("rdk", MINIMAL["rdk"]).content.param_order == ["city", "days"]
        assert across("rdk", "rdk", sent).tool == sent
        twice = read("rdk", {**MINIMAL["rdk"], "param_names": ["days", "days", "city"]})
        assert twice.content.param_order == ["days", "city"]
        assert [(loss.path, loss.reason, loss.preserved) for loss in twice.losses] == [
            ("/param_names/1", "no_slot", False)
        ]
        alice, backwards = api("alice"), {"properties": {"zone": {}, "b": {}, "aa": {}}}
        plain = {**MINIMAL["rdk"], "name": "plain", "parameters": backwards}
        imported(alice, sent, plain, {**plain, "name": "told", "param_names": ["b", "zone", "aa"]}, dialect="rdk")
        orders = {"look": ["days", "city"], "plain": ["zone", "b", "aa"], "told": ["b", "zone", "aa"]}
        for name, order in orders.items():
            assert data_of(alice.get(f"{TOOLS}/srv__{name}"))["param_order"] == order


class TestRoboto:
    @pytest.mark.parametrize("name", ["client_", "client_1a", "Client_a", "client_A", "get_x", "client_a\n"])
    def test_c28_names_that_the_sdk_refuses(self, name):
        assert refused("roboto", {**MINIMAL["roboto"], "name": name}) == ("invalid_tool", "/name")

    def test_c29_the_client_handles_it(self):
        found = read("roboto", {**MINIMAL["roboto"], "name": "client_x1"})
        assert (found.name, found.unversioned) == ("client_x1", {"handler": {"kind": "client"}})

    @pytest.mark.parametrize(
        ("name", "there"),
        [("get_user", "client_get_user"), ("Get.User", "client_get_user"), ("2nd", "client_t_2nd"),
         ("client_x", "client_x"), ("client__x", "client_t__x"), ("_", "client_t__")],
    )  # fmt: skip
    def test_c30_other_names_are_changed(self, name, there):
        """C30; the real package's word on the name stands with the referees."""
        exported = write("roboto", Stored("srv", name, tool().content))
        assert exported.tool["name"] == there
        assert lost(exported).get("/name") == (None if name == there else "renamed")


class TestOpenAI:
    FUNCTION = {"name": "look", "description": "Look.", "parameters": SCHEMA, "strict": True}

    def test_c31_three_forms_are_one_content(self):
        """C31."""
        forms = [{"type": "function", "function": self.FUNCTION}, {"type": "function", **self.FUNCTION}, self.FUNCTION]
        contents = [read("openai", form).content for form in forms]
        assert contents[0] == contents[1] == contents[2]
        exported = across("openai", "openai", forms[1])
        assert exported.tool == forms[0]
        assert across("openai", "openai", forms[0], style="responses").tool == forms[1]

    def test_c32_what_is_left_out(self):
        """C32."""
        content = read("openai", {"name": "look"}).content
        assert (content.input_schema, content.description) == ({"type": "object", "properties": {}}, "")

    def test_the_flat_form_holds_an_output_schema_and_needs_strict(self):
        flat = {"type": "function", "name": "look", "parameters": SCHEMA, "output_schema": {"type": "string"}}
        assert across("openai", "openai", flat, style="responses").tool == {**flat, "description": "", "strict": False}
        assert lost(across("openai", "openai", flat)) == {"/output_schema": "no_slot"}

    def test_c47_the_strict_that_the_flat_form_asks_for_is_named(self, api):
        """C47: unless the tool says it itself."""
        alice, silent = api("alice"), {key: value for key, value in self.FUNCTION.items() if key != "strict"}
        imported(alice, self.FUNCTION, {**silent, "name": "mute"})
        told = {
            name: data_of(alice.get(f"{TOOLS}/srv__{name}?dialect=openai&style=responses")) for name in ("look", "mute")
        }
        assert [told[name]["tool"]["strict"] for name in told] == [True, False]
        assert told["look"]["losses"] == []
        [loss] = told["mute"]["losses"]
        assert (loss["path"], loss["reason"], loss["preserved"]) == ("/extras/openai/strict", "defaulted", False)

    def test_other_kinds_of_tools_are_refused(self):
        assert refused("openai", {"type": "web_search"}) == ("unsupported_tool_type", "/type")

    @pytest.mark.parametrize("dialect", ["openai", "anthropic"])
    def test_c46_names_that_are_too_long(self, dialect):
        with pytest.raises(ToolProblem) as caught:
            write(dialect, Stored("srv", "n" * 65, tool().content))
        assert caught.value.reason == "not_representable"
        exported = write(dialect, Stored("srv", "a.b", tool().content))
        assert lost(exported)["/name"] == "renamed"
        assert "a_b" in str(exported.tool)

    def test_an_unknown_style_is_refused(self):
        for dialect, style in (("openai", "flat"), ("mcp", "chat")):
            with pytest.raises(ToolProblem, match="style"):
                write(dialect, tool(), style=style)


class TestAnthropic:
    def test_c34_extras_come_back_at_home_only(self):
        sent = {**MINIMAL["anthropic"], "cache_control": {"type": "ephemeral"}, "input_examples": [{"city": "Rome"}]}
        assert across("anthropic", "anthropic", sent).tool == sent
        assert "cache_control" not in across("anthropic", "openai", sent).tool["function"]

    def test_c35_hosted_tools_are_refused(self, api):
        """C35."""
        hosted = {"type": "web_search_20250305", "name": "web_search"}
        assert refused("anthropic", hosted) == ("unsupported_tool_type", "/type")
        answer = api("alice").post(IMPORT, {"dialect": "anthropic", "server": "srv", "tool": hosted})
        assert (answer.status_code, answer.json()["details"]["reason"]) == (400, "unsupported_tool_type")

    def test_a_root_type_is_added_and_said_so(self):
        exported = write("anthropic", tool(input_schema={"properties": {}}))
        assert exported.tool["input_schema"] == {"type": "object", "properties": {}}
        assert lost(exported)["/input_schema"] == "defaulted"


class TestMcp:
    def test_c36_hints_are_annotations_and_absent_ones_unknown(self):
        sent = {**MINIMAL["mcp"], "annotations": {"readOnlyHint": False, "title": "Inner"}}
        assert read("mcp", sent).content.annotations == Annotations(title="Inner", read_only=False)
        assert read("mcp", {**sent, "title": "Outer"}).content.annotations.title == "Outer"
        assert read("mcp", MINIMAL["mcp"]).content.annotations == Annotations()

    @pytest.mark.parametrize(
        "more",
        [
            {"title": "Outer", "annotations": {"title": "Inner"}},
            {"title": "Same", "annotations": {"title": "Same"}},
            {"annotations": {"title": "Inner", "openWorldHint": None, "x": 1}},
            {"annotations": {}, "_meta": {}},
            {"annotations": None, "title": None, "outputSchema": None, "_meta": None},
            {"annotations": {"idempotentHint": False}},
            {"annotations": {"idempotentHint": True, "destructiveHint": True}},
            {"icons": [{"src": "a.png"}], "execution": {"taskSupport": "optional"}, "_meta": {"other/x": 1}},
            {"_meta": {"heddle/cache_mutating": False, "heddle/visible": False, "heddle/tags": ["a"], "o/x": 1}},
            {"_meta": {"heddle/visible": True}},
            {"outputSchema": {"type": "array", "items": {"type": "string"}}},
        ],
    )
    def test_c37_everything_comes_back(self, more):
        """C37 and C38."""
        sent = {**MINIMAL["mcp"], **more}
        assert across("mcp", "mcp", sent).tool == sent

    def test_c38_false_and_absent_are_not_idempotent(self):
        for hints in ({}, {"idempotentHint": False}):
            assert read("mcp", {**MINIMAL["mcp"], "annotations": hints}).content.idempotent is False

    def test_the_meta_of_heddle_travels_from_other_dialects(self):
        """C37."""
        hidden = {**MINIMAL["data_harness"], "visible": False, "annotations": {"cache_mutating": True}}
        exported = across("data_harness", "mcp", hidden)
        assert exported.tool["_meta"] == {"heddle/visible": False, "heddle/cache_mutating": True}
        found = read("mcp", exported.tool)
        assert found.unversioned == {"visible": False} and found.content.annotations.cache_mutating is True

    @pytest.mark.parametrize(
        ("schema", "value"),
        [
            (
                {"type": "array", "items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"type": "string"}}},
                {"type": "array", "items": {"$ref": "#/$defs/a"}},
            ),
            (
                {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"$ref": "#"}]}},
                {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"$ref": "#/properties/value"}]}},
            ),
            (
                {"type": "array", "prefixItems": [{}, {"$ref": "#/prefixItems/0"}], "default": {"$ref": "#"}},
                {"type": "array", "prefixItems": [{}, {"$ref": "#/properties/value/prefixItems/0"}],
                 "default": {"$ref": "#"}},
            ),
        ],
    )  # fmt: skip
    def test_an_output_that_is_no_object_is_wrapped_with_its_definitions(self, schema, value):
        """1.10: and what it refers to stays what it was."""
        exported = write("mcp", tool(output_schema=schema))
        assert lost(exported)["/output_schema"] == "wrapped"
        definitions = {key: schema[key] for key in ("$defs",) if key in schema}
        assert exported.tool["outputSchema"] == {
            "type": "object", "properties": {"value": value}, "required": ["value"], **definitions
        }  # fmt: skip

    @pytest.mark.parametrize(
        "schema",
        [
            {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}},
            {"anyOf": [{"type": "object"}, {"const": {"a": 1}}]},
            {"allOf": [{"type": ["object", "null"]}, {"enum": [{}, {"b": 1}]}]},
        ],
    )
    def test_an_output_that_can_only_be_an_object_says_so(self, schema):
        exported = write("mcp", tool(output_schema=schema))
        assert exported.tool["outputSchema"] == {"type": "object", **schema}
        assert lost(exported)["/output_schema"] == "defaulted"

    @pytest.mark.parametrize(
        ("schema", "data"),
        [
            ({"properties": {"id": {"type": "string"}}, "required": ["id"]}, [{"id": "a"}, 5, [1], None]),
            ({"type": ["object", "array"], "items": {"$ref": "#"}}, [{}, [], [{}, [[]]]]),
            ({"type": "array", "items": {"anyOf": [{"type": "integer"}, {"$ref": "#"}]}}, [[1, [2, []]]]),
            ({"type": ["string", "null"]}, ["a", None]),
            ({"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"b": {"$ref": "#/$defs/a"}}}}}, [{}, {"b": 1}, 5]),
            ({}, [{}, 1]),
            ({"type": "object", "maxProperties": 0}, [{}]),
        ],
    )
    def test_a_result_fits_the_schema_of_its_tool(self, schema, data):
        """1.10 and 2.3: what a client checks is what the result's own dialect writes."""
        exported = write("mcp", tool(output_schema=schema)).tool["outputSchema"]
        assert exported["type"] == "object"
        check_schema(exported, "", is_input=False)
        validator = jsonschema.Draft202012Validator(exported)
        for value in data:
            assert jsonschema.Draft202012Validator(schema).is_valid(value)
            assert validator.is_valid(result_dialects.write("mcp", results.ok(value))[0]["structuredContent"]), value
        if "object" not in schema.get("type", "object"):
            for wrong in ({"a": 1}, [[[""]]], 5, ["a"]):
                written = result_dialects.write("mcp", results.ok(wrong))[0]["structuredContent"]
                assert not validator.is_valid(written), wrong
