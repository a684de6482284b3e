"""Compliance over REST and as a command: the upstream checks, then Heddle's own (catalogue 3.9, C121 to C127)."""

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from catalogue import builtin, publishing, results
from catalogue.compliance import running
from catalogue.models import Call, DemoCount, ToolVersion
from catalogue.spec import ToolSpec
from tests.conftest import data_of, refusal_of

PATH = "/v1/catalogue/compliance"
GOOD = {
    "name": "look",
    "description": "Look.",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "where"}},
        "required": ["city"],
    },
    "output_schema": {"type": "object", "properties": {"found": {"type": "integer"}}, "required": ["found"]},
}


@pytest.fixture
def server(api):
    """`server(tool, description="…")` makes the server `srv` anew with these tools, and gives its name."""

    def made(*tools: dict[str, Any], dialect: str = "convilyn", description: str = "A server.") -> str:
        data_of(
            api("alice").post(
                "/v1/catalogue/tools/import",
                {
                    "dialect": "convilyn",
                    "manifest": {
                        "server": {"name": "srv", "version": "1.0.0", "description": description},
                        "tools": [],
                    },
                },
            )
        )
        if tools:
            body = {"dialect": dialect, "server": "srv", "tools": [*tools]}
            data_of(api("alice").post("/v1/catalogue/tools/import", body))
        return "srv"

    return made


@pytest.fixture
def report(api):
    """The report of a server by check name, in its order."""

    def run(name: str, **body: Any) -> dict[str, Any]:
        found = data_of(api("alice").post(PATH, {"server": name, **body}))
        assert found["all_passed"] == (not found["failed"])
        assert found["failed"] == [each["check_name"] for each in found["results"] if not each["passed"]]
        return {each["check_name"]: each for each in found["results"]}

    return run


def test_the_checks_have_their_names_and_their_order_C121(report, server):
    plain = {**GOOD, "name": "list_all", "input_schema": {"type": "object"}, "idempotent": True}
    found = list(report(server(GOOD, plain)))
    upstream = ["server_metadata", "tools_exist", "tool_schema:look", "tool_schema:list_all", "manifest_synth"]
    upstream += ["tool_invocation:look", "tool_invocation:list_all", "get_tool_data"]
    own = ["input_schema", "output_schema", "portable_name", "annotations", "result", "description"]
    assert found == upstream + [f"heddle:{check}:{tool}" for check in own for tool in ("look", "list_all")]
    assert list(report("srv", include=["upstream"])) == upstream
    assert list(report("srv", include=["heddle"])) == found[len(upstream) :]
    assert list(report("srv", include=[])) == []


def test_a_tool_without_description_or_type_fails_its_schema_C122(report, server):
    found = report(server({**GOOD, "description": ""}, {**GOOD, "name": "typeless", "input_schema": {}}))
    assert not found["tool_schema:look"]["passed"] and "description" in found["tool_schema:look"]["message"]
    assert not found["tool_schema:typeless"]["passed"]


def test_a_server_without_description_or_tools_fails_C123(report, server):
    found = report(server(description=""))
    assert not found["server_metadata"]["passed"] and "description" in found["server_metadata"]["message"]
    assert not found["tools_exist"]["passed"]
    assert found["manifest_synth"]["details"] == {"tools_count": 0}


def test_a_tool_with_required_parameters_is_skipped_C124(report, server):
    found = report(server(GOOD))["tool_invocation:look"]
    assert found["passed"] and "skipped" in found["message"] and found["details"] == {"required": ["city"]}


def test_the_report_loads_in_the_real_one_C125(api, server):
    types = pytest.importorskip("convilyn_author.types", reason="convilyn-author is not installed")
    server(GOOD, {**GOOD, "name": "mute", "description": ""})
    found = data_of(api("alice").post(PATH, {"server": "srv"}))
    real = types.ComplianceReport.model_validate({"results": found["results"]})
    assert real.all_passed is found["all_passed"] is False
    assert [each.check_name for each in real.failed] == found["failed"] == ["tool_schema:mute"]


def test_a_tool_that_workflows_of_convilyn_cannot_name_is_a_warning(report, server):
    """1.2: a hyphen is allowed in a server and not in a tool; the name is exported as it is."""
    found = report(server({**GOOD, "name": "a-b"}, {**GOOD, "name": "a.b_c"}), include=["heddle"])
    hyphen, plain = (found[f"heddle:portable_name:{name}"] for name in ("a-b", "a.b_c"))
    assert hyphen["passed"] and hyphen["details"]["warning"] is True
    assert "convilyn" in hyphen["message"] and "workflow references" in hyphen["message"]
    assert "warning" not in plain["details"]


