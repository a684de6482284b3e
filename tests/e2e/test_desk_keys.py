"""Keys at the desk: they wait for what they were meant for, however slow the answer, and mean nothing else."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e import hands
from tests.e2e.desk import (
    complaints,
    empty,  # noqa: F401
    first_of_the_open,
    shows,
    stored,
)
from tests.e2e.visiting import Heddle, Visit, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.live]


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


def test_the_sheet_of_keys_closes_by_its_own_key(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    page = visit("admin").page
    page.goto("/feedback/")
    for shown in (True, False, True):
        page.keyboard.press("?")
        expect(page.locator("#keys")).to_be_visible(visible=shown)


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
    # A busy machine takes longer for the second click than the 0.4 s in which nothing new takes one.
    clock = page.context.new_cdp_session(page)
    clock.send("Animation.enable")
    clock.send("Animation.setPlaybackRate", {"playbackRate": 0.1})
    button.click()
    page.wait_for_timeout(120)
    page.mouse.click(box["x"] + 9, box["y"] + 9)
    expect(page.locator("#said")).to_contain_text("Resolved “Complaint 2”")
    assert [each["resolved"] for each in stored(empty, thread_id)] == [True, False, False]
    clock.send("Animation.setPlaybackRate", {"playbackRate": 1})
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
