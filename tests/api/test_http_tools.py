"""Tools behind HTTP: what is sent, what an answer comes to, and what a receiver may do to us (catalogue 3.1 to 3.5)."""

import json
import socket
import threading
import time
from ipaddress import ip_network
from typing import Any

import pytest
from django.db import connection as database
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from standardwebhooks.webhooks import Webhook

from accounts.models import Org
from catalogue import offering
from catalogue.elsewhere import connections
from catalogue.models import Call, Tool, ToolConnection
from tests import hooks, make
from tests.conftest import data_of, refusal_of
from tests.receiver import Reply, receiving, silent_port
from threads.models import Block, Thread

V1 = "/v1/catalogue"
CONNECTION = f"{V1}/servers/srv/connection"
SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}


def said(value: Any, status: int = 200, **headers: str) -> Reply:
    return Reply(status, json.dumps(value).encode(), {"Content-Type": "application/json", **headers})


@pytest.fixture
def receiver(settings):
    update = {"allow_private_targets": (ip_network("127.0.0.0/8"),), "allow_http_targets": True}
    settings.HEDDLE = settings.HEDDLE.model_copy(update=update)
    with receiving() as server:
        server.answers(said({"found": 1}))
        yield server


@pytest.fixture
def tools(api):
    """alice's server `srv` with the tools `look`, which may be repeated, and `book`, which may not."""
    for name, idempotent in (("look", True), ("book", False)):
        tool = {"name": name, "description": "d", "input_schema": SCHEMA, "idempotent": idempotent}
        data_of(api("alice").post(f"{V1}/tools/import", {"dialect": "convilyn", "server": "srv", "tool": tool}))


@pytest.fixture
def connected(api, tools, receiver):
    """Connect `srv` to the receiver."""

    def connect(**body: Any) -> Any:
        return data_of(api("alice").put(CONNECTION, {"kind": "http", "url": receiver.url, **body}))

    return connect


@pytest.fixture
def call(api):
    def made(tool: str = "look", arguments: Any = None, **body: Any) -> Any:
        return data_of(
            api("alice").post(f"{V1}/tools/srv__{tool}/call", {"arguments": arguments or {"q": "x"}, **body})
        )

    return made


def error_of(made: Any) -> Any:
    assert made["result"]["success"] is False
    return made["result"]["error"]


