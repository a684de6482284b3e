"""What requests hold, of senders who announce it and keep everybody waiting."""

from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.test.client import MULTIPART_CONTENT

from core import uploads
from core.slots import Slots
from tests.people import People

HERE, ELSEWHERE = "203.0.113.1", "203.0.113.2"
Send = Callable[..., HttpResponse]
THREADS = "/v1/ai/threads"


@pytest.fixture
def send(db: None, monkeypatch: pytest.MonkeyPatch) -> Send:
    """Send a request with a body from an address; at one of them somebody waits for theirs to come."""
    reading = Slots(2, each=1)
    monkeypatch.setattr(uploads, "_reading", reading)
    monkeypatch.setattr(uploads, "_PATIENCE_SECONDS", 0)
    assert reading.take(HERE)

    def sent(caller: str, path: str, body: Any, **more: Any) -> HttpResponse:
        client = Client(enforce_csrf_checks=True, REMOTE_ADDR=caller)
        handler: Any = client.handler
        application = uploads.bounded(lambda environ, _: handler(environ))
        client.handler = lambda environ: application(environ, print)  # type: ignore[assignment,return-value]
        return client.post(path, body, **more)

    return sent


@pytest.fixture
def of_alice(who: People) -> dict[str, str]:
    return {"content_type": "application/json", "HTTP_AUTHORIZATION": f"Bearer {who.alice.token}"}


def test_a_program_is_told_when_to_come_back(send: Send, of_alice: dict[str, str]) -> None:
    refused = send(HERE, THREADS, {"message": {"content": [{"text": "x"}]}}, **of_alice)
    assert refused.status_code == 503 and int(refused["Retry-After"]) > 0
    assert refused.json()["error"]["error_code"] == "RobotoServiceUnavailableException"
    assert send(ELSEWHERE, THREADS, {}, **of_alice).status_code == 400


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", MULTIPART_CONTENT])
@pytest.mark.parametrize("has_header", [True, False])
def test_so_is_whoever_sends_a_form(send: Send, who: People, kind: str, has_header: bool) -> None:
    """Even where it is only looked through for the token that says where it is from."""
    token = "a" * 32
    form = {"email": "a@b.test", "password": "x", "csrfmiddlewaretoken": token}
    body: Any = form if kind == MULTIPART_CONTENT else "&".join(f"{name}={value}" for name, value in form.items())
    sent = {} if kind == MULTIPART_CONTENT else {"content_type": kind}
    sent |= {"HTTP_COOKIE": f"csrftoken={token}"}
    if has_header:
        sent["HTTP_X_CSRFTOKEN"] = token
    refused = send(HERE, "/signin/", body, **sent)
    assert refused.status_code == 503 and "Retry-After" in refused
    assert "Heddle is busy." in refused.content.decode()
    assert send(ELSEWHERE, "/signin/", body, **sent).status_code == 400


def test_what_is_refused_unread_is_refused_as_before(send: Send) -> None:
    assert send(HERE, THREADS, "{}", content_type="application/json").status_code == 401
    assert send(HERE, "/threads/", "x=1", content_type="text/plain").status_code == 403


def test_a_place_is_free_again_when_the_body_has_come(send: Send, of_alice: dict[str, str]) -> None:
    assert [send(ELSEWHERE, THREADS, {}, **of_alice).status_code for _ in range(5)] == [400] * 5


def test_who_finds_too_many_waiting_does_not_wait_as_well() -> None:
    """Each who waits keeps a thread: a crowd that waits would keep everybody else out."""
    full = Slots(1, each=1, waiting=0)
    assert full.take(HERE)
    assert not full.take(HERE, patience_seconds=3600)
    full.leave(HERE)
    assert full.take(ELSEWHERE, patience_seconds=3600)


class Unread:
    """A body that nobody may read."""

    def read(self, *size: int) -> bytes:
        raise AssertionError("it was read")

    readline = read


def sized(client: Client, path: str, size: int, kind: str = MULTIPART_CONTENT) -> HttpResponse:
    """A form of that size, of which nothing may be read. One with `Expect` has not been sent when it is refused."""
    more: dict[str, Any] = {"CONTENT_LENGTH": str(size), "CONTENT_TYPE": kind, "HTTP_EXPECT": "100-continue"}
    return client.generic("POST", path, **more, **{"wsgi.input": Unread()})  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize("path", ["/", "/threads/import/", "/threads/start/"])
@pytest.mark.parametrize("kind", [MULTIPART_CONTENT, "application/x-www-form-urlencoded"])
def test_nothing_of_a_large_form_is_read_before_somebody_is_signed_in(db: None, path: str, kind: str) -> None:
    """Files of any size went to the disk, and fields took fifty times their size in memory."""
    client = Client(enforce_csrf_checks=True, HTTP_COOKIE=f"csrftoken={'a' * 32}; sessionid={'b' * 32}")
    refused = sized(client, path, 65_537, kind)
    assert refused.status_code == 401 and "Sign in" in refused.content.decode()
    refused = sized(client, "/signin/", 65_537, kind)
    assert refused.status_code == 413 and "The form is larger than 64 KiB." in refused.content.decode()


def test_who_is_signed_in_sends_what_the_page_takes(browser_of: Callable[[str], Client]) -> None:
    alice = browser_of("alice")
    for path, most in (("/threads/start/", 16), ("/threads/import/", 33)):
        refused = sized(alice, path, most * 2**20 + 1)
        assert refused.status_code == 413 and f"The form is larger than {most} MiB." in refused.content.decode()
        read = sized(alice, path, most * 2**20, "application/x-www-form-urlencoded")
        assert read.status_code == 500, "the body of this test cannot be"
