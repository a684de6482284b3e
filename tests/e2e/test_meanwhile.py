"""What is typed while an answer is on its way: the answer takes what was sent, and nothing that came behind it."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.desk import complaints, shows, stored
from tests.e2e.hands import sent, slow
from tests.e2e.visiting import Heddle, Visit

pytestmark = [pytest.mark.browser, pytest.mark.live]
NOTE = "Forty characters of a note, as it may be"


def caret(page: Page) -> tuple[str, int]:
    """Which field has it, and how far from its end."""
    found = page.evaluate(
        "[document.activeElement.id, document.activeElement.value?.length - document.activeElement.selectionEnd]"
    )
    return found[0], found[1]


def test_words_behind_a_message_that_is_being_sent_are_the_next_message(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    thread_id = heddle.start("alice", "Two in a row.")
    page = visit("alice").page
    waiting = slow(page, "**/send/")
    page.goto(f"/threads/{thread_id}/")
    page.locator("#say").press_sequentially("one")
    page.keyboard.press("Control+Enter")
    post = sent(page, waiting)
    page.keyboard.type("and two")
    page.keyboard.press("ArrowLeft")
    post.continue_()
    expect(page.locator("#m2 .prose")).to_have_text("one")
    expect(page.locator("#say")).to_have_value("and two")
    assert caret(page) == ("say", 1)
    page.reload()
    expect(page.locator("#say")).to_have_value("and two")


def test_words_behind_a_message_that_is_refused_stay_with_it(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    thread_id = heddle.start("alice", "Refused.")
    visitor = visit("alice")
    visitor.forgive("status of 400")
    page = visitor.page
    waiting = slow(page, "**/send/")
    page.goto(f"/threads/{thread_id}/")
    page.locator("#say").press_sequentially(" ")
    page.keyboard.press("Control+Enter")
    post = sent(page, waiting)
    page.keyboard.type("more")
    post.continue_()
    expect(page.locator("#say-wrong")).to_be_visible()
    expect(page.locator("#say")).to_have_value(" more")
    assert caret(page) == ("say", 0)
    page.wait_for_timeout(1500)  # the line that is begun anew brings the form as it is without a refusal
    expect(page.locator("#say-wrong")).to_be_visible()


@pytest.mark.parametrize(
    ("field", "kind"), [("admin-note", "note"), ("public-reply", "reply"), ("admin-label", "label")]
)
def test_words_typed_at_the_desk_while_a_report_is_being_taken_stay(
    heddle: Heddle, visit: Callable[..., Visit], field: str, kind: str
) -> None:
    thread_id = complaints(heddle, 1, name=f"Typed {kind}")
    [report] = stored(heddle, thread_id)
    page = visit("admin").page
    waiting = slow(page, "**/feedback/fb_*/")
    page.goto(f"/feedback/?q=&item={report['feedback_id']}")
    shows(page, f"Typed {kind} 0")
    page.keyboard.press("a")
    post = sent(page, waiting)
    if kind == "reply":
        page.click("#triage summary[data-key=r]")
    page.click(f"#{field}")
    page.keyboard.type(NOTE)
    for _ in range(6):
        page.keyboard.press("ArrowLeft")
    post.continue_()
    expect(page.locator("#triage [data-key=a]")).to_contain_text("Release")
    expect(page.locator(f"#{field}")).to_have_value(NOTE)
    assert caret(page) == (field, 6)
    page.keyboard.type("still ")
    page.reload()
    expect(page.locator(f"#{field}")).to_have_value(f"{NOTE[:-6]}still {NOTE[-6:]}")


def test_a_field_entered_while_a_report_is_being_taken_keeps_the_focus(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    """Or the next words were keys."""
    thread_id = complaints(heddle, 1, name="Entered")
    page = visit("admin").page
    waiting = slow(page, "**/feedback/fb_*/")
    page.goto(f"/feedback/?q=&item={stored(heddle, thread_id)[0]['feedback_id']}")
    page.keyboard.press("a")
    post = sent(page, waiting)
    page.click("#admin-note")
    post.continue_()
    expect(page.locator("#triage [data-key=a]")).to_contain_text("Release")
    expect(page.locator("#admin-note")).to_be_focused()


def test_a_note_that_grows_while_it_is_saved_is_kept_whole(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    thread_id = complaints(heddle, 1, name="Growing")
    page = visit("admin").page
    waiting = slow(page, "**/feedback/fb_*/")
    page.goto(f"/feedback/?q=&item={stored(heddle, thread_id)[0]['feedback_id']}")
    page.click("#admin-note")
    page.keyboard.type("Half")
    page.click("#triage [value=note]")
    post = sent(page, waiting)
    page.click("#admin-note")
    page.keyboard.press("End")
    page.keyboard.type(" and whole")
    post.continue_()
    expect(page.locator("#said")).to_contain_text("Saved note")
    expect(page.locator("#admin-note")).to_have_value("Half and whole")
    assert stored(heddle, thread_id)[0]["admin_note"] == "Half"
    assert caret(page) == ("admin-note", 0)


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_what_is_on_its_way_shows_at_its_button_at_once(
    heddle: Heddle, visit: Callable[..., Visit], motion: str
) -> None:
    """The one that was pressed; where keys sent it, the one that would have."""
    thread_id = heddle.start("alice", "Slowly.")
    page = visit("alice", reduced_motion=motion).page
    waiting = slow(page, re.compile("/(send|rate)/"))
    page.goto(f"/threads/{thread_id}/")

    def waits(selector: str) -> bool:
        look = "each => [getComputedStyle(each).opacity < 0.8, getComputedStyle(each).cursor == 'progress']"
        seen = page.locator(selector).evaluate(look)
        assert seen[0] == seen[1], seen
        return bool(seen[0])

    for selector, keys in (("#acts-1 [data-act='-']", ["-"]), ("#send", ["c", "x", "Control+Enter"])):
        assert not waits(selector)
        for key in keys:
            page.keyboard.press(key)
        post = sent(page, waiting)
        page.wait_for_timeout(120)
        assert waits(selector)
        post.continue_()
        expect(page.locator(".htmx-request")).to_have_count(0)
        page.keyboard.press("Escape")
