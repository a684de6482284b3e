"""Checks in the browser, without one: the panel beside a report, the page of all, what is refused and kept."""

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Membership
from core.canonical import fingerprint
from core.errors import Conflict
from feedback.checks import keeping
from feedback.models import Check, CheckBatch, CheckRun, TriageChange, UserFeedback
from feedback.wire_checks import CheckIn
from tests import make
from tests.api.test_skills_in_turns import write  # noqa: F401 - a fixture
from tests.conftest import data_of, refusal_of
from tests.pages.desk import Browser, do
from tests.pages.dom import Node, dom, get
from tests.people import People
from threads import reruns
from threads.models import Thread

BATCHES = "/feedback/checks/batches/"
CHECKS = "/feedback/checks/"
CALLING = '[[call echo {"value": 7}]] Where is my order?'


@pytest.fixture
def report(who: People) -> str:
    """A rated answer that calls echo."""
    return make.rating(who.alice, make.thread(who.alice, CALLING)).feedback_id


@pytest.fixture
def press(browser_of: Browser, report: str) -> Callable[..., Any]:
    """`press(verb, kind, value, ...)`: what the panel's form answers."""

    def send(verb: str, *lines: tuple[str, str], **more: str | list[str]) -> Any:
        here = f"/feedback/?q=&item={report}"
        form = {"verb": verb, "here": here, "kind": [kind for kind, _ in lines], "value": [said for _, said in lines]}
        return browser_of("admin").post(f"/feedback/{report}/check/", {**form, **more})

    return send


def test_people_are_called_by_their_names(who: People, browser_of: Browser, press: Callable[..., Any]) -> None:
    admin, client = who.admin.user, browser_of("admin")
    admin.name = "Ines Admin"
    admin.save()
    press("keep_run", ("calls", "echo"))
    make.run_turns()
    run, batch = CheckRun.objects.get(), CheckBatch.objects.get()
    panel_of = f"/feedback/{UserFeedback.objects.get().feedback_id}/check/"
    client.get(panel_of)
    press(f"failed {run.run_id}")
    panel = client.get(panel_of).content.decode()
    assert "Last changed by Ines Admin," in panel and "judged by Ines Admin" in panel
    for path in (BATCHES, f"{BATCHES}{batch.batch_id}/", CHECKS):
        page = client.get(path).content.decode().partition("<main")[2]
        assert admin.email not in page and ("Ines Admin" in page or path == CHECKS), path
    assert admin.email not in panel


def test_the_panel_keeps_runs_judges_and_drops(browser_of: Browser, press: Callable[..., Any], report: str) -> None:
    client = browser_of("admin")
    here = f"/feedback/?q=&item={report}"
    assert "Create check" in client.get(here).content.decode()
    lines = (("never_calls", 'echo {"value": 8}'), ("says", "  "), ("no_tool_errors", ""), ("calls", "echo"))
    assert press("keep", *lines)["Location"] == here
    assert '<datalist id="tools-called"><option value="echo"></option></datalist>' in client.get(here).content.decode()
    check = Check.objects.get()
    assert check.expectations == [
        {"kind": "never_calls", "value": "echo", "input": {"value": 8}},
        {"kind": "no_tool_errors"},
        {"kind": "calls", "value": "echo"},
    ]
    page = client.get(here).content.decode()
    assert "echo {&quot;value&quot;:8}" in page and "not run yet" in page
    press(f"run {check.check_id}", times="3")

    def polled() -> list[str]:
        """What the panel and the mark in the list ask for."""
        part = {"HTTP_HX_REQUEST": "true"}
        return [client.get(f"/feedback/{report}/check/{of}", **part).content.decode() for of in ("", "?mark=1")]

    assert all("running" in piece and "hx-trigger" in piece for piece in polled())
    make.run_turns()
    assert all("passing" in piece and "hx-trigger" not in piece for piece in polled())
    run = CheckRun.objects.last()
    assert run is not None
    press(f"failed {run.run_id}")
    assert "judged by" in client.get(here).content.decode()
    assert Check.objects.get().state == "failing"
    press(f"drop {check.check_id}")
    assert "Create check" in client.get(here).content.decode()


def test_a_check_that_was_deleted_is_made_again_with_what_it_expected(
    browser_of: Browser, press: Callable[..., Any], report: str
) -> None:
    press("keep", ("says", "evidence"))
    press(f"drop {Check.objects.get().check_id}")
    page = get(browser_of("admin"), f"/feedback/?q=&item={report}&check=1").id("check")
    assert [row.one("input", name="value")["value"] for row in page.all(class_="expect")][:1] == ["evidence"]


