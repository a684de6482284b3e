"""Sign-in: what it answers, and how it is slowed down after wrong passwords."""

from contextlib import suppress

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts import pages, throttle
from core.errors import Unavailable
from tests.people import PASSWORD

WRONG = "not-the-password"


@pytest.fixture
def sign_in(who):
    """Try to sign in; each call is a browser of its own."""

    def attempt(password=WRONG, email="alice@acme.test", caller="203.0.113.1", **form):
        return Client(REMOTE_ADDR=caller).post("/signin/", {"email": email, "password": password, **form})

    return attempt


def test_the_right_password_signs_in_and_leads_to_the_threads(sign_in):
    response = sign_in(PASSWORD)
    assert (response.status_code, response.headers["Location"]) == (302, "/threads/")
    assert response.cookies["sessionid"]["httponly"]
    assert response.cookies["sessionid"]["samesite"] == "Lax"


@pytest.mark.parametrize("email", [" Alice@ACME.test ", "ALICE@acme.TEST"])
def test_the_address_is_the_same_however_it_is_written(sign_in, email):
    assert sign_in(PASSWORD, email=email).status_code == 302


def test_a_wrong_password_and_an_unknown_address_look_alike(sign_in):
    for response in (sign_in(), sign_in(email="nobody@acme.test")):
        assert response.status_code == 400
        assert b"Wrong email or password." in response.content
        assert "sessionid" not in response.cookies


def test_after_five_wrong_passwords_even_the_right_one_has_to_wait_a_minute(sign_in, settings):
    # Redis has a clock of its own, which no test can put on.
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "throttle"}}
    now = timezone.now()
    with time_machine.travel(now, tick=False):
        assert [sign_in().status_code for _ in range(5)] == [400] * 5
        assert sign_in(PASSWORD).status_code == 429
    with time_machine.travel(now.timestamp() + throttle.PAUSE_SECONDS - 1, tick=False):
        assert sign_in(PASSWORD).status_code == 429
    with time_machine.travel(now.timestamp() + throttle.PAUSE_SECONDS + 1, tick=False):
        assert sign_in(PASSWORD).status_code == 302


def test_the_minute_begins_with_the_last_wrong_password(sign_in, settings):
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "minute"}}
    now = timezone.now().timestamp()
    for seconds in (0, 0, 0, 0, throttle.PAUSE_SECONDS - 5):
        with time_machine.travel(now + seconds, tick=False):
            assert sign_in().status_code == 400
    for seconds, status in ((throttle.PAUSE_SECONDS + 1, 429), (2 * throttle.PAUSE_SECONDS - 4, 302)):
        with time_machine.travel(now + seconds, tick=False):
            assert sign_in(PASSWORD).status_code == status


@pytest.fixture
def at_once(monkeypatch, sign_in):
    """`at_once(n)`: the answers to as many tries, each of which is made before the password of the last is known."""

    def answers(number, caller="203.0.113.{}"):
        tries, given, looked_at = iter(range(number)), [], []

        def make():
            given.extend(sign_in(caller=caller.format(each)).status_code for each in tries)

        def look(request, **credentials):
            looked_at.append(credentials)
            make()

        monkeypatch.setattr(pages, "authenticate", look)
        make()
        monkeypatch.undo()
        return sorted(given), len(looked_at)

    return answers


def test_of_tries_at_once_no_more_passwords_are_looked_at_than_one_after_the_other(sign_in, at_once):
    assert at_once(10, "203.0.113.1") == ([400] * 5 + [429] * 5, 5)
    assert sign_in(PASSWORD).status_code == 429


def test_of_tries_at_once_from_everywhere_no_more_are_looked_at_either(sign_in, at_once):
    for number in range(throttle.TRIES_PER_ADDRESS - 5):
        sign_in(caller=f"198.51.100.{number}")
    assert at_once(10) == ([400] * 5 + [429] * 5, 5)
    assert sign_in(PASSWORD, caller="192.0.2.1").status_code == 429


