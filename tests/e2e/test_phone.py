"""A phone, 390 pixels wide: one pane at a time, everything under the thumb, nothing sideways."""

import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.visiting import Heddle, Visit, sideways, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.live]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
LONG = "Donaudampfschifffahrtsgesellschaft" * 4
TABLE = (
    "| a | b | c | d | e | f |\n|---|---|---|---|---|---|\n"
    + "| some words | 1234567890 | x | y | z | wwwwwwww |\n" * 3
)


@pytest.fixture
def crowded(heddle: Heddle) -> str:
    return crowd(heddle)


def crowd(heddle: Heddle) -> str:
    """A thread with everything in it that is wider than a phone."""
    said = [
        {"role": "user", "content": LONG},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": LONG,
                    "type": "function",
                    "function": {"name": LONG[:60], "arguments": f'{{"{LONG}": "{LONG}"}}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": LONG, "content": LONG * 3},
        {"role": "assistant", "content": f"{TABLE}\n\n```\n{LONG} {LONG}\n```\n\n`{LONG}` https://a.test/{LONG}"},
    ]
    thread_id = heddle.imported("alice", f"crowded-{time.monotonic_ns()}", said, title=LONG)
    heddle.rate("bob", thread_id, 3, notes=LONG, categories=["incorrect", "refused_valid_request", "tool_failure"])
    return thread_id


def test_no_screen_goes_sideways(heddle: Heddle, visit: Callable[..., Visit], crowded: str) -> None:
    page = visit("admin", **PHONE).page
    paths = ["/threads/", "/threads/?q=x:y", "/threads/start/", f"/threads/{crowded}/", "/settings/", "/v1/docs/"]
    paths += [
        "/catalogue/",
        "/catalogue/import/",
        "/catalogue/tools/demo__echo/",
        "/catalogue/tools/demo__flaky/export/?dialect=ctp",
    ]
    alike = heddle.call("admin", "GET", f"admin/feedback?thread_id={crowd(heddle)}")["items"][0]["feedback_id"]
    for number in range(4):  # among few reports no word that two share tells anything
        heddle.rate("alice", heddle.start("alice", f"Number {number}"), 1, "positive")
    panes = [f"/feedback/?q=is:open&item={alike}&pane={pane}" for pane in ("list", "talk", "report")]
    paths += ["/feedback/", *panes, f"/threads/{crowded}/messages/3/rate/"]
    for path in paths:
        page.goto(path)
        assert sideways(page) == 0, path
    page.goto(f"/threads/{crowded}/")
    page.locator(".call summary").tap()
    expect(page.locator(".call[open] section[aria-label=Output]")).to_be_visible()
    page.locator("#acts-3 a").first.tap()
    expect(page.locator("#rate-3")).to_be_in_viewport()
    for menu in page.locator("details.menu > summary").all():
        menu.tap()
        assert sideways(page) == 0
        page.keyboard.press("Escape")
    assert sideways(page) == 0


def test_the_panes_of_the_desk(heddle: Heddle, visit: Callable[..., Visit], crowded: str) -> None:
    """List, conversation, report: one at a time, the pane in the address, actions docked, undo above them."""
    page = visit("admin", **PHONE).page
    page.goto(f"/feedback/?q=thread:{crowded}+is:open")
    listed, talk, report = (page.locator(each) for each in (".desk-list", "#desk-talk", "#desk-report"))

    def only(shown: object) -> None:
        for pane in (listed, talk, report):
            expect(pane).to_be_visible() if pane is shown else expect(pane).to_be_hidden()
        wait_until(lambda: sideways(page) == 0)

    only(listed)
    expect(page.locator("#dock")).to_be_hidden()
    page.locator(".rep a").first.tap()
    expect(page.locator(".rated")).to_be_visible()
    only(talk)
    expect(page.locator("#dock [value=resolve]")).to_be_in_viewport()
    expect(page.locator(".nav")).to_be_hidden()
    page.locator("#desk-tabs a", has_text="Report").tap()
    page.wait_for_url("**pane=report**")
    only(report)
    page.go_back()
    expect(talk).to_be_visible()
    page.locator("#desk-tabs a", has_text="Report").tap()
    only(report)
    page.locator("#admin-note").fill("From the tram")
    page.locator("#dock [value=resolve]").tap()
    expect(page.locator("#desk-status")).to_contain_text("Resolved")
    expect(page.locator("#desk-status [data-key=z]")).to_be_in_viewport()
    kept = heddle.call("admin", "GET", f"admin/feedback?thread_id={crowded}")["items"]
    assert [(each["admin_note"], each["resolved"]) for each in kept] == [("From the tram", True)]
    page.locator("#desk-status [data-key=z]").tap()
    expect(page.locator("#desk-status")).to_contain_text("Taken back")
    only(talk)


def test_the_bulk_takes_the_place_of_the_navigation(heddle: Heddle, visit: Callable[..., Visit], crowded: str) -> None:
    page = visit("admin", **PHONE).page
    page.goto(f"/feedback/?q=thread:{crowded}+is:open")
    expect(page.locator(".nav")).to_be_visible()
    page.locator(".rep input").first.tap()
    expect(page.locator("#bulk [value=resolve]")).to_be_in_viewport()
    expect(page.locator(".nav")).to_be_hidden()
    for menu in page.locator("#bulk summary").all():
        menu.tap()
        assert sideways(page) == 0
        box = page.locator("#bulk details[open] > :not(summary)").bounding_box()
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= 390 and box["y"] >= 0
        page.keyboard.press("Escape")
    page.locator("#bulk [value=resolve]").tap()
    expect(page.locator("#desk-status")).to_contain_text("Resolved")
    expect(page.locator(".nav")).to_be_visible()


def test_a_thread_is_read_and_written_to(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    thread_id = heddle.start("alice", "On the tram.")
    page = visit("alice", **PHONE).page
    page.goto(f"/threads/{thread_id}/")
    for target in page.locator("#acts-1 .btn, #send, #bar summary, .top .brand").all():
        box = target.bounding_box()
        assert box and box["height"] >= 43.5 and box["width"] >= 24, target
    expect(page.locator("#acts-1 a").first).to_be_visible()
    page.locator("#say").tap()
    page.locator("#say").fill("More, please.")
    page.locator("#send").tap()
    expect(page.locator("#m3[data-voice=agent]")).to_contain_text("More, please.")
    expect(page.locator("#status")).to_have_text("Idle")
    assert sideways(page) == 0


def zoomed(page: Page) -> int:
    return sideways(page)


@pytest.mark.parametrize("name", ["alice", "admin"])
def test_twice_the_size_is_still_one_column(
    heddle: Heddle, visit: Callable[..., Visit], name: str, crowded: str
) -> None:
    """200 % zoom of a window of 1280 is a window of 640."""
    page = visit(name, viewport={"width": 640, "height": 400}).page
    for path in ["/threads/", f"/threads/{crowded}/", "/settings/", *(["/feedback/"] if name == "admin" else [])]:
        page.goto(path)
        assert zoomed(page) == 0, path
