"""Go to or do: the command palette by keys, by mouse and without scripts."""

import re
import time
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
    expect(page.locator("#places li").first).to_contain_text("Resolve & next")
    page.keyboard.type("claim")
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
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.keyboard.type("snooze tom")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("Snoozed “Complaint 0”")
    reports = {each["notes"]: each for each in stored(empty, thread_id)}
    assert reports["Complaint 1"]["admin_note"] == "Written here"
    assert [each["resolved"] for each in reports.values()] == [False, False]


def test_what_is_in_a_menu_needs_no_key_of_its_own(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """Each menu of the page and of its frame, without opening it."""
    thread_id = heddle.start("alice", "Kept on top")
    page = visit("alice").page
    page.goto(f"/threads/{thread_id}/")
    page.keyboard.press("Control+k")
    page.keyboard.type("pin to\n")
    expect(page.locator("#head")).to_contain_text("pinned")
    page.keyboard.press("Control+k")
    page.keyboard.type("export markdown")
    expect(page.locator("#places button").first).to_contain_text("Export as Markdown")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename.endswith(".md")
    page.keyboard.press("Control+k")
    page.keyboard.type("sign out")
    expect(page.locator("#places button").first).to_have_text("Sign out")


def test_what_is_ticked_is_acted_on(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    thread_id = complaints(empty, 3)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 2")
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("Control+k")
    page.keyboard.type("resolve")
    expect(page.locator("#places li").first).to_contain_text("Resolve the ticked")
    assert not any("& next" in item for item in items(page))
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("2 reports")
    assert [each["resolved"] for each in stored(empty, thread_id)] == [True, True, False]


def test_a_request_that_ends_behind_it_leaves_it_alone(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """The focus stays in the field, and what is chosen is done on the page as it is by then."""
    complaints(empty, 2)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 1")
    page.route("**/feedback/fb_*", lambda route: (time.sleep(0.7), route.continue_()))
    page.keyboard.press("e")
    page.keyboard.press("Control+k")
    page.keyboard.type("sno")
    expect(page.locator("#desk-report .words")).to_have_text("Complaint 0")
    expect(page.locator("#command")).to_be_focused()
    page.keyboard.type("oze")
    page.keyboard.press("Enter")
    expect(page.locator("#palette")).to_be_hidden()
    expect(page.locator(".menu[open] button").first).to_be_focused()


def test_arrows_choose_and_escape_leads_back(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """What is typed goes into the field wherever one is, and each time it begins in the field."""
    complaints(empty, 1)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 0")
    for opened in ("Control+k", "Meta+k", "Control+K"):
        page.keyboard.press(opened)
        expect(page.locator("#command")).to_be_focused()
        page.keyboard.type("lab")
        expect(page.locator("#places li").first).to_contain_text("Add a label")
        expect(page.locator("#palette [role=status]")).to_have_text(re.compile(r"^\d+ found\. Enter: Add a label\.$"))
        expect(page.locator("#command")).not_to_have_class(re.compile("htmx-request"))  # that of the last letter
        assert items(page)[:2] == ["Add a label", "Labels"]
        page.keyboard.press("ArrowDown")
        expect(page.locator("#places a").first).to_be_focused()
        page.keyboard.press("ArrowUp")
        expect(page.locator("#places button")).to_be_focused()
        page.keyboard.press("ArrowUp")
        expect(page.locator("#command")).to_be_focused()
        page.keyboard.press("ArrowDown")
        page.keyboard.type("els")
        expect(page.locator("#command")).to_have_value("labels")
        page.keyboard.press("Home")
        page.keyboard.type("x")
        expect(page.locator("#command")).to_have_value("xlabels")
        page.keyboard.press("Escape")
        expect(page.locator("#palette")).to_be_hidden()
        assert page.evaluate("document.activeElement.closest('.rep')?.ariaCurrent") == "true"
    page.keyboard.press("Control+k")
    page.keyboard.press("Control+k")
    expect(page.locator("#palette")).to_be_hidden()
    expect(page).to_have_url(re.compile("/feedback/"))
    page.keyboard.press("Control+k")
    page.keyboard.type("lab")
    expect(page.locator("#places li").nth(1)).to_contain_text("Labels")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/settings/labels/")


def test_tab_stays_in_it_and_the_page_behind_is_out_of_reach(visit: Callable[..., Visit]) -> None:
    page = visit("alice").page
    page.goto("/threads/")
    page.keyboard.press("Control+k")
    expect(page.locator("#places a").first).to_be_visible()
    for _ in range(4):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement === document.body || !!document.activeElement.closest('#palette')")
    page.mouse.click(5, 700)
    expect(page.locator("#palette")).to_be_hidden()


@pytest.mark.parametrize("width", [1440, 390])
def test_it_is_a_button_too(heddle: Heddle, visit: Callable[..., Visit], width: int) -> None:
    page = visit("alice", viewport={"width": width, "height": 800}, has_touch=width < 500).page
    for path in ("/threads/", "/go/"):
        page.goto(path)
        page.click("#go")
        page.locator("#command").fill("worlds")
        expect(page.locator("#places a").first).to_contain_text("Worlds")
        page.click("#places a >> nth=0")
        page.wait_for_url("**/catalogue/worlds/")


def test_without_scripts_it_is_a_page(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    page = visit("alice", java_script_enabled=False).page
    page.goto("/threads/")
    page.click("#go")
    expect(page.locator("h1")).to_have_text("Go to")
    page.locator("main input").fill("import tools")
    page.press("main input", "Enter")
    page.click("text=Import tools")
    expect(page).to_have_url(f"{heddle.url}/catalogue/import/")


def test_whoever_goes_elsewhere_finds_what_was_typed_again(visit: Callable[..., Visit]) -> None:
    page = visit("alice").page
    for path, field in (("/agents/new/", "#name"), ("/catalogue/worlds/new/", "#name"), ("/agents/new/", "#text")):
        page.goto(path)
        page.fill(field, "half typed")
        page.keyboard.press("Control+k")
        page.keyboard.type("settings\n")
        page.wait_for_url("**/settings/")
        page.go_back()
        expect(page.locator(field)).to_have_value("half typed")
