"""A provider on loopback that says what a test wrote down for it, in the words of OpenAI's or Anthropic's wire.

It is for what a well-behaved server never does: to be slow, silent, rude, or gone in the middle of a word.
"""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "loop-1"


@dataclass(frozen=True)
class Call:
    """A tool call; its arguments come in two pieces."""

    name: str
    arguments: str = "{}"
    id: str = "call_1"


@dataclass(frozen=True)
class Wait:
    """Nothing is said for that long, or until something has happened, or the test is over."""

    seconds: float
    until: threading.Event | None = None


@dataclass(frozen=True)
class Refusal:
    """The model declines, with its reason."""

    reason: str = "I cannot help with that."


class Gone:
    """The connection breaks."""


@dataclass(frozen=True)
class Reply:
    """What one request is answered with. `finish` is None for a stream that ends without saying so."""

    steps: tuple[str | Call | Wait | Refusal | type[Gone], ...] = ()
    finish: str | None = "stop"
    usage: tuple[int, int] | None = (100, 20)
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    error: dict[str, Any] | None = None


def says(*steps: Any, **settings: Any) -> Reply:
    """A streamed answer."""
    return Reply(steps, **settings)


def fails(status: int, kind: str, message: str = "No.", code: str | None = None, **headers: str) -> Reply:
    """An answer that is an error, as both providers write one."""
    error = {"type": "error", "error": {"type": kind, "message": message, "code": code}}
    return Reply(status=status, headers={name.replace("_", "-"): value for name, value in headers.items()}, error=error)


@dataclass
class Asked:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class Provider(ThreadingHTTPServer):
    """The server: `replies` are given one after the other, `asked` are the requests so far."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.begin()

    def begin(self) -> None:
        """Forget everything, as for a new test."""
        self.replies: list[Reply] = []
        self.asked: list[Asked] = []
        self.over = threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def will(self, *replies: Reply) -> None:
        self.replies += replies

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader that leaves is part of the game."""


@contextmanager
def serving() -> Iterator[Provider]:
    """A running server."""
    server = Provider()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Provider

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(Asked(self.path, {name.lower(): value for name, value in self.headers.items()}, body))
        reply = self.server.replies.pop(0) if self.server.replies else fails(418, "teapot", "nothing was prepared")
        if reply.error is not None:
            said = json.dumps(reply.error).encode()
            headers = {"Content-Type": "application/json", "Content-Length": str(len(said)), **reply.headers}
            self._head(reply.status, headers)
            self.wfile.write(said)
            return
        self._head(200, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"})
        speak = _anthropic if self.path.endswith("/messages") else _chat
        for piece in speak(reply):
            if piece is Gone:
                self.close_connection = True
                self.connection.close()
                return
            if isinstance(piece, Wait):
                (piece.until or self.server.over).wait(piece.seconds)
                continue
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


def _chat(reply: Reply) -> Iterator[Any]:
    """Chat Completions: chunks, the usage in a chunk of its own behind the last, and the word DONE."""

    def chunk(delta: dict[str, Any] | None, finish: str | None = None, **more: Any) -> bytes:
        choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
        data = {"id": "c1", "object": "chat.completion.chunk", "created": int(time.time()), "model": MODEL}
        return f"data: {json.dumps({**data, 'choices': choices, **more})}\n\n".encode()

    yield chunk({"role": "assistant", "content": ""})
    calls = 0
    for step in reply.steps:
        if isinstance(step, str):
            yield chunk({"content": step})
        elif isinstance(step, Call):
            half = len(step.arguments) // 2
            function = {"name": step.name, "arguments": ""}
            yield chunk({"tool_calls": [{"index": calls, "id": step.id, "type": "function", "function": function}]})
            for part in (step.arguments[:half], step.arguments[half:]):
                yield chunk({"tool_calls": [{"index": calls, "function": {"arguments": part}}]})
            calls += 1
        elif isinstance(step, Refusal):
            yield chunk({"refusal": step.reason})
        else:
            yield step
    if reply.finish is None:
        return
    yield chunk({}, "tool_calls" if calls and reply.finish == "stop" else reply.finish)
    if reply.usage:
        prompt, completion = reply.usage
        yield chunk(
            None, usage={"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": sum(reply.usage)}
        )
    yield b"data: [DONE]\n\n"


_STOP_REASONS = {"stop": "end_turn", "length": "max_tokens"}


def _anthropic(reply: Reply) -> Iterator[Any]:
    """Messages: every block begins and ends by name, the stop reason comes with the last usage."""

    def event(name: str, **data: Any) -> bytes:
        return f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode()

    def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> Iterator[bytes]:
        yield event("content_block_start", index=index, content_block=start)
        for delta in deltas:
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)

    tokens_in, tokens_out = reply.usage or (0, 0)
    usage = {"input_tokens": tokens_in, "output_tokens": 1}
    message = {"id": "m1", "type": "message", "role": "assistant", "model": MODEL, "content": [], "stop_reason": None}
    yield event("message_start", message={**message, "stop_sequence": None, "usage": usage})
    reason = _STOP_REASONS.get(reply.finish or "", reply.finish)
    for index, step in enumerate(reply.steps):
        if isinstance(step, str):
            yield from block(index, {"type": "text", "text": ""}, {"type": "text_delta", "text": step})
        elif isinstance(step, Call):
            half = len(step.arguments) // 2
            halves = (step.arguments[:half], step.arguments[half:])
            start = {"type": "tool_use", "id": step.id, "name": step.name, "input": {}}
            yield from block(index, start, *({"type": "input_json_delta", "partial_json": part} for part in halves))
            reason = "tool_use" if reason == "end_turn" else reason
        elif isinstance(step, Refusal):
            reason = "refusal"
        else:
            yield step
    if reply.finish is None:
        return
    yield event(
        "message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage={"output_tokens": tokens_out}
    )
    yield event("message_stop")
