"""API tokens: hashed, shown once, scoped, revocable, expiring."""

import json
import re
from datetime import timedelta

import pytest
import time_machine
from django.contrib.sessions.models import Session
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone

from accounts.models import ApiToken, mint
from tests import people
from tests.conftest import Api, data_of, refusal_of


@pytest.fixture
def browser(browser_of):
    return browser_of("alice")


def test_only_the_hash_of_a_token_is_stored(who):
    token, secret = mint(who.alice.user, "laptop")
    row = ApiToken.objects.filter(pk=token.pk).values().get()
    assert secret not in str(row)
    assert row["hash"] == ApiToken.hash_of(secret)
    # The hint is what people recognise it by, and gives away almost nothing.
    assert secret.startswith(row["hint"])
    assert len(row["hint"]) < 10 < 40 < len(secret)


def test_no_two_tokens_are_alike(who):
    assert len({mint(who.alice.user, "t")[1] for _ in range(20)}) == 20


def test_a_new_token_is_shown_once_and_works(browser, who):
    response = browser.post("/settings/tokens/", {"name": "laptop"})
    assert response.headers["Location"] == "/settings/#new-token"
    first, second = (browser.get("/settings/").content.decode() for _ in range(2))
    [secret] = set(re.findall(r"hdl_[\w-]{40,}", first))
    assert secret not in second
    assert "laptop" in second
    data_of(Api(secret).get("threads"))
    assert ApiToken.objects.get(name="laptop").scope == "write"


def test_the_secret_of_a_new_token_is_in_no_table(browser, who):
    """A session is a row of the database, and would keep it for weeks if nobody followed the redirect."""
    response = browser.post("/settings/tokens/", {"name": "laptop"})
    assert all("hdl_" not in json.dumps(session.get_decoded()) for session in Session.objects.all())
    cookie = response.cookies["new_token"]
    assert "hdl_" in cookie.value
    assert (cookie["path"], cookie["httponly"], cookie["max-age"]) == ("/settings/", True, 60)
    stranger = Client()
    stranger.force_login(who.bob.user)
    stranger.cookies["new_token"] = cookie.value
    assert not re.search(r"hdl_[\w-]{40,}", stranger.get("/settings/").content.decode())
    assert re.search(r"hdl_[\w-]{40,}", browser.get("/settings/").content.decode())


def test_signing_in_clears_sessions_that_have_expired(who):
    Session.objects.create(session_key="old", session_data="", expire_date=timezone.now() - timedelta(seconds=1))
    Client().post("/signin/", {"email": who.alice.user.email, "password": people.PASSWORD})
    assert not Session.objects.filter(session_key="old").exists() and Session.objects.exists()


@pytest.mark.parametrize("name", ["", "   ", "x" * 81, "a\x00b"])
def test_a_token_needs_a_name_that_can_be_kept(browser, name):
    before = ApiToken.objects.count()
    assert browser.post("/settings/tokens/", {"name": name}).status_code == 400
    assert ApiToken.objects.count() == before


def test_a_token_has_one_of_the_two_scopes(browser):
    assert browser.post("/settings/tokens/", {"name": "x", "scope": "admin"}).status_code == 400
    browser.post("/settings/tokens/", {"name": "x", "scope": "read"})
    assert ApiToken.objects.get(name="x").scope == "read"


def test_a_read_only_token_of_an_admin_triages_nothing(who):
    """The scope narrows whatever the person may do."""
    reader = Api(mint(who.admin.user, "reader", scope="read")[1])
    data_of(reader.get("admin/feedback"))
    assert refusal_of(reader.put("admin/feedback/fb_1", {"resolved": True}))[0] == 403


def test_a_revoked_token_stops_with_the_next_request_and_leaves_the_list(browser, who):
    token, secret = mint(who.alice.user, "lost-laptop")
    data_of(Api(secret).get("threads"))
    assert browser.post(f"/settings/tokens/{token.pk}/revoke/").status_code == 302
    assert refusal_of(Api(secret).get("threads"))[0] == 401
    browser.get("/settings/")  # says by its name what was revoked
    assert "lost-laptop" not in browser.get("/settings/").content.decode()
    # Once more is not found, and the other tokens go on.
    assert browser.post(f"/settings/tokens/{token.pk}/revoke/").status_code == 404
    data_of(Api(who.alice.token).get("threads"))


def test_nobody_revokes_a_token_of_somebody_else(browser_of, who):
    token, secret = mint(who.alice.user, "mine")
    for name in ("bob", "admin"):
        assert browser_of(name).post(f"/settings/tokens/{token.pk}/revoke/").status_code == 404
    data_of(Api(secret).get("threads"))


def test_a_token_ends_at_its_time_and_not_before(who):
    end = timezone.now() + timedelta(days=1)
    token, secret = mint(who.alice.user, "guest", expires_at=end)
    with time_machine.travel(end - timedelta(seconds=1), tick=False):
        data_of(Api(secret).get("threads"))
        assert token.is_usable
    with time_machine.travel(end, tick=False):
        assert refusal_of(Api(secret).get("threads"))[0] == 401
        assert not token.is_usable


def test_the_last_use_is_noted_at_most_once_a_minute(who):
    now = timezone.now()
    token, secret = mint(who.alice.user, "t")

    def used_at():
        data_of(Api(secret).get("threads"))
        return ApiToken.objects.get(pk=token.pk).last_used_at

    with time_machine.travel(now, tick=False):
        assert used_at() == now
    with time_machine.travel(now + timedelta(seconds=59), tick=False):
        assert used_at() == now
    with time_machine.travel(now + timedelta(seconds=61), tick=False):
        assert used_at() == now + timedelta(seconds=61)


@pytest.mark.django_db(transaction=True)
def test_a_use_that_cannot_be_noted_costs_nobody_the_answer(who):
    """A reader waits for no writer: the note is made when the answer is out."""
    token, secret = mint(who.alice.user, "t")

    def locked(run, sql, *given):
        if sql.startswith("UPDATE"):
            raise OperationalError("database is locked")
        return run(sql, *given)

    with connection.execute_wrapper(locked):
        data_of(Api(secret).get("threads"))
    assert ApiToken.objects.get(pk=token.pk).last_used_at is None


@pytest.mark.parametrize("kind", ["bearer", "BEARER", "Bearer"])
def test_the_kind_of_authorization_is_read_whatever_its_case(who, kind):
    data_of(Api(None, Authorization=f"{kind} {who.alice.token}").get("threads"))


@pytest.mark.parametrize("secret", ["\x00", "x" * 100_000, "🧵", "a b c", "' OR 1=1 --", "hdl_"])
def test_any_secret_at_all_is_answered(db, secret):
    client = Client(raise_request_exception=False, HTTP_AUTHORIZATION=f"Bearer {secret}")
    assert refusal_of(client.get("/v1/ai/threads"))[:2] == (401, "RobotoUnauthorizedException")


def test_an_unknown_a_revoked_and_an_expired_token_are_answered_alike(who):
    """So that tokens cannot be probed."""
    revoked, dead = mint(who.alice.user, "r")
    ApiToken.objects.filter(pk=revoked.pk).update(revoked_at=timezone.now())
    _, old = mint(who.alice.user, "o", expires_at=timezone.now() - timedelta(seconds=1))
    assert len({Api(secret).get("threads").content for secret in ("hdl_nobody", dead, old)}) == 1
