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