@pytest.mark.parametrize(("times", "said"), [("9", "5 waiting runs"), ("5", "1 waiting run"), ("4", "")])
def test_who_deletes_a_check_is_told_which_runs_go_with_it(
    browser_of: Browser, press: Callable[..., Any], report: str, settings: Any, times: str, said: str
) -> None:
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"check_runs": 4})
    press("keep_run", ("says", "evidence"), times=times)
    drop = {"verb": f"drop {Check.objects.get().check_id}", "here": f"/feedback/?q=&item={report}"}
    page = browser_of("admin").post(f"/feedback/{report}/check/", drop, follow=True).content.decode()
    assert "Check deleted." in page
    assert (f" {said} will not start." in page) if said else ("will not start" not in page)


def test_an_expectation_is_deleted_with_its_value(browser_of: Browser, press: Callable[..., Any], report: str) -> None:
    press("keep", ("never_says", "refund"), ("calls", "echo"))
    page = browser_of("admin").get(f"/feedback/?q=&item={report}").content.decode()
    assert [line in page for line in ('name="was" value="never_says"', 'name="was" value="calls"')] == [True, True]
    press("keep", ("never_says", ""), ("calls", "echo"), was=["never_says", "calls"])
    assert Check.objects.get().expectations == [{"kind": "calls", "value": "echo"}]


@pytest.mark.parametrize(
    ("verb", "lines", "reason"),
    [
        ("keep", [("calls", 'echo {"value"')], "must be a JSON object"),
        ("keep", [("rhymes", "x")], "An expectation must be"),
        ("keep_run", [("says", "a"), ("never_calls", "")], "“never calls” needs a tool"),
        ("keep", [("matches", " ")], "“matches” needs a text"),
        ("keep", [("says", "x" * 1001)], "1,000"),
        ("keep", [("no_tool_errors", "x")], "takes no value"),
        ("run chk_nothing", [], "no checks to run"),
        ("keep", [("calls", 't {"a": "\\ud800"}')], "must be a JSON object"),
        ("keep", [("calls", 't {"a": NaN}')], "must be a JSON object"),
        ("keep", [("calls", 't {"a": 1e999}')], "must be a JSON object"),
        ("keep", [("calls", "t " + '{"a":' * 480 + "1" + "}" * 480)], "must be a JSON object"),
        ("fold", [], "is not an action of a check"),
    ],
)
def test_what_is_refused_stays_typed_with_the_reason(press, verb, lines, reason):
    answer = press(verb, *lines)
    page = answer.content.decode()
    assert answer.status_code in (400, 404) and reason in page, page[-3000:]
    assert not Check.objects.exists()
    for kind, value in lines:
        assert value.replace('"', "&quot;") in page and (kind == "rhymes" or f'value="{kind}" selected' in page)


