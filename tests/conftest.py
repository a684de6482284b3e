"""Fixtures. Nothing here may reach the network: the simulator is the only model, and real requests are refused."""

import gc
import json
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pydantic_ai.models
import pytest
from django.conf import settings as django_settings
from django.contrib.contenttypes.management import create_contenttypes
from django.core.handlers.wsgi import WSGIRequest
from django.core.management import call_command
from django.db import connection
from django.db.models.signals import post_migrate
from django.http import HttpResponse
from django.test import Client, override_settings
from django.test.client import ClientHandler, closing_iterator_wrapper
from hypothesis import Phase, settings

from core import direct
from core.static import LEFT_OUT
from tests import caching, emptying, live, people
from tests.on_services import PURE

pydantic_ai.models.ALLOW_MODEL_REQUESTS = False
# A password hash that is slow on purpose would be most of what the tests do; tests/accounts looks at the real one.
django_settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Nobody here asks for Django's permissions and content types. Each test that commits empties all tables, and to fill in
# these again was three quarters of that. What the servers of live tests migrate has them.
post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
post_migrate.disconnect(create_contenttypes)
if connection.vendor == "postgresql":
    type(connection.ops).sql_flush = emptying.statements
# How long an example took says how busy the machine is. To explain one, hypothesis runs it again and again with every
# line traced: with a database that takes an hour.
settings.register_profile("tests", deadline=None, phases=[phase for phase in Phase if phase is not Phase.explain])
settings.load_profile("tests")
# Nearly everything that is made while tests are collected stays: pytest_collection_finish goes through it once. What
# hands out the tests collects none, and would never have it on again.
if "PYTEST_XDIST_WORKER" in os.environ:
    gc.disable()
ROOT = Path(__file__).resolve().parent.parent


django_settings.CACHES["default"]["KEY_PREFIX"] += os.environ.get("PYTEST_XDIST_WORKER", "")

HOLDING_STREAMS = ("pages/test_live.py", "pages/test_live_shared.py")
"""A stream gives its connection back while it waits, which a test inside one transaction cannot: on PostgreSQL the
streams are proven against a live server, in tests/sdk/test_streams.py."""
BEGUN_WITH = frozenset({"after", "places"})
"""Fixtures of a module that hold what a server did."""
SERVERS = ("chaos", "full", "embedded", "e2e/test_axe.py", "e2e")
"""What live tests share, in the order in which it is begun: what cannot be divided first, so that many short tests are
left for whichever worker has nothing else to do. A chaos run takes both cores, and a browser beside it waits longer
than any reader would: the one is over before the other begins."""


@pytest.hookimpl(wrapper=True, tryfirst=True)  # xdist reads the groups as soon as it is its turn
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Mark what need not run twice, keep what shares a server together on one worker of xdist, and begin with that."""
    for item in items:
        place = item.path.relative_to(ROOT / "tests")
        is_said_once = place.parts[0] in PURE or place.as_posix() in HOLDING_STREAMS
        if is_said_once or not _may_ask_the_database(item):
            item.add_marker("pure")
        if item.get_closest_marker("live"):
            item.add_marker(pytest.mark.xdist_group(_server_of(item, place)))
            # Processes that share two cores stand still for seconds at times. Whatever fails twice is wrong, and what
            # failed once is printed as a rerun, to be looked into.
            item.add_marker(pytest.mark.flaky(reruns=1))
    yield
    items.sort(key=_turn)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """What failed is tried again on a server with nothing in it: names that it used are free, and nothing that it began
    goes on. Not where a whole module begins with what its server did: that would be gone.
    """
    if getattr(item, "execution_count", 1) > 1 and not BEGUN_WITH.intersection(getattr(item, "fixturenames", ())):
        live.begin_anew()


def pytest_collection_finish() -> None:
    """What is here by now stays: to look through it again and again for rubbish would be a fifth of the run."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 50, 50)
    gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell why tests failed that then passed."""
    for report in terminalreporter.getreports("rerun"):
        terminalreporter.section(f"rerun of {report.nodeid}", "_")
        terminalreporter.write_line(report.longreprtext)


def _may_ask_the_database(item: pytest.Item) -> bool:
    """Whoever does not ask for the database is refused the first query."""
    return bool(item.get_closest_marker("django_db") or {"db", "transactional_db"} & set(item.fixturenames))


def _server_of(item: pytest.Item, place: Path) -> str:
    """Which server a live test shares with others. They stay on one worker, which starts that server once.

    The journeys of browsers take longest: they are shared out by files, and each worker has a server for its share.
    """
    if place.parts[0] == "e2e":
        return place.as_posix()
    return "chaos" if place.parts[0] == "chaos" else str(item.callspec.params["served"])


def _turn(item: pytest.Item) -> int:
    """Where a test stands in that order; whatever needs no server comes last."""
    group = item.get_closest_marker("xdist_group")
    return next(n for n, name in enumerate((*SERVERS, "")) if (group.args[0] if group else "").startswith(name))


@pytest.fixture(scope="session")
def django_db_modify_db_settings_parallel_suffix(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """SQLite's tests run on a file, as its users do: in memory a reader would meet tables locked by another thread."""
    if connection.vendor == "sqlite":
        connection.settings_dict["TEST"]["NAME"] = str(tmp_path_factory.mktemp("database") / "heddle.sqlite3")
    else:
        request.getfixturevalue("django_db_modify_db_settings_xdist_suffix")


