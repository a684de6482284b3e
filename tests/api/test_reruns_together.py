"""Several reports whose requests are answered again together, and those that this proves fixed (decision 016)."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from feedback.checks import keeping, rerunning
from feedback.models import Check, CheckRun, TriageChange, UserFeedback, WebhookEvent
from tests import make
from tests.conftest import Api, data_of, refusal_of
from tests.people import People, Person
from threads.models import Thread

ADMIN = "admin/feedback"
RERUN = f"{ADMIN}/rerun"
BATCHES = "admin/checks/batches"
INVALID = (400, "RobotoInvalidRequestException")


def again(person: Person, sentiment: str = "negative", **said: Any) -> str:
    """A report on an answer that is given once more, word for word."""
    return make.rating(person, make.thread(person, "Hello", visibility="org"), 1, sentiment, **said).feedback_id


def other(person: Person, **said: Any) -> str:
    """A report on an answer that is another one now."""
    thread = make.conversation(person, 2, visibility="org")
    return make.rating(person, thread, 1, **said).feedback_id


def over(api: Api, begun: dict[str, Any]) -> dict[str, Any]:
    """A batch once its turns are over."""
    batch = begun
    while not batch["is_over"]:
        make.run_turns()
        batch = data_of(api.get(f"{BATCHES}/{begun['batch_id']}"))
    return batch


def rerun(api: Api, *feedback_ids: str, **chosen: Any) -> dict[str, Any]:
    return over(api, data_of(api.post(RERUN, {"feedback_ids": list(feedback_ids), **chosen})))


def run_of(batch: dict[str, Any], feedback_id: str) -> dict[str, Any]:
    """The run of a report in a batch."""
    check = Check.objects.get(feedback__key=feedback_id.removeprefix("fb_"))
    return next(run for run in batch["runs"] if run["check_id"] == check.check_id)


def passed(api: Api, batch: dict[str, Any], *feedback_ids: str) -> None:
    """A person says of the runs of reports that they passed."""
    for each in feedback_ids:
        run = run_of(batch, each)["run_id"]
        data_of(api.put(f"admin/checks/runs/{run}/verdict", {"verdict": "passed"}))


def triage_of(api: Api, feedback_id: str) -> dict[str, Any]:
    return dict(data_of(api.get(f"{ADMIN}/{feedback_id}/triage")))


def test_the_rated_answer_once_more_is_as_good_as_it_was_rated_and_another_one_is_judged(api: Any, who: People) -> None:
    admin = api("admin")
    bad, good, changed = again(who.alice), again(who.bob, "positive"), other(who.alice)
    batch = rerun(admin, bad, good, changed, skills="latest")
    assert (batch["total"], batch["skills"]) == (3, "latest")
    told = {each: (run_of(batch, each)["verdict"], run_of(batch, each)["is_alike"]) for each in (bad, good, changed)}
    assert told == {bad: ("failed", True), good: ("passed", True), changed: (None, False)}
    fork = Thread.objects.by_public_id(run_of(batch, changed)["thread_id"]).get()
    assert fork.visibility == "private" and fork.created_by == who.admin.user


def test_a_report_that_is_rerun_has_no_check_until_somebody_creates_it(api: Any, who: People) -> None:
    """Then it has these runs."""
    admin, report = api("admin"), again(who.alice)
    batch = rerun(admin, report)
    assert admin.get(f"{ADMIN}/{report}/check").status_code == 404
    assert data_of(admin.get("admin/checks"))["items"] == []
    for query in ("has:check", "check:failing"):
        assert data_of(admin.get(f"{ADMIN}?q={query}"))["items"] == []
    assert admin.post("admin/checks/run", {}).status_code == 400, "a run of all checks does not run it"
    check = data_of(admin.put(f"{ADMIN}/{report}/check", {"expectations": [{"kind": "says", "value": "Hello"}]}))
    assert [run["run_id"] for run in check["runs"]] == [batch["runs"][0]["run_id"]]
    assert check["runs"][0]["verdict"] == "passed", "it is judged by what is expected now"
    assert len(data_of(admin.get(f"{ADMIN}?q=check:passing"))["items"]) == 1


def test_a_report_with_a_check_is_judged_by_it(api: Any, who: People) -> None:
    admin, report = api("admin"), again(who.alice)
    check = data_of(admin.put(f"{ADMIN}/{report}/check", {"expectations": [{"kind": "says", "value": "Hello"}]}))
    batch = rerun(admin, report)
    assert (batch["runs"][0]["check_id"], batch["runs"][0]["verdict"]) == (check["check_id"], "passed")


def test_what_a_deleted_check_expected_judges_no_rerun(api: Any, who: People) -> None:
    """Created again, it has the runs of both times."""
    admin, report = api("admin"), other(who.alice)
    path = f"{ADMIN}/{report}/check"
    wanted = {"expectations": [{"kind": "says", "value": "what nobody says"}]}
    check = data_of(admin.put(path, wanted))
    over(admin, data_of(admin.post(f"admin/checks/{check['check_id']}/runs", {})))
    data_of(admin.request("DELETE", f"admin/checks/{check['check_id']}"))
    assert rerun(admin, report)["runs"][0]["verdict"] is None
    assert data_of(admin.get("admin/checks"))["items"] == []
    assert [run["verdict"] for run in data_of(admin.put(path, wanted))["runs"]] == ["failed", "failed"]


def test_all_that_match_a_query_are_rerun(api: Any, who: People) -> None:
    again(who.alice, notes="Wrong about the weather.")
    again(who.bob, notes="Too long.")
    batch = data_of(api("admin").post(RERUN, {"query": "weather", "times": 2}))
    assert batch["total"] == 2 and len({run["check_id"] for run in batch["runs"]}) == 1


def test_the_same_request_is_the_same_batch_while_it_runs(api: Any, who: People) -> None:
    body = {"feedback_ids": [again(who.alice)]}
    first, second = (data_of(api("admin").post(RERUN, body))["batch_id"] for _ in range(2))
    assert first == second and CheckRun.objects.count() == 1


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "feedback_ids"),
        ({"feedback_ids": []}, "feedback_ids"),
        ({"feedback_ids": ["fb_nobody"]}, "feedback_ids"),
        ({"feedback_ids": ["fb_x"], "query": "is:open"}, "feedback_ids"),
        ({"query": "is:nonsense"}, "is:nonsense"),
        ({"query": ""}, "matches every report"),
        ({"query": "words that nobody wrote"}, "query"),
        ({"query": "is:open", "model_profile": "no-such"}, "no-such"),
        ({"query": "is:open", "times": 11}, "times"),
        ({"query": "is:open", "modle": "x"}, "modle"),
    ],
)
def test_what_cannot_be_rerun_is_refused_by_name(api: Any, who: People, body: dict[str, Any], said: str) -> None:
    again(who.alice)
    status, code, message = refusal_of(api("admin").post(RERUN, body))
    assert (status, code) == INVALID and said in message
    assert not Check.objects.exists()


def test_more_than_a_batch_holds_are_refused(api: Any, who: People, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rerunning, "MOST_RUNS", 3)
    made = [again(who.alice), again(who.bob)]
    status, _, message = refusal_of(api("admin").post(RERUN, {"feedback_ids": made, "times": 2}))
    assert status == 400 and "at most 1" in message and not Check.objects.exists()


def test_an_answer_without_a_request_is_a_run_that_says_so(api: Any, who: People) -> None:
    thread = make.conversation(who.alice, 2, visibility="org", roles=("assistant", "user"))
    batch = rerun(api("admin"), make.rating(who.alice, thread, 0).feedback_id)
    assert batch["runs"][0]["verdict"] == "broken" and "has no request before it" in batch["runs"][0]["problem"]


def test_what_a_batch_proves_fixed_is_resolved_as_one_action_each_by_its_own_run(api: Any, who: People) -> None:
    admin = api("admin")
    bad, one, two = again(who.alice), other(who.alice), other(who.bob)
    batch = rerun(admin, bad, one, two)
    passed(admin, batch, one, two)
    body = {"public_reply": "It is mended.", "shows_answer": True}
    done = data_of(admin.post(f"{BATCHES}/{batch['batch_id']}/fix", body))
    assert (done["state"], done["total"], done["done_count"], done["failed_count"]) == ("done", 2, 2, 0)
    for each, person in ((one, "alice"), (two, "bob")):
        found, run = triage_of(admin, each), run_of(batch, each)
        assert (found["outcome"], found["proof"], found["resolved"]) == ("fixed", run["thread_id"], True)
        thread = UserFeedback.objects.get(key=each.removeprefix("fb_")).thread.thread_id
        [reply] = data_of(api(person).get(f"threads/{thread}/feedback/replies"))
        content = data_of(admin.get(f"threads/{run['thread_id']}"))["messages"][-1]["content"]
        said = "".join(block["text"] for block in content)
        assert reply["public_reply"] == f"It is mended.\n\nThe same question is now answered so:\n\n{said}"
    assert triage_of(admin, bad)["resolved"] is False
    assert {change.action for change in TriageChange.objects.all()} == {done["bulk_id"].removeprefix("blk_")}
    undone = data_of(admin.post(f"{ADMIN}/undo", {"action_id": done["action_id"]}))
    assert undone["failed_count"] == 0
    for each in (one, two):
        found = triage_of(admin, each)
        assert (found["outcome"], found["proof"], found["resolved"]) == (None, None, False)
        assert (found["public_status"], found["public_reply"]) == ("received", None)


def test_only_what_passed_in_every_run_is_fixed(api: Any, who: People) -> None:
    """Others that are named are told with the reason, and so is what somebody resolved before."""
    admin = api("admin")
    half, done, never = other(who.alice), other(who.bob), other(who.alice)
    batch = rerun(admin, half, done, times=2)
    for run in batch["runs"]:
        is_half = run["check_id"] == run_of(batch, half)["check_id"]
        verdict = "failed" if is_half and run == run_of(batch, half) else "passed"
        data_of(admin.put(f"admin/checks/runs/{run['run_id']}/verdict", {"verdict": verdict}))
    data_of(admin.post(f"{ADMIN}/{done}/actions", {"verb": "resolve", "arguments": {"outcome": "noted"}}))
    path = f"{BATCHES}/{batch['batch_id']}/fix"
    assert refusal_of(admin.post(path, {}))[0] == 400
    found = data_of(admin.post(path, {"feedback_ids": [half, done, never]}))
    told = {failure["feedback_id"]: failure["reason"] for failure in found["failures"]}
    assert told == {
        half: "Not all of its runs in this batch passed.",
        done: "Admin already resolved this report.",
        never: "Not all of its runs in this batch passed.",
    }
    assert found["done_count"] == 0 and triage_of(admin, done)["outcome"] == "noted"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"feedback_ids": []}, "feedback_ids"),
        ({"feedback_ids": ["nonsense"]}, "nonsense"),
        ({"public_reply": "x" * 20_001}, "public_reply"),
        ({"reply": "x"}, "reply"),
    ],
)
def test_a_fix_that_is_not_understood_is_refused_by_name(
    api: Any, who: People, body: dict[str, Any], said: str
) -> None:
    admin, report = api("admin"), other(who.alice)
    batch = rerun(admin, report)
    passed(admin, batch, report)
    status, code, message = refusal_of(admin.post(f"{BATCHES}/{batch['batch_id']}/fix", body))
    assert (status, code) == INVALID and said in message
    assert triage_of(admin, report)["resolved"] is False


def test_a_rerun_is_no_change_of_a_check_for_webhooks(api: Any, who: People) -> None:
    """Its runs turn from failing to passing, but nobody keeps it as a check."""
    admin, report = api("admin"), other(who.alice)
    hook = {"url": "https://hooks.example.org/", "events": ["check.passing", "check.failing"]}
    data_of(admin.post("/v1/webhooks", hook))
    batch = rerun(admin, report)
    run = run_of(batch, report)["run_id"]
    for verdict in ("failed", "passed"):
        data_of(admin.put(f"admin/checks/runs/{run}/verdict", {"verdict": verdict}))
    assert not WebhookEvent.objects.filter(name__startswith="check.").exists()


def test_the_checks_of_many_reports_take_as_many_queries_as_of_one(api: Any, who: People) -> None:
    made = [UserFeedback.objects.get(key=again(who.alice).removeprefix("fb_")) for _ in range(4)]
    counts = []
    for reports in (made[:1], made[1:]):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            found = keeping.for_reports(who.admin.actor, reports)
        assert [check.feedback_id for check in found] == [report.pk for report in reports]
        counts.append(len(queries))
    assert counts[0] == counts[1]
