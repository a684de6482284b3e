"""What is done to one report on the desk's page: every button, what was typed, refusals, conflicts, undo."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from core import sse
from core.moments import spoken
from feedback import bulk, capture, desk_live, screens, triage
from feedback.models import Label, Reply, Triage, TriageChange, UserFeedback
from feedback.wire import TriageIn
from tests import hooks, make
from tests.conftest import Api, data_of
from tests.pages.desk import (
    ALL,
    DESK,
    Browser,
    client_of,
    do,
    live,
    opened,
    press,
    press_with_scripts,
    query_of,
    reports,
    row_of,
    stored,
    told,
    words,
)
from tests.pages.dom import Node, dom, get, parsed, submit, then
from tests.people import People, long_named, second_admin
from threads.models import Thread


def test_a_note_is_kept_and_the_page_stays(browser_of: Browser, who: People) -> None:
    """H8, B127, B131."""
    report, client = reports(who.alice, 2)[0], browser_of("admin")
    answer = press(client, opened(client, report), "note", admin_note="Look\r\nat it")
    assert query_of(answer["Location"])["item"] == report.feedback_id
    page = then(client, answer)
    assert page.id("admin-note").text == "Look\nat it" and told(page) == ["Saved note on “report 0”"]
    report = stored(report)
    assert (report.admin_note, report.modified) == ("Look\nat it", report.created)
    press(client, page, "note", admin_note=" ")
    assert stored(report).admin_note is None


def test_a_note_that_is_saved_with_its_own_button_goes_on(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 2)[1], browser_of("admin")
    page = then(client, press(client, opened(client, report), "note_next", admin_note="x"))
    assert page.id("desk-report").one(class_="words").words == "report 0"
    assert stored(report).admin_note == "x"


def test_with_scripts_an_action_is_answered_by_the_page_it_leads_to(browser_of: Browser, who: People) -> None:
    """At the same address, with the same words, as the redirect leads to without them."""
    made, client = reports(who.alice, 3), browser_of("admin")
    here, onward = (f"{DESK}{ALL}&item={made[at].feedback_id}" for at in (2, 1))
    by_htmx = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{here}"}

    def sent(form: Node, status: int = 200, **typed: str) -> tuple[Node, dict[str, str]]:
        answer = client.post(form["action"], {**form.fields(), **typed}, headers=by_htmx)
        return dom(answer, status), {name: answer[name] for name in ("HX-Replace-Url", "HX-Push-Url") if name in answer}

    page, history = sent(get(client, here).id("triage"), verb="label typed", label="wave")
    assert (told(page), history) == (["New label wave on “report 2”"], {"HX-Replace-Url": here})
    page, history = sent(page.id("triage"), 400, verb="snooze day", until="", label="typed")
    assert (page.id("until-wrong").words, history) == ("Choose a date first.", {"HX-Replace-Url": here})
    page, history = sent(page.id("triage"), verb="resolve", label="")
    assert (told(page), history) == (["Resolved “report 2”"], {"HX-Replace-Url": onward})
    assert page.id("desk-report").one(class_="words").words == "report 1"
    assert page.id("desk-status").words == get(client, onward).id("desk-status").words
    by_htmx["HX-Current-URL"] = f"http://testserver{onward}"
    assert page.none("html") and page.one("title").words == "report 1 · Heddle"
    undo = next(each for each in page.id("desk-status").all("form") if each["action"].endswith("/undo/"))
    page, history = sent(undo)
    assert (told(page), history) == (["Undone: resolution of “report 2”."], {"HX-Replace-Url": here})
    assert not stored(made[2]).resolved


def test_enter_without_scripts_does_not_guess_between_two_fields(browser_of: Browser, who: People) -> None:
    made, client = reports(who.alice, 2), browser_of("admin")
    form = get(client, f"{DESK}{ALL}&item={made[0].feedback_id}").id("triage")
    page = dom(submit(client, form, "label typed", label="half", duplicate_of=made[1].feedback_id), 400)
    assert "Press the button, because a label and an original are filled in." in page.id("triage").words
    assert (page.id("admin-label")["value"], page.id("duplicate-of")["value"]) == ("half", made[1].feedback_id)
    assert not stored(made[0]).resolved and not Label.objects.exists()


@pytest.mark.parametrize("by_htmx", [True, False])
@pytest.mark.parametrize(
    ("asked", "led"),
    [
        ("/feedback/?q=is:open", "/feedback/?q=is:open"),
        ("http://testserver/feedback/?q=is:open", "/feedback/?q=is:open"),
        ("/feedback/?q=note:\u00e9", "/feedback/?q=note:%C3%A9"),
        ("http://elsewhere.test/feedback/?q=is:open", "/feedback/"),
        ("//elsewhere.test/feedback/", "/feedback/"),
        ("http://testserver//elsewhere.test/", "/feedback/"),
        ("javascript:alert(1)", "/feedback/"),
        ("/feedback/?q=\r\nSet-Cookie: a=b", "/feedback/?q=Set-Cookie:%20a=b"),
    ],
)
def test_an_action_leads_nowhere_else(browser_of: Browser, who: People, asked: str, led: str, by_htmx: bool) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    form = opened(client, report).id("triage")
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/feedback/?q="} if by_htmx else {}
    answer = client.post(form["action"], {**form.fields(), "verb": "resolve", "next": asked}, headers=headers)
    assert (answer.status_code, answer["HX-Replace-Url" if by_htmx else "Location"]) == (200 if by_htmx else 302, led)


def test_the_same_address_again_is_one_entry_of_the_history(browser_of: Browser, who: People) -> None:
    """And what is not there has none."""
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    here = f"{DESK}{ALL}&item={report.feedback_id}"
    for current, asked, kept in (
        (here, here, here),
        (here, f"{DESK}{ALL}", None),
        (here, f"{DESK}{ALL}&item=fb_x", here),
    ):
        headers = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{current}#similar"}
        assert client.get(asked, headers=headers).get("HX-Replace-Url") == kept
    assert "HX-Replace-Url" not in client.get(here)


def test_labels_are_added_and_taken_off(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    page = then(client, press(client, opened(client, report), "label", label=" pumps , Late,late"))
    tags = page.id("desk-report").all(class_="tag")
    assert [tag.words for tag in tags] == ["pumps", "Late"]
    assert {option["value"] for option in page.id("labels").all("option")} == {"pumps", "Late"}
    page = then(client, press(client, page, "unlabel pumps"))
    assert [tag.words for tag in page.id("desk-report").all(class_="tag")] == ["Late"]
    assert stored(report).admin_label == "Late" and page.id("admin-label")["value"] == ""


@pytest.mark.parametrize(
    "verb", ["resolve", "own me", "snooze tomorrow", "reply looked_at", "label", "unlabel old", "label typed", ""]
)
def test_a_note_that_was_typed_goes_along_with_any_button_and_a_label_with_its_own(
    browser_of: Browser, who: People, verb: str
) -> None:
    """And with Enter in a field, which presses none. Half a label that was left there is on nobody's report."""
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    do(who.admin, report, "label", add=["old"])
    answer = press(client, opened(client, report), verb, admin_note="typed", label="money")
    assert answer.status_code == 302
    report = stored(report)
    is_label = verb in ("label", "label typed", "")
    assert report.admin_note == "typed" and ("money" in (report.admin_label or "")) is is_label
    actions = TriageChange.objects.exclude(verb="label", action__in=TriageChange.objects.values("action")[:1])
    assert len(set(actions.values_list("action", flat=True))) == 1, "one press is one action, and one undo"


def test_a_report_is_given_to_another_admin(browser_of: Browser, who: People) -> None:
    """The menu names who may triage and nobody else; who has it stands in the line and in history."""
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    form = opened(client, report).id("triage")
    assert "There are no other admins." in form.one("summary", data_key="A").within("details").words
    bea = second_admin()
    User.objects.create_user("gone@heddle.test", is_staff=True, is_active=False)
    page = opened(client, report)
    menu = page.id("triage").one("summary", data_key="A").within("details")
    assert [each["value"] for each in menu.all("button")] == [f"own {bea.user.email}"]
    page = then(client, press(client, page, f"own {bea.user.email}"))
    assert Triage.objects.get(pk=report.pk).owner == bea.user
    assert told(page) == ["Assigned “report 0” to Bea"] and "owned by Bea" in page.id("triage").words
    menu = page.id("triage").one("summary", data_key="A").within("details")
    assert menu.one("button", aria_current="true").words.startswith("Bea")
    [line] = [each.words for each in page.one("ol", class_="hist").all("li") if "assigned" in each.words]
    assert line.startswith("Admin assigned it to Bea")


def test_enter_in_a_field_resolves_nothing(browser_of: Browser, who: People) -> None:
    """Without scripts a browser presses the first button of the form: it saves what was typed."""
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    form = opened(client, report).id("triage")
    first = form.all("button")[0]
    assert first.has("hidden")
    assert submit(client, form, first["value"], label="pumps").status_code == 302
    assert (stored(report).admin_label, stored(report).resolved) == ("pumps", False)


def test_what_was_not_typed_is_not_written(browser_of: Browser, who: People) -> None:
    """A note that another one changed meanwhile is not put back by a button that has nothing to do with it."""
    report, client, bea = reports(who.alice, 1)[0], browser_of("admin"), second_admin()
    page = opened(client, report)
    do(bea, report, "note", admin_note="Bea's")
    assert press(client, page, "own me").status_code == 302
    assert stored(report).admin_note == "Bea's"


