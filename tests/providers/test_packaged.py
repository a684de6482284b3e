"""The same against a packaged server that somebody else wrote: mock-ai-api, in a process of its own."""

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from decimal import Decimal

import pytest

from tests import make
from tests.api import shapes
from tests.conftest import data_of
from threads.models import Turn

GREETING = "Hello. It's nice to meet you."


@pytest.fixture(scope="module")
def ports() -> Iterator[dict[str, int]]:
    """Where it speaks each wire."""
    found = dict(zip(("openai", "anthropic"), _free_ports(2), strict=True))
    # Its two servers by themselves: the command around them ends them on an interrupt only, which may be ignored here.
    servers = [
        subprocess.Popen(
            [sys.executable, "-m", "uvicorn", f"app.{name}_app:app", "--host", "127.0.0.1", "--port", str(port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for name, port in found.items()
    ]
    try:
        for server, port in zip(servers, found.values(), strict=True):
            _wait_for(server, f"http://127.0.0.1:{port}/health")
        yield found
    finally:
        for server in servers:
            server.terminate()
        for server in servers:
            server.wait(20)


def _free_ports(number: int) -> list[int]:
    sockets = [socket.socket() for _ in range(number)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _wait_for(server: subprocess.Popen[bytes], address: str) -> None:
    until = time.monotonic() + 30
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            assert server.poll() is None, "mock-ai-api does not run"
            assert time.monotonic() < until, "mock-ai-api does not answer"
            time.sleep(0.05)


@pytest.fixture
def ask(api, who, ports, configure):
    """Start a thread that a scenario of the server answers; returns its record and its turn."""

    def start(provider, model, *, said="Good morning", options="", **body):
        wire = "anthropic" if provider == "anthropic" else "openai"
        base_url = f"http://127.0.0.1:{ports[wire]}" + ("/v1" if wire == "openai" else "")
        configure(f"mock={provider}:{model}?base_url={base_url}&retries=0{options}")
        started = data_of(api("alice").post("threads", {"messages": [make.say(said)], **body}))
        make.run_turns()
        record = data_of(api("alice").get(f"threads/{started['thread_id']}"))
        return record, Turn.objects.latest("id")

    return start


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "gpt-4.1:mock-text"),
        ("openai-chat", "gpt-4.1:mock-text"),
        ("openai-responses", "gpt-4.1:mock-text"),
        ("anthropic", "claude-sonnet-4-20250514:mock-anthropic-stream"),
    ],
)
def test_it_greets_over_every_wire(ask, provider, model):
    record, turn = ask(provider, model, options="&input_price=1&output_price=2")
    last = record["messages"][-1]
    assert (shapes.said(last), last["status"], record["status"]) == (GREETING, "completed", "user_turn")
    assert turn.input_tokens > 0
    assert turn.output_tokens > 0
    assert turn.cost == Decimal(turn.input_tokens + 2 * turn.output_tokens) / 1_000_000
    assert turn.model.startswith(model.partition(":")[0])


def test_a_stream_with_pauses_is_stored_in_pieces(ask):
    said = "Tell me of the warp and the weft. " * 5
    record, turn = ask("openai", "gpt-4.1:mock-delay", said=said)
    last = record["messages"][-1]
    assert len(last["content"]) > 3
    assert said.strip() in shapes.said(last)
    assert turn.first_text_at < turn.finished_at


@pytest.mark.parametrize(
    ("provider", "model"),
    [("openai", "gpt-4.1:mock-tool-stream"), ("anthropic", "claude-sonnet-4-20250514:mock-tool-stream")],
)
def test_its_streamed_call_becomes_a_tool_use(ask, provider, model):
    """It calls `Write`, which this thread's client answers."""
    record, _ = ask(provider, model, client_tools=[make.client_tool("Write")])
    [use] = shapes.blocks(record, "tool_use")
    assert (use["tool_name"], use["input"]["contents"]) == ("Write", "mock output")
    assert record["status"] == "client_tool_turn"


@pytest.mark.parametrize(
    ("provider", "model", "code"),
    [
        ("openai", "gpt-4.1:mock-400", "request_rejected"),
        ("openai", "gpt-4.1:mock-401", "not_authorised"),
        ("openai", "gpt-4.1:mock-429", "rate_limited"),
        ("openai", "gpt-4.1:mock-500", "provider_error"),
        ("openai", "gpt-4.1:mock-503", "provider_overloaded"),
        ("anthropic", "claude-sonnet-4-20250514:mock-401", "not_authorised"),
        ("anthropic", "claude-sonnet-4-20250514:mock-429", "rate_limited"),
        ("anthropic", "claude-sonnet-4-20250514:mock-500", "provider_error"),
        ("anthropic", "claude-sonnet-4-20250514:mock-503", "provider_overloaded"),
        ("anthropic", "claude-sonnet-4-20250514:mock-stream-error", "provider_error"),
    ],
)
def test_its_errors_become_error_blocks_with_a_code(ask, provider, model, code):
    record, turn = ask(provider, model)
    [error] = shapes.blocks(record, "error")
    assert (error["error_code"], record["messages"][-1]["status"], record["status"]) == (code, "failed", "user_turn")
    assert turn.error_code == code
