"""A batch of checks: it ends before one's eyes, is held against another, run again, stopped; also without scripts."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.test_axe import findings
from tests.e2e.test_reruns import complaint  # noqa: F401
from tests.e2e.visiting import Heddle, Visit, sideways

pytestmark = [pytest.mark.browser, pytest.mark.live]
CALLS = {"kind": "calls", "value": "calculate"}


@pytest.fixture
def check(heddle: Heddle, complaint: tuple[str, str]) -> str:  # noqa: F811
    """A check that passes, and passed: its report."""
    _, report = complaint
    kept = heddle.call("admin", "PUT", f"admin/feedback/{report}/check", {"title": "Counts", "expectations": [CALLS]})
    began = heddle.call("admin", "POST", f"admin/checks/{kept['check_id']}/runs", {"times": 2})
    assert heddle.call("admin", "GET", f"admin/checks/batches/{began['batch_id']}?wait=30")["passed"] == 2
    heddle.call(
        "admin", "PUT", f"admin/feedback/{report}/check", {"expectations": [{"kind": "says", "value": "never said"}]}
    )
    for run in began["runs"]:  # people say that those held, so that what follows has turned
        heddle.call("admin", "PUT", f"admin/checks/runs/{run['run_id']}/verdict", {"verdict": "passed"})
    return report


def run_again(page: Page, report: str, heddle: Heddle) -> None:
    """From the page of the batch before, five times."""
    [latest] = heddle.call("admin", "GET", f"admin/feedback/{report}/check")["runs"][:1]
    page.goto(f"/feedback/checks/batches/{latest['batch_id']}/")
    page.locator("#times").select_option("5")
    page.get_by_role("button", name="Run these again").click()
    page.wait_for_url(lambda url: latest["batch_id"] not in url)


@pytest.mark.parametrize("width", [1440, 390])
def test_a_batch_ends_before_ones_eyes(
    heddle: Heddle, visit: Callable[..., Visit], check: str, axe: str, width: int
) -> None:
    page = visit("admin", viewport={"width": width, "height": 900}).page
    run_again(page, check, heddle)
    was_running = page.locator("#results[hx-trigger]").count()
    expect(page.locator("h1")).to_have_text("1 newly failing")
    if was_running:  # else it had ended before the page was there, which then says it as any page does
        expect(page.locator("#said")).to_have_text("1 newly failing")
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    row = page.locator("#results tbody tr", has_text="Counts")
    expect(row.locator(".runs").first.locator("a")).to_have_count(2)
    expect(row.locator(".runs").last.locator("a[data-tone=neg]")).to_have_count(5)
    expect(row).to_contain_text("says “never said”")
    assert sideways(page) == 0 and not findings(page, axe)
    page.locator("#turned-passing").click()
    expect(page.locator("#results")).to_contain_text("No check changed this way.")
    page.locator("#turned-failing").click()
    row.locator(".runs a").last.click()
    page.wait_for_url("**/compare/**")
    page.goto("/feedback/checks/batches/")
    assert sideways(page) == 0 and not findings(page, axe)
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("th a").nth(1)).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("1 newly failing")
    page.keyboard.press("j")
    expect(page.locator("th a").first).to_be_focused()


def test_without_scripts(heddle: Heddle, visit: Callable[..., Visit], check: str) -> None:
    page = visit("admin", java_script_enabled=False).page
    run_again(page, check, heddle)
    heddle.call("admin", "GET", f"admin/checks/batches/{page.url.rstrip('/').split('/')[-1]}?wait=30")
    page.reload()
    expect(page.locator("h1")).to_have_text("1 newly failing")
    page.get_by_label("Compare with").select_option(index=0)
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("h1")).to_contain_text("failing")
    page.get_by_role("link", name="Batches").click()
    expect(page.locator("tbody tr").first).to_contain_text("5 failed")


def test_undecided_runs_are_judged_by_a_key_each(
    heddle: Heddle,
    visit: Callable[..., Visit],
    complaint: tuple[str, str],  # noqa: F811
) -> None:
    """From the batch to the first, and a key leads to the next; the last one leads back to the batch."""
    _, report = complaint
    kept = heddle.call("admin", "PUT", f"admin/feedback/{report}/check", {"title": "Kind?"})
    began = heddle.call("admin", "POST", f"admin/checks/{kept['check_id']}/runs", {"times": 2})
    assert heddle.call("admin", "GET", f"admin/checks/batches/{began['batch_id']}?wait=30")["undecided"] == 2
    page = visit("admin").page
    page.goto(f"/feedback/checks/batches/{began['batch_id']}/")
    page.keyboard.press("p")
    page.wait_for_url("**/compare/")
    panel = page.locator("form.judge")
    expect(panel).to_contain_text("1 more to judge")
    assert sideways(page) == 0
    first = page.url
    page.keyboard.press("p")
    page.wait_for_url(lambda url: "/compare/" in url and url != first)
    expect(panel).to_contain_text("undecided")
    page.keyboard.press("Shift+P")
    page.wait_for_url("**/feedback/checks/batches/*/")
    batch = heddle.call("admin", "GET", f"admin/checks/batches/{began['batch_id']}")
    assert (batch["passed"], batch["failed"], batch["undecided"]) == (1, 1, 0)


@pytest.mark.parametrize("width", [1440, 1100, 390])
def test_a_word_without_an_end_leaves_the_verdicts_in_sight(
    heddle: Heddle,
    visit: Callable[..., Visit],
    complaint: tuple[str, str],  # noqa: F811
    width: int,
) -> None:
    title = "W" * 120
    body = {"title": title, "expectations": [CALLS]}
    kept = heddle.call("admin", "PUT", f"admin/feedback/{complaint[1]}/check", body)
    batch = heddle.call("admin", "POST", f"admin/checks/{kept['check_id']}/runs", {})["batch_id"]
    heddle.call("admin", "GET", f"admin/checks/batches/{batch}?wait=30")
    page = visit("admin", viewport={"width": width, "height": 900}).page
    page.goto(f"/feedback/checks/batches/{batch}/")
    expect(page.locator("#results")).to_contain_text(title)
    assert sideways(page) == 0
    box = page.locator("#results tbody tr", has_text=title).locator(".runs").last.bounding_box()
    assert box and box["x"] + box["width"] <= width
    for at in ("/feedback/checks/batches/", "/feedback/checks/"):
        page.goto(at)
        expect(page.locator("tbody th", has_text=title).first).to_be_visible()
        assert sideways(page) == 0, at
