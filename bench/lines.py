"""A minimal HTTP client: one keep-alive connection, requests as bytes. Its cost is included in every floor."""

import json
import re
import socket
from collections.abc import Callable
from typing import Any

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Line:
    """A connection to a local server."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, request: bytes) -> bytes:
        """Send a request and return the response body; raises `RuntimeError` for an error status."""
        self._socket.sendall(request)
        got = self._socket.recv(65536)
        while (end := got.find(b"\r\n\r\n")) < 0:
            got += self._more()
        head, rest = got[:end], got[end + 4 :]
        length = _LENGTH.search(head)
        body = self._whole(rest, int(length[1])) if length else self._chunks(rest)
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"{request[:120]!r} was answered {head[:30]!r} {body[:300]!r}")
        return body

    def _whole(self, rest: bytes, length: int) -> bytes:
        parts, missing = [rest], length - len(rest)
        while missing > 0:
            parts.append(self._more())
            missing -= len(parts[-1])
        return b"".join(parts)

    def _chunks(self, rest: bytes) -> bytes:
        parts = []
        while True:
            while (end := rest.find(b"\r\n")) < 0:
                rest += self._more()
            size = int(rest[:end], 16)
            chunk = self._whole(rest[end + 2 :], size + 2)
            parts.append(chunk[:size])
            rest = chunk[size + 2 :]
            if not size:
                return b"".join(parts)

    def _more(self) -> bytes:
        part = self._socket.recv(1 << 20)
        if not part:
            raise RuntimeError("the server hung up")
        return part


class Caller:
    """A user's API client: a connection, and headers for all requests."""

    def __init__(self, port: int, *, token: str = "", cookie: str = "", encoding: str = "") -> None:
        self.line = Line(port)
        headers = [f"Host: 127.0.0.1:{port}", "Content-Type: application/json"]
        headers += [f"Authorization: Bearer {token}"] if token else []
        headers += [f"Cookie: sessionid={cookie}"] if cookie else []
        headers += [f"Accept-Encoding: {encoding}"] if encoding else []
        self._headers = "\r\n".join(headers)

    def prepared(self, method: str, path: str, body: Any = None) -> Callable[[], bytes]:
        """Prepare a request for repeated sending."""
        request = self.request(method, path, body)
        return lambda: self.line.ask(request)

    def request(self, method: str, path: str, body: Any = None) -> bytes:
        """Build the bytes of a request."""
        sent = b"" if body is None else json.dumps(body).encode()
        return f"{method} {path} HTTP/1.1\r\n{self._headers}\r\nContent-Length: {len(sent)}\r\n\r\n".encode() + sent

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Return the response's `data`."""
        return json.loads(self.line.ask(self.request(method, path, body)))["data"]
