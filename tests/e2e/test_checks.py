"""From a complaint to its proof: kept as a check, run, failing, mended, passing; by keys, by mouse, without scripts."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.test_reruns import complaint  # noqa: F401
from tests.e2e.visiting import Heddle, Visit, sideways

pytestmark = [pytest.mark.browser, pytest.mark.live]


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
    page.locator("#check-kind-1").select_option("calls")
    page.locator("#check-value-1").press("Enter")
    expect(page.locator("#check-state")).to_contain_text("passing, ")
    expect(page.locator(".rep[aria-current] a")).to_be_focused()
    page.keyboard.press("g")
    page.keyboard.press("k")
    expect(page.locator("h1")).to_have_text("Checks")


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
    assert page.evaluate("document.activeElement === document.body")


def test_a_list_of_checks_is_walked_and_ticked_by_keys(
    heddle: Heddle,
    visit: Callable[..., Visit],
    complaint: tuple[str, str],  # noqa: F811
) -> None:
    heddle.call("admin", "PUT", f"admin/feedback/{complaint[1]}/check", {"title": "By keys"})
    page = visit("admin").page
    page.goto("/feedback/checks/?state=untried")
    page.locator("button", has_text="Run ticked").click()
    expect(page.locator("#notes")).to_contain_text("No check is ticked.")
    page.keyboard.press("j")
    expect(page.locator("th a").first).to_be_focused()
    page.keyboard.press("x")
    expect(page.locator("#checks input:checked")).to_have_count(1)
    page.locator("th a", has_text="By keys").click()
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