def test_all_checks_by_state_and_run_together(browser_of: Browser, who: People, api: Any) -> None:
    client = browser_of("admin")
    assert "No checks yet" in client.get(CHECKS).content.decode()
    for number, kind in enumerate(("calls", "never_calls", "calls")):
        rated = make.rating(who.alice, make.thread(who.alice, CALLING)).feedback_id
        body = {"title": f"Check {number}", "expectations": [{"kind": kind, "value": "echo"}]}
        data_of(api("admin").put(f"admin/feedback/{rated}/check", body))
    ticked = [each.check_id for each in Check.objects.order_by("pk")[:2]]
    answer = client.post(f"{CHECKS}run/", {"check_ids": ticked, "times": "2", "here": CHECKS}, follow=True)
    assert "0 of 4 runs have ended" in answer.content.decode()
    make.run_turns()
    batch = client.get(answer.redirect_chain[-1][0]).content.decode()
    assert dom(client.get(answer.redirect_chain[-1][0])).one("header", class_="verdict").words == (
        "2 of 4 runs passed 2 failed"
    )
    assert 'hx-trigger="every' not in batch and "never calls echo" in batch
    page = client.get(f"{CHECKS}?state=failing").content.decode()
    assert "Check 1" in page and "Check 0" not in page and "Check 2" not in page
    assert "Check 2" in client.get(f"{CHECKS}?state=untried").content.decode()
    assert "resolved and failing" not in page
    failing = Check.objects.get(state="failing").feedback
    assert failing is not None
    do(who.admin, failing, "resolve", outcome="fixed")
    assert "1 resolved and failing" in client.get(CHECKS).content.decode()
    client.post(f"{CHECKS}run/", {"state": "untried", "here": CHECKS})
    assert CheckRun.objects.count() == 5
    answer = client.post(f"{CHECKS}run/", {"which": "ticked", "state": "untried", "here": CHECKS}, follow=True)
    assert "Nothing was started. No check is ticked." in answer.content.decode() and CheckRun.objects.count() == 5
    options = {"skills": "recorded", "prompt": "latest", "times": "5"}
    form = {"which": "ticked", "here": f"{CHECKS}?state=failing", **options}
    page = dom(client.post(f"{CHECKS}run/", form, follow=True))
    chosen = {
        each["name"]: each.one("option", selected=True).words for each in page.all("select") if each["name"] in form
    }
    assert chosen == {"skills": "original", "prompt": "latest of its agent", "times": "5"}, (
        "which nobody has to choose again"
    )
    assert page.one("form", id="checks").fields()["state"] == ["failing"]
    assert "Run all 1 failing" in client.get(f"{CHECKS}?state=failing").content.decode()
    assert client.get(f"{CHECKS}?state=bogus").status_code == 400, "all of them are another question"
    client.post(f"{CHECKS}run/", {"which": "all", "check_ids": ticked, "state": "failing", "here": CHECKS})
    assert CheckRun.objects.count() == 6
    answer = client.post(f"{CHECKS}run/", {"check_ids": "chk_gone", "here": CHECKS}, follow=True)
    assert "Nothing was started." in answer.content.decode()


def test_what_turned_since_the_batch_before_says_so(browser_of, press, report):
    client = browser_of("admin")

    press("keep", ("calls", "echo"))
    check = Check.objects.get().check_id

    def ran(times: str) -> str:
        press(f"run {check}", times=times)
        make.run_turns()
        return client.get(CHECKS).content.decode()

    assert "was " not in ran("3")
    press("keep", ("never_calls", "echo"))
    assert "was " not in client.get(CHECKS).content.decode(), "it expects something else of the same runs"
    assert "was " not in ran("1")
    Check.objects.update(outcome="passing")
    assert "was passing" in ran("1")
    assert "was " not in ran("1"), "it had turned before"


def test_the_skills_of_a_run_are_links_for_who_may_open_them(
    browser_of: Browser,
    who: People,
    report: str,
    press: Callable[..., Any],
    write: Callable[..., str],  # noqa: F811
) -> None:
    shared, private = write("alice", "weaving", accessibility="org"), write("alice", "dyeing")
    Membership.objects.create(user=who.admin.user, org=who.acme)
    press("keep_run", ("calls", "echo"), skills="latest")
    make.run_turns()
    had = [{"skill_id": shared, "name": "weaving", "version": 2}, {"skill_id": private, "name": "dyeing", "version": 1}]
    CheckRun.objects.update(skill_versions=[*had, *had])
    runs = dom(browser_of("admin").get(f"/feedback/{report}/check/", headers={"HX-Request": "true"})).id("check-runs")
    assert "latest skills (weaving 2, dyeing 1, weaving 2 and 1 more)" in runs.words
    links = [link["href"] for link in runs.all("a") if "skills" in link["href"]]
    assert links == [f"/skills/{shared}/?version=2"] * 2


def test_a_batch_says_what_changed_with_links_for_who_may_open_them(
    browser_of: Browser,
    who: People,
    press: Callable[..., Any],
    write: Callable[..., str],  # noqa: F811
) -> None:
    shared, private = write("alice", "weaving", accessibility="org"), write("alice", "dyeing")
    Membership.objects.create(user=who.admin.user, org=who.acme)
    press("keep_run", ("calls", "echo"), skills="latest", times="2")
    make.run_turns()
    batch = f"{BATCHES}{CheckBatch.objects.get().batch_id}/"

    def changed(*skills: tuple[str, str, int, int | None]) -> Any:
        names = ("skill_id", "name", "version", "was")
        CheckRun.objects.update(skill_versions=[dict(zip(names, each, strict=True)) for each in skills])
        return dom(browser_of("admin").get(batch)).id("changes")

    told = changed((shared, "weaving", 2, 1), (private, "dyeing", 3, None))
    assert told.words == "Since the rated answers: with dyeing 3, weaving 2 instead of 1"
    assert [link["href"] for link in told.all("a")] == [f"/skills/{shared}/?version=2"]
    assert changed((shared, "weaving", 2, 2)).words.endswith("the same skills, system prompt and model")
    told = changed(*((f"sk_{number}", f"skill {number}", 2, 1) for number in range(9)))
    assert told.words.endswith("skill 5 2 instead of 1, 3 more skills")
    Thread.objects.filter(pk=CheckRun.objects.earliest("pk").fork_id).update(system_prompt="Be brief.")
    CheckRun.objects.update(model_profile="other")
    assert changed().words == "Since the rated answers: another system prompt, another model"


