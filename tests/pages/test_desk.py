"""The feedback desk: admins only, list, conversation and report in one page, and the address is the state."""

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from feedback.models import TriageChange, UserFeedback
from tests import make
from tests.pages.dom import Node, dom, get, queries, submit
from tests.people import People, Person
from threads.models import Thread

Browser = Callable[[str | None], Client]
DESK = "/feedback/"


def words(page: Node) -> list[str]:
    return [row.one("a").words for row in page.all("li", class_="rep")]


def first(page: Node) -> str:
    return page.all("li", class_="rep")[0].one("a")["href"]


def opened(client: Client, notes: str, query: str = "") -> Node:
    page = get(client, DESK + query)
    row = next(row for row in page.all("li", class_="rep") if row.one("a").words == notes)
    return get(client, DESK + row.one("a")["href"])


def reports(person: Person, number: int, **said: object) -> list[UserFeedback]:
    """Reports on a thread of their own each; the first is the oldest."""
    thread = make.conversation(person, 2 * number, visibility="org")
    for place in range(number):
        make.rating(person, thread, 2 * place + 1, **{"notes": f"report {place}", **said})
    return list(UserFeedback.objects.filter(thread=thread).order_by("id"))


@pytest.mark.parametrize("name", ["alice", "bob", "eve"])
def test_the_desk_is_for_admins(browser_of: Browser, who: People, name: str) -> None:
    """B133: a submitter is refused too, and is not even told of the place."""
    report = reports(who.alice, 1)[0]
    client = browser_of(name)
    page = get(client, DESK, 403)
    assert "Only platform admins" in page.one("main").words and "report 0" not in page.text
    assert page.none("a", data_go="f")
    before = UserFeedback.objects.values().get()
    dom(client.post(f"{DESK}{report.feedback_id}/", {"verb": "resolve", "admin_note": "x"}), 403)
    assert UserFeedback.objects.values().get() == before


def test_an_empty_desk_says_that_nothing_was_rated_yet(browser_of: Browser) -> None:
    client = browser_of("admin")
    assert "No report matches." in get(client, DESK).words
    everything = get(client, DESK + "?resolved=any")
    assert "Nothing has been rated yet." in everything.words
    assert "No report is open." in everything.id("desk-talk").words
    assert everything.id("dock").none("button") and everything.none("form", id="triage")


def test_it_opens_on_what_is_open_and_the_place_says_how_many(browser_of: Browser, who: People) -> None:
    made = reports(who.alice, 3)
    UserFeedback.objects.filter(pk=made[1].pk).update(
        resolved=True, resolved_by=who.admin.user, resolved_at=made[1].created
    )
    page = get(browser_of("admin"), DESK)
    assert words(page) == ["report 2", "report 0"]
    assert page.one("a", data_go="f").one(class_="count").words == "2 open"
    assert page.one("nav", aria_label="Views").one(aria_current="true").words == "Open"
    assert page.one(role="group").one("a").words == "resolved:false"


def test_a_row_says_verdict_categories_words_thread_and_person(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice, "The thread")
    make.rating(who.alice, thread, categories=["slow", "incorrect"], notes="So slow")
    row = get(browser_of("admin"), DESK).one("li", class_="rep")
    assert row.one("svg", data_tone="neg")["aria-label"] == "Negative"
    assert row.one(class_="rep-top").one("span").words == "incorrect, slow"
    assert row.one("a").words == "So slow"
    assert [part.words for part in row.one(class_="rep-end").all("span")] == ["The thread", "Alice"]


def test_a_rating_without_words_says_so(browser_of: Browser, who: People) -> None:
    make.rating(who.alice, make.thread(who.alice), sentiment="positive")
    client = browser_of("admin")
    page = get(client, DESK)
    assert words(page) == ["No words, only a mark"]
    assert page.one(class_="rep-top").one("span").words == "positive"
    assert get(client, DESK + first(page)).one(class_="words").words == "No words, only a mark"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["bad tool", "good", "bad slow"]),
        ("?sentiment=negative", ["bad tool", "bad slow", "done"]),
        ("?sentiment=negative&resolved=false", ["bad tool", "bad slow"]),
        ("?category=slow", ["bad slow"]),
        ("?category=slow&sentiment=positive", []),
        ("?resolved=true", ["done"]),
        ("?resolved=any", ["bad tool", "good", "bad slow", "done"]),
        ("?resolved=any&category=incorrect", ["done"]),
        ("?thread=THREAD", ["bad tool"]),
        ("?thread=ags_nothing", []),
    ],
)
def test_filters(browser_of: Browser, who: People, query: str, found: list[str]) -> None:
    other = make.thread(who.bob, "Other")
    thread = make.conversation(who.alice, 8)
    make.rating(who.alice, thread, 1, categories=["incorrect"], notes="done")
    UserFeedback.objects.update(resolved=True, resolved_by=who.admin.user, resolved_at="2026-01-01T00:00:00Z")
    make.rating(who.alice, thread, 3, categories=["slow"], notes="bad slow")
    make.rating(who.alice, thread, 5, "positive", notes="good")
    make.rating(who.bob, other, 1, categories=["tool_failure"], notes="bad tool")
    page = get(browser_of("admin"), DESK + query.replace("THREAD", other.thread_id))
    assert words(page) == found


