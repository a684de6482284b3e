"""The direct way to an endpoint (`core.direct`) and Django's. All other tests of the API take the first if they can."""

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import resolve

from accounts.models import ApiToken
from core import direct
from core.api import HANDED_OVER, Endpoint
from core.errors import NotFound
from feedback import capture
from tests import make
from tests.api.test_who_may import ROUTES
from tests.conftest import Api, content_of, data_of, refusal_of

pytestmark = pytest.mark.django_db
_VALUE = re.compile("<[^>]*>")
UNKNOWN = resolve("/v1/nothing").func
BY_CHANCE = ("X-Request-Id",)


@pytest.fixture
def django(api) -> Callable[[str], Api]:
    """`django("alice")` is a REST client of alice whose requests all take Django's way."""

    def client(name: str) -> Api:
        other = Api(None, **api(name).headers)
        other.client = Client(raise_request_exception=False)
        return other

    return client


@pytest.fixture
def left(monkeypatch) -> list[dict[str, Any]]:
    """The environments of all requests that are left to Django's way, in order."""
    found: list[dict[str, Any]] = []
    answered = direct.answered

    def watched(application: direct.Application) -> direct.Application:
        return answered(lambda environ, start: (found.append(environ), application(environ, start))[1])

    monkeypatch.setattr(direct, "answered", watched)
    return found


def told(response: HttpResponse) -> tuple[int, dict[str, str], bytes]:
    headers = {name: value for name, value in response.items() if name not in BY_CHANCE}
    return response.status_code, headers, content_of(response)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("alice", "threads"),
        ("alice", "threads?limit=1"),
        ("alice", "threads/{id}"),
        ("alice", "chats/{id}/delta?next_token=v1.{key}.1"),
        ("alice", "threads/{id}/export?format=openai"),
        ("alice", "threads/{id}/feedback"),
        ("alice", "threads/{id}/nothing"),
        ("eve", "threads/{id}"),
        ("admin", "admin/feedback?q=is:open"),
        ("admin", "admin/feedback/export?format=csv"),
        ("admin", "admin/feedback/{report}"),
        ("admin", "admin/feedback?nothing=1"),
        ("alice", "admin/feedback"),
    ],
)
def test_both_ways_answer_the_same(api, django, who, name, path):
    thread = make.thread(who.alice)
    report = make.rating(who.alice, thread)
    path = path.format(id=thread.thread_id, key=thread.key, report=report.feedback_id)
    data_of(api(name).get("threads"))  # the use of the token is recorded
    assert told(api(name).get(path)) == told(django(name).get(path))


def test_what_succeeds_is_not_left_to_django(api, left, who):
    alice, thread = api("alice"), make.thread(who.alice)
    rate = f"threads/{thread.thread_id}/messages/1/feedback"
    assert data_of(alice.post(rate, {"sentiment": "negative", "notes": "Twelve."}))["notes"] == "Twelve."
    assert data_of(alice.request("DELETE", rate)) is None
    assert left == []


def test_a_problem_is_told_by_django_and_nothing_is_done_twice(api, left, who, monkeypatch):
    done, submit = [], capture.submit
    monkeypatch.setattr(capture, "submit", lambda *given: (done.append(given), submit(*given))[1])
    thread = make.thread(who.alice)
    rate = f"threads/{thread.thread_id}/messages/{{}}/feedback"
    assert refusal_of(api("alice").post(rate.format(0), {"sentiment": "negative"}))[0] == 400
    assert len(done) == 1
    assert refusal_of(api("alice").post(rate.format(1), {"sentiment": "odd"}))[0] == 400
    assert len(done) == 1
    assert [HANDED_OVER in environ for environ in left] == [True, True]


def test_the_use_of_a_token_is_recorded_whatever_comes_of_it(api, who):
    ApiToken.objects.update(last_used_at=None)
    assert refusal_of(api("alice").get("threads/nothing"))[0] == 404
    assert ApiToken.objects.get(user=who.alice.user).last_used_at is not None


def test_a_bug_is_told_with_the_id_that_its_log_has(api, who, monkeypatch, caplog):
    monkeypatch.setattr(capture, "submit", lambda *given: 1 / 0)
    thread = make.thread(who.alice)
    response = api("alice").post(f"threads/{thread.thread_id}/messages/1/feedback", {"sentiment": "negative"})
    status, _, said = refusal_of(response)
    assert status == 500
    assert response["X-Request-Id"] in said
    [crash] = [each for each in caplog.records if each.message == "request.crashed"]
    assert crash.exc_info[0] is ZeroDivisionError


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("HEAD", "threads", {}),
        ("OPTIONS", "threads", {}),
        ("GET", "threads", {"Host": "elsewhere.example"}),
        ("GET", "threads", {"Host": ""}),
        ("GET", "threads", {"Transfer-Encoding": "chunked"}),
        ("GET", "threads?q=%00", {}),
        ("GET", "threads/ags_%00", {}),
        ("GET", "threads/ägs", {}),
        ("GET", "/livez", {}),
        ("GET", "/v1/schema/", {}),
        ("GET", "/v1/docs/", {}),
    ],
)  # fmt: skip
def test_what_middleware_has_to_look_at_is_left_to_it_as_a_whole(api, left, method, path, headers):
    api("alice").request(method, path, **headers)
    [environ] = left
    assert HANDED_OVER not in environ


@pytest.mark.parametrize(("sent", "is_left"), [({}, True), ({"X-Forwarded-Proto": "https"}, False)])
def test_https_is_required_either_way(api, django, left, settings, sent, is_left):
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.SECURE_HSTS_SECONDS = 3600
    api("alice").get("threads", **sent)
    left.clear()
    response = api("alice").get("threads", **sent)
    assert bool(left) is is_left
    assert told(response) == told(django("alice").get("threads", **sent))


def test_every_path_finds_the_endpoint_that_django_finds(api, monkeypatch):
    """Also where a value in the path is spelled like a part of another one."""
    met: list[tuple[type, dict[str, Any]]] = []

    def initial(self: Endpoint, request: Any, **named: Any) -> None:
        met.append((type(self), self.kwargs))
        raise NotFound("Nothing is looked for here.")

    monkeypatch.setattr(Endpoint, "initial", initial)
    values = ("x1", "actions", "labels", "bulk", "a/b")
    paths = sorted({"/" + _VALUE.sub(value, route) for (_, route), value in product(ROUTES, values)})
    compared = 0
    for path in paths:
        met.clear()
        api("alice").get(path)
        found = resolve(path)
        if found.func is not UNKNOWN and "GET" in found.func.view_class().allowed_methods:
            directly, by_django = met
            assert directly == by_django == (found.func.view_class, found.kwargs), path
            compared += 1
    assert compared > 150
