"""Orgs, members, policies and tokens over REST: whatever the settings pages do."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts import tokens
from accounts.models import ApiToken, Membership, Org, User, mint
from core.errors import InvalidRequest
from tests import hooks
from tests.conftest import data_of, refusal_of


@pytest.fixture
def org(who):
    """The path of acme, of which alice is an admin."""
    hooks.make_org_admin(who.alice)
    return f"/v1/orgs/{Org.objects.get(slug='acme').org_id}"


def pages(client, path, limit):
    """All items of a list, page by page."""
    found, token = [], ""
    while token is not None:
        page = data_of(client.get(f"{path}?limit={limit}{token and f'&page_token={token}'}"))
        found += page["items"]
        token = page["next_token"]
    return found


def test_the_orgs_that_one_may_act_in(api, org):
    assert [each["slug"] for each in pages(api("alice"), "/v1/orgs", 1)] == ["acme"]
    assert [each["slug"] for each in pages(api("admin"), "/v1/orgs", 1)] == ["acme", "globex"]
    assert data_of(api("bob").get(org))["members_may_fork"] is False


def test_a_policy_is_set_and_the_others_stay(api, org):
    assert data_of(api("alice").patch(org, {"members_may_fork": True}))["members_may_fork"] is True
    after = data_of(api("alice").patch(org, {"visibility_may_change": True}))
    assert (after["members_may_fork"], after["visibility_may_change"]) == (True, True)
    assert refusal_of(api("alice").patch(org, {"members_may_fork": "yes"}))[0] == 400


def test_somebody_is_added_invited_made_an_admin_and_removed(api, org):
    alice = api("alice")
    body = {"email": " New@acme.test ", "name": "Nadia New", "role": "member"}
    response = alice.post(f"{org}/members", body)
    added = data_of(response)
    assert (added["email"], added["name"], added["is_invited"]) == ("new@acme.test", "Nadia New", True)
    assert "no-store" in response.headers["Cache-Control"] and added["invitation_path"].startswith("/welcome/")
    assert refusal_of(alice.post(f"{org}/members", body))[2] == "email: is already a member"
    again = data_of(alice.post(f"{org}/members/new@acme.test/invitation", {}))
    assert again["invitation_path"].startswith("/welcome/")
    member = f"{org}/members/new%40acme.test"
    assert data_of(alice.patch(member, {"role": "admin"}))["role"] == "admin"
    assert Membership.objects.get(user__email="new@acme.test").role == "admin"
    assert "invitation_path" not in data_of(alice.get(member))
    data_of(alice.request("DELETE", member))
    assert refusal_of(alice.get(member))[0] == 404 and User.objects.filter(email="new@acme.test").exists()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "email"),
        ({"email": "no address"}, "email"),
        ({"email": "x@acme.test", "role": "owner"}, "role"),
        ({"email": "x@acme.test", "name": "two\nlines"}, "name"),
        ({"email": "x@acme.test", "name": "a\x00b"}, "name"),
        ({"email": "eve@globex.test"}, "email"),
    ],
)
def test_whoever_cannot_be_added_is_refused_by_field(api, org, body, field):
    before = User.objects.count()
    status, _, said = refusal_of(api("alice").post(f"{org}/members", body))
    assert status == 400 and said.startswith(field)
    assert User.objects.count() == before


def test_the_last_admin_of_an_org_stays_one(api, org, who):
    own = f"{org}/members/{who.alice.user.email}"
    for answer in (api("alice").patch(own, {"role": "member"}), api("alice").request("DELETE", own)):
        assert "only admin" in refusal_of(answer)[2]


def test_who_cannot_sign_in_yet_is_no_admin_to_be_kept_nor_enough(api, org, who):
    """A wrong invitation can be taken back, and nobody is left with only that one."""
    alice, new = api("alice"), f"{org}/members/new@acme.test"
    data_of(alice.post(f"{org}/members", {"email": "new@acme.test", "role": "admin"}))
    for answer in (
        alice.patch(f"{org}/members/{who.alice.user.email}", {"role": "member"}),
        alice.request("DELETE", f"{org}/members/{who.alice.user.email}"),
    ):
        assert "only admin" in refusal_of(answer)[2]
    Membership.objects.filter(user=who.alice.user).update(role="member")
    assert data_of(api("admin").patch(new, {"role": "member"}))["role"] == "member"
    data_of(api("admin").patch(new, {"role": "admin"}))
    data_of(api("admin").request("DELETE", new))
    assert not Membership.objects.filter(user__email="new@acme.test").exists()


def test_members_come_in_pages_with_constant_queries(api, org, django_assert_num_queries):
    alice = api("alice")
    data_of(alice.get(f"{org}/members"))
    with CaptureQueriesContext(connection) as asked:
        data_of(alice.get(f"{org}/members"))
    for number in range(5):
        data_of(alice.post(f"{org}/members", {"email": f"n{number}@acme.test"}))
    with django_assert_num_queries(len(asked)):
        data_of(alice.get(f"{org}/members"))
    emails = [each["email"] for each in pages(alice, f"{org}/members", 2)]
    assert emails == sorted(emails) and len(emails) == Membership.objects.filter(org__slug="acme").count()


def test_ones_own_tokens_are_listed_without_their_secrets_and_revoked(api, who):
    row, secret = mint(who.alice.user, "ci", scope="read")
    listed = pages(api("alice"), "/v1/tokens", 1)
    assert (listed[0]["name"], listed[0]["scope"], listed[0]["hint"]) == ("ci", "read", secret[:9])
    assert secret not in str(listed)
    data_of(api("alice").request("DELETE", f"/v1/tokens/{row.pk}"))
    assert row.pk not in [each["token_id"] for each in pages(api("alice"), "/v1/tokens", 50)]
    assert refusal_of(api("alice").request("DELETE", f"/v1/tokens/{row.pk}"))[0] == 404
    for odd in ("x", "²", "9" * 30):
        assert refusal_of(api("alice").request("DELETE", f"/v1/tokens/{odd}"))[0] == 404


def test_nobody_has_more_active_tokens_than_a_page_can_show(who, monkeypatch):
    monkeypatch.setattr(tokens, "MOST", ApiToken.objects.filter(user=who.alice.user).count() + 1)
    tokens.create(who.alice.user, "one more", scope="write", days="30")
    with pytest.raises(InvalidRequest, match="revoke one first"):
        tokens.create(who.alice.user, "too many", scope="write", days="30")
