"""The next report at the desk is fetched ahead and shown at once, and nothing typed is lost by it."""

import time
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.desk import (
    complaints,
    empty,  # noqa: F401
    first_of_the_open,
    shows,
    stored,
)
from tests.e2e.visiting import Heddle, Visit, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.live]


def test_the_report_asked_for_last_is_the_one_that_is_shown(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """Quick keys: an answer that comes late does not take the place of the one that was asked for after it."""
    complaints(empty, 4)
    page = visit("admin").page
    late: list[Route] = []
    page.route("**/feedback/?*item=*", lambda line: line.fallback() if late else late.append(line))
    with page.expect_request("**/feedback/?*item=*"):  # the desk's own script is there when it fetches ahead
        page.goto("/feedback/?q=is:open")
    for _ in range(3):
        page.keyboard.press("j")
    shows(page, "Complaint 1")
    late[0].fallback()
    page.wait_for_timeout(300)
    shows(page, "Complaint 1")

    # And keys that are typed ahead of it wait for it.
    slow: list[Route] = []
    is_slow = True
    page.route(
        "**/feedback/?*item=*",
        lambda line: slow.append(line) if is_slow and line.request.resource_type == "fetch" else line.fallback(),
    )
    page.keyboard.press("e")
    shows(page, "Complaint 0")
    page.keyboard.press("k")
    page.keyboard.press("e")
    is_slow = False
    for line in slow:
        line.fallback()
    expect(page.locator("#said")).to_contain_text("Resolved “Complaint 2”")


def test_what_was_fetched_ahead_is_shown_without_asking(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 4)
    visitor = visit("admin")
    page = visitor.page
    first_of_the_open(page, "Complaint 3")
    visitor.wait_until_fetched_ahead()
    visitor.forgive("ERR_INTERNET_DISCONNECTED", "failed:")
    visitor.context.set_offline(True)
    page.keyboard.press("j")
    shows(page, "Complaint 2")
    visitor.context.set_offline(False)


def test_the_report_that_was_fetched_ahead_is_not_sent_again_after_a_resolve(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    """Only what it shows of the resolved one, among its similar reports: that is open no more."""
    wobbles, leaks, sinks = (f"{how}{time.monotonic_ns()}" for how in ("Wobbles", "Leaks", "Sinks"))
    for words, categories in ((wobbles, []), (leaks, ["incorrect", "slow"]), (sinks, ["incorrect", "slow"])):
        said = [{"role": "user", "content": "A canoe?"}, {"role": "assistant", "content": "Here it is."}]
        thread_id = empty.imported("alice", f"desk-{words}", said, title=words)
        empty.rate("bob", thread_id, 1, notes=words, categories=categories)
    visitor = visit("admin")
    page = visitor.page
    first_of_the_open(page, sinks)
    for shown, is_alike in ((leaks, True), (wobbles, False)):
        visitor.wait_until_fetched_ahead()
        with page.expect_response(
            lambda answer: answer.request.method == "POST" and "lease" not in answer.url
        ) as answered:
            page.keyboard.press("e")
        shows(page, shown)
        expect(page).to_have_title(f"{shown} · Heddle")
        expect(page.locator(".rep[aria-current]")).to_contain_text(shown)
        expect(page.locator("#desk-talk .rated-words")).to_have_text(shown)
        assert 'id="desk-report"' not in answered.value.text()
        expect(page.locator("#similar")).to_have_count(int(is_alike))
        if is_alike:
            expect(page.locator("#similar")).to_contain_text("resolved")
            expect(page.locator("#originals label")).to_contain_text("resolved")
            expect(page.locator("#similar button")).to_have_text("Use as original")


def test_a_report_that_was_fetched_ahead_gets_what_is_like_it_whatever_it_showed_before(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    """A resolved one has no menu of originals, and one that nothing could be resolved with had no form for it."""

    def rate(words: str) -> str:
        said = [{"role": "user", "content": "A canoe?"}, {"role": "assistant", "content": "Here it is."}]
        thread_id = empty.imported("alice", f"desk-{words}-{time.monotonic_ns()}", said, title="Canoe")
        empty.rate("bob", thread_id, 1, notes=words, categories=["formatting", "slow"])
        return str(stored(empty, thread_id)[0]["feedback_id"])

    def resolved(words: str) -> str:
        feedback_id = rate(words)
        empty.call("admin", "POST", f"admin/feedback/{feedback_id}/actions", {"verb": "resolve"})
        return feedback_id

    visitor = visit("admin")
    page = visitor.page

    def resolve(opened: str, shown: str, meanwhile: Callable[[], object] = lambda: None) -> None:
        with page.expect_response(lambda answer: "heddle-part" in answer.request.headers):
            page.goto(f"/feedback/?item={opened}&q=category%3Aformatting")
        visitor.wait_until_fetched_ahead()
        meanwhile()
        with page.expect_response(
            lambda answer: answer.request.method == "POST" and "lease" not in answer.url
        ) as answered:
            page.keyboard.press("e")
        shows(page, shown)
        assert 'id="desk-report"' not in answered.value.text()

    complaints(empty, 12)  # among which the words of the others are rare enough to tell something
    dips, tips = (f"{how}{time.monotonic_ns()}" for how in ("Dips", "Tips"))
    resolved(dips)
    resolve(rate(tips), dips)
    expect(page.locator("#similar")).to_contain_text("resolved")
    expect(page.locator("#originals")).to_have_count(0)
    alike = f"weirs{time.monotonic_ns()} with canvas{time.monotonic_ns()} torn"
    floats, drifts, sways = (f"{how} on {alike}" for how in ("Floats", "Drifts", "Sways"))
    rate(floats)
    resolve(resolved(drifts), floats, meanwhile=lambda: rate(sways))
    page.click("#similar button:has-text('together')")
    expect(page.locator("#desk-status")).to_contain_text("Resolved 2 reports")


def test_the_next_report_is_shown_before_the_server_has_answered(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    """What was pressed meanwhile waits for the answer."""
    thread_id = complaints(empty, 3)
    visitor = visit("admin")
    page = visitor.page
    first_of_the_open(page, "Complaint 2")
    visitor.wait_until_fetched_ahead()
    lines: list[Route] = []
    page.route("**/feedback/fb_*/", lambda line: lines.append(line))
    page.keyboard.press("e")
    shows(page, "Complaint 1")
    expect(page).to_have_title("Complaint 1 · Heddle")
    page.keyboard.press("e")
    page.wait_for_timeout(300)
    shows(page, "Complaint 1")
    wait_until(lambda: bool(lines), page=page)
    assert len(lines) == 1
    assert [each["resolved"] for each in stored(empty, thread_id)] == [False, False, False]
    lines.pop().continue_()
    wait_until(lambda: bool(lines), page=page)
    lines.pop().continue_()
    shows(page, "Complaint 0")
    expect(page.locator(".rep")).to_have_count(1)
    expect(page.locator("#desk-status")).to_contain_text("Resolved “Complaint 1”")
    page.unroute_all(behavior="ignoreErrors")
    assert [each["resolved"] for each in stored(empty, thread_id)] == [True, True, False]


def test_another_report_is_shown_from_its_top(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """Also one that an undo opens, which is not fetched ahead."""
    complaints(empty, 2)
    page = visit("admin", viewport={"width": 1440, "height": 500}).page
    first_of_the_open(page, "Complaint 1")
    page.keyboard.press("e")
    expect(page.locator("#desk-status")).to_contain_text("Resolved “Complaint 1”")
    pane = page.locator("#desk-report")
    assert pane.evaluate("each => (each.scrollTop = 200)") == pane.evaluate("each => each.scrollTop") == 200
    page.keyboard.press("z")
    shows(page, "Complaint 1")
    expect(page.locator("#desk-status")).to_contain_text("Undone")
    assert pane.evaluate("each => each.scrollTop") == 0


@pytest.mark.parametrize("status", [0, 500])
def test_a_resolve_that_failed_leads_back_to_what_was_typed(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
    status: int,
) -> None:
    thread_id = complaints(empty, 3)
    visitor = visit("admin")
    visitor.forgive("ERR_FAILED", "failed:", "htmx:", "500")
    page = visitor.page
    page.goto(f"/feedback/?q=is%3Aopen&item={stored(empty, thread_id)[1]['feedback_id']}")
    shows(page, "Complaint 1")
    visitor.wait_until_fetched_ahead()
    page.fill("#admin-note", "Half a note")
    page.locator("#triage [name=outcome]").select_option("fixed")
    page.route("**/feedback/fb_*/", lambda line: line.fulfill(status=status) if status else line.abort())
    page.click("#triage [value=resolve]")
    expect(page.locator(".failed")).to_be_visible()
    shows(page, "Complaint 1")
    expect(page.locator("#admin-note")).to_have_value("Half a note")
    expect(page.locator("#triage [name=outcome]")).to_have_value("fixed")
    assert parse_qs(urlsplit(page.url).query)["item"] == [stored(empty, thread_id)[1]["feedback_id"]]
    page.unroute_all(behavior="ignoreErrors")
    page.click("#triage [value=resolve]")
    shows(page, "Complaint 0")
    expect(page.locator(".failed")).to_have_count(0)
    expect(page.locator("#desk-status")).to_contain_text("Resolved “Complaint 1”")
    made = [(each["resolved"], each["admin_note"]) for each in stored(empty, thread_id)]
    assert made == [(False, None), (True, "Half a note"), (False, None)]
    record = empty.call("admin", "GET", f"admin/feedback/{stored(empty, thread_id)[1]['feedback_id']}/triage")
    assert record["outcome"] == "fixed", "what was chosen before it failed"


def test_nothing_is_lost_when_the_server_does_not_answer(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 1)
    visitor = visit("admin")
    visitor.forgive("ERR_FAILED", "failed:", "htmx:")
    page = visitor.page
    first_of_the_open(page, "Complaint 0")
    page.route("**/feedback/fb_*/", lambda line: line.abort())
    page.fill("#admin-note", "Half a note")
    page.click("#triage [value=note] >> visible=true")
    expect(page.locator(".failed")).to_be_visible()
    expect(page.locator("#admin-note")).to_have_value("Half a note")
    page.unroute("**/feedback/fb_*/")
    page.click("#triage [value=note] >> visible=true")
    expect(page.locator("#said")).to_contain_text("Saved note on")
    expect(page.locator(".failed")).to_have_count(0)


def test_what_failed_is_forgiven_when_the_connection_is_back(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """The machine's own, or that to the server, which the desk's line finds first, also after a refusal by a proxy."""
    complaints(empty, 1)
    visitor = visit("admin")
    visitor.forgive("ERR_", "failed:", "htmx:", "502")
    page = visitor.page
    page.route("**/feedback/live/**", lambda line: line.fulfill(status=502))
    first_of_the_open(page, "Complaint 0")
    visitor.context.set_offline(True)
    page.keyboard.press("a")
    expect(page.locator(".failed")).to_contain_text("No connection")
    visitor.context.set_offline(False)
    expect(page.locator(".failed")).to_have_count(0)
    page.route("**/feedback/fb_*/", lambda line: line.abort())
    page.keyboard.press("a")
    expect(page.locator(".failed")).to_contain_text("No connection")
    page.unroute("**/feedback/live/**")
    expect(page.locator(".failed")).to_have_count(0)


def test_drafts_of_a_note_survive_looking_at_another_report(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 2)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 1")
    page.keyboard.press("m")
    page.keyboard.type("Half a note")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    shows(page, "Complaint 0")
    expect(page.locator("#admin-note")).to_have_value("")
    page.keyboard.press("k")
    expect(page.locator("#admin-note")).to_have_value("Half a note")


def test_a_note_that_went_along_is_in_its_field_after_the_undo(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """As it was before: neither saved nor lost, also after a look at another report."""
    complaints(empty, 2, "Companion")
    page = visit("admin").page
    first_of_the_open(page, "Companion 1")
    page.keyboard.press("m")
    page.keyboard.type("Known since May")
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    shows(page, "Companion 0")
    page.keyboard.press("z")
    shows(page, "Companion 1")
    note = page.locator("#admin-note")
    expect(note).to_have_value("Known since May")
    page.keyboard.press("j")
    shows(page, "Companion 0")
    page.keyboard.press("k")
    shows(page, "Companion 1")
    expect(note).to_have_value("Known since May")
    page.keyboard.press("e")
    shows(page, "Companion 0")
    expect(page.locator("#said")).to_contain_text("Resolved “Companion 1”")
    page.goto("/feedback/?q=note:may")
    expect(page.locator(".rep")).to_have_count(1)


def test_a_reply_that_was_left_waits_open_as_a_draft(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    thread_id = complaints(empty, 2)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 1")
    page.keyboard.press("r")
    page.keyboard.type("We are sorry")
    page.click("#triage [value=resolve]")
    shows(page, "Complaint 0")
    expect(page.locator("#desk-status")).to_contain_text("Your reply was not sent.")
    expect(page.locator("#public-reply")).to_be_hidden()
    page.keyboard.press("z")
    shows(page, "Complaint 1")
    expect(page.locator("#public-reply")).to_be_visible()
    expect(page.locator("#public-reply")).to_have_value("We are sorry")
    page.focus("#public-reply")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#said")).to_contain_text("Replied to “Complaint 1”")
    assert not any(each["resolved"] for each in stored(empty, thread_id))


def test_the_first_action_moves_nothing(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 1)
    page = visit("admin").page
    page.goto("/feedback/?q=is:open")
    if page.locator("#desk-status form").count():  # what an earlier test did can still be taken back
        page.evaluate("document.querySelectorAll('#desk-status form').forEach((form) => form.remove())")
    page.keyboard.press("j")
    shows(page, "Complaint 0")
    before = page.locator("#desk-talk").bounding_box()
    page.keyboard.press("a")
    expect(page.locator("#desk-status")).to_contain_text("Claimed “Complaint 0”")
    assert page.locator("#desk-talk").bounding_box() == before


def test_passing_by_takes_no_lease(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """Only where one rests is a report held, and what was left is shown again without asking."""
    complaints(empty, 5)
    page = visit("admin").page
    page.goto("/feedback/?q=is:open")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    with page.expect_request("**/lease/*") as lease:
        page.evaluate(
            """() => {
              const press = (key) => new KeyboardEvent("keydown", { key, bubbles: true });
              for (const key of "jjjk") document.body.dispatchEvent(press(key));
            }"""
        )
        shows(page, "Complaint 3")
    assert parse_qs(urlsplit(page.url).query)["item"][0] in lease.value.url
    page.wait_for_timeout(500)
    assert len([url for url in asked if url.endswith("/lease/?leave=")]) == 1
    items = [url for url in asked if "item=" in url]
    assert len(items) == len(set(items))


def test_a_row_that_cannot_be_fetched_is_told_and_the_desk_stays(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 4)
    visitor = visit("admin")
    visitor.forgive("net::ERR_FAILED")
    page = visitor.page
    first_of_the_open(page, "Complaint 3")
    page.keyboard.press("j")
    shows(page, "Complaint 2")
    visitor.wait_until_fetched_ahead()
    page.route("**/feedback/?*item=*", lambda line: line.abort())
    for _ in range(3):
        page.keyboard.press("j")
    expect(page.locator(".failed")).to_be_visible()
    expect(page.locator("#desk")).not_to_have_attribute("aria-busy", "true")
    assert page.locator(".rep[aria-current]").count() == 1
    page.wait_for_timeout(300)  # the row is fetched ahead again, in vain
    page.unroute("**/feedback/?*item=*")
    page.keyboard.press("j")
    shows(page, "Complaint 0")
    expect(page.locator(".failed")).to_have_count(0)


def test_e_goes_on_from_what_is_resolved(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 3)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 2")
    page.keyboard.press("e")
    expect(page.locator("#said")).to_contain_text("Resolved “Complaint 2”")
    page.goto("/feedback/?q=")
    page.keyboard.press("j")
    shows(page, "Complaint 2")
    page.keyboard.press("e")
    shows(page, "Complaint 1")
    expect(page.locator("#desk-status")).to_contain_text("You already resolved “Complaint 2”.")
