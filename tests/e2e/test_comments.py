"""Two admins talk about a report: with the keyboard, at once, and without scripts."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.desk import complaints, empty, first_of_the_open, is_held, shows, stored  # noqa: F401
from tests.e2e.visiting import Heddle, Visit

pytestmark = [pytest.mark.browser, pytest.mark.live]


def test_one_asks_and_the_other_answers_by_keys_alone(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 2)
    mine, theirs = visit("admin").page, visit("bea").page
    first_of_the_open(mine, "Complaint 1")
    theirs.goto("/feedback/")
    mine.keyboard.press("Shift+M")
    expect(mine.locator("#comment")).to_be_focused()
    mine.keyboard.type("Is this one yours, @bea?")
    mine.keyboard.press("Control+Enter")
    expect(mine.locator("#desk-status")).to_contain_text("Commented, and asked Bea.")
    shows(mine, "Complaint 1")
    is_held(mine)
    expect(mine.locator("#comments .said")).to_have_text("Is this one yours, @bea?")
    expect(mine.locator("#comment")).to_have_value("")
    expect(mine.locator("#comment")).not_to_be_focused()

    tab = theirs.locator(".views > div a", has_text="Asked")
    tab.click()
    expect(theirs.locator(".token")).to_contain_text("is:asked")
    theirs.keyboard.press("j")
    shows(theirs, "Complaint 1")
    expect(theirs.locator("#comments")).to_contain_text("Admin asked you.")
    theirs.keyboard.press("Shift+M")
    theirs.keyboard.type("It is.")
    theirs.keyboard.press("Control+Enter")
    expect(theirs.locator("#comments .said")).to_have_count(2)
    expect(theirs.locator("#comments [value=acknowledge]")).to_have_count(0)
    expect(mine.locator("#comments .said").last).to_have_text("It is.")
    expect(mine.locator("#said")).to_have_text("Bea commented on it.")
    expect(mine.locator("#changed")).to_be_hidden()
    expect(mine.locator("#comments")).to_contain_text("Bea answered you.")
    mine.keyboard.press("Shift+N")
    expect(mine.locator("#desk-status")).to_contain_text("Dismissed.")
    expect(mine.locator("#comments [value=acknowledge]")).to_have_count(0)


def test_an_unsent_comment_waits_for_its_report(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 2)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 1")
    page.keyboard.press("Shift+M")
    page.keyboard.type("half a thou")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    shows(page, "Complaint 0")
    expect(page.locator("#comment")).to_have_value("")
    page.keyboard.press("k")
    shows(page, "Complaint 1")
    expect(page.locator("#comment")).to_have_value("half a thou")
    page.keyboard.press("Shift+M")
    page.keyboard.type("ght")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#comments .said")).to_have_text("half a thought")
    page.reload()
    expect(page.locator("#comment")).to_have_value("")


def test_ones_own_comment_is_corrected_and_taken_back(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """By keys: the form opens with the focus in it, Escape leaves it and keeps what was typed, Cancel does not, and
    what was deleted is one key from back.
    """
    thread_id = complaints(empty, 1)
    report = stored(empty, thread_id)[0]["feedback_id"]
    empty.call("admin", "POST", f"admin/feedback/{report}/comments", {"text": "Frist"})
    page = visit("admin").page
    first_of_the_open(page, "Complaint 0")
    edit = page.locator("#comments a", has_text="Edit")
    edit.press("Enter")
    field = page.locator("#edited")
    expect(field).to_be_focused()
    field.fill("Never mind")
    field.press("Escape")
    expect(field).to_have_count(0)
    edit.press("Enter")
    expect(field).to_have_value("Never mind")
    page.locator("#comments a", has_text="Cancel").press("Enter")
    expect(field).to_have_count(0)
    edit.press("Enter")
    expect(field).to_have_value("Frist")
    field.fill("First")
    field.press("Control+Enter")
    expect(page.locator("#comments .said")).to_have_text("First")
    expect(field).to_have_count(0)
    edit.press("Enter")
    page.locator("#comments [value=delete]").press("Enter")
    expect(page.locator("#comments .said")).to_have_count(0)
    expect(page.locator("#comments [value=restore]")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#comments .said")).to_have_text("First")


def test_keys_behind_a_comment_are_not_its_text(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 2)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 1")
    page.keyboard.press("Shift+M")
    page.keyboard.type("quick")
    page.keyboard.press("Control+Enter")
    page.keyboard.press("j")
    shows(page, "Complaint 0")
    expect(page.locator("#comment")).to_have_value("")
    page.keyboard.press("k")
    shows(page, "Complaint 1")
    expect(page.locator("#comments .said")).to_have_text("quick")
    expect(page.locator("#comment")).to_have_value("")
    page.keyboard.press("Shift+M")
    page.keyboard.type("and whom to ask")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("ask Bea")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#desk-status")).to_contain_text("Commented, and asked Bea.")


def test_a_phone_keeps_its_place_after_a_comment(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    thread_id = complaints(empty, 1)
    report = stored(empty, thread_id)[0]["feedback_id"]
    visitor = visit("admin", viewport={"width": 390, "height": 844})
    visitor.forgive("already has a focused element")  # on a busy machine it presses before the first frame
    page = visitor.page
    page.goto(f"/feedback/?q=is:open&item={report}")
    page.click("#dock summary[aria-label='More actions']")
    page.click("#dock a:has-text('Comment')")
    expect(page.locator("#comment")).to_be_in_viewport()
    page.fill("#comment", "From the train")
    page.click("#comments [value=comment]")
    expect(page.locator("#comments .said")).to_have_text("From the train")
    assert page.evaluate("document.activeElement.id") == "desk-report"


def test_the_numbers_of_the_views_open_them(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 1)
    page = visit("admin").page
    page.goto("/feedback/?q=is:open")
    page.keyboard.press("v")
    expect(page.locator(".views .menu[open]")).to_be_visible()
    page.keyboard.press("3")
    expect(page.locator(".views > div [aria-current]")).to_contain_text("Negative")


def test_tab_completes_the_name_of_whom_a_comment_asks(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """And where there is nothing to complete it leaves the field, as everywhere."""
    complaints(empty, 1, "Completed")
    page = visit("admin").page
    first_of_the_open(page, "Completed 0")
    page.keyboard.press("Shift+M")
    comment = page.locator("#comment")
    page.keyboard.type("Is it yours, @BE")
    page.keyboard.press("Tab")
    expect(comment).to_be_focused()
    page.keyboard.type(" or not?")
    expect(comment).to_have_value("Is it yours, @bea@heddle.test or not?")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#desk-status")).to_contain_text("Commented, and asked Bea.")
    for typed in ("Nobody is @zz", "bea"):
        page.keyboard.press("Shift+M")
        comment.fill(typed)
        page.keyboard.press("Tab")
        expect(comment).not_to_be_focused()
        expect(comment).to_have_value(typed)


def test_without_scripts_too(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    thread_id = complaints(empty, 1)
    report = stored(empty, thread_id)[0]["feedback_id"]
    page = visit("admin", java_script_enabled=False).page
    page.goto(f"/feedback/?q=is:open&item={report}")
    page.fill("#comment", "By hand")
    page.select_option("select[name=asked]", label="ask Bea")
    page.click("#comments [value=comment]")
    expect(page.locator("#comments .said")).to_have_text("@bea@heddle.test By hand")
    expect(page.locator("#desk-status")).to_contain_text("Commented, and asked Bea.")
