"""Servers of tools: an MCP server of the real package, one that behaves as a test tells it to, and one as a command."""

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.receiver import silent_port

COMMAND = (sys.executable, str(Path(__file__).parent / "stdio_server.py"))
"""An MCP server by hand, over stdin and stdout, that is there in a moment."""


@contextmanager
def real_mcp(add_tools: Callable[[Any], None]) -> Iterator[str]:
    """The URL of a server by the package `mcp`, over streamable HTTP."""
    import uvicorn
    from mcp.server.mcpserver import MCPServer

    served = MCPServer("peer", version="1.2.3")
    add_tools(served)
    port = silent_port()
    config = uvicorn.Config(
        served.streamable_http_app(), host="127.0.0.1", port=port, log_level="critical", lifespan="on"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.should_exit = True
        thread.join(10)


class Rude(ThreadingHTTPServer):
    """An MCP server of the handshake's time, by hand. `tools` is what it lists; `answer` is asked for every call.

    An answer is a result, or a function that is given the request's handler and may do there what it likes.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.tools: list[Any] = []
        self.on_list: Any = None
        self.answer: Any = {"content": [{"type": "text", "text": "ok"}]}
        self.headers: list[dict[str, str]] = []
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/mcp"


class _Handler(BaseHTTPRequestHandler):
    server: Rude

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        method = asked["method"]
        if "id" not in asked:
            self.reply(202, b"", "text/plain")
        elif method == "initialize":
            info = {"name": "rude", "version": "0"}
            version = asked["params"]["protocolVersion"]
            self.say(asked, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info})
        elif method == "tools/list":
            self.act(asked, self.server.on_list or {"tools": self.server.tools})
        elif method == "tools/call":
            self.act(asked, self.server.answer)
        else:
            error = {"code": -32601, "message": "no such method"}
            self.reply(200, json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": error}).encode())

    def do_GET(self) -> None:
        self.reply(405, b"", "text/plain")

    do_DELETE = do_GET

    def act(self, asked: Any, answer: Any) -> None:
        answer(self, asked) if callable(answer) else self.say(asked, answer)

    def say(self, asked: Any, result: Any) -> None:
        self.reply(200, json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode())

    def reply(self, status: int, body: bytes, kind: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@contextmanager
def rude_mcp() -> Iterator[Rude]:
    """A running one."""
    server = Rude()
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join()