def test_resolving_goes_on_to_the_next_until_the_desk_is_clear(browser_of: Browser, who: People) -> None:
    """B129."""
    made, client = reports(who.alice, 3), browser_of("admin")
    page, seen = opened(client, made[2], "?q=is:unclaimed"), []
    for place in range(3):
        seen.append(page.id("desk-report").one(class_="words").words)
        page = then(client, press(client, page, "resolve", admin_note=f"note {place}", outcome="fixed"))
        assert told(page) == [f"Resolved “{seen[-1]}” as fixed and saved the note"]
    assert seen == ["report 2", "report 1", "report 0"]
    assert words(page) == [] and page.none("form", id="triage") and page.id("desk-count").words == "0 open"
    rows = UserFeedback.objects.order_by("-id").values_list("resolved", "resolved_by", "admin_note", "triage__outcome")
    assert list(rows) == [(True, who.admin.user.pk, f"note {place}", "fixed") for place in range(3)]


def test_resolving_the_last_of_a_list_goes_to_the_one_above(browser_of: Browser, who: People) -> None:
    made, client = reports(who.alice, 2), browser_of("admin")
    page = then(client, press(client, opened(client, made[0], "?q=is:open"), "resolve"))
    assert page.id("desk-report").one(class_="words").words == "report 1"


def test_acting_keeps_the_query(browser_of: Browser, who: People) -> None:
    made, client = reports(who.alice, 2, categories=["slow"]), browser_of("admin")
    answer = press(client, opened(client, made[1], "?q=category:slow is:open"), "resolve")
    assert query_of(answer["Location"]) == {"q": "category:slow is:open", "item": made[0].feedback_id}


def test_reopening(browser_of: Browser, who: People) -> None:
    """B129."""
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    press(client, opened(client, report), "resolve", outcome="fixed")
    page = opened(client, report)
    assert "resolved by Admin, fixed, just now" in page.id("triage").words
    assert page.id("dock").one("button", value="reopen")
    then(client, press(client, page, "reopen"))
    report = stored(report)
    assert (report.resolved, report.resolved_at, report.resolved_by) == (False, None, None)


