"""Without Redis people sign in and read their figures: it costs a second now and then, and no answer."""

import re
import socket
import time

import pytest
from django.test import Client

from core import pausing
from tests.people import PASSWORD

INSIGHT = "/feedback/insight/"


@pytest.fixture(params=["refuses", "hangs"])
def _redis(request, settings):
    """Redis at an address where nobody listens, or where somebody does who never says a word."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        if request.param == "hangs":
            door.listen(50)
        address = f"redis://127.0.0.1:{door.getsockname()[1]}/0"
        settings.CACHES = {"default": {"BACKEND": "core.caching.RedisOrMemory", "LOCATION": address}}
        yield


pytestmark = pytest.mark.usefixtures("_redis")


def sign_in(password=PASSWORD, email="alice@acme.test"):
    return Client(REMOTE_ADDR="203.0.113.1").post("/signin/", {"email": email, "password": password})


def warnings(caplog):
    return [record for record in caplog.records if record.getMessage() == "cache.away"]


def test_who_signs_in_and_looks_at_insight_waits_for_redis_once(who, caplog):
    began = time.monotonic()
    assert sign_in().status_code == 302
    browser = Client()
    browser.force_login(who.admin.user)
    assert browser.get(INSIGHT).status_code == 200
    assert time.monotonic() - began < 3
    [warning] = warnings(caplog)
    assert (warning.name, warning.levelname) == ("heddle.cache", "WARNING")
    assert re.fullmatch("ConnectionError|TimeoutError", warning.kind)


def test_wrong_passwords_are_counted_all_the_same(who):
    assert [sign_in("wrong").status_code for _ in range(5)] == [400] * 5
    assert sign_in().status_code == 429
    assert sign_in(email="bob@acme.test").status_code == 302


def test_redis_is_asked_again_after_a_while(who, caplog, monkeypatch):
    assert sign_in().status_code == 302
    now = time.monotonic()
    monkeypatch.setattr(pausing, "monotonic", lambda: now + pausing.PAUSE_SECONDS)
    assert sign_in().status_code == 302
    assert len(warnings(caplog)) == 2


def test_figures_that_took_long_to_count_are_kept_meanwhile(who, monkeypatch):
    monkeypatch.setattr("feedback.insight.figures._SLOW", 0)
    browser = Client()
    browser.force_login(who.admin.user)
    assert browser.get(INSIGHT).status_code == 200
    monkeypatch.setattr("feedback.insight.figures._counted", None)
    assert browser.get(INSIGHT).status_code == 200
