"""What the journeys at the desk share."""

import re
import time
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.visiting import Heddle, wait_until

WORDS = "#desk-report .words"


@pytest.fixture
def empty(heddle: Heddle) -> Heddle:
    """A desk with nothing open on it."""
    ends_at = time.monotonic() + 90
    while left := heddle.call("admin", "GET", "admin/feedback?resolved=false&limit=1")["items"]:
        done = heddle.call("admin", "POST", "admin/feedback/bulk", {"verb": "resolve", "query": "is:open"})
        while done["state"] in ("queued", "running"):
            assert time.monotonic() < ends_at, done
            time.sleep(0.05)
            done = heddle.call("admin", "GET", f"admin/feedback/bulk/{done['bulk_id']}")
        assert time.monotonic() < ends_at, (left, done)
    return heddle


def complaints(heddle: Heddle, number: int, name: str = "Complaint") -> str:
    """A thread with that many bad answers: `Complaint 0` is the oldest, the list shows it last."""
    said: list[dict[str, Any]] = []
    for each in range(number):
        said += [
            {"role": "user", "content": f"Question {each}."},
            {"role": "assistant", "content": f"Answer {each}. " * 9},
        ]
    thread_id = heddle.imported("alice", f"desk-{name}-{time.monotonic_ns()}", said, title=f"{number} bad answers")
    for each in range(number):
        heddle.rate("bob", thread_id, 2 * each + 1, notes=f"{name} {each}", categories=["incorrect"])
    return thread_id


def stored(heddle: Heddle, thread_id: str) -> list[dict[str, Any]]:
    """Its reports as admins have them, the newest first."""
    return list(heddle.call("admin", "GET", f"admin/feedback?thread_id={thread_id}&limit=200")["items"])


def shows(page: Page, words: str) -> None:
    """That report is open, and its row is marked."""
    expect(page.locator(WORDS)).to_have_text(words)
    expect(page.locator(".rep[aria-current] a")).to_have_text(said(words))


def is_held(page: Page) -> None:
    """The server knows that this browser has the report open that its address names; it is told a moment later."""
    opened = page.url.split("item=")[1][:29]
    wait_until(lambda: opened in [each["value"] for each in page.context.cookies()], page=page)


def first_of_the_open(page: Page, words: str) -> None:
    """Come to the desk's open reports and begin with the first, which says this."""
    page.goto("/feedback/?q=is:open")
    page.keyboard.press("j")
    shows(page, words)


def full_of_labels(heddle: Heddle, feedback_id: str) -> None:
    """That report has no room for one more label of some length."""
    body = {"verb": "label", "arguments": {"add": [f"{number:058}" for number in range(3)]}}
    heddle.call("admin", "POST", f"admin/feedback/{feedback_id}/actions", body)


def listed(page: Page) -> list[str]:
    return [notes_of(row) for row in page.locator(".rep a").all()]


def notes_of(row: Locator) -> str:
    """What the link of a row says after the sentiment."""
    return (row.text_content() or "").partition(": ")[2]


def said(notes: str) -> re.Pattern[str]:
    """What the link of a row says whose report has these notes."""
    return re.compile(rf"^(Negative|Positive): {re.escape(notes)}$")