def test_tries_that_were_refused_are_none_of_the_address(sign_in):
    """Or one caller who goes on and on would keep everybody out."""
    for _ in range(throttle.TRIES_PER_ADDRESS + 10):
        sign_in()
    assert sign_in().status_code == 429
    assert sign_in(PASSWORD, caller="203.0.113.2").status_code == 302


def test_right_passwords_are_none_of_the_tries_of_an_address(sign_in):
    for number in range(throttle.TRIES_PER_ADDRESS + 1):
        assert sign_in(PASSWORD, caller=f"203.0.113.{number}").status_code == 302


def test_the_pause_is_of_one_address_and_one_caller(sign_in):
    for _ in range(5):
        sign_in()
    assert sign_in(PASSWORD).status_code == 429
    assert sign_in(PASSWORD, caller="203.0.113.2").status_code == 302
    assert sign_in(PASSWORD, email="bob@acme.test").status_code == 302


def test_from_many_callers_an_address_is_paused_as_a_whole(sign_in):
    """Otherwise a thousand machines have five tries each."""
    for number in range(throttle.TRIES_PER_ADDRESS):
        assert sign_in(caller=f"203.0.113.{number}").status_code == 400
    assert sign_in(PASSWORD, caller="198.51.100.7").status_code == 429
    assert sign_in(PASSWORD, email="bob@acme.test", caller="198.51.100.7").status_code == 302


def test_tries_are_counted_for_an_unknown_address_too(sign_in):
    """A pause must not tell who exists."""
    answers = [
        [sign_in(email=email).status_code for _ in range(6)] for email in ("alice@acme.test", "nobody@acme.test")
    ]
    assert answers[0] == answers[1] == [400] * 5 + [429]


def test_the_right_password_forgets_the_wrong_ones(sign_in):
    for _ in range(3):
        assert [sign_in().status_code for _ in range(4)] == [400] * 4
        assert sign_in(PASSWORD).status_code == 302


def test_another_spelling_of_the_address_is_no_new_chance(sign_in):
    for email in ("alice@acme.test", "Alice@acme.test", " alice@acme.test", "ALICE@ACME.TEST", "alice@acme.test "):
        sign_in(email=email)
    assert sign_in(PASSWORD).status_code == 429


@pytest.mark.parametrize("email", ["", "x" * 5000, "a\x00b@acme.test", "ü" * 300, "alice", "🧵@acme.test", "a b\r\nc"])
def test_any_address_at_all_is_answered(sign_in, email):
    assert sign_in(email=email).status_code == 400


@pytest.mark.parametrize(("password", "status"), [("", 400), ("x" * 100_000, 413), ("\x00", 400), ("🧵", 400)])
def test_any_password_at_all_is_answered(sign_in, password, status):
    assert sign_in(password).status_code == status


def test_a_person_who_was_switched_off_cannot_sign_in(sign_in, who):
    who.alice.user.is_active = False
    who.alice.user.save()
    assert sign_in(PASSWORD).status_code == 400


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("/feedback/?item=fb_1", "/feedback/?item=fb_1"),
        ("https://elsewhere.test/", "/threads/"),
        ("//elsewhere.test/", "/threads/"),
        ("javascript:alert(1)", "/threads/"),
        ("/\\elsewhere.test", "/threads/"),
        ("http:///elsewhere.test", "/threads/"),
        ("", "/threads/"),
    ],
)
def test_after_signing_in_only_places_on_this_server_are_gone_to(sign_in, target, place):
    assert sign_in(PASSWORD, next=target).headers["Location"] == place


def test_signing_in_gives_the_session_a_new_key_and_signing_out_ends_it(who):
    browser = Client()
    browser.force_login(who.bob.user)
    before = browser.session.session_key
    browser.post("/signin/", {"email": "alice@acme.test", "password": PASSWORD})
    assert browser.session.session_key != before
    browser.post("/signout/")
    assert browser.get("/threads/").status_code == 302


