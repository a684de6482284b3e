"""A rerun beside the rated answer at the desk, and resolving as fixed by it, without a browser."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import takewhile
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from core import sse
from feedback import fixing
from feedback.checks import keeping
from feedback.models import Check, Reply, TriageChange, UserFeedback
from feedback.wire_checks import CheckIn
from tests import make
from tests.conftest import data_of
from tests.pages.desk import Browser, client_of, do, live, opened, query_of, stored, told
from tests.pages.dom import Node, dom, get, submit, then
from tests.people import People, Person, second_admin
from threads import forks, reruns
from threads.models import Thread, Turn
from threads.wire import RerunIn

Listen = Callable[[UserFeedback, Thread], Iterator[bytes]]
CALLING = 'How many? [[call calculate {"expression": "6 * 7"}]]'


@pytest.fixture
def report(who: People) -> UserFeedback:
    """About an answer that is given again."""
    return rated(who.alice, CALLING, notes="It is not that many.")


@pytest.fixture
def mended(who: People) -> UserFeedback:
    """About an answer that is another one now."""
    thread = make.conversation(who.alice, 2, visibility="org")
    made = make.rating(who.alice, thread, 1, notes="It is not that many.")
    return UserFeedback.objects.get(key=made.feedback_id.removeprefix("fb_"))


@pytest.fixture
def listen(browser_of: Browser, monkeypatch: pytest.MonkeyPatch) -> Listen:
    """What an open desk with the fork beside the report is told. A line that has nothing to tell says so at once."""
    monkeypatch.setattr(sse, "HEARTBEAT_SECONDS", 0)

    def start(report: UserFeedback, fork: Thread) -> Iterator[bytes]:
        return live(browser_of("admin"), f"q=&item={report.feedback_id}&compare={fork.thread_id}")

    return start


def rated(person: Person, text: str, **said: str) -> UserFeedback:
    thread = make.thread(person, text, visibility="org")
    made = make.rating(person, thread, make.fresh(thread).message_count - 1, **said)
    return UserFeedback.objects.get(key=made.feedback_id.removeprefix("fb_"))


def beside(client: Client, report: UserFeedback, fork: Thread) -> Node:
    return get(client, f"/feedback/?q=&item={report.feedback_id}&compare={fork.thread_id}")


def rerun(client: Client, report: UserFeedback, **chosen: str) -> Thread:
    """Press Rerun; its turn has not begun."""
    page = opened(client, report)
    answer = submit(client, page.id("desk-rerun"), "", **chosen)
    fork = Thread.objects.latest("pk")
    assert query_of(answer["Location"]) == {
        "q": "",
        "item": report.feedback_id,
        "pane": "talk",
        "compare": fork.thread_id,
    }
    return fork


def another(client: Client, report: UserFeedback) -> Thread:
    """A rerun that has ended."""
    fork = rerun(client, report)
    make.run_turns(fork)
    return make.fresh(fork)


def press(client: Client, page: Node, verb: str, **typed: Any) -> HttpResponse:
    """A button that belongs to the report's form; the fields beside the rerun do, too."""
    form = page.id("triage")
    fields = {**form.fields(), **page.id("fixed").fields()}
    return client.post(form["action"], {**fields, **typed, "verb": verb})


def said(page: Node) -> str:
    return page.id("verdict").words


def refused(page: Node) -> str:
    """Why the report is not resolved by the rerun. Its button cannot be pressed then, but what was typed stays."""
    assert page.id("fixed-acts").one("button").has("disabled") and page.id("fixed-reply")
    return page.id("fixed-acts").one("span").words


