"""A reader's live line in tests, and the page that a browser would make of it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from django.http import HttpResponse
from django.test import Client

from core import sse
from tests import make
from tests.conftest import leave
from tests.pages.dom import Node, get, parsed
from threads import reading
from threads.models import Thread

Browser = Callable[[str | None], Client]


@dataclass
class Told:
    """One event as a browser takes it apart."""

    name: str
    data: str
    id: str


@dataclass
class Line:
    """A reader's line, and the articles that a page on it would hold (static/js/live.js)."""

    response: HttpResponse
    held: dict[int, Node] = field(default_factory=dict)
    token: str = ""
    _chunks: Iterator[bytes] | None = None

    def news(self) -> list[Told]:
        """Everything up to the next quiet moment; nothing more once the line has ended."""
        self._chunks = self._chunks or iter(self.response.streaming_content)
        told = []
        for chunk in self._chunks:
            if chunk == sse.HEARTBEAT:
                break
            if chunk.startswith(b"event:"):
                told.append(self._take(chunk.decode()))
        return told

    def _take(self, chunk: str) -> Told:
        fields: dict[str, list[str]] = {}
        for row in chunk.removesuffix("\n\n").split("\n"):
            name, _, value = row.partition(": ")
            fields.setdefault(name, []).append(value)
        assert set(fields) <= {"event", "id", "data"}
        told = Told(fields["event"][0], "\n".join(fields["data"]), fields.get("id", [""])[0])
        self.token = told.id or self.token
        if told.name == "reset":
            self.held = {index: article for index, article in self.held.items() if index < int(told.data)}
        if told.name in ("turns", "marks"):
            self.held |= {int(article["data-index"]): article for article in parsed(told.data).all("article")}
        return told

    def close(self) -> None:
        """Leave."""
        leave(self.response)


def path(thread: Thread) -> str:
    return f"/threads/{thread.thread_id}/"


@pytest.fixture
def listen(browser_of: Browser, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Line]]:
    """`listen("bob", thread)` is bob's line from where his page stands; `token=""` from the beginning.

    A line that has nothing to tell says so at once.
    """
    monkeypatch.setattr(sse, "HEARTBEAT_SECONDS", 0)
    lines: list[Line] = []

    def start(
        name: str,
        thread: Thread,
        token: str | None = None,
        client: Client | None = None,
        *,
        told: str = "",
        asked: str = "",
        **sent: str,
    ) -> Line:
        token = reading.token_of(make.fresh(thread)) if token is None else token
        client = client or browser_of(name)
        response = client.get(f"{path(thread)}live/", {"q": asked, "told": told, "token": token}, headers=sent)
        assert response.status_code == 200 and response["Content-Type"] == "text/event-stream"
        lines.append(Line(response, token=token))
        return lines[-1]

    yield start
    for line in lines:
        line.close()


def shape(articles: dict[int, Node]) -> list[tuple[str, str, str]]:
    return [(held["id"], held.get("data-state") or "", held.words) for _, held in sorted(articles.items())]


def on_page(client: Client, thread: Thread) -> list[tuple[str, str, str]]:
    articles = get(client, path(thread)).id("talk").all("article", class_="msg")
    return shape({int(article["data-index"]): article for article in articles})


Listen = Callable[..., Line]
