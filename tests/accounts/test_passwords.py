"""How passwords are kept."""

from django.conf import global_settings
from django.contrib.auth.hashers import check_password, identify_hasher

from accounts.models import User
from config import settings as product
from tests.people import PASSWORD


def test_passwords_are_kept_by_the_slow_hash_of_the_framework(db, settings):
    """The tests' own quick one is nowhere in the product's settings."""
    assert not hasattr(product, "PASSWORD_HASHERS")
    settings.PASSWORD_HASHERS = global_settings.PASSWORD_HASHERS
    user = User.objects.create_user("slow@acme.test", PASSWORD)
    assert PASSWORD not in user.password
    assert identify_hasher(user.password).algorithm == "pbkdf2_sha256"
    assert check_password(PASSWORD, user.password)


def test_somebody_without_a_password_signs_in_with_none(db):
    user = User.objects.create_user("bare@acme.test")
    assert not user.has_usable_password()
    assert not any(user.check_password(guess) for guess in ("", "None", user.password))


def test_equal_passwords_look_different(who):
    assert who.alice.user.password != who.bob.user.password