@pytest.mark.parametrize("query", ["?sentiment=sad", "?category=x", "?resolved=maybe", "?after=x", "?item=fb_nothing"])
def test_a_filter_that_means_nothing_is_refused_by_name(browser_of: Browser, who: People, query: str) -> None:
    reports(who.alice, 1)
    page = get(browser_of("admin"), DESK + query, 404 if "item" in query else 400)
    name = query[1:].partition("=")[0]
    assert {"after": "page_token", "item": "fb_nothing"}.get(name, name) in page.one("main").words


def test_every_filter_is_a_link_that_keeps_the_rest(browser_of: Browser, who: People) -> None:
    reports(who.alice, 2, categories=["slow"])
    client = browser_of("admin")
    page = get(client, DESK + "?category=slow&sentiment=negative")
    views = {link.words: parse_qs(link["href"][1:]) for link in page.one("nav", aria_label="Views").all("a")}
    assert views["Resolved"] == {"category": ["slow"], "resolved": ["true"]}
    tokens = {link.words: link for link in page.one(role="group").all("a")}
    assert set(tokens) == {"sentiment:negative", "category:slow"}
    assert parse_qs(tokens["category:slow"]["href"][1:]) == {"sentiment": ["negative"]}
    categories = page.one("main").one("details", class_="menu").all("a")
    for link in [*page.one("nav", aria_label="Views").all("a"), *categories]:
        get(client, DESK + link["href"])


def test_an_open_report_shows_the_conversation_around_the_answer(browser_of: Browser, who: People) -> None:
    thread = make.conversation(who.alice, 20)
    make.rating(who.alice, thread, 9, categories=["unsafe"], notes="Line one\nline two")
    client = browser_of("admin")
    page = get(client, DESK + first(get(client, DESK)))
    talk = page.id("desk-talk")
    rated = talk.one("section", class_="rated")
    assert rated.one("article")["id"] == "m9" and rated["data-sentiment"] == "negative"
    assert "Rated negative" in rated.words and "unsafe" in rated.one("p", class_="rated-tab").words
    assert [article["data-index"] for article in talk.all("article")] == ["7", "8", "9", "10"]
    assert [fold.words for fold in talk.all(class_="fold")] == ["7 messages folded", "9 messages folded"]
    assert talk.one("h2").one("a")["href"] == f"/threads/{thread.thread_id}/#m9"
    report = page.id("desk-report")
    assert report.one(class_="words").text == "Line one\nline two"
    assert report.one("button", class_="copy")["data-copy"].startswith("fb_")
    assert page.one("li", class_="rep")["aria-current"] == "true"
    assert talk.none(class_="msg-acts") and page.none("form", id="write")


def test_label_and_note_are_kept_and_the_page_stays(browser_of: Browser, who: People) -> None:
    """H8, B127, B131."""
    report = reports(who.alice, 2)[0]
    client = browser_of("admin")
    form = opened(client, "report 0").id("triage")
    answer = submit(client, form, "save", admin_label=" pumps ", admin_note="Look\r\nat it")
    assert parse_qs(urlsplit(answer["Location"]).query)["item"] == [report.feedback_id]
    page = get(client, answer["Location"])
    assert page.id("notes").words == "Saved."
    assert page.id("admin-label")["value"] == "pumps"
    assert page.id("admin-note").text == "Look\nat it"
    assert "pumps" in next(row for row in page.all("li", class_="rep") if row.has("aria-current")).words
    report.refresh_from_db()
    assert (report.admin_label, report.admin_note, report.modified) == ("pumps", "Look\nat it", report.created)
    submit(client, page.id("triage"), "save", admin_label="", admin_note="")
    report.refresh_from_db()
    assert (report.admin_label, report.admin_note) == (None, None)


