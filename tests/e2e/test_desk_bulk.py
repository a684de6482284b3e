"""The bar for ticked reports: what is typed stays, a refusal stands at its field, and no key means another thing."""

from collections.abc import Callable

import pytest
from playwright.sync_api import APIResponse, Page, Route, expect

from tests.e2e.desk import WORDS, complaints, empty, first_of_the_open, shows, stored  # noqa: F401
from tests.e2e.visiting import Heddle, Visit, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.live]


def seen_again(page: Page) -> None:
    """As if its tab had been behind another one."""
    with page.expect_response(lambda answer: "/feedback/?" in answer.url):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def begun(page: Page, key: str, words: str) -> None:
    """Type into one of the bar's fields and leave it."""
    page.keyboard.press(key)
    page.keyboard.type(words)
    page.keyboard.press("Escape")


def test_what_is_typed_for_all_that_is_ticked_is_a_draft(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    thread_id = complaints(empty, 37)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 36")
    page.keyboard.press("x")
    begun(page, "r", "We are sorry, ")
    begun(page, "l", "mon")
    seen_again(page)
    expect(page.locator("#bulk-reply")).to_have_value("We are sorry, ")
    page.click("a[rel=next]")
    expect(page.locator(".rep")).to_have_count(5)
    expect(page.locator("#bulk-label")).to_have_value("mon")
    expect(page.locator(".menu[open]")).to_have_count(0)
    page.keyboard.press("e")
    expect(page.locator("#said")).to_contain_text("Resolved")
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("r")
    expect(page.locator("#bulk-reply")).to_be_focused()
    page.keyboard.type("it is mended.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#said")).to_contain_text("Replied")
    expect(page.locator("#bulk-reply")).to_have_value("")
    replies = empty.call("admin", "GET", f"admin/feedback/{page.url.split('item=')[1][:29]}/triage")["public_reply"]
    assert replies == "We are sorry, it is mended."
    assert all(each["admin_label"] is None for each in stored(empty, thread_id)), "the label waits for its own button"


