"""When somebody leaves: what the command takes away, what stays, and what comes back."""

import io
from ipaddress import ip_network

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from accounts import members
from accounts.models import Membership, Org, User, mint
from accounts.orgs import add_member
from tests import hooks, make
from tests.conftest import Api, data_of, refusal_of
from tests.pages.dom import dom, get
from tests.people import PASSWORD
from tests.receiver import receiving


@pytest.fixture
def person(who):
    """Run the command for somebody; gives what it said."""

    def run(email, *arguments):
        out = io.StringIO()
        call_command("person", email, *arguments, stdout=out)
        return out.getvalue()

    return run


def signs_in(email):
    return Client().post("/signin/", {"email": email, "password": PASSWORD}).status_code == 302


def test_who_is_switched_off_is_out_at_once_and_what_they_wrote_stays(person, browser_of, who):
    bob, thread = browser_of("bob"), make.thread(who.bob, "Hello", visibility="org")
    said = person("BOB@acme.test", "--off")
    assert said == "bob@acme.test is disabled: signed out everywhere, 1 token revoked.\n"
    assert bob.get("/threads/").status_code == 302 and not signs_in("bob@acme.test")
    assert refusal_of(Api(who.bob.token).get("threads"))[0] == 401
    assert get(browser_of("alice"), f"/threads/{thread.thread_id}/")
    assert person("bob@acme.test", "--off").endswith("0 tokens revoked.\n")


def test_who_is_switched_on_again_signs_in_anew_and_their_tokens_stay_revoked(person, browser_of, who):
    bob = browser_of("bob")
    person("bob@acme.test", "--off")
    mint(who.bob.user, "of a request that was under way")
    assert "sign in with their previous password" in person("bob@acme.test", "--on")
    assert bob.get("/threads/").status_code == 302, "the session of before"
    assert refusal_of(Api(who.bob.token).get("threads"))[0] == 401
    assert not who.bob.user.tokens.filter(revoked_at=None).exists()
    assert signs_in("bob@acme.test")
    assert Membership.objects.filter(user=who.bob.user, org=who.acme).exists()


def test_whoever_is_on_already_loses_nothing_by_it(person, browser_of, who):
    bob = browser_of("bob")
    person("bob@acme.test", "--on")
    assert bob.get("/threads/").status_code == 200
    data_of(Api(who.bob.token).get("threads"))


def test_others_keep_their_sessions_and_tokens(person, browser_of, who):
    alice = browser_of("alice")
    person("bob@acme.test", "--off")
    assert alice.get("/threads/").status_code == 200
    data_of(Api(who.alice.token).get("threads"))


def test_webhooks_of_who_is_switched_off_are_told_nothing(person, who, settings):
    allowed = {"allow_private_targets": (ip_network("127.0.0.0/8"),), "allow_http_targets": True}
    settings.HEDDLE = settings.HEDDLE.model_copy(update=allowed)
    hooks.make_org_admin(who.alice)
    with receiving() as receiver:
        hooks.endpoint(Api(who.alice.token), receiver.url)
        person("alice@acme.test", "--off")
        make.rating(who.bob, make.thread(who.bob, visibility="org"))
        hooks.work()
        assert not receiver.got


def test_a_platform_admin_becomes_a_plain_person(person, browser_of, who):
    admin = browser_of("admin")
    assert person("admin@heddle.test", "--no-admin") == "admin@heddle.test is not a platform admin any more.\n"
    assert "enabled, with a password" in person("admin@heddle.test", "--no-admin"), "nothing changed the second time"
    assert refusal_of(Api(who.admin.token).get("admin/feedback"))[0] == 403
    assert admin.get("/feedback/").status_code == 403
    assert person("admin@heddle.test", "--admin") == "admin@heddle.test is a platform admin.\n"
    data_of(Api(who.admin.token).get("admin/feedback"))


def test_tokens_of_somebody_are_revoked_and_their_sessions_stay(person, browser_of, who):
    bob = browser_of("bob")
    mint(who.bob.user, "second")
    assert person("bob@acme.test", "--revoke-tokens") == "bob@acme.test: 2 tokens revoked.\n"
    assert refusal_of(Api(who.bob.token).get("threads"))[0] == 401
    assert bob.get("/threads/").status_code == 200


def test_a_new_token_takes_the_place_of_those_before(person, who):
    secret = person("bob@acme.test", "--revoke-tokens", "--token", "laptop").splitlines()[-1]
    data_of(Api(secret).get("threads"))
    assert refusal_of(Api(who.bob.token).get("threads"))[0] == 401


@pytest.mark.parametrize("option", ["--off", "--on", "--no-admin", "--revoke-tokens"])
def test_nobody_is_made_to_be_taken_something_from(person, option):
    with pytest.raises(CommandError, match=r"^email: zoe@acme\.test has no account"):
        person("zoe@acme.test", option)
    assert not User.objects.filter(email="zoe@acme.test").exists()


@pytest.mark.parametrize("options", [("--on", "--off"), ("--admin", "--no-admin"), ("--off", "--token", "x")])
def test_what_contradicts_itself_is_refused(person, who, options):
    with pytest.raises(CommandError, match=r"not allowed with|token: "):
        person("bob@acme.test", *options)
    assert User.objects.get(email="bob@acme.test").is_active
    data_of(Api(who.bob.token).get("threads"))


def test_no_token_is_made_for_who_is_switched_off(person):
    person("bob@acme.test", "--off")
    with pytest.raises(CommandError, match=r"^token: bob@acme\.test is disabled"):
        person("bob@acme.test", "--token", "x")


def test_an_account_that_comes_into_a_further_org_is_said_to_keep_what_it_has(person, who):
    said = "eve@globex.test already had an account, in globex; password and tokens are unchanged.\n"
    assert person("eve@globex.test", "--org", "acme").endswith(said)
    assert "already had" not in person("eve@globex.test", "--org", "acme")
    assert "zoe@acme.test was created" in person("zoe@acme.test", "--org", "acme", "--no-password")


def test_an_org_keeps_an_admin_who_can_sign_in(person, browser_of, who):
    """One who is switched off administers nothing."""
    hooks.make_org_admin(who.alice)
    hooks.make_org_admin(who.bob)
    person("bob@acme.test", "--off")
    alice = Membership.objects.get(user=who.alice.user)
    page = dom(browser_of("alice").post(f"/settings/members/{alice.pk}/role/", {"role": "member"}), 400)
    assert "only admin" in page.one(role="alert").words


def test_one_of_no_admin_is_named_when_the_last_is_switched_off(person, who):
    hooks.make_org_admin(who.alice)
    add_member(Org.objects.create(slug="third", name="Third"), who.alice.user)
    assert "acme has no admin now. To appoint one: manage.py org_role acme EMAIL admin" in person(
        "alice@acme.test", "--off"
    )


def test_who_was_only_invited_is_no_admin_who_is_left(person, who):
    hooks.make_org_admin(who.alice)
    members.add(who.alice.actor, "acme", "new@acme.test", role="admin")
    assert "acme has no admin now." in person("alice@acme.test", "--off")
    assert "acme has no admin now." in person("alice@acme.test", "--off"), "nor when it is said again"
    User.objects.filter(email="new@acme.test").update(last_login=timezone.now())
    assert "no admin" not in person("alice@acme.test", "--off")
