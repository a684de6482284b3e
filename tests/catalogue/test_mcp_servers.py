"""Tools of MCP servers: servers nobody here wrote, and servers that behave badly (catalogue 1.10, 2.3, 3.1)."""

import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any

import anyio
import pytest
from pydantic import Field

from catalogue.elsewhere import mcp_servers, mcp_sessions
from catalogue.models import Tool, ToolServer
from catalogue.results import ToolResult
from core.errors import NoAnswer, TooSlow
from tests import elsewhere
from tests.conftest import data_of, refusal_of
from tests.receiver import Reply, receiving, silent_port

pytestmark = pytest.mark.pure  # wires and processes; how connections are stored is told in test_connect_tools.py
V1 = "/v1/catalogue"
CONNECTION = f"{V1}/servers/far/connection"
REFRESH = f"{V1}/servers/far/refresh"
if not mcp_servers.is_installed():
    pytest.skip("mcp 2 is not installed", allow_module_level=True)


@pytest.fixture(autouse=True)
def operator(settings):
    """What the operator has set: loopback may be reached, and the named commands exist."""

    def set_up(**commands: tuple[str, ...]) -> None:
        update = {
            "allow_private_targets": (ip_network("127.0.0.0/8"),),
            "allow_http_targets": True,
            "mcp_commands": commands,
        }
        settings.HEDDLE = settings.HEDDLE.model_copy(update=update)

    set_up()
    return set_up


@pytest.fixture
def connect(api):
    """Connect alice's server `far`."""

    def connected(url: str, **body: Any) -> Any:
        return data_of(api("alice").put(CONNECTION, {"kind": "mcp", "url": url, **body}))

    return connected


@pytest.fixture
def refresh(api):
    return lambda **body: data_of(api("alice").post(REFRESH, body))


@pytest.fixture
def call(api):
    def made(tool: str, arguments: Any = None, **body: Any) -> Any:
        return data_of(api("alice").post(f"{V1}/tools/far__{tool}/call", {"arguments": arguments or {}, **body}))

    return made


@pytest.fixture
def rude(connect):
    """A connected server that does what the test says; it lists the tool `act`."""
    with elsewhere.rude_mcp() as server:
        server.tools = [tool("act")]
        connect(server.url)
        yield server


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": "d", "inputSchema": {"type": "object"}, **more}


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def eventually(holds: Callable[[], bool], seconds: float = 8) -> None:
    """Wait until it holds."""
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.02)


def error_of(made: Any) -> Any:
    assert made["result"]["success"] is False
    return made["result"]["error"]


