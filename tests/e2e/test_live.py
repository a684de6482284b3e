"""Text that streams into open pages, and lines that break."""

from collections.abc import Callable
from itertools import pairwise

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.visiting import Heddle, Visit, articles, squeezed, text_of, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.live]

WATCH = """index => {
  window.grown = [];
  new MutationObserver(() => {
    const body = document.querySelector(`#m${index} .prose`);
    if (body) window.grown.push(body.textContent.trim());
  }).observe(document.getElementById("talk"), { childList: true, subtree: true });
}"""


def watch(page: Page, index: int) -> None:
    """Keep every state that the text of a message has on the page."""
    page.evaluate(WATCH, index)


def grown(page: Page) -> list[str]:
    """The different states of the text that was watched, in the order in which they were seen."""
    return list(dict.fromkeys(page.evaluate("window.grown")))


def settled(page: Page) -> None:
    expect(page.locator("#status")).not_to_have_attribute("data-status", "roboto_turn", timeout=20_000)


def same_as_the_wire(page: Page, heddle: Heddle, thread_id: str) -> None:
    """What the page holds is what the API tells, no message lost and none twice."""
    record = heddle.settled("alice", thread_id)
    said = [squeezed(text_of(message)) for message in record["messages"] if message["role"] != "roboto"]
    shown = list(articles(page))
    assert [words for words in shown if words] == [words for words in said if words]


