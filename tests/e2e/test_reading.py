"""What is said, read: tables, titles and complaints of any length, in any colours, and taken along by a click."""

import time
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests import live
from tests.e2e.desk import WORDS, stored
from tests.e2e.visiting import Heddle, Visit, sideways, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.live]
DIGEST = "5e884898da28047151d0e56f8dc6292773603d0d6aabbd62a11ef721d1542d8" * 2
TABLES = f"""
| Step | What was done | Digest |
|---|---|---|
| 1 | The invoice was matched to the order it names | {DIGEST} |
| 2 | The customer was told that the amount comes back | https://a.test/{DIGEST} |

| a | b |
|---|---|
| yes | 12 |
"""


CODE = "Run **this**:\n\n1. the first\n\n```sh\nls -l  # all\ncd ..\n```\n\n2. the other\n\n```\nexit\n```"


def answered(heddle: Heddle, answer: str, **more: str) -> str:
    """A thread whose message 1 says this."""
    said = [{"role": "user", "content": "Tell me."}, {"role": "assistant", "content": answer}]
    return heddle.imported("alice", f"reading-{time.monotonic_ns()}", said, **more)


@pytest.mark.parametrize("width", [320, 390, 1024, 1440])
def test_a_digest_leaves_the_words_beside_it_readable(heddle: Heddle, visit: Callable[..., Visit], width: int) -> None:
    """A column of words has room for some, a short cell is one line, and a small table is no wider than it needs."""
    thread_id = answered(heddle, TABLES)
    page = visit("alice", viewport={"width": width, "height": 800}).page
    page.goto(f"/threads/{thread_id}/")
    assert sideways(page) == 0
    wide, small = page.locator("#m1 table").all()
    number, words, _ = [cell.bounding_box() or {} for cell in wide.locator("tbody tr").first.locator("td").all()]
    assert words["width"] >= 120
    assert number["width"] < 60
    assert (small.bounding_box() or {})["width"] < 120