def test_a_rerun_is_shown_beside_the_rated_answer(browser_of: Browser, who: People, report: UserFeedback) -> None:
    client = browser_of("admin")
    fork = rerun(client, report)
    page = beside(client, report, fork)
    assert said(page) == "Answering" and [each.words for each in page.id("rerun").all("button")] == ["Stop"]
    assert "42" in page.id("rerun").words, "the rated answer is there from the beginning"
    waits = page.id("fixed-acts").one("button")
    assert waits.has("disabled") and page.id("fixed-reply"), "the reply can be written meanwhile"
    make.run_turns(fork)
    page = beside(client, report, fork)
    assert said(page) == "Same answer"
    answers = [each.words for each in page.id("rerun").all("article")]
    assert len(answers) == 2 and all("calculate" in each for each in answers)
    assert refused(page) == "Not by this rerun: same answer.", "what is as it was is not fixed"
    [away] = [link["href"] for link in page.id("rerun").all("a") if link.words == "Close b"]
    assert not get(client, "/feedback/" + away).all("div", id="rerun")
    assert "Undo" not in page.id("desk-status").words or told(page)


def test_the_latest_rerun_is_a_key_away_after_one_has_looked_elsewhere(
    browser_of: Browser, who: People, report: UserFeedback
) -> None:
    client = browser_of("admin")
    assert opened(client, report).none("a", data_key="b")
    another(client, report)
    latest = another(client, report)
    [link] = opened(client, report).all("a", data_key="b")
    assert link.words == "Last rerun b" and query_of(link["href"])["compare"] == latest.thread_id
    [link] = beside(client, report, latest).all("a", data_key="b")
    assert link.words == "Close b"


def test_the_options_of_the_menu_are_those_of_the_rerun(browser_of: Browser, who: People, report: UserFeedback) -> None:
    fork = rerun(browser_of("admin"), report, tools="live")
    assert Turn.objects.get(thread=fork).replays_calls is False
    assert "live calls" in beside(browser_of("admin"), report, fork).id("rerun").words


def test_a_rerun_that_is_asked_for_twice_is_made_once(browser_of: Browser, who: People, report: UserFeedback) -> None:
    """Each is paid for. What is chosen otherwise is another one, and so is a press of somebody else, or a later one."""
    client, other = browser_of("admin"), client_of(second_admin())
    fork = rerun(client, report)
    assert rerun(client, report) == fork and Thread.objects.count() == 2
    for made in (rerun(client, report, tools="live"), rerun(client, report, skills="latest"), rerun(other, report)):
        assert made != fork
        fork = made
    assert rerun(other, report) == fork and Thread.objects.count() == 5
    with time_machine.travel(timezone.now() + timedelta(seconds=61)):
        latest = rerun(other, report)
        assert latest != fork
        make.run_turns(latest)
        assert rerun(other, report) != latest


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
@pytest.mark.django_db(transaction=True)
def test_a_rerun_that_is_asked_for_twice_at_once_is_made_once(who: People, report: UserFeedback) -> None:
    page, answers = opened(client_of(who.admin), report), []

    def press() -> None:
        answers.append(submit(client_of(who.admin), page.id("desk-rerun"), "")["Location"])
        connection.close()

    presses = [threading.Thread(target=press) for _ in range(3)]
    for each in presses:
        each.start()
    for each in presses:
        each.join(10)
    assert len(answers) == 3 and len(set(answers)) == 1 and Thread.objects.count() == 2


def test_a_rerun_that_is_refused_says_why_at_the_desk(browser_of: Browser, report: UserFeedback) -> None:
    page = opened(browser_of("admin"), report)
    answer = submit(browser_of("admin"), page.id("desk-rerun"), "", model_profile="no-such")
    assert "no-such" in dom(answer, 400).id("report").words
    assert Thread.objects.count() == 1


def test_a_rerun_is_stopped_at_the_desk(browser_of: Browser, report: UserFeedback) -> None:
    client = browser_of("admin")
    fork = rerun(client, report)
    answer = submit(client, beside(client, report, fork).id("rerun").one("form"))
    assert query_of(answer["Location"])["compare"] == fork.thread_id
    assert make.fresh(fork).last_outcome == "cancelled"
    assert said(beside(client, report, fork)) == "Cancelled"


