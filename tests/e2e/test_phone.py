"""A phone, 390 pixels wide: one pane at a time, everything under the thumb, nothing sideways."""

import re
import time
from collections.abc import Callable
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.desk import complaints, full_of_labels, stored
from tests.e2e.visiting import SPACED, Heddle, Visit, restyle, sideways, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.live]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
UNCOVERED = """elements => elements.every((each) => {
  const { left, right, top, bottom } = each.getBoundingClientRect();
  return each.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2));
})"""
LONG_AGO = """
from datetime import timedelta
from django.db.models import F
from feedback.models import Bulk, TriageChange
TriageChange.objects.update(at=F("at") - timedelta(hours=1))
Bulk.objects.update(created=F("created") - timedelta(hours=1), finished_at=F("finished_at") - timedelta(hours=1))
"""
"""Whatever anybody did, nobody can take it back any more."""
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
    paths = [
        "/threads/",
        "/threads/?q=x:y",
        "/threads/start/",
        "/threads/import/",
        f"/threads/{crowded}/",
        "/settings/",
        "/v1/docs/",
    ]
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


def test_names_have_room_in_every_list(visit: Callable[..., Visit], crowded: str) -> None:
    page, read = visit("admin", **PHONE).page, 0
    for path in ("/threads/", "/catalogue/", "/catalogue/worlds/", "/skills/", "/agents/"):
        page.goto(path)
        for name in page.locator(".rows tbody .title a:visible, .rows tbody .title:not(:has(a))").all():
            box = name.bounding_box()
            assert box and box["width"] > 200, path
            read += 1
    assert read > 3


def test_a_row_of_the_list_is_cut_at_the_edge(visit: Callable[..., Visit], crowded: str) -> None:
    """Also the line that shows where the words are."""
    page = visit("admin", **PHONE).page
    page.goto("/threads/?q=text:words")
    for shown in (page.locator(".rows .title a").first, page.locator(".rows .title p").first):
        box = shown.bounding_box()
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= PHONE["viewport"]["width"]
    # All of the row leads there, and the browser marks the words.
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url("**/?q=text%3Awords&at=3#m3:~:text=*")


