"""The members page: who is in an org, who may change that, and links for people who are new."""

from collections.abc import Callable
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
import time_machine
from django.contrib.auth.hashers import make_password
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.leaving import revoke_tokens
from accounts.models import Membership, Org, User, mint
from accounts.orgs import add_member
from tests import hooks, make, people
from tests.conftest import Api, data_of
from tests.pages.dom import Node, dom, get, queries, submit, then
from tests.people import PASSWORD, People

Browser = Callable[[str | None], Client]
PAGE = "/settings/members/"
NEW = "a-long-new-password"


@pytest.fixture
def alice(browser_of: Browser, who: People) -> Client:
    """Alice, who is an admin of acme."""
    hooks.make_org_admin(who.alice)
    return browser_of("alice")


def adding(page: Node) -> Node:
    return page.one("form", action=PAGE)


def row(page: Node, email: str) -> Node:
    return next(each for each in page.one("table").all("tr") if email in each.words)


def invite(client: Client, email: str = "new@acme.test", **typed: str) -> str:
    """Add somebody new; returns the path of the link that is shown."""
    assert submit(client, adding(get(client, PAGE)), email=email, **typed).status_code == 302
    shown = get(client, PAGE)
    [box] = [each for each in shown.all("div", role="group") if each.has("autofocus")]
    assert shown.id(box["aria-labelledby"]).words.startswith("Give this link to")
    link = urlsplit(box.id("link").words)
    assert link.netloc == "testserver"
    return link.path


def choose(path: str, password: str = NEW, again: str | None = None) -> tuple[Client, int]:
    """Open a link in a browser of its own and choose a password there."""
    client = Client(raise_request_exception=False)
    opened = client.get(path)["Location"]
    assert path.split("/")[-2] not in opened, "its secret has left the address"
    typed = {"new_password1": password, "new_password2": password if again is None else again}
    return client, client.post(opened, {**get(client, opened).one("form").fields(), **typed}).status_code


@pytest.mark.parametrize("name", ["two\nlines", "Eve\u202enimda", "x" * 121])
def test_a_name_that_is_no_words_on_one_line_makes_nobody(alice: Client, name: str) -> None:
    page = dom(submit(alice, adding(get(alice, PAGE)), email="new@acme.test", name=name), 400)
    assert adding(page).one(class_="wrong").words and not User.objects.filter(email="new@acme.test").exists()


def test_members_see_who_is_in_their_org_and_change_nothing(browser_of: Browser, who: People) -> None:
    page = get(browser_of("bob"), PAGE)
    assert [each.one("th").words for each in page.one("tbody").all("tr")] == ["Alice", "Bob (you)"]
    assert "alice@acme.test" in row(page, "alice").words and "eve@" not in page.one("main").words
    assert not page.one("main").all("form") and "off Members may fork" in page.words


def test_who_may_not_change_an_org_is_told_who_may(browser_of: Browser, who: People) -> None:
    def told() -> str:
        return get(bob, PAGE).one(aria_labelledby="policies").all("p")[-1].words

    bob = browser_of("bob")
    assert told() == "acme has no admin who could change policies and members; ask a platform admin."
    hooks.make_org_admin(who.alice)
    hooks.make_org_admin(who.eve)
    asked = queries(bob, PAGE)
    assert told() == "Alice can change policies and members."
    for name, said in [
        ("Bea", "Alice and Bea"),
        ("Cleo", "Alice, Bea and Cleo"),
        ("Dan", "Alice, Bea, Cleo and 1 other"),
        ("Ela", "Alice, Bea, Cleo and 2 others"),
    ]:
        add_member(who.acme, people.one(f"{name.lower()}@acme.test", None).user, role="admin")
        User.objects.filter(email=f"{name.lower()}@acme.test").update(name=name)
        assert told() == f"{said} can change policies and members."
    assert queries(bob, PAGE) == asked


def test_admins_who_cannot_sign_in_are_not_named(alice: Client, browser_of: Browser, who: People) -> None:
    invite(alice, role="admin")
    User.objects.filter(pk=who.alice.user.pk).update(is_active=False)
    assert "acme has no admin who could" in get(browser_of("bob"), PAGE).one(aria_labelledby="policies").words