class TestTheRequest:
    def test_it_is_signed_and_documented(self, connected, call, receiver, who):
        """The body of docs/tools-elsewhere.md, a signature that the reference library takes, an idempotency key."""
        secret = connected(headers={"Authorization": "Bearer theirs"})["secret"]
        made = call(tool_use_id="tu_1")
        assert made["result"]["data"] == {"found": 1} == made["model_view"]
        [got] = receiver.got
        assert got.method == "POST" and json.loads(got.body) == {
            "call_id": made["call_id"],
            "server": "srv",
            "tool": "look",
            "version": 1,
            "arguments": {"q": "x"},
            "context": {
                "org_id": who.acme.org_id,
                "thread_id": None,
                "tool_use_id": "tu_1",
                "analysis_scope": None,
            },
        }
        assert Webhook(secret).verify(got.body, got.headers)
        assert got.headers["idempotency-key"] == made["call_id"] == got.headers["webhook-id"]
        assert got.headers["authorization"] == "Bearer theirs"

    def test_the_call_is_on_record_like_any_other(self, connected, call, api):
        """C134"""
        connected()
        made = call()
        recorded = data_of(api("bob").get(f"{V1}/calls/{made['call_id']}"))
        assert recorded["result"]["data"] == {"found": 1} and recorded["arguments"] == {"q": "x"}

    def test_arguments_that_do_not_fit_are_not_sent(self, connected, call, receiver):
        """C59"""
        connected()
        assert error_of(call(arguments={"q": 1}))["code"] == "TYPE_ERROR"
        assert receiver.got == []

    def test_while_secrets_overlap_both_sign_and_an_old_one_ends(self, connected, call, receiver, api):
        first = connected()["secret"]
        rotated = data_of(api("alice").post(f"{CONNECTION}/rotate-secret", {}))
        assert rotated["secret"] != first and rotated["secret_overlap_until"]
        call()
        for secret in (first, rotated["secret"]):
            assert Webhook(secret).verify(receiver.got[0].body, receiver.got[0].headers)
        third = data_of(api("alice").post(f"{CONNECTION}/rotate-secret", {"overlap_hours": 0}))["secret"]
        call()
        assert len(receiver.got[1].headers["webhook-signature"].split()) == 1
        assert Webhook(third).verify(receiver.got[1].body, receiver.got[1].headers)

    @pytest.mark.django_db(transaction=True)
    def test_setting_a_connection_keeps_a_secret_that_is_rotated_meanwhile(self, connected, who, monkeypatch):
        connected()
        told = []

        def rotate():
            connection = connections.connection_for(who.acme.pk, "srv")
            told.append(connections.rotate(who.alice.actor, connection).secret)
            database.close()

        other = threading.Thread(target=rotate)
        kept = connections.kept_headers

        def meanwhile(*given):
            other.start()
            other.join(0.5)  # on PostgreSQL it would have come through by then, without the lock
            return kept(*given)

        monkeypatch.setattr(connections, "kept_headers", meanwhile)
        connected(timeout_ms=4000)
        other.join()
        row = ToolConnection.objects.get()
        assert told == [row.secrets_at(timezone.now())[0]] and row.timeout_ms == 4000

    def test_a_tool_may_lead_elsewhere_with_headers_of_its_own(self, connected, call, receiver, api):
        """And what was given for the server's address is not sent there."""
        connected(headers={"X-Key": "servers"})
        handler = {"kind": "http", "url": f"{receiver.url}/own", "headers": {"X-Own": "tools"}, "dialect": "canonical"}
        shown = data_of(api("alice").patch(f"{V1}/tools/srv__look", {"handler": handler}))["handler"]
        assert shown == {**handler, "headers": {"X-Own": None}}
        receiver.answers(said({"success": True, "data": {"a": 1}}))
        assert call()["result"]["data"] == {"a": 1}
        [got] = receiver.got
        assert got.path == "/hook/own" and got.headers["x-own"] == "tools" and "x-key" not in got.headers
        kept = {**handler, "headers": {"x-own": None}}
        assert data_of(api("alice").patch(f"{V1}/tools/srv__look", {"handler": kept}))["handler"]["headers"] == {
            "x-own": None
        }
        call()
        assert receiver.got[-1].headers["x-own"] == "tools"


class TestAnswers:
    @pytest.mark.parametrize(
        ("dialect", "value", "data"),
        [
            ("plain", {"success": False}, {"success": False}),
            ("plain", [1, 2], {"value": [1, 2]}),
            ("plain", None, {"value": None}),
            ("canonical", {"success": True, "data": {"a": 1}}, {"a": 1}),
            ("ctp", {"success": True, "a": 1}, {"a": 1}),
            ("convilyn", {"success": True, "data": {"a": 1}}, {"a": 1}),
            ("mcp", {"content": [], "structuredContent": {"a": 1}}, {"a": 1}),
        ],
    )
    def test_any_dialect_of_results(self, dialect, value, data, connected, call, receiver):
        connected(dialect=dialect)
        receiver.answers(said(value))
        assert call()["result"]["data"] == data

    def test_nothing_at_all_is_a_plain_nothing(self, connected, call, receiver):
        connected()
        receiver.answers(Reply(204, b""))
        assert call()["result"]["data"] == {"value": None}

    @pytest.mark.parametrize(
        ("status", "code", "http"),
        [
            (400, "INVALID_INPUT", 400),
            (401, "UNAUTHORIZED", 401),
            (403, "UNAUTHORIZED", 401),
            (404, "NOT_FOUND", 404),
            (418, "EXECUTION_ERROR", 500),
            (429, "RATE_LIMITED", 429),
            (500, "EXECUTION_ERROR", 500),
            (503, "EXECUTION_ERROR", 500),
            (504, "TIMEOUT", 504),
        ],
    )
    def test_statuses_are_codes(self, status, code, http, connected, call, receiver):
        connected()
        receiver.answers(said({"whatever": 1}, status))
        made = call()
        assert (error_of(made)["code"], made["http_status"]) == (code, http)
        assert error_of(made)["details"]["status"] == status

    def test_a_failure_told_by_status_and_body_is_the_bodys(self, connected, call, receiver):
        connected(dialect="ctp")
        receiver.answers(said({"success": False, "error": "no seat", "errorCode": "CONSTRAINT_VIOLATION"}, 409))
        assert error_of(call())["code"] == "CONSTRAINT_VIOLATION"

    def test_only_what_may_be_repeated_is_and_under_one_key(self, connected, call, receiver):
        """C76 to C79, and what `Retry-After` asks for."""
        connected()
        receiver.answers(said({}, 503), said({}, 429, **{"Retry-After": "0"}), said({"found": 2}))
        made = call(retry_policy={})
        assert made["result"]["data"] == {"found": 2} and len(made["attempts"]) == 3
        assert {got.headers["idempotency-key"] for got in receiver.got} == {made["call_id"]}
        receiver.answers(said({}, 503), said({"found": 2}))
        assert len(call("book", retry_policy={})["attempts"]) == 1