@pytest.mark.parametrize("name", ["admin", "maxi"])
def test_the_places_and_the_names_share_one_line(visit: Callable[..., Visit], name: str) -> None:
    """Six places, whatever the person and the org are called; what is cut is told whole where the pointer rests."""
    page = visit(name).page
    page.goto("/settings/")
    org, person = page.locator(".top .menu > summary").all()
    if name == "maxi":
        org.click()
        page.get_by_role("button", name="acme-research-berlin", exact=True).click()
        expect(person).to_have_attribute("title", "Maximiliana Featherstonehaugh-Cholmondeley")
        expect(org).to_have_attribute("title", "acme-research-berlin")
    for width in (320, 360, 390, 721, 768, 800, 850, 960, 1024, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        assert sideways(page) == 0, width
        left, right = org.bounding_box(), person.bounding_box()
        assert left and right and left["x"] + left["width"] <= right["x"] and left["y"] == right["y"], width
        assert min(left["width"], right["width"]) >= 44 and right["x"] + right["width"] <= width, width
        assert page.locator(".top").bounding_box()["height"] < 50, width  # type: ignore[index]


def test_the_bar_of_a_thread_is_one_row(heddle: Heddle, visit: Callable[..., Visit], crowded: str) -> None:
    """The title gives way to what can be done, whatever it is made of."""
    page = visit("alice", **PHONE).page
    plain = heddle.start("alice", "A title of several words that goes on for longer than a phone is wide")
    for path in (f"/threads/{crowded}/", f"/threads/{plain}/"):
        page.goto(path)
        boxes = [each.bounding_box() for each in page.locator("#bar > :is(nav, .btn, .menu):visible").all()]
        middles = [box["y"] + box["height"] / 2 for box in boxes if box]
        assert len(middles) > 1 and max(middles) - min(middles) < 8, path


def test_the_panes_of_the_desk(heddle: Heddle, visit: Callable[..., Visit], crowded: str) -> None:
    """List, conversation, report: one at a time, the pane in the address, actions docked, undo above them."""
    visitor = visit("admin", **PHONE)
    visitor.forgive("status of 400")
    page = visitor.page
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
    page.locator("#dock summary").first.tap()
    page.locator("#dock [name=dock_label]").fill("x" * 61)
    page.locator("#dock [name=dock_label]").press("Enter")
    expect(report).to_contain_text("at most 60")
    only(report)  # where the reason stands
    page.locator("#desk-tabs a", has_text="Conversation").tap()
    only(talk)
    page.locator("#desk-tabs a", has_text="Report").tap()
    only(report)
    page.locator("#admin-note").fill("From the tram")
    page.locator("#dock [value=resolve]").tap()
    expect(page.locator("#desk-status")).to_contain_text("Resolved")
    expect(page.locator("#desk-status [data-key=z]")).to_be_in_viewport()

    def kept() -> list[tuple[str, bool]]:
        items = heddle.call("admin", "GET", f"admin/feedback?thread_id={crowded}")["items"]
        return [(each["admin_note"], each["resolved"]) for each in items]

    wait_until(lambda: kept() == [("From the tram", True)])
    page.locator("#desk-status [data-key=z]").tap()
    expect(page.locator("#desk-status")).to_contain_text("Undone")
    only(talk)


def test_a_report_is_snoozed_woken_and_labelled_from_the_dock(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    thread_id = complaints(heddle, 1, "Docked")
    page = visit("admin", **PHONE).page
    page.goto(f"/feedback/?q=thread:{thread_id}")
    page.locator(".rep a").tap()
    menu, status = page.locator("#dock summary[aria-label]"), page.locator("#desk-status")
    for choice in ("4 hours", "Tomorrow"):
        menu.tap()
        page.locator("#dock button", has_text=choice).tap()
        expect(status).to_contain_text("Snoozed")
        page.goto(f"/feedback/?q=thread:{thread_id}")
        page.locator(".rep a").tap()
        menu.tap()
        page.locator("#dock button", has_text="Wake").tap()
        expect(status).to_contain_text("Woke")
    page.locator("#dock summary", has_text="Label").tap()
    page.locator("#dock-label").fill("by thumb")
    page.locator("#dock [value=label]").tap()
    wait_until(lambda: stored(heddle, thread_id)[0]["admin_label"] == "by thumb")


def test_a_status_line_without_a_status_takes_no_room(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    thread_id = complaints(heddle, 1, "Quiet")
    heddle.server.manage("shell", "-c", LONG_AGO)
    page = visit("bea", **PHONE).page
    page.goto(f"/feedback/?q=thread:{thread_id}")
    expect(page.locator(".rep")).to_be_visible()
    expect(page.locator("#desk-status")).to_be_hidden()
    page.locator(".rep a").tap()
    expect(page.locator("#desk-talk .rated")).to_contain_text("Quiet")
    expect(page.locator("#desk-status")).to_be_hidden()
    page.locator("#dock [value^=own]").tap()
    expect(page.locator("#desk-status")).to_contain_text("Claimed")
    expect(page.locator("#desk-status [data-key=z]")).to_be_in_viewport()


@pytest.mark.parametrize("width", [390, 1440])
def test_escape_leads_out_of_a_field_to_where_the_report_came_from(
    heddle: Heddle, visit: Callable[..., Visit], width: int
) -> None:
    """To its row, or to the tab of its pane where no list is shown; never to nowhere."""
    thread_id = complaints(heddle, 2, "Escaped")
    page = visit("admin", viewport={"width": width, "height": 844}).page
    page.goto(f"/feedback/?q=thread:{thread_id}")
    page.keyboard.press("j")
    expect(page.locator("#desk-talk .rated")).to_contain_text("Escaped 1")
    page.keyboard.press("m")
    expect(page.locator("#admin-note")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#desk-tabs [aria-current]" if width == 390 else ".rep[aria-current] a")).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator(".rated")).to_contain_text("Escaped 0")


def test_arrows_lead_from_report_to_report(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """With and without scripts, and there is none where the list ends."""
    thread_id = complaints(heddle, 3, "In a row")
    for has_scripts in (True, False):
        page = visit("admin", **PHONE, java_script_enabled=has_scripts).page
        page.goto(f"/feedback/?q=thread:{thread_id}")
        back, on = (page.get_by_role("link", name=f"{which} report") for which in ("Previous", "Next"))
        expect(on).to_be_hidden()
        page.locator(".rep a").first.tap()
        for place in (2, 1):
            expect(page.locator("#desk-talk .rated")).to_contain_text(f"In a row {place}")
            on.tap()
        expect(page.locator("#desk-talk .rated")).to_contain_text("In a row 0")
        expect(on).to_be_hidden()
        back.tap()
        expect(page.locator("#desk-talk .rated")).to_contain_text("In a row 1")


def test_nothing_open_is_told_without_keys_and_without_an_empty_dock(
    heddle: Heddle, visit: Callable[..., Visit], crowded: str
) -> None:
    page = visit("admin", **PHONE).page
    page.goto(f"/feedback/?q=thread:{crowded}&pane=talk")
    expect(page.locator("#desk-talk .typed")).to_be_hidden()
    expect(page.locator("#dock")).to_be_hidden()
    expect(page.locator(".nav")).to_be_visible()
    page.locator("#desk-talk a", has_text="Choose one from the list").tap()
    expect(page.locator(".rep")).to_be_visible()


@pytest.mark.parametrize("width", [390, 800])
def test_every_menu_opens_inside_the_window(
    heddle: Heddle, visit: Callable[..., Visit], crowded: str, width: int
) -> None:
    """Wholly, and no part of one menu lies over another part of it."""
    page = visit("admin", **{**PHONE, "viewport": {"width": width, "height": 844}}).page
    name = f"Mine {time.monotonic_ns()}"
    heddle.call("admin", "POST", "admin/feedback/views", {"name": name, "query": f"thread:{crowded}"})
    desk = f"/feedback/?q=thread:{crowded}"
    report = heddle.call("admin", "GET", f"admin/feedback?thread_id={crowded}")["items"][0]["feedback_id"]
    paths = ["/threads/", "/threads/start/", f"/threads/{crowded}/", "/catalogue/", "/catalogue/tools/demo__echo/"]
    paths += ["/agents/", "/feedback/", desk, f"{desk}&item={report}", f"{desk}&item={report}&pane=report"]
    paths += ["/feedback/insight/", "/settings/", "/settings/labels/", "/settings/webhooks/"]
    seen = 0
    for path in paths:
        page.goto(path)
        for menu in page.locator("details.menu > summary").all():
            if not menu.is_visible():
                continue
            menu.tap()
            parts = page.locator("details.menu[open] > :not(summary)").all()
            assert len(parts) == 1, (path, menu.inner_text())
            box = parts[0].bounding_box()
            assert box and box["x"] >= 0 and box["x"] + box["width"] <= width and box["y"] >= 0, (path, box)
            page.keyboard.press("Escape")
            seen += 1
    assert seen > 30


FOCUSED = """() => {
  const { activeElement: focused } = document;
  const { bottom } = focused.getBoundingClientRect();
  const isOver = (bar) => getComputedStyle(bar).position === "fixed" && bar.checkVisibility()
    && bottom > bar.getBoundingClientRect().top + 0.5;
  const bars = [...document.querySelectorAll(".nav, .dock, .desk > .status")];
  const isBehind = !focused.closest(".nav, .dock, .status") && bars.some(isOver);
  return [[...document.all].indexOf(focused), focused.outerHTML, isBehind];
}"""
"""Which element has the focus, and whether it is behind what stands at the bottom of the window."""


def test_nothing_that_tab_comes_to_is_behind_what_stands_at_the_bottom(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    """Places, dock and status line; all of a field, though a browser shows only the line of it that is written in."""
    report = stored(heddle, complaints(heddle, 1, "Tabbed"))[0]["feedback_id"]
    page = visit("admin", **PHONE).page
    pane = f"/feedback/?q=&item={report}&pane=report"
    page.goto(pane)
    page.locator("#dock [value^=own]").tap()
    expect(page.locator("#desk-status")).to_contain_text("Claimed")
    for path, stops, sizes in (
        ("/settings/", 20, [(390, 844), (320, 640)]),
        ("/threads/start/", 4, [(390, 844), (320, 640)]),
        (pane, 20, [(390, 844), (640, 400)]),
    ):
        for width, height in sizes:
            page.set_viewport_size({"width": width, "height": height})
            page.goto(path)
            page.evaluate("new Promise(requestAnimationFrame)")  # until then the page has not set its own focus
            seen: set[int] = set()
            for _ in range(99):
                page.keyboard.press("Tab")
                place, markup, is_behind = page.evaluate(FOCUSED)
                if place in seen or markup.startswith("<body"):
                    break
                seen.add(place)
                assert not is_behind, (path, width, markup)
            assert len(seen) >= stops, (path, width)


@pytest.mark.parametrize(
    ("width", "style"),
    [
        (320, SPACED),
        (390, "html { font-size: 24px }"),
    ],
)
def test_in_the_letters_of_the_reader_everything_is_still_reached(
    heddle: Heddle, visit: Callable[..., Visit], width: int, style: str
) -> None:
    """Larger or wider ones: what has no room beside the rest scrolls in its bar, and the page stays where it is."""
    report = stored(heddle, complaints(heddle, 2, "Larger"))[0]["feedback_id"]
    page = visit("admin", viewport={"width": width, "height": 844}).page
    pane = f"/feedback/?q=&item={report}&pane=report"
    seen = 0
    for path in ("/settings/", "/catalogue/tools/demo__flaky/export/?dialect=ctp", pane):
        page.goto(path)
        restyle(page, style)
        assert sideways(page) == 0, path
        for each in page.locator(".nav a:visible, .crumbs a:visible, .desk-tabs a:visible, .dock .btn:visible").all():
            each.focus()
            box = each.bounding_box()
            assert box and box["x"] > -1 and box["x"] + box["width"] < width + 1, (path, each.inner_text())
            seen += 1
    assert seen > 20
    page.locator("#dock summary").first.click()  # what opens above it is not cut off with it
    expect(page.locator("#dock-label")).to_be_in_viewport(ratio=1)
    assert page.evaluate(UNCOVERED, [page.locator("#dock-label").element_handle()])


def test_the_bulk_takes_the_place_of_the_navigation(heddle: Heddle, visit: Callable[..., Visit], crowded: str) -> None:
    page = visit("admin", **PHONE).page
    page.goto(f"/feedback/?q=thread:{crowded}+is:open")
    expect(page.locator(".nav")).to_be_visible()
    page.locator(".rep input").first.tap()
    expect(page.locator("#bulk [value=resolve]")).to_be_in_viewport()
    expect(page.locator(".nav")).to_be_hidden()
    for menu in page.locator("#bulk summary >> visible=true").all():
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


@pytest.mark.parametrize("path", ["/threads/", "/agents/", "/catalogue/", "/skills/"])
def test_search_and_plus_stand_in_one_line(visit: Callable[..., Visit], path: str) -> None:
    """A finger wide each, so that the list begins in the upper quarter of the screen."""
    page = visit("alice", **PHONE).page
    page.goto(path)
    search, plus = (
        page.locator(".bar .query").bounding_box(),
        page.locator(".bar [data-plus][data-kind='primary']").bounding_box(),
    )
    assert search and plus
    assert plus["x"] >= search["x"] + search["width"] and plus["y"] == search["y"]
    assert plus["width"] >= 44 and 44 <= plus["height"] <= 48
    assert page.locator(".page").bounding_box()["y"] < 844 / 4  # type: ignore[index]
    assert page.get_by_role("link", name=re.compile("^(New|Import) ")).first.is_visible()


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


def test_the_columns_of_the_list_stay_where_they_are_from_view_to_view(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    """Whatever stands in them, and in windows that have room for fewer of them."""
    heddle.start("alice", "[[fail]]")
    page = visit("alice").page
    edges = "() => [...document.querySelectorAll('thead th')].map((cell) => cell.getBoundingClientRect().left)"
    for width in (1440, 1000, 800):
        page.set_viewport_size({"width": width, "height": 800})
        seen = set()
        for view in ("all", "failed", "mine"):
            page.goto(f"/threads/?view={view}")
            seen.add(tuple(page.evaluate(edges)))
        assert len(seen) == 1, seen
        assert page.locator("thead th").nth(1).bounding_box()["width"] > 160  # type: ignore[index]


def test_what_a_bulk_left_as_it_was_says_why_in_sight(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """Above the bulk's bar while it is ticked, above the navigation after that; and what was done beside its undo."""
    thread_id = complaints(heddle, 2)
    full_of_labels(heddle, stored(heddle, thread_id)[0]["feedback_id"])
    page = visit("admin", **PHONE).page
    page.goto(f"/feedback/?q=thread:{thread_id}")
    for box in page.locator(".rep input").all():
        box.tap()
    page.locator("#bulk summary[data-key=l]").tap()
    page.fill("#bulk-label", "One that is too many for it")
    page.locator("#bulk [value=label]").tap()
    summary, why = page.locator("#desk-status summary"), page.locator("#desk-status li")
    expect(page.locator("#bulk")).to_contain_text("2 ticked")
    for is_ticked in (True, False):
        expect(page.locator("#bulk")).to_be_visible(visible=is_ticked)
        summary.tap()
        expect(why).to_be_in_viewport(ratio=1)
        assert page.evaluate(UNCOVERED, [summary.element_handle(), why.element_handle()])
        summary.tap()
        if is_ticked:
            page.locator("#bulk [type=reset]").tap()
    done = page.locator("#desk-status form [data-said]").bounding_box()
    assert done and done["width"] > 150
    for width in (800, 390):
        page.set_viewport_size({"width": width, "height": 844})
        summary.tap()
        box = page.locator("#desk-status details ul").bounding_box()
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= width
        summary.tap()
    undo = page.locator("#desk-status [data-key=z]")
    expect(undo).to_be_in_viewport(ratio=1)
    undo.tap()
    expect(said := page.locator("#desk-said p")).to_contain_text("Undone")
    beside, line = said.bounding_box(), undo.bounding_box()
    assert beside and line and abs(beside["y"] + beside["height"] / 2 - line["y"] - line["height"] / 2) < 4
    assert sideways(page) == 0


def test_what_was_taken_back_leaves_the_next_undo_in_sight(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """However long the words are that it speaks of."""
    thread_id = complaints(heddle, 1, "No answer at all, only an error. I tried twice, and then once more")
    page = visit("admin", **PHONE).page
    page.goto(f"/feedback/?q=thread:{thread_id}")
    page.locator(".rep a").tap()
    undo, take = page.locator("#desk-status [data-key=z]"), page.locator("#dock [value^=own]")
    for told in ("Claimed", "Released"):
        take.tap()
        expect(page.locator("#desk-status")).to_contain_text(told)
    undo.tap()
    said = page.locator("#desk-status p[data-said]")
    expect(said).to_contain_text("Undone")
    expect(undo).to_be_in_viewport(ratio=1)
    line = said.locator(".cut").bounding_box()
    assert line and line["x"] + line["width"] < undo.bounding_box()["x"]  # type: ignore[index]
    assert page.evaluate("document.querySelector('#desk-status').scrollWidth") <= 390


def test_the_list_of_the_desk_begins_high(heddle: Heddle, visit: Callable[..., Visit], crowded: str) -> None:
    """Query and views are one line each; in a window that is short the bars scroll away."""
    complaints(heddle, 12)
    page = visit("admin", **PHONE).page
    page.goto("/feedback/?q=is:open")
    assert page.locator(".rep").first.bounding_box()["y"] < 200  # type: ignore[index]
    view = page.locator("#desk-bar summary")
    box = view.bounding_box()
    assert box and box["width"] >= 44 and box["height"] >= 44 and view.inner_text().strip() == "View"
    view.tap()
    expect(page.get_by_role("heading", name="Save this view")).to_be_in_viewport()
    page.set_viewport_size({"width": 720, "height": 450})
    page.goto("/feedback/?q=")
    page.evaluate("scrollTo(0, 1e5)")
    for bar in (".top", "#desk-bar", "#desk-tabs", ".nav"):
        expect(page.locator(bar)).not_to_be_in_viewport()


@pytest.mark.parametrize("width", [320, 390, 800, 1100, 1440])
@pytest.mark.parametrize("query", ["is:open", "is:due", "is:resolved resolved:<7d"])
def test_the_views_are_one_line_with_the_one_that_is_looked_at(
    heddle: Heddle, visit: Callable[..., Visit], crowded: str, width: int, query: str
) -> None:
    page = visit("admin", viewport={"width": width, "height": 800}).page
    page.goto(f"/feedback/?q={query}")
    more, first = page.locator(".views summary"), page.locator(".views a").first
    box, beside, whole = more.bounding_box(), first.bounding_box(), page.locator("#desk-views").bounding_box()
    assert box and beside and whole
    assert abs(box["y"] - beside["y"]) < 8 and whole["height"] < 48
    for current in page.locator(".views > div [aria-current]").all():
        expect(current).to_be_in_viewport(ratio=0.9)
        place = current.bounding_box()
        assert place and abs(place["y"] - beside["y"]) < 2 and place["x"] + place["width"] <= box["x"] + 1


@pytest.mark.parametrize("width", [320, 390])
def test_a_query_of_several_terms_stands_inside_its_line(visit: Callable[..., Visit], width: int) -> None:
    """No term is cut by the frame, and what stands beside it keeps its height."""
    page = visit("admin", viewport={"width": width, "height": 844}).page
    page.goto("/feedback/?q=sentiment:negative+category:slow+-label:billing+created:<30d+owner:me")
    frame, view = page.locator(".query").bounding_box(), page.locator("#desk-bar summary").bounding_box()
    assert frame and view and view["height"] < 50
    for token in page.locator(".token").all():
        box = token.bounding_box()
        assert box and frame["y"] + 3 < box["y"] and box["y"] + box["height"] + 3 < frame["y"] + frame["height"]
        assert box["x"] + box["width"] < frame["x"] + frame["width"]


@pytest.mark.parametrize("width", [390, 800, 1100, 1440])
def test_the_buttons_of_a_report_stand_beside_one_another(
    heddle: Heddle, visit: Callable[..., Visit], crowded: str, width: int
) -> None:
    """Also the widest word: to take over what somebody else has."""
    report = heddle.call("admin", "GET", f"admin/feedback?thread_id={crowded}")["items"][0]["feedback_id"]
    page = visit("bea", viewport={"width": width, "height": 900}).page
    page.goto(f"/feedback/?q=&item={report}&pane=report")
    page.click("#triage .acts summary[data-key=A]")
    page.locator("#triage .acts [value^='own ']", has_text="@").first.click()
    expect(page.locator("#triage")).to_contain_text("Take over")
    expect(page.locator("#dock")).to_contain_text("Take over")
    expect(page.locator("#triage details[open]")).to_have_count(0)
    boxes = [each.bounding_box() for each in page.locator("#triage .acts .btn:visible").all()]
    row = sorted((box for box in boxes if box), key=lambda box: (round(box["y"]), box["x"]))
    for left, right in pairwise(row):
        assert round(left["y"]) != round(right["y"]) or left["x"] + left["width"] <= right["x"] + 1.5


def test_what_is_done_with_an_answer_stands_behind_it(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    thread_id = heddle.start("alice", "Read first. [[words 300]]")
    page = visit("alice", **PHONE).page
    page.goto(f"/threads/{thread_id}/")
    words, acts = page.locator("#m1 .prose").bounding_box(), page.locator("#acts-1").bounding_box()
    assert words and acts and words["y"] + words["height"] <= acts["y"]
    name = page.locator("#m1 h2").bounding_box()
    assert name and words["y"] - name["y"] < 50


@pytest.mark.parametrize("width", [390, 640, 700, 720, 760, 1440])
def test_the_warp_runs_through_nothing_that_is_typed(heddle: Heddle, visit: Callable[..., Visit], width: int) -> None:
    thread_id = heddle.start("alice", "Beside the line.")
    page = visit("alice", viewport={"width": width, "height": 500}).page
    page.goto(f"/threads/{thread_id}/")
    line = page.evaluate(
        """() => {
          const { content, display, left } = getComputedStyle(write, "::before");
          return content === "none" || display === "none" ? -1 : write.getBoundingClientRect().left + parseFloat(left);
        }"""
    )
    assert line < page.locator("#say").bounding_box()["x"]  # type: ignore[index]


@pytest.mark.parametrize("width", [390, 1440])
def test_a_fact_is_level_with_its_label(visit: Callable[..., Visit], width: int) -> None:
    page = visit("alice").page
    page.set_viewport_size({"width": width, "height": 900})
    page.goto("/settings/")
    lines = """label => [label, label.nextElementSibling].map(each => {
        const range = document.createRange();
        const texts = document.createTreeWalker(each, NodeFilter.SHOW_TEXT); range.selectNodeContents(texts.nextNode());
        return range.getClientRects()[0].bottom })"""
    for label in page.locator("dl.facts dt").all():
        name, value = label.evaluate(lines)
        assert name == value, label.text_content()
