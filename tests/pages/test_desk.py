"""The feedback desk as it is read: admins only, list, conversation and report in one page; the address is the state."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, urlencode

import pytest
import time_machine
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from core.errors import Unauthorized
from feedback import commenting, desk_screen, leasing, saved_views
from feedback.lists import PLACES
from feedback.models import Lease, RatedTool, Retraction, SavedView, Triage, UserFeedback
from feedback.wire_desk import CommentIn
from tests import make
from tests.pages.desk import (
    ALL,
    DESK,
    Browser,
    client_of,
    do,
    notes_of,
    opened,
    query_of,
    reports,
    row_of,
    stored,
    words,
)
from tests.pages.dom import Node, dom, get, queries, submit, then
from tests.people import People, second_admin
from threads import forks, reruns, turns
from threads.models import Thread
from threads.wire import RerunIn, SendIn, ThreadOut


@pytest.mark.parametrize("name", ["alice", "bob", "eve"])
def test_the_desk_is_for_admins(browser_of: Browser, who: People, name: str) -> None:
    """B133: a submitter is refused too, and is not even told of the place; so is every door of the page."""
    report = reports(who.alice, 1)[0]
    client = browser_of(name)
    page = get(client, DESK, 403)
    assert "Only platform admins" in page.one("main").words and "report 0" not in page.text
    assert page.none("a", data_key="g f")
    before = UserFeedback.objects.values().get()
    for path in ("bulk/", "undo/", "views/", f"{report.feedback_id}/", f"{report.feedback_id}/lease/"):
        sent = {"verb": "resolve", "feedback_ids": [report.feedback_id], "name": "x", "q": "is:open"}
        dom(client.post(f"{DESK}{path}", sent), 403)
    assert client.get(f"{DESK}live/0/").status_code == 403
    assert UserFeedback.objects.values().get() == before and not Lease.objects.exists()


def test_who_is_not_signed_in_is_asked_to(browser_of: Browser, who: People) -> None:
    report = reports(who.alice, 1)[0]
    for answer in (browser_of(None).get(DESK), browser_of(None).post(f"{DESK}{report.feedback_id}/")):
        assert answer["Location"].startswith("/signin/")


def test_an_empty_desk_says_why(browser_of: Browser, who: People) -> None:
    client = browser_of("admin")
    for query in ("", ALL, "?q=is:due", "?q=label:money"):
        page = get(client, DESK + query)
        assert "Nothing has been rated yet." in page.words and page.id("news").has("hidden")
        assert page.id("desk-talk").words == "No report is open."
        assert page.id("dock").none("button") and page.none("form", id="triage")
        assert get(client, page.id("desk-rows").one(class_="void").one("a")["href"]).one("h1").words == "Threads"
    reports(who.alice, 1)
    page = get(client, DESK + "?q=is:open+tool:nothing")
    assert "No rated answer used the tool nothing." in page.id("desk-rows").words
    page = get(client, DESK + "?q=is:open+sentiment:positive")
    lines = page.id("desk-rows").one(class_="void").all("a")
    assert [line.words for line in lines] == ["1 without sentiment:positive", "Show all open reports"]
    for line in lines:
        assert words(get(client, DESK + line["href"])) == ["report 0"]
    assert "No reports match. Remove a term" in get(client, DESK + "?q=is:resolved").words
    assert "Choose one from the list" in get(client, DESK).id("desk-talk").words


@time_machine.travel(datetime(2026, 11, 5, 22, 30, tzinfo=UTC), tick=False)
def test_an_empty_view_says_what_is_left_elsewhere_and_what_was_done_today(browser_of: Browser, who: People) -> None:
    """Without a key of a list that has no rows; a day begins where its reader is."""
    made, bea, client = reports(who.alice, 4), second_admin(), browser_of("admin")
    do(who.admin, made[0], "own", owner="me")
    with time_machine.travel(datetime(2026, 11, 4, 23, 30, tzinfo=UTC), tick=False):
        do(who.admin, made[1], "resolve")
        UserFeedback.objects.filter(pk=made[1].pk).update(created=timezone.now(), modified=timezone.now())
    do(bea, made[2], "resolve")
    do(who.admin, made[3], "resolve")

    def shown(query: str) -> Node:
        return get(client, DESK + query).id("desk-rows").one(class_="void")

    page = shown("")
    assert page.words == "All done here. No unclaimed reports. 1 is yours, 1 is negative. You resolved 1 today."
    assert [words(get(client, DESK + link["href"])) for link in page.all("a")] == [["report 0"]] * 2
    client.cookies["tz"] = "Europe/Berlin"
    assert (
        shown("?q=is:due").words
        == "All done here. No reports are due. 1 is yours, 1 is negative. You resolved 2 today."
    )
    do(who.admin, made[0], "resolve")
    page = shown("?q=is:open+-is:snoozed+owner:me")
    assert page.words == "All done here. You have no open reports. Nothing is waiting for you. You resolved 3 today."
    assert "You resolved" not in get(client_of(bea), DESK + "?q=is:open+-is:snoozed").words
    last = get(client, f"{DESK}?q=&after={PLACES.token(made[0].pk)}").id("desk-rows").one(class_="void")
    assert last.words == "This page is empty. Show the first page"
    assert len(words(get(client, DESK + last.one("a")["href"]))) == 4


def test_it_opens_on_what_nobody_has_taken(browser_of: Browser, who: People) -> None:
    """The default view leaves out what is owned, resolved or put off, and the place says how many are open."""
    made = reports(who.alice, 5)
    do(who.admin, made[1], "own", owner="me")
    do(who.admin, made[2], "resolve")
    do(who.admin, made[3], "snooze", until_again=True)
    page = get(browser_of("admin"), DESK)
    assert words(page) == ["report 4", "report 0"]
    assert page.id("desk-count").words == "4 open"
    line, menu = page.id("desk-views").one("div"), page.id("desk-views").one("details")
    views = ["Unclaimed 2", "For me 1", "Negative 3", "Due 0"]
    assert [link.words for link in line.all("a")] == views
    others = ["All open", "Resolved this week", "Asked 0", "Revisited 0", "Snoozed"]
    numbered = [f"{view} {number}" for number, view in enumerate([*views, *others], start=1)]
    assert [link.words for link in menu.all("a")] == numbered, "each with its key"
    assert [place.one("a", aria_current="true").words for place in (line, menu)] == ["Unclaimed 2", "Unclaimed 2 1"]
    assert page.id("desk-bar").words.startswith("Feedback is:unclaimed")
    assert words(get(browser_of("admin"), DESK + ALL)) == [f"report {place}" for place in (4, 3, 2, 1, 0)]


def test_a_row_says_verdict_categories_words_thread_and_person(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice, "The thread")
    make.rating(who.alice, thread, categories=["slow", "incorrect"], notes="So slow")
    row = get(browser_of("admin"), DESK).one("li", class_="rep")
    assert row.one("svg", data_tone="neg")["aria-label"] == "Negative"
    assert row.one(class_="rep-top").one("span").words == "incorrect, slow"
    assert row.one("a").words == "Negative: So slow"
    assert row.one("a").one(class_="sr")["dir"] == "ltr", (
        "the notes are written in the direction of their own first letter"
    )
    assert row.one(class_="rep-end").words == "acme · Alice · The thread"


def test_a_row_says_where_the_words_are_that_it_was_found_by(browser_of: Browser, who: People) -> None:
    """Unless they are in the notes, which it shows."""
    make.rating(who.alice, make.thread(who.alice, "0"), notes="The pump is loud")
    make.rating(who.alice, make.thread(who.alice, "1"), notes="Loud")
    do(who.admin, UserFeedback.objects.get(notes="Loud"), "note", admin_note="A pump again, ask Bea")
    make.rating(who.alice, make.thread(who.alice, "What about the pump?"), notes="No")
    page = get(browser_of("admin"), DESK + "?q=pump")
    found = {notes_of(row): row.one(class_="rep-top").words for row in page.all("li", class_="rep")}
    assert list(found) == ["No", "Loud", "The pump is loud"]
    assert "in the answer" in found["No"] and "in the admin note" in found["Loud"]
    assert "in the" not in found["The pump is loud"]
    page = get(browser_of("admin"), DESK + "?q=is:open")
    assert not [row for row in page.all("li", class_="rep") if "in the" in row.one(class_="rep-top").words]


def test_a_page_that_is_loaded_anew_goes_on_at_the_row_that_was_open(browser_of: Browser, who: People) -> None:
    """With a report open at its row; not while a field has the focus, and not where one comes by a link."""
    client, made = browser_of("admin"), reports(who.alice, 3)

    def focused(query: str, **headers: str) -> list[str]:
        page = dom(client.get(DESK + query, headers=headers))
        return [notes_of(row) for row in page.all("li", class_="rep") if row.one("a").has("autofocus")]

    anew = {"Cache-Control": "max-age=0"}
    assert focused(ALL, **anew) == []
    client.post(f"/feedback/{made[1].feedback_id}/lease/")
    assert focused(ALL, **anew) == ["report 1"] and focused(ALL) == []
    client.post(f"/feedback/{made[1].feedback_id}/lease/?leave=1")
    assert focused(ALL, **anew) == ["report 1"], "it was open last"
    there = f"{ALL}&item={made[0].feedback_id}"
    assert focused(there, **anew) == ["report 0"] and focused(f"{there}&check=1", **anew) == []
    assert focused(there) == ["report 0"], "Back from elsewhere is told by nothing"
    assert focused("?q=is:resolved", **anew) == []


@time_machine.travel("2026-11-30T08:00:00Z", tick=False)
def test_a_row_says_until_when_it_is_snoozed(browser_of: Browser, who: People) -> None:
    """A Monday, in the reader's zone: from a week on by its date, and in another year with that."""
    client, made = browser_of("admin"), reports(who.alice, 4)
    client.cookies["tz"] = "Asia/Kolkata"
    whens = ("2026-12-01T03:30:00Z", "2026-12-06T20:00:00Z", "2027-06-01T03:30:00Z")
    for report, until in zip(made, whens, strict=False):
        do(who.admin, report, "snooze", until=until)
    do(who.admin, made[3], "snooze", until_again=True)
    page = get(client, DESK + "?q=is:snoozed")
    ends = [row_of(page, f"report {place}").one(class_="rep-end").all(class_="mark")[0].words for place in range(4)]
    assert ends == ["until Tue 09:00", "until 7 Dec", "until 1 Jun 2027", "until again"]
    [snoozed] = [link for link in page.id("desk-views").one("details").all("a") if link.words.startswith("Snoozed")]
    assert snoozed.has("aria-current") and snoozed.words == "Snoozed 4 9"
    assert [at for at in page.id("bulk").words.split() if at == "Dec"] == ["Dec"], "next Monday is no today"