class TestBadReceivers:
    def test_one_that_never_answers_is_a_timeout_and_leaves_no_thread(self, connected, call, receiver):
        connected()
        receiver.answers(Reply(hangs=True))
        before, started = threading.active_count(), time.monotonic()
        made = call(timeout_ms=300)
        assert error_of(made)["code"] == "TIMEOUT" and time.monotonic() - started < 2
        receiver.over.set()
        deadline = time.monotonic() + 3
        while threading.active_count() > before and time.monotonic() < deadline:
            time.sleep(0.02)
        assert threading.active_count() <= before

    def test_its_own_limit_of_time_is_the_shorter_one(self, connected, call, receiver):
        connected(timeout_ms=200)
        receiver.answers(Reply(drips=True))
        error = error_of(call())
        assert error["code"] == "TIMEOUT" and error["details"] == {"timeout_ms": 200}

    @pytest.mark.parametrize(
        ("reply", "reason"),
        [
            (Reply(body=b"[" + b" " * (11 * 1024 * 1024) + b"]"), "too_large"),
            (Reply(302, b"", {"Location": "http://127.0.0.1:1/"}), "redirect"),
            (Reply(307, b"", {"Location": "http://169.254.169.254/latest/"}), "redirect"),
            (Reply(200, b"<html>Welcome</html>", {"Content-Type": "text/html"}), "not_a_result"),
            (Reply(200, b'{"a": ', {"Content-Type": "application/json"}), "not_a_result"),
            (Reply(200, b'{"a": NaN}', {"Content-Type": "application/json"}), "not_a_result"),
            (Reply(200, b"[" * 5000, {"Content-Type": "application/json"}), "not_a_result"),
        ],
    )
    def test_what_cannot_be_used_is_an_error_that_nobody_repeats(self, reply, reason, connected, call, receiver):
        connected()
        receiver.answers(reply)
        made = call(retry_policy={})
        assert error_of(made)["code"] == "EXECUTION_ERROR" and len(made["attempts"]) == 1
        assert error_of(made)["details"]["reason"] == reason and len(receiver.got) == 1

    def test_a_result_of_the_wrong_dialect(self, connected, call, receiver):
        connected(dialect="canonical")
        receiver.answers(said({"success": "yes"}))
        assert error_of(call())["details"]["reason"] == "not_a_result"

    def test_one_that_resets_the_line_or_is_not_there(self, connected, call, api):
        with socket.create_server(("127.0.0.1", 0)) as rude:
            closing = threading.Thread(target=lambda: rude.accept()[0].close())
            closing.start()
            connected(url=f"http://127.0.0.1:{rude.getsockname()[1]}/")
            assert error_of(call())["details"]["reason"] == "no_answer"
            closing.join()
        connected(url=f"http://127.0.0.1:{silent_port()}/")
        assert "No connection" in error_of(call())["message"]

    def test_a_name_that_leads_into_a_private_network(self, connected, call, receiver, settings, monkeypatch):
        """Found out when it is asked, and asked by nobody."""
        connected(url="http://tools.example.org/")
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", ("10.1.2.3", 80))])
        made = call(retry_policy={})
        assert error_of(made)["details"] == {"reason": "target_refused", "retryable": False}
        assert "private address" in error_of(made)["message"] and len(made["attempts"]) == 1


