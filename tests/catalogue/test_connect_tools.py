"""`manage.py connect_tools`: the routes of connections from the command line."""

import io
import json
from ipaddress import ip_network

import pytest
from django.core.management import CommandError, call_command

from catalogue.elsewhere import mcp_servers
from catalogue.models import Tool, ToolConnection
from tests import elsewhere


@pytest.fixture
def run(who, settings):
    update = {"allow_private_targets": (ip_network("127.0.0.0/8"),), "allow_http_targets": True}
    settings.HEDDLE = settings.HEDDLE.model_copy(update=update)

    def command(*options: str, owner: str = "alice@acme.test") -> str:
        told = io.StringIO()
        call_command("connect_tools", "far", "--org", "acme", "--owner", owner, *options, stdout=told)
        return told.getvalue()

    return command


def test_a_connection_over_http_tells_its_secret_once(run):
    arguments = ("--http", "https://tools.example.org/", "--header", "X-Key: a b", "--dialect", "ctp")
    assert "whsec_" in run(*arguments)
    assert "whsec_" not in run(*arguments)
    made = ToolConnection.objects.get()
    assert (made.headers, made.dialect, made.created_by.email) == ({"X-Key": "a b"}, "ctp", "alice@acme.test")


def test_an_mcp_server_is_connected_and_listed(run):
    if not mcp_servers.is_installed():
        pytest.skip("mcp 2 is not installed")
    with elsewhere.rude_mcp() as server:
        server.tools = [{"name": "act", "inputSchema": {"type": "object"}}]
        told = run("--mcp", server.url, "--refresh", "--dry-run")
        assert json.loads(told.partition("\n")[2])["new"] == ["act"]
        assert not Tool.objects.filter(server__name="far").exists()
        assert json.loads(run("--refresh"))["new"] == ["act"]
    assert Tool.objects.get(server__name="far").is_dispatchable


def test_a_connection_whose_server_does_not_answer_is_kept_and_can_be_taken_away(run, settings):
    """The operator is told which command it was and why, and what is there now."""
    if not mcp_servers.is_installed():
        pytest.skip("mcp 2 is not installed")
    commands = {"time": ("/nonexistent/secret-place", "--key", "hush")}
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"mcp_commands": commands})
    with pytest.raises(CommandError) as refused:
        run("--command", "time", "--refresh", owner="admin@heddle.test")
    first, kept = str(refused.value).split("\n")
    assert first == "The command time could not be started: No such file or directory."
    assert kept.startswith("far stays connected") and "--refresh" in kept and "--remove" in kept
    with pytest.raises(CommandError) as refused:
        run("--refresh", owner="admin@heddle.test")
    assert str(refused.value) == first
    assert "cannot run" in run("--remove", owner="admin@heddle.test")
    assert not ToolConnection.objects.exists()


@pytest.mark.parametrize(
    ("options", "owner", "said"),
    [
        ((), "alice@acme.test", "Give one of"),
        (("--http", "https://a.example/", "--mcp", "https://a.example/"), "alice@acme.test", "Give one of"),
        (("--http", "ftp://a.example/"), "alice@acme.test", "must begin with"),
        (("--command", "rm"), "alice@acme.test", "platform admins"),
        (("--command", "rm"), "admin@heddle.test", "has not configured a command"),
        (("--http", "https://a.example/"), "eve@globex.test", "not a member"),
        (("--refresh",), "alice@acme.test", "no server"),
        (("--remove",), "alice@acme.test", "no server"),
        (("--remove", "--refresh"), "alice@acme.test", "Give one of"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(options, owner, said, run):
    with pytest.raises(CommandError, match=said):
        run(*options, owner=owner)
    assert not ToolConnection.objects.exists()
