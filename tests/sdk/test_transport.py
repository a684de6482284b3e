"""How the SDK reaches the server: endpoints, versions, environment, retries."""

import contextlib
import http.client
import json
import os
import select
import socket
import subprocess
import sys
import time

import pytest
from roboto.ai import AgentThread
from roboto.ai.agent_thread.record import AgentThreadRecord
from roboto.exceptions import RobotoInvalidRequestException

from tests import live
from tests.sdk.callers import Caller, held, roles, run

pytestmark = pytest.mark.live

_OTHER_PROCESS = """
import json, sys
from roboto.ai import AgentThread
thread = AgentThread.start("From the environment.", org_id=sys.argv[1] or None).run(tick=0.05, timeout=20)
print(json.dumps([thread.thread_id, [message.role.value for message in thread.messages]]))
"""


def test_an_endpoint_may_end_in_a_slash(alice: Caller) -> None:
    """1.2, B170: the SDK then asks for //v1/..., and a redirect would turn its POST into a GET."""
    thread = AgentThread.start("With a slash.", roboto_client=alice.client_at(f"{alice.server.url}/"))
    run(thread)
    run(thread.send_text("Again."))
    assert roles(thread) == ["user", "assistant"] * 2
    assert held(thread) == held(alice.thread(thread))


def test_the_default_client_of_a_process_takes_everything_from_its_environment(alice: Caller) -> None:
    """1.1, B8: with the requester header that only this client sends, with and without an org."""
    env = {**os.environ, "ROBOTO_API_KEY": alice.server.token("alice"), "ROBOTO_SERVICE_ENDPOINT": alice.server.url}
    command = [sys.executable, "-W", "ignore", "-c", _OTHER_PROCESS, alice.server.who["orgs"]["acme"]]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    thread_id, found = json.loads(done.stdout)
    assert found == ["user", "assistant"]
    assert roles(alice.thread(thread_id)) == found


@pytest.mark.parametrize(
    "version", ["2025-01-01", "2026-05-20", "2026-09-30", "2026-10-06", "2099-01-01", "what?", None]
)
def test_every_api_version_gets_what_its_clients_can_read(alice: Caller, version: str | None) -> None:
    """1.6: older clients know a thread as a session and have no block for what the user looks at."""
    headers = {"X_Roboto_Api_Version": version} if version else {}
    said = {"messages": [{"role": "user", "content": [{"text": "Look."}]}], "client_context": {"dataset_ids": ["ds_1"]}}
    roots = ["threads", "chats"] if version == "2025-01-01" else ["threads"]
    for root in roots:
        status, content = alice.post(root, said, **headers)
        assert status == 200
        record = content["data"]
        key = "session_id" if version == "2025-01-01" else "thread_id"
        assert {"session_id", "thread_id"} & set(record) == {key}
        again = alice.get(f"{root}/{record[key]}", **headers)
        kinds = [block["content_type"] for block in again["messages"][0]["content"]]
        is_old = version in ("2025-01-01", "2026-05-20")
        assert kinds == (["text"] if is_old else ["text", "client_context"])
        assert AgentThreadRecord.model_validate(again).thread_id == record[key]


def test_a_refusal_is_an_envelope_with_code_and_message_only(alice: Caller) -> None:
    """B167 to B169: unknown addresses and methods, bodies that are no JSON, a host that is not ours."""
    url, token = alice.server.url, alice.server.token("alice")
    asked = [
        (f"{url}/v1/nothing/here", None, "GET", {}, 404),
        (f"{url}/v1/ai/threads/", None, "GET", {}, 404),
        (f"{url}/v1/ai/threads", None, "DELETE", {}, 405),
        (f"{url}/v1/ai/threads", b"{", "POST", {}, 400),
        (f"{url}/v1/ai/threads", b"[1]", "POST", {}, 400),
        (f"{url}/v1/ai/threads", b"\xff\xfe", "POST", {}, 400),
        (f"{url}/v1/ai/threads", b'{"goals": [1]}', "POST", {}, 400),
        (f"{url}/v1/ai/threads", None, "GET", {"Host": "elsewhere.example"}, 400),
    ]
    for address, body, method, headers, expected in asked:
        status, content = live.fetch(address, token, body, method, **headers)
        assert status == expected, (address, method, content)
        assert set(content) <= {"error", "details"}
        assert set(content["error"]) == {"error_code", "message"}
        assert content["error"]["message"]


