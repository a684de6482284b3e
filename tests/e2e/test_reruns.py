"""From a complaint to whether it happens again, and back: by keys, by mouse, on a phone, without scripts."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.test_axe import findings
from tests.e2e.visiting import Heddle, Visit, sideways

pytestmark = [pytest.mark.browser, pytest.mark.live]
ASKED = 'How many is it? [[call calculate {"expression": "6 * 7"}]]'


def rated(heddle: Heddle, thread_id: str, index: int, name: str = "alice", **said: Any) -> str:
    """The report on an answer that somebody has just rated."""
    heddle.rate(name, thread_id, index, **said)
    [report] = heddle.call("admin", "GET", f"admin/feedback?thread_id={thread_id}")["items"]
    return str(report["feedback_id"])


@pytest.fixture
def complaint(heddle: Heddle) -> tuple[str, str]:
    """A rated answer that a tool had a part in: its thread, and its report."""
    thread_id = heddle.start("alice", ASKED, visibility="org")
    last = len(heddle.settled("alice", thread_id)["messages"]) - 1
    return thread_id, rated(heddle, thread_id, last, notes="It is not that many.", categories=["incorrect"])


def rerun_beside(page: Page, press: Callable[[], Any], *, by_keys: bool = False) -> None:
    """Press, see the answer come beside the rated one without leaving the desk, and close it."""
    press()
    expect(page.locator("#rerun .compared[data-side=source]").first).to_contain_text("42")
    expect(page.locator("#verdict")).to_have_text("Same answer")
    expect(page.locator("#said")).to_have_text("Same answer.")
    expect(page.locator("#rerun .compared[data-side=fork]").first).to_contain_text("calculate")
    assert "/feedback/?" in page.url and sideways(page) == 0
    page.keyboard.press("b") if by_keys else page.locator("#rerun a", has_text="Close").click()
    expect(page.locator("#rerun")).to_have_count(0)
    expect(page.locator("#desk-talk .rated")).to_contain_text("42")


def test_by_keys(visit: Callable[..., Visit], complaint: tuple[str, str]) -> None:
    _, report = complaint
    page = visit("admin").page
    page.goto(f"/feedback/?q=&item={report}")
    rerun_beside(page, lambda: page.keyboard.press("Shift+F"), by_keys=True)
    expect(page.locator("#desk-report .hist")).to_contain_text("reran it with recorded calls")
    page.keyboard.press("e")
    expect(page.locator("#said")).to_contain_text("Resolved")


def test_by_mouse_with_other_settings_and_from_the_history(
    visit: Callable[..., Visit], complaint: tuple[str, str]
) -> None:
    _, report = complaint
    page = visit("admin").page
    page.goto(f"/feedback/?q=&item={report}")
    page.locator("summary[aria-label='Rerun with']").click()
    page.locator("#rerun-tools").select_option("live")
    rerun_beside(page, page.locator("#desk-report button", has_text="With the latest skills").click)
    page.locator("#desk-report .hist a", has_text="compare").click()
    expect(page.locator("#rerun")).to_contain_text("live calls")
    page.locator("#rerun a", has_text="Compare in full").click()
    expect(page.locator("h1")).to_have_text("Same answer")
    page.locator(".bar a", has_text="Back to the report").click()
    expect(page.locator("#verdict")).to_have_text("Same answer")


def test_with_another_prompt_by_keys(visit: Callable[..., Visit], complaint: tuple[str, str]) -> None:
    """The page is left by Ctrl+Enter, and the desk shows what came of it."""
    _, report = complaint
    page = visit("admin").page
    page.goto(f"/feedback/?q=&item={report}")
    page.keyboard.press("Shift+P")
    expect(page.locator("#system_prompt")).to_be_focused()
    page.keyboard.type("Be brief.")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/feedback/?q=&item=*&compare=ags_*")
    expect(page.locator("#verdict")).to_have_text("Same answer")
    expect(page.locator("#rerun-facts")).to_contain_text("With another system prompt")
    expect(page.locator("#desk-report .hist")).to_contain_text("recorded calls and another prompt")


def test_with_other_settings_by_keys(visit: Callable[..., Visit], complaint: tuple[str, str]) -> None:
    _, report = complaint
    page = visit("admin").page
    page.goto(f"/feedback/?q=&item={report}")
    page.keyboard.press("w")
    expect(page.locator(".menu[open] button", has_text="With the latest skills")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(page.locator("#rerun-profile")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#verdict")).to_have_text("Same answer")
    expect(page.locator("#rerun")).to_contain_text("live calls")


def test_on_a_phone(visit: Callable[..., Visit], complaint: tuple[str, str]) -> None:
    _, report = complaint
    page = visit("admin", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True).page
    page.goto(f"/feedback/?q=&item={report}&pane=talk")
    page.locator("#dock summary[aria-label='More actions']").tap()
    rerun_beside(page, page.locator("#dock button", has_text="Rerun").first.tap)


def test_an_answer_is_seen_as_it_is_written_and_stopped(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """Both beside each other from the first word on; the desk goes on meanwhile."""
    thread_id = heddle.start("alice", "Slowly. [[pace 0.4]] [[words 40]]", visibility="org")
    report = rated(heddle, thread_id, 1, notes="Too slow.")
    page = visit("admin").page
    page.goto(f"/feedback/?q=&item={report}")
    page.keyboard.press("Shift+F")
    expect(page.locator("#verdict")).to_have_text("Answering")
    new = page.locator("#new-answer .prose")
    expect(new).to_contain_text("warp")
    seen = new.inner_text()
    expect(new).not_to_have_text(seen)
    page.keyboard.press("y")
    page.keyboard.type("It is quicker now.")
    expect(page.locator("#fixed-reply")).to_have_value("It is quicker now.")
    stop = page.locator("#rerun button", has_text="Stop")
    stop.focus()
    seen = new.inner_text()
    expect(new).not_to_have_text(seen), "who stands on a button reads on"
    stop.click()
    expect(page.locator("#verdict")).to_have_text("Cancelled")
    expect(page.locator("#rerun button")).to_have_count(0)
    expect(page.locator("#fixed-acts")).to_contain_text("Not by this rerun: cancelled.")
    expect(page.locator("#fixed-acts button")).to_be_disabled()
    expect(page.locator("#fixed-reply")).to_have_value("It is quicker now.")
    page.keyboard.press("y")
    page.keyboard.type(" Or so.")
    page.keyboard.press("Control+Enter")
    page.reload()
    expect(page.locator("#fixed-reply")).to_have_value("It is quicker now. Or so.")
    now = heddle.call("admin", "GET", f"admin/feedback/{report}/triage")
    assert not now["resolved"] and now["public_reply"] is None


def test_a_rerun_is_closed_while_it_is_written(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """With the desk as it is: nothing is loaded anew, and no event brings it back."""
    thread_id = heddle.start("alice", "Slowly, slowly. [[pace 0.4]] [[words 40]]", visibility="org")
    report = rated(heddle, thread_id, 1, notes="Too slow, too.")
    page = visit("admin").page
    page.goto(f"/feedback/?q=&item={report}")
    page.keyboard.press("Shift+F")
    expect(page.locator("#new-answer .prose")).to_contain_text("warp")
    page.evaluate("() => { document.body.dataset.same = '' }")
    page.keyboard.press("b")
    expect(page.locator("#rerun")).to_have_count(0)
    assert "compare=" not in page.url
    page.wait_for_timeout(1_000)
    expect(page.locator("body[data-same]")).to_be_attached()
    expect(page.locator("#rerun")).to_have_count(0)


def test_enter_in_the_label_field_labels_beside_a_rerun(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """And sends nothing to anybody, whatever is typed beside the rerun."""
    said = [{"role": "user", "content": "When does the tunnel open?"}, {"role": "assistant", "content": "At ten."}]
    thread_id = heddle.imported("alice", "tunnel", said)
    report = rated(heddle, thread_id, 1, notes="The tunnel is closed.")
    page = visit("admin").page
    page.goto(f"/feedback/?q=&item={report}")
    page.keyboard.press("Shift+F")
    expect(page.locator("#verdict")).to_have_text("Another answer")
    page.keyboard.press("y")
    page.keyboard.type("Half written")
    page.keyboard.press("Escape")
    page.keyboard.press("l")
    page.keyboard.type("tunnels")
    page.keyboard.press("Enter")
    expect(page.locator("#report .tag")).to_contain_text("tunnels")
    now = heddle.call("admin", "GET", f"admin/feedback/{report}/triage")
    assert not now["resolved"] and now["public_reply"] is None
    expect(page.locator("#fixed-reply")).to_have_value("Half written")


def test_a_complaint_is_proved_fixed_with_three_keys_and_a_sentence(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    """Rerun, reply to everybody who said the same, resolve: one screen, one action, one undo."""
    ids = []
    for name, notes in (("alice", "The ferry does not go at nine."), ("bob", "No ferry at nine.")):
        said = [{"role": "user", "content": "When does the ferry go?"}, {"role": "assistant", "content": "At nine."}]
        thread_id = heddle.imported(name, f"ferry-{name}", said)
        ids.append(rated(heddle, thread_id, 1, name, notes=notes))
    mark = {"verb": "duplicate", "arguments": {"duplicate_of": ids[0]}}
    heddle.call("admin", "POST", f"admin/feedback/{ids[1]}/actions", mark)
    page = visit("admin").page
    page.goto(f"/feedback/?q=ferry&item={ids[0]}")
    page.keyboard.press("Shift+F")
    expect(page.locator("#verdict")).to_have_text("Another answer")
    page.keyboard.press("y")
    expect(page.locator("#fixed-reply")).to_be_focused()
    page.keyboard.type("It knows the timetable now.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#desk-status")).to_contain_text("with 1 duplicate as fixed")

    def state() -> list[tuple[str | None, str | None]]:
        found = [heddle.call("admin", "GET", f"admin/feedback/{each}/triage") for each in ids]
        return [(each["outcome"], each["public_reply"]) for each in found]

    told = "It knows the timetable now."
    assert state() == [("fixed", told), ("duplicate", told)]
    page.keyboard.press("z")
    expect(page.locator("#said")).to_contain_text("Undone")
    assert state() == [(None, None), ("duplicate", None)]
    assert ids[0] in page.url


@pytest.fixture
def complaints(heddle: Heddle, request: pytest.FixtureRequest) -> tuple[str, list[str]]:
    """A word that only these reports have, and the reports: on answers that are others now."""
    word, ids = f"lighthouse{request.node.name.rpartition('_')[2].rstrip(']')}", []
    for number in range(3):
        said = [{"role": "user", "content": f"Is it lit {number}?"}, {"role": "assistant", "content": "Ask elsewhere."}]
        thread_id = heddle.imported("alice", f"{word}-{number}", said)
        ids.append(rated(heddle, thread_id, 1, notes=f"No word of the {word}, {number}."))
    return word, ids


def outcomes(heddle: Heddle, ids: list[str]) -> list[tuple[str | None, str | None]]:
    found = [heddle.call("admin", "GET", f"admin/feedback/{each}/triage") for each in ids]
    return [(each["outcome"], each["public_reply"]) for each in found]


def test_three_complaints_are_proved_fixed_together_by_keys(
    heddle: Heddle, visit: Callable[..., Visit], axe: str, complaints: tuple[str, list[str]]
) -> None:
    """Ticked, rerun with the latest skills, judged one after the other, answered, resolved; and all of it undone."""
    word, ids = complaints
    page = visit("admin").page
    page.goto(f"/feedback/?q={word}")
    for number in reversed(range(3)):
        page.keyboard.press("j")
        expect(page.locator("#desk-report")).to_contain_text(f"{word}, {number}.")
        page.keyboard.press("x")
    expect(page.locator("#bulk")).to_contain_text("3 ticked")
    page.keyboard.press("w")
    expect(page.locator("#bulk .menu[open] button", has_text="With the latest skills")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/feedback/checks/batches/*/")
    expect(page.locator("#judge")).to_be_visible()
    expect(page.locator("#stop")).to_have_count(0)
    assert sideways(page) == 0 and not findings(page, axe)
    page.keyboard.press("p")
    for left in ("2 more to judge", "1 more to judge"):
        expect(page.locator(".judge")).to_contain_text(left)
        page.keyboard.press("p")
    expect(page.locator(".judge")).not_to_contain_text("more to judge")
    for key, verdict in (("k", "passed"), ("j", "undecided")):
        page.keyboard.press(key)
        expect(page.locator(".judge .mark").first).to_have_text(verdict)
    page.keyboard.press("p")
    page.wait_for_url("**/feedback/checks/batches/*/")
    expect(page.locator("h1")).to_have_text("All runs passed")
    assert sideways(page) == 0 and not findings(page, axe)
    boxes = page.locator("#results input[name=feedback_ids]")
    for is_ticked in (False, True):
        page.keyboard.press("j")
        with page.expect_response("**/leave/"):
            page.keyboard.press("x")
        page.reload()
        expect(boxes).to_have_count(3)
        expect(boxes.first).to_be_checked(checked=is_ticked)
    page.keyboard.press("y")
    expect(page.locator("#fix-reply")).to_be_focused()
    page.keyboard.type("It is lit.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#desk-status")).to_contain_text("Resolved 3 reports as fixed, 1 person answered")
    assert page.url.endswith(f"/feedback/?q={word}")
    assert outcomes(heddle, ids) == [("fixed", "It is lit.")] * 3
    page.keyboard.press("z")
    expect(page.locator("#said")).to_contain_text("Undone: resolution of 3 reports, and the reply to 1 person.")
    assert outcomes(heddle, ids) == [(None, None)] * 3


def test_two_of_three_are_fixed_by_mouse_and_without_scripts(
    heddle: Heddle, visit: Callable[..., Visit], complaints: tuple[str, list[str]]
) -> None:
    """The third failed, and one of the others is left out: its box is not ticked."""
    word, ids = complaints
    page = visit("admin", java_script_enabled=False).page
    page.goto(f"/feedback/?q={word}")
    for box in page.locator("li.rep input[type=checkbox]").all():
        box.check()
    page.locator("#bulk button", has_text="Rerun").click()
    page.wait_for_url("**/feedback/checks/batches/*/")
    batch = page.url.rstrip("/").rpartition("/")[2]
    heddle.call("admin", "GET", f"admin/checks/batches/{batch}?wait=30")
    page.reload()
    page.locator("#judge").click()
    for verdict in ("passed", "failed", "passed"):
        page.locator("a", has_text="Judge this run").click()
        page.locator(f".judge button[value={verdict}]").click()
    boxes = page.locator("#results input[name=feedback_ids]")
    expect(boxes).to_have_count(2)
    boxes.first.uncheck()
    page.locator("#fix button").click()
    expect(page.locator("#desk-status")).to_contain_text("as fixed")
    assert sorted(outcome or "" for outcome, _ in outcomes(heddle, ids)) == ["", "", "fixed"]


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768), (390, 844)])
def test_what_is_told_of_a_fork_covers_nothing_that_is_read(
    heddle: Heddle, visit: Callable[..., Visit], width: int, height: int
) -> None:
    """It stands in the app bar, and is gone when the answer that it announces is there."""
    thread_id = heddle.start("alice", "Rerun. [[sleep 2]]", visibility="org")
    rated(heddle, thread_id, 1, notes="Again, please.")
    page = visit("admin", viewport={"width": width, "height": height}).page
    page.goto(f"/threads/{thread_id}/rerun/?message_sequence_num=1")
    page.locator("main .btn", has_text="Rerun").click()
    page.wait_for_url("**/threads/ags_*/#m0")
    note = page.locator("#notes .fault")
    expect(note).to_be_visible()
    told, top = note.bounding_box(), page.locator(".top").bounding_box()
    assert told and top and told["y"] >= 0 and told["y"] + told["height"] <= top["height"]
    expect(page.locator("#status")).to_have_text("Idle")
    expect(note).to_be_hidden()


def test_without_scripts(heddle: Heddle, visit: Callable[..., Visit], complaint: tuple[str, str]) -> None:
    _, report = complaint
    page = visit("admin", java_script_enabled=False).page
    page.goto(f"/feedback/?q=&item={report}")
    page.locator("#desk-report button", has_text="Rerun").first.click()
    heddle.settled("admin", page.url.rpartition("compare=")[2])
    page.reload()
    expect(page.locator("#verdict")).to_have_text("Same answer")
    page.locator("#rerun a", has_text="Close").click()
    expect(page.locator("#rerun")).to_have_count(0)


def test_a_fix_that_could_not_be_stored_is_told_and_typed_text_stays(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    """The desk comes back to the rerun and listens to it again; that its line is there does not mean it was stored."""
    said = [{"role": "user", "content": "When does the bus go?"}, {"role": "assistant", "content": "At six."}]
    ids = [rated(heddle, heddle.imported("alice", f"bus-{n}", said), 1, notes=f"No bus at six, {n}.") for n in range(2)]
    visitor = visit("admin")
    visitor.forgive("502", "htmx:")
    page = visitor.page
    page.goto(f"/feedback/?q=bus&item={ids[1]}")
    page.keyboard.press("Shift+F")
    expect(page.locator("#verdict")).to_have_text("Another answer")
    visitor.wait_until_fetched_ahead()
    page.keyboard.press("y")
    page.keyboard.type("It knows the timetable now.")
    page.route("**/feedback/fb_*/", lambda line: line.fulfill(status=502))
    page.keyboard.press("Control+Enter")
    expect(page.locator(".failed")).to_contain_text("The server answered 502.")
    page.wait_for_timeout(1_000)  # longer than a line needs to be there again
    expect(page.locator(".failed")).to_be_visible()
    expect(page.locator("#fixed-reply")).to_have_value("It knows the timetable now.")
    assert outcomes(heddle, ids) == [(None, None)] * 2
    page.unroute("**/feedback/fb_*/")
    page.locator("#fixed-reply").press("Control+Enter")
    expect(page.locator("#desk-status")).to_contain_text("as fixed")
    expect(page.locator(".failed")).to_have_count(0)


@pytest.mark.parametrize("width", [1440, 1100, 390])
def test_the_new_answer_is_in_sight_wherever_there_is_room_for_one(
    visit: Callable[..., Visit], complaint: tuple[str, str], width: int
) -> None:
    page = visit("admin", viewport={"width": width, "height": 800}).page
    page.goto(f"/feedback/?q=&item={complaint[1]}&pane=talk")
    page.keyboard.press("Shift+F")
    expect(page.locator("#verdict")).to_have_text("Same answer")
    expect(page.locator("#rerun .side[data-side=fork] h3").first).to_be_in_viewport()
    tops = [page.locator(f"#rerun .side[data-side={side}]").bounding_box() for side in ("source", "fork")]
    assert tops[0] and tops[1] and (tops[1]["y"] == tops[0]["y"]) is (width == 1440) and tops[1]["y"] <= tops[0]["y"]