@pytest.mark.parametrize("which", ["unknown", "of another thread", "behind the answer", "of another answer", "no fork"])
def test_what_is_no_fork_before_the_answer_is_said_to_be_gone(
    browser_of: Browser, who: People, report: UserFeedback, which: str
) -> None:
    """The report is shown without it: a colleague's link may be old."""
    thread = report.thread
    if which == "of another answer":
        thread = make.send(who.alice, thread, "And now? It says 42.")
        made = make.rating(who.alice, thread, make.fresh(thread).message_count - 1)
        report = UserFeedback.objects.get(key=made.feedback_id.removeprefix("fb_"))
    at = {"behind the answer": report.message_sequence_num, "of another thread": 0, "of another answer": 0}
    if which == "of another thread":
        thread = make.thread(who.alice, "Other", visibility="org")
    named = "ags_" + "0" * 26 if which == "unknown" else thread.thread_id
    if which in at:
        named = forks.fork(who.admin.actor, thread, at[which]).thread_id
    page = get(browser_of("admin"), f"/feedback/?q=&item={report.feedback_id}&compare={named}")
    assert "The thread to compare with is not there any more." in page.id("desk-talk").words
    assert "42" in page.id("desk-talk").words and not page.all("div", id="rerun")
    assert browser_of("admin").post(f"/feedback/{report.feedback_id}/rerun/{named}/stop/").status_code == 404


def test_what_its_check_says_of_the_new_answer_is_shown(browser_of: Browser, who: People, report: UserFeedback) -> None:
    client = browser_of("admin")
    fork = another(client, report)
    assert "check" not in beside(client, report, fork).id("rerun").words
    form = {"verb": "keep", "kind": ["calls", "never_says"], "value": ["calculate", "Pineapple"]}
    client.post(f"/feedback/{report.feedback_id}/check/", form)
    assert said(beside(client, report, fork)) == "Passes the check"
    shown = opened(client, report).id("check").one("form").fields()
    form |= {"value": ["refund", "Pineapple"], "shown": shown["shown"]}
    client.post(f"/feedback/{report.feedback_id}/check/", form)
    page = beside(client, report, fork)
    assert said(page) == "Fails the check"
    words = page.id("rerun-facts").words
    assert "calls refund" in words and "never says" not in words


def test_a_fork_that_nobody_asked_anything_has_no_answer(
    browser_of: Browser, who: People, report: UserFeedback
) -> None:
    made = forks.fork(who.admin.actor, report.thread, 0)
    page = beside(browser_of("admin"), report, Thread.objects.by_public_id(made.thread_id).get())
    assert said(page) == "No answer" and refused(page) == "Not by this rerun: no answer."


def test_a_fork_that_went_on_is_compared_by_its_answer(browser_of: Browser, who: People, report: UserFeedback) -> None:
    """What was said after that, in either, has no part in it."""
    client = browser_of("admin")
    fork = another(client, report)
    make.send(who.admin, fork, "Further in the fork.")
    make.send(who.alice, report.thread, "Further in the source.")
    page = beside(client, report, fork)
    assert said(page) == "Same answer" and "Further" not in page.id("rerun").words


def test_what_comes_too_late_is_undone_as_what_it_did(
    browser_of: Browser, who: People, mended: UserFeedback, family: dict[str, UserFeedback]
) -> None:
    """Only its duplicates are told of it then; that is an action like any other."""
    client = browser_of("admin")
    fork = another(client, mended)
    do(who.admin, mended, "resolve", outcome="fixed", proof=fork.thread_id)
    do(who.admin, mended, "reply", public_reply="It counts.")
    answer = press(client, beside(client, mended, fork), "outcome fixed", fixed_reply="It counts.")
    page = get(client, answer["Location"])
    assert reply_of(family["copy"]) == "It counts."
    assert page.id("undo").one("button", data_key="z")
    submit(client, page.id("undo"))
    assert reply_of(family["copy"]) is None and stored(mended).resolved


