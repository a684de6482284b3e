"""What is done to many reports at once on the desk's page, and the views that keep a query."""

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from core import paging, sse
from core.templatetags import ui
from feedback import bulk, bulk_work, projecting, saved_views, triage
from feedback.checks import keeping
from feedback.deciding import verb_named
from feedback.models import Bulk, Check, Label, Labelled, Reply, Retraction, SavedView, Triage, UserFeedback
from feedback.presenting import bar
from feedback.wire_checks import CheckIn
from tests import make
from tests.conftest import Api
from tests.pages.desk import (
    ALL,
    DESK,
    Browser,
    client_of,
    do,
    live,
    opened,
    press,
    query_of,
    reports,
    stored,
    told,
    words,
)
from tests.pages.dom import Node, dom, get, parsed, submit, then
from tests.people import People, second_admin
from threads.models import Thread


def send(client: Client, page: Node, verb: str, ticked: list[UserFeedback], **typed: object) -> object:
    """The bulk's form with rows ticked."""
    return submit(client, page.id("bulk"), verb, feedback_ids=[each.feedback_id for each in ticked], **typed)


def test_ticked_reports_are_resolved_together_and_taken_back_together(browser_of: Browser, who: People) -> None:
    made, client = reports(who.alice, 4), browser_of("admin")
    page = get(client, DESK + "?q=is:open")
    boxes = page.all("input", name="feedback_ids")
    assert len(boxes) == 4 and {box["form"] for box in boxes} == {"bulk"}
    page = then(client, send(client, page, "resolve", made[:3]))
    assert words(page) == ["report 3"] and told(page) == ["Resolved 3 reports"]
    page = then(client, submit(client, page.id("desk-status").one("form")))
    assert told(page) == ["Undone: resolution of 3 reports."] and len(words(page)) == 4
    assert query_of(page.id("bulk").one("input", name="here")["value"]) == {"q": "is:open"}


@pytest.mark.parametrize(
    ("query", "opened_at", "ticked", "below"),
    [
        ("is:open", 3, (3, 2), 1),
        ("is:open", 3, (3, 4), 2),
        ("is:open", 0, (0, 1), 2),
        ("is:open sort:oldest", 1, (1, 2), 3),
        ("is:open", 2, (0, 1, 2, 3, 4), None),
    ],
)
def test_after_a_bulk_the_list_goes_on_where_one_was(
    browser_of: Browser, who: People, query: str, opened_at: int, ticked: tuple[int, ...], below: int | None
) -> None:
    """The report below the open one, at the end of the list the one above it."""
    made, client = reports(who.alice, 5), browser_of("admin")
    page = get(client, f"{DESK}?q={query}&item={made[opened_at].feedback_id}")
    answer = send(client, page, "resolve", [made[each] for each in ticked])
    state = query_of(answer["Location"])  # type: ignore[index]
    assert state == {"q": query, **({} if below is None else {"item": made[below].feedback_id})}
    page = then(client, submit(client, then(client, answer).id("desk-status").one("form")))
    assert len(words(page)) == 5
    assert [row.one("a").words for row in page.all("li", aria_current="true")] == [
        row.one("a").words for row in page.all("li", id=f"r-{state.get('item')}")
    ]


def test_every_button_of_the_bulk(browser_of: Browser, who: People) -> None:
    made, client = reports(who.alice, 2), browser_of("admin")
    page = get(client, DESK + ALL)
    send(client, page, "own me", made)
    assert set(UserFeedback.objects.values_list("triage__owner", flat=True)) == {who.admin.user.pk}
    send(client, page, "own", made)
    assert set(UserFeedback.objects.values_list("triage__owner", flat=True)) == {None}
    send(client, page, "label", made, label="money, late")
    assert set(UserFeedback.objects.values_list("admin_label", flat=True)) == {"money, late"}
    send(client, page, "unlabel", made, label="Money, never")
    assert set(UserFeedback.objects.values_list("admin_label", flat=True)) == {"late"}
    send(client, page, "snooze tomorrow", made)
    assert UserFeedback.objects.filter(triage__snoozed_until__isnull=False).count() == 2
    send(client, page, "wake", made)
    assert UserFeedback.objects.filter(triage__snoozed_until__isnull=False).count() == 0
    send(client, page, "snooze again", made)
    assert UserFeedback.objects.filter(triage__snoozed_until_again=True).count() == 2
    send(client, page, "wake", made)
    send(client, page, "resolve", made)
    send(client, page, "reopen", made)
    assert UserFeedback.objects.filter(resolved=False).count() == 2


@pytest.mark.parametrize("button", ["resolve", "own me", "reopen"])
def test_without_scripts_no_button_for_many_loses_a_reply(browser_of: Browser, who: People, button: str) -> None:
    made, client = reports(who.alice, 2), browser_of("admin")
    page = get(client, DESK + "?q=is:open")
    kept = dom(send(client, page, button, made, public_reply="Half a thought"), 400)
    assert at_fault(kept) == ["bulk-reply"]
    assert kept.id("bulk-reply").text == "Half a thought" and "empty the field, first" in kept.id("bulk").words
    assert not any(stored(each).resolved for each in made) and not Reply.objects.exists()
    then(client, send(client, kept, "reply answered", made, public_reply="A whole one"))
    assert Reply.objects.filter(public_reply="A whole one").count() == 2


def test_everybody_whose_report_is_a_duplicate_gets_one_reply(browser_of: Browser, who: People) -> None:
    made, client = reports(who.alice, 4), browser_of("admin")
    for each in made[1:3]:
        do(who.admin, each, "duplicate", duplicate_of=made[0].feedback_id)
    page = get(client, f"{DESK}?q=original:{made[0].feedback_id}")
    page = then(client, submit(client, page.id("bulk"), "reply answered", all="1", public_reply=" It is mended. "))
    assert told(page) == ["Replied to 2 reports"]
    replies = Reply.objects.order_by("pk").values_list("feedback", "public_status", "public_reply")
    assert list(replies) == [(each.pk, "answered", "It is mended.") for each in made[1:3]]
    refused = dom(submit(client, page.id("bulk"), "reply answered", all="1", public_reply=" "), 400)
    assert "is required" in refused.id("bulk").one(class_="wrong").words, "once, and not for each report"
    page = dom(submit(client, page.id("bulk"), "label typed", all="1", public_reply="Draft"), 400)
    assert page.id("bulk-reply").text == "Draft", "what was typed stays"
    page = then(client, submit(client, page.id("desk-status").one("form")))
    assert not Reply.objects.filter(public_status="answered").exists()