def test_of_what_only_some_checks_had_otherwise_a_batch_says_how_many(
    browser_of: Browser, who: People, api: Any, press: Callable[..., Any]
) -> None:
    other = make.rating(who.alice, make.thread(who.alice, CALLING)).feedback_id
    body = {"expectations": [{"kind": "calls", "value": "echo"}]}
    data_of(api("admin").put(f"admin/feedback/{other}/check", body))
    press("keep", ("calls", "echo"))
    ticked = [each.check_id for each in Check.objects.all()]
    client = browser_of("admin")
    client.post(f"{CHECKS}run/", {"check_ids": ticked, "here": CHECKS})
    make.run_turns()
    same = {"skill_id": "sk_1", "name": "weaving", "version": 1, "was": 1}
    CheckRun.objects.update(skill_versions=[same])
    CheckRun.objects.filter(pk=CheckRun.objects.earliest("pk").pk).update(
        skill_versions=[same | {"version": 2}, {"skill_id": "sk_2", "name": "dyeing", "version": 3, "was": None}]
    )
    told = get(client, f"{BATCHES}{CheckBatch.objects.get().batch_id}/").id("changes").words
    assert told == (
        "Since the rated answers: 1 of 2 checks ran with dyeing 3, 1 of 2 checks used weaving 2 instead of 1"
    )


def test_checks_are_found_by_words_of_their_names_in_the_shown_state(
    browser_of: Browser, who: People, api: Any
) -> None:
    """And none of the others is run with what was found."""
    for name in ("Refund of a bike", "Refund of a deposit", "Closed station"):
        rated = make.rating(who.alice, make.thread(who.alice))
        keeping.keep(who.admin.actor, rated.feedback_id, CheckIn(title=name))
    Check.objects.filter(title="Refund of a bike").update(state="failing")

    def names(page: Node) -> list[str]:
        return [each.words for each in page.all("a", class_="link") if each["href"].startswith("/feedback/?q=has")]

    client = browser_of("admin")
    page = get(client, "/feedback/checks/?q=of+REFUND")
    assert names(page) == ["Refund of a deposit", "Refund of a bike"]
    assert [each["value"] for each in page.all("button", name="which")] == ["ticked"]
    failing = next(each for each in page.id("states").all("a") if each.words.startswith("Failing"))
    assert failing.words == "Failing 1"
    page = get(client, f"/feedback/checks/{failing['href']}")
    assert names(page) == ["Refund of a bike"]
    assert {each["value"] for each in page.all("input", name="state")} == {"failing"}
    assert "No check has these words" in get(client, "/feedback/checks/?q=moon").words
    found = data_of(api("admin").get("admin/checks?q=station"))["items"]
    assert [each["title"] for each in found] == ["Closed station"]
    assert get(client, f"/feedback/checks/?q={'a+' * 5000}").id("q")["value"] == ("a " * 250)
    status, _, message = refusal_of(api("admin").get(f"admin/checks?q={'a+' * 5000}"))
    assert (status, message) == (400, "q: must be at most 500 characters")


def test_a_page_of_many_checks_asks_no_more(browser_of: Browser, who: People) -> None:
    client = browser_of("admin")
    thread = make.thread(who.alice, CALLING)
    batch = CheckBatch.objects.create(created_by=who.admin.user, skills="latest", tools="live", ended_at=thread.created)

    def more(count: int, runs: int = 1) -> None:
        for number in range(count):
            title = f"<b>{number}</b>\u202e"
            place = {
                "thread": thread,
                "message_sequence_num": 3,
                "created_by": who.admin.user,
                "modified_by": who.admin.user,
            }
            check = Check.objects.create(title=title, state="passing", **place)
            fork = Thread.objects.create(org=thread.org, created_by=thread.created_by, status="user_turn")
            run = {"of": check, "batch": batch, "verdict": "passed", "ended_at": fork.created}
            CheckRun.objects.create(fork=fork, **run)
            for _ in range(runs - 1):
                fork = Thread.objects.create(org=thread.org, created_by=thread.created_by, status="user_turn")
                CheckRun.objects.create(fork=fork, **run)

    def asked() -> int:
        with CaptureQueriesContext(connection) as found:
            assert client.get(CHECKS).status_code == 200
        return len(found)

    more(2)
    few = asked()
    more(32, runs=8)
    assert asked() == few
    marks = get(client, CHECKS).all("tr")[1].one("span", class_="runs").all("a")
    assert [each.one("svg")["aria-label"] for each in marks] == [f"passed, {place} of 5" for place in range(1, 6)]
    page = client.get(CHECKS).content.decode()
    assert page.count('name="check_ids"') == 30 and "<b>1" not in page and 'rel="next"' in page
    assert len(page) < 75_000