def test_a_rerun_costs_as_many_queries_in_a_long_thread(
    browser_of: Browser, who: People, django_assert_max_num_queries: object
) -> None:
    """And reads no more messages: those from the request on."""
    counts = []
    for turns in (4, 40):
        thread = make.conversation(who.alice, turns, visibility="org")
        [report] = [make.rating(who.alice, thread, turns - 1)]
        made = reruns.rerun(who.admin.actor, make.fresh(thread), RerunIn(message_sequence_num=turns - 1))
        found = UserFeedback.objects.get(key=report.feedback_id.removeprefix("fb_"))
        fork = Thread.objects.by_public_id(made.thread_id).get()
        looks = []
        for _ in range(3):  # the first fills caches, and one of the others may be the first of a minute
            with CaptureQueriesContext(connection) as captured:
                beside(browser_of("admin"), found, fork)
            looks.append(len(captured))
        counts.append(min(looks))
    assert counts[0] == counts[1]


def test_an_agent_is_rerun_as_it_is_now(browser_of: Browser, who: People, api: Any, report: UserFeedback) -> None:
    """Offered where the thread was launched from one, in the menu and on a phone."""
    client = browser_of("admin")

    def buttons(of: UserFeedback) -> list[Node]:
        return [each for each in opened(client, of).all("button", form="desk-rerun") if each.get("name") == "agent"]

    assert not buttons(report)
    template = {"messages": [make.say("Hello")], "system_prompt": "Be brief."}
    agent = data_of(api("alice").post("agents", {"name": "teller", "request_template": template}))
    made = data_of(api("alice").post(f"agents/{agent['agent_id']}/launch", {}))
    thread = Thread.objects.by_public_id(made["thread_id"]).get()
    make.run_turns(thread)
    template["system_prompt"] = "Be kind."
    data_of(api("alice").put(f"agents/{agent['agent_id']}", {"request_template": template}))
    rating = make.rating(who.alice, make.fresh(thread), 1)
    launched = UserFeedback.objects.get(key=rating.feedback_id.removeprefix("fb_"))
    assert ["agent as it is now" in each.words for each in buttons(launched)] == [True] * 2
    answer = submit(client, opened(client, launched).id("desk-rerun"), agent="now")
    fork = Thread.objects.latest("pk")
    assert fork.system_prompt == "Be kind." and answer["Location"].endswith(fork.thread_id)


def test_the_model_of_the_thread_and_of_the_rerun_are_named(browser_of: Browser, report: UserFeedback) -> None:
    client = browser_of("admin")
    assert opened(client, report).id("rerun-profile").one("option", value="").words == "thread's own (Simulated)"
    page = beside(client, report, another(client, report))
    assert page.id("rerun-facts").words.startswith("recorded calls · Simulated · ")
    Thread.objects.update(model_profile=None)
    page = opened(client, report)
    assert page.id("rerun-profile").one("option", value="").words == "default (Simulated)", "an import has none"
    Thread.objects.update(model_profile="gone")
    page = opened(client, report)
    assert page.id("rerun-profile").one("option", value="").words == "thread's own"


def test_another_prompt_leads_back_to_the_desk(browser_of: Browser, who: People, report: UserFeedback) -> None:
    client = browser_of("admin")
    [link] = [each["href"] for each in opened(client, report).id("report").all("a") if "Another prompt" in each.words]
    page = get(client, link)
    answer = submit(client, page.one("main").one("form"), system_prompt="Be brief.")
    fork = Thread.objects.latest("pk")
    assert fork.system_prompt == "Be brief."
    assert answer["Location"] == f"/feedback/?q=&item={report.feedback_id}&pane=talk&compare={fork.thread_id}"
    assert "With another system prompt" in beside(client, report, fork).id("rerun").words


