"""Everything that matters with JavaScript switched off: links and forms do the work."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.visiting import Heddle, Visit

pytestmark = [pytest.mark.browser, pytest.mark.live]
CALLS = '[[call calculate {"expression": "7 * 8"}]]'


def test_a_reader_signs_in_reads_rates_writes_stops_and_forks(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    thread_id = heddle.start("alice", f"Plain. {CALLS}")
    page = visit(java_script_enabled=False).page
    page.goto(f"/threads/?q=id:{thread_id}")
    page.fill("#email", heddle.server.who["emails"]["alice"])
    page.fill("#password", heddle.server.who["passwords"]["alice"])
    page.click("form button")
    page.click(".rows .title a")
    expect(page.locator("h1")).to_have_text("Plain.")

    page.click(".call summary")
    page.click(".call-io a")
    expect(page.locator("section[aria-label=Output]")).to_contain_text("56")
    page.go_back()

    page.locator("#m1").hover()
    page.click("#acts-3 a[title*=negative]")
    expect(page.locator("h1")).to_have_text("Rate message 3")
    page.check("[value=slow]")
    page.fill("#notes-3", "Rated without a script")
    page.click("form.rate button")
    expect(page.locator("section[aria-label='Rating of message 3']")).to_contain_text("Rated without a script")

    page.fill("#say", "Go on. [[words 2000]] [[pace 0.05]]")
    page.click("#send")
    expect(page.locator("#m4")).to_contain_text("Go on.")
    expect(page.locator("#status")).to_have_text("Answering")
    page.click("#cancel")
    expect(page.locator("#status")).to_have_text("Cancelled")

    page.locator("#m1").hover()
    page.click("#m1 .msg-end [form=fork]")
    expect(page.locator("#head")).to_contain_text("from Plain., message 3")
    page.fill("#say", "On a fork.")
    page.click("#send")
    heddle.settled("alice", page.url.split("/")[-2])
    page.reload()
    expect(page.locator("#m5[data-voice=agent]")).to_contain_text("On a fork.")

    page.click("summary:has-text('Alice')")
    page.click("text=Sign out")
    expect(page.locator("#email")).to_be_visible()


def test_an_admin_triages(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    thread_id = heddle.start("bob", "Triage me.", visibility="org")
    heddle.rate("bob", thread_id, 1, notes="Not what I asked")
    page = visit("admin", java_script_enabled=False).page
    page.goto(f"/feedback/?q=thread:{thread_id}+is:open")
    page.click(".rep a")
    expect(page.locator(".rated")).to_be_visible()
    page.fill("#admin-note", "True")
    page.fill("#admin-label", "asked")
    page.press("#admin-label", "Enter")
    expect(page.locator("#admin-note")).to_have_value("True")
    expect(page.locator("#desk-report .tag")).to_have_text("asked")
    page.click("#triage [value=resolve]")
    expect(page.locator(".desk-list")).to_contain_text("No reports match.")
    page.click("#desk-status button:has-text('Undo')")
    expect(page.locator("#desk-status")).to_contain_text("Undone")
    expect(page.locator("#triage [value=resolve]")).to_be_visible()
    page.check(".rep input")
    page.click("#bulk summary:has-text('Label')")
    page.fill("#bulk-label", "many")
    page.press("#bulk-label", "Enter")
    expect(page.locator(".rep")).to_contain_text("asked, many")
    page.fill("#q", "sentiment:negative")
    page.press("#q", "Enter")
    expect(page.locator(".token")).to_have_count(3)
    page.click("#desk-bar summary")
    page.fill("#view-name", f"Without {thread_id[-4:]}")
    page.click("#desk-bar button:has-text('Save view')")
    expect(page.locator(".views > div [aria-current]")).to_contain_text("Without")
    page.click(".rep a")
    page.click("#triage summary:has-text('Snooze')")
    page.click("#triage [value='snooze tomorrow']")
    expect(page.locator("#desk-status")).to_contain_text("Snoozed")
    page.click(".rep a")
    page.click("#desk-report [value=wake]")
    expect(page.locator("#desk-status")).to_contain_text("Woke")


def test_an_agent_is_written_row_by_row(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    page = visit("alice", java_script_enabled=False).page
    page.goto("/agents/new/")
    page.fill("#text", "Open {{station}} on {{day}}.")
    page.fill("#goal-1", "power: It has power\nThe lamp is on")
    page.fill("#variable-1", "station")
    page.click("text=Add variable")
    expect(page.locator("#variable-2")).to_be_focused()
    page.fill("#variable-2", "day")
    page.get_by_label("Default of variable 2").fill("Monday")
    page.fill("#name", "Row by row")
    page.press("#name", "Enter")
    expect(page.locator("h1")).to_have_text("Row by row")
    expect(page.locator(".points li")).to_have_text(["power It has power", "The lamp is on"])
    expect(page.locator(".blanks dt")).to_have_text(["station required", "day required"])


def test_a_label_is_merged_into_another(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    thread_id = heddle.start("bob", "Merge me.", visibility="org")
    heddle.rate("bob", thread_id, 1, notes="Two words for one thing")
    visitor = visit("admin", java_script_enabled=False)
    visitor.forgive("status of 409")
    page = visitor.page
    page.goto(f"/feedback/?q=thread:{thread_id}")
    page.click(".rep a")
    page.fill("#admin-label", "from here")
    page.press("#admin-label", "Enter")
    page.goto("/settings/labels/")
    page.fill("#label-name", "into this")
    page.click("text=Create label")
    row = page.locator("tr", has=page.locator("th", has_text="from here"))
    row.locator("summary").click()
    row.get_by_label("Name", exact=True).fill("Into this")
    row.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("This cannot be undone.")
    page.get_by_role("button", name="Merge into into this").click()
    expect(page.locator("#notes")).to_contain_text("Merged from here into into this on 1 report.")
    page.click("tr:has-text('into this') .num a")
    expect(page.locator(".rep")).to_contain_text("into this")


def test_on_paper_stand_the_words_and_nothing_to_press(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """Black on white, also where the screen is dark."""
    thread_id = heddle.start("alice", f"Printed. {CALLS}")
    heddle.rate("alice", thread_id, 3, notes="On paper too")
    page = visit("alice", color_scheme="dark").page
    page.goto(f"/threads/{thread_id}/")
    page.emulate_media(media="print")
    for words in ("Printed.", "calculate", "On paper too"):
        expect(page.locator("#talk")).to_contain_text(words)
    for pressed in page.locator("header.top, .bar, .btn, kbd, textarea, .map, summary:has-text('Rename')").all():
        expect(pressed).to_be_hidden()
    for shown in page.locator("h1, #head > .facts, [data-index] .msg-body, .call summary, #mark-3 section").all():
        expect(shown).to_be_visible()
    look = "each => [getComputedStyle(each).color, getComputedStyle(each).backgroundColor]"
    assert page.locator("body").evaluate(look) == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]


def test_the_desk_on_paper_is_the_whole_list_or_the_report_that_is_open(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    thread_id = heddle.start("alice", f"On paper. {CALLS}")
    heddle.rate("alice", thread_id, 3, notes="As long as it is")
    page = visit("admin", viewport={"width": 1000, "height": 240}).page
    page.goto("/feedback/?q=")
    page.emulate_media(media="print")
    last, fits = page.locator(".rep").last, "each => each.scrollHeight <= each.clientHeight"
    expect(last).to_be_visible()
    assert page.locator(".desk-list > div").evaluate(fits)
    expect(page.locator(".desk-talk")).to_be_hidden()
    page.emulate_media(media="screen")
    page.locator(".rep", has_text="As long as it is").locator("a").click()
    expect(page.locator("#desk-talk .rated")).to_be_visible()
    page.emulate_media(media="print")
    for part in page.locator("#desk-talk, #desk-report").all():
        expect(part).to_be_visible()
        assert part.evaluate(fits)
    for left_out in page.locator(".desk-list, .views, #dock, #desk-status, .btn, kbd").all():
        expect(left_out).to_be_hidden()
