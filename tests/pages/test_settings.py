"""One's account: profile, API tokens that are shown once, and the org one acts in."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
import time_machine
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from accounts.models import ApiToken, Org
from accounts.orgs import add_member
from feedback.models.webhook import WebhookEndpoint
from tests.conftest import Api
from tests.pages.dom import Node, dom, get, queries, submit
from tests.people import PASSWORD, People
from threads.models import Thread

Browser = Callable[[str | None], Client]
NEW = "a-long-new-password"


def maker(page: Node) -> Node:
    return page.one("form", action="/settings/tokens/")


def test_a_new_token_works_and_is_shown_once(browser_of: Browser) -> None:
    client = browser_of("alice")
    made = submit(client, maker(get(client, "/settings/")), name="laptop")
    assert (made.status_code, made["Location"]) == (302, "/settings/#new-token")
    page = get(client, "/settings/")
    secret = page.id("secret").words
    box = page.id("secret").within("div").parent
    assert box["role"] == "group" and page.id(box["aria-labelledby"]).words, "it has the focus, and says what it is"
    assert secret.startswith("hdl_") and page.one("button", data_copy=secret)
    assert Api(secret).get("threads").status_code == 200
    again = client.get("/settings/")
    assert secret not in again.content.decode()
    assert not ApiToken.objects.filter(hash=secret).exists()


def test_the_list_of_tokens_holds_no_secret_and_says_what_each_may(browser_of: Browser) -> None:
    client = browser_of("alice")
    submit(client, maker(get(client, "/settings/")), name="nightly", scope="read")
    secret = get(client, "/settings/").id("secret").words
    row = next(row for row in get(client, "/settings/").all("tr") if "nightly" in row.words)
    assert "read only" in row.words and "never" in row.words
    assert row.one(class_="mono").words == secret[:9] + "…"


def test_a_read_only_token_of_this_page_cannot_write(browser_of: Browser) -> None:
    client = browser_of("alice")
    submit(client, maker(get(client, "/settings/")), name="nightly", scope="read")
    api = Api(get(client, "/settings/").id("secret").words)
    assert api.get("threads").status_code == 200
    assert api.post("threads", {"messages": [{"role": "user", "content": [{"text": "x"}]}]}).status_code == 403


@pytest.mark.parametrize("name", ["", "   ", "x" * 81, "a\x00b"])
def test_a_bad_name_is_named_and_makes_no_token(browser_of: Browser, name: str) -> None:
    client = browser_of("alice")
    before = ApiToken.objects.count()
    page = dom(submit(client, maker(get(client, "/settings/")), name=name), 400)
    assert page.id("token-name")["aria-describedby"] == "token-wrong"
    assert page.id("token-wrong").words == "It must have 1 to 80 characters."
    assert page.id("token-name").has("autofocus"), "or nobody is told what stands there"
    assert ApiToken.objects.count() == before
    assert page.none(id="secret")


@pytest.mark.parametrize("name", ["a\nb", "a\u202eb", "a\u2028b"])
def test_a_name_of_several_lines_or_directions_makes_no_token(browser_of: Browser, name: str) -> None:
    """As on the command line: it would be read as another one in the list."""
    client = browser_of("alice")
    page = dom(submit(client, maker(get(client, "/settings/")), name=name), 400)
    assert page.id("token-wrong").words
    assert not ApiToken.objects.filter(name=name).exists()


def test_an_unknown_scope_is_refused(browser_of: Browser) -> None:
    client = browser_of("alice")
    before = ApiToken.objects.count()
    dom(client.post("/settings/tokens/", {"name": "x", "scope": "admin"}), 400)
    assert ApiToken.objects.count() == before


def test_revoking_ends_a_token_and_takes_it_off_the_list(browser_of: Browser, who: People) -> None:
    client = browser_of("alice")
    form = get(client, "/settings/").one("table").one("details").one("form")
    assert "Revoke tests" in form.words
    assert submit(client, form).status_code == 302
    assert Api(who.alice.token).get("threads").status_code == 401
    page = get(client, "/settings/")
    assert page.none("table") and page.one(id="notes").words == "Token tests revoked."


def test_nobody_revokes_the_token_of_somebody_else(browser_of: Browser, who: People) -> None:
    token = ApiToken.objects.get(user=who.alice.user)
    dom(browser_of("bob").post(f"/settings/tokens/{token.pk}/revoke/"), 404)
    assert Api(who.alice.token).get("threads").status_code == 200


def test_an_expired_token_says_so_and_has_nothing_to_revoke(browser_of: Browser, who: People) -> None:
    ApiToken.objects.filter(user=who.alice.user).update(expires_at=timezone.now() - timedelta(days=1))
    row = get(browser_of("alice"), "/settings/").one("table").one("tbody").one("tr")
    assert "expired 1 d ago" in row.words and row.none("form")


def test_a_token_expires_when_it_was_told_to(browser_of: Browser) -> None:
    client = browser_of("alice")
    submit(client, maker(get(client, "/settings/")), name="short", expires="30")
    page = get(client, "/settings/")
    secret = page.id("secret").words
    row = next(row for row in page.all("tr") if "short" in row.words)
    assert "in 30 d" in row.words or "in 29 d" in row.words
    submit(client, maker(page), name="long", expires="365")
    row = next(row for row in get(client, "/settings/").all("tr") if "long" in row.words)
    ends = timezone.now() + timedelta(days=365)
    assert f"on {ends.day} {ends:%b %Y}" in row.words
    with time_machine.travel(timezone.now() + timedelta(days=30, minutes=1)):
        assert Api(secret).get("threads").status_code == 401


@pytest.mark.parametrize("days", ["0", "-1", "9999999999", "soon", "30.5"])
def test_a_lifetime_that_is_not_offered_makes_no_token(browser_of: Browser, days: str) -> None:
    before = ApiToken.objects.count()
    assert browser_of("alice").post("/settings/tokens/", {"name": "x", "expires": days}).status_code == 400
    assert ApiToken.objects.count() == before


# Password and theme


def change(client: Client, old: str, new: str, again: str | None = None) -> HttpResponse:
    form = get(client, "/settings/").one("form", action="/settings/password/")
    again = new if again is None else again
    return submit(client, form, old_password=old, new_password1=new, new_password2=again)


def test_a_new_password_ends_other_sessions_and_keeps_this_one_and_tokens(browser_of: Browser, who: People) -> None:
    here, elsewhere = browser_of("alice"), browser_of("alice")
    assert change(here, PASSWORD, NEW).status_code == 302
    assert "other sessions have ended" in get(here, "/settings/").one(id="notes").words
    assert elsewhere.get("/settings/").status_code == 302
    assert Api(who.alice.token).get("threads").status_code == 200
    assert Client().login(username="alice@acme.test", password=NEW)
    assert not Client().login(username="alice@acme.test", password=PASSWORD)


@pytest.mark.parametrize(
    ("typed", "marked"),
    [
        (("wrong", NEW), "old-password"),
        (("", ""), "old-password"),
        ((PASSWORD, "short"), "again-password"),
        ((PASSWORD, "password1234"), "again-password"),
        ((PASSWORD, NEW, "another"), "again-password"),
        ((PASSWORD, NEW + "\x00"), "new-password"),
    ],
)
def test_what_is_wrong_with_a_password_stands_beside_its_field(
    browser_of: Browser, typed: tuple[str, ...], marked: str
) -> None:
    page = dom(change(browser_of("alice"), *typed), 400)
    assert page.id(marked)["aria-invalid"] == "true"
    assert page.id(page.id(marked)["aria-describedby"]).words
    assert not any(field.get("value") for field in page.all("input", type="password"))
    assert Client().login(username="alice@acme.test", password=PASSWORD)


def test_guessing_the_present_password_is_paused_as_at_the_sign_in(browser_of: Browser) -> None:
    client = browser_of("alice")
    assert [change(client, PASSWORD, "short").status_code for _ in range(6)] == [400] * 6, "that is no guess"
    statuses = [change(client, "wrong", NEW).status_code for _ in range(6)]
    assert statuses == [400] * 5 + [429]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_theme_is_kept_by_the_browser_until_it_follows_the_system_again(browser_of: Browser, theme: str) -> None:
    client = browser_of("alice")
    form = get(client, "/settings/").one("form", action="/settings/theme/")
    assert get(client, "/settings/").one("html").get("data-theme") is None
    assert submit(client, form, theme).status_code == 302
    assert get(client, "/threads/").one("html")["data-theme"] == theme
    client.post("/settings/theme/", {"theme": '"><b>'})
    assert get(client, "/threads/").one("html").get("data-theme") is None


def test_a_theme_nobody_offers_is_not_shown(browser_of: Browser) -> None:
    client = browser_of("alice")
    client.cookies["theme"] = "pink"
    assert get(client, "/settings/").one("html").get("data-theme") is None


def test_only_admins_read_that_they_are_one(browser_of: Browser) -> None:
    assert "platform admin" in get(browser_of("admin"), "/settings/").words
    page = get(browser_of("alice"), "/settings/")
    assert "platform admin" not in page.words
    assert page.one("dl", class_="facts").words.startswith("Name Alice Email alice@acme.test Organisations acme")


def test_who_has_one_org_is_offered_no_choice(browser_of: Browser) -> None:
    assert get(browser_of("alice"), "/threads/").none("form", action="/org/")


def test_who_has_two_orgs_chooses_and_stays_on_the_page(browser_of: Browser, who: People) -> None:
    add_member(who.globex, who.alice.user)
    client = browser_of("alice")
    menu = get(client, "/threads/?view=mine").one("form", action="/org/")
    assert [button["value"] for button in menu.all("button")] == ["acme", "globex"]
    assert menu.one(aria_current="true")["value"] == "acme"
    answer = client.post("/org/", {**menu.fields(), "org": "globex"})
    assert answer["Location"] == "/threads/?view=mine"
    assert get(client, "/threads/").one("form", action="/org/").one(aria_current="true")["value"] == "globex"


def test_nobody_chooses_an_org_they_do_not_belong_to(browser_of: Browser, who: People) -> None:
    client = browser_of("alice")
    for slug in ("globex", "nothing", ""):
        dom(client.post("/org/", {"org": slug}), 404)
    assert client.post("/org/", {"org": "a\x00b"}).status_code in (400, 404)
    assert "org" not in client.session


def test_an_admin_may_look_into_every_org(browser_of: Browser) -> None:
    client = browser_of("admin")
    menu = get(client, "/threads/").one("form", action="/org/")
    assert [button["value"] for button in menu.all("button")] == ["acme", "globex"]


def more_orgs(count: int) -> None:
    first = Org.objects.count()
    slugs = [f"org-{number:04}" for number in range(first, first + count)]
    Org.objects.bulk_create(Org(slug=slug, name=slug) for slug in slugs)


@pytest.mark.parametrize("path", ["/threads/", "/feedback/", "/settings/", "/settings/webhooks/"])
def test_an_admin_of_many_orgs_gets_a_page_of_the_same_size(browser_of: Browser, path: str) -> None:
    client = browser_of("admin")
    more_orgs(60)
    few, asked = len(client.get(path).content), queries(client, path)
    more_orgs(500)
    assert abs(len(client.get(path).content) - few) < 100 and queries(client, path) == asked


def test_an_org_that_is_not_in_the_menu_is_typed(browser_of: Browser) -> None:
    client = browser_of("admin")
    more_orgs(48)
    [menu] = get(client, "/threads/").all("form", action="/org/")
    assert len(menu.all("button")) == 50 and menu.none("input", name="org")
    more_orgs(1)
    typing, menu = get(client, "/threads/?view=mine").all("form", action="/org/")
    assert [button["value"] for button in menu.all("button")][-1] == "org-0049"
    assert submit(client, typing, org=" org-0050 ")["Location"] == "/threads/?view=mine"
    assert "org-0050" in get(client, "/threads/").one("header").words
    assert "no org 'nothing' that you can act in" in dom(submit(client, typing, org="nothing"), 404).one("main").words
    assert "org: and its name" in get(client, "/feedback/").one("header").words


def test_an_org_of_many_is_typed_for_a_webhook(browser_of: Browser) -> None:
    client = browser_of("admin")
    more_orgs(60)
    [form] = get(client, "/settings/webhooks/").all("form", action="/settings/webhooks/")
    given = {"url": "https://hooks.example/in", "events": "feedback.submitted"}
    assert "There is no org nothing" in dom(submit(client, form, org_id="nothing", **given), 400).id("org-wrong").words
    assert submit(client, form, org_id="org-0055", **given).status_code == 302
    assert WebhookEndpoint.objects.get().org.slug == "org-0055"


def test_the_version_stands_on_the_page(browser_of: Browser) -> None:
    assert "Heddle, version 0.1.0." in get(browser_of("alice"), "/settings/").words


def test_admins_find_the_export_of_everything(browser_of: Browser) -> None:
    links = get(browser_of("admin"), "/settings/").id("files").within("section").all("a", download=True)
    assert [browser_of("admin").get(link["href"]).status_code for link in links] == [200, 200]
    assert not get(browser_of("alice"), "/settings/").all(id="files")


def test_the_id_of_an_org_that_rest_asks_for_can_be_copied(browser_of: Browser, who: People) -> None:
    for name, orgs in (("alice", [who.acme]), ("admin", [who.acme, who.globex])):
        shown = get(browser_of(name), "/settings/").one("dl", class_="facts").all("button")
        assert [button["data-copy"] for button in shown] == [org.org_id for org in orgs]
    page = get(browser_of("alice"), "/settings/members/")
    assert page.one("dl", class_="facts").one("button")["data-copy"] == who.acme.org_id


def test_letters_as_keys_can_be_turned_off_in_a_browser(browser_of: Browser) -> None:
    """WCAG 2.1.4."""
    client = browser_of("alice")
    page = get(client, "/settings/")
    form = page.one("form", action="/settings/keys/")
    assert page.one("html").get("class") is None and "turn letters off" in page.id("keys").words
    assert submit(client, form, "off").status_code == 302
    page = get(client, "/threads/")
    assert page.one("html")["class"] == "keyless" and "letters are off" in page.id("keys").words
    assert submit(client, form, "").status_code == 302
    assert get(client, "/threads/").one("html").get("class") is None


@pytest.mark.parametrize("name", ["alice", "admin"])
def test_a_new_token_comes_with_the_calls_to_begin_with(browser_of: Browser, who: People, name: str) -> None:
    """They are sent as they stand there; who has no default org names the one that they act in."""
    client = browser_of(name)
    submit(client, maker(get(client, "/settings/")), name="mine")
    page = get(client, "/settings/")
    curl, program = (pre.text for pre in page.id("new-token").all("pre"))
    assert page.id("secret").text in program and "http://testserver" in program
    [url] = re.findall(r"http\S+", curl)
    headers = dict(re.findall(r"-H \"(.*?): (.*?)\"", curl))
    [body] = re.findall(r"-d '(.*)'", curl)
    path = url.removeprefix("http://testserver")
    answer = Client().post(path, body, content_type="application/json", headers=headers)
    assert answer.status_code == 200, answer.content
    thread = Thread.objects.get()
    assert (thread.title, thread.org) == ("What can you do?", who.acme)
    assert (f'org_id="{who.acme.org_id}"' in program) == (name == "admin")
    assert not get(client, "/settings/").all("pre"), "the token is shown once"
    assert "hdl_..." in get(client, "/v1/docs/").id("begin").within("div").all("pre")[0].text


def test_a_new_token_that_only_reads_comes_with_a_call_that_reads(browser_of: Browser, who: People) -> None:
    client = browser_of("alice")
    submit(client, maker(get(client, "/settings/")), name="mine", scope="read")
    [curl] = (pre.text for pre in get(client, "/settings/").id("new-token").all("pre"))
    url, header = re.findall(r'curl -s http://testserver(\S+) -H "Authorization: (.*?)"$', curl)[0]
    assert Client().get(url, headers={"Authorization": header}).status_code == 200


def test_what_was_done_begins_the_title_of_the_page_that_says_so(browser_of: Browser) -> None:
    """A page that is loaded tells its title, and none of the regions that it arrives with; as words, cut, and once."""
    client, name = browser_of("alice"), "<b>a & b</b>"
    submit(client, maker(get(client, "/settings/")), name=name)
    row = next(row for row in get(client, "/settings/").all("tr") if name in row.words)
    submit(client, row.one("form"))
    done = get(client, "/settings/")
    assert done.id("notes").words == f"Token {name} revoked."
    assert done.one("title").words == f"Token {name} revoked. · Settings · Heddle"
    assert get(client, "/settings/").one("title").words == "Settings · Heddle"
    submit(client, get(client, "/settings/").one("table").one("form"))
    part = get(client, "/settings/", **{"HX-Request": "true"})
    assert part.id("notes").words == "Token tests revoked." and part.one("title").words == "Settings · Heddle"