def test_an_admin_of_another_org_changes_nothing_here(browser_of: Browser, who: People) -> None:
    hooks.make_org_admin(who.eve)
    eve, bob = browser_of("eve"), Membership.objects.get(user=who.bob.user)
    for verb in ("role", "remove", "link"):
        assert eve.post(f"{PAGE}{bob.pk}/{verb}/", {"role": "admin"}).status_code == 404
        assert eve.post(f"{PAGE}{10**30}/{verb}/", {"role": "admin"}).status_code == 404
    assert eve.post(PAGE, {"org": "acme", "email": "x@acme.test"}).status_code == 403
    assert eve.post(f"{PAGE}policies/", {"org": "acme", "on": "members_may_fork"}).status_code == 403
    assert not User.objects.filter(email="x@acme.test").exists()


def test_an_account_made_in_another_org_is_let_in_by_a_platform_admin_alone(
    alice: Client, browser_of: Browser, who: People
) -> None:
    """Whoever let it in there may know its password, and nothing has shown that the address is its holder's."""
    hooks.make_org_admin(who.eve)
    secret = make.thread(who.alice, "Secret", visibility="org")
    carol, status = choose(invite(browser_of("eve"), "carol@acme.test"))
    assert status == 302
    page = dom(submit(alice, adding(get(alice, PAGE)), email="carol@acme.test"), 400)
    assert "has an account elsewhere" in page.id("email-wrong").words
    assert "Only a platform admin" in page.id("email-wrong").words
    assert page.none(id="link") and "carol" not in page.one("table").words
    assert carol.get(f"/threads/{secret.thread_id}/").status_code == 403


def test_who_was_put_out_elsewhere_or_never_invited_here_is_no_newcomer(
    alice: Client, browser_of: Browser, who: People
) -> None:
    """Having no org any more makes an account nobody else's."""
    hooks.make_org_admin(who.eve)
    eve = browser_of("eve")
    choose(invite(eve, "carol@acme.test"))
    assert submit(eve, row(get(eve, PAGE), "carol").all("form")[-1]).status_code == 302
    User.objects.create_user("dave@acme.test", NEW)
    for email in ("carol@acme.test", "dave@acme.test", "admin@heddle.test"):
        page = dom(submit(alice, adding(get(alice, PAGE)), email=email), 400)
        assert "Only a platform admin" in page.id("email-wrong").words


@pytest.mark.parametrize("fields", [{"is_staff": True}, {"last_login": timezone.now()}])
def test_an_account_without_a_password_that_reaches_far_or_was_in_use_is_no_newcomer(
    alice: Client, who: People, fields: dict[str, object]
) -> None:
    """A link to choose its password by would hand it over."""
    User.objects.create_user("carol@acme.test", None, **fields)
    page = dom(submit(alice, adding(get(alice, PAGE)), email="carol@acme.test"), 400)
    assert "Only a platform admin" in page.id("email-wrong").words


def test_an_account_that_works_by_a_token_is_no_newcomer_even_after_its_token(alice: Client) -> None:
    """A service has no password, no org, and never signs in: a link would hand it over with what it started."""
    robot = User.objects.create_user("robot@acme.test", None)
    mint(robot, "nightly")
    for _ in range(2):
        page = dom(submit(alice, adding(get(alice, PAGE)), email="robot@acme.test"), 400)
        assert "Only a platform admin" in page.id("email-wrong").words
        revoke_tokens(robot)
    assert not Membership.objects.filter(user=robot).exists()


def test_an_org_lets_in_again_whom_it_put_out_with_their_account(alice: Client, who: People) -> None:
    assert submit(alice, row(get(alice, PAGE), "bob").all("form")[-1]).status_code == 302
    assert submit(alice, adding(get(alice, PAGE)), email=" BOB@acme.test ", name="Other").status_code == 302
    page = get(alice, PAGE)
    assert page.one(id="notes").words == "Bob is now a member of acme." and page.none(id="link")
    assert Client().login(username="bob@acme.test", password=PASSWORD)
    data_of(Api(who.bob.token).get("threads"))


def test_who_was_put_out_and_is_in_another_org_since_is_not_taken_back(
    alice: Client, browser_of: Browser, who: People
) -> None:
    assert submit(alice, row(get(alice, PAGE), "bob").all("form")[-1]).status_code == 302
    add_member(who.globex, who.bob.user)
    dom(submit(alice, adding(get(alice, PAGE)), email="bob@acme.test"), 400)
    assert not Membership.objects.filter(user=who.bob.user, org=who.acme).exists()


def test_who_was_invited_elsewhere_and_never_began_is_new_here_once_nobody_waits_for_them(
    alice: Client, browser_of: Browser, who: People
) -> None:
    """Nobody knows a password of theirs: the link of the other org ends, and a new one is shown here."""
    hooks.make_org_admin(who.eve)
    eve = browser_of("eve")
    first = invite(eve, "carol@acme.test")
    dom(submit(alice, adding(get(alice, PAGE)), email="carol@acme.test"), 400)
    assert submit(eve, row(get(eve, PAGE), "carol").all("form")[-1]).status_code == 302
    second = invite(alice, "carol@acme.test")
    assert "no longer valid" in dom(Client().get(first)).words
    assert choose(second)[1] == 302