@pytest.fixture(scope="session", autouse=True)
def static_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Collected static files of our own: a fresh checkout has none, and pages name them by their hashes.

    They are looked for when they are asked for: every client of a test is an application of its own, and the look at
    all of them when it starts would be a fifth of the run.
    """
    with override_settings(STATIC_ROOT=tmp_path_factory.mktemp("static"), WHITENOISE_AUTOREFRESH=True):
        call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=LEFT_OUT)
        yield


@pytest.fixture(autouse=True)
def empty_cache() -> None:
    """Forget cached counts and figures of the test before: no transaction rolls them back."""
    caching.forget()


@pytest.fixture
def who(db: None) -> people.People:
    """Everybody."""
    return people.gather()


class Served(ClientHandler):
    """Answers a test's client as the server does: directly, or by Django's handler if that is left to it."""

    def __call__(self, environ: dict[str, Any]) -> Any:
        left = []

        def leave(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
            left.append(super(Served, self).__call__(environ))
            return []

        head: list[Any] = []
        answer: Any = direct.answered(leave)(environ, lambda *given: head.extend(given))
        if left:
            return left[0]
        if isinstance(answer, list):  # nothing to close
            answer = HttpResponse(b"".join(answer), status=int(head[0][:3]), headers=dict(head[1]))
        answer.wsgi_request = WSGIRequest(environ)
        if answer.streaming:
            answer.streaming_content = closing_iterator_wrapper(answer.streaming_content, answer.close)
            return answer
        answer.close()
        return answer


class Api:
    """A REST client of one person; `body` may be bytes, to send what no JSON encoder writes."""

    def __init__(self, token: str | None, **headers: str) -> None:
        self.client = Client(raise_request_exception=False)
        self.client.handler = Served(enforce_csrf_checks=False)
        self.headers = {"Host": "testserver", **({"Authorization": f"Bearer {token}"} if token else {}), **headers}

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> HttpResponse:
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        path = path if path.startswith("/") else f"/v1/ai/{path}"
        sent = {**self.headers, **headers}
        return self.client.generic(method, path, data, content_type="application/json", headers=sent)

    def get(self, path: str, **headers: str) -> HttpResponse:
        return self.request("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        return self.request("POST", path, body, **headers)

    def put(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        return self.request("PUT", path, body, **headers)

    def patch(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        return self.request("PATCH", path, body, **headers)


def data_of(response: HttpResponse) -> Any:
    """What a success carries."""
    assert response.status_code == 200, response.content
    return json.loads(response.content)["data"]


def content_of(response: Any) -> bytes:
    """Everything that was answered, also where it comes in pieces."""
    return b"".join(response.streaming_content) if response.streaming else response.content


def leave(response: Any) -> None:
    """Close an answer that comes in pieces, without taking the test's own database connection along."""
    response._iterator.close()  # the client's wrapper: `close` of the response itself ends it, and then closes again


def refusal_of(response: HttpResponse) -> tuple[int, str, str]:
    """Status, code and message of a refusal, after checking that its envelope holds nothing else (B168)."""
    content = json.loads(response.content)
    assert set(content) <= {"error", "details"}, content
    assert set(content["error"]) == {"error_code", "message"}, content
    assert content["error"]["message"]
    return response.status_code, content["error"]["error_code"], content["error"]["message"]


@pytest.fixture
def api(who: people.People) -> Callable[..., Api]:
    """`api("alice")` is a REST client of alice, always the same one; `api(None)` has no token."""

    @cache
    def client(name: str | None, **headers: str) -> Api:
        return Api(who.named(name).token if name else None, **headers)

    return client


@pytest.fixture
def browser_of(who: people.People) -> Callable[[str | None], Client]:
    """`browser_of("alice")` is a signed-in page client of alice."""

    def client(name: str | None) -> Client:
        page = Client(raise_request_exception=False)
        if name:
            page.force_login(who.named(name).user)
        return page

    return client


@pytest.fixture(scope="session")
def airline() -> Path:
    """A hundred real conversations, where they lie beside the checkout."""
    path = ROOT.parent / "shared/data/tau-bench/threads-airline.jsonl"
    if not path.exists():
        pytest.skip("no τ-bench data beside the checkout")
    return path


@pytest.fixture(scope="session", params=["embedded", "full"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[live.Served]:
    """A running Heddle with everybody in it, once on SQLite with the worker inside, once on PostgreSQL and Redis."""
    with live.serving(request.param, tmp_path_factory.mktemp(request.param)) as server:
        yield server


def pytest_make_parametrize_id(val: object) -> str | None:
    """A long text is named by its beginning and its length: in full, a failure of it would fill the screen."""
    text = val.decode("latin-1") if isinstance(val, bytes) else val
    return f"{text[:60]!r}...{len(text)}" if isinstance(text, str) and len(text) > 100 else None
