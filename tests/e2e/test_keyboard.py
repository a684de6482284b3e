"""A reader who never touches the mouse."""

import json
import re
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.hands import press_until
from tests.e2e.visiting import Heddle, Visit, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.live]
CALLS = '[[call calculate {"expression": "6 * 7"}]] [[call calculate {"expression": "1 / 0"}]]'
ROLES = ("user", "assistant")
NOON = 1_770_000_000


def focused(page: Page, selector: str) -> bool:
    return bool(page.evaluate("selector => document.activeElement.matches(selector)", selector))


def test_sign_in_open_a_thread_find_what_went_wrong_and_rate_it(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """The whole of a reader's visit by keys: door, list, jumps, an unfolded call, a bad rating with words."""
    thread_id = heddle.start("bob", f"Read by keys. {CALLS}", visibility="org")
    heddle.rate("bob", thread_id, 3, "positive")
    heddle.call("alice", "POST", f"threads/{thread_id}/pin", {"pinned": True})
    page = visit().page
    page.goto("/")
    page.keyboard.type(heddle.server.who["emails"]["alice"])
    page.keyboard.press("Tab")
    page.keyboard.type(heddle.server.who["passwords"]["alice"])
    page.keyboard.press("Enter")
    page.wait_for_url("**/threads/")

    page.keyboard.press("j")
    assert focused(page, ".title a") and "Read by keys" in page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/threads/{thread_id}/")

    page.keyboard.press("e")
    assert focused(page, ".call[data-outcome=error] > summary")
    page.keyboard.press("t")
    assert focused(page, "#talk .call summary") and not focused(page, ".call[data-outcome=error] > summary")
    page.keyboard.press("o")
    opened = page.locator(".call[open]")
    expect(opened).to_contain_text("6 * 7")
    expect(opened.locator("section[aria-label=Output]")).to_contain_text("42")
    page.keyboard.press("o")
    expect(page.locator(".call[open]")).to_have_count(0)

    page.keyboard.press("k")
    page.keyboard.press("j")
    press_until(page, "Tab", "#acts-3 a[title*=negative]")
    expect(page.locator("#acts-3")).to_have_css("opacity", "1")
    page.keyboard.press("Enter")
    expect(page.locator("#notes-3")).to_be_focused()
    page.keyboard.type("Zero <b>is</b> no number of bikes.")
    press_until(page, "Tab", "#rate-3 [value=incorrect]")
    page.keyboard.press("Space")
    page.keyboard.press("Control+Enter")  # from wherever the focus is in the form
    rating = page.locator("section[aria-label='Rating of message 3']")
    expect(rating).to_contain_text("Zero <b>is</b> no number of bikes.")
    expect(rating).to_be_focused()
    expect(page.locator("#bar [data-jump=rating] .count")).to_have_text("1")
    expect(page.locator("#map [data-k=rated]")).to_have_count(1)

    page.keyboard.press("Home")
    page.keyboard.press("r")
    assert focused(page, ".msg-form[role=group][aria-label='Rating of message 3']:has(.margin)")
    own = heddle.call("alice", "GET", f"threads/{thread_id}/feedback")
    assert [(each["sentiment"], each["categories"]) for each in own] == [("negative", ["incorrect"])]


def test_keys_do_nothing_while_typing_and_a_form_closes_with_its_draft_kept(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    thread_id = heddle.start("alice", "Typing.")
    page = visit("alice").page
    page.goto(f"/threads/{thread_id}/")
    page.locator("#say").click()
    page.keyboard.type("jerk to e?")
    expect(page.locator("#say")).to_have_value("jerk to e?")
    expect(page.locator("#keys")).to_be_hidden()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    page.reload()
    expect(page.locator("#say")).to_have_value("jerk to e?")

    page.locator("#m1").hover()
    page.locator("#acts-1 a").first.click()
    page.locator("#notes-1").fill("half a thought")
    page.keyboard.press("Escape")
    expect(page.locator("#rate-1")).to_have_count(0)
    page.locator("#acts-1 a").first.click()
    expect(page.locator("#notes-1")).to_have_value("half a thought")


def test_the_list_is_one_stop_and_places_have_keys(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    for number in range(3):
        heddle.start("bob", f"Stop {number}", visibility="org")
    page = visit("admin").page
    page.goto("/threads/")
    assert page.locator(".rows .title a[tabindex='0']").count() == 1
    page.locator(".rows .title a[tabindex='0']").focus()
    first = page.evaluate("document.activeElement.href")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.href") != first
    page.keyboard.press("Home")
    assert page.evaluate("document.activeElement.href") == first
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("f")
    page.wait_for_url("**/feedback/")
    page.keyboard.press("g")
    page.keyboard.press("t")
    page.wait_for_url("**/threads/")


def test_the_list_is_sorted_by_keys_and_by_mouse(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """The menu opens at the order that is current; the address holds it."""
    for words in ("Older", "Newer"):
        heddle.start("alice", f"{words} of a pair to sort")
    page = visit("alice").page
    page.goto("/threads/?q=pair+sort")
    titles = page.locator(".title a")
    expect(titles).to_have_text([re.compile("^Newer"), re.compile("^Older")])
    page.keyboard.press("Shift+O")
    assert focused(page, ".menu [aria-current]")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(titles).to_have_text([re.compile("^Older"), re.compile("^Newer")])
    assert page.url.endswith("?q=pair+sort+sort%3Aoldest")
    page.locator("summary", has_text="Oldest first").click()
    page.locator(".menu a", has_text="Newest first").click()
    expect(titles).to_have_text([re.compile("^Newer"), re.compile("^Older")])


@pytest.mark.parametrize("by", ["the link", "j", "ArrowDown"])
def test_what_more_threads_brings_is_read_on_from_its_first_row(
    heddle: Heddle, visit: Callable[..., Visit], by: str
) -> None:
    """A list goes on below its last row with the key that came there."""
    said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    for number in range(52):
        heddle.imported("alice", f"more-{number}", said, title=f"Umpteenth {number:02}", created=NOON + number)
    page = visit("alice").page
    page.goto("/threads/?q=umpteenth+sort:oldest")
    if by == "the link":
        page.locator("a", has_text="More threads").focus()
        page.keyboard.press("Enter")
    else:
        page.locator(".title a", has_text="Umpteenth 49").focus()
        page.keyboard.press(by)
    expect(page.locator(".title a", has_text="Umpteenth 50")).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator(".title a", has_text="Umpteenth 51")).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator("#said")).to_have_text("No more below.")


def test_tab_takes_a_suggestion_over_and_moves_on_without_one(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    thread_id = heddle.start("alice", "Completed.")
    heddle.rate("alice", thread_id, 1, notes="To be completed")
    [report] = heddle.call("admin", "GET", f"admin/feedback?thread_id={thread_id}")["items"]
    body = {"verb": "label", "arguments": {"add": ["Tabbed billing"]}}
    heddle.call("admin", "POST", f"admin/feedback/{report['feedback_id']}/actions", body)
    page = visit("admin").page
    page.goto(f"/feedback/?q=&item={report['feedback_id']}")

    line = page.locator("#q")
    line.press("Tab")
    expect(line).not_to_be_focused()  # nothing is typed, nothing is taken
    line.focus()
    page.keyboard.type("has:l")
    expect(page.locator("#terms option[value='has:label']")).to_have_count(1)
    page.keyboard.press("Tab")
    expect(line).to_have_value("has:label")
    expect(line).to_be_focused()
    page.keyboard.type(" cat")
    expect(page.locator("#terms option").first).to_have_attribute("value", "has:label category:incorrect")
    page.keyboard.press("Tab")
    expect(line).to_have_value("has:label category:incorrect")
    expect(page.locator("#terms option")).to_have_count(0)  # fetched for what now stands there
    page.keyboard.press("Tab")
    expect(line).not_to_be_focused()

    label = page.locator("#admin-label")
    label.focus()
    page.keyboard.type("tabbed")
    page.keyboard.press("Shift+Tab")
    expect(label).not_to_be_focused()
    expect(label).to_have_value("tabbed")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(label).to_have_value("Tabbed billing")
    page.keyboard.press("Enter")
    expect(page.locator("#desk-status")).to_contain_text("Tabbed billing")


def test_the_first_stop_skips_to_the_content(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    page = visit("alice").page
    page.goto("/settings/")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    expect(page.locator(".skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")


def test_the_map_shows_what_is_in_view_as_one_stretch(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """From the first mark in view to the last; it moves on with the reader."""
    said = [{"role": role, "content": "Many words. " * 200} for role in ("user", "assistant") * 3]
    thread_id = heddle.imported("alice", f"map-{time.monotonic_ns()}", said)
    page = visit("alice").page
    page.goto(f"/threads/{thread_id}/")
    view = page.locator("#map path")
    boxes = "all => all.map((each) => each.getBBox()).map(({ y, height }) => [y, y + height])"
    expect(view).to_have_attribute("d", re.compile("^M12 0V"))
    page.evaluate("scrollTo(0, 1e6)")
    expect(view).not_to_have_attribute("d", re.compile("^M12 0V"))

    def is_one_stretch() -> bool:
        # The browser tells what came into view in pieces, and the page may still grow when its fonts are there; before
        # its first layout the marks have no size.
        page.evaluate("scrollTo(0, 1e6)")
        marks = page.eval_on_selector_all("#map rect", boxes)
        [[top, end]] = page.eval_on_selector_all("#map path", boxes)
        return top in [start for start, _ in marks] and end == marks[-1][1] > 0

    wait_until(is_one_stretch)


@pytest.mark.parametrize("width", [1440, 390])
def test_writing_leaves_the_transcript_where_it_is(heddle: Heddle, visit: Callable[..., Visit], width: int) -> None:
    thread_id = heddle.start("alice", "Long. [[words 900]]")
    page = visit("alice", viewport={"width": width, "height": 800}).page
    page.goto(f"/threads/{thread_id}/")
    page.evaluate("scrollTo(0, 300)")
    page.keyboard.press("c")
    page.keyboard.type("While I read what was said.")
    assert page.evaluate("scrollY") == 300


def test_keys_act_at_the_turn_in_view_and_say_where_they_have_nothing_to_do(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    """Whatever had the focus before the reader scrolled away from it."""
    said = [{"role": role, "content": f"{role} {n}. " + "Many words. " * 300} for n in range(3) for role in ROLES]
    thread_id = heddle.imported("alice", f"view-{time.monotonic_ns()}", said)
    page = visit("alice").page
    page.goto(f"/threads/{thread_id}/")

    def look_at(turn: str) -> None:
        """Its middle stands in the window, nothing else does."""
        page.eval_on_selector(turn, "each => scrollTo(0, each.offsetTop + each.offsetHeight / 2)")
        page.eval_on_selector(turn, "each => each.scrollIntoView({ block: 'center' })")

    page.keyboard.press("j")
    page.keyboard.press("j")
    assert focused(page, "#m1")
    look_at("#m3")
    before = page.evaluate("scrollY")
    page.keyboard.press("-")
    expect(page.locator("#notes-3")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#acts-3 a[title*=negative]")).to_be_focused()
    look_at("#m4")
    before = page.evaluate("scrollY")
    page.keyboard.press("+")
    expect(page.locator("#said")).to_contain_text("Not on this turn")
    expect(page.locator(".rate")).to_have_count(0)
    assert page.evaluate("scrollY") == before
    page.keyboard.press("k")
    assert focused(page, "#m3")
    look_at("#m5")
    page.keyboard.press("f")
    page.wait_for_url(lambda url: thread_id not in url)
    expect(page.locator("#head")).to_contain_text("message 5")


def test_a_conversation_is_pasted_checked_and_imported_by_keys(visit: Callable[..., Visit]) -> None:
    messages = [{"role": "user", "content": "Pasted by keys"}, {"role": "assistant", "content": "Seen."}]
    page = visit("alice").page
    page.goto("/threads/import/")
    press_until(page, "Tab", "#text")
    page.keyboard.insert_text(json.dumps({"id": f"keys-{time.monotonic_ns()}", "messages": messages}))
    page.keyboard.press("Control+Enter")
    expect(page.locator("#outcome")).to_contain_text("nothing is saved yet")
    press_until(page, "Tab", "#outcome button")
    page.keyboard.press("Enter")
    expect(page.locator("#outcome li a")).to_have_text("Pasted by keys")
    expect(page.locator("#text")).to_have_value(re.compile("Pasted by keys"))


def test_at_the_end_of_a_thread_keys_mean_its_last_answer(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    said = [{"role": role, "content": f"{role} {n}."} for n in range(9) for role in ROLES]
    thread_id = heddle.imported("alice", f"end-{time.monotonic_ns()}", said)
    page = visit("alice").page
    page.goto(f"/threads/{thread_id}/")
    page.evaluate("scrollTo(0, 1e6)")
    page.keyboard.press("-")
    expect(page.locator("#notes-17")).to_be_focused()


def test_unfolding_leaves_a_call_alone_that_is_out_of_view(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    thread_id = heddle.start("alice", f"Folded. {CALLS} [[words 900]]")
    page = visit("alice").page
    page.goto(f"/threads/{thread_id}/")
    page.locator(".call summary").first.focus()
    page.evaluate("scrollTo(0, 1e6)")
    page.keyboard.press("o")
    expect(page.locator(".call[open]")).to_have_count(0)
    page.evaluate("scrollTo(0, 0)")
    page.keyboard.press("o")
    expect(page.locator(".call[open]")).to_have_count(1)


def test_a_form_that_closes_gives_the_focus_back_to_what_opened_it(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    thread_id = heddle.start("alice", "Changed.")
    page = visit("alice").page
    page.goto(f"/threads/{thread_id}/")
    thumb, change = page.locator("#acts-1 [data-act='-']"), page.locator("#mark-1 a", has_text="Change")
    for opener in (thumb, change):
        opener.press("Enter")
        expect(page.locator("#notes-1")).to_be_focused()
        page.keyboard.press("Escape")
        expect(opener).to_be_focused()
        heddle.rate("alice", thread_id, 1)
        page.reload()


@pytest.mark.parametrize("height", [900, 1000])
def test_a_rating_form_opens_above_the_composer(heddle: Heddle, visit: Callable[..., Visit], height: int) -> None:
    """Wherever the answer ends in the window."""
    thread_id = heddle.start("alice", "Rated. [[words 60]]")
    page = visit("alice", viewport={"width": 1440, "height": height}).page
    page.goto(f"/threads/{thread_id}/")
    end = "document.querySelector('#acts-1').getBoundingClientRect().bottom"
    for room in range(60, 500, 110):
        page.eval_on_selector("#m0", f"each => each.style.marginTop = `${{{height - 105 - room} - {end}}}px`")
        page.locator("#acts-1 [data-act='-']").click()
        expect(page.locator("#notes-1")).to_be_focused()
        form, composer = page.locator("#rate-1").bounding_box(), page.locator("#write").bounding_box()
        assert form and composer and form["y"] + form["height"] <= composer["y"], room
        assert form["y"] > 90, room
        page.keyboard.press("Escape")
        page.eval_on_selector("#m0", "each => each.style.marginTop = 0")


def test_a_new_name_and_a_pin_leave_the_focus_at_the_heading(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    thread_id = heddle.start("alice", "Named anew.")
    page = visit("alice").page
    page.goto(f"/threads/{thread_id}/")
    page.locator("#head-title summary").click()
    expect(page.locator("#title")).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.type("Refined")
    page.keyboard.press("Escape")
    expect(page.locator("#title")).to_be_hidden()
    page.locator("#head-title summary").press("Enter")
    expect(page.locator("#title")).to_be_focused()
    expect(page.locator("#title")).to_have_value("Refined")
    page.fill("#title", "Another name")
    page.press("#title", "Enter")
    expect(page.locator("h1")).to_have_text("Another name")
    expect(page.locator("#heading")).to_be_focused()
    for word in ("Pin to top", "Unpin"):
        page.locator("#bar-menu summary").press("Enter")
        page.locator("#bar-menu button", has_text=word).press("Enter")
        expect(page.locator("#bar-menu button", has_text=word)).to_have_count(0)
        expect(page.locator("#heading")).to_be_focused()
    page.wait_for_timeout(500)  # the line brings the head once more
    expect(page.locator("#heading")).to_be_focused()
