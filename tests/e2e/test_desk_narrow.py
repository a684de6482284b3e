"""The desk in a narrow or enlarged window: one pane at a time, and every key does what it does on a wide one."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.desk import complaints, empty, first_of_the_open, stored  # noqa: F401
from tests.e2e.visiting import Heddle, Visit

pytestmark = [pytest.mark.browser, pytest.mark.live]
ENLARGED = {"width": 720, "height": 450}
"""A window of 1440 px at 200 %."""


def opened(visit: Callable[..., Visit], words: str) -> Page:
    """The newest report, in the pane of its conversation."""
    page = visit("admin", viewport=ENLARGED).page
    first_of_the_open(page, words)
    expect(page.locator("#desk")).to_have_attribute("data-pane", "talk")
    return page


@pytest.mark.parametrize(
    ("key", "field", "pane"),
    [
        ("m", "#admin-note", "report"),
        ("l", "#admin-label", "report"),
        ("r", "#public-reply", "report"),
        ("Shift+M", "#comment", "report"),
        ("/", "#q", "list"),
    ],
)
def test_a_field_in_another_pane_takes_what_is_typed(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
    key: str,
    field: str,
    pane: str,
) -> None:
    """None of the words is taken for commands, of which `e` would resolve the report and `f` fork its thread."""
    thread_id = complaints(empty, 2)
    page = opened(visit, "Complaint 1")
    page.keyboard.press(key)
    page.keyboard.type("refund")
    expect(page.locator(field)).to_be_focused()
    expect(page.locator(field)).to_have_value("refund")
    expect(page.locator("#desk")).to_have_attribute("data-pane", pane)
    assert not any(each["resolved"] for each in stored(empty, thread_id))


def test_nothing_skips_to_a_pane_that_is_not_shown(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 1)
    page = opened(visit, "Complaint 0")
    page.locator("#desk-talk").focus()
    page.keyboard.press("Tab")
    expect(page.locator("#desk-talk h2 a")).to_be_focused()


@pytest.mark.parametrize("key", ["d", "h", "Shift+A", "v", "Shift+V"])
def test_a_menu_in_another_pane_is_seen(empty: Heddle, visit: Callable[..., Visit], key: str) -> None:  # noqa: F811
    complaints(empty, 2)
    page = opened(visit, "Complaint 1")
    page.keyboard.press(key)
    expect(page.locator(".menu[open]")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".menu[open]")).to_have_count(0)


def test_escape_leaves_a_field_for_the_keys(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 2)
    page = opened(visit, "Complaint 1")
    page.keyboard.press("m")
    expect(page.locator("#admin-note")).to_be_focused()
    page.keyboard.type("half a note")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator(".rep[aria-current] a")).to_have_text("Negative: Complaint 0")


def test_a_long_complaint_is_led_on_from_the_conversation(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    thread_id = complaints(empty, 1)
    notes = "It was wrong. " * 40 + "Please refund me."
    empty.rate("bob", thread_id, 1, notes=notes, categories=["incorrect"])
    page = visit("admin", viewport={"width": 390, "height": 844}).page
    page.goto(f"/feedback/?q=&item={stored(empty, thread_id)[0]['feedback_id']}")
    page.click(f".rated-words a:has-text('All {len(notes)} characters')")
    expect(page.locator("#desk")).to_have_attribute("data-pane", "report")
    page.locator("#dock summary").last.click()
    page.locator("#dock").get_by_role("link", name="Reply").click()
    expect(page.locator("#public-reply")).to_be_focused()


def test_a_key_acts_on_the_report_that_one_sees_and_not_on_ticks_behind_it(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    thread_id = complaints(empty, 3)
    page = opened(visit, "Complaint 2")
    page.click("#desk-tabs [data-pane=list]")
    page.locator(".rep input").nth(1).check()
    page.locator(".rep input").nth(2).check()
    expect(page.locator("#bulk")).to_be_visible()
    page.click("#desk-tabs [data-pane=talk]")
    page.keyboard.press("e")
    expect(page.locator("#desk-status")).to_contain_text("Resolved “Complaint 2”")
    assert [each["resolved"] for each in stored(empty, thread_id)] == [True, False, False]
    page.click("#desk-tabs [data-pane=list]")
    page.keyboard.press("e")
    expect(page.locator(".rep[data-resolved], .void")).not_to_have_count(0)
    assert all(each["resolved"] for each in stored(empty, thread_id))


@pytest.mark.parametrize(("width", "height"), [(640, 400), (320, 256)])
def test_a_low_window_shows_what_has_the_focus_while_reports_are_ticked(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
    width: int,
    height: int,
) -> None:
    """1280 x 800 at 200 and 400 %: what can be done to the ticked is behind the list, not over it."""
    complaints(empty, 9)
    page = visit("admin", viewport={"width": width, "height": height}).page
    page.goto("/feedback/?q=is:open")
    page.locator(".rep a").first.focus()
    page.keyboard.press("x")
    expect(page.locator("#bulk")).to_be_visible()
    for _ in range(8):
        page.keyboard.press("ArrowDown")
        assert is_seen(page), page.evaluate("document.activeElement.outerHTML")
    menus = page.locator("#bulk summary:visible")
    assert menus.count() > 5
    for menu in menus.all():
        menu.focus()
        menu.press("Enter")
        expect(page.locator("#bulk .menu[open] :focus:not(summary)")).to_have_count(1)
        if menu.get_attribute("data-key") == "d":
            expect(page.locator("#bulk-originals label")).not_to_have_count(0)
        for _ in range(12):
            assert is_seen(page), page.evaluate("document.activeElement.outerHTML")
            page.keyboard.press("Tab")
            if not page.evaluate("!!document.activeElement.closest('#bulk .menu[open]')"):
                break


def is_seen(page: Page) -> bool:
    """Whether what has the focus is in the window, and nothing is over its middle."""
    return bool(
        page.evaluate(
            """() => {
              const had = document.activeElement, box = had.getBoundingClientRect();
              const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
              const at = document.elementFromPoint(x, y);
              return box.top >= 0 && box.bottom <= innerHeight && (had.contains(at) || at?.contains(had));
            }"""
        )
    )
