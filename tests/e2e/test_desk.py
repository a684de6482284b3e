"""An admin at the desk: reports cleared by keys and by mouse, and an address that always shows the same screen."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.desk import (
    WORDS,
    complaints,
    empty,  # noqa: F401
    first_of_the_open,
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
