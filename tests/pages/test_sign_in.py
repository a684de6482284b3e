"""The door: signing in, coming back to where one wanted to go, the pause, and signing out."""

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from accounts.models import User
from accounts.naming import FIRST_PERSON
from config.management.commands import serve
from tests import make
from tests.pages.dom import Node, dom, get, submit
from tests.people import PASSWORD, People

Browser = Callable[[str | None], Client]


def door(client: Client, target: str = "") -> Node:
    return get(client, "/signin/" + (f"?next={target}" if target else "")).one("form")


def test_the_door_shows_nothing_but_the_form(browser_of: Browser) -> None:
    page = get(browser_of(None), "/signin/")
    assert page.none("nav") and page.none("header", class_="top")
    assert [label.words for label in page.all("label")] == ["Email", "Password"]
    assert page.id("password")["autocomplete"] == "current-password"
    assert page.id("email").has("autofocus")


@pytest.mark.django_db
def test_an_installation_without_people_says_how_to_begin() -> None:
    """At the door and in the server's first words; once there is somebody, neither does."""
    told = lambda: (FIRST_PERSON in get(Client(), "/signin/").words, FIRST_PERSON in serve._welcome())  # noqa: E731
    assert told() == (True, True)
    User.objects.create_user("first@acme.test", PASSWORD)
    assert told() == (False, False)


@pytest.mark.parametrize(
    "path", ["/threads/", "/threads/start/", "/settings/", "/feedback/", "/threads/?q=a%26b&view=mine"]
)
def test_every_page_sends_strangers_to_the_door_and_brings_them_back(browser_of: Browser, path: str) -> None:
    client = browser_of("admin" if path == "/feedback/" else "alice")
    client.logout()
    refused = client.get(path)
    assert refused.status_code == 302
    assert parse_qs(urlsplit(refused["Location"]).query)["next"] == [path]
    email = "admin@heddle.test" if path == "/feedback/" else "alice@acme.test"
    entered = submit(client, get(client, refused["Location"]).one("form"), email=email, password=PASSWORD)
    assert (entered.status_code, entered["Location"]) == (302, path)
    get(client, path)


@pytest.mark.parametrize("sent", [{"Origin": "https://heddle.local"}, {"Referer": "https://elsewhere.test/signin/"}])
def test_an_address_that_heddle_was_not_told_is_named_as_the_reason(who: People, sent: dict[str, str]) -> None:
    """A proxy speaks https and Heddle does not know: no reload of the page would help."""
    client = Client(enforce_csrf_checks=True, headers=sent)
    client.get("/signin/", secure="Referer" in sent)
    answer = client.post("/signin/", {"email": "alice@acme.test", "password": PASSWORD}, secure="Referer" in sent)
    said = dom(answer, 403).one("main").words
    assert "from an unexpected address" in said and "too old" not in said
    assert "HEDDLE_PUBLIC_URL" in said and "HEDDLE_HTTPS" in said


def test_what_a_script_asks_for_is_refused_a_stranger_with_the_way_back(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice)
    here = f"/threads/{thread.thread_id}/"
    sent = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{here}?a=b#m1"}
    lost = "You are signed out; nothing was stored. Sign in and send it again."
    for refused, said in (
        (browser_of(None).get(f"{here}messages/1/rate/", headers=sent), "You are signed out."),
        (browser_of(None).post(f"{here}pin/", {"pinned": "true"}, headers=sent), lost),
    ):
        told = dom(refused, 401).one("main")
        assert said in told.words and "req_" in told.words
        way_in = told.one("a", class_="btn")
        assert parse_qs(urlsplit(way_in["href"]).query)["next"] == [f"{here}?a=b#m1"]


@pytest.mark.parametrize(
    ("referer", "back"),
    [
        ("http://testserver/threads/x/?q=1", "/threads/x/?q=1"),
        ("https://elsewhere.example/threads/x/", "/"),
        ("//elsewhere.example/", "/"),
        ("javascript:alert(1)", "/"),
        ("", "/"),
    ],
)
def test_a_form_of_a_stranger_leads_back_to_its_page(browser_of: Browser, referer: str, back: str) -> None:
    refused = browser_of(None).post("/threads/x/send/", {"text": "Hi"}, headers={"Referer": referer})
    assert refused.status_code == 302
    assert parse_qs(urlsplit(refused["Location"]).query)["next"] == [back]