class TestConnections:
    def test_secrets_are_shown_once_and_header_values_never(self, connected, api, receiver):
        made = connected(headers={"X-Key": "very secret"})
        assert made["secret"].startswith("whsec_") and made["headers"] == {"X-Key": None}
        shown = api("bob").get(CONNECTION)
        assert data_of(shown).keys() == made.keys() - {"secret"}
        again = connected(headers={"X-Key": None}, timeout_ms=500)
        assert again["secret"] is None and again["timeout_ms"] == 500
        for answer in (shown.content.decode(), json.dumps(again), json.dumps(made)):
            assert "very secret" not in answer
        assert ToolConnection.objects.get().headers == {"X-Key": "very secret"}

    def test_a_stored_header_goes_to_no_other_address(self, connected, api):
        connected(headers={"X-Key": "very secret"})
        body = {"kind": "http", "url": "https://elsewhere.example.org/", "headers": {"X-Key": None}}
        status, _, message = refusal_of(api("alice").put(CONNECTION, body))
        assert status == 400 and message.startswith("headers.X-Key:")

    def test_tools_that_nobody_runs_are_attached_and_let_go(self, connected, api, call):
        blocked = data_of(api("alice").patch(f"{V1}/tools/srv__book", {"handler": {"kind": "client"}}))
        assert blocked["dispatchable"] is False
        connected()
        tools = {tool.name: (tool.handler, tool.is_dispatchable) for tool in Tool.objects.filter(server__name="srv")}
        assert tools == {"look": ({"kind": "http"}, True), "book": ({"kind": "client"}, False)}
        assert api("alice").request("DELETE", CONNECTION).status_code == 200
        assert error_of(call())["details"]["reason"] == "not_dispatchable"
        assert api("alice").get(CONNECTION).status_code == 404

    @pytest.mark.parametrize(
        ("body", "field"),
        [
            ({"kind": "http"}, "url"),
            ({"kind": "ftp", "url": "https://a.example/"}, "kind"),
            ({"kind": "http", "url": "http://127.0.0.1/"}, "url"),
            ({"kind": "http", "url": "https://10.0.0.1/"}, "url"),
            ({"kind": "http", "url": "https://a.example/", "dialect": "klingon"}, "dialect"),
            ({"kind": "http", "url": "https://a.example/", "timeout_ms": 0}, "timeout_ms"),
            ({"kind": "http", "url": "https://a.example/", "headers": {"Host": "b"}}, "headers"),
            ({"kind": "http", "url": "https://a.example/", "headers": {"webhook-id": "b"}}, "headers"),
            ({"kind": "http", "url": "https://a.example/", "headers": {"X": "a\r\nY: b"}}, "headers"),
            ({"kind": "http", "url": "https://a.example/", "headers": {"X": None}}, "headers"),
            ({"kind": "http", "url": "https://a.example/", "surprise": 1}, "surprise"),
            ({"kind": "mcp"}, "url"),
            ({"kind": "mcp", "url": "https://a.example/", "command": "time"}, "url"),
            ({"kind": "mcp", "command": "rm"}, "Only platform admins"),
        ],
    )
    def test_what_is_refused_names_the_field(self, body, field, api, tools):
        status, _, message = refusal_of(api("alice").put(CONNECTION, body))
        assert status in (400, 403) and message.startswith(field), message
        assert not ToolConnection.objects.exists()

    def test_who_may_say_where_calls_go(self, connected, api, who):
        """Who made it, the org's admins and platform admins: for a server and for a tool; everybody may look."""
        connected()
        body = {"kind": "http", "url": "https://a.example/"}
        handler = {"handler": {"kind": "none"}}
        assert api("bob").get(CONNECTION).status_code == 200
        assert api("bob").patch(f"{V1}/tools/srv__look", {"tags": ["a"]}).status_code == 200
        acts = [
            lambda client, **org: client.put(CONNECTION, body, **org),
            lambda client, **org: client.post(f"{CONNECTION}/rotate-secret", {}, **org),
            lambda client, **org: client.patch(f"{V1}/tools/srv__look", handler, **org),
        ]
        org = {"X-Roboto-Org-Id": who.acme.org_id}
        assert [act(api("bob")).status_code for act in acts] == [403, 403, 403]
        assert [act(api("admin"), **org).status_code for act in acts] == [200, 200, 200]
        hooks.make_org_admin(who.bob)
        assert [act(api("bob")).status_code for act in acts] == [200, 200, 200]
        assert api("bob").request("DELETE", CONNECTION).status_code == 200
        assert api("eve").get(CONNECTION).status_code == 404

    def test_a_tool_on_a_server_of_somebody_else_cannot_lead_elsewhere(self, api, who, connected, receiver):
        """Its requests are signed with the server's secret. Through the server's connection it may be called."""
        connected()
        tool = {"name": "mine", "description": "d", "input_schema": SCHEMA}
        data_of(api("bob").post(f"{V1}/tools/import", {"dialect": "openai", "server": "srv", "tool": tool}))
        for handler, status in (({"kind": "http", "url": f"{receiver.url}/x"}, 403), ({"kind": "http"}, 200)):
            answer = api("bob").patch(f"{V1}/tools/srv__mine", {"handler": handler})
            assert answer.status_code == status, handler
        elsewhere = {"handler": {"kind": "http", "url": f"{receiver.url}/x"}}
        assert api("alice").patch(f"{V1}/tools/srv__mine", elsewhere).status_code == 403, "the tool is bob's"

    def test_an_import_changes_who_runs_a_tool_for_its_keepers_alone(self, api, who, receiver):
        """C136: anybody may import a new version; where the tool's calls go stays, and the import says so."""
        tool = {"name": "client_pay", "description": "d", "input_schema": SCHEMA}
        body = {"dialect": "convilyn", "server": "srv", "tool": {**tool, "idempotent": False, "output_schema": None}}
        data_of(api("alice").post(f"{V1}/tools/import", body))
        data_of(api("alice").put(CONNECTION, {"kind": "http", "url": receiver.url}))

        def runs(client: Any, **more: Any) -> Any:
            body = {"dialect": "roboto", "server": "srv", "tool": {**tool, **more}}
            told = data_of(client.post(f"{V1}/tools/import", body))["items"][0]
            row = Tool.objects.get(name="client_pay")
            return (
                told["outcome"],
                any("the handler was not changed" in each for each in told["warnings"]),
                row.handler["kind"],
            )

        assert runs(api("bob"), description="e") == ("new_version", True, "http")
        assert Tool.objects.get(name="client_pay").is_dispatchable
        assert runs(api("bob"), description="e") == ("unchanged", True, "http")
        assert runs(api("alice"), description="e") == ("updated", False, "client")
        assert runs(api("bob"), description="f") == ("new_version", False, "client")
        data_of(api("alice").patch(f"{V1}/tools/srv__client_pay", {"handler": {"kind": "http"}}))
        hooks.make_org_admin(who.bob)
        assert runs(api("bob"), description="f") == ("updated", False, "client")

    def test_a_handler_needs_a_connection_and_builtin_servers_have_none(self, api, tools):
        path = f"{V1}/tools/srv__look"
        for kind in ("http", "mcp"):
            status, _, message = refusal_of(api("alice").patch(path, {"handler": {"kind": kind}}))
            assert status == 400 and "no connection" in message
        body = {"kind": "http", "url": "https://a.example/"}
        assert api("admin").put(f"{V1}/servers/heddle/connection", body).status_code in (400, 403)
        assert api("alice").put(f"{V1}/servers/heddle/connection", body).status_code == 403
        assert api("alice").put(f"{V1}/servers/No Server/connection", body).status_code == 404

    def test_another_connection_lets_the_tools_of_the_first_go(self, connected, api):
        connected()
        data_of(api("alice").put(CONNECTION, {"kind": "mcp", "url": "https://a.example/mcp"}))
        assert not Tool.objects.filter(server__name="srv", is_dispatchable=True).exists()
        assert refusal_of(api("alice").post(f"{CONNECTION}/rotate-secret", {}))[0] == 400