def test_runs_of_checks_are_no_lines_of_the_history(
    browser_of: Browser, press: Callable[..., Any], report: str
) -> None:
    press("keep_run", ("calls", "echo"))
    assert CheckRun.objects.count() == 1
    assert "forked it" not in browser_of("admin").get(f"/feedback/?q=&item={report}").content.decode()


def test_runs_of_checks_do_not_fill_the_list_of_threads(browser_of, press, report):
    press("keep_run", ("calls", "echo"), times="3")
    client = browser_of("admin")
    fork = CheckRun.objects.last().fork.thread_id
    assert fork not in client.get("/threads/").content.decode()
    for path in ("/threads/?q=is:run", "/threads/?view=forks", "/threads/?q=order"):
        assert fork in client.get(path).content.decode(), path
    assert fork not in browser_of("alice").get("/threads/?q=is:run").content.decode()


@pytest.mark.parametrize("times", ["0", "11", "9" * 5000, "\u0663", "two", "-1"])
def test_a_number_of_runs_that_is_none_is_refused(browser_of, press, report, times):
    press("keep", ("calls", "echo"))
    assert press("run", ("calls", "echo"), times=times).status_code == 400
    answer = browser_of("admin").post(f"{CHECKS}run/", {"times": times, "here": CHECKS}, follow=True)
    assert "Nothing was started." in answer.content.decode() and not CheckRun.objects.exists()


def shown(client: Any, report: str) -> str:
    """What the form says that it shows."""
    page = client.get(f"/feedback/?q=&item={report}&check=1").content.decode()
    return page.partition('name="shown" value="')[2].partition('"')[0]


def test_what_was_typed_goes_along_with_whatever_is_pressed(browser_of, press, report):
    client = browser_of("admin")
    press("keep", ("says", "old"), shown="")
    check = Check.objects.get()
    press(f"run {check.check_id}", ("calls", "echo"), ("says", ""), shown=shown(client, report))
    make.run_turns()
    client.get(f"/feedback/{report}/check/")
    check.refresh_from_db()
    assert check.expectations == [{"kind": "calls", "value": "echo"}] and check.state == "passing"
    run = CheckRun.objects.get()
    press(f"failed {run.run_id}", ("calls", "echo"), shown=shown(client, report))
    assert Check.objects.get().state == "failing"


def test_two_admins_at_one_check_are_told_of_each_other(browser_of, press, report):
    client = browser_of("admin")
    seen = shown(client, report)
    press("keep", ("calls", "echo"), ("says", "order"), shown=seen)
    refused = press("keep", ("never_says", "refund"), shown=seen)
    page = refused.content.decode()
    assert refused.status_code == 409 and "calls echo; says \u201corder\u201d" in page and 'value="refund"' in page
    assert len(Check.objects.get().expectations) == 2
    assert press("keep", ("calls", "echo"), ("says", "order"), shown=seen).status_code == 302, "the same is no conflict"
    assert press("keep", ("never_says", "refund"), shown=shown(client, report)).status_code == 302
    assert Check.objects.get().expectations == [{"kind": "never_says", "value": "refund"}]


def test_two_names_for_one_check_are_no_accident(press):
    """Who did not touch the name leaves it as it is by now; who did is told of the other one."""
    lines = ("calls", "echo")
    press("keep", lines, title="Old")
    before = Check.objects.get()
    form = {"shown": fingerprint(before.expectations), "title_was": "Old"}
    press("keep", lines, title="New", **form)
    assert press("keep", lines, ("says", "seven"), title="Old", **form).status_code == 302
    assert (Check.objects.get().title, len(Check.objects.get().expectations)) == ("New", 2)
    form["shown"] = fingerprint(Check.objects.get().expectations)
    refused = press("keep", lines, title="Mine", **form)
    assert refused.status_code == Conflict.status and "renamed the check to New" in refused.content.decode()
    assert Check.objects.get().title == "New"
    form["title_was"] = dom(refused, Conflict.status).one("input", name="title_was")["value"]
    press("keep", lines, title="Mine", **form)
    assert Check.objects.get().title == "Mine"