def test_resolving_goes_on_to_the_next_until_the_desk_is_clear(browser_of: Browser, who: People) -> None:
    """B129: and whatever was typed is kept with it."""
    reports(who.alice, 3)
    client = browser_of("admin")
    page, seen = opened(client, "report 2"), []
    for place in range(3):
        seen.append(page.id("desk-report").one(class_="words").words)
        answer = submit(client, page.id("triage"), "resolve", admin_note=f"note {place}")
        page = get(client, answer["Location"])
        assert page.id("notes").words == "Resolved."
    assert seen == ["report 2", "report 1", "report 0"]
    assert words(page) == [] and page.none("form", id="triage")
    rows = UserFeedback.objects.order_by("-id").values_list("resolved", "resolved_by", "admin_note")
    assert list(rows) == [(True, who.admin.user.pk, f"note {place}") for place in range(3)]
    assert page.one("a", data_go="f").one(class_="count").words == "0 open"


def test_resolving_the_last_of_a_list_goes_to_the_one_above(browser_of: Browser, who: People) -> None:
    reports(who.alice, 2)
    client = browser_of("admin")
    answer = submit(client, opened(client, "report 0").id("triage"), "resolve")
    assert get(client, answer["Location"]).id("desk-report").one(class_="words").words == "report 1"


def test_resolving_keeps_the_filters(browser_of: Browser, who: People) -> None:
    reports(who.alice, 2, categories=["slow"])
    client = browser_of("admin")
    form = opened(client, "report 1", "?category=slow&sentiment=negative").id("triage")
    query = parse_qs(urlsplit(submit(client, form, "resolve")["Location"]).query)
    assert (query["category"], query["sentiment"]) == (["slow"], ["negative"])


def test_reopening(browser_of: Browser, who: People) -> None:
    """B129."""
    report = reports(who.alice, 1)[0]
    client = browser_of("admin")
    submit(client, opened(client, "report 0").id("triage"), "resolve")
    page = opened(client, "report 0", "?resolved=true")
    assert "resolved by Admin" in page.id("desk-report").words
    assert page.id("dock").one("button", value="reopen")
    answer = submit(client, page.id("triage"), "reopen")
    assert get(client, answer["Location"]).id("notes").words == "Open again."
    report.refresh_from_db()
    assert (report.resolved, report.resolved_at, report.resolved_by) == (False, None, None)


def test_the_history_says_who_did_what_before_and_after(browser_of: Browser, who: People) -> None:
    report = reports(who.alice, 1)[0]
    client = browser_of("admin")
    for label in ("pumps", "tyres", ""):
        submit(client, opened(client, "report 0").id("triage"), "save", admin_label=label)
    submit(client, opened(client, "report 0").id("triage"), "resolve")
    make.rating(who.alice, report.thread, 1, notes="report 0, and more")
    page = opened(client, "report 0, and more", "?resolved=any")
    assert [line.all("span")[0].words for line in page.one("ol", class_="hist").all("li")] == [
        "Alice changed the rating",
        "Admin resolved it",
        "Admin removed the label tyres",
        "Admin changed the label pumps to tyres",
        "Admin set the label pumps",
        "Alice rated message 1",
    ]
    assert ", changed just now" in page.id("desk-report").words


@pytest.mark.parametrize(
    ("typed", "field", "reason"),
    [
        ({"admin_label": "x" * 201, "admin_note": "kept"}, "admin_label", "Label should have at most 200"),
        ({"admin_label": "kept", "admin_note": "x" * 20_001}, "admin_note", "Note should have at most 20000"),
        ({"admin_label": "kept", "admin_note": "a\x00b"}, "admin_note", "Note holds a NUL"),
    ],
)
def test_what_cannot_be_saved_stays_in_its_field(
    browser_of: Browser, who: People, typed: dict[str, str], field: str, reason: str
) -> None:
    reports(who.alice, 2)
    client = browser_of("admin")
    page = dom(submit(client, opened(client, "report 0").id("triage"), "resolve", **typed), 400)
    label, note = page.id("admin-label"), page.id("admin-note")
    assert (label["value"], note.text) == (typed["admin_label"], typed["admin_note"])
    assert page.one(class_="wrong").words.startswith(reason)
    assert (label.has("aria-invalid"), note.has("aria-invalid")) == (field == "admin_label", field == "admin_note")
    assert words(page) == ["report 1", "report 0"]
    assert not UserFeedback.objects.filter(resolved=True).exists() and not TriageChange.objects.exists()


@pytest.mark.parametrize(
    "target", ["https://elsewhere.example/", "//elsewhere.example", "javascript:alert(1)", "", "\\\\x"]
)
def test_acting_never_leads_to_another_host(browser_of: Browser, who: People, target: str) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    for verb in ("save", "resolve", "reopen"):
        answer = client.post(f"{DESK}{report.feedback_id}/", {"verb": verb, "next": target, "here": target})
        assert (answer.status_code, answer["Location"]) == (302, DESK)