class TestRealServers:
    def test_a_published_server_over_stdio(self, api, who, operator, call):
        """The package mcp-server-time as the operator's command: connected, listed, imported, called, refused."""
        pytest.importorskip("mcp_server_time", reason="mcp-server-time is not installed")
        operator(time=(str(Path(sys.executable).with_name("mcp-server-time")), "--local-timezone", "UTC"))
        org = {"X-Roboto-Org-Id": who.acme.org_id}
        data_of(api("admin").put(CONNECTION, {"kind": "mcp", "command": "time"}, **org))
        drift = data_of(api("admin").post(REFRESH, {}, **org))
        assert drift["new"] == ["get_current_time", "convert_time"] and drift["refused"] == []
        shown = data_of(api("alice").get(CONNECTION))
        assert shown["server_info"]["name"] == "mcp-time" and shown["command"] == "time"
        record = data_of(api("alice").get(f"{V1}/tools/far__convert_time"))
        assert record["source_dialect"] == "mcp" and record["dispatchable"] and record["handler"] == {"kind": "mcp"}
        asked = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
        made = call("convert_time", asked)
        assert made["result"]["data"]["target"]["datetime"].endswith("T21:00:00+09:00")
        started = time.monotonic()
        assert call("convert_time", asked)["result"]["data"] == made["result"]["data"]
        assert time.monotonic() - started < 0.5, "it was not started again"
        assert error_of(call("convert_time", {**asked, "time": "noon"}))["code"] == "EXECUTION_ERROR"
        assert error_of(call("convert_time", {"time": "12:00"}))["code"] == "MISSING_REQUIRED"
        again = data_of(api("admin").post(REFRESH, {}, **org))
        assert (again["new"], again["changed"], again["unchanged_count"]) == ([], [], 2)

    def test_the_packages_own_server_over_streamable_http(self, connect, refresh, call):
        def add_tools(server: Any) -> None:
            @server.tool()
            def add(a: int, b: int = 1) -> dict[str, int]:
                return {"sum": a + b}

            @server.tool()
            def fail() -> str:
                raise ValueError("as it was asked to")

            @server.tool()
            def words() -> str:
                return "just words"

        with elsewhere.real_mcp(add_tools) as url:
            connect(url)
            assert refresh()["new"] == ["add", "fail", "words"]
            assert call("add", {"a": 2})["result"]["data"] == {"sum": 3}
            assert call("words")["result"]["data"] == {"result": "just words"}
            failed = error_of(call("fail"))
            assert failed["code"] == "EXECUTION_ERROR" and "fail" in failed["message"]
        gone = error_of(call("add", {"a": 2}))
        assert gone["details"]["reason"] == "no_answer" and "No connection" in gone["message"]

    def test_arguments_that_a_server_wants_in_headers_too_are_there(self, connect, refresh, call):
        """`x-mcp-header`: such a server refuses a call whose headers do not say what its body says."""

        def add_tools(server: Any) -> None:
            @server.tool()
            def book(
                region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})],
                seats: Annotated[int, Field(json_schema_extra={"x-mcp-header": "Seats"})] = 1,
                note: str = "",
            ) -> dict[str, Any]:
                return {"region": region, "seats": seats}

        with elsewhere.real_mcp(add_tools) as url:
            connect(url)
            assert refresh()["new"] == ["book"]
            for arguments in ({"region": "eu", "seats": 2}, {"region": "Österreich, West", "seats": 1, "note": "n"}):
                data = call("book", arguments)["result"]["data"]
                assert data == {name: arguments[name] for name in ("region", "seats")}