def test_what_calls_of_a_tool_took_is_read_on_a_small_phone(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """Each figure with its name beside it, as the head of the table is not there."""
    url = f"{heddle.url}/v1/catalogue/tools/demo__echo/call"
    status, answer = live.fetch(url, heddle.server.token("alice"), {"arguments": {"message": "x"}})
    assert status == 200, answer
    page = visit("alice", viewport={"width": 320, "height": 800}).page
    page.goto("/catalogue/tools/demo__echo/")
    assert sideways(page) == 0
    table = page.locator("table", has=page.locator("caption", has_text="Calls by version"))
    expect(table.locator("thead")).to_be_hidden()
    named = (
        table.locator("tbody tr")
        .first.locator("td")
        .evaluate_all("cells => cells.map((cell) => getComputedStyle(cell, '::before').content)")
    )
    assert named == [f'"{each} "' for each in ("calls", "errors", "failed", "p50", "p95", "p99")]


def test_an_answer_and_its_code_are_taken_along_by_a_click(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """The answer as it was written, marks and all; the code without what stands around it."""
    thread_id = answered(heddle, CODE)
    page = visit("alice").page
    page.goto(f"/threads/{thread_id}/")

    def pasted() -> str:
        page.fill("#say", "")
        page.press("#say", "Control+V")
        return page.input_value("#say")

    page.click("#m1 .msg-end [data-copy]")
    expect(page.locator("#said")).to_have_text("Copied")
    assert pasted() == CODE
    first, second = page.locator("#m1 .prose pre").all()
    for block, words in ((first, "ls -l  # all\ncd ..\n"), (second, "exit\n")):
        block.hover()
        block.locator("xpath=..").get_by_role("button", name="Copy the code").click()
        assert pasted() == words
    page.emulate_media(media="print")
    expect(page.locator("#m1 button:visible")).to_have_count(0)


@pytest.mark.parametrize("said", ["Two  lines:\n  * and <b>marks</b>", "See\n\n```\ncode\n```\n\nwhat it says."])
def test_what_somebody_wrote_is_copied_as_it_was_written(
    heddle: Heddle, visit: Callable[..., Visit], said: str
) -> None:
    thread_id = heddle.start("alice", said)
    page = visit("alice").page
    page.goto(f"/threads/{thread_id}/")
    page.hover("#m0")
    page.click("#m0 .msg-by .copy")
    expect(page.locator("#said")).to_have_text("Copied")
    page.locator("#say").fill("")
    page.keyboard.press("Control+V")
    expect(page.locator("#say")).to_have_value(said)


def test_the_rated_answer_is_taken_along_from_the_desk(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """Also its code, whatever else stands in that part of the page."""
    thread_id = answered(heddle, CODE)
    heddle.rate("bob", thread_id, 1, notes="Wrong")
    page = visit("admin").page
    page.goto(f"/feedback/?q=thread:{thread_id}")
    page.locator(".rep a").click()
    for button, words in ((".msg-end [data-copy]", CODE), ("pre >> nth=1 >> xpath=../button", "exit\n")):
        page.locator(f".rated {button}").click()
        page.fill("#admin-note", "")
        page.press("#admin-note", "Control+V")
        assert page.input_value("#admin-note") == words


@pytest.mark.parametrize("width", [390, 900, 1440])
def test_a_long_complaint_folds_and_says_how_long_it_is(
    heddle: Heddle, visit: Callable[..., Visit], width: int
) -> None:
    """Between lines, not through one; by a key as well; on paper it is all there, as is a short one on the screen."""
    thread_id = answered(heddle, "Here you are.")
    heddle.rate("bob", thread_id, 1, notes="Every word of this is meant. " * 79 + "The end!")
    page = visit("admin", viewport={"width": width, "height": 800}).page
    page.goto(f"/feedback/?q=thread:{thread_id}&pane=report")
    page.goto(f"{page.url}&item={stored(heddle, thread_id)[0]['feedback_id']}")
    words, fold = page.locator(WORDS), page.locator(f"{WORDS} + details > summary")
    expect(fold).to_have_text("All 2\u202f299 characters")

    def lines() -> float:
        return float(words.evaluate("each => each.clientHeight / parseFloat(getComputedStyle(each).lineHeight)"))

    assert lines() == pytest.approx(8, abs=0.1)
    assert words.evaluate("each => getComputedStyle(each).overflowY") == "hidden"
    fold.press("Enter")
    assert lines() > 20 and words.evaluate("each => each.scrollHeight === each.clientHeight")
    page.evaluate("document.querySelector('#triage [value^=own]').click()")  # a verb that stays at the report
    expect(page.locator("#desk-status")).to_contain_text("Claimed")
    wait_until(lambda: lines() > 20)
    fold.press("Enter")
    page.emulate_media(media="print")
    wait_until(lambda: lines() > 9 and fold.is_hidden())
    page.emulate_media(media="screen")
    heddle.rate("bob", thread_id, 1, notes="\n".join("abcdefghijklmnopqrst"))
    page.reload()
    assert lines() == pytest.approx(8, abs=0.1) and fold.is_visible()
    heddle.rate("bob", thread_id, 1, notes="Short.")
    page.reload()
    expect(words).to_have_text("Short.")
    expect(fold).to_have_count(0)


@pytest.mark.parametrize("width", [390, 800, 1100, 1440])
def test_the_title_of_a_thread_covers_nothing_of_what_is_rated(
    heddle: Heddle, visit: Callable[..., Visit], width: int
) -> None:
    """However long it is: at the desk it is one line, and whole where one points at it."""
    title = "The customer asked for the refund of an order that never came, and was told of another. " * 2
    said = [{"role": role, "content": "So it went on. " * 99} for role in ("user", "assistant")] * 3
    thread_id = heddle.imported("alice", f"title-{time.monotonic_ns()}", said, title=title[:170])
    heddle.rate("bob", thread_id, 3, notes="Wrong")
    page = visit("admin", viewport={"width": width, "height": 800}).page
    page.goto(f"/feedback/?q=thread:{thread_id}&pane=talk&item={stored(heddle, thread_id)[0]['feedback_id']}")
    head, tab = page.locator("#desk-talk .lead"), page.locator(".rated-tab")
    expect(tab).to_be_in_viewport(ratio=1)
    above, below = head.bounding_box(), tab.bounding_box()
    assert above and below and above["y"] + above["height"] <= below["y"]
    assert below["y"] < 330
    expect(head.locator("h2 a")).to_have_attribute("title", title[:170])
    assert ((head.locator("h2").bounding_box() or {})["height"] < 30) == (width > 720)  # a finger points at nothing


@pytest.mark.parametrize("width", [390, 1440])
def test_where_one_is_shows_in_the_colours_of_the_reader_too(
    heddle: Heddle, visit: Callable[..., Visit], width: int
) -> None:
    """Places, views, panes and rows: one is marked, no other is; and what is first to press is told from the rest.

    So are the field that is typed in, and the words that differ.
    """
    thread_id = answered(heddle, "Here you are.")
    for each in (1, 2):
        heddle.rate("bob", thread_id, 1, notes=f"Wrong, {each}")
        heddle.rate("alice", thread_id, 1, notes=f"Wrong, {each}")
    page = visit("admin", viewport={"width": width, "height": 800}, forced_colors="active").page
    report = stored(heddle, thread_id)[0]["feedback_id"]

    def told_apart(of: str, edge: str) -> None:
        look = f"each => each.map((one) => [one.ariaCurrent !== null, getComputedStyle(one).{edge}])"
        found = page.locator(of).evaluate_all(look)
        marked, rest = ({colour for is_current, colour in found if is_current is each} for each in (True, False))
        assert len(marked) == len(rest) == 1 and not marked & rest, (of, found)

    page.goto("/feedback/?q=is:open")
    told_apart(".nav a", "borderTopColor" if width < 720 else "borderBottomColor")
    page.goto("/threads/?view=mine")
    told_apart(".views a", "borderBottomColor")
    line = "getComputedStyle(document.querySelector('.query')).outlineStyle"
    assert page.evaluate(line) == "none"
    page.focus("#q")
    assert page.evaluate(line) == "solid"
    page.keyboard.press("Control+k")
    page.keyboard.type("set")
    expect(page.locator("#places-found")).to_contain_text("Enter goes to Settings.")
    first, *rest = page.locator("#places a").evaluate_all(
        "all => all.map((each) => getComputedStyle(each).outlineColor)"
    )
    assert rest and first not in rest  # Enter takes it
    page.keyboard.press("Escape")
    page.goto(f"/feedback/?q=thread:{thread_id}&item={report}&pane=list")
    told_apart(".rep", "borderLeftColor")
    told_apart(".desk-tabs a", "borderBottomColor")
    page.goto(f"/feedback/?q=thread:{thread_id}&item={report}&pane=report")
    first, other = (
        page.locator(f"#triage .btn:visible{each}").first for each in ("[data-kind=primary]", "[value^=own]")
    )
    look = "each => getComputedStyle(each).backgroundColor"
    assert first.evaluate(look) != other.evaluate(look)


def test_words_that_differ_are_marked_on_paper_and_in_the_colours_of_the_reader(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    """Where no wash is seen: a line through what is gone, and one below what is new."""
    source = heddle.start("alice", "First.")
    body = {"message_sequence_num": 1}
    fork = str(heddle.call("alice", "POST", f"threads/{source}/fork", body)["thread_id"])
    for thread_id, colour in ((source, "blue"), (fork, "red")):
        message = {"role": "user", "content": [{"text": f"List all the {colour} bikes and docks now."}]}
        heddle.call("alice", "POST", f"threads/{thread_id}/messages", {"message": message})
        heddle.settled("alice", thread_id)
    page = visit("alice").page
    page.goto(f"/threads/{fork}/compare/")
    line = "each => getComputedStyle(each).textDecorationLine"
    for look in ({"forced_colors": "active"}, {"forced_colors": "none", "media": "print"}):
        page.emulate_media(**look)  # type: ignore[arg-type]
        assert page.locator(".compared del").first.evaluate(line) == "line-through"
        assert page.locator(".compared ins").first.evaluate(line) == "underline"


def test_what_is_told_stays_until_its_reader_has_gone_on(visit: Callable[..., Visit]) -> None:
    """And as long as the pointer rests on it: nobody has to read it within some seconds of an answer's arrival."""
    page = visit("admin").page
    page.goto("/settings/labels/")
    page.locator("main input:visible").first.fill(f"Told {time.monotonic_ns()}")
    page.keyboard.press("Enter")
    note = page.locator("#notes .fault")
    expect(note).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    clock = "each => each.getAnimations()[0].playState"
    for place, runs in ((".top .brand", "paused"), ("main .column", "running"), ("#notes .fault", "paused")):
        page.hover(place, position={"x": 4, "y": 4})
        assert note.evaluate(clock) == runs, place


def test_words_are_found_within_a_thread_by_keys_alone(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    said = [{"role": "user" if at % 2 == 0 else "assistant", "content": f"Line {at}"} for at in range(8)]
    said[3]["content"], said[7]["content"] = "The wharf?", "A wharf?"
    thread_id = heddle.imported("alice", f"find-{time.monotonic_ns()}", said)
    page = visit("alice").page
    page.goto(f"/threads/{thread_id}/")
    page.keyboard.press("/")
    expect(page.locator("#sought")).to_be_focused()
    page.keyboard.type("wharf?")
    expect(page.locator("#sought")).to_have_value("wharf?")
    page.keyboard.press("Enter")
    page.wait_for_url("**#m3*")
    page.keyboard.press("n")
    page.wait_for_url("**#m7*")
    page.keyboard.press("n")
    page.wait_for_url("**#m3*")
    page.keyboard.press("/")
    expect(page.locator("#sought")).to_be_focused()
    expect(page.locator("#sought")).to_have_value("wharf?")
    page.keyboard.press("Escape")
    expect(page.locator("#find")).to_be_hidden()
    page.go_back()
    page.wait_for_url("**#m7*")


def test_what_is_folded_of_many_calls_is_reached_by_keys_and_links(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    sums = " ".join(f'[[call calculate {{"expression": "{n} + 1"}}]]' for n in range(8))
    thread_id = heddle.start("alice", sums)
    page = visit("alice").page
    page.goto(f"/threads/{thread_id}/")
    run = page.locator(".run")
    expect(run.locator("summary").first).to_have_text("5 more tool uses: calculate × 5")
    expect(run.locator(".call").first).to_be_hidden()
    for _ in range(2):
        page.keyboard.press("t")
    expect(run).not_to_have_attribute("open")
    page.keyboard.press("t")
    expect(run.locator(".call summary").first).to_be_focused()
    expect(page.locator("#said")).to_have_text("3 of 8")
    page.goto(f"/threads/{thread_id}/#c1-4")
    page.reload()
    expect(page.locator("#c1-4")).to_be_visible()
    page.emulate_media(media="print")
    page.goto(f"/threads/{thread_id}/")
    page.reload()
    expect(page.locator("#c1-4")).to_be_visible()


def test_a_request_is_changed_and_sent_again_with_a_click(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    thread_id = heddle.start("alice", "First. [[words 3]]")
    page = visit("alice").page
    page.goto(f"/threads/{thread_id}/")
    page.fill("#say", "Second, wrong")
    page.keyboard.press("Control+Enter")
    page.locator("#m3").wait_for()
    page.hover("#m2")
    page.click("#m2 [formaction$='?edit']")
    page.wait_for_url("**/?write&edit")
    expect(page.locator("#say")).to_be_focused()
    expect(page.locator("#say")).to_have_value("Second, wrong")
    page.fill("#say", "Second, right")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#m2 .written")).to_have_text("Second, right")
    expect(page.locator("#say")).to_have_value("")
    page.wait_for_url("**/threads/ags_*/")  # what the address asked for is done
    page.reload()
    expect(page.locator("#say")).to_have_value("")
    expect(page.locator("#say")).not_to_be_focused()
    page.hover("#m0")
    page.click("#m0 [formaction$='?edit']")
    expect(page.locator("#text")).to_have_value("First. [[words 3]]")


@pytest.mark.parametrize("reader", ["has letters off", "asked for less motion"])
def test_what_is_told_stays_for_whoever_may_need_longer(visit: Callable[..., Visit], reader: str) -> None:
    page = visit("admin", **({"reduced_motion": "reduce"} if "motion" in reader else {})).page
    if "letters" in reader:
        page.goto("/settings/")
        page.click("[name=keys][value=off]")
    page.goto("/settings/labels/")
    page.locator("main input:visible").first.fill(f"Told {time.monotonic_ns()}")
    page.keyboard.press("Enter")
    note = page.locator("#notes .fault")
    expect(note).to_be_visible()
    page.hover("main .column", position={"x": 4, "y": 4})
    assert note.evaluate("each => each.getAnimations().length") == 0


@pytest.mark.parametrize("width", [1440, 390])
def test_a_name_without_an_end_widens_no_list(heddle: Heddle, visit: Callable[..., Visit], width: int) -> None:
    name = f"{width}{'W' * 56}"
    template = {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}
    heddle.call("alice", "POST", "agents", {"name": name * 2, "request_template": template})
    heddle.call("admin", "POST", "admin/feedback/labels", {"name": name})
    heddle.start("alice", name * 20)
    lists = {"alice": ["/agents/", "/threads/"], "admin": ["/settings/labels/"]}
    for person, paths in lists.items():
        page = visit(person, viewport={"width": width, "height": 900}).page
        for at in paths:
            page.goto(at)
            expect(page.locator("tbody th", has_text=name).first).to_be_visible()
            assert sideways(page) == 0, at