def test_another_outcome_of_a_resolved_report(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    assert opened(client, report).id("triage").none("button", value="outcome")
    press(client, opened(client, report), "resolve", outcome="noted")
    page = opened(client, report)
    chosen = page.id("triage").one("select", data_key="u")
    assert [each["value"] for each in chosen.all("option") if each.has("selected")] == ["noted"]
    page = then(client, press(client, page, "outcome", outcome="noted"))
    assert told(page) == ["The outcome has not changed."]
    page = then(client, press(client, page, "outcome", outcome="fixed"))
    assert told(page) == ["Changed the outcome of “report 0” to fixed"]
    assert "resolved by Admin, fixed" in page.id("triage").words
    assert "Admin changed the outcome noted to fixed" in page.one("ol", class_="hist").words
    page = then(client, submit(client, page.id("desk-status").one("form")))
    assert told(page) == ["Undone: outcome of “report 0”."] and Triage.objects.get().outcome == "noted"
    assert stored(report).resolved


def test_an_outcome_that_is_not_in_the_menu_is_shown_and_has_to_be_changed(browser_of: Browser, who: People) -> None:
    """A duplicate whose original was deleted."""
    [report], client = reports(who.alice, 1), browser_of("admin")
    do(who.admin, report, "resolve")
    Triage.objects.filter(pk=report.pk).update(outcome="duplicate")
    chosen = opened(client, report).id("triage").one("select", data_key="u").all("option")[0]
    assert (chosen.words, chosen["value"]) == ("Duplicate", "")
    page = dom(press(client, opened(client, report), "outcome", outcome=""), 400)
    assert page.id("triage").one(class_="wrong").words == "Choose an outcome first."


def test_taking_letting_go_and_taking_over(browser_of: Browser, who: People) -> None:
    report, client, bea = reports(who.alice, 1)[0], browser_of("admin"), second_admin()
    page = then(client, press(client, opened(client, report), "own me"))
    assert told(page) == ["Claimed “report 0”"]
    assert "yours" in page.id("triage").words and page.id("triage").one("button", data_key="a").words == "Release a"
    assert page.id("dock").one("button", value="own").words == "Release"
    other = opened(client_of(bea), report)
    assert other.id("triage").one("button", data_key="a").words == "Take over a"
    then(client_of(bea), press(client_of(bea), other, "own me"))
    assert Triage.objects.get().owner == bea.user
    page = then(client_of(bea), press(client_of(bea), opened(client_of(bea), report), "own"))
    assert told(page) == ["Released “report 0”"]
    assert "unclaimed" in page.id("triage").words and Triage.objects.get().owner is None


def test_a_duplicate_says_of_what_and_counts_at_the_other(browser_of: Browser, who: People) -> None:
    first, second = reports(who.alice, 2)
    client = browser_of("admin")
    page = opened(client, second)
    then(client, press(client, page, "duplicate", duplicate_of=f" {first.feedback_id} "))
    page = opened(client, second)
    link = next(each for each in page.id("triage").all("a") if each.words.startswith("fb_"))
    assert link.words == first.feedback_id
    assert "1 duplicate" in get(client, link["href"]).id("triage").words
    assert f"resolved it as a duplicate of {first.feedback_id}" in page.one("ol", class_="hist").words


def test_a_snoozed_report_may_be_snoozed_until_another_time(browser_of: Browser, who: People) -> None:
    """By the menu beside Wake."""
    report = make.rating(who.alice, make.thread(who.alice))
    client = browser_of("admin")
    page = opened(client, report)
    assert page.none("summary", data_key="H")
    press(client, page, "snooze 4h")
    first = Triage.objects.get().snoozed_until
    page = opened(client, report)
    triage = page.id("triage")
    assert triage.one("button", data_key="h").words.startswith("Wake") and triage.one("summary", data_key="H")
    press(client, page, "snooze again")
    assert Triage.objects.get().snoozed_until_again and Triage.objects.get().snoozed_until != first


def test_snoozing_waking_and_coming_back(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    page = then(client, press(client, opened(client, report, "?q=is:unclaimed"), "snooze 4h"))
    until = Triage.objects.get().snoozed_until
    assert words(page) == [] and told(page) == [f"Snoozed “report 0” until {spoken(until)}"]
    assert until and timedelta(hours=3) < until - timezone.now() <= timedelta(hours=4)
    page = opened(client, report)
    assert f"unclaimed, snoozed until {spoken(until)}" in page.id("triage").all("h2")[0].words
    page = then(client, press(client, page, "wake"))
    assert "snoozed" not in page.id("triage").all("h2")[0].words
    then(client, press(client, page, "snooze again"))
    assert "unclaimed, snoozed until it happens again" in opened(client, report).id("triage").all("h2")[0].words
    Triage.objects.update(snoozed_until=timezone.now(), snoozed_until_again=False)
    assert "unclaimed, snoozed, due" in opened(client, report).id("triage").all("h2")[0].words
    assert words(get(client, f"{DESK}?q=is:due")) == ["report 0"]


def test_what_was_resolved_sleeps_no_more_not_even_when_it_is_reopened(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    then(client, press(client, opened(client, report), "snooze tomorrow"))
    asleep, awake = f"{DESK}?q=is:snoozed", f"{DESK}?q=-is:snoozed"
    assert (words(get(client, asleep)), words(get(client, awake))) == (["report 0"], [])
    do(who.admin, report, "resolve")
    assert (words(get(client, asleep)), words(get(client, awake))) == ([], ["report 0"])
    do(who.admin, report, "reopen")
    assert (words(get(client, asleep)), words(get(client, awake))) == ([], ["report 0"])
    latest = opened(client, report).one("ol", class_="hist").all("li")[0]
    assert latest.all("span")[0].words == "Admin reopened it"


def test_a_label_that_is_there_already_is_no_lost_press(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    page = then(client, press(client, opened(client, report), "label", label="mail"))
    assert told(page) == ["New label mail on “report 0”"]
    assert told(then(client, press(client, page, "note"))) == ["The note has not changed."]
    assert told(then(client, press(client, page, "label", label="Mail"))) == ["Already labelled mail."]
    assert told(then(client, press(client, page, "label", label="mail, late"))) == ["New label late on “report 0”"]
    page = then(client, press(client, page, "label", label="loud, slow"))
    assert told(page) == ["New labels loud, slow on “report 0”"]


def test_a_reply_that_is_left_behind_is_told(browser_of: Browser, who: People) -> None:
    """Only its own buttons send it."""
    made, client = reports(who.alice, 3), browser_of("admin")
    page = press_with_scripts(client, opened(client, made[0]), "resolve", public_reply="We are sorry")
    assert told(page) == ["Your reply was not sent.", "Resolved “report 0”"] and stored(made[0]).resolved
    assert "Before that" not in page.id("desk-status").words, "it is one action"
    assert not Reply.objects.filter(public_reply__gt="").exists()
    page = then(client, press(client, opened(client, made[1]), "reply answered", public_reply="We are sorry"))
    page = then(client, press(client, page, "resolve"))
    assert told(page) == ["Resolved “report 1” as answered"], "what was sent is there, and nothing is left"
    page = press_with_scripts(client, opened(client, made[2]), "own me", public_reply="Half a sentence")
    assert told(page) == ["Claimed “report 2”"], "it stays beside its report"


@pytest.mark.parametrize("button", ["resolve", "own me", "note", "acknowledge", "reply looked_at"])
@pytest.mark.parametrize("field", ["public_reply", "comment"])
def test_without_scripts_no_button_loses_what_was_typed_for_another(
    browser_of: Browser, who: People, button: str, field: str
) -> None:
    """There is no draft that would keep it."""
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    form = opened(client, report).id("triage")
    page = dom(submit(client, form, **{"verb": button, field: "Half a thought", "admin_note": "Noted"}), 400)
    wrong = page.one(aria_invalid="true")
    assert wrong["name"] == field and wrong.text == "Half a thought"
    assert "empty the field, first" in page.id(wrong["aria-describedby"]).words
    assert page.id("admin-note").text == "Noted"
    assert not stored(report).resolved and stored(report).admin_note is None
    if field == "public_reply":
        then(client, press(client, page, "reply answered"))
        then(client, press(client, opened(client, report), "resolve"))
        assert stored(report).resolved, "a reply that was sent is no typed one"


@time_machine.travel("2026-05-01T22:30:00Z", tick=False)
@pytest.mark.parametrize("button", ["snooze day", "label typed"])
def test_snoozing_until_a_day_is_until_it_begins_where_the_admin_is(
    browser_of: Browser, who: People, button: str
) -> None:
    """By its button, or by Enter in its field."""
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    client.cookies["tz"] = "Europe/Berlin"
    page = opened(client, report, "?q=is:unclaimed")
    field = page.id("snooze-until")
    assert (field["min"], field["max"]) == ("2026-05-03", "2027-05-02"), "in Berlin it is the second of May already"
    page = then(client, press(client, page, button, until="2026-11-01"))
    assert told(page) == ["Snoozed “report 0” until 1 Nov 00:00 CET"]
    assert Triage.objects.get().snoozed_until == datetime(2026, 10, 31, 23, tzinfo=UTC)
    assert "snoozed until 1 Nov 00:00 CET" in opened(client, report).id("triage").all("h2")[0].words
    today = press(client, then(client, press(client, opened(client, report), "wake")), button, until="2026-05-02")
    assert "in the future" in dom(today, 400).id("until-wrong").words


def test_a_reply_is_sent_and_taken_back(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    page = then(client, press(client, opened(client, report), "reply answered", public_reply="We mended it."))
    assert "answered" in page.id("triage").words and page.id("public-reply").text == "We mended it."
    assert "Admin set the reply We mended it." in page.one("ol", class_="hist").words
    then(client, press(client, page, "reply received"))
    reply = Reply.objects.get()
    assert (reply.public_status, reply.public_reply) == ("received", None)


def test_marking_as_looked_at_sends_no_words_and_takes_no_answer_back(browser_of: Browser, who: People) -> None:
    """What is in the field then is a draft, perhaps of yesterday; after an answer there is no such button."""
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    page = opened(client, report)
    assert page.id("public-reply")["data-with"] == "reply answered", "the draft stays in the browser"
    page = press_with_scripts(client, page, "reply looked_at", public_reply="Half a draft, not for")
    reply = Reply.objects.get()
    assert (reply.public_status, reply.public_reply) == ("looked_at", None)
    thread = browser_of("alice").get(f"/threads/{report.thread.thread_id}/").content.decode()
    assert "Looked at" in thread and "Half a draft" not in thread
    page = then(client, press(client, page, "reply answered", public_reply="We mended it."))
    assert "Mark as looked at" not in page.id("triage").words


def test_the_history_says_who_did_what_before_and_after(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    for change in ({"label": "pumps"}, {"label": "tyres"}):
        press(client, opened(client, report), "label", **change)
    press(client, opened(client, report), "note", admin_note="find_stations sleeps")
    press(client, opened(client, report), "resolve")
    make.rating(who.alice, report.thread, 1, notes="report 0, and more")
    page = opened(client, report)
    assert [line.all("span")[0].words for line in page.one("ol", class_="hist").all("li")] == [
        "Alice changed the rating",
        "Admin resolved it, noted",
        "Admin set the note find_stations sleeps",
        "Admin labelled it +tyres",
        "Admin labelled it +pumps",
        "Alice rated message 1",
    ]
    assert ", changed just now" in page.id("desk-report").words


def test_the_history_says_which_labels_came_and_went(browser_of: Browser, who: People) -> None:
    """Not all of them each time: of two bulks and their undos, nobody could see what they did."""
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    do(who.admin, report, "label", add=["one", "two"])
    do(who.admin, report, "label", add=["three"], remove=["one"])
    then(client, submit(client, opened(client, report).id("desk-status").one("form")))
    triage.update(who.admin.actor, report.feedback_id, TriageIn(admin_label="Two ,one"))
    shown = [line.all("span")[0].words for line in opened(client, report).one("ol", class_="hist").all("li")]
    assert shown == [
        "Admin changed the label one, two to Two ,one",
        "Admin labelled it (undo) \u2212three to +one",
        "Admin labelled it \u2212one to +three",
        "Admin labelled it +one, +two",
        "Alice rated message 1",
    ]


def test_the_history_says_that_a_snooze_lasts_until_it_happens_again_where_it_had_an_end_before(
    browser_of: Browser, who: People
) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    do(who.admin, report, "snooze", until=(timezone.now() + timedelta(hours=4)).isoformat())
    do(who.admin, report, "snooze", until_again=True)
    latest = opened(client, report).one("ol", class_="hist").all("li")[0]
    assert latest.all("span")[0].words == "Admin snoozed it until it happens again"


def test_the_history_tells_the_end_of_a_snooze_where_the_reader_is(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    client.cookies["tz"] = "Asia/Kolkata"
    evening = (timezone.now() + timedelta(days=60)).replace(hour=20, minute=0, second=0, microsecond=0)
    do(who.admin, report, "snooze", until=evening.isoformat())
    there = evening.astimezone(ZoneInfo("Asia/Kolkata"))
    latest = opened(client, report).one("ol", class_="hist").all("li")[0]
    assert latest.all("span")[0].words == f"Admin snoozed it until {spoken(there)}"
    assert spoken(there).endswith("01:30 IST")


def test_an_address_of_the_browser_that_is_none_leads_to_the_desk(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    for address in ("http://[", "http://elsewhere.test/feedback/"):
        typed = {"verb": "resolve", "feedback_ids": report.feedback_id, "here": f"{DESK}?q=is:due"}
        answer = client.post(f"{DESK}bulk/", typed, headers={"HX-Current-URL": address})
        assert (answer.status_code, answer["Location"]) == (302, f"{DESK}?q=is:due")


def asked(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        get(client, address)
    return len(captured)


def test_a_long_history_shows_its_last_changes_and_the_others_on_request(browser_of: Browser, who: People) -> None:
    """Of few changes and of many, the page asks the same; one address shows all of them to whoever gets it."""
    [report] = reports(who.alice, 1)
    client, at = browser_of("admin"), f"{DESK}?q=&item={report.feedback_id}"
    for number in range(50):
        do(who.admin, report, "note", admin_note=f"no {number}.")
    page = get(client, at)
    assert len(page.one(class_="hist").all("li")) == 51
    assert "earlier" not in page.id("history").words
    few = asked(client, at)
    for number in range(50, 53):
        do(who.admin, report, "note", admin_note=f"no {number}.")
    page = get(client, at)
    assert asked(client, at) == few + 1, "how many there are besides"
    lines = [line.words for line in page.one(class_="hist").all("li")]
    assert len(lines) == 51 and "to no 52." in lines[0] and "to no 3." in lines[49] and "rated message" in lines[50]
    link = page.id("history").one("p").one("a")
    assert link.words == "3 earlier changes"
    whole = get(client, DESK + link["href"].partition("#")[0])
    assert len(whole.one(class_="hist").all("li")) == 54 and whole.id("history").none("p")


def test_history_says_that_a_text_is_longer_than_what_it_shows(browser_of: Browser, who: People) -> None:
    [report] = reports(who.alice, 1)
    do(who.admin, report, "note", admin_note="word " * 1000 + "end")
    shown = opened(browser_of("admin"), report).id("desk-report").words
    assert "word word… (5 003 characters)" in shown


def test_a_refused_form_without_its_note_is_refused_for_what_is_wrong(browser_of: Browser, who: People) -> None:
    [report] = reports(who.alice, 1)
    sent = {"verb": "snooze day", "note_was": "a note"}
    answer = browser_of("admin").post(f"/feedback/{report.feedback_id}/", sent)
    assert dom(answer, 400).one(class_="wrong").words == "Choose a date first."


def test_a_refused_form_keeps_the_query_in_every_part_of_its_page(browser_of: Browser, who: People) -> None:
    """The form is answered at its own address, which has no query: the org menu must not fall back to the default."""
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    page = get(client, f"{DESK}?q=is:open+org:acme&item={report.feedback_id}")
    answer = press(client, page, "snooze day", until="")
    menu = dom(answer, 400).id("orgs")
    assert menu.one(aria_current="true").words == "only acme"
    assert query_of(menu.all("a")[0]["href"])["q"] == "is:open"


@pytest.mark.parametrize(
    ("verb", "typed", "field", "reason"),
    [
        ("label", {"label": "x" * 61}, "admin-label", "It must have at most 60 characters, not 61"),
        ("label", {"label": "  "}, "admin-label", "Type a label first."),
        ("label", {"label": ", ".join(f"{place:058}" for place in range(4))}, "admin-label", "All labels of a rep"),
        ("resolve", {"admin_note": "x" * 20_001}, "admin-note", "It must have at most 20,000 characters, not 20,001"),
        ("note", {"admin_note": "a\x00b"}, "admin-note", "It contains a NUL"),
        ("duplicate", {"duplicate_of": "fb_nothing"}, "duplicate-of", "There is no report fb_nothing."),
        ("label typed", {"duplicate_of": "fb_nothing"}, "duplicate-of", "There is no report fb_nothing."),
        ("duplicate", {"duplicate_of": "ITSELF"}, "duplicate-of", "A report cannot be a duplicate of itself."),
        ("duplicate", {"duplicate_of": "FOREIGN"}, "duplicate-of", "It is in another org."),
        ("reply answered", {"public_reply": " "}, "public-reply", "It is required with the status answered."),
        (
            "reply answered",
            {"public_reply": "x" * 20_001},
            "public-reply",
            "It must have at most 20,000 characters, not 20,001",
        ),
        ("snooze 3y", {}, "", "Verb must snooze until"),
        ("snooze day", {"until": ""}, "snooze-until", "Choose a date first."),
        ("snooze day", {"until": "soon"}, "snooze-until", "It must be a date like 2026-05-01."),
        ("snooze day", {"until": "2999-W20-1"}, "snooze-until", "It must be a date like 2026-05-01."),
        ("snooze day", {"until": "2020-02-29"}, "snooze-until", "It must be in the future and within a year."),
        ("snooze day", {"until": "0001-01-01"}, "snooze-until", "It must be in the future and within a year."),
        ("label typed", {"until": "9999-12-31"}, "snooze-until", "It must be in the future and within a year."),
        ("resolve", {"outcome": "bored"}, "", "Outcome"),
        ("delete", {}, "", "Verb must be one of"),
        ("wake", {}, "", "This report is not snoozed."),
    ],
)
def test_what_is_refused_stays_in_its_field_with_the_reason(
    browser_of: Browser, who: People, verb: str, typed: dict[str, str], field: str, reason: str
) -> None:
    report, client = reports(who.alice, 2)[0], browser_of("admin")
    if verb == "duplicate":
        make.rating(who.eve, make.thread(who.eve), notes="foreign")
        foreign = UserFeedback.objects.latest("pk").feedback_id
        named = {"ITSELF": report.feedback_id, "FOREIGN": foreign}
        typed = {"duplicate_of": named.get(typed["duplicate_of"], typed["duplicate_of"])}
    before = list(UserFeedback.objects.order_by("pk").values())
    sent = {"admin_note": "kept", **typed}
    form = opened(client, report, "?q=is:open").id("triage")
    answer = client.post(form["action"], {**form.fields(), "verb": verb, **sent})
    page = dom(answer, answer.status_code)
    assert answer.status_code in (400, 404, 409)
    assert page.one(class_="wrong").words.startswith(reason)
    invalid = [each["id"] for each in page.id("desk-report").all(aria_invalid="true")]
    assert invalid == ([field] if field else [])
    for name, value in sent.items():
        if name != "outcome":
            [held] = [each for each in page.id("triage").all() if each.get("name") == name]
            assert (held.text if held.tag == "textarea" else held["value"]) == value
    assert words(page)[-1] == "report 0" and list(UserFeedback.objects.order_by("pk").values()) == before
    assert not TriageChange.objects.exists()


def test_resolving_what_somebody_else_resolved_says_so_and_goes_on(browser_of: Browser, who: People) -> None:
    """Whoever presses twice takes nothing of the other's back: the next report is open, and Reopen has another key."""
    made, client, bea = reports(who.alice, 2), browser_of("admin"), second_admin()
    page, before = opened(client, made[1], "?q=is:open"), made[1]
    do(bea, before, "resolve", outcome="fixed")
    changes = TriageChange.objects.count()
    page = then(client, press(client, page, "resolve"))
    assert told(page) == ["Bea already resolved “report 1”."]
    assert page.id("desk-report").one(class_="words").words == "report 0"
    assert page.none("form", id="undo") and TriageChange.objects.count() == changes
    assert opened(client, before).id("triage").one("button", value="reopen")["data-key"] == "E"


def test_what_was_typed_is_kept_where_somebody_else_resolved_it(browser_of: Browser, who: People) -> None:
    report, client, bea = reports(who.alice, 1)[0], browser_of("admin"), second_admin()
    page = opened(client, report)
    do(bea, report, "resolve", outcome="fixed")
    page = then(client, press(client, page, "resolve", admin_note="Mine"))
    assert told(page)[0] == "Bea already resolved “report 0”." and stored(report).admin_note == "Mine"
    assert (stored(report).resolved_by, Triage.objects.get().outcome) == (bea.user, "fixed")
    do(who.admin, report, "reopen")
    page = opened(client, report)
    do(who.admin, report, "resolve")
    assert told(then(client, press(client, page, "resolve")))[0] == "You already resolved “report 0”."
    page = opened(client, report)
    assert dom(press(client, page, "duplicate", duplicate_of="fb_x"), 409).one(class_="wrong")


def test_two_at_one_note_both_versions_are_shown_and_the_second_save_wins(browser_of: Browser, who: People) -> None:
    report, client, bea = reports(who.alice, 1)[0], browser_of("admin"), second_admin()
    page = opened(client, report)
    do(bea, report, "note", admin_note="Bea's")
    page = dom(press(client, page, "resolve", admin_note="Mine"), 412)
    alert = page.id("desk-report").one(role="alert")
    assert "Bea has changed this report meanwhile." in alert.words
    assert [each.words for each in page.id("desk-report").all("dd", class_="version")] == ["Bea's", "Mine"]
    note = page.id("admin-note")
    assert note.text == "Mine" and note.has("autofocus")
    assert page.id(note["aria-describedby"]).one(role="alert") is alert
    assert (stored(report).admin_note, stored(report).resolved) == ("Bea's", False)
    theirs = get(client, next(each for each in page.id("desk-report").all("a") if each.words == "use theirs")["href"])
    assert theirs.id("admin-note").text == "Bea's"
    assert press(client, page, "note").status_code == 302
    assert stored(report).admin_note == "Mine"


def test_two_at_one_note_may_keep_both(browser_of: Browser, who: People) -> None:
    """Theirs first, as it was read; if it has changed once more, that is shown first."""
    report, client, bea = reports(who.alice, 1)[0], browser_of("admin"), second_admin()
    page = opened(client, report)
    do(bea, report, "note", admin_note="Bea's")
    page = dom(press(client, page, "note", admin_note="Mine"), 412)
    do(bea, report, "note", admin_note="Bea's, longer")
    page = dom(press(client, page, "note both"), 412)
    assert page.id("admin-note").text == "Mine"
    assert press(client, page, "note both").status_code == 302
    assert stored(report).admin_note == "Bea's, longer\n\nMine"
    page = opened(client, report)
    do(bea, report, "note", admin_note=None)
    page = dom(press(client, page, "note", admin_note="Mine alone"), 412)
    assert not [each for each in page.id("desk-report").all("button") if each.get("value") == "note both"]


def test_what_the_submitter_changed_meanwhile_stops_a_resolve_once(browser_of: Browser, who: People) -> None:
    """Whoever decides has read what is decided about. Taking it, or a note, needs no second look."""
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    page = opened(client, report)
    make.rating(who.alice, report.thread, 1, "positive", notes="It was right after all")
    assert press(client, page, "own me").status_code == 302
    page = dom(press(client, page, "resolve", admin_note="Mine", outcome="fixed"), 412)
    alert = page.id("desk-report").one(role="alert")
    assert "The submitter changed the rating while you were reading." in alert.words
    assert "Your text is kept." in page.id("desk-report").words
    assert [each.words for each in page.id("desk-report").all("dd", class_="version")] == [
        "Positive: It was right after all",
        "Negative: report 0",
    ]
    assert page.id("admin-note").text == "Mine" and not stored(report).resolved
    assert press(client, page, "resolve").status_code == 302
    assert (stored(report).resolved, stored(report).admin_note) == (True, "Mine")
    assert Triage.objects.get().outcome == "fixed", "what was chosen before is still chosen"


def test_a_note_that_was_only_read_is_not_put_back_after_a_refusal(browser_of: Browser, who: People) -> None:
    report, client, bea = reports(who.alice, 1)[0], browser_of("admin"), second_admin()
    do(bea, report, "note", admin_note="Old")
    page = opened(client, report)
    do(bea, report, "note", admin_note="New")
    make.rating(who.alice, report.thread, 1, notes="other words")
    page = dom(press(client, page, "resolve"), 412)
    assert page.id("admin-note").text == "New"
    assert press(client, page, "resolve").status_code == 302
    assert (stored(report).resolved, stored(report).admin_note) == (True, "New")


@pytest.mark.parametrize("verb", ["own me", "own bea@heddle.test", "snooze 4h"])
def test_who_takes_or_puts_off_what_somebody_just_resolved_is_told_so(
    browser_of: Browser, who: People, verb: str
) -> None:
    """What they saw was open; nothing of it would be seen on a resolved one."""
    report, client, bea = reports(who.alice, 1)[0], browser_of("admin"), second_admin()
    page = opened(client, report)
    do(bea, report, "resolve")
    page = dom(press(client, page, verb), 409)
    assert page.id("desk-report").one(role="alert").words == "Bea already resolved this report."
    assert not Triage.objects.exclude(owner=None, snoozed_until=None).exists()


def test_two_who_take_the_same_report_are_told_who_was_quicker(browser_of: Browser, who: People) -> None:
    """Nothing was typed, so nothing is compared: a second press takes it over."""
    report, client, bea = reports(who.alice, 1)[0], browser_of("admin"), second_admin()
    page = opened(client, report)
    do(bea, report, "own", owner="me")
    page = dom(press(client, page, "own me"), 412)
    alert = page.id("desk-report").one(role="alert")
    assert alert.words == "Bea claimed it just now. Press a again to take it over." and alert.none("dd")
    assert press(client, page, "own me").status_code == 302
    assert Triage.objects.get().owner == who.admin.user
    page = opened(client, report)
    do(bea, report, "snooze", until_again=True)
    alert = dom(press(client, page, "snooze 4h"), 412).id("desk-report").one(role="alert")
    assert alert.words.startswith("Bea snoozed it until it happens again just now.") and alert.none("dd")


def test_ones_own_other_window_is_no_somebody_else(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    page = opened(client, report)
    do(who.admin, report, "note", admin_note="There")
    report = dom(press(client, page, "note", admin_note="Here"), 412).id("desk-report")
    assert report.one(role="alert").words == "You changed this in another window. Your change was not saved."
    assert report.one("dl").words == "The other There Yours Here"
    assert "or use the other." in report.words


def test_what_is_changed_while_the_page_is_made_does_not_count_as_seen(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    report, client, bea, card_of = reports(who.alice, 1)[0], browser_of("admin"), second_admin(), screens.card_of

    def meanwhile(*args: Any, **kwargs: Any) -> Any:
        monkeypatch.setattr(screens, "card_of", card_of)
        do(bea, report, "note", admin_note="Bea's")
        return card_of(*args, **kwargs)

    monkeypatch.setattr(screens, "card_of", meanwhile)
    page = opened(client, report)
    assert page.id("admin-note").text == ""
    answer = press(client, page, "note", admin_note="Mine")
    assert answer.status_code == 412 and stored(report).admin_note == "Bea's"


def test_two_at_one_report_who_change_different_things_do_not_collide(browser_of: Browser, who: People) -> None:
    report, client, bea = reports(who.alice, 1)[0], browser_of("admin"), second_admin()
    page = opened(client, report)
    do(bea, report, "label", add=["money"])
    assert press(client, page, "note", admin_note="Mine").status_code == 302
    assert (stored(report).admin_label, stored(report).admin_note) == ("money", "Mine")


def test_an_undo_of_a_part_says_that_something_stayed(browser_of: Browser, who: People) -> None:
    report, client, bea = reports(who.alice, 1)[0], browser_of("admin"), second_admin()
    hooks.triaged(report.feedback_id, who.admin, admin_label="money", admin_note="Mine")
    do(bea, report, "note", admin_note="Bea's")
    page = then(client, submit(client, opened(client, report).id("desk-status").one("form")))
    assert told(page) == ["Partly undone."]
    assert (stored(report).admin_label, stored(report).admin_note) == (None, "Bea's")


def test_an_answer_that_somebody_wrote_anew_is_not_half_taken_back(browser_of: Browser, who: People) -> None:
    """Its words are Bea's by now, and so is that it was answered."""
    report, client, bea = reports(who.alice, 1)[0], browser_of("admin"), second_admin()
    page = then(client, press(client, opened(client, report), "reply answered", public_reply="Mine"))
    do(bea, report, "reply", public_reply="Bea's")
    page = then(client, submit(client, page.id("desk-status").one("form")))
    assert told(page) == ["Nothing was undone."]
    assert (Reply.objects.get().public_status, Reply.objects.get().public_reply) == ("answered", "Bea's")


def test_undo_takes_back_and_opens_what_it_was_about(browser_of: Browser, who: People) -> None:
    made, client = reports(who.alice, 2), browser_of("admin")
    page = then(client, press(client, opened(client, made[1], "?q=is:open"), "resolve", admin_note="x"))
    form = page.id("desk-status").one("form")
    undone_until = TriageChange.objects.earliest("id").at + timedelta(minutes=30)
    assert form.one("time").words == f"until {undone_until.astimezone(UTC):%H:%M}"
    page = then(client, submit(client, form))
    assert told(page) == ["Undone: resolution of “report 1” and its note. Its text is in the field again, not saved."]
    assert words(page) == ["report 1", "report 0"]
    assert page.id("desk-report").one(class_="words").words == "report 1"
    assert (stored(made[1]).resolved, stored(made[1]).admin_note) == (False, None)
    assert page.none("form", id="undo"), "an undo is redone, by another key"


def test_undo_says_what_it_could_not_take_back(browser_of: Browser, who: People) -> None:
    report, client, bea = reports(who.alice, 1)[0], browser_of("admin"), second_admin()
    page = then(client, press(client, opened(client, report), "note", admin_note="Mine"))
    do(bea, report, "note", admin_note="Bea's")
    page = then(client, submit(client, page.id("desk-status").one("form")))
    assert told(page) == ["Nothing was undone."]
    assert "note: changed since, so not undone" in page.id("desk-status").one("details").words
    assert stored(report).admin_note == "Bea's"


def test_an_undo_that_could_change_nothing_leads_on_to_what_was_done_before(browser_of: Browser, who: People) -> None:
    made, client, bea = reports(who.alice, 2), browser_of("admin"), second_admin()
    then(client, press(client, opened(client, made[0]), "resolve"))
    page = then(client, press(client, opened(client, made[1]), "resolve"))
    do(bea, made[1], "reopen")
    page = then(client, submit(client, page.id("desk-status").one("form")))
    page = then(client, submit(client, page.id("desk-status").one("form")))
    assert [stored(each).resolved for each in made] == [False, False]
    assert page.none("form", id="undo")


def test_labels_of_two_do_not_collide_and_an_undo_leaves_those_of_others(browser_of: Browser, who: People) -> None:
    report, client, bea = reports(who.alice, 1)[0], browser_of("admin"), second_admin()
    page = opened(client, report)
    do(bea, report, "label", add=["hers"])
    page = then(client, press(client, page, "label", label="mine, too"))
    assert stored(report).admin_label == "hers, mine, too"
    do(bea, report, "label", add=["later"])
    page = then(client, submit(client, page.id("desk-status").one("form")))
    assert stored(report).admin_label == "hers, later"
    page = then(client, press(client, page, "unlabel hers"))
    do(bea, report, "label", add=["last"])
    page = then(client, submit(client, page.id("desk-status").one("form")))
    assert stored(report).admin_label == "later, last, hers"


def test_a_label_that_was_typed_and_left_is_told(browser_of: Browser, who: People) -> None:
    made, client = reports(who.alice, 2), browser_of("admin")
    page = press_with_scripts(client, opened(client, made[1]), "resolve", label="half")
    assert "The label you typed was not added: half." in told(page)
    assert stored(made[1]).admin_label is None


def test_a_report_that_is_gone_leaves_the_place_in_the_list(browser_of: Browser, who: People) -> None:
    made, client = reports(who.alice, 4), browser_of("admin")
    capture.retract(who.alice.actor, made[2].thread, made[2].message_sequence_num)
    for order, below in (("", "report 1"), (" sort:oldest", "report 3")):
        page = dom(client.get(f"{DESK}?q={quote('is:open' + order)}&item={made[2].feedback_id}"), 404)
        assert page.one("a", autofocus=True).words == f"Negative: {below}"


def test_what_is_said_after_an_undo_is_what_was_taken_back(browser_of: Browser, who: People) -> None:
    """What was done before stands beside it, can be taken back too, and does not look as if it had just happened."""
    made, client = reports(who.alice, 3), browser_of("admin")
    then(client, press(client, opened(client, made[2]), "snooze tomorrow"))
    page = then(client, press(client, opened(client, made[1]), "own me"))
    page = then(client, submit(client, page.id("desk-status").one("form")))
    assert told(page) == ["Undone: claim of “report 1”."]
    form = page.id("undo")
    assert form.words.startswith("Before that: Snoozed “report 2”") and form.none(class_="mark")
    page = then(client, submit(client, form))
    assert told(page) == ["Undone: snooze of “report 2”."]
    page = then(client, submit(client, page.id("desk-bar").all("form")[-1], name="Mine"))
    assert told(page) == ["Saved as Mine."]
    assert told(get(client, DESK + ALL)) == [], "that came after it"


def undo_key(page: Node) -> str:
    """The key of the button that undoes, as it is pressed and as it is shown; the others of the line have none."""
    [button] = [each for each in page.id("undo").all("button") if not each.has("hidden")]
    assert button.one("kbd").words == {"z": "z", "Z": "⇧Z"}[button["data-key"]]
    return button["data-key"]


def test_z_undoes_nothing_older_than_the_last_thing_done(browser_of: Browser, who: People) -> None:
    """What is done to checks, views and the list of labels cannot be undone: what was done before has another key,
    also on the pages that follow, until the next action or undo.
    """
    made, client = reports(who.alice, 4), browser_of("admin")
    then(client, press(client, opened(client, made[3]), "own me"))

    def done(form: Node, button: str = "", **typed: str) -> None:
        page = then(client, press(client, opened(client, made[0]), "note", admin_note=f"{form.attributes}{typed}"))
        assert undo_key(page) == "z"
        then(client, submit(client, form, button, **typed))
        page = get(client, DESK)
        assert undo_key(page) == "Z" and "Earlier: Saved note on “report 0”" in page.id("desk-status").words

    check = opened(client, made[1], "?q=&check=1").id("check").one("form")
    done(check, "keep", kind="says", value="refund")
    check = opened(client, made[1]).id("check").one("form")
    done(check, next(each["value"] for each in check.all("button") if each["value"].startswith("drop")))
    done(get(client, DESK).id("desk-bar").all("form", method="post")[0], name="Mine", q="is:open tool:echo")
    done(get(client, f"{DESK}?q=is:open tool:echo").id("desk-bar").all("form", method="post")[1], "drop")
    done(get(client, "/settings/labels/").id("new").within("section").one("form"), name="money")

    page = then(client, press(client, opened(client, made[2]), "resolve"))
    assert undo_key(page) == "z" and told(page) == ["Resolved “report 2”"]
    page = then(client, submit(client, check, "keep", kind="says", value="refund"))
    assert undo_key(page) == "Z" and "Before that: Resolved “report 2”" in page.id("desk-status").words
    page = then(client, submit(client, page.id("desk-status").one("form"), "1"))
    assert told(page) == ["What you did last cannot be undone. Shift+Z undoes what was before."]
    made[2].refresh_from_db()
    assert undo_key(page) == "Z" and made[2].resolved
    page = then(client, submit(client, page.id("desk-status").one("form")))
    assert undo_key(page) == "z", "after an undo it goes on to what was done before"


def undone(client: Client, page: Node) -> Node:
    """The page after the undo that a page offers."""
    return then(client, submit(client, page.id("undo")))


def redone(client: Client, page: Node) -> Node:
    """The page after the redo that a page offers."""
    return then(client, submit(client, page.id("redo")))


def test_what_was_undone_is_redone_in_turn_until_something_else_is_done(browser_of: Browser, who: People) -> None:
    """The last undo first; what was done anew is undone again as any other action."""
    made, client = reports(who.alice, 3), browser_of("admin")
    then(client, press(client, opened(client, made[2]), "own me"))
    page = then(client, press(client, opened(client, made[1], "?q=is:open"), "resolve", admin_note="Seen"))
    assert page.none("form", id="redo"), "nothing was undone yet"
    page = undone(client, undone(client, page))
    assert told(page) == ["Undone: claim of “report 2”."]
    assert page.id("redo").words == "Redo ⇧Z" and page.none("form", id="undo")
    page = redone(client, page)
    assert told(page) == ["Claimed “report 2”"] and undo_key(page) == "z"
    assert (
        page.id("redo").words == "Redo resolution ⇧Z" and page.id("desk-report").one(class_="words").words == "report 2"
    )
    page = redone(client, page)
    assert told(page) == ["Resolved “report 1” and saved the note"] and page.none("form", id="redo")
    assert (stored(made[1]).resolved, stored(made[1]).admin_note) == (True, "Seen")
    assert page.id("admin-note").words == "Seen", "the field has what is saved"
    [button] = page.id("undo").all("button", data_key="Z")
    page = then(client, submit(client, page.id("undo"), button["value"]))
    assert told(page) == ["Nothing is left to redo: you undid nothing, or did something else since."]
    page = undone(client, page)
    assert not stored(made[1]).resolved and page.id("redo")
    page = then(client, press(client, opened(client, made[0]), "own me"))
    assert page.none("form", id="redo"), "something else was done"
    assert page.id("undo").all("button", data_key="Z"), "and the key says so"


def test_no_redo_is_offered_after_what_has_no_undo(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    page = undone(client, then(client, press(client, opened(client, report), "own me")))
    assert page.id("redo")
    page = then(client, submit(client, page.id("desk-bar").all("form")[-1], name="Mine"))
    assert page.none("form", id="redo")


def test_a_redo_says_what_it_could_not_bring_back(browser_of: Browser, who: People) -> None:
    report, client, bea = reports(who.alice, 1)[0], browser_of("admin"), second_admin()
    page = undone(client, then(client, press(client, opened(client, report), "note", admin_note="Mine")))
    do(bea, report, "note", admin_note="Bea's")
    page = redone(client, page)
    assert told(page) == ["Nothing was redone."] and page.none("form", id="redo")
    assert "note: changed since, so not redone" in page.id("desk-status").one("details").words
    assert stored(report).admin_note == "Bea's"


def test_an_undo_gives_back_what_was_typed_for_it(browser_of: Browser, who: People) -> None:
    """A note that went along, not saved again by itself; a reply in any case. A note of its own is gone as wished."""
    report, client, colleague = reports(who.alice, 1)[0], browser_of("admin"), second_admin()
    do(who.admin, report, "note", admin_note="Before")
    page = undone(client, then(client, press(client, opened(client, report), "resolve", admin_note="Went\nalong")))
    assert stored(report).admin_note == "Before"
    for shown in (page, opened(client, report), opened(client, report)):
        assert shown.id("admin-note").text == "Went\nalong" and shown.id("admin-note").has("data-kept")
    assert opened(client_of(colleague), report).id("admin-note").text == "Before", "it is nobody else's"
    page = then(client, press(client, opened(client, report), "resolve"))
    assert stored(report).admin_note == "Went\nalong"
    do(who.admin, report, "reopen")

    page = undone(client, then(client, press(client, opened(client, report), "note", admin_note="Wrong")))
    assert page.id("admin-note").text == "Went\nalong" and not page.id("admin-note").has("data-kept")

    page = undone(client, then(client, press(client, page, "reply answered", public_reply="Too early")))
    assert Reply.objects.get().public_reply is None
    assert page.id("public-reply").text == "Too early" and page.id("public-reply").within("details").has("open")
    do(colleague, report, "reply", public_status="answered", public_reply="Another")
    assert opened(client, report).id("public-reply").text == "Another"


def test_what_an_undo_gave_back_is_not_offered_for_ever(browser_of: Browser, who: People) -> None:
    """Not after the next thing that was done to the report, nor later than it could be undone."""
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    now = timezone.now()
    with time_machine.travel(now, tick=False):
        undone(client, then(client, press(client, opened(client, report), "resolve", admin_note="Went along")))
        assert opened(client, report).id("admin-note").text == "Went along"
        do(second_admin(), report, "label", add=["money"])
        assert opened(client, report).id("admin-note").text == "Went along"
    with time_machine.travel(now + timedelta(minutes=31), tick=False):
        assert opened(client, report).id("admin-note").text == ""
    with time_machine.travel(now, tick=False):
        do(who.admin, report, "own", owner="me")
        assert opened(client, report).id("admin-note").text == ""


def test_z_says_when_there_is_nothing_to_undo(browser_of: Browser, who: People) -> None:
    """In place of what was undone before: otherwise it looks as if that had happened once more."""
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    page = then(client, press(client, opened(client, report), "label", label="money"))
    page = then(client, submit(client, page.id("undo")))
    assert told(page)[0].startswith("Undone") and stored(report).admin_label is None
    for _ in range(2):
        [button] = page.id("desk-status").all("button", data_key="z")
        page = then(client, submit(client, button.within("form"), button["value"]))
        assert told(page) == ["Nothing is left to undo."]


def test_z_undoes_nothing_older_than_a_button_without_effect(browser_of: Browser, who: People) -> None:
    made, client = reports(who.alice, 2), browser_of("admin")
    then(client, press(client, opened(client, made[1]), "label", label="money"))
    page = then(client, press(client, opened(client, made[0]), "label", label="money"))
    for button, typed in (("label", {"label": "money"}), ("note", {}), ("resolve", {})):
        if button == "resolve":
            do(second_admin(), made[0], "resolve")
        then(client, press(client, opened(client, made[1]), "unlabel money"))
        page = then(client, press(client, opened(client, made[1]), "label", label="money"))
        assert undo_key(page) == "z"
        assert undo_key(then(client, press(client, opened(client, made[0]), button, **typed))) == "Z"
    page = press_with_scripts(client, opened(client, made[1]), "resolve", public_reply="We are sorry")
    assert told(page) == ["Your reply was not sent.", "Resolved “report 1”"]
    assert undo_key(page) == "z", "the action can be undone"


def test_a_label_that_is_begun_is_the_one_there_is(browser_of: Browser, who: People) -> None:
    """Where only one begins so. Quotes make a new one, and what was done is said with the label."""
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    page = opened(client, report)
    for typed, line, kept in [
        ("Money", "New label Money on “report 0”", "Money"),
        ("slow", "New label slow on “report 0”", "Money, slow"),
    ]:
        page = then(client, press(client, page, "label", label=typed))
        assert told(page) == [line] and stored(report).admin_label == kept
    page = then(client, press(client, page, "unlabel Money"))
    assert told(page) == ["Removed Money from “report 0”"]
    page = then(client, press(client, page, "label", label="mon"))
    assert told(page) == ["Labelled “report 0” Money"] and stored(report).admin_label == "slow, Money"
    page = then(client, press(client, page, "label", label='"mon"'))
    assert told(page) == ["New label mon on “report 0”"] and stored(report).admin_label == "slow, Money, mon"
    page = then(client, press(client, page, "unlabel Money"))
    page = then(client, press(client, page, "label", label="mo"))  # two begin so
    assert told(page) == ["New label mo on “report 0”"]


def test_a_new_label_that_is_taken_back_is_not_offered_any_more(browser_of: Browser, who: People) -> None:
    """Unless somebody else has used it since, or it was there before."""
    made, client = reports(who.alice, 2), browser_of("admin")

    def labelled_and_taken_back(label: str) -> list[str]:
        page = then(client, press(client, opened(client, made[0]), "label", label=label))
        if label == "late":
            do(second_admin(), made[1], "label", add=["late"])
        page = then(client, submit(client, page.id("desk-status").one("form")))
        return [option["value"] for option in page.id("labels").all("option")]

    assert labelled_and_taken_back("monney") == []
    assert labelled_and_taken_back("late") == ["late"]
    assert labelled_and_taken_back("late, odd") == ["late"]


@pytest.mark.parametrize("action", ["", "act_nothing", "OLD"])
def test_an_undo_of_nothing_says_so(browser_of: Browser, who: People, action: str) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    do(who.admin, report, "resolve")
    TriageChange.objects.update(at=timezone.now() - timedelta(minutes=31))
    sent = f"act_{TriageChange.objects.get().action}" if action == "OLD" else action
    page = then(client, client.post(f"{DESK}undo/", {"action_id": sent, "here": DESK}))
    reason = "no longer" if action == "OLD" else "There is no such action."
    assert reason in told(page)[0] and stored(report).resolved


@pytest.mark.parametrize(
    "target",
    ["https://elsewhere.example/", "//elsewhere.example", "javascript:alert(1)", "", "\\\\x", "0", "feedback:insight"],
)
def test_acting_never_leads_to_another_host(browser_of: Browser, who: People, target: str) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    sent = {"next": target, "here": target, "name": "x", "q": "is:open", "feedback_ids": [report.feedback_id]}
    for verb in ("note", "resolve", "reopen"):
        answer = client.post(f"{DESK}{report.feedback_id}/", {**sent, "verb": verb})
        assert (answer.status_code, answer["Location"]) == (302, DESK)
    assert client.post(f"{DESK}bulk/", {**sent, "verb": "resolve"})["Location"] == DESK
    last = TriageChange.objects.latest("pk").action
    undone = client.post(f"{DESK}undo/", {**sent, "action_id": f"act_{last}"})["Location"]
    assert undone == f"{DESK}?q={quote('is:unclaimed')}&item={report.feedback_id}"


def test_triage_from_another_site_is_refused(who: People) -> None:
    report = reports(who.alice, 1)[0]
    client = Client(enforce_csrf_checks=True)
    client.force_login(who.admin.user)
    for path in (f"{report.feedback_id}/", "bulk/", "undo/", "views/", f"{report.feedback_id}/lease/"):
        assert client.post(f"{DESK}{path}", {"verb": "resolve"}).status_code == 403, path
    assert press(client, opened(client, report), "resolve").status_code == 302


@pytest.mark.parametrize("path", ["{}/", "{}/check/", "bulk/", "undo/", "views/", "bulk/blk_x/stop/"])
def test_a_form_s_address_that_is_opened_leads_to_the_desk(browser_of: Browser, who: People, path: str) -> None:
    """Without scripts a refused form is answered there: the page's links and a reload count from that address."""
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    address = DESK + path.format(report.feedback_id)
    assert client.get(f"{address}?q=is%3Aopen&item={report.feedback_id}")["Location"] == (
        f"{DESK}?q=is%3Aopen&item={report.feedback_id}"
    )
    if "check" not in path:  # by itself that is a piece of the page
        item = f"&item={report.feedback_id}" if "{}" in path else ""
        assert client.get(address)["Location"] == f"{DESK}?q={item}"
    assert browser_of("alice").get(f"{address}?q=", follow=True).status_code == 403


def test_forking_at_the_rated_message_from_the_desk(browser_of: Browser, who: People) -> None:
    """B142: an admin reproduces a complaint in a thread of their own."""
    made, client = reports(who.alice, 3), browser_of("admin")
    answer = submit(client, opened(client, made[1]).id("desk-fork"))
    forked = Thread.objects.latest("pk")
    assert answer["Location"] == f"/threads/{forked.thread_id}/?write#m{forked.message_count - 1}"
    assert (forked.message_count, forked.created_by, forked.visibility) == (4, who.admin.user, "private")


def test_what_admins_write_never_reaches_anybody_else(browser_of: Browser, who: People) -> None:
    """B111, B133: not the submitter, not the owner, on no page they can open."""
    report, client = reports(who.bob, 1)[0], browser_of("admin")
    press(client, opened(client, report), "resolve", label="LABELMARK", admin_note="NOTEMARK")
    here = f"/threads/{report.thread.thread_id}/"
    for name in ("bob", "alice"):
        for path in ("/threads/", here, f"{here}messages/1/rate/", f"{here}export/?format=roboto", "/settings/"):
            answer = browser_of(name).get(path)
            assert answer.status_code == 200, path
            for secret in (b"LABELMARK", b"NOTEMARK", b"resolved", report.feedback_id.encode()):
                assert secret not in answer.content, (name, path, secret)
    assert b"NOTEMARK" in client.get(f"{DESK}{ALL}&item={report.feedback_id}").content


def test_hostile_words_stay_words(browser_of: Browser, who: People) -> None:
    """100 kB of it, and from right to left; labels and notes of admins as well."""
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>\u202e" + "ש" * 19_000
    report, client = reports(who.alice, 1, notes=evil[:20_000])[0], browser_of("admin")
    page = then(client, press(client, opened(client, report), "label", admin_note=evil, label='"><b onclick=x>y</b>'))
    assert page.none("script", src=False) and page.none("b")
    assert page.id("desk-report").one(class_="tag").words == '"><b onclick=x>y</b>'
    assert page.id("admin-note")["dir"] == "auto"


def test_what_the_submitter_says_after_the_resolution_comes_back(browser_of: Browser, who: People) -> None:
    """B132: the resolution stays, and the row, a view and the report say that it was changed since."""
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    press(client, opened(client, report), "resolve", outcome="fixed")
    page = get(client, DESK + ALL)
    assert row_of(page, "report 0").one(class_="rep-end").words.endswith("fixed") and "Revisited" not in strip(page)
    make.rating(who.alice, report.thread, report.message_sequence_num, notes="Still wrong")
    page = get(client, DESK + ALL)
    assert row_of(page, "Still wrong").one(class_="rep-end").words.endswith("changed since resolved")
    assert "Revisited 1" in strip(page)
    page = opened(client, report, "?q=is:revisited")
    assert words(page) == ["Still wrong"] and "changed since" in page.id("triage").words
    page = then(client, press(client, page, "resolve"))
    assert told(page) == ["Resolved “Still wrong”"] and words(page) == []
    found = stored(report)
    assert found.resolved and found.resolved_at > found.modified
    page = opened(client, report)
    assert "Admin resolved it again" in page.one("ol", class_="hist").words
    page = then(client, submit(client, page.id("desk-status").one("form")))
    assert words(get(client, DESK + "?q=is:revisited")) == ["Still wrong"]
    assert Triage.objects.get().outcome == "fixed"
    assert press(client, opened(client, report), "resolve").status_code == 302
    assert press(client, opened(client, report), "resolve").status_code == 302, "the second only goes on"
    assert TriageChange.objects.filter(verb="resolve").count() == 3


def strip(page: Node) -> str:
    return page.id("desk-views").one("div").words


def test_an_original_leads_to_its_duplicates(browser_of: Browser, who: People) -> None:
    made, client = reports(who.alice, 4), browser_of("admin")
    for each in made[1:3]:
        do(who.admin, each, "duplicate", duplicate_of=made[0].feedback_id)
    link = next(each for each in opened(client, made[0]).id("triage").all("a") if each.words == "2 duplicates")
    page = get(client, link["href"])
    assert words(page) == ["report 2", "report 1"]
    assert words(get(client, f"{DESK}?q=-original:{made[0].feedback_id}")) == ["report 3", "report 0"]
    assert "There is no report fb_nothing." in get(client, f"{DESK}?q=original:fb_nothing").words


def test_people_are_found_by_the_names_that_rows_show(browser_of: Browser, who: People) -> None:
    made, client, bea = reports(who.alice, 2), browser_of("admin"), second_admin()
    User.objects.filter(pk=who.alice.user.pk).update(name="Alice Maria Moreno")
    User.objects.filter(pk=bea.user.pk).update(name="Beatrix")
    do(bea, made[0], "own", owner="me")
    for asked in ('by:"Alice Maria Moreno"', "by:moreno", "by:Maria", "by:“Moreno Alice”"):
        assert words(get(client, f"{DESK}?q={quote(asked)}")) == ["report 1", "report 0"], asked
    assert words(get(client, f"{DESK}?q=owner:beatrix")) == ["report 0"]
    for asked in ("by:More", "by:Beatrix"):
        assert words(get(client, f"{DESK}?q={asked}")) == [], asked


def test_what_somebody_did_to_a_row_is_told_in_one_line(browser_of: Browser, who: People) -> None:
    report = reports(who.alice, 1)[0]
    do(who.admin, report, "note", admin_note="\n".join(f"line {number}" for number in range(60)))
    pk = TriageChange.objects.get().pk
    told = desk_live._changed(second_admin().actor, [pk], UTC)[report.feedback_id]
    assert "\n" not in told and len(told) <= 160 and told.startswith("Admin set the note: line 0 line 1")


def test_what_was_done_in_another_window_already_is_no_lost_press(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    do(who.admin, report, "label", add=["mail"])
    page = opened(client, report)
    assert told(then(client, press(client, page, "own me"))) == ["Claimed “report 0”"]
    assert told(then(client, press(client, page, "own me"))) == ["The owner has not changed."]
    assert told(then(client, press(client, page, "unlabel mail"))) == ["Removed mail from “report 0”"]
    assert told(then(client, press(client, page, "unlabel mail"))) == ["It is not labelled mail any more."]


def test_enter_in_an_empty_field_changes_nothing_and_holds_no_undo(browser_of: Browser, who: People) -> None:
    [report], client = reports(who.alice, 1), browser_of("admin")
    then(client, press(client, opened(client, report), "own me"))
    page = then(client, press(client, opened(client, report), "label typed"))
    assert told(page) == ["Nothing was typed."]
    assert page.id("undo").one("button", data_key="z")


def test_a_snooze_that_ends_is_counted_on_an_open_desk(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody does anything then: time passes."""
    monkeypatch.setattr(sse, "HEARTBEAT_SECONDS", 0)
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    with time_machine.travel(datetime(2026, 11, 2, 12, tzinfo=UTC), tick=False) as clock:
        client.force_login(who.admin.user)
        do(who.admin, report, "snooze", until=datetime(2026, 11, 2, 13, tzinfo=UTC))
        pieces = live(client)

        def counts() -> set[str]:
            heard = [piece.decode() for piece, _ in zip(pieces, range(6), strict=False) if b"event: list" in piece]
            return set(re.findall(r"Due\D+(\d+)", re.sub(r"<[^>]*>", " ", heard[-1]))) if heard else set()

        counts()
        assert counts() == set()
        clock.shift(timedelta(hours=1))
        assert counts() == {"1"}
        assert counts() == set()


def test_on_a_sunday_next_week_is_not_tomorrow(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    for day, offered in ((28, ["Sun 09:00", "Mon 09:00"]), (29, ["Mon 09:00", "Mon 7 Dec 09:00"])):
        with time_machine.travel(datetime(2026, 11, day, 12, tzinfo=UTC), tick=False):
            client.force_login(who.admin.user)
            menu = opened(client, report)
            said = [menu.all("button", value=f"snooze {choice}")[0].words for choice in ("tomorrow", "week")]
            assert said == [f"Tomorrow {offered[0]} t", f"Next week {offered[1]} n"]


def test_what_was_done_between_the_reading_of_a_page_and_its_line_is_told(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also what a line missed that broke; after long the page reads itself again. What came before is no news."""
    monkeypatch.setattr(sse, "HEARTBEAT_SECONDS", 0)
    [before, meanwhile, later], client, bea = reports(who.alice, 3), browser_of("admin"), second_admin()
    with time_machine.travel(timezone.now() + timedelta(seconds=1), tick=False) as clock:
        client.force_login(who.admin.user)
        do(bea, before, "label", add=["early"])
        clock.shift(1)
        line = get(client, f"{DESK}?q=").id("live")["data-live"]
        clock.shift(1)
        do(bea, meanwhile, "label", add=["mail"])
        make.rating(who.alice, later.thread, later.message_sequence_num, notes="Other words")
        clock.shift(1)

        def heard(**headers: str) -> dict[str, list[str]]:
            pieces = iter(client.get(f"{line}?q=", headers=headers).streaming_content)
            found: dict[str, list[str]] = {"id": []}
            for piece, _ in zip(pieces, range(6), strict=False):
                fields = dict(each.split(": ", 1) for each in piece.decode().splitlines() if ": " in each)
                found.setdefault(fields.get("event", ""), []).append(fields.get("data", ""))
                found["id"] += filter(None, [fields.get("id")])
            return found

        first = heard()
        told = {meanwhile.feedback_id: {"changed": "Bea labelled it: +mail"}}
        told |= {later.feedback_id: {"changed": "The submitter changed it"}}
        assert json.loads(first["changed"][0]) == told and "own" not in first
        assert "changed" not in heard(**{"Last-Event-ID": first["id"][-1]})
        clock.shift(60)
        do(bea, before, "label", add=["mail"])
        clock.shift(1)
        [after] = heard(**{"Last-Event-ID": first["id"][-1]})["changed"]
        assert json.loads(after) == {before.feedback_id: {"changed": "Bea labelled it: +mail"}}
        # A line that the page opens anew, as after a refusal, begins behind what this one told.
        [page] = [each for each in heard()["list"] if 'id="live"' in each]
        line = parsed(page).id("live")["data-live"]
        assert "changed" not in heard()
        now = str(int(timezone.now().timestamp() * 1_000))
        monkeypatch.setattr(desk_live, "_SHOWN", 2)
        for each in (before, meanwhile, later):
            do(bea, each, "label", add=["many"])
        clock.shift(1)
        assert int(heard()["own"][0]) > int(now), "too many are not told one by one"
        monkeypatch.undo()
        monkeypatch.setattr(sse, "HEARTBEAT_SECONDS", 0)
        clock.shift(timedelta(minutes=10))
        late = heard()
        assert late["own"] == [str(int(timezone.now().timestamp() * 1_000))] and "changed" not in late


@pytest.mark.parametrize("how", ["no admin", "signed out"])
def test_an_open_desk_without_the_right_says_so_and_hears_no_more(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(sse, "HEARTBEAT_SECONDS", 0)
    client = browser_of("admin")
    pieces = live(client)
    assert any(b"event: bulks" in piece for piece in pieces)
    if how == "no admin":
        User.objects.filter(pk=who.admin.user.pk).update(is_staff=False)
    else:
        client.logout()
    told = [piece.decode() for piece in pieces if b"event" in piece]
    assert [each.split("\n")[0] for each in told] == ["event: list", "event: say", "event: gone"]
    why = "You are no longer an admin." if how == "no admin" else "You are signed out."
    assert why in parsed(told[0].partition("data: ")[2]).id("desk-said").words and why in told[1]


def test_z_while_an_action_on_many_is_undone_says_so(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, client = reports(who.alice, 3), browser_of("admin")
    page = get(client, DESK + ALL)
    ticked = [each.feedback_id for each in made]
    page = then(client, submit(client, page.id("bulk"), "own me", feedback_ids=ticked))
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    page = then(client, submit(client, page.id("undo")))
    [button] = page.id("desk-status").all("button", data_key="z")
    page = then(client, submit(client, button.within("form"), button["value"]))
    assert told(page) == ["It is being undone. Stop ends that."]


def test_a_refused_reply_is_in_sight_with_the_reason_beside_it(browser_of: Browser, who: People) -> None:
    """Folded away, it looked as if it had been sent, and a second press did nothing."""
    thread = make.conversation(who.alice, 2)
    client, report = browser_of("admin"), make.rating(who.alice, thread, notes="Wrong")
    page = opened(client, report)
    make.rating(who.alice, thread, notes="Wrong, and rude")
    page = dom(press(client, page, "reply answered", public_reply="Mended."), 412)
    field = page.id("public-reply")
    assert field.words == "Mended." and field.has("autofocus") and field.within("details").has("open")
    assert "Your text is kept." in field.within("details").one(role="alert").within("section").words
    page = then(client, press(client, page, "reply answered", public_reply="Mended."))
    assert told(page) == ["Replied to “Wrong, and rude”"]


def test_a_refused_duplicate_keeps_its_menu_open_with_the_words(browser_of: Browser, who: People) -> None:
    thread = make.conversation(who.alice, 2)
    client, report, other = browser_of("admin"), make.rating(who.alice, thread, notes="Wrong"), reports(who.bob, 1)[0]
    page = opened(client, report)
    make.rating(who.alice, thread, notes="Wrong, and rude")
    page = dom(press(client, page, "duplicate", duplicate_of=other.feedback_id), 412)
    field = page.id("duplicate-of")
    assert field["value"] == other.feedback_id and field.has("autofocus") and field.within("details").has("open")


def test_the_other_order_keeps_what_the_browser_shows(browser_of: Browser, who: People) -> None:
    """Reports open without reloading the bar: what its link named was the report of a page that was read before."""
    made, client = reports(who.alice, 2), browser_of("admin")
    [link] = get(client, f"{DESK}?q=is:open&item={made[0].feedback_id}").id("desk-bar").all("a", data_key="O")
    here = f"http://testserver{DESK}?{urlencode({'q': 'is:open', 'item': made[1].feedback_id})}"
    answer = client.get(DESK + link["href"], headers={"HX-Request": "true", "HX-Current-URL": here})
    assert query_of(answer["Location"]) == {"q": "is:open sort:oldest", "item": made[1].feedback_id}
    do(who.admin, made[1], "resolve")
    answer = client.get(DESK + link["href"], headers={"HX-Request": "true", "HX-Current-URL": here})
    assert query_of(answer["Location"])["item"] == made[1].feedback_id, "also what no longer matches"


def test_what_is_chosen_in_menus_has_letters_of_its_own(browser_of: Browser, who: People) -> None:
    client, report = browser_of("admin"), reports(who.alice, 1)[0]
    second_admin()
    long_named()
    page = opened(client, report)
    letters = [
        each["data-key"].split()[1]
        for each in page.id("triage").all("button")
        if ":" in each.attributes.get("data-key", "")
    ]
    assert letters[:2] == ["b", "m"]
    for menu in page.id("bulk").all("details"):
        keys = [
            key for each in menu.all("button") for key in each.attributes.get("data-key", "").split() if key != "none"
        ]
        assert len(keys) == len({*keys}), menu.words


def test_what_a_partial_undo_took_back_is_redone_first(browser_of: Browser, who: People) -> None:
    """Though one of its columns stayed, which counts as not undone."""
    (first, second), client, bea = reports(who.alice, 2), browser_of("admin"), second_admin()
    then(client, press(client, opened(client, second), "own me", admin_note="Mine"))
    page = undone(client, then(client, press(client, opened(client, first), "note", admin_note="Other")))
    do(bea, second, "own", owner="bea@heddle.test")
    page = redone(client, undone(client, page))
    assert (stored(second).admin_note, stored(first).admin_note) == ("Mine", None)


def test_no_redo_is_offered_of_what_others_redid_or_retracted(browser_of: Browser, who: People, api: Any) -> None:
    report, client, bea = reports(who.alice, 1)[0], browser_of("admin"), second_admin()
    page = undone(client, then(client, press(client, opened(client, report), "note", admin_note="Mine")))
    undo = page.id("redo").one("input", name="action_id")["value"]
    data_of(Api(bea.token).post("admin/feedback/undo", {"action_id": undo}))
    assert get(client, DESK + ALL).none("form", id="redo")
    page = undone(client, then(client, press(client, opened(client, report), "own me")))
    assert page.id("redo")
    capture.retract(who.alice.actor, report.thread, report.message_sequence_num)
    assert get(client, DESK + ALL).none("form", id="redo")


def test_undos_and_redos_make_the_page_ask_no_more(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    page, counts = then(client, press(client, opened(client, report), "note", admin_note="Mine")), set()
    for _ in range(4):
        page = redone(client, undone(client, page))
        with CaptureQueriesContext(connection) as asked:
            get(client, DESK + ALL)
        counts.add(len(asked))
    assert len(counts) == 1