def test_rows_show_who_has_them_and_how_they_stand(browser_of: Browser, who: People) -> None:
    made, bea = reports(who.alice, 7), second_admin()
    do(who.admin, made[0], "own", owner="me")
    do(bea, made[1], "own", owner="me")
    do(bea, made[2], "snooze", until_again=True)
    do(bea, made[3], "snooze", until=(timezone.now() + timedelta(days=1)).isoformat())
    Triage.objects.filter(pk=made[3].pk).update(snoozed_until=timezone.now())
    do(bea, made[4], "resolve")
    for each in (made[0], made[5]):
        do(bea, each, "label", add=["money", "late"])
    leasing.take(bea.actor, made[6].feedback_id)
    page = get(browser_of("admin"), DESK + ALL)
    ends = [row_of(page, f"report {place}").one(class_="rep-end") for place in range(7)]
    shown = ["you", "Bea", "until again", "snoozed, due", "resolved", "", ""]
    assert [end.words.endswith(word) for end, word in zip(ends, shown, strict=True)] == [True] * 7
    assert all(end.words.startswith("acme · Alice · ") for end in ends), "whoever complained is there in every state"
    tops = [row_of(page, f"report {place}").one(class_="rep-top").words for place in range(7)]
    assert ["money, late" in top for top in tops] == [True, False, False, False, False, True, False]
    assert [row_of(page, f"report {place}").has("data-held") for place in range(7)] == [False] * 6 + [True]
    assert row_of(page, "report 6")["data-held"] == "Bea" and row_of(page, "report 1").has("data-owned")
    assert not row_of(page, "report 0").has("data-owned")
    assert "Bea has this report open too." in opened(browser_of("admin"), made[6]).id("desk-report").words


def test_history_tells_of_forks_that_were_made_to_look_into_it(browser_of: Browser, who: People) -> None:
    """Each leads to where both answers stand side by side; what was forked before it was rated is none of its."""
    thread = make.send(who.alice, make.thread(who.alice, "Hello"), "More")
    forks.fork(who.alice.actor, thread, 0)
    report = make.rating(who.alice, thread, 3, notes="Wrong")
    admin = browser_of("admin")
    for verb in ("fork", "rerun"):
        admin.post(f"/threads/{thread.thread_id}/{verb}/", {"message_sequence_num": "3"})
    page = opened(admin, report)
    lines = [line for line in page.one(class_="hist").all("li") if " it " in line.words]
    assert ["reran it" in line.words for line in lines] == [True, False]
    made = Thread.objects.filter(forked_from=thread).order_by("-pk")[:2]
    rerun, fork = (each.thread_id for each in made)
    beside = f"/feedback/?q=&item={report.feedback_id}&pane=talk&compare={rerun}"
    assert [line.one("a")["href"] for line in lines] == [
        beside,
        f"/threads/{fork}/compare/?report={report.feedback_id}",
    ]


def test_a_rating_without_notes_shows_how_the_answer_begins(browser_of: Browser, who: People) -> None:
    said = "# Docks\n\n**Botanic Garden** is `2` minutes away.\n\n" + "More of it. " * 50
    make.rating(who.alice, make.imported(who.alice, [("user", "Where?"), ("assistant", said)]), sentiment="positive")
    client = browser_of("admin")
    page = get(client, DESK)
    [line] = words(page)
    assert line.startswith("Answer: Docks Botanic Garden is 2 minutes away. More of it.") and len(line) <= 148
    assert page.one(class_="rep-top").one("span").words == "positive"
    shown = get(client, DESK + page.one("li", class_="rep").one("a")["href"])
    assert shown.id("desk-report").one(class_="words").words == "No notes"


def test_a_rating_without_notes_of_an_answer_without_text_says_so(browser_of: Browser, who: People) -> None:
    make.rating(who.alice, make.thread(who.alice, "[[fail]]"), sentiment="positive")
    client = browser_of("admin")
    page = get(client, DESK)
    assert words(page) == ["No notes"]
    shown = get(client, DESK + page.one("li", class_="rep").one("a")["href"])
    assert shown.id("desk-report").one(class_="words").words == "No notes"


def test_tokens_are_links_that_take_themselves_out(browser_of: Browser, who: People) -> None:
    reports(who.alice, 2, categories=["slow"])
    client = browser_of("admin")
    page = get(client, DESK + "?q=category:slow+-owner:me+(is:open+OR+is:due)&after=")
    tokens = page.id("desk-bar").one("form", role="search").all(class_="token")
    assert [token.words for token in tokens] == ["category:slow", "-owner:me", "(is:open OR is:due)"]
    cross = tokens[0].one("a", aria_label="Remove category:slow")
    assert query_of(cross["href"]) == {"q": "-owner:me (is:open OR is:due)", "stay": "1"}
    for link in page.one("form", role="search").all("a"):
        assert client.get(DESK + link["href"], follow=True).status_code == 200
    assert page.id("desk-bar").one(class_="num").words == "2"


