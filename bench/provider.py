"""A local model provider that records exactly when it sent its first fragment."""

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

THINKING_SECONDS = 0.25


class Provider:
    """Streams chat completions: pause, one fragment, pause, end. `given_at` is when the fragment was sent."""

    def __init__(self) -> None:
        self.given_at = 0.0
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                with contextlib.suppress(ConnectionError):  # who has seen what they came for hangs up
                    self._stream()

            def _stream(self) -> None:
                for event in provider.events():
                    self.wfile.write(f"data: {event}\n\n".encode())
                    self.wfile.flush()

            def log_message(self, *args: Any) -> None:
                """Do not log requests."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """The provider's base URL."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def events(self) -> Iterator[str]:
        """Yield the events of one answer."""
        time.sleep(THINKING_SECONDS)
        self.given_at = time.perf_counter()
        yield _chunk({"role": "assistant", "content": "pumpernickel"})
        time.sleep(THINKING_SECONDS)
        yield _chunk({}, finish="stop")
        yield "[DONE]"

    def close(self) -> None:
        self._server.shutdown()


def _chunk(delta: dict[str, Any], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return json.dumps(
        {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "bench", "choices": [choice]}
    )
