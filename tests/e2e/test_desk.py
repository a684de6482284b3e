"""An admin at the desk: reports cleared by keys and by mouse, and an address that always shows the same screen."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.desk import WORDS, complaints, empty, listed, shows, stored  # noqa: F401
from tests.e2e.visiting import Heddle, Visit

pytestmark = [pytest.mark.browser, pytest.mark.live]


def state(page: Page) -> tuple[str, str, list[str], str]:
    """What a colleague would see at this address."""
    words = page.locator(WORDS).inner_text()
    return page.url, words, listed(page), page.locator(".rated article").get_attribute("id") or ""


def test_twenty_reports_are_cleared_by_six_keys_each(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """A label, a note or nothing, and on: the hands never leave the keys, and the focus is never lost."""
    thread_id = complaints(empty, 20)
    page = visit("admin").page
    page.goto("/feedback/")
    expect(page.locator("#desk-count")).to_have_text("20 open")
    pressed = 0

    def press(*keys: str) -> None:
        nonlocal pressed
        for key in keys:
            page.keyboard.press(key)
            pressed += 1

    press("j")
    for number in range(19, -1, -1):
        shows(page, f"Complaint {number}")
        assert page.evaluate("document.activeElement.closest('.rep')?.ariaCurrent") == "true"
        if number % 5 == 0:
            press("l", "x", "Enter")
            expect(page.locator("#desk-report .tag")).to_have_text("x")
            expect(page.locator("#said")).to_contain_text(f"Labelled “Complaint {number}”")
            expect(page.locator("#admin-label")).to_be_focused()
            press("Escape")
            expect(page.locator("#admin-label")).not_to_be_focused()
        if number % 5 == 1:
            press("m", "y", "Control+Enter")  # saves and goes on: it stays open, and is resolved below
        else:
            press("e")
        expect(page.locator("#said")).to_contain_text(f"“Complaint {number}”")
    expect(page.locator(".desk-list")).to_contain_text("Complaint 16")
    for number in (16, 11, 6, 1):
        page.locator(".rep a", has_text=f"Complaint {number}").click()
        shows(page, f"Complaint {number}")
        press("e")
        expect(page.locator("#said")).to_contain_text(f"Resolved “Complaint {number}”")
    expect(page.locator(".desk-list")).to_contain_text("No report matches.")
    expect(page.locator("#desk-talk")).to_contain_text("No report is open.")
    expect(page.locator("#desk-count")).to_have_text("0 open")
    assert pressed <= 6 * 20
    kept = stored(empty, thread_id)
    assert all(each["resolved"] for each in kept)
    assert [each["admin_label"] for each in kept[4::5]] == ["x"] * 4
    assert [each["admin_note"] for each in kept[3::5]] == ["y"] * 4


def test_the_same_by_mouse_with_labels_snooze_duplicate_and_reply(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    thread_id = complaints(empty, 5)
    first = stored(empty, thread_id)[-1]["feedback_id"]
    page = visit("admin").page
    page.goto("/feedback/")
    page.locator(".rep a").first.click()
    shows(page, "Complaint 4")
    page.fill("#admin-label", "money")
    page.click("#triage [value=label] >> visible=true")
    expect(page.locator("#desk-report .tag")).to_have_text("money")
    page.locator("#desk-report [aria-label='Take money off']").click()
    expect(page.locator("#desk-report .tag")).to_have_count(0)
    page.click("#triage summary:has-text('Snooze')")
    page.click("text=Next week")
    shows(page, "Complaint 3")
    page.click("#triage summary:has-text('Duplicate')")
    page.fill("#duplicate-of", first)
    box, pane = page.locator("#duplicate-of").bounding_box(), page.locator("#desk-report").bounding_box()
    assert box and pane and pane["x"] <= box["x"] and box["x"] + box["width"] <= pane["x"] + pane["width"]
    page.click("[value=duplicate]")
    shows(page, "Complaint 2")
    page.click("summary:has-text('Reply to')")
    page.fill("#public-reply", "It is mended.")
    page.fill("#admin-note", "Typed beside it")
    page.click("text=Send reply")
    expect(page.locator("#desk-report summary.head")).to_contain_text("answered")
    expect(page.locator("#admin-note")).to_have_value("Typed beside it")
    page.select_option("[name=outcome]", "fixed")
    page.click("#triage [value=resolve]")
    shows(page, "Complaint 1")
    page.click("#desk-status button:has-text('Undo')")
    shows(page, "Complaint 2")
    expect(page.locator("#said")).to_contain_text("Taken back.")
    expect(page.locator("#triage [value=resolve]")).to_be_visible()


def test_ticks_survive_paging_and_refusals(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 45)
    visitor = visit("admin")
    visitor.forgive("status of 400")
    page = visitor.page
    page.goto("/feedback/?q=is:open")
    page.locator(".rep input").first.check()
    page.click("a[rel=next]")
    expect(page.locator(".rep")).to_have_count(5)
    expect(page.locator("#bulk")).to_contain_text("1 ticked")
    page.locator(".rep input").last.check()
    page.keyboard.press("l")
    page.keyboard.type("y" * 61)
    page.keyboard.press("Enter")
    expect(page.locator("#bulk .wrong")).to_contain_text("at most 60")
    expect(page.locator("#bulk")).to_contain_text("2 ticked")
    page.click("#bulk [value=resolve]")
    expect(page.locator("#said")).to_contain_text("Resolved 2 reports")
    expect(page.locator(".rep")).to_have_count(4)
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator("#bulk")).to_contain_text("1 ticked")
    page.keyboard.press("Escape")
    expect(page.locator("#bulk")).to_be_hidden()


def test_back_forward_and_a_copied_address_show_the_same_screen(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    """The address is the state: query, open report and pane. What is refused or stays is no place of its own."""
    complaints(empty, 3)
    admin = visit("admin")
    admin.forgive("status of 400")
    page = admin.page
    page.goto("/feedback/?q=is:open")
    states = []
    for number in (2, 1, 0):
        page.keyboard.press("j")
        shows(page, f"Complaint {number}")
        states.append(state(page))
    assert len({url for url, *_ in states}) == 3
    page.keyboard.press("m")
    page.fill("#admin-note", "x" * 20001)
    page.click("#triage [value=note] >> visible=true")
    expect(page.locator("#note-wrong")).to_contain_text("20000")
    assert page.url == states[2][0]
    page.fill("#admin-note", "")
    page.go_back()
    shows(page, "Complaint 1")
    assert state(page) == states[1]
    page.go_back()
    shows(page, "Complaint 2")
    page.go_back()
    expect(page.locator("#desk-talk")).to_contain_text("No report is open.")
    page.go_forward()
    shows(page, "Complaint 2")
    page.go_forward()
    shows(page, "Complaint 1")
    assert state(page) == states[1]
    other = admin.tab()
    other.goto(states[2][0])
    assert state(other) == states[2]
    page.locator(".query a", has_text="is:open").click()
    expect(page.locator(".query a")).to_have_count(0)


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


def test_a_press_never_gets_lost_nor_means_what_stood_there_before(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """While one is under way no button can be pressed, an older undo least of all; what comes is ready at once."""
    thread_id = complaints(empty, 3)
    page = visit("admin").page
    page.goto("/feedback/?q=is:open")
    page.locator(".rep a").first.click()
    shows(page, "Complaint 2")
    page.click("#triage [value='own me']")
    expect(page.locator("#desk-status")).to_contain_text("Took “Complaint 2”")
    slow: list[Route] = []
    page.route("**/feedback/fb_*/", lambda line: slow.append(line), times=1)
    page.click("#triage [value=resolve]")
    undo = page.locator("#desk-status button:has-text('Undo')")
    expect(undo).to_be_disabled()
    expect(page.locator("#triage button:enabled")).to_have_count(0)
    slow[0].continue_()
    undo.click()
    expect(page.locator("#said")).to_contain_text("Taken back.")
    shows(page, "Complaint 2")
    expect(page.locator("#triage [value=own]")).to_be_visible()  # taken it was before, and stays so
    assert not stored(empty, thread_id)[0]["resolved"]

    # Quicker than any hand: pressed in the moment in which the report shows.
    page.evaluate(
        """new MutationObserver((_, watch) => {
          if (!document.querySelector("#desk-report .words").textContent.includes("Complaint 1")) return;
          watch.disconnect();
          document.querySelector("#triage [value=resolve]").click();
        }).observe(document.getElementById("desk"), { childList: true, subtree: true })"""
    )
    loads: list[Page] = []
    page.on("load", lambda whole: loads.append(whole))
    page.click("#triage [value=resolve]")
    shows(page, "Complaint 0")
    expect(page.locator("#said")).to_contain_text("Resolved “Complaint 1”")
    assert loads == []


def test_what_was_fetched_ahead_is_shown_without_asking(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 4)
    visitor = visit("admin")
    page = visitor.page
    page.goto("/feedback/?q=is:open")
    page.keyboard.press("j")
    shows(page, "Complaint 3")
    page.wait_for_timeout(500)
    visitor.forgive("ERR_INTERNET_DISCONNECTED", "failed:")
    visitor.context.set_offline(True)
    page.keyboard.press("j")
    shows(page, "Complaint 2")
    visitor.context.set_offline(False)


def test_nothing_is_lost_when_the_server_does_not_answer(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 1)
    visitor = visit("admin")
    visitor.forgive("ERR_FAILED", "failed:", "htmx:")
    page = visitor.page
    page.goto("/feedback/?q=is:open")
    page.keyboard.press("j")
    shows(page, "Complaint 0")
    page.route("**/feedback/fb_*/", lambda line: line.abort())
    page.fill("#admin-note", "Half a note")
    page.click("#triage [value=note] >> visible=true")
    expect(page.locator("#failed")).to_be_visible()
    expect(page.locator("#admin-note")).to_have_value("Half a note")
    page.unroute("**/feedback/fb_*/")
    page.click("#triage [value=note] >> visible=true")
    expect(page.locator("#said")).to_contain_text("Noted on")
    expect(page.locator("#failed")).to_be_hidden()


def test_drafts_of_a_note_survive_looking_at_another_report(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 2)
    page = visit("admin").page
    page.goto("/feedback/?q=is:open")
    page.keyboard.press("j")
    shows(page, "Complaint 1")
    page.keyboard.press("m")
    page.keyboard.type("Half a note")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    shows(page, "Complaint 0")
    expect(page.locator("#admin-note")).to_have_value("")
    page.keyboard.press("k")
    expect(page.locator("#admin-note")).to_have_value("Half a note")


def test_menus_open_by_keys_and_give_the_focus_back(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 2)
    page = visit("admin").page
    page.goto("/feedback/?q=is:unclaimed")
    page.keyboard.press("j")
    shows(page, "Complaint 1")
    page.keyboard.press("h")
    expect(page.locator("[value='snooze 4h'] >> visible=true")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.locator("[value='snooze 1d'] >> visible=true")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#triage summary[data-key=h]")).to_be_focused()
    page.keyboard.press("h")
    page.keyboard.press("Enter")
    shows(page, "Complaint 0")
    expect(page.locator("#said")).to_contain_text("Snoozed “Complaint 1”")
    page.keyboard.press("d")
    page.keyboard.type("fb_nothing")
    page.keyboard.press("Escape")
    expect(page.locator("#duplicate-of")).to_be_hidden()


def test_forking_at_the_rated_answer_and_writing_on(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """B134, B138, B142: a complaint becomes a thread in which it can be tried again; the source stays as it was."""
    thread_id = complaints(empty, 2)
    before = empty.call("alice", "GET", f"threads/{thread_id}")["messages"]
    page = visit("admin").page
    page.goto("/feedback/?q=is:open")
    page.keyboard.press("j")
    shows(page, "Complaint 1")
    page.keyboard.press("j")
    shows(page, "Complaint 0")
    page.keyboard.press("f")
    page.wait_for_url("**/threads/ags_*/")
    expect(page.locator("#notes")).to_contain_text("yours and private")
    expect(page.locator("#head")).to_contain_text("from 2 bad answers, message 1")
    page.fill("#say", "Try again.")
    page.click("#send")
    expect(page.locator("#m3[data-voice=agent]")).to_contain_text("Try again.")
    assert empty.call("alice", "GET", f"threads/{thread_id}")["messages"] == before


def test_the_whole_conversation_and_its_tool_calls_are_one_key_away(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    """What is folded around the rated answer unfolds in place, a tool call loads, and links lead to the thread."""
    heddle, rated = empty, complaints(empty, 5)
    thread_id = heddle.start("alice", 'Sum. [[call calculate {"expression": "2 + 3"}]]', org=None)
    last = len(heddle.call("alice", "GET", f"threads/{thread_id}")["messages"]) - 1
    heddle.rate("alice", thread_id, last, notes="With a call")
    page = visit("admin").page
    page.goto(f"/feedback/?q=thread:{rated}")
    page.keyboard.press("j")
    expect(page.locator("#desk-report .words")).to_have_text("Complaint 4")
    expect(page.locator("#desk-talk .msg")).to_have_count(3)
    page.keyboard.press("t")
    expect(page.locator("#desk-talk .msg")).to_have_count(10)
    expect(page.locator("#desk-report .words")).to_have_text("Complaint 4")
    page.keyboard.press("t")
    expect(page.locator("#desk-talk .msg")).to_have_count(3)
    page.goto(f"/feedback/?q=thread:{thread_id}")
    page.keyboard.press("j")
    page.locator("#desk-talk .call summary").first.click()
    expect(page.locator("#desk-talk .call-io").first).to_contain_text("2 + 3")
    page.locator("#desk-talk h2 a").click()
    page.wait_for_url(f"**/threads/{thread_id}/**")