def test_another_prompt_leads_to_no_other_site(browser_of: Browser, who: People, report: UserFeedback) -> None:
    form = {"message_sequence_num": str(report.message_sequence_num), "next": "https://evil.example/?"}
    answer = browser_of("admin").post(f"/threads/{report.thread.thread_id}/rerun/", form)
    assert answer["Location"] == "/threads/"


@pytest.fixture
def family(who: People, mended: UserFeedback) -> dict[str, UserFeedback]:
    """The report with three duplicates, one of which got an answer of its own, and two open reports beside them."""
    copies = [rated(who.bob, "How many?", notes=f"copy {place}") for place in range(3)]
    for each in copies:
        do(who.admin, each, "duplicate", duplicate_of=mended.feedback_id)
    do(who.admin, copies[2], "reply", public_reply="Thank you.")
    alike = [rated(who.alice, CALLING, notes=f"alike {place}") for place in range(2)]
    names = ("copy", "other copy", "answered copy", "alike", "resolved")
    do(who.admin, alike[1], "resolve")
    return dict(zip(names, [*copies, *alike], strict=True))


def fixed(client: Client, report: UserFeedback, fork: Thread, **typed: Any) -> Node:
    answer = press(client, beside(client, report, fork), "resolve fixed", **typed)
    assert answer.status_code == 302, answer.content.decode()
    return get(client, answer["Location"])


def reply_of(report: UserFeedback) -> str | None:
    return (
        Reply.objects.filter(feedback=report, public_status="answered").values_list("public_reply", flat=True).first()
    )


def test_resolving_as_fixed_tells_everybody_who_said_the_same_and_is_undone_at_once(
    browser_of: Browser, who: People, mended: UserFeedback, family: dict[str, UserFeedback]
) -> None:
    client = browser_of("admin")
    fork = another(client, mended)
    page = beside(client, mended, fork)
    assert said(page) == "Another answer"
    label = page.id("fixed").all("label")[0].words
    assert label.startswith("Reply to Alice and to the submitters of 2 duplicates")
    ticked = [family[name].feedback_id for name in ("alike", "resolved")]
    page = fixed(client, mended, fork, fixed_reply="It counts right now.", fixed_alike=ticked)
    assert told(page) == ["Resolved “It is not that many.” with 3 duplicates as fixed, 2 people answered"]
    after = {name: stored(each) for name, each in family.items()}
    assert stored(mended).resolved and stored(mended).triage.outcome == "fixed"
    assert after["alike"].triage.duplicate_of == mended
    assert after["resolved"].triage.outcome == "noted", "who resolved it decided that"
    for name, words in {**dict.fromkeys(("copy", "other copy", "alike"), "It counts right now.")}.items():
        assert reply_of(family[name]) == words
    assert reply_of(mended) == "It counts right now."
    assert reply_of(family["answered copy"]) == "Thank you." and reply_of(family["resolved"]) is None
    before = get(client, "/feedback/?q=")
    answer = submit(client, before.id("undo"))
    assert query_of(answer["Location"])["item"] == mended.feedback_id, "that is what it was about"
    undone = "Undone: resolution of “It is not that many.” with 3 duplicates, and the replies to 2 people."
    page = get(client, answer["Location"])
    assert told(page) == [undone]
    page = get(client, submit(client, page.id("redo"))["Location"])
    assert told(page) == ["Resolved “It is not that many.” with 3 duplicates as fixed, 2 people answered"]
    assert stored(mended).resolved and stored(mended).triage.outcome == "fixed" and stored(mended).triage.proof
    assert told(get(client, submit(client, page.id("undo"))["Location"])) == [undone]
    assert not stored(mended).resolved and not stored(family["alike"]).resolved
    assert [reply_of(each) for each in (mended, family["copy"], family["alike"])] == [None] * 3
    assert stored(family["copy"]).triage.duplicate_of == mended and reply_of(family["answered copy"]) == "Thank you."


