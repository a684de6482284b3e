"""An admin at the desk: reports cleared by keys and by mouse, and an address that always shows the same screen."""

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e import hands
from tests.e2e.desk import (
    WORDS,
    complaints,
    empty,  # noqa: F401
    first_of_the_open,
    full_of_labels,
    is_held,
    listed,
    shows,
    stored,
)
from tests.e2e.visiting import Heddle, Visit, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.live]


def state(page: Page) -> tuple[str, str, list[str], str]:
    """What a colleague would see at this address."""
    words = page.locator(WORDS).inner_text()
    return page.url, words, listed(page), page.locator(".rated article").get_attribute("id") or ""


def test_views_and_the_order_are_a_key_away(visit: Callable[..., Visit]) -> None:
    page = visit("admin").page
    page.goto("/feedback/?q=")
    page.keyboard.press("v")
    expect(page.locator("#desk-views .menu a").first).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("5")
    expect(page).to_have_url(re.compile(r"\?q=is%3Aopen$"))
    page.keyboard.press("Shift+O")
    expect(page).to_have_url(re.compile(r"\?q=is%3Aopen\+sort%3Aoldest$"))
    page.keyboard.press("Shift+V")
    expect(page.locator("#view-name")).to_be_focused()


def test_twenty_reports_are_cleared_by_six_keys_each(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """A label, a note or nothing, and on: the hands never leave the keys, and the focus is never lost."""
    thread_id = complaints(empty, 20)
    page = visit("admin").page
    page.goto("/feedback/")
    expect(page.locator("#desk-count")).to_have_text("20 open")
    pressed = 0

    def press(*keys: str) -> None:
        nonlocal pressed
        for key in keys:
            page.keyboard.press(key)
            pressed += 1

    press("j")
    for number in range(19, -1, -1):
        shows(page, f"Complaint {number}")
        assert page.evaluate("document.activeElement.closest('.rep')?.ariaCurrent") == "true"
        if number % 5 == 0:
            press("l", "x", "Enter")
            expect(page.locator("#desk-report .tag")).to_have_text("x")
            expect(page.locator("#said")).to_contain_text(f"“Complaint {number}”")
            assert page.evaluate("document.activeElement.closest('.rep')?.ariaCurrent") == "true"
        if number % 5 == 1:
            press("m", "y", "Control+Enter")  # saves and goes on: it stays open, and is resolved below
        else:
            press("e")
        expect(page.locator("#said")).to_contain_text(f"“Complaint {number}”")
    expect(page.locator(".desk-list")).to_contain_text("Complaint 16")
    for number in (16, 11, 6, 1):
        page.locator(".rep a", has_text=f"Complaint {number}").click()
        shows(page, f"Complaint {number}")
        press("e")
        expect(page.locator("#said")).to_contain_text(f"Resolved “Complaint {number}”")
    expect(page.locator(".desk-list")).to_contain_text("No unclaimed reports.")
    expect(page.locator(".desk-list")).to_contain_text("You resolved ")
    expect(page.locator("#desk-talk")).to_contain_text("No report is open.")
    expect(page.locator("#desk-count")).to_have_text("0 open")
    assert pressed <= 6 * 20
    kept = stored(empty, thread_id)
    assert all(each["resolved"] for each in kept)
    assert [each["admin_label"] for each in kept[4::5]] == ["x"] * 4
    assert [each["admin_note"] for each in kept[3::5]] == ["y"] * 4


@pytest.mark.parametrize(("width", "column"), [(1024, 288), (1280, 333), (1440, 374), (1920, 460)])
def test_a_row_shows_two_lines_of_words_and_rows_stay_even(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
    width: int,
    column: int,
) -> None:
    thread_id = complaints(empty, 1)
    empty.rate("alice", thread_id, 1, notes="It was asked for the one thing and told the other. " * 9)
    page = visit("admin", viewport={"width": width, "height": 900}).page
    page.goto("/feedback/?q=is:open")
    boxes = [row.bounding_box() or {} for row in page.locator(".rep").all()]
    assert {round(box["height"]) for box in boxes} == {81}
    assert round((page.locator(".desk-list").bounding_box() or {})["width"]) == column
    tall = [(words.bounding_box() or {})["height"] for words in page.locator(".rep a").all()]
    assert round(tall[0] / tall[1]) == 2 and tall[1] < 24


def test_the_same_by_mouse_with_labels_snooze_duplicate_and_reply(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    thread_id = complaints(empty, 5)
    first = stored(empty, thread_id)[-1]["feedback_id"]
    page = visit("admin").page
    page.goto("/feedback/")
    page.locator(".rep a").first.click()
    shows(page, "Complaint 4")
    page.fill("#admin-label", "money")
    page.click("#triage [value=label] >> visible=true")
    expect(page.locator("#desk-report .tag")).to_have_text("money")
    page.locator("#desk-report [aria-label='Remove money']").click()
    expect(page.locator("#desk-report .tag")).to_have_count(0)
    page.click("#triage summary:has-text('Snooze')")
    page.click("#triage >> text=Next week")
    shows(page, "Complaint 3")
    page.click("#triage summary:has-text('Duplicate')")
    page.fill("#duplicate-of", first)
    box, pane = page.locator("#duplicate-of").bounding_box(), page.locator("#desk-report").bounding_box()
    assert box and pane and pane["x"] <= box["x"] and box["x"] + box["width"] <= pane["x"] + pane["width"]
    page.click("#triage [value=duplicate]")
    shows(page, "Complaint 2")
    page.click("summary:has-text('Reply to')")
    page.fill("#public-reply", "It is mended.")
    page.fill("#admin-note", "Typed beside it")
    page.click("#triage >> text=Send reply")
    expect(page.locator("#desk-report summary.head")).to_contain_text("answered")
    expect(page.locator("#admin-note")).to_have_value("Typed beside it")
    page.select_option("#triage [name=outcome]", "fixed")
    page.click("#triage [value=resolve]")
    shows(page, "Complaint 1")
    page.click("#desk-status button:has-text('Undo')")
    shows(page, "Complaint 2")
    expect(page.locator("#said")).to_contain_text("Undone")
    expect(page.locator("#triage [value=resolve]")).to_be_visible()


def test_ticks_survive_paging_and_refusals(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 37)
    visitor = visit("admin")
    visitor.forgive("status of 400")
    page = visitor.page
    page.goto("/feedback/?q=is:open")
    page.locator(".rep input").first.check()
    page.click("a[rel=next]")
    expect(page.locator(".rep")).to_have_count(5)
    expect(page.locator("#bulk")).to_contain_text("1 ticked")
    page.locator(".rep input").last.check()
    page.keyboard.press("l")
    page.keyboard.type("y" * 61)
    page.keyboard.press("Enter")
    expect(page.locator("#bulk .wrong")).to_contain_text("at most 60")
    expect(page.locator("#bulk")).to_contain_text("2 ticked")
    page.click("#bulk [value=resolve]")
    expect(page.locator("#said")).to_contain_text("Resolved 2 reports")
    expect(page.locator(".rep")).to_have_count(4)
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator("#bulk")).to_contain_text("1 ticked")
    page.keyboard.press("Escape")
    expect(page.locator("#bulk")).to_be_hidden()


def test_what_a_bulk_was_about_stays_ticked_while_it_is_listed(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    thread_id = complaints(empty, 3)
    full_of_labels(empty, stored(empty, thread_id)[1]["feedback_id"])
    page = visit("admin").page
    page.goto("/feedback/?q=is:open")
    for box in page.locator(".rep input").all():
        box.check()
    page.keyboard.press("l")
    page.keyboard.type("One that is too many for it")
    page.keyboard.press("Enter")
    expect(page.locator("#desk-status summary")).to_contain_text("1 of 3 not changed")
    expect(page.locator("#bulk")).to_contain_text("3 ticked")
    assert [box.is_checked() for box in page.locator(".rep input").all()] == [True] * 3
    page.locator(".rep input").first.uncheck()
    page.keyboard.press("e")
    expect(page.locator("#said")).to_contain_text("Resolved 2 reports")
    expect(page.locator("#bulk")).to_be_hidden()
    assert listed(page) == ["Complaint 2"]


@pytest.mark.parametrize("begins", ["nowhere", "at the first"])
def test_ticks_and_moves_have_one_place(empty: Heddle, visit: Callable[..., Visit], begins: str) -> None:  # noqa: F811
    """Tick, on, tick, with nothing open yet: the first two are ticked."""
    complaints(empty, 3)
    page = visit("admin").page
    page.goto("/feedback/?q=is:open")
    if begins == "at the first":
        page.locator(".rep a").first.focus()
    for key in "xjx":
        page.keyboard.press(key)
    expect(page.locator("#ticked")).to_have_text("2 ticked")
    assert [box.is_checked() for box in page.locator(".rep input").all()] == [True, True, False]
    shows(page, "Complaint 1")


def test_with_shift_all_from_the_last_tick_to_this_one_are_ticked_or_not(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    complaints(empty, 8)
    page = visit("admin").page
    page.goto("/feedback/?q=is:open")
    boxes = page.locator(".rep input")
    boxes.nth(7).click()
    page.keyboard.press("Escape")
    boxes.nth(4).click(modifiers=["Shift"])
    expect(page.locator("#ticked")).to_have_text("1 ticked")
    boxes.nth(1).click(modifiers=["Shift"])
    expect(page.locator("#ticked")).to_have_text("4 ticked")
    boxes.nth(2).click()
    boxes.nth(3).click(modifiers=["Shift"])
    assert [box.is_checked() for box in boxes.all()] == [place in (1, 4) for place in range(8)]
    page.locator(".rep a").nth(5).focus()
    page.keyboard.press("x")
    page.keyboard.press("o")
    shows(page, "Complaint 2")
    page.click("#triage [value='own me'] >> visible=true")
    expect(page.locator("#triage")).to_contain_text("Release")
    page.locator(".rep a").nth(5).focus()
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+X")
    expect(page.locator("#ticked")).to_have_text("5 ticked")
    assert page.evaluate("getSelection().isCollapsed")
    page.click("#bulk [value=resolve]")
    expect(page.locator("#said")).to_contain_text("Resolved 5 reports")


def test_back_forward_and_a_copied_address_show_the_same_screen(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    """The address is the state: query, open report and pane. What is refused or stays is no place of its own, and
    reports that are read one after the other are one place: Back leads out of them."""
    complaints(empty, 3)
    admin = visit("admin")
    admin.forgive("status of 400")
    page = admin.page
    page.goto("/feedback/?q=is:open")
    states = []
    for number in (2, 1, 0):
        page.keyboard.press("j")
        shows(page, f"Complaint {number}")
        states.append(state(page))
    assert len({url for url, *_ in states}) == 3
    page.keyboard.press("m")
    expect(page.locator("#admin-note")).to_have_css("font-kerning", "none")  # or the next line takes seconds
    page.fill("#admin-note", "x" * 20001)
    page.click("#triage [value=note] >> visible=true")
    expect(page.locator("#note-wrong")).to_contain_text("20,000")
    assert page.url == states[2][0]
    page.fill("#admin-note", "")
    page.click(".views a:has-text('Negative')")
    expect(page.locator("#desk-talk")).to_contain_text("No report is open.")
    page.go_back()
    shows(page, "Complaint 0")
    assert state(page) == states[2]
    page.go_back()
    expect(page.locator("#desk-talk")).to_contain_text("No report is open.")
    page.go_forward()
    shows(page, "Complaint 0")
    assert state(page) == states[2]
    page.keyboard.press("k")
    shows(page, "Complaint 1")
    page.goto("/feedback/insight/")
    page.go_back()
    shows(page, "Complaint 1")
    expect(page.locator(".rep")).to_have_count(3)
    page.keyboard.press("j")
    shows(page, "Complaint 0")
    other = admin.tab()
    other.goto(states[2][0])
    assert state(other) == states[2]
    page.locator(".query [aria-label='Remove is:open']").click()
    expect(page.locator(".token")).to_have_count(0)


def test_a_list_that_keeps_resolved_reports_ends(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """It leads on through what others resolved, but not back and forth between the last two."""
    thread_id = complaints(empty, 3)
    resolved = stored(empty, thread_id)[1]["feedback_id"]
    empty.call("bea", "POST", f"admin/feedback/{resolved}/actions", {"verb": "resolve"})
    page = visit("admin").page
    page.goto(f"/feedback/?q=thread:{thread_id}")
    for number in (2, 1, 0):
        if number == 2:
            page.keyboard.press("j")
        shows(page, f"Complaint {number}")
        page.keyboard.press("e")
    expect(page.locator("#desk-talk")).to_contain_text("No report is open.")
    expect(page.locator("#said")).to_contain_text("Resolved “Complaint 0”")
    expect(page.locator(".rep[data-resolved]")).to_have_count(3)
    page.keyboard.press("z")
    shows(page, "Complaint 0")


def test_the_report_asked_for_last_is_the_one_that_is_shown(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """Quick keys: an answer that comes late does not take the place of the one that was asked for after it."""
    complaints(empty, 4)
    page = visit("admin").page
    late: list[Route] = []
    page.route("**/feedback/?*item=*", lambda line: line.fallback() if late else late.append(line))
    with page.expect_request("**/feedback/?*item=*"):  # the desk's own script is there when it fetches ahead
        page.goto("/feedback/?q=is:open")
    for _ in range(3):
        page.keyboard.press("j")
    shows(page, "Complaint 1")
    late[0].fallback()
    page.wait_for_timeout(300)
    shows(page, "Complaint 1")

    # And keys that are typed ahead of it wait for it.
    slow: list[Route] = []
    is_slow = True
    page.route(
        "**/feedback/?*item=*",
        lambda line: slow.append(line) if is_slow and line.request.resource_type == "fetch" else line.fallback(),
    )
    page.keyboard.press("e")
    shows(page, "Complaint 0")
    page.keyboard.press("k")
    page.keyboard.press("e")
    is_slow = False
    for line in slow:
        line.fallback()
    expect(page.locator("#said")).to_contain_text("Resolved “Complaint 2”")


def test_a_press_never_gets_lost_nor_means_what_stood_there_before(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """While one is under way no button can be pressed, an older undo least of all; what comes is ready at once."""
    thread_id = complaints(empty, 3)
    visitor = visit("admin")
    page = visitor.page
    page.goto("/feedback/?q=is:open")
    page.locator(".rep a").first.click()
    shows(page, "Complaint 2")
    page.click("#triage [value='own me']")
    expect(page.locator("#desk-status")).to_contain_text("Claimed “Complaint 2”")
    visitor.wait_until_fetched_ahead()
    slow: list[Route] = []
    page.route("**/feedback/fb_*/", lambda line: slow.append(line), times=1)
    page.click("#triage [value=resolve]")
    undo = page.locator("#desk-status button:has-text('Undo')")
    expect(undo).to_be_disabled()
    expect(page.locator("#desk-report")).to_have_attribute("inert", "")
    wait_until(lambda: bool(slow), page=page)
    slow[0].continue_()
    undo.click()
    expect(page.locator("#said")).to_contain_text("Undone")
    shows(page, "Complaint 2")
    expect(page.locator("#triage [value=own]")).to_be_visible()  # taken it was before, and stays so
    assert not stored(empty, thread_id)[0]["resolved"]

    # Quicker than any hand: pressed in the moment in which the report shows.
    page.evaluate(
        """new MutationObserver((_, watch) => {
          if (!document.querySelector("#desk-report .words").textContent.includes("Complaint 1")) return;
          watch.disconnect();
          document.querySelector("#triage [value=resolve]").click();
        }).observe(document.getElementById("desk"), { childList: true, subtree: true })"""
    )
    loads: list[Page] = []
    page.on("load", lambda whole: loads.append(whole))
    page.click("#triage [value=resolve]")
    shows(page, "Complaint 0")
    expect(page.locator("#said")).to_contain_text("Resolved “Complaint 1”")
    assert loads == []


def test_what_was_fetched_ahead_is_shown_without_asking(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 4)
    visitor = visit("admin")
    page = visitor.page
    first_of_the_open(page, "Complaint 3")
    visitor.wait_until_fetched_ahead()
    visitor.forgive("ERR_INTERNET_DISCONNECTED", "failed:")
    visitor.context.set_offline(True)
    page.keyboard.press("j")
    shows(page, "Complaint 2")
    visitor.context.set_offline(False)


def test_the_report_that_was_fetched_ahead_is_not_sent_again_after_a_resolve(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    """Only what it shows of the resolved one, among its similar reports: that is open no more."""
    wobbles, leaks, sinks = (f"{how}{time.monotonic_ns()}" for how in ("Wobbles", "Leaks", "Sinks"))
    for words, categories in ((wobbles, []), (leaks, ["incorrect", "slow"]), (sinks, ["incorrect", "slow"])):
        said = [{"role": "user", "content": "A canoe?"}, {"role": "assistant", "content": "Here it is."}]
        thread_id = empty.imported("alice", f"desk-{words}", said, title=words)
        empty.rate("bob", thread_id, 1, notes=words, categories=categories)
    visitor = visit("admin")
    page = visitor.page
    first_of_the_open(page, sinks)
    for shown, is_alike in ((leaks, True), (wobbles, False)):
        visitor.wait_until_fetched_ahead()
        with page.expect_response(
            lambda answer: answer.request.method == "POST" and "lease" not in answer.url
        ) as answered:
            page.keyboard.press("e")
        shows(page, shown)
        expect(page).to_have_title(f"{shown} · Heddle")
        expect(page.locator(".rep[aria-current]")).to_contain_text(shown)
        expect(page.locator("#desk-talk .rated-words")).to_have_text(shown)
        assert 'id="desk-report"' not in answered.value.text()
        expect(page.locator("#similar")).to_have_count(int(is_alike))
        if is_alike:
            expect(page.locator("#similar")).to_contain_text("resolved")
            expect(page.locator("#originals label")).to_contain_text("resolved")
            expect(page.locator("#similar button")).to_have_text("Use as original")


def test_a_report_that_was_fetched_ahead_gets_what_is_like_it_whatever_it_showed_before(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    """A resolved one has no menu of originals, and one that nothing could be resolved with had no form for it."""

    def rate(words: str) -> str:
        said = [{"role": "user", "content": "A canoe?"}, {"role": "assistant", "content": "Here it is."}]
        thread_id = empty.imported("alice", f"desk-{words}-{time.monotonic_ns()}", said, title="Canoe")
        empty.rate("bob", thread_id, 1, notes=words, categories=["formatting", "slow"])
        return str(stored(empty, thread_id)[0]["feedback_id"])

    def resolved(words: str) -> str:
        feedback_id = rate(words)
        empty.call("admin", "POST", f"admin/feedback/{feedback_id}/actions", {"verb": "resolve"})
        return feedback_id

    visitor = visit("admin")
    page = visitor.page

    def resolve(opened: str, shown: str, meanwhile: Callable[[], object] = lambda: None) -> None:
        with page.expect_response(lambda answer: "heddle-part" in answer.request.headers):
            page.goto(f"/feedback/?item={opened}&q=category%3Aformatting")
        visitor.wait_until_fetched_ahead()
        meanwhile()
        with page.expect_response(
            lambda answer: answer.request.method == "POST" and "lease" not in answer.url
        ) as answered:
            page.keyboard.press("e")
        shows(page, shown)
        assert 'id="desk-report"' not in answered.value.text()

    complaints(empty, 12)  # among which the words of the others are rare enough to tell something
    dips, tips = (f"{how}{time.monotonic_ns()}" for how in ("Dips", "Tips"))
    resolved(dips)
    resolve(rate(tips), dips)
    expect(page.locator("#similar")).to_contain_text("resolved")
    expect(page.locator("#originals")).to_have_count(0)
    alike = f"weirs{time.monotonic_ns()} with canvas{time.monotonic_ns()} torn"
    floats, drifts, sways = (f"{how} on {alike}" for how in ("Floats", "Drifts", "Sways"))
    rate(floats)
    resolve(resolved(drifts), floats, meanwhile=lambda: rate(sways))
    page.click("#similar button:has-text('together')")
    expect(page.locator("#desk-status")).to_contain_text("Resolved 2 reports")


def test_what_is_alike_is_settled_together_by_mouse(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 12)
    page = visit("admin").page
    for words, button, status in (
        ("The total forgets a voucher", "Resolve 3 together", "Resolved 3 reports"),
        ("The parcel left without stamps", "Mark 2 as duplicates of this", "Marked 2 reports as duplicate"),
    ):
        complaints(empty, 3, words)
        first_of_the_open(page, f"{words} 2")
        page.click(f"#similar button:has-text('{button}')")
        expect(page.locator("#desk-status")).to_contain_text(status)


def test_the_next_report_is_shown_before_the_server_has_answered(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    """What was pressed meanwhile waits for the answer."""
    thread_id = complaints(empty, 3)
    visitor = visit("admin")
    page = visitor.page
    first_of_the_open(page, "Complaint 2")
    visitor.wait_until_fetched_ahead()
    lines: list[Route] = []
    page.route("**/feedback/fb_*/", lambda line: lines.append(line))
    page.keyboard.press("e")
    shows(page, "Complaint 1")
    expect(page).to_have_title("Complaint 1 · Heddle")
    page.keyboard.press("e")
    page.wait_for_timeout(300)
    shows(page, "Complaint 1")
    wait_until(lambda: bool(lines), page=page)
    assert len(lines) == 1
    assert [each["resolved"] for each in stored(empty, thread_id)] == [False, False, False]
    lines.pop().continue_()
    wait_until(lambda: bool(lines), page=page)
    lines.pop().continue_()
    shows(page, "Complaint 0")
    expect(page.locator(".rep")).to_have_count(1)
    expect(page.locator("#desk-status")).to_contain_text("Resolved “Complaint 1”")
    page.unroute_all(behavior="ignoreErrors")
    assert [each["resolved"] for each in stored(empty, thread_id)] == [True, True, False]


def test_another_report_is_shown_from_its_top(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """Also one that an undo opens, which is not fetched ahead."""
    complaints(empty, 2)
    page = visit("admin", viewport={"width": 1440, "height": 500}).page
    first_of_the_open(page, "Complaint 1")
    page.keyboard.press("e")
    expect(page.locator("#desk-status")).to_contain_text("Resolved “Complaint 1”")
    pane = page.locator("#desk-report")
    assert pane.evaluate("each => (each.scrollTop = 200)") == pane.evaluate("each => each.scrollTop") == 200
    page.keyboard.press("z")
    shows(page, "Complaint 1")
    expect(page.locator("#desk-status")).to_contain_text("Undone")
    assert pane.evaluate("each => each.scrollTop") == 0


def test_only_rows_that_an_answer_changes_are_swapped(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """And the pane of the report stays where it was scrolled to."""
    complaints(empty, 3)
    page = visit("admin", viewport={"width": 1440, "height": 500}).page
    first_of_the_open(page, "Complaint 2")
    page.evaluate("for (const row of document.querySelectorAll('.rep')) row.wasThere = true")
    pane = page.locator("#desk-report")
    pane.evaluate("each => (each.scrollTop = 100)")
    page.keyboard.press("a")
    expect(page.locator("#desk-status")).to_contain_text("Claimed")
    expect(page.locator(".rep[aria-current]")).to_contain_text("you")
    rows = page.evaluate("[...document.querySelectorAll('.rep')].map(row => [row.ariaCurrent, !!row.wasThere])")
    assert rows == [["true", False], [None, True], [None, True]]
    assert pane.evaluate("each => each.scrollTop") == 100
    page.keyboard.press("j")  # where nothing was swapped the keys go on, too
    shows(page, "Complaint 1")


@pytest.mark.parametrize("status", [0, 500])
def test_a_resolve_that_failed_leads_back_to_what_was_typed(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
    status: int,
) -> None:
    thread_id = complaints(empty, 3)
    visitor = visit("admin")
    visitor.forgive("ERR_FAILED", "failed:", "htmx:", "500")
    page = visitor.page
    page.goto(f"/feedback/?q=is%3Aopen&item={stored(empty, thread_id)[1]['feedback_id']}")
    shows(page, "Complaint 1")
    visitor.wait_until_fetched_ahead()
    page.fill("#admin-note", "Half a note")
    page.locator("#triage [name=outcome]").select_option("fixed")
    page.route("**/feedback/fb_*/", lambda line: line.fulfill(status=status) if status else line.abort())
    page.click("#triage [value=resolve]")
    expect(page.locator(".failed")).to_be_visible()
    shows(page, "Complaint 1")
    expect(page.locator("#admin-note")).to_have_value("Half a note")
    expect(page.locator("#triage [name=outcome]")).to_have_value("fixed")
    assert parse_qs(urlsplit(page.url).query)["item"] == [stored(empty, thread_id)[1]["feedback_id"]]
    page.unroute_all(behavior="ignoreErrors")
    page.click("#triage [value=resolve]")
    shows(page, "Complaint 0")
    expect(page.locator(".failed")).to_have_count(0)
    expect(page.locator("#desk-status")).to_contain_text("Resolved “Complaint 1”")
    made = [(each["resolved"], each["admin_note"]) for each in stored(empty, thread_id)]
    assert made == [(False, None), (True, "Half a note"), (False, None)]
    record = empty.call("admin", "GET", f"admin/feedback/{stored(empty, thread_id)[1]['feedback_id']}/triage")
    assert record["outcome"] == "fixed", "what was chosen before it failed"


def test_nothing_is_lost_when_the_server_does_not_answer(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 1)
    visitor = visit("admin")
    visitor.forgive("ERR_FAILED", "failed:", "htmx:")
    page = visitor.page
    first_of_the_open(page, "Complaint 0")
    page.route("**/feedback/fb_*/", lambda line: line.abort())
    page.fill("#admin-note", "Half a note")
    page.click("#triage [value=note] >> visible=true")
    expect(page.locator(".failed")).to_be_visible()
    expect(page.locator("#admin-note")).to_have_value("Half a note")
    page.unroute("**/feedback/fb_*/")
    page.click("#triage [value=note] >> visible=true")
    expect(page.locator("#said")).to_contain_text("Saved note on")
    expect(page.locator(".failed")).to_have_count(0)


def test_what_failed_is_forgiven_when_the_connection_is_back(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """The machine's own, or that to the server, which the desk's line finds first, also after a refusal by a proxy."""
    complaints(empty, 1)
    visitor = visit("admin")
    visitor.forgive("ERR_", "failed:", "htmx:", "502")
    page = visitor.page
    page.route("**/feedback/live/**", lambda line: line.fulfill(status=502))
    first_of_the_open(page, "Complaint 0")
    visitor.context.set_offline(True)
    page.keyboard.press("a")
    expect(page.locator(".failed")).to_contain_text("No connection")
    visitor.context.set_offline(False)
    expect(page.locator(".failed")).to_have_count(0)
    page.route("**/feedback/fb_*/", lambda line: line.abort())
    page.keyboard.press("a")
    expect(page.locator(".failed")).to_contain_text("No connection")
    page.unroute("**/feedback/live/**")
    expect(page.locator(".failed")).to_have_count(0)


def test_drafts_of_a_note_survive_looking_at_another_report(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 2)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 1")
    page.keyboard.press("m")
    page.keyboard.type("Half a note")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    shows(page, "Complaint 0")
    expect(page.locator("#admin-note")).to_have_value("")
    page.keyboard.press("k")
    expect(page.locator("#admin-note")).to_have_value("Half a note")


def test_a_note_that_went_along_is_in_its_field_after_the_undo(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """As it was before: neither saved nor lost, also after a look at another report."""
    complaints(empty, 2, "Companion")
    page = visit("admin").page
    first_of_the_open(page, "Companion 1")
    page.keyboard.press("m")
    page.keyboard.type("Known since May")
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    shows(page, "Companion 0")
    page.keyboard.press("z")
    shows(page, "Companion 1")
    note = page.locator("#admin-note")
    expect(note).to_have_value("Known since May")
    page.keyboard.press("j")
    shows(page, "Companion 0")
    page.keyboard.press("k")
    shows(page, "Companion 1")
    expect(note).to_have_value("Known since May")
    page.keyboard.press("e")
    shows(page, "Companion 0")
    expect(page.locator("#said")).to_contain_text("Resolved “Companion 1”")
    page.goto("/feedback/?q=note:may")
    expect(page.locator(".rep")).to_have_count(1)


def test_what_was_undone_once_too_often_is_redone_by_its_key(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """Pressed quickly, as somebody does who holds on to `z`."""
    complaints(empty, 3, "Regret")
    page = visit("admin").page
    first_of_the_open(page, "Regret 2")
    page.keyboard.press("e")
    shows(page, "Regret 1")
    page.keyboard.press("e")
    shows(page, "Regret 0")
    page.keyboard.press("z")
    page.keyboard.press("z")
    shows(page, "Regret 2")
    expect(page.locator("#said")).to_contain_text("Undone: resolution of “Regret 2”")
    page.keyboard.press("Shift+Z")
    expect(page.locator("#said")).to_contain_text("Resolved “Regret 2”")
    expect(page.locator("#redo button")).to_have_text(re.compile("Redo resolution"))
    page.keyboard.press("Shift+Z")
    expect(page.locator("#said")).to_contain_text("Resolved “Regret 1”")
    shows(page, "Regret 1")
    expect(page.locator("#redo")).to_have_count(0)
    page.keyboard.press("Shift+Z")
    expect(page.locator("#said")).to_contain_text("Nothing is left to redo")
    page.keyboard.press("z")
    expect(page.locator("#said")).to_contain_text("Undone: resolution of “Regret 1”")


def test_menus_open_by_keys_and_give_the_focus_back(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 2)
    page = visit("admin").page
    page.goto("/feedback/?q=is:unclaimed")
    page.keyboard.press("j")
    shows(page, "Complaint 1")
    page.keyboard.press("h")
    expect(page.locator("[value='snooze 4h'] >> visible=true")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.locator("[value='snooze tomorrow'] >> visible=true")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#triage summary[data-key=h]")).to_be_focused()
    page.keyboard.press("h")
    page.keyboard.press("Enter")
    shows(page, "Complaint 0")
    expect(page.locator("#said")).to_contain_text("Snoozed “Complaint 1”")
    page.keyboard.press("d")
    page.keyboard.type("fb_nothing")
    page.keyboard.press("Escape")
    expect(page.locator("#duplicate-of")).to_be_hidden()


def test_the_other_order_keeps_the_report_that_is_open_now(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """And not the one that was open when the list was last read: the next key would be for that one."""
    complaints(empty, 3, "Order")
    page = visit("admin").page
    first_of_the_open(page, "Order 2")
    page.keyboard.press("a")
    expect(page.locator("#said")).to_contain_text("Claimed")
    page.keyboard.press("j")
    shows(page, "Order 1")
    page.keyboard.press("Shift+O")
    expect(page.locator(".rep").first).to_contain_text("Order 0")
    shows(page, "Order 1")
    page.keyboard.press("j")
    shows(page, "Order 2")


def test_items_of_a_menu_are_chosen_by_their_letters(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """Which mean nothing else while it is open, and nothing of it while it is closed."""
    thread_id = complaints(empty, 2, "Letter")
    page = visit("admin").page
    first_of_the_open(page, "Letter 1")
    page.keyboard.press("Shift+A")
    page.keyboard.press("b")
    expect(page.locator("#said")).to_contain_text("to Bea")
    page.keyboard.press("h")
    page.keyboard.press("u")
    shows(page, "Letter 0")
    expect(page.locator("#said")).to_contain_text("until it happens again")
    page.keyboard.press("t")
    expect(page).to_have_url(re.compile("whole=1"))
    page.keyboard.press("x")
    page.keyboard.press("Shift+E")
    page.keyboard.press("f")
    expect(page.locator("#said")).to_contain_text("as fixed")
    first, second = (
        empty.call("admin", "GET", f"admin/feedback/{each['feedback_id']}/triage") for each in stored(empty, thread_id)
    )
    assert first["owner"] == "bea@heddle.test" and first["snoozed_until_again"] and second["outcome"] == "fixed"


def test_the_list_has_the_focus_again_when_the_ticks_are_gone(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 2, "Focus")
    page = visit("admin").page
    first_of_the_open(page, "Focus 1")
    page.keyboard.press("x")
    page.keyboard.press("h")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page.locator("#ticked")).to_be_hidden()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    shows(page, "Focus 0")


def test_a_sign_of_the_third_level_waits_with_the_words_around_it(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """As the @ of many keyboards, typed while an answer is on the way."""
    complaints(empty, 1, "Level")
    page = visit("admin").page
    waiting = hands.slow(page, "**/feedback/fb_*/")
    first_of_the_open(page, "Level 0")
    page.keyboard.press("a")
    held = hands.sent(page, waiting)
    page.keyboard.press("Shift+M")
    page.keyboard.type("hi ")
    page.keyboard.press("Alt+@")
    page.keyboard.type("bea")
    held.continue_()
    expect(page.locator("#comment")).to_have_value("hi @bea")


def test_a_menu_of_choices_begins_at_the_current_one(visit: Callable[..., Visit]) -> None:
    page = visit("admin").page
    page.goto("/feedback/?q=is:open")
    page.keyboard.press("v")
    current = page.locator("#desk-views li [aria-current]")
    expect(current).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#desk-views li a:focus")).not_to_have_attribute("aria-current", "true")
    page.keyboard.press("Escape")
    page.locator("header .menu summary").first.click()
    expect(page.locator("header .menu[open] ul [aria-current]")).to_be_focused()


def test_a_menu_that_is_opened_by_mouse_is_typed_into_at_once(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 1)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 0")
    page.click("#triage summary[data-key=d]")
    expect(page.locator("#duplicate-of")).to_be_focused()
    page.click("#desk-bar summary:has-text('View')")
    expect(page.locator("#view-name")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#view-name")).to_be_hidden()
    page.click("#desk-bar summary:has-text('View')")
    page.click(".rep >> nth=0")
    expect(page.locator("#view-name")).to_be_hidden()
    page.click("#desk-bar summary:has-text('View')")
    for _ in range(12):
        page.keyboard.press("Tab")
    expect(page.locator("#view-name")).to_be_hidden()


def test_all_that_match_are_meant_no_more_when_nothing_is_ticked(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 3)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 2")
    page.keyboard.press("x")
    page.check("#bulk [name=all]")
    page.keyboard.press("x")
    expect(page.locator("#bulk")).to_be_hidden()
    page.keyboard.press("x")
    expect(page.locator("#bulk [name=all]")).not_to_be_checked()


@pytest.mark.parametrize("height", [700, 900])
def test_the_desk_stays_in_its_window_whatever_opens(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
    height: int,
) -> None:
    """Its panes scroll, and the page does not."""
    complaints(empty, 12)
    page = visit("admin", viewport={"width": 1440, "height": height}).page
    first_of_the_open(page, "Complaint 11")
    for key, opens in (
        ("r", "#public-reply"),
        ("h", "[value='snooze 4h']"),
        ("d", "#duplicate-of"),
        ("c", "#check-value-1"),
    ):
        page.keyboard.press(key)
        expect(page.locator(f"{opens} >> visible=true")).to_be_focused()
        assert page.evaluate("[scrollY, document.documentElement.scrollHeight]") == [0, height], key
        page.keyboard.press("Escape")


def test_a_reply_that_was_left_waits_open_as_a_draft(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    thread_id = complaints(empty, 2)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 1")
    page.keyboard.press("r")
    page.keyboard.type("We are sorry")
    page.click("#triage [value=resolve]")
    shows(page, "Complaint 0")
    expect(page.locator("#desk-status")).to_contain_text("Your reply was not sent.")
    expect(page.locator("#public-reply")).to_be_hidden()
    page.keyboard.press("z")
    shows(page, "Complaint 1")
    expect(page.locator("#public-reply")).to_be_visible()
    expect(page.locator("#public-reply")).to_have_value("We are sorry")
    page.focus("#public-reply")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#said")).to_contain_text("Replied to “Complaint 1”")
    assert not any(each["resolved"] for each in stored(empty, thread_id))


def test_a_report_is_snoozed_until_a_day_by_keys(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """A menu in which something was refused stays open, with the reason in it."""
    thread_id = complaints(empty, 2)
    visitor = visit("admin", timezone_id="Asia/Tokyo", locale="en-GB")
    visitor.forgive("status of 40[04]")
    page = visitor.page
    first_of_the_open(page, "Complaint 1")
    page.keyboard.press("h")
    for _ in range(4):
        page.keyboard.press("Tab")
    expect(page.locator("#snooze-until")).to_be_focused()
    page.keyboard.type("01022021")
    page.keyboard.press("Enter")
    expect(page.locator("#until-wrong")).to_have_text("It must be in the future and within a year.")
    expect(page.locator("#snooze-until")).to_be_focused()
    soon = [(datetime.now(UTC) + timedelta(days=ahead)).date() for ahead in range(3, 120)]
    day = next(each for each in soon if each.day == each.month)  # the same typed day first and month first
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.keyboard.type(f"{day:%d%m%Y}")
    page.keyboard.press("Enter")
    shows(page, "Complaint 0")
    expect(page.locator("#said")).to_contain_text("Snoozed “Complaint 1”")
    put_off = empty.call("admin", "GET", f"admin/feedback/{stored(empty, thread_id)[0]['feedback_id']}/triage")
    assert f"{day - timedelta(days=1)}T15:00:00" in str(put_off), "where Tokyo's day begins"
    page.keyboard.press("d")
    page.keyboard.type("fb_nothing")
    page.locator("#triage button", has_text="Mark as duplicate").click()
    expect(page.locator("#duplicate-wrong")).to_be_visible()


def test_forking_at_the_rated_answer_and_writing_on(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """B134, B138, B142: a complaint becomes a thread in which it can be tried again; the source stays as it was."""
    thread_id = complaints(empty, 2)
    before = empty.call("alice", "GET", f"threads/{thread_id}")["messages"]
    page = visit("admin").page
    first_of_the_open(page, "Complaint 1")
    page.keyboard.press("j")
    shows(page, "Complaint 0")
    page.keyboard.press("f")
    page.wait_for_url("**/threads/ags_*/?write*")
    expect(page.locator("#notes")).to_contain_text("This private fork is yours")
    expect(page.locator("#say")).to_be_focused()
    expect(page.locator("#head")).to_contain_text("from 2 bad answers, message 1")
    page.fill("#say", "Try again.")
    page.click("#send")
    expect(page.locator("#m3[data-voice=agent]")).to_contain_text("Try again.")
    assert empty.call("alice", "GET", f"threads/{thread_id}")["messages"] == before


def test_the_whole_conversation_and_its_tool_calls_are_one_key_away(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    """What is folded around the rated answer unfolds in place, a tool call loads, and links lead to the thread."""
    heddle, rated = empty, complaints(empty, 5)
    thread_id = heddle.start("alice", 'Sum. [[call calculate {"expression": "2 + 3"}]]', org=None)
    last = len(heddle.call("alice", "GET", f"threads/{thread_id}")["messages"]) - 1
    heddle.rate("alice", thread_id, last, notes="With a call")
    page = visit("admin").page
    page.goto(f"/feedback/?q=thread:{rated}")
    page.keyboard.press("j")
    expect(page.locator("#desk-report .words")).to_have_text("Complaint 4")
    expect(page.locator("#desk-talk .msg")).to_have_count(3)
    page.keyboard.press("t")
    expect(page.locator("#desk-talk .msg")).to_have_count(10)
    expect(page.locator("#desk-report .words")).to_have_text("Complaint 4")
    page.keyboard.press("t")
    expect(page.locator("#desk-talk .msg")).to_have_count(3)
    page.goto(f"/feedback/?q=thread:{thread_id}")
    page.keyboard.press("j")
    page.locator("#desk-talk .call summary").first.click()
    expect(page.locator("#desk-talk .call-io").first).to_contain_text("2 + 3")
    page.locator("#desk-talk h2 a").click()
    page.wait_for_url(f"**/threads/{thread_id}/**")


def test_a_second_e_never_reopens_what_a_colleague_resolved(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    thread_id = complaints(empty, 3)
    mine, theirs = visit("admin").page, visit("bea").page
    for page in (mine, theirs):
        first_of_the_open(page, "Complaint 2")
    theirs.keyboard.press("e")
    expect(theirs.locator("#said")).to_contain_text("Resolved “Complaint 2”")
    mine.keyboard.press("e")
    expect(mine.locator("#said")).to_contain_text("Bea already resolved “Complaint 2”.")
    shows(mine, "Complaint 1")
    mine.keyboard.press("e")
    expect(mine.locator("#said")).to_contain_text("Resolved “Complaint 1”")
    assert [each["resolved"] for each in stored(empty, thread_id)] == [True, True, False]
    mine.goto(f"/feedback/?q=&item={stored(empty, thread_id)[0]['feedback_id']}")
    mine.keyboard.press("Shift+E")
    expect(mine.locator("#said")).to_contain_text("Reopened “Complaint 2”")


def test_an_outcome_and_a_reply_by_keys(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    thread_id = complaints(empty, 2)
    page = visit("admin").page
    page.goto("/feedback/?q=")
    page.keyboard.press("/")
    page.keyboard.type("is:open")
    page.keyboard.press("Enter")
    expect(page.locator(".rep")).to_have_count(2)
    expect(page.locator(".rep a").first).to_be_focused()  # not in the query line, where the next keys would be words
    page.keyboard.press("Enter")
    shows(page, "Complaint 1")
    page.keyboard.press("r")
    expect(page.locator("#public-reply")).to_be_focused()
    page.keyboard.type("It is mended.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#said")).to_contain_text("Replied to “Complaint 1”")
    assert page.evaluate("document.activeElement.closest('.rep')?.ariaCurrent") == "true"
    page.keyboard.press("Shift+E")
    expect(page.locator("#triage [name=outcome]")).to_be_focused()
    page.keyboard.press("f")  # as in any list of choices: the one that begins with it
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("Resolved “Complaint 1”")  # the next one is shown before
    shows(page, "Complaint 0")
    record = empty.call("admin", "GET", f"admin/feedback/{stored(empty, thread_id)[0]['feedback_id']}/triage")
    assert (record["outcome"], record["public_reply"]) == ("fixed", "It is mended.")


def test_the_first_action_moves_nothing(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 1)
    page = visit("admin").page
    page.goto("/feedback/?q=is:open")
    if page.locator("#desk-status form").count():  # what an earlier test did can still be taken back
        page.evaluate("document.querySelectorAll('#desk-status form').forEach((form) => form.remove())")
    page.keyboard.press("j")
    shows(page, "Complaint 0")
    before = page.locator("#desk-talk").bounding_box()
    page.keyboard.press("a")
    expect(page.locator("#desk-status")).to_contain_text("Claimed “Complaint 0”")
    assert page.locator("#desk-talk").bounding_box() == before


def test_a_term_is_taken_back_into_the_field_and_mended_by_keys(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """With Backspace or by its words; what is offered stands for the term that is being typed."""
    complaints(empty, 2)
    page = visit("admin").page
    page.goto("/feedback/?q=is:open+sentimet:negative")
    field, tokens = page.locator("#q"), page.locator(".token")
    page.keyboard.press("/")
    page.keyboard.press("Backspace")
    expect(field).to_have_value("sentimet:negative")
    expect(field).to_be_focused()
    expect(tokens).to_have_count(1)
    page.keyboard.press("End")
    page.keyboard.press("Backspace")
    expect(tokens).to_have_count(1)
    field.fill("sentiment:negative -org:")
    expect(page.locator("#terms option").first).to_have_attribute("value", "sentiment:negative -org:acme")
    expect(page.locator("#said")).to_have_text("Newest first: 2 reports.")
    field.fill("sentiment:negative")
    page.keyboard.press("Enter")
    expect(tokens).to_have_count(2)
    expect(page.locator(".rep")).to_have_count(2)
    tokens.first.locator("a").first.click()
    expect(field).to_have_value("is:open")
    expect(field).to_be_focused()
    page.go_back()
    expect(tokens).to_have_count(2)
    page.goto("/feedback/?q=is:open+sentimet:negative")
    page.click("text=Use sentiment:negative")
    expect(page.locator(".rep")).to_have_count(2)


def test_the_sheet_of_keys_closes_by_its_own_key(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    page = visit("admin").page
    page.goto("/feedback/")
    for shown in (True, False, True):
        page.keyboard.press("?")
        expect(page.locator("#keys")).to_be_visible(visible=shown)


def test_who_acts_on_what_leaves_the_view_keeps_the_place(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """Taken out of what is nobody's, the report stays between its neighbours; so does the way on from it."""
    complaints(empty, 6)
    page = visit("admin").page
    page.goto("/feedback/")
    for number in (5, 4, 3):
        page.keyboard.press("j")
        shows(page, f"Complaint {number}")
    page.keyboard.press("a")
    expect(page.locator("#said")).to_contain_text("Claimed “Complaint 3”")
    shows(page, "Complaint 3")
    expect(page.locator(".rep[aria-current]")).to_contain_text("no longer matches")
    assert page.evaluate("document.activeElement.closest('.rep')?.ariaCurrent") == "true"
    page.keyboard.press("j")
    shows(page, "Complaint 2")
    page.keyboard.press("a")
    expect(page.locator("#said")).to_contain_text("Claimed “Complaint 2”")
    page.keyboard.press("e")
    shows(page, "Complaint 1")
    page.keyboard.press("k")
    shows(page, "Complaint 4")


def test_keys_go_over_the_edge_of_a_page_and_say_where_the_list_ends(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    """And Back leads out of the reports at once, however many were read."""
    complaints(empty, 34)
    page = visit("admin").page
    page.goto("/feedback/?q=is:open")
    page.locator(".rep a").last.click()
    shows(page, "Complaint 2")
    page.keyboard.press("j")
    shows(page, "Complaint 1")
    expect(page.locator(".rep")).to_have_count(2)
    page.keyboard.press("k")
    shows(page, "Complaint 2")
    expect(page.locator(".rep[aria-current]")).to_be_in_viewport(ratio=0.9)
    page.keyboard.press("k")
    shows(page, "Complaint 3")
    for number in (2, 1, 0):
        page.keyboard.press("j")
        shows(page, f"Complaint {number}")
    page.keyboard.press("j")
    expect(page.locator("#desk-status")).to_contain_text("No more below.")
    expect(page.locator("#said")).to_have_text("No more below.")
    page.keyboard.press("k")
    shows(page, "Complaint 1")
    expect(page.locator("#told p")).to_be_hidden(timeout=7_000)
    page.goto("/feedback/?q=is:open")
    page.locator(".rep a").last.click()
    shows(page, "Complaint 2")
    for number in (1, 0):
        page.keyboard.press("n")
        shows(page, f"Complaint {number}")
    page.keyboard.press("n")
    expect(page.locator("#desk-status")).to_contain_text("No more below.")
    page.go_back()
    expect(page.locator("#desk-talk")).to_contain_text("No report is open.")


def test_ticks_end_with_their_query(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """What was ticked in another view is never meant by a key in this one."""
    thread_id = complaints(empty, 3)
    page = visit("admin").page
    page.goto("/feedback/?q=is:open")
    page.locator(".rep input").last.check()
    expect(page.locator("#bulk")).to_contain_text("1 ticked")
    page.click(".views a:has-text('Negative')")
    expect(page.locator("#bulk")).to_be_hidden()
    page.keyboard.press("j")
    shows(page, "Complaint 2")
    page.keyboard.press("e")
    shows(page, "Complaint 1")
    expect(page.locator("#desk-status")).to_contain_text("Resolved “Complaint 2”")
    assert [each["resolved"] for each in stored(empty, thread_id)] == [True, False, False]
    page.goto("/feedback/?q=is:open")
    expect(page.locator("#bulk")).to_be_hidden()


def test_the_conversation_is_scrolled_from_the_list(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 30)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 29")
    page.keyboard.press("k")
    page.keyboard.press("t")
    expect(page.locator("#desk-talk .msg")).to_have_count(60)
    assert page.evaluate("document.activeElement.closest('.rep')?.ariaCurrent") == "true"
    at = "document.getElementById('desk-talk').scrollTop"
    page.wait_for_function(f"() => {at} > 400")  # the rated message is among the last
    before = page.evaluate(at)
    page.keyboard.press("Shift+Space")
    page.wait_for_function(f"(before) => {at} < before - 200", arg=before)
    wait_until(lambda: page.evaluate(at) == (page.wait_for_timeout(200), page.evaluate(at))[1])  # it has come to rest
    page.keyboard.press("Space")
    page.wait_for_function(f"(before) => {at} > before - 200", arg=before)
    page.keyboard.press("j")
    shows(page, "Complaint 28")
    assert page.evaluate("document.activeElement.closest('.rep')?.ariaCurrent") == "true"


def test_who_goes_on_while_an_answer_is_on_the_way_goes_on_when_it_is_there(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    """`e` and `j` in one breath: one is resolved, the next one passed by. A refusal is shown, and nothing moves."""
    thread_id = complaints(empty, 4)
    visitor = visit("admin")
    visitor.forgive("status of 400")
    page = visitor.page
    first_of_the_open(page, "Complaint 3")
    slow: list[Route] = []
    page.route("**/feedback/fb_*/", lambda line: slow.append(line))
    page.keyboard.press("e")
    page.keyboard.press("j")
    wait_until(lambda: bool(slow), page=page)
    slow.pop().continue_()
    shows(page, "Complaint 1")
    assert [each["resolved"] for each in stored(empty, thread_id)] == [True, False, False, False]
    page.fill("#admin-label", "x" * 61)
    page.press("#admin-label", "Escape")
    page.click("#triage [value=label] >> visible=true")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("j")
    wait_until(lambda: bool(slow), page=page)
    slow.pop().continue_()
    expect(page.locator("#label-wrong")).to_contain_text("at most 60")
    page.wait_for_timeout(200)
    shows(page, "Complaint 1")


def test_passing_by_takes_no_lease(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """Only where one rests is a report held, and what was left is shown again without asking."""
    complaints(empty, 5)
    page = visit("admin").page
    page.goto("/feedback/?q=is:open")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    with page.expect_request("**/lease/*") as lease:
        page.evaluate(
            """() => {
              const press = (key) => new KeyboardEvent("keydown", { key, bubbles: true });
              for (const key of "jjjk") document.body.dispatchEvent(press(key));
            }"""
        )
        shows(page, "Complaint 3")
    assert parse_qs(urlsplit(page.url).query)["item"][0] in lease.value.url
    page.wait_for_timeout(500)
    assert len([url for url in asked if url.endswith("/lease/?leave=")]) == 1
    items = [url for url in asked if "item=" in url]
    assert len(items) == len(set(items))


def slowly(page: Page, pattern: str) -> None:
    """What is asked for by these addresses takes its time on the way."""

    def later(line: Route) -> None:
        page.wait_for_timeout(250)
        line.continue_()

    page.route(pattern, later)


def test_keys_find_what_they_were_meant_for_however_slow_the_line(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """Three on, resolve, one on, all in one breath: the third is resolved, and no other."""
    thread_id = complaints(empty, 7)
    page = visit("admin").page
    page.goto("/feedback/?q=is:open")
    page.wait_for_timeout(300)
    slowly(page, "**/feedback/?*item=*")
    for key in "jjjej":
        page.keyboard.press(key)
    shows(page, "Complaint 2")
    assert [each["resolved"] for each in stored(empty, thread_id)] == [False, False, True, False, False, False, False]


def test_keys_behind_a_link_that_is_followed_wait_for_it(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """The address is that of the report that is shown, and `e` resolves that one."""
    thread_id = complaints(empty, 4, "Behind")
    page = visit("admin").page
    first_of_the_open(page, "Behind 3")
    slowly(page, "**/feedback/?*whole=1*")
    page.keyboard.press("t")
    page.keyboard.press("j")
    shows(page, "Behind 2")
    assert page.evaluate("new URL(location).searchParams.get('item')") in str(
        page.locator(".rep[aria-current]").get_attribute("id")
    )
    page.keyboard.press("e")
    shows(page, "Behind 1")
    expect(page.locator("#said")).to_contain_text("Resolved")  # it is shown before the answer is there
    assert [each["resolved"] for each in stored(empty, thread_id)] == [False, True, False, False]


def test_what_is_typed_behind_a_term_that_is_taken_back_stands_behind_it(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    complaints(empty, 2, "Taken")
    page = visit("admin").page
    page.goto("/feedback/?q=is:open+sentiment:neg")
    slowly(page, "**/feedback/?*edit=*")
    page.keyboard.press("/")
    page.keyboard.press("Backspace")
    page.keyboard.type("ative")
    expect(page.locator("#q")).to_have_value("sentiment:negative")
    page.keyboard.press("Enter")
    expect(page.locator(".rep")).to_have_count(2)


def test_keys_behind_a_search_find_what_it_found(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    thread_id = complaints(empty, 3, "Searched")
    page = visit("admin").page
    page.goto("/feedback/?q=is:open")
    slowly(page, "**/feedback/?*q=*")
    page.keyboard.press("/")
    for key in (*f"thread:{thread_id}", "Enter", "j", "j", "e"):
        page.keyboard.press(key)
    expect(page.locator("#desk-status")).to_contain_text("Resolved “Searched 1”")
    assert [each["resolved"] for each in stored(empty, thread_id)] == [False, True, False]


def test_a_key_held_down_acts_once_and_moves_on(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    thread_id = complaints(empty, 6)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 5")
    for _ in range(5):
        page.keyboard.down("e")
        page.wait_for_timeout(100)
    page.keyboard.up("e")
    shows(page, "Complaint 4")
    for _ in range(3):
        page.keyboard.down("j")
    page.keyboard.up("j")
    shows(page, "Complaint 1")
    assert [each["resolved"] for each in stored(empty, thread_id)] == [True] + [False] * 5


def test_keys_after_a_field_was_sent_are_not_its_text(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """A label by Enter, a note by Ctrl+Enter: what comes while the answer is on its way is a key of the desk."""
    thread_id = complaints(empty, 3)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 2")
    slowly(page, "**/feedback/fb_*/")
    for key in ("l", "q", "Enter", "e"):
        page.keyboard.press(key)
    shows(page, "Complaint 1")
    expect(page.locator("form.htmx-request")).to_have_count(0)
    for key in ("m", "n", "Control+Enter", "e"):
        page.keyboard.press(key)
    expect(page.locator("#desk-status")).to_contain_text("Resolved “Complaint 0”")
    made = [(each["resolved"], each["admin_label"], each["admin_note"]) for each in stored(empty, thread_id)]
    assert made == [(True, "q", None), (False, None, "n"), (True, None, None)]
    slowly(page, "**/feedback/bulk/")
    first_of_the_open(page, "Complaint 1")
    for key in ("x", "l", "w", "Enter", "a"):
        page.keyboard.press(key)
    expect(page.locator("#desk-status")).to_contain_text("Claimed “Complaint 1”")
    assert stored(empty, thread_id)[1]["admin_label"] == "w"


def test_what_is_typed_behind_a_key_that_opens_a_field_is_its_text(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """And no verb, while the answer to the key before is still on the way."""
    thread_id = complaints(empty, 3)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 2")
    slowly(page, "**/feedback/fb_*/")
    page.keyboard.press("a")
    page.keyboard.type("/has:note")
    expect(page.locator("#desk-status")).to_contain_text("Claimed “Complaint 2”")
    expect(page.locator("#q")).to_have_value("has:note")
    expect(page.locator("#q")).to_be_focused()
    assert not any(each["resolved"] for each in stored(empty, thread_id))
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.closest('.rep')?.ariaCurrent") == "true"
    page.keyboard.type("ahe")  # a menu's keys are its own
    expect(page.locator("#triage details[open]")).to_be_visible()
    page.wait_for_timeout(200)
    assert not any(each["resolved"] for each in stored(empty, thread_id))
    page.keyboard.press("Escape")
    page.keyboard.type("adelete")  # this one begins with a field
    expect(page.locator("#duplicate-of")).to_have_value("elete")


def test_a_note_of_several_words_behind_a_slow_resolution_is_text(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """A blank scrolls the conversation only where nothing is being typed."""
    thread_id = complaints(empty, 4)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 3")
    slowly(page, "**/feedback/fb_*/")
    page.keyboard.type("emsee the note", delay=60)
    shows(page, "Complaint 2")
    expect(page.locator("#admin-note")).to_have_value("see the note")
    expect(page.locator("#admin-note")).to_be_focused()
    assert [each["resolved"] for each in stored(empty, thread_id)] == [True, False, False, False]


@pytest.mark.parametrize("wait", [0, 250])
def test_keys_behind_a_slow_answer_are_those_of_the_field_or_menu_they_open(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
    wait: int,
) -> None:
    """A letter is taken back in the note, not the key that opened it; Esc leaves it; Enter chooses in a menu and sends
    a query.
    """
    thread_id = complaints(empty, 5)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 4")
    if wait:
        slowly(page, "**/feedback/fb_*/")
    for key in ("e", "m", "x", "Backspace", "e", "Escape", "j"):
        page.keyboard.press(key)
    shows(page, "Complaint 2")
    page.keyboard.press("k")
    shows(page, "Complaint 3")
    expect(page.locator("#admin-note")).to_have_value("e")
    page.fill("#admin-note", "")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    shows(page, "Complaint 2")
    for key in ("a", "h", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("#desk-status")).to_contain_text("Snoozed “Complaint 2”")
    for key in ("a", "/", "l", "a", "t", "e", "Enter"):
        page.keyboard.press(key)
    expect(page.locator(".token")).to_have_text(["is:open", "late"])
    assert [each["resolved"] for each in stored(empty, thread_id)] == [True, False, False, False, False]


@pytest.mark.parametrize("options", [{}, {"viewport": {"width": 390, "height": 844}, "has_touch": True}])
def test_the_second_of_a_double_click_does_not_meet_the_next_report(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
    options: dict[str, Any],
) -> None:
    """Its button stands where the last one's was; whoever means it has read the report before."""
    thread_id = complaints(empty, 3)
    page = visit("admin", **options).page
    page.goto("/feedback/?q=is:open")
    page.locator(".rep a").first.click()
    button = page.locator(f"{'#dock' if options else '#triage'} [value=resolve]")
    box = button.bounding_box()
    assert box
    button.click()
    page.wait_for_timeout(120)
    page.mouse.click(box["x"] + 9, box["y"] + 9)
    expect(page.locator("#said")).to_contain_text("Resolved “Complaint 2”")
    assert [each["resolved"] for each in stored(empty, thread_id)] == [True, False, False]
    button.click()
    expect(page.locator("#said")).to_contain_text("Resolved “Complaint 1”")


def test_enter_waits_with_the_keys_before_it(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """Three reports in one breath, each with its label, the last with a note that is sent by Ctrl+Enter."""
    thread_id = complaints(empty, 4)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 3")
    slowly(page, "**/feedback/fb_*/")
    for key in ("l", "q", "Enter", "j", "l", "x", "Backspace", "q", "Enter", "j", "m", "n", "Control+Enter"):
        page.keyboard.press(key)
    expect(page.locator("#desk-status")).to_contain_text("Saved note on “Complaint 1”")
    made = [(each["admin_label"], each["admin_note"]) for each in stored(empty, thread_id)]
    assert made == [("q", None), ("q", None), (None, "n"), (None, None)]


def test_the_open_report_stays_while_a_term_is_edited(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """Also one that was opened by a key, whose address the page did not come with."""
    complaints(empty, 4)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 3")
    page.keyboard.press("j")
    shows(page, "Complaint 2")
    page.keyboard.press("/")
    page.keyboard.press("Backspace")
    expect(page.locator("#q")).to_have_value("is:open")
    shows(page, "Complaint 2")
    page.keyboard.press("Escape")
    expect(page.locator(".token")).to_have_count(1)
    shows(page, "Complaint 2")


def test_a_row_that_cannot_be_fetched_is_told_and_the_desk_stays(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 4)
    visitor = visit("admin")
    visitor.forgive("net::ERR_FAILED")
    page = visitor.page
    first_of_the_open(page, "Complaint 3")
    page.keyboard.press("j")
    shows(page, "Complaint 2")
    visitor.wait_until_fetched_ahead()
    page.route("**/feedback/?*item=*", lambda line: line.abort())
    for _ in range(3):
        page.keyboard.press("j")
    expect(page.locator(".failed")).to_be_visible()
    expect(page.locator("#desk")).not_to_have_attribute("aria-busy", "true")
    assert page.locator(".rep[aria-current]").count() == 1
    page.wait_for_timeout(300)  # the row is fetched ahead again, in vain
    page.unroute("**/feedback/?*item=*")
    page.keyboard.press("j")
    shows(page, "Complaint 0")
    expect(page.locator(".failed")).to_have_count(0)


def test_keys_without_ctrl_can_be_turned_off(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """Whatever is dictated does nothing then; arrows, Enter, Escape and keys with Ctrl stay (WCAG 2.1.4)."""
    complaints(empty, 3)
    page = visit("admin").page
    page.goto("/settings/#letters")
    page.get_by_role("button", name="Off", exact=True).click()
    page.goto("/feedback/?q=is:open")
    for told in (".desk kbd", ".desk .typed", "#desk-status .keys"):
        expect(page.locator(told).first).to_be_hidden()
    page.locator(".rep a").first.focus()
    for key in ("j", "e", "x", "n", "g", "t", "?"):
        page.keyboard.press(key)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    shows(page, "Complaint 1")
    expect(page.locator(".rep")).to_have_count(3)
    expect(page.locator(".rep :checked")).to_have_count(0)
    page.keyboard.press("Control+k")
    expect(page.locator("#palette")).to_be_visible()


def test_enter_on_a_tick_opens_its_row(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """And presses no button of the form that the ticks are of."""
    thread_id = complaints(empty, 3)
    page = visit("admin").page
    page.goto("/feedback/?q=is:open")
    page.locator(".rep input").nth(1).focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    shows(page, "Complaint 1")
    expect(page.locator("#ticked")).to_have_text("1 ticked")
    empty.call("admin", "PUT", f"admin/feedback/{stored(empty, thread_id)[1]['feedback_id']}/check", {})
    page.goto("/feedback/checks/")
    page.locator("[name=check_ids]").first.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/feedback/.*item="))


def test_what_is_typed_after_a_row_that_cannot_be_fetched_acts_on_no_report(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    """Least of all on the one before it; not at once, and not with a later key."""
    thread_id = complaints(empty, 4)
    visitor = visit("admin")
    visitor.forgive("net::ERR_FAILED")
    page = visitor.page
    first_of_the_open(page, "Complaint 3")
    visitor.wait_until_fetched_ahead()
    held = hands.slow(page, "**/feedback/?*item=*")
    page.keyboard.press("j")
    shows(page, "Complaint 2")
    page.keyboard.press("j")
    page.keyboard.press("e")
    hands.sent(page, held).abort()
    expect(page.locator(".failed")).to_be_visible()
    page.unroute("**/feedback/?*item=*")
    page.wait_for_timeout(1_100)
    page.keyboard.press("k")
    expect(page.locator(".failed")).to_have_count(0)
    page.keyboard.press("a")
    expect(page.locator("#said")).to_contain_text("Claimed")
    assert not any(each["resolved"] for each in stored(empty, thread_id))


def test_e_goes_on_from_what_is_resolved(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 3)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 2")
    page.keyboard.press("e")
    expect(page.locator("#said")).to_contain_text("Resolved “Complaint 2”")
    page.goto("/feedback/?q=")
    page.keyboard.press("j")
    shows(page, "Complaint 2")
    page.keyboard.press("e")
    shows(page, "Complaint 1")
    expect(page.locator("#desk-status")).to_contain_text("You already resolved “Complaint 2”.")


def test_the_original_is_found_by_words_and_chosen_by_keys(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    thread_id = complaints(empty, 3, "Zeppelin")
    first = stored(empty, thread_id)[-1]["feedback_id"]
    page = visit("admin").page
    first_of_the_open(page, "Zeppelin 2")
    page.keyboard.press("d")
    page.keyboard.type("zepp")
    choices = page.locator("#originals label")
    expect(page.locator("[name=found_by]")).to_have_value("zepp")
    expect(choices).to_have_count(2)
    assert page.url.count("originals") == 0
    expect(choices.nth(0)).to_have_text(re.compile("Zeppelin 1"))
    expect(choices.nth(0).locator("input")).to_be_checked()
    expect(page.locator("#originals-found")).to_have_text("2 possible originals. Enter takes “Zeppelin 1”.")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#originals :checked")).to_have_value(first)
    page.keyboard.press("Enter")
    shows(page, "Zeppelin 1")
    expect(page.locator("#said")).to_contain_text("as duplicate of “Zeppelin 0”")
    assert (
        empty.call("admin", "GET", f"admin/feedback/{stored(empty, thread_id)[0]['feedback_id']}/triage")[
            "duplicate_of"
        ]
        == first
    )
    page.keyboard.press("d")
    page.keyboard.type("zeppelin 0")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(page.locator("#duplicate-of")).to_be_hidden()


def test_a_similar_report_is_named_the_original_by_its_button(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    thread_id = complaints(empty, 2, "Gasbag")
    page = visit("admin").page
    first_of_the_open(page, "Gasbag 1")
    page.hover("#similar li")
    page.click("#similar button:has-text('Use as original')")
    expect(page.locator("#said")).to_contain_text("Marked “Gasbag 1” as duplicate of “Gasbag 0”")
    assert [each["resolved"] for each in stored(empty, thread_id)] == [True, False]


def test_ticked_reports_become_duplicates_of_the_open_one_of_a_ticked_one_and_of_a_found_one(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    """By keys alone. The original stays open, also if it is ticked with the others."""
    thread_id = complaints(empty, 5, "Monorail")
    page = visit("admin").page
    first_of_the_open(page, "Monorail 4")
    original = {each["notes"]: each["feedback_id"] for each in stored(empty, thread_id)}
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator("#ticked")).to_have_text("2 ticked")
    page.keyboard.press("d")
    expect(page.locator("#bulk-duplicate-of")).to_be_focused()
    choices = page.locator("#bulk-originals label .saying")
    expect(choices).to_have_text(["Monorail 3", "Monorail 4"])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("Marked “Monorail 4” as duplicate of “Monorail 3”")
    shows(page, "Monorail 3")
    page.keyboard.press("j")
    shows(page, "Monorail 2")
    page.keyboard.press("x")
    page.keyboard.press("d")
    expect(choices).not_to_have_count(0)
    page.keyboard.type("mono")
    expect(choices).to_have_count(4)
    page.keyboard.type("rail 0")
    expect(choices).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("Marked “Monorail 2” as duplicate of “Monorail 0”")
    records = stored(empty, thread_id)
    assert {each["notes"] for each in records if each["resolved"]} == {"Monorail 4", "Monorail 2"}
    of = empty.call("admin", "GET", f"admin/feedback/{original['Monorail 2']}/triage")["duplicate_of"]
    assert of == original["Monorail 0"]
    page.keyboard.press("z")
    expect(page.locator("#said")).to_contain_text("Undone: duplicate mark")


def test_another_outcome_by_two_keys(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 1)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 0")
    page.goto(page.url.replace("is%3Aopen", "").replace("is:open", ""))
    page.keyboard.press("e")
    expect(page.locator("#said")).to_contain_text("Resolved")
    page.locator(".rep a", has_text="Complaint 0").first.click()
    page.keyboard.press("u")
    expect(page.locator("#triage select[name=outcome]")).to_be_focused()
    page.keyboard.press("f")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("to fixed")
    expect(page.locator("#triage h2").first).to_contain_text("fixed")


def test_giving_to_somebody_else_by_key_alone_and_for_all_that_is_ticked(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    thread_id = complaints(empty, 3)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 2")
    page.keyboard.press("Shift+A")
    expect(page.locator("#triage [value='own bea@heddle.test']")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#triage")).to_contain_text("owned by")
    page.keyboard.press("x")
    page.keyboard.press("j")
    shows(page, "Complaint 1")
    page.keyboard.press("x")
    expect(page.locator("#ticked")).to_have_text("2 ticked")
    page.keyboard.press("Shift+A")
    expect(page.locator("#bulk [value='own me']")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    expect(page.locator("#desk-status")).to_contain_text("Claimed 2 reports")

    def owners() -> list[object]:
        rows = stored(empty, thread_id)
        return [empty.call("admin", "GET", f"admin/feedback/{row['feedback_id']}/triage")["owner"] for row in rows]

    assert owners() == ["admin@heddle.test", "admin@heddle.test", None]


def test_the_bulk_offers_what_fits_what_is_ticked(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """And all of it where some are ticked on other pages."""
    thread_id = complaints(empty, 2)
    rows = stored(empty, thread_id)
    empty.call("admin", "POST", f"admin/feedback/{rows[0]['feedback_id']}/actions", {"verb": "resolve"})
    page = visit("admin").page
    page.goto(f"/feedback/?q=thread:{thread_id}")
    boxes, menu = page.locator(".rep input"), page.locator("#bulk > details").last

    def offered() -> list[str]:
        menu.locator("summary").click()
        words = [each.inner_text().partition("\n")[0] for each in menu.locator("button").all() if each.is_visible()]
        page.keyboard.press("Escape")
        return words

    snoozes = ["In 4 hours", "Tomorrow", "Next week", "Until it happens again"]
    to_a_date = "Snooze until date"
    everything = [*snoozes, "Wake", to_a_date]
    reopen, lack = page.locator("#bulk [value=reopen]"), page.locator("#bulk [data-unless]")
    boxes.nth(1).check()
    assert offered() == [*snoozes, to_a_date] and reopen.is_hidden()
    boxes.nth(0).check()
    assert offered() == [*snoozes, to_a_date] and reopen.is_visible()
    boxes.nth(1).uncheck()
    assert offered() == [] and reopen.is_visible() and lack.text_content() == "None of the ticked is open."
    page.locator("#bulk [name=all]").check()
    expect(page.locator("#ticked")).to_be_hidden()
    assert offered() == everything
    page.locator("#bulk [name=all]").uncheck()
    page.evaluate("sessionStorage.ticks = sessionStorage.ticks.replace(']', ',\"fb_elsewhere\"]')")
    page.reload()
    expect(page.locator("#ticked")).to_have_text("2 ticked")
    assert offered() == everything
    page.keyboard.press("Shift+E")
    expect(page.locator("#bulk [value='resolve noted']")).to_be_focused()


def test_what_is_left_of_a_list_that_is_done_is_said_and_reached(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """The last one's verb, then that nothing is left, in sentences of one full stop; tab goes on from the list."""
    complaints(empty, 1)
    page = visit("admin").page
    page.goto("/feedback/?q=is:unclaimed")
    page.keyboard.press("j")
    shows(page, "Complaint 0")
    page.keyboard.press("e")
    expect(page.locator("#said")).to_have_text("Resolved “Complaint 0”. All done here.")
    expect(page.locator("#desk-rows")).to_be_focused()
    page.keyboard.press("z")
    shows(page, "Complaint 0")
    expect(page.locator("#said")).to_have_text("Undone: resolution of “Complaint 0”. Negative: Complaint 0.")


def test_a_term_that_is_left_while_it_is_edited_is_back(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """Esc leaves the field, and the query is what it was, whatever was typed."""
    complaints(empty, 1)
    page = visit("admin").page
    page.goto("/feedback/?q=is:open+sentiment:negative")
    page.click(".token >> text=is:open")
    expect(page.locator("#q")).to_be_focused()
    expect(page.locator("#q")).to_have_value("is:open")
    page.keyboard.type("is:res")
    page.keyboard.press("Escape")
    expect(page.locator(".token")).to_have_text(["is:open", "sentiment:negative"])
    expect(page.locator("#q")).to_have_value("")
    expect(page.locator(".rep a")).to_be_focused()


def test_what_leads_away_from_the_desk_leads_there(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """All labels, from those of a report: a page of its own, and Back is the report."""
    complaints(empty, 1)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 0")
    page.click("#triage h2 >> text=Labels")
    page.wait_for_url("**/settings/labels/")
    expect(page.locator("h1")).to_have_text("Labels")
    page.go_back()
    shows(page, "Complaint 0")


def test_after_the_last_report_of_a_page_the_next_one_is_seen_in_its_list(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    complaints(empty, 35)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 34")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    shows(page, "Complaint 3")
    page.keyboard.press("e")
    shows(page, "Complaint 2")
    expect(page.locator(".rep[aria-current]")).to_be_in_viewport(ratio=0.9)


def test_what_is_ticked_and_found_is_said(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """A screen reader hears each of them, and nothing of what was done before."""
    complaints(empty, 3)
    visitor = visit("admin")
    visitor.forgive("400")
    page, said = visitor.page, visitor.page.locator("#said")
    first_of_the_open(page, "Complaint 2")
    page.keyboard.press("a")
    expect(said).to_contain_text("Claimed")
    page.keyboard.press("x")
    expect(said).to_have_text("1 ticked.")
    page.keyboard.press("d")
    expect(page.locator("#bulk-originals")).not_to_be_empty()
    expect(said).to_have_text("1 ticked.")
    page.keyboard.press("Escape")
    page.keyboard.press("*")
    expect(said).to_contain_text("all 3 that match")
    page.keyboard.press("*")
    expect(said).to_contain_text(" ticked")
    page.keyboard.press("*")
    expect(said).to_contain_text("all 3 that match")
    page.keyboard.press("Escape")
    page.goto("/feedback/?q=is:open")
    page.keyboard.press("/")
    page.keyboard.type("Complaint")
    page.keyboard.press("Enter")
    expect(said).to_contain_text("3 reports")
    page.keyboard.press("/")
    page.keyboard.type("is:opne")
    page.keyboard.press("Enter")
    expect(said).to_contain_text("is:opne must be open")


def test_a_refused_value_is_corrected_at_its_end(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 1)
    visitor = visit("admin")
    visitor.forgive("400")
    page = visitor.page
    first_of_the_open(page, "Complaint 0")
    page.keyboard.press("l")
    page.keyboard.type("y" * 61)
    page.keyboard.press("Enter")
    expect(page.locator("#label-wrong, .wrong").first).to_contain_text("60 characters")
    page.keyboard.press("Backspace")
    expect(page.locator("#admin-label")).to_have_value("y" * 60)


def test_the_list_is_one_stop_of_tab_with_the_box_of_its_row(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 6)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 5")
    page.keyboard.press("j")
    shows(page, "Complaint 4")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    expect(page.locator("#ticked")).to_have_text("1 ticked")
    expect(page.locator(".rep[aria-current] input")).to_be_checked()
    page.keyboard.press("Shift+Tab")
    expect(page.locator("#desk-rows :focus")).to_have_count(0)
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    shows(page, "Complaint 3")
    expect(page.locator(".rep [tabindex='0']")).to_have_count(2)
    expect(page.locator(".rep[aria-current] [tabindex='0']")).to_have_count(2)


def test_back_and_reload_go_on_at_the_row_that_was_open(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """The list is where it was, with the focus on that row."""
    complaints(empty, 24, "Row")
    page = visit("admin").page
    first_of_the_open(page, "Row 23")
    page.locator(".rep a", has_text="Row 3").last.click()
    shows(page, "Row 3")
    row = page.locator(".rep a:focus")
    page.reload()
    expect(row).to_have_text("Negative: Row 3")
    expect(row).to_be_in_viewport()
    page.keyboard.press("j")
    shows(page, "Row 2")
    is_held(page)
    page.go_back()
    expect(page.locator("#desk-talk h2")).to_contain_text("No report is open")
    expect(row).to_have_text("Negative: Row 2")
    expect(row).to_be_in_viewport()
    page.keyboard.press("j")
    shows(page, "Row 2")


def test_back_from_elsewhere_goes_on_at_the_open_report(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """The browser loads the desk anew, and tells nobody that it goes back."""
    complaints(empty, 3, "Left open")
    page = visit("admin").page
    first_of_the_open(page, "Left open 2")
    page.keyboard.press("j")
    shows(page, "Left open 1")
    page.goto("/feedback/insight/")
    page.go_back()
    expect(page.locator(".rep a:focus")).to_have_text("Negative: Left open 1")
    page.keyboard.press("j")
    shows(page, "Left open 0")


def test_a_keyboard_goes_from_the_conversation_to_the_report_past_all_that_it_links_to(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    complaints(empty, 3)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 2")
    page.locator("#desk-talk").focus()
    page.keyboard.press("Tab")
    skip = page.locator("#desk-talk .skip")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport(ratio=1)
    page.keyboard.press("Enter")
    expect(page.locator("#desk-report")).to_be_focused()
    expect(skip).not_to_be_in_viewport()
    shows(page, "Complaint 2")
    page.keyboard.press("Tab")
    expect(page.locator("#desk-report :focus")).to_have_count(1)
    page.keyboard.press("j")
    shows(page, "Complaint 1")
    page.keyboard.press("k")
    shows(page, "Complaint 2")
