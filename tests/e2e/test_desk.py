"""An admin at the desk: reports cleared by keys, and an address that always shows the same screen."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.visiting import Heddle, Visit

pytestmark = [pytest.mark.browser, pytest.mark.live]
WORDS = [f"Complaint {number}" for number in range(5)]


@pytest.fixture
def complaints(heddle: Heddle) -> str:
    """A thread with five bad answers, and nothing else on the desk."""
    for report in heddle.call("admin", "GET", "admin/feedback?resolved=false")["items"]:
        heddle.call("admin", "PUT", f"admin/feedback/{report['feedback_id']}", {"resolved": True})
    place = len(heddle.call("admin", "GET", "admin/feedback?limit=200")["items"])
    roles = ["user", "assistant"] * 5
    said = [{"role": role, "content": f"Sentence {number}. " * 12} for number, role in enumerate(roles)]
    thread_id = heddle.imported("alice", f"desk-{place}", said, title="Five bad answers")
    for number, words in enumerate(WORDS):
        heddle.rate("bob", thread_id, 2 * number + 1, notes=words, categories=["incorrect"])
    return thread_id


def listed(page: Page) -> list[str]:
    return [row.inner_text() for row in page.locator(".rep a").all()]


def report(page: Page) -> str:
    return page.locator("#desk-report .words").inner_text()


def state(page: Page) -> tuple[str, str, list[str], str]:
    """What a colleague would see at this address."""
    return page.url, report(page), listed(page), page.locator(".rated article").get_attribute("id") or ""


def test_five_reports_are_cleared_by_keys(heddle: Heddle, visit: Callable[..., Visit], complaints: str) -> None:
    """Open with j, label with l, note with m, resolve and go on with e: the hands never leave the keys."""
    page = visit("admin").page
    page.goto("/feedback/")
    expect(page.locator(".nav .count")).to_have_text("5 open")
    page.keyboard.press("j")
    expect(page.locator("#desk-report .words")).to_have_text("Complaint 4")
    expect(page.locator(".rated")).to_contain_text("Sentence 9.")
    expect(page.locator(".rep[aria-current] a")).to_have_text("Complaint 4")
    page.keyboard.press("l")
    expect(page.locator("#admin-label")).to_be_focused()
    page.keyboard.type("pumps")
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    page.keyboard.type("Seen <i>twice</i>.")
    page.keyboard.press("Control+Enter")
    for number in (3, 2, 1, 0):
        expect(page.locator("#desk-report .words")).to_have_text(f"Complaint {number}")
        expect(page.locator("#notes")).to_contain_text("Resolved.")
        page.keyboard.press("e")
    expect(page.locator("#desk-talk")).to_contain_text("No report is open.")
    expect(page.locator(".desk-list")).to_contain_text("No report matches.")
    expect(page.locator(".nav .count")).to_have_text("0 open")
    kept = heddle.call("admin", "GET", f"admin/feedback?thread_id={complaints}")["items"]
    assert all(each["resolved"] and each["resolved_by"] == heddle.server.who["emails"]["admin"] for each in kept)
    assert (kept[0]["admin_label"], kept[0]["admin_note"]) == ("pumps", "Seen <i>twice</i>.")


def test_reopening_what_was_resolved(heddle: Heddle, visit: Callable[..., Visit], complaints: str) -> None:
    page = visit("admin").page
    page.goto(f"/feedback/?thread={complaints}&resolved=false")
    page.locator(".rep a").first.click()
    page.locator("[value=resolve]:visible").first.click()
    expect(page.locator("#desk-report .words")).to_have_text("Complaint 3")
    page.locator(".views a", has_text="Resolved").click()
    expect(page.locator(".rep a")).to_have_text(["Complaint 4"])
    page.locator(".rep a").click()
    page.locator("#desk-report [value=reopen]").click()
    expect(page.locator("#notes")).to_contain_text("Open again.")
    expect(page.locator("#desk-report [value=resolve]")).to_be_visible()


def test_back_forward_and_a_copied_address_show_the_same_screen(
    heddle: Heddle, visit: Callable[..., Visit], complaints: str
) -> None:
    """The address is the state: filter, open report and pane."""
    admin = visit("admin")
    page = admin.page
    page.goto(f"/feedback/?thread={complaints}&resolved=false")
    states = []
    for number in (4, 3, 2):
        page.keyboard.press("j")
        expect(page.locator("#desk-report .words")).to_have_text(f"Complaint {number}")
        expect(page.locator(".rep[aria-current] a")).to_have_text(f"Complaint {number}")
        states.append(state(page))
    assert len({url for url, *_ in states}) == 3
    page.go_back()
    expect(page.locator("#desk-report .words")).to_have_text("Complaint 3")
    assert state(page) == states[1]
    page.go_back()
    expect(page.locator("#desk-report .words")).to_have_text("Complaint 4")
    page.go_forward()
    expect(page.locator("#desk-report .words")).to_have_text("Complaint 3")
    assert state(page) == states[1]
    other = admin.tab()
    other.goto(states[2][0])
    assert state(other) == states[2]
    page.locator(".query a", has_text="resolved:false").click()
    expect(page.locator(".query a")).to_have_text([f"thread:{complaints}"])


def test_the_report_asked_for_last_is_the_one_that_is_shown(visit: Callable[..., Visit], complaints: str) -> None:
    """Quick keys: an answer that comes late does not take the place of the one that was asked for after it."""
    page = visit("admin").page
    page.goto(f"/feedback/?thread={complaints}&resolved=false")
    late: list[Route] = []
    page.route("**/feedback/?*item=*", lambda line: line.fallback() if late else late.append(line))
    for _ in range(3):
        page.keyboard.press("j")
    page.wait_for_timeout(400)
    page.unroute("**/feedback/?*item=*")  # and lets go of the first
    expect(page.locator("#desk-report .words")).to_have_text("Complaint 2")
    page.wait_for_timeout(400)
    expect(page.locator("#desk-report .words")).to_have_text("Complaint 2")
    expect(page.locator(".rep[aria-current] a")).to_have_text("Complaint 2")


def test_a_draft_of_a_note_survives_looking_at_another_report(
    heddle: Heddle, visit: Callable[..., Visit], complaints: str
) -> None:
    page = visit("admin").page
    page.goto(f"/feedback/?thread={complaints}&resolved=false")
    page.keyboard.press("j")
    expect(page.locator("#desk-report .words")).to_have_text("Complaint 4")
    page.keyboard.press("m")
    page.keyboard.type("Half a note")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator("#desk-report .words")).to_have_text("Complaint 3")
    expect(page.locator("#admin-note")).to_have_value("")
    page.keyboard.press("k")
    expect(page.locator("#admin-note")).to_have_value("Half a note")


def test_forking_at_the_rated_answer_and_writing_on(
    heddle: Heddle, visit: Callable[..., Visit], complaints: str
) -> None:
    """B134, B138, B142: a complaint becomes a thread in which it can be tried again; the source stays as it was."""
    before = heddle.call("alice", "GET", f"threads/{complaints}")["messages"]
    page = visit("admin").page
    page.goto(f"/feedback/?thread={complaints}&resolved=false")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("#desk-report .words")).to_have_text("Complaint 3")
    page.keyboard.press("f")
    page.wait_for_url("**/threads/ags_*/")
    expect(page.locator("#notes")).to_contain_text("yours and private")
    expect(page.locator("#head")).to_contain_text("from Five bad answers, message 7")
    page.fill("#say", "Try again.")
    page.click("#send")
    expect(page.locator("#m9[data-voice=agent]")).to_contain_text("Try again.")
    expect(page.locator("#status")).to_have_text("Idle")
    assert page.locator("#talk > .msg[data-index]").count() == 10
    page.locator("#m1").hover()
    page.locator("#m1 [form=fork]").click()
    expect(page.locator("#talk > .msg[data-index]")).to_have_count(2)
    assert heddle.call("alice", "GET", f"threads/{complaints}")["messages"] == before
