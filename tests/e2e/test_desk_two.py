"""Two admins at one desk, and what is done behind the page."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.desk import WORDS, complaints, empty, first_of_the_open, is_held, shows, stored  # noqa: F401
from tests.e2e.hands import sent, slow
from tests.e2e.visiting import Heddle, Visit

pytestmark = [pytest.mark.browser, pytest.mark.live]


def test_a_conflict_shows_both_and_the_second_save_wins(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    thread_id = complaints(empty, 1)
    mine, theirs = visit("admin"), visit("bea")
    mine.forgive("status of 412")
    for page in (mine.page, theirs.page):
        first_of_the_open(page, "Complaint 0")
    button = mine.page.locator("#triage [value=resolve]")
    where = button.bounding_box()
    theirs.page.fill("#admin-note", "Bea's words")
    theirs.page.click("#triage [value=note] >> visible=true")
    expect(theirs.page.locator("#said")).to_contain_text("Saved note on")
    expect(mine.page.locator("#changed")).to_be_in_viewport()
    expect(mine.page.locator("#changed")).to_contain_text("Bea set the note: Bea's words ·")
    assert button.bounding_box() == where  # nothing moves under the pointer
    mine.page.keyboard.press("m")
    mine.page.keyboard.type("My words")
    beside = "getComputedStyle(document.activeElement.closest('.field'), '::after').content"
    assert "Somebody changed this report just now." in mine.page.evaluate(beside), "it is told where one writes"
    mine.page.click("#triage [value=note] >> visible=true")
    conflict = mine.page.locator("#desk-report [role=alert]")
    expect(conflict).to_contain_text("Bea has changed this report meanwhile.")
    expect(mine.page.locator("#desk-report .version").first).to_contain_text("Bea's words")
    expect(mine.page.locator("#said")).to_contain_text("Bea has changed this report meanwhile.")
    expect(mine.page.locator("#admin-note")).to_have_value("My words")
    expect(mine.page.locator("#admin-note")).to_be_focused()
    mine.page.click("#triage [value=note] >> visible=true")
    expect(mine.page.locator("#said")).to_contain_text("Saved note on")
    assert stored(empty, thread_id)[0]["admin_note"] == "My words"

    theirs.page.fill("#admin-note", "Once more")
    theirs.forgive("status of 412")
    theirs.page.click("#triage [value=note] >> visible=true")
    theirs.page.click("text=use theirs")
    expect(theirs.page.locator("#admin-note")).to_have_value("My words")
    assert stored(empty, thread_id)[0]["admin_note"] == "My words"

    mine.page.fill("#admin-note", "My new words")
    theirs.page.fill("#admin-note", "And theirs")
    mine.page.click("#triage [value=note] >> visible=true")
    expect(mine.page.locator("#said")).to_contain_text("Saved note on")
    expect(theirs.page.locator("#changed")).to_contain_text("My new words")
    theirs.page.click("#triage [value=note] >> visible=true")
    theirs.page.click("text=save both")
    expect(theirs.page.locator("#said")).to_contain_text("Saved note on")
    expect(theirs.page.locator("#admin-note")).to_have_value("My new words\n\nAnd theirs")
    assert stored(empty, thread_id)[0]["admin_note"] == "My new words\n\nAnd theirs"


def test_what_a_colleague_did_to_the_open_report_is_a_key_away(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """And so is the answer to what they asked in it, which comes by itself; words that are being written stay."""
    thread_id = complaints(empty, 2)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 1")
    is_held(page)
    page.keyboard.press("m")
    page.keyboard.type("Half a")
    page.keyboard.press("Escape")
    newest = stored(empty, thread_id)[0]["feedback_id"]
    asked = {"text": "@admin@heddle.test Is it the pump?"}
    empty.call("bea", "POST", f"admin/feedback/{newest}/comments", asked)
    expect(page.locator("#comments")).to_contain_text("Is it the pump?")
    expect(page.locator("#changed")).to_be_hidden()
    label = {"verb": "label", "arguments": {"add": ["pump"]}}
    empty.call("bea", "POST", f"admin/feedback/{newest}/actions", label)
    expect(page.locator("#changed")).to_contain_text("Bea labelled it: +pump")
    page.keyboard.press("Shift+R")
    expect(page.locator("#triage")).to_contain_text("pump")
    expect(page.locator("#changed")).to_be_hidden()
    expect(page.locator("#admin-note")).to_have_value("Half a")
    page.keyboard.press("Shift+N")
    expect(page.locator("#comments [data-key=N]")).to_have_count(0)


def test_a_draft_is_not_saved_over_what_a_colleague_wrote_meanwhile(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """It was typed for the text that stood there then, though the page that it came back to is newer."""
    thread_id = complaints(empty, 2)
    mine = visit("admin")
    mine.forgive("status of 412")
    page = mine.page
    first_of_the_open(page, "Complaint 1")
    page.keyboard.press("m")
    page.keyboard.type("My words")
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    expect(page.locator("#desk-status")).to_contain_text("Claimed “Complaint 1” and saved the note")
    page.keyboard.press("m")
    page.keyboard.type(", and more")
    page.keyboard.press("Escape")
    page.goto("/threads/")
    newest = stored(empty, thread_id)[0]["feedback_id"]
    act = f"admin/feedback/{newest}/actions"
    empty.call("bea", "POST", act, {"verb": "note", "arguments": {"admin_note": "Bea's words"}})
    first_of_the_open(page, "Complaint 1")
    expect(page.locator("#admin-note")).to_have_value("My words, and more")
    page.keyboard.press("e")
    expect(page.locator("#desk-report .version").first).to_contain_text("Bea's words")
    assert stored(empty, thread_id)[0]["admin_note"] == "Bea's words" and not stored(empty, thread_id)[0]["resolved"]
    expect(page.locator("#admin-note")).to_be_focused()
    page.keyboard.press("Control+Enter")
    expect(page.locator("#desk-status")).to_contain_text("Saved note on “Complaint 1”")
    assert stored(empty, thread_id)[0]["admin_note"] == "My words, and more"


def test_a_reply_that_met_another_one_is_sent_by_the_same_key_again(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 1)
    mine, theirs = visit("admin"), visit("bea")
    mine.forgive("status of 412")
    for page in (mine.page, theirs.page):
        first_of_the_open(page, "Complaint 0")
    for page, words in ((theirs.page, "Bea's words"), (mine.page, "My words")):
        page.keyboard.press("r")
        page.keyboard.type(words)
        page.keyboard.press("Control+Enter")
        expect(page.locator("#said")).to_contain_text("Replied to" if page is theirs.page else "Bea has changed this")
    expect(mine.page.locator("#public-reply")).to_be_focused()
    expect(mine.page.locator("#public-reply")).to_have_value("My words")
    mine.page.keyboard.press("Control+Enter")
    expect(mine.page.locator("#said")).to_contain_text("Replied to")
    assert len(mine.page.context.pages) == 1


def test_a_conflict_is_not_replaced_by_what_was_asked_for_the_next_report(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    """The page that renews itself while the next report is shown before its answer: row, address and report agree."""
    thread_id = complaints(empty, 3, name="Renewed")
    visitor = visit("admin")
    visitor.forgive("status of 412", "ERR_FAILED")
    page = visitor.page
    page.route("**/feedback/live/**", lambda line: line.abort())  # what a colleague does is not heard of
    posts = slow(page, "**/feedback/fb_*/")
    first_of_the_open(page, "Renewed 2")
    visitor.wait_until_fetched_ahead()
    address = page.url
    page.keyboard.press("m")
    page.keyboard.type("Mine.")
    newest = stored(empty, thread_id)[0]["feedback_id"]
    body = {"verb": "note", "arguments": {"admin_note": "Theirs."}}
    empty.call("bea", "POST", f"admin/feedback/{newest}/actions", body)
    page.keyboard.press("Control+Enter")
    post = sent(page, posts)
    expect(page.locator(WORDS)).to_have_text("Renewed 1")
    gets = slow(page, re.compile(r"/feedback/\?.*item="))
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    get = sent(page, gets)
    post.continue_()
    expect(page.locator("#desk-report [role=alert]")).to_be_visible()
    with page.expect_response(re.compile(r"/feedback/\?.*item=")):
        get.continue_()
    page.wait_for_timeout(200)
    shows(page, "Renewed 2")
    assert page.url == address
    expect(page.locator("#desk-report [role=alert]")).to_be_visible()


def test_a_key_that_is_to_be_pressed_again_is_no_letter_of_a_note(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    thread_id = complaints(empty, 1)
    mine, theirs = visit("admin"), visit("bea")
    mine.forgive("status of 412")
    for page in (mine.page, theirs.page):
        first_of_the_open(page, "Complaint 0")
    mine.page.keyboard.press("m")
    mine.page.keyboard.type("draft")
    mine.page.keyboard.press("Escape")
    theirs.page.keyboard.press("a")
    expect(theirs.page.locator("#said")).to_contain_text("Claimed")
    mine.page.keyboard.press("a")
    expect(mine.page.locator("#desk-report [role=alert]")).to_contain_text("Press a again to take it over.")
    expect(mine.page.locator("#admin-note")).to_have_value("draft")
    mine.page.wait_for_timeout(100)  # a refusal drops the keys that were pressed before one could read it
    mine.page.keyboard.press("a")
    expect(mine.page.locator("#said")).to_contain_text("Claimed")
    [report] = stored(empty, thread_id)
    owner = empty.call("admin", "GET", f"admin/feedback/{report['feedback_id']}/triage")["owner"]
    assert (owner, report["admin_note"]) == ("admin@heddle.test", "draft")


def test_who_is_where_is_seen_at_once_and_n_goes_around_them(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 4)
    mine, theirs = visit("admin").page, visit("bea").page
    mine.goto("/feedback/?q=is:open")
    first_of_the_open(theirs, "Complaint 3")
    held = mine.locator(".rep[data-held]")
    expect(held).to_have_count(1)
    expect(held).to_have_attribute("data-held", "Bea")
    mine.keyboard.press("n")
    shows(mine, "Complaint 2")
    theirs.keyboard.press("j")
    shows(theirs, "Complaint 2")
    expect(theirs.locator("#desk-report")).to_contain_text("Admin has this report open too.")
    expect(mine.locator("#held")).to_contain_text("Bea has this report open too.")
    expect(held).to_contain_text("Complaint 2")
    theirs.keyboard.press("n")
    shows(theirs, "Complaint 1")
    expect(held).to_contain_text("Complaint 1")
    theirs.keyboard.press("e")
    shows(theirs, "Complaint 0")
    expect(held).to_contain_text("Complaint 0")
    mine.keyboard.press("n")
    expect(mine.locator("#told")).to_contain_text("No more below.")  # one is resolved by now, and one is open there
    shows(mine, "Complaint 2")


def test_a_view_is_kept_shared_and_opened_by_another(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 2)
    visitor = visit("admin")
    visitor.forgive("status of 400")
    page = visitor.page
    page.goto("/feedback/?q=is:open")
    page.keyboard.press("/")
    page.keyboard.type("notes:Complaint")
    page.keyboard.press("Enter")
    expect(page.locator(".token")).to_have_count(2)
    page.click("#desk-bar summary")
    page.fill("#view-name", "   ")
    page.click("#desk-bar button:has-text('Save view')")
    expect(page.locator("#view-wrong")).to_contain_text("1 to 60 characters")
    expect(page.locator("#view-name")).to_be_visible()
    page.fill("#view-name", "The complaints")
    page.check("text=Shared with all admins")
    page.click("#desk-bar button:has-text('Save view')")
    expect(page.locator(".views > div [aria-current]")).to_have_text("The complaints 2")
    expect(page.locator("#desk-status")).to_contain_text("Saved as The complaints.")
    other = visit("bea").page
    other.goto("/feedback/")
    other.click(".views summary")
    other.locator(".views a", has_text="The complaints").click()
    expect(other.locator(".views > div [aria-current]")).to_have_text("The complaints 2")
    expect(other.locator(".rep")).to_have_count(2)
    assert other.url == page.url
    page.click("summary:has-text('View')")
    page.click("text=Delete this view")
    expect(page.locator("#desk-status")).to_contain_text("Deleted The complaints.")
    expect(page.locator(".views a", has_text="The complaints")).to_have_count(0)


def test_two_hundred_and_fifty_are_done_behind_the_page(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """Taken back as the one thing that it was; what could not be done is told row by row; and it can be stopped."""
    heddle = empty
    complaints(heddle, 250, "Throng")
    visitor = visit("admin")
    page = visitor.page
    page.goto("/feedback/?q=is:open")
    page.keyboard.press("j")
    expect(page.locator("#triage h2").first).to_contain_text("unclaimed")
    page.keyboard.press("x")
    page.keyboard.press("*")
    expect(page.locator("#bulk [name=all]")).to_be_checked()
    page.keyboard.press("e")
    expect(page.locator("#bulk")).to_be_hidden()
    expect(page.locator("#desk-status")).to_contain_text("Resolved 250 reports")
    expect(page.locator("#bulks form")).to_have_count(0)
    expect(page.locator(".rep")).to_have_count(1)  # the open one
    expect(page.locator("#desk-count")).to_have_text("0 open")
    expect(page.locator("#desk-total")).to_have_text("Newest first: 0 reports")
    expect(page.locator("#triage h2").first).to_contain_text("resolved by")
    page.keyboard.press("z")
    expect(page.locator("#desk-count")).to_have_text("250 open")
    expect(page.locator("#desk-total")).to_have_text("Newest first: 250 reports")
    expect(page.locator("#triage h2").first).to_contain_text("unclaimed")
    expect(page.locator(".rep:not([data-resolved])")).to_have_count(32)

    page.goto("/feedback/?q=Throng")
    page.locator(".rep input").first.check()
    page.keyboard.press("e")
    expect(page.locator(".rep[data-resolved]")).to_have_count(1)  # the answer is here; the count may come before it
    everything(page)
    page.click("#bulk [value=reopen]")
    failed = page.locator("#desk-status summary", has_text="249 of 250 not changed")
    expect(failed).to_be_visible()
    failed.click()
    expect(page.locator("#desk-status li a")).to_have_count(20)
    expect(page.locator("#desk-status li").last).to_have_text("and 229 more")
    expect(page.locator("#desk-status li").first).to_contain_text("This report is already open.")
    page.keyboard.press("Escape")
    expect(page.locator("#desk-count")).to_have_text("250 open")

    busy = [heddle.start("alice", "[[sleep 60]]", wait=False) for _ in range(8)]  # as many as the worker can do at once
    everything(page)
    page.click("#bulk summary[data-key=A]")
    page.click("#bulk [value='own']")
    expect(page.locator("#bulks")).to_contain_text("0 of 250")
    page.click("#bulks button")
    expect(page.locator("#desk-status")).to_contain_text("Stopped after 0 of 250.")
    expect(page.locator("#bulks form")).to_have_count(0)
    for each in busy:
        heddle.call("alice", "POST", f"threads/{each}/cancel")


def test_what_is_done_while_a_bulk_runs_is_taken_back_before_it(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """One key for both: what was done last comes first, and the line says which."""
    complaints(empty, 250, "Swarm")
    page = visit("admin").page
    first_of_the_open(page, "Swarm 249")
    busy = [empty.start("alice", "[[sleep 60]]", wait=False) for _ in range(8)]  # as many as the worker can do at once
    everything(page)
    page.keyboard.press("Escape")
    page.keyboard.press("l")
    page.keyboard.type("mail")
    page.keyboard.press("Enter")
    expect(page.locator("#bulks")).to_contain_text("0 of 250")
    page.keyboard.press("a")
    expect(page.locator("#undo")).to_contain_text("Claimed “Swarm 249”")
    expect(page.locator("#bulks form")).to_have_count(1)
    page.keyboard.press("z")
    expect(page.locator("#desk-said")).to_contain_text("Undone: claim of “Swarm 249”.")
    expect(page.locator("#bulks form")).to_have_count(1)
    page.keyboard.press("a")
    expect(page.locator("#undo")).to_contain_text("Claimed “Swarm 249”")
    for each in busy:
        empty.call("alice", "POST", f"threads/{each}/cancel")
    expect(page.locator("#desk-said")).to_contain_text("New label mail on 250 reports.")
    expect(page.locator("#undo")).to_contain_text("Before that: Claimed “Swarm 249”")
    expect(page.locator("#said")).to_contain_text("New label mail on 250 reports.")
    page.keyboard.press("z")
    expect(page.locator("#desk-said")).to_contain_text("Undone: claim of “Swarm 249”.")
    expect(page.locator("#undo")).to_contain_text("Before that: New label mail on 250 reports")


def everything(page: Page) -> None:
    """Tick all that match, and open the menu of what else can be done to it."""
    page.locator(".rep input").first.check()
    page.check("#bulk [name=all]")
    page.click("#bulk summary[data-key=h]")


def test_an_address_that_leads_nowhere_says_so_in_the_page(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 1)
    visitor = visit("admin")
    visitor.forgive("status of 404")
    page = visitor.page
    page.goto("/feedback/?q=is:open&item=fb_nothing")
    expect(page.locator("#desk-talk")).to_contain_text("Report not found.")
    page.keyboard.press("j")
    shows(page, "Complaint 0")


def test_a_list_that_is_open_says_what_others_did_to_it(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """Rows that others changed step back, counts are true, new reports are announced; nothing moves by itself."""
    thread_id = complaints(empty, 3)
    mine, theirs = visit("admin").page, visit("bea").page
    with mine.expect_request("**/feedback/live/**"):
        mine.goto("/feedback/?q=is:unclaimed")
    expect(mine.locator("#news")).to_be_hidden()
    first_of_the_open(theirs, "Complaint 2")
    expect(mine.locator(".rep[data-held]")).to_have_count(1)  # so the line is open
    theirs.keyboard.press("e")
    shows(theirs, "Complaint 1")
    expect(mine.locator(".rep[data-changed] a")).to_have_text("Negative: Complaint 2")
    for counted in (".views > div [aria-current]", "#desk-total", "#desk-count"):
        expect(mine.locator(counted)).to_contain_text("2")
    empty.rate("alice", thread_id, 1, notes="One more")
    expect(mine.locator("#news")).to_be_visible()
    expect(mine.locator(".rep")).to_have_count(3)
    mine.keyboard.press(".")
    expect(mine.locator(".rep a").first).to_have_text("Negative: One more")
    expect(mine.locator("#news")).to_be_hidden()


def test_what_a_colleague_takes_or_resolves_is_not_next(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    thread_id = complaints(empty, 6)
    page = visit("admin").page
    with page.expect_request("**/feedback/live/**"):
        first_of_the_open(page, "Complaint 5")
    reports = [each["feedback_id"] for each in stored(empty, thread_id)]

    def does(report: str, verb: str, **arguments: str) -> None:
        empty.call("bea", "POST", f"admin/feedback/{report}/actions", {"verb": verb, "arguments": arguments})

    does(reports[1], "own", owner="me")
    does(reports[2], "resolve")
    expect(page.locator(".rep[data-changed]")).to_have_count(2)
    page.keyboard.press("n")
    shows(page, "Complaint 2")
    does(reports[4], "resolve")
    expect(page.locator(".rep[data-changed]")).to_have_count(3)
    page.keyboard.press("e")
    shows(page, "Complaint 0")
    expect(page.locator("#said")).to_contain_text("Resolved “Complaint 2”")
    assert [each["resolved"] for each in stored(empty, thread_id)] == [False, False, True, True, True, False]


def test_what_others_did_before_the_line_was_there_is_told_once_it_is(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    thread_id = complaints(empty, 2)
    visitor = visit("admin")
    visitor.forgive("502")
    page = visitor.page
    page.route("**/feedback/live/**", lambda line: line.fulfill(status=502))
    first_of_the_open(page, "Complaint 1")
    newest = stored(empty, thread_id)[0]["feedback_id"]
    empty.call("bea", "POST", f"admin/feedback/{newest}/actions", {"verb": "label", "arguments": {"add": ["late"]}})
    empty.rate("alice", thread_id, 1, notes="One more")
    page.unroute("**/feedback/live/**")
    expect(page.locator("#changed")).to_contain_text("Bea labelled it: +late")
    expect(page.locator("#news")).to_be_visible()


def test_what_others_do_closes_no_menu_and_takes_no_focus(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 2)
    mine, theirs = visit("admin").page, visit("bea").page
    mine.goto("/feedback/?q=is:open")
    mine.keyboard.press("v")
    focused = mine.locator("#desk-views details a:focus")
    expect(focused).to_be_visible()
    first_of_the_open(theirs, "Complaint 1")
    theirs.keyboard.press("e")
    expect(mine.locator(".rep[data-changed]")).to_have_count(1)
    expect(focused).to_be_visible()
    mine.locator(".rep a").first.focus()
    theirs.keyboard.press("e")
    expect(mine.locator("#desk-views [aria-current] .count").first).to_have_text("0")


def test_the_other_tab_of_the_same_admin_follows(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """On another device as well, where both windows have the focus; a note half typed there stays. The one where it was
    done loads nothing again.
    """
    complaints(empty, 2)
    here, there = visit("admin").page, visit("admin").page
    with there.expect_request("**/feedback/live/**"):
        there.goto("/feedback/?q=is:open")
    first_of_the_open(here, "Complaint 1")
    expect(there.locator(".rep[data-held]")).to_have_count(0)
    here.keyboard.press("e")
    shows(here, "Complaint 0")
    renewed: list[str] = []
    here.on("request", lambda asked: renewed.append(asked.url) if "/feedback/?" in asked.url else None)
    expect(there.locator(".rep a")).to_have_text(["Negative: Complaint 0"])
    expect(there.locator("#desk-total")).to_have_text("Newest first: 1 report")
    there.keyboard.press("j")
    shows(there, "Complaint 0")
    there.fill("#admin-note", "Half a")
    here.keyboard.press("a")
    expect(there.locator(".rep")).to_contain_text("you")
    expect(there.locator("#admin-note")).to_have_value("Half a")
    assert not renewed


def test_snooze_is_for_all_that_is_ticked(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """As resolve, owner and label are."""
    thread_id = complaints(heddle, 3, name="Later")
    page = visit("admin").page
    with page.expect_request("**/feedback/live/**"):  # before it, a key leads to a page of its own
        page.goto(f"/feedback/?q=thread:{thread_id}")
    for _ in range(2):
        page.keyboard.press("j")
        page.keyboard.press("x")
    expect(page.locator("#ticked")).to_have_text("2 ticked")
    page.keyboard.press("h")
    expect(page.locator("#bulk [value='snooze 4h']")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("Snoozed 2")
    page.goto(f"/feedback/?q=thread:{thread_id}")
    expect(page.locator(".rep[data-snoozed]")).to_have_count(2)


def test_a_query_that_is_refused_is_mended_where_it_was_typed(visit: Callable[..., Visit]) -> None:
    page = visit("admin").page
    page.goto("/feedback/?q=is:open")
    page.keyboard.press("/")
    page.keyboard.type("colour:red")
    page.keyboard.press("Enter")
    expect(page.locator("#desk-rows")).to_contain_text("Invalid query.")
    expect(page.locator("#q")).to_be_focused()
    expect(page.locator("#desk-talk")).to_have_text("")


def test_rows_end_at_their_bottom_and_what_many_are_offered_fills_its_lines(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    """Also under short words; and if all that match are meant, every row shows a tick."""
    complaints(heddle, 1, name="Short")
    complaints(heddle, 1, name="So long that these words take two lines of a row in the list of the desk")
    page = visit("admin").page
    page.set_viewport_size({"width": 1440, "height": 900})
    with page.expect_request("**/feedback/live/**"):
        page.goto("/feedback/?q=")
    gap = "row.getBoundingClientRect().bottom - row.querySelector('.rep-end').getBoundingClientRect().bottom"
    gaps = page.evaluate(f"[...document.querySelectorAll('.rep')].map((row) => {gap})")
    assert len(gaps) > 1 and max(gaps) - min(gaps) < 1, gaps
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator("#ticked")).to_have_text("1 ticked")
    boxes = [
        each.bounding_box() for each in page.locator("#bulk :is(.joined, .menu:not(.joined *)) >> visible=true").all()
    ]
    lower, lowest = (boxes[place]["y"] - boxes[0]["y"] for place in (3, 6))
    lines = [0, 0, 0, *[round(lower)] * 3, round(lowest)]
    assert [round(each["y"] - boxes[0]["y"]) for each in boxes] == lines and 0 < lower < lowest
    ends = [boxes[place]["x"] + boxes[place]["width"] for place in (2, 5, 6)]
    assert max(ends) - min(ends) < 2 and abs(boxes[6]["x"] - boxes[0]["x"]) < 2, boxes
    page.keyboard.press("*")
    expect(page.locator("#bulk [name=all]")).to_be_checked()
    unticked = "document.querySelector('.rep:not(:has(:checked)) label')"
    assert page.evaluate(f"getComputedStyle({unticked}, '::before').visibility") == "visible"


def test_the_frame_of_the_page_stays_when_a_bulk_goes_on_while_it_is_stopped(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    """Its progress is told while the answer to Stop is on its way; it may end before it."""
    complaints(empty, 400, "Crowd")
    visitor = visit("admin")
    visitor.forgive("409")
    page = visitor.page
    page.goto("/feedback/?q=is:open")
    page.route("**/stop/", lambda line: (page.wait_for_timeout(700), line.continue_()))
    everything(page)
    page.click("#bulk summary[data-key=A]")
    page.click("#bulk [value='own me']")
    expect(page.locator("#bulks button")).to_be_visible()
    page.keyboard.press("z")  # a mouse would wait for the button to come to rest
    expect(page.locator("#bulks form")).to_have_count(0)
    expect(page.locator("#desk")).to_be_visible()
    expect(page.locator("header .nav")).to_be_visible()
    expect(page.locator("#said")).not_to_be_empty()


def test_who_goes_on_behind_a_report_that_is_gone_is_not_led_back(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """The row to go on at has the focus, once."""
    thread_id = complaints(empty, 5, "Withdrawn")
    admin = visit("admin")
    admin.forgive("status of 404")
    page = admin.page
    first_of_the_open(page, "Withdrawn 4")
    page.keyboard.press("j")
    shows(page, "Withdrawn 3")
    index = stored(empty, thread_id)[1]["message_sequence_num"]
    empty.call("bob", "DELETE", f"threads/{thread_id}/messages/{index}/feedback")
    page.reload()
    expect(page.locator(".rep a:focus")).to_contain_text("Withdrawn 2")
    for place in (2, 1, 0):
        page.keyboard.press("j")
        shows(page, f"Withdrawn {place}")
        expect(page.locator(".rep a:focus")).to_contain_text(f"Withdrawn {place}")


def test_who_has_a_report_open_that_is_gone_goes_on_where_it_was(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """Whichever key told of it, and in both directions."""
    thread_id = complaints(empty, 6, "Taken back")
    admin = visit("admin")
    admin.forgive("status of 404", "status of 409")  # that it is open may be told while it is taken back
    page = admin.page
    first_of_the_open(page, "Taken back 5")
    for key, place, way, then in (("Shift+R", 4, "j", 3), ("e", 2, "k", 3)):
        page.keyboard.press("j")
        shows(page, f"Taken back {place}")
        newest = [
            each["message_sequence_num"] for each in stored(empty, thread_id) if each["notes"] == f"Taken back {place}"
        ]
        empty.call("bob", "DELETE", f"threads/{thread_id}/messages/{newest[0]}/feedback")
        expect(page.locator("#changed")).to_contain_text("The submitter retracted it")
        page.keyboard.press(key)
        expect(page.locator("#report [role=alert]")).to_be_visible()
        expect(page.locator(".rep a:focus")).to_contain_text(f"Taken back {place - 1}")
        page.keyboard.press(way)
        shows(page, f"Taken back {then}")