def test_an_undo_opens_the_other_report_without_the_form_of_this_one(browser_of, press, report, who):
    other = make.rating(who.alice, make.thread(who.alice, CALLING), notes="Other").feedback_id
    client = browser_of("admin")
    do(who.admin, UserFeedback.objects.get(notes="Other"), "resolve")
    action = TriageChange.objects.latest("pk").action
    here = f"/feedback/?q=is:open&item={report}&check=1&whole=1"
    answer = client.post("/feedback/undo/", {"action_id": f"act_{action}", "here": here})
    assert answer["Location"] == f"/feedback/?q=is%3Aopen&item={other}"


def test_a_name_is_kept_and_the_list_says_when_it_ran_and_where_the_report_stands(browser_of, press, report):
    press("keep_run", ("calls", "echo"), title="  Finds the order ")
    make.run_turns()
    page = browser_of("admin").get(CHECKS).content.decode()
    assert "Finds the order</a>" in page and "acme · report open · ran" in page
    panel = browser_of("admin").get(f"/feedback/?q=&item={report}").content.decode()
    assert "passing, 1 of 1 passed" in panel and 'value="Finds the order"' in panel
    run = CheckRun.objects.get()
    press(f"failed {run.run_id}", ("calls", "echo"), title="Other", title_was="Finds the order", shown="x")
    assert Check.objects.get().title == "Other"
    press("keep", ("calls", "echo"), title="")
    assert Check.objects.get().title == "Other"


def test_the_report_shows_runs_that_wait_and_what_was_never_begun(browser_of, press, report, settings, monkeypatch):
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"check_runs": 1})
    client = browser_of("admin")
    press("keep", ("calls", "echo"))
    check = Check.objects.get().check_id
    press(f"run {check}", times="3")
    assert client.get(f"/feedback/{report}/check/").content.decode().count("waiting") >= 2
    for _ in range(3):
        make.run_turns()
        client.get(CHECKS)

    def fails(*_: Any) -> None:
        raise Conflict("Not this one.")

    monkeypatch.setattr(reruns, "rerun", fails)
    press(f"run {check}", times="1")
    page = client.get(f"/feedback/?q=&item={report}")
    assert page.status_code == 200 and "Not this one." in page.content.decode()


def heard(client: Client, path: str, target: str = "") -> list[str]:
    """What an answer to that part of the page announces, or to nothing but the browser."""
    sent = {"HX-Request": "true", "HX-Target": target} if target else {}
    return [each.words for each in get(client, path, **sent).all("p", hx_swap_oob="innerHTML:#said")]


def test_a_batch_shows_what_turned_and_is_run_again_and_stopped(browser_of, press, report, settings):
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"check_runs": 1})
    client = browser_of("admin")
    press("keep", ("calls", "echo"))
    check = Check.objects.get().check_id
    assert "No batches yet" in client.get(BATCHES).content.decode()
    press(f"run {check}", times="1")
    make.run_turns()
    client.get(BATCHES)
    CheckRun.objects.update(verdict="failed")
    first = CheckBatch.objects.get()
    began = client.post(f"{CHECKS}run/", {"batch_id": first.batch_id, "times": "3", "here": CHECKS})
    batch = began.headers["Location"]
    page = client.get(batch).content.decode()
    assert "0 of 3 runs have ended" in page and "to go" in page and 'hx-trigger="every 2s"' in page
    for _ in range(3):
        assert heard(client, batch, "results") == heard(client, CHECKS, "under-way") == []
        make.run_turns()
        page = client.get(batch).content.decode()
    assert "1 newly passing" in page and "Stop</button>" not in page
    assert heard(client, batch, "results") == ["1 newly passing"], "by what polled until now, and nobody else"
    assert heard(client, CHECKS, "under-way") == ["The runs are over: 1 passing."]
    assert heard(client, batch) == heard(client, CHECKS) == []
    again = client.post(f"{CHECKS}run/", {"batch_id": first.batch_id, "times": "10", "here": CHECKS}).headers[
        "Location"
    ]
    stopped = client.post(f"{again}stop/", follow=True).content.decode()
    make.run_turns()
    assert "Stopped." in stopped and "0 of 1 runs passed" in stopped and CheckRun.objects.count() == 5
    assert "No check changed this way." in client.get(f"{batch}?turned=failing").content.decode()
    assert "newly passing" in client.get(f"{batch}?turned=passing&against={first.batch_id}").content.decode()
    assert client.get(f"{batch}?against=bat_gone").status_code == 404
    assert (
        "Since that batch: the same skills, system prompt and model</p>"
        in client.get(f"{batch}?against={first.batch_id}").content.decode()
    )
    listed = client.get(BATCHES).content.decode()
    assert listed.count('<th scope="row" class="title">') == 3 and "original skills, 3 runs each" in listed
    assert unescape(listed).count(f"{Check.objects.get().title}</div>") == 3 and "more</div>" not in listed