def test_the_rerun_stays_with_the_report_as_its_proof(browser_of: Browser, who: People, mended: UserFeedback) -> None:
    client = browser_of("admin")
    fork = another(client, mended)
    fixed(client, mended, fork)
    assert stored(mended).triage.proof == fork.thread_id
    page = opened(client, mended)
    lines = [line for line in page.one(class_="hist").all("li") if "as a rerun shows" in line.words]
    links = [page.id("triage").all("a", hx_replace_url="true")[-1], *(each.one("a") for each in lines)]
    shown = f"/feedback/?q=&item={mended.feedback_id}&pane=talk&compare={fork.thread_id}"
    assert [each["href"] for each in links] == [shown, shown]
    assert get(client, "/feedback/?q=has:proof").all("li", class_="rep")
    assert not get(client, "/feedback/?q=-has:proof").all("li", class_="rep")
    do(who.admin, mended, "outcome", outcome="noted")
    assert stored(mended).triage.proof is None, "it does not show that"
    do(who.admin, mended, "outcome", outcome="fixed", proof=fork.thread_id)
    do(who.admin, mended, "reopen")
    assert stored(mended).triage.proof is None


def test_the_new_answer_goes_with_the_reply_to_whoever_asked_and_to_nobody_else(
    browser_of: Browser, who: People, mended: UserFeedback, family: dict[str, UserFeedback]
) -> None:
    client = browser_of("admin")
    fixed(client, mended, another(client, mended), fixed_reply="It counts right now.", fixed_shows="1")
    told_to_alice = reply_of(mended) or ""
    assert told_to_alice.startswith("It counts right now.\n\nThe same question is now answered so:\n\nHere is what")
    assert reply_of(family["copy"]) == "It counts right now.", "that person asked something else"
    assert "answered so" in get(browser_of("alice"), f"/threads/{mended.thread.thread_id}/").words


def test_the_new_answer_alone_is_a_reply(browser_of: Browser, who: People, mended: UserFeedback) -> None:
    client = browser_of("admin")
    fixed(client, mended, another(client, mended), fixed_shows="1")
    assert (reply_of(mended) or "").startswith("The same question is now answered so:")


def test_without_words_nobody_is_told(
    browser_of: Browser, who: People, mended: UserFeedback, family: dict[str, UserFeedback]
) -> None:
    client = browser_of("admin")
    fixed(client, mended, another(client, mended), admin_note="Seen in the rerun.")
    assert stored(mended).triage.outcome == "fixed" and stored(mended).admin_note == "Seen in the rerun."
    assert not stored(family["alike"]).resolved
    assert [reply_of(each) for each in (mended, *family.values())].count(None) == 5


def test_of_another_org_is_not_made_a_duplicate(browser_of: Browser, who: People, mended: UserFeedback) -> None:
    client, other = browser_of("admin"), rated(who.eve, "How many?")
    fixed(client, mended, another(client, mended), fixed_alike=other.feedback_id)
    assert not stored(other).resolved and stored(mended).resolved


@pytest.mark.parametrize("change", ["reply", "rating"])
def test_what_changed_meanwhile_is_shown_and_nothing_of_it_is_stored(
    browser_of: Browser, who: People, mended: UserFeedback, family: dict[str, UserFeedback], change: str
) -> None:
    client = browser_of("admin")
    fork = another(client, mended)
    page = beside(client, mended, fork)
    if change == "reply":
        do(second_admin(), mended, "reply", public_reply="Mine.")
    else:
        make.rating(who.alice, mended.thread, mended.message_sequence_num, notes="Oh, it is.")
    answer = press(client, page, "resolve fixed", fixed_reply="It counts right now.")
    assert answer.status_code == 412
    again = dom(answer, 412)
    assert again.id("fixed-reply").words == "It counts right now." and again.id("fixed-reply").has("autofocus")
    assert not stored(mended).resolved and reply_of(family["copy"]) is None
    assert press(client, again, "resolve fixed", fixed_reply="It counts right now.").status_code == 302
    assert stored(mended).resolved and reply_of(family["copy"]) == reply_of(mended) == "It counts right now."


