"""What goes wrong, as a page: with the same sentence the API has, a request id, and the same headers as any other."""

import re
from collections.abc import Callable
from urllib.parse import quote, urlencode

import pytest
from django.db import OperationalError
from django.test import Client

from tests import make
from tests.pages.dom import Node, dom, get
from tests.people import People
from threads import screens

Browser = Callable[[str | None], Client]


def request_id(page: Node) -> str:
    found = page.one("main").all("code")[-1].words
    assert re.fullmatch(r"req_[0-9a-f]{12}", found)
    return found


@pytest.mark.parametrize("name", ["alice", None])
def test_an_address_that_leads_nowhere(browser_of: Browser, name: str | None) -> None:
    answer = browser_of(name).get("/nowhere/")
    page = dom(answer, 404)
    assert page.one("h1").words == "Not found."
    assert request_id(page) == answer["X-Request-Id"]
    way_out = page.one("main").one(class_="btns").one("a")
    assert way_out["href"] == ("/threads/" if name else "/signin/")


@pytest.mark.parametrize(
    ("path", "way_out", "words"),
    [
        ("/threads/ags_nope/", "/threads/", "There is no thread"),
        ("/catalogue/tools/nope__nope/", "/catalogue/", "There is no tool"),
        ("/catalogue/worlds/wld_nope/", "/catalogue/worlds/", "There is no world"),
        ("/skills/sk_nope/", "/skills/", "There is no skill"),
        ("/agents/agt_nope/", "/agents/", ""),
        ("/settings/nope/", "/settings/", ""),
    ],
)
def test_a_way_out_leads_to_the_list_and_an_id_is_told_from_words(
    browser_of: Browser, path: str, way_out: str, words: str
) -> None:
    main = get(browser_of("alice"), path, 404).one("main")
    assert main.one(class_="btns").one("a")["href"] == way_out
    if words:
        sentence = next(each for each in main.all("p") if words in each.words)
        assert sentence.one("code").words in path


@pytest.mark.parametrize(
    ("path", "way_out"),
    [
        ("/feedback/fb_nope/check/", "/feedback/"),
        ("/feedback/checks/batches/bat_nope/", "/feedback/checks/"),
        ("/feedback/insight/nope/", "/feedback/insight/"),
    ],
)
def test_a_way_out_of_an_admins_page_leads_nobody_else_to_another_one(
    browser_of: Browser, path: str, way_out: str
) -> None:
    for name, leads_to in (("admin", way_out), ("alice", "/threads/")):
        answer = browser_of(name).get(path)
        assert dom(answer, answer.status_code).one("main").one(class_="btns").one("a")["href"] == leads_to


def test_a_page_that_is_refused_lights_its_own_place_and_no_other(browser_of: Browser) -> None:
    """A reader who may not see the desk is not told that they are among the threads."""
    assert not get(browser_of("alice"), "/feedback/", 403).one("nav", class_="nav").all("a", aria_current=True)
    for path, place in (("/feedback/no/such/page/", "/feedback/"), ("/feedback/insight/nope/", "/feedback/insight/")):
        (lit,) = get(browser_of("admin"), path, 404).one("nav", class_="nav").all("a", aria_current=True)
        assert lit["href"] == place


def test_a_missing_right_names_who_is_asking(browser_of: Browser, who: People) -> None:
    page = get(browser_of("eve"), f"/threads/{make.thread(who.alice).thread_id}/", 403)
    assert page.one("h1").words == "You do not have permission."
    assert "signed in as Eve, acting in globex" in page.one("main").words
    request_id(page)