def test_hints_that_contradict_each_other_fail_C126(report, server):
    def hinted(name: str, **hints: Any) -> dict[str, Any]:
        schema = {"type": "object"}
        return {"name": name, "description": "Do.", "inputSchema": schema, "annotations": hints}

    both = hinted("both", readOnlyHint=True, destructiveHint=True)
    twice = hinted("twice", destructiveHint=True, idempotentHint=True)
    found = report(server(both, twice, hinted("calm", readOnlyHint=True), dialect="mcp"))
    assert not found["heddle:annotations:both"]["passed"]
    assert found["heddle:annotations:twice"]["passed"] and found["heddle:annotations:twice"]["details"]["warning"]
    assert found["heddle:annotations:calm"] == {**found["heddle:annotations:calm"], "passed": True, "details": {}}


def test_only_what_does_no_harm_is_called_without_a_world_C127(report, api, who):
    found = report("demo")
    assert found["tool_invocation:counter"]["details"] == {"skipped": True}
    assert not DemoCount.objects.filter(name="counter").exists()
    called = set(Call.objects.values_list("tool", flat=True))
    assert called == {"hidden", "stash"} and Call.objects.filter(tool="hidden").count() == 2
    assert "returns ref_id + summary" in found["ref_id_pattern:stash"]["message"]
    assert "does not return" in found["ref_id_pattern:hidden"]["message"]
    assert found["tool_invocation:schema_only"]["details"] == {"skipped": True}


def test_a_key_that_is_spelled_wrong_calls_nothing(api, who):
    """`wrld_id` for `world_id` would call the tools themselves."""
    status, _, message = refusal_of(api("alice").post(PATH, {"server": "demo", "wrld_id": "wld_x"}))
    assert (status, message) == (400, "wrld_id: is not a known field")
    assert not Call.objects.exists()


def test_with_a_world_every_tool_is_called_there_C127(report, api, who):
    world = data_of(api("alice").post("/v1/catalogue/worlds", {"mode": "schema_only", "tools": ["demo__counter"]}))
    found = report("demo", world_id=world["world_id"])
    assert found["tool_invocation:counter"]["details"] == {}
    assert not DemoCount.objects.exists()
    assert "ref_id_pattern:counter" in found
    assert Call.objects.filter(world=None).count() == 0


def test_a_tool_that_the_world_lacks_is_skipped_and_not_called_C119_C127(report, api, who):
    """Nothing was invoked, so nothing was invoked successfully."""
    world = data_of(api("alice").post("/v1/catalogue/worlds", {"mode": "schema_only", "tools": ["demo__counter"]}))
    found = report("demo", world_id=world["world_id"])
    missing = found["tool_invocation:hidden"]
    assert missing["passed"] and missing["details"] == {"skipped": True}
    assert missing["message"] == "Tool 'hidden' skipped (is not in the world)"
    assert "ref_id_pattern:hidden" not in found
    assert set(Call.objects.values_list("tool", flat=True)) == {"counter"}


def test_what_a_tool_returned_is_judged_and_not_what_became_of_it_C121(report, db, who, monkeypatch):
    """A large object is replaced by a reference, and a tool elsewhere returns a whole result."""
    returned = {"large": {"rows": ["x" * 100] * 100}, "whole": results.ok({"ref_id": "td_1", "summary": "Two."})}
    for name, value in returned.items():
        spec = ToolSpec(name, "Odd.", {"type": "object"}, lambda *_, value=value: value, is_idempotent=True)
        monkeypatch.setitem(builtin.TOOLS, name, spec)
    publishing.after_migration()
    found = report("heddle")
    assert "does not return" in found["ref_id_pattern:large"]["message"]
    assert "returns ref_id + summary" in found["ref_id_pattern:whole"]["message"]


def test_a_tool_that_raises_fails_and_one_that_returns_a_failure_passes(report, db, who, monkeypatch):
    """Catalogue 3.9, T4: upstream's leniency, kept as it is."""

    def raising(arguments, context):
        raise RuntimeError("broken")

    for name, run in (("raises", raising), ("fails", lambda arguments, context: results.fail("NOT_FOUND", "no"))):
        monkeypatch.setitem(builtin.TOOLS, name, ToolSpec(name, "Odd.", {"type": "object"}, run, is_idempotent=True))
    publishing.after_migration()
    found = report("heddle")
    assert not found["tool_invocation:raises"]["passed"] and "broken" in found["tool_invocation:raises"]["message"]
    assert found["tool_invocation:fails"]["passed"]
    assert "ref_id_pattern:raises" not in found and "ref_id_pattern:fails" not in found


