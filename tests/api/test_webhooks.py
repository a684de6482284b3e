"""Webhooks through REST: making, changing, rotating, removing them, and reading their log."""

import pytest
from django.test import override_settings
from django.utils import timezone

from accounts.models import Membership
from feedback.models.webhook import WebhookDelivery, WebhookEndpoint
from feedback.webhooks import deliveries, endpoints, sending
from tests import hooks
from tests.api.test_queries import TOKEN, same_with_more_rows
from tests.conftest import data_of, refusal_of

URL = "https://hooks.example.org/in"
INVALID = (400, "RobotoInvalidRequestException")


@pytest.fixture
def alice(who, api):
    """An admin of acme."""
    hooks.make_org_admin(who.alice)
    return api("alice")


def path(webhook, *more):
    return "/".join(("/v1/webhooks", webhook["webhook_id"], *more))


def test_a_webhook_is_made_and_its_secret_is_shown_once(alice, who):
    made = hooks.endpoint(alice, URL, *hooks.SAID, description="the mirror")
    assert made["secret"].startswith("whsec_") and len(made["secret"]) == 50
    assert (made["url"], made["events"], made["description"]) == (URL, hooks.SAID, "the mirror")
    assert (made["org_id"], made["created_by"], made["enabled"]) == (who.acme.org_id, "alice@acme.test", True)
    shown = data_of(alice.get(path(made)))
    assert "secret" not in shown
    assert shown == {key: value for key, value in made.items() if key != "secret"}
    assert data_of(alice.get("/v1/webhooks"))["items"] == [shown]


def test_two_webhooks_have_two_secrets_and_none_is_stored(alice):
    first, second = (hooks.endpoint(alice, URL) for _ in range(2))
    assert first["secret"] != second["secret"]
    stored = str(list(WebhookEndpoint.objects.values()))
    assert first["secret"].removeprefix("whsec_") not in stored


def test_an_admin_of_the_platform_hears_of_every_org_unless_one_is_named(api, who):
    admin = api("admin")
    assert hooks.endpoint(admin, URL, *hooks.ALL)["org_id"] is None
    assert hooks.endpoint(admin, URL, org_id=who.globex.org_id)["org_id"] == who.globex.org_id
    by_header = admin.post("/v1/webhooks", {"url": URL, "events": hooks.SAID}, **{"X-Roboto-Org-Id": who.acme.org_id})
    assert data_of(by_header)["org_id"] == who.acme.org_id


def test_members_make_none_and_admins_of_an_org_none_for_another(alice, api, who):
    body = {"url": URL, "events": hooks.SAID}
    for client, org in ((api("bob"), None), (api("bob"), who.acme), (alice, who.globex)):
        said = refusal_of(client.post("/v1/webhooks", body | ({"org_id": org.org_id} if org else {})))
        assert said[:2] == (403, "RobotoUnauthorizedException")
    assert refusal_of(api("bob").post("/v1/webhooks", b"{not json"))[0] == 403  # spec 1.4: the right before the body
    assert refusal_of(alice.post("/v1/webhooks", b"{not json"))[0] == 400
    assert not WebhookEndpoint.objects.exists()


