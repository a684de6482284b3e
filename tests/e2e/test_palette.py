"""Go to or do: the command palette by keys, by mouse and without scripts."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.desk import complaints, empty, first_of_the_open, shows, stored  # noqa: F401
from tests.e2e.visiting import Heddle, Visit

pytestmark = [pytest.mark.browser, pytest.mark.live]


def items(page: Page) -> list[str]:
    return page.locator("#palette li > * > span:nth-of-type(1)").all_inner_texts()


def test_typed_words_and_enter_lead_anywhere(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """Also where Enter comes before the list: it takes what is found for the whole text."""
    thread_id = heddle.start("alice", "Zebra crossing.")
    page = visit("alice").page
    page.goto("/settings/")
    page.keyboard.press("Control+k")
    expect(page.locator("#command")).to_be_focused()
    page.keyboard.type("zebra cr")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/threads/{thread_id}/")
    page.keyboard.press("Control+k")
    page.keyboard.type("new skill\n")
    page.wait_for_url("**/skills/new/")


def test_what_a_page_can_do_is_in_it_with_its_key(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """The report stays open, the place is kept, and no key reaches the desk while one is typing."""
    thread_id = complaints(empty, 2)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 1")
    page.keyboard.press("Control+k")
    expect(page.locator("#acts li", has_text="Resolve & next")).to_contain_text("e")
    page.keyboard.type("claim")
    expect(page.locator("#acts li")).to_have_count(1)
    assert items(page)[0] == "Claim"
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("Claimed “Complaint 1”")
    expect(page.locator("#palette")).to_be_hidden()
    page.keyboard.press("Control+k")
    expect(page.locator("#command")).to_have_value("")
    page.keyboard.type("admin note")
    page.keyboard.press("Enter")
    expect(page.locator("#triage textarea[name=admin_note]")).to_be_focused()
    page.keyboard.type("Written here")
    page.keyboard.press("Control+Enter")
    shows(page, "Complaint 0")
    page.keyboard.press("Control+k")
    page.keyboard.type("snooze")
    page.keyboard.press("Enter")
    expect(page.locator(".menu[open] button").first).to_be_focused()
    reports = {each["notes"]: each for each in stored(empty, thread_id)}
    assert reports["Complaint 1"]["admin_note"] == "Written here"
    assert [each["resolved"] for each in reports.values()] == [False, False]


def test_arrows_choose_and_escape_leads_back(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 1)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 0")
    for opened in ("Control+k", "Meta+k"):
        page.keyboard.press(opened)
        page.locator("#command").fill("lab")
        expect(page.locator("#places a").first).to_contain_text("Labels")
        assert items(page)[:2] == ["Add a label", "Labels"]
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        expect(page.locator("#places a").first).to_be_focused()
        page.keyboard.press("ArrowUp")
        expect(page.locator("#acts button")).to_be_focused()
        page.keyboard.press("ArrowUp")
        expect(page.locator("#command")).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.locator("#palette")).to_be_hidden()
        assert page.evaluate("document.activeElement.closest('.rep')?.ariaCurrent") == "true"
    page.keyboard.press("Control+k")
    page.keyboard.press("Control+k")
    expect(page.locator("#palette")).to_be_hidden()
    page.keyboard.press("Control+k")
    page.keyboard.type("lab")
    expect(page.locator("#places a").first).to_contain_text("Labels")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/settings/labels/")


@pytest.mark.parametrize("width", [1440, 390])
def test_it_is_a_button_too(heddle: Heddle, visit: Callable[..., Visit], width: int) -> None:
    page = visit("alice", viewport={"width": width, "height": 800}, has_touch=width < 500).page
    page.goto("/threads/")
    page.click("[popovertarget=palette]")
    page.locator("#command").fill("worlds")
    page.click("#places a >> nth=0")
    page.wait_for_url("**/catalogue/worlds/")


def test_without_scripts_it_is_a_page(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    page = visit("alice", java_script_enabled=False).page
    page.goto("/threads/")
    page.click("[popovertarget=palette]")
    page.fill("#command", "import tools")
    page.press("#command", "Enter")
    expect(page.locator("h1")).to_have_text("Go to")
    page.click("text=Import tools")
    expect(page).to_have_url(f"{heddle.url}/catalogue/import/")
