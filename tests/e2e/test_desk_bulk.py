"""The bar for ticked reports: what is typed stays, a refusal stands at its field, and no key means another thing."""

from collections.abc import Callable

import pytest
from playwright.sync_api import APIResponse, Page, Route, expect

from tests.e2e.desk import complaints, empty, first_of_the_open, stored  # noqa: F401
from tests.e2e.visiting import Heddle, Visit, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.live]


def seen_again(page: Page) -> None:
    """As if its tab had been behind another one."""
    with page.expect_response(lambda answer: "/feedback/?" in answer.url):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def begun(page: Page, key: str, words: str) -> None:
    """Type into one of the bar's fields and leave it."""
    page.keyboard.press(key)
    page.keyboard.type(words)
    page.keyboard.press("Escape")


def test_what_is_typed_for_all_that_is_ticked_is_a_draft(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    thread_id = complaints(empty, 45)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 44")
    page.keyboard.press("x")
    begun(page, "r", "We are sorry, ")
    begun(page, "l", "mon")
    seen_again(page)
    expect(page.locator("#bulk-reply")).to_have_value("We are sorry, ")
    page.click("a[rel=next]")
    expect(page.locator(".rep")).to_have_count(5)
    expect(page.locator("#bulk-label")).to_have_value("mon")
    expect(page.locator(".menu[open]")).to_have_count(0)
    page.keyboard.press("e")
    expect(page.locator("#said")).to_contain_text("Resolved")
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("r")
    expect(page.locator("#bulk-reply")).to_be_focused()
    page.keyboard.type("it is mended.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#said")).to_contain_text("Replied")
    expect(page.locator("#bulk-reply")).to_have_value("")
    replies = empty.call("admin", "GET", f"admin/feedback/{page.url.split('item=')[1][:29]}/triage")["public_reply"]
    assert replies == "We are sorry, it is mended."
    assert all(each["admin_label"] is None for each in stored(empty, thread_id)), "the label waits for its own button"


def test_enter_in_a_field_means_that_field_and_a_refusal_leads_back_to_it(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    """Not the label that was left half typed, and never the button that would resolve all."""
    thread_id = complaints(empty, 3)
    visitor = visit("admin")
    visitor.forgive("status of 40[04]")
    page = visitor.page
    first_of_the_open(page, "Complaint 2")
    page.keyboard.press("x")
    begun(page, "l", "half")
    page.keyboard.press("d")
    page.keyboard.type("nothing like it")
    for _ in range(2):
        page.keyboard.press("Enter")
        expect(page.locator("#bulk .wrong")).to_contain_text("hoose the original report")
        expect(page.locator("#bulk-duplicate-of")).to_be_focused()
        expect(page.locator("#bulk-duplicate-of")).to_be_visible()
    expect(page.locator("#admin-label")).to_have_value("")
    assert not any(each["resolved"] or each["admin_label"] for each in stored(empty, thread_id))


def test_the_same_for_one_report(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    thread_id = complaints(empty, 3)
    visitor = visit("admin")
    visitor.forgive("status of 40[04]")
    page = visitor.page
    first_of_the_open(page, "Complaint 2")
    begun(page, "l", "half")
    page.keyboard.press("d")
    page.keyboard.type("fb_nothing")
    page.keyboard.press("Enter")
    expect(page.locator("#duplicate-wrong")).to_be_visible()
    expect(page.locator("#duplicate-of")).to_be_focused()
    expect(page.locator("[aria-label=Triage] >> visible=true")).to_have_count(1)
    assert not any(each["resolved"] or each["admin_label"] for each in stored(empty, thread_id))
    page.keyboard.press("Escape")
    page.locator("#admin-label").press("Enter")
    expect(page.locator("#said")).to_contain_text("New label half")


def test_a_refused_duplicate_is_seen_on_the_phone(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 3)
    visitor = visit("admin", viewport={"width": 390, "height": 844})
    visitor.forgive("status of 40[04]")
    page = visitor.page
    page.goto("/feedback/?q=is:open")
    page.locator(".rep a").first.click()
    page.locator("#desk-tabs [data-pane=report]").click()
    page.locator("#triage summary", has_text="Duplicate").click()
    page.fill("#duplicate-of", "fb_nothing")
    page.locator("#triage [value=duplicate] >> visible=true").click()
    expect(page.locator("#duplicate-wrong")).to_be_visible()
    expect(page.locator("#duplicate-of")).to_be_focused()


def test_all_that_match_stay_meant_while_one_looks_around(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 45)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 44")
    page.keyboard.press("x")
    page.keyboard.press("*")
    every = page.locator("#bulk [name=all]")
    expect(every).to_be_checked()
    seen_again(page)
    expect(every).to_be_checked()
    page.click("a[rel=next]")
    expect(page.locator(".rep")).to_have_count(5)
    expect(every).to_be_checked()
    page.keyboard.press("l")
    page.keyboard.type("all of them")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("45")
    expect(every).not_to_be_checked()


def test_a_capital_that_means_nothing_here_does_not_mean_its_small_letter(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    complaints(empty, 3)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 2")
    for key in ("Shift+N", "Shift+J", "Shift+K"):
        page.keyboard.press(key)
    expect(page.locator("#desk-report .words")).to_have_text("Complaint 2")
    page.keyboard.press("n")
    expect(page.locator("#desk-report .words")).to_have_text("Complaint 1")


def test_undoing_is_no_step_of_the_browsers_history(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 3)
    page = visit("admin").page
    page.goto("/threads/")
    first_of_the_open(page, "Complaint 2")
    depth = page.evaluate("history.length")
    for _ in range(2):
        page.keyboard.press("e")
        expect(page.locator("#said")).to_contain_text("Resolved")
        page.keyboard.press("z")
        expect(page.locator("#said")).to_contain_text("Undone")
    assert page.evaluate("history.length") == depth


def test_a_press_does_not_wait_for_what_the_page_loads_by_itself(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    """It would be held until that answer replaces what was pressed, and then be for nothing on the page."""
    complaints(empty, 45)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 44")
    overtaken = loads_slowly(page)
    page.click("#triage [value='own me']")
    expect(page.locator("#desk-status")).to_contain_text("Claimed “Complaint 44”")
    overtaken()
    expect(page.locator("#desk-status")).to_contain_text("Claimed “Complaint 44”")

    overtaken = loads_slowly(page)
    page.click("a[rel=next]")
    expect(page.locator(".rep")).to_have_count(5)
    overtaken()
    expect(page.locator(".rep")).to_have_count(5)


def loads_slowly(page: Page) -> Callable[[], None]:
    """The page loads itself again. The answer is as of now, and arrives when the result is called."""
    held: list[tuple[Route, APIResponse]] = []
    page.route("**/feedback/?*", lambda line: held.append((line, line.fetch())), times=1)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    def arrive() -> None:
        [(line, answer)] = held
        with page.expect_request_finished(lambda asked: asked == line.request):
            line.fulfill(response=answer)
        page.wait_for_timeout(100)

    wait_until(lambda: bool(held), page=page)
    return arrive