def test_a_verb_that_does_not_exist_and_a_report_that_does_not_exist(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    assert "verb" in dom(client.post(f"{DESK}{report.feedback_id}/", {"verb": "delete"}), 400).one("main").words
    dom(client.post(f"{DESK}fb_nothing/", {"verb": "resolve"}), 404)
    assert client.get(f"{DESK}{report.feedback_id}/").status_code == 405
    assert browser_of(None).post(f"{DESK}{report.feedback_id}/")["Location"].startswith("/signin/")


def test_triage_from_another_site_is_refused(who: People) -> None:
    report = reports(who.alice, 1)[0]
    client = Client(enforce_csrf_checks=True)
    client.force_login(who.admin.user)
    dom(client.post(f"{DESK}{report.feedback_id}/", {"verb": "resolve"}), 403)
    assert submit(client, opened(client, "report 0").id("triage"), "resolve").status_code == 302


def test_paging_shows_every_report_once_while_others_rate(browser_of: Browser, who: People) -> None:
    reports(who.alice, 120)
    client, seen = browser_of("admin"), []
    page = get(client, DESK)
    while True:
        seen += words(page)
        more = page.all("a", rel="next")
        if not more:
            break
        make.rating(who.alice, make.thread(who.alice), notes="later")
        page = get(client, DESK + more[0]["href"])
    assert seen == [f"report {place}" for place in reversed(range(120))]


def test_opening_a_report_on_a_later_page_keeps_that_page(browser_of: Browser, who: People) -> None:
    reports(who.alice, 60)
    client = browser_of("admin")
    later = get(client, DESK + get(client, DESK).one("a", rel="next")["href"])
    page = get(client, DESK + first(later))
    assert words(page) == words(later)
    assert page.id("desk-report").one(class_="words").words == words(later)[0]


def test_on_a_phone_the_pane_is_in_the_address(browser_of: Browser, who: People) -> None:
    reports(who.alice, 1)
    client = browser_of("admin")
    page = get(client, DESK)
    assert page.id("desk")["data-pane"] == "list"
    page = get(client, DESK + first(page))
    assert page.id("desk")["data-pane"] == "talk"
    tabs = {tab.words: tab for tab in page.id("desk-tabs").all("a")}
    assert tabs["Conversation"]["aria-current"] == "true"
    page = get(client, DESK + tabs["Report"]["href"])
    assert page.id("desk")["data-pane"] == "report" and page.id("admin-note")
    assert get(client, DESK + "?pane=nothing").id("desk")["data-pane"] == "list"


def test_forking_at_the_rated_message_from_the_desk(browser_of: Browser, who: People) -> None:
    """B142: an admin reproduces a complaint in a thread of their own."""
    reports(who.alice, 3)
    client = browser_of("admin")
    answer = submit(client, opened(client, "report 1").id("desk-fork"))
    forked = Thread.objects.latest("pk")
    assert answer["Location"] == f"/threads/{forked.thread_id}/"
    assert (forked.message_count, forked.created_by, forked.visibility) == (4, who.admin.user, "private")


def test_what_admins_write_never_reaches_anybody_else(browser_of: Browser, who: People) -> None:
    """B111, B133: not the submitter, not the owner, on no page they can open."""
    report = reports(who.bob, 1)[0]
    client = browser_of("admin")
    submit(client, opened(client, "report 0").id("triage"), "resolve", admin_label="LABELMARK", admin_note="NOTEMARK")
    here = f"/threads/{report.thread.thread_id}/"
    for name in ("bob", "alice"):
        for path in ("/threads/", here, f"{here}messages/1/rate/", f"{here}export/?format=roboto", "/settings/"):
            answer = browser_of(name).get(path)
            assert answer.status_code == 200, path
            for secret in (b"LABELMARK", b"NOTEMARK", b"resolved", report.feedback_id.encode()):
                assert secret not in answer.content, (name, path, secret)
    assert b"NOTEMARK" in client.get(DESK + f"?resolved=any&item={report.feedback_id}").content


def test_ten_more_reports_are_no_more_queries(browser_of: Browser, who: People) -> None:
    reports(who.alice, 2)
    client = browser_of("admin")
    few = queries(client, DESK)
    open_few = queries(client, DESK + first(get(client, DESK)))
    reports(who.bob, 10)
    for _ in range(3):
        make.rating(who.alice, make.thread(who.alice))
    # Session, person, orgs; keys of the page and their rows; chosen org, orgs and the count of open ones for the frame.
    assert queries(client, DESK) == few == 8
    # And the report with its thread and people, a snapshot of the thread, ratings, pin, forks, context, history.
    assert queries(client, DESK + first(get(client, DESK, 200))) <= open_few <= 26