def test_who_narrows_or_widens_a_list_goes_on_with_the_open_report(browser_of: Browser, who: People) -> None:
    """If the other query finds it, too. It is the one that the browser shows, not that of the link."""
    made, client = reports(who.alice, 3), browser_of("admin")
    do(who.admin, made[1], "label", add=["ferry"])
    for asked, opened_there in (
        ({"q": "is:open", "add": "label:ferry"}, 1),
        ({"q": "is:open label:ferry", "add": "-owner:me"}, 1),
        ({"q": "is:open", "stay": "1"}, 1),
        ({"q": "is:open", "add": "-label:ferry"}, None),
        ({"q": "is:open", "add": "colour:red"}, None),
        ({"q": "is:open", "add": made[2].feedback_id}, 2),
    ):
        here = f"http://testserver{DESK}?{urlencode({'q': 'is:open', 'item': made[1].feedback_id, 'pane': 'talk'})}"
        for headers in ({"HX-Request": "true", "HX-Current-URL": here}, {"Referer": here}):
            then_at = query_of(client.get(DESK, asked, headers=headers)["Location"])
            wanted = made[opened_there].feedback_id if opened_there is not None else None
            assert then_at.get("item") == wanted and "stay" not in then_at, (asked, then_at)
        alone = query_of(client.get(DESK, asked, headers={"Referer": "http://elsewhere.test/?item=x"})["Location"])
        assert "item" not in alone or opened_there == 2


@pytest.mark.parametrize("term", ["category:slow", 'notes:"never  asked"', "(is:open OR -is:due)", "colour:red"])
def test_a_term_goes_back_into_the_field_to_be_changed(browser_of: Browser, who: People, term: str) -> None:
    """By a link; sent or left as it is, the query is what it was. What is done meanwhile keeps nothing of it."""
    made, client = reports(who.alice, 1, categories=["slow"])[0], browser_of("admin")
    page = get(client, f"{DESK}?{urlencode({'q': f'{term} sentiment:negative'})}")
    page = get(client, DESK + page.one("a", aria_label=f"Change {term}")["href"])
    assert [token.words for token in page.all(class_="token")] == ["sentiment:negative"]
    assert page.id("q")["value"] == term and page.id("q").has("autofocus") and not page.id("q").has("data-focus")
    sent = {name: values[0] for name, values in page.one("form", role="search").fields().items()}
    assert query_of(client.get(DESK, sent)["Location"]) == {"q": f"{term} sentiment:negative"}
    left = page.one("form", role="search").one("a", hidden=True)
    assert query_of(left["href"]) == {"q": f"{term} sentiment:negative"}
    there = get(client, DESK + row_of(page, made.notes or "").one("a")["href"])
    assert there.id("q")["value"] == ""


def test_what_was_probably_meant_is_a_link(browser_of: Browser, who: People) -> None:
    reports(who.alice, 1)
    client = browser_of("admin")
    page = get(client, DESK + "?q=is:open+-(sentimet:positive+OR+is:resolvd)+x:y")
    named = page.id("desk-rows").all(class_="unread")
    assert "did you mean sentiment:?" in named[0].words and named[1].none("a")
    link = named[0].one("a")
    assert link.words == "Use -(sentiment:positive OR is:resolved)"
    assert query_of(link["href"]) == {"q": "is:open -(sentiment:positive OR is:resolved) x:y"}
    alone = get(client, DESK + "?q=sentimnt:negatve").id("desk-rows").one(class_="unread").one("a")
    assert words(get(client, DESK + alone["href"])) == ["report 0"]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("lab", ["label:none", 'label:"loses count"', "label:money"]),
        ("-label:m", ["-label:money"]),
        ("is:open -(x OR LABEL:mon", ["is:open -(x OR label:money"]),
        ('is:open label:"loses c', ['is:open label:"loses count"']),
        ("is:op", ["is:open"]),
        ("is:open so", ["is:open sort:newest", "is:open sort:oldest", "is:open sort:edited", "is:open sort:due"]),
        ("is:open AND NOT label:m", ["is:open AND NOT label:money"]),
        ("is:open", []),
    ],
)
def test_the_term_that_is_typed_is_completed_wherever_it_stands(
    browser_of: Browser, who: People, typed: str, offered: list[str]
) -> None:
    do(who.admin, reports(who.alice, 1)[0], "label", add=["money", "loses count"])
    field = get(browser_of("admin"), DESK).id("q")
    options = dom(browser_of("admin").get(field["hx-get"], {field["name"]: typed})).all("option")
    assert [each["value"] for each in options][: len(offered) or 1] == offered
    assert browser_of("alice").get(field["hx-get"]).status_code == 403


def test_what_a_query_finds_can_be_taken_away_as_a_file(browser_of: Browser, who: People) -> None:
    reports(who.alice, 2, categories=["slow"])
    reports(who.alice, 1, notes="Quite & quick", categories=["incorrect"])
    client = browser_of("admin")
    page = get(client, DESK + "?q=category:slow+notes:report*")
    links = {link.words: link for link in page.id("desk-bar").all("a", download=True)}
    assert list(links) == ["Export as JSONL", "Export as CSV", "Export with questions and answers"]
    files = [b"".join(client.get(link["href"]).streaming_content).decode() for link in links.values()]
    assert [json.loads(line)["notes"] for line in files[0].splitlines()] == ["report 1", "report 0"]
    assert [row["notes"] for row in csv.DictReader(io.StringIO(files[1]))] == ["report 1", "report 0"]
    assert all(json.loads(line)["answer"] for line in files[2].splitlines())
    assert get(client, DESK + "?q=colour:red").id("desk-bar").none("a", download=True)


def test_a_term_that_is_added_leads_to_the_query_with_it(browser_of: Browser, who: People) -> None:
    client = browser_of("admin")
    answer = client.get(DESK, {"q": "is:open", "add": "category:slow is:open"})
    assert query_of(answer["Location"]) == {"q": "is:open category:slow"}
    answer = client.get(DESK, {"q": "", "add": "a OR b"})
    assert query_of(answer["Location"]) == {"q": "a OR b"}
    wrong = client.get(DESK, {"q": "is:open", "add": "colour:red"})
    assert "colour:red" in get(client, wrong["Location"]).id("desk-rows").words


def test_a_wrong_token_is_named_in_place_and_nothing_is_listed(browser_of: Browser, who: People) -> None:
    """Nothing is dropped in silence: a query that is half understood lists nothing."""
    reports(who.alice, 1)
    page = get(browser_of("admin"), DESK + "?q=is:open+colour:red+is:purple")
    assert words(page) == []
    named = [each.words for each in page.id("desk-rows").all(class_="unread")]
    assert [each.split()[0] for each in named] == ["colour:red", "is:purple"]
    tokens = page.one("form", role="search").all(class_="token")
    assert [token.has("data-wrong") for token in tokens] == [False, True, True]
    assert "Invalid query." in page.words and page.id("q").has("aria-invalid")
    assert page.id("q")["aria-describedby"] == "unread" and page.id("unread").words == " ".join(named)


def test_and_and_not_are_signs_and_no_words(browser_of: Browser, who: People) -> None:
    """`NOT is:open` used to find open reports whose words hold "not"."""
    reports(who.alice, 1, notes="This is not open to doubt and wrong")
    reports(who.alice, 1, notes="Slow", categories=["slow"])
    client = browser_of("admin")
    assert words(get(client, DESK + "?q=is:open+AND+NOT+category:slow")) == ["This is not open to doubt and wrong"]
    assert words(get(client, DESK + "?q=NOT+is:open")) == []
    assert words(get(client, DESK + "?q=doubt+and+not+wrong")) == ["This is not open to doubt and wrong"]
    page = get(client, DESK + "?q=NOT+is:open+AND+category:slow+AND")
    assert [each.words for each in page.one("form", role="search").all(class_="token")] == [
        *("NOT is:open", "category:slow", "AND")
    ]
    assert page.id("desk-rows").one(class_="unread").words.startswith("AND needs a term on both sides")
    saved = client.post("/feedback/views/", {"name": "Done and slow", "q": "NOT is:open AND category:slow"})
    assert query_of(saved["Location"]) == {"q": "-is:open category:slow"}


