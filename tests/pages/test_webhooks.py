"""The webhook pages: making one, its secret shown once, its log, and every act of it."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone

from accounts.models import Org
from feedback.models.webhook import WebhookDelivery, WebhookEndpoint
from feedback.webhooks import settling
from tests import hooks, make
from tests.pages.dom import dom, get, queries, submit

URL = "https://hooks.example.org/in"
LIST = "/settings/webhooks/"


@pytest.fixture
def alice(who, browser_of):
    """An admin of acme."""
    hooks.make_org_admin(who.alice)
    return browser_of("alice")


@pytest.fixture
def hook(alice, api):
    return hooks.endpoint(api("alice"), URL, description="the mirror")


@pytest.fixture
def here(hook):
    return f"{LIST}{hook['webhook_id']}/"


def maker(page):
    return page.id("new").within("section").one("form")


def test_a_new_webhook_shows_its_secret_once(alice):
    made = submit(alice, maker(get(alice, LIST)), url=URL, events=hooks.SAID, description="the mirror")
    assert made.status_code == 302
    page = get(alice, made["Location"])
    secret = page.id("secret").words
    box = page.id("secret").within("div").parent
    assert box["role"] == "group" and page.id(box["aria-labelledby"]).words, "it has the focus, and says what it is"
    assert secret.startswith("whsec_") and page.one("button", data_copy=secret)
    assert secret not in alice.get(made["Location"]).content.decode()
    assert page.one("h1").words == URL
    [row] = get(alice, LIST).one("tbody").all("tr")
    assert row.words.startswith(f"{URL} the mirror acme enabled Alice just now")


def test_no_session_in_the_database_holds_a_secret(alice):
    made = submit(alice, maker(get(alice, LIST)), url=URL, events=hooks.SAID)
    held = [session.get_decoded() for session in Session.objects.all()]
    assert held and "whsec_" not in str(held)
    secret = get(alice, made["Location"]).id("secret").words
    assert secret not in str([session.get_decoded() for session in Session.objects.all()])


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(1800, "after the 30-minute undo window"), (90, "after the 1.5-minute undo window"), (0, "at once")],
)
def test_an_admin_is_told_how_long_triage_waits(browser_of, settings, seconds, said):
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"webhook_delay_seconds": seconds})
    page = get(browser_of("admin"), LIST)
    assert f"Triage events are sent {said}." in page.words
    assert maker(page).all("button")[-1].words == "Create webhook"


def test_a_secret_is_not_shown_on_the_page_of_another_webhook(alice, api, here):
    made = submit(alice, maker(get(alice, LIST)), url=URL, events=hooks.SAID)
    assert get(alice, here).none(id="secret")
    assert get(alice, made["Location"]).id("secret")


def test_what_is_wrong_is_said_beside_its_field_and_what_was_typed_is_kept(alice):
    page = dom(submit(alice, maker(get(alice, LIST)), url="http://10.0.0.1/", events=[], description="kept"), 400)
    assert page.id("url")["value"] == "http://10.0.0.1/" and page.id("description")["value"] == "kept"
    assert "must have at least 1 item" in page.one("fieldset").one(class_="wrong").words
    page = dom(submit(alice, maker(page), events=hooks.SAID), 400)
    assert page.id("url-wrong").words.startswith("It must begin with https://, or http:// if")
    assert [box["value"] for box in page.all("input", name="events", checked=True)] == hooks.SAID
    assert dom(submit(alice, maker(page), url="https://x.example/\x00"), 400).id("url-wrong")
    assert not WebhookEndpoint.objects.exists()


def test_an_orgs_admin_is_offered_what_they_may_be_told(alice, browser_of, who):
    form = maker(get(alice, LIST))
    assert [box["value"] for box in form.all("input", name="events")] == [
        *hooks.SAID,
        "feedback.replied",
        "feedback.retracted",
    ]
    assert [each.words for each in form.all("option")] == ["acme"]
    form = maker(get(browser_of("admin"), LIST))
    assert [box["value"] for box in form.all("input", name="events")] == hooks.ALL
    assert [each.words for each in form.all("option")] == ["every org", "acme", "globex"]
    assert form.fields()["org_id"] == [who.acme.org_id], "the one that they act in, not what is told of everybody"
    submit(browser_of("admin"), form, url=URL, events=hooks.ALL, org_id=who.globex.org_id)
    assert WebhookEndpoint.objects.get().org == who.globex


def test_a_member_is_told_whose_they_are(browser_of):
    page = get(browser_of("bob"), LIST)
    assert "Only admins of an org and platform admins can add webhooks." in page.words
    assert not page.one("main").all("form", action="/settings/webhooks/")


def test_the_settings_lead_to_them(alice, browser_of):
    for client in (alice, browser_of("admin")):
        assert get(client, "/settings/").one("a", href=LIST)


def test_it_is_changed_disabled_and_enabled(alice, here):
    save, switch = get(alice, here).id("change").within("section").all("form")
    assert save.id("url")["value"] == URL
    assert submit(alice, save, "save", url=URL + "/2", events=["feedback.updated"]).status_code == 302
    assert submit(alice, switch, "disable").status_code == 302
    page = get(alice, here)
    assert "Disabled just now." in page.words and page.none(action=f"{here}test/")
    endpoint = WebhookEndpoint.objects.get()
    assert (endpoint.url, endpoint.events, endpoint.is_enabled) == (URL + "/2", ["feedback.updated"], False)
    submit(alice, page.id("change").within("section").all("form")[1], "enable")
    assert WebhookEndpoint.objects.get().is_enabled
    dom(alice.post(f"{here}change/", {"verb": "explode"}), 400)


def test_a_change_that_is_wrong_changes_nothing(alice, here):
    save = get(alice, here).id("change").within("section").all("form")[0]
    page = dom(submit(alice, save, "save", url="https://127.0.0.1/"), 400)
    assert "private address" in page.id("url-wrong").words and page.one("h1").words == URL
    assert WebhookEndpoint.objects.get().url == URL


def test_a_form_opened_before_somebody_elses_change_does_not_undo_it(alice, browser_of, here):
    """The second is told, keeps what they typed, and may insist. Disabling needs no such question."""
    admin = browser_of("admin")
    save, switch = get(admin, here).id("change").within("section").all("form")
    submit(alice, get(alice, here).id("change").within("section").all("form")[0], "save", url=URL + "/2")
    refused = dom(submit(admin, save, "save", url="https://127.0.0.1/"), 400).id("change").within("section")
    page = dom(submit(admin, refused.all("form")[0], "save", url=URL, description="typed"), 412)
    again = page.id("change").within("section").all("form")[0]
    assert "since you opened it" in again.one(role="alert").words and again.id("description")["value"] == "typed"
    assert page.one("h1").words == URL + "/2" == WebhookEndpoint.objects.get().url
    assert submit(admin, switch, "disable").status_code == 302
    assert submit(admin, get(admin, here).id("change").within("section").all("form")[1], "enable").status_code == 302
    page = dom(submit(admin, again, "save"), 412)
    assert submit(admin, page.id("change").within("section").all("form")[0], "save").status_code == 302
    assert (WebhookEndpoint.objects.get().url, WebhookEndpoint.objects.get().description) == (URL, "typed")


def test_rotating_shows_the_new_secret_once_and_until_when_both_sign(alice, here, hook):
    form = get(alice, here).one("form", action=f"{here}rotate/")
    submit(alice, form)
    page = get(alice, here)
    assert page.id("secret").words not in ("", hook["secret"])
    assert "signs until" in page.id("key").within("section").words
    submit(alice, form, end_now="1")
    assert "signs until" not in get(alice, here).id("key").within("section").words


def test_a_test_and_the_log_and_sending_again(alice, here):
    assert "Nothing was sent yet." in get(alice, here).words
    submit(alice, get(alice, here).one("form", action=f"{here}test/"))
    assert get(alice, here).id("deliveries")["hx-trigger"] == "every 2s", "until its result is there"
    delivery = WebhookDelivery.objects.get()
    delivery.attempts.create(milliseconds=1234, status=500, response="<b>no</b>\nthanks")
    delivery.attempts.create(milliseconds=5, error="No answer within 15 seconds.")
    WebhookDelivery.objects.update(state="failed")
    page = get(alice, here)
    assert not page.id("deliveries").has("hx-trigger")
    [row] = page.one("table").one("tbody").all("tr")
    assert "webhook.test" in row.words and "failed" in row.words and "No answer within 15 seconds." in row.words
    assert row.one("summary").words == "2 attempts, last: No answer within 15 seconds."
    assert row.one("pre").text == "<b>no</b>\nthanks"
    assert submit(alice, row.one("form")).status_code == 302
    assert WebhookDelivery.objects.get().state == "pending"


def test_the_log_says_when_it_tries_again(alice, here):
    submit(alice, get(alice, here).one("form", action=f"{here}test/"))
    WebhookDelivery.objects.get().attempts.create(milliseconds=5, error="No answer within 15 seconds.")
    WebhookDelivery.objects.update(next_at=timezone.now() + timedelta(minutes=6, seconds=30))
    WebhookEndpoint.objects.update(failing_since=timezone.now())
    page = get(alice, here)
    [row] = page.one("tbody").all("tr")
    assert "next try in 6 min" in row.words and "The next try is in 6 min." in page.one("main").words
    own = get(alice, row.one("a")["href"]).id("delivery").words
    assert own.count("in 6 min") == 1
    WebhookEndpoint.objects.update(is_enabled=False, disabled_reason="Off.")
    assert "next try" not in get(alice, here).one("tbody").words


def test_a_delivery_has_a_page_with_its_message_which_waits_for_its_result(alice, here):
    submit(alice, get(alice, here).one("form", action=f"{here}test/"))
    delivery = WebhookDelivery.objects.get()
    own = get(alice, here).one("tbody").one("a")["href"]
    page = get(alice, own)
    assert page.id("delivery")["hx-trigger"] == "every 2s" and "None yet." in page.id("delivery").words
    assert page.one("button", data_copy=delivery.body).within("section").one("pre").words.startswith('{ "id": "evt_')
    assert delivery.message_id in page.id("message").within("section").one("dl").words
    delivery.attempts.create(milliseconds=1234, status=500, response="no")
    WebhookDelivery.objects.update(state="failed")
    page = get(alice, own)
    assert not page.id("delivery").has("hx-trigger") and "500 1 234 ms" in page.id("delivery").words
    assert submit(alice, page.one("form", action=f"{own}replay/"))["Location"] == own
    assert get(alice, own).id("delivery").has("hx-trigger")


def test_a_message_that_its_owner_may_no_longer_receive_is_not_shown(alice, here, who):
    thread = make.thread(who.bob, visibility="org")
    make.rating(who.bob, thread, notes="wrong by a year")
    for event_id in settling.due():
        settling.settle(event_id)
    own = get(alice, here).one("tbody").one("a")["href"]
    assert "wrong by a year" in get(alice, own).words
    type(thread).objects.update(visibility="private")
    page = get(alice, own)
    assert "wrong by a year" not in page.words and "may no longer receive it" in page.words


def test_deleting_goes_back_to_the_list(alice, here):
    answer = submit(alice, get(alice, here).one("form", action=f"{here}delete/"))
    assert answer["Location"] == LIST
    assert "No webhook yet." in get(alice, LIST).words
    get(alice, here, 404)


def test_why_it_was_disabled_stands_on_its_page(alice, here):
    WebhookEndpoint.objects.update(is_enabled=False, disabled_reason="It responded 410 Gone.")
    assert "It responded 410 Gone." in get(alice, here).words


def test_names_and_answers_are_shown_as_text(alice, api, who):
    hostile = "<script>alert(1)</script>"
    hook = hooks.endpoint(api("alice"), f"{URL}?x={hostile}", description=hostile)
    for path in (LIST, f"{LIST}{hook['webhook_id']}/"):
        assert hostile.encode() not in alice.get(path).content


def test_pages_ask_the_same_however_long_they_are(alice, here):
    def grow(number):
        endpoint = WebhookEndpoint.objects.earliest("pk")
        for _ in range(number):
            WebhookEndpoint.objects.create(owner=endpoint.owner, org=Org.objects.first(), url=URL, events=hooks.SAID)
            made = WebhookDelivery.objects.create(
                endpoint=endpoint, message_id="evt_x", name="webhook.test", audience="org", body="{}"
            )
            made.attempts.create(milliseconds=1, status=500)

    grow(2)
    few = [queries(alice, path) for path in (LIST, here)]
    grow(10)
    assert [queries(alice, path) for path in (LIST, here)] == few
