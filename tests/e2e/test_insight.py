"""Insight in a real browser: by keys, in the zone of the viewer, from a figure to its reports."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.visiting import SPACED, Heddle, Visit, restyle, sideways

pytestmark = [pytest.mark.browser, pytest.mark.live]


def test_from_a_figure_to_its_reports_by_keys(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """The browser tells where its days begin; the table of a plot is reached without a mouse and leads to the desk."""
    thread_id = heddle.start("alice", "Something to rate.")
    heddle.rate("alice", thread_id, 1, notes="Counted", categories=["unsafe"])
    page = visit("admin", timezone_id="Europe/Lisbon").page
    page.goto("/threads/")
    page.keyboard.press("g")
    page.keyboard.press("i")
    page.wait_for_url("**/feedback/insight/")
    expect(page.locator("main")).to_contain_text("Days begin at midnight in Europe/Lisbon.")
    page.keyboard.press("/")
    page.keyboard.type("category:unsafe")
    page.keyboard.press("Enter")
    page.wait_for_url("**category%3Aunsafe**")
    expect(page.locator(".sums dd").first).to_contain_text("1")
    summary = page.locator(".plot summary").first
    summary.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator(".plot table a:focus")).to_have_count(1)
    page.keyboard.press("Enter")
    page.wait_for_url("**/feedback/?q=category%3Aunsafe**")
    expect(page.locator(".rep")).to_have_count(1)
    expect(page.locator(".rep")).to_contain_text("Counted")


def test_a_bar_is_a_link_and_a_phone_shows_all_of_it(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    thread_id = heddle.start("alice", "Something else to rate.")
    heddle.rate("alice", thread_id, 1, "positive", notes="Pointed at", categories=["good_tool_use"])
    page = visit("admin", viewport={"width": 390, "height": 800}).page
    page.goto("/feedback/insight/?q=category:good_tool_use")
    assert sideways(page) == 0
    bar = page.locator(".series a")
    expect(bar).to_have_count(1)
    bar.locator("rect").click()
    page.wait_for_url("**/feedback/?q=category%3Agood_tool_use**")
    expect(page.locator(".rep")).to_have_count(1)


def test_a_table_stays_inside_its_plot_with_letters_farther_apart(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """Whatever its names are: it takes more of the row, and covers no other."""
    said = {"categories": ["refused_valid_request", "tool_failure"]}
    heddle.rate("alice", heddle.start("alice", '[[call calculate {"expression": "1"}]]'), 3, **said)
    page = visit("admin").page
    page.goto("/feedback/insight/")
    restyle(page, SPACED)
    for width in (721, 768, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert sideways(page) == 0, width
        for plot in page.locator(".plot", has=page.locator(".bars")).all():
            frame, table = plot.bounding_box(), plot.locator("table").bounding_box()
            assert frame and table and table["x"] + table["width"] < frame["x"] + frame["width"] + 1, width


@pytest.mark.parametrize("width", [1440, 390])
def test_figures_one_below_the_other_are_far_enough_apart_to_be_hit(
    heddle: Heddle, visit: Callable[..., Visit], width: int
) -> None:
    """Whatever is counted: next to one that is nought there is nothing to hit."""
    heddle.rate("alice", heddle.start("alice", "Rated today."), 1, "positive")
    page = visit("admin", viewport={"width": width, "height": 800}).page
    page.goto("/feedback/insight/?since=30d")
    for summary in page.locator(".plot summary").all():
        summary.click()
    heights = "() => [...document.querySelectorAll('.plot tbody tr')].map((row) => row.getBoundingClientRect().height)"
    found = page.evaluate(heights)
    assert len(found) > 30 and min(found) >= 24


@pytest.mark.parametrize("period", ["7d", "30d"])
def test_a_day_stands_below_its_column(heddle: Heddle, visit: Callable[..., Visit], period: str) -> None:
    heddle.rate("alice", heddle.start("alice", "Rated today."), 1, "positive")
    page = visit("admin", viewport={"width": 390, "height": 800}).page
    page.goto(f"/feedback/insight/?since={period}")
    plot = page.locator(".plot").first
    days = plot.locator("tbody th").all_text_contents()
    picture = plot.locator(".series > svg").bounding_box()
    words = plot.locator(".series ol[data-columns] li")
    assert words.count() == len(days) == int(period[:-1]) and picture
    for place, word in enumerate(words.all()):
        box, middle = word.bounding_box(), picture["x"] + picture["width"] * (place + 0.5) / len(days)
        assert box and abs(box["x"] + box["width"] / 2 - middle) < 1
        assert word.text_content() in ("", days[place])
    assert words.last.text_content()
    assert sideways(page) == 0
