"""`manage.py import_tools`: the route's rules from the command line (C2, C6, C7, C15, C18, C33)."""

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from catalogue.models import Tool
from tests.catalogue.speaking import MINIMAL
from tests.conftest import ROOT


@pytest.fixture
def run(who, tmp_path):
    """Import a value, written to a file; gives the last line of what is told, and what is told of troubles."""

    def command(value: object, *options: str, dialect: str = "openai", org: str = "acme") -> tuple[str, str]:
        path = tmp_path / "tools"
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        told, troubles = io.StringIO(), io.StringIO()
        arguments = [str(path), "--dialect", dialect, "--org", org, *options]
        code = 0
        try:
            call_command("import_tools", *arguments, stdout=told, stderr=troubles)
        except SystemExit as end:
            code = end.code
        assert code == int(not told.getvalue().strip().endswith("0 failed"))
        return told.getvalue().strip(), troubles.getvalue()

    return command


def own() -> set[str]:
    return set(Tool.objects.exclude(org=None).values_list("qualified_name", flat=True))


def test_a_list_a_tool_a_manifest_and_a_function(run):
    owner = ("--server", "srv", "--owner", "alice@acme.test")
    assert run([MINIMAL["openai"]], *owner)[0].startswith("1 created, 0 new_version")
    assert run(MINIMAL["openai"], *owner)[0].split(", ")[3] == "1 unchanged"
    run("def see(x: int): ...", *owner, dialect="python")
    server = {"name": "made", "version": "1", "description": "d"}
    run({"server": server, "tools": [MINIMAL["convilyn"]]}, dialect="convilyn")
    assert own() == {"srv__look", "srv__see", "made__look"}
    assert Tool.objects.get(qualified_name="srv__look").created_by.email == "alice@acme.test"
    assert Tool.objects.get(qualified_name="made__look").created_by is None


def test_c6_a_dry_run(run):
    """C6."""
    assert run([MINIMAL["openai"]], "--server", "srv", "--dry-run")[0].startswith("1 created")
    assert own() == set()


def test_c7_bad_tools_are_named_and_the_exit_code_is_one(run, capsys):
    """C7."""
    good_and_bad = [MINIMAL["openai"], {"name": "x", "parameters": {"type": "array"}}]
    with pytest.raises(CommandError, match="1 of 2 tools is invalid"):
        run(good_and_bad, "--server", "srv")
    assert own() == set()
    told, troubles = run(good_and_bad, "--server", "srv", "--partial")
    assert told.endswith("1 failed") and "srv__x: failed: /input_schema/type: must be object" in troubles
    assert own() == {"srv__look"}
    lossy = {**MINIMAL["anthropic"], "name": "lossy", "strict": True}
    assert "srv__lossy: /strict: no_slot" in run(lossy, "--server", "srv", dialect="anthropic")[1]


@pytest.mark.parametrize(
    ("value", "options", "said"),
    [
        ("{", (), "not valid JSON"),
        ("[" * 5000, (), "nested"),
        ("[]", ("--org", "nowhere"), "no org nowhere"),
        ("[]", ("--owner", "eve@globex.test"), "no member of acme"),
        ("[]", ("--owner", "nobody@acme.test"), "no active user"),
        ("7", (), "tool: must be"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(value, options, said, run):
    with pytest.raises(CommandError, match=said):
        run(value, "--server", "srv", *options)


def test_a_file_that_is_not_there_and_an_org_that_is_not_named(who, tmp_path):
    with pytest.raises(CommandError, match="No such file"):
        call_command("import_tools", str(tmp_path / "none"), "--dialect", "openai", "--org", "acme")
    with pytest.raises(CommandError, match="--org"):
        call_command("import_tools", str(tmp_path / "none"), "--dialect", "openai")


def import_real_tools(domain: str) -> list[dict[str, Any]]:
    """The tools of τ-bench, where they lie beside the checkout, imported without a word of trouble."""
    path = ROOT.parent / f"shared/data/tau-bench/tools-{domain}.json"
    if not path.exists():
        pytest.skip("no τ-bench data beside the checkout")
    troubles = io.StringIO()
    options = ["--dialect", "openai", "--server", domain, "--org", "acme", "--owner", "alice@acme.test"]
    call_command("import_tools", str(path), *options, stdout=io.StringIO(), stderr=troubles)
    assert troubles.getvalue() == ""
    return json.loads(path.read_text())


@pytest.mark.parametrize("domain", ["retail", "airline"])
def test_c33_real_tools(domain, who, api):
    """C33."""
    tools = import_real_tools(domain)
    listed = api("alice").get(f"/v1/catalogue/tools?server={domain}&dialect=openai&naming=bare&limit=200").json()
    by_name = sorted(tools, key=lambda tool: tool["function"]["name"])
    assert listed["data"]["items"] == by_name


def test_c15_one_real_name_on_two_servers(who, api):
    """C15."""
    domains = ("retail", "airline")
    real = {domain: {each["function"]["name"]: each for each in import_real_tools(domain)} for domain in domains}
    for name in ("think", "get_user_details"):
        exported = []
        for domain in domains:
            answer = api("alice").get(f"/v1/catalogue/tools/{domain}__{name}?dialect=openai").json()
            assert answer["data"]["tool"] == real[domain][name]
            exported.append(answer["data"]["tool"])
        assert exported[0] != exported[1]