def test_all_that_match_is_a_second_click_and_goes_by_the_query(browser_of: Browser, who: People) -> None:
    made, client = reports(who.alice, 60, categories=["slow"]), browser_of("admin")
    do(who.admin, made[0], "own", owner="me")
    page = get(client, DESK + "?q=category:slow is:unclaimed")
    assert "all 59 that match" in page.id("bulk").words
    page = then(client, submit(client, page.id("bulk"), "resolve", all="1"))
    assert told(page) == ["Resolved 59 reports"] and not stored(made[0]).resolved


def test_all_of_very_many_are_counted_before_anything_is_done_to_them(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once they are chosen: a list only counts up to a limit."""
    for module in (paging, bar, ui):
        monkeypatch.setattr(module, "COUNT_LIMIT", 5)
    client = browser_of("admin")
    reports(who.alice, 4)
    assert not any(each.has("hx-get") for each in get(client, DESK + "?q=-is:resolved").id("bulk").all("span"))
    reports(who.bob, 3)
    page = get(client, DESK + "?q=-is:resolved")
    counted = next(each for each in page.id("bulk").all("span") if each.has("hx-get"))
    assert counted.words == "5 and more"
    assert client.get(counted["hx-get"]).content == b"7"
    assert client.get(DESK + "count/?q=is:nonsense").content == b""


def test_a_bulk_of_nothing_is_refused_where_it_stands(browser_of: Browser, who: People) -> None:
    reports(who.alice, 1)
    client = browser_of("admin")
    page = get(client, DESK + "?q=is:open")
    page = dom(submit(client, page.id("bulk"), "resolve"), 400)
    assert page.id("bulk").one(class_="wrong").words == "Tick a report first." and page.id("bulk").has("data-on")
    assert words(page) == ["report 0"] and not Bulk.objects.exists()


def at_fault(page: Node) -> list[str]:
    """The fields that the reason is said of."""
    fields = [each for each in page.id("bulk").all() if each.has("aria-invalid")]
    return [each["id"] for each in fields if each["aria-describedby"] == "bulk-wrong" and each.has("autofocus")]


@pytest.mark.parametrize("label", ["", "x" * 61, "a\x00"])
def test_a_refused_bulk_keeps_the_ticks_and_what_was_typed(browser_of: Browser, who: People, label: str) -> None:
    made, client = reports(who.alice, 3), browser_of("admin")
    page = get(client, DESK + "?q=is:open")
    page = dom(send(client, page, "label", made[:2], label=label), 400)
    assert [box.has("checked") for box in page.all("input", name="feedback_ids")] == [False, True, True]
    assert page.id("bulk").one(class_="wrong")["id"] == "bulk-wrong" and page.id("bulk-label")["value"] == label
    assert at_fault(page) == ["bulk-label"]
    assert not UserFeedback.objects.filter(admin_label__isnull=False).exists()


@time_machine.travel("2026-05-01T22:30:00Z", tick=False)
@pytest.mark.parametrize("button", ["snooze day", "label typed"])
@pytest.mark.parametrize("all_that_match", [False, True])
def test_many_are_snoozed_until_a_day_begins_where_the_admin_is(
    browser_of: Browser, who: People, button: str, all_that_match: bool
) -> None:
    """By its button, or by Enter in its field; with no report open."""
    made, client = reports(who.alice, 3), browser_of("admin")
    client.cookies["tz"] = "Europe/Berlin"
    page = get(client, DESK + "?q=is:unclaimed")
    field = page.id("bulk-until")
    assert (field["min"], field["max"]) == ("2026-05-03", "2027-05-02"), "in Berlin it is the second of May already"
    assert page.id("bulk").has("novalidate"), "a browser that objects to a day in a shut menu says so nowhere"
    typed = {"until": "2026-11-01", **({"all": "1"} if all_that_match else {})}
    page = then(client, send(client, page, button, made[:2], **typed))
    left = [] if all_that_match else ["report 2"]
    assert told(page) == [f"Snoozed {3 - len(left)} reports until 1 Nov 00:00 CET"] and words(page) == left
    assert set(Triage.objects.values_list("snoozed_until", flat=True)) == {datetime(2026, 10, 31, 23, tzinfo=UTC)}
    page = then(client, submit(client, page.id("desk-status").one("form")))
    assert len(words(page)) == 3


@time_machine.travel("2026-05-01T22:30:00Z", tick=False)
@pytest.mark.parametrize(
    ("button", "day", "reason"),
    [
        ("snooze day", "", "Choose a date first."),
        ("snooze day", "soon", "The date must be a date like 2026-05-01."),
        ("snooze day", "2026-05-02", "The date must be in the future and within a year."),
        ("label typed", "2027-05-30", "The date must be in the future and within a year."),
        ("snooze day", "9999-12-31", "The date must be in the future and within a year."),
    ],
)
def test_a_day_that_many_cannot_be_snoozed_until_is_refused_for_all_of_them(
    browser_of: Browser, who: People, button: str, day: str, reason: str
) -> None:
    made, client = reports(who.alice, 3), browser_of("admin")
    client.cookies["tz"] = "Europe/Berlin"
    page = dom(send(client, get(client, DESK + "?q=is:open"), button, made[:2], until=day), 400)
    assert page.id("bulk").one(class_="wrong").words == reason and page.id("bulk-until")["value"] == day
    assert at_fault(page) == ["bulk-until"]
    assert [box.has("checked") for box in page.all("input", name="feedback_ids")] == [False, True, True]
    assert not Bulk.objects.exists() and not Triage.objects.exists()


def test_an_id_that_cannot_be_stored_is_refused_wherever_it_stands(browser_of: Browser, who: People) -> None:
    made, client = reports(who.alice, 1), browser_of("admin")
    ticked = ["fb_\x00", made[0].feedback_id]
    page = dom(client.post(f"{DESK}bulk/", {"verb": "resolve", "feedback_ids": ticked}), 400)
    assert "contains a NUL character" in page.id("bulk").words and not stored(made[0]).resolved


def test_enter_in_the_labels_field_labels_and_resolves_nothing(browser_of: Browser, who: People) -> None:
    made, client = reports(who.alice, 1), browser_of("admin")
    form = get(client, DESK + ALL).id("bulk")
    first = next(button for button in form.all("button") if button.get("type") != "reset")
    assert first["value"] == "label typed" and first.has("hidden")
    then(client, send(client, get(client, DESK + ALL), "label typed", made, label="late"))
    assert (stored(made[0]).admin_label, stored(made[0]).resolved) == ("late", False)


def test_a_view_whose_label_is_gone_names_it_and_does_nothing(browser_of: Browser, who: People) -> None:
    made, client = reports(who.alice, 1)[0], browser_of("admin")
    do(who.admin, made, "label", add=["late"])
    saved_views.save(who.admin.actor, "Late ones", "label:late")
    page = get(client, DESK + "?q=label:late")
    Labelled.objects.all().delete()
    Label.objects.all().delete()
    page = then(client, submit(client, page.id("bulk"), "resolve", all="1"))
    assert "No reports match; nothing was changed." in told(page)
    assert "There is no label late." in page.id("desk-rows").words and not stored(made).resolved


def test_a_bulk_names_what_stayed_as_it_was(browser_of: Browser, who: People) -> None:
    """Resolved by somebody else meanwhile, and taken back by its submitter."""
    made, client, bea = reports(who.alice, 4), browser_of("admin"), second_admin()
    page = get(client, DESK + "?q=is:open")
    do(bea, made[1], "resolve")
    Retraction.objects.create(key=made[2].key)
    made[2].delete()
    gone, taken = page.all("li", class_="rep")[1], made[1]
    ticked = [box["value"] for box in page.all("input", name="feedback_ids")]
    page = then(client, submit(client, page.id("bulk"), "resolve", feedback_ids=ticked))
    assert told(page) == ["1 of 4 not changed, 1 resolved already", "Resolved 2 reports"]
    failed = page.id("desk-status").one("details")
    assert failed.one("summary").words == "1 of 4 not changed, 1 resolved already"
    assert [link.words for link in failed.all("a")] == [
        f"{gone['id'][2:]} {projecting.GONE}",
        f"“{taken.notes}” Bea already resolved this report.",
    ]
    page = then(client, submit(client, opened(client, made[0]).id("triage"), "note", admin_note="x"))
    failed = page.id("desk-status").one("details")
    assert failed.one("summary").words == "1 of 4 not changed, 1 resolved already" and failed.none(data_said=True)
    page = then(client, submit(client, page.id("desk-status").one("form")))
    assert page.id("desk-status").one("details").none(data_said=True), "also after an undo of something else"
    ticked = [each.feedback_id for each in (made[0], made[3])]
    page = then(client, submit(client, get(client, DESK + "?q=").id("bulk"), "reopen", feedback_ids=ticked))
    assert page.id("desk-status").none("details"), "the next of many takes its place"


def test_what_was_resolved_before_a_bulk_is_no_failure_of_it(browser_of: Browser, who: People) -> None:
    made, client = reports(who.alice, 3), browser_of("admin")
    do(who.admin, made[0], "resolve")
    page = then(client, submit(client, get(client, DESK + "?q=").id("bulk"), "resolve", all="1"))
    assert told(page) == ["1 resolved already", "Resolved 2 reports"]
    summary = page.id("desk-status").one("details").one("summary")
    assert summary.words == "1 resolved already" and not summary.all(data_tone="warn")


def test_what_a_bulk_left_is_called_by_its_thread_if_it_has_no_notes(browser_of: Browser, who: People) -> None:
    client, bea = browser_of("admin"), second_admin()
    made = [make.rating(who.alice, make.thread(who.alice), notes=None) for _ in range(2)]
    page = get(client, DESK + "?q=is:open")
    do(bea, UserFeedback.objects.get(key=made[0].feedback_id.removeprefix("fb_")), "resolve")
    ticked = [box["value"] for box in page.all("input", name="feedback_ids")]
    page = then(client, submit(client, page.id("bulk"), "resolve", feedback_ids=ticked))
    [link] = page.id("desk-status").one("details").all("a")
    assert link.words == "a report on “Hello” Bea already resolved this report."


def test_of_many_failures_a_bulk_shows_some_and_counts_the_rest(browser_of: Browser, who: People) -> None:
    client = browser_of("admin")
    made = reports(who.alice, 23)
    for each in made:
        do(who.admin, each, "resolve")
    page = then(client, submit(client, get(client, DESK + "?q=").id("bulk"), "own me", all="1"))
    then(client, submit(client, page.id("bulk"), "reopen", all="1"))
    page = then(client, submit(client, get(client, DESK + "?q=").id("bulk"), "reopen", all="1"))
    failed = page.id("desk-status").one("details")
    assert len(failed.all("a")) == 20 and failed.all("li")[-1].words == "and 3 more"


def test_a_bulk_says_how_many_were_so_already(browser_of: Browser, who: People) -> None:
    """And if all were, that nothing was changed: what was done before is not told as new, and z does not undo it."""
    made, client = reports(who.alice, 4), browser_of("admin")
    do(who.admin, made[0], "label", add=["money"])
    for verb, typed, line, again in (
        ("label", {"label": "money"}, "Labelled 3 reports money (1 had it already)", "4 had it already"),
        ("label", {"label": "fast, money"}, "New label fast on 4 reports", "4 had them already"),
        ("unlabel", {"label": "fast"}, "Removed fast from 4 reports", "4 did not have it"),
        ("own me", {}, "Claimed 4 reports", "4 were so already"),
    ):
        page = then(client, send(client, get(client, DESK + ALL), verb, made, **typed))
        assert told(page) == [line]
        page = then(client, send(client, get(client, DESK + ALL), verb, made, **typed))
        assert told(page) == [f"Nothing was changed: {again}."]
        assert page.id("desk-status").one("button", data_key="Z").words.endswith("⇧Z")
    do(who.admin, made[3], "own", owner=None)
    page = then(client, send(client, get(client, DESK + ALL), "own me", made))
    assert told(page) == ["Claimed “report 3” (3 were so already)"]


def test_a_fix_whose_check_fails_is_told_where_it_is_resolved(browser_of: Browser, who: People) -> None:
    """And its row says so, as the row of one whose check passes or is running; what else it can be is no mark."""
    made, client = reports(who.alice, 5), browser_of("admin")
    for report, state in zip(made, ("failing", "failing", "passing", "running", "failing"), strict=True):
        keeping.keep(who.admin.actor, report.feedback_id, CheckIn(expectations=[]))
        Check.objects.filter(feedback=report).update(state=state)
    keeping.drop(who.admin.actor, Check.objects.get(feedback=made[4]).check_id)
    marks = [row.one(class_="rep-end").all(class_="mark") for row in get(client, DESK).all("li", class_="rep")]
    assert [[mark.words for mark in each] for each in marks] == [
        [], ["running check"], ["passing check"], ["failing check"], ["failing check"],
    ]  # fmt: skip
    page = then(client, press(client, opened(client, made[0]), "resolve", outcome="fixed", admin_note="Done"))
    assert told(page) == ["Resolved “report 0” as fixed and saved the note, but its check fails"]
    link = page.id("desk-status").one(data_said=True).one("a")
    assert get(client, DESK + link["href"].partition("#")[0]).id("check").one("details").words.startswith("Check")
    for report, outcome in ((made[2], "fixed"), (made[4], "fixed")):
        page = then(client, press(client, opened(client, report), "resolve", outcome=outcome))
        assert told(page) == [f"Resolved “{report.notes}” as fixed"]
    page = then(client, press(client, opened(client, made[1]), "resolve", outcome="answered"))
    assert told(page) == ["Resolved “report 1” as answered"], "it was not called fixed"
    for report in made[:3]:
        do(who.admin, report, "reopen")
    page = then(client, send(client, get(client, DESK + ALL), "resolve fixed", made[:4]))
    assert told(page) == ["Resolved 4 reports as fixed, but the checks of 2 fail"]
    link = page.id("desk-status").one(data_said=True).one("a")
    assert words(get(client, DESK + link["href"])) == ["report 1", "report 0"]


def test_what_is_done_to_a_report_without_notes_is_told_with_its_thread(browser_of: Browser, who: People) -> None:
    [report], client = reports(who.alice, 1, notes=None), browser_of("admin")
    Thread.objects.update(title="Refund for a ride")
    page = then(client, press(client, opened(client, report), "resolve"))
    assert told(page) == ["Resolved a report on “Refund for a ride”"]
    page = then(client, submit(client, page.id("desk-status").one("form")))
    assert told(page) == ["Undone: resolution of a report on “Refund for a ride”."]


def test_while_a_bulk_runs_the_key_for_undo_stops_it_and_undoes_nothing_before(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    monkeypatch.setattr(bulk_work, "CHUNK", 2)
    made, client = reports(who.alice, 5), browser_of("admin")
    then(client, press(client, opened(client, made[0]), "note", admin_note="before"))
    page = then(client, send(client, get(client, DESK + ALL), "resolve", made))
    assert [line.split()[0] for line in told(page)] == ["Resolve"], "what was done before is not told as new"
    make.half_done_bulk()
    key = key_of_undo(get(client, DESK + ALL))
    assert key.words == "Stop z"
    then(client, submit(client, key.within("form")))
    assert stored(made[0]).admin_note == "before"
    page = get(client, DESK + ALL)
    assert key_of_undo(page).words == "Undo z" and "Resolved 2 reports" in page.id("desk-status").words


def key_of_undo(page: Node) -> Node:
    [key] = [button for button in page.all("button") if button.get("data-key") == "z"]
    return key


def test_what_a_bulk_was_about_stays_ticked_as_far_as_it_is_still_listed(browser_of: Browser, who: People) -> None:
    """Once: whoever looks anew begins anew."""
    made, client = reports(who.alice, 4), browser_of("admin")
    do(who.admin, made[1], "label", add=[f"{number:058}" for number in range(3)])
    page = then(
        client, send(client, get(client, DESK + "?q=is:open"), "label", made[:3], label="one that is too many for it")
    )
    [why] = page.id("desk-status").one("details").all("a")
    assert why.words.endswith("All labels of a report together may have at most 200 characters.")
    boxes = {box["value"] for box in page.all("input", name="feedback_ids") if box.has("checked")}
    assert boxes == {*page.id("bulk")["data-left"].split()} == {each.feedback_id for each in made[:3]}
    page = then(client, send(client, page, "own me", made[2:]))
    assert {*page.id("bulk")["data-left"].split()} == {each.feedback_id for each in made[2:]}
    page = get(client, DESK + "?q=is:open")
    assert not page.id("bulk")["data-left"] and not any(box.has("checked") for box in page.all("input"))
    do(second_admin(), made[1], "resolve")
    page = then(client, send(client, get(client, DESK + "?q=is:open"), "resolve", made[:2]))
    assert page.id("desk-status").one("details") and not page.id("bulk")["data-left"], "it is none of the open any more"


def test_a_large_bulk_runs_behind_shows_how_far_it_is_and_can_be_stopped(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    made, client = reports(who.alice, 5), browser_of("admin")
    page = then(client, send(client, get(client, DESK + "?q=is:open"), "resolve", made))
    form = page.id("bulks").one("form")
    assert form.words.startswith("Resolve 0 0 of 5") and form.one("progress")["max"] == "5"
    assert get(client_of(second_admin()), DESK).id("bulks").none("form"), "it is nobody else's"
    monkeypatch.setattr(bulk_work, "CHUNK", 2)
    make.half_done_bulk()
    page = get(client, DESK + "?q=is:open")
    assert "2 of 5" in page.id("bulks").words and len(words(page)) == 3
    page = then(client, client.post(page.id("bulks").one("form")["action"], {"here": DESK + "?q=is:open"}))
    assert "Stopped after 2 of 5. Changes made so far stay and can be undone." in told(page)
    assert page.id("bulks").none("form") and len(words(page)) == 3
    page = then(client, submit(client, page.id("desk-status").one("form")))
    assert len(words(page)) == 5
    over = client.post(f"{DESK}bulk/{Bulk.objects.first().bulk_id}/stop/", {"here": DESK})
    assert "This bulk has already ended." in told(then(client, over))


def test_what_is_done_while_a_bulk_runs_is_told_and_undone_before_it(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the order in which it was asked for, though the bulk stores its last changes later."""
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    monkeypatch.setattr(bulk_work, "CHUNK", 2)
    made, client = reports(who.alice, 5), browser_of("admin")
    then(client, press(client, opened(client, made[0]), "own me"))
    page = then(client, send(client, get(client, DESK + ALL), "label", made, label="mail"))
    assert page.id("desk-status").none("form", id="undo"), "its claim was before the bulk"
    make.half_done_bulk()
    page = then(client, press(client, opened(client, made[4]), "own me"))
    assert told(page) == ["Claimed “report 4”"]
    assert page.id("bulks").one("form") and page.id("undo").one("button", **{"data-key": "z"})
    page = then(client, send(client, get(client, DESK + ALL), "resolve", made[3:]))
    assert told(page) == ["Resolved 2 reports"]
    page = then(client, submit(client, page.id("undo")))
    assert told(page)[0] == "Undone: resolution of 2 reports."
    assert page.id("undo").words.startswith("Before that: Claimed “report 4”")
    Bulk.objects.filter(state=Bulk.State.RUNNING).update(lease_until=timezone.now())
    bulk_work.advance(Bulk.objects.get(verb="label").pk)
    page = get(client, DESK + ALL)
    assert told(page) == ["New label mail on 5 reports."] and page.id("bulks").none("form")
    assert page.id("undo").words.startswith("Before that: Claimed “report 4”")
    page = then(client, submit(client, page.id("undo")))
    assert page.id("undo").words.startswith("Before that: New label mail on 5 reports")
    page = then(client, submit(client, page.id("undo")))
    bulk_work.advance(Bulk.objects.latest("pk").pk)
    assert not Labelled.objects.exists()
    page = get(client, DESK + ALL)
    assert page.id("undo").words.startswith("Before that: Claimed “report 0”")


def test_an_undo_that_a_worker_ends_says_so_and_what_was_before_is_no_news(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, client = reports(who.alice, 5), browser_of("admin")
    then(client, press(client, opened(client, made[0]), "snooze tomorrow"))
    page = then(client, send(client, get(client, DESK + ALL), "label", made, label="mail"))
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    page = then(client, submit(client, page.id("desk-status").one("form")))
    assert told(page) == ["Undoing: new label mail on 5 reports."]
    assert "0 of 5" in page.id("bulks").words
    bulk_work.advance(Bulk.objects.latest("pk").pk)
    for _ in range(2):
        page = get(client, DESK + ALL)
        assert told(page) == ["Undone: label mail on 5 reports."]
        form = page.id("undo")
        assert form.words.startswith("Before that: Snoozed “report 0”") and form.none(class_="mark")
    page = then(client, press(client, opened(client, made[1]), "own me"))
    assert told(page) == ["Claimed “report 1”"]


def test_an_undo_that_was_stopped_is_offered_again(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, client = reports(who.alice, 5), browser_of("admin")
    page = then(client, send(client, get(client, DESK + ALL), "label", made, label="mail"))
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    monkeypatch.setattr(bulk_work, "CHUNK", 2)
    then(client, submit(client, page.id("desk-status").one("form")))
    make.half_done_bulk()
    page = get(client, DESK + ALL)
    page = then(client, client.post(page.id("bulks").one("form")["action"], {"here": DESK + ALL}))
    assert told(page) == ["Stopped after 2 of 5. Undo again to continue."]
    assert page.id("undo").words.startswith("Before that: New label mail on 5 reports")
    then(client, submit(client, page.id("undo")))
    bulk_work.advance(Bulk.objects.latest("pk").pk)
    assert not Labelled.objects.exists()
    assert told(get(client, DESK + ALL)) == ["Undone: label mail on 5 reports."]


def test_a_redo_of_many_is_done_by_a_worker_and_is_an_action_again(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, client = reports(who.alice, 5), browser_of("admin")
    page = then(client, send(client, get(client, DESK + ALL), "label", made, label="mail"))
    page = then(client, submit(client, page.id("undo")))
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    monkeypatch.setattr(bulk_work, "CHUNK", 2)
    page = then(client, submit(client, page.id("redo")))
    assert told(page) == ["Redoing: label mail on 5 reports."] and "0 of 5" in page.id("bulks").words
    make.half_done_bulk()
    page = then(client, client.post(page.id("bulks").one("form")["action"], {"here": DESK + ALL}))
    assert told(page) == ["Stopped after 2 of 5. Redo again to continue.", "New label mail on 2 reports"]
    assert Labelled.objects.count() == 2
    then(client, submit(client, page.id("redo")))
    bulk_work.advance(Bulk.objects.latest("pk").pk)
    assert Labelled.objects.count() == 5
    page = get(client, DESK + ALL)
    assert page.none("form", id="redo") and page.id("undo").words.startswith("Labelled 3 reports mail")
    page = then(client, submit(client, page.id("undo")))
    bulk_work.advance(Bulk.objects.latest("pk").pk)
    page = then(client, submit(client, get(client, DESK + ALL).id("undo")))
    assert not Labelled.objects.exists()


def test_who_has_one_of_many_open_is_told_what_was_done_to_it(
    browser_of: Browser, api: Callable[..., Api], who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And how many are left, wherever that stands."""

    def heard(event: str) -> str:
        piece = next(piece.decode() for piece in news if f"event: {event}".encode() in piece)
        return "\n".join(line.removeprefix("data: ") for line in piece.splitlines() if line.startswith("data: "))

    monkeypatch.setattr(sse, "HEARTBEAT_SECONDS", 0)
    made, client = reports(who.alice, 60), browser_of("admin")
    news = live(client)
    assert b"leases" in next(piece for piece in news if b"event" in piece)
    send(client_of(second_admin()), get(client, DESK + ALL), "resolve", made)
    assert json.loads(heard("changed")) == {
        each.feedback_id: {"changed": "Bea resolved it, noted", "resolved": "", "unmatched": ""} for each in made
    }
    counts = parsed(heard("list"))
    assert (counts.id("desk-count").words, counts.id("desk-total").words) == ("0 open", "Newest first: 0 reports")
    assert counts.id("matching").words == "0", "of those that are done with at once"
    edited, gone = made[:2]
    for method, report, body in (
        ("POST", edited, {"sentiment": "negative", "notes": "Other words"}),
        ("DELETE", gone, None),
    ):
        path = f"threads/{report.thread.thread_id}/messages/{report.message_sequence_num}/feedback"
        assert api("alice").request(method, path, body).status_code == 200
    told_of = json.loads(heard("changed"))
    assert told_of[edited.feedback_id] == {"changed": "The submitter changed it", "resolved": "", "unmatched": ""}
    assert told_of[gone.feedback_id] == {"changed": "The submitter retracted it", "unmatched": ""}


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
@pytest.mark.django_db(transaction=True)
def test_a_change_that_is_committed_behind_a_later_one_is_told(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its id is the lower one: it was given before."""
    monkeypatch.setattr(sse, "HEARTBEAT_SECONDS", 0)
    (early, late), bea = reports(who.alice, 2), second_admin().actor
    own = (verb_named("own"), verb_named("own").takes(owner="me"))
    is_stored, may_commit = threading.Event(), threading.Event()

    def slowly() -> None:
        with transaction.atomic():
            triage.act(bea, early.feedback_id, own)
            is_stored.set()
            may_commit.wait(10)
        connection.close()

    news = live(browser_of("admin"))
    assert b"leases" in next(piece for piece in news if b"event" in piece)
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(slowly)
        assert is_stored.wait(10)
        triage.act(bea, late.feedback_id, own)
        assert late.feedback_id.encode() in next(piece for piece in news if b"event: changed" in piece)
        may_commit.set()
        writing.result(10)
    told_of = next(piece for piece in news if b"event: changed" in piece)
    assert early.feedback_id.encode() in told_of and late.feedback_id.encode() not in told_of


def test_a_query_is_kept_shared_changed_and_dropped(browser_of: Browser, who: People) -> None:
    reports(who.alice, 1)
    client, bea = browser_of("admin"), second_admin()
    form = get(client, DESK + "?q=-owner:me is:open").id("desk-bar").one("form", method="post")
    page = then(client, submit(client, form, name=" Not  mine ", is_shared="1"))
    view = SavedView.objects.get()
    assert (view.name, view.query, view.is_shared) == ("Not mine", "-owner:me is:open", True)
    assert told(page) == ["Saved as Not mine."]
    link = page.id("desk-views").one("div").one(aria_current=True)
    assert link.words == "Not mine 1"
    other = get(client_of(bea), DESK + "?q=is:open")
    shared = next(each for each in other.id("desk-views").all("a") if each.words == "Not mine shared n")
    theirs = get(client_of(bea), DESK + shared["href"])
    assert words(theirs) == ["report 0"]
    assert theirs.id("desk-bar").none("button", value="drop"), "who made it deletes it"
    refused = client_of(bea).post(f"{DESK}views/", {"verb": "drop", "view_id": f"fv_{view.key}", "here": DESK})
    assert refused.status_code in (403, 404)
    mine = get(client, DESK + link["href"])
    again = submit(
        client, mine.id("desk-bar").all("form", method="post")[0], name="Not mine", q="is:due", replace="Not mine"
    )
    assert words(then(client, again)) == [] and SavedView.objects.get().query == "is:due"
    form = get(client, again["Location"]).id("desk-bar").all("form", method="post")[0]
    page = then(client, submit(client, form, "change", name="Mine to wake"))
    assert told(page) == ["Saved as Mine to wake."] and SavedView.objects.get().query == "is:due"
    then(client, submit(client, page.id("desk-bar").all("form", method="post")[0], "change", name="Not mine"))
    assert SavedView.objects.get().name == "Not mine"
    gone = submit(client, get(client, again["Location"]).id("desk-bar").all("form", method="post")[1], "drop")
    page = then(client, gone)
    assert told(page) == ["Deleted Not mine. To restore it, save it again."] and not SavedView.objects.exists()
    then(client, submit(client, page.id("desk-bar").one("form", method="post"), name="Not mine"))
    assert SavedView.objects.get().query == "is:due"


@pytest.mark.parametrize(
    ("name", "query"),
    [("", "is:open"), ("x" * 61, "is:open"), ("x", "colour:red"), ("a\x00", ""), ("unclaimed", "is:open")],
)
def test_a_view_that_cannot_be_kept_says_why_and_keeps_its_name(
    browser_of: Browser, who: People, name: str, query: str
) -> None:
    client = browser_of("admin")
    sent = {"name": name, "q": query, "here": f"{DESK}?q=is:open"}
    page = dom(client.post(f"{DESK}views/", sent), 400)
    assert page.id("view-name")["value"] == name and page.id("view-name").has("aria-invalid")
    assert not page.id("view-name").has("maxlength"), "a browser cuts what is pasted, and says nothing"
    if len(name) == 61:
        assert page.id("view-wrong").words == "Name must have 1 to 60 characters, not 61."
    assert page.id("view-wrong").words and page.id("desk-bar").one("details").has("open")
    assert not SavedView.objects.exists()


def test_many_are_resolved_with_an_outcome_and_everything_is_a_query_too(browser_of: Browser, who: People) -> None:
    """All that match is offered without any term as well, and means every report."""
    made, client = reports(who.alice, 3), browser_of("admin")
    page = get(client, DESK + ALL)
    bulk = page.id("bulk")
    assert bulk.one("input", name="all").within("label").words == "all 3 reports"
    then(client, submit(client, bulk, "resolve", all="1", outcome="fixed"))
    assert [Triage.objects.get(pk=each.pk).outcome for each in made] == ["fixed"] * 3


def test_many_are_given_to_another_admin_and_resolved_by_the_menu(browser_of: Browser, who: People) -> None:
    made, client, bea = reports(who.alice, 2), browser_of("admin"), second_admin()
    bulk = get(client, DESK + ALL).id("bulk")
    for value in (f"own {bea.user.email}", "resolve fixed"):
        assert bulk.one("button", value=value)
        then(client, submit(client, bulk, value, all="1"))
    rows = [Triage.objects.get(pk=each.pk) for each in made]
    assert [(row.owner, row.outcome) for row in rows] == [(bea.user, "fixed")] * 2


def test_only_what_is_alike_is_resolved_together_and_any_can_be_named_as_the_same(
    browser_of: Browser, who: People
) -> None:
    """A thread, one word, or the other verdict make no two complaints the same."""
    said = ["No refund for my canoe", "The canoe refund is missing", "What a canoe", "My canoe got its refund"]
    made = reports(who.alice, len(said))
    for place, notes in enumerate(said):
        sentiment = "positive" if place == 3 else "negative"
        make.rating(who.alice, made[0].thread, 2 * place + 1, sentiment, notes=notes, categories=["slow"][place // 3 :])
    for place in range(30):  # so that these are rare words
        make.rating(who.bob, make.thread(who.bob), notes=f"Number {place}", sentiment="positive")
    client = browser_of("admin")
    page = opened(client, made[0])
    near = page.id("desk-report").one("ul", class_="near")
    shown = {row.one("a").words: "together" in row.words for row in near.all("li")}
    assert shown == {said[1]: True, said[2]: False, said[3]: False}
    assert [each.words for each in page.id("originals").all(class_="saying")] == list(shown)
    assert page.id("triage").one("a", href="#similar").words == "Similar 3"
    assert "Resolve 2 together" in page.id("similar").words
    form = page.id("together")
    then(client, submit(client, form, verb="resolve", outcome="answered"))
    assert [stored(each).resolved for each in made] == [True, True, False, False]
    assert Triage.objects.get(pk=made[1].pk).outcome == "answered"
    page = opened(client, made[2])
    row = next(row for row in page.one("ul", class_="near").all("li") if row.one("a").words == said[0])
    button = row.one("button")
    assert (button["form"], button.words) == ("triage", "Use as original")
    assert submit(client, page.id("triage"), verb=button["value"]).status_code == 302
    assert Triage.objects.get(pk=made[2].pk).duplicate_of == made[0]


def test_an_open_list_is_told_what_became_of_it(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts when anything changed, also in another tab; that reports came, where its query finds them."""
    monkeypatch.setattr(sse, "HEARTBEAT_SECONDS", 0)
    made, client = reports(who.alice, 3), browser_of("admin")

    def line(query: str) -> Iterator[bytes]:
        pieces = live(client, query)
        assert b"event: leases" in next(piece for piece in pieces if b"event: leases" in piece)
        return pieces

    def heard(pieces: Iterator[bytes]) -> list[str]:
        return [piece.decode() for piece, _ in zip(pieces, range(8), strict=False) if b"event: list" in piece]

    unclaimed, resolved = line("q=is:unclaimed"), line("q=is:resolved")
    assert heard(unclaimed) == heard(resolved) == []
    do(who.admin, made[0], "resolve")
    [told_of] = heard(unclaimed)
    assert 'Unclaimed</span> <span class="count">2<' in told_of
    do(second_admin(), made[1], "resolve")
    [told_of] = heard(unclaimed)
    assert (
        'id="desk-views"' in told_of and 'Unclaimed</span> <span class="count">1<' in told_of and "news" not in told_of
    )
    make.rating(who.bob, make.thread(who.bob), notes="later")
    [told_of] = heard(unclaimed)
    assert 'id="news">' in told_of and "?q=is%3Aunclaimed" in told_of
    assert all("news" not in each for each in heard(resolved))


def test_an_undo_that_comes_before_the_bulk_has_changed_anything_stops_it_and_says_so(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    made, client = reports(who.alice, 3), browser_of("admin")
    then(client, send(client, get(client, DESK + ALL), "resolve", made))
    sent = {"here": DESK, "action_id": f"act_{Bulk.objects.get().key}"}
    assert told(then(client, client.post(f"{DESK}undo/", sent)))[0] == "Stopped before it had changed anything."
    assert [each.state for each in Bulk.objects.order_by("pk")] == ["cancelled", "done"]


def test_what_is_not_understood_is_offered_neither_as_a_view_nor_as_a_file(browser_of: Browser) -> None:
    client = browser_of("admin")
    for line, menus in (("is:open", 1), ("is:bogus", 0)):
        page = get(client, f"{DESK}?q={line}")
        assert len(page.id("desk-bar").all("summary", **{"data-key": "V"})) == menus, line


def test_a_view_is_replaced_only_by_who_saw_what_is_there(browser_of: Browser, who: People) -> None:
    """By a button that works without scripts, and of another name typed since asks again."""
    client = browser_of("admin")

    def form(page: Node) -> Node:
        return page.id("desk-bar").all("form", method="post")[0]

    echo, look = (f"{DESK}?q=is:open tool:{tool}" for tool in ("echo", "look"))
    for name in ("Mine", "Other"):
        assert told(then(client, submit(client, form(get(client, echo)), name=name))) == [f"Saved as {name}."]
    page = dom(submit(client, form(get(client, look)), name="Mine", is_shared="1"), 409)
    assert page.id("view-wrong").words == "“Mine” is there already, with the query is:open tool:echo."
    assert form(page).one("button", name="replace").words == "Replace it" and page.id("view-name")["value"] == "Mine"
    assert form(page).all("button")[0].words == "Save view", "Enter in the field asks again"
    assert {each.query for each in SavedView.objects.all()} == {"is:open tool:echo"}
    page = dom(submit(client, form(page), "Mine", name="Other"), 409)
    assert "“Other” is there already" in page.id("view-wrong").words
    page = then(client, submit(client, form(page), "Other"))
    assert told(page) == ["Saved as Other. Previous query: is:open tool:echo"]
    assert SavedView.objects.get(name="Other").is_shared and SavedView.objects.get(name="Mine").query.endswith("echo")
    page = then(client, submit(client, form(get(client, look)), name="Other"))
    assert told(page) == ["Saved as Other."], "the same query replaces nothing"
    assert SavedView.objects.get(name="Other").is_shared, "nobody asked to share it no longer"
    page = dom(submit(client, form(get(client, echo)), name="Other"), 409)
    assert form(page).one("input", name="is_shared").has("checked"), "what is replaced is shared"
    then(client, submit(client, form(page), "Other"))
    assert SavedView.objects.get(name="Other").is_shared
    page = dom(submit(client, form(get(client, look)), name="Other"), 409)
    fields = {**form(page).fields(), "replace": "Other"}
    fields.pop("is_shared")
    then(client, client.post(form(page)["action"], fields))
    assert not SavedView.objects.get(name="Other").is_shared
    form = get(client, f"{DESK}?q=is:open").id("desk-bar").all("form", method="post")[0]
    page = then(client, submit(client, form, name="a\u202eb"))
    assert told(page) == ["Saved as \u2068ab\u2069."]


def test_what_one_did_is_undone_from_the_history_whatever_came_after_it(browser_of: Browser, who: People) -> None:
    made, client, bea = reports(who.alice, 2), browser_of("admin"), second_admin()
    do(bea, made[0], "label", add=["money"])
    then(client, press(client, opened(client, made[0]), "note", admin_note="Wrong report"))
    then(client, press(client, opened(client, made[0]), "own me"))
    then(client, send(client, get(client, DESK + ALL), "label", made, label="bags"))
    page = opened(client, made[0])

    def offered(page: Node) -> list[str]:
        return [each.words for each in page.id("desk-report").all("button", form="undo-one")]

    assert offered(page) == ["Undo all 2: labelled it", "Undo: claimed it", "Undo: set the note"], "Bea's is hers"
    form = page.id("undo-one")
    [wanted] = [each for each in page.all("button", form="undo-one") if "note" in each.words]
    answer = client.post(form["action"], {**form.fields(), "action_id": wanted["value"]})
    page = then(client, answer)
    assert told(page) == ["Undone: note on “report 0”."] and page.id("redo")
    assert (stored(made[0]).admin_note, stored(made[0]).triage.owner) == (None, who.admin.user)
    assert offered(page) == ["Undo all 2: labelled it", "Undo: claimed it"]
    with time_machine.travel(timezone.now() + timedelta(minutes=31)):
        client.force_login(who.admin.user)
        assert offered(opened(client, made[0])) == []


def test_saved_views_have_letters_in_the_menu_that_later_ones_do_not_take(browser_of: Browser, who: People) -> None:
    client = browser_of("admin")

    def keys() -> list[tuple[str, str]]:
        items = get(client, DESK).id("desk-views").one("details").all("a")
        return [(each.all("kbd")[-1].words if each.all("kbd") else "", each["data-key"].split()[-1]) for each in items]

    assert keys() == [(str(number),) * 2 for number in range(1, 10)]
    for name in ("Refunds", "Bags", "Angry", "Aa", "2026 first", "VIP"):
        saved_views.save(who.admin.actor, name, f'label:"{name}"')
    assert keys()[9:] == [("0", "0"), ("", "none"), ("a", "a"), ("b", "b"), ("r", "r"), ("i", "i")]


def test_undo_in_the_history_is_not_offered_where_it_is_refused(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a bulk that was undone on its other reports, or is being undone."""
    made, client, bea = reports(who.alice, 2), browser_of("admin"), second_admin()
    page = then(client, send(client, get(client, DESK + ALL), "own me", made))
    do(bea, made[0], "own", owner="bea@heddle.test")
    then(client, submit(client, page.id("undo")))
    assert not opened(client, made[0]).all("button", form="undo-one")
    page = then(client, send(client, get(client, DESK + ALL), "label", made, label="mail"))
    assert opened(client, made[0]).all("button", form="undo-one")
    monkeypatch.setattr(bulk, "AT_ONCE", 1)
    then(client, submit(client, page.id("undo")))
    assert not opened(client, made[0]).all("button", form="undo-one")


def test_a_redo_that_ran_while_something_else_was_done_is_told_in_words(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, client = reports(who.alice, 6), browser_of("admin")
    page = then(client, send(client, get(client, DESK + ALL), "own me", made[:5]))
    page = then(client, submit(client, page.id("undo")))
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    then(client, submit(client, page.id("redo")))
    then(client, press(client, opened(client, made[5]), "note", admin_note="x"))
    bulk_work.advance(Bulk.objects.latest("pk").pk)
    assert told(get(client, DESK + ALL)) == ["Claimed 5 reports."]


def test_an_undo_of_a_partial_redo_tells_of_what_that_had_done(browser_of: Browser, who: People) -> None:
    made, client, bea = reports(who.alice, 3), browser_of("admin"), second_admin()
    page = then(client, send(client, get(client, DESK + ALL), "own me", made))
    page = then(client, submit(client, page.id("undo")))
    do(bea, made[0], "own", owner="bea@heddle.test")
    page = then(client, submit(client, page.id("redo")))
    page = then(client, submit(client, page.id("undo")))
    assert told(page) == ["Undone: claim of 2 reports."]


def test_a_bulk_that_goes_on_meanwhile_does_not_take_a_redo_away(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, client = reports(who.alice, 6), browser_of("admin")
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    monkeypatch.setattr(bulk_work, "CHUNK", 2)
    then(client, send(client, get(client, DESK + ALL), "own me", made[:5]))
    page = then(client, press(client, opened(client, made[5]), "note", admin_note="x"))
    page = then(client, submit(client, page.id("undo")))
    assert page.id("redo")
    running = Bulk.objects.get(verb="own")
    assert bulk_work._claim(running.pk) and bulk_work.advance_once(who.admin.actor, running.pk, 2)
    assert get(client, DESK + ALL).id("redo")