def test_a_second_admin_who_was_too_late_sees_what_was_decided_before_anybody_is_told(
    browser_of: Browser, who: People, mended: UserFeedback, family: dict[str, UserFeedback]
) -> None:
    """And can then say that it is fixed all the same."""
    client = browser_of("admin")
    page = beside(client, mended, another(client, mended))
    do(second_admin(), mended, "resolve", outcome="as_intended")
    answer = press(client, page, "resolve fixed", fixed_reply="It counts right now.")
    again = dom(answer, 409)
    assert "Bea already resolved" in again.id("report").words
    assert again.id("fixed-reply").words == "It counts right now." and again.id("fixed-reply").has("autofocus")
    assert stored(mended).triage.outcome == "as_intended" and reply_of(mended) is reply_of(family["copy"]) is None
    assert press(client, again, "outcome fixed", fixed_reply="It counts right now.").status_code == 302
    assert stored(mended).triage.outcome == "fixed"
    assert reply_of(mended) == reply_of(family["copy"]) == "It counts right now."


def test_a_reply_in_place_of_another_is_told_as_sent(browser_of: Browser, who: People, mended: UserFeedback) -> None:
    client = browser_of("admin")
    do(who.admin, mended, "reply", public_reply="We look at it.")
    fork = another(client, mended)
    assert "in place of the one they have" in beside(client, mended, fork).id("fixed").words
    page = fixed(client, mended, fork, fixed_reply="It counts right now.")
    assert told(page) == ["Resolved “It is not that many.” as fixed, 1 person answered"]
    assert reply_of(mended) == "It counts right now."


def test_enter_in_another_field_does_not_say_that_it_is_fixed(browser_of: Browser, mended: UserFeedback) -> None:
    """Browsers press the first button of a form, wherever it stands in the page."""
    client = browser_of("admin")
    page = beside(client, mended, another(client, mended))
    buttons = [
        each for each in page.all("button") if each.get("form") == "triage" or each in page.id("triage").all("button")
    ]
    assert buttons[0]["value"] == "label typed"


def test_praise_is_not_fixed(browser_of: Browser, who: People) -> None:
    thread = make.conversation(who.alice, 2, visibility="org")
    made = make.rating(who.alice, thread, 1, "positive")
    report = UserFeedback.objects.get(key=made.feedback_id.removeprefix("fb_"))
    client = browser_of("admin")
    page = beside(client, report, another(client, report))
    assert said(page) == "Another answer" and not page.all("section", id="fixed")


def test_a_second_press_while_it_is_written_makes_no_second_fork(browser_of: Browser, report: UserFeedback) -> None:
    client = browser_of("admin")
    fork = rerun(client, report)
    answer = submit(client, beside(client, report, fork).id("desk-rerun"))
    assert "Stop it first" in dom(answer, 409).id("report").words
    assert Thread.objects.filter(forked_from=report.thread).count() == 1


def test_the_next_prompt_begins_with_the_one_that_was_tried(
    browser_of: Browser, who: People, report: UserFeedback
) -> None:
    client = browser_of("admin")
    asked = RerunIn(message_sequence_num=report.message_sequence_num, system_prompt="Be brief.")
    made = reruns.rerun(who.admin.actor, report.thread, asked)
    page = beside(client, report, Thread.objects.by_public_id(made.thread_id).get())
    [link] = [each["href"] for each in page.id("report").all("a") if "Another prompt" in each.words]
    assert get(client, link).id("system_prompt").words == "Be brief."
    stranger = make.thread(who.eve, "Other", system_prompt="A secret")
    assert get(client, link.replace(made.thread_id, stranger.thread_id)).id("system_prompt").words == ""