class TestKeptCommands:
    """A command is started once and asked often; nothing of it outlives its trouble, its org or its process."""

    @pytest.fixture
    def started(self, operator, api, who):
        """Two servers of acme and one of globex, all by one command; `started("far", "who")` calls a tool of one."""
        operator(own=elsewhere.COMMAND)
        for name, org in (("far", who.acme), ("other", who.acme), ("far", who.globex)):
            place, sent = f"{V1}/servers/{name}", {"X-Roboto-Org-Id": org.org_id}
            data_of(api("admin").put(f"{place}/connection", {"kind": "mcp", "command": "own"}, **sent))
            data_of(api("admin").post(f"{place}/refresh", {}, **sent))

        def asked(server: str, tool: str, person: str = "alice", **body: Any) -> Any:
            return data_of(api(person).post(f"{V1}/tools/{server}__{tool}/call", {"arguments": {}, **body}))["result"]

        yield asked
        mcp_sessions.end_all()

    @pytest.fixture
    def pid(self, started):
        return lambda server="far", person="alice": started(server, "who", person)["data"]["pid"]

    def test_the_same_process_answers_again(self, pid):
        assert len({pid() for _ in range(5)}) == 1

    def test_no_two_connections_share_a_process(self, pid):
        """Not even those of one org, let alone another org's."""
        assert len({pid(), pid("other"), pid("far", "eve")}) == 3

    def test_one_that_died_meanwhile_is_replaced_before_it_is_asked(self, pid):
        first = pid()
        os.kill(first, signal.SIGKILL)
        assert pid() != first

    def test_one_that_dies_over_a_call_fails_it_once_and_is_replaced(self, started, pid):
        first = pid()
        assert started("far", "die")["error"]["details"]["reason"] == "no_answer"
        assert pid() not in (first, None)

    def test_one_that_hangs_is_ended_and_replaced(self, started, pid):
        first = pid()
        assert started("far", "hang", timeout_ms=300)["error"]["code"] == "TIMEOUT"
        assert pid() != first
        eventually(lambda: not is_running(first))

    def test_one_that_hangs_gets_no_more_calls_though_nobody_has_noticed_yet(self, started, pid, monkeypatch):
        """The caller's time is over before the thread that waits for the command gets its turn."""
        first, punctual = pid(), anyio.fail_after
        monkeypatch.setattr(anyio, "fail_after", lambda seconds: punctual(seconds + 0.5))
        assert started("far", "hang", timeout_ms=300)["error"]["code"] == "TIMEOUT"
        assert pid() != first

    def test_a_refusal_ends_nothing(self, started, pid):
        first = pid()
        assert started("far", "refuse")["error"]["code"] == "INVALID_INPUT"
        assert pid() == first

    def test_one_that_nobody_asks_any_more_ends(self, pid, monkeypatch):
        monkeypatch.setattr(mcp_sessions, "IDLE_SECONDS", 0.3)
        first = pid()
        eventually(lambda: not is_running(first))
        assert pid() != first

    def test_an_old_one_is_replaced_so_that_a_new_version_is_noticed(self, pid, monkeypatch):
        first = pid()
        monkeypatch.setattr(mcp_sessions, "MAX_AGE_SECONDS", 0)
        assert pid() != first

    def test_no_more_are_kept_than_may_be(self, pid, monkeypatch):
        monkeypatch.setattr(mcp_sessions, "MAX_KEPT", 1)
        mcp_sessions.end_all()
        first = pid()
        second = pid("other")
        eventually(lambda: not is_running(first))
        assert is_running(second) and pid("other") == second

    def test_a_refresh_asks_what_is_installed_now(self, pid, api, who):
        first = pid()
        data_of(api("admin").post(REFRESH, {}, **{"X-Roboto-Org-Id": who.acme.org_id}))
        assert pid() != first

    def test_calls_at_once_share_it_and_do_not_wait_for_each_other(self):
        address = mcp_servers.Address(command=elsewhere.COMMAND, owner="x")

        def asked(tool: str) -> ToolResult:
            return mcp_servers.call_tool(address, tool, {}, 10, {})

        asked("who")
        started = time.monotonic()
        with ThreadPoolExecutor(8) as pool:
            pids = {result.data["pid"] for result in pool.map(asked, ["doze"] * 8)}
        assert len(pids) == 1 and time.monotonic() - started < 1.2, "eight naps of 0.2 seconds"
        mcp_sessions.end_all()

    def test_a_forked_process_has_commands_of_its_own(self, tmp_path):
        """Whoever forks keeps what it has; the child starts another, and what ends with the child is the child's."""
        asking = (
            "import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'\n"
            "import django; django.setup()\n"
            "from catalogue.elsewhere import mcp_servers\n"
            f"address = mcp_servers.Address(command={elsewhere.COMMAND!r}, owner='x')\n"
            "def told(): print(mcp_servers.call_tool(address, 'who', {}, 20, {}).data['pid'], flush=True)\n"
            "told()\n"
            "if os.fork() == 0:\n"
            "    told(); os._exit(0)\n"
            "os.wait(); told()"
        )
        env = {**os.environ, "HEDDLE_DATA_DIR": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", asking], capture_output=True, text=True, env=env, timeout=60)
        parents, childs, still = map(int, done.stdout.split())
        assert parents == still != childs
        eventually(lambda: not is_running(parents) and not is_running(childs))

    @pytest.mark.parametrize("end", ["pass", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"])
    def test_it_ends_with_the_process_that_asked(self, end, tmp_path):
        """A worker that leaves, or is killed, leaves no command behind."""
        asking = (
            "import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'\n"
            "import django; django.setup()\n"
            "from catalogue.elsewhere import mcp_servers\n"
            f"address = mcp_servers.Address(command={elsewhere.COMMAND!r}, owner='x')\n"
            "print(mcp_servers.call_tool(address, 'who', {}, 20, {}).data['pid'], flush=True)\n" + end
        )
        env = {**os.environ, "HEDDLE_DATA_DIR": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", asking], capture_output=True, text=True, env=env, timeout=60)
        pid = int(done.stdout)
        eventually(lambda: not is_running(pid))


class TestDrift:
    def test_new_changed_gone_and_returned_tools(self, rude, refresh, api, call):
        rude.tools = [tool("act"), tool("old"), tool("same")]
        assert refresh()["new"] == ["act", "old", "same"]
        rude.tools = [tool("act", description="other", annotations={"readOnlyHint": True}), tool("same"), tool("more")]
        told = refresh(dry_run=True)
        assert told["dry_run"] and data_of(api("alice").get(f"{V1}/tools/far__act"))["version"] == 1
        drift = refresh()
        assert {**drift, "dry_run": True} == told
        assert drift["changed"] == [{"name": "act", "fields": ["description", "annotations"]}]
        assert (drift["new"], drift["gone"], drift["unchanged_count"]) == (["more"], ["old"], 1)
        assert data_of(api("alice").get(f"{V1}/tools/far__act"))["version"] == 2
        old = data_of(api("alice").get(f"{V1}/tools/far__old"))
        assert old["deprecated"] and not old["dispatchable"]
        assert error_of(call("old"))["details"]["reason"] == "not_dispatchable"
        assert data_of(api("bob").get(CONNECTION))["drift"] == drift
        rude.tools.append(tool("old"))
        assert refresh()["returned"] == ["old"]
        back = data_of(api("alice").get(f"{V1}/tools/far__old"))
        assert not back["deprecated"] and back["deprecation_message"] is None and back["dispatchable"]

    @pytest.mark.parametrize("kind", ["client", "none"])
    def test_a_tool_that_a_person_took_off_stays_off(self, kind, rude, refresh, api):
        """Catalogue 3.5: without a handler is the way to block a tool."""
        refresh()
        data_of(api("alice").patch(f"{V1}/tools/far__act", {"handler": {"kind": kind}}))
        rude.tools = [tool("act", description="other")]
        assert refresh()["changed"] == [{"name": "act", "fields": ["description"]}]
        assert data_of(api("alice").get(f"{V1}/tools/far__act"))["handler"] == {"kind": kind}

    def test_tools_that_were_there_before_are_run_from_the_first_refresh_on(self, rude, refresh, api):
        body = {"dialect": "mcp", "server": "far", "tool": tool("act")}
        data_of(api("alice").post(f"{V1}/tools/import", body))
        assert refresh()["unchanged_count"] == 1
        assert data_of(api("alice").get(f"{V1}/tools/far__act"))["dispatchable"]

    def test_nothing_is_imported_half(self, rude, refresh, api):
        """A schema that is refused refuses all; `partial` takes the others and names it."""
        rude.tools = [tool("fine"), tool("bad", inputSchema={"type": "object", "$ref": "https://a.example/schema"})]
        response = api("alice").post(REFRESH, {})
        assert refusal_of(response)[0] == 400 and response.json()["details"]["errors"][0]["index"] == 1
        assert not Tool.objects.filter(server__name="far").exists()
        assert data_of(api("alice").get(CONNECTION))["drift"] is None
        drift = refresh(partial=True)
        assert drift["new"] == ["fine"] and [each["name"] for each in drift["refused"]] == ["bad"]
        assert drift["refused"][0]["reason"] == "invalid_schema"

    def test_a_list_that_came_from_another_address_is_not_taken(self, rude, api, monkeypatch):
        """The connection is changed while its server is asked."""
        ask = mcp_servers.list_tools

        def asked(*arguments: Any) -> mcp_servers.Listing:
            found = ask(*arguments)
            data_of(api("alice").put(CONNECTION, {"kind": "mcp", "url": "https://other.example.org/mcp"}))
            return found

        monkeypatch.setattr(mcp_servers, "list_tools", asked)
        assert refusal_of(api("alice").post(REFRESH, {}))[0] == 409
        assert not Tool.objects.filter(server__name="far").exists()

    def test_only_its_keepers_refresh_it(self, rude, api):
        assert api("bob").post(REFRESH, {}).status_code == 403
        assert api("eve").post(REFRESH, {}).status_code == 404


class TestBadServers:
    @pytest.mark.parametrize("count", [501, 10_000])
    def test_too_many_tools(self, count, rude, api):
        rude.tools = [tool(f"t{number}") for number in range(count)]
        response = api("alice").post(REFRESH, {})
        assert refusal_of(response)[0] == 400 and response.json()["details"]["reason"] == "too_many_tools"
        assert not Tool.objects.filter(server__name="far").exists()

    def test_a_tool_that_no_database_keeps_is_refused_and_the_others_are_taken(self, rude, refresh):
        rude.tools = [tool("act"), tool("nul", description="a\x00b"), tool("far", _meta={"heddle/tags": ["\x00"]})]
        drift = refresh(partial=True)
        assert drift["new"] == ["act"] and {each["name"] for each in drift["refused"]} == {"nul", "far"}

    @pytest.mark.parametrize(
        ("broken", "place"),
        [({"name": "bare"}, "tools.1.inputSchema"), ({**tool("counted"), "description": 5}, "tools.1.description")],
    )
    def test_a_tool_that_breaks_the_protocol_is_named(self, rude, api, broken, place):
        """It breaks the whole list: the package does not hand over the rest."""
        rude.tools = [tool("act"), broken, tool("more")]
        for partial in (False, True):
            said = refusal_of(api("alice").post(REFRESH, {"partial": partial}))[2]
            assert said.startswith(f"The server's response violates the protocol: {place}: ")
        assert not Tool.objects.filter(server__name="far").exists()

    def test_a_list_that_does_not_end(self, rude, api):
        rude.on_list = {"tools": [], "nextCursor": "again"}
        assert "does not end" in refusal_of(api("alice").post(REFRESH, {}))[2]

    def test_headers_are_sent_and_nobody_else_is_told(self, connect, refresh, api):
        with elsewhere.rude_mcp() as server:
            shown = connect(server.url, headers={"Authorization": "Bearer theirs"})
            refresh()
            assert {each["authorization"] for each in server.headers} == {"Bearer theirs"}
        assert shown["headers"] == {"Authorization": None} and shown["secret"] is None

    def test_a_result_that_is_an_error_and_an_error_that_is_none(self, rude, refresh, call):
        refresh()
        rude.answer = {"isError": True, "content": [{"type": "text", "text": "no seat left"}]}
        assert error_of(call("act"))["message"] == "no seat left"
        rude.answer = lambda http, asked: http.reply(500, b"oops", "text/plain")
        assert "status 500" in error_of(call("act"))["message"]
        rude.answer = lambda http, asked: http.reply(429, b"slowly", "text/plain")
        assert error_of(call("act"))["code"] == "RATE_LIMITED"
        rude.answer = lambda http, asked: http.reply(200, b"<html>", "text/html")
        assert error_of(call("act"))["code"] == "EXECUTION_ERROR"
        rude.answer = {"content": 7}
        assert error_of(call("act"))["details"]["reason"] == "protocol_error"

    @pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
    def test_a_result_with_a_number_that_json_has_not_is_an_error_and_no_null(self, rude, refresh, call, number):
        """As from a tool over HTTP."""
        refresh()
        rude.answer = {"content": [], "structuredContent": {"mean": [1.5, number]}}
        error = error_of(call("act"))
        assert error["code"] == "EXECUTION_ERROR" and error["details"] == {"reason": "not_a_result", "retryable": False}
        assert error["message"].endswith("is not a result: structuredContent.mean.1: is a number out of range")

    def test_one_that_never_answers_or_dies_is_an_error_and_leaves_no_thread(self, rude, refresh, call):
        refresh()
        before = threading.active_count()
        rude.answer = lambda http, asked: rude.over.wait(20)
        started = time.monotonic()
        assert error_of(call("act", timeout_ms=700))["code"] == "TIMEOUT"
        assert time.monotonic() - started < 4
        rude.answer = lambda http, asked: http.connection.close()
        assert error_of(call("act"))["details"]["reason"] == "no_answer"
        rude.over.set()
        eventually(lambda: threading.active_count() <= before)

    def test_one_that_floods(self, rude, refresh, call):
        """Notifications without end end with the time or with the limit of bytes, and so does an answer of 50 MB."""
        refresh()

        def flooding(size: int) -> Any:
            told = {
                "jsonrpc": "2.0",
                "method": "notifications/message",
                "params": {"level": "info", "data": "x" * size},
            }
            line = f"event: message\r\ndata: {json.dumps(told)}\r\n\r\n".encode()

            def flood(http: Any, asked: Any) -> None:
                http.send_response(200)
                http.send_header("Content-Type", "text/event-stream")
                http.end_headers()
                while not rude.over.is_set():
                    http.wfile.write(line)

            return flood

        rude.answer = flooding(1)
        assert error_of(call("act", timeout_ms=500))["code"] == "TIMEOUT"
        for answer in (flooding(500_000), {"content": [{"type": "text", "text": "x" * 50_000_000}]}):
            rude.answer = answer
            assert "more than 10 MiB" in error_of(call("act"))["message"]

    def test_one_that_compresses_what_was_not_to_be_compressed(self, rude, refresh, call):
        """A few kilobytes that come to a gigabyte stay a few kilobytes."""
        refresh()

        def packed(http: Any, asked: Any) -> None:
            said = {"jsonrpc": "2.0", "id": asked["id"], "result": {"content": []}}
            body = gzip.compress(json.dumps(said).encode() + b" " * 30_000_000)
            http.reply(200, body, **{"Content-Encoding": "gzip"})

        rude.answer = packed
        assert "compressed" in error_of(call("act"))["message"]

    def test_redirects_and_names_that_lead_into_private_networks(self, connect, api, settings):
        with receiving() as inside, receiving() as outside:
            outside.answers(Reply(307, b"", {"Location": inside.url}))
            connect(outside.url)
            assert refusal_of(api("alice").post(REFRESH, {}))[0] == 400
            assert inside.got == []
        with receiving() as private:
            connect(f"http://localhost:{private.port}/mcp")
            settings.HEDDLE = settings.HEDDLE.model_copy(update={"allow_private_targets": ()})
            status, _, message = refusal_of(api("alice").post(REFRESH, {}))
            assert status == 400 and "private address" in message and private.got == []

    def test_a_plain_address_is_not_asked_once_the_operator_allows_only_tls(self, rude, refresh, call, api, settings):
        """It was connected while that was allowed."""
        refresh()
        rude.headers.clear()
        settings.HEDDLE = settings.HEDDLE.model_copy(update={"allow_http_targets": False})
        status, _, message = refusal_of(api("alice").post(REFRESH, {}))
        assert status == 400 and "must begin with https://" in message
        assert "must begin with https://" in error_of(call("act"))["message"]
        assert rude.headers == []

    @pytest.mark.parametrize(
        ("command", "said"),
        [
            (("/nonexistent/server",), "could not be started: No such file or directory"),
            (("/",), "could not be started: Permission denied"),
            (("false",), "closed the connection"),
            (("sh", "-c", "read asked; kill -9 $$"), "closed the connection"),
            (("sh", "-c", "head -c 3000000 /dev/zero"), "closed the connection"),
        ],
    )
    def test_commands_that_are_no_servers(self, command, said):
        with pytest.raises(NoAnswer, match=said):
            mcp_servers.list_tools(mcp_servers.Address(command=command), 10)

    def test_a_command_that_says_nothing_is_ended(self, tmp_path):
        kept = tmp_path / "pid"
        silent = mcp_servers.Address(command=("sh", "-c", f"echo $$ > {kept}; exec sleep 60"))
        with pytest.raises(TooSlow):
            mcp_servers.list_tools(silent, 1)
        eventually(lambda: not is_running(int(kept.read_text())))

    def test_one_that_is_not_there_and_a_command_that_is_taken_away(self, connect, api, who, operator, call):
        connect(f"http://127.0.0.1:{silent_port()}/mcp")
        assert "No connection" in refusal_of(api("alice").post(REFRESH, {}))[2]
        operator(own=("false",))
        org = {"X-Roboto-Org-Id": who.acme.org_id}
        data_of(api("admin").put(CONNECTION, {"kind": "mcp", "command": "own"}, **org))
        Tool.objects.create(
            org=who.acme, server=ToolServer.objects.get(name="far"), name="x", qualified_name="far__x"
        ).versions.create(version=1, input_schema={}, annotations={}, source_dialect="mcp", spec_hash="x")
        data_of(api("admin").patch(f"{V1}/tools/far__x", {"handler": {"kind": "mcp"}}, **org))
        operator()
        assert "has not configured a command" in error_of(call("x"))["message"]
        assert refusal_of(api("admin").post(REFRESH, {}, **org))[0] == 400

    def test_without_the_package_a_sentence_says_how_to_get_it(self, rude, refresh, call, api, monkeypatch):
        refresh()
        monkeypatch.setitem(sys.modules, "mcp", None)
        response = api("alice").post(REFRESH, {})
        assert "make mcp" in refusal_of(response)[2] and response.json()["details"]["reason"] == "not_installed"
        assert error_of(call("act"))["message"] == mcp_servers.MISSING
