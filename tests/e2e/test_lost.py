"""What Request failed: it is told where it was sent from, and nothing that was typed is lost."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.desk import complaints, empty, first_of_the_open, shows, stored  # noqa: F401
from tests.e2e.hands import sent, slow
from tests.e2e.visiting import Heddle, Visit

pytestmark = [pytest.mark.browser, pytest.mark.live]
TEXT = "A long careful text"


def seen(page: Page, selector: str) -> None:
    """In the window, and covered by nothing."""
    expect(page.locator(selector)).to_be_in_viewport(ratio=1)
    assert page.eval_on_selector(
        selector,
        """each => {
          const { left, bottom } = each.getBoundingClientRect();
          return each.contains(document.elementFromPoint(left + 8, bottom - 4));
        }""",
    )


def test_without_a_connection_a_message_a_rating_and_a_thumb_are_told_lost(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    thread_id = heddle.start("alice", "Soon offline.")
    visitor = visit("alice")
    visitor.forgive("ERR_INTERNET_DISCONNECTED", "htmx:")
    page = visitor.page
    page.goto(f"/threads/{thread_id}/")
    page.locator("#acts-1 [data-act='-']").click()
    page.fill("#notes-1", "Too short")
    visitor.context.set_offline(True)
    page.press("#notes-1", "Control+Enter")
    expect(page.locator("#mark-1 .failed")).to_contain_text("No connection")
    page.fill("#say", TEXT)
    page.click("#send")
    expect(page.locator("#write .failed")).to_contain_text("No connection")
    expect(page.locator(".failed")).to_have_count(1)
    expect(page.locator("#said")).to_contain_text("Request failed")
    seen(page, "#write .failed")
    expect(page.locator("#say")).to_have_value(TEXT)
    visitor.context.set_offline(False)
    page.click("#send")
    expect(page.locator("#m2")).to_contain_text(TEXT)
    expect(page.locator(".failed")).to_have_count(0)
    expect(page.locator("#notes-1")).to_have_value("Too short")


@pytest.mark.parametrize("lost", ["session", "every cookie"])
def test_after_signing_in_again_one_is_back_with_what_one_typed(
    heddle: Heddle, visit: Callable[..., Visit], lost: str
) -> None:
    thread_id = heddle.start("alice", f"Without {lost}.")
    visitor = visit("alice")
    visitor.forgive("status of 40[13]", "Error Code 40[13]")
    page = visitor.page
    with page.expect_response("**/live/**"):  # without its session the stream could not begin
        page.goto(f"/threads/{thread_id}/?at=1#m1")
    page.fill("#say", TEXT)
    visitor.context.clear_cookies(**({"name": "sessionid"} if lost == "session" else {}))
    page.press("#say", "Control+Enter")
    expect(page.locator("#write .failed")).to_contain_text("You are signed out. Sign in and send it again")
    expect(page.locator("#said")).to_contain_text("Sign in")
    page.click(".failed a")
    enter(page, heddle)
    page.wait_for_url(f"**/threads/{thread_id}/?at=1#m1")
    expect(page.locator("#say")).to_have_value(TEXT)
    page.press("#say", "Control+Enter")
    expect(page.locator("#m2")).to_contain_text(TEXT)
    expect(page.locator("#say")).to_have_value("")  # the stream may show the message before its POST is answered
    page.reload()
    expect(page.locator("#say")).to_have_value("")


def test_a_rating_is_open_again_after_signing_in_again(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    thread_id = heddle.start("alice", "Rated too late.")
    visitor = visit("alice")
    visitor.forgive("status of 40[13]", "Error Code 40[13]")
    page = visitor.page
    page.goto(f"/threads/{thread_id}/")
    page.click("#acts-1 [data-act='-']")
    page.fill("#notes-1", TEXT)
    visitor.context.clear_cookies(name="sessionid")
    page.press("#notes-1", "Control+Enter")
    page.click(".failed a")
    enter(page, heddle)
    page.wait_for_url(f"**/threads/{thread_id}/messages/1/rate/")
    expect(page.locator("#notes-1")).to_have_value(TEXT)


def test_signing_in_keeps_the_place_within_the_page(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """Also after a wrong password; no server is told the place."""
    thread_id = heddle.start("alice", "From a colleague.")
    visitor = visit()
    visitor.forgive("status of 400")
    page = visitor.page
    page.goto(f"/threads/{thread_id}/#m1")
    page.fill("#email", heddle.server.who["emails"]["alice"])
    page.fill("#password", "not mine")
    page.click("form button")
    expect(page.locator("#signin-wrong")).to_be_visible()
    enter(page, heddle)
    page.wait_for_url(f"**/threads/{thread_id}/#m1")


def enter(page: Page, heddle: Heddle) -> None:
    page.fill("#email", heddle.server.who["emails"]["alice"])
    page.fill("#password", heddle.server.who["passwords"]["alice"])
    page.click("form button")


def test_a_failure_stays_told_when_the_form_that_failed_is_renewed(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """The answer ends meanwhile: the form may send now, and still says what became of what it sent before."""
    thread_id = heddle.start("alice", "Before.")
    visitor = visit("alice")
    visitor.forgive("status of 502", "Error Code 502")
    page = visitor.page
    page.goto(f"/threads/{thread_id}/")
    page.fill("#say", "[[sleep 3]] Soon over.")
    page.press("#say", "Control+Enter")
    expect(page.locator("#m2")).to_contain_text("Soon over.")
    page.fill("#say", TEXT)
    page.route(
        "**/cancel/", lambda sent: sent.fulfill(status=502, content_type="text/html", body="<h1>Bad gateway</h1>")
    )
    page.click("#cancel")
    expect(page.locator("#write .failed")).to_contain_text("The server answered 502.")
    expect(page.locator("#send")).to_be_enabled()
    expect(page.locator("#write .failed")).to_contain_text("The server answered 502.")
    page.unroute("**/cancel/")
    page.press("#say", "Control+Enter")
    expect(page.locator("#m4")).to_contain_text(TEXT)
    expect(page.locator(".failed")).to_have_count(0)


def test_what_a_server_says_of_its_failure_is_told_with_its_request_id(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    """And what stands before it, and says nothing of ours, by its number alone."""
    thread_id = heddle.start("alice", "Soon broken.")
    visitor = visit("alice")
    visitor.forgive("status of (404|502)", "Error Code (404|502)")
    page = visitor.page
    page.goto(f"/threads/{thread_id}/")
    page.fill("#say", TEXT)
    page.route("**/send/", lambda sent: sent.fulfill(status=502, content_type="text/html", body="<h1>Bad gateway</h1>"))
    page.click("#send")
    expect(page.locator("#write .failed")).to_contain_text("The server answered 502.")
    page.unroute("**/send/")
    page.route("**/send/", lambda sent: sent.continue_(url=f"{heddle.url}/nowhere/"))
    page.click("#send")
    expect(page.locator("#write .failed code")).to_contain_text("req_")
    expect(page.locator("#say")).to_have_value(TEXT)


def test_a_file_that_is_too_large_is_told_beside_the_form_which_goes_on(
    visit: Callable[..., Visit], tmp_path: Path
) -> None:
    """Nothing was told, and the form answered nothing more."""
    large, small = tmp_path / "large.jsonl", tmp_path / "small.jsonl"
    large.write_bytes(b"{}\n" * (12 * 2**20))
    small.write_text('{"id": "small-1", "messages": [{"role": "user", "content": "Hello?"}]}')
    visitor = visit("alice")
    visitor.forgive("status of 413", "Error Code 413")
    page = visitor.page
    page.goto("/threads/import/")
    page.set_input_files("#file", large)
    page.click("#verbs [data-kind=primary]")
    expect(page.locator(".failed")).to_contain_text("The form is larger than 33 MiB. Nothing was stored.")
    page.set_input_files("#file", small)
    page.click("#verbs [data-kind=primary]")
    expect(page.locator("#outcome")).to_contain_text("1 new")
    expect(page.locator(".failed")).to_have_count(0)


def test_ones_own_message_comes_into_view_and_an_answer_leaves_a_reader_where_they_are(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    thread_id = heddle.start("alice", "Long. [[words 900]]")
    page = visit("alice").page
    page.goto(f"/threads/{thread_id}/")
    page.evaluate("scrollTo(0, 0)")
    page.fill("#say", "From the top. [[words 40]] [[pace 0.1]]")
    page.evaluate("scrollTo(0, 0)")
    page.click("#send")
    expect(page.locator("#m2")).to_be_in_viewport()
    expect(page.locator("#m3")).to_be_in_viewport()
    page.evaluate("scrollTo(0, 100)")
    expect(page.locator(".below")).to_be_visible()
    expect(page.locator("#status")).not_to_have_attribute("data-status", "roboto_turn")
    assert page.evaluate("scrollY") == 100
    page.click(".below")
    expect(page.locator("#m3 .msg-end")).to_be_in_viewport()
    expect(page.locator(".below")).to_be_hidden()


def test_on_a_phone_the_form_of_a_rating_is_not_under_the_composer(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    thread_id = heddle.start("alice", "Rate the last. [[words 300]]")
    page = visit("alice", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True).page
    page.goto(f"/threads/{thread_id}/")
    page.evaluate("scrollTo(0, 1e6)")
    page.locator("#acts-1 [data-act='-']").tap()
    seen(page, "#rate-1 .btns")
    expect(page.locator("#write")).to_be_hidden()
    for thumb in page.locator("#acts-1 .btn").all():
        box = thumb.bounding_box()
        assert box and box["width"] >= 44 and box["height"] >= 44, box
    page.locator("#rate-1 [data-cancel]").tap()
    expect(page.locator("#write")).to_be_visible()


@pytest.mark.parametrize(
    ("key", "field", "send"), [("m", "#admin-note", "Control+Enter"), ("l", "#admin-label", "Enter")]
)
def test_what_is_typed_after_a_failed_save_goes_into_its_field(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
    key: str,
    field: str,
    send: str,
) -> None:
    """The focus stays where the text is, so that no letter of it becomes an action, and it can be sent again."""
    thread_id = complaints(empty, 2)
    visitor = visit("admin")
    visitor.forgive("ERR_INTERNET_DISCONNECTED", "htmx:")
    page = visitor.page
    first_of_the_open(page, "Complaint 1")
    visitor.wait_until_fetched_ahead()
    page.keyboard.press(key)
    page.keyboard.type("canoe")
    visitor.context.set_offline(True)
    page.keyboard.press(send)
    expect(page.locator(".failed")).to_be_visible()
    expect(page.locator(field)).to_be_focused()
    visitor.context.set_offline(False)
    page.keyboard.type(" see")
    page.keyboard.press(send)
    expect(page.locator("#said")).to_contain_text("note" if key == "m" else "New label canoe see")
    records = stored(empty, thread_id)
    assert not any(each["resolved"] for each in records)
    assert (records[0]["admin_note"] or records[0]["admin_label"]) == "canoe see"


@pytest.mark.parametrize("is_seen", [False, True])
@pytest.mark.parametrize("problem", ["abort", "fulfill"])
def test_words_for_a_field_that_a_failure_took_away_are_no_keys(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
    is_seen: bool,
    problem: str,
) -> None:
    """The note was for the next report, which is not there after all: `e` of its words would resolve another one."""
    thread_id = complaints(empty, 4, name="Taken")
    visitor = visit("admin")
    visitor.forgive("ERR_FAILED", "htmx:", "status of 500", "Error Code 500")
    page = visitor.page
    waiting = slow(page, "**/feedback/fb_*/")
    first_of_the_open(page, "Taken 3")
    visitor.wait_until_fetched_ahead()
    page.keyboard.press("e")
    post = sent(page, waiting)
    shows(page, "Taken 2")
    page.keyboard.press("m")
    page.keyboard.type("ple", delay=30)
    post.abort() if problem == "abort" else post.fulfill(status=500, body="Broken.")
    if is_seen:
        expect(page.locator(".failed")).to_be_visible()
    page.keyboard.type("ase call me", delay=30)
    expect(page.locator(".failed")).to_be_visible()
    shows(page, "Taken 3")
    expect(page.locator("#admin-note")).to_have_value("")
    page.wait_for_timeout(1100)  # whoever looks up presses keys again
    assert not waiting
    page.keyboard.press("j")
    shows(page, "Taken 2")
    expect(page.locator("#admin-note")).to_have_value("")
    assert not any(each["resolved"] or each["admin_note"] for each in stored(empty, thread_id))


def test_two_presses_of_a_key_start_one_rerun(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    thread_id = complaints(heddle, 1)
    page = visit("admin").page
    [report] = stored(heddle, thread_id)
    page.goto(f"/feedback/?q=&item={report['feedback_id']}")
    page.evaluate("() => { for (const _ of [1, 2]) document.querySelector('#desk-report [form=desk-rerun]').click(); }")
    expect(page.locator("#verdict")).to_have_text("Another answer")
    page.goto(f"/feedback/?q=&item={report['feedback_id']}")
    expect(page.locator("#desk-report .hist li", has_text="reran")).to_have_count(1)


def test_what_one_person_typed_is_not_there_for_the_next_one_in_the_same_tab(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    """Signing out ends a session, so this one is nobody else's."""
    thread_id = heddle.start("alice", "Seen by both.", visibility="org")
    page = visit().page

    def sign_in(name: str) -> None:
        page.goto("/signin/")
        page.fill("#email", heddle.server.who["emails"][name])
        page.fill("#password", heddle.server.who["passwords"][name])
        page.click("form button")
        page.wait_for_url("**/threads/")

    sign_in("alice")
    page.goto(f"/threads/{thread_id}/?at=1")
    page.locator("#acts-1 [data-act='-']").click()
    page.fill("#notes-1", TEXT)
    page.reload()
    page.locator("#acts-1 [data-act='-']").click()
    expect(page.locator("#notes-1")).to_have_value(TEXT)
    page.click("summary:has-text('Alice')")
    page.click("text=Sign out")
    sign_in("bob")
    page.goto(f"/threads/{thread_id}/?at=1")
    page.locator("#acts-1 [data-act='-']").click()
    expect(page.locator("#notes-1")).to_be_visible()
    expect(page.locator("#notes-1")).to_have_value("")