@pytest.mark.parametrize("event", ["feedback.resolved", "feedback.reopened"])
def test_triage_is_told_to_platform_admins_only(alice, event):
    """B133: making one and changing one."""
    said = refusal_of(alice.post("/v1/webhooks", {"url": URL, "events": [event]}))
    assert said == (*INVALID, f"events: {event} can be sent to platform admins only")
    made = hooks.endpoint(alice, URL)
    assert refusal_of(alice.patch(path(made), {"events": [event]}))[:2] == INVALID
    assert data_of(alice.get(path(made)))["events"] == hooks.SAID


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"url": "http://hooks.example.org/"}, "url"),
        ({"url": "https://127.0.0.1/"}, "url"),
        ({"url": "https://169.254.169.254/latest/meta-data"}, "url"),
        ({"url": ""}, "url"),
        ({"url": 7}, "url"),
        ({"url": "https://x.example/" + "x" * 2000}, "url"),
        ({"events": []}, "events"),
        ({"events": ["feedback.deleted"]}, "events.0"),
        ({"events": "feedback.submitted"}, "events"),
        ({"description": "x" * 201}, "description"),
        ({"description": "two\nlines"}, "description"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_stored(alice, change, field):
    """B167: when it is made, and when it is changed."""
    body = {"url": URL, "events": hooks.SAID}
    assert refusal_of(alice.post("/v1/webhooks", body | change))[2].startswith(f"{field}: ")
    made = hooks.endpoint(alice, URL)
    assert refusal_of(alice.patch(path(made), change))[2].startswith(f"{field}: ")
    assert data_of(alice.get(path(made)))["modified"] == made["modified"]
    assert WebhookEndpoint.objects.count() == 1


def test_an_unknown_org_and_an_unknown_key_of_a_change_are_refused(alice, api, who):
    """Which orgs there are is told to platform admins only."""
    made = hooks.endpoint(alice, URL)
    of_others, of_nobody = (
        refusal_of(alice.post("/v1/webhooks", {"url": URL, "events": hooks.SAID, "org_id": org_id}))
        for org_id in (who.globex.org_id, "og_x")
    )
    assert of_others == of_nobody and of_nobody[0] == 403
    unknown = {"url": URL, "events": hooks.SAID, "org_id": "og_x"}
    assert refusal_of(api("admin").post("/v1/webhooks", unknown))[:2] == INVALID
    assert refusal_of(alice.patch(path(made), {"secret": "mine"}))[:2] == INVALID


def test_a_key_that_is_spelled_wrong_makes_no_webhook_for_every_org(api, who):
    body = {"url": URL, "events": hooks.SAID, "org": who.acme.org_id}
    assert refusal_of(api("admin").post("/v1/webhooks", body)) == (*INVALID, "org: is not a known field")
    assert not WebhookEndpoint.objects.exists()
    made = hooks.endpoint(api("admin"), URL)
    refused = refusal_of(api("admin").post(path(made, "rotate-secret"), {"overlap": 0}))
    assert refused == (*INVALID, "overlap: is not a known field")


@pytest.mark.parametrize("url", ["https://localhost/", "https://2130706433/", "https://0x7f.1/"])
def test_an_address_that_is_never_sent_to_is_refused_when_it_is_made(alice, url):
    status, _, sentence = refusal_of(alice.post("/v1/webhooks", {"url": url, "events": hooks.SAID}))
    assert status == 400 and sentence.startswith("url: is a private address")


def test_nobody_makes_more_than_twenty(alice):
    for _ in range(20):
        hooks.endpoint(alice, URL)
    assert "already have 20 webhooks" in refusal_of(alice.post("/v1/webhooks", {"url": URL, "events": hooks.SAID}))[2]


def test_a_change_changes_what_it_names(alice):
    made = hooks.endpoint(alice, URL, description="old")
    changed = data_of(alice.patch(path(made), {"url": URL + "/2", "events": ["feedback.updated", "feedback.updated"]}))
    assert (changed["url"], changed["events"], changed["description"]) == (URL + "/2", ["feedback.updated"], "old")
    assert data_of(alice.patch(path(made), {"enabled": False}))["enabled"] is False
    assert data_of(alice.patch(path(made), {"description": ""}))["description"] == ""
    assert data_of(alice.patch(path(made), {}))["enabled"] is False


def test_two_who_change_different_things_at_once_both_have_their_way(alice, monkeypatch):
    made = hooks.endpoint(alice, URL)
    asked = endpoints.audience_of_endpoint

    def meanwhile(*args):
        monkeypatch.setattr(endpoints, "audience_of_endpoint", asked)
        data_of(alice.patch(path(made), {"url": URL + "/moved"}))
        return asked(*args)

    monkeypatch.setattr(endpoints, "audience_of_endpoint", meanwhile)
    data_of(alice.patch(path(made), {"description": "Ours."}))
    found = data_of(alice.get(path(made)))
    assert (found["url"], found["description"]) == (URL + "/moved", "Ours.")


def test_enabling_what_was_disabled_just_then_enables_it(alice, monkeypatch):
    made = hooks.endpoint(alice, URL)
    check = endpoints.audience_of_endpoint

    def disabled_meanwhile(endpoint):
        sending.disable(endpoint, "gone", "It responded 410 Gone.")
        return check(endpoint)

    monkeypatch.setattr(endpoints, "audience_of_endpoint", disabled_meanwhile)
    assert data_of(alice.patch(path(made), {"enabled": True}))["enabled"] is True
    assert WebhookEndpoint.objects.get().is_enabled


def test_enabling_forgets_why_it_was_disabled(alice):
    made = hooks.endpoint(alice, URL)
    WebhookEndpoint.objects.update(
        is_enabled=False,
        disabled_at=timezone.now(),
        disabled_reason="It responded 410 Gone.",
        failing_since=timezone.now(),
    )
    assert data_of(alice.get(path(made)))["disabled_reason"] == "It responded 410 Gone."
    again = data_of(alice.patch(path(made), {"enabled": True}))
    assert again["enabled"] is True
    assert again["disabled_at"] is again["disabled_reason"] is again["failing_since"] is None


def test_nobody_enables_what_its_owner_may_no_longer_be_told(alice, api, who):
    made = hooks.endpoint(alice, URL)
    data_of(alice.patch(path(made), {"enabled": False}))
    Membership.objects.filter(user=who.alice.user).update(role=Membership.Role.MEMBER)
    for client in (alice, api("admin")):
        assert refusal_of(client.patch(path(made), {"enabled": True}))[2].startswith("enabled: its owner")
    assert data_of(alice.request("DELETE", path(made))) is None


def test_deleting_takes_the_log_along(alice):
    made = hooks.endpoint(alice, URL)
    data_of(alice.post(path(made, "test")))
    assert data_of(alice.request("DELETE", path(made))) is None
    assert refusal_of(alice.get(path(made)))[0] == 404
    assert not WebhookDelivery.objects.exists()


def test_a_rotated_secret_is_a_new_one_and_the_old_one_goes_on_for_a_day(alice):
    made = hooks.endpoint(alice, URL)
    rotated = data_of(alice.post(path(made, "rotate-secret")))
    assert rotated["secret"] != made["secret"]
    assert rotated["secret_overlap_until"] > made["created"]
    assert data_of(alice.post(path(made, "rotate-secret"), {"overlap_hours": 0}))["secret_overlap_until"] is None
    for hours in (-1, 169, "long", "48", True):
        assert refusal_of(alice.post(path(made, "rotate-secret"), {"overlap_hours": hours}))[:2] == INVALID


def test_another_installation_key_makes_other_secrets(alice):
    made = hooks.endpoint(alice, URL)
    with override_settings(SECRET_KEY="another" * 8):
        assert data_of(alice.post(path(made, "rotate-secret")))["secret"] != made["secret"]


def test_a_disabled_webhook_sends_no_test_and_nothing_again(alice):
    made = hooks.endpoint(alice, URL)
    delivery = data_of(alice.post(path(made, "test")))
    data_of(alice.patch(path(made), {"enabled": False}))
    assert refusal_of(alice.post(path(made, "test")))[:2] == INVALID
    assert refusal_of(alice.post(path(made, "deliveries", delivery["delivery_id"], "replay")))[:2] == INVALID


@pytest.mark.parametrize("place", ["", "rotate-secret", "test"])
def test_what_is_done_to_a_webhook_that_is_deleted_just_then_finds_none(alice, monkeypatch, place):
    made, found = hooks.endpoint(alice, URL), endpoints.endpoint_for

    def deleted_then(*given):
        held = found(*given)
        WebhookEndpoint.objects.filter(pk=held.pk).delete()
        return held

    monkeypatch.setattr(endpoints, "endpoint_for", deleted_then)
    ask = alice.post if place else alice.patch
    assert refusal_of(ask(path(made, *filter(None, [place])), {}))[0] == 404


def test_a_delivery_that_the_log_forgets_just_then_is_not_sent_again(alice, monkeypatch):
    made, found = hooks.endpoint(alice, URL), deliveries.delivery_for
    sent = data_of(alice.post(path(made, "test")))

    def forgotten_then(*given):
        held = found(*given)
        WebhookDelivery.objects.filter(pk=held.pk).delete()
        return held

    monkeypatch.setattr(deliveries, "delivery_for", forgotten_then)
    assert refusal_of(alice.post(path(made, f"deliveries/{sent['delivery_id']}/replay")))[0] == 404


def test_lists_do_not_ask_by_row(alice, who):
    made = hooks.endpoint(alice, URL)
    endpoint = WebhookEndpoint.objects.get()

    def grow(number):
        for _ in range(number):
            data_of(alice.post(path(made, "test")))
            delivery = WebhookDelivery.objects.latest("pk")
            delivery.attempts.create(milliseconds=5, status=500)
            WebhookEndpoint.objects.create(owner=endpoint.owner, org=endpoint.org, url=URL, events=hooks.SAID)

    # The endpoints with their owners and orgs.
    assert same_with_more_rows(lambda: data_of(alice.get("/v1/webhooks?limit=100")), grow) == TOKEN + 1
    # The endpoint, the deliveries, their attempts.
    asked = lambda: data_of(alice.get(path(made, "deliveries?limit=100")))  # noqa: E731
    assert same_with_more_rows(asked, grow) == TOKEN + 3


def test_pages_follow_each_other(alice):
    made = [hooks.endpoint(alice, f"{URL}/{place}")["webhook_id"] for place in range(5)]
    found, token = [], ""
    while token is not None:
        page = data_of(alice.get(f"/v1/webhooks?limit=2&page_token={token}"))
        found += [each["webhook_id"] for each in page["items"]]
        token = page["next_token"]
    assert found == made[::-1]
    assert refusal_of(alice.get("/v1/webhooks?page_token=nonsense"))[:2] == INVALID
