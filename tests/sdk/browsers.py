"""A signed-in browser that reads an event stream, over a plain socket."""

import http.client
import re
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

from tests import live


@dataclass(frozen=True)
class Event:
    """One server-sent event."""

    name: str
    data: str
    id: str = ""

    @property
    def text(self) -> str:
        """What stands between the tags, as one line."""
        return " ".join(unescape(re.sub(r"<[^>]+>", " ", self.data)).split())


class Browser:
    """A session of one person, who comes from an address."""

    def __init__(self, server: live.Served, name: str, *, address: str = "127.0.0.1") -> None:
        self.server, self.address = server, address
        self.cookies: dict[str, str] = {}
        form = self.get("/signin/")
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)
        assert found, form[:500]
        who = server.who
        fields = {
            "email": who["emails"][name],
            "password": who["passwords"][name],
            "csrfmiddlewaretoken": found[1],
        }
        status, body = self._request("POST", "/signin/", urllib.parse.urlencode(fields))
        assert status == 302, body[:500]

    def get(self, path: str) -> str:
        """A page."""
        status, body = self._request("GET", path)
        assert status == 200, (status, body[:500])
        return body

    def stream(self, thread_id: str, *, token: str = "", last_id: str = "") -> "Stream":
        """The thread's event stream, from a token on or from the last event that was seen."""
        query = f"?token={urllib.parse.quote(token)}" if token else ""
        headers = {"Last-Event-ID": last_id} if last_id else {}
        return Stream(self._send("GET", f"/threads/{thread_id}/live/{query}", None, headers))

    def _request(self, method: str, path: str, body: str | None = None) -> tuple[int, str]:
        line = self._send(method, path, body, {"Content-Type": "application/x-www-form-urlencoded"})
        answer = line.getresponse()
        for name, value in answer.getheaders():
            if name.lower() == "set-cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.partition(";")[0]
        content = answer.read().decode()
        line.close()
        return answer.status, content

    def _send(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> http.client.HTTPConnection:
        line = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20, source_address=(self.address, 0))
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        line.request(method, path, body, {"Cookie": cookie, "Referer": self.server.url, **headers})
        return line


class Stream:
    """An open line; iterating gives its events as they come."""

    def __init__(self, line: http.client.HTTPConnection) -> None:
        self.line = line
        self.answer = line.getresponse()
        assert self.answer.status in (200, 204), self.answer.read()[:500]

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave, as a reader does who closes the tab."""
        self.answer.close()
        self.line.close()

    def __iter__(self) -> Iterator[Event]:
        fields: dict[str, list[str]] = {}
        for raw in self.answer:
            name, _, value = raw.decode().rstrip("\r\n").partition(":")
            if name:
                fields.setdefault(name, []).append(value.removeprefix(" "))
            elif not raw.strip():
                if "event" in fields:
                    yield Event(fields["event"][-1], "\n".join(fields.get("data", [])), fields.get("id", [""])[-1])
                fields = {}

    def until(self, words: str) -> list[Event]:
        """The events up to the first that holds these words."""
        seen = []
        for event in self:
            seen.append(event)
            if words in event.data or words in event.text:
                return seen
        raise AssertionError(f"the stream ended without {words!r}")