def test_batches_are_told_apart_by_the_viewers_time_and_what_they_ran(browser_of, press):
    client = browser_of("admin")
    client.cookies["tz"] = "Asia/Kolkata"
    press("keep", ("calls", "echo"))
    check = Check.objects.get().check_id
    for moment, times in (("2026-11-21 20:49:03", "1"), ("2026-11-21 20:49:40", "3")):
        with time_machine.travel(f"{moment}+00:00"):
            press(f"run {check}", times=times)
    page = client.get(f"{BATCHES}{CheckBatch.objects.latest('pk').batch_id}/").content.decode()
    assert "<title>Check batch of 22 Nov, 02:19" in page
    assert re.findall(r"22 Nov 2026, 02:19:\d\d · [^<]*\w", page) == ["22 Nov 2026, 02:19:03 · original skills"]
    rows = [each.one("th") for each in get(client, BATCHES).one("tbody").all("tr")]
    assert [(each.one("a").words, each.one("span").words) for each in rows] == [
        ("22 Nov, 02:19", "original skills, 3 runs each"),
        ("22 Nov, 02:19", "original skills"),
    ]
    assert [each.all("div")[0].words for each in rows] == [Check.objects.get().title] * 2


def test_these_are_run_again_as_often_as_they_were(
    browser_of: Browser, api: Any, report: str, press: Callable[..., Any]
) -> None:
    """However often that is: over REST another number than the form's may be asked for."""
    press("keep")
    asked = {"times": 2, "tools": "live"}
    data_of(api("admin").post(f"admin/checks/{Check.objects.get().check_id}/runs", asked))
    page = get(browser_of("admin"), f"{BATCHES}{CheckBatch.objects.get().batch_id}/")
    chosen = [
        each.words for field in ("tools", "times") for each in page.id(field).all("option") if each.has("selected")
    ]
    assert chosen == ["live", "2"]


def test_a_batch_of_many_checks_asks_no_more_and_goes_on_page_by_page(browser_of: Browser, who: People) -> None:
    client = browser_of("admin")
    thread = make.thread(who.alice, CALLING)
    by = {"created_by": who.admin.user, "modified_by": who.admin.user}
    batches = [
        CheckBatch.objects.create(created_by=who.admin.user, skills="latest", tools="live", ended_at=thread.created)
        for _ in range(2)
    ]

    def more(count: int) -> None:
        for number in range(count):
            title = f"<b>{number}</b>\u202e"
            check = Check.objects.create(title=title, thread=thread, message_sequence_num=3, state="passing", **by)
            for batch in batches:
                fork = Thread.objects.create(org=thread.org, created_by=thread.created_by, status="user_turn")
                CheckRun.objects.create(of=check, batch=batch, verdict="passed", ended_at=fork.created, fork=fork)

    def asked(path: str) -> int:
        with CaptureQueriesContext(connection) as found:
            assert client.get(path).status_code == 200
        return len(found)

    path = f"{BATCHES}{batches[1].batch_id}/"
    more(2)
    asked(path)  # the first look is remembered
    few, listed = asked(path), asked(BATCHES)
    more(58)
    assert asked(path) == few and asked(BATCHES) == listed
    assert client.get(BATCHES).content.decode().count("&lt;b&gt;0&lt;/b&gt;\u2069 and 59 more</div>") == 2
    page = client.get(path).content.decode()
    assert page.count('<th scope="row" class="title"><a') == 50 and "<b>1" not in page and len(page) < 75_000
    onward = unescape(page.split('id="onward" href="')[1].split('"')[0])
    assert client.get(path + onward).content.decode().count('<th scope="row" class="title"><a') == 10