def test_a_reply_that_is_too_long_is_refused_in_its_field(
    browser_of: Browser, mended: UserFeedback, family: dict[str, UserFeedback]
) -> None:
    client = browser_of("admin")
    page = beside(client, mended, another(client, mended))
    answer = press(client, page, "resolve fixed", fixed_reply="x" * 20_001)
    assert answer.status_code == 400 and "20,000" in dom(answer, 400).id("fixed-wrong").words.replace("\u2009", ",")
    assert not stored(mended).resolved and not TriageChange.objects.filter(feedback=mended).exists()


def test_more_submitters_than_a_request_tells_are_left_to_a_bulk(
    browser_of: Browser, mended: UserFeedback, family: dict[str, UserFeedback], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fixing, "MOST_TOLD", 1)
    client = browser_of("admin")
    page = beside(client, mended, another(client, mended))
    answer = press(client, page, "resolve fixed", fixed_reply="Fixed.")
    assert answer.status_code == 400 and "bulk" in dom(answer, 400).id("fixed-wrong").words
    assert not stored(mended).resolved and reply_of(family["copy"]) is None


def test_what_a_rerun_shows_is_newer_than_the_runs_of_its_check(
    browser_of: Browser, who: People, mended: UserFeedback
) -> None:
    """They failed; to say so of what was just seen to pass would contradict it."""
    keeping.keep(who.admin.actor, mended.feedback_id, CheckIn(expectations=[]))
    Check.objects.update(state=Check.State.FAILING)
    client = browser_of("admin")
    page = then(client, press(client, beside(client, mended, another(client, mended)), "resolve fixed"))
    assert told(page) == ["Resolved “It is not that many.” as fixed"]


def test_another_button_does_not_drop_what_is_typed_beside_the_rerun(browser_of: Browser, mended: UserFeedback) -> None:
    """Without scripts it would be gone with the page."""
    client = browser_of("admin")
    page = beside(client, mended, another(client, mended))
    answer = press(client, page, "resolve", fixed_reply="Fixed.")
    assert answer.status_code == 400 and dom(answer, 400).id("fixed-reply").words == "Fixed."
    assert not stored(mended).resolved


def test_an_open_desk_is_told_the_answer_as_it_is_written_and_its_end(
    browser_of: Browser, who: People, report: UserFeedback, listen: Listen
) -> None:
    fork = rerun(browser_of("admin"), report)
    pieces = listen(report, fork)

    def heard(name: str, what: bytes) -> str:
        for piece in pieces:
            if f"event: {name}".encode() in piece and what in piece:
                return piece.decode()
        raise AssertionError(name)

    running = heard("list", b'id="verdict"')
    assert "Answering" in running and "rated-answer" not in running, "what is read stays as it is"
    make.run_turns(fork)
    ended = heard("list", b'id="verdict"')
    assert "Same answer" in ended and "rated-answer" in ended
    assert f'href="?q=&amp;item={report.feedback_id}"' in ended, "how to close it"
    assert "data: Same answer." in heard("say", b"").splitlines()


def test_a_desk_that_is_opened_later_is_not_told_again_of_the_end(
    browser_of: Browser, who: People, report: UserFeedback, listen: Listen
) -> None:
    fork = another(browser_of("admin"), report)
    Thread.objects.filter(pk=fork.pk).update(modified=timezone.now() - timedelta(minutes=2))
    pieces = until_silent(listen(report, fork))
    assert not any(b"event: say" in piece or b'id="verdict"' in piece for piece in pieces)


def test_an_open_desk_hears_nothing_of_a_fork_that_is_not_its_own(
    who: People, report: UserFeedback, listen: Listen
) -> None:
    other = make.thread(who.eve, "A secret")
    pieces = until_silent(listen(report, other))
    assert not any(b"rerun" in piece for piece in pieces)


def until_silent(pieces: Iterator[bytes]) -> list[bytes]:
    """All that it is told of one look."""
    told = list(takewhile(lambda piece: piece != sse.HEARTBEAT, pieces))
    assert any(b"event: leases" in piece for piece in told), "it looked"
    return told