def test_a_bug_tells_its_request_id_and_nothing_else(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("SECRET-OF-THE-SERVER")

    monkeypatch.setattr(screens, "extract", broken)
    answer = browser_of("alice").get(f"/threads/{make.thread(who.alice).thread_id}/")
    page = dom(answer, 500)
    assert page.one("h1").words == "Something went wrong."
    assert request_id(page) == answer["X-Request-Id"]
    assert "SECRET-OF-THE-SERVER" not in answer.content.decode() and "Traceback" not in answer.content.decode()
    assert page.one(role="alert") and page.one("a", href="").words == "Try again"


def test_a_database_that_does_not_answer_is_busy_and_not_broken(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(screens, "extract", away)
    page = get(browser_of("alice"), f"/threads/{make.thread(who.alice).thread_id}/", 503)
    assert page.one("h1").words == "Heddle is busy." and "locked" not in page.words


def test_a_strange_host_gets_a_refusal() -> None:
    page = dom(Client(raise_request_exception=False).get("/signin/", headers={"Host": "elsewhere.example"}), 400)
    assert "is not configured for that name" in page.one("main").words


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/threads/"), ("DELETE", "/threads/"), ("PUT", "/settings/"), ("GET", "/signout/"), ("GET", "/org/")],
)
def test_a_wrong_method_changes_nothing_and_says_so(browser_of: Browser, method: str, path: str) -> None:
    answer = browser_of("alice").generic(method, path)
    page = dom(answer, 405)
    assert method not in answer["Allow"].split(", ") and {"GET", "POST"} & set(answer["Allow"].split(", "))
    assert "Nothing was changed." in page.one("main").words and request_id(page) == answer["X-Request-Id"]
    assert page.one("main").one(class_="btns").one("a")


@pytest.mark.parametrize("path", ["/threads/", "/signin/", "/nowhere/", "/v1/docs/", "/settings/"])
def test_every_page_keeps_to_itself(browser_of: Browser, path: str) -> None:
    """No script or style but the house's own, no frame, no other host, nothing told to where links lead."""
    answer = browser_of(None if path == "/signin/" else "alice").get(path)
    policy = dict(rule.split(" ", 1) for rule in answer["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == policy["script-src"] == policy["style-src"] == policy["form-action"] == "'self'"
    assert policy["object-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in answer["Content-Security-Policy"]
    assert (answer["X-Frame-Options"], answer["Referrer-Policy"]) == ("DENY", "same-origin")
    page = dom(answer, answer.status_code)
    loaded = [node.get("src") or node["href"] for node in [*page.all("script"), *page.all("link")]]
    assert loaded and all(each.startswith("/static/") for each in loaded)
    for each in loaded:
        assert browser_of(None).get(each).status_code == 200, each


def test_the_routes_can_be_read_without_being_signed_in(browser_of: Browser) -> None:
    assert browser_of(None).get("/v1/docs").status_code == 200  # no route under /v1 redirects (B170)
    page = get(browser_of(None), "/v1/docs/")
    routes = {line.words for line in page.all("p", class_="mono")}
    assert {
        "POST /v1/ai/threads",
        "GET /v1/ai/threads/{thread_id}/delta",
        "PUT /v1/ai/admin/feedback/{feedback_id}",
    } <= routes
    start = next(line for line in page.all("p") if line.words == "POST /v1/ai/threads").within("section")
    fields = [row.one("th").words for row in start.one("tbody").all("tr")]
    assert {"messages", "goals", "client_tools"} <= set(fields)
    headings = [heading["id"] for heading in [*page.all("h2"), *page.all("h3")]]
    assert len(headings) == len(set(headings))
    leading = {link["href"].removeprefix("#") for link in page.one("main").all("a") if link["href"].startswith("#")}
    assert {"triage", "shape-ThreadOut"} <= leading <= set(headings)
    assert page.one("a", class_="btn", href="/v1/schema/")
    assert start.one("caption").words == f"Body of {start.one('h3').words}", "in a list of all tables of the page"
    assert not [part for part in page.one("main").all("section") if part.has("aria-labelledby")], (
        "each would be a landmark of its own"
    )


def test_headers_are_told_and_references_to_the_spec_are_not(browser_of: Browser) -> None:
    page = get(browser_of(None), "/v1/docs/").one("main")
    call = next(
        line for line in page.all("p") if line.words == "POST /v1/catalogue/tools/{qualified_name}/call"
    ).within("section")
    told = next(line for line in call.all("p") if line.words.startswith("Headers:"))
    assert {"X-Roboto-Org-Id", "Idempotency-Key"} <= {each.words for each in told.all("code")}
    assert "`" not in page.words
    assert re.findall(r"\((?:[A-Z]\d+\b|spec )[^)]*\)", page.words) == []
    assert "page_token" in {code.words for row in page.all("td") for code in row.all("code")}


def test_the_routes_stand_in_the_frame_of_whoever_is_signed_in(browser_of: Browser) -> None:
    assert get(browser_of("alice"), "/v1/docs/").one("a", href="/settings/")


@pytest.mark.parametrize("path", ["/threads/ags_%00/", "/threads/?after=%00", "/nowhere%00/", "/signin/?next=%00"])
def test_an_address_with_a_nul_in_it_is_refused(browser_of: Browser, path: str) -> None:
    assert "The URL must not contain a NUL" in get(browser_of("alice"), path, 400).one("main").words
    assert browser_of(None).get("/v1/ai/threads/ags_%00").status_code == 400


@pytest.mark.parametrize(
    "content_type",
    [
        "multipart/form-data",
        "multipart/form-data; boundary=" + "x" * 300,
        "application/x-www-form-urlencoded; charset=utf-7",
        "application/x-www-form-urlencoded; charset=iso-8859-1",
    ],
)
def test_a_form_of_a_kind_that_cannot_be_read_is_refused_and_is_no_fault_of_ours(db: None, content_type: str) -> None:
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.get("/signin/")
    sent = client.generic("POST", "/signin/", b"email=a", content_type=content_type)
    assert sent.status_code == 400 and b"The request is malformed." in sent.content


def test_the_root_leads_to_the_threads(browser_of: Browser) -> None:
    assert browser_of("alice").get("/")["Location"] == "/threads/"


@pytest.mark.parametrize(
    ("sent", "by_script", "is_kept"),
    [
        ({"notes": "Too slow", "sentiment": "negative"}, True, True),
        ({"notes": " ", "sentiment": "negative"}, True, False),
        ({"notes": "Too slow", "sentiment": "negative"}, False, False),
    ],
)
@pytest.mark.parametrize("lost", ["sessionid", "csrftoken"])
def test_a_form_without_a_session_says_whether_its_text_is_kept(
    who: People, sent: dict[str, str], by_script: bool, is_kept: bool, lost: str
) -> None:
    """Scripts keep text as a draft; of a form without them nothing is known."""
    thread, client = make.thread(who.alice), Client(enforce_csrf_checks=True)
    client.force_login(who.alice.user)
    here = f"/threads/{thread.thread_id}/"
    typed = sent | {"csrfmiddlewaretoken": get(client, here).all("input", name="csrfmiddlewaretoken")[0]["value"]}
    client.cookies.pop("sessionid")
    if lost == "csrftoken":
        client.cookies.clear()
    answer = client.post(
        f"{here}messages/1/rate/",
        urlencode(typed),
        content_type="application/x-www-form-urlencoded",
        headers={"HX-Request": "true"} if by_script else {},
    )
    if lost == "sessionid" and not by_script:
        assert answer["Location"].startswith("/signin/?next=")
        return
    told = dom(answer, 403 if lost == "csrftoken" else 401).one("main")
    assert told.one("h1").words == "Sign in first." and "expired" not in told.words
    assert ("your text is kept here" in told.words) == is_kept
    assert ("nothing was stored" in told.words) != is_kept


def test_the_form_to_sign_in_that_is_too_old_says_so(db: None) -> None:
    assert "The form has expired" in dom(Client(enforce_csrf_checks=True).post("/signin/", {}), 403).words


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true", "HX-Current-URL": "http://testserver/settings/?x=1"}])
def test_a_form_from_before_its_user_signed_in_again_leads_to_its_page(who: People, headers: dict[str, str]) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(who.alice.user)
    sent = {"name": "x", "csrfmiddlewaretoken": "x" * 64}
    client.get("/settings/")
    shown = {"Referer": "http://testserver/settings/?x=1", **headers}
    page = dom(client.post("/settings/tokens/", sent, headers=shown), 403)
    assert page.one("h1").words == "This form has expired." and "permission" not in page.words
    assert page.one("main").one("a", data_why=True)["href"] == "/settings/?x=1"
    client.cookies.clear()
    page = dom(client.post("/settings/tokens/", sent, headers=shown), 403)
    assert page.one("h1").words == "Sign in first." and "expired" not in page.words
    assert "You are signed out; nothing was stored. Sign in and send it again." in page.words
    assert page.one("main").one("a", data_why=True)["href"].startswith("/signin/?next=%2Fsettings%2F")


@pytest.mark.parametrize(
    ("shown", "then"),
    [
        ("http://testserver/threads/x/?q=a&at=3#m1", "/threads/x/?q=a&at=3#m1"),
        ("https://elsewhere.test/", ""),
    ],
)
def test_who_signs_in_again_comes_back_to_where_they_were(
    browser_of: Browser, who: People, shown: str, then: str
) -> None:
    """A form that is open there has its text as a draft."""
    headers = {"HX-Request": "true", "HX-Current-URL": shown, "HX-Target": "write"}
    answer = browser_of(None).post("/threads/x/send/", {"text": "Hi"}, headers=headers)
    link = dom(answer, 401).one("main").one("a", data_why=True)["href"]
    assert link == ("/signin/" + (f"?next={quote(then, safe='')}" if then else ""))


@pytest.mark.parametrize("is_forged", [False, True])
def test_who_signs_in_again_comes_back_to_the_form_that_stands_alone(
    browser_of: Browser, who: People, is_forged: bool
) -> None:
    """In the thread it would be closed, with its text as a draft that nobody sees."""
    client = Client(enforce_csrf_checks=True) if is_forged else browser_of(None)
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/threads/x/#m1", "HX-Target": "mark-3"}
    path = "/threads/x/messages/3/rate/"
    answer = client.post(path, {"sentiment": "positive"}, headers=headers)
    link = dom(answer, 403 if is_forged else 401).one("main").one("a", data_why=True)["href"]
    assert link == f"/signin/?next={quote(path, safe='')}"