def test_undecided_runs_are_judged_beside_their_answers_one_after_the_other(
    who: People, browser_of: Browser, press: Callable[..., Any]
) -> None:
    """The comparison has the panel, each verdict leads to the next undecided run, and the last to the batch."""
    client = browser_of("admin")
    press("keep")
    check = Check.objects.get()
    press(f"run {check.check_id}", times="3")
    make.run_turns()
    client.get(CHECKS)  # whoever comes by judges what has ended
    runs = list(CheckRun.objects.order_by("pk"))
    paths = [f"/feedback/checks/runs/{run.run_id}/" for run in runs]
    pages = [f"/threads/{run.fork.thread_id}/compare/" for run in runs if run.fork]
    assert f'hx-get="{paths[1]}"' in client.get(pages[1]).content.decode()
    panel = client.get(paths[1]).content.decode()
    assert (
        "undecided" in panel and "By its expectations" not in panel and "2 more to judge" in panel and "<html" in panel
    )
    assert "<html" not in client.get(paths[1], headers={"HX-Request": "true"}).content.decode()
    batch = f"/feedback/checks/batches/{runs[0].batch.batch_id}/"
    links = {link.words: link["href"] for link in get(client, paths[1]).one("form", class_="judge").all("a")}
    assert links["Previous k"] == pages[0] and client.get(links["Skip j"])["Location"] == pages[2]
    for path, verdict, then in ((1, "failed", pages[2]), (2, "passed", pages[0]), (0, "passed", batch)):
        assert client.post(paths[path], {"verdict": verdict})["Location"] == then
    assert [run.verdict for run in CheckRun.objects.order_by("pk")] == ["passed", "failed", "passed"]
    assert "judged by" in client.get(paths[0]).content.decode()
    assert client.post(paths[0], {"verdict": "expectations"})["Location"] == batch
    assert CheckRun.objects.order_by("pk")[0].verdict is None
    assert client.post(paths[1], {"verdict": "maybe"}).status_code == 400
    assert CheckRun.objects.order_by("pk")[1].verdict == "failed"
    assert browser_of("bob").get(paths[0]).status_code == 403
    press(f"drop {check.check_id}")
    assert client.post(paths[0], {"verdict": "passed"}).status_code == client.get(paths[0]).status_code == 404
    assert "/feedback/checks/runs/" not in client.get(pages[1]).content.decode()


def test_the_panel_of_a_failed_run_names_each_expectation_once(browser_of: Browser, press: Callable[..., Any]) -> None:
    client = browser_of("admin")
    press("keep", ("says", "nowhere"), ("never_says", "nor here"))
    press(f"run {Check.objects.get().check_id}")
    make.run_turns()
    client.get(CHECKS)
    panel = get(client, f"/feedback/checks/runs/{CheckRun.objects.get().run_id}/").one("form", class_="judge").words
    assert panel.count("nowhere") == panel.count("nor here") == 1


def test_the_history_of_a_report_tells_of_its_check(
    browser_of: Browser, press: Callable[..., Any], report: str
) -> None:
    client = browser_of("admin")
    press("keep", ("calls", "echo"))
    check = Check.objects.get()
    for times in ("2", "1"):
        press(f"run {check.check_id}", times=times)
        make.run_turns()
        client.get(CHECKS)
    page = client.get(f"/feedback/?q=&item={report}").content.decode()
    history = page.partition("<h2>History</h2>")[2].partition("</ol>")[0]
    said = ["ran its check: 1 passed", "ran its check: 2 passed", "created its check"]
    assert sorted(said, key=history.index) == said
    assert all(f"/feedback/checks/batches/{batch.batch_id}/" in history for batch in CheckBatch.objects.all())


def test_a_run_that_goes_on_is_not_judged(browser_of: Browser, press: Callable[..., Any]) -> None:
    client = browser_of("admin")
    press("keep_run")
    run = CheckRun.objects.get()
    path = f"/feedback/checks/runs/{run.run_id}/"
    assert run.fork and path not in client.get(f"/threads/{run.fork.thread_id}/compare/").content.decode()
    compared = f"/threads/{run.fork.thread_id}/compare/"
    assert client.post(path, {"verdict": "passed"})["Location"] == compared
    assert "This run has not ended yet." in client.get(compared).content.decode()
    assert CheckRun.objects.get().verdict is None