def test_own_checks_find_what_they_are_for(report, server):
    """Catalogue 3.9: names that a model cannot be told, parameters without words, schemas that are none."""
    bare = {**GOOD, "name": "look.around", "input_schema": {"type": "object", "properties": {"city": {}}}}
    found = report(server(bare, {**GOOD, "name": "x" * 70}))
    assert set(found["heddle:portable_name:look.around"]["details"]["dialects"]) == {"openai", "anthropic"}
    assert not found[f"heddle:portable_name:{'x' * 70}"]["passed"]
    words = found["heddle:description:look.around"]
    assert words["passed"] and words["details"] == {"warning": True, "parameters": ["city"]}
    ToolVersion.objects.filter(tool__name="look.around").update(
        input_schema={"type": "array"}, output_schema={"type": "string", "minLength": 3, "maxLength": 1}
    )
    found = report("srv", include=["heddle"])
    assert not found["heddle:input_schema:look.around"]["passed"]
    assert not found["heddle:result:look.around"]["passed"]


def test_a_run_that_somebody_waits_for_comes_to_an_end(report, api, server, monkeypatch):
    """Decision 012: the report is whole, and says what there was no time for; a pipeline has the time it takes."""
    monkeypatch.setattr(running.run, "__kwdefaults__", {"seconds": -1})
    found = report("demo")
    assert found["tool_invocation:hidden"]["details"] == {"skipped": True} and not Call.objects.exists()
    assert "out of time" in found["tool_invocation:hidden"]["message"]
    assert found["heddle:result:hidden"] == {
        **found["heddle:result:hidden"], "passed": True, "details": {"warning": True},
    }  # fmt: skip
    assert found["tool_invocation:echo"]["details"] == {"required": ["message"]}
    server(GOOD)
    assert "out of time" not in run_command("srv", "--org", "acme")[1]


def test_what_cannot_be_seen_is_not_checked(api, server):
    server(GOOD)
    assert refusal_of(api("eve").post(PATH, {"server": "srv"}))[0] == 404
    assert refusal_of(api("alice").post(PATH, {"server": "srv", "world_id": "wld_unknown"}))[0] == 404
    assert refusal_of(api("alice").post(PATH, {"server": "srv", "include": ["all"]}))[0] == 400


def run_command(*args: str) -> tuple[int, str]:
    out = io.StringIO()
    try:
        call_command("compliance", *args, stdout=out)
    except SystemExit as left:
        return int(left.code or 0), out.getvalue()
    except CommandError as problem:
        return problem.returncode, str(problem)
    return 0, out.getvalue()


def test_the_command_leaves_as_a_pipeline_needs_it(server, api):
    """Catalogue 3.9: 0 where all passed, 1 where a check failed, 2 where nothing could be checked."""
    server(GOOD)
    code, said = run_command("srv", "--org", "acme")
    assert code == 0 and "ok    tool_schema:look" in said and said.endswith("checks, 0 failed\n")
    server({**GOOD, "description": ""})
    code, said = run_command("srv", "--org", "acme", "--json")
    assert code == 1 and json.loads(said) == data_of(api("alice").post(PATH, {"server": "srv"}))
    assert run_command("srv", "--org", "globex") == (2, "There is no server srv that you can see.")
    assert run_command("srv")[0] == 2


def test_the_command_calls_in_a_world_and_nothing_real(api, db):
    """Catalogue 3.9, C127: in a world every tool without needed arguments is called, in nobody's name."""
    made = data_of(
        api("alice").post("/v1/catalogue/worlds", {"mode": "stateful", "seed": 1, "tools": ["demo__counter"]})
    )
    code, said = run_command("demo", "--org", "acme", "--world", made["world_id"])
    assert code in (0, 1) and "counter" in said
    assert not DemoCount.objects.exists()
    assert {call.world.world_id for call in Call.objects.all()} == {made["world_id"]}
    log = data_of(api("alice").get(f"/v1/catalogue/worlds/{made['world_id']}/calls"))["items"]
    assert "demo__counter" in {line["tool"] for line in log} and {line["created_by"] for line in log} == {None}
    code, said = run_command("demo", "--org", "acme", "--world", "wld_0")
    assert code == 2 and "no world wld_0" in said
    assert run_command("demo", "--org", "globex", "--world", made["world_id"])[0] == 2, "another org's world"
    data_of(api("alice").request("DELETE", f"/v1/catalogue/worlds/{made['world_id']}"))
    assert run_command("demo", "--org", "acme", "--world", made["world_id"])[0] == 2, "it is closed"
