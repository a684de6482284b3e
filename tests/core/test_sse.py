"""Server-sent events: the wire form."""

import threading

import pytest

from core import sse


def parsed(raw):
    """Events as a browser reads them: (name, data, id)."""
    found = []
    for part in raw.decode().split("\n\n"):
        fields: dict[str, list[str]] = {}
        for line in part.split("\n"):
            name, _, value = line.partition(": ")
            fields.setdefault(name, []).append(value)
        if "event" in fields:
            found.append((fields["event"][0], "\n".join(fields.get("data", [])), fields.get("id", [None])[0]))
    return found


@pytest.mark.parametrize(
    "data", ["", "one", "two\nlines", "\n", "a\n\nb", "event: forged\n\ndata: x", "ü🧵", ": comment"]
)
def test_any_text_arrives_as_the_data_of_one_event(data):
    assert parsed(sse.Event("turns", data, "v1.a.1").encode()) == [("turns", data, "v1.a.1")]


@pytest.mark.parametrize(
    ("sent", "read"), [("a\r\nb", "a\nb"), ("a\rb", "a\nb"), ("a\r\n\r\nevent: x", "a\n\nevent: x")]
)
def test_carriage_returns_end_no_line_of_their_own(sent, read):
    raw = sse.Event("turns", sent).encode()
    assert b"\r" not in raw
    assert parsed(raw) == [("turns", read, None)]


def test_a_stream_tells_when_to_come_back_and_beats_while_nothing_happens():
    response = sse.stream([sse.Event("a", "1"), None, sse.Event("b", "2", "t")])
    parts = list(response.streaming_content)
    assert parts[0].startswith(b"retry: ")
    assert parts[2].startswith(b":")
    assert parsed(b"".join(parts)) == [("a", "1", None), ("b", "2", "t")]
    assert response.headers["Content-Type"] == "text/event-stream"
    assert "no-cache" in response.headers["Cache-Control"]
    # No proxy may hold it back or pack it.
    assert response.headers["X-Accel-Buffering"] == "no"
    assert "no-transform" in response.headers["Cache-Control"]


def test_beyond_its_places_a_line_tells_what_is_new_and_ends(monkeypatch):
    """And gives its place to the next one when its reader leaves."""
    monkeypatch.setattr(sse, "_PLACES", threading.BoundedSemaphore(1))

    def events():
        yield sse.Event("a", "1")
        yield sse.WAITING
        yield sse.Event("b", "2")

    first = iter(sse.stream(events()).streaming_content)
    assert next(first) == b"retry: 1000\n\n"
    told = b"".join(sse.stream(events()).streaming_content)
    assert told.startswith(b"retry: 10000\n\n") and parsed(told) == [("a", "1", None)]
    assert parsed(b"".join(first)) == [("a", "1", None), ("b", "2", None)]
    assert len(parsed(b"".join(sse.stream(events()).streaming_content))) == 2
