"""From a complaint to its proof: kept as a check, run, failing, mended, passing; by keys, by mouse, without scripts."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.test_reruns import complaint  # noqa: F401
from tests.e2e.visiting import Heddle, Visit, sideways

pytestmark = [pytest.mark.browser, pytest.mark.live]
COLOUR = "each => getComputedStyle(each).backgroundColor"


def verdicts(page: Page) -> list[str]:
    return [each.inner_text().strip() for each in page.locator("#check-runs .mark").all()]


def test_by_keys(visit: Callable[..., Visit], complaint: tuple[str, str]) -> None:  # noqa: F811
    _, report = complaint
    page = visit("admin").page
    page.goto(f"/feedback/?q=&item={report}")
    page.keyboard.press("c")
    page.keyboard.type("calculate")  # at once: the keys wait for the field
    expect(page.locator("#check-value-1")).to_have_value("calculate")
    page.locator("#check-kind-1").press("n")
    expect(page.locator("#check-kind-1")).to_have_value("never_says")
    page.locator("#check-kind-1").select_option("no_tool_errors")
    expect(page.locator("#check-value-1")).to_be_visible()  # the text would be refused
    page.locator("#check-value-1").fill("")
    expect(page.locator("#check-value-1")).to_be_hidden()
    page.locator("#check-kind-1").select_option("never_calls")
    page.locator("#check-value-1").fill("calculate")
    page.locator("#check-value-1").press("Enter")
    expect(page.locator("#check-state")).to_have_text("not run yet")
    expect(page.locator(".rep[aria-current] a")).to_be_focused()
    page.locator("#check button", has_text="Run").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#check-state")).to_contain_text("failing, ")
    assert verdicts(page) == ["failed"]
    expect(page.locator("#check-runs")).to_contain_text("never calls calculate")
    page.keyboard.press("c")
    expect(page.locator("#check-value-1")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".rep[aria-current] .rep-end")).to_contain_text("failing check")
    page.locator("#check-kind-1").select_option("calls")
    page.locator("#check-value-1").press("Enter")
    expect(page.locator("#check-state")).to_contain_text("passing, ")
    expect(page.locator(".rep[aria-current] .rep-end")).to_contain_text("passing check")
    expect(page.locator(".rep[aria-current] a")).to_be_focused()
    page.keyboard.press("g")
    page.keyboard.press("k")
    expect(page.locator("h1")).to_have_text("Checks")


def test_a_run_leaves_the_panel_where_it_is_and_says_what_came_out(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """While the run is in progress, when its result arrives, and if it is over before the page tells of its start."""
    reports = []
    for asked in ("Slowly. [[sleep 1]]", "At once. [[fail]]"):
        thread_id = heddle.start("alice", asked, visibility="org")
        heddle.rate("alice", thread_id, 1, notes="Not that.")
        [report] = heddle.call("admin", "GET", f"admin/feedback?thread_id={thread_id}")["items"]
        check = {"title": asked, "expectations": [{"kind": "says", "value": "never said"}]}
        heddle.call("admin", "PUT", f"admin/feedback/{report['feedback_id']}/check", check)
        reports.append(report["feedback_id"])
    page = visit("admin", viewport={"width": 1440, "height": 800}).page
    panel, state = page.locator("#desk-report"), page.locator("#desk-status [data-said]")
    for report_id, told in zip(
        reports, ("Check failing: 1 of 1 failed.", "Check undecided: 1 of 1 broken."), strict=True
    ):
        page.goto(f"/feedback/?q=&item={report_id}")
        run = page.locator("#check button", has_text="Run")
        panel.evaluate("each => each.scrollTo(0, each.querySelector('#check').offsetTop)")
        before = panel.evaluate("each => each.scrollTop")
        assert before > 100
        run.click()
        expect(page.locator("#check-runs li")).to_have_count(1)
        assert abs(panel.evaluate("each => each.scrollTop") - before) < 2
        expect(state).to_have_text(told)
        expect(page.locator("#said")).to_contain_text(told)
        assert abs(panel.evaluate("each => each.scrollTop") - before) < 2
        expect(page.locator("#check-runs li")).to_be_in_viewport()
    page.keyboard.press("j")
    expect(page.locator("#desk-report .words")).to_be_in_viewport()  # another report begins at its top


def test_a_form_that_was_left_is_closed_and_takes_no_keys(
    visit: Callable[..., Visit],
    complaint: tuple[str, str],  # noqa: F811
) -> None:
    """Its address is that of the report, so nothing opens it again; what was typed in it is a draft."""
    page = visit("admin").page
    address = f"/feedback/?q=&item={complaint[1]}"
    page.goto(address)
    page.keyboard.press("c")
    page.keyboard.type("calculate")
    expect(page.locator("#check-value-1")).to_have_value("calculate")
    assert page.url.endswith(address)
    page.keyboard.press("Escape")
    expect(page.locator("#check-value-1")).to_have_count(0)
    expect(page.locator(".rep[aria-current] a")).to_be_focused()
    assert page.url.endswith(address)
    page.keyboard.press("c")
    expect(page.locator("#check-value-1")).to_have_value("calculate")
    page.reload()
    expect(page.locator("#check button")).to_have_text("Create check c")
    expect(page.locator(".rep[aria-current] a")).to_be_focused()
    page.keyboard.press("?")
    expect(page.locator(":popover-open")).to_be_visible()


def test_a_list_of_checks_is_walked_and_ticked_by_keys(
    heddle: Heddle,
    visit: Callable[..., Visit],
    complaint: tuple[str, str],  # noqa: F811
) -> None:
    heddle.call("admin", "PUT", f"admin/feedback/{complaint[1]}/check", {"title": "By keys"})
    page = visit("admin").page
    page.goto("/feedback/checks/?state=untried")
    run, boxes = page.locator("button", has_text="Run ticked"), page.locator("#checks td input")
    every = page.get_by_role("link", name="Tick all")
    plain = page.locator("button", has_text="Run all").evaluate(COLOUR)
    assert run.evaluate(COLOUR) == plain  # there is nothing yet that it could run
    run.click()
    expect(page.locator("#notes")).to_contain_text("No check is ticked.")
    page.keyboard.press("j")
    expect(page.locator("th a").first).to_be_focused()
    page.keyboard.press("x")
    expect(page.locator("#checks td input:checked")).to_have_count(1)
    assert run.evaluate(COLOUR) != plain
    every.click()
    expect(page.locator("#checks td input:checked")).to_have_count(boxes.count())
    page.get_by_role("link", name="Untick all").click()
    expect(page.locator("#checks td input:checked")).to_have_count(0)
    assert run.evaluate(COLOUR) == plain
    page.locator("th a", has_text="By keys").first.click()
    expect(page.locator("#check")).to_be_in_viewport()


def test_by_mouse_all_together(heddle: Heddle, visit: Callable[..., Visit], complaint: tuple[str, str]) -> None:  # noqa: F811
    _, report = complaint
    check = heddle.call("admin", "PUT", f"admin/feedback/{report}/check", {"title": "Counts"})["check_id"]
    page = visit("admin", viewport={"width": 390, "height": 844}).page
    page.goto("/feedback/checks/?state=untried")
    page.get_by_label("Tick Counts").first.check()
    page.locator("#times").select_option("3")
    page.locator("button", has_text="Run ticked").click()
    page.goto("/feedback/checks/")
    expect(page.locator(f"#state-{check}")).to_have_text("undecided")
    expect(page.locator(f"#runs-{check} a")).to_have_count(3)
    assert sideways(page) == 0
    page.locator("th a", has_text="Counts").first.click()
    page.locator("#desk-tabs a", has_text="Report").click()
    for left in (2, 1, 0):
        page.locator("#check-runs li", has_text="undecided").first.locator("button", has_text="pass").click()
        expect(page.locator("#check-runs .mark", has_text="undecided")).to_have_count(left)
    expect(page.locator("#check-state")).to_contain_text("passing, ")


def test_without_scripts(heddle: Heddle, visit: Callable[..., Visit], complaint: tuple[str, str]) -> None:  # noqa: F811
    _, report = complaint
    visitor = visit("admin", java_script_enabled=False)
    visitor.forgive("status of 400")
    page = visitor.page
    page.goto(f"/feedback/?q=&item={report}&pane=report")
    page.locator("button", has_text="Create check").click()
    page.locator("#check-kind-1").select_option("never_calls")
    page.locator("#check-value-1").fill("calculate {")
    page.locator("button", has_text="Create & run").click()
    expect(page.locator("#check [role=alert]")).to_contain_text("must be a JSON object")
    expect(page.locator("#check-value-1")).to_have_value("calculate {")
    page.locator("#check-value-1").fill('calculate {"expression": "6 * 7"}')
    page.locator("button", has_text="Create & run").click()
    [run] = heddle.call("admin", "GET", f"admin/feedback/{report}/check")["runs"]
    heddle.settled("admin", run["thread_id"])
    page.reload()
    expect(page.locator("#check-state")).to_contain_text("failing, ")
    expect(page.locator("#check-runs")).to_contain_text('never calls calculate {"expression":"6 * 7"}')
    page.locator("#check button", has_text="Delete").click()
    expect(page.locator("button", has_text="Create check")).to_be_visible()
    heddle.call("admin", "PUT", f"admin/feedback/{report}/check", {"title": "Ticked by hand"})
    page.goto("/feedback/checks/")
    page.get_by_role("link", name="Tick all").click()
    assert page.get_by_label("Tick Ticked by hand").first.is_checked()
    page.locator("button", has_text="Run ticked").click()
    expect(page.locator("#results")).to_be_visible()