def test_a_platform_admin_lets_an_account_into_a_further_org_as_it_is(browser_of: Browser, who: People) -> None:
    admin = browser_of("admin")
    admin.post("/org/", {"org": "acme"})
    assert submit(admin, adding(get(admin, PAGE)), email=" EVE@globex.test ", name="Other").status_code == 302
    page = get(admin, PAGE)
    assert page.one(id="notes").words == "Eve is now a member of acme." and page.none(id="link")
    assert "member" in row(page, "eve@globex.test").words
    assert [each.is_default for each in Membership.objects.filter(user=who.eve.user).order_by("pk")] == [True, False]


def test_the_page_says_who_may_be_added_to_whom_it_is_shown(alice: Client, browser_of: Browser) -> None:
    assert "a platform admin" in get(alice, PAGE).id("add-who").words
    assert "current password and tokens" in get(browser_of("admin"), PAGE).id("add-who").words


def test_somebody_new_chooses_a_password_by_a_link_that_is_shown_once(alice: Client) -> None:
    path = invite(alice, name="Nora", role="admin")
    page = get(alice, PAGE)
    assert page.none(id="link") and "Nora" in row(page, "new@acme.test").words
    assert "admin invited" in row(page, "new@acme.test").words
    client, status = choose(path)
    assert status == 302
    assert "Nora (you)" in get(client, PAGE).words
    assert "invited" not in row(get(alice, PAGE), "new@acme.test").words
    assert Client().login(username="new@acme.test", password=NEW)


def test_a_link_works_once_and_for_three_days(alice: Client) -> None:
    path = invite(alice)
    with time_machine.travel(timezone.now() + timedelta(days=3, hours=1)):
        assert "no longer valid" in dom(Client().get(path)).words
    assert choose(path)[1] == 302
    assert "no longer valid" in dom(Client().get(path)).words


@pytest.mark.parametrize(
    "path", ["/welcome/x/y/", "/welcome/MQ/set-password/", "/welcome/OTk5OTk5OTk5OTk5OTk5OTk5/a-b/"]
)
def test_a_made_up_link_opens_nothing(who: People, path: str) -> None:
    client = Client()
    for answer in (client.get(path), client.post(path, {"new_password1": NEW, "new_password2": NEW})):
        assert "no longer valid" in dom(answer).words
    assert not client.login(username="alice@acme.test", password=NEW)


@pytest.mark.parametrize(
    ("password", "again"), [("short", None), ("password1234", None), (NEW, "another-one"), ("", None)]
)
def test_a_bad_password_is_named_and_the_link_stays_good(alice: Client, password: str, again: str | None) -> None:
    path = invite(alice)
    assert choose(path, password, again)[1] == 400
    assert choose(path)[1] == 302


def test_a_link_ends_when_its_account_comes_to_reach_further(alice: Client, who: People) -> None:
    """Who made it would come into an org, or into rights, that were not theirs to give."""
    for number, reach in enumerate((lambda user: add_member(who.globex, user), lambda user: make_staff(user))):
        path = invite(alice, f"new{number}@acme.test")
        reach(User.objects.get(email=f"new{number}@acme.test"))
        assert "no longer valid" in dom(Client().get(path)).words
        assert "New link" not in row(get(alice, PAGE), f"new{number}@acme.test").words


def test_a_link_of_somebody_who_is_switched_off_opens_nothing(alice: Client) -> None:
    path = invite(alice)
    User.objects.filter(email="new@acme.test").update(is_active=False)
    assert "no longer valid" in dom(Client().get(path)).words
    assert "New link" not in row(get(alice, PAGE), "new@acme.test").words
    User.objects.filter(email="new@acme.test").update(is_active=True)
    assert choose(path)[1] == 302


def make_staff(user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_staff=True)