def test_the_address_may_be_written_in_any_case(browser_of: Browser, who: People) -> None:
    client = browser_of(None)
    entered = submit(client, door(client), email="  ALICE@Acme.test ", password=PASSWORD)
    assert entered["Location"] == "/threads/"


def test_a_wrong_password_keeps_the_address_and_says_how_many_tries_are_left(browser_of: Browser, who: People) -> None:
    client = browser_of(None)
    refused = dom(submit(client, door(client, "/settings/"), email="alice@acme.test", password="not this one"), 400)
    assert refused.one(role="alert").words == "Wrong email or password. 4 more attempts before a pause of one minute."
    assert refused.id("email")["value"] == "alice@acme.test"
    password = refused.id("password")
    assert password.get("value") is None
    assert (password["aria-invalid"], password["aria-describedby"]) == ("true", refused.one(role="alert")["id"])
    assert not door(client).id("password").has("aria-invalid")
    assert refused.id("password").has("autofocus") and not refused.id("email").has("autofocus")
    assert refused.one("input", name="next")["value"] == "/settings/"
    assert "_auth_user_id" not in client.session


def test_an_unknown_address_is_told_the_same_as_a_wrong_password(browser_of: Browser, who: People) -> None:
    client = browser_of(None)
    known = dom(submit(client, door(client), email="alice@acme.test", password="not this one"), 400)
    unknown = dom(submit(client, door(client), email="nobody@acme.test", password="not this one"), 400)
    assert known.one(role="alert").words == unknown.one(role="alert").words


def test_the_sixth_wrong_password_meets_a_pause_and_so_does_the_right_one(browser_of: Browser, who: People) -> None:
    client = browser_of(None)
    for _ in range(5):
        dom(submit(client, door(client), email="alice@acme.test", password="not this one"), 400)
    paused = dom(submit(client, door(client), email="alice@acme.test", password=PASSWORD), 429)
    assert paused.one(role="alert").words.startswith("Sign-in is paused.")
    assert "_auth_user_id" not in client.session
    other = submit(client, door(client), email="bob@acme.test", password=PASSWORD)
    assert other.status_code == 302


@pytest.mark.parametrize(
    "target",
    [
        *("https://elsewhere.example/", "//elsewhere.example/", "/\\elsewhere.example", "http:elsewhere.example"),
        *("javascript:alert(1)", "\thttps://elsewhere.example/", "https:///elsewhere.example", "0"),
    ],
)
def test_nobody_is_sent_to_another_host_afterwards(browser_of: Browser, who: People, target: str) -> None:
    client = browser_of(None)
    form = get(client, "/signin/").one("form")
    entered = submit(client, form, email="alice@acme.test", password=PASSWORD, next=target)
    assert (entered.status_code, entered["Location"]) == (302, "/threads/")
    switched = client.post("/org/", {"org": "acme", "next": target})
    assert (switched.status_code, switched["Location"]) == (302, "/threads/")


def test_somebody_who_is_inside_does_not_see_the_door(browser_of: Browser) -> None:
    answer = browser_of("alice").get("/signin/?next=/settings/")
    assert (answer.status_code, answer["Location"]) == (302, "/settings/")


def test_an_address_that_no_database_keeps_is_a_wrong_one(browser_of: Browser, who: People) -> None:
    client = browser_of(None)
    for email in ("a\x00@acme.test", "x" * 5_000, "\ud800".encode("utf-8", "surrogatepass").decode(errors="replace")):
        dom(submit(client, door(client), email=email, password="not this one"), 400)


def test_the_session_gets_another_key_at_the_door(browser_of: Browser, who: People) -> None:
    client = browser_of(None)
    session = client.session
    session["seen"] = True
    session.save()
    before = session.session_key
    submit(client, door(client), email="alice@acme.test", password=PASSWORD)
    assert before and client.session.session_key not in (None, before)


def test_signing_out_ends_the_session_and_is_no_link(browser_of: Browser) -> None:
    client = browser_of("alice")
    form = get(client, "/threads/").one("form", action="/signout/")
    assert client.get("/signout/").status_code == 405
    get(client, "/threads/")
    assert submit(client, form).status_code == 302
    assert client.get("/threads/").status_code == 302


def test_somebody_who_was_deactivated_is_out_with_the_next_request(browser_of: Browser, who: People) -> None:
    client = browser_of("alice")
    get(client, "/threads/")
    type(who.alice.user).objects.filter(pk=who.alice.user.pk).update(is_active=False)
    assert client.get("/threads/").status_code == 302
