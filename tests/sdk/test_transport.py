"""How the SDK reaches the server: endpoints, versions, environment, retries."""

import json
import os
import subprocess
import sys

import pytest
from roboto.ai import AgentThread
from roboto.ai.agent_thread.record import AgentThreadRecord

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