def test_the_open_row_is_in_sight_beside_what_is_ticked(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """Also when the page comes anew: the bar of the ticked takes its room before the row is brought into sight."""
    complaints(empty, 20, "Far down")
    page = visit("admin").page
    first_of_the_open(page, "Far down 19")
    page.keyboard.press("x")
    page.locator(".rep a", has_text="Far down 4").click()
    shows(page, "Far down 4")
    page.reload()
    expect(page.locator("#bulk")).to_be_visible()
    expect(page.locator(".rep[aria-current] .rep-end")).to_be_in_viewport(ratio=1)


def test_what_the_page_loads_by_itself_leaves_the_form_whose_answer_is_under_way(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    """The answer to a form that is not there any more would take the place of the whole page."""
    complaints(empty, 2, "Underway")
    page = visit("admin").page
    first_of_the_open(page, "Underway 1")
    page.keyboard.press("x")
    page.keyboard.press("r")
    held: list[Route] = []
    page.route("**/feedback/bulk/", lambda line: held.append(line), times=1)
    page.keyboard.type("It is mended.")
    with page.expect_request("**/feedback/bulk/"):
        page.keyboard.press("Control+Enter")
    seen_again(page)
    page.wait_for_timeout(100)
    held[0].continue_()
    expect(page.locator("#desk-status")).to_contain_text("Replied")
    expect(page.locator("#said")).to_contain_text("Replied")
    expect(page.locator("header .nav")).to_be_visible()


def test_enter_in_a_field_means_that_field_and_a_refusal_leads_back_to_it(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    """Not the label that was left half typed, and never the button that would resolve all."""
    thread_id = complaints(empty, 3)
    visitor = visit("admin")
    visitor.forgive("status of 40[04]")
    page = visitor.page
    first_of_the_open(page, "Complaint 2")
    page.keyboard.press("x")
    begun(page, "l", "half")
    page.keyboard.press("d")
    page.keyboard.type("nothing like it")
    for _ in range(2):
        page.keyboard.press("Enter")
        expect(page.locator("#bulk .wrong")).to_contain_text("hoose the original report")
        expect(page.locator("#bulk-duplicate-of")).to_be_focused()
        expect(page.locator("#bulk-duplicate-of")).to_be_visible()
    expect(page.locator("#admin-label")).to_have_value("")
    assert not any(each["resolved"] or each["admin_label"] for each in stored(empty, thread_id))


def test_the_same_for_one_report(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    thread_id = complaints(empty, 3)
    visitor = visit("admin")
    visitor.forgive("status of 40[04]")
    page = visitor.page
    first_of_the_open(page, "Complaint 2")
    begun(page, "l", "half")
    page.keyboard.press("d")
    page.keyboard.type("fb_nothing")
    page.keyboard.press("Enter")
    expect(page.locator("#duplicate-wrong")).to_be_visible()
    expect(page.locator("#duplicate-of")).to_be_focused()
    expect(page.locator("[aria-label=Triage] >> visible=true")).to_have_count(1)
    assert not any(each["resolved"] or each["admin_label"] for each in stored(empty, thread_id))
    page.keyboard.press("Escape")
    page.locator("#admin-label").press("Enter")
    expect(page.locator("#said")).to_contain_text("New label half")


def test_a_refused_duplicate_is_seen_on_the_phone(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 3)
    visitor = visit("admin", viewport={"width": 390, "height": 844})
    visitor.forgive("status of 40[04]")
    page = visitor.page
    page.goto("/feedback/?q=is:open")
    page.locator(".rep a").first.click()
    page.locator("#desk-tabs [data-pane=report]").click()
    page.locator("#triage summary", has_text="Duplicate").click()
    page.fill("#duplicate-of", "fb_nothing")
    page.locator("#triage [value=duplicate] >> visible=true").click()
    expect(page.locator("#duplicate-wrong")).to_be_visible()
    expect(page.locator("#duplicate-of")).to_be_focused()


def test_on_the_phone_a_pane_waits_for_the_report_that_was_tapped(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """Until its answer is there the panes lead to the report before, or to none."""
    complaints(empty, 4)
    page = visit("admin", viewport={"width": 390, "height": 844}).page
    page.goto("/feedback/?q=is:open")
    slow: list[Route] = []
    page.route("**/feedback/?*item=*", lambda line: line.continue_() if slow else slow.append(line))
    page.locator(".rep a").nth(2).click()
    wait_until(lambda: bool(slow), page=page)
    box = page.locator("#desk-tabs [data-pane=report]").bounding_box()
    assert box
    page.mouse.click(box["x"] + 9, box["y"] + 9)
    slow[0].continue_()
    shows(page, "Complaint 1")
    page.locator("#desk-tabs [data-pane=report]").click()
    expect(page.locator("#desk-report")).to_be_visible()
    shows(page, "Complaint 1")


def test_all_that_match_stay_meant_while_one_looks_around(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 37)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 36")
    page.keyboard.press("x")
    page.keyboard.press("*")
    every = page.locator("#bulk [name=all]")
    expect(every).to_be_checked()
    pressed = page.locator("#pager").element_handle()
    seen_again(page)
    expect(every).to_be_checked()
    page.wait_for_timeout(300)
    assert pressed.evaluate("node => node.isConnected"), "a mouse that was pressed on it is released on it"
    page.click("a[rel=next]")
    expect(page.locator(".rep")).to_have_count(5)
    expect(every).to_be_checked()
    page.keyboard.press("l")
    page.keyboard.type("all of them")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("37")
    expect(every).not_to_be_checked()


def test_a_capital_that_means_nothing_here_does_not_mean_its_small_letter(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    complaints(empty, 3)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 2")
    for key in ("Shift+N", "Shift+J", "Shift+K"):
        page.keyboard.press(key)
    expect(page.locator("#desk-report .words")).to_have_text("Complaint 2")
    page.keyboard.press("n")
    expect(page.locator("#desk-report .words")).to_have_text("Complaint 1")


def test_a_key_with_another_modifier_is_no_key_of_the_desk(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """AltGr makes another letter of it, which a layout may have where another one has `e`."""
    thread_id = complaints(empty, 2)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 1")
    for modifier in ("modifierAltGraph", "altKey", "ctrlKey", "metaKey"):
        pressed = {"key": "e", modifier: True, "bubbles": True}
        page.evaluate("(how) => document.body.dispatchEvent(new KeyboardEvent('keydown', how))", pressed)
    page.wait_for_timeout(200)
    shows(page, "Complaint 1")
    assert not any(each["resolved"] for each in stored(empty, thread_id))


def test_undoing_is_no_step_of_the_browsers_history(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 3)
    page = visit("admin").page
    page.goto("/threads/")
    first_of_the_open(page, "Complaint 2")
    depth = page.evaluate("history.length")
    for _ in range(2):
        page.keyboard.press("e")
        expect(page.locator("#said")).to_contain_text("Resolved")
        page.keyboard.press("z")
        expect(page.locator("#said")).to_contain_text("Undone")
    assert page.evaluate("history.length") == depth


def test_a_press_does_not_wait_for_what_the_page_loads_by_itself(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    """It would be held until that answer replaces what was pressed, and then be for nothing on the page."""
    complaints(empty, 37)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 36")
    overtaken = loads_slowly(page)
    page.click("#triage [value='own me']")
    expect(page.locator("#desk-status")).to_contain_text("Claimed “Complaint 36”")
    overtaken()
    expect(page.locator("#desk-status")).to_contain_text("Claimed “Complaint 36”")

    overtaken = loads_slowly(page)
    page.click("a[rel=next]")
    expect(page.locator(".rep")).to_have_count(5)
    overtaken()
    expect(page.locator(".rep")).to_have_count(5)


def test_what_the_page_loads_by_itself_changes_nothing_about_a_press_on_its_way(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    """The next report waits for the answer; without one the desk goes back. And what was left out is loaded again."""
    thread_id = complaints(empty, 5)
    visitor = visit("admin")
    visitor.forgive("ERR_FAILED", "sendError", "afterRequest", "undefined")
    page = visitor.page
    first_of_the_open(page, "Complaint 4")
    visitor.wait_until_fetched_ahead()
    overtaken = loads_slowly(page)
    sent: list[Route] = []
    page.route("**/feedback/fb_*/", lambda line: sent.append(line))
    page.keyboard.press("e")
    wait_until(lambda: bool(sent), page=page)
    expect(page.locator(WORDS)).to_have_text("Complaint 3")
    oldest = stored(empty, thread_id)[-1]["feedback_id"]
    empty.call("admin", "POST", f"admin/feedback/{oldest}/actions", {"verb": "resolve", "arguments": {}})
    overtaken()
    expect(page.locator("#desk-report")).to_have_attribute("inert", "")
    expect(page.locator(".rep")).to_have_count(4)
    sent[0].abort()
    expect(page.locator(WORDS)).to_have_text("Complaint 4")
    expect(page.locator("#desk-report")).not_to_have_attribute("inert", "")


def test_a_key_right_after_esc_is_for_the_open_report(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """The bar is gone at once; a moment later its menu would have closed over the words, which are keys then."""
    complaints(empty, 2, "Escapade")
    page = visit("admin").page
    first_of_the_open(page, "Escapade 1")
    page.keyboard.press("x")
    expect(page.locator("#bulk")).to_be_visible()
    page.evaluate(
        """() => {
          const press = (key) => new KeyboardEvent("keydown", { key, bubbles: true });
          for (const key of ["Escape", "d"]) document.body.dispatchEvent(press(key));
        }"""
    )
    expect(page.locator("#duplicate-of")).to_be_focused()
    expect(page.locator("#bulk")).to_be_hidden()
    expect(page.locator(".rep :checked")).to_have_count(0)


@pytest.mark.parametrize("begins", ["before", "meanwhile"])
def test_a_move_goes_on_whatever_the_page_loads_by_itself(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
    begins: str,
) -> None:
    """Its answer would show the report that is left, and the keys behind the move would find that one."""
    thread_id = complaints(empty, 5)
    visitor = visit("admin")
    page = visitor.page
    first_of_the_open(page, "Complaint 4")
    visitor.wait_until_fetched_ahead()
    moves: list[Route] = []
    page.route("**/feedback/?*item=*", lambda line: moves.append(line) if is_part(line) else line.fallback())
    overtaken = loads_slowly(page) if begins == "before" else None
    page.locator(".rep a", has_text="Complaint 2").click()
    wait_until(lambda: bool(moves), page=page)
    for key in ("l", "w", "x", "Backspace", "Enter"):
        page.keyboard.press(key)
    (overtaken or loads_slowly(page))()
    moves[0].continue_()
    shows(page, "Complaint 2")
    expect(page.locator("#desk-status")).to_contain_text("“Complaint 2”")
    assert [each["admin_label"] for each in stored(empty, thread_id)] == [None, None, "w", None, None]


def is_part(line: Route) -> bool:
    return "heddle-part" in line.request.headers


def loads_slowly(page: Page) -> Callable[[], None]:
    """The page loads itself again. The answer is as of now, and arrives when the result is called."""
    held: list[tuple[Route, APIResponse]] = []
    page.route("**/feedback/?*", lambda line: held.append((line, line.fetch())), times=1)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    def arrive() -> None:
        [(line, answer)] = held
        with page.expect_request_finished(lambda asked: asked == line.request):
            line.fulfill(response=answer)
        page.wait_for_timeout(100)

    wait_until(lambda: bool(held), page=page)
    return arrive


@pytest.mark.parametrize("place", ["button", "row", "tab", "pager", "tick"])
def test_a_mouse_that_is_pressed_while_the_page_loads_itself_means_what_it_was_pressed_on(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
    place: str,
) -> None:
    complaints(empty, 37)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 36")
    pressed, done = {
        "button": ("#triage [value='own me']", "#triage [value=own]"),
        "row": (".rep:nth-child(3) a", ".rep:nth-child(3)[aria-current]"),
        "tab": ("#desk-views a >> nth=0", "#desk-views a[aria-current] >> nth=0"),
        "pager": ("a[rel=next]", "a[rel=prev]"),
        "tick": (".rep:nth-child(2) input", ".rep:nth-child(2) input:checked"),
    }[place]
    overtaken = loads_slowly(page)
    page.locator(pressed).scroll_into_view_if_needed()
    page.locator(pressed).hover()
    page.mouse.down()
    overtaken()
    page.mouse.up()
    expect(page.locator(done).first).to_be_visible()


@pytest.mark.parametrize("menu", ["d", "h", "Shift+A", "v"])
def test_a_menu_that_is_opened_while_the_page_loads_itself_stays_open(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
    menu: str,
) -> None:
    """And what is typed into it never becomes a command."""
    complaints(empty, 3)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 2")
    overtaken = loads_slowly(page)
    page.keyboard.press(menu)
    expect(page.locator(".menu[open]")).to_be_visible()
    if menu == "d":
        page.keyboard.type("Compl")
    overtaken()
    expect(page.locator(".menu[open]")).to_be_visible()
    if menu == "d":
        page.keyboard.type("aint")
        expect(page.locator("#duplicate-of")).to_have_value("Complaint")
        expect(page.locator("#duplicate-of")).to_be_focused()


def test_what_was_in_use_is_loaded_again_when_it_is_free(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    thread_id = complaints(empty, 3)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 2")
    page.keyboard.press("v")
    expect(page.locator("#desk-views .menu[open]")).to_be_visible()
    newest = stored(empty, thread_id)[0]["feedback_id"]
    empty.call("admin", "POST", f"admin/feedback/{newest}/actions", {"verb": "own", "arguments": {"owner": "me"}})
    seen_again(page)
    page.wait_for_timeout(300)
    expect(page.locator("#desk-views .menu[open]")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator("#desk-views a[href='?q=is%3Aunclaimed'] .count").first).to_have_text("2")


def test_a_label_that_is_typed_on_the_phone_stays_when_one_comes_back(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    complaints(empty, 3)
    page = visit("admin", viewport={"width": 390, "height": 844}).page
    page.goto("/feedback/?q=is:open")
    page.locator(".rep a").first.click()
    page.locator("#dock summary", has_text="Label").click()
    page.locator("#dock-label").fill("important label")
    seen_again(page)
    page.wait_for_timeout(300)
    expect(page.locator("#dock-label")).to_have_value("important label")
    expect(page.locator("#dock-label")).to_be_focused()


def test_the_row_that_is_open_after_the_last_one_was_resolved_is_in_sight(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
) -> None:
    complaints(empty, 19)
    page = visit("admin").page
    page.goto("/feedback/?q=is:open")
    page.locator(".rep a").last.click()
    expect(page.locator(WORDS)).to_have_text("Complaint 0")
    page.wait_for_timeout(500)
    page.keyboard.press("e")
    expect(page.locator("#said")).to_contain_text("Resolved “Complaint 0”")
    expect(page.locator(".rep")).to_have_count(18)
    expect(page.locator(".rep[aria-current]")).to_be_in_viewport(ratio=0.9)
    page.locator(".rep a").nth(14).click()
    page.wait_for_timeout(500)
    before = scrolled(page)
    page.keyboard.press("e")
    expect(page.locator(".rep")).to_have_count(17)
    assert before > 100 and abs(scrolled(page) - before) < 100, "the list stays where it is"
    page.click("#desk-views a >> nth=0")
    expect(page.locator(".rep").first).to_be_in_viewport(ratio=0.9)


def scrolled(page: Page) -> int:
    return int(page.evaluate("document.querySelector('.desk-list > div').scrollTop"))


def test_a_menu_stays_open_under_a_press_on_its_words(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """The pane around it takes the focus then, and is no place that one has gone to."""
    complaints(empty, 3, "Airship landed twice")
    page = visit("admin").page
    first_of_the_open(page, "Airship landed twice 2")
    page.keyboard.press("d")
    offered = page.locator("#originals label", has_text="Airship landed twice 1")
    offered.click()
    expect(offered.locator("input")).to_be_checked()
    expect(page.locator("#triage [value=duplicate]")).to_be_visible()
    page.locator("#desk-talk").click(position={"x": 4, "y": 4})
    expect(page.locator("#triage [value=duplicate]")).to_be_hidden()


def test_an_outcome_that_was_chosen_stays_when_one_comes_back(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    thread_id = complaints(empty, 2)
    page = visit("admin").page
    first_of_the_open(page, "Complaint 1")
    page.keyboard.press("Shift+E")
    page.keyboard.press("f")
    page.locator("#desk-talk").click(position={"x": 4, "y": 4})
    seen_again(page)
    page.wait_for_timeout(300)
    expect(page.locator("#triage [name=outcome]")).to_have_value("fixed")
    page.keyboard.press("e")
    expect(page.locator("#said")).to_contain_text("Resolved “Complaint 1” as fixed")
    assert stored(empty, thread_id)[0]["resolved"]


def test_on_the_phone_what_was_done_is_said_while_others_are_ticked(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    complaints(empty, 3)
    page = visit("admin", viewport={"width": 390, "height": 844}).page
    page.goto("/feedback/?q=is:open")
    page.locator(".rep a").first.click()
    shows(page, "Complaint 2")
    page.locator("#desk-tabs [data-pane=list]").click()
    page.locator(".rep input").last.click()
    page.locator("#desk-tabs [data-pane=talk]").click()
    page.locator("#dock [value=resolve]").click()
    expect(page.locator("#desk-status")).to_contain_text("Resolved “Complaint 2”")
    expect(page.locator("#desk-status", has_text="Undo")).to_be_visible()


def test_a_bulk_menu_begins_with_what_it_offers(empty: Heddle, visit: Callable[..., Visit]) -> None:  # noqa: F811
    """For resolved reports there are other keys than for open ones: those of a single resolved report."""
    thread_id = complaints(empty, 2)
    for each in stored(empty, thread_id):
        empty.call("admin", "POST", f"admin/feedback/{each['feedback_id']}/actions", {"verb": "resolve"})
    page = visit("admin").page
    page.goto(f"/feedback/?q=thread:{thread_id}")
    for key in ("j", "x", "u"):
        page.keyboard.press(key)
    expect(page.locator("#bulk [value='outcome fixed']")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#desk-status")).to_contain_text("Changed the outcome of “Complaint 1” to fixed")
    for key in ("x", "Shift+E"):
        page.keyboard.press(key)
    expect(page.locator("#desk-status")).to_contain_text("Reopened “Complaint 1”")


@pytest.mark.parametrize(("state", "offers"), [("", ["Resolve", "Reopen", "Outcome"]), (" is:open", ["Resolve"])])
def test_of_all_that_match_only_what_their_query_allows_is_offered(
    empty: Heddle,  # noqa: F811
    visit: Callable[..., Visit],
    state: str,
    offers: list[str],
) -> None:
    thread_id = complaints(empty, 2)
    page = visit("admin").page
    page.goto(f"/feedback/?q=thread:{thread_id}{state}")
    for key in ("j", "x", "*"):
        page.keyboard.press(key)
    expect(page.get_by_label("all 2 that match")).to_be_checked()
    for name in ("Resolve", "Reopen", "Outcome"):
        button = page.locator("#bulk .btn", has_text=name)
        expect(button).to_be_visible() if name in offers else expect(button).to_be_hidden()
