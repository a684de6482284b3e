"""What was chosen stays with what was typed beside it: in drafts, and while other buttons are pressed."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.desk import complaints, empty, first_of_the_open, shows, stored  # noqa: F401
from tests.e2e.visiting import Heddle, Visit

pytestmark = [pytest.mark.browser, pytest.mark.live]


def test_an_outcome_that_was_chosen_is_not_set_back_by_other_buttons(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    """It was resolved as noted, whatever had been chosen before the label."""
    thread_id = complaints(empty, 2, "Gauge stuck")
    page = visit("admin").page
    first_of_the_open(page, "Gauge stuck 1")
    outcome = page.locator("#triage [name=outcome]")
    outcome.select_option("fixed")
    for field, key, words in (("#admin-label", "Enter", "gauges"), ("#comment", "Control+Enter", "Mended.")):
        page.locator(field).fill(words)
        page.locator(field).press(key)
        expect(page.locator("#desk-report")).to_contain_text(words)
        expect(page.locator(field)).to_have_value("")
        expect(outcome).to_have_value("fixed")
    page.locator("#triage [value='own me']").click()
    expect(page.locator("#triage [data-key=a]")).to_contain_text("Release")
    page.keyboard.press("e")
    shows(page, "Gauge stuck 0")
    expect(page.locator("#triage [name=outcome]")).to_have_value("noted")
    fixed = empty.call("admin", "GET", f"admin/feedback?q=thread:{thread_id}+outcome:fixed")["items"]
    assert [each["notes"] for each in fixed] == ["Gauge stuck 1"]


def test_reopening_begins_with_the_usual_outcome(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    thread_id = complaints(empty, 1, "Chain loose")
    report = stored(empty, thread_id)[0]["feedback_id"]
    body = {"verb": "resolve", "arguments": {"outcome": "fixed"}}
    empty.call("admin", "POST", f"admin/feedback/{report}/actions", body)
    page = visit("admin").page
    page.goto(f"/feedback/?q=&item={report}")
    outcome = page.locator("#triage [name=outcome]")
    expect(outcome).to_have_value("fixed")
    outcome.select_option("answered")
    page.locator("#admin-label").fill("chains")
    page.locator("#admin-label").press("Enter")
    expect(page.locator(".tag", has_text="chains")).to_be_visible()
    expect(outcome).to_have_value("answered")
    page.locator("#triage [value=reopen]").click()
    expect(page.locator("#triage [value=resolve]")).to_be_visible()
    expect(outcome).to_have_value("noted")


def test_who_got_a_reply_was_answered_unless_another_outcome_is_chosen(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    thread_id = complaints(empty, 2, "Pedal bent")
    page = visit("admin").page
    first_of_the_open(page, "Pedal bent 1")
    outcome = page.locator("#triage [name=outcome]")
    expect(outcome).to_have_value("noted")
    for keys in ("r", "A new one is on its way.", "Control+Enter"):
        page.keyboard.press(keys) if keys in ("r", "Control+Enter") else page.keyboard.type(keys)
    expect(page.locator("#desk-status")).to_contain_text("Undo")
    expect(outcome).to_have_value("answered")
    page.keyboard.press("e")
    shows(page, "Pedal bent 0")
    outcome.select_option("as_intended")
    for keys in ("r", "Pedals bend.", "Control+Enter"):
        page.keyboard.press(keys) if keys in ("r", "Control+Enter") else page.keyboard.type(keys)
    expect(page.locator("#report summary", has_text="Reply to")).to_contain_text("answered")
    expect(outcome).to_have_value("as_intended")
    found = empty.call("admin", "GET", f"admin/feedback?q=thread:{thread_id}+outcome:answered")["items"]
    assert [each["notes"] for each in found] == ["Pedal bent 1"]


def test_an_expectation_keeps_its_kind_with_its_words(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """A check that must never call a tool became one whose answer must say its name."""
    complaints(empty, 2, "Valve shut")
    page = visit("admin").page
    first_of_the_open(page, "Valve shut 1")
    page.keyboard.press("c")
    page.locator("#check-kind-1").select_option("never_calls")
    page.locator("#check-value-1").fill("refund_ride")
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    expect(page.locator("#triage [data-key=a]")).to_contain_text("Release")
    page.keyboard.press("j")
    shows(page, "Valve shut 0")
    page.keyboard.press("k")
    shows(page, "Valve shut 1")
    page.keyboard.press("c")
    expect(page.locator("#check-value-1")).to_have_value("refund_ride")
    expect(page.locator("#check-kind-1")).to_have_value("never_calls")


def test_whom_a_comment_asks_stays_with_the_comment(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 1, "Bell mute")
    page = visit("admin").page
    first_of_the_open(page, "Bell mute 0")
    if page.locator("[name=asked] option").count() < 2:
        pytest.skip("there is nobody to ask")
    page.locator("#comment").fill("Can you look?")
    page.locator("[name=asked]").select_option(index=1)
    page.locator("#admin-label").fill("bells")
    page.locator("#admin-label").press("Enter")
    expect(page.locator(".tag", has_text="bells")).to_be_visible()
    expect(page.locator("#comment")).to_have_value("Can you look?")
    expect(page.locator("[name=asked]")).not_to_have_value("")


def test_a_rating_that_was_left_keeps_its_verdict(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """A complaint went out as praise."""
    thread_id = heddle.start("alice", "Praise or blame?")
    heddle.rate("alice", thread_id, 1, "positive", notes="Good.")
    page = visit("alice").page
    page.goto(f"/threads/{thread_id}/")
    page.get_by_role("link", name="Change the rating of message 1").click()
    page.locator("#rate-1 [value=negative]").check()
    page.locator("#notes-1").fill("Unreadable.")
    page.locator("#rate-1 [value=formatting]").check()
    page.reload()
    page.get_by_role("link", name="Change the rating of message 1").click()
    expect(page.locator("#notes-1")).to_have_value("Unreadable.")
    expect(page.locator("#rate-1 [value=negative]")).to_be_checked()
    expect(page.locator("#rate-1 [value=formatting]")).to_be_checked()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Change the rating of message 1")).to_be_focused()
    page.get_by_role("link", name="Change the rating of message 1").click()
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#mark-1")).to_contain_text("Rated negative")
    own = heddle.call("alice", "GET", f"threads/{thread_id}/feedback")
    assert [(each["sentiment"], each["categories"], each["notes"]) for each in own] == [
        ("negative", ["formatting"], "Unreadable.")
    ]


def test_a_verdict_that_is_pressed_counts_more_than_that_of_a_draft(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    thread_id = heddle.start("alice", "Blame, then praise.")
    page = visit("alice").page
    page.goto(f"/threads/{thread_id}/")
    page.locator("#acts-1 [data-act='-']").click()
    page.locator("#notes-1").fill("Well, well.")
    page.locator("#rate-1 [value=other]").check()
    page.locator("#notes-1").press("Escape")
    expect(page.locator("#acts-1 [data-act='-']")).to_be_focused()
    page.locator("#acts-1 [data-act='+']").click()
    expect(page.locator("#notes-1")).to_have_value("Well, well.")
    expect(page.locator("#rate-1 [value=positive]")).to_be_checked()
    expect(page.locator("#rate-1 [value=other]")).to_be_checked()


def test_the_format_of_a_result_stays_with_the_result(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """An object was sent as a text."""
    tool = {"name": "client_show_map", "description": "Shows a map.", "input_schema": {"type": "object"}}
    thread_id = heddle.start("alice", "[[call client_show_map {}]]", client_tools=[tool])
    page = visit("alice").page
    page.goto(f"/threads/{thread_id}/")
    page.get_by_label("Your result").fill('{"shown": true}')
    page.get_by_label("JSON").check()
    page.reload()
    expect(page.get_by_label("Your result")).to_have_value('{"shown": true}')
    expect(page.get_by_label("JSON")).to_be_checked()
