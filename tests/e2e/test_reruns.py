"""From a complaint to whether it happens again, and back: by keys, by mouse, on a phone, without scripts."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.visiting import Heddle, Visit, sideways

pytestmark = [pytest.mark.browser, pytest.mark.live]
ASKED = 'How many is it? [[call calculate {"expression": "6 * 7"}]]'


@pytest.fixture
def complaint(heddle: Heddle) -> tuple[str, str]:
    """A rated answer that a tool had a part in: its thread, and its report."""
    thread_id = heddle.start("alice", ASKED, visibility="org")
    last = len(heddle.settled("alice", thread_id)["messages"]) - 1
    heddle.rate("alice", thread_id, last, notes="It is not that many.", categories=["incorrect"])
    [report] = heddle.call("admin", "GET", f"admin/feedback?thread_id={thread_id}")["items"]
    return thread_id, report["feedback_id"]


def rerun_and_compare(page: Page, press: Callable[[], Any], source: str, *, by_keys: bool = False) -> None:
    """Press, see the answer come, hold both side by side, and go back to the report."""
    press()
    page.wait_for_url("**/threads/ags_*/#m0")
    expect(page.locator("#notes")).to_contain_text("being rerun")
    assert source not in page.url
    expect(page.locator("#status")).to_have_text("Idle")
    expect(page.locator("#notes .fault")).to_be_hidden()
    expect(page.locator("#talk .call summary")).to_contain_text("calculate")
    page.keyboard.press("d") if by_keys else page.get_by_role("link", name="Compare", exact=True).click()
    expect(page.locator("h1")).to_have_text("Same answer")
    assert sideways(page) == 0
    page.keyboard.press("b") if by_keys else page.locator(".bar a", has_text="Back to the report").click()
    expect(page.locator("#desk-report, #desk-talk").first).to_be_attached()
    page.wait_for_load_state()  # keys need its scripts


def test_by_keys(visit: Callable[..., Visit], complaint: tuple[str, str]) -> None:
    thread_id, report = complaint
    page = visit("admin").page
    page.goto(f"/feedback/?q=&item={report}")
    rerun_and_compare(page, lambda: page.keyboard.press("Shift+F"), thread_id, by_keys=True)
    expect(page.locator("#desk-report .hist")).to_contain_text("reran it with recorded calls")
    page.keyboard.press("e")
    expect(page.locator("#said")).to_contain_text("Resolved")


def test_by_mouse_with_other_settings(visit: Callable[..., Visit], complaint: tuple[str, str]) -> None:
    thread_id, report = complaint
    page = visit("admin").page
    page.goto(f"/feedback/?q=&item={report}")
    page.locator("summary[aria-label='Rerun options']").click()
    page.locator("#rerun-skills").select_option("latest")
    page.locator("#rerun-tools").select_option("live")
    rerun_and_compare(page, page.locator("button", has_text="Rerun with these").click, thread_id)


def test_with_another_prompt_by_keys(visit: Callable[..., Visit], complaint: tuple[str, str]) -> None:
    """The page is left by Ctrl+Enter, and the comparison shows the two prompts."""
    thread_id, report = complaint
    page = visit("admin").page
    page.goto(f"/feedback/?q=&item={report}")
    page.keyboard.press("Shift+P")
    expect(page.locator("#system_prompt")).to_be_focused()
    page.keyboard.type("Be brief.")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/threads/ags_*/#m0")
    assert thread_id not in page.url
    expect(page.locator("#status")).to_have_text("Idle")
    page.keyboard.press("d")
    expect(page.locator("main")).to_contain_text("Be brief.")
    page.keyboard.press("b")
    expect(page.locator("#desk-report .hist")).to_contain_text("recorded calls and another prompt")


def test_on_a_phone(visit: Callable[..., Visit], complaint: tuple[str, str]) -> None:
    thread_id, report = complaint
    page = visit("admin", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True).page
    page.goto(f"/feedback/?q=&item={report}&pane=talk")
    page.locator("#dock summary[aria-label='More actions']").tap()
    rerun_and_compare(page, page.locator("#dock button", has_text="Rerun").tap, thread_id)


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768), (390, 844)])
def test_what_is_told_of_a_fork_covers_nothing_that_is_read(
    heddle: Heddle, visit: Callable[..., Visit], width: int, height: int
) -> None:
    """It stands in the app bar, and is gone when the answer that it announces is there."""
    thread_id = heddle.start("alice", "Rerun. [[sleep 2]]", visibility="org")
    heddle.rate("alice", thread_id, 1, notes="Again, please.")
    [report] = heddle.call("admin", "GET", f"admin/feedback?thread_id={thread_id}")["items"]
    page = visit("admin", viewport={"width": width, "height": height}).page
    page.goto(f"/feedback/?q=&item={report['feedback_id']}&pane=report")
    page.locator("#desk-report button", has_text="Rerun").first.click()
    page.wait_for_url("**/threads/ags_*/#m0")
    note = page.locator("#notes .fault")
    expect(note).to_be_visible()
    told, top = note.bounding_box(), page.locator(".top").bounding_box()
    assert told and top and told["y"] >= 0 and told["y"] + told["height"] <= top["height"]
    expect(page.locator("#status")).to_have_text("Idle")
    expect(note).to_be_hidden()


def test_without_scripts(heddle: Heddle, visit: Callable[..., Visit], complaint: tuple[str, str]) -> None:
    thread_id, report = complaint
    page = visit("admin", java_script_enabled=False).page
    page.goto(f"/feedback/?q=&item={report}")
    page.locator("#desk-report button", has_text="Rerun").first.click()
    page.wait_for_url("**/threads/ags_*/#m0")
    fork = page.url.split("/threads/")[1].partition("/")[0]
    heddle.settled("admin", fork)
    page.goto(f"/threads/{fork}/compare/")
    expect(page.locator("h1")).to_have_text("Same answer")
    assert thread_id != fork
