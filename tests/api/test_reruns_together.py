"""Several reports whose requests are answered again together, and those that this proves fixed (decision 016)."""

from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from feedback import bulk, rerunning
from feedback.checks import keeping
from feedback.models import Check, CheckRun, TriageChange, UserFeedback, WebhookEvent
from tests import make
from tests.conftest import Api, data_of, refusal_of
from tests.people import People, Person, second_admin
from threads.models import Block, Thread

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
    return make.rating(person, thread, **said).feedback_id


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
        ({"feedback_ids": ["fb_01m8kkga5sew0r5zxtm417ctbb"]}, "feedback_ids"),
        ({"feedback_ids": ["fb_01m8kkga5sew0r5zxtm417ctbb", "nonsense"]}, "feedback_ids.1"),
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


def reasons(api: Api, batch: dict[str, Any], *feedback_ids: str, **body: Any) -> dict[str, str]:
    """Why these were not fixed, by id."""
    done = data_of(api.post(f"{BATCHES}/{batch['batch_id']}/fix", {"feedback_ids": list(feedback_ids), **body}))
    return {failure["feedback_id"]: failure["reason"] for failure in done["failures"]}


def test_what_a_batch_does_not_prove_is_left_with_the_reason(api: Any, who: People) -> None:
    """Whoever names it gets the reason, and whoever names nothing gets nothing."""
    admin, alice = api("admin"), who.alice
    same = again(alice)
    data_of(admin.put(f"{ADMIN}/{same}/check", {"expectations": [{"kind": "says", "value": "Hello"}]}))
    good, edited, reopened, worse = other(alice, sentiment="positive"), other(alice), other(alice), other(alice)
    batch = rerun(admin, same, good, edited, reopened, worse)
    passed(admin, batch, good, edited, reopened, worse)
    make.rating(alice, UserFeedback.objects.get(key=edited.removeprefix("fb_")).thread, 1, notes="And it is rude.")
    for verb in ("resolve", "reopen"):
        data_of(admin.post(f"{ADMIN}/{reopened}/actions", {"verb": verb}))
    later = rerun(admin, worse)
    verdict = f"admin/checks/runs/{later['runs'][0]['run_id']}/verdict"
    data_of(admin.put(verdict, {"verdict": "failed"}))
    assert refusal_of(admin.post(f"{BATCHES}/{batch['batch_id']}/fix", {}))[0] == 400
    assert reasons(admin, batch, same, good, edited, reopened, worse) == {
        same: "The answer is the rated one, and nobody said of it that it passed.",
        good: "It was rated positive.",
        edited: "Its submitter changed it after this batch had begun.",
        reopened: "It was reopened after this batch had begun.",
        worse: "It failed in a later batch.",
    }
    data_of(admin.put(verdict, {"verdict": "passed"}))
    assert reasons(admin, batch, worse) == {}


def test_what_was_changed_after_it_was_resolved_is_not_resolved_again(api: Any, who: People) -> None:
    admin, report = api("admin"), other(who.alice)
    data_of(admin.post(f"{ADMIN}/{report}/actions", {"verb": "resolve"}))
    batch = rerun(admin, report)
    passed(admin, batch, report)
    make.rating(who.alice, UserFeedback.objects.get().thread, 1, notes="No, still wrong.")
    assert reasons(admin, batch, report) == {report: "Its submitter changed it after it was resolved."}


def test_the_proof_is_a_run_that_shows_it(api: Any, who: People) -> None:
    """Of several runs the latest with another answer, and not the rated one once more."""
    admin, report = api("admin"), other(who.alice)
    data_of(admin.put(f"{ADMIN}/{report}/check", {"expectations": [{"kind": "never_says", "value": "xyzzy"}]}))
    batch = rerun(admin, report, times=2)
    shown, alike = CheckRun.objects.order_by("pk")
    CheckRun.objects.filter(pk=alike.pk).update(is_alike=True)
    assert reasons(admin, batch, report) == {}
    assert triage_of(admin, report)["proof"] == shown.fork.thread_id


def test_the_submitters_of_duplicates_get_the_reply_too_but_no_answer_of_somebody_else(api: Any, who: People) -> None:
    admin, first, second, told = api("admin"), other(who.alice), other(who.bob), other(who.bob)
    for each in (second, told):
        data_of(admin.post(f"{ADMIN}/{each}/actions", {"verb": "duplicate", "arguments": {"duplicate_of": first}}))
    data_of(admin.post(f"{ADMIN}/{told}/actions", {"verb": "reply", "arguments": {"public_reply": "Thank you."}}))
    batch = rerun(admin, first)
    passed(admin, batch, first)
    assert reasons(admin, batch, first, public_reply="Mended.", shows_answer=True) == {}
    assert triage_of(admin, first)["public_reply"].startswith("Mended.\n\nThe same question")
    assert [triage_of(admin, each)["public_reply"] for each in (second, told)] == ["Mended.", "Thank you."]
    assert triage_of(admin, second)["outcome"] == "duplicate"