def test_the_history_says_with_what_it_was_run_again(browser_of: Browser, who: People) -> None:
    report = reports(who.alice, 1)[0]
    source, admin = make.fresh(report.thread), who.admin.actor
    settings = [{}, {"tools": "live", "model_profile": "simulated"}, {"system_prompt": "Be brief."}]
    for each in settings:
        make.run_turns(Thread.objects.get(pk=_pk(reruns.rerun(admin, source, RerunIn(message_sequence_num=1, **each)))))
    other = Thread.objects.get(pk=_pk(forks.fork(admin, source, 0)))
    turns.send(admin, other, SendIn(message=make.say("And now?")))
    shown = opened(browser_of("admin"), report).one(class_="hist").all("li")
    said = [line.all("span")[0].words for line in shown]
    assert said[:4] == [
        "Admin forked it at message 0 · compare",
        "Admin reran it with recorded calls and another prompt · compare",
        "Admin reran it with live calls on simulated · compare",
        "Admin reran it with recorded calls · compare",
    ]


def _pk(made: ThreadOut) -> int:
    return Thread.objects.by_public_id(made.thread_id).get().pk


def test_a_label_that_is_gone_is_named(browser_of: Browser, who: People) -> None:
    reports(who.alice, 1)
    page = get(browser_of("admin"), DESK + "?q=label:gone")
    assert "There is no label gone." in page.id("desk-rows").words and words(page) == []
    assert "Use" not in page.id("desk-rows").words


@pytest.mark.parametrize(
    ("query", "said", "better"),
    [
        ("is:open label:mony", "There is no label mony. Use label:money", "is:open label:money"),
        ("label:non", 'There is no label non. Use label:"None"', 'label:"None"'),
        ("tool:calculat", "No rated answer used the tool calculat. Use tool:calculate", "tool:calculate"),
        ("tool:calc", "No rated answer used the tool calc. Use tool:calculate", "tool:calculate"),
        ("owner:admi", "There is no user admi. Use owner:admin@heddle.test", "owner:admin@heddle.test"),
        ("-failed:calculator owner:admn@heddle.test", "There is no user admn@heddle.test. Use owner:", ""),
    ],
)
def test_a_name_that_nobody_has_leads_to_the_nearest_one(
    browser_of: Browser, who: People, query: str, said: str, better: str
) -> None:
    made = reports(who.alice, 1)[0]
    do(who.admin, made, "label", add=["money", "None"])
    RatedTool.objects.create(feedback=made, tool_name="calculate", failed=False)
    page = get(browser_of("admin"), f"{DESK}?q={quote(query)}")
    notes = page.id("desk-rows").all("p", class_="unread")
    assert notes[-1].words.startswith(said)
    if better:
        assert query_of(notes[-1].one("a")["href"])["q"] == better
    found = get(browser_of("admin"), f"{DESK}?q={quote(f'({query}) OR is:open')}").id("desk-rows")
    assert "Use" not in found.words


def test_today_is_today_where_the_viewer_is_and_stays_so(browser_of: Browser, who: People) -> None:
    client = browser_of("admin")
    client.cookies["tz"] = "Europe/Berlin"
    with time_machine.travel(datetime(2026, 5, 20, 21, 30, tzinfo=UTC), tick=False):
        reports(who.alice, 1, notes="before midnight")
    with time_machine.travel(datetime(2026, 5, 20, 22, 30, tzinfo=UTC), tick=False):
        reports(who.alice, 1, notes="after midnight")
        client.force_login(who.admin.user)
        added = client.get(f"{DESK}?q=is:open&add=created:today")
        assert query_of(added["Location"])["q"] == "is:open created:today[Europe/Berlin]"
        for day, note in (("today", "after midnight"), ("yesterday", "before midnight")):
            page = get(client, f"{DESK}?q=created:{day}")
            assert words(page) == [note]
            assert page.id("bulk").one(name="q")["value"] == f"created:{day}[Europe/Berlin]"
            file = client.get(f"/feedback/export/?q=created:{day}")
            assert [json.loads(line)["notes"] for line in b"".join(file.streaming_content).splitlines()] == [note]


def test_a_typed_day_is_the_viewers_at_every_door_of_the_desk(browser_of: Browser, who: People) -> None:
    """The list, a file, a bulk, a saved view, the choice of originals and Insight find the same report."""
    client, line = browser_of("admin"), "created:2026-05-21"
    client.cookies["tz"] = "Europe/Berlin"
    with time_machine.travel(datetime(2026, 5, 20, 22, 30, tzinfo=UTC), tick=False):
        [late] = reports(who.alice, 1, notes="after midnight")
    with time_machine.travel(datetime(2026, 5, 21, 22, 30, tzinfo=UTC), tick=False):
        [next_day] = reports(who.alice, 1, notes="the day after")
    page = get(client, f"{DESK}?q={line}")
    assert words(page) == ["after midnight"]
    assert query_of(page.id("bulk").one("input", name="here")["value"])["q"] == f"{line}[Europe/Berlin]"
    file = client.get(f"/feedback/export/?q={line}")
    assert [json.loads(each)["notes"] for each in b"".join(file.streaming_content).splitlines()] == ["after midnight"]
    choices = client.get(f"{DESK}{next_day.feedback_id}/originals/", {"duplicate_of": line})
    assert late.feedback_id in choices.content.decode()
    found = get(client, f"/feedback/insight/?q={line}&since=all")
    assert found.one("dl", class_="sums").words.startswith("Reports 1 ")
    client.post(f"{DESK}views/", {"name": "That day", "q": line, "verb": "save"})
    assert SavedView.objects.get().query == f"{line}[Europe/Berlin]"
    client.post(f"{DESK}bulk/", {"verb": "own me", "all": "1", "q": line})
    assert list(UserFeedback.objects.exclude(owned_by=None).values_list("notes", flat=True)) == ["after midnight"]


@pytest.mark.parametrize(("query", "status"), [("?q=&after=x", 400), ("?q=&item=fb_nothing", 404)])
def test_an_address_that_leads_nowhere_says_so(browser_of: Browser, who: People, query: str, status: int) -> None:
    reports(who.alice, 1)
    page = get(browser_of("admin"), DESK + query, status)
    assert ("fb_nothing" if "item" in query else "no such page") in page.one("main").words


def test_an_open_report_shows_the_conversation_around_the_answer(browser_of: Browser, who: People) -> None:
    thread = make.conversation(who.alice, 20)
    make.rating(who.alice, thread, 9, categories=["unsafe"], notes="Line one\nline two")
    page = opened(browser_of("admin"), UserFeedback.objects.get(), "?q=is:open")
    talk = page.id("desk-talk")
    rated = talk.one("section", class_="rated")
    assert rated.one("article")["id"] == "m9" and rated["data-sentiment"] == "negative"
    assert "Rated negative" in rated.words and "unsafe" in rated.one("p", class_="rated-tab").words
    assert [article["data-index"] for article in talk.all("article")] == ["7", "8", "9", "10"]
    assert [fold.words for fold in talk.all(class_="fold")] == ["7 messages folded t", "9 messages folded t"]
    assert talk.one("h2").one("a")["href"] == f"/threads/{thread.thread_id}/?at=9#m9"
    report = page.id("desk-report")
    assert report.one(class_="words").text == "Line one\nline two"
    assert report.one("button", class_="copy")["data-copy"].startswith("fb_")
    assert page.one("li", class_="rep")["aria-current"] == "true"
    assert talk.none(class_="msg-acts") and page.none("form", id="write")