class TestFromAThread:
    """An org's connected tools are offered to its agents under their qualified names, and go the same way."""

    ASKED = '[[call srv__look {"q": "x"}]]'

    def test_the_thread_and_its_scope_are_told_and_the_call_is_on_record(self, connected, receiver, who):
        """C134, B17: signed like any other, with one id for request and record."""
        connected()
        scope = {"analysis_scope": {"dataset_ids": ["ds_1"]}}
        thread = make.thread(who.alice, self.ASKED, **scope)
        [got] = receiver.got
        sent = json.loads(got.body)
        assert sent["context"]["thread_id"] == thread.thread_id
        assert sent["context"]["analysis_scope"] == thread.analysis_scope
        row = Call.objects.get(thread_id=thread.thread_id)
        assert (row.server, row.tool, row.outcome, row.call_id) == ("srv", "look", "success", sent["call_id"])
        [result] = _results(thread)
        assert result.outcome == "success" and {"found": 1} in result.data.values()

    def test_a_hidden_tool_is_not_offered_and_runs_when_it_is_called(self, api, connected, receiver, who):
        """Catalogue 3.5."""
        connected()
        data_of(api("alice").request("PATCH", f"{V1}/tools/srv__look", {"visible": False}))
        assert _offered(who.acme) & {"srv__look", "srv__book"} == {"srv__book"}
        [result] = _results(make.thread(who.alice, self.ASKED))
        assert result.outcome == "success" and len(receiver.got) == 1

    def test_what_is_only_a_schema_is_offered_and_its_call_says_that_nothing_runs_it(self, api, tools, who):
        """Catalogue 3.5, C94: as visible as it says, and blocked by name when it is hidden."""
        assert _offered(who.acme) >= {"srv__look", "srv__book"}
        for visible in (True, False):
            data_of(api("alice").request("PATCH", f"{V1}/tools/srv__look", {"visible": visible}))
            assert ("srv__look" in _offered(who.acme)) is visible
            thread = make.thread(who.alice, self.ASKED)
            [result] = _results(thread)
            assert result.outcome == "error" and "has no handler" in json.dumps(result.data)
            recorded = Call.objects.get(thread_id=thread.thread_id).answer["result"]["error"]
            assert (recorded["code"], recorded["details"]) == ("NOT_FOUND", {"reason": "not_dispatchable"})

    def test_tools_that_run_are_offered_before_those_that_are_only_schemas(self, api, connected, who):
        connected()
        first = {"name": "a", "description": "d", "input_schema": SCHEMA}
        data_of(api("alice").post(f"{V1}/tools/import", {"dialect": "convilyn", "server": "first", "tool": first}))
        assert "first__a" in _offered(who.acme)
        names = [name for name in offering.specs(who.acme.pk) if "__" in name]
        assert names == ["srv__book", "srv__look", "first__a"]

    def test_a_clients_own_tool_is_its_clients_to_offer(self, api, who):
        """Catalogue 1.7: nothing else could answer its call."""
        tool = {"name": "client_look", "description": "d", "input_schema": SCHEMA}
        data_of(api("alice").post(f"{V1}/tools/import", {"dialect": "roboto", "tool": tool}))
        assert "client__client_look" not in _offered(who.acme)

    def test_another_orgs_tool_is_not_there(self, connected, receiver, who):
        """C52."""
        connected()
        [result] = _results(make.thread(who.eve, self.ASKED))
        assert result.outcome == "error" and "no tool srv__look" in json.dumps(result.data)
        assert receiver.got == []

    def test_what_belongs_to_everybody_runs_by_its_qualified_name(self, who):
        """Catalogue 3.5, 6.4."""
        asked = '[[call demo__echo {"message": "hi"}]] [[call heddle__calculate {"expression": "6*7"}]]'
        thread = make.thread(who.alice, asked)
        assert [result.outcome for result in _results(thread)] == ["success", "success"]
        assert [(row.server, row.tool) for row in Call.objects.filter(thread_id=thread.thread_id).order_by("pk")] == [
            ("demo", "echo"),
            ("heddle", "calculate"),
        ]

    def test_a_tool_has_one_name_in_a_thread_however_it_was_called(self, api, who):
        """Checks, searches and reruns go by that name: the offered one, else the qualified one."""
        for name, visible in (("look", True), ("book", False)):
            tool = {"name": name, "description": "d", "input_schema": SCHEMA}
            data_of(api("alice").post(f"{V1}/tools/import", {"dialect": "convilyn", "server": "my-srv", "tool": tool}))
            data_of(api("alice").request("PATCH", f"{V1}/tools/my-srv__{name}", {"visible": visible}))
        called = ("heddle__calculate", "my_srv__look", "my_srv__book", "heddle__nothing")
        asked = " ".join(f"[[call {name} {{}}]]" for name in called)
        blocks = Block.objects.filter(thread=make.thread(who.alice, asked)).order_by("id")
        for kind in ("tool_use", "tool_result"):
            names = [block.data["tool_name"] for block in blocks if block.kind == kind]
            assert sorted(names) == ["calculate", "heddle__nothing", "my-srv__book", "my-srv__look"]

    def test_a_tool_whose_name_is_anothers_form_for_models_is_not_run_in_its_place(self, api, who):
        """`srv__a.b` would be offered as `srv__a_b`, which exists."""
        for name in ("a.b", "a_b"):
            tool = {"name": name, "description": f"does {name}", "input_schema": SCHEMA}
            data_of(api("alice").post(f"{V1}/tools/import", {"dialect": "convilyn", "server": "srv", "tool": tool}))
        assert offering.specs(who.acme.pk)["srv__a_b"].description == "does a_b"
        thread = make.thread(who.alice, '[[call srv__a.b {"q": "x"}]] [[call srv__a_b {"q": "x"}]]')
        assert sorted(Call.objects.filter(thread_id=thread.thread_id).values_list("tool", flat=True)) == ["a.b", "a_b"]

    def test_more_tools_take_no_more_queries(self, api, connected, who):
        """A turn reads the connections of all servers at once."""

        def cost():
            with CaptureQueriesContext(database) as asked:
                make.thread(who.alice, "Hi")
            return sum('FROM "catalogue_' in query["sql"] for query in asked)

        connected()
        cost()
        few = cost()
        more = [{"name": f"t{number}", "description": "d", "input_schema": SCHEMA} for number in range(10)]
        for server in ("srv", "other"):
            data_of(api("alice").post(f"{V1}/tools/import", {"dialect": "convilyn", "server": server, "tools": more}))
        connected()
        data_of(api("alice").put(f"{V1}/servers/other/connection", {"kind": "mcp", "url": "https://a.example/mcp"}))
        Tool.objects.filter(server__name="other").update(handler={"kind": "mcp"}, is_dispatchable=True)
        assert cost() == few

    def test_arguments_that_do_not_fit_are_refused_at_once(self, connected, receiver, who):
        """C59"""
        connected()
        [result] = _results(make.thread(who.alice, "[[call srv__look {}]]"))
        assert result.outcome == "error" and receiver.got == []


def _offered(org: Org) -> set[str]:
    """What a model is told of in a thread of the org."""
    return set(offering.specs(org.pk))


def _results(thread: Thread) -> list[Block]:
    return list(Block.objects.filter(thread=thread, kind="tool_result").order_by("id"))