def test_an_address_that_is_tried_from_everywhere_waits_a_quarter_of_an_hour_and_is_told_so(sign_in, settings):
    """From the first wrong password on: tries that go on do not make it longer, and are none of who makes them."""
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "address"}}
    now = timezone.now()
    with time_machine.travel(now, tick=False):
        for each in range(throttle.TRIES_PER_ADDRESS // 2):
            sign_in(caller=f"203.0.113.{each}")
    later = now.timestamp() + throttle.WINDOW_SECONDS - 1
    with time_machine.travel(later, tick=False):
        for each in range(throttle.TRIES_PER_ADDRESS // 2):
            sign_in(caller=f"203.0.113.{100 + each}")
        for _ in range(throttle.TRIES):
            refused = sign_in(PASSWORD, caller="198.51.100.1")
            assert refused.status_code == 429
            assert b"Try again in 15 minutes" in refused.content
    with time_machine.travel(later + 2, tick=False):
        assert sign_in(PASSWORD, caller="198.51.100.1").status_code == 302


def test_tries_for_addresses_that_nobody_has_push_out_no_count(sign_in):
    """In memory only so many counts are kept: each try keeps two."""
    for _ in range(throttle.TRIES):
        sign_in()
    for number in range(400):
        with throttle.counted(f"nobody-{number}@acme.test", "203.0.113.2"):
            pass
    assert sign_in(PASSWORD).status_code == 429


def test_tries_that_cost_nothing_are_not_kept(sign_in, settings):
    """Of an address that cannot be anybody's, and of tries that were none: there may be any number of either."""
    memory = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "few", "max_entries": 30}
    settings.CACHES = {"default": memory}
    for _ in range(throttle.TRIES):
        sign_in()
    for number in range(40):
        assert sign_in(email=f"x{number}@acme.test\x00").status_code == 400
        with suppress(Unavailable), throttle.counted(f"nobody-{number}@acme.test", "203.0.113.2"):
            raise Unavailable("too many wait")
    assert sign_in(PASSWORD).status_code == 429


def test_who_guesses_from_everywhere_does_not_keep_the_owner_out(sign_in):
    """The browser in which somebody has signed in before is counted apart from all others."""
    mine = Client(REMOTE_ADDR="203.0.113.7")
    asked = {"email": "alice@acme.test", "password": PASSWORD}
    assert mine.post("/signin/", asked).status_code == 302
    mine.post("/signout/")
    for number in range(throttle.TRIES_PER_ADDRESS):
        assert sign_in(caller=f"198.51.100.{number // 5}").status_code == 400
    for _ in range(throttle.TRIES):
        sign_in(caller="203.0.113.7")
    assert sign_in(PASSWORD, caller="192.0.2.1").status_code == 429
    assert mine.post("/signin/", asked).status_code == 302


def test_a_known_browser_is_slowed_down_too_and_known_for_one_address_only(sign_in):
    mine = Client()
    assert mine.post("/signin/", {"email": "alice@acme.test", "password": PASSWORD}).status_code == 302
    mine.post("/signout/")
    tries = [mine.post("/signin/", {"email": "alice@acme.test", "password": WRONG}).status_code for _ in range(6)]
    assert tries == [400] * 5 + [429]
    assert sign_in(PASSWORD).status_code == 302, "who is not known has counters of their own"
    for number in range(throttle.TRIES_PER_ADDRESS):
        sign_in(email="bob@acme.test", caller=f"198.51.100.{number // 5}")
    assert mine.post("/signin/", {"email": "bob@acme.test", "password": PASSWORD}).status_code == 429


def test_a_made_up_cookie_makes_no_browser_known(sign_in):
    for number in range(throttle.TRIES_PER_ADDRESS):
        sign_in(caller=f"198.51.100.{number // 5}")
    forger = Client()
    forger.cookies["known"] = f"{throttle.name_of('alice@acme.test')} x:1sOmEt:forged"
    assert forger.post("/signin/", {"email": "alice@acme.test", "password": PASSWORD}).status_code == 429