def test_what_was_asked_stands_above_a_rated_answer_that_took_many_steps(browser_of: Browser, who: People) -> None:
    thread = make.conversation(who.alice, 11, roles=("user", "assistant", "user", *["assistant"] * 8))
    make.rating(who.alice, thread, 10)
    talk = opened(browser_of("admin"), UserFeedback.objects.get()).id("desk-talk")
    assert [article["data-index"] for article in talk.all("article")] == ["2", "8", "9", "10"]
    assert [fold.words for fold in talk.all(class_="fold")] == ["2 messages folded t", "5 messages folded t"]


def test_a_report_that_was_taken_back_is_a_page_that_says_so(browser_of: Browser, who: People) -> None:
    """The row may be gone while a page still shows it."""
    _, gone = reports(who.alice, 2)
    stale = opened(browser_of("admin"), gone)
    Retraction.objects.create(key=gone.key)
    gone.delete()
    page = get(browser_of("admin"), f"{DESK}?q=&item={gone.feedback_id}", 404)
    assert "The submitter retracted this report." in page.id("desk-talk").words
    assert words(page) == ["report 0"]
    pressed = browser_of("admin").post(stale.id("triage")["action"], {"verb": "resolve", "here": DESK})
    assert "The submitter retracted this report." in dom(pressed, 404).id("desk-report").words
    assert browser_of("admin").post(f"{DESK}{gone.feedback_id}/lease/?leave=1").status_code == 204
    assert browser_of("admin").post(f"{DESK}{gone.feedback_id}/lease/").status_code == 404


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
    page = get(client, DESK + later.all("li", class_="rep")[0].one("a")["href"])
    assert words(page) == words(later)
    assert page.id("desk-report").one(class_="words").words == words(later)[0]


def test_pages_lead_on_and_back_also_to_the_report_beside_them(browser_of: Browser, who: People) -> None:
    """By keys one goes on over the edge of a page, so it says which report is next to it, on either side."""
    made, client = reports(who.alice, 80), browser_of("admin")
    first = get(client, DESK + ALL)
    assert first.none("a", rel="prev") and beside(first) == {"1": made[47].feedback_id}
    second = get(client, DESK + first.one("a", rel="next")["href"])
    assert beside(second) == {"-1": made[48].feedback_id, "1": made[15].feedback_id}
    third = get(client, DESK + second.one("a", rel="next")["href"])
    assert third.none("a", rel="next") and beside(third) == {"-1": made[16].feedback_id}
    assert words(get(client, DESK + third.one("a", rel="prev")["href"])) == words(second)
    assert query_of(second.one("a", rel="prev")["href"]) == {"q": ""}

    last = get(client, DESK + first.all("li", class_="rep")[-1].one("a")["href"])
    onward = last.id("triage").one(name="next")["value"]
    assert query_of(onward) == query_of(first.one(data_beside="1").one("a")["href"])
    assert words(get(client, onward)) == words(second)
    UserFeedback.objects.filter(pk__lt=made[16].pk).delete()
    nothing = get(client, DESK + second.one("a", rel="next")["href"])
    assert words(nothing) == [] and beside(nothing) == {"-1": made[16].feedback_id}


@pytest.mark.parametrize(("resolved", "leads_to"), [([], 1), ([1], None), ([0], 1), ([0, 1], None)])
def test_at_the_end_of_a_list_one_goes_back_only_to_what_is_open(
    browser_of: Browser, who: People, resolved: list[int], leads_to: int | None
) -> None:
    made, client = reports(who.alice, 2), browser_of("admin")
    for place in resolved:
        do(who.admin, made[place], "resolve")
    then = query_of(opened(client, made[0]).id("triage").one(name="next")["value"])
    assert then.get("item") == (None if leads_to is None else made[leads_to].feedback_id)


def test_the_oldest_may_come_first_and_pages_lead_both_ways(browser_of: Browser, who: People) -> None:
    made, client = reports(who.alice, 80), browser_of("admin")
    turn = order_of(get(client, DESK + "?q=is:open"), "Newest first")
    assert query_of(turn["href"]) == {"q": "is:open sort:oldest", "stay": "1"}
    first = then(client, client.get(DESK + turn["href"]))
    assert words(first) == [f"report {place}" for place in range(32)]
    assert first.none("a", rel="prev") and beside(first) == {"1": made[32].feedback_id}
    second = get(client, DESK + first.one("a", rel="next")["href"])
    reports(who.alice, 1, notes="late")
    assert beside(second) == {"-1": made[31].feedback_id, "1": made[64].feedback_id}
    assert second.one("a", rel="next").words == "Newer reports"
    third = get(client, DESK + second.one("a", rel="next")["href"])
    assert words(third) == [*(f"report {place}" for place in range(64, 80)), "late"]
    assert third.none("a", rel="next") and beside(third) == {"-1": made[63].feedback_id}
    assert words(get(client, DESK + third.one("a", rel="prev")["href"])) == words(second)
    assert words(get(client, DESK + second.one("a", rel="prev")["href"])) == words(first)
    assert query_of(order_of(first, "Oldest first")["href"]) == {"q": "is:open", "stay": "1"}

    last = get(client, DESK + first.all("li", class_="rep")[-1].one("a")["href"])
    assert words(get(client, last.id("triage").one(name="next")["value"])) == words(second)
    elsewhere = get(client, f"{DESK}?q=is:open+sort:oldest&item={made[79].feedback_id}")
    assert words(elsewhere)[-1] == "report 79" and "on another page" in row_of(elsewhere, "report 79").words
    token = query_of(first.one("a", rel="next")["href"])["after"]
    get(client, f"{DESK}?q=is:open&after={token}", 400)