def test_one_sends_and_the_other_sees_the_answer_being_written(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """B52, B88: in steps, in the page of a colleague who did nothing, and the same words in the end."""
    thread_id = heddle.start("alice", "Two readers.", visibility="org")
    sender, reader = visit("alice").page, visit("bob").page
    for page in (sender, reader):
        page.goto(f"/threads/{thread_id}/")
        watch(page, 3)
    sender.fill("#say", "Tell me a story. [[words 90]] [[pace 0.08]]")
    sender.press("#say", "Control+Enter")
    expect(sender.locator("#say")).to_have_value("")
    expect(reader.locator("#m2")).to_contain_text("Tell me a story.")
    expect(reader.locator("#m3[data-state=generating] .caret")).to_have_count(1)
    expect(reader.locator("#status")).to_have_text("Answering")
    for page in (sender, reader):
        settled(page)
        same_as_the_wire(page, heddle, thread_id)
        steps = grown(page)
        assert len(steps) >= 4, steps
        assert all(later.startswith(earlier) for earlier, later in pairwise(steps))
        expect(page.locator("#m3 .caret")).to_have_count(0)
    expect(sender.locator("#send")).to_be_enabled()
    expect(sender.locator("#said")).to_have_text("The answer is finished: message 3")
    assert reader.locator("#say").count() == 0


def test_the_end_of_every_answer_is_told_however_soon_it_comes(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """Also if both come at once, or the reply to the form later than both: the words then are others than before."""
    thread_id = heddle.start("alice", "Short.")
    page = visit("alice").page
    page.goto(f"/threads/{thread_id}/")
    page.evaluate(
        "() => { window.told = []; new MutationObserver(() => window.told.push(said.textContent))"
        ".observe(said, { childList: true }); }"
    )
    for index in range(3, 19, 2):
        page.fill("#say", "Short.")
        page.press("#say", "Control+Enter")
        finished = f"The answer is finished: message {index}"
        wait_until(lambda finished=finished: finished in page.evaluate("told"), page=page)  # type: ignore[misc]
        expect(page.locator(f"#m{index}")).to_contain_text("Short.")
        expect(page.locator("#status")).to_have_text("Idle")
        expect(page.locator("#send")).to_be_enabled()
    ends = [words for words in page.evaluate("told") if "finished" in words]
    assert len(ends) == len(set(ends)), ends


def test_stopping_a_turn_stops_it_for_everybody(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """B162: the owner stops; what was written stays, and the thread can be written to again."""
    thread_id = heddle.start("alice", "Stop me.", visibility="org")
    owner, reader = visit("alice").page, visit("bob").page
    for page in (owner, reader):
        page.goto(f"/threads/{thread_id}/")
    owner.fill("#say", "For ever. [[words 5000]] [[pace 0.05]]")
    owner.click("#send")
    expect(reader.locator("#m3 .prose")).to_contain_text(" ")
    owner.fill("#say", "Written meanwhile")
    owner.click("#cancel")
    for page in (owner, reader):
        expect(page.locator("#m3 .fault")).to_contain_text("Cancelled")
        expect(page.locator("#status")).to_have_text("Cancelled")
    expect(owner.locator("#say")).to_have_value("Written meanwhile")
    expect(owner.locator("#send")).to_be_enabled()
    written = owner.locator("#m3 .prose").inner_text()
    owner.wait_for_timeout(400)
    assert owner.locator("#m3 .prose").inner_text() == written
    same_as_the_wire(owner, heddle, thread_id)


def test_a_line_that_is_cut_goes_on_where_it_was(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """B85, B86: nothing lost, nothing twice, and what was being typed is still there."""
    thread_id = heddle.start("alice", "Cut me off.")
    reader = visit("alice")
    reader.forgive("ERR_INTERNET_DISCONNECTED", "ERR_NETWORK_CHANGED")
    page = reader.page
    page.goto(f"/threads/{thread_id}/")
    page.fill("#say", "Still typing")
    heddle.call(
        "alice",
        "POST",
        f"threads/{thread_id}/messages",
        {"message": {"role": "user", "content": [{"text": "Go. [[words 100]] [[pace 0.1]]"}]}},
    )
    expect(page.locator("#m3 .prose")).to_contain_text(" ")
    reader.context.set_offline(True)
    page.wait_for_timeout(600)
    reader.context.set_offline(False)
    settled(page)
    same_as_the_wire(page, heddle, thread_id)
    expect(page.locator("#say")).to_have_value("Still typing")
    indices = page.eval_on_selector_all("#talk .msg[data-index]", "all => all.map(each => +each.dataset.index)")
    assert indices == sorted(set(indices)) == [0, 1, 2, 3]


def test_a_server_that_dies_takes_nothing_with_it(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """B93: the worker inside it dies too; what it had written is taken back on the page, and written again."""
    thread_id = heddle.start("alice", "Survive.")
    reader = visit("alice")
    reader.forgive(
        "ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET"
    )
    page = reader.page
    page.goto(f"/threads/{thread_id}/")
    page.fill("#say", "Go. [[words 60]] [[pace 0.1]]")
    page.click("#send")
    expect(page.locator("#say")).to_have_value("")  # the stream may show the message before its POST is answered
    expect(page.locator("#m3 .prose")).to_contain_text(" ")
    heddle.server.kill("server")
    expect(page.locator("#talk[data-lost]")).to_be_visible()
    heddle.server.start_server()
    settled(page)
    expect(page.locator("#talk[data-lost]")).to_have_count(0)
    same_as_the_wire(page, heddle, thread_id)
    assert len(page.locator("#m3 .prose").inner_text().split()) == 60


def test_a_reader_who_loses_the_right_is_told_on_the_page(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """B146, in an org whose policy lets its threads be closed."""
    orgs = heddle.server.who["orgs"]
    thread_id = heddle.start("alice", "Soon closed.", visibility="org", org=orgs["generous"])
    reader, late = visit("bob"), visit("bob")
    late.forgive("403")
    reader.page.goto(f"/threads/{thread_id}/")
    # A page whose line reaches the server only after the right is gone learns it as well.
    held: list[Route] = []
    late.page.route("**/live/**", lambda line: held.append(line))
    late.page.goto(f"/threads/{thread_id}/")
    wait_until(lambda: bool(held), page=late.page)
    heddle.call("alice", "POST", f"threads/{thread_id}/visibility", {"visibility": "private"})
    late.page.unroute("**/live/**")  # and lets go of what it held
    for page in (reader.page, late.page):
        expect(page.locator("#talk .fault")).to_contain_text("may no longer read it")
        expect(page.locator("#m0")).to_contain_text("Soon closed.")


def test_an_opened_call_and_a_half_written_rating_stay_while_their_article_is_written(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    """What the reader has opened, typed and focused stays as it is each time the article is drawn anew."""
    thread_id = heddle.start("alice", "First.")
    page = visit("alice").page
    page.goto(f"/threads/{thread_id}/")
    page.fill("#say", 'More. [[call calculate {"expression": "2 + 2"}]] [[words 6000]] [[pace 0.1]]')
    page.click("#send")
    page.locator("#m3 .call summary").click()
    expect(page.locator("#m3 .call[open] section[aria-label=Output]")).to_contain_text("4")
    page.locator("#acts-3 a").first.dispatch_event("click")
    page.locator("#notes-3").fill("Half a th")
    watch(page, 3)
    wait_until(lambda: len(grown(page)) > 2)
    page.keyboard.type("ou")
    expect(page.locator("#notes-3")).to_be_in_viewport()
    heddle.call("alice", "POST", f"threads/{thread_id}/cancel")
    expect(page.locator("#status")).to_have_text("Cancelled")
    page.keyboard.type("ght")
    expect(page.locator("#notes-3")).to_have_value("Half a thought")
    expect(page.locator("#m3 .call[open] section[aria-label=Output]")).to_contain_text("4")


def test_the_page_does_what_the_line_says(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """Articles are put in their places, replaced, and dropped; a refused line goes on behind the last event."""
    thread_id = heddle.start("alice", "Zero.")
    reader = visit("alice")
    reader.forgive("status of 503")
    page, asked = reader.page, []

    def article(index: int, words: str) -> str:
        return f'<article class="msg" id="m{index}" data-index="{index}"><div class="msg-body">{words}</div></article>'

    def event(name: str, data: str, token: str = "") -> str:
        return f"event: {name}\n" + (f"id: {token}\n" if token else "") + f"data: {data}\n\n"

    said = [
        "retry: 100\n\n",
        event("turns", article(5, "five") + article(3, "three")),
        event("turns", article(3, "three, <b>anew</b>") + article(7, "seven"), "t1"),
        event("reset", "5"),
        event("turns", article(6, "six"), "t2"),
    ]

    def answer(line: Route) -> None:
        asked.append(line.request.url.partition("token=")[2])
        if len(asked) == 2:
            return line.fulfill(status=503)
        body = "".join(said) if len(asked) == 1 else "retry: 60000\n\n"
        return line.fulfill(content_type="text/event-stream", body=body)

    page.route("**/live/**", answer)
    page.goto(f"/threads/{thread_id}/")
    expect(page.locator("#m6")).to_be_visible()
    shown = page.locator("#talk .msg[data-index]").all_inner_texts()
    assert [squeezed(each) for each in shown[2:]] == ["three, anew", "six"]
    assert page.eval_on_selector_all("#talk .msg[data-index]", "all => all.map(each => each.id)") == [
        *("m0", "m1", "m3", "m6")
    ]
    wait_until(lambda: len(asked) > 2, page=page)
    assert asked[-1] == "t2", asked


def test_client_tools_are_answered_by_hand_in_two_tabs(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """T5: what one tab answers leaves the other, what is typed there stays, and the page goes on by itself."""
    tools = [{"name": name, "description": "x", "input_schema": {"type": "object"}} for name in ("remember", "recall")]
    said = "[[call remember {}]] [[call recall {}]]"
    thread_id = heddle.start("alice", said, client_tools=tools)
    visitor = visit("alice")
    visitor.forgive("status of 400")
    first, second = visitor.page, visit("alice").page
    for page in (first, second):
        page.goto(f"/threads/{thread_id}/")
        expect(page.locator(".ask")).to_have_count(2)
    first.locator("#ask-1 [value=json]").check()
    first.locator("#ask-1 textarea").fill("{broken")
    with first.expect_response("**/live/*"):  # the line begins again with the head, which must not take the reason away
        first.locator("#ask-1 textarea").press("Control+Enter")
    expect(first.locator("#ask-1 .wrong")).to_contain_text("line 1, column 2")
    first.locator("#ask-1 [value=success]").click()  # a button loses the focus with its form; the field has it then
    expect(first.locator("#ask-1 textarea")).to_be_focused()
    second.locator("#ask-2 textarea").fill("typed in the second tab")
    first.locator("#ask-1 textarea").fill('{"kept": true}')
    first.locator("#ask-1 textarea").press("Control+Enter")
    for page in (first, second):
        expect(page.locator(".ask")).to_have_count(1)
    expect(second.locator(".ask textarea")).to_have_value("typed in the second tab")
    second.locator(".ask [value=declined]").click()
    for page in (first, second):
        settled(page)
        expect(page.locator(".ask")).to_have_count(0)
        expect(page.locator("#talk")).to_contain_text("typed in the second tab")
        expect(page.locator("#send")).to_be_enabled()


def test_a_row_of_the_list_is_live_and_keeps_the_focus(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """It says when the agent is done, in its place and without a reload; then nothing is asked any more."""
    page = visit("alice").page
    thread_id = heddle.start("alice", "Watched from the list. [[sleep 9]]", wait=False)
    page.goto("/threads/")
    row = page.locator(f"tr:has(#t-{thread_id})")
    expect(row).to_contain_text("Answering")
    row.get_by_role("link").focus()
    before = row.bounding_box()
    expect(row).to_contain_text("Idle")
    expect(page.locator(f"#t-{thread_id}")).to_be_focused()
    assert row.bounding_box() == before
    expect(page.locator(f"tr[hx-get*='running'][hx-get*='{thread_id}']")).to_have_count(0)


def test_a_rating_that_is_taken_back_is_told_and_its_words_are_in_view(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    thread_id = heddle.start("alice", "Rate me. [[words 900]]")
    heddle.rate("alice", thread_id, 1, notes="Rather long")
    page = visit("alice").page
    page.goto(f"/threads/{thread_id}/")
    link = page.locator("#mark-1 a", has_text="Retract")
    link.scroll_into_view_if_needed()
    link.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("Retracted.")
    expect(page.locator("#rate-1 [value=negative]")).to_be_focused()
    for part in ("#notes-1", "#rate-1 .btns"):
        expect(page.locator(part)).to_be_in_viewport(ratio=1)


def test_a_reply_to_a_rating_is_not_said_to_be_something_new_below(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    thread_id = heddle.start("alice", "Long. [[words 900]]", visibility="org")
    heddle.rate("alice", thread_id, 1, notes="Rather long")
    [report] = heddle.call("admin", "GET", f"admin/feedback?thread_id={thread_id}")["items"]
    page = visit("alice").page
    page.goto(f"/threads/{thread_id}/")
    page.mouse.wheel(0, -1e5)
    wait_until(lambda: page.evaluate("scrollY") == 0)
    body = {"verb": "reply", "arguments": {"public_reply": "Shorter from now on."}}
    done = heddle.call("admin", "POST", f"admin/feedback/{report['feedback_id']}/actions", body)
    expect(page.locator("#mark-1")).to_contain_text("Shorter from now on.")
    expect(page.locator(".below")).to_be_hidden()
    heddle.call("admin", "POST", "admin/feedback/undo", {"action_id": done["action_id"]})
    expect(page.locator("#mark-1")).not_to_contain_text("Shorter from now on.")
    heddle.call(
        "alice", "POST", f"threads/{thread_id}/messages", {"message": {"role": "user", "content": [{"text": "And?"}]}}
    )
    expect(page.locator(".below")).to_be_visible()


def answering(heddle: Heddle, page: Page) -> str:
    """A page at the end of an answer that is being written, and longer than the window."""
    thread_id = heddle.start("alice", "First. [[words 300]]")
    page.goto(f"/threads/{thread_id}/")
    page.fill("#say", "For ever. [[words 6000]] [[pace 0.02]]")
    page.click("#send")
    expect(page.locator("#m3 .prose")).to_contain_text(" ")
    wait_until(lambda: left(page) <= 1 and page.evaluate("scrollY") > 900)
    return thread_id


def left(page: Page) -> int:
    """How far it is to the end."""
    return int(page.evaluate("document.documentElement.scrollHeight - innerHeight - scrollY"))


def test_the_smallest_step_up_leaves_a_running_answer_and_the_end_takes_it_up_again(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    page = visit("alice").page
    answering(heddle, page)
    page.mouse.move(600, 300)
    places = [page.evaluate("scrollY")]
    for _ in range(8):
        page.mouse.wheel(0, -30)
        page.wait_for_timeout(120)
        places.append(page.evaluate("scrollY"))
    assert all(later <= earlier for earlier, later in pairwise(places[1:])) and places[-1] <= places[0] - 120, places
    expect(page.locator(".below")).to_be_visible()
    page.mouse.wheel(0, 1e5)
    expect(page.locator(".below")).to_be_hidden()
    length = page.evaluate("document.documentElement.scrollHeight")
    wait_until(lambda: page.evaluate("document.documentElement.scrollHeight") > length + 100)
    wait_until(lambda: left(page) <= 1)


def test_a_page_at_its_end_stays_there_when_the_browser_scrolls_as_its_form_is_replaced(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    """As WebKit does, by the height of the form."""
    page = visit("alice").page
    thread_id = heddle.start("alice", "First. [[words 600]]")
    page.goto(f"/threads/{thread_id}/")
    page.evaluate(
        """() => {
            const replace = Element.prototype.replaceWith;
            Element.prototype.replaceWith = function (fresh) {
                replace.call(this, fresh);
                if (fresh.id === "write") scrollBy(0, -130);
            };
        }"""
    )

    def late(route: Route) -> None:
        answer = route.fetch()
        page.wait_for_timeout(300)  # the line tells of the message before
        route.fulfill(response=answer)

    page.route("**/send/", late)
    page.fill("#say", "More. [[words 400]] [[pace 0.02]]")
    page.click("#send")
    expect(page.locator("#m3 .prose")).to_contain_text(" ")
    wait_until(lambda: left(page) <= 1)
    expect(page.locator("#m3[data-state]")).to_have_count(0)
    wait_until(lambda: left(page) <= 1, 3)


def test_what_is_selected_in_a_running_answer_stays_selected_until_it_is_let_go(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    """Pressed, drawn over the text, released: and no word that came meanwhile is missing in the end."""
    page = visit("alice").page
    thread_id = answering(heddle, page)
    page.mouse.move(600, 300)
    page.mouse.wheel(0, -300)
    page.wait_for_timeout(300)
    page.mouse.down()
    page.wait_for_timeout(300)
    page.mouse.move(800, 350, steps=3)
    page.mouse.up()
    said = page.evaluate("getSelection().toString()")
    assert 20 < len(said) < 1000
    words = page.locator("#m3 .prose").inner_text()
    page.wait_for_timeout(500)
    assert page.evaluate("getSelection().toString()") == said
    heddle.call("alice", "POST", f"threads/{thread_id}/cancel")
    expect(page.locator("#status")).to_have_text("Cancelled")
    page.mouse.click(600, 320)
    expect(page.locator("#m3 .fault")).to_contain_text("Cancelled")
    assert len(page.locator("#m3 .prose").inner_text()) > len(words)
    same_as_the_wire(page, heddle, thread_id)


def test_stopping_leaves_the_reader_in_their_place_and_the_focus_where_one_writes(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    page = visit("alice").page
    answering(heddle, page)
    page.evaluate("scrollTo(0, 200)")
    page.locator("#cancel").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_have_text("Cancelled")
    expect(page.locator("#say")).to_be_focused()
    page.wait_for_timeout(300)
    assert page.evaluate("scrollY") == 200
    page.evaluate("scrollTo(0, 1e6)")
    page.locator("#asked .btn").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_have_text("Answering")
    expect(page.locator("#say")).to_be_focused()
    page.click("#cancel")
    expect(page.locator("#status")).to_have_text("Cancelled")


def test_what_stops_a_turn_stands_still_under_the_pointer(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """From the first line of an answer to the last, and the composer around it before and after; it has a key too."""
    thread_id = heddle.start("alice", "Short.")
    page = visit("alice").page
    page.goto(f"/threads/{thread_id}/")
    foot = "() => [Math.round(innerHeight - write.getBoundingClientRect().bottom), scrollY]"
    assert page.evaluate(foot) == [0, 0]
    page.fill("#say", "For ever. [[words 5000]] [[pace 0.05]]")
    page.click("#send")
    expect(page.locator("#m3 .prose")).to_contain_text(" ")
    places = []
    for words in (20, 80, 140):
        wait_until(lambda words=words: len(page.locator("#m3 .prose").inner_text().split()) > words)  # type: ignore[misc]
        place = page.locator("#cancel").bounding_box()
        places.append({side: round(value) for side, value in place.items()} if place else {})  # no pixel is parted
    assert places[0] and places == places[:1] * 3, places
    page.locator("#say").press("Escape")
    page.keyboard.press("s")
    expect(page.locator("#status")).to_have_text("Cancelled")
    expect(page.locator("#cancel")).to_have_count(0)
    assert page.evaluate(foot)[0] == 0
    page.keyboard.press("?")  # still a command: who stopped by a key did not ask for the field
    expect(page.locator("#keys")).to_be_visible()
    expect(page.locator("#keys")).to_contain_text("stop the turn")
    expect(page.locator("#say")).to_have_value("")


def test_a_thread_that_is_a_little_longer_than_the_window_opens_at_its_top(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    thread_id = heddle.start("alice", "Short.")
    page = visit("alice", viewport={"width": 1440, "height": 300}).page
    page.goto(f"/threads/{thread_id}/")
    page.set_viewport_size({"width": 1440, "height": 300 + left(page) - 50})
    page.goto("/threads/")
    page.route("**/live/**", lambda line: (page.wait_for_timeout(200), line.continue_()))
    page.goto(f"/threads/{thread_id}/")
    assert left(page) == 50
    page.wait_for_timeout(900)
    assert page.evaluate("scrollY") == 0


def test_of_two_tools_one_that_a_program_answers_leaves_the_other_waiting(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    tools = [{"name": name, "description": "d", "input_schema": {"type": "object"}} for name in ("remember", "recall")]
    thread_id = heddle.start("alice", "[[call remember {}]] [[call recall {}]]", client_tools=tools)
    page = visit("alice").page
    page.goto(f"/threads/{thread_id}/")
    page.locator("#asked textarea").first.fill("Two bikes, both red.")
    use = page.locator("#asked [name=tool_use_id]").first.input_value()
    result = {"tool_name": "remember", "tool_use_id": use, "status": "success", "output": {}, "runtime_ms": 1}
    heddle.call("alice", "POST", f"threads/{thread_id}/tool-results", {"tool_results": [result]})
    expect(page.locator("#asked .late")).to_contain_text("Not all of these are waiting any more.")
    expect(page.locator("#asked textarea").first).to_have_value("Two bikes, both red.")
    expect(page.locator("#asked h2 .mark").last).to_be_visible()


def test_a_result_that_is_being_typed_stays_when_a_program_answers_first(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    tool = {"name": "remember", "description": "d", "input_schema": {"type": "object"}}
    thread_id = heddle.start("alice", "[[call remember {}]]", client_tools=[tool])
    visitor = visit("alice")
    visitor.forgive("status of 400", "Error Code 400")
    page = visitor.page
    page.goto(f"/threads/{thread_id}/")
    expect(page.locator("#asked .late")).to_be_hidden()
    page.fill("#asked textarea", "Two bikes, both red.")
    use = page.locator("#asked [name=tool_use_id]").input_value()
    result = {"tool_name": "remember", "tool_use_id": use, "status": "success", "output": {}, "runtime_ms": 1}
    heddle.call("alice", "POST", f"threads/{thread_id}/tool-results", {"tool_results": [result]})
    expect(page.locator("#status")).to_have_text("Idle")
    expect(page.locator("#asked textarea")).to_have_value("Two bikes, both red.")
    expect(page.locator("#asked .late")).to_contain_text("No longer waiting.")
    expect(page.locator("#asked h2 .mark")).to_be_hidden()
    page.press("#asked textarea", "Control+Enter")
    expect(page.locator("#asked")).to_contain_text("Your result was not sent.")
    expect(page.locator("#asked")).to_contain_text("Two bikes, both red.")


def out_of_sight(page: Page, is_hidden: bool) -> None:
    """Tests see all tabs at once; this tells a page that another one is in front of it."""
    page.evaluate(
        "hidden => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });"
        " document.dispatchEvent(new Event('visibilitychange')); }",
        is_hidden,
    )


def test_however_many_tabs_are_open_the_next_one_loads_and_none_misses_anything(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    """Browsers open six connections to a server, and each stream holds one."""
    thread_id = heddle.start("alice", "In many tabs.")
    first = visit("alice")
    tabs = [first.page] + [first.context.new_page() for _ in range(6)]
    for tab in tabs:
        tab.goto(f"/threads/{thread_id}/")
        out_of_sight(tab, True)
    message = {"role": "user", "content": [{"text": "And one more?"}]}
    heddle.call("alice", "POST", f"threads/{thread_id}/messages", {"message": message})
    heddle.settled("alice", thread_id)
    expect(tabs[0].locator("#m3")).to_have_count(0)
    out_of_sight(tabs[0], False)
    expect(tabs[0].locator("#m3")).to_have_count(1)
    expect(tabs[0].locator("#m2")).to_contain_text("And one more?")


def test_the_end_of_an_answer_takes_the_focus_from_nobody(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """Not even where the page was opened to write: what one types into the title goes on there."""
    page = visit("alice").page
    page.goto("/threads/start/")
    page.fill("#text", "First. [[words 60]] [[pace 0.1]]")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#say")).to_be_focused()
    page.locator("#head-title summary").click()
    page.locator("#title").fill("")
    while page.locator("#status").get_attribute("data-status") == "roboto_turn":
        page.keyboard.type("ab", delay=30)
    page.keyboard.type("end", delay=100)
    expect(page.locator("#say")).to_have_value("")
    expect(page.locator("#title")).to_be_focused()
    assert page.locator("#title").input_value().endswith("end")