# Bodies


def in_chunks(server: live.Served, method: str, path: str, body: bytes, **headers: str) -> tuple[int, str]:
    """A body that goes out without a length, as clients send what they do not hold in one piece."""
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    pieces = (body[at : at + 65536] for at in range(0, len(body), 65536))
    line.request(method, path, pieces, headers, encode_chunked=True)
    answer = line.getresponse()
    told = answer.status, answer.read().decode()
    line.close()
    return told


@pytest.mark.parametrize("size", [0, 2_000_000])
def test_a_body_in_chunks_is_refused_and_never_taken_for_an_empty_one(admin: Caller, size: int) -> None:
    """Django reads as many bytes as Content-Length says, and an update without a body would change nothing."""
    sent = {"url": "https://example.org/", "events": ["feedback.submitted"]}
    headers = {"Authorization": f"Bearer {admin.server.token('admin')}", "Content-Type": "application/json"}
    status, made = live.fetch(f"{admin.server.url}/v1/webhooks", admin.server.token("admin"), sent)
    assert status == 200
    path = f"/v1/webhooks/{made['data']['webhook_id']}/rotate-secret"
    for method, to in (("POST", path), ("PUT", "/v1/ai/admin/feedback/fb_x"), ("POST", "/v1/ai/threads")):
        headers["Transfer-Encoding"] = "chunked"
        status, told = in_chunks(admin.server, method, to, b'{"overlap_hours": 0}' + b" " * size, **headers)
        assert status == 400, told
        reason = "must be sent with its length (Content-Length), not in chunks"
        assert json.loads(told) == {
            "error": {"error_code": "RobotoInvalidRequestException", "message": f"body: {reason}"},
            "details": [{"field": "body", "reason": reason}],
        }


def test_a_form_in_chunks_is_refused_by_a_page(admin: Caller) -> None:
    status, told = in_chunks(
        admin.server,
        "POST",
        "/signin/",
        b"username=x&password=y",
        **{"Content-Type": "application/x-www-form-urlencoded", "Transfer-Encoding": "chunked"},
    )
    assert status == 400
    assert "<html" in told and "with its length" in told


def test_a_text_that_is_too_large_is_an_invalid_request_at_once(alice: Caller) -> None:
    """An answer before the body was taken would be a broken pipe for the SDK, which sends it ten times."""
    thread = alice.talk("Hi")
    began = time.monotonic()
    with pytest.raises(RobotoInvalidRequestException, match="16 MiB"):
        thread.send_text("x" * 17_000_000)
    assert time.monotonic() - began < 10


def test_whoever_is_refused_before_their_body_is_read_hears_why(alice: Caller) -> None:
    """No token, nothing there, a body that nobody asked for: none of them reads what was sent."""
    large = json.dumps({"message": "x" * 5_000_000}).encode()
    for path, token, expected in (
        ("threads", "wrong", 401),
        ("nothing/here", alice.server.token("alice"), 404),
        ("threads", alice.server.token("alice"), 405),
    ):
        method = "PUT" if expected == 405 else "POST"
        status, content = live.fetch(f"{alice.server.url}/v1/ai/{path}", token, large, method)
        assert status == expected and content["error"]["message"]


def test_few_threads_wait_for_strangers_who_never_send_what_they_announced(alice: Caller) -> None:
    """Taking a body that nobody reads is a courtesy: it must not take the server's threads away from everybody else."""
    head = (
        f"POST /v1/ai/threads HTTP/1.1\r\nHost: 127.0.0.1:{alice.server.port}\r\n"
        "Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{"
    )
    with contextlib.ExitStack() as stack:
        lines = [stack.enter_context(socket.create_connection(("127.0.0.1", alice.server.port))) for _ in range(20)]
        for line in lines:
            line.sendall(head.encode())
        told, waiting, ends_at = 0, lines, time.monotonic() + 20
        while told < 12 and (heard := select.select(waiting, [], [], max(0, ends_at - time.monotonic()))[0]):
            told += sum(line.recv(12) == b"HTTP/1.1 401" for line in heard)
            waiting = [line for line in waiting if line not in heard]
        assert told >= 12