@pytest.mark.parametrize("name", ["due", "edited"])
def test_what_is_due_or_was_edited_may_come_first_and_pages_lead_both_ways(
    browser_of: Browser, who: People, name: str
) -> None:
    """In no more queries than by birth; and the report that is open keeps its place."""
    made, client, now = reports(who.alice, 80), browser_of("admin"), timezone.now()
    for place in range(50):
        Triage.objects.create(feedback=made[place], snoozed_until=now + timedelta(days=1 + place // 10))
        UserFeedback.objects.filter(pk=made[49 - place].pk).update(modified=now + timedelta(minutes=place // 10))
    first = get(client, f"{DESK}?q=is:open+sort:{name}")
    told = [f"report {place}" for place in (*range(50), *range(79, 49, -1))]
    if name == "edited":
        told[:50] = [f"report {place}" for tens in range(0, 50, 10) for place in range(tens + 9, tens - 1, -1)]
    assert words(first) == told[:32] and first.none("a", rel="prev")
    second = get(client, DESK + first.one("a", rel="next")["href"])
    assert words(second) == told[32:64]
    assert [second.one("a", rel=rel).words for rel in ("prev", "next")] == ["Previous reports", "Next reports"]
    third = get(client, DESK + second.one("a", rel="next")["href"])
    assert words(third) == told[64:] and third.none("a", rel="next")
    assert words(get(client, DESK + third.one("a", rel="prev")["href"])) == told[32:64]
    assert words(get(client, DESK + second.one("a", rel="prev")["href"])) == told[:32]
    do(who.admin, made[25], "resolve")
    after = get(client, f"{DESK}?q=is:open+sort:{name}&item={made[25].feedback_id}")
    assert "no longer matches" in row_of(after, "report 25").words
    assert order_of(after, f"{name.capitalize()} first") and order_of(get(client, f"{DESK}?q=is:open"), "Newest first")


def test_a_view_keeps_its_order_and_one_in_another_order_is_still_looked_at(browser_of: Browser, who: People) -> None:
    reports(who.alice, 2)
    client = browser_of("admin")
    page = get(client, DESK + "?q=is:unclaimed+sort:oldest")
    current = [each.words for each in page.id("desk-views").one("div").all("a", aria_current="true")]
    assert current == ["Unclaimed 2"]
    client.post("/feedback/views/", {"name": "The longest waiting", "q": "is:unclaimed sort:oldest"})
    page = get(client, DESK + "?q=is:unclaimed+sort:oldest")
    current = [each.words for each in page.id("desk-views").one("div").all("a", aria_current="true")]
    assert current == ["The longest waiting 2"] and words(page) == ["report 0", "report 1"]
    offered = [each["value"] for each in page.id("own-views").all("option")]
    assert offered == ["The longest waiting"] and page.id("view-name")["list"] == "own-views", "to be replaced by name"


def test_saving_and_deleting_a_view_keep_the_open_report_and_the_page(browser_of: Browser, who: People) -> None:
    """But no page of another order: its place is none in this one."""
    made, client = reports(who.alice, 42), browser_of("admin")
    onward = query_of(get(client, DESK + "?q=is:open").one(rel="next")["href"])
    here = {**onward, "item": made[0].feedback_id}
    saved = client.post("/feedback/views/", {"name": "Mine", "q": "is:open", "here": DESK + "?" + urlencode(here)})
    assert query_of(saved["Location"]) == here
    page = get(client, DESK + "?q=is:open+sort:oldest")
    [view_id] = {each["value"] for each in page.all("input", name="view_id")}
    other = {**query_of(page.one(rel="next")["href"]), "item": made[0].feedback_id}
    dropped = {"verb": "drop", "view_id": view_id, "here": DESK + "?" + urlencode(other)}
    gone = client.post("/feedback/views/", dropped)
    assert query_of(gone["Location"]) == {"q": "is:open", "item": made[0].feedback_id}
    assert client.get(gone["Location"]).status_code == 200


def order_of(page: Node, words: str) -> Node:
    """The link to the other order."""
    [link] = [each for each in page.id("desk-bar").all("a") if each.words == words]
    return link


def beside(page: Node) -> dict[str, str]:
    """The reports next to a page, by the side on which they are."""
    edges = page.id("desk-rows").all(data_beside=True)
    return {each["data-beside"]: query_of(each.one("a")["href"])["item"] for each in edges}


def test_on_a_phone_the_pane_is_in_the_address(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    assert get(client, DESK).id("desk")["data-pane"] == "list"
    page = opened(client, report)
    assert page.id("desk")["data-pane"] == "talk"
    tabs = {tab.words: tab for tab in page.id("desk-tabs").all("a")}
    assert tabs["Conversation"]["aria-current"] == "true"
    page = get(client, DESK + tabs["Report"]["href"])
    assert page.id("desk")["data-pane"] == "report" and page.id("admin-note")
    assert get(client, DESK + "?pane=nothing").id("desk")["data-pane"] == "list"


def test_a_report_alone_is_what_a_page_with_its_list_asks_for(browser_of: Browser, who: People) -> None:
    report = reports(who.alice, 2)[0]
    answer = browser_of("admin").get(f"{DESK}?q=&item={report.feedback_id}", headers={"Heddle-Part": "item"})
    part = dom(answer)
    assert part.none("li", class_="rep") and part.none("html")
    assert [part.id(name).tag for name in ("desk-tabs", "desk-talk", "desk-report", "dock")] == [
        *("nav", "section", "aside", "div")
    ]
    whole = browser_of("admin").get(f"{DESK}?q=&item={report.feedback_id}")
    assert all({"HX-Request", "Heddle-Part"} <= set(each["Vary"].split(", ")) for each in (answer, whole))
    gone = browser_of("admin").get(f"{DESK}?q=&item=fb_x", headers={"Heddle-Part": "item"})
    assert gone.status_code == 404


def test_a_page_comes_without_a_report_that_the_browser_has(browser_of: Browser, who: People) -> None:
    """Not if the report is gone. If one like it has changed, those like it come with it."""
    made, client = reports(who.alice, 3, categories=["incorrect", "slow"]), browser_of("admin")
    one, other = made[1].feedback_id, made[0].feedback_id
    alike = [made[2].feedback_id, other]

    def asked(item: str, ahead: str, query: str = ALL) -> HttpResponse:
        return client.get(f"{DESK}{query}&item={item}", headers={"Heddle-Ahead": ahead})

    answer = asked(one, "false")
    page = dom(answer)
    assert "Heddle-Ahead" in answer["Vary"]
    assert all(page.none(id=name) for name in ("desk-talk", "desk-report", "desk-tabs", "dock"))
    assert words(page) == ["report 2", "report 1", "report 0"]
    assert [row["id"] for row in page.all(class_="rep") if row.has("aria-current")] == [f"r-{one}"]
    whole = dom(asked(one, ""))
    for name in ("desk-views", "desk-rows", "desk-bar", "bulk", "desk-status"):
        assert page.id(name).words == whole.id(name).words
    sent = asked(one, "true").content.decode()  # its buttons belong to a form that the browser has
    assert 'id="desk-report"' not in sent
    assert [sent.count(f'value="duplicate {each}"') for each in (*alike, one)] == [1, 1, 0]
    assert [sent.count(f'name="original" value="{each}"') for each in (*alike, one)] == [1, 1, 0]
    assert dom(asked("fb_x", "false"), 404).id("desk-talk").one("h2").words == "Report not found."


def test_the_counts_of_views_are_those_of_their_queries(browser_of: Browser, who: People) -> None:
    """They are compiled once, for every admin and every moment."""
    made, bea = reports(who.alice, 9), second_admin()
    do(who.admin, made[0], "own", owner="me")
    do(bea, made[1], "own", owner="me")
    do(who.admin, made[2], "snooze", until=timezone.now() + timedelta(hours=1))
    do(who.admin, made[3], "resolve")
    UserFeedback.objects.filter(pk=made[3].pk).update(modified=timezone.now() + timedelta(seconds=1))
    commenting.add(bea.actor, made[4].feedback_id, CommentIn(text="@admin what about this?"))
    queries_of = [view.query for view in saved_views.BUILT_IN if view.is_work]
    for person in (who.admin, bea):
        for hours, due in ((0, 0), (2, 1)):
            with time_machine.travel(timezone.now() + timedelta(hours=hours)):
                found = saved_views.counts(person.actor, queries_of)
                assert found == {query: saved_views.count(person.actor, query) for query in queries_of}
                assert found["is:due"] == due
                assert found["is:asked"] == int(person is who.admin)
                assert found["is:revisited"] == 1
    with pytest.raises(Unauthorized):
        saved_views.counts(who.alice.actor, queries_of)


def held_by(client: Client) -> list[str]:
    """Who is at which row, as an admin's list tells it."""
    return [row["data-held"] for row in get(client, DESK).all(class_="rep") if row.has("data-held")]


def test_leases_are_taken_and_given_back(browser_of: Browser, who: People) -> None:
    """A lease tells others, for two minutes, and keeps nobody from saving."""
    report, bea = reports(who.alice, 1)[0], second_admin()
    path = f"{DESK}{report.feedback_id}/lease/"
    assert browser_of("admin").post(path).status_code == 204
    assert held_by(client_of(bea)) == ["Admin"]
    assert client_of(bea).post(path).status_code == 204
    assert {each.holder for each in Lease.objects.all()} == {who.admin.user, bea.user}
    assert held_by(browser_of("admin")) == ["Bea"]  # who was first is told of who came second
    assert client_of(bea).post(f"{path}?leave=1").status_code == 204
    assert held_by(browser_of("admin")) == []
    assert held_by(client_of(bea)) == ["Admin"]
    answer = client_of(bea).post(f"{DESK}{report.feedback_id}/", {"verb": "resolve"})
    assert answer.status_code == 302 and UserFeedback.objects.get().resolved
    assert browser_of("admin").post(f"{path}?leave=1").status_code == 204
    assert not Lease.objects.exists()
    assert browser_of("admin").get(path)["Location"] == f"{DESK}{report.feedback_id}/"


def test_an_operator_in_small_letters_is_remarked_where_it_finds_nothing(browser_of: Browser, who: People) -> None:
    reports(who.alice, 1)
    for line, is_remarked in (
        ("is:open or is:resolved", True),
        ('"or" is:open', True),
        ("zzz", False),
        ("report", False),
    ):
        notes = get(browser_of("admin"), f"{DESK}?q={quote(line)}").id("desk-rows").all("p", class_="unread")
        said = ["“or” was searched for as a word. Operators are upper case."] if is_remarked else []
        assert [each.words for each in notes] == said, line


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("!label:prompt", "-label:prompt"),
        ("label!=prompt", "-label:prompt"),
        ('label="two words"', None),
        ("label=prompt", "label:prompt"),
        ("negative", "sentiment:negative"),
        ('"tool failure"', "category:tool_failure"),
        ("a=b", None),
        ("!sort:oldest", None),
        ("https://heddle.test/x", None),
    ],
)
def test_words_that_look_like_a_term_are_offered_as_one_where_they_find_nothing(
    browser_of: Browser, who: People, line: str, offered: str | None
) -> None:
    reports(who.alice, 1)
    client = browser_of("admin")
    notes = get(client, f"{DESK}?q={quote(f'is:open {line}')}").id("desk-rows").all("p", class_="unread")
    assert [each.one("a").words for each in notes] == ([f"Use {offered}"] if offered else [])
    for each in notes:
        assert query_of(each.one("a")["href"])["q"] == f"is:open {offered}"
    assert words(get(client, f"{DESK}?q=report")) == ["report 0"]


def test_a_full_page_stays_below_60_kB_and_one_with_a_report_below_80(browser_of: Browser, who: People) -> None:
    """A full list, words as long as a row shows them, everything that completes the query line."""
    made = reports(who.alice, 33, notes="Every word of this complaint is said with great care, " * 4)
    for each in made:
        do(who.admin, each, "label", add=["a label of some length"])
    client = browser_of("admin")
    page = client.get(f"{DESK}?q=is:open")
    assert page.content.count(b'<li class="rep"') == 32
    assert len(page.content) < 60_000
    assert len(client.get(f"{DESK}?q=is:open&item={made[7].feedback_id}").content) < 80_000


def test_ten_more_reports_views_labels_and_leases_are_no_more_queries(browser_of: Browser, who: People) -> None:
    made, client, bea = reports(who.alice, 2), browser_of("admin"), second_admin()
    do(who.admin, made[0], "label", add=["one"])
    open_one = f"{DESK}?q=is:unclaimed&item={made[0].feedback_id}"

    def asked() -> list[int]:
        return [
            queries(client, DESK),
            queries(client, open_one),
            queries(client, open_one, **{"Heddle-Part": "item"}),
            queries(client, open_one, **{"Heddle-Ahead": "false"}),
            queries(client, open_one, **{"Heddle-Ahead": "true"}),
        ]

    few = asked()
    for each in reports(who.bob, 10):
        do(who.admin, each, "label", add=[f"label {each.pk}"])
        leasing.take(bea.actor, each.feedback_id)
        saved_views.save(who.admin.actor, f"view {each.pk}", "is:open")
    assert asked() == few
    # The list: session, person, orgs; a page of keys, its rows, their leases, what waits for the reader; bulks; the
    # last action, its size, and whether its label is new; the counts of views, for one of which SQLite counts ahead;
    # saved views; labels; for the frame the org, orgs and what is open.
    # The report: itself and its thread, submitter, what stands beside it, reply, history, comments, forks, check,
    # duplicates; a snapshot of the thread with turns, people, ratings, pin, forks and context. A report alone has its
    # lease instead of the list. Besides, what completes the query line, and similar reports: each a number that stays.
    # PostgreSQL asks for less.
    assert all(found <= most for found, most in zip(few, (28, 62, 42, 28, 66), strict=True)), few


def test_a_page_looks_up_what_its_query_names_once(browser_of: Browser, who: People) -> None:
    """For the list, for its count and for what it remarks."""
    do(who.admin, reports(who.alice, 1)[0], "label", add=["money"])
    client = browser_of("admin")
    with CaptureQueriesContext(connection) as asked:
        page = get(client, f"{DESK}?q=label:money label:gone")
    assert "There is no label gone." in page.id("desk-rows").words
    looked_up = [each["sql"] for each in asked.captured_queries if '"feedback_label"."folded" = ' in each["sql"]]
    assert len(looked_up) == 2


def test_what_is_alike_is_resolved_together_and_taken_back_as_one(browser_of: Browser, who: People) -> None:
    """The open report and those like it, by the one button below them; what is resolved already stays as it is."""
    made = reports(who.alice, 4, categories=["tool_failure"], notes="The reservoir was empty, said the meter")
    do(who.admin, made[0], "resolve")
    client = browser_of("admin")
    page = get(client, f"{DESK}?q=is:open&item={made[3].feedback_id}")
    form = page.id("together")
    assert [each.words for each in page.all("button", form="together")] == [
        "Resolve 3 together",
        "Mark 2 as duplicates of this",
    ]
    answer = submit(client, form, verb="resolve")
    assert not UserFeedback.objects.filter(resolved=False).exists()
    assert query_of(answer["Location"]) == {"q": "is:open"}, "on to what is below, as nobody reads on in what is done"
    undo = next(each for each in get(client, DESK).id("desk-status").all("form") if each["action"] == f"{DESK}undo/")
    client.post(f"{DESK}undo/", {"here": DESK, "action_id": undo.one(name="action_id")["value"]})
    assert set(UserFeedback.objects.filter(resolved=False)) == set(made[1:])


def test_what_is_somebody_elses_or_put_off_is_not_done_with_others(browser_of: Browser, who: People) -> None:
    """It says so in its line; whoever means it, too, opens it."""
    made = reports(who.alice, 6, categories=["tool_failure"], notes="The reservoir was empty, said the meter")
    do(second_admin(), made[0], "own", owner="me")
    do(who.admin, made[1], "snooze", until_again=True)
    do(who.admin, made[2], "own", owner="me")
    client = browser_of("admin")
    page = get(client, f"{DESK}?q=is:open&item={made[5].feedback_id}")
    lines = {query_of(each.one("a")["href"])["item"]: each.words for each in page.id("similar").all("li")}
    said = [lines[each.feedback_id].partition(" · ")[2].split(" Use")[0] for each in made[:5]]
    assert said == ["owned by Bea", "snoozed", "together", "together", "together"]
    assert page.one("button", form="together", data_key="together").words == "Resolve 4 together"
    submit(client, page.id("together"), verb="resolve")
    assert [stored(each).resolved for each in made] == [False, False, True, True, True, True]


def test_an_open_report_keeps_its_place_when_the_query_does_not_find_it_any_more(
    browser_of: Browser, who: People
) -> None:
    """Taken in a list of what is nobody's, it stays between its neighbours, and says why; so does the way on."""
    made, client = reports(who.alice, 5), browser_of("admin")
    do(who.admin, made[2], "own", owner="me")
    page = opened(client, made[2], "?q=is:unclaimed")
    assert words(page) == ["report 4", "report 3", "report 2", "report 1", "report 0"]
    left = row_of(page, "report 2")
    assert left["aria-current"] == "true" and "no longer matches" in left.words and left.words.endswith("you")
    assert (made[2].thread.title or "Untitled") in left.words
    assert query_of(page.id("triage").one(name="next")["value"])["item"] == made[1].feedback_id
    assert page.id("desk-views").one("div").one("a", aria_current="true").words == "Unclaimed 4"

    do(who.admin, made[0], "own", owner="me")
    last = opened(client, made[0], "?q=is:unclaimed")
    assert words(last) == ["report 4", "report 3", "report 1", "report 0"]
    assert query_of(last.id("triage").one(name="next")["value"])["item"] == made[1].feedback_id
    assert words(get(client, DESK)) == ["report 4", "report 3", "report 1"]
    assert words(opened(client, made[0], "?q=colour:red")) == []


def test_an_open_report_of_another_page_says_so_and_one_that_no_longer_matches_keeps_its_title(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk_screen, "PAGE", 2)
    made, client = reports(who.alice, 4), browser_of("admin")
    make_title = made[0].thread.title or "Untitled"
    row = row_of(opened(client, made[0], "?q=is:unclaimed"), "report 0")
    assert "on another page" in row.words and make_title in row.words and not row.has("data-unmatched")
    do(who.admin, made[0], "resolve")
    row = row_of(opened(client, made[0], "?q=is:unclaimed"), "report 0")
    assert "no longer matches" in row.words and make_title in row.words and "resolved" in row.words
    assert row.has("data-unmatched"), "an action on all that match leaves it out"


def test_the_line_of_views_holds_the_one_that_is_looked_at_and_its_menu_holds_all(
    browser_of: Browser, who: People
) -> None:
    reports(who.alice, 1)
    client = browser_of("admin")
    saved_views.save(who.admin.actor, "Mine alone", "is:open label:x")

    def line(query: str) -> list[str]:
        return [
            link.words.rstrip(" 0123456789") for link in get(client, DESK + query).id("desk-views").one("div").all("a")
        ]

    assert line("") == ["Unclaimed", "For me", "Negative", "Due"]
    assert line("?q=is:due") == ["Unclaimed", "For me", "Due", "Negative"], "in sight however narrow it is"
    assert line("?q=is:open+label:x") == ["Unclaimed", "For me", "Mine alone", "Negative", "Due"]
    menu = get(client, DESK).id("desk-views").one("details")
    assert [link.one(class_="cut").words for link in menu.all("a")] == [
        *(view.name for view in saved_views.BUILT_IN),
        "Mine alone",
    ]
    saved_views.save(second_admin().actor, "Of all", "is:open label:y", is_shared=True)
    menu = get(client, DESK).id("desk-views").one("details")
    assert [link.words for link in menu.all("a")][-2:] == ["Mine alone m", "Of all shared o"]


def test_views_keep_the_org_that_was_chosen(browser_of: Browser, who: People) -> None:
    """Their links, counts and which of them is looked at; not those that name an org themselves."""
    for person in (who.alice, who.eve, who.eve):
        reports(person, 1)
    client = browser_of("admin")
    for name, query in (
        ("All", "label:none"),
        ("Of acme", "label:none org:acme"),
        ("Bad", "sentiment:negative"),
        ("Each", ""),
    ):
        saved_views.save(who.admin.actor, name, query)

    def views(query: str) -> tuple[dict[str, str], dict[str, str], list[str]]:
        page = get(client, DESK + query)
        links = page.id("desk-views").one("details").all("a")
        strip = page.id("desk-views").one("div").all("a")
        return (
            {link.one(class_="cut").words: query_of(link["href"])["q"] for link in links},
            {
                link.one(class_="cut").words: link.one(class_="count").words
                for link in strip
                if link.all(class_="count")
            },
            [link.one(class_="cut").words for link in links if link.has("aria-current")],
        )

    plain, counts, current = views("")
    assert counts == {"Unclaimed": "3", "For me": "0", "Negative": "3", "Due": "0"} and current == ["Unclaimed"]
    limited, counts, current = views("?q=org:globex is:unclaimed sort:oldest")
    assert counts == {"Unclaimed": "2", "For me": "0", "Negative": "2", "Due": "0"} and current == ["Unclaimed"]
    assert limited == {
        name: query if "org:" in query else f"{query} org:globex".strip() for name, query in plain.items()
    }
    assert views(f"?q={limited['Negative']}")[2] == ["Negative"]
    assert views("?q=label:none org:acme")[2] == ["Of acme"] and views("?q=org:globex label:none")[2] == ["All"]
    assert views("?q=-org:globex is:unclaimed")[0] == plain, "only a term at the top is a choice"
    assert views("?q=org:nowhere is:unclaimed")[1] == dict.fromkeys(counts, "0")
    assert views("?q=org:globex is:opne")[0] == limited
    bar = get(client, f"{DESK}?q=label:none org:globex").id("desk-bar")
    assert bar.none("button", value="drop") and bar.none("button", value="change"), "it is not the view for all orgs"
    assert get(client, f"{DESK}?q=label:none org:acme").id("desk-bar").one("button", value="drop")
    done = get(client, f"{DESK}?q=is:due org:globex").id("desk-rows").one(class_="void")
    assert done.words.startswith("All done here. No reports are due. 2 are unclaimed")
    assert words(get(client, DESK + done.all("a")[0]["href"])) == ["report 0"] * 2
    asked = [queries(client, f"{DESK}?q={query}") for query in ("is:open label:none org:acme", "is:unclaimed org:acme")]
    assert asked[0] - asked[1] == 1, "its views look the org up no more: one is counted more"


def test_desk_and_insight_say_that_they_show_all_orgs_and_rows_name_theirs(browser_of: Browser, who: People) -> None:
    """Whichever org an admin acts in: one customer's complaints never stand under another one's name."""
    for person, words_ in ((who.alice, "of acme"), (who.eve, "of globex")):
        reports(person, 1, notes=words_)
    admin = browser_of("admin")
    admin.post("/org/", {"org": "globex"})
    for path in ("/feedback/", "/feedback/insight/"):
        page = get(admin, path)
        assert page.none("form", action="/org/")
        menu = next(each for each in page.all("details", class_="menu") if "All orgs" in each.one("summary").words)
        everything = "is:unclaimed" if path == "/feedback/" else ""
        chosen = [query_of(link["href"])["q"] for link in menu.all("a")]
        assert chosen == [everything, *(f"{everything} org:{org}".strip() for org in ("acme", "globex"))]
        menu = get(admin, f"{path}?q=(is:open+OR+is:resolved)+org:acme&since=7d").id("orgs")
        assert menu.one("summary").words.startswith("acme") and menu.one(aria_current="true").words == "only acme"
        others = [query_of(link["href"]) for link in menu.all("a")]
        assert [each["q"] for each in others] == [
            "is:open OR is:resolved",
            *(f"(is:open OR is:resolved) org:{org}" for org in ("acme", "globex")),
        ]
        assert {each.get("since") for each in others} == {None if path == "/feedback/" else "7d"}
    page = get(admin, "/feedback/?q=")
    for words_, org in (("of acme", "acme"), ("of globex", "globex")):
        assert f"{org} ·" in row_of(page, words_).one(class_="rep-end").words
    assert words(get(admin, "/feedback/?q=org:acme")) == ["of acme"]


def test_a_report_whose_id_or_address_is_pasted_is_opened(browser_of, who):
    report = make.rating(who.alice, make.thread(who.alice)).feedback_id
    admin = browser_of("admin")
    for pasted in (report, f"id:{report}", f"http://testserver/feedback/?q=is%3Aopen&item={report}"):
        answer = admin.get("/feedback/", {"q": "is:open", "add": pasted})
        assert answer["Location"].endswith(f"{report}&item={report}"), pasted
        assert get(admin, answer["Location"]).id("desk-report").one(class_="words")
    unknown = report[:-4] + "0000"
    assert "item" not in admin.get("/feedback/", {"q": "", "add": unknown})["Location"]