def test_nobody_is_told_of_what_is_not_fixed(api: Any, who: People) -> None:
    """Whose report is a duplicate of one that changed since, or that somebody resolved otherwise."""
    admin, originals, copies = api("admin"), [other(who.alice) for _ in range(2)], [other(who.bob) for _ in range(2)]
    for of, copy in zip(originals, copies, strict=True):
        data_of(admin.post(f"{ADMIN}/{copy}/actions", {"verb": "duplicate", "arguments": {"duplicate_of": of}}))
    batch = rerun(admin, *originals)
    passed(admin, batch, *originals)
    make.rating(who.alice, UserFeedback.objects.get(key=originals[0].removeprefix("fb_")).thread, 1, notes="And rude.")
    data_of(admin.post(f"{ADMIN}/{originals[1]}/actions", {"verb": "resolve", "arguments": {"outcome": "as_intended"}}))
    assert reasons(admin, batch, *originals, public_reply="Mended.").keys() == {*originals, *copies}
    assert [triage_of(admin, copy)["public_reply"] for copy in copies] == [None, None]


def test_a_reply_leaves_room_for_the_answer(api: Any, who: People) -> None:
    """An answer is cut by its characters, however many of them are marks on others."""
    admin, report = api("admin"), other(who.alice)
    batch = rerun(admin, report)
    passed(admin, batch, report)
    Block.objects.filter(thread=CheckRun.objects.get().fork, kind="text", idx=1).update(text="a" + "\u0301" * 30_000)
    path = f"{BATCHES}/{batch['batch_id']}/fix"
    status, _, message = refusal_of(admin.post(path, {"public_reply": "x" * 18_001, "shows_answer": True}))
    assert status == 400 and message.startswith("public_reply: must have at most 18,000 characters")
    assert reasons(admin, batch, report, public_reply="x" * 18_000, shows_answer=True) == {}
    assert len(triage_of(admin, report)["public_reply"]) == 20_000


def test_without_words_in_the_answer_only_the_reply_is_sent(api: Any, who: People) -> None:
    admin, report = api("admin"), other(who.alice)
    batch = rerun(admin, report)
    passed(admin, batch, report)
    Block.objects.filter(thread=CheckRun.objects.get().fork, kind="text").update(text=" ")
    assert reasons(admin, batch, report, shows_answer=True) == {}
    assert triage_of(admin, report)["public_reply"] is None


def test_a_client_that_asks_again_hears_what_was_done(api: Any, who: People) -> None:
    admin, report = api("admin"), other(who.alice)
    batch = rerun(admin, report)
    passed(admin, batch, report)
    first, second = (data_of(admin.post(f"{BATCHES}/{batch['batch_id']}/fix", {})) for _ in range(2))
    assert first == second and first["done_count"] == 1


@pytest.mark.parametrize("at_once", [200, 5, 3])
def test_undoing_it_counts_reports(api: Any, who: People, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    """Each was changed twice, by its reply and by its resolution, also where a chunk ends between the two; where
    somebody replied since, it is named once.
    """
    monkeypatch.setattr(bulk, "AT_ONCE", at_once)
    admin, made = api("admin"), [other(who.alice) for _ in range(3)]
    batch = rerun(admin, *made)
    passed(admin, batch, *made)
    done = data_of(admin.post(f"{BATCHES}/{batch['batch_id']}/fix", {"public_reply": "Mended."}))
    reply = {"verb": "reply", "arguments": {"public_reply": "And thank you."}}
    data_of(admin.post(f"{ADMIN}/{made[0]}/actions", reply))
    undone = data_of(admin.post(f"{ADMIN}/undo", {"action_id": done["action_id"]}))
    assert (undone["total"], undone["done_count"], undone["failed_count"]) == (3, 2, 1)
    assert [failure["feedback_id"] for failure in undone["failures"]] == [made[0]]
    assert triage_of(admin, made[0])["public_reply"] == "And thank you."


def test_whoever_creates_the_check_of_a_report_that_was_rerun_has_created_it(api: Any, who: People) -> None:
    """And without expectations people judge its runs, which were judged as it was rated before."""
    admin, report, bea = api("admin"), again(who.alice), second_admin()
    batch = rerun(admin, report)
    assert batch["runs"][0]["verdict"] == "failed"
    assert admin.get(f"admin/checks/{batch['runs'][0]['check_id']}").status_code == 404, "it is no check yet"
    check = data_of(Api(bea.token).put(f"{ADMIN}/{report}/check", {}))
    assert (check["created_by"], check["modified_by"]) == (bea.user.email, bea.user.email)
    assert (check["state"], check["runs"][0]["verdict"]) == ("undecided", None)


def test_calls_are_alike_however_their_tools_are_spelled_and_without_those_of_the_runtime(
    api: Any, who: People
) -> None:
    admin = api("admin")
    thread = make.thread(who.alice, '[[call heddle__calculate {"expression": "6 * 7"}]]', visibility="org")
    report = make.rating(who.alice, thread, make.fresh(thread).message_count - 1).feedback_id
    for block in Block.objects.filter(thread=thread, kind="tool_use"):
        block.data = {**block.data, "tool_name": "heddle:calculate"}
        block.save(update_fields=["data"])
    assert rerun(admin, report)["runs"][0]["is_alike"] is True


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
        ({"public_reply": "\u200b "}, "public_reply"),
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
    made = [UserFeedback.objects.get(key=again(who.alice).removeprefix("fb_")).pk for _ in range(4)]
    counts = []
    for pks in (made[:1], made[1:]):
        with CaptureQueriesContext(connection) as queries, transaction.atomic():
            found = keeping.for_reports(who.admin.actor, pks)
        assert [check.feedback_id for check in found] == pks
        counts.append(len(queries))
    assert counts[0] == counts[1]
