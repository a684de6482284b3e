"""How passwords are kept."""

import threading
import time

import pytest
from django.conf import global_settings
from django.contrib.auth.hashers import (
    PBKDF2PasswordHasher,
    check_password,
    get_hashers_by_algorithm,
    identify_hasher,
    make_password,
)
from django.test import Client

from accounts import invitations
from accounts.models import User
from config import settings as product
from core.errors import Unavailable
from tests.people import PASSWORD

NEW = "another long password"


@pytest.fixture
def slow(settings):
    """The product's own hash; the tests' quick one is nowhere in its settings."""
    settings.PASSWORD_HASHERS = product.PASSWORD_HASHERS


def test_passwords_are_kept_by_the_slow_hash_of_the_framework(db, slow, settings):
    user = User.objects.create_user("slow@acme.test", PASSWORD)
    assert PASSWORD not in user.password
    assert identify_hasher(user.password).algorithm == "pbkdf2_sha256"
    assert check_password(PASSWORD, user.password)
    settings.PASSWORD_HASHERS = global_settings.PASSWORD_HASHERS
    assert check_password(PASSWORD, user.password)
    assert not get_hashers_by_algorithm()["pbkdf2_sha256"].must_update(user.password)


class Crowd:
    """Forty passwords that are hashed at once, none of which is done before they may all go."""

    def __init__(self) -> None:
        self.most, self.refused = 0, 0
        self._inside, self._lock, self._may_go = 0, threading.Lock(), threading.Event()
        self._threads = [threading.Thread(target=self._ask) for _ in range(40)]

    def come(self) -> None:
        """Here when all that are to be refused have been."""
        for thread in self._threads:
            thread.start()
        for _ in range(1000):
            if self.refused >= 40 - 2 - 16:
                return
            time.sleep(0.01)

    def go(self) -> None:
        self._may_go.set()
        for thread in self._threads:
            thread.join()

    def _ask(self) -> None:
        try:
            make_password("held")
        except Unavailable:
            with self._lock:
                self.refused += 1

    def hold(self) -> None:
        with self._lock:
            self._inside += 1
            self.most = max(self.most, self._inside)
        self._may_go.wait()
        with self._lock:
            self._inside -= 1


@pytest.fixture
def crowd(monkeypatch, slow, who):
    crowd, encode = Crowd(), PBKDF2PasswordHasher.encode

    def held(hasher, password, salt, iterations=None):
        if password == "held":
            crowd.hold()
        return encode(hasher, password, salt, 1)

    monkeypatch.setattr(PBKDF2PasswordHasher, "encode", held)
    for person in (who.alice, who.bob):
        person.user.set_password(PASSWORD)
        person.user.save()
    crowd.come()
    yield crowd
    crowd.go()


def test_of_many_passwords_at_once_two_are_hashed_a_few_wait_and_the_others_are_refused(db, who, crowd):
    """Nobody signed in could otherwise take every thread of the server, by addresses that are made up."""
    somebody = Client()
    for email in ("alice@acme.test", "nobody@acme.test") * 6:
        refused = somebody.post("/signin/", {"email": email, "password": PASSWORD})
        assert refused.status_code == 503 and int(refused["Retry-After"]) > 0
        assert "Heddle is busy." in refused.content.decode()
    crowd.go()
    assert (crowd.most, crowd.refused) == (2, 22)
    # What was refused was no guess.
    assert somebody.post("/signin/", {"email": "alice@acme.test", "password": PASSWORD}).status_code == 302


def test_a_crowd_at_the_door_keeps_a_password_as_it_was_and_counts_no_try(db, who, crowd):
    change = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    inside, newcomer = Client(), Client()
    inside.force_login(who.alice.user)
    choosing = newcomer.get(invitations.path_for(who.bob.user))["Location"]
    for _ in range(6):
        assert inside.post("/settings/password/", change).status_code == 503
        assert newcomer.post(choosing, change).status_code == 503
    crowd.go()
    assert inside.post("/settings/password/", change).status_code == 302
    assert newcomer.post(choosing, change).status_code == 302
    for person in (who.alice.user, who.bob.user):
        person.refresh_from_db()
        assert check_password(NEW, person.password)


def test_somebody_without_a_password_signs_in_with_none(db):
    user = User.objects.create_user("bare@acme.test")
    assert not user.has_usable_password()
    assert not any(user.check_password(guess) for guess in ("", "None", user.password))


def test_equal_passwords_look_different(who):
    assert who.alice.user.password != who.bob.user.password
