"""Strangers by the hundred who open a line and send nothing, or half of what they announced: others are served."""

import selectors
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests import live
from tests.sdk.browsers import Browser
from tests.sdk.callers import Caller

pytestmark = pytest.mark.live
MANY = 300
"""More than there are threads."""
FEW = 64
FORM = (
    b"POST /signin/ HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: csrftoken=%b\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\nabcd" % (b"a" * 32)
)


@contextmanager
def strangers(server: live.Served, say: bytes) -> Iterator[list[socket.socket]]:
    with ExitStack() as lines:
        yield [lines.enter_context(_line(server, say)) for _ in range(MANY)]


def _line(server: live.Served, say: bytes) -> socket.socket:
    line = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    line.sendall(say)
    return line


@pytest.mark.parametrize("say", [b"", b"GET /livez HTTP/1.1\r\nHost: 127"])
def test_lines_on_which_nothing_comes_keep_nobody_out(embedded: live.Served, alice: Caller, say: bytes) -> None:
    with strangers(embedded, say):
        assert live.fetch(f"{embedded.url}/readyz")[0] == 200
        assert alice.talk("Is anybody there?").status


def test_forms_that_do_not_come_keep_nobody_out(embedded: live.Served, alice: Caller) -> None:
    """All but a few are refused, and their lines closed; the few keep out nobody from another address."""
    with strangers(embedded, FORM) as lines, selectors.DefaultSelector() as waiting:
        for line in lines:
            waiting.register(line, selectors.EVENT_READ)
        while len(waiting.get_map()) > FEW and (ready := waiting.select(timeout=30)):
            for key, _ in ready:
                waiting.unregister(key.fileobj)
        refused = [line for line in lines if line not in {key.fileobj for key in waiting.get_map().values()}]
        assert len(refused) >= MANY - FEW
        for line in refused:
            assert _heard(line).startswith(b"HTTP/1.1 503")
        assert live.fetch(f"{embedded.url}/readyz")[0] == 200
        assert alice.fetch("threads?limit=1")[0] == 200
        Browser(embedded, "alice", address="127.0.0.2")
    Browser(embedded, "alice")


def _heard(line: socket.socket) -> bytes:
    """Everything up to the end of the line."""
    return b"".join(iter(lambda: line.recv(65536), b""))
