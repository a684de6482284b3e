"""What people come for, done three ways each: by keys alone, by mouse alone, and with scripts blocked."""

import time
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.desk import WORDS, complaints, empty, stored  # noqa: F401
from tests.e2e.hands import HANDS, Mouse
from tests.e2e.visiting import Heddle, Visit

pytestmark = [pytest.mark.browser, pytest.mark.live, pytest.mark.parametrize("hand", HANDS)]


def test_nine_alike_are_resolved_and_taken_back_one_is_put_off_and_comes_back(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
    hand: type[Mouse],
) -> None:
    """And on the way a save that somebody was quicker with, and a view for everybody."""
    word = hand.__name__
    thread_id = complaints(empty, 9, word)
    complaints(empty, 2, "Other")
    admin = hand(visit, "admin")
    admin.visitor.forgive("status of 412")
    page, told = admin.page, admin.page.locator("#desk-status")
    page.goto("/feedback/?q=is:open")
    admin.narrow(word)
    expect(page.locator(".rep")).to_have_count(9)
    admin.tick_all()
    admin.resolve_ticked()
    expect(told).to_contain_text("Resolved 9 reports")
    expect(page.locator(".rep", has_not_text="no longer matches")).to_have_count(0)
    admin.undo()
    expect(told).to_contain_text("Undone: resolution of 9 reports.")
    expect(page.locator(".rep")).to_have_count(9)
    assert not any(each["resolved"] for each in stored(empty, thread_id))

    admin.open(f"{word} 8")
    newest = stored(empty, thread_id)[0]["feedback_id"]
    act(empty, "bea", newest, "note", admin_note="Bea's words")
    admin.note("My words")
    expect(page.locator("#desk-report [role=alert]")).to_contain_text("Bea has changed this report meanwhile.")
    expect(page.locator("#admin-note")).to_have_value("My words")
    admin.note("My words")
    expect(page.locator(WORDS)).to_have_text(f"{word} 7")
    expect(told).to_contain_text(f"Saved note on “{word} 8”")
    assert stored(empty, thread_id)[0]["admin_note"] == "My words"

    admin.snooze()
    expect(told).to_contain_text(f"Snoozed “{word} 7”")
    expect(page.locator(WORDS)).to_have_text(f"{word} 6")
    second = stored(empty, thread_id)[1]["feedback_id"]
    soon = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() + 1)) + ".900Z"
    act(empty, "bea", second, "snooze", until=soon)
    admin.share_view(f"By {word}")
    expect(page.locator(".views > div [aria-current]", has_text=f"By {word}")).to_be_visible()
    assert f"By {word}" in str(empty.call("bea", "GET", "admin/feedback/views"))
    while time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() - 0.9)) + ".900Z" < soon:
        time.sleep(0.05)
    admin.narrow("is:due")
    expect(page.locator(".rep")).to_have_count(1)
    expect(page.locator(".rep")).to_contain_text("snoozed, due")
    admin.open(f"{word} 7")
    admin.wake()
    expect(told).to_contain_text(f"Woke “{word} 7”")


def test_a_reader_rates_changes_it_and_takes_it_back(
    heddle: Heddle, visit: Callable[..., Visit], hand: type[Mouse]
) -> None:
    thread_id = heddle.start("bob", "Rate me.", visibility="org")
    reader = hand(visit, "alice")
    page, rating = reader.page, reader.page.locator("section[aria-label='Rating of message 1']")
    page.goto(f"/threads/{thread_id}/")
    reader.rate("Wrong about the bikes")
    expect(rating).to_contain_text("Wrong about the bikes")
    reader.change_rating("Wrong about the trams")
    expect(rating).to_contain_text("Wrong about the trams")
    own = heddle.call("alice", "GET", f"threads/{thread_id}/feedback")
    assert [(each["sentiment"], each["notes"]) for each in own] == [("negative", "Wrong about the trams")]
    reader.take_back()
    expect(rating).to_have_count(0)
    assert heddle.call("alice", "GET", f"threads/{thread_id}/feedback") == []


def act(heddle: Heddle, name: str, feedback_id: str, verb: str, **arguments: str) -> None:
    heddle.call(name, "POST", f"admin/feedback/{feedback_id}/actions", {"verb": verb, "arguments": arguments})