@pytest.mark.django_db(transaction=True)
def test_a_password_that_comes_as_its_account_changes_org_is_not_taken(
    alice: Client, browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The link was good when it was looked at, and the password is hashed for a while."""
    hooks.make_org_admin(who.eve)
    eve = browser_of("eve")
    path = invite(eve, "carol@acme.test")

    def hashed(user: User, *_: object, **__: object) -> None:
        assert submit(eve, row(get(eve, PAGE), "carol").all("form")[-1]).status_code == 302
        invite(alice, "carol@acme.test")
        user.password = make_password(NEW)

    monkeypatch.setattr(User, "set_password", hashed)
    client, status = choose(path)
    assert status == 200 and "_auth_user_id" not in client.session
    assert not User.objects.get(email="carol@acme.test").has_usable_password()


def test_only_who_has_not_begun_gets_a_new_link(alice: Client, who: People) -> None:
    first = invite(alice)
    member = Membership.objects.get(user__email="new@acme.test")
    with time_machine.travel(timezone.now() + timedelta(minutes=1)):
        assert submit(alice, row(get(alice, PAGE), "new@acme.test").all("form")[0]).status_code == 302
        assert urlsplit(get(alice, PAGE).id("link").words).path != first
    mint(member.user, "a program's")
    dom(alice.post(f"{PAGE}{member.pk}/link/"), 400)
    dom(alice.post(f"{PAGE}{Membership.objects.get(user=who.bob.user).pk}/link/"), 400)
    assert get(alice, PAGE).none(id="link")


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"email": ""}, "email"),
        ({"email": "nonsense"}, "email"),
        ({"email": "a:b@x.test"}, "email"),
        ({"email": "x" * 250 + "@acme.test"}, "email"),
        ({"email": "bob@acme.test"}, "email"),
        ({"email": "n@acme.test", "name": "x" * 121}, "name"),
        ({"email": "n\x00@acme.test"}, "email"),
    ],
)
def test_what_is_wrong_stands_beside_its_field_and_nobody_is_made(
    alice: Client, typed: dict[str, str], field: str
) -> None:
    before = User.objects.count(), Membership.objects.count()
    page = dom(submit(alice, adding(get(alice, PAGE)), **typed), 400)
    assert page.id(f"member-{field}")["aria-describedby"] == f"{field}-wrong" and page.id(f"{field}-wrong").words
    assert (User.objects.count(), Membership.objects.count()) == before


def test_an_unknown_role_and_an_unknown_org_are_refused(alice: Client, who: People) -> None:
    assert alice.post(PAGE, {"org": "acme", "email": "n@acme.test", "role": "owner"}).status_code == 400
    assert alice.post(PAGE, {"org": "nowhere", "email": "n@acme.test"}).status_code == 404
    bob = Membership.objects.get(user=who.bob.user)
    assert alice.post(f"{PAGE}{bob.pk}/role/", {"role": ""}).status_code == 400
    assert not User.objects.filter(email="n@acme.test").exists()


def test_who_is_switched_off_does_not_join(browser_of: Browser, who: People) -> None:
    User.objects.filter(pk=who.eve.user.pk).update(is_active=False)
    admin = browser_of("admin")
    page = dom(submit(admin, adding(get(admin, PAGE)), email="eve@globex.test"), 400)
    assert "disabled account" in page.id("email-wrong").words


def test_a_role_is_given_and_taken_but_the_last_admin_stays(alice: Client, who: People) -> None:
    forms = {name: row(get(alice, PAGE), name).all("form") for name in ("alice", "bob")}
    for form in forms["alice"]:
        refused = dom(submit(alice, form, "member"), 400)
        assert "only admin" in refused.one(role="alert").words
    assert submit(alice, forms["bob"][0], "admin").status_code == 302
    assert get(alice, PAGE).one(id="notes").words == "Bob is now an admin of acme."
    assert submit(alice, forms["alice"][0], "member").status_code == 302
    assert not get(alice, PAGE).one("main").all("form")


def test_who_is_removed_sees_nothing_and_what_they_wrote_stays(alice: Client, browser_of: Browser, who: People) -> None:
    thread = make.thread(who.bob, "Hello", visibility="org")
    bob, api = browser_of("bob"), Api(who.bob.token)
    form = row(get(alice, PAGE), "bob").all("form")[-1]
    assert "Remove Bob" in form.words
    assert submit(alice, form).status_code == 302
    assert get(alice, PAGE).one(id="notes").words == "Bob was removed from acme."
    assert get(alice, f"/threads/{thread.thread_id}/")
    assert bob.get(f"/threads/{thread.thread_id}/").status_code == 403
    assert api.get(f"threads/{thread.thread_id}").status_code == 403
    assert submit(alice, form).status_code == 404


def test_another_org_becomes_the_default_of_who_left_theirs(alice: Client, who: People) -> None:
    """A program that names no org goes on working."""
    third = Org.objects.create(slug="third", name="Third")
    for org in (who.globex, third):
        add_member(org, who.bob.user)
    assert submit(alice, row(get(alice, PAGE), "bob").all("form")[-1]).status_code == 302
    body = {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}
    assert data_of(Api(who.bob.token).post("threads", body))["org_id"] == who.globex.org_id


def test_platform_admins_change_every_org(browser_of: Browser, who: People) -> None:
    admin = browser_of("admin")
    assert submit(admin, row(get(admin, PAGE), "alice").all("form")[0], "admin").status_code == 302
    assert admin.post("/org/", {"org": "globex"}).status_code == 302
    page = get(admin, PAGE)
    assert "Globex" in page.id("who").words and "alice" not in page.one("table").words


def test_what_a_colleague_switched_meanwhile_stays(alice: Client, who: People) -> None:
    """Only what is changed on the page is saved, not all that it shows."""
    stale = get(alice, PAGE).one("form", action=f"{PAGE}policies/").fields()
    alice.post(f"{PAGE}policies/", {**stale, "on": ["members_may_fork"]})
    alice.post(f"{PAGE}policies/", {**stale, "on": ["visibility_may_change"]})
    who.acme.refresh_from_db()
    assert who.acme.members_may_fork and who.acme.visibility_may_change


def test_policies_are_switched_on_and_off(alice: Client, who: People) -> None:
    for on in (["members_may_fork"], ["members_may_fork", "visibility_may_change"], []):
        form = get(alice, PAGE).one("form", action=f"{PAGE}policies/")
        assert submit(alice, form, on=on).status_code == 302
        boxes = get(alice, PAGE).one("form", action=f"{PAGE}policies/").all("input", name="on")
        assert [box["value"] for box in boxes if box.has("checked")] == on
    assert submit(alice, form, on=["slug"]).status_code == 400


def test_a_person_of_no_org_is_told_so(browser_of: Browser, who: People) -> None:
    Membership.objects.filter(user=who.bob.user).delete()
    assert "not in an org yet" in dom(browser_of("bob").get(PAGE), 400).words


def test_a_name_turns_no_words_around_it(alice: Client, who: People) -> None:
    """Of one that was kept before names were looked at."""
    User.objects.filter(pk=who.bob.user.pk).update(name="B\u202eob")
    page, shown = get(alice, PAGE), "\u2068Bob\u2069"
    made_admin = then(alice, submit(alice, row(page, "bob").all("form")[0], "admin"))
    assert f"{shown} is now an admin of acme." in made_admin.words
    for each in (page, made_admin):
        assert "\u202e" not in each.words
        assert f"Remove {shown}" in row(each, "bob").all("form")[-1].words


def test_names_are_hostile_and_many_are_paged_by_as_many_queries(alice: Client, who: People) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            get(alice, PAGE)
        return len(seen)

    few = queries()
    for number in range(50):
        add_member(who.acme, User.objects.create_user(f"m{number:02}@acme.test", name="'\"><script>alert(1)</script>"))
    assert queries() == few
    first = get(alice, PAGE)
    second = get(alice, PAGE + first.one("a", rel="next")["href"])
    third = get(alice, PAGE + second.one("a", rel="next")["href"])
    found = [each.all("td")[0].words for page in (first, second, third) for each in page.one("tbody").all("tr")]
    assert len(found) == 52 == len(set(found)) and found == sorted(found)
    assert len(alice.get(PAGE).content) < 60_000


def test_after_a_change_the_focus_is_where_it_was_made(alice: Client, who: People) -> None:
    """On the same page of a long list, at the button that takes it back; a refusal has it, too."""
    for number in range(30):
        add_member(who.acme, User.objects.create(email=f"a{number:02}@acme.test", name=f"Member {number}"))
    first = get(alice, PAGE)
    second = get(alice, PAGE + first.one("a", rel="next")["href"])
    email = next(each for each in ("bob@acme.test", "a29@acme.test") if each in second.words)
    form = next(each for each in row(second, email).all("form") if "/role/" in each["action"])
    page = then(alice, alice.post(form["action"], {**form.fields(), "role": "admin"}))
    assert row(page, email).one("button", value="member").has("autofocus")
    assert "is now an admin of acme." in page.words
    for member in Membership.objects.filter(org=who.acme).exclude(user=who.alice.user):
        Membership.objects.filter(pk=member.pk).update(role="member")
    own = Membership.objects.get(org=who.acme, user=who.alice.user)
    refused = dom(alice.post(f"{PAGE}{own.pk}/role/", {"role": "member"}), 400)
    assert "only admin" in refused.one(role="alert").words and refused.one(role="alert").has("autofocus")
