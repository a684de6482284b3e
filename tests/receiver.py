"""A server on loopback that receives webhooks and answers as a test tells it to: rudely, slowly, or not at all."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """What one request is answered with. `hangs` says nothing; `drips` sends a byte of its head now and then.
    `meanwhile` is called before the answer.
    """

    status: int = 200
    body: bytes = b"ok"
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = False
    drips: bool = False
    meanwhile: Callable[[], object] = lambda: None


@dataclass(frozen=True)
class Got:
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Receiver(ThreadingHTTPServer):
    """The server: `replies` are given one after the other, the last one for ever; `got` are the requests so far."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.got: list[Got] = []
        self.replies: list[Reply] = [Reply()]
        self.over = threading.Event()

    def answers(self, *replies: Reply) -> None:
        self.replies = [*replies]

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except ConnectionError:
            self.close_connection = True

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.got.append(Got(self.command, self.path, headers, body))
        reply = self.server.replies.pop(0) if len(self.server.replies) > 1 else self.server.replies[0]
        reply.meanwhile()
        if reply.hangs:
            self.server.over.wait(30)
        while reply.drips and not self.server.over.wait(0.05):
            self.wfile.write(b"H")
            self.wfile.flush()
        self.send_response(reply.status)
        for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    do_GET = do_POST = do_PUT = _answer

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A running receiver."""
    server = Receiver()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def silent_port() -> int:
    """A port where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
