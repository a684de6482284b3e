"""The list at the desk: ticks, terms, paging and the place in it."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.desk import (
    complaints,
    empty,  # noqa: F401
    first_of_the_open,
    full_of_labels,
    is_held,
    listed,
    shows,
    stored,
)
from tests.e2e.visiting import Heddle, Visit

pytestmark = [pytest.mark.browser, pytest.mark.live]


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
